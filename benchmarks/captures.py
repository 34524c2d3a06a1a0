"""A walking capture whose legs were rigged by *Rig Legs*, the same for every contender.

A body of 25 bones as an import of motion capture leaves it: Euler keys on every bone on every frame. Its controls have
keys too, and are moved a little, so that the legs follow them and not their own keys. Blender's contender has an IK
constraint for the same targets and poles, and its feet have a Copy Rotation.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import cos, pi, sin, tau

import bpy
from mathutils import Vector

from ik_addon.authoring.rigging import RiggedLimb, rig_legs
from ik_addon.authoring.snap import snap_targets
from ik_addon.rig.data.settings import clear_settings
from ik_addon.rig.live import handlers as live

from . import keys
from .legs import skin

FRAMES = range(1, 251)
KINDS = {
    "FOLLOW": "feet follow",
    "ROLL": "keyed foot roll",
    "STRETCH": "stretch",
    "INFLUENCE": "keyed influence",
    "SWIVEL": "keyed swivel",
    "MUTED": "FK keys muted",
    "BODY": "the body follows",
}
"""What the legs do, see `build`, in words."""
_STEP = 32
"""Frames of a step."""
_WAVE = 25
"""Frames between two keys of influence 1."""
_LIFT, _DROP = 0.04, -0.05
"""How far targets are moved up or, to be out of reach at times, down."""
_SIDES = {"Left": 1.0, "Right": -1.0}
_HIP, _KNEE, _ANKLE = (0.1, 0.0, 0.9), (0.1, -0.01, 0.48), (0.1, 0.01, 0.08)
LEG_LENGTH = sum((Vector(a) - Vector(b)).length for a, b in pairwise((_HIP, _KNEE, _ANKLE)))
_TRUNK = (("Hips", 0.95, 1.0), ("Spine", 1.0, 1.2), ("Chest", 1.2, 1.45), ("Neck", 1.45, 1.55), ("Head", 1.55, 1.75))
_LIMBS = {
    "UpLeg": ("Hips", _HIP, _KNEE),
    "Leg": ("UpLeg", _KNEE, _ANKLE),
    "Foot": ("Leg", _ANKLE, (0.1, -0.12, 0.03)),
    "ToeBase": ("Foot", (0.1, -0.12, 0.03), (0.1, -0.2, 0.03)),
    "Shoulder": ("Chest", (0.02, 0.0, 1.43), (0.15, 0.0, 1.43)),
    "Arm": ("Shoulder", (0.15, 0.0, 1.43), (0.43, 0.0, 1.42)),
    "ForeArm": ("Arm", (0.43, 0.0, 1.42), (0.68, -0.02, 1.42)),
    "Hand": ("ForeArm", (0.68, -0.02, 1.42), (0.78, -0.02, 1.42)),
    "HandThumb": ("Hand", (0.7, -0.05, 1.42), (0.75, -0.09, 1.42)),
    "HandIndex": ("Hand", (0.78, -0.02, 1.42), (0.86, -0.02, 1.42)),
}
"""By the name of a bone of the left side: its parent, head and tail."""


def build(contender: str, kind: str = "FOLLOW", skin_vertices: int = 0, frames: range = FRAMES) -> bpy.types.Object:
    """A fresh scene with the capture; returns its armature object.

    contender: BARE (nothing follows: the capture plays), BLENDER, OURS; our handlers are on for ours alone.
    skin_vertices: of a grid that all bones deform.
    kind: what there is besides feet that follow their targets' rotation:
    FOLLOW: nothing.
    ROLL: ours has a keyed foot roll. The peer's feet copy the rotation of an Empty with the same angle as keys, a child
    of the target; they do not turn about the ball as ours do, nor do the toes turn.
    STRETCH: targets are out of reach at times, ours stretch; the peer's constraint and bones may stretch.
    INFLUENCE: keyed up and down, the peer's on both of its constraints.
    SWIVEL: keyed; the peer's pole angle.
    MUTED: the F-Curves of the legs' own bones are muted.
    BODY: targets are out of reach at times, and our hips follow the legs; the peer has nothing for that.
    """
    live.unregister()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    ob = walker(scene, frames)
    scene.frame_set(frames[0])
    limbs = _rigged(ob, frames)
    if skin_vertices:
        skin(ob, skin_vertices, [[bone.name, bone.parent.name] for bone in ob.data.bones if bone.parent])
    own = [f'"{name}"' for limb in limbs for name in (*limb.limb.bones, limb.limb.end)]
    for curve in keys.curves_of(ob) if kind == "MUTED" else ():
        curve.mute = any(name in curve.data_path for name in own)
    for limb in limbs:
        _raise(limb.target.ob, _DROP if kind in ("STRETCH", "BODY") else _LIFT)
        if contender == "OURS":
            _animate_chain(ob, limb, kind, frames)
            continue
        tip = ob.pose.bones[limb.limb.bones[-1]]
        clear_settings(tip)
        if contender == "BLENDER":
            _constrain(ob, limb, kind, frames)
    if contender == "OURS":
        ob.pose.bones["Hips"].analytic_ik_body_influence = 1.0 if kind == "BODY" else 0.0
        live.register()
    scene.frame_set(frames[0])
    return ob


def baked_bones(ob: bpy.types.Object) -> list[str]:
    """Names of the bones that are posed by their controls: thighs, shins, feet."""
    return [side + name for side in _SIDES for name in ("UpLeg", "Leg", "Foot")]


def worst_error(ob: bpy.types.Object, frames: range) -> float:
    """The largest `error` at some of the frames: at influence 1, where that has keys."""
    worst = 0.0
    for frame in frames[::_WAVE]:
        bpy.context.scene.frame_set(frame)
        worst = max(worst, error(ob))
    return worst


def error(ob: bpy.types.Object) -> float:
    """The largest distance of a foot from where its control wants it as the scene is, in leg lengths.

    Of the ankle; with chains of ours of the ball of the foot, which stays where it is when the foot rolls.
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    posed, worst = ob.evaluated_get(depsgraph), 0.0
    for side in _SIDES:
        foot, target = posed.pose.bones[f"{side}Foot"], bpy.data.objects[f"Foot.{side[0]}"]
        ours = ob.pose.bones[f"{side}Leg"].analytic_ik_target is not None
        point = Vector((0.0, foot.bone.length if ours else 0.0, 0.0))
        wanted = target.evaluated_get(depsgraph).matrix_world @ point
        worst = max(worst, (posed.matrix_world @ foot.matrix @ point - wanted).length / LEG_LENGTH)
    return worst


