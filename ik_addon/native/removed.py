"""Blender's IK constraints that keep still: taken off while a chain is native, and put back.

Even a muted one has Blender evaluate the bones of its chain together, and helpers that hang on one of them and turn
another would be a dependency cycle.
"""

import json
from collections.abc import Iterable

import bpy

from ..rig.blender.movers import taken_by
from ..rig.data.relation import is_tie
from ..rig.data.settings import PREFIX
from .marks import REMOVED

_ROLES = ("target", "pole_target")
_NOT_KEPT = {"name", "type", "is_valid", "error_location", "error_rotation", "is_override_data", "active"}


def remove_still_ik(tip: bpy.types.PoseBone, names: Iterable[str], key: str) -> None:
    """Take off the IK constraints without effect that would pose one of these bones, and keep what they were. tip: of
    the chain for which that is done."""
    ob, wanted = tip.id_data, set(names)
    for bone in ob.pose.bones:
        kept = _kept(bone)
        for index, constraint in reversed(list(enumerate(bone.constraints))):
            if constraint.type == "IK" and not is_tie(constraint) and wanted & taken_by(constraint, bone):
                same = [role for role in _ROLES if _control(constraint, role) == _control(tip, role, PREFIX)]
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
        found = bpy.data.objects.get((ob_name, library or None))
        setattr(constraint, name, found)
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
    drivers = ob.animation_data.drivers if ob.animation_data else ()
    return [curve for curve in drivers if curve.data_path.startswith(path + ".")]
