"""Which properties of an object are animated: its F-Curves, drivers and NLA strips, in every Blender version.

Only plain data is kept between calls, under a signature that changes with the animation; `forget` drops it when
Blender says that an action or armature changed.
"""

import re
from collections.abc import Iterator

import bpy

_BONE_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.?(.*)$', re.DOTALL)
_POSE_CHANNELS = {"rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale"}
_GROUPS_MUTE = not hasattr(bpy.types, "ActionSlot")
"""Whether a muted group of F-Curves is silent: since actions have slots, Blender plays it."""

Channels = dict[str, set[tuple[str, int]]]
"""For each bone's name the numbers of its rotation and scale that are animated: channel and index."""

_channels: dict[int, tuple[tuple, Channels]] = {}


def fcurve_collections(action: bpy.types.Action | None, slot=None) -> list:
    """The collections that hold an action's F-Curves; where actions have slots, those of `slot`."""
    if action is None:
        return []
    if not hasattr(action, "layers"):
        return [action.fcurves]
    if slot is None:
        return []
    bags = (strip.channelbag(slot) for layer in action.layers for strip in layer.strips)
    return [bag.fcurves for bag in bags if bag is not None]


def current_fcurve_collections(data: bpy.types.AnimData) -> list:
    """The collections that hold the F-Curves of an object's current action."""
    return fcurve_collections(data.action, getattr(data, "action_slot", None))


def fcurve_homes(ob: bpy.types.Object) -> list:
    """All collections of F-Curves that may play on an object: of its current action, and of its NLA strips."""
    data = ob.animation_data
    if data is None:
        return []
    strips = [strip for track in data.nla_tracks for strip in track.strips]
    of_strips = (fcurve_collections(strip.action, getattr(strip, "action_slot", None)) for strip in strips)
    return [home for homes in (current_fcurve_collections(data), *of_strips) for home in homes]


def plays(curve: bpy.types.FCurve) -> bool:
    """Whether Blender evaluates an F-Curve."""
    silent = curve.mute or (_GROUPS_MUTE and curve.group and curve.group.mute)
    return not (silent or curve.is_empty or not curve.is_valid)


def bone_of_path(path: str) -> tuple[str, str]:
    """The name of the pose bone that an RNA path of an object leads to, and the path from there; "" for other paths."""
    match = _BONE_PATH.match(path)
    return (bpy.utils.unescape_identifier(match[1]), match[2]) if match else ("", "")


def animated_paths(ob: bpy.types.Object) -> Iterator[str]:
    """The RNA paths of `ob` that an F-Curve, an NLA strip or a driver sets."""
    return (path for path, _ in _animated(ob))


def is_animated(ob: bpy.types.Object, path: str) -> bool:
    """Whether an F-Curve, an NLA strip or a driver sets the property of `ob` at an RNA path: of one, quicker than to
    go through them all."""
    data = ob.animation_data
    if data is None:
        return False
    curves = (home.find(path) for home in fcurve_homes(ob))
    driver = data.drivers.find(path)
    return any(curve is not None and plays(curve) for curve in curves) or (driver is not None and not driver.mute)


def _animated(ob: bpy.types.Object) -> Iterator[tuple[str, int]]:
    """The RNA paths, with the index, of `ob` that an F-Curve, an NLA strip or a driver sets."""
    data = ob.animation_data
    if data is None:
        return
    for home in fcurve_homes(ob):
        for curve in home:
            if plays(curve):
                yield curve.data_path, curve.array_index
    for driver in data.drivers:
        if not driver.mute:
            yield driver.data_path, driver.array_index


def animated_channels(ob: bpy.types.Object) -> Channels:
    """The numbers of the bones' rotations and scales that are set anew by animation or drivers at each frame."""
    data = ob.animation_data
    if data is None:
        return {}
    signature = (
        data.action.name_full if data.action else "",
        getattr(data, "action_slot_handle", 0),
        sum(len(collection) for collection in current_fcurve_collections(data)),
        sum(not driver.mute for driver in data.drivers),
        len(data.nla_tracks),
    )
    known = _channels.get(ob.session_uid)
    if known is None or known[0] != signature:
        channels: Channels = {}
        for path, index in _animated(ob):
            name, channel = bone_of_path(path)
            if channel in _POSE_CHANNELS:
                channels.setdefault(name, set()).add((channel, index))
        known = _channels[ob.session_uid] = (signature, channels)
    return known[1]


def is_driven(ob: bpy.types.Object, pose_bone: bpy.types.PoseBone, what: str) -> bool:
    """Whether a driver sets the bone's "rotation" or "scale"; it would win over any pose that is written."""
    data = ob.animation_data
    if data is None or not data.drivers:
        return False
    prefix = f"{pose_bone.path_from_id()}.{what}"
    return any(not driver.mute and driver.data_path.startswith(prefix) for driver in data.drivers)


def forget() -> None:
    """Read all animation anew at the next question."""
    _channels.clear()
