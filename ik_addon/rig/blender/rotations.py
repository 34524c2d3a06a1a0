"""Rotations of bones: channels in every rotation mode, many rows at once, Euler angles, and forward kinematics."""

from collections.abc import Sequence
from math import atan2, copysign, hypot, pi, tau

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

from ...solvers.arrays import quaternions

REST = {
    "location": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
}
"""What places a bone, as it is at rest."""
EULER_ORDERS = {
    mode: (*("XYZ".index(axis) for axis in mode), 1.0 if mode in ("XYZ", "YZX", "ZXY") else -1.0)
    for mode in ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
}
"""By rotation mode the numbers of its axes, the one that turns first at the front, and whether they follow in cyclic
order or against it: 1 or -1."""
LOCKED = 4e-7
"""Of a half angle's sine or cosine: less is rounding of the quaternion, and says nothing of the outer angles."""


def euler_of(quaternion: Quaternion, mode: str, near: Sequence[float]) -> tuple[float, ...]:
    """The angles (X, Y, Z) in radians that mean `quaternion` in an Euler `mode`, of all such the nearest to `near`.

    Where the middle angle is a quarter turn, the other two turn about one axis and share what they are off `near`.
    """
    first, middle, last, sign = EULER_ORDERS[mode]
    w, v = quaternion.w, quaternion[1:]
    a, b = w - v[middle], v[first] + sign * v[last]
    c, d = w + v[middle], sign * v[last] - v[first]
    below, above = hypot(a, b), hypot(c, d)
    near_first, near_middle, near_last = near[first], near[middle], sign * near[last]
    # Half the sum and half the difference of the outer angles.
    half_sum, half_difference = atan2(b, a), atan2(d, c)
    if below < LOCKED:
        half_sum = float(_between(near_first + half_difference, near_last - half_difference))
    elif above < LOCKED:
        half_difference = float(_between(half_sum - near_first, near_last - half_sum))
    one, two, three = half_sum - half_difference, 2.0 * atan2(above, below) - pi / 2.0, half_sum + half_difference
    one += tau * round((near_first - one) / tau)
    two += tau * round((near_middle - two) / tau)
    three += tau * round((near_last - three) / tau)
    # The same rotation, by half a turn more of each outer axis.
    other_one = one + copysign(pi, near_first - one)
    other_two = pi - two
    other_two += tau * round((near_middle - other_two) / tau)
    other_three = three + copysign(pi, near_last - three)
    off = abs(one - near_first) + abs(two - near_middle) + abs(three - near_last)
    if abs(other_one - near_first) + abs(other_two - near_middle) + abs(other_three - near_last) < off:
        one, two, three = other_one, other_two, other_three
    found = [one, one, one]
    found[middle], found[last] = two, sign * three
    return tuple(found)


Raw = tuple[float, ...]
"""The numbers of a channel: quaternion (w, x, y, z), axis-angle (angle, x, y, z), Euler angles, or scale (x, y, z)."""

SCALE = "SCALE"
"""Named like a rotation mode, for the channel of a bone's scale is kept and keyed as that of its rotation is."""

LOCATION = "LOCATION"
"""Likewise, for the channel of its location."""


def channel_of(mode: str) -> tuple[str, int]:
    """The property that holds a rotation in `mode`, or scale or location, and how many numbers it has."""
    if mode in (SCALE, LOCATION):
        return mode.lower(), 3
    if mode == "QUATERNION":
        return "rotation_quaternion", 4
    if mode == "AXIS_ANGLE":
        return "rotation_axis_angle", 4
    return "rotation_euler", 3


def channel_path(bone: str, mode: str) -> str:
    """The RNA path, from its object, of the channel of `mode` of a bone."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel_of(mode)[0]}'


def raw_values(owner: bpy.types.PoseBone | bpy.types.Object, mode: str) -> Raw:
    """The numbers that stand in the channel of `mode` of a bone or an object."""
    return tuple(getattr(owner, channel_of(mode)[0]))


def quaternion_of(raw: Sequence[float], mode: str) -> Quaternion:
    """The rotation that Blender makes of a channel's numbers."""
    if mode == "QUATERNION":
        quaternion = Quaternion(raw)
        # A quaternion of zeros is half a turn about X to Blender.
        return quaternion.normalized() if quaternion.magnitude else Quaternion((0.0, 1.0, 0.0, 0.0))
    if mode == "AXIS_ANGLE":
        axis = Vector(raw[1:])
        return Quaternion(axis.normalized(), raw[0]) if axis.length else Quaternion()
    return Euler(raw, mode).to_quaternion()


