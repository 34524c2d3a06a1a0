"""Joint limits as they are given (cones, hinges, swings), and the joints of a chain made of them."""

from collections.abc import Iterator, Sequence
from math import acos, asin, atan2, cos, hypot, inf, isfinite, pi, sin, sqrt, tau
from typing import NamedTuple

from mathutils import Quaternion, Vector

from .. import messages
from .vectors import (
    STRAIGHT,
    ChainError,
    cosine_wave,
    direction,
    finite_number,
    finite_point,
    name_of,
    perpendicular,
    swing,
    unit_across,
    wrapped,
)

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
        return middle + wrapped(_twist(turn, self.axis) - middle)

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
    two axes about which it swings; all unit vectors. ranges: lowest and highest sin(angle / 2) about the two axes, None
    where the swing is free; elliptic: joined by quarter ellipses. twist: range of the angle about the link, None where
    free. cone: direction and angle of a cone that limits the link as well. start: the turn of the starting pose.
    bend_max: the largest bend against the link before, where that alone limits the joint; else None.
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
        return self.across

    @property
    def bends_one_way(self) -> bool:
        return self.bend_max is None

    @property
    def free(self) -> bool:
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
            twist = middle + wrapped(twist - middle)
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
        a, b = self.numbers(first), self.numbers(second)
        twist = a[2] + part * wrapped(b[2] - a[2]) if self.twist is None else a[2] + part * (b[2] - a[2])
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
        return min(max(middle + wrapped(twist - middle), lowest), highest)

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
    return wrapped(2.0 * atan2(along, turn.w)) if along or turn.w else 0.0


class Hinge(NamedTuple):
    """A joint that turns about one axis.

    axis: in the chain's space, the link before standing as in the chain's starting pose. lowest, highest: angles in
    radians by the right-hand rule, from the zero pose. rest: rotation that takes the link from its starting pose to
    the zero pose, in the chain's space; None: it starts at zero. least_bend: the smallest angle between the link and
    the link before it, on the larger side of the range (0: it may become straight, and bend no further the other
    way); None: the range alone counts.
    """

    axis: Sequence[float]
    lowest: float = -pi
    highest: float = pi
    rest: Quaternion | None = None
    least_bend: float | None = None


class Swing(NamedTuple):
    """A joint that swings its link away from a rest direction within an ellipse, and twists it about itself.

    across: the first of two axes about which it swings, perpendicular to the link in its zero pose; the second is
    across x link. swing_across, swing_second: lowest and highest angle about each, in radians, as quarter
    ellipses of sin(angle / 2) between them, which is how Blender's own IK joins the two; a range of (-pi, pi) is
    free. twist: lowest and highest angle about the link. rest: as in `Hinge`. along: the direction that swings and
    twists, in the zero pose; None: the link's.
    """

    across: Sequence[float]
    swing_across: tuple[float, float] = (-pi, pi)
    swing_second: tuple[float, float] = (-pi, pi)
    twist: tuple[float, float] = (-pi, pi)
    rest: Quaternion | None = None
    along: Sequence[float] | None = None


class LimitError(ChainError):
    """A limit that is none, or that leaves a joint nothing. link: its number from the root; what: the rest."""

    def __init__(self, link: int, what: str) -> None:
        super().__init__(messages.OF(whose=messages.LINK(link=link), said=what))
        self.link, self.what = link, what


class ConeJoints(Sequence[Joint]):
    """The joints of a chain of cones below a free root. They are made when they are asked for: in a plane the cones do.

    cones: the largest bend in radians of each joint after the root. unturned: kept here by who needs it, as it is the
    same for all goals of the chain; see `limited`.
    """

    __slots__ = ("_angles", "_before", "_directions", "_joints", "cones", "unturned")

    def __init__(self, directions: Sequence[Vector], angles: Sequence[float | None], before: Vector | None) -> None:
        self._directions, self._angles, self._before = directions, angles, before
        self._joints: tuple[Joint, ...] | None = None
        self.unturned: list[Quaternion] | None = None
        self.cones = [pi if angle is None or angle > pi else angle for angle in angles[1:]]

    def joints(self) -> tuple[Joint, ...]:
        if self._joints is None:
            free = [None] * len(self._directions)
            self._joints = _joints(self._directions, self._angles, free, free, self._before)
        return self._joints

    def __len__(self) -> int:
        return len(self._directions)

    def __getitem__(self, link: int) -> Joint:
        return self.joints()[link]

    def __iter__(self) -> Iterator[Joint]:
        return iter(self.joints())


