"""Which way a chain bends: the frame of its starting pose, and the frame that the goal asks for.

Every solver begins with one rigid turn of the whole chain, from its own bend frame into the goal's. So the
pole, the swivel and the bend without a pole are the same for all of them, and a target on the chain's own end
with the pole in its own bend plane turns nothing.
"""

from dataclasses import dataclass

from mathutils import Matrix, Quaternion, Vector

from .chain import ROUNDING, Chain, Goal, Outcome, outcome_at, reach_limits
from .reach import eased, stretch
from .vectors import (
    STRAIGHT,
    ChainError,
    across,
    direction,
    finite_number,
    finite_point,
    perpendicular,
    swing,
    unit_across,
)


@dataclass(frozen=True, slots=True)
class BendFrame:
    """Where a chain points and bends: two perpendicular unit vectors.

    along: from the root to the end, or to the target. side: towards which the inner joints bulge.
    """

    along: Vector
    side: Vector

    @property
    def normal(self) -> Vector:
        """The axis about which positive bends turn; (along, normal, side) is right-handed."""
        return self.side.cross(self.along)

    def rotation(self) -> Quaternion:
        """The rotation from the coordinate axes to (along, normal, side)."""
        return Matrix((self.along, self.normal, self.side)).transposed().to_quaternion()


@dataclass(frozen=True, slots=True)
class Aim:
    """What is left for a solver to do: bring the end of the turned chain to `offset` in the bend frame.

    frame: bend frame of the goal. turn: rigid rotation of the starting pose into it. bulge: unit vector
    towards which the joints shall bend (frame.side, or its opposite where flipped). offset: from the root to the
    point to reach before the chain is lengthened by `stretch`, softness applied; distance: its length. limits:
    nearest and farthest reach of the links k, k+1, …
    """

    frame: BendFrame
    turn: Quaternion
    bulge: Vector
    offset: Vector
    distance: float
    outcome: Outcome
    limits: list[tuple[float, float]]
    least_motion: bool
    stretch: float

    def start_directions(self, chain: Chain) -> list[Vector]:
        """Directions of the chain's links, turned into the goal's frame; flipped, mirrored to its other side."""
        directions = [self.turn @ along for along in chain.directions]
        if self.bulge == self.frame.side:
            return directions
        return [along - self.frame.side * (2.0 * along.dot(self.frame.side)) for along in directions]


def aim_at(chain: Chain, goal: Goal, farthest: float) -> Aim:
    """Turn the goal's wishes into an Aim; farthest: how far the chain's end comes from its root.

    Raises ChainError where one of the wishes is not finite, or out of its range.
    """
    softness = finite_number(goal.softness, "the softness")
    if not 0.0 <= softness <= 0.5:
        raise ChainError(f"the softness is {softness}; give a part of the chain's length from 0 to 0.5")
    stretch_max = finite_number(goal.stretch_max, "the largest stretch")
    if stretch_max < 1.0:
        raise ChainError(f"the largest stretch is {stretch_max}; give a ratio of 1 or more")
    root = chain.joints[0]
    offset = finite_point(goal.target, "the target") - root
    start = start_frame(chain)
    distance = offset.length
    along = direction(offset) if distance > ROUNDING * chain.length else start.along
    frame = BendFrame(along, _side(root, start, along, goal))
    limits = reach_limits(chain.lengths)
    soft_distance = eased(distance, farthest, softness)
    lengthened = stretch(distance, soft_distance, farthest, stretch_max)
    return Aim(
        frame=frame,
        turn=frame.rotation() @ start.rotation().inverted(),
        bulge=-frame.side if goal.flip else frame.side,
        offset=offset if soft_distance == distance else along * soft_distance,
        distance=soft_distance,
        outcome=outcome_at(distance, (limits[0][0], limits[0][1] * lengthened)),
        limits=limits,
        least_motion=goal.least_motion,
        stretch=lengthened,
    )


def start_frame(chain: Chain) -> BendFrame:
    """The bend frame of a chain's own pose; where it is straight, its stated normal decides, else a fixed rule."""
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
    the chain would bulge if it bent by one radian: below 1e-3 of that float32 joints hold only noise.
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
    bulges = across(bulge, along).length > STRAIGHT * one_radian
    return along, unit_across(bulge, along) if bulges else None


def _normal_across(chain: Chain, axis: Vector) -> Vector:
    """The chain's stated bend normal, made perpendicular to `axis`; by a fixed rule where there is none."""
    given = chain.bend_normal() if callable(chain.bend_normal) else chain.bend_normal
    if given is not None:
        normal = direction(finite_point(given, "the bend normal"))
        if across(normal, axis).length > STRAIGHT:
            return unit_across(normal, axis)
    return perpendicular(axis)


def _side(root: Vector, start: BendFrame, along: Vector, goal: Goal) -> Vector:
    """Where the chain shall bulge: to the pole; without one, or with the pole in line, as it starts."""
    side = None
    if goal.pole is not None:
        to_pole = finite_point(goal.pole, "the pole") - root
        if across(to_pole, along).length > 2 * ROUNDING * to_pole.length:
            side = unit_across(to_pole, along)
    if side is None:
        side = unit_across(swing(start.along, along, start.normal) @ start.side, along)
    if goal.swivel:
        side = unit_across(Quaternion(along, finite_number(goal.swivel, "the swivel")) @ side, along)
    return side
