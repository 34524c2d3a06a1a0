"""What a solver is given and what it gives back: Chain, Goal, Solution, Outcome, ChainError; the plane in which a chain
bends, and its reach: softness near full extension, and stretch beyond it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from math import dist, exp, log
from operator import mul

from mathutils import Quaternion, Vector

from .. import messages
from .limits import Hinge, Swing, limits_of
from .vectors import ChainError, direction, finite_point, rotation_to


@dataclass(slots=True)
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
        return rotation_to(self.along, self.normal, self.side)


@dataclass(slots=True)
class Start:
    """What depends on a chain's starting pose alone, and so is the same for all its goals.

    frame: its bend frame. end: from root to end. noise: distance from the root below which float32 has no direction.
    reach: nearest and farthest distance that the links k, k+1, … reach. unturned: the rotation from the frame to the
    coordinate axes. Of two links alone: unrolled: for each the rotation to the coordinate axes from its direction and
    the frame's normal. pair: the distance from which on float32 has a direction and the links a triangle, the nearest
    and the farthest reach, and the difference of the squared lengths; empty for other chains, and with joint limits.
    """

    frame: BendFrame
    end: Vector
    noise: float
    reach: list[tuple[float, float]]
    unturned: Quaternion
    unrolled: tuple[Quaternion, ...]
    pair: tuple[float, ...]


MET = 1e-5
"""Distance to the target, relative to the chain's reach, up to which it counts as reached."""


class Outcome(IntEnum):
    """How the target lies to the chain, in arrays too. Out of reach is a result, not an error.

    LIMITED: the links could span the distance, but their joint limits keep the end from the target.
    """

    REACHED, TOO_FAR, TOO_NEAR, LIMITED = range(4)


class Chain:
    """A chain of rigid links in the pose from which it starts.

    joints: n+1 points, root first, all in one space and one unit; they give the n link lengths and the
    starting directions.
    cones, hinges, swings: limits of the joints, one entry per link, root first, None where free; each may be None as
    a whole. A cone is the largest angle in radians between a link and the link before it (0: straight on); the
    first is measured from `parent_direction` and is free without one. For the others see `Hinge` and `Swing`. Limits
    hold in every pose that is solved, also where the starting pose breaks them.
    bend_normal: the normal of the plane in which the chain bends where its own joints do not tell (a chain that
    is straight or folded flat): positive bends turn about it by the right-hand rule. A function that gives it is
    called only where it is needed. None: a fixed rule.

    Zero-length links are legal. Raises ChainError for fewer than two points, NaN and infinities, and for limits that
    are none or allow nothing.
    """

    __slots__ = ("bend_normal", "directions", "joints", "length", "lengths", "limits", "start")

    def __init__(
        self,
        joints: Sequence[Sequence[float]],
        cones: Sequence[float | None] | None = None,
        hinges: Sequence[Hinge | tuple | None] | None = None,
        swings: Sequence[Swing | tuple | None] | None = None,
        parent_direction: Sequence[float] | None = None,
        bend_normal: Sequence[float] | Callable[[], Sequence[float]] | None = None,
    ) -> None:
        if len(joints) < 2:
            raise ChainError(messages.TOO_FEW_POINTS(count=len(joints)))
        self.joints = tuple([finite_point(joint, "joint", k) for k, joint in enumerate(joints)])
        given = bend_normal is None or callable(bend_normal)
        self.bend_normal = bend_normal if given else finite_point(bend_normal, "the bend normal")
        points = [joint.to_tuple() for joint in self.joints]
        self.lengths = tuple([dist(a, b) for a, b in pairwise(points)])
        self.length = sum(self.lengths)
        self.directions = self._directions()
        self.limits = None
        self.start: Start | None = None
        if cones or hinges or swings:
            self.limits = limits_of(self.directions, cones, hinges, swings, parent_direction)

    def _directions(self) -> tuple[Vector, ...]:
        """Unit directions of the links; a link without length points where its predecessor points."""
        directions = [direction(b - a) for a, b in pairwise(self.joints)]
        if not all(self.lengths):
            last = next((along for along in directions if along.length), Vector((0.0, 0.0, 1.0)))
            for k, length in enumerate(self.lengths):
                last = directions[k] = directions[k] if length else last.copy()
        return tuple(directions)


@dataclass(slots=True)
class Goal:
    """Where the last joint shall be, and how the chain shall bend on its way there.

    target: point that the last joint reaches. pole: point towards which the chain bends; None: the chain
    bends as it bends in its starting pose. swivel: angle in radians that turns the bend about the line from
    root to target, after the pole. flip: bend the joints the other way; the links keep their roll.
    softness: part of the chain's length (0 to 0.5) over which it eases into full extension.
    least_motion: chains over two links move as little as possible, instead of staying straight.
    stretch_max: ratio (1 or more) up to which the chain lengthens, so that its end arrives at a target too far.
    """

    target: Sequence[float]
    pole: Sequence[float] | None = None
    swivel: float = 0.0
    flip: bool = False
    softness: float = 0.0
    least_motion: bool = False
    stretch_max: float = 1.0

    @property
    def asks_more(self) -> bool:
        """Whether two links are asked for more than to reach the target, bent to the pole."""
        return bool(self.swivel or self.flip or self.softness or self.stretch_max != 1.0)


