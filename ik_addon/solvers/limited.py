"""Chains with joint limits: no limit is broken to reach a target; what is left is the residual.

Roots with limits of their own are solved by descent over all joints at once."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import atan2, copysign, cos, hypot, pi, sin, sqrt

from mathutils import Matrix, Quaternion, Vector

from .any_chain import MAX_SWEEPS
from .bending import BendFrame, aim_at, start_frame
from .chain import MET, Chain, Goal, Outcome, Solution, Start, joint_points, reach_limits
from .limits import BallJoint, ConeJoints, HingeJoint, Joint
from .shapes import SPREAD, Shapes, Turns, at_limits, bends_at, end_of, links, placed
from .vectors import ROUNDING, STRAIGHT, cosine_wave, direction, perpendicular, rotation_to, swing, unit_across, wrapped

_STEPS = 60
_LARGEST_STEP = 0.6
_LEAST_GAIN = 1e-4


def descend(
    joints: Sequence[Joint], lengths: Sequence[float], turns: Turns, target: Vector, tolerance: float
) -> tuple[Turns, float]:
    """Damped least squares from a legal pose: each step turns all joints a little, each within its limits.

    target: from the root. Returns the turns and how far the end is from the target then: at most `tolerance`, or a
    least that no small legal turn improves. A joint that stands at its limit and would be pushed against it takes
    no part in a step, or only along the rim.

    Levenberg and Marquardt's method, in the form for few equations and many unknowns (K. Levenberg, "A method for
    the solution of certain non-linear problems in least squares"), projected on the limits.
    """
    size = sum(lengths)
    turns = list(turns)
    miss = (target - end_of(joints, lengths, turns)).length
    damping = 1e-2
    last = miss
    for step in range(_STEPS):
        if miss <= tolerance:
            break
        if step % 8 == 7:
            if miss > last * (1.0 - _LEAST_GAIN):
                break
            last = miss
        moved = _step(joints, lengths, turns, target, damping * size * size)
        new_miss = (target - end_of(joints, lengths, moved)).length
        if new_miss < miss:
            turns, miss = moved, new_miss
            damping = max(damping / 8.0, 1e-7)
        else:
            damping *= 6.0
            if damping > 1e4:
                break
    return turns, miss


def sweep(
    joints: Sequence[Joint], lengths: Sequence[float], turns: Turns, target: Vector, tolerance: float, sweeps: int
) -> tuple[Turns, float]:
    """Cyclic coordinate descent with limits: from the tip to the root each joint turns the end at the target, as far
    as it may. Arguments and result as for `descend`.
    """
    turns = list(turns)
    miss = (target - end_of(joints, lengths, turns)).length
    for _ in range(sweeps):
        if miss <= tolerance:
            break
        points, frames = _placed(joints, lengths, turns)
        end = points[-1]
        for k in range(len(joints) - 1, -1, -1):
            to_end, to_target = end - points[k], target - points[k]
            if not to_end.length or not to_target.length:
                continue
            before = frames[k]
            wish = swing(direction(to_end), direction(to_target), before @ joints[k].across_axis)
            turned = joints[k].clamped((before.inverted() @ wish @ before @ turns[k]).normalized())
            end = points[k] + before @ (turned @ (turns[k].inverted() @ (before.inverted() @ to_end)))
            turns[k] = turned
        miss = (target - end_of(joints, lengths, turns)).length
    return turns, miss


def _placed(
    joints: Sequence[Joint], lengths: Sequence[float], turns: Sequence[Quaternion]
) -> tuple[list[Vector], list[Quaternion]]:
    """Points of a chain, and for each joint the rotation that carries it."""
    carried = Quaternion()
    points, frames = [Vector((0.0, 0.0, 0.0))], []
    for joint, length, turn in zip(joints, lengths, turns, strict=True):
        frames.append(carried)
        carried = carried @ turn
        points.append(points[-1] + carried @ joint.zero * length)
    return points, frames


def _step(joints: Sequence[Joint], lengths: Sequence[float], turns: Turns, target: Vector, damping: float) -> Turns:
    """The turns after one damped step towards the target."""
    points, frames = _placed(joints, lengths, turns)
    end = points[-1]
    levers = [end - point for point in points[:-1]]
    hinges = [
        frame @ joint.axis if isinstance(joint, HingeJoint) else None
        for joint, frame in zip(joints, frames, strict=True)
    ]
    barred = [
        [frame @ axis for axis in joint.barred(turn)] for joint, frame, turn in zip(joints, frames, turns, strict=True)
    ]
    # Perpendicular axes about which each joint is held, since the step would push it against a limit.
    held: list[list[Vector]] = [[] for _ in joints]
    while True:
        yielding = Matrix.Diagonal((damping, damping, damping))
        for hinge, lever, axes in zip(hinges, levers, held, strict=True):
            if hinge is not None and not axes:
                yielding += _outer(hinge.cross(lever))
            elif hinge is None:
                square = lever.length_squared
                yielding += Matrix.Diagonal((square, square, square)) - _outer(lever)
                for axis in axes:
                    yielding -= _outer(axis.cross(lever))
        # The force at the end that makes the joints, yielding to it, move the end to the target, damped.
        pull = yielding.inverted_safe() @ (target - end)
        wishes = [_yield(*parts, pull) for parts in zip(hinges, levers, held, strict=True)]
        pushed = False
        for wish, axes, holds in zip(wishes, barred, held, strict=True):
            for axis in axes:
                rest = _without(axis, holds)
                if wish.dot(axis) > 0.0 and rest.length > STRAIGHT:
                    holds.append(rest.normalized())
                    pushed = True
        if not pushed:
            break
    moved = []
    for joint, frame, turn, wish in zip(joints, frames, turns, wishes, strict=True):
        angle = min(wish.length, _LARGEST_STEP)
        if angle:
            turn = joint.clamped((Quaternion(frame.inverted() @ direction(wish), angle) @ turn).normalized())
        moved.append(turn)
    return moved


def _yield(hinge: Vector | None, lever: Vector, held: Sequence[Vector], pull: Vector) -> Vector:
    """How a joint yields to the pull: its axis times its angle."""
    wish = lever.cross(pull)
    if hinge is not None:
        wish = hinge * hinge.dot(wish)
    return _without(wish, held)


def _without(vector: Vector, axes: Sequence[Vector]) -> Vector:
    """What is left of a vector without its parts along perpendicular unit axes."""
    for axis in axes:
        vector = vector - axis * vector.dot(axis)
    return vector


def _outer(vector: Vector) -> Matrix:
    x, y, z = vector
    return Matrix((vector * x, vector * y, vector * z))


_ROLLS = 24
_HALVINGS = 20
_SCATTERED = 16

_AS_ONE = 25
"""So many links round as one point does; the rounding of more adds up, like random steps."""

_CLEARLY = 1e-3
"""Radians by which rounding alone makes no roll better, and no mirrored turn illegal."""

_LEGAL = 2e-6
"""Angle in radians up to which a turn counts as within its limits; what it strays is taken off again."""


def solve_limited(chain: Chain, goal: Goal) -> Solution:
    """Solve a chain with limits; see `solve`."""
    assert chain.limits is not None
    limits = chain.limits
    if isinstance(limits, ConeJoints) and (not goal.least_motion or len(limits) <= 2):
        return _in_plane(chain, goal, limits)
    limited = _Limited(chain, goal, tuple(limits))
    return limited.solution(limited.turns())


def sweep_limited(chain: Chain, goal: Goal) -> Solution:
    """Solve a chain with limits by CCD, as a reference."""
    assert chain.limits is not None
    limited = _Limited(chain, goal, tuple(chain.limits))
    return limited.solution(limited.swept())


def legal_reach(chain: Chain) -> tuple[float, float]:
    """The nearest and the farthest distance from its root that a chain holds its end at within its joint limits."""
    if chain.limits is None:
        return reach_limits(chain.lengths)[0]
    shapes = _Limited(chain, Goal(chain.joints[-1]), tuple(chain.limits)).shapes
    return shapes.span(shapes.shortest), shapes.span(shapes.longest)


def _in_plane(chain: Chain, goal: Goal, joints: ConeJoints) -> Solution:
    """Solve a chain of cones below a free root: whatever it reaches it reaches bent in the plane of the goal."""
    lengths, aim = chain.lengths, aim_at(chain, goal, chain.length)
    bends = bends_at(lengths, joints.cones, aim.distance)
    angles, x, y = placed(lengths, bends)
    span = hypot(x, y)
    # With the end on the root there is no line to it: the first link points along the goal's line.
    first = -atan2(y, x) if span > ROUNDING * chain.length else 0.0
    # Lengthened, the end shall arrive; else it shall come as far as softness lets it.
    wished = aim.distance if aim.stretch == 1.0 else (aim.target - chain.joints[0]).length
    missed = abs(span * aim.stretch - wished)
    if missed > MET * chain.length and missed > _met(chain) and aim.outcome is Outcome.REACHED:
        aim.outcome = Outcome.LIMITED
    along, normal, side = aim.along, aim.normal, aim.side
    turned = rotation_to(along, normal, side)
    if goal.flip:
        normal, side = -normal, -side
    angles = [first + angle for angle in angles]
    directions = [along * cos(angle) - side * sin(angle) for angle in angles]
    unturned = joints.unturned or _unturned(chain, joints, aim.start)
    aim.rotations = tuple([Quaternion(normal, angle) @ turned @ unturned[k] for k, angle in enumerate(angles)])
    aim.limited = at_limits(bends, joints.cones)
    return aim.posed(chain, directions)


def _unturned(chain: Chain, joints: ConeJoints, start: Start) -> list[Quaternion]:
    """For each link the rotation that straightens the chain from its starting pose up to it, by the shortest bends, and
    takes its first link and its normal to the coordinate axes; kept with the joints."""
    before = chain.directions[0]
    found = [start.unturned]
    if before != start.frame.along:
        across = _across(start.frame.normal, before)
        found = [rotation_to(before, across, before.cross(across)).inverted()]
    for along in chain.directions[1:]:
        if along == before:
            found.append(found[-1])
            continue
        opposite = before @ along <= 0.0
        bend = swing(before, along, perpendicular(before)) if opposite else before.rotation_difference(along)
        found.append(found[-1] @ bend.inverted())
        before = along
    joints.unturned = found
    return found


def _across(normal: Vector, along: Vector) -> Vector:
    """The part of a normal across a link, by a fixed rule where the normal is along it."""
    return unit_across(normal, along) if abs(normal @ along) < cos(STRAIGHT) else perpendicular(along)


def _slack(chain: Chain) -> float:
    """What rounding costs the end of a chain of this length and so many links."""
    slack, count = ROUNDING * chain.length, len(chain.lengths)
    return slack if count <= _AS_ONE else slack * sqrt(count / _AS_ONE)


def _met(chain: Chain) -> float:
    """Up to which distance a target of a chain with limits counts as met."""
    return max(MET * chain.length, 2.0 * _slack(chain))


class _Limited:
    def __init__(self, chain: Chain, goal: Goal, joints: tuple[Joint, ...]) -> None:
        self.chain, self.goal, self.joints = chain, goal, joints
        # The shapes' space has the root at its zero.
        to_shape = joints[0].start.inverted()
        self.hinged = any(isinstance(joint, HingeJoint) for joint in joints[1:])
        self.normal = _hinge_normal(joints, to_shape @ start_frame(chain).normal)
        # Whatever cones allow in space they allow in a plane; and one hinge has no other shapes than those of its
        # angle. So a descent would find nothing that the shapes miss, but for what the search for the shortest misses.
        cones = all(isinstance(joint, BallJoint) and joint.bend_max is not None for joint in joints[1:])
        self.certain = cones or (len(joints) == 2 and self.hinged)
        if cones and not goal.least_motion:
            # The shapes bend about the part of it across the first link, and this is what the goal's normal shall be.
            self.normal = _across(self.normal, joints[0].zero)
        self.shapes = Shapes(joints, chain.lengths, self.normal)
        self.aim = aim_at(chain, goal, self.shapes.span(self.shapes.longest))
        self.slack = _slack(chain)
        self.flipped = False

    def solution(self, turns: Turns) -> Solution:
        """The chain with its joints turned."""
        carried, carried_start = Quaternion(), Quaternion()
        rotations, directions = [], []
        for joint, turn in zip(self.joints, turns, strict=True):
            carried, carried_start = carried @ turn, carried_start @ joint.start
            rotations.append(carried @ carried_start.inverted())
            directions.append((carried @ joint.zero).normalized())
        aim, chain = self.aim, self.chain
        # Lengthened, the end shall arrive; else it shall come as far as softness lets it.
        wished = aim.offset if aim.stretch == 1.0 else aim.target - chain.joints[0]
        end = joint_points(Vector((0.0, 0.0, 0.0)), chain.lengths, directions)[-1]
        missed = (end * aim.stretch - wished).length
        held = aim.outcome is Outcome.REACHED and missed > _met(chain)
        aim.outcome = Outcome.LIMITED if held else aim.outcome
        aim.limited = tuple(joint.at_limit(turn) for joint, turn in zip(self.joints, turns, strict=True))
        aim.rotations = tuple(rotations)
        return aim.posed(chain, directions)

    def turns(self) -> Turns:
        """Legal turns of all joints that bring the end to the target, or as near to it as was found."""
        root, shape = self.joints[0], self._shape()
        aimed = self._rolled(self._aimed(shape))
        best = [root.clamped(aimed), *shape[1:]]
        best_miss = self._miss(best)
        near, far = self.aim.start.reach[0]
        # No links come nearer than free ones.
        least = max(near - self.aim.distance, self.aim.distance - far, 0.0)
        if best_miss <= least + 2.0 * self.slack or (self.certain and _strays(root, aimed) <= _LEGAL):
            return best
        self.aim.searched = True
        for start in self._starts(best):
            turns, miss = descend(self.joints, self.chain.lengths, start, self.aim.offset, self.slack)
            if miss < best_miss - 8.0 * self.slack:
                best, best_miss = turns, miss
            if miss <= 2.0 * self.slack:
                break
        return best

    def _miss(self, turns: Turns) -> float:
        return (end_of(self.joints, self.chain.lengths, turns) - self.aim.offset).length

    def swept(self) -> Turns:
        """What CCD makes of the legal pose nearest to the starting one."""
        self.aim.searched = True
        start = [joint.clamped(joint.start) for joint in self.joints]
        return sweep(self.joints, self.chain.lengths, start, self.aim.offset, self.slack, MAX_SWEEPS)[0]

    def _shape(self) -> Turns:
        """The shape that holds the end at the target's distance, mirrored where the goal flips it."""
        distance, inner = self.aim.distance, self.joints[1:]
        shape = None
        # A ball whose limits are its own bends about no one axis: of all ways the one from its own pose is taken.
        own = len(inner) == 1 and isinstance(inner[0], BallJoint) and inner[0].bend_max is None
        if own or (self.goal.least_motion and len(inner) > 1):
            start = [Quaternion(), *(joint.clamped(joint.start) for joint in inner)]
            shape = self.shapes.folded(distance, start)
        elif len(inner) > 1 and self.certain:
            shape = self.shapes.bent(bends_at(self.chain.lengths, [joint.bend_max for joint in inner], distance))
        if shape is None:
            shape = self.shapes.folded(distance, None)
        self.aim.searched |= not own and len(inner) > 1 and (self.goal.least_motion or not self.certain)
        if self.goal.flip:
            mirrored = [turn.inverted() for turn in shape]
            # Brought back into its range, it counts as long as it spans the same.
            legal = all(_strays(joint, turn) <= _CLEARLY for joint, turn in zip(inner, mirrored[1:], strict=True))
            mirrored[1:] = [joint.clamped(turn) for joint, turn in zip(inner, mirrored[1:], strict=True)]
            if legal and abs(self.shapes.span(mirrored) - self.shapes.span(shape)) <= 8.0 * self.slack:
                self.flipped, shape = True, mirrored
        return shape

    def _aimed(self, shape: Turns) -> Quaternion:
        """The root's turn that aims a shape at the target and rolls it to the pole."""
        points = joint_points(Vector((0.0, 0.0, 0.0)), self.chain.lengths, links(self.joints, shape))
        if self.hinged:
            # Out of one plane the shape's own bulge counts, as it does for a chain without limits.
            frame = start_frame(Chain(points, bend_normal=-self.normal if self.flipped else self.normal))
            if self.flipped:
                frame = BendFrame(frame.along, -frame.side)
        else:
            along = direction(points[-1]) if points[-1].length > self.slack else self.joints[0].zero
            normal = unit_across(self.normal, along)
            frame = BendFrame(along, along.cross(normal))
        return rotation_to(self.aim.along, self.aim.normal, self.aim.side) @ frame.rotation().inverted()

    def _rolled(self, aimed: Quaternion) -> Quaternion:
        """The root's turn rolled about the line to the target, as little as brings it into its limits.

        Where no roll does, the one that comes nearest to them.
        """
        root, along = self.joints[0], self.aim.along

        def strays(angle: float) -> float:
            return _strays(root, Quaternion(along, angle) @ aimed)

        best, least = 0.0, strays(0.0)
        for step in range(1, _ROLLS + 1) if least > _LEGAL else ():
            tried = {angle: strays(angle) for angle in (pi * step / _ROLLS, -pi * step / _ROLLS)}
            legal = [_smallest(angle, strays) for angle, strayed in tried.items() if strayed <= _LEGAL]
            if legal:
                best = legal[-1] if abs(legal[-1]) < abs(legal[0]) - _CLEARLY else legal[0]
                break
            for angle, strayed in tried.items():
                if strayed < least - _CLEARLY:
                    best, least = angle, strayed
        return Quaternion(along, best) @ aimed

    def _starts(self, nearest: Turns) -> Iterator[Turns]:
        """Legal poses from which to descend, in a fixed order: near the pole's side first."""
        yield nearest
        root = self.joints[0]
        for shape in self._more_shapes():
            yield [root.clamped(self._rolled(self._aimed(shape))), *shape[1:]]
        yield [joint.clamped(joint.start) for joint in self.joints]
        if not self.certain:
            for number in range(1, _SCATTERED + 1):
                parts = [(number * SPREAD * (k + 1)) % 1.0 for k in range(2 * len(self.joints))]
                yield [joint.at(*parts[2 * k : 2 * k + 2]) for k, joint in enumerate(self.joints)]

    def _more_shapes(self) -> Iterator[Turns]:
        yield self.shapes.folded(self.aim.distance, None)
        longest, shortest = self.shapes.longest, self.shapes.shortest
        for part in (0.1, 0.5):
            yield self.shapes.between(longest, shortest, part)
            mirrored = [turn.inverted() for turn in shortest]
            opposite = [joint.clamped(turn) for joint, turn in zip(self.joints, mirrored, strict=True)]
            yield self.shapes.between(longest, [longest[0], *opposite[1:]], part)


