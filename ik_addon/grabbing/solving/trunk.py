"""The spine: how a turn is shared by its joints, how far they turn, and what the shoulders' lack asks of them."""

import itertools
from collections.abc import Callable
from math import atan2, radians

from .turns import (
    NO_TURN,
    ORIGIN,
    Move,
    Point,
    about,
    add,
    after,
    cross,
    distance,
    dot,
    moved,
    mul,
    norm,
    sub,
    total,
    turn_by,
)

_JOINT, _WHOLE, _STIFF = radians(22.0), radians(80.0), radians(12.0)
"""A joint of the spine turns by the first at most, all of them by the second; the trunk of one bone by the third."""
_HIPS = 0.25
"""The hips' part of a turn, at least."""
_BOW_OF_HIPS, _BOW_OF_BEASTS = 0.6, 0.3
"""Their part of a bow."""
_ASIDE, _AHEAD, _BACK, _BACK_OF_BEASTS = 0.65, 1.5, 0.5, 1.1
"""Of these limits: aside and in twist, in a bow, and leaning back."""

Limit = float | Callable[[Point], float]
"""How far something turns, in radians; or that about a unit vector."""


class Trunk:
    """The spine in the pose before. pivots: its joints, the first one between the hip joints. top: between the
    shoulders. pivot: about which a turn of all joints moves the top, to first order."""

    def __init__(self, middle: Point, joints: list[Point], top: Point, aside: Point, is_beast: bool) -> None:
        """middle: between the hip joints. joints: the spine's above. aside: a bow turns about it."""
        self.top, self.pivots, self.aside = top, [middle, *joints], aside
        self._back = _BACK_OF_BEASTS if is_beast else _BACK
        self._share(is_beast)
        self.pivot = mul(
            total(mul(p, k) for p, k in zip(self.pivots, self.shares, strict=True)), 1.0 / sum(self.shares)
        )
        several = len(self.pivots) > 1
        self.most = min(_WHOLE, _JOINT * (len(self.pivots) + 0.5)) if several else _STIFF

    def _share(self, is_beast: bool) -> None:
        """By length, so that the spine is an arc; of a bow the pelvis takes more."""
        if len(self.pivots) == 1:
            self.shares = self.bow_shares = [0.5]
            return
        ends = [*self.pivots[1:], self.top]
        lengths = [distance(a, b) for a, b in zip(self.pivots, ends, strict=True)]
        shares = [lengths[0] / 2.0, *((a + b) / 2.0 for a, b in itertools.pairwise(lengths))]
        shares[0] = max(shares[0], _HIPS * sum(shares), 1e-9)
        whole = sum(shares)
        self.shares = [share / whole for share in shares]
        hips = max(self.shares[0], _BOW_OF_BEASTS if is_beast else _BOW_OF_HIPS)
        rest = (1.0 - hips) / (1.0 - self.shares[0]) if self.shares[0] < 1.0 else 0.0
        self.bow_shares = [hips, *(share * rest for share in self.shares[1:])]

    def limit(self, axis: Point) -> float:
        """How far the trunk turns about a unit vector: ahead most, back least."""
        cosine = dot(axis, self.aside)
        more = (_AHEAD - _ASIDE) if cosine > 0.0 else (self._back - _ASIDE)
        return self.most * (_ASIDE + more * cosine * cosine)

    def moves(self, turn: Point, shift: Point = ORIGIN) -> list[Move]:
        """The move of each bone of the line, for a turn (a rotation vector) that all joints share, and a shift."""
        bow = mul(self.aside, dot(turn, self.aside))
        rest = sub(turn, bow)
        moves, move = [], (NO_TURN, shift)
        for pivot, share, bow_share in zip(self.pivots, self.shares, self.bow_shares, strict=True):
            part = turn_by(add(mul(rest, share), mul(bow, bow_share)))
            move = after(about(moved(move, pivot), part), move)
            moves.append(move)
        return moves


def begun(excess: float, width: float) -> float:
    """0 up to 0, then gently; `excess` - `width` beyond twice the width. Without a corner."""
    if excess <= 0.0:
        return 0.0
    return excess * excess / (4.0 * width) if excess < 2.0 * width else excess - width


def capped(value: float, most: float, power: int = 4) -> float:
    """`value` where that is small, `most` where it is large, without a corner."""
    return value / (1.0 + (value / most) ** power) ** (1.0 / power) if most > 0.0 else 0.0


def turn_towards(pivot: Point, start: Point, goal: Point, limit: Limit) -> Point:
    """The rotation vector about a pivot that brings `start` towards `goal`, within a limit."""
    arm, wanted = sub(start, pivot), sub(goal, pivot)
    axis = cross(arm, wanted)
    size = norm(axis)
    if size < 1e-12:
        return ORIGIN
    axis = mul(axis, 1.0 / size)
    return mul(axis, capped(atan2(size, dot(arm, wanted)), _limit_about(limit, axis)))


def turn_to_reach(pivot: Point, start: Point, goal: Point, reach: float, limit: Limit, ease: float) -> Point:
    """The rotation vector about a pivot that brings `start` towards `goal` while that is farther than `reach`.

    The axis is that of the least turn; its size is not, for that has an infinite slope where the lack is largest.
    """
    arm, wanted = sub(start, pivot), sub(goal, pivot)
    axis = cross(arm, wanted)
    size, lack = norm(axis), begun(distance(goal, start) - reach, ease)
    if lack <= 0.0 or size < 1e-12:
        return ORIGIN
    axis = mul(axis, 1.0 / size)
    most = capped(atan2(size, dot(arm, wanted)), _limit_about(limit, axis))
    return mul(axis, capped(lack / norm(arm), most))


def _limit_about(limit: Limit, axis: Point) -> float:
    return limit(axis) if callable(limit) else limit


def together(turns: list[Point]) -> Point:
    """One turn for several: the larger ones count for more, and it changes without a jump as one of them begins."""
    whole = sum(map(norm, turns))
    return mul(total(mul(turn, norm(turn)) for turn in turns), 1.0 / whole) if whole > 1e-12 else ORIGIN
