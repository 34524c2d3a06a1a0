"""A chain's switch where animation sets it: which chains it switches, and whether it can be kept off."""

import bpy

from ... import messages
from ...solvers import ChainError
from ..blender.animation import FOLLOWING, bones_with_animated, current_fcurve_collections, fcurve_collections

_SWITCH = "analytic_ik_enabled"


def switched_tips(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of an armature object whose chains animation switches on and off."""
    return bones_with_animated(ob, _SWITCH)


def check_switchable(ob: bpy.types.Object, pose_bone: bpy.types.PoseBone) -> None:
    """Raise ChainError where something would switch the chain of a tip on again that cannot be muted here.

    The driver of an adopted chain was made for it, and is muted.
    """
    data, path = ob.animation_data, _switch_path(pose_bone)
    if data is None:
        return
    driver = data.drivers.find(path)
    if driver is not None and not driver.mute and not pose_bone.analytic_ik_record_adopted:
        raise ChainError(messages.SWITCH_DRIVEN(bone=pose_bone.name))
    strips = (strip for track in data.nla_tracks for strip in track.strips)
    for strip in strips:
        for collection in fcurve_collections(strip.action, getattr(strip, "action_slot", None)):
            if collection.find(path) is not None:
                raise ChainError(messages.SWITCH_IN_STRIP(bone=pose_bone.name, strip=strip.name))


def mute_switch(ob: bpy.types.Object, pose_bone: bpy.types.PoseBone) -> None:
    """Stop the current action, and a driver, from switching the chain of a tip."""
    _mute(ob, _switch_path(pose_bone))


def mute_following(ob: bpy.types.Object, pose_bone: bpy.types.PoseBone) -> None:
    """Stop the current action, and a driver, from saying how far a bone follows its limbs."""
    _mute(ob, f"{pose_bone.path_from_id()}.{FOLLOWING}")


def _mute(ob: bpy.types.Object, path: str) -> None:
    data = ob.animation_data
    for collection in [*current_fcurve_collections(data), data.drivers] if data else []:
        curve = collection.find(path)
        if curve is not None:
            curve.mute = True


def _switch_path(pose_bone: bpy.types.PoseBone) -> str:
    """The RNA path of the switch of a chain, from its armature object."""
    return f"{pose_bone.path_from_id()}.{_SWITCH}"
