"""Unit quaternions in arrays: what Blender's mathutils does with one, done with many at once, in double precision.

Quaternions are w, x, y, z. The public functions take and give components last, (..., 4) and (..., 3). What they
compute with is components first: then each component lies together in memory, which is 2 to 10 times faster.
Results are such arrays seen with their components last, so that the next function reads them just as fast.
"""

from collections.abc import Sequence

import numpy as np

ALIKE = 1.0 - 1e-4
"""Cosine of half the angle between two rotations from which on Blender blends them by a straight line."""


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The products of quaternions: arrays (..., 4) that broadcast. As rotations, b comes first."""
    return components_last(product(components_first(a), components_first(b)))


def conjugate(a: np.ndarray) -> np.ndarray:
    """The conjugates of quaternions, an array (..., 4): of unit ones, the inverse rotations."""
    return a * (1.0, -1.0, -1.0, -1.0)


def rotated(a: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors, an array (..., 3), turned by unit quaternions, an array (..., 4) that broadcasts with it."""
    return components_last(turned(components_first(a), components_first(vectors)))


def quaternions(matrices: np.ndarray) -> np.ndarray:
    """The unit quaternions (..., 4) of rotation matrices (..., 3, 3), whose columns are the turned axes."""
    axes = matrices.transpose(-1, -2, *range(matrices.ndim - 2))
    return components_last(normalized(raw_quaternions(axes)))


def slerp(a: np.ndarray, b: np.ndarray, t: np.ndarray | float) -> np.ndarray:
    """The rotations at t (0 to 1) on the shortest way from a to b: unit quaternions (..., 4), t broadcasts to (...).

    The rotations of `bending.blend`: of the sign of b, and on a straight line, so shorter than one by up to 3e-5, where
    the two are less than 0.03 rad apart.
    """
    cosine = np.add.reduce(a * b, axis=-1)
    sign = np.where(cosine < 0.0, -1.0, 1.0)
    cosine = np.abs(cosine)
    angle = np.arccos(np.minimum(cosine, 1.0))
    sine = np.sin(angle)
    alike = cosine >= ALIKE
    sine = np.where(alike, 1.0, sine)
    from_a = np.where(alike, 1.0 - t, np.sin((1.0 - t) * angle) / sine)
    from_b = np.where(alike, t, np.sin(t * angle) / sine)
    return (sign * from_a)[..., None] * a + from_b[..., None] * b


def side_by_side(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays (n or 1) or (n or 1, c), one for each bone, as one (n, bones) or (n, bones, c): see above."""
    found = np.empty((len(arrays), *arrays[0].shape[1:], max(map(len, arrays))))
    for own, array in zip(found, arrays, strict=True):
        own[:] = array.T
    return components_first(found)


# Components first: vectors (3, ...) and quaternions (4, ...)


def components_first(a: np.ndarray) -> np.ndarray:
    """An array (..., c) seen as (c, ...)."""
    return a.transpose(-1, *range(a.ndim - 1))


def components_last(a: np.ndarray) -> np.ndarray:
    """An array (c, ...) seen as (..., c)."""
    return a.transpose(*range(1, a.ndim), 0)


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The dot products of vectors (3, ...)."""
    return np.add.reduce(a * b)


def length(a: np.ndarray) -> np.ndarray:
    """The lengths of vectors or quaternions (c, ...)."""
    return np.sqrt(np.add.reduce(a * a))


def normalized(a: np.ndarray) -> np.ndarray:
    """Vectors or quaternions (c, ...) of any length, brought to length one."""
    return a / length(a)


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cross products of vectors (3, ...)."""
    ax, ay, az = a
    bx, by, bz = b
    return np.array((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx))


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The products of quaternions (4, ...)."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return np.array(
        (
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        )
    )


def turned(a: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors (3, ...) turned by unit quaternions (4, ...)."""
    w, x, y, z = a
    vx, vy, vz = vectors
    tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
    return np.array((vx + w * tx + y * tz - z * ty, vy + w * ty + z * tx - x * tz, vz + w * tz + x * ty - y * tx))


def raw_quaternions(axes: np.ndarray) -> np.ndarray:
    """The rotations (4, ...), of length 2 to 4, from the coordinate axes to perpendicular unit vectors (3, 3, ...).

    axes: the three vectors first, then their components. Each row is the quaternion times four of one of its
    components. The choice of the row (Mike Day, "Converting a Rotation Matrix to a Quaternion") takes a component of
    a half or more, so that nothing cancels.
    """
    x, y, z = axes[0, 0], axes[1, 1], axes[2, 2]
    rows = np.empty((4, 4, *axes.shape[2:]))
    flipped = axes.swapaxes(0, 1)
    np.add(axes, flipped, out=rows[1:, 1:])
    turn = axes - flipped
    sum_of_xy = x + y
    trace = sum_of_xy + z
    rows[0, 0] = trace + 1.0
    rest = 1.0 - trace
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1)), 1):
        rows[0, k] = rows[k, 0] = turn[i, j]
        rows[k, k] += rest
    return np.where(z < 0.0, np.where(x > y, rows[1], rows[2]), np.where(sum_of_xy < 0.0, rows[3], rows[0]))
