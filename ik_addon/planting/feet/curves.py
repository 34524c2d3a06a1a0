"""Curves over frames: slopes, windows, smooth curves with guarantees. Frames are the first axis of every array."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np


def frames_in(seconds: float, fps: float) -> int:
    """How many frames a time takes, one or more."""
    return max(1, round(seconds * fps))


def runs(mask: np.ndarray) -> list[tuple[int, int]]:
    """The first and last frame of each stretch in which a mask (T,) is True."""
    ended = np.zeros(len(mask) + 2, bool)
    ended[1:-1] = mask
    edges = (ended[1:] != ended[:-1]).nonzero()[0]
    return [(first, after - 1) for first, after in edges.reshape(-1, 2).tolist()]


def extent(way: np.ndarray) -> float:
    """The largest distance between two of some points (n, 3)."""
    away = np.linalg.norm(way - way.mean(axis=0), axis=1)
    least = np.linalg.norm(way - way[away.argmax()], axis=1).max()
    # Two points as far apart as that are both at least so far from the mean, but for rounding.
    outer = way[away >= min(0.999 * (least - away.max()), away.max())]
    return max(float(np.linalg.norm(outer - point, axis=1).max()) for point in outer)


def quantile(values: np.ndarray, part: float = 0.5) -> np.ndarray:
    """Of numbers (n, ...) those of which a part is less, between two in a straight line: the median, if not told.

    Of a few numbers numpy's own functions find it twenty times as slowly.
    """
    ordered, place = np.sort(values, axis=0), part * (len(values) - 1)
    below = int(place)
    return ordered[below] + (place - below) * (ordered[min(below + 1, len(values) - 1)] - ordered[below])


def middle_of(points: np.ndarray) -> np.ndarray:
    """The place (k,) from which points (n, k) are least far in the sum, whichever way the axes point."""
    middle = points.mean(axis=0)
    for _ in range(_STEPS_TO_MIDDLE):
        weights = 1.0 / np.maximum(np.linalg.norm(points - middle, axis=1), 1e-9)
        middle = weights @ points / weights.sum()
    return middle


_STEPS_TO_MIDDLE = 32
"""Each step (E. Weiszfeld) leaves half of the way, or less."""


def slope(values: np.ndarray, fps: float, seconds: float, axis: int = 0) -> np.ndarray:
    """How fast values change, per second: the slope of the line fitted over `seconds` to either side. axis: of frames.

    Noise and frame rate matter less than in differences between frames. Beyond its ends a curve is continued by its
    half turn about the end, so that a straight line keeps its slope.
    """
    if axis:
        return np.swapaxes(slope(np.swapaxes(values, axis, 0), fps, seconds), 0, axis)
    half = frames_in(seconds, fps)
    before, after = _mirrored(values, half)
    offsets = np.arange(-half, half + 1.0)
    return windows_in(np.concatenate((before, values, after)), len(offsets)) @ (offsets * fps / (offsets @ offsets))


def lowest(values: np.ndarray, back: int, ahead: int | None = None) -> np.ndarray:
    """The least value (T,) within `back` frames before and `ahead` after; as many after as before if None."""
    ahead = back if ahead is None else ahead
    return windows_in(held(values, back, ahead), back + ahead + 1).min(axis=-1)


def highest(values: np.ndarray, half: int) -> np.ndarray:
    """The largest value within `half` frames to either side."""
    return windows_in(held(values, half, half), 2 * half + 1).max(axis=-1)


def smooth(values: np.ndarray, half: int) -> np.ndarray:
    """Values averaged over `half` frames to either side with a Hann window; the ends are held."""
    if half < 1:
        return values
    weights = 1.0 + np.cos(np.pi * np.arange(-half, half + 1) / (half + 1))
    return windows_in(held(values, half, half), len(weights)) @ (weights / weights.sum())


def smooth_inside(values: np.ndarray, half: int) -> np.ndarray:
    """As `smooth`, but continued by the half turn about either end: the ends stay, a straight line does."""
    if half < 1:
        return values
    before, after = _mirrored(values, half)
    return smooth(np.concatenate((before, values, after)), half)[half:-half]


def mean_inside(values: np.ndarray, half: int) -> np.ndarray:
    """As `smooth_inside`, but all frames count alike, the ends half: what repeats after twice `half` frames cancels."""
    before, after = _mirrored(values, half)
    weights = np.repeat((0.5, 1.0, 0.5), (1, 2 * half - 1, 1)) / (2 * half)
    return windows_in(np.concatenate((before, values, after)), 2 * half + 1) @ weights


def above(needs: np.ndarray, half: int) -> np.ndarray:
    """A smooth curve that is nowhere below `needs` (T,) and differs from it only within twice `half` frames.

    Every value that the window averages at a frame is a maximum over frames among which that frame is.
    """
    # Rounding of the average must not undo it.
    return np.maximum(smooth(highest(needs, half), half), needs) if half else needs


def no_steeper(needs: np.ndarray, step: float) -> np.ndarray:
    """The lowest curve that is nowhere below `needs` (T,) and changes by no more than `step` from frame to frame."""
    ramp = step * np.arange(len(needs))
    rising = np.maximum.accumulate(needs[::-1] + ramp)[::-1] - ramp[::-1]
    falling = np.maximum.accumulate(needs + ramp) - ramp
    return np.maximum(rising, falling)


def hermite(
    count: int, start: np.ndarray, start_slope: np.ndarray, end: np.ndarray, end_slope: np.ndarray
) -> np.ndarray:
    """The cubic from `start` at frame 0 to `end` at frame `count`, at the frames between; slopes are per frame."""
    return _cubic((np.arange(1, count) / count)[:, None], count, start, start_slope, end, end_slope)


def _cubic(
    t: np.ndarray, count: int, start: np.ndarray, start_slope: np.ndarray, end: np.ndarray, end_slope: np.ndarray
) -> np.ndarray:
    """The cubic at parts `t` of its `count` frames."""
    return (
        (1 + 2 * t) * (1 - t) ** 2 * start
        + t * (1 - t) ** 2 * count * start_slope
        + t * t * (3 - 2 * t) * end
        + t * t * (t - 1) * count * end_slope
    )


def cubic_at(values: np.ndarray, rows: np.ndarray, is_closed: bool = False) -> np.ndarray:
    """Values (n, ...) at fractional rows, on cubics whose slopes are those of the rows beside.

    is_closed: the last one is the first.
    """
    slopes = np.gradient(values, axis=0)
    if is_closed:
        slopes[0] = slopes[-1] = 0.5 * (values[1] - values[-2])
    k = np.clip(np.floor(rows).astype(int), 0, len(values) - 2)
    t = np.reshape(rows - k, (*np.shape(rows), *[1] * (values.ndim - 1)))
    return _cubic(t, 1, values[k], slopes[k], values[k + 1], slopes[k + 1])


def eased(t: np.ndarray) -> np.ndarray:
    """From 0 to 1 with slopes of 0 at both ends."""
    t = np.clip(t, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


_RAMP = 0.25
"""Part of the way over from one known run to the next in which a correction gets as fast as it gets: at its ends it
changes hardly as abruptly as a cubic does, and it is a ninth slower in its middle, where feet are fastest."""


def _ramped(
    count: int, start: np.ndarray, start_slope: np.ndarray, end: np.ndarray, end_slope: np.ndarray
) -> np.ndarray:
    """As `hermite`, at a constant speed in the middle."""
    before, after = count * start_slope, count * end_slope
    along = (end - start - 0.5 * _RAMP * (before + after)) / (1.0 - _RAMP)
    t = (np.arange(1, count) / count)[:, None]
    rising, falling = np.minimum(t, _RAMP), np.maximum(t - 1.0 + _RAMP, 0.0)
    return (
        start
        + along * t
        + (before - along) * rising * (1.0 - 0.5 * rising / _RAMP)
        + 0.5 * (after - along) * falling**2 / _RAMP
    )


def bridged(
    values: np.ndarray, known: np.ndarray, slopes: np.ndarray, frames_to_fade: Callable[[np.ndarray], int]
) -> np.ndarray:
    """Values (T, 3) that are known in some frames, continued over the others with continuous slopes.

    Between two known runs they go straight over from one to the other if there is no time to fade, else they fade to
    zero and come back. known: (T,) bool. slopes: (T, 3) per frame, read at the ends of runs. frames_to_fade: how many
    frames a value takes to fade.
    """
    result = np.where(known[:, None], values, 0.0)
    zero = np.zeros(values.shape[1])
    known_runs = runs(known)

    def fade_out(last: int, until: int) -> None:
        count = frames_to_fade(values[last])
        faded = hermite(count, values[last], slopes[last], zero, zero)[: until - last - 1]
        result[last + 1 : last + 1 + len(faded)] = faded

    def fade_in(first: int, since: int) -> None:
        count = frames_to_fade(values[first])
        faded = hermite(count, zero, zero, values[first], slopes[first])[-(first - since - 1) or count :]
        result[first - len(faded) : first] = faded

    for (_, last), (first, _) in pairwise(known_runs):
        if frames_to_fade(values[last]) + frames_to_fade(values[first]) >= first - last:
            result[last + 1 : first] = _ramped(first - last, values[last], slopes[last], values[first], slopes[first])
        else:
            fade_out(last, first)
            fade_in(first, last)
    if known_runs:
        fade_in(known_runs[0][0], -1)
        fade_out(known_runs[-1][1], len(values))
    return result


def held(values: np.ndarray, back: int, ahead: int, axis: int = 0) -> np.ndarray:
    """Values that stay as they begin for `back` frames before, and as they end for `ahead` after. axis: of these."""
    first, last = (values.take([end], axis) for end in (0, -1))
    return np.concatenate((first.repeat(back, axis), values, last.repeat(ahead, axis)), axis)


def _mirrored(values: np.ndarray, half: int) -> tuple[np.ndarray, np.ndarray]:
    """What comes before and after values that are continued by their half turn about either end."""
    last = len(values) - 1
    before = np.minimum(np.arange(half, 0, -1), last)
    after = np.maximum(last - np.arange(1, half + 1), 0)
    return 2.0 * values[:1] - values[before], 2.0 * values[-1:] - values[after]


def windows_in(values: np.ndarray, count: int, axis: int = 0) -> np.ndarray:
    """Each `count` values that follow one another along an axis, on a new last one: not to be written to."""
    # As numpy's `sliding_window_view`, which for short clips takes longer than what is done with its result.
    values, shape = np.ascontiguousarray(values), [*values.shape]
    shape[axis] -= count - 1
    return np.ndarray((*shape, count), values.dtype, values, 0, (*values.strides, values.strides[axis]))
