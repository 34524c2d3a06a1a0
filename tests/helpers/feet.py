"""A leg with a foot that follows its target and rolls, made by hand or from a seed; and how its foot lies."""

from random import Random

import bpy
from mathutils import Quaternion, Vector

from ..rig.keys import FRAMES, key, key_rotation
from ..rig.rigs import (
    BoneSpec,
    Control,
    Rig,
    new_armature,
    new_empty,
    random_point,
    random_rig,
    random_rotation,
    random_unit,
    reachable_point,
    set_rotation,
    update,
)

ANKLE, BALL, TIP = (0.0, 0.0, 0.2), (0.0, -0.3, 0.05), (0.0, -0.45, 0.05)

HEEL_BONE = ((-0.05, 0.12, 0.03), (0.05, 0.08, 0.01))


def footed_leg(name: str = "leg", side: float = 0.0, toe: bool = True, heel: bool = False) -> Rig:
    """A leg with a foot that stands on its ball and toe, and a target Empty at its ankle. Not live."""
    shift = Vector((side, 0.0, 0.0))
    specs = [
        BoneSpec("hips", (0.0, 0.5, 2.0), (0.0, 0.0, 2.0)),
        BoneSpec("thigh", (0.0, 0.0, 2.0), (0.0, -0.3, 1.1), "hips"),
        BoneSpec("shin", (0.0, -0.3, 1.1), ANKLE, "thigh", connect=True),
        BoneSpec("foot", ANKLE, BALL, "shin", connect=True, roll=0.4),
    ]
    if toe:
        specs.append(BoneSpec("toe", BALL, TIP, "foot", connect=True, roll=-0.3))
    if heel:
        specs.append(BoneSpec("Heel.pivot", *HEEL_BONE, "foot"))
    moved = [
        BoneSpec(spec.name, Vector(spec.head) + shift, Vector(spec.tail) + shift, spec.parent, spec.connect, spec.roll)
        for spec in specs
    ]
    target = Control(new_empty(f"{name} target", shift + Vector(ANKLE)))
    return Rig(new_armature(name, moved), ["thigh", "shin"], target, random=Random(1))


def random_footed(seed: int, with_pole: bool | None = None) -> Rig:
    """A limb of two bones on an armature of any kind, with a foot and a toe; its target within reach."""
    whole = random_rig(seed, count=4, with_pole=with_pole)
    rig = Rig(whole.ob, whole.bones[:2], whole.target, whole.pole, whole.random)
    update()
    rig.place_target(reachable_point(rig))
    if rig.pole:
        rig.place_pole(rig.joints()[0] + random_unit(rig.random) * 3.0)
    return rig


def foot_of(rig: Rig) -> bpy.types.PoseBone:
    (foot,) = rig.tip.children
    return foot


def turn_target(rig: Rig, rotation: Quaternion) -> None:
    owner = rig.target.ob.pose.bones[rig.target.bone] if rig.target.bone else rig.target.ob
    set_rotation(owner, rotation)
    update()


def follow(rig: Rig, **settings: object) -> None:
    """Make the chain live and then let its foot follow."""
    rig.enable(**settings)
    rig.tip.analytic_ik_use_rotation = True
    update()


def animated_foot(seed: int, keyed_switch: bool = False) -> Rig:
    """A live leg with a foot that follows and rolls over the frames 1 to 13."""
    random = Random(seed)
    rig = footed_leg()
    if seed % 3 == 0:
        key_rotation(random, rig.ob.pose.bones["foot"])
    if seed % 2 == 0:
        key_rotation(random, rig.ob.pose.bones["toe"])
    if seed % 4 == 1:
        key(rig.ob, "rotation_euler", [random_rotation(random, 1.0).to_euler() for _ in FRAMES])
    target = rig.target.ob
    target.rotation_mode = "QUATERNION"
    key(target, "location", [Vector((0.0, 0.0, 0.5)) + random_point(random, 0.0, 0.4) for _ in FRAMES])
    key(target, "rotation_quaternion", [random_rotation(random, 0.7) for _ in FRAMES])
    rig.enable()
    if keyed_switch:
        key(rig.tip, "analytic_ik_use_rotation", [True, False, True, True])
    rig.tip.analytic_ik_use_rotation = True
    key(rig.tip, "analytic_ik_foot_roll", [0.0, random.uniform(0.2, 0.7), -0.4, random.uniform(0.9, 1.3)])
    update()
    return rig