# The capture


def walker(scene: bpy.types.Scene, frames: range) -> bpy.types.Object:
    """The capture in a scene, without a rig; returns its armature object."""
    armature = bpy.data.armatures.new("Walk")
    ob = bpy.data.objects.new("Walk", armature)
    scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for name, low, high in _TRUNK:
        above = _bone(armature, name, above, (0.0, 0.0, low), (0.0, 0.0, high))
    for side, sign in _SIDES.items():
        for name, (parent, *ends) in _LIMBS.items():
            above = armature.edit_bones.get(side + parent) or armature.edit_bones[parent]
            head, tail = ((sign * x, y, z) for x, y, z in ends)
            _bone(armature, side + name, above, head, tail)
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in ob.pose.bones:
        bone.rotation_mode = "ZXY"
    turns = {
        f'pose.bones["{bone.name}"].rotation_euler': [_turn(number, bone.name, frame) for frame in frames]
        for number, bone in enumerate(ob.pose.bones)
    }
    ways = [(0.01 * sin(tau * frame / _STEP), 0.01 * cos(2.0 * tau * frame / _STEP), 0.02 * frame) for frame in frames]
    keys.write(ob, frames, {**turns, 'pose.bones["Hips"].location': ways})
    return ob


def _bone(
    armature: bpy.types.Armature,
    name: str,
    parent: bpy.types.EditBone | None,
    head: Sequence[float],
    tail: Sequence[float],
) -> bpy.types.EditBone:
    bone = armature.edit_bones.new(name)
    bone.head, bone.tail, bone.parent = head, tail, parent
    bone.align_roll((0.0, -1.0, 0.0))
    return bone


def _turn(number: int, name: str, frame: int) -> tuple[float, float, float]:
    """The Euler angles of a bone: legs that step, and all others swaying, each in its own way."""
    phase = tau * frame / _STEP + (0.0 if name.startswith("Left") else pi)
    sway = 0.03 * sin(phase + number), 0.03 * cos(phase + number)
    if name.endswith("UpLeg"):
        return 0.25 + 0.35 * sin(phase), *sway
    if name.endswith("Leg"):
        return -0.55 - 0.4 * cos(phase), 0.1 * sway[0], 0.1 * sway[1]
    return 0.1 * sin(phase + number), *sway