def raw_of(quaternion: Quaternion, mode: str, near: Sequence[float]) -> Raw:
    """The numbers of `mode` that mean `quaternion`, of all such the nearest to `near`.

    So a channel that follows `near` frame by frame has no sign flips and no jumps by whole turns.
    """
    if mode == "QUATERNION":
        nearest = quaternion.copy()
        if quaternion.dot(Quaternion(near)) < 0.0:
            nearest.negate()
        return tuple(nearest)
    if mode == "AXIS_ANGLE":
        # By the arc tangent: Quaternion.to_axis_angle loses angles below 1e-3 to an arc cosine.
        sine = Vector((quaternion.x, quaternion.y, quaternion.z))
        axis, angle = sine.normalized(), 2.0 * atan2(sine.length, quaternion.w)
        near_angle, near_axis = near[0], Vector(near[1:])
        if sine.length < 1e-6:
            axis = near_axis.normalized() if near_axis.length else Vector((0.0, 1.0, 0.0))
        elif axis.dot(near_axis) < 0.0:
            axis, angle = -axis, -angle
        angle += 2.0 * pi * round((near_angle - angle) / (2.0 * pi))
        return (angle, *axis)
    return euler_of(quaternion, mode, near)


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


def rest_in_parent(bone: bpy.types.Bone) -> np.ndarray:
    """The rest matrix (4, 4) of a bone in the one above it; of one without a parent in its armature."""
    above = bone.parent.matrix_local.inverted_safe() if bone.parent else Matrix()
    return array_of(above @ bone.matrix_local)


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
    # Euler angles: about the first axis of the mode's name first. What follows is the product of the three turns.
    first, middle, last, sign = EULER_ORDERS[mode]
    half = 0.5 * numbers.T
    cosine, sine = np.cos(half), np.sin(half)
    w, x = cosine[middle] * cosine[first], cosine[middle] * sine[first]
    y, z = sine[middle] * cosine[first], -sign * sine[middle] * sine[first]
    turns = np.empty((4, len(numbers)))
    turns[0], turns[1 + last] = cosine[last] * w - sine[last] * z, cosine[last] * z + sine[last] * w
    turns[1 + first] = cosine[last] * x - sign * sine[last] * y
    turns[1 + middle] = cosine[last] * y + sign * sine[last] * x
    return turns.T


def matrices_of(turns: np.ndarray) -> np.ndarray:
    """The rotation matrices (n, 3, 3) of unit quaternions (n, 4)."""
    vector = turns.T[1:]
    twice = 2.0 * vector
    (wx, wy, wz), (xx, yy, zz) = twice * turns.T[0], twice * vector
    xy, xz, yz = twice[0] * vector[1], twice[0] * vector[2], twice[1] * vector[2]
    found = np.empty((len(turns), 3, 3))
    found[:, 0, 0], found[:, 0, 1], found[:, 0, 2] = 1.0 - (yy + zz), xy - wz, xz + wy
    found[:, 1, 0], found[:, 1, 1], found[:, 1, 2] = xy + wz, 1.0 - (xx + zz), yz - wx
    found[:, 2, 0], found[:, 2, 1], found[:, 2, 2] = xz - wy, yz + wx, 1.0 - (xx + yy)
    return found


def turns_in(matrices: np.ndarray) -> np.ndarray:
    """The rotations (n, 4) in matrices (n, 4, 4) that may scale and mirror as well: see `limb.rotation_in`."""
    basis = matrices[:, :3, :3]
    basis = basis * np.where(np.linalg.det(basis) < 0.0, -1.0, 1.0)[:, None, None]
    lengths = np.linalg.norm(basis, axis=1, keepdims=True)
    return quaternions(basis / np.where(lengths, lengths, 1.0))


