"""Few keys for the same motion: cubics from key to key, with one slope at each, as few as stay within a tolerance.

A cubic is given by numbers and slopes at both ends (Hermite). Blender's F-Curve is the same where handles are a third
of the way to the next key. Rows are frames, counted from 0; the error of a motion is measured where it is seen, by
whoever asks, and is 1 at the tolerance. Arrays alone.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

Error = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""How far numbers (n, C) at rows (n,), whole or between two, are off: (n,), 1 at the tolerance."""

_HOPELESS, _MISSES = 3.0, 5
"""A span that is off by so many times the tolerance becomes no better by refitting, and one that follows so many spans
which are too long is too long too."""
_MOST = 16
"""A span is looked at in no more whole rows than these, nor places of all: of all alone, none may be whole."""
_LONGER = 10
"""By this part of them are spans longer than those tried before, in whole rows."""
_PREFERRED = 0.4
"""By how much a key costs less in a row that is preferred."""
_SMOOTH = 1e-3
"""Of ways with as many keys, that with the least squares of errors: how much an error of 1 costs, in keys."""
_ROUNDS, _PATIENCE, _TIGHTER, _REWEIGHTED = 12, 3, 1.5, 6
_NEAR = 3
"""So many keys to either side make up for one that is left out."""
_STIFFNESS = 1e-9
"""Part of the mean weight with which keys are held where they are: rows may be too few to tell all of them."""


@dataclass(frozen=True, slots=True)
class KeyedCurve:
    """Keys in rows (K,), with numbers (K, C) and slopes (K, 2, C) by row, before and after each key."""

    rows: np.ndarray
    numbers: np.ndarray
    slopes: np.ndarray

    def at(self, rows: np.ndarray) -> np.ndarray:
        """The numbers (n, C) at rows (n,), whole or not, from the first key to the last."""
        k, weights = _spans(self.rows, rows)
        ends = (self.numbers[k], self.slopes[k, 1], self.numbers[k + 1], self.slopes[k + 1, 0])
        return np.einsum("nk,nkc->nc", weights, np.stack(ends, axis=1))


def smooth_curve(rows: np.ndarray, numbers: np.ndarray, slopes: np.ndarray) -> KeyedCurve:
    """Keys with one slope (K, C) each."""
    return KeyedCurve(rows, numbers, np.repeat(slopes[:, None], 2, axis=1))


def curve_through(thirds: np.ndarray, first: int) -> KeyedCurve:
    """Cubics from row to row that go through numbers (3 n + 1, C) at thirds as well, with keys in all rows from
    `first`."""
    start, one, two, end = (thirds[k : len(thirds) - 3 + k : 3] for k in range(4))
    numbers = thirds[::3]
    slopes = np.zeros((len(numbers), 2, numbers.shape[1]))
    slopes[:-1, 1] = (18.0 * one - 11.0 * start - 9.0 * two + 2.0 * end) / 2.0
    slopes[1:, 0] = (11.0 * end - 18.0 * two + 9.0 * one - 2.0 * start) / 2.0
    slopes[0, 0], slopes[-1, 1] = slopes[0, 1], slopes[-1, 0]
    return KeyedCurve(np.arange(first, first + len(numbers)), numbers, slopes)


def joined(curves: list[KeyedCurve]) -> KeyedCurve:
    """One curve of several, each of which begins with the last key of the one before."""
    rows, numbers, slopes = (
        np.concatenate([getattr(curves[0], name)[:1], *(getattr(each, name)[1:] for each in curves)])
        for name in ("rows", "numbers", "slopes")
    )
    slopes[:-1, 1] = np.concatenate([each.slopes[:-1, 1] for each in curves])
    return KeyedCurve(rows, numbers, slopes)


def hermite_weights(shares: np.ndarray, lengths: np.ndarray | float) -> np.ndarray:
    """The weights (n, 4) of number and slope at the start, number and slope at the end, of spans of these lengths."""
    t = shares
    return np.stack(
        ((1 + 2 * t) * (1 - t) ** 2, t * (1 - t) ** 2 * lengths, t * t * (3 - 2 * t), t * t * (t - 1) * lengths),
        axis=-1,
    )


