"""What a joint may do, as it is given: cones, hinges and swings; and the joints of a chain made of them."""

from collections.abc import Iterator, Sequence
from math import acos, cos, inf, isfinite, pi, sin
from typing import NamedTuple

from mathutils import Quaternion, Vector

from .. import messages
from .joints import BallJoint, Cone, HingeJoint, Joint
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
)


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
        """All of them, root first."""
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
        _check_cones(cones)
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


def _check_cones(angles: Sequence[float | None]) -> None:
    # One comparison for all, as most are sound: NaN and infinity fail it too.
    if not all([angle is None or 0.0 <= angle < inf for angle in angles]):
        for link, angle in enumerate(angles):
            _cone(None, angle, link)


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
    straight = middle + (straight - middle + pi) % (2.0 * pi) - pi
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
