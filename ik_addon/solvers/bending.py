"""Which way a chain bends, and from solved joints to rotations of the links: bend, roll and blend."""

from collections.abc import Sequence
from math import atan2, sqrt

from mathutils import Matrix, Quaternion, Vector

from .chain import (
    BendFrame,
    Chain,
    Goal,
    Outcome,
    Solution,
    Start,
    eased,
    joint_points,
    outcome_at,
    reach_limits,
    stretch,
)
from .vectors import (
    LARGEST,
    ROUNDING,
    SMALL,
    STRAIGHT,
    across,
    direction,
    finite_number,
    finite_point,
    perpendicular,
    rotation_to,
    swing,
    unit_across,
)

REACHED = Outcome.REACHED

OFF_LINE = 99.0
"""Largest squared cotangent of a pole's angle to the line at which one cross product gives the plane precisely."""
TOO_FAR = OFF_LINE * LARGEST**2
"""`OFF_LINE` times the squared distance of a pole from the line at which it is refused: squares come near overflow."""


class Aim(Solution):
    """A solution before a solver has completed it: where the chain points and bends, and how far its end shall reach.

    along, normal, side: unit vectors of the bend frame at the target. start: of the chain. goal: as given; target:
    its point. offset: from the root to the point to reach before the chain is lengthened by `stretch`, softness
    applied; distance: its length. links: the directions of the links, where a solver gives those; several links may
    share one vector.
    """

    __slots__ = (
        "along",
        "distance",
        "goal",
        "limited",
        "links",
        "normal",
        "offset",
        "outcome",
        "rotations",
        "searched",
        "side",
        "start",
        "stretch",
        "target",
    )

    goal: Goal
    start: Start
    along: Vector
    side: Vector
    offset: Vector
    distance: float
    links: Sequence[Vector]
    target: Vector

    @property
    def residual(self) -> float:
        return (self.joints[-1] - self.target).length

    @property
    def bulge(self) -> Vector:
        """Unit vector towards which the joints bend: the side of the bend frame, or its opposite where flipped."""
        return -self.side if self.goal.flip else self.side

    @property
    def directions(self) -> tuple[Vector, ...]:
        """Unit vectors along the n links."""
        return tuple([along.copy() for along in self.links]) if self.flat is None else super().directions

    @property
    def turn(self) -> Quaternion:
        """How the starting pose is turned before its joints bend: rigidly to the target, and rolled to the pole.

        For the least motion of a chain over two links without a pole it is only swivelled: each link then turns from
        where it is. On random chains the links so turn less by a twentieth to a seventh, and smooth chains kink less.
        """
        if self.rotations is not None:
            return self.rotations[0].copy()
        if self.goal.least_motion and self.goal.pole is None and not self.start.unrolled:
            return Quaternion(self.along, self.goal.swivel)
        return rotation_to(self.along, self.normal, self.side) @ self.start.unturned

    def started(self, vectors: Sequence[Vector]) -> tuple[Quaternion, Sequence[Vector]]:
        """The rotation of the starting pose, and its vectors; where flipped, both so that they mirror it.

        What is mirrored to the other side of the bend is the opposite, turned half round the side.
        """
        if not self.goal.flip:
            return self.turn, vectors
        return Quaternion((0.0, *self.side)) @ self.turn, [-vector for vector in vectors]

    def posed(self, chain: Chain, directions: Sequence[Vector]) -> Solution:
        lengths = chain.lengths if self.stretch == 1.0 else [length * self.stretch for length in chain.lengths]
        self.joints, self.links = joint_points(chain.joints[0], lengths, directions), directions
        return self


