"""What stands exactly: points at one place, and clips whose feet were planted."""

import numpy as np

from .clip import LegMotion
from .curves import runs
from .options import EXACT

_TURNS, _FEWEST = 10.0, 3
"""An ankle that moves by so many times `EXACT` turns about the ball; in fewer frames than that it is chance."""
_NOISE, _ROUNDING = 10.0, 1e-7
"""Times the median move of what stands exactly that rounding moves it at most; leg lengths that are none."""

_NEAR, _NOISES = 0.03, np.geomspace(1e-3, 1e-8, 16)
"""Leg lengths from a point within which a pivot is looked for; how far, in turn, points may be from standing."""


def is_planted(clip: LegMotion) -> bool:
    """Whether a foot turns about a ball that stands exactly. No captured foot does, and hardly one posed by hand."""
    ankles, balls = (np.linalg.norm(np.diff(way, axis=1), axis=-1) / clip.size for way in (clip.ankles, clip.balls))
    return np.count_nonzero((balls <= EXACT) & (ankles > _TURNS * EXACT)) >= _FEWEST


def stand_exactly(ways: np.ndarray, size: float) -> np.ndarray:
    """(..., T) bool, the frames in which points (..., T, 3) stay at one place, but for rounding. size: leg length."""
    steps = np.linalg.norm(np.diff(ways, axis=-2), axis=-1) / size
    still = steps <= EXACT
    most = size * np.clip(_NOISE * np.median(steps[still]), _ROUNDING, EXACT) if still.any() else 0.0
    found = np.zeros(ways.shape[:-1], bool)
    for index in np.ndindex(found.shape[:-1]):
        way, own = ways[index], found[index]
        for first, last in runs(still[index]):
            span = slice(first, last + 2)
            # What creeps from frame to frame gets elsewhere.
            own[span] |= np.linalg.norm(way[span] - np.median(way[span], axis=0), axis=-1) <= most
        for first, last in runs(own):
            own[first : last + 1] = last > first
    return found


def pivot_near(clip: LegMotion, leg: int, point: np.ndarray) -> np.ndarray:
    """The point (3,) of a foot, in its own space, about which it turns exactly most often, near one; that one if none.

    The nearer a point comes to standing, the more its frames count (iteratively reweighted least squares).
    """
    turns, moves = np.diff(clip.feet[leg], axis=0), np.diff(clip.ankles[leg], axis=0) / clip.size
    near = found = point / clip.size
    reach = np.linalg.norm(turns, axis=(1, 2))
    close = np.linalg.norm(turns @ near + moves, axis=1) <= _NEAR * reach
    turns, moves = turns[close], moves[close]
    for noise in _NOISES:
        weights = 1.0 / (np.sum((turns @ found + moves) ** 2, axis=1) + noise**2)
        weighted = weights[:, None, None] * turns.swapaxes(1, 2)
        both = (weighted @ turns).sum(axis=0) + np.eye(3)
        found = np.linalg.solve(both, near - (weighted @ moves[..., None]).sum(axis=0)[..., 0])
    stands = np.linalg.norm(turns @ found + moves, axis=1) <= EXACT
    turning = reach[close] * np.linalg.norm(found) > _TURNS * EXACT
    return clip.size * found if np.count_nonzero(stands & turning) >= _FEWEST else point