def _smallest(good: float, strays: Callable[[float], float]) -> float:
    """The smallest legal roll towards a legal one, from the step before it, which is none."""
    bad = good - copysign(pi / _ROLLS, good)
    for _ in range(_HALVINGS):
        middle = (good + bad) / 2.0
        if strays(middle) <= _LEGAL:
            good = middle
        else:
            bad = middle
    return good


def _strays(joint: Joint, turn: Quaternion) -> float:
    """How far a turn is from its joint's limits, in radians; 0 within them."""
    apart = turn.inverted() @ joint.clamped(turn)
    return 2.0 * hypot(apart.x, apart.y, apart.z)


def _hinge_normal(joints: Sequence[Joint], normal: Vector) -> Vector:
    """The normal of the bend plane: the first hinge's axis, towards the larger side of its range; else `normal`.

    A hinge that is locked altogether does not count. The sides are those of its straightest pose, which is not its zero
    where the chain is bent there.
    """
    pairs = ((before, own) for before, own in pairwise(joints) if isinstance(own, HingeJoint))
    before, hinge = next((pair for pair in pairs if pair[1].highest - pair[1].lowest > _LEGAL), (None, None))
    if before is None or hinge is None:
        return normal
    middle = (hinge.lowest + hinge.highest) / 2.0
    straight = cosine_wave(hinge.zero, hinge.axis, before.zero)[2]
    sides = -wrapped(straight - middle)
    if hinge.highest - hinge.lowest >= 2.0 * pi:
        sides = 0.0
    if abs(sides) < _LEGAL:
        sides = hinge.axis.dot(normal)
    return hinge.axis.copy() if sides >= 0.0 else -hinge.axis
