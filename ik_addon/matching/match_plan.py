"""Where the limbs of a character go so that they do what those of its source do, in arrays.

Limbs are rows in pairs: row k of a character's clip is the same limb as row k of its source's.
"""

from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np

from ..planting.feet.clip import UP, LegMotion, across, applied, directions, turns_between, turns_by
from ..planting.feet.contacts import point_soles
from ..planting.feet.curves import frames_in, smooth
from ..planting.feet.options import BODY_TIME, STRAIGHT_SIDE, Options
from ..planting.feet.paths import captured_sides, knees_and_poles
from ..planting.feet.planning import FootPlan, body_shifts

Arms = Literal["SHOULDER", "CHEST", "GROUND"]
"""From where wrists are measured: each from its own shoulder, both from the middle between the shoulders, or as ankles
are."""

_LEVEL = 0.5
"""Length of a level part of an axis below which the axis shows no direction on the ground."""


@dataclass(frozen=True)
class Place:
    """Where a character is put up.

    origin: (3,), of its armature, in the world; the ground is at this height. left: (3,), unit vector from its right to
    its left at rest; 0 if its limbs do not show it.
    """

    origin: np.ndarray
    left: np.ndarray


@dataclass(frozen=True)
class Transfer:
    """The way from a source to a character: about the source's origin turned and scaled, and then brought to another.

    turn: (3, 3), about the vertical.
    """

    start: np.ndarray
    end: np.ndarray
    turn: np.ndarray

    def points(self, points: np.ndarray, scales: np.ndarray) -> np.ndarray:
        """Points (limbs, T, 3) of the source where the character has them. scales: (limbs,)."""
        return self.end + scales[:, None, None] * self.vectors(points - self.start)

    def vectors(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors (..., 3) of the source, turned."""
        return applied(self.turn, vectors)


@dataclass(frozen=True)
class Match:
    """What a character's limbs are to match.

    source: the limbs of the source as shown, as many as those of the character.
    is_arm: (limbs,) bool.
    scales: (limbs,), of what is measured of each limb.
    arms: from where wrists are measured.
    """

    source: LegMotion
    is_arm: np.ndarray
    scales: np.ndarray
    arms: Arms
    way: Transfer

    @property
    def is_on_ground(self) -> np.ndarray:
        """(limbs,) bool: whether the end of a limb has a place in the world, and does not move with the body."""
        return ~self.is_arm if self.arms != "GROUND" else np.ones_like(self.is_arm)

    def ends(self, roots: np.ndarray) -> np.ndarray:
        """(limbs, T, 3), where ankles and wrists go if hips and shoulders are at `roots` (limbs, T, 3)."""
        source, scales = self.source, self.scales
        found = self.way.points(source.ankles, scales)
        hanging = ~self.is_on_ground
        if hanging.any():
            own, other = roots[hanging], source.hips[hanging]
            if self.arms == "CHEST":
                own, other = (np.broadcast_to(each.mean(axis=0), each.shape) for each in (own, other))
            ways = self.way.vectors(source.ankles[hanging] - other)
            found[hanging] = own + scales[hanging, None, None] * ways
        return found

    def sides(self) -> np.ndarray:
        """(limbs, T, 3), from the line of each limb of the source to its knee or elbow, turned as the way is."""
        return self.way.vectors(_sides(self.source))


def scales_of(sizes: np.ndarray, source: np.ndarray, is_arm: np.ndarray, arms: Arms) -> np.ndarray:
    """(limbs,), how much larger than their source's the legs of a character are, and its arms.

    sizes, source: (limbs,) each. Arms on the ground are scaled as legs are, if there are any.
    """

    def ratio(chosen: np.ndarray) -> float:
        return float(sizes[chosen].sum() / source[chosen].sum()) if chosen.any() else 1.0

    legs = ratio(~is_arm)
    if arms == "GROUND" and not is_arm.all():
        return np.full(len(sizes), legs)
    return np.where(is_arm, ratio(is_arm), legs)


def way_between(source: Place, own: Place, seen: LegMotion, clip: LegMotion, scale: float) -> Transfer:
    """The way from a source to a character: from its place to the character's, or in place.

    A retargeter moves a character in its own space, or in the world: what brings the roots of the limbs seen in the
    source nearer to those of the clip.
    """
    turn = turns_by(UP * _angle(source.left, own.left))
    ways = Transfer(source.origin, own.origin, turn), Transfer(source.origin, source.origin, np.eye(3))

    def miss(way: Transfer) -> float:
        away = way.points(seen.hips, np.full(clip.leg_count, scale)) - clip.hips
        return float((away[..., :2] ** 2).sum())

    return min(ways, key=miss)


def _angle(first: np.ndarray, second: np.ndarray) -> float:
    """From the level part of one vector to that of another, about the vertical; 0 if one has none."""
    first, second = first[:2], second[:2]
    if min(np.linalg.norm(first), np.linalg.norm(second)) < _LEVEL:
        return 0.0
    return float(np.arctan2(first[0] * second[1] - first[1] * second[0], first @ second))


def plan_match(clip: LegMotion, match: Match, body: bool) -> FootPlan:
    """The plan of limbs that do what those of a source do. body: whether the body follows, so that limbs reach."""
    shifts = _shifts(clip, match) if body else np.zeros((clip.frame_count, 3))
    roots = clip.hips + shifts
    ends = match.ends(roots)
    source = match.source
    # The source's lines, and the lengths of the character's limbs.
    model = replace(clip, **{name: match.way.vectors(getattr(source, name)) for name in ("hips", "knees", "ankles")})
    knees, poles = knees_and_poles(model, _trusted_sides(clip, match, model), roots, ends)
    return FootPlan(
        ankles=ends,
        feet=clip.feet,
        knees=knees,
        poles=poles,
        shifts=shifts,
        contacts=np.zeros((clip.leg_count, 2, clip.frame_count), bool),
        locks=(),
        # Between frames controls go straight.
        pivots=np.full((clip.leg_count, clip.frame_count, 3), np.nan),
        unreached=np.zeros(clip.frame_count, bool),
    )


def _shifts(clip: LegMotion, match: Match) -> np.ndarray:
    """The moves (T, 3) of the body: with the ankles, slowly, and as far as limbs that have a place must reach."""
    ends, standing = match.ends(clip.hips), ~match.is_arm
    shifts = np.zeros((clip.frame_count, 3))
    if standing.any():
        shifts = smooth((ends - clip.ankles)[standing].mean(axis=0), frames_in(BODY_TIME, clip.fps))
    reaching = match.is_on_ground
    if not reaching.any():
        return shifts
    moved = replace(clip, **{name: getattr(clip, name) + shifts for name in ("hips", "knees", "ankles", "balls")})
    # It has followed the feet already; hands do not carry it.
    return shifts + body_shifts(_only(moved, reaching), ends[reaching], Options(body=0.0))[0]


def _only(clip: LegMotion, chosen: np.ndarray) -> LegMotion:
    """Some of a clip's limbs. chosen: (limbs,) bool."""
    arrays = {each.name: getattr(clip, each.name) for each in fields(clip)}
    return replace(clip, **{name: array[chosen] for name, array in arrays.items() if isinstance(array, np.ndarray)})


def _sides(clip: LegMotion) -> np.ndarray:
    """(limbs, T, 3), from the line of each limb to its knee, not of length one."""
    return across(clip.knees - clip.hips, directions(clip.ankles - clip.hips))


def _trusted_sides(clip: LegMotion, match: Match, model: LegMotion) -> np.ndarray:
    """Unit vectors (limbs, T, 3) from the lines of the source's limbs, `model`, to their knees.

    If a limb is too straight to show its side, it goes over to the one that the character's own has.
    """
    shown = match.sides()
    sizes = match.source.reaches[:, None, None]
    trust = np.clip(np.linalg.norm(shown, axis=2, keepdims=True) / (STRAIGHT_SIDE * sizes), 0.0, 1.0)
    lines = [directions(each.ankles - each.hips) for each in (clip, model)]
    own = applied(turns_between(*lines), captured_sides(clip, point_soles(clip)))
    return directions(trust * directions(shown) + (1.0 - trust) * directions(across(own, lines[1])))


def swivel_errors(after: LegMotion, match: Match) -> np.ndarray:
    """(limbs, T), radians between the side to which a limb bends and that of its source, where both show one; else 0.

    after: the limbs of the character as shown.
    """
    lines = [directions(each.ankles - each.hips) for each in (match.source, after)]
    sides, own = match.sides(), _sides(after)
    turned = applied(turns_between(match.way.vectors(lines[0]), lines[1]), sides)
    angles = np.arctan2(np.linalg.norm(np.cross(turned, own), axis=-1), (turned * own).sum(axis=-1))
    shown = [
        np.linalg.norm(each, axis=-1) > STRAIGHT_SIDE * limbs.reaches[:, None]
        for each, limbs in ((sides, match.source), (own, after))
    ]
    return np.where(shown[0] & shown[1], angles, 0.0)
