"""Points, directions and the rotation between them: what mathutils leaves out or does not do soundly."""

from collections.abc import Sequence
from enum import Enum, auto
from math import atan2, hypot, inf, isfinite, pi, tau

from mathutils import Matrix, Quaternion, Vector

from .. import messages

SMALL = 1e-15
"""Length above which a vector can be divided by its length in single precision."""

ROUNDING = 2.0**-20
"""A few units in the last place of a float32, relative to a chain's length: what storing points costs."""

STRAIGHT = 1e-3
"""Bend in radians below which float32 joints no longer tell in which plane a chain bends."""

LARGEST = 2.0**50
"""Beyond it the squares of a long chain's sizes overflow a float32."""


class Kind(Enum):
    """What may be wrong with a chain, where there is something to press that mends it."""

    TARGET = auto()
    TARGET_DELETED = auto()
    POLE = auto()
    POLE_DELETED = auto()
    BONES = auto()
    END_BONE = auto()
    SOLVER = auto()
    REST_POSITION = auto()


class ChainError(ValueError):
    """A chain that cannot be solved as it is set up; the message says what is wrong and what cures it.

    kind: of what is wrong; None if nothing is to be pressed that cures it.
    """

    def __init__(self, sentence: str, kind: Kind | None = None) -> None:
        super().__init__(sentence)
        self.kind = kind

    def of(self, whose: str) -> "ChainError":
        """The same error, said of someone."""
        return ChainError(messages.OF(whose=whose, said=self), self.kind)


def finite_point(values: Sequence[float], *what: object) -> Vector:
    """`values` as a Vector of three; ChainError where it is no finite point. `what` names it."""
    try:
        point = Vector(values)
    except (TypeError, ValueError) as error:
        raise ChainError(messages.NO_POINT(what=name_of(what), values=repr(values))) from error
    if len(point) != 3:
        raise ChainError(messages.NO_POINT(what=name_of(what), values=repr(values)))
    # One comparison for all: with NaN the length is NaN, and with a number too large it is too large.
    if not point.length <= LARGEST and not all(abs(value) <= LARGEST for value in point):
        finite = all(isfinite(value) for value in point)
        message = messages.POINT_TOO_LARGE if finite else messages.POINT_NOT_FINITE
        raise ChainError(message(what=name_of(what), point=f"({', '.join(f'{value:.3g}' for value in point)})"))
    return point


def name_of(what: tuple[object, ...]) -> str:
    """What a number or a point is called, from its parts: so nothing is put together where nothing is wrong."""
    return " ".join(map(str, what))


def finite_number(value: float, *what: object, least: float = -inf, most: float = inf) -> float:
    """`value`; ChainError where it is no finite number of this range. `what` names it."""
    if not isfinite(value):
        raise ChainError(messages.NUMBER_NOT_FINITE(what=name_of(what), value=value))
    if not least <= value <= most:
        to = "" if most == inf else messages.UP_TO(most=most)
        raise ChainError(messages.NUMBER_OUT_OF_RANGE(what=name_of(what), value=value, least=least, to=to))
    return value


def direction(vector: Vector) -> Vector:
    """Unit vector along `vector`, of any normal float32 size; the zero vector has none and stays as it is."""
    length = vector.length
    if length > SMALL:
        return vector / length
    # Its square would vanish in single precision: bring it to a size near 1 first.
    size = max(map(abs, vector))
    return (vector / size).normalized() if size else vector.copy()


def across(vector: Vector, axis: Vector) -> Vector:
    """The part of `vector` that is perpendicular to the unit vector `axis`."""
    return vector - axis * vector.dot(axis)


def unit_across(vector: Vector, axis: Vector) -> Vector:
    """Unit vector along `across`; taken twice, since a short remainder keeps the rounding of a long vector."""
    return direction(across(direction(across(vector, axis)), axis))


def perpendicular(axis: Vector) -> Vector:
    """One unit vector perpendicular to the unit vector `axis`, by a fixed rule: nearest to the least used axis."""
    least = min(range(3), key=lambda k: abs(axis[k]))
    other = Vector((0.0, 0.0, 0.0))
    other[least] = 1.0
    return unit_across(other, axis)


def wrapped(angle: float) -> float:
    """The same angle between -pi and pi."""
    return (angle + pi) % tau - pi


def cosine_wave(turning: Vector, axis: Vector, fixed: Vector) -> tuple[float, float, float]:
    """How the cosine between two unit vectors changes as one of them turns about the unit vector `axis`.

    Turned by an angle t it is level + amplitude * cos(t - peak). Returns level, amplitude and peak (in radians).
    """
    level = turning.dot(axis) * axis.dot(fixed)
    c, s = turning.dot(fixed) - level, axis.cross(turning).dot(fixed)
    return level, hypot(c, s), atan2(s, c)


def swing(start: Vector, end: Vector, axis: Vector) -> Quaternion:
    """The shortest rotation between two unit vectors; about `axis` (a unit vector) where they are opposite."""
    if start @ end > 0.0:
        return start.rotation_difference(end)
    # Beyond a right angle go by way of the opposite direction: what is left is short, and so exact in float32.
    shortest = start.cross(end)
    half_turn_axis = across(shortest if shortest.length > STRAIGHT else axis, start)
    if half_turn_axis.length <= STRAIGHT:
        return start.rotation_difference(end)
    half_turn = Quaternion(half_turn_axis, pi)
    rest = (half_turn @ start).rotation_difference(end)
    rest @= half_turn
    return rest


def rotation_to(first: Vector, second: Vector, third: Vector) -> Quaternion:
    """The rotation from the coordinate axes to three perpendicular unit vectors, a right-handed frame."""
    axes = Matrix((first, second, third))
    axes.transpose()
    return axes.to_quaternion()