def limits_of(
    directions: Sequence[Vector],
    cones: Sequence[float | None] | None,
    hinges: Sequence["Hinge | tuple | None"] | None,
    swings: Sequence["Swing | tuple | None"] | None,
    parent_direction: Sequence[float] | None,
) -> Sequence[Joint]:
    """The joints of a chain with limits, root first; see `Chain`. Raises ChainError where they are no limits."""
    count = len(directions)
    for name, entries in (("cones", cones), ("hinges", hinges), ("swings", swings)):
        if entries and len(entries) != count:
            raise ChainError(messages.ENTRIES_MISSING(what=name, count=count, given=len(entries)))
    before = None if parent_direction is None else unit(parent_direction, "the parent direction")
    if cones and not (hinges and any(hinges)) and not (swings and any(swings)):
        # One comparison for all, as most are sound: NaN and infinity fail it too.
        if not all([angle is None or 0.0 <= angle < inf for angle in cones]):
            for link, angle in enumerate(cones):
                _cone(None, angle, link)
        if before is None or cones[0] is None or cones[0] >= pi:
            return ConeJoints(directions, cones, before)
    free = [None] * count
    return _joints(directions, cones or free, hinges or free, swings or free, before)


def _joints(
    directions: Sequence[Vector],
    cones: Sequence[float | None],
    hinges: Sequence["Hinge | tuple | None"],
    swings: Sequence["Swing | tuple | None"],
    before: Vector | None,
) -> tuple[Joint, ...]:
    joints: list[Joint] = []
    # Rotation from the zero pose to the starting pose, of what is carried by the links so far.
    carried = Quaternion()
    for k, (along, angle, hinge, swinging) in enumerate(zip(directions, cones, hinges, swings, strict=True)):
        to_zero_pose = carried.inverted()
        before_zero = None if before is None else to_zero_pose @ before
        cone = _cone(before_zero, angle, k)
        if hinge is not None and swinging is not None:
            raise LimitError(k, messages.HINGE_AND_SWING())
        if hinge is not None:
            joint = _hinge_joint(Hinge(*hinge), k, along, to_zero_pose, before_zero, cone)
        elif swinging is not None:
            joint = _swing_joint(Swing(*swinging), k, along, to_zero_pose, cone)
        else:
            joint = _cone_joint(to_zero_pose @ along, before_zero, cone)
        joints.append(joint)
        carried = carried @ joint.start
        before = along
    return tuple(joints)


def _cone(toward: Vector | None, angle: float | None, link: int) -> Cone | None:
    """A cone about a direction; None where there is no direction or no angle. ChainError where the angle is none."""
    if angle is None:
        return None
    if not finite_number(angle, "the cone of link", link) >= 0.0:
        raise LimitError(link, messages.CONE_NEGATIVE(angle=angle))
    return None if toward is None else (toward, min(angle, pi))


def _cone_joint(along: Vector, before: Vector | None, cone: Cone | None) -> BallJoint:
    """A joint with a cone alone, or a free one: straight on is its zero."""
    zero = along if before is None else before
    start = swing(zero, along, perpendicular(zero))
    if cone is None or cone[1] >= pi:
        return BallJoint(zero, perpendicular(zero), start, bend_max=pi)
    size = sin(cone[1] / 2.0)
    return BallJoint(zero, perpendicular(zero), start, (-size, size, -size, size), elliptic=True, bend_max=cone[1])


def _checked_range(lowest: float, highest: float, link: int, what: str) -> tuple[float, float]:
    for angle in (lowest, highest):
        finite_number(angle, "the", what, "of link", link)
    if lowest > highest:
        raise LimitError(link, messages.RANGE_BACKWARDS(what=what, lowest=lowest, highest=highest))
    return (-pi, pi) if highest - lowest >= 2.0 * pi else (lowest, highest)


def _rest(rest: Quaternion | None, link: int) -> Quaternion:
    if rest is None:
        return Quaternion()
    rotation = Quaternion(rest)
    if not all(map(isfinite, rotation)) or not rotation.magnitude:
        raise LimitError(link, messages.REST_IS_NONE(rotation=tuple(rotation)))
    return rotation.normalized()


