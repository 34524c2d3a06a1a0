"""The motion that keys give bones and controls: which of them have keys, and over which frames these play."""

from collections.abc import Iterable, Iterator
from math import ceil, floor

import bpy

from .animation import current_fcurve_collections, homes_of_strips, plays

_PLACING = ("location", "rotation", "scale")
"""How the names of the channels begin that move a bone or an object."""
_WHOLE = 1e-3
"""Part of a frame by which a key may lie beside a whole frame and still counts as on it."""


def has_keys(ob: bpy.types.Object, names: Iterable[str]) -> bool:
    """Whether keys that play move one of these bones of an armature object; the name "" means the object itself."""
    moving = _moving_paths(names)
    return any(curve.data_path.startswith(moving) and plays(curve) for curves in _playing(ob) for curve in curves)


def has_own_motion(ob: bpy.types.Object, bone: str) -> bool:
    """Whether keys, drivers or constraints move a control: an object, or with a name that bone of it."""
    owner = ob.pose.bones.get(bone) if bone and ob.pose else ob
    if owner is None:
        return False
    if any(constraint.enabled and constraint.influence > 0.0 for constraint in owner.constraints):
        return True
    drivers, moving = ob.animation_data.drivers if ob.animation_data else (), _moving_paths([bone])
    return any(driver.data_path.startswith(moving) for driver in drivers) or has_keys(ob, [bone])


def motion_frames(ob: bpy.types.Object) -> range | None:
    """The whole frames of the scene over which keys move an object or its bones, parents of the object included.

    Returns None if nothing moves. Keys that are repeated or extended play over the range of the scene too.
    """
    ends, carrier = [], ob
    while carrier is not None:
        ends += _extents(carrier)
        carrier = carrier.parent
    if not ends:
        return None
    first, last = floor(min(ends) + _WHOLE), ceil(max(ends) - _WHOLE)
    return range(first, last + 1) if last > first else None


def motion_of(objects: Iterable[bpy.types.Object]) -> range | None:
    """The frames over which keys move some objects, from the first of all to the last; None if nothing moves."""
    found = [frames for frames in map(motion_frames, objects) if frames is not None]
    return range(min(each.start for each in found), max(each.stop for each in found)) if found else None


def _extents(ob: bpy.types.Object) -> Iterator[float]:
    """First and last frames of all that plays on an object."""
    data, scene = ob.animation_data, bpy.context.scene
    if data is None:
        return
    to_scene = scene.render.frame_map_new / scene.render.frame_map_old
    for strip in _strips(data):
        yield from (strip.frame_start * to_scene, strip.frame_end * to_scene)
    for curves in _current(data):
        for curve in filter(plays, curves):
            yield from (data.nla_tweak_strip_time_to_scene(end) * to_scene for end in curve.range())
            if curve.extrapolation == "LINEAR" or any(not modifier.mute for modifier in curve.modifiers):
                yield from (scene.frame_start, scene.frame_end)


def _playing(ob: bpy.types.Object) -> Iterator[Iterable[bpy.types.FCurve]]:
    """The collections of F-Curves that play on an object at some frame, of its action and of its NLA strips."""
    data = ob.animation_data
    if data is not None:
        yield from _current(data)
        yield from homes_of_strips(_strips(data))


def _current(data: bpy.types.AnimData) -> list:
    """The collections of F-Curves of the current action; none if an NLA track plays alone."""
    solo = data.use_nla and any(track.is_solo for track in data.nla_tracks)
    return [] if solo and not data.use_tweak_mode else current_fcurve_collections(data)


def _strips(data: bpy.types.AnimData) -> Iterator[bpy.types.NlaStrip]:
    """The NLA strips that play at some frame."""
    tracks = list(data.nla_tracks) if data.use_nla else []
    alone = [track for track in tracks if track.is_solo]
    for track in alone or (track for track in tracks if not track.mute):
        yield from (strip for strip in track.strips if not strip.mute)


def _moving_paths(names: Iterable[str]) -> tuple[str, ...]:
    """How the RNA paths begin of what moves some bones of an object; the name "" means the object itself."""
    owners = (f'pose.bones["{bpy.utils.escape_identifier(name)}"].' if name else "" for name in names)
    return tuple(f"{owner}{delta}{channel}" for owner in owners for delta in ("", "delta_") for channel in _PLACING)
