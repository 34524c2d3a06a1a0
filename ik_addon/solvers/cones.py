"""Chains of cones in one plane: the bends that hold the end at a distance, in one pass where that suffices.

Whatever links limited by cones reach in space, they reach in a plane as well (docs/mathematics.md, theorem 2). So below
a free root all of it is plain numbers: the bends of the inner joints, positive ones about the normal of the plane.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import asin, atan2, cos, hypot, pi, sin, sqrt

from .joints import AT_LIMIT
from .lookahead import look_ahead
from .shapes import EXACT, ROUNDED, Bend, part_at, shortest_angles

_SLACK = 1e-9
"""Radians by which a bend may pass its cone before it is brought back to it: what rounding costs."""

_NEAR = 0.03
"""Radians off its cone at which a bend is certainly not at its limit: there sines differ by more than `AT_LIMIT`."""

_DIGITS = 6
_ZERO, _AXIS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
"""Of every joint of a chain that is straight in its zero pose, seen from its first link and its normal."""


def bends_at(lengths: Sequence[float], cones: Sequence[float], distance: float) -> list[float]:
    """Bends in radians of the inner joints that hold the end at `distance` from the root, or as near as cones let it.

    cones: the largest bend of each inner joint. The first joints bend first and the rest stays straight as long as it
    may. What the pass over the joints misses is folded: see `Shapes`, of which this is the plane case.
    """
    count = len(lengths)
    if count == 2:
        return [min(_opened(lengths[0], lengths[1], distance), cones[0])]
    if count < 2 or distance >= sum(lengths):
        return [0.0] * (count - 1)
    if all(lengths):
        found = _three(lengths, cones, distance) if count == 3 else look_ahead(lengths, cones, distance)
        if found is not None:
            return found
    return _folded(lengths, cones, distance)


def placed(lengths: Sequence[float], bends: Sequence[float]) -> tuple[list[float], float, float]:
    """The angles of the links of a bent chain to its first link, and where it ends, the first link along x."""
    angle, x, y = 0.0, lengths[0], 0.0
    angles = [angle]
    for k, bend in enumerate(bends, 1):
        angle += bend
        angles.append(angle)
        x += lengths[k] * cos(angle)
        y += lengths[k] * sin(angle)
    return angles, x, y


def at_limits(bends: Sequence[float], cones: Sequence[float]) -> tuple[bool, ...]:
    """Which joints stand at their limit, root first; a cone of half a turn is none. As `BallJoint.at_limit`."""
    return (False, *[cones[k] - abs(bend) < _NEAR and _at_limit(bend, cones[k]) for k, bend in enumerate(bends)])


def _at_limit(bend: float, cone: float) -> bool:
    return cone < pi and sin(abs(bend) / 2.0) >= sin(cone / 2.0) - AT_LIMIT


def _opened(first: float, second: float, distance: float) -> float:
    """The bend between two links that hold their end at `distance`, or as near to it as they can.

    The law of cosines for half the angle, as in `two_bone.Triangle`.
    """
    if not first or not second:
        return 0.0
    rise = (first + second - distance) * (first + second + distance)
    run = (distance - first + second) * (distance + first - second)
    return 2.0 * atan2(sqrt(max(0.0, rise)), sqrt(max(0.0, run)))


def _three(lengths: Sequence[float], cones: Sequence[float], distance: float) -> list[float] | None:
    """Bends of three links that leave the longest legal rest; None where the cones allow no such distance.

    Source: R. Mueller-Cajar and R. Mukundan, "Triangulation: a new algorithm for inverse kinematics", section 3.1.3,
    with its look ahead made exact. The rest after the first link may be as long as it is straight, or as the first link
    pointing away from the target leaves it. Where this bends the first joint too far, the longest legal rest has that
    joint at its limit: with a shorter one the second joint would bend more, and nothing else stops a longer one. The
    first two links are then one rigid link, which forms a last triangle with the third.
    """
    first, second, third = lengths
    cone, next_cone = cones
    rest = second + third
    if first + distance < rest:
        rest = first + distance
        after = _opened(second, third, rest)
        bend = pi - _between(second, rest, third)
    else:
        after = 0.0
        bend = _opened(first, rest, distance)
        if distance < first - rest:
            return None
    if bend > cone + _SLACK:
        chord_x, chord_y = first + second * cos(cone), second * sin(cone)
        chord = hypot(chord_x, chord_y)
        if not abs(chord - third) <= distance <= chord + third:
            return None
        # The chord is off the second link by the rest of its bend.
        bend, after = cone, _opened(chord, third, distance) - (cone - atan2(chord_y, chord_x))
    return [min(bend, cone), after] if abs(after) <= next_cone + _SLACK else None


def _between(first: float, second: float, opposite: float) -> float:
    """The angle of a triangle between two of its sides."""
    rise = (opposite - first + second) * (opposite + first - second)
    run = (first + second - opposite) * (first + second + opposite)
    return 2.0 * atan2(sqrt(max(0.0, rise)), sqrt(max(0.0, run)))


def _folded(lengths: Sequence[float], cones: Sequence[float], distance: float) -> list[float]:
    """Bends on the straight way from the straight shape to the shortest one, in the numbers that joints interpolate."""
    far = sum(lengths)
    sines, near = _shortest(tuple(lengths), tuple(cones))

    def between(part: float) -> list[float]:
        return [2.0 * asin(part * sine) for sine in sines]

    def miss(part: float) -> float:
        return hypot(*placed(lengths, between(part))[1:]) - distance

    if far - distance <= ROUNDED * EXACT * far:
        return between(0.0)
    return between(1.0 if distance <= near else part_at(miss, far - distance, near - distance, EXACT * far))


@lru_cache(maxsize=512)
def _shortest(lengths: tuple[float, ...], cones: tuple[float, ...]) -> tuple[tuple[float, ...], float]:
    """Of the shortest shape: sin(bend / 2) of each inner joint, and how far it holds the end from the root."""
    scale = sum(lengths) or 1.0
    bends = tuple(
        Bend(round(length / scale, _DIGITS), _ZERO, _AXIS, -round(cone, _DIGITS), round(cone, _DIGITS))
        for length, cone in zip(lengths, (pi, *cones), strict=True)
    )
    found = [max(-cone, min(cone, bend)) for bend, cone in zip(shortest_angles(bends), cones, strict=True)]
    area = x = y = 0.0
    for length, angle in zip(lengths, placed(lengths, found)[0], strict=True):
        step_x, step_y = length * cos(angle), length * sin(angle)
        area += x * step_y - y * step_x
        x, y = x + step_x, y + step_y
    # Of two mirror images the one that bends about the normal.
    sign = -1.0 if area < 0.0 else 1.0
    return tuple(sin(sign * bend / 2.0) for bend in found), hypot(x, y)
