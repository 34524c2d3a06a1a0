"""Few keys for a baked chain: smooth ones with which its end, and the bones there, stay within a tolerance.

Points are in the space of the root's parent; rows are frames, and halves between two.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import bpy
import numpy as np

from ..rig.blender.armatures import armature_named
from ..rig.blender.rotations import quaternions_of
from ..rig.model.limb_model import FkTrack, LimbModel, fk_track
from ..solvers.arrays import rotated
from .few_keys import Error, KeyedCurve, WantedMotion, fewest_keys, joined, local_slopes, stretches

_LONGEST = 40
"""Rows that a span lasts at most."""
_STILL = 1e-6
"""By how much numbers change at most that hold."""


@dataclass(frozen=True, slots=True)
class ShownChain:
    """A chain as it is shown over frames. units: (n,), how long one of its root's parent is in the armature's."""

    model: LimbModel
    fk: FkTrack
    units: np.ndarray


@dataclass(frozen=True, slots=True)
class _FittedChain:
    """A chain at all halves of rows, of which keyed numbers (T, C) set some.

    rotations, locations, scales: (n or 1, bones, 4 or 3). turned: bones with the mode and the columns of their
    rotations; scaled: bones with the columns of their scales; grown: such columns of what hangs on its end. tails:
    (ends, 3), of the bones that it turns there, in their space.
    """

    model: LimbModel
    rotations: np.ndarray
    locations: np.ndarray
    scales: np.ndarray
    turned: list[tuple[int, str, slice]]
    scaled: list[tuple[int, slice]]
    grown: list[int]
    tails: np.ndarray

    def seen(self, numbers: np.ndarray, halves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Its end and the tails of the bones there, (n, P, 3), and how large what hangs there is, (n, G)."""
        rotations, locations, scales = (
            np.array(each[halves]) if len(each) > 1 else np.repeat(each, len(halves), axis=0)
            for each in (self.rotations, self.locations, self.scales)
        )
        for bone, mode, columns in self.turned:
            rotations[:, bone] = quaternions_of(numbers[:, columns], mode)
        for bone, columns in self.scaled:
            scales[:, bone] = numbers[:, columns]
        fk, own = fk_track(self.model, (), rotations, locations, scales), self.model.own
        tails = fk.heads[:, own:] + fk.sizes[:, own:, None] * rotated(fk.turns[:, own:], self.tails)
        return np.concatenate((fk.end[:, None], tails), axis=1), fk.sizes[:, own - 1 : own] * numbers[:, self.grown]


