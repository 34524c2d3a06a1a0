"""Keys of F-Curves that are changed together by a function of time, handles and all."""

from collections.abc import Callable, Sequence

import bpy
import numpy as np

from ...bake.keys import keys_of, number_of, put_keys, times_of

_STEPS = 0.02 * np.arange(-2, 3)
"""Frames from a key at which what is added to it is looked at."""
_WEIGHTS = np.array(((1.0, -4.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 4.0, -1.0))) / 0.04
"""What makes of that, less what is added at the key, the slopes of parabolas before and after it."""
_CORNER = 1e-4
"""How far two slopes are apart where a curve goes round a corner."""
_NEAR = 0.01
"""Frames: Blender takes a key for another one that is so near."""
_FIXED = {"AUTO": "ALIGNED", "AUTO_CLAMPED": "ALIGNED", "VECTOR": "FREE"}
"""Kinds of handles that Blender sets by itself, and kinds that stay where they are."""
_SIDES = ("handle_left", "handle_right")


def edit_curves(
    curves: Sequence[bpy.types.FCurve | None],
    numbers_at: Callable[[np.ndarray], np.ndarray],
    changed: Callable[[np.ndarray, np.ndarray], np.ndarray],
    holds: Callable[[np.ndarray], np.ndarray],
    extra: np.ndarray,
) -> None:
    """Change the keys of F-Curves, one for each channel, None where it has none; elsewhere they stay as they are.

    numbers_at: the channels (n, C) at times. changed: what these become there. holds: at which times (n,) bool they
    change. extra: times at which there is to be a key.
    """
    keyed = [(column, curve) for column, curve in enumerate(curves) if curve is not None]
    for _, curve in keyed:
        _make_ready(curve, holds, extra)
    times = np.unique(np.concatenate([times_of(curve) for _, curve in keyed]))
    times = times[holds(times)]
    at = (times[:, None] + _STEPS).ravel()
    before = numbers_at(at)
    added = (changed(at, before) - before).reshape(len(times), len(_STEPS), len(curves))
    whole = added[:, 2]
    slopes = np.einsum("sk,nkc->snc", _WEIGHTS, added - whole[:, None])
    for column, curve in keyed:
        keys = keys_of(curve)
        own = keys["co"][:, 0]
        held = np.flatnonzero(np.isin(own, times))
        rows = np.searchsorted(times, own[held])
        corner = np.abs(np.diff(slopes[:, rows, column], axis=0)[0]) > _CORNER
        for name, slope in zip(_SIDES, slopes[:, rows, column], strict=True):
            keys[name][held, 1] += whole[rows, column] + slope * (keys[name][held, 0] - own[held])
            keys[f"{name}_type"][held[corner]] = number_of(f"{name}_type", "FREE")
        keys["co"][held, 1] += whole[rows, column]
        put_keys(curve, keys)
        curve.update()


def _make_ready(curve: bpy.types.FCurve, holds: Callable[[np.ndarray], np.ndarray], extra: np.ndarray) -> None:
    """Have keys at more times, between the first and the last, and handles that stay around what changes; the curve
    stays the same."""
    keys = keys_of(curve)
    times = keys["co"][:, 0].astype(float)
    held, rows = holds(times), np.searchsorted(times, extra)
    inside = (rows > 0) & (rows < len(times))
    rows, extra = rows[inside], extra[inside]
    changes = np.pad(held, 1)
    near = held | changes[:-2] | changes[2:]
    near[rows], near[rows - 1] = True, True
    for name in (f"{side}_type" for side in _SIDES):
        for kind, fixed in _FIXED.items():
            keys[name][near & (keys[name] == number_of(name, kind))] = number_of(name, fixed)
    put_keys(curve, keys)
    new = extra[(times[rows] - extra > _NEAR) & (extra - times[rows - 1] > _NEAR)]
    for time, value in [(time, curve.evaluate(time)) for time in new.tolist()]:
        # Blender divides the curve there.
        curve.keyframe_points.insert(time, value, options={"FAST"})