# The rig


def _rigged(ob: bpy.types.Object, frames: range) -> Sequence[RiggedLimb]:
    """Rig the legs, with targets turned as their feet: so Blender's Copy Rotation does the same; and key all."""
    limbs = rig_legs(bpy.context, ob, follow_motion=False).limbs
    tips = [ob.pose.bones[limb.limb.bones[-1]] for limb in limbs]
    for limb, tip in zip(limbs, tips, strict=True):
        limb.target.ob.matrix_world = ob.matrix_world @ ob.pose.bones[limb.limb.end].matrix
        bpy.context.view_layer.update()
        for following in (False, True):
            # When this is switched on, the chain records how the foot is turned against the target.
            tip.analytic_ik_use_rotation = following
    snap_targets(bpy.context, tips, frames)
    return limbs


def _raise(control: bpy.types.Object, height: float) -> None:
    for curve in keys.curves_of(control):
        if (curve.data_path, curve.array_index) == ("location", 2):
            for key in curve.keyframe_points:
                key.co.y += height
                key.handle_left.y += height
                key.handle_right.y += height
            curve.update()


def _animate_chain(ob: bpy.types.Object, limb: RiggedLimb, kind: str, frames: range) -> None:
    tip = ob.pose.bones[limb.limb.bones[-1]]
    own = tip.path_from_id()
    if kind == "ROLL":
        keys.write(ob, frames, {f"{own}.analytic_ik_foot_roll": [_roll(frame) for frame in frames]})
    elif kind == "STRETCH":
        tip.analytic_ik_reach = "STRETCH"
    elif kind == "INFLUENCE":
        keys.write(ob, frames, {f"{own}.analytic_ik_influence": [_influence(frame) for frame in frames]})
    elif kind == "SWIVEL":
        keys.write(ob, frames, {f"{own}.analytic_ik_swivel": [_swivel(frame) for frame in frames]})


def _constrain(ob: bpy.types.Object, limb: RiggedLimb, kind: str, frames: range) -> None:
    """Blender's IK constraint and Copy Rotation, for the same controls."""
    bones = [ob.pose.bones[name] for name in limb.limb.bones]
    angle, turned = _pole_angle(ob, limb), limb.target.ob
    if kind == "ROLL":
        turned = bpy.data.objects.new(f"Roll.{limb.limb.side}", None)
        bpy.context.scene.collection.objects.link(turned)
        turned.parent = limb.target.ob
        keys.write(turned, frames, {"rotation_euler": [(-_roll(frame)[0], 0.0, 0.0) for frame in frames]})
    reach = bones[-1].constraints.new("IK")
    reach.target, reach.pole_target, reach.pole_angle = limb.target.ob, limb.pole.ob, angle
    reach.chain_count = len(bones)
    reach.use_stretch = kind == "STRETCH"
    for bone in bones:
        bone.ik_stretch = 0.1 if kind == "STRETCH" else 0.0
    turn = ob.pose.bones[limb.limb.end].constraints.new("COPY_ROTATION")
    turn.target = turned
    if kind == "SWIVEL":
        angles = [(angle + _swivel(frame)[0],) for frame in frames]
        keys.write(ob, frames, {f"{reach.path_from_id()}.pole_angle": angles})
    elif kind == "INFLUENCE":
        for constraint in (reach, turn):
            keys.write(ob, frames, {f"{constraint.path_from_id()}.influence": [_influence(frame) for frame in frames]})


def _pole_angle(ob: bpy.types.Object, limb: RiggedLimb) -> float:
    """The pole angle with which Blender's IK constraint bends the leg as it is bent now."""
    root, tip = ob.pose.bones[limb.limb.bones[0]], ob.pose.bones[limb.limb.bones[-1]]
    pole = ob.matrix_world.inverted() @ limb.pole.ob.matrix_world.translation
    side = (tip.tail - root.head).cross(pole - root.head).cross(root.vector)
    angle = root.x_axis.angle(side)
    return -angle if root.x_axis.cross(side).dot(root.vector) > 0.0 else angle


def _roll(frame: int) -> tuple[float]:
    return (0.3 - 0.3 * cos(tau * frame / _STEP),)


def _influence(frame: int) -> tuple[float]:
    return (0.6 + 0.4 * cos(tau * (frame - 1) / _WAVE),)


def _swivel(frame: int) -> tuple[float]:
    return (0.4 * sin(tau * frame / _STEP),)