def numbers_of(turns: np.ndarray, mode: str, near: np.ndarray) -> np.ndarray:
    """The numbers (n, 3 or 4) of `mode` that mean unit quaternions (n, 4), of all such those nearest to `near`
    (n or 1, 3 or 4): the inverse of `quaternions_of`."""
    if mode == "QUATERNION":
        return np.where((turns * near).sum(axis=1, keepdims=True) < 0.0, -turns, turns)
    near = np.broadcast_to(near, (len(turns), channel_of(mode)[1]))
    return _axis_angles(turns, near) if mode == "AXIS_ANGLE" else _eulers(turns, mode, near)


def _axis_angles(turns: np.ndarray, near: np.ndarray) -> np.ndarray:
    """As `raw_of`, for rows."""
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
    """As `euler_of`, for rows."""
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


def _between(one: np.ndarray | float, two: np.ndarray | float) -> np.ndarray:
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
    ways = [_in_order(np.where(crossings, *pair), mode) for pair in ((other, one), (one, other))]
    moved = [(way, tau * np.round((near - way[0]) / tau)) for way in ways]
    numbers, turns_more = min(moved, key=lambda pair: np.abs(pair[0][0] + pair[1] - near).sum())
    return np.unwrap(numbers, axis=0) + turns_more


def _apart(angles: np.ndarray) -> np.ndarray:
    """The sums of angles (3, n), but for whole turns."""
    return np.abs(angles - tau * np.round(angles / tau)).sum(axis=0)


def continuous_numbers(numbers: Sequence[Sequence[float]], mode: str) -> np.ndarray:
    """The same rotations, numbers (n, 3 or 4) of `mode` in single precision, without sign flips and jumps."""
    rows = np.array(numbers, float)
    return continuous(quaternions_of(rows, mode), mode, rows[0]).astype(np.float32)


def pose_matrix(bone: bpy.types.Bone, matrix: Matrix, parent_pose: Matrix | None, invert: bool = False) -> Matrix:
    """A bone's local matrix brought to armature space under its parent's pose; with `invert`, the way back.

    Blender's own function, so every combination of the bone's inherit and location flags is right.
    """
    rest, parent = bone.matrix_local, bone.parent
    if parent is None or parent_pose is None:
        return bone.convert_local_to_pose(matrix, rest, invert=invert)
    above = {"parent_matrix": parent_pose, "parent_matrix_local": parent.matrix_local}
    return bone.convert_local_to_pose(matrix, rest, invert=invert, **above)


def posed_by_channels(pose_bone: bpy.types.PoseBone) -> Matrix:
    """The pose matrix that the channels of a bone and of those above it make, before any constraint."""
    pose = None
    for bone in [pose_bone, *pose_bone.parent_recursive][::-1]:
        pose = pose_matrix(bone.bone, bone.matrix_basis, pose)
    assert pose is not None
    return pose


def rotation_in(matrix: Matrix, scale: Vector | None = None) -> Quaternion:
    """The rotation in a matrix that may scale and mirror as well. scale: the bone's or object's own.

    Under a mirrored parent it is that of the mirrored axes: about them a bone turns by the right-hand rule.
    """
    basis = matrix.to_3x3()
    for axis, own in enumerate(scale or ()):
        if own < 0.0:
            basis.col[axis] *= -1.0
    if basis.determinant() < 0.0:
        basis *= -1.0
    # Of a sheared matrix it is none of length one.
    return basis.normalized().to_quaternion().normalized()


SIMILAR = 1e-4
"""Part by which the axes of a pose may differ in length, or lean, and still count as evenly scaled: long chains of
single precision come to 2e-5."""


def is_even(matrix: Matrix) -> bool:
    """Whether a matrix turns, moves and scales evenly, without shear and without a mirror."""
    x, y, z = matrix.to_3x3().col
    size = x.dot(x)
    slack = SIMILAR * size
    return (
        abs(y.dot(y) - size) <= slack
        and abs(z.dot(z) - size) <= slack
        and max(abs(x.dot(y)), abs(y.dot(z)), abs(z.dot(x))) <= slack
        and x.cross(y).dot(z) > 0.0
    )


def are_even(matrices: np.ndarray) -> bool:
    """As `is_even`, of all."""
    basis = matrices[:, :3, :3]
    products = basis.swapaxes(1, 2) @ basis
    size = products[:, 0, 0]
    off = np.abs(products - size[:, None, None] * np.eye(3)).max(axis=(1, 2))
    return bool((off <= SIMILAR * size).all() and (np.linalg.det(basis) > 0.0).all())
