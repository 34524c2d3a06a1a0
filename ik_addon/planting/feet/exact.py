"""What stands exactly: points at one place, and the feet of clips that were planted."""

import numpy as np

from .clip import LegMotion
from .curves import middle_of, quantile, runs
from .options import EXACT

_TURNS, _FEWEST = 10.0, 3
"""An ankle that moves by so many times `EXACT` turns about the ball; in fewer frames than that it is chance."""
_PART = 1.0 / 3.0
"""Of the steps in contact of a planted clip those that are exact, at least; of others none is, or one by chance."""
_NOISE, _ROUNDING = 10.0, 1e-7
"""Times the median move of what stands exactly that rounding moves it at most; leg lengths that are none."""
_NEAR, _NOISES = 0.03, np.geomspace(1e-3, 1e-8, 16)
"""Leg lengths from a point within which a pivot is looked for; how far, in turn, points may be from standing."""
_PLANE, _PIVOTS = 1e-6, 3
"""Part of what turns tell about a point, of what they tell most about, below which they tell nothing; how many of them
are about one point, at least."""


def is_planted(clip: LegMotion) -> bool:
    """Whether a foot turns about a ball that stands exactly. No captured foot does, and hardly one posed by hand."""
    ankles, balls = (np.linalg.norm(np.diff(way, axis=1), axis=-1) / clip.size for way in (clip.ankles, clip.balls))
    return np.count_nonzero((balls <= EXACT) & (ankles > _TURNS * EXACT)) >= _FEWEST


def stand_exactly(clip: LegMotion, ways: np.ndarray) -> np.ndarray:
    """(..., T) bool, the frames in which points (..., T, 3) of a clip stay where they are, but for rounding.

    In a planted clip they stay at one place, and rounding is what it is there; in another they may creep.
    """
    steps = np.linalg.norm(np.diff(ways, axis=-2), axis=-1) / clip.size
    found, most = np.zeros(ways.shape[:-1], bool), _rounding(clip) if is_planted(clip) else np.inf
    for index in np.ndindex(found.shape[:-1]):
        way, own = ways[index] / clip.size, found[index]
        for first, last in runs(steps[index] <= EXACT):
            span = slice(first, last + 2)
            own[span] |= np.linalg.norm(way[span] - quantile(way[span]), axis=-1) <= most
        for first, last in runs(own):
            own[first : last + 1] = last > first
    return found


def shared_exactly(clip: LegMotion, velocities: np.ndarray, belt: np.ndarray, most: float) -> np.ndarray:
    """The level velocity (3,) that points have exactly in a good part of their steps in contact, of which these are the
    velocities (n, 3): that of the belt on which a clip was planted. No farther than `most` from that of a belt (3,);
    the belt's own if there is none."""
    exact = EXACT * clip.size * clip.fps
    near = velocities[(np.abs(velocities[:, 2]) <= exact) & (np.linalg.norm(velocities - belt, axis=1) <= most)]
    if len(near):
        alike = near[np.linalg.norm(near - middle_of(near), axis=1) <= exact]
        if len(alike) >= _PART * len(velocities):
            return alike.mean(axis=0) * (1.0, 1.0, 0.0)
    return belt


def _rounding(clip: LegMotion) -> float:
    """How far rounding moves what stands exactly in a clip, leg lengths."""
    steps = np.linalg.norm(np.diff((clip.ankles, clip.balls), axis=-2), axis=-1) / clip.size
    return float(np.clip(_NOISE * quantile(steps[steps <= EXACT]), _ROUNDING, EXACT))


def pivot_near(clip: LegMotion, leg: int, point: np.ndarray) -> np.ndarray:
    """The point (3,) of a foot, in its own space, about which it turns exactly, near one; that one if there is none.

    Of a planted clip, and of a point that is not its ball. The nearer a point comes to standing, the more its frames
    count (iteratively reweighted least squares).
    """
    turns, moves = np.diff(clip.feet[leg], axis=0), np.diff(clip.ankles[leg], axis=0) / clip.size
    near = found = point / clip.size
    angles = np.linalg.norm(turns, axis=(1, 2))
    balls = np.linalg.norm(np.diff(clip.balls[leg], axis=0), axis=1) / clip.size
    close = (np.linalg.norm(turns @ near + moves, axis=1) <= _NEAR * angles) & (balls > EXACT)
    turns, moves = turns[close], moves[close]
    for noise in _NOISES:
        weights = 1.0 / (np.sum((turns @ found + moves) ** 2, axis=1) + noise**2)
        weighted = weights[:, None, None] * turns.swapaxes(1, 2)
        off = (weighted @ (turns @ near + moves)[..., None]).sum(axis=0)[:, 0]
        # Along the axis of a foot that turns in one plane any point does as well.
        found = near - np.linalg.pinv((weighted @ turns).sum(axis=0), _PLANE, hermitian=True) @ off
    stands = np.linalg.norm(turns @ found + moves, axis=1) <= _rounding(clip)
    turning = angles[close] * np.linalg.norm(found) > _TURNS * EXACT
    return clip.size * found if np.count_nonzero(stands & turning) >= _PIVOTS else point