def _spans(keys: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """After which of the keys rows (n,) are, and the weights (n, 4) of both ends of the span there."""
    k = np.clip(np.searchsorted(keys, rows, side="right") - 1, 0, len(keys) - 2)
    lengths = (keys[k + 1] - keys[k]).astype(float)
    return k, hermite_weights((rows - keys[k]) / lengths, lengths)


@dataclass(frozen=True, slots=True)
class WantedMotion:
    """A motion that keys are to give, or a stretch of it from row `first` to row `last`.

    numbers: (T, C), at all rows. slopes: (T, C), by row. free: (T,) bool, where a key may have another slope, and
    inside the stretch other numbers, if that is better. error: see `Error`. looks: so many times a row it is asked.
    """

    numbers: np.ndarray
    slopes: np.ndarray
    free: np.ndarray
    error: Error
    first: int
    last: int
    looks: int = 1

    def seen(self, first: int, last: int) -> np.ndarray:
        """Where the error is asked for from row to row."""
        return np.arange(first * self.looks, last * self.looks + 1) / self.looks


def fewest_keys(motion: WantedMotion, longest: int, preferred: Collection[int] = ()) -> tuple[KeyedCurve, float]:
    """The fewest keys with which a motion is within the tolerance, and how far it is off.

    longest: span, in rows. preferred: rows in which a key costs less. Each span from key to key is first fitted by
    itself, and the shortest path over spans that fit is taken; then all keys are fitted together. Where that is off,
    spans have to be better, and it is done again. A span by itself has its own slopes, which few rows tell badly: at
    last each key is left out that the others, fitted together, can do without.
    """
    errors, tight = _span_errors(motion, longest), np.ones(motion.last - motion.first + 1)
    tries: list[tuple[KeyedCurve, float]] = []
    seen = motion.seen(motion.first, motion.last)
    for _ in range(_ROUNDS):
        rows = _shortest(errors, tight, [row - motion.first for row in preferred]) + motion.first
        curve = _refitted(motion, rows)
        off = motion.error(curve.at(seen), seen)
        worst = float(off.max())
        tries.append((curve, worst))
        stuck = len(tries) > _PATIENCE and worst > max(_HOPELESS, 0.9 * tries[-1 - _PATIENCE][1])
        if worst <= 1.0 or stuck:
            break
        bad = seen[off > 1.0] - motion.first
        tight[np.unique(np.concatenate((np.floor(bad), np.ceil(bad)))).astype(int)] *= _TIGHTER
    curve, worst = min(tries, key=lambda each: each[1])
    if worst > 1.0:
        # Spans that are exact by themselves are never tightened: then keys of all rows are left out.
        rows = np.arange(motion.first, motion.last + 1)
        dense = smooth_curve(rows, motion.numbers[rows], motion.slopes[rows])
        if (off := float(motion.error(dense.at(seen), seen).max())) <= 1.0:
            curve, worst = dense, off
    if worst <= 1.0:
        curve = _thinned(motion, curve, preferred)
        worst = float(motion.error(curve.at(seen), seen).max())
    return curve, worst


def _thinned(motion: WantedMotion, curve: KeyedCurve, preferred: Collection[int]) -> KeyedCurve:
    """The same without the keys that those near them can do without, preferred ones last."""
    keys = dict(zip(curve.rows.tolist(), np.stack((curve.numbers, curve.slopes[:, 1]), axis=1), strict=True))
    for row in sorted((row for row in [*keys][1:-1] if motion.free[row]), key=lambda row: row in preferred):
        rows = [*keys]
        k = rows.index(row)
        near = np.array(rows[max(0, k - _NEAR) : k] + rows[k + 1 : k + 1 + _NEAR])
        fitted = _refitted(motion, near, np.concatenate([keys[each] for each in near.tolist()]))
        seen = motion.seen(near[0], near[-1])
        if motion.error(fitted.at(seen), seen).max() <= 1.0:
            del keys[row]
            keys |= zip(near.tolist(), np.stack((fitted.numbers, fitted.slopes[:, 1]), axis=1), strict=True)
    numbers, slopes = np.stack([*keys.values()], axis=1)
    return smooth_curve(np.array([*keys]), numbers, slopes)


def _span_errors(motion: WantedMotion, longest: int) -> np.ndarray:
    """(T, longest + 1), how far the best cubic from each row over so many is off; from one row to the next, 0."""
    count = motion.last - motion.first + 1
    longest = min(longest, count - 1)
    errors, misses, alive = np.full((count, longest + 1), np.inf), np.zeros(count, int), np.ones(count, bool)
    errors[:-1, 1] = 0.0
    for span in _lengths(longest):
        starts = np.flatnonzero(alive[: count - span])
        if not len(starts):
            break
        ways = ((span * looks - 1, looks) for looks in {1, motion.looks})
        offsets = [np.linspace(1, last, min(last, _MOST)).round() / looks for last, looks in ways]
        offsets = np.unique(np.concatenate(offsets))
        fits = _fits(motion, starts + motion.first, span)
        numbers = np.einsum("nk,mkc->mnc", hermite_weights(offsets / span, float(span)), fits)
        rows = (starts[:, None] + motion.first) + offsets
        off = motion.error(numbers.reshape(rows.size, -1), rows.ravel()).reshape(rows.shape).max(axis=1)
        errors[starts, span] = off
        misses[starts] += off > 1.0
        alive[starts] &= (off < _HOPELESS) & (misses[starts] <= _MISSES)
    return errors


def _lengths(longest: int) -> Iterator[int]:
    """The lengths of spans that are tried, the longest among them."""
    span = 2
    while span < longest:
        yield span
        span += 1 + span // _LONGER
    if longest > 1:
        yield longest


def _fits(motion: WantedMotion, starts: np.ndarray, span: int) -> np.ndarray:
    """The cubics (m, 4, C) over so many rows from each of these, their free slopes those of least squares."""
    ends, numbers, slopes = starts + span, motion.numbers, motion.slopes
    fits = np.stack((numbers[starts], slopes[starts], numbers[ends], slopes[ends]), axis=1)
    if span < 3:
        return fits
    basis = hermite_weights(np.arange(1, span) / span, float(span))
    for which in ([1], [3], [1, 3]):
        chosen = np.flatnonzero((motion.free[starts] == (1 in which)) & (motion.free[ends] == (3 in which)))
        if len(chosen):
            fits[np.ix_(chosen.tolist(), which)] = 0.0
            inner = numbers[starts[chosen, None] + np.arange(1, span)]
            rest = inner - np.einsum("nk,mkc->mnc", basis, fits[chosen])
            fits[np.ix_(chosen.tolist(), which)] = np.einsum("kn,mnc->mkc", np.linalg.pinv(basis[:, which]), rest)
    return fits


def _shortest(errors: np.ndarray, tight: np.ndarray, preferred: Collection[int]) -> np.ndarray:
    """The rows of the shortest path from the first to the last over spans whose error, times how tight it is there, is
    no more than 1. errors: see `_span_errors`."""
    count, longest = len(errors), errors.shape[1] - 1
    steps, highest = np.full(errors.shape, np.inf), tight.copy()
    for span in range(1, longest + 1):
        highest = np.maximum(highest[: count - span], tight[span:])
        own = errors[: count - span, span]
        steps[: count - span, span] = np.where(own * highest <= 1.0, 1.0 + _SMOOTH * np.minimum(own, 1.0) ** 2, np.inf)
    cost, came, cheaper = np.full(count, np.inf), np.zeros(count, int), np.zeros(count)
    cost[0] = 0.0
    cheaper[[row for row in preferred if 0 < row < count]] = _PREFERRED
    for row in range(1, count):
        spans = np.arange(1, min(row, longest) + 1)
        ways = cost[row - spans] + steps[row - spans, spans]
        least = int(ways.argmin())
        cost[row], came[row] = ways[least] - cheaper[row], row - spans[least]
    path = [count - 1]
    while path[-1]:
        path.append(came[path[-1]])
    return np.array(path[::-1])


def _refitted(motion: WantedMotion, rows: np.ndarray, start: np.ndarray | None = None) -> KeyedCurve:
    """Keys in these rows, together as near to the motion as they can be: least squares, in which what is farthest off
    counts more each time. start: (2 K, C), number and slope of each to begin with; None: those of the motion."""
    first, last = rows[0], rows[-1]
    if start is None:
        start = np.stack((motion.numbers[rows], motion.slopes[rows]), axis=1).reshape(2 * len(rows), -1)
    unknown = np.repeat(motion.free[rows], 2)
    # A clip keeps what it holds at its ends, and a part of it goes on as it did.
    unknown[[0, -2]] = False
    unknown[[1, -1]] &= first == motion.first, last == motion.last
    seen = np.arange(first, last + 1)
    k, weights = _spans(rows, seen)
    basis = np.zeros((len(seen), len(start)))
    basis[np.arange(len(seen))[:, None], 2 * k[:, None] + np.arange(4)] = weights
    at_start = basis @ start
    rest, free = motion.numbers[first : last + 1] - at_start, basis[:, unknown]
    if not free.any():
        # No row lies between the keys, or none is free.
        return smooth_curve(rows, start[0::2], start[1::2])
    best, least = start, float(motion.error(at_start, seen).max())
    weights = np.ones(len(seen))
    for _ in range(_REWEIGHTED):
        weighted = free * weights[:, None]
        normal = weighted.T @ weighted
        normal[np.diag_indices_from(normal)] += _STIFFNESS * np.trace(normal) / len(normal)
        found = start.copy()
        found[unknown] += np.linalg.solve(normal, weighted.T @ (rest * weights[:, None]))
        off = motion.error(basis @ found, seen)
        worst = float(off.max())
        if worst < least:
            best, least = found, worst
        if least <= 1.0:
            break
        weights = weights * np.sqrt(0.3 + off / max(worst, 1e-12))
        weights /= weights.mean()
    return smooth_curve(rows, best[0::2], best[1::2])


def stretches(steps: np.ndarray) -> list[tuple[int, int]]:
    """First and last row of each stretch in which the same is said of all steps from row to row."""
    return [*pairwise([0, *(np.flatnonzero(np.diff(steps)) + 1).tolist(), len(steps)])]


def local_slopes(numbers: np.ndarray, half: int) -> np.ndarray:
    """Slopes (T, C) by row of the parabola that suits `half` rows to either side best; fewer at the ends."""
    count = len(numbers)
    slopes = np.zeros_like(numbers, float)
    if count < 2:
        return slopes
    ends = np.clip(np.arange(count)[:, None] + (-half, half), 0, count - 1) - np.arange(count)[:, None]
    for first, last in np.unique(ends, axis=0).tolist():
        at, offsets = np.flatnonzero((ends == (first, last)).all(axis=1)), np.arange(first, last + 1.0)
        weights = np.linalg.pinv(np.vander(offsets, min(3, len(offsets)), increasing=True))[1]
        slopes[at] = np.einsum("n,mnc->mc", weights, numbers[at[:, None] + offsets.astype(int)])
    return slopes
