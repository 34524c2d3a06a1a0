"""The paths of feet: exact in every lock, and with continuous speed between them.

What is blended is not the place of the ankle but a correction of what was captured, and it is blended where the foot
pivots: at the point that left the ground and then, through the foot, at the one that lands. So toes do not dig in while
the foot's pitch is corrected.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from .anchors import Anchors, Flat, Lock
from .clip import LegMotion
from .in_time import bridged, eased, runs, slope
from .options import SLOPE_TIME, Options
from .sole import HeelAndBall
from .turns import applied, same_way, turns_by, vectors_of

PEAK = 1.5
"""The largest slope of a cubic from rest to rest, of its mean slope."""
TINY = 1e-300
"""By which a speed of zero may be divided."""


@dataclass(frozen=True)
class FootPath:
    """One foot over T frames, as it pivots.

    pivots: (T, 3), the points about which it turns, from the ankle, in its own space. places: (T, 3), where these are
    in the world. feet: (T, 3, 3), its orientations.
    """

    pivots: np.ndarray
    places: np.ndarray
    feet: np.ndarray

    @property
    def ankles(self) -> np.ndarray:
        """(T, 3), where the ankle then is."""
        return self.places - applied(self.feet, self.pivots)

    def points(self, sole_points: np.ndarray) -> np.ndarray:
        """(2, T, 3), where points (2, 3) of its own space are: its heel and ball."""
        return self.places + applied(self.feet, sole_points[:, None] - self.pivots)


def foot_path(clip: LegMotion, sole: HeelAndBall, leg: int, anchors: Anchors, options: Options) -> FootPath:
    """The path of one leg's foot that keeps its anchors; as captured if it has none.

    The speed that a blend adds to a foot, over what the capture has at its ends, is at most `options.added_speed`
    unless two contacts leave it less time.
    """
    locks = [lock for lock in anchors.locks if lock.leg == leg]
    if not locks:
        return FootPath(np.zeros((clip.frame_count, 3)), clip.ankles[leg], clip.feet[leg])
    flats = [flat for flat in anchors.flats if flat.leg == leg]
    return FootPath(*_placed(clip, sole, leg, locks, options), _turned(clip, leg, flats, options))


def faded_turns(vectors: np.ndarray, known: np.ndarray, clip: LegMotion, options: Options) -> np.ndarray:
    """The turns (T, 3, 3) by vectors (T, 3) that are known in some frames, faded between these."""
    slopes = _slopes_inside(vectors, known, clip.fps)
    return turns_by(bridged(vectors, known, slopes, lambda end: _fade(end, options.added_turn, clip.fps, options)))


def _turned(clip: LegMotion, leg: int, flats: list[Flat], options: Options) -> np.ndarray:
    """The orientations (T, 3, 3) of a foot: its flat ones, and the captured ones where it is not near them."""
    vectors, known = np.zeros((clip.frame_count, 3)), np.zeros(clip.frame_count, bool)
    before = np.zeros(3)
    for flat in sorted(flats, key=lambda flat: flat.first):
        span = slice(flat.first, flat.last + 1)
        turns = vectors_of(flat.foot @ clip.feet[leg, span].swapaxes(1, 2))
        # Half a turn has two vectors: those of one foot, and of the next, are on one side.
        vectors[span] = same_way(turns, same_way(turns[0], before))
        if flat.foot.ndim == 3:
            # What goes round with a wheel leaves it by the shorter way.
            late = slice(len(turns) // 2, None)
            vectors[span][late] = same_way(turns[late], turns[-1])
        before, known[span] = vectors[flat.last], True
    return faded_turns(vectors, known, clip, options) @ clip.feet[leg]


def _placed(
    clip: LegMotion, sole: HeelAndBall, leg: int, locks: list[Lock], options: Options
) -> tuple[np.ndarray, np.ndarray]:
    """The pivots (T, 3) of a foot, and their places (T, 3): those of its locks, and what leads from one to the next."""
    count = clip.frame_count
    places, pivots, known = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count, bool)
    carried = np.zeros((count, 3))
    for lock in locks:
        span = slice(lock.first, lock.last + 1)
        places[span], pivots[span], known[span] = lock.place, sole.points[leg, lock.point], True
        if lock.place.ndim == 2:
            carried[span] = slope(lock.place, clip.fps, SLOPE_TIME)
    pivots = _wandering(pivots, known)
    captured = clip.ankles[leg] + applied(clip.feet[leg], pivots)
    # At the end of a lock the correction changes as fast as the lock moves away from the captured pivot.
    turning = slope(clip.feet[leg], clip.fps, SLOPE_TIME)
    speeds = carried - slope(clip.ankles[leg], clip.fps, SLOPE_TIME) - applied(turning, pivots)
    fastest = options.added_speed * clip.size
    speeds *= np.minimum(1.0, fastest / np.maximum(np.linalg.norm(speeds, axis=1, keepdims=True), TINY))
    corrections = bridged(
        places - captured, known, speeds / clip.fps, lambda end: _fade(end, fastest, clip.fps, options)
    )
    return pivots, np.where(known[:, None], places, captured + corrections)


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
            slopes[first] = (values[first + reach] - values[first]) / reach
            slopes[last] = (values[last] - values[last - reach]) / reach
    return slopes


def _fade(value: np.ndarray, speed: float, fps: float, options: Options) -> int:
    """How many frames a correction takes to fade so that it adds no more than `speed`, per second."""
    return max(1, ceil(max(options.blend, PEAK * float(np.linalg.norm(value)) / speed) * fps))
