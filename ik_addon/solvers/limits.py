"""What a joint may do: cones, hinges and swings, and the joints of a chain made of them.

A limited chain is described from its *zero pose*, the pose in which every joint stands at its own zero. A joint's state
is one rotation from there, `turn`, carried by the links before it: link k points to R_k @ zero_k, with
R_k = turn_0 @ turn_1 @ … @ turn_k. Every set of legal states is convex in the numbers that `between`
interpolates, so any pose between two legal poses is legal.
"""

from collections.abc import Sequence
from math import acos, asin, atan2, cos, hypot, isfinite, pi, sin, sqrt
from typing import NamedTuple

from mathutils import Quaternion, Vector

from .rotations import swing
from .vectors import ChainError, direction, finite_number, finite_point, perpendicular, unit_across

AT_LIMIT = 1e-4
"""Angle in radians within which a joint counts as standing at its limit."""

_EDGE = 1e-6
"""Distance from a rim, as sin(angle / 2) or radians, at which a joint pushes against it."""


class Hinge(NamedTuple):
    """A joint that turns about one axis.

    axis: in the chain's space, the link before standing as in the chain's starting pose. lowest, highest: angles in
    radians by the right-hand rule, from the zero pose. rest: rotation that takes the link from its starting pose to
    the zero pose, in the chain's space; None: it starts at zero.
    """

    axis: Sequence[float]
    lowest: float = -pi
    highest: float = pi
    rest: Quaternion | None = None


