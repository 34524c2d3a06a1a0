"""Curves over time: easing, splines through keyed values, and F-Curves made from samples."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise

import bpy

Sample = tuple[float, float]

# Two values closer than this (in metres or radians) count as a hold, which needs no key inside.
HOLD_TOLERANCE = 1e-6


def smoothstep(value: float) -> float:
    """Ease from 0 to 1, flat at both ends and outside."""
    value = min(max(value, 0.0), 1.0)
    return value * value * (3.0 - 2.0 * value)


def hermite(start: float, end: float, start_slope: float, end_slope: float, share: float) -> float:
    """Return the cubic between two values with given slopes, at *share* of the way."""
    square, cube = share * share, share**3
    return (
        start * (2 * cube - 3 * square + 1)
        + start_slope * (cube - 2 * square + share)
        + end * (3 * square - 2 * cube)
        + end_slope * (cube - square)
    )


class MonotoneSpline:
    """A smooth curve through keyed values that overshoots none of them (Fritsch and Carlson)."""

    def __init__(self, keys: Sequence[Sample]) -> None:
        self._keys = list(keys)
        rises = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(keys)]
        inner = [0.0 if a * b <= 0 else 2 * a * b / (a + b) for a, b in pairwise(rises)]
        self._slopes = [rises[0], *inner, rises[-1]]

    def __call__(self, time: float) -> float:
        index = bisect_right(self._keys, (time, float("inf"))) - 1
        index = min(max(index, 0), len(self._keys) - 2)
        (start, low), (end, high) = self._keys[index], self._keys[index + 1]
        span = end - start
        slopes = self._slopes[index] * span, self._slopes[index + 1] * span
        return hermite(low, high, *slopes, (time - start) / span)


def key_values(
    owner: bpy.types.Object,
    path: str,
    index: int,
    samples: Iterable[Sample],
    interpolation: str = "BEZIER",
    group: str = "",
) -> None:
    """Key one channel with (frame, value) samples, leaving out those inside a hold."""
    samples = list(samples)
    kept = [
        sample
        for i, sample in enumerate(samples)
        if i in (0, len(samples) - 1)
        or abs(sample[1] - samples[i - 1][1]) > HOLD_TOLERANCE
        or abs(sample[1] - samples[i + 1][1]) > HOLD_TOLERANCE
    ]
    animation = owner.animation_data_create()
    if animation.action is None:
        animation.action = bpy.data.actions.new(f"{owner.name} motion")
    curve = animation.action.fcurves.new(path, index=index, action_group=group or owner.name)
    curve.keyframe_points.add(len(kept))
    curve.keyframe_points.foreach_set("co", [number for sample in kept for number in sample])
    for point in curve.keyframe_points:
        point.interpolation = interpolation
    curve.update()


def key_vectors(
    owner: bpy.types.Object,
    path: str,
    samples: Iterable[tuple[float, Sequence[float]]],
    interpolation: str = "BEZIER",
    group: str = "",
) -> None:
    """Key all channels of a vector property with (frame, vector) samples."""
    samples = list(samples)
    for index in range(len(samples[0][1])):
        key_values(owner, path, index, [(frame, v[index]) for frame, v in samples], interpolation, group)