def few_keys(
    shown: ShownChain,
    rotations: Mapping[str, tuple[str, np.ndarray]],
    scales: Mapping[str, np.ndarray],
    tolerance: float,
) -> KeyedCurve:
    """The fewest keys of a chain with which its end, and the tails of the bones that it turns there, stay within a
    tolerance, in armature units.

    rotations: the mode and the keyed numbers (frames x width) of bones; scales: those of bones, end bones among them,
    whose scale is keyed (frames x 3). The columns of the curve are those of all of them, in that order. It is smooth;
    only where no smooth one is near, as where the motion jumps, it goes straight from frame to frame. Between two
    frames the end is held against what goes on smoothly there.
    """
    numbers = np.concatenate([*(own for _, own in rotations.values()), *scales.values()], axis=1).astype(float)
    bones = armature_named(shown.model.armature).data.bones
    chain = _fitted(shown, rotations, scales, bones)
    lengths = np.array([bones[name].length for name in scales if name not in shown.model.bones[: shown.model.own]])
    points, sizes = chain.seen(numbers, 2 * np.arange(len(numbers)))
    known, known_sizes, units = _between(points), _at_halves(sizes), _at_halves(shown.units)

    def error(numbers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        at = np.round(2.0 * rows).astype(int)
        points, sizes = chain.seen(numbers, at)
        far = np.linalg.norm(points - known[at], axis=2).max(axis=1) * units[at if len(units) > 1 else 0]
        growth = np.abs(sizes / known_sizes[at] - 1.0) * lengths
        return np.maximum(far, growth.max(axis=1, initial=0.0)) / tolerance

    still = np.abs(np.diff(numbers, axis=0)).max(axis=1) <= _STILL
    curves = []
    for first, last in stretches(still):
        if still[first] or last - first == 1:
            curves.append(_straight(numbers[[first, last]], [first, last]))
        else:
            curves += _smooth(numbers, error, first, last, (first > 0, last < len(still)))
    return joined(curves)


def without_still(numbers: np.ndarray) -> KeyedCurve:
    """Straight lines from row to row through numbers (T, C), without keys where these hold."""
    still = np.abs(np.diff(numbers, axis=0)).max(axis=1) <= _STILL
    rows = np.flatnonzero(~np.concatenate(([False], still[:-1] & still[1:], [False])))
    return _straight(numbers[rows], rows)


def _smooth(numbers: np.ndarray, error: Error, first: int, last: int, rests: tuple[bool, bool]) -> Iterator[KeyedCurve]:
    """The fewest keys from one row to another, between which numbers move; where they are off all rows are keys.

    rests: whether numbers hold before and after.
    """
    slopes, tries = np.zeros_like(numbers, float), []
    for begins, ends in dict.fromkeys((rests, (False, False))):
        slopes[first : last + 1] = own = local_slopes(numbers[first : last + 1], 1)
        # What held starts from rest, if that is near enough.
        slopes[first], slopes[last] = own[0] * (not begins), own[-1] * (not ends)
        free = np.ones(len(numbers), bool)
        free[first], free[last] = not begins, not ends
        tries.append(fewest_keys(WantedMotion(numbers, slopes, free, error, first, last, looks=2), _LONGEST))
        if tries[-1][1] <= 1.0:
            break
    curve = min(tries, key=lambda each: each[1])[0]
    seen = np.arange(2 * first, 2 * last + 1) / 2.0
    off = error(curve.at(seen), seen)
    far = [off[(seen >= start) & (seen <= end)].max() > 1.0 for start, end in pairwise(curve.rows)]
    for start, end in stretches(np.array(far)):
        part = KeyedCurve(*(each[start : end + 1] for each in (curve.rows, curve.numbers, curve.slopes)))
        if far[start]:
            rows = range(part.rows[0], part.rows[-1] + 1)
            part = _straight(np.concatenate((part.numbers[:1], numbers[rows[1:-1]], part.numbers[-1:])), rows)
        yield part


def _straight(numbers: np.ndarray, rows: Sequence[int] | np.ndarray) -> KeyedCurve:
    """Straight lines from key to key, (K, C), in these rows."""
    ways = np.diff(numbers, axis=0) / np.diff(rows)[:, None]
    slopes = np.stack((np.concatenate((ways[:1], ways)), np.concatenate((ways, ways[-1:]))), axis=1)
    return KeyedCurve(np.array(rows), numbers, slopes)


def _fitted(
    shown: ShownChain,
    rotations: Mapping[str, tuple[str, np.ndarray]],
    scales: Mapping[str, np.ndarray],
    bones: bpy.types.bpy_prop_collection,
) -> _FittedChain:
    model, fk, at, turned, scaled, grown = shown.model, shown.fk, 0, [], [], []
    for name, (mode, own) in rotations.items():
        turned.append((model.bones.index(name), mode, slice(at, at + own.shape[1])))
        at += own.shape[1]
    for name in scales:
        if name in model.bones:
            scaled.append((model.bones.index(name), slice(at, at + 3)))
        if name not in model.bones[: model.own]:
            grown.append(at + 1)
        at += 3
    tails = np.array([(0.0, bones[name].length, 0.0) for name in model.bones[model.own :]]).reshape(-1, 3)
    turns, locations, sizes = map(_at_halves, (fk.rotations, fk.locations, fk.scales))
    return _FittedChain(model, turns, locations, sizes, turned, scaled, grown, tails)


def _at_halves(values: np.ndarray) -> np.ndarray:
    found = np.empty((2 * len(values) - 1, *values.shape[1:]))
    found[::2], found[1::2] = values, (values[:-1] + values[1:]) / 2.0
    return found


def _between(points: np.ndarray) -> np.ndarray:
    """Points (T, P, 3) at rows and between them, where cubics through four rows have them; but they bend at most twice
    as much as the parabolas through three do, and not at all where these bend to different sides. So nothing overshoots
    where points jump.

    Source: Bram van Leer, "Towards the Ultimate Conservative Difference Scheme. IV. A New Approach to Numerical
    Convection", Journal of Computational Physics 23 (1977), section 4, on limiting differences.
    """
    bends = np.pad(np.diff(points, 2, axis=0), ((1, 1), (0, 0), (0, 0)), mode="edge")
    before, after = bends[:-1], bends[1:]
    least = 2.0 * np.minimum(np.abs(before), np.abs(after))
    limited = np.clip((before + after) / 2.0, -least, least)
    found = _at_halves(points)
    found[1::2] -= np.where(before * after > 0.0, limited, 0.0) / 8.0
    return found
