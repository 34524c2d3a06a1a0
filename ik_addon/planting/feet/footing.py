"""How one foot stands on the ground below it."""

from collections.abc import Callable, Sequence

import numpy as np

from .clip import LegMotion
from .options import BEHIND, EDGE, FOOTING, SOLE_WIDTH, STEEP, TOES
from .sole import BALL, HEEL
from .turns import UP, directions, mean_turn, turns_between

Ground = Callable[[np.ndarray], np.ndarray]
"""Heights (n,) of the ground below points (n, 3), world units."""

PIVOT_STEPS = 4
"""Each step of `pivoted` leaves a share of the error as large as the slope's change under a moved point: a tenth."""

FOOTING_RINGS = 12
"""So many distances are tried for a footing, in eight directions each."""


def under(clip: LegMotion, leg: int, ground: Ground | None) -> Ground | None:
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
    along, aside = _sole_axes(foot, points)
    slope = UP
    if ground is not None and along.any():
        (heel, ball), (right, left) = (ground(middle + 0.5 * np.array((-way, way))) for way in (along, aside))
        length, width = float(np.linalg.norm(along)), float(np.linalg.norm(aside))
        rise, bank = _slope(ball - heel, length), _slope(left - right, width)
        slope = directions(np.cross(along / length + rise * UP, aside / width + bank * UP))
        ends = heel + 0.5 * rise * length, ball - 0.5 * rise * length
        sides = right + 0.5 * bank * width, left - 0.5 * bank * width
        middle = np.array((*middle[:2], max(*ends, *(sides if bank else ends))))
    foot = turns_between(foot @ normal, slope) @ foot
    return foot, middle - foot @ points.mean(axis=0)


def way_to_footing(feet: Sequence[np.ndarray], points: np.ndarray, middles: np.ndarray, ground: Ground) -> np.ndarray:
    """The shortest level way (3,) by which the soles of one stance come to where no edge is below them.

    Where none leads all of them there, it counts for how many frames. Looked for ahead, behind, to both sides and
    between, up to `FOOTING`. feet: the orientations (n, 3, 3) of each of its flat feet. points: (2, 3), heel and ball
    in their own space. middles: (flat feet, 3), between both.
    """
    axes = [_sole_axes(mean_turn(own), points) for own in feet]
    lengths = [float(np.linalg.norm(along)) for along, _ in axes]
    if not min(lengths):
        return np.zeros(3)
    turns = 0.25 * np.pi * np.arange(8)
    around = lengths[0] * np.stack((np.cos(turns), np.sin(turns), np.zeros(8)), axis=1)
    rings = FOOTING * np.arange(1, FOOTING_RINGS + 1) / FOOTING_RINGS

    def even_frames(ways: np.ndarray) -> np.ndarray:
        frames = np.zeros(len(ways))
        for own, (along, aside), length, middle in zip(feet, axes, lengths, middles, strict=True):
            samples = np.array((-(BEHIND + 0.5) * along, (0.5 + TOES) * along, -0.5 * aside, 0.5 * aside))
            heights = ground((middle + ways[:, None] + samples).reshape(-1, 3)).reshape(-1, 4)
            frames += len(own) * _is_even(heights, length)
        return frames

    ways = np.vstack((np.zeros((1, 3)), (rings[:, None, None] * around).reshape(-1, 3)))
    if even_frames(ways[:1])[0] == sum(map(len, feet)):
        return ways[0]
    return ways[np.argmax(even_frames(ways))]


def _sole_axes(foot: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Level vectors (3,) along a sole, from heel to ball, and across it to the left, as long as the sole is."""
    along = (foot @ (points[BALL] - points[HEEL])) * (1.0, 1.0, 0.0)
    return along, SOLE_WIDTH * np.array((-along[1], along[0], 0.0))


def _is_even(heights: np.ndarray, length: float) -> np.ndarray:
    """(n,) bool: whether heights (n, 4) below heel, toes, right and left of a sole are those of one slope."""
    heel, toes, right, left = heights.T
    rise = (toes - heel) / (BEHIND + 1.0 + TOES)
    steep = (np.abs(rise) > STEEP * length) | (np.abs(left - right) > STEEP * SOLE_WIDTH * length)
    return ~steep & (np.abs(heel + (BEHIND + 0.5) * rise - 0.5 * (left + right)) <= EDGE * length)


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
