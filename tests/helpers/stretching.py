"""Legs that stretch, and what their bones' scales are."""

from random import Random

import bpy
from mathutils import Vector

from ..rig.keys import FRAMES, fcurves, key, key_location
from ..rig.rigs import (
    INHERIT_SCALE,
    BoneSpec,
    Control,
    Rig,
    editing,
    evaluated_copy,
    leg,
    new_armature,
    new_empty,
    random_point,
    random_rig,
    random_unit,
    update,
)

Scales = dict[str, tuple[float, ...]]


def scales(ob: bpy.types.Object) -> Scales:
    """What stands in the bones' scale channels."""
    return {bone.name: tuple(bone.scale) for bone in evaluated_copy(ob).pose.bones}


def add_end_bones(rig: Rig, count: int = 2) -> list[str]:
    """Bones that hang on the tip: one on its tail, others beside it."""
    with editing(rig.ob) as edit_bones:
        tip = edit_bones[rig.bones[-1]]
        for k in range(count):
            bone = edit_bones.new(f"end {k}")
            bone.parent, bone.use_connect = tip, k == 0
            bone.head = tip.tail if k == 0 else tip.tail + random_point(rig.random, 0.0, 0.3)
            bone.tail = bone.head + random_unit(rig.random) * 0.4
    names = [f"end {k}" for k in range(count)]
    for name in names:
        pose_bone = rig.ob.pose.bones[name]
        pose_bone.bone.inherit_scale = rig.random.choice(INHERIT_SCALE)
        pose_bone.bone.use_inherit_rotation = rig.random.random() < 0.7
        pose_bone.scale = [rig.random.uniform(0.6, 1.5) for _ in range(3)]
        pose_bone.location = random_point(rig.random, 0.0, 0.2)
    update()
    return names


def beyond(rig: Rig, ratio: float) -> Vector:
    """A point in armature space at `ratio` chain lengths from the chain's root."""
    return rig.joints()[0] + random_unit(rig.random) * (ratio * sum(rig.lengths()))


FK_SCALES = {"hips": (1.1,) * 3, "thigh": (0.9, 1.3, 1.1), "shin": (1.05, 0.95, 1.2), "foot": (1.3, 0.7, 0.9)}


def scaled_leg(**settings: object) -> Rig:
    """A stretched leg whose bones are scaled by hand."""
    rig = leg()
    for name, scale in FK_SCALES.items():
        rig.ob.pose.bones[name].scale = scale
    rig.target.place((0.0, 0.3, -1.0))
    rig.enable(**{"reach": "STRETCH"} | settings)
    return rig


SCALE_KEYS = ("none", "root", "end", "one number of each", "all", "muted", "driven end")


def scale_animated_rig(seed: int, scale_keys: str) -> Rig:
    """A chain that stretches at some frames, with bones scaled by hand and by keys, over the frames 1 to 13."""
    random = Random(seed)
    rig = random_rig(seed, count=random.choice((1, 2, 2, 3)))
    add_end_bones(rig)
    names = {"none": [], "root": rig.bones[:1], "end": ["end 0"], "driven end": []}.get(
        scale_keys, [*rig.bones, "end 0", "end 1"]
    )
    for name in names:
        for frame in FRAMES:
            size = random.uniform(0.7, 1.4)
            rig.ob.pose.bones[name].scale = (size, size, size)
            index = random.randrange(3) if scale_keys == "one number of each" and name.startswith("end") else -1
            rig.ob.pose.bones[name].keyframe_insert("scale", index=index, frame=frame)
    if scale_keys == "muted":
        for curve in fcurves(rig.ob):
            curve.mute = True
    if scale_keys == "driven end":
        rig.ob.pose.bones["end 1"].driver_add("scale", 1).driver.expression = "1.0 + 0.05 * frame"
    update()
    for frame, ratio in zip(FRAMES, (1.5, 0.8, 2.2, 0.6), strict=True):
        rig.place_target(beyond(rig, ratio))
        key_location(rig.target, frame)
    if rig.pole:
        rig.place_pole(beyond(rig, 2.0))
    rig.enable(reach="STRETCH", stretch_max=1.7)
    kind = random.choice(("full", "half", "influence", "switch", "reach"))
    if kind == "half":
        rig.tip.analytic_ik_influence = 0.5
    elif kind == "influence":
        key(rig.tip, "analytic_ik_influence", [1.0, 0.2, 0.6, 0.0])
    elif kind == "switch":
        key(rig.tip, "analytic_ik_enabled", [True, False, True, False])
    elif kind == "reach":
        key(rig.tip, "analytic_ik_reach", ["STRETCH", "CLAMP", "STRETCH", "HOLD"])
    return rig


def two_in_line(seed: int = 0, **settings: object) -> tuple[Rig, Rig]:
    """Two stretching chains, the second's root an end bone of the first."""
    random = Random(seed)
    specs, tail = [], Vector()
    for k in range(6):
        head, tail = tail, tail + Vector((random.uniform(-0.3, 0.3), random.uniform(0.1, 0.3), 1.0))
        specs.append(BoneSpec(f"bone {k}", head, tail, f"bone {k - 1}" if k else "", connect=bool(k)))
    ob = new_armature("line", specs)
    for bone in ob.pose.bones:
        bone.bone.inherit_scale = random.choice(INHERIT_SCALE if seed else ("FULL",))
        size = random.uniform(0.8, 1.2)
        bone.scale = (size, size, size)
    update()
    upper = Rig(ob, ["bone 0", "bone 1"], Control(new_empty("upper goal", (0.5, 0.3, 3.0))), random=random)
    lower = Rig(ob, ["bone 2", "bone 3"], Control(new_empty("lower goal", (0.5, 1.0, 6.2))), random=random)
    for rig in (upper, lower):
        rig.enable(**{"reach": "STRETCH", "stretch_max": 3.0} | settings)
    return upper, lower