def aim_at(chain: Chain, goal: Goal, farthest: float) -> Aim:
    """Turn the goal's wishes into an Aim; farthest: how far the chain's end comes from its root.

    Raises ChainError where one of the wishes is not finite, or out of its range.
    """
    aim = Aim()
    aim.goal, aim.flat, aim.limited, aim.rotations, aim.searched = goal, None, (), None, False
    aim.start = start = chain.start or start_of(chain)
    root = chain.joints[0]
    try:
        target = Vector(goal.target)
        offset = target - root
        to_pole = None if goal.pole is None else Vector(goal.pole) - root
    except (AttributeError, TypeError, ValueError):
        _refuse(goal)
        raise
    distance = offset.length
    if start.noise < distance <= LARGEST:
        along = offset / distance
    else:
        _refuse(goal)
        along = direction(offset) if distance > ROUNDING * chain.length else start.frame.along.copy()
    normal = None
    if to_pole is not None:
        normal = to_pole.cross(along)
        off_line, in_line = normal @ normal, to_pole @ along
        # Not so for NaN, infinities and what is too large either.
        if in_line * in_line < OFF_LINE * off_line < TOO_FAR:
            normal /= sqrt(off_line)
        else:
            _refuse(goal)
            # Close to the line to the target, or on it.
            off = across(to_pole, along).length > 2 * ROUNDING * to_pole.length
            normal = unit_across(to_pole, along).cross(along) if off else None
    if normal is None:
        # As the chain starts, brought to the target by the shortest way.
        normal = direction(across(swing(start.frame.along, along, start.frame.normal) @ start.frame.normal, along))
    if goal.swivel:
        turn = Quaternion(along, finite_number(goal.swivel, "the swivel"))
        normal = unit_across(turn @ normal, along)
    aim.target, aim.along, aim.normal, aim.side = target, along, normal, along.cross(normal)
    aim.offset, aim.distance, aim.stretch = offset, distance, 1.0
    if goal.softness or goal.stretch_max != 1.0:
        aim.distance, aim.stretch = _held(goal, distance, farthest)
        if aim.distance != distance:
            aim.offset = along * aim.distance
    near, far = start.reach[0]
    aim.outcome = REACHED if near <= distance <= far else outcome_at(distance, near, far * aim.stretch)
    return aim


def _refuse(goal: Goal) -> None:
    """Raise ChainError where a goal's points are none, or not finite."""
    finite_point(goal.target, "the target")
    if goal.pole is not None:
        finite_point(goal.pole, "the pole")


def _held(goal: Goal, distance: float, farthest: float) -> tuple[float, float]:
    """At which distance the chain's end is held before it lengthens, and by how much it lengthens."""
    softness = finite_number(goal.softness, "the softness", least=0.0, most=0.5)
    stretch_max = finite_number(goal.stretch_max, "the max stretch", least=1.0)
    held = eased(distance, farthest, softness)
    return held, stretch(distance, held, farthest, stretch_max)


def start_of(chain: Chain) -> Start:
    """What of a chain is the same for all its goals; computed once, and kept on the chain."""
    if chain.start is None:
        frame, reach = _start_frame(chain), reach_limits(chain.lengths)
        noise = max(ROUNDING * chain.length, SMALL)
        unrolled, pair = (), ()
        if len(chain.lengths) == 2:
            normal, (first, second), (near, far) = frame.normal, chain.lengths, reach[0]
            unrolled = tuple([rolled(along, normal).inverted() for along in chain.directions])
            if chain.limits is None:
                pair = (near + noise, near, far, (first - second) * far)
        end = chain.joints[-1] - chain.joints[0]
        chain.start = Start(frame, end, noise, reach, frame.rotation().inverted(), unrolled, pair)
    return chain.start


def rolled(along: Vector, normal: Vector) -> Quaternion:
    """The rotation from the coordinate axes to a link and a bend normal that may be a little off square to it."""
    normal = direction(across(normal, along))
    return rotation_to(along, normal, along.cross(normal))


def start_frame(chain: Chain) -> BendFrame:
    """The bend frame of a chain's own pose; where it is straight, its stated normal decides, else a fixed rule."""
    return start_of(chain).frame


def _start_frame(chain: Chain) -> BendFrame:
    along, side = _shape(chain)
    if along is None:
        assert side is not None
        return BendFrame(_normal_across(chain, side).cross(side), side)
    if side is None:
        return BendFrame(along, along.cross(_normal_across(chain, along)))
    return BendFrame(along, side)


