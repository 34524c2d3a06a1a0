"""Rotations of many rows at once, in every rotation mode: from a channel's numbers to quaternions and back.

Quaternions are arrays (..., 4) in the order w, x, y, z.
"""

from collections.abc import Sequence
from math import pi, tau

import numpy as np
from mathutils import Matrix, Quaternion

from ...solvers.arrays import multiply, quaternions
from .channels import channel_of, raw_of
from .euler import EULER_ORDERS, LOCKED


def _is_buffer(matrix: Matrix) -> bool:
    try:
        memoryview(matrix)
    except TypeError:
        return False
    return True


_IS_BUFFER = _is_buffer(Matrix())
"""Whether numpy can copy a matrix at once: since Blender 5.0."""


def array_of(matrix: Matrix) -> np.ndarray:
    """A matrix (4, 4) in double precision."""
    if _IS_BUFFER:
        return np.array(matrix, dtype=float)
    # By its rows: without a buffer numpy itself takes two to four times as long.
    return np.array(matrix[0][:] + matrix[1][:] + matrix[2][:] + matrix[3][:]).reshape(4, 4)


def quaternions_of(numbers: np.ndarray, mode: str) -> np.ndarray:
    """The unit quaternions (n, 4) that Blender makes of the numbers (n, 3 or 4) of a channel in a rotation mode."""
    if mode == "QUATERNION":
        lengths = np.linalg.norm(numbers, axis=1)[:, None]
        # A quaternion of zeros is half a turn about X to Blender.
        return np.where(lengths, numbers, (0.0, 1.0, 0.0, 0.0)) / np.where(lengths, lengths, 1.0)
    if mode == "AXIS_ANGLE":
        lengths = np.linalg.norm(numbers[:, 1:], axis=1)[:, None]
        half = 0.5 * np.where(lengths, numbers[:, :1], 0.0)
        units = numbers[:, 1:] / np.where(lengths, lengths, 1.0)
        return np.concatenate([np.cos(half), np.sin(half) * units], axis=1)
    # Euler angles: about the first axis of the mode's name first.
    first, second, third = (_about(axis, numbers[:, "XYZ".index(axis)]) for axis in mode)
    return multiply(third, multiply(second, first))


def _about(axis: str, angles: np.ndarray) -> np.ndarray:
    turns = np.zeros((len(angles), 4))
    turns[:, 0], turns[:, 1 + "XYZ".index(axis)] = np.cos(0.5 * angles), np.sin(0.5 * angles)
    return turns


def matrices_of(turns: np.ndarray) -> np.ndarray:
    """The rotation matrices (n, 3, 3) of unit quaternions (n, 4)."""
    w, x, y, z = turns.T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def turns_in(matrices: np.ndarray) -> np.ndarray:
    """The rotations (n, 4) in matrices (n, 4, 4) that may scale and mirror as well: see `limb.rotation_in`."""
    basis = matrices[:, :3, :3]
    basis = basis * np.where(np.linalg.det(basis) < 0.0, -1.0, 1.0)[:, None, None]
    basis = basis / np.linalg.norm(basis, axis=1, keepdims=True)
    return quaternions(basis)


def numbers_of(turns: np.ndarray, mode: str, near: np.ndarray) -> np.ndarray:
    """The numbers (n, 3 or 4) of `mode` that mean unit quaternions (n, 4), of all such those nearest to `near`
    (n or 1, 3 or 4): the inverse of `quaternions_of`."""
    if mode == "QUATERNION":
        return np.where((turns * near).sum(axis=1, keepdims=True) < 0.0, -turns, turns)
    near = np.broadcast_to(near, (len(turns), channel_of(mode)[1]))
    return _axis_angles(turns, near) if mode == "AXIS_ANGLE" else _eulers(turns, mode, near)


def _axis_angles(turns: np.ndarray, near: np.ndarray) -> np.ndarray:
    """As `channels.raw_of`, for rows."""
    sines = np.linalg.norm(turns[:, 1:], axis=1)[:, None]
    angles = 2.0 * np.arctan2(sines, turns[:, :1])
    axes = turns[:, 1:] / np.where(sines, sines, 1.0)
    lengths = np.linalg.norm(near[:, 1:], axis=1)[:, None]
    kept = np.where(lengths, near[:, 1:] / np.where(lengths, lengths, 1.0), (0.0, 1.0, 0.0))
    turned = np.where((axes * near[:, 1:]).sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0)
    small = sines < 1e-6
    axes, angles = np.where(small, kept, turned * axes), np.where(small, angles, turned * angles)
    return np.concatenate([angles + tau * np.round((near[:, :1] - angles) / tau), axes], axis=1)


