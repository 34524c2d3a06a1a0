"""How ankles move between two frames while a foot turns about a point that stands: on an arc, not on its chord."""

import numpy as np

from .anchors import Lock
from .sole import HeelAndBall
from .turns import applied, vectors_of


def arcs(sole: HeelAndBall, locks: tuple[Lock, ...], ankles: np.ndarray, feet: np.ndarray) -> np.ndarray:
    """(legs, T, 2, 3): how far an ankle would go in one frame as fast as it arrives at each frame, and as it leaves it.

    NaN where no point of the foot stands from that frame to the next one, or from the last, and where the foot does not
    turn meanwhile. Each turn is steady from one frame to the next, as keys of rotations are. ankles, feet: (legs, T, 3)
    and (legs, T, 3, 3), as planned.
    """
    found = np.full((*ankles.shape[:2], 2, 3), np.nan)
    for lock in locks:
        leg, here, there = lock.leg, slice(lock.first, lock.last), slice(lock.first + 1, lock.last + 1)
        turns = vectors_of(feet[leg, there] @ feet[leg, here].swapaxes(1, 2))
        arms = -applied(feet[leg, lock.first : lock.last + 1], sole.points[leg, lock.point])
        rolls = (np.linalg.norm(turns, axis=1) > STILL)[:, None]
        found[leg, here, 1] = np.where(rolls, np.cross(turns, arms[:-1]), found[leg, here, 1])
        found[leg, there, 0] = np.where(rolls, np.cross(turns, arms[1:]), found[leg, there, 0])
    return found


STILL = 1e-4
"""Angle in radians below which a foot does not turn: its arc is 1e-9 of it off its chord."""