def is_straight(chain: Chain) -> bool:
    """Whether a chain's own joints do not tell in which plane it bends (a bend under 1e-3 rad)."""
    return None in _shape(chain)


def _shape(chain: Chain) -> tuple[Vector | None, Vector | None]:
    """Where a chain points and where it bulges, as far as its joints tell; never both None.

    The bulge is the sum of the inner joints' distances from the line root to end. It is compared with what
    the chain would bulge if it bent by one radian: below 1e-3 of that float32 joints hold only noise. Three links
    bulge as their first joint bends: of a hind leg, an S, the sum changes sides in a stride, and its knee does not.
    """
    root, end = chain.joints[0], chain.joints[-1]
    bulge, one_radian, before = Vector((0.0, 0.0, 0.0)), 0.0, 0.0
    for joint, length in zip(chain.joints[1:-1], chain.lengths, strict=False):
        before += length
        bulge += joint - root
        one_radian += before * (chain.length - before) / (chain.length or 1.0)
    to_end = end - root
    if to_end.length > ROUNDING * chain.length:
        along = direction(to_end)
    elif bulge.length > STRAIGHT * one_radian:
        # The end lies on the root: there is no line to it, but the joints still show a side.
        return None, direction(bulge)
    else:
        along = chain.directions[0].copy()
    if len(chain.directions) == 3:
        first, second, _ = chain.directions
        normal = across(first.cross(second), along)
        if normal.length > STRAIGHT:
            return along, direction(across(along.cross(normal), along))
    side = across(bulge, along)
    if side.length <= max(STRAIGHT * one_radian, ROUNDING * bulge.length):
        return along, None
    return along, direction(across(direction(side), along))


def _normal_across(chain: Chain, axis: Vector) -> Vector:
    """The chain's stated bend normal, made perpendicular to `axis`; by a fixed rule where there is none."""
    given = chain.bend_normal() if callable(chain.bend_normal) else chain.bend_normal
    if given is not None:
        normal = direction(finite_point(given, "the bend normal"))
        if across(normal, axis).length > STRAIGHT:
            return unit_across(normal, axis)
    return perpendicular(axis)


def link_rotations(chain: Chain, solution: Solution) -> list[Quaternion]:
    """How each link turned from the chain's starting pose to the solution, root first, in the chain's space.

    The rotation is the solution's rigid turn followed by the bends. Two links bend about the normal of the bend plane
    and keep their roll to it, however far they fold. Longer chains bend each joint by the shortest swing against the
    link before, as Triangulation does (see there, section 3.1), which adds no twist.
    """
    flat = solution.flat
    if flat is not None:
        frame, first_along, aside, second_along, start = flat
        normal = frame[1]
        axes = Matrix(frame)
        axes.transpose()
        aimed = axes.to_quaternion()
        first, second = Quaternion(normal, -atan2(aside, first_along)), Quaternion(normal, atan2(aside, second_along))
        first @= aimed
        second @= aimed
        unrolled_first, unrolled_second = start.unrolled
        first @= unrolled_first
        second @= unrolled_second
        return [first, second]
    if solution.rotations is not None:
        return list(solution.rotations)
    normal = solution.normal
    assert isinstance(solution, Aim)
    if len(solution.links) == 2:
        return [
            rolled(along, normal) @ unrolled
            for along, unrolled in zip(solution.links, solution.start.unrolled, strict=True)
        ]
    rotations = []
    carried = solution.turn
    for start, solved in zip(chain.directions, solution.links, strict=True):
        bend = swing(carried @ start, solved, normal)
        bend @= carried
        rotations.append(bend)
        carried = bend
    return rotations


def blend(fk: Quaternion, ik: Quaternion, influence: float) -> Quaternion:
    """The rotation at `influence` (0 to 1) on the shortest way from `fk` to `ik`."""
    # Between rotations that are close mathutils goes straight, and comes out short by up to 1e-5.
    return fk.slerp(ik, influence).normalized()
