"""Keys of F-Curves that are changed together by a function of time, handles and all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

_SAME = 1e-3
"""Frames by which two keys at one time are apart at most."""
_STEP = 1e-3
"""Frames over which slopes of what is changed are read off."""
_CORNER = 1e-4
"""How far two slopes are apart, part of them, where a curve goes round a corner."""


@dataclass(frozen=True, slots=True)
class Edited:
    """numbers: the channels (n, C) at times, before. held: at which times (n,) bool they change. changed: what they
    become at times. extra: times at which there is to be a key."""

    numbers: Callable[[np.ndarray], np.ndarray]
    held: Callable[[np.ndarray], np.ndarray]
    changed: Callable[[np.ndarray, np.ndarray], np.ndarray]
    extra: np.ndarray


def edit_curves(curves: Sequence[bpy.types.FCurve | None], edited: Edited) -> None:
    """Change the keys of F-Curves, one for each channel, None where it has none; those that do not change stay as they
    are, but for handles beside a key that is new."""
    keyed = [_times(curve) for curve in curves if curve is not None]
    first, last = min(own[0] for own in keyed), max(own[-1] for own in keyed)
    extra = [time for time in edited.extra if first < time < last]
    times = _merged(np.concatenate([*keyed, extra]))
    held, before = edited.held(times), edited.numbers(times)
    slopes = np.stack([_slopes(curve, times, edited, c) for c, curve in enumerate(curves)], axis=-1)
    after = np.where(held[:, None], edited.changed(times, before), before)
    sides = np.array((-_STEP, _STEP))
    for side, step in enumerate(sides):
        moved = edited.changed(times + step, before + step * slopes[:, side])
        slopes[held, side] = ((moved - after) / step)[held]
    for column, curve in enumerate(curves):
        if curve is not None:
            _edit(curve, times, held, after[:, column], slopes[..., column], extra)


def _times(curve: bpy.types.FCurve) -> np.ndarray:
    places = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", places)
    return places[::2].astype(float)


def _merged(times: np.ndarray) -> np.ndarray:
    """Times in order, those that are the same once."""
    times = np.sort(times)
    return times[np.concatenate(([True], np.diff(times) > _SAME))]


def _slopes(curve: bpy.types.FCurve | None, times: np.ndarray, edited: Edited, column: int) -> np.ndarray:
    """How fast a channel arrives at times and leaves them, (n, 2)."""
    found = np.zeros((len(times), 2))
    if curve is None:
        return found
    points, own = curve.keyframe_points, _times(curve)
    rows = np.searchsorted(own, times - _SAME)
    for k in np.flatnonzero(edited.held(times) | np.isin(times, _near(times, edited.extra))):
        row = int(rows[k])
        if row < len(own) and abs(own[row] - times[k]) <= _SAME:
            found[k] = _arriving(points, row), _leaving(points, row)
        else:
            span = 20.0 * _STEP
            found[k] = (curve.evaluate(times[k] + span) - curve.evaluate(times[k] - span)) / (2.0 * span)
    return found


def _near(times: np.ndarray, extra: np.ndarray) -> np.ndarray:
    """The times of new keys and of those beside them."""
    rows = np.searchsorted(times, extra - _SAME)
    return times[np.clip((rows[:, None] + (-1, 0, 1)).ravel(), 0, len(times) - 1)]


def _leaving(points, row: int) -> float:
    point = points[row]
    if row + 1 == len(points) or point.interpolation == "CONSTANT":
        return 0.0
    to = point.handle_right if point.interpolation == "BEZIER" else points[row + 1].co
    return (to[1] - point.co[1]) / (to[0] - point.co[0]) if to[0] - point.co[0] > 1e-6 else 0.0


def _arriving(points, row: int) -> float:
    point = points[row]
    if row == 0 or points[row - 1].interpolation == "CONSTANT":
        return 0.0
    to = point.handle_left if points[row - 1].interpolation == "BEZIER" else points[row - 1].co
    return (to[1] - point.co[1]) / (to[0] - point.co[0]) if point.co[0] - to[0] > 1e-6 else 0.0


def _edit(
    curve: bpy.types.FCurve,
    times: np.ndarray,
    held: np.ndarray,
    after: np.ndarray,
    slopes: np.ndarray,
    extra: Sequence[float],
) -> None:
    """Set keys of one F-Curve at times: those that are held, and those of `extra`, with slopes (n, 2)."""
    points, new = curve.keyframe_points, set()
    for time in extra:
        own = _times(curve)
        row = int(np.searchsorted(own, time - _SAME))
        if (row < len(own) and abs(own[row] - time) <= _SAME) or not 0 < row < len(own):
            continue
        # Its handles are set below, and those that face it.
        kind = points[row - 1].interpolation
        sides = points[row - 1].handle_right[:], points[row].handle_left[:]
        point = points.insert(time, curve.evaluate(time), options={"FAST"})
        point.interpolation = kind
        points[row - 1].interpolation = kind
        points[row - 1].handle_right, points[row + 1].handle_left = sides
        new.add(round(time, 3))
    rows = np.searchsorted(times, _times(curve) - _SAME)
    is_new = [round(float(time), 3) in new for time in times[rows]]
    for n, k in enumerate(rows.tolist()):
        beside = (n > 0 and is_new[n - 1], n + 1 < len(rows) and is_new[n + 1])
        if held[k] or is_new[n] or any(beside):
            _set(points, n, float(after[k]), slopes[k], held[k] or is_new[n], is_new[n], beside)
    curve.update()


def _set(
    points, n: int, value: float, slopes: np.ndarray, changes: bool, is_new: bool, beside: tuple[bool, bool]
) -> None:
    """Set a key's value, and its handles on both sides, or on the side of a new key beside it."""
    point = points[n]
    reach = [point.co[0] - point.handle_left[0], point.handle_right[0] - point.co[0]]
    ends = [tuple(point.handle_left), tuple(point.handle_right)]
    if changes:
        point.co[1] = value
    bends = (n > 0 and points[n - 1].interpolation == "BEZIER", point.interpolation == "BEZIER" and n + 1 < len(points))
    if not any(bends):
        return
    for side, other in ((0, n - 1), (1, n + 1)):
        sign = -1.0 if side == 0 else 1.0
        if (is_new or beside[side]) and 0 <= other < len(points):
            reach[side] = abs(points[other].co[0] - point.co[0]) / 3.0
        if changes or beside[side]:
            ends[side] = point.co[0] + sign * reach[side], point.co[1] + sign * reach[side] * float(slopes[side])
    point.handle_left_type = point.handle_right_type = "FREE"
    point.handle_left, point.handle_right = ends
    if all(bends) and abs(slopes[0] - slopes[1]) <= _CORNER * max(1.0, abs(slopes[0])):
        point.handle_left_type = point.handle_right_type = "ALIGNED"
