"""The spine: how a turn is shared by its joints, how far they turn, and what the shoulders' lack asks of them."""

import itertools
from collections.abc import Callable, Sequence
from math import atan2, radians

from . import geometry as g

_JOINT, _WHOLE, _STIFF = radians(22.0), radians(80.0), radians(12.0)
"""A joint of the spine turns by the first at most, all of them by the second; the trunk of one bone by the third."""
_HIPS, _BOW = 0.25, 0.6
"""The hips' part of a turn at least, and of a bow."""
_ASIDE, _AHEAD, _BACK, _BACK_OF_BEASTS = 0.65, 2.2, 0.5, 1.1
"""Of these limits: aside and in twist, in a bow, and leaning back."""

_BEHIND, _BESIDE = 0.3, 0.3
"""The sine of an angle to the line behind an arm, and parts of the arm: nearer, a goal turns it less."""

Limit = float | Callable[[g.Point], float]
"""How far something turns, in radians; or that about a unit vector."""


class Trunk:
    """The spine in the pose before. pivots: its joints, the first one between the hip joints. top: between the
    shoulders. pivot: about which a bow of all joints moves the top, to first order."""

    def __init__(
        self, pivots: Sequence[g.Point], top: g.Point, aside: g.Point, is_beast: bool, stiff: Sequence[int]
    ) -> None:
        """aside: a bow turns about it. stiff: the numbers of pivots that do not turn."""
        self.top, self.pivots, self.aside = top, pivots, aside
        self._back = _BACK_OF_BEASTS if is_beast else _BACK
        lengths = [g.distance(a, b) for a, b in itertools.pairwise([*pivots, top])]
        # By length, so that the spine is an arc.
        shares = [lengths[0] / 2.0, *((a + b) / 2.0 for a, b in itertools.pairwise(lengths))]
        shares[0] = max(shares[0], _HIPS * sum(shares), 1e-9)
        free = [0.0 if k in stiff else share for k, share in enumerate(shares)]
        whole = sum(free) or 1.0
        self.shares = [share / whole for share in free]
        hips = max(self.shares[0], _BOW if self.shares[0] else 0.0)
        rest = (1.0 - hips) / (1.0 - self.shares[0]) if self.shares[0] < 1.0 else 0.0
        self.bow_shares = [hips, *(share * rest for share in self.shares[1:])]
        if len(pivots) == 1:
            self.shares = self.bow_shares = [0.0 if stiff else 0.5]
        turning = sum(self.bow_shares)
        self.pivot = (
            g.mul(g.total(g.mul(p, k) for p, k in zip(pivots, self.bow_shares, strict=True)), 1.0 / turning)
            if turning
            else pivots[0]
        )
        count = sum(share > 0.0 for share in self.shares)
        self.most = min(_WHOLE, _JOINT * (count + 0.5)) if count > 1 else _STIFF * bool(turning)

    def limit(self, axis: g.Point) -> float:
        """How far the trunk turns about a unit vector: ahead most, back least."""
        cosine = g.dot(axis, self.aside)
        more = (_AHEAD - _ASIDE) if cosine > 0.0 else (self._back - _ASIDE)
        return self.most * (_ASIDE + more * cosine * cosine)

    def moves(self, turn: g.Point, shift: g.Point = g.ORIGIN) -> list[g.Move]:
        """The move of each bone of the line, for a turn (a rotation vector) that all joints share, and a shift."""
        bow = g.mul(self.aside, g.dot(turn, self.aside))
        rest = g.sub(turn, bow)
        moves, move = [], (g.NO_TURN, shift)
        for pivot, share, bow_share in zip(self.pivots, self.shares, self.bow_shares, strict=True):
            part = g.turn_by(g.add(g.mul(rest, share), g.mul(bow, bow_share)))
            at = g.moved(move, pivot)
            move = g.after(g.bringing(part, at, at), move)
            moves.append(move)
        return moves


def begun(excess: float, width: float) -> float:
    """0 up to 0, then gently; `excess` - `width` beyond twice the width. Without a corner."""
    if excess <= 0.0:
        return 0.0
    return excess * excess / (4.0 * width) if excess < 2.0 * width else excess - width


def _eased(part: float) -> float:
    part = min(part, 1.0)
    return part * part * (3.0 - 2.0 * part)


def capped(value: float, most: float, power: int = 4) -> float:
    """`value` where that is small, `most` where it is large, without a corner."""
    return value / (1.0 + (value / most) ** power) ** (1.0 / power) if most > 0.0 else 0.0


def turn_towards(pivot: g.Point, start: g.Point, goal: g.Point, limit: Limit, lack: float | None = None) -> g.Point:
    """The rotation vector about a pivot that brings `start` towards `goal`, within a limit; as far as asks what is
    lacking, if that is given.

    The axis is that of the least turn; with a lack its size is not, for that has an infinite slope where it is largest.
    """
    arm, wanted = g.sub(start, pivot), g.sub(goal, pivot)
    axis = g.cross(arm, wanted)
    size = g.norm(axis)
    if size < 1e-12 or lack == 0.0:
        return g.ORIGIN
    axis = g.mul(axis, 1.0 / size)
    # Close to the line behind the arm, and to the pivot, the axis goes round at once.
    sine = size / (g.norm(arm) * g.norm(wanted)) if g.dot(arm, wanted) < 0.0 else 1.0
    clear = _eased(sine / _BEHIND) * _eased(g.norm(wanted) / (_BESIDE * g.norm(arm)))
    most = clear * capped(atan2(size, g.dot(arm, wanted)), limit(axis) if callable(limit) else limit)
    if lack is not None:
        # The farther it turns, the less a degree brings.
        by_lever = lack / g.norm(arm)
        most = capped(by_lever * (1.0 + by_lever / 2.0), most)
    return g.mul(axis, most)


def together(turns: list[g.Point]) -> g.Point:
    """One turn for several: the larger ones count for more, and it changes without a jump as one of them begins."""
    whole = sum(map(g.norm, turns))
    return g.mul(g.total(g.mul(turn, g.norm(turn)) for turn in turns), 1.0 / whole) if whole > 1e-12 else g.ORIGIN