class Swing(NamedTuple):
    """A joint that swings its link away from a rest direction within an ellipse, and twists it about itself.

    across: the first of two axes about which it swings, perpendicular to the link in its zero pose; the second is
    across x link. swing_across, swing_second: lowest and highest angle about each, in radians, as quarter
    ellipses of sin(angle / 2) between them, which is how Blender's own IK joins the two; a range of (-pi, pi) is
    free. twist: lowest and highest angle about the link. rest: as in `Hinge`.
    """

    across: Sequence[float]
    swing_across: tuple[float, float] = (-pi, pi)
    swing_second: tuple[float, float] = (-pi, pi)
    twist: tuple[float, float] = (-pi, pi)
    rest: Quaternion | None = None


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

    zero: the link in the zero pose; across, second: the two swing axes, all unit vectors. ranges: lowest and highest
    sin(angle / 2) about the two axes, None where the swing is free; elliptic: joined by quarter ellipses. twist:
    range of the angle about the link, None where free. cone: direction and angle of a cone that limits the link as
    well. start: the turn of the starting pose. bend_max: the largest bend against the link before, where that alone
    limits the joint; else None.
    """

    __slots__ = ("across", "bend_max", "cone", "elliptic", "ranges", "second", "start", "twist", "zero")

    def __init__(
        self,
        zero: Vector,
        across: Vector,
        start: Quaternion,
        ranges: tuple[float, float, float, float] | None = None,
        elliptic: bool = False,
        twist: tuple[float, float] | None = None,
        cone: tuple[Vector, float] | None = None,
        bend_max: float | None = None,
    ) -> None:
        self.zero, self.across, self.second, self.start = zero, across, across.cross(zero), start
        self.ranges, self.elliptic, self.twist, self.cone, self.bend_max = ranges, elliptic, twist, cone, bend_max

    @property
    def across_axis(self) -> Vector:
        """An axis across the link."""
        return self.across

    @property
    def free(self) -> bool:
        """Whether every turn is legal."""
        return self.ranges is None and self.twist is None and self.cone is None

    def numbers(self, turn: Quaternion) -> tuple[float, float, float]:
        """Swing about the two axes, as sin(angle / 2), and twist in radians; a turn swings after it twists."""
        twist = _twist(turn, self.zero)
        swing = turn @ Quaternion(self.zero, -twist)
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
        return swing @ Quaternion(self.zero, twist) if twist else swing

    def clamped(self, turn: Quaternion) -> Quaternion:
        """A legal turn near `turn`."""
        if self.free:
            return turn
        a, b, twist = self.numbers(turn)
        legal = (*self._legal_swing(a, b), self._legal_twist(twist))
        return turn if legal == (a, b, twist) else self.turned(legal)

    def between(self, first: Quaternion, second: Quaternion, part: float) -> Quaternion:
        """The turn at `part` of the way between two legal ones; legal too."""
        a, b = self.numbers(first), self.numbers(second)
        twist = a[2] + part * _wrapped(b[2] - a[2]) if self.twist is None else a[2] + part * (b[2] - a[2])
        return self.turned((a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, twist))

    def bend(self, normal: Vector) -> tuple[Vector, float, float]:
        """The axis nearest to `normal` about which the joint bends from its zero pose, and the range about it."""
        axis = unit_across(normal, self.zero)
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
        if self.ranges is not None:
            limit_a, limit_b = self.ranges[a > 0.0], self.ranges[2 + (b > 0.0)]
            if self.elliptic and limit_a and limit_b:
                if hypot(a / limit_a, b / limit_b) > 1.0 - edge / min(abs(limit_a), abs(limit_b)):
                    u, v = a / (limit_a * limit_a), b / (limit_b * limit_b)
                    axes.append(direction(self.across * u + self.second * v))
            else:
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
            halfway = direction(self.zero + link)
            if twist >= self.twist[1] - edge:
                axes.append(halfway)
            if twist <= self.twist[0] + edge:
                axes.append(-halfway)
        return [axis for axis in axes if axis.length]

    def _legal_swing(self, a: float, b: float) -> tuple[float, float]:
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
            kept = self._part_in_cone(a / size, b / size, min(size, 1.0))
            return (a, b) if kept >= size else (a * kept / size, b * kept / size)
        return (a, b) if size <= 1.0 else (a / size, b / size)

    def _legal_twist(self, twist: float) -> float:
        if self.twist is None:
            return twist
        lowest, highest = self.twist
        middle = (lowest + highest) / 2.0
        return min(max(middle + _wrapped(twist - middle), lowest), highest)

    def _farthest(self, a: float, b: float) -> float:
        """sin(angle / 2) of the largest legal swing straight out in the direction (a, b)."""
        size = 1.0
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
        return size if self.cone is None else self._part_in_cone(a, b, size)

    def _part_in_cone(self, a: float, b: float, size: float) -> float:
        """How far, up to `size` = sin(angle / 2), the link may swing in a direction before it leaves its cone."""
        toward, angle = self.cone
        axis = self.across * a + self.second * b
        # Swung by t, its cosine to the cone's axis is c cos(t) + s sin(t); at zero it is inside.
        c, s = self.zero.dot(toward), axis.cross(self.zero).dot(toward)
        amplitude, middle = hypot(c, s), atan2(s, c)
        if amplitude <= cos(angle):
            return 0.0
        if amplitude <= -cos(angle):
            return size
        end = middle + acos(max(-1.0, min(1.0, cos(angle) / amplitude)))
        return min(size, sin(min(max(end, 0.0), pi) / 2.0))


Joint = HingeJoint | BallJoint


def limits_of(
    directions: Sequence[Vector],
    cones: Sequence[float | None] | None,
    hinges: Sequence["Hinge | tuple | None"] | None,
    swings: Sequence["Swing | tuple | None"] | None,
    parent_direction: Sequence[float] | None,
) -> tuple[Joint, ...]:
    """The joints of a chain with limits, root first; see `Chain`. Raises ChainError where they are no limits."""
    count = len(directions)
    for name, entries in (("cones", cones), ("hinges", hinges), ("swings", swings)):
        if entries is not None and len(entries) != count:
            raise ChainError(f"{name} needs one entry for each of the {count} links, got {len(entries)}")
    before = None if parent_direction is None else unit(parent_direction, "the parent direction")
    joints: list[Joint] = []
    # Rotation from the zero pose to the starting pose, of what is carried by the links so far.
    carried = Quaternion()
    for k, along in enumerate(directions):
        cone = checked_cone(cones[k], k) if cones and cones[k] is not None and before is not None else None
        to_zero_pose = carried.inverted()
        if hinges and hinges[k] is not None:
            if swings and swings[k] is not None:
                raise ChainError(f"link {k} is given a hinge and a swing; it can have one of them")
            joint = _hinge_joint(Hinge(*hinges[k]), k, along, to_zero_pose, before, cone)
        elif swings and swings[k] is not None:
            joint = _swing_joint(Swing(*swings[k]), k, along, to_zero_pose, before, cone)
        elif cone is not None:
            zero = to_zero_pose @ before
            start = swing(zero, to_zero_pose @ along, perpendicular(zero))
            size = sin(cone / 2.0)
            ranges = None if cone >= pi else (-size, size, -size, size)
            joint = BallJoint(zero, perpendicular(zero), start, ranges, elliptic=True, bend_max=cone)
        else:
            zero = to_zero_pose @ (along if before is None else before)
            start = Quaternion() if before is None else swing(zero, to_zero_pose @ along, perpendicular(zero))
            joint = BallJoint(zero, perpendicular(zero), start, bend_max=pi)
        joints.append(joint)
        carried = carried @ joint.start
        before = along
    return tuple(joints)


def checked_cone(angle: float, link: int) -> float:
    """A cone's angle; ChainError where it is none."""
    if not finite_number(angle, f"the cone of link {link}") >= 0.0:
        raise ChainError(f"the cone of link {link} is negative: {angle}; give an angle of 0 or more, in radians")
    return min(angle, pi)


