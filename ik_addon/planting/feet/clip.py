"""Legs over the frames of a motion capture, and rotations in arrays of matrices (..., 3, 3)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...solvers.arrays import quaternions
from .options import REACH_TIME


@dataclass(frozen=True)
class LegMotion:
    """Legs over T frames, in the world with z up, float64.

    fps: frames per second.
    lengths: (legs, 2), thigh and shin, world units.
    hips, knees, ankles: (legs, T, 3), the joints of each leg.
    balls: (legs, T, 3), where the ball of the foot touches: below the joint of the toes, if the sole is thick; as long
        as it is above or below the ankle, the foot is a point, such as a paw or a hoof.
    feet: (legs, T, 3, 3), the orientation of the foot bone, its axes in columns.
    soles: (legs,), how far the skin reaches below heel and ball; None: there is none.
    rests: (legs, 2), heights of hip and foot in the rest pose; None: that is not known.
    skins: of each leg the outermost points of the skin of its foot, (points, T, 3), or None; empty: not looked at.
    extensions: (legs, T), how far each ankle may be from its hip; None: as far as it is, or options say.
    calm_time: seconds to either side over which the body makes way for a knee that is too fast.
    jerks: (legs, T), how far the bend of a knee in the air may be from what those around lead to expect, radians; None:
        as far as it is.
    turns: (legs,), how fast a knee in the air may turn, radians a second; None: as fast as it does.
    period: after how many frames it begins again, 0: never; None: as its ends say.
    """

    fps: float
    lengths: np.ndarray
    hips: np.ndarray
    knees: np.ndarray
    ankles: np.ndarray
    balls: np.ndarray
    feet: np.ndarray
    soles: np.ndarray | None = None
    rests: np.ndarray | None = None
    skins: tuple[np.ndarray | None, ...] = ()
    extensions: np.ndarray | None = None
    calm_time: float = REACH_TIME
    jerks: np.ndarray | None = None
    turns: np.ndarray | None = None
    period: int | None = None

    @property
    def leg_count(self) -> int:
        """How many legs there are."""
        return len(self.lengths)

    @property
    def frame_count(self) -> int:
        """How many frames there are."""
        return self.ankles.shape[1]

    @cached_property
    def size(self) -> float:
        """The mean length of a leg, by which tolerances and speeds are scaled."""
        return float(self.lengths.sum(axis=1).mean())

    @property
    def reaches(self) -> np.ndarray:
        """(legs,), the length of each leg at full extension."""
        return self.lengths.sum(axis=1)

    def skins_at(self, ankles: np.ndarray, feet: np.ndarray) -> tuple[np.ndarray | None, ...]:
        """The skins of its feet where these have other ankles (legs, T, 3) and orientations (legs, T, 3, 3)."""
        turns = feet @ self.feet.swapaxes(-1, -2)
        return tuple(
            None if skin is None else ankles[leg] + applied(turns[leg], skin - self.ankles[leg])
            for leg, skin in enumerate(self.skins)
        )


UP = np.array((0.0, 0.0, 1.0))
ANGLELESS = 1e-9
"""Angle in radians below which a rotation is told by its first order."""


def turns_by(vectors: np.ndarray) -> np.ndarray:
    """The rotations about vectors (..., 3), by angles as large as these are long."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    skew = np.stack((zero, -z, y, z, zero, -x, -y, x, zero), axis=-1).reshape(*x.shape, 3, 3)
    angles = np.linalg.norm(vectors, axis=-1)[..., None, None]
    # sinc(x) of numpy is sin(pi x) / (pi x): exact at 0.
    sine, cosine = np.sinc(angles / np.pi), 0.5 * np.sinc(angles / (2.0 * np.pi)) ** 2
    return np.eye(3) + sine * skew + cosine * (skew @ skew)


def vectors_of(turns: np.ndarray) -> np.ndarray:
    """The vectors (..., 3) about which rotations of at most half a turn turn, as long as their angles."""
    turn = quaternions(turns)
    turn = np.where(turn[..., :1] < 0.0, -turn, turn)
    sine = np.linalg.norm(turn[..., 1:], axis=-1)
    angle = 2.0 * np.arctan2(sine, turn[..., 0])
    return turn[..., 1:] * np.where(sine > ANGLELESS, angle / np.maximum(sine, ANGLELESS), 2.0)[..., None]


def same_way(vectors: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) of the same rotations, the other way round where that is nearer to `reference` (3,)."""
    back = vectors - 2.0 * np.pi * directions(vectors)
    nearer = np.linalg.norm(back - reference, axis=-1) < np.linalg.norm(vectors - reference, axis=-1)
    return np.where(nearer[..., None], back, vectors)


def turns_between(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The smallest rotations from unit vectors (..., 3) to others."""
    axis = np.cross(start, end)
    sine = np.linalg.norm(axis, axis=-1)
    angle = np.arctan2(sine, np.sum(start * end, axis=-1))
    return turns_by(axis * np.where(sine > ANGLELESS, angle / np.maximum(sine, ANGLELESS), 1.0)[..., None])


def bends_of(clip: LegMotion, ways: np.ndarray) -> np.ndarray:
    """(legs, T), by how much knees are bent whose ankles are so far (legs, T) from their hips, radians."""
    thighs, shins = clip.lengths[:, :1], clip.lengths[:, 1:]
    cosines = (ways**2 - thighs**2 - shins**2) / np.maximum(2.0 * thighs * shins, 1e-300)
    return np.arccos(np.clip(cosines, -1.0, 1.0))


def ways_of(clip: LegMotion, bends: np.ndarray) -> np.ndarray:
    """(legs, T), how far ankles are from hips whose knees are bent by so much (legs, T)."""
    thighs, shins = clip.lengths[:, :1], clip.lengths[:, 1:]
    return np.sqrt(np.maximum(thighs**2 + shins**2 + 2.0 * thighs * shins * np.cos(bends), 0.0))


def knees_from(lines: np.ndarray, sides: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far knees are from hips, (..., 3), and the unit vectors (..., 3) from the lines to them.

    lines: from hips to ankles. sides: to which they bend. lengths: (2,) or (..., 2), of thigh and shin.
    """
    first, second, along = lengths[..., 0], lengths[..., 1], directions(lines)
    sides = directions(across(sides, along))
    distances = np.sqrt(np.einsum("...i,...i->...", lines, lines))
    distances = np.clip(distances, np.abs(first - second) + 1e-12 * first, first + second)
    ahead = (first**2 - second**2 + distances**2) / (2.0 * distances)
    aside = np.sqrt(np.maximum(first**2 - ahead**2, 0.0))
    return along * ahead[..., None] + sides * aside[..., None], sides


def mean_turn(turns: np.ndarray) -> np.ndarray:
    """The rotation that is nearest to rotations (n, 3, 3) in the mean of squares."""
    left, _, right = np.linalg.svd(turns.mean(axis=0))
    return left @ np.diag((1.0, 1.0, np.linalg.det(left @ right))) @ right


def applied(turns: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) turned by matrices (..., 3, 3) that broadcast with them."""
    return (turns @ vectors[..., None])[..., 0]


def directions(vectors: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) brought to length one; those without a length stay."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0.0, lengths, 1.0)


def across(vectors: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """The parts of vectors (..., 3) that are perpendicular to unit vectors."""
    return vectors - axes * np.sum(vectors * axes, axis=-1, keepdims=True)
