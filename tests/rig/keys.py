"""Random animation on the rigs of rigs.py."""

from math import pi
from random import Random

import bpy

from .rigs import (
    Control,
    Rig,
    random_point,
    random_rig,
    random_rotation,
    reachable_point,
    rotation_channel,
    set_rotation,
    update,
)

FRAMES = (1, 5, 9, 13)
"""Where the keys are."""
FK_KEYS = ("none", "all", "some of its numbers", "of another rotation mode", "muted", "muted strip", "strip")


def key(owner: bpy.types.bpy_struct, path: str, values: list, index: int = -1) -> None:
    """Key a property at FRAMES with these values."""
    for frame, value in zip(FRAMES, values, strict=True):
        if index >= 0:
            getattr(owner, path)[index] = value
        else:
            setattr(owner, path, value)
        owner.keyframe_insert(path, index=index, frame=frame)


def key_target(rig: Rig) -> None:
    """Let the target wander where the chain reaches; there and back, so that loops can close."""
    for frame in FRAMES:
        rig.place_target(reachable_point(rig))
        key_location(rig.target, frame)


def key_location(control: Control, frame: int) -> None:
    moved = control.ob.pose.bones[control.bone] if control.bone else control.ob
    moved.keyframe_insert("location", frame=frame)


def key_rotation(random: Random, pose_bone: bpy.types.PoseBone, index: int = -1) -> None:
    channel = rotation_channel(pose_bone)
    for frame in FRAMES:
        set_rotation(pose_bone, random_rotation(random, 1.0))
        pose_bone.keyframe_insert(channel, index=index, frame=frame)


def curves_in(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    """All F-Curves of an action, in every version of Blender."""
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    strips = (strip for layer in action.layers for strip in layer.strips)
    return [curve for strip in strips for bag in strip.channelbags for curve in bag.fcurves]


def fcurves(ob: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The F-Curves of an object's action, in every version of Blender."""
    action = ob.animation_data and ob.animation_data.action
    if action is None:
        return []
    if hasattr(action, "layers"):
        slot = ob.animation_data.action_slot
        bag = action.layers[0].strips[0].channelbag(slot) if slot is not None else None
        # Blender drops one that has lost its last F-Curve.
        return list(bag.fcurves) if bag is not None else []
    return list(action.fcurves)


def push_down(ob: bpy.types.Object, mute: bool) -> None:
    """Make an NLA strip of an object's action, if it plays one."""
    data = ob.animation_data
    if data is None or data.action is None:
        return
    action, slot = data.action, getattr(data, "action_slot", None)
    track = data.nla_tracks.new()
    strip = track.strips.new(action.name, 1, action)
    if slot is not None:
        strip.action_slot = slot
    strip.mute = mute
    data.action = None


def key_fk(random: Random, rig: Rig, kind: str) -> None:
    """Key the FK rotations of the chain's bones, or nearly."""
    if kind == "none":
        return
    for name in rig.bones:
        pose_bone = rig.ob.pose.bones[name]
        if kind == "of another rotation mode":
            mode = pose_bone.rotation_mode
            pose_bone.rotation_mode = "ZYX" if mode == "QUATERNION" else "QUATERNION"
            key_rotation(random, pose_bone)
            pose_bone.rotation_mode = mode
            set_rotation(pose_bone, random_rotation(random, 1.0))
        else:
            key_rotation(random, pose_bone, random.randrange(3) if kind == "some of its numbers" else -1)
    if kind == "muted":
        for curve in fcurves(rig.ob):
            curve.mute = True
    if "strip" in kind:
        push_down(rig.ob, mute=kind == "muted strip")


def animated_rig(seed: int, fk_keys: str) -> Rig:
    """A live chain in a scene where all kinds of things move over the frames 1 to 13."""
    random = Random(seed)
    rig = random_rig(seed, count=random.choice((2, 2, 3)))
    key_fk(random, rig, fk_keys)
    # A strip has no place for what is keyed later; the chain's targets may be bones of the same armature.
    update()
    if random.random() < 0.7:
        key_target(rig)
    else:
        rig.place_target(reachable_point(rig))
    if rig.pole:
        rig.place_pole(rig.joints()[0] + random_point(random, 1.0, 3.0))
    if random.random() < 0.5 and rig.tip.parent_recursive[-1].name not in rig.bones:
        key_rotation(random, rig.tip.parent_recursive[-1])
    if random.random() < 0.5:
        key(rig.ob, "location", [random_point(random, 0.0, 0.3) for _ in FRAMES])
        key(rig.ob, "rotation_euler", [random_rotation(random, 1.0).to_euler() for _ in FRAMES])
    rig.enable()
    influence = random.choice(("full", "half", "keyed"))
    if influence == "half":
        rig.tip.analytic_ik_influence = 0.5
    elif influence == "keyed":
        key(rig.tip, "analytic_ik_influence", [0.0, 1.0, 0.4, 0.0])
    if random.random() < 0.25:
        key(rig.tip, "analytic_ik_enabled", [True, False, True, False])
    return rig


def any_rig(seed: int) -> Rig:
    """A live chain in a scene where its controls and what carries it move; mostly one that stays steady."""
    random = Random(seed)
    rig = random_rig(seed, count=random.choice((2, 2, 2, 3, 5)))
    if random.random() < 0.8:
        for name in rig.bones:
            bone = rig.ob.data.bones[name]
            bone.use_inherit_rotation = bone.use_local_location = True
            bone.inherit_scale = random.choice(("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE"))
        for bone in rig.ob.pose.bones:
            bone.scale = [abs(value) for value in bone.scale]
        update()
    key_target(rig)
    if rig.pole:
        moved = rig.pole.ob.pose.bones[rig.pole.bone] if rig.pole.bone else rig.pole.ob
        for frame in FRAMES:
            rig.place_pole(rig.joints()[0] + random_point(random, 1.0, 3.0))
            moved.keyframe_insert("location", frame=frame)
    above = rig.ob.pose.bones[rig.bones[0]].parent
    if above is not None and random.random() < 0.6:
        key_rotation(random, above)
        if random.random() < 0.4:
            key(above, "scale", [[random.uniform(0.8, 1.2)] * 3 for _ in FRAMES])
    carrier = rig.ob.parent or rig.ob
    if random.random() < 0.5:
        key(carrier, "location", [carrier.location + random_point(random, 0.0, 0.5) for _ in FRAMES])
        key(carrier, "rotation_euler", [random_rotation(random, 1.5).to_euler() for _ in FRAMES])
    settings = {
        "swivel": random.choice((0.0, random.uniform(-pi, pi))),
        "flip": random.random() < 0.3,
        "softness": random.choice((0.0, 0.0, 0.2)),
        "reach": random.choice(("CLAMP", "CLAMP", "HOLD")),
        "influence": random.choice((1.0, 1.0, 0.6)),
        "least_motion": random.random() < 0.3,
    }
    rig.enable(**settings)
    return rig
