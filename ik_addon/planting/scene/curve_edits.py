"""Keys of F-Curves that are changed together by a function of time, handles and all."""

from collections.abc import Callable, Mapping

import bpy
import numpy as np

from ...bake.keys import divide, keys_of, number_of, put_keys, times_of

_STEPS = 0.02 * np.arange(-2, 3)
"""Frames from a key at which what is added to it is looked at."""
_WEIGHTS = np.array(((1.0, -4.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 4.0, -1.0))) / 0.04
"""What makes of that, less what is added at the key, the slopes of parabolas before and after it."""
_CORNER = 1e-4
"""How far two slopes are apart where a curve goes round a corner."""
_FIXED = {"AUTO": "ALIGNED", "AUTO_CLAMPED": "ALIGNED", "VECTOR": "FREE"}
"""Kinds of handles that Blender sets by itself, and kinds that stay where they are."""
_SIDES = ("handle_left", "handle_right")


def edit_curves(
    curves: Mapping[int, bpy.types.FCurve],
    added: Callable[[np.ndarray], np.ndarray],
    holds: Callable[[np.ndarray], np.ndarray],
    extra: np.ndarray,
) -> None:
    """Change the keys of F-Curves, by the numbers of their channels; elsewhere they stay as they are.

    added: to the channels (n, C) at times. holds: at which times (n,) bool they change. extra: times at which there is
    to be a key.
    """
    for curve in curves.values():
        _make_ready(curve, holds, extra)
    times = np.unique(np.concatenate([*map(times_of, curves.values())]))
    times = times[holds(times)]
    found = added((times[:, None] + _STEPS).ravel()).reshape(len(times), len(_STEPS), -1)
    whole = found[:, 2]
    slopes = np.einsum("sk,nkc->snc", _WEIGHTS, found - whole[:, None])
    for column, curve in curves.items():
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
    changes, rows = np.pad(holds(times), 1), np.clip(np.searchsorted(times, extra), 1, len(times) - 1)
    near = changes[1:-1] | changes[:-2] | changes[2:]
    near[rows], near[rows - 1] = True, True
    for name in (f"{side}_type" for side in _SIDES):
        for kind, fixed in _FIXED.items():
            keys[name][near & (keys[name] == number_of(name, kind))] = number_of(name, fixed)
    put_keys(curve, keys)
    divide(curve, extra)
