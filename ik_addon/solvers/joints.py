"""The joints of a chain with limits.

Such a chain is described from its *zero pose*, the pose in which every joint stands at its own zero. A joint's state
is one rotation from there, its `turn`, carried by the links before it: link k points to R_k @ zero_k, with
R_k = turn_0 @ turn_1 @ … @ turn_k. What is legal for a joint is convex in the numbers that `between` interpolates
(but for a cone beside a swing, which is clamped), so every pose between two legal poses is legal.
"""

from math import acos, asin, atan2, cos, hypot, pi, sin, sqrt, tau

from mathutils import Quaternion, Vector

from .vectors import cosine_wave, direction, unit_across

Cone = tuple[Vector, float]
"""A direction, and the largest angle to it in radians."""

AT_LIMIT = 1e-4
"""Angle in radians within which a joint counts as standing at its limit."""

_WIDEST_ANGLE = pi - 9e-3
"""The widest swing, in radians: so far short of half a turn that float32 still tells the twist."""
_WIDEST = sin(_WIDEST_ANGLE / 2.0)

_EDGE = 1e-6
"""Distance from a rim, as sin(angle / 2) or radians, at which a joint pushes against it."""


class HingeJoint:
    """A joint with one angle about a fixed axis.

    zero, axis: of the link and the joint, unit vectors in the zero pose. lowest, highest: angles in radians.
    start: the turn of the starting pose, legal or not.
    """

    __slots__ = ("axis", "highest", "lowest", "start", "zero")

    def __init__(self, zero: Vector, axis: Vector, lowest: float, highest: float, start: Quaternion) -> None:
        self.zero, self.axis, self.start = zero, axis, start
        self.lowest, self.highest = lowest, highest

    @property
    def across_axis(self) -> Vector:
        """An axis across the link."""
        return self.axis

    @property
    def bends_one_way(self) -> bool:
        """Whether a legal turn's opposite need not be legal."""
        return True

    def turned(self, angle: float) -> Quaternion:
        """The turn for an angle from the zero pose."""
        return Quaternion(self.axis, angle)

    def angle(self, turn: Quaternion) -> float:
        """The angle of a turn about the axis, within half a turn of the middle of the range."""
        middle = (self.lowest + self.highest) / 2.0
        return middle + _wrapped(_twist(turn, self.axis) - middle)

    def clamped(self, turn: Quaternion) -> Quaternion:
        """The nearest legal turn."""
        return self.turned(min(max(self.angle(turn), self.lowest), self.highest))

    def between(self, first: Quaternion, second: Quaternion, part: float) -> Quaternion:
        """The turn at `part` of the way between two legal ones; legal too."""
        a, b = self.angle(first), self.angle(second)
        return self.turned(a + (b - a) * part)

    def at(self, part: float, _other: float) -> Quaternion:
        """The legal turn at `part` (0 to 1) of the range."""
        return self.turned(self.lowest + (self.highest - self.lowest) * part)

    def bend(self, _normal: Vector) -> tuple[Vector, float, float]:
        """The axis about which the joint bends, and its range."""
        return self.axis, self.lowest, self.highest

    def at_limit(self, turn: Quaternion) -> bool:
        """Whether the joint stands at an end of its range."""
        return bool(self.barred(turn, AT_LIMIT))

    def barred(self, turn: Quaternion, edge: float = _EDGE) -> list[Vector]:
        """The axes, in the zero pose, about which the joint may turn no further, by the right-hand rule."""
        angle = self.angle(turn)
        axes = [self.axis] if angle >= self.highest - edge else []
        return [*axes, -self.axis] if angle <= self.lowest + edge else axes