def _hinge_joint(
    hinge: Hinge, link: int, along: Vector, to_zero_pose: Quaternion, before: Vector | None, cone: Cone | None
) -> HingeJoint:
    rest = _rest(hinge.rest, link)
    axis = to_zero_pose @ unit(hinge.axis, "the hinge axis of link", link)
    zero = to_zero_pose @ (rest @ along)
    start = to_zero_pose @ rest.inverted() @ to_zero_pose.inverted()
    lowest, highest = _checked_range(hinge.lowest, hinge.highest, link, "hinge")
    if hinge.least_bend is not None and before is not None:
        lowest, highest = _bent(zero, axis, lowest, highest, before, hinge.least_bend, link)
    if cone is not None:
        lowest, highest = _range_in_cone(zero, axis, lowest, highest, *cone, link)
    return HingeJoint(zero, axis, lowest, highest, start)


def _range_in_cone(
    zero: Vector, axis: Vector, lowest: float, highest: float, toward: Vector, cone: float, link: int
) -> tuple[float, float]:
    """The part of a hinge's range in which the link is in its cone."""
    level, amplitude, middle = cosine_wave(zero, axis, toward)
    if level - amplitude >= cos(cone):
        return lowest, highest
    if level + amplitude >= cos(cone):
        half = acos(max(-1.0, min(1.0, (cos(cone) - level) / amplitude)))
        for turn in (0.0, 2.0 * pi, -2.0 * pi):
            low, high = max(lowest, middle + turn - half), min(highest, middle + turn + half)
            if low <= high:
                return low, high
    raise LimitError(link, messages.CONE_LEAVES_NOTHING())


def _bent(
    zero: Vector, axis: Vector, lowest: float, highest: float, before: Vector, least_bend: float, link: int
) -> tuple[float, float]:
    """The part of a hinge's range in which the link is bent against the link before by `least_bend` or more."""
    if not 0.0 <= finite_number(least_bend, "the least bend of link", link) <= pi:
        raise LimitError(link, messages.LEAST_BEND_OUT_OF_RANGE(angle=least_bend))
    level, amplitude, straight = cosine_wave(zero, axis, before)
    if amplitude <= STRAIGHT:
        return lowest, highest
    half = acos(max(-1.0, min(1.0, (cos(least_bend) - level) / amplitude)))
    middle = (lowest + highest) / 2.0
    straight = middle + wrapped(straight - middle)
    # The straight pose lies half a turn from the middle at most, so a wide range may meet it from both sides.
    if middle >= straight:
        lowest, highest = max(lowest, straight + half), min(highest, straight + 2.0 * pi - half)
    else:
        lowest, highest = max(lowest, straight - 2.0 * pi + half), min(highest, straight - half)
    if lowest > highest:
        raise LimitError(link, messages.LEAST_BEND_LEAVES_NOTHING())
    return lowest, highest


def _swing_joint(given: Swing, link: int, along: Vector, to_zero_pose: Quaternion, cone: Cone | None) -> BallJoint:
    rest = _rest(given.rest, link)
    zero = to_zero_pose @ (rest @ along)
    stem = zero if given.along is None else to_zero_pose @ unit(given.along, "the swinging direction of link", link)
    across_zero = unit_across(to_zero_pose @ unit(given.across, "the swing axis of link", link), stem)
    if not across_zero.length:
        raise LimitError(link, messages.SWING_AXIS_ALONG())
    start = to_zero_pose @ rest.inverted() @ to_zero_pose.inverted()
    first, second = (_checked_range(*limits, link, "swing") for limits in (given.swing_across, given.swing_second))
    if max(first[0], second[0]) > 0.0 or min(first[1], second[1]) < 0.0:
        raise LimitError(link, messages.SWING_WITHOUT_REST())
    low_a, high_a, low_b, high_b = (sin(max(-pi, min(pi, angle)) / 2.0) for angle in (*first, *second))
    elliptic = (-pi, pi) not in (first, second)
    twist = _checked_range(*given.twist, link, "twist")
    if cone is not None and zero.angle(cone[0]) > cone[1]:
        raise LimitError(link, messages.CONE_WITHOUT_REST())
    if cone is not None and given.along is not None:
        # Here a twist moves the link: so far only as keeps the link that does not swing in its cone.
        twist = _range_in_cone(zero, stem, *twist, *cone, link)
    return BallJoint(
        zero,
        across_zero,
        start,
        None if (first, second) == ((-pi, pi), (-pi, pi)) else (low_a, high_a, low_b, high_b),
        elliptic,
        None if twist == (-pi, pi) else twist,
        cone,
        stem=stem,
    )


def unit(values: Sequence[float], *what: object) -> Vector:
    """`values` as a unit vector; ChainError where they are none. `what` names it."""
    vector = direction(finite_point(values, *what))
    if not vector.length:
        raise ChainError(messages.NO_LENGTH(what=name_of(what)))
    return vector