def _checked_range(lowest: float, highest: float, what: str) -> tuple[float, float]:
    lowest, highest = finite_number(lowest, what), finite_number(highest, what)
    if lowest > highest:
        raise ChainError(f"{what} runs from {lowest} down to {highest}; its lowest angle comes first")
    return (-pi, pi) if highest - lowest >= 2.0 * pi else (lowest, highest)


def _rest(rest: Quaternion | None, link: int) -> Quaternion:
    if rest is None:
        return Quaternion()
    rotation = Quaternion(rest)
    if not all(map(isfinite, rotation)) or not rotation.magnitude:
        raise ChainError(f"the rest rotation of link {link} is none: {tuple(rotation)}")
    return rotation.normalized()


def _hinge_joint(
    hinge: Hinge, link: int, along: Vector, to_zero_pose: Quaternion, before: Vector | None, cone: float | None
) -> HingeJoint:
    rest = _rest(hinge.rest, link)
    axis = to_zero_pose @ unit(hinge.axis, f"the hinge axis of link {link}")
    zero = to_zero_pose @ (rest @ along)
    start = to_zero_pose @ rest.inverted() @ to_zero_pose.inverted()
    lowest, highest = _checked_range(hinge.lowest, hinge.highest, f"the hinge of link {link}")
    if cone is not None:
        lowest, highest = _range_in_cone(zero, axis, lowest, highest, to_zero_pose @ before, cone, link)
    return HingeJoint(zero, axis, lowest, highest, start)


def _range_in_cone(
    zero: Vector, axis: Vector, lowest: float, highest: float, toward: Vector, cone: float, link: int
) -> tuple[float, float]:
    """The part of a hinge's range in which the link is in its cone."""
    level = zero.dot(axis) * axis.dot(toward)
    c, s = zero.dot(toward) - level, axis.cross(zero).dot(toward)
    amplitude, middle = hypot(c, s), atan2(s, c)
    if level - amplitude >= cos(cone):
        return lowest, highest
    if level + amplitude >= cos(cone):
        half = acos(max(-1.0, min(1.0, (cos(cone) - level) / amplitude)))
        for turn in (0.0, 2.0 * pi, -2.0 * pi):
            low, high = max(lowest, middle + turn - half), min(highest, middle + turn + half)
            if low <= high:
                return low, high
    raise ChainError(f"the cone and the hinge of link {link} leave it no angle; widen one of them")


def _swing_joint(
    given: Swing, link: int, along: Vector, to_zero_pose: Quaternion, before: Vector | None, cone: float | None
) -> BallJoint:
    rest = _rest(given.rest, link)
    zero = to_zero_pose @ (rest @ along)
    across_zero = unit_across(to_zero_pose @ unit(given.across, f"the swing axis of link {link}"), zero)
    if not across_zero.length:
        raise ChainError(f"the swing axis of link {link} lies along the link; give one across it")
    start = to_zero_pose @ rest.inverted() @ to_zero_pose.inverted()
    what = f"the swing of link {link}"
    first, second = (_checked_range(*limits, what) for limits in (given.swing_across, given.swing_second))
    if max(first[0], second[0]) > 0.0 or min(first[1], second[1]) < 0.0:
        raise ChainError(f"{what} leaves out its rest direction; its ranges must contain 0")
    ranges = tuple(sin(max(-pi, min(pi, angle)) / 2.0) for angle in (*first, *second))
    elliptic = (-pi, pi) not in (first, second)
    twist = _checked_range(*given.twist, f"the twist of link {link}")
    toward = None if cone is None else (to_zero_pose @ before, cone)
    if toward is not None and zero.angle(toward[0]) > cone:
        raise ChainError(f"the cone of link {link} leaves out the rest direction of its swing; widen it")
    return BallJoint(
        zero,
        across_zero,
        start,
        None if (first, second) == ((-pi, pi), (-pi, pi)) else ranges,
        elliptic,
        None if twist == (-pi, pi) else twist,
        toward,
    )


def unit(values: Sequence[float], what: str) -> Vector:
    """`values` as a unit vector; ChainError where they are none."""
    vector = direction(finite_point(values, what))
    if not vector.length:
        raise ChainError(f"{what} has no length; give a direction")
    return vector


def _twist(turn: Quaternion, axis: Vector) -> float:
    """Angle of a rotation's part about a unit axis, from -pi to pi."""
    along = turn.x * axis.x + turn.y * axis.y + turn.z * axis.z
    return _wrapped(2.0 * atan2(along, turn.w)) if along or turn.w else 0.0


def _wrapped(angle: float) -> float:
    """The same angle between -pi and pi."""
    return (angle + pi) % (2.0 * pi) - pi
