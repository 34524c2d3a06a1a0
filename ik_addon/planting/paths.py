"""The paths of feet: exact in every lock, and with continuous speed between them.

What is blended is not the place of the ankle but a correction of what was captured, and it is blended where the foot
pivots: at the point that left the ground and then, through the foot, at the one that lands. So toes do not dig in while
the foot's pitch is corrected.
"""

from math import ceil

import numpy as np

from .anchors import Anchors, Flat, Lock
from .clip import Clip
from .in_time import bridged, eased, runs, slope
from .options import ADDED_SPEED, ADDED_TURN, SLOPE_TIME, Options
from .sole import Sole
from .turns import applied, turns_by, vectors_of

PEAK = 1.5
"""The largest slope of a cubic from rest to rest, of its mean slope."""


def foot_paths(clip: Clip, sole: Sole, anchors: Anchors, options: Options) -> tuple[np.ndarray, np.ndarray]:
    """Ankles (legs, T, 3) and orientations of feet (legs, T, 3, 3) that keep the anchors.

    The speed that a blend adds to a foot, over what the capture has at its ends, is at most ADDED_SPEED unless two
    contacts leave it less time.
    """
    ankles, feet = clip.ankles.copy(), clip.feet.copy()
    for leg in range(clip.leg_count):
        flats = [flat for flat in anchors.flats if flat.leg == leg]
        locks = [lock for lock in anchors.locks if lock.leg == leg]
        if locks:
            feet[leg] = _turned(clip, leg, flats, options) @ clip.feet[leg]
            ankles[leg] = _placed(clip, sole, leg, locks, feet[leg], options)
    return ankles, feet


def _turned(clip: Clip, leg: int, flats: list[Flat], options: Options) -> np.ndarray:
    """The turns (T, 3, 3) that bring a captured foot to its flat orientations, and fade between them."""
    vectors, known = np.zeros((clip.frame_count, 3)), np.zeros(clip.frame_count, bool)
    for flat in flats:
        span = slice(flat.first, flat.last + 1)
        vectors[span] = vectors_of(flat.foot @ clip.feet[leg, span].swapaxes(1, 2))
        known[span] = True
    slopes = _slopes_inside(vectors, known, clip.fps)
    return turns_by(bridged(vectors, known, slopes, lambda end: _fade(end, ADDED_TURN, clip.fps, options)))


def _placed(clip: Clip, sole: Sole, leg: int, locks: list[Lock], feet: np.ndarray, options: Options) -> np.ndarray:
    """The ankles (T, 3) of one foot with orientations `feet` (T, 3, 3) that keep its locks."""
    count = clip.frame_count
    places, pivots, known = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count, bool)
    for lock in locks:
        span = slice(lock.first, lock.last + 1)
        places[span], pivots[span], known[span] = lock.place, sole.points[leg, lock.point], True
    pivots = _wandering(pivots, known)
    captured = clip.ankles[leg] + applied(clip.feet[leg], pivots)
    # At the end of a lock the correction changes as fast as the captured pivot moves, the other way.
    speeds = slope(clip.ankles[leg], clip.fps, SLOPE_TIME) + applied(
        slope(clip.feet[leg], clip.fps, SLOPE_TIME), pivots
    )
    fastest = ADDED_SPEED * clip.size
    speeds *= np.minimum(1.0, fastest / np.maximum(np.linalg.norm(speeds, axis=1, keepdims=True), fastest))
    corrections = bridged(
        places - captured, known, -speeds / clip.fps, lambda end: _fade(end, fastest, clip.fps, options)
    )
    return np.where(known[:, None], places, captured + corrections) - applied(feet, pivots)


def _wandering(pivots: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Pivots (T, 3) that are known in some frames, going over from each to the next between them."""
    frames = np.arange(len(known))
    locked = np.flatnonzero(known)
    before = locked[np.clip(np.searchsorted(locked, frames, side="right") - 1, 0, None)]
    after = locked[np.clip(np.searchsorted(locked, frames), None, len(locked) - 1)]
    share = eased((frames - before) / np.maximum(after - before, 1))[:, None]
    return (1.0 - share) * pivots[before] + share * pivots[after]


def _slopes_inside(values: np.ndarray, known: np.ndarray, fps: float) -> np.ndarray:
    """(T, 3): the slopes of values at the ends of known runs, per frame, as far as the runs show them."""
    slopes = np.zeros_like(values)
    for first, last in runs(known):
        reach = min(max(1, round(SLOPE_TIME * fps)), last - first)
        if reach:
            # A run of a few frames has one slope; the ends do not overwrite one another else.
            slopes[first] = (values[first + reach] - values[first]) / reach
            slopes[last] = (values[last] - values[last - reach]) / reach
    return slopes


def _fade(value: np.ndarray, speed: float, fps: float, options: Options) -> int:
    """How many frames a correction takes to fade so that it adds no more than `speed`, per second."""
    return max(1, ceil(max(options.blend, PEAK * float(np.linalg.norm(value)) / speed) * fps))
