"""All joints of a limited chain at once, let down to the target: for roots with limits of their own."""

from collections.abc import Sequence
from math import cos, sin

from mathutils import Matrix, Quaternion, Vector

from .limits import HingeJoint, Joint
from .rotations import swing
from .shapes import Turns, end_of
from .vectors import direction

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
            turned = joints[k].clamped(before.inverted() @ wish @ before @ turns[k])
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
    missing = target - end
    levers = [end - point for point in points[:-1]]
    rims = []
    for joint, frame, turn in zip(joints, frames, turns, strict=True):
        rim = joint.outward(turn)
        rims.append(None if rim is None else frame @ rim)
    pushed: set[int] = set()
    while True:
        pull = _pull(joints, frames, levers, rims, pushed, missing, damping)
        wishes = [_wish(joint, frame, lever, pull) for joint, frame, lever in zip(joints, frames, levers, strict=True)]
        against = {k for k, rim in enumerate(rims) if rim is not None and wishes[k].dot(rim) > 0.0}
        if against <= pushed:
            break
        pushed |= against
    moved = []
    for k, (joint, frame, turn, wish) in enumerate(zip(joints, frames, turns, wishes, strict=True)):
        if k in pushed:
            wish = wish - rims[k] * wish.dot(rims[k])
        angle = min(wish.length, _LARGEST_STEP)
        if not angle:
            moved.append(turn)
            continue
        moved.append(joint.clamped(Quaternion(frame.inverted() @ direction(wish), angle) @ turn))
    return moved


def _pull(
    joints: Sequence[Joint],
    frames: Sequence[Quaternion],
    levers: Sequence[Vector],
    rims: Sequence[Vector | None],
    pushed: set[int],
    missing: Vector,
    damping: float,
) -> Vector:
    """The force at the end that makes the joints, yielding to it, move the end by `missing` (damped)."""
    yielding = Matrix.Diagonal((damping, damping, damping))
    for k, (joint, frame, lever) in enumerate(zip(joints, frames, levers, strict=True)):
        if isinstance(joint, HingeJoint):
            if k not in pushed:
                yielding += _outer((frame @ joint.axis).cross(lever))
            continue
        square = lever.length_squared
        yielding += Matrix.Diagonal((square, square, square)) - _outer(lever)
        if k in pushed:
            yielding -= _outer(rims[k].cross(lever))
    return yielding.inverted_safe() @ missing


def _wish(joint: Joint, frame: Quaternion, lever: Vector, pull: Vector) -> Vector:
    """How a joint yields to the pull: its axis times its angle."""
    wish = lever.cross(pull)
    if isinstance(joint, HingeJoint):
        axis = frame @ joint.axis
        return axis * axis.dot(wish)
    return wish


def _outer(vector: Vector) -> Matrix:
    x, y, z = vector
    return Matrix((vector * x, vector * y, vector * z))