class BallJoint:
    """A joint whose link swings away from a rest direction and twists about itself.

    zero: the link in the zero pose; stem: what swings and twists, for most joints the link itself; across, second: the
    two axes about which it swings; all unit vectors. ranges: lowest and highest
    sin(angle / 2) about the two axes, None where the swing is free; elliptic: joined by quarter ellipses. twist:
    range of the angle about the link, None where free. cone: direction and angle of a cone that limits the link as
    well. start: the turn of the starting pose. bend_max: the largest bend against the link before, where that alone
    limits the joint; else None.
    """

    __slots__ = ("across", "bend_max", "cone", "elliptic", "ranges", "second", "start", "stem", "twist", "zero")

    def __init__(
        self,
        zero: Vector,
        across: Vector,
        start: Quaternion,
        ranges: tuple[float, float, float, float] | None = None,
        elliptic: bool = False,
        twist: tuple[float, float] | None = None,
        cone: Cone | None = None,
        bend_max: float | None = None,
        stem: Vector | None = None,
    ) -> None:
        self.zero, self.stem, self.across, self.start = zero, zero if stem is None else stem, across, start
        self.second = across.cross(self.stem)
        self.ranges, self.elliptic, self.twist, self.cone, self.bend_max = ranges, elliptic, twist, cone, bend_max

    @property
    def across_axis(self) -> Vector:
        """An axis across the link."""
        return self.across

    @property
    def bends_one_way(self) -> bool:
        """Whether a legal turn's opposite need not be legal."""
        return self.bend_max is None

    @property
    def free(self) -> bool:
        """Whether every turn is legal."""
        return self.ranges is None and self.twist is None and self.cone is None

    @property
    def _widest(self) -> float:
        # Swung by half a turn a link has no twist of its own, nor a direction in which it swung.
        return 1.0 if self.bend_max is not None else _WIDEST

    def numbers(self, turn: Quaternion) -> tuple[float, float, float]:
        """Swing about the two axes, as sin(angle / 2), and twist in radians; a turn swings after it twists."""
        twist = _twist(turn, self.stem)
        if self.twist is not None:
            middle = (self.twist[0] + self.twist[1]) / 2.0
            twist = middle + _wrapped(twist - middle)
        swing = turn @ Quaternion(self.stem, -twist)
        vector = Vector((swing.x, swing.y, swing.z))
        if swing.w < 0.0:
            vector.negate()
        return vector.dot(self.across), vector.dot(self.second), twist

    def turned(self, numbers: tuple[float, float, float]) -> Quaternion:
        """The turn that has these numbers."""
        a, b, twist = numbers
        size = hypot(a, b)
        if size > 1.0:
            a, b, size = a / size, b / size, 1.0
        x, y, z = self.across * a + self.second * b
        swing = Quaternion((sqrt(1.0 - size * size), x, y, z))
        return swing @ Quaternion(self.stem, twist) if twist else swing

    def clamped(self, turn: Quaternion) -> Quaternion:
        """A legal turn near `turn`."""
        if self.free:
            return turn
        a, b, twist = self.numbers(turn)
        legal_twist = self._legal_twist(twist)
        legal = (*self._legal_swing(a, b, legal_twist), legal_twist)
        return turn if legal == (a, b, twist) else self.turned(legal)

    def between(self, first: Quaternion, second: Quaternion, part: float) -> Quaternion:
        """The turn at `part` of the way between two legal ones; legal too."""
        a, b = self.numbers(first), self.numbers(second)
        twist = a[2] + part * _wrapped(b[2] - a[2]) if self.twist is None else a[2] + part * (b[2] - a[2])
        turn = self.turned((a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, twist))
        # A cone about another direction than the swing's is not convex in its numbers.
        return turn if self.cone is None else self.clamped(turn)

    def at(self, part: float, other: float) -> Quaternion:
        """A legal turn for two parts (0 to 1): how far out the link swings, and in which direction."""
        a, b = cos(tau * other), sin(tau * other)
        size = self._farthest(a, b) * part
        return self.clamped(self.turned((a * size, b * size, 0.0)))

    def bend(self, normal: Vector) -> tuple[Vector, float, float]:
        """The axis nearest to `normal` about which the joint bends from its zero pose, and the range about it."""
        axis = unit_across(normal, self.stem)
        if not axis.length:
            axis = self.across
        a, b = axis.dot(self.across), axis.dot(self.second)
        return axis, -2.0 * asin(self._farthest(-a, -b)), 2.0 * asin(self._farthest(a, b))

    def at_limit(self, turn: Quaternion) -> bool:
        """Whether the link stands on the rim of its range, or its twist at an end."""
        return bool(self.barred(turn, AT_LIMIT))

    def barred(self, turn: Quaternion, edge: float = _EDGE) -> list[Vector]:
        """The axes, in the zero pose, about which the link may turn no further, by the right-hand rule."""
        if self.free:
            return []
        axes = []
        a, b, twist = self.numbers(turn)
        link = turn @ self.zero
        if self.bend_max is None and 2.0 * asin(min(1.0, hypot(a, b))) > _WIDEST_ANGLE - edge:
            axes.append(direction(self.across * a + self.second * b))
        if self.ranges is not None:
            limit_a, limit_b = self.ranges[a > 0.0], self.ranges[2 + (b > 0.0)]
            narrowest = min(abs(limit_a), abs(limit_b))
            if self.elliptic and narrowest and hypot(a / limit_a, b / limit_b) > 1.0 - edge / narrowest:
                u, v = a / (limit_a * limit_a), b / (limit_b * limit_b)
                axes.append(direction(self.across * u + self.second * v))
            for axis, value, lowest, highest in (
                (self.across, a, *self.ranges[:2]),
                (self.second, b, *self.ranges[2:]),
            ):
                if highest < 1.0 and value >= highest - edge:
                    axes.append(axis)
                if lowest > -1.0 and value <= lowest + edge:
                    axes.append(-axis)
        if self.cone is not None:
            toward, angle = self.cone
            if link.dot(toward) < cos(max(0.0, angle - edge)):
                axes.append(direction(toward.cross(link)))
        if self.twist is not None:
            # Turned about it, a swinging link changes its twist alone.
            halfway = direction(self.stem + turn @ self.stem)
            if twist >= self.twist[1] - edge:
                axes.append(halfway)
            if twist <= self.twist[0] + edge:
                axes.append(-halfway)
        return [axis for axis in axes if axis.length]

    def _legal_swing(self, a: float, b: float, twist: float) -> tuple[float, float]:
        if self.ranges is not None:
            lowest_a, highest_a, lowest_b, highest_b = self.ranges
            a, b = min(max(a, lowest_a), highest_a), min(max(b, lowest_b), highest_b)
            limit_a, limit_b = self.ranges[a > 0.0], self.ranges[2 + (b > 0.0)]
            if self.elliptic and limit_a and limit_b:
                share = hypot(a / limit_a, b / limit_b)
                if share > 1.0:
                    a, b = a / share, b / share
        size = hypot(a, b)
        if self.cone is not None and size:
            link = self.zero if self.stem is self.zero else Quaternion(self.stem, twist) @ self.zero
            kept = self._part_in_cone(self.cone, link, a / size, b / size, min(size, self._widest))
            return (a, b) if kept >= size else (a * kept / size, b * kept / size)
        return (a, b) if size <= self._widest else (a * self._widest / size, b * self._widest / size)

    def _legal_twist(self, twist: float) -> float:
        if self.twist is None:
            return twist
        lowest, highest = self.twist
        middle = (lowest + highest) / 2.0
        return min(max(middle + _wrapped(twist - middle), lowest), highest)

    def _farthest(self, a: float, b: float) -> float:
        """sin(angle / 2) of the largest legal swing straight out in the direction (a, b)."""
        size = self._widest
        if self.ranges is not None:
            limit_a, limit_b = self.ranges[a > 0.0], self.ranges[2 + (b > 0.0)]
            if self.elliptic and limit_a and limit_b:
                size = min(size, 1.0 / hypot(a / limit_a, b / limit_b))
            else:
                # An axis that is all but square to the direction shall not stop it by a rounding.
                if abs(a) > 1e-6:
                    size = min(size, abs(limit_a / a))
                if abs(b) > 1e-6:
                    size = min(size, abs(limit_b / b))
        return size if self.cone is None else self._part_in_cone(self.cone, self.zero, a, b, size)

    def _part_in_cone(self, cone: Cone, link: Vector, a: float, b: float, size: float) -> float:
        """How far, up to `size` = sin(angle / 2), a link may swing in a direction before it leaves its cone."""
        toward, angle = cone
        level, amplitude, middle = cosine_wave(link, self.across * a + self.second * b, toward)
        if level - amplitude >= cos(angle):
            return size
        if level + amplitude <= cos(angle):
            return 0.0
        end = middle + acos(max(-1.0, min(1.0, (cos(angle) - level) / amplitude)))
        return min(size, sin(min(max(end, 0.0), pi) / 2.0))


Joint = HingeJoint | BallJoint


def _twist(turn: Quaternion, axis: Vector) -> float:
    """Angle of a rotation's part about a unit axis, from -pi to pi."""
    along = turn.x * axis.x + turn.y * axis.y + turn.z * axis.z
    return _wrapped(2.0 * atan2(along, turn.w)) if along or turn.w else 0.0


def _wrapped(angle: float) -> float:
    """The same angle between -pi and pi."""
    return (angle + pi) % (2.0 * pi) - pi
