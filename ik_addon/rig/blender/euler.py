"""Euler angles of a rotation, to the last digit everywhere.

mathutils goes by a matrix of single precision: where the middle angle nears a quarter turn, its angles stand for
rotations up to 6e-3 radians away. Here they come of the quaternion itself, as in E. Bernardes and S. Viollet,
"Quaternion to Euler angles conversion: A direct, general and computationally efficient method" (PLoS ONE 17, 2022),
whose half angles have no such place.
"""

from collections.abc import Sequence
from math import atan2, copysign, hypot, pi, tau

from mathutils import Quaternion

EULER_ORDERS = {
    mode: (*("XYZ".index(axis) for axis in mode), 1.0 if mode in ("XYZ", "YZX", "ZXY") else -1.0)
    for mode in ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
}
"""By rotation mode the numbers of its axes, the one that turns first at the front, and whether they follow in cyclic
order or against it: 1 or -1."""
LOCKED = 4e-7
"""Of a half angle's sine or cosine: less is rounding of the quaternion, and says nothing of the outer angles."""


def euler_of(quaternion: Quaternion, mode: str, near: Sequence[float]) -> tuple[float, ...]:
    """The angles (X, Y, Z) in radians that mean `quaternion` in an Euler `mode`, of all such the nearest to `near`.

    Where the middle angle is a quarter turn, the other two turn about one axis and share what they are off `near`.
    """
    first, middle, last, sign = EULER_ORDERS[mode]
    w, v = quaternion.w, quaternion[1:]
    a, b = w - v[middle], v[first] + sign * v[last]
    c, d = w + v[middle], sign * v[last] - v[first]
    below, above = hypot(a, b), hypot(c, d)
    near_first, near_middle, near_last = near[first], near[middle], sign * near[last]
    # Half the sum and half the difference of the outer angles.
    half_sum, half_difference = atan2(b, a), atan2(d, c)
    if below < LOCKED:
        half_sum = _between(near_first + half_difference, near_last - half_difference)
    elif above < LOCKED:
        half_difference = _between(half_sum - near_first, near_last - half_sum)
    one, two, three = half_sum - half_difference, 2.0 * atan2(above, below) - pi / 2.0, half_sum + half_difference
    one += tau * round((near_first - one) / tau)
    two += tau * round((near_middle - two) / tau)
    three += tau * round((near_last - three) / tau)
    # The same rotation, by half a turn more of each outer axis.
    other_one = one + copysign(pi, near_first - one)
    other_two = pi - two
    other_two += tau * round((near_middle - other_two) / tau)
    other_three = three + copysign(pi, near_last - three)
    off = abs(one - near_first) + abs(two - near_middle) + abs(three - near_last)
    if abs(other_one - near_first) + abs(other_two - near_middle) + abs(other_three - near_last) < off:
        one, two, three = other_one, other_two, other_three
    found = [one, one, one]
    found[middle], found[last] = two, sign * three
    return tuple(found)


def _between(one: float, two: float) -> float:
    """The middle of two angles that are known but for whole turns."""
    return one + (two - one - tau * round((two - one) / tau)) / 2.0
