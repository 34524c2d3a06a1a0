"""What stands exactly: points at one place, and the feet of clips that were planted."""

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
_PLANE, _PIVOTS = 1e-6, 6
"""Part of what turns tell about a point, of what they tell most about, below which they tell nothing; how many of them
are about one point, at least."""


def is_planted(clip: LegMotion) -> bool:
    """Whether a foot turns about a ball that stands exactly. No captured foot does, and hardly one posed by hand."""
    ankles, balls = (np.linalg.norm(np.diff(way, axis=1), axis=-1) / clip.size for way in (clip.ankles, clip.balls))
    return np.count_nonzero((balls <= EXACT) & (ankles > _TURNS * EXACT)) >= _FEWEST


def stand_exactly(ways: np.ndarray, size: float) -> np.ndarray:
    """(..., T) bool, the frames in which points (..., T, 3) stay at one place, but for rounding. size: leg length."""
    still, most = _still(ways, size)
    found = np.zeros(ways.shape[:-1], bool)
    for index in np.ndindex(found.shape[:-1]):
        way, own = ways[index], found[index]
        for first, last in runs(still[index]):
            span = slice(first, last + 2)
            # What creeps from frame to frame gets elsewhere.
            own[span] |= np.linalg.norm(way[span] - np.median(way[span], axis=0), axis=-1) <= most * size
        for first, last in runs(own):
            own[first : last + 1] = last > first
    return found


def _still(ways: np.ndarray, size: float) -> tuple[np.ndarray, float]:
    """(..., T - 1) bool, from which frame to the next points (..., T, 3) hardly move, and how far rounding moves what
    stands, leg lengths."""
    steps = np.linalg.norm(np.diff(ways, axis=-2), axis=-1) / size
    still = steps <= EXACT
    return still, float(np.clip(_NOISE * np.median(steps[still]), _ROUNDING, EXACT)) if still.any() else _ROUNDING


def pivot_near(clip: LegMotion, leg: int, point: np.ndarray) -> np.ndarray:
    """The point (3,) of a foot, in its own space, about which it turns exactly, near one; that one if there is none.

    The nearer a point comes to standing, the more its frames count (iteratively reweighted least squares).
    """
    turns, moves = np.diff(clip.feet[leg], axis=0), np.diff(clip.ankles[leg], axis=0) / clip.size
    near = found = point / clip.size
    angles = np.linalg.norm(turns, axis=(1, 2))
    close = np.linalg.norm(turns @ near + moves, axis=1) <= _NEAR * angles
    turns, moves = turns[close], moves[close]
    for noise in _NOISES:
        weights = 1.0 / (np.sum((turns @ found + moves) ** 2, axis=1) + noise**2)
        weighted = weights[:, None, None] * turns.swapaxes(1, 2)
        off = (weighted @ (turns @ near + moves)[..., None]).sum(axis=0)[:, 0]
        # Along the axis of a foot that turns in one plane any point does as well.
        found = near - np.linalg.pinv((weighted @ turns).sum(axis=0), _PLANE, hermitian=True) @ off
    _, most = _still(np.concatenate((clip.ankles, clip.balls)), clip.size)
    stands = np.linalg.norm(turns @ found + moves, axis=1) <= most
    turning = angles[close] * np.linalg.norm(found) > _TURNS * EXACT
    return clip.size * found if np.count_nonzero(stands & turning) >= _PIVOTS else point
