"""What stands exactly: points at one place, and clips whose feet were planted."""

import numpy as np

from .clip import LegMotion
from .curves import runs
from .options import EXACT

_TURNS, _FEWEST = 10.0, 3
"""An ankle that moves by so many times `EXACT` turns about the ball; in fewer frames than that it is chance."""
_NOISE, _ROUNDING = 10.0, 1e-7
"""Times the median move of what stands exactly that rounding moves it at most; leg lengths that are none."""


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
