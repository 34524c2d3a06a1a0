"""Joints that do not turn freely: limits as Blender's IK reads them, and locked channels."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import asin, atan2, hypot, inf, pi, sin, tau

from ...solvers.vectors import wrapped
from .geometry import AXES, Turn, rotate, times

ALLOWED = 1e-7
"""Radians that are nothing beside a limit."""
LOCKED = inf, -inf
"""The range of an angle that stays."""
_SAMPLES, _HALVINGS = 48, 40
"""Of a turn by which a swivel is looked for, and of a step between two of them."""
_STEPS, _HALVINGS_OF_PART = 8, 18
"""The same, of the whole whose largest part is looked for."""


class JointLimits:
    """What the rotation of a bone may be; what it is in the pose before is always allowed.

    ranges: {number of an angle: least and most}, in radians: 0 to 2 the swing about X, the twist about Y before it, and
    the swing about Z; 3 to 5 the Euler angles in an order such as XYZ. hinge: which of X and Z a knee with these limits
    bends about, and how far from the pose before, least and most; None: it is free.
    """

    def __init__(self, before: Turn, ranges: Mapping[int, tuple[float, float]], order: str) -> None:
        self._order, now = order, _angles(before, order)
        self._bounds = {axis: (min(least, now[axis]), max(most, now[axis])) for axis, (least, most) in ranges.items()}
        self._is_ellipse = {0, 2} <= ranges.keys() and self._beyond_ellipse(now) <= 0.0
        about = {axis: wrapped(2.0 * atan2(before[1 + axis], before[0])) for axis in (0, 2)}
        free = {axis: (now, now) if axis + 3 in ranges else ranges.get(axis, (-pi, pi)) for axis, now in about.items()}
        widths = {axis: most - least for axis, (least, most) in free.items()}
        # One that is locked leaves the other; else it is the one that is limited.
        chosen = (max if 0.0 in widths.values() else min)(widths, key=widths.__getitem__)
        self.hinge = (chosen, *(end - about[chosen] for end in free[chosen])) if min(widths.values()) < tau else None

    def off(self, turn: Turn) -> list[float]:
        """By how much each of its angles is beyond its range, with a sign."""
        now, off = _angles(turn, self._order), []
        for number, (least, most) in self._bounds.items():
            middle = (least + most) / 2.0
            angle = middle + wrapped(now[number] - middle)
            off.append(angle - min(max(angle, least), most))
        return [*off, max(self._beyond_ellipse(now), 0.0)] if self._is_ellipse else off

    def _beyond_ellipse(self, now: Sequence[float]) -> float:
        """Between the limits of its two swings are quarters of an ellipse of the sines of half of them."""
        share = 0.0
        for axis in (0, 2):
            limit = sin(self._bounds[axis][now[axis] > 0.0] / 2.0)
            share = hypot(share, sin(now[axis] / 2.0) / limit if limit else 0.0)
        return share - 1.0


def _angles(turn: Turn, order: str) -> list[float]:
    """What ranges are of, by their numbers. Euler angles turn about the first axis of the order first."""
    w, _, y, _ = turn
    size = hypot(w, y)
    _, x, _, z = times(turn, (w / size, 0.0, -y / size, 0.0)) if size else turn
    i, j, k = ("XYZ".index(axis) for axis in order)
    sign = 1.0 if order in ("XYZ", "YZX", "ZXY") else -1.0
    turned = [rotate(turn, axis) for axis in AXES]
    euler = {
        i: atan2(sign * turned[j][k], turned[k][k]),
        j: _arc_sine(-sign * turned[i][k]),
        k: atan2(sign * turned[i][j], turned[i][i]),
    }
    return [2.0 * _arc_sine(x), wrapped(2.0 * atan2(y, w)), 2.0 * _arc_sine(z), euler[0], euler[1], euler[2]]


def _arc_sine(sine: float) -> float:
    return asin(min(max(sine, -1.0), 1.0))


def nearest_swivel(off: Callable[[float], Sequence[float]]) -> float:
    """The angle nearest to 0 at which nothing is off; 0 if there is none. off: of an angle, with signs."""
    off, step = cache(off), tau / _SAMPLES
    for k in range(_SAMPLES // 2 + 1):
        found = [edge for way in (step, -step) for edge in _edges(off, way * max(k - 1, 0), way * k)]
        legal = [angle for angle in (found if k else [0.0]) if not any(map(_side, off(angle)))]
        if legal:
            return min(legal, key=abs)
    return 0.0


def _edges(off: Callable[[float], Sequence[float]], near: float, far: float) -> Iterator[float]:
    """The two sides, next to each other, of where numbers of `off` leave the side on which they are at `near`."""
    for column, (one, other) in enumerate(zip(off(near), off(far), strict=True)):
        if _side(one) != _side(other):
            low, high = near, far
            for _ in range(_HALVINGS):
                middle = (low + high) / 2.0
                low, high = (middle, high) if _side(off(middle)[column]) == _side(one) else (low, middle)
            yield from (low, high)


def _side(number: float) -> int:
    return (number > ALLOWED) - (number < -ALLOWED)


def largest_part(fits: Callable[[float], bool]) -> float:
    """The largest part that fits, of something that does not fit as a whole: down to a step that does, then halving."""
    step = 1.0 / _STEPS
    low = next((k * step for k in range(_STEPS - 1, 0, -1) if fits(k * step)), 0.0)
    high = low + step
    for _ in range(_HALVINGS_OF_PART):
        middle = (low + high) / 2.0
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
