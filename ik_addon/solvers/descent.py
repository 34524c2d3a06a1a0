"""All joints of a limited chain at once, let down to the target: for roots with limits of their own."""

from collections.abc import Sequence

from mathutils import Matrix, Quaternion, Vector

from .joints import HingeJoint, Joint
from .shapes import Turns, end_of
from .vectors import STRAIGHT, direction, swing

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
        pull = _pull(hinges, levers, held, target - end, damping)
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


def _pull(
    hinges: Sequence[Vector | None],
    levers: Sequence[Vector],
    held: Sequence[Sequence[Vector]],
    missing: Vector,
    damping: float,
) -> Vector:
    """The force at the end that makes the joints, yielding to it, move the end by `missing` (damped)."""
    yielding = Matrix.Diagonal((damping, damping, damping))
    for hinge, lever, axes in zip(hinges, levers, held, strict=True):
        if hinge is not None:
            if not axes:
                yielding += _outer(hinge.cross(lever))
            continue
        square = lever.length_squared
        yielding += Matrix.Diagonal((square, square, square)) - _outer(lever)
        for axis in axes:
            yielding -= _outer(axis.cross(lever))
    return yielding.inverted_safe() @ missing


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
