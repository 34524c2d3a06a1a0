"""What is native on an armature, and how it is found again after bones were renamed, appended or joined."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

import bpy

from .. import messages
from ..rig.blender.animation import drivers_of
from ..rig.blender.dependencies import aims_of, taken_by
from ..rig.data.relation import is_tie
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
    """What a tip keeps of its chain while that is native. key: of its helpers. had_animation: whether the armature
    object had animation data before. figure: what was measured when it was made, as a part of the chain's length."""

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
        followed = _followed(known_bones(tip))
        used |= {record_of(tip).key} | {keys[name] for name in followed & keys.keys()}
    return {name for name, key in keys.items() if key not in used}


def followed_by(tip: bpy.types.PoseBone) -> set[str]:
    """Names of the helper bones that the bones of a native chain follow."""
    helpers = set(helpers_of(tip.id_data, record_of(tip).key))
    return _followed(known_bones(tip)) & helpers


def _followed(bones: Iterable[bpy.types.PoseBone]) -> set[str]:
    """Names of the bones that constraints of these name."""
    return {name for bone in bones for each in bone.constraints for _, name in aims_of(each)}


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
        met |= _followed(near)
        found = (met & helpers) - names
    return names


_NOT_KEPT = {"name", "type", "is_valid", "error_location", "error_rotation", "is_override_data", "active"}


def remove_still_ik(tip: bpy.types.PoseBone, names: Iterable[str], key: str) -> None:
    """Take off the IK constraints without effect that would pose one of these bones, and keep what they were. tip: of
    the chain for which that is done."""
    ob, wanted = tip.id_data, set(names)
    for bone in ob.pose.bones:
        kept = _kept(bone)
        for index, constraint in reversed(list(enumerate(bone.constraints))):
            if constraint.type == "IK" and not is_tie(constraint) and wanted & taken_by(constraint, bone):
                same = [role for role in FOLLOWERS if _control(constraint, role) == _control(tip, role, PREFIX)]
                kept.append(_data(ob, bone, index, constraint) | {"key": key, "same": same})
                bone.constraints.remove(constraint)
        if kept:
            setattr(bone, REMOVED, json.dumps(kept))


def put_back(tip: bpy.types.PoseBone, key: str) -> None:
    """Put back what was taken off for the chain of a tip, whose controls may have other names now."""
    ob = tip.id_data
    for bone in ob.pose.bones:
        kept = _kept(bone)
        # The last that was taken off is the first to be put back.
        for data in reversed([each for each in kept if each["key"] == key]):
            constraint = _put_back(ob, bone, data)
            for role in data["same"]:
                control, subtarget = _control(tip, role, PREFIX)
                setattr(constraint, role, control)
                setattr(constraint, _subtarget(role), subtarget)
        left = [each for each in kept if each["key"] != key]
        if left:
            setattr(bone, REMOVED, json.dumps(left))
        elif kept:
            bone.property_unset(REMOVED)


def _kept(bone: bpy.types.PoseBone) -> list[dict]:
    return json.loads(getattr(bone, REMOVED) or "[]")


def _data(ob: bpy.types.Object, bone: bpy.types.PoseBone, index: int, constraint: bpy.types.Constraint) -> dict:
    values, objects = {}, {}
    for rna in constraint.bl_rna.properties:
        name = rna.identifier
        if rna.is_readonly or name in _NOT_KEPT:
            continue
        value = getattr(constraint, name)
        if rna.type == "POINTER":
            if value is not None:
                objects[name] = [value.name, value.library.filepath if value.library else ""]
        else:
            values[name] = value
    active = bone.constraints.active == constraint
    # Blender removes the drivers of what is removed: elsewhere, muted, they wait.
    away, drivers = _away(bone, constraint.name), []
    for curve in _drivers_below(ob, constraint.path_from_id()):
        drivers.append([curve.data_path.removeprefix(constraint.path_from_id()), curve.mute])
        curve.data_path, curve.mute = away + drivers[-1][0], True
    data = {"name": constraint.name, "index": index, "active": active}
    return data | {"values": values, "objects": objects, "drivers": drivers}


def _put_back(ob: bpy.types.Object, bone: bpy.types.PoseBone, data: dict) -> bpy.types.Constraint:
    stack = bone.constraints
    active = stack.active
    constraint = stack.new("IK")
    constraint.name = data["name"]
    for name, (ob_name, library) in data["objects"].items():
        setattr(constraint, name, bpy.data.objects.get((ob_name, library or None)))
    for name, value in data["values"].items():
        setattr(constraint, name, value)
    stack.move(len(stack) - 1, min(data["index"], len(stack) - 1))
    stack.active = stack[data["name"]] if data["active"] else active
    path = stack[data["name"]].path_from_id()
    muted = dict(data["drivers"])
    for curve in _drivers_below(ob, _away(bone, data["name"])):
        what = curve.data_path.removeprefix(_away(bone, data["name"]))
        curve.data_path, curve.mute = path + what, muted.get(what, False)
    return stack[data["name"]]


def _control(owner: bpy.types.bpy_struct, role: str, prefix: str = "") -> tuple[bpy.types.Object | None, str]:
    """Target or pole target of an IK constraint or, with the prefix, of a chain: an object, and a bone of it."""
    return getattr(owner, prefix + role), getattr(owner, prefix + _subtarget(role))


def _subtarget(role: str) -> str:
    return role.replace("target", "subtarget")


def _away(bone: bpy.types.PoseBone, constraint: str) -> str:
    """Where drivers of a constraint wait while it is off: a path that leads nowhere, and is renamed with the bone."""
    return f'{bone.path_from_id()}.{REMOVED}["{bpy.utils.escape_identifier(constraint)}"]'


def _drivers_below(ob: bpy.types.Object, path: str) -> list[bpy.types.FCurve]:
    return [curve for curve in drivers_of(ob) if curve.data_path.startswith(path + ".")]
