"""The keys of an F-Curve as arrays: read at once and written at once, all that they are."""

from collections.abc import Iterable, Mapping, Sequence

import bpy
import numpy as np

Keys = dict[str, np.ndarray]
"""By attribute what keys have, in order: (n,), or (n, 2) of points."""

_NUMBERS = {"co": 2, "handle_left": 2, "handle_right": 2, "amplitude": 1, "back": 1, "period": 1}
_CHOICES = ("interpolation", "easing", "handle_left_type", "handle_right_type", "type")
_FLAGS = ("select_control_point", "select_left_handle", "select_right_handle")
_KINDS = dict.fromkeys(_NUMBERS, np.float32) | dict.fromkeys(_CHOICES, np.int32) | dict.fromkeys(_FLAGS, np.bool_)

SAME_TIME = 1e-3
"""Frames by which two keys at one time are apart at most."""


def number_of(attribute: str, identifier: str) -> int:
    """What bulk access takes for the item of an enumeration of keys."""
    return bpy.types.Keyframe.bl_rna.properties[attribute].enum_items[identifier].value


def keys_of(curve: bpy.types.FCurve, names: Iterable[str] = _KINDS) -> Keys:
    """What the keys of an F-Curve have, all or these attributes."""
    points, found = curve.keyframe_points, {}
    for name in names:
        width = _NUMBERS.get(name, 1)
        values = np.empty(len(points) * width, _KINDS[name])
        points.foreach_get(name, values)
        found[name] = values.reshape(-1, width) if width > 1 else values
    return found


def times_of(curve: bpy.types.FCurve) -> np.ndarray:
    """The times of the keys of an F-Curve, (n,)."""
    return keys_of(curve, ("co",))["co"][:, 0].astype(float)


def put_keys(curve: bpy.types.FCurve, keys: Mapping[str, np.ndarray]) -> None:
    """Let the keys of an F-Curve have these attributes. Handles that Blender sets by itself are set with its next
    update."""
    # Numbers last: kinds of handles would move them.
    for name in (*_CHOICES, *_FLAGS, *reversed(_NUMBERS)):
        if name in keys:
            curve.keyframe_points.foreach_set(name, np.ascontiguousarray(keys[name], _KINDS[name]).ravel())


def set_keys(curve: bpy.types.FCurve, keys: Mapping[str, np.ndarray]) -> None:
    """Let an F-Curve have these keys in place of its own."""
    curve.keyframe_points.clear()
    curve.keyframe_points.add(len(keys["co"]))
    put_keys(curve, keys)


def bytes_of(curve: bpy.types.FCurve) -> bytes:
    """All that the keys of an F-Curve are."""
    return b"".join(values.tobytes() for values in keys_of(curve).values())


def set_bytes(curve: bpy.types.FCurve, known: bytes) -> None:
    """Let an F-Curve have keys of which `bytes_of` told."""
    set_keys(curve, keys_in(known))
    curve.id_data.update_tag()


def keys_in(known: bytes) -> Keys:
    """The keys of which `bytes_of` told."""
    widths = {name: _NUMBERS.get(name, 1) for name in _KINDS}
    count = len(known) // sum(width * np.dtype(_KINDS[name]).itemsize for name, width in widths.items())
    keys, at = {}, 0
    for name, width in widths.items():
        keys[name] = np.frombuffer(known, _KINDS[name], count * width, at)
        at += keys[name].nbytes
    return keys | {name: keys[name].reshape(-1, 2) for name in ("co", "handle_left", "handle_right")}


def write_curve(
    curve: bpy.types.FCurve,
    frames: np.ndarray | Sequence[float],
    numbers: np.ndarray | Sequence[float],
    slopes: np.ndarray | None,
    span: tuple[float, float],
    interpolation: str = "LINEAR",
) -> None:
    """Put keys in place of those within a span; its modifiers and all else that it has stay.

    frames, numbers: (n,). slopes: (n, 2), by frame before and after each; NaN, or None for all, where it goes on as the
    interpolation says.
    """
    count, places = len(frames), np.column_stack((frames, numbers)).astype(np.float32)
    new = dict.fromkeys(("co", "handle_left", "handle_right"), places)
    new["interpolation"] = np.full(count, number_of("interpolation", interpolation))
    new |= {name: np.full(count, number_of(name, "AUTO_CLAMPED")) for name in ("handle_left_type", "handle_right_type")}
    order = np.arange(count)
    if len(curve.keyframe_points):
        known = keys_of(curve)
        times = known["co"][:, 0]
        left = (times < span[0] - SAME_TIME) | (times > span[1] + SAME_TIME)
        new |= {name: np.zeros(count) for name in ("amplitude", "back", "period", "easing", "type")}
        new |= {name: np.ones(count, bool) for name in _FLAGS}
        new = {name: np.concatenate((known[name][left], new[name])) for name in known}
        order = np.argsort(new["co"][:, 0], kind="stable")
        new = {name: values[order] for name, values in new.items()}
    if slopes is not None:
        _bend(new, np.flatnonzero(order >= len(order) - count), slopes)
    set_keys(curve, new)
    curve.update()


def _bend(keys: Keys, rows: np.ndarray, slopes: np.ndarray) -> None:
    """Lead a curve from key to key with slopes (n, 2) before and after its keys in rows (n,), where these are known."""
    known = ~np.isnan(slopes)
    bent, places = known.any(axis=1), keys["co"]
    inner = (rows > 0) & (rows < len(places) - 1)
    # Whoever moves one handle moves the other.
    aligned = inner & (slopes[:, 0] == slopes[:, 1])
    kinds = np.where(aligned, *(number_of("handle_left_type", kind) for kind in ("ALIGNED", "FREE")))
    gaps = np.diff(places[:, 0], prepend=places[:1, 0], append=places[-1:, 0]) / 3.0
    for side, name, lengths in ((0, "handle_left", -gaps[:-1]), (1, "handle_right", gaps[1:])):
        keys[name] = keys[name].copy()
        ways = np.column_stack((lengths[rows], lengths[rows] * np.nan_to_num(slopes[:, side])))
        keys[name][rows[bent]] = (places[rows] + ways)[bent]
        keys[f"{name}_type"][rows[bent]] = kinds[bent]
    keys["interpolation"][rows[known[:, 1]]] = number_of("interpolation", "BEZIER")
