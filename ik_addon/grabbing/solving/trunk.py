"""The spine: how a turn is shared by its joints, how far they turn, and what the shoulders' lack asks of them."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import atan2, dist, hypot, radians

from . import geometry as g

_JOINT, _WHOLE, _STIFF = radians(22.0), radians(80.0), radians(12.0)
"""A joint of the spine turns by the first at most, all of them by the second; the trunk of one bone by the third."""
_HIPS, _BOW = 0.25, 0.6
"""The hips' part of a turn at least, and of a bow."""
_ASIDE, _AHEAD, _BACK, _BACK_OF_BEASTS = 0.65, 2.2, 0.5, 1.1
"""Of these limits: aside and in twist, in a bow, and leaning back."""
_BEHIND, _BESIDE = 0.3, 0.3
"""The sine of an angle to the line behind an arm, and parts of the arm: nearer, a goal turns it less."""


class Trunk:
    """The spine in the pose before. pivots: its joints, the first one between the hip joints. top: between the
    shoulders. pivot: about which a bow of all joints moves the top, to first order. aside: a bow turns about it."""

    def __init__(
        self, pivots: Sequence[g.Point], top: g.Point, aside: g.Point, is_beast: bool, stiff: Sequence[int]
    ) -> None:
        """stiff: the numbers of pivots that do not turn."""
        self.top, self.pivots, self.aside = top, pivots, aside
        self._back = _BACK_OF_BEASTS if is_beast else _BACK
        lengths = [dist(a, b) for a, b in pairwise([*pivots, top])]
        # By length, so that the spine is an arc.
        shares = [lengths[0] / 2.0, *((a + b) / 2.0 for a, b in pairwise(lengths))]
        shares[0] = max(shares[0], _HIPS * sum(shares), 1e-9)
        free = [0.0 if k in stiff else share for k, share in enumerate(shares)]
        first, *rest = (share / (sum(free) or 1.0) for share in free)
        bow = max(first, _BOW) if first else 0.0
        self.shares = [(first, bow), *((share, share * (1.0 - bow) / ((1.0 - first) or 1.0)) for share in rest)]
        if len(pivots) == 1:
            self.shares = [(0.5, 0.5) if first else (0.0, 0.0)]
        turning = sum(bow for _, bow in self.shares)
        weighted = g.total(g.mul(pivot, bow) for pivot, (_, bow) in zip(pivots, self.shares, strict=True))
        self.pivot = g.mul(weighted, 1.0 / turning) if turning else pivots[0]
        count = sum(share > 0.0 for share, _ in self.shares)
        self._most = min(_WHOLE, _JOINT * (count + 0.5)) if count > 1 else _STIFF * bool(turning)

    def limit(self, axis: g.Point) -> float:
        """How far the trunk turns about a unit vector: ahead most, back least."""
        cosine = g.dot(axis, self.aside)
        more = (_AHEAD if cosine > 0.0 else self._back) - _ASIDE
        return self._most * (_ASIDE + more * cosine * cosine)

    def moves(self, turn: g.Point, shift: g.Point = g.ORIGIN) -> list[g.Move]:
        """The move of each bone of the line, for a turn (a rotation vector) that all joints share, and a shift."""
        bow = g.mul(self.aside, g.dot(turn, self.aside))
        rest = g.sub(turn, bow)
        moves, move = [], (g.NO_TURN, shift)
        for pivot, (share, bow_share) in zip(self.pivots, self.shares, strict=True):
            move = g.turned(move, g.add(g.mul(rest, share), g.mul(bow, bow_share)), pivot)
            moves.append(move)
        return moves


def begun(excess: float, width: float) -> float:
    """0 up to 0, then gently; `excess` - `width` beyond twice the width. Without a corner."""
    return max(excess, 0.0) ** 2 / (4.0 * width) if excess < 2.0 * width else excess - width


def eased(part: float) -> float:
    """From 0 at 0 to 1 at 1, without a corner at either."""
    part = min(max(part, 0.0), 1.0)
    return part * part * (3.0 - 2.0 * part)


def capped(value: float, most: float) -> float:
    """`value` where that is small, `most` where it is large, without a corner."""
    return value / (1.0 + (value / most) ** 4) ** 0.25 if most > 0.0 else 0.0


def turn_towards(
    pivot: g.Point, start: g.Point, goal: g.Point, limit: Callable[[g.Point], float], lack: float | None = None
) -> g.Point:
    """The rotation vector about a pivot that brings `start` towards `goal`, as far as its limit about a unit vector
    lets it; as far as asks what is lacking, if that is given.

    The axis is that of the least turn; with a lack its size is not, for that has an infinite slope where it is largest.
    """
    arm, wanted = g.sub(start, pivot), g.sub(goal, pivot)
    axis = g.cross(arm, wanted)
    size = hypot(*axis)
    if size < 1e-12 or lack == 0.0:
        return g.ORIGIN
    axis, length, along = g.mul(axis, 1.0 / size), hypot(*arm), g.dot(arm, wanted)
    # Close to the line behind the arm, and to the pivot, the axis goes round at once.
    sine = size / (length * hypot(*wanted)) if along < 0.0 else 1.0
    clear = eased(sine / _BEHIND) * eased(hypot(*wanted) / (_BESIDE * length))
    angle = clear * capped(atan2(size, along), limit(axis))
    if lack is not None:
        # The farther it turns, the less a degree brings.
        angle = capped(lack / length * (1.0 + lack / length / 2.0), angle)
    return g.mul(axis, angle)


def together(turns: list[g.Point]) -> g.Point:
    """One turn for several: the larger ones count for more, and it changes without a jump as one of them begins."""
    whole = sum(hypot(*turn) for turn in turns)
    return g.mul(g.total(g.mul(turn, hypot(*turn)) for turn in turns), 1.0 / whole) if whole > 1e-12 else g.ORIGIN
