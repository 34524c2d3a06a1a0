"""Keys in bulk: scenes of many keyed bones would take minutes key by key."""

from collections.abc import Mapping, Sequence

import bpy

from ik_addon.rig.blender.animation import current_fcurve_collections

_LINEAR = 1


def write(ob: bpy.types.Object, frames: Sequence[int], values: Mapping[str, Sequence[Sequence[float]]]) -> None:
    """Key channels of an object that have no keys yet.

    frames: of the keys, ascending.
    values: by RNA path below the object, the channel's numbers at each of these frames.
    """
    for path in values:
        ob.keyframe_insert(path, frame=frames[0])
    for curve in curves_of(ob):
        rows = values.get(curve.data_path)
        if rows is None:
            continue
        points = curve.keyframe_points
        points.add(len(frames) - len(points))
        axis = curve.array_index
        flat = [number for frame, row in zip(frames, rows, strict=True) for number in (frame, row[axis])]
        points.foreach_set("co", flat)
        points.foreach_set("interpolation", [_LINEAR] * len(frames))
        curve.update()


def curves_of(ob: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The F-Curves of an object's current action."""
    return [curve for home in current_fcurve_collections(ob.animation_data) for curve in home]
