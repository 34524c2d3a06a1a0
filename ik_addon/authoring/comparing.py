"""How far bones in one pose are from where they are in another, and at which frames it is worth a look."""

from collections.abc import Iterable
from typing import NamedTuple

import bpy
from mathutils import Matrix, Vector

from ..rig.blender.animation import current_fcurve_collections

_MOST_FRAMES = 60
"""More keyed frames than this are thinned out evenly: each is evaluated."""

Places = dict[str, tuple[Vector, ...]]
"""By bone its head and tail, and its axes, in armature space."""


class Difference(NamedTuple):
    """How far bones are from where they were.

    distance: of a head or tail, in armature space.
    turned: of an axis, in radians.
    frame: at which that is.
    """

    distance: float
    turned: float
    frame: int


def place(pose: Matrix, length: float) -> tuple[Vector, ...]:
    """Head, tail and axes of a bone with this pose matrix and this rest length."""
    return pose.to_translation(), pose @ Vector((0.0, length, 0.0)), *pose.to_3x3().normalized().col


def difference(before: Places, after: Places, frame: int) -> Difference:
    """The longest way and the largest turn of any bone of `before`."""
    ways = [[(b - a).length for a, b in zip(before[name], after[name], strict=True)] for name in before]
    return Difference(max(max(way[:2]) for way in ways), max(max(way[2:]) for way in ways), frame)


def keyed_frames(scene: bpy.types.Scene, objects: Iterable[bpy.types.Object]) -> list[int]:
    """The frames of a scene's range at which objects, or those that they are parented to, have keys.

    Strips of the NLA count with their ends.
    """
    frames, waiting = set(), list(objects)
    for ob in waiting:
        if ob.parent is not None and ob.parent not in waiting:
            waiting.append(ob.parent)
        data = ob.animation_data
        for curves in current_fcurve_collections(data) if data else ():
            for curve in curves:
                frames.update(round(key.co.x) for key in curve.keyframe_points)
        for track in data.nla_tracks if data else ():
            frames.update(round(end) for strip in track.strips for end in (strip.frame_start, strip.frame_end))
    found = sorted(frame for frame in frames if scene.frame_start <= frame <= scene.frame_end)
    if len(found) <= _MOST_FRAMES:
        return found
    return [found[k * (len(found) - 1) // (_MOST_FRAMES - 1)] for k in range(_MOST_FRAMES)]