class Solution:
    """A solved chain, in the space of the chain's joints.

    joints: n+1 points; joints[0] is the root; lengths are kept, or all multiplied by `stretch`. outcome: whether the
    target was in reach. residual: distance from the last joint to the target. stretch: by how much the chain was
    lengthened. limited: for a chain with limits, which of its joints stand at one. rotations: for a chain with limits,
    how each link turned; see `link_rotations`. searched: True if a search within joint limits found the pose. Where
    several poses are as good, rounding decides which: the same chain in another space may be given another one.

    What not everyone asks for, `directions` and `turn`, is computed when it is asked for. flat: of two links, what
    that and their rotations come from: the unit vectors along, normal and side of the bend frame at the target; the
    parts of the first link along and aside, and of the second along, aside it is the opposite of the first; and what
    the chain started from.
    """

    __slots__ = ("flat", "joints")

    joints: tuple[Vector, ...]
    flat: "tuple[tuple[Vector, Vector, Vector], float, float, float, Start] | None"

    # Where nothing is in the way; `Aim` has places for what may be.
    outcome: Outcome = Outcome.REACHED
    residual: float = 0.0
    stretch: float = 1.0
    limited: tuple[bool, ...] = ()
    rotations: tuple[Quaternion, ...] | None = None
    searched: bool = False

    @property
    def normal(self) -> Vector:
        """Unit normal of the bend plane, defined also where the joints are in line."""
        assert self.flat is not None
        return self.flat[0][1]

    @property
    def directions(self) -> tuple[Vector, ...]:
        """Unit vectors along the n links."""
        assert self.flat is not None
        (along, _, side), first, aside, second, _ = self.flat
        links = along * first + side * aside, along * second - side * aside
        # A link without length points to the target, as it does in the starting pose turned there.
        return tuple(direction(link if link.length else along) for link in links)

    @property
    def turn(self) -> Quaternion:
        """The rigid rotation by which the starting pose was aimed and rolled to the pole before its joints bent."""
        assert self.flat is not None
        frame, *_, start = self.flat
        return rotation_to(*frame) @ start.unturned


def joint_points(root: Vector, lengths: Sequence[float], directions: Sequence[Vector]) -> tuple[Vector, ...]:
    """The joints of a chain from its links: forward kinematics of points."""
    points = [root.copy(), *map(mul, directions, lengths)]
    for before, point in pairwise(points):
        point += before
    return tuple(points)


def reach_limits(lengths: Sequence[float]) -> list[tuple[float, float]]:
    """Nearest and farthest distance that links k, k+1, … reach from their first joint, for k = 0 … n.

    The distances that free links reach fill one interval: a link added in front of a part that reaches
    [near, far] can bring every distance between the two circles' extremes. The last entry is (0, 0).
    """
    limits = [(0.0, 0.0)]
    for length in reversed(lengths):
        near, far = limits[-1]
        limits.append((max(0.0, near - length, length - far), far + length))
    return limits[::-1]


def outcome_at(distance: float, near: float, far: float) -> Outcome:
    """How a target at `distance` from the root lies to a chain that reaches from `near` to `far`."""
    slack = MET * far
    if distance > far + slack:
        return Outcome.TOO_FAR
    return Outcome.TOO_NEAR if distance < near - slack else Outcome.REACHED


def eased(distance: float, length: float, softness: float) -> float:
    """The distance at which a soft chain of `length` holds its end when the target is at `distance`.

    Exact up to (1 - softness) * length. From there an exponential with the same slope at its start rises towards
    `length` and never passes it, so that the last bend does not snap straight. softness 0 changes nothing.
    """
    span = softness * length
    beyond = distance - (length - span)
    if span <= 0.0 or beyond <= 0.0:
        return distance
    return length - span * exp(-beyond / span)


def uneased(held: float, length: float, softness: float) -> float:
    """The distance of a target at which a soft chain of `length` holds its end at `held`: the inverse of `eased`.

    Fully extended it would have to be infinitely far; then it is so far that single precision tells no difference.
    """
    span = softness * length
    left = length - held
    if span <= 0.0 or left >= span:
        return held
    return length - span - span * log(max(left, 1e-7 * length) / span)


def stretch(distance: float, held: float, length: float, stretch_max: float) -> float:
    """The ratio by which a chain of `length` lengthens so that its end arrives at a target at `distance`.

    held: where the unstretched chain holds its end (`eased`): where softness sets in, so does the lengthening, and the
    end arrives all the same. At most `stretch_max`.
    """
    held = min(held, length)
    return min(distance / held, stretch_max) if distance > held > 0.0 else 1.0
