"""How one foot stands on the ground below it."""

from collections.abc import Callable

import numpy as np

from .clip import Clip
from .options import SOLE_WIDTH, STEEP
from .sole import BALL, HEEL
from .turns import UP, directions, mean_turn, turns_between

Ground = Callable[[np.ndarray], np.ndarray]
"""Heights (n,) of the ground below points (n, 3), world units."""

PIVOT_STEPS = 4
"""Each step of `pivoted` leaves a share of the error as large as the slope's change under a moved point: a tenth."""


def under(clip: Clip, leg: int, ground: Ground | None) -> Ground | None:
    """The ground as high as heel and ball of one foot are over it while its skin stands on it."""
    if ground is None or clip.soles is None:
        return ground
    return lambda points: ground(points) + clip.soles[leg]


def on_ground(place: np.ndarray, ground: Ground | None) -> np.ndarray:
    """A point (3,) put on the ground; as it is if there is none."""
    return place if ground is None else np.array((*place[:2], ground(place[None])[0]))


def flat_foot(
    feet: np.ndarray, points: np.ndarray, normal: np.ndarray, middle: np.ndarray, ground: Ground | None
) -> tuple[np.ndarray, np.ndarray]:
    """The orientation (3, 3) and the ankle (3,) of a foot that stands flat.

    It is turned least from the mean of its captured orientations (n, 3, 3), and the middle of its sole is below or
    above `middle` (3,), the captured one in the mean. points: (2, 3), heel and ball in the foot's own space.
    normal: (3,), of the sole, likewise. On a mesh the sole takes the slope of four samples, and is so high that none
    of them is above it.
    """
    foot = mean_turn(feet)
    along = (foot @ (points[BALL] - points[HEEL])) * (1.0, 1.0, 0.0)
    length = float(np.linalg.norm(along))
    slope = UP
    if ground is not None and length > 0.0:
        along = along / length
        aside = np.array((-along[1], along[0], 0.0))
        width = SOLE_WIDTH * length
        heel, ball, right, left = ground(
            middle + 0.5 * np.array((-length * along, length * along, -width * aside, width * aside))
        )
        rise, bank = _slope(ball - heel, length), _slope(left - right, width)
        slope = directions(np.cross(along + rise * UP, aside + bank * UP))
        ends = heel + 0.5 * rise * length, ball - 0.5 * rise * length
        sides = right + 0.5 * bank * width, left - 0.5 * bank * width
        middle = np.array((*middle[:2], max(*ends, *(sides if bank else ends))))
    foot = turns_between(foot @ normal, slope) @ foot
    return foot, middle - foot @ points.mean(axis=0)


def pivoted(foot: np.ndarray, arm: np.ndarray, pivot: np.ndarray, ground: Ground | None) -> np.ndarray:
    """The orientation (3, 3) of a foot turned about a point that stands, until its other point is on the ground.

    arm: (3,), from the one point to the other in the foot's own space. Without a ground the foot stays as it is.
    """
    if ground is None:
        return foot
    for _ in range(PIVOT_STEPS):
        reach = foot @ arm
        heights = ground((pivot + reach)[None]) - pivot[2]
        foot = turns_to_heights(reach[None], heights)[0] @ foot
    return foot


def turns_to_heights(arms: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """The rotations (n, 3, 3) that pitch arms (n, 3) until their ends are at heights (n,), as far as `STEEP` allows."""
    lengths = np.linalg.norm(arms, axis=1)
    heights = np.clip(heights, np.minimum(-STEEP * lengths, arms[:, 2]), np.maximum(STEEP * lengths, arms[:, 2]))
    flat = directions(arms * (1.0, 1.0, 0.0)) * np.sqrt(np.maximum(lengths**2 - heights**2, 0.0))[:, None]
    flat[:, 2] = heights
    return turns_between(directions(arms), directions(flat))


def _slope(rise: float, run: float) -> float:
    """The slope between two samples; 0, as a level foot has, where there is an edge between them."""
    return rise / run if abs(rise) <= STEEP * run else 0.0
