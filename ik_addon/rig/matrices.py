"""Rotation matrices of many rotations at once, in every rotation mode, as Blender makes them of a channel's numbers."""

import numpy as np
from mathutils import Matrix


def _is_buffer(matrix: Matrix) -> bool:
    try:
        memoryview(matrix)
    except TypeError:
        return False
    return True


_IS_BUFFER = _is_buffer(Matrix())
"""Whether numpy can copy a matrix at once: since Blender 5.0."""


def rotations(numbers: np.ndarray, mode: str) -> np.ndarray:
    """The matrices (n, 3, 3) of the rotations that the numbers (n, 3 or 4) of a channel mean in a rotation mode."""
    if mode == "QUATERNION":
        return _of_quaternions(numbers)
    if mode == "AXIS_ANGLE":
        return _of_axes(numbers[:, 1:], numbers[:, 0])
    # Euler angles: about the first axis of the mode's name first.
    first, second, third = (_about(axis, numbers[:, "XYZ".index(axis)]) for axis in mode)
    return third @ second @ first


def array_of(matrix: Matrix) -> np.ndarray:
    """A matrix (4, 4) in double precision."""
    if _IS_BUFFER:
        return np.array(matrix, dtype=float)
    # By its rows: without a buffer numpy itself takes two to four times as long.
    return np.array(matrix[0][:] + matrix[1][:] + matrix[2][:] + matrix[3][:]).reshape(4, 4)


def _about(axis: str, angles: np.ndarray) -> np.ndarray:
    """Turns about X, Y or Z."""
    first = "XYZ".index(axis)
    second, third = (first + 1) % 3, (first + 2) % 3
    matrices = np.zeros((len(angles), 3, 3))
    matrices[:, first, first] = 1.0
    matrices[:, second, second] = matrices[:, third, third] = np.cos(angles)
    matrices[:, third, second] = np.sin(angles)
    matrices[:, second, third] = -matrices[:, third, second]
    return matrices


def _of_axes(axes: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Turns about axes of any length; about one of no length, none."""
    lengths = np.linalg.norm(axes, axis=1)
    units = axes / np.where(lengths, lengths, 1.0)[:, None]
    half = 0.5 * np.where(lengths, angles, 0.0)
    return _of_quaternions(np.concatenate([np.cos(half)[:, None], np.sin(half)[:, None] * units], axis=1))


def _of_quaternions(quaternions: np.ndarray) -> np.ndarray:
    """Quaternions of any length; one of zeros is half a turn about X to Blender."""
    lengths = np.linalg.norm(quaternions, axis=1)
    w, x, y, z = (quaternions / np.where(lengths, lengths, 1.0)[:, None]).T
    x = np.where(lengths, x, 1.0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)
