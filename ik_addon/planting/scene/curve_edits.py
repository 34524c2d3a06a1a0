"""Keys of F-Curves that are changed together by a function of time, handles and all."""

from collections.abc import Callable, Sequence

import bpy
import numpy as np

from ...bake.keys import SAME_TIME, Keys, keys_of, number_of, put_keys, set_keys

_STEP = 1e-3
"""Frames over which slopes of what is changed are read off."""
_CORNER = 1e-4
"""How far two slopes are apart, part of them, where a curve goes round a corner."""


def edit_curves(
    curves: Sequence[bpy.types.FCurve | None],
    numbers_at: Callable[[np.ndarray], np.ndarray],
    changed: Callable[[np.ndarray, np.ndarray], np.ndarray],
    holds: Callable[[np.ndarray], np.ndarray],
    extra: np.ndarray,
) -> None:
    """Change the keys of F-Curves, one for each channel, None where it has none; those that do not change stay as they
    are, but for handles beside a key that is new.

    numbers_at: the channels (n, C) at times. changed: what these become there. holds: at which times (n,) bool they
    change. extra: times at which there is to be a key.
    """
    keys = [curve and keys_of(curve) for curve in curves]
    keyed = [own["co"][:, 0].astype(float) for own in keys if own]
    first, last = min(own[0] for own in keyed), max(own[-1] for own in keyed)
    extra = extra[(first < extra) & (extra < last)]
    times = np.sort(np.concatenate([*keyed, extra]))
    times = times[np.concatenate(([True], np.diff(times) > SAME_TIME))]
    held = holds(times)
    needed = held.copy()
    needed[np.clip(np.searchsorted(times, extra - SAME_TIME)[:, None] + (-1, 0, 1), 0, len(times) - 1)] = True
    at, moves = times[needed], held[needed]
    before, slopes = numbers_at(at), np.zeros((len(times), 2, len(curves)))
    for column, (curve, own) in enumerate(zip(curves, keys, strict=True)):
        if own:
            slopes[needed, :, column] = _slopes(curve, own, at)
    after = np.zeros((len(times), len(curves)))
    after[needed] = np.where(moves[:, None], changed(at, before), before)
    for side, step in enumerate((-_STEP, _STEP)):
        moved = changed(at + step, before + step * slopes[needed, side])
        slopes[held, side] = ((moved - after[needed]) / step)[moves]
    for column, (curve, own) in enumerate(zip(curves, keys, strict=True)):
        if own:
            own, is_new = _with_keys(own, extra)
            rows = np.searchsorted(times, own["co"][:, 0] - SAME_TIME)
            _change(own, after[rows, column], slopes[rows, :, column], held[rows], is_new)
            (set_keys if is_new.any() else put_keys)(curve, own)
            curve.update()


def _bends(keys: Keys) -> np.ndarray:
    """(n - 1,) bool, where curves are from key to key."""
    return keys["interpolation"][:-1] == number_of("interpolation", "BEZIER")


def _slopes(curve: bpy.types.FCurve, keys: Keys, times: np.ndarray) -> np.ndarray:
    """How fast a channel arrives at times and leaves them, (n, 2)."""
    places = keys["co"].astype(float)
    steps = keys["interpolation"][:-1] == number_of("interpolation", "CONSTANT")
    own, found = np.zeros((len(places), 2)), np.zeros((len(times), 2))
    ends = (
        (0, slice(1, None), np.where(_bends(keys)[:, None], keys["handle_left"][1:], places[:-1])),
        (1, slice(-1), np.where(_bends(keys)[:, None], keys["handle_right"][:-1], places[1:])),
    )
    for side, rows, to in ends:
        away = to - places[rows]
        is_slope = ~steps & (np.abs(away[:, 0]) > 1e-6)
        own[rows, side] = np.where(is_slope, away[:, 1] / np.where(is_slope, away[:, 0], 1.0), 0.0)
    rows = np.clip(np.searchsorted(places[:, 0], times - SAME_TIME), 0, len(places) - 1)
    is_key = np.abs(places[rows, 0] - times) <= SAME_TIME
    found[is_key] = own[rows[is_key]]
    span = 20.0 * _STEP
    for k in np.flatnonzero(~is_key):
        found[k] = (curve.evaluate(times[k] + span) - curve.evaluate(times[k] - span)) / (2.0 * span)
    return found


def _with_keys(keys: Keys, extra: np.ndarray) -> tuple[Keys, np.ndarray]:
    """Keys at more times as well, where there is none yet, between the first and the last; and which are new."""
    times = keys["co"][:, 0]
    rows = np.searchsorted(times, extra - SAME_TIME)
    new = (rows > 0) & (rows < len(times))
    new[new] = np.abs(times[rows[new]] - extra[new]) > SAME_TIME
    rows, extra = rows[new], extra[new]
    # What is before goes on behind it.
    found = {name: np.insert(values, rows, values[rows - 1], axis=0) for name, values in keys.items()}
    is_new = np.insert(np.zeros(len(times), bool), rows, True)
    found["co"][is_new, 0] = extra
    found["type"][is_new] = number_of("type", "KEYFRAME")
    return found, is_new


def _change(keys: Keys, after: np.ndarray, slopes: np.ndarray, held: np.ndarray, is_new: np.ndarray) -> None:
    """Set numbers (n,) of keys that are held or new, and their handles on both sides by slopes (n, 2); of those beside
    a new key the handle that faces it."""
    places, changes = keys["co"], held | is_new
    reaches = places[:, 0] - keys["handle_left"][:, 0], keys["handle_right"][:, 0] - places[:, 0]
    gaps = np.diff(places[:, 0], prepend=places[0, 0], append=places[-1, 0])
    beside = np.append(False, is_new[:-1]), np.append(is_new[1:], False)
    places[changes, 1] = after[changes]
    bends = np.append(False, _bends(keys)), np.append(_bends(keys), False)
    touched = (changes | beside[0] | beside[1]) & (bends[0] | bends[1])
    smooth = np.abs(slopes[:, 0] - slopes[:, 1]) <= _CORNER * np.maximum(1.0, np.abs(slopes[:, 0]))
    kinds = np.where(
        bends[0] & bends[1] & smooth, *(number_of("handle_left_type", kind) for kind in ("ALIGNED", "FREE"))
    )
    for side, name in enumerate(("handle_left", "handle_right")):
        other = np.abs(gaps[:-1] if side == 0 else gaps[1:])
        reach = np.where((is_new | beside[side]) & (other > 0.0), other / 3.0, reaches[side]) * (2 * side - 1)
        moved = touched & (changes | beside[side])
        keys[name][moved] = (places + np.column_stack((reach, reach * slopes[:, side])))[moved]
        keys[f"{name}_type"][touched] = kinds[touched]
