"""What is native on an armature, and how it is found again after bones were renamed, appended or joined.

The settings of a native chain stay on its tip, switched off. Helper bones carry the key of their chain, and what else
was made for it is found by what it points to: Blender renames that itself.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import bpy

from .. import messages
from ..rig.data.settings import NATIVE_RECORD, PREFIX, native_tips
from ..rig.model.limb import known_bones
from ..solvers import ChainError

HELPER_PREFIX = "IK-"
"""The names of helper bones begin so."""
CONSTRAINT_PREFIX = "Native IK"
"""Those of constraints too."""
FOLLOWERS = {"target": f"{CONSTRAINT_PREFIX} target", "pole_target": f"{CONSTRAINT_PREFIX} pole"}
"""Those of the constraints by which helper bones follow a chain's controls."""
MECHANISM = "IK Mechanism"
"""The hidden bone collection of helper bones."""
HELPS = PREFIX + "record_helps"
"""The key of the chain that a helper bone belongs to."""
REMOVED = PREFIX + "record_removed"
"""Constraints that were taken off a bone, as JSON."""


@dataclass(frozen=True, slots=True)
class NativeRecord:
    """What a tip keeps of its chain while that is native.

    key: of its helpers. had_animation: whether the armature object had animation data before. figure: what was measured
    when it was made, as a part of the chain's length.
    """

    key: str
    had_animation: bool
    figure: float = 0.0


def keep(tip: bpy.types.PoseBone, record: NativeRecord) -> None:
    """Write a record on the tip of a chain."""
    setattr(tip, NATIVE_RECORD, json.dumps(asdict(record)))


def record_of(tip: bpy.types.PoseBone) -> NativeRecord:
    """What a tip keeps of its native chain. Raises ChainError if that was changed by hand."""
    try:
        kept = json.loads(getattr(tip, NATIVE_RECORD))
        record = NativeRecord(str(kept["key"]), bool(kept["had_animation"]), float(kept["figure"]))
        if not record.key:
            raise ValueError(kept)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise ChainError(messages.NATIVE_RECORD_UNREADABLE(bone=tip.name)) from error
    return record


def new_key(ob: bpy.types.Object, tip: bpy.types.PoseBone) -> str:
    """A key for a chain that no other one of the armature has."""
    taken = {getattr(bone, HELPS) for bone in ob.pose.bones} | {record_of(bone).key for bone in native_tips(ob)}
    key, number = f"{ob.name}/{tip.name}", 0
    while key in taken:
        number += 1
        key = f"{ob.name}/{tip.name}/{number}"
    return key


def alike(tip: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """The tip of a native chain, and those that have the same key: copies of it, or it is one of them."""
    key = record_of(tip).key
    return [tip, *(each for each in native_tips(tip.id_data) if each != tip and record_of(each).key == key)]


def helpers_of(ob: bpy.types.Object, key: str) -> list[str]:
    """Names of the helper bones of a chain."""
    return [bone.name for bone in ob.pose.bones if getattr(bone, HELPS) == key]


def unused_helpers(ob: bpy.types.Object) -> set[str]:
    """Names of the helper bones of which no native chain has the key or follows one: of chains whose tip has become a
    copy of another one, or is gone."""
    keys = {bone.name: getattr(bone, HELPS) for bone in ob.pose.bones if getattr(bone, HELPS)}
    used = set()
    for tip in native_tips(ob):
        followed = {getattr(each, "subtarget", "") for bone in known_bones(tip) for each in bone.constraints}
        used |= {record_of(tip).key} | {keys[name] for name in followed & keys.keys()}
    return {name for name, key in keys.items() if key not in used}


def followed_by(tip: bpy.types.PoseBone) -> set[str]:
    """Names of the helper bones that the bones of a native chain follow."""
    helpers = set(helpers_of(tip.id_data, record_of(tip).key))
    return {getattr(each, "subtarget", "") for bone in known_bones(tip) for each in bone.constraints} & helpers


def follow_controls(tip: bpy.types.PoseBone) -> None:
    """Let a chain's settings have the controls that its helper bones follow: in constraints Blender itself keeps them
    right, also where armatures are joined."""
    own = {each.name: each for name in _mechanism_of(tip) for each in tip.id_data.pose.bones[name].constraints}
    for role, name in FOLLOWERS.items():
        control = own[name].target if name in own else None
        if control is None:
            continue
        wanted = {role: control}
        if control.type == "ARMATURE":
            wanted[role.replace("target", "subtarget")] = own[name].subtarget
        for setting, value in wanted.items():
            if getattr(tip, PREFIX + setting) != value:
                setattr(tip, PREFIX + setting, value)


def _mechanism_of(tip: bpy.types.PoseBone) -> set[str]:
    """Names of the helper bones that move a native chain: of armatures that were joined two may have the same key."""
    bones, helpers = tip.id_data.pose.bones, set(helpers_of(tip.id_data, record_of(tip).key))
    names, found = set(), followed_by(tip)
    while found:
        names |= found
        near = [bones[name] for name in found]
        met = {each.name for bone in near for each in (bone.parent, *bone.children) if each is not None}
        met |= {getattr(each, "subtarget", "") for bone in near for each in bone.constraints}
        found = (met & helpers) - names
    return names


def constraints_on(
    ob: bpy.types.Object, helpers: set[str]
) -> Iterator[tuple[bpy.types.PoseBone, bpy.types.Constraint]]:
    """The constraints by which bones that are no helpers follow these helper bones, each with its bone."""
    for bone in ob.pose.bones:
        if bone.name in helpers:
            continue
        for constraint in bone.constraints:
            if getattr(constraint, "target", None) == ob and getattr(constraint, "subtarget", "") in helpers:
                yield bone, constraint
