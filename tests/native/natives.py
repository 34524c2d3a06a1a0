"""Rigs of any kind with a chain that can be native, posed at random, live and native."""

from collections.abc import Callable
from itertools import pairwise

import bpy
from mathutils import Matrix, Vector

from ik_addon.native.making import Native, make_live, make_native
from ik_addon.native.records import HELPER_PREFIX
from ik_addon.rig.data.relation import is_tie

from ..helpers.feet import random_footed, turn_target
from ..rig.rigs import (
    Rig,
    evaluated_copy,
    pole_point,
    random_point,
    random_rig,
    random_rotation,
    reachable_point,
    set_rotation,
    update,
)
from ..scenes import apart, readable, whole_state

CHANNELS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle")
PAIR, FLIPPED, MANY = 2e-5, 1e-4, 1e-4
"""What is promised of two bones; of two that are flipped or blended, of feet and hinges; of more, for joints in chain
lengths."""


def fit(rig: Rig) -> Rig:
    """Let a random rig have what every native chain needs: even scales, and rotations that are inherited."""
    for bone in rig.ob.pose.bones:
        bone.scale = [abs(bone.scale[0])] * 3
    for bone in rig.ob.data.bones:
        bone.use_inherit_rotation = bone.use_inherit_rotation or any(
            bone.name in rig.bones for bone in bone.parent_recursive
        )
        bone.use_inherit_rotation = bone.use_inherit_rotation or bone.name in rig.bones
    update()
    return rig


def any_rig(seed: int, count: int = 2, with_pole: bool | None = None, straight: str = "") -> Rig:
    rig = fit(random_rig(seed, count, with_pole, straight=straight))
    rig.place_target(reachable_point(rig))
    if rig.pole:
        rig.place_pole(pole_point(rig, rig.to_armature(rig.target)))
    return rig


def any_footed(seed: int) -> Rig:
    """With a foot that follows the target."""
    rig = fit(random_footed(seed))
    scale_evenly(rig)
    return rig


def scale_evenly(rig: Rig) -> None:
    """Let no object be scaled unevenly or mirrored: Blender blends constraints, and copies rotations, in the world."""
    for ob in filter(None, (rig.ob, rig.ob.parent, rig.target.ob)):
        ob.scale = [abs(ob.scale[0])] * 3
    update()


def user_pose(ob: bpy.types.Object) -> dict[str, Matrix]:
    """Pose matrices of all bones that are no helpers, as Blender evaluates them."""
    bones = evaluated_copy(ob).pose.bones
    return {bone.name: bone.matrix.copy() for bone in bones if not bone.name.startswith(HELPER_PREFIX)}


def pose_somehow(rig: Rig, out_of_reach: bool = False) -> None:
    """Put target and pole somewhere; the target and the bone above the root are turned too."""
    above = rig.ob.pose.bones[rig.bones[0]].parent
    if above is not None:
        set_rotation(above, random_rotation(rig.random, 1.0))
        update()
    turn_target(rig, random_rotation(rig.random))
    length = sum(rig.lengths())
    at = rig.joints()[0] + random_point(rig.random, 1.02, 1.6) * length if out_of_reach else reachable_point(rig)
    rig.place_target(at)
    if rig.pole:
        rig.place_pole(pole_point(rig, at))


def native(rig: Rig, switch: bool = True) -> Native:
    return make_native(bpy.context, [rig.tip], switch)


def live(rig: Rig) -> None:
    make_live(bpy.context, [rig.tip])


def differences(
    rig: Rig, poses: int, pose: Callable[[Rig], None] = pose_somehow, joints: bool = False, switch: bool = False
) -> list[float]:
    """How far the native chain is from the live one, in each of so many random poses.

    switch: whether Influence becomes a setting in any case. joints: of the heads of its bones and of its end alone, in
    chain lengths; else of all bones, axes too. The angles of two links are arc cosines: nearly straight or folded these
    make a rounding larger, by the sine of the bend.
    """
    length, seen = sum(rig.lengths()), []
    for _ in range(poses):
        pose(rig)
        seen.append((_placed(rig), user_pose(rig.ob), rig.joints()))
    native(rig, switch)
    found = []
    for places, shown, points in seen:
        _place_again(rig, places)
        if joints:
            found.append(max((a - b).length for a, b in zip(points, rig.joints(), strict=True)) / length)
        else:
            found.append(apart(shown, user_pose(rig.ob), length) * min(1.0, 10.0 * _sine(points)))
    return found


def _sine(joints: list[Vector]) -> float:
    """Of the sharpest or the straightest bend of a chain's joints."""
    links = [b - a for a, b in pairwise(joints)]
    return min(a.cross(b).length / (a.length * b.length) for a, b in pairwise(links))


def _owners(rig: Rig) -> list[bpy.types.bpy_struct]:
    """What `pose_somehow` moves."""
    controls = [control for control in (rig.target, rig.pole) if control]
    owners = [control.ob.pose.bones[control.bone] if control.bone else control.ob for control in controls]
    return [*owners, *filter(None, [rig.ob.pose.bones[rig.bones[0]].parent])]


def _placed(rig: Rig) -> list[dict[str, tuple[float, ...]]]:
    return [{name: tuple(getattr(owner, name)) for name in CHANNELS} for owner in _owners(rig)]


def _place_again(rig: Rig, places: list[dict[str, tuple[float, ...]]]) -> None:
    for owner, values in zip(_owners(rig), places, strict=True):
        for name, value in values.items():
            setattr(owner, name, value)
    update()


def constraint_state(constraint: bpy.types.Constraint) -> dict:
    names = [rna.identifier for rna in constraint.bl_rna.properties if rna.type not in ("COLLECTION",)]
    pointers = {"rna_type", "space_object", "target", "pole_target"}
    values = {name: readable(getattr(constraint, name)) for name in names if name not in pointers}
    return values | {name: readable(getattr(constraint, name, None)) for name in ("target", "pole_target")}


def driver_state(curve: bpy.types.FCurve) -> tuple:
    driver = curve.driver
    variables = [
        (each.name, each.type, [(target.id and target.id.name, target.data_path) for target in each.targets])
        for each in driver.variables
    ]
    return (curve.data_path, curve.array_index, curve.mute, driver.type, driver.expression, variables)


def all_there_is(ob: bpy.types.Object) -> dict:
    """What of an armature could have changed, and of the file."""
    data = ob.animation_data
    bones = [
        (
            bone.name,
            bone.parent and bone.parent.name,
            bone.use_deform,
            bone.hide_select,
            tuple(map(tuple, bone.matrix_local)),
        )
        for bone in ob.data.bones
    ]
    return {
        **whole_state(),
        "rest": bones,
        "collections": [(each.name, each.is_visible) for each in ob.data.collections_all],
        "constraints": {
            bone.name: [constraint_state(each) for each in bone.constraints if not is_tie(each)]
            for bone in ob.pose.bones
        },
        "set": {
            bone.name: [
                rna.identifier
                for rna in bone.bl_rna.properties
                if rna.identifier.startswith("analytic_ik_") and bone.is_property_set(rna.identifier)
            ]
            for bone in ob.pose.bones
        },
        "custom": {
            bone.name: [key for key, _ in bone.items() if not key.startswith("analytic_ik")] for bone in ob.pose.bones
        },
        "drivers": data and sorted(driver_state(curve) for curve in data.drivers),
        "animated": data is not None,
        "objects of the file": sorted(each.name for each in bpy.data.objects),
    }


def changed(before: dict, after: dict) -> dict:
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}
