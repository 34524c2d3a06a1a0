"""Vectors, unit quaternions (w, x, y, z) and rigid moves as tuples of Python's floats.

mathutils keeps single precision, and numpy takes ten times as long for three numbers. Lengths are `hypot(*a)`, and
distances `dist(a, b)`.
"""

from collections.abc import Iterable
from math import cos, hypot, sin

Point = tuple[float, float, float]
Turn = tuple[float, float, float, float]
Move = tuple[Turn, Point]
"""A turn q and a shift t: a point p comes to q p + t."""

ORIGIN: Point = (0.0, 0.0, 0.0)
AXES: tuple[Point, Point, Point] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
NO_TURN: Turn = (1.0, 0.0, 0.0, 0.0)
NO_MOVE: Move = (NO_TURN, ORIGIN)
_NOTHING = 1e-12
"""A length that has no direction."""


def add(a: Point, b: Point) -> Point:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def sub(a: Point, b: Point) -> Point:
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def mul(a: Point, factor: float) -> Point:
    """a times a number."""
    return (a[0] * factor, a[1] * factor, a[2] * factor)


def between(a: Point, b: Point, part: float) -> Point:
    """The point at a part of the way from a to b."""
    return add(mul(a, 1.0 - part), mul(b, part))


def dot(a: Point, b: Point) -> float:
    """The inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Point, b: Point) -> Point:
    """The outer product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a: Point, otherwise: Point = (0.0, 0.0, 1.0)) -> Point:
    """The direction of a vector; `otherwise` if it has none."""
    length = hypot(*a)
    return mul(a, 1.0 / length) if length > _NOTHING else otherwise


def across(a: Point, axis: Point) -> Point:
    """The part of a vector that is perpendicular to a unit vector."""
    return sub(a, mul(axis, dot(a, axis)))


def total(points: Iterable[Point]) -> Point:
    """The sum."""
    x = y = z = 0.0
    for point in points:
        x, y, z = x + point[0], y + point[1], z + point[2]
    return (x, y, z)


def mean(points: list[Point]) -> Point:
    """The middle of some points."""
    return mul(total(points), 1.0 / len(points))


def times(a: Turn, b: Turn) -> Turn:
    """First b, then a."""
    (w, x, y, z), (s, p, q, r) = a, b
    return (
        w * s - x * p - y * q - z * r,
        w * p + x * s + y * r - z * q,
        w * q - x * r + y * s + z * p,
        w * r + x * q - y * p + z * s,
    )


def inverse(turn: Turn) -> Turn:
    """The turn back."""
    return (turn[0], -turn[1], -turn[2], -turn[3])


def rotate(turn: Turn, v: Point) -> Point:
    """A vector, turned."""
    w, x, y, z = turn
    a, b, c = 2.0 * (y * v[2] - z * v[1]), 2.0 * (z * v[0] - x * v[2]), 2.0 * (x * v[1] - y * v[0])
    return (v[0] + w * a + y * c - z * b, v[1] + w * b + z * a - x * c, v[2] + w * c + x * b - y * a)


def turn_by(vector: Point) -> Turn:
    """The turn about a vector by its length in radians."""
    angle = hypot(*vector)
    return (cos(angle / 2.0), *mul(vector, sin(angle / 2.0) / angle)) if angle > 1e-15 else NO_TURN


def swing(start: Point, end: Point, axis: Point) -> Turn:
    """The shortest turn between two unit vectors; about `axis` where they are opposite."""
    middle = add(start, end)
    if hypot(*middle) < 1e-7:
        return (0.0, *axis)
    middle = unit(middle)
    return (dot(start, middle), *cross(start, middle))


def moved(move: Move, point: Point) -> Point:
    """Where a move brings a point."""
    return add(rotate(move[0], point), move[1])


def after(move: Move, first: Move) -> Move:
    """First one move, then the other."""
    return (times(move[0], first[0]), moved(move, first[1]))


def bringing(turn: Turn, point: Point, to: Point) -> Move:
    """The move that turns, and brings a point to another."""
    return (turn, sub(to, rotate(turn, point)))


def turned(move: Move, turn: Point, start: Point) -> Move:
    """A move, and then a turn (a rotation vector) about where it brings a point."""
    at = moved(move, start)
    return after(bringing(turn_by(turn), at, at), move)


def normalized(turn: Iterable[float]) -> Turn:
    """A quaternion of any length as a turn."""
    w, x, y, z = turn
    length = hypot(w, x, y, z)
    return (w / length, x / length, y / length, z / length)