def _eulers(turns: np.ndarray, mode: str, near: np.ndarray) -> np.ndarray:
    """As `euler.euler_of`, for rows."""
    first, middle, last, sign = EULER_ORDERS[mode]
    close = np.array((near[:, first], near[:, middle], sign * near[:, last]))
    half_sum, half_difference, below, above = _half_angles(turns, mode)
    half_sum, half_difference = (
        np.where(below < LOCKED, _between(close[0] + half_difference, close[2] - half_difference), half_sum),
        np.where(
            (above < LOCKED) & (below >= LOCKED), _between(half_sum - close[0], close[2] - half_sum), half_difference
        ),
    )
    one, other = _both(half_sum, half_difference, below, above)
    one, other = (each + tau * np.round((close - each) / tau) for each in (one, other))
    nearer = np.abs(other - close).sum(axis=0) < np.abs(one - close).sum(axis=0)
    return _in_order(np.where(nearer, other, one), mode)


def _half_angles(turns: np.ndarray, mode: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Half the sum and half the difference of the outer angles; cosine and sine of the half of what the middle one is
    more than minus a quarter turn."""
    first, middle, last, sign = EULER_ORDERS[mode]
    w, v = turns[:, 0], turns[:, 1:].T
    a, b = w - v[middle], v[first] + sign * v[last]
    c, d = w + v[middle], sign * v[last] - v[first]
    return np.arctan2(b, a), np.arctan2(d, c), np.hypot(a, b), np.hypot(c, d)


def _both(
    half_sum: np.ndarray, half_difference: np.ndarray, below: np.ndarray, above: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Outer, middle and outer angles (3, n), but for whole turns; and the same rotations by half a turn more of each
    outer axis."""
    one = np.array((half_sum - half_difference, 2.0 * np.arctan2(above, below) - pi / 2.0, half_sum + half_difference))
    return one, np.array((one[0] + pi, pi - one[1], one[2] + pi))


def _in_order(angles: np.ndarray, mode: str) -> np.ndarray:
    first, middle, last, sign = EULER_ORDERS[mode]
    numbers = np.empty((angles.shape[1], 3))
    numbers[:, first], numbers[:, middle], numbers[:, last] = angles[0], angles[1], sign * angles[2]
    return numbers


def _between(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The middle of angles that are known but for whole turns."""
    return one + (two - one - tau * np.round((two - one) / tau)) / 2.0


def continuous(turns: np.ndarray, mode: str, first: np.ndarray) -> np.ndarray:
    """The numbers (n, 3 or 4) of `mode` for unit quaternions (n, 4) without sign flips and jumps by whole turns from
    one row to the next; first: numbers that the first row is to be nearest to."""
    if mode == "QUATERNION":
        flips = (turns * np.concatenate((first[None, :4], turns[:-1]))).sum(axis=1)
        return turns * np.cumprod(np.where(flips < 0.0, -1.0, 1.0))[:, None]
    angles = None if mode == "AXIS_ANGLE" else _half_angles(turns, mode)
    near = tuple(first[: channel_of(mode)[1]].tolist())
    if angles is None or min(angles[2].min(), angles[3].min()) < LOCKED:
        # Where a number has no value of its own it is the one before.
        numbers = []
        for turn in turns.tolist():
            numbers.append(near := raw_of(Quaternion(turn), mode, near))
        return np.array(numbers)
    one, other = _both(*angles)
    same, crossed = _apart(one[:, 1:] - one[:, :-1]), _apart(other[:, 1:] - one[:, :-1])
    crossings = np.cumsum(np.concatenate(([0], crossed < same))) % 2
    numbers = np.unwrap(_in_order(np.where(crossings, other, one), mode), axis=0)
    beside = np.unwrap(_in_order(np.where(crossings, one, other), mode), axis=0)
    for each in (numbers, beside):
        each += tau * np.round((near - each[0]) / tau)
    return min(numbers, beside, key=lambda each: np.abs(each[0] - near).sum())


def _apart(angles: np.ndarray) -> np.ndarray:
    """The sums of angles (3, n), but for whole turns."""
    return np.abs(angles - tau * np.round(angles / tau)).sum(axis=0)


def continuous_numbers(numbers: Sequence[Sequence[float]], mode: str) -> np.ndarray:
    """The same rotations, numbers (n, 3 or 4) of `mode` in single precision, without sign flips and jumps."""
    rows = np.array(numbers, float)
    return continuous(quaternions_of(rows, mode), mode, rows[0]).astype(np.float32)
