"""From a limb's links, in a pose that they have, to the chain that is solved."""

from collections.abc import Callable, Sequence
from math import isfinite

from mathutils import Matrix, Quaternion, Vector

from ... import messages
from ...solvers import Chain, ChainError, LimitError
from .hinge import hinge_armature
from .limb import BoneReading, fk_joints
from .limits import BoneLimits, joint_of


class _BoneLimitError(ChainError):
    """Limits of a bone that are none, or that leave it nothing."""


def fk_chain(readings: Sequence[BoneReading], parent_pose: Matrix | None) -> Chain:
    """The chain in its FK pose, relative to its root; its hinge is asked for where it is straight.

    parent_pose: of the root bone's parent. Raises ChainError where one of the bones has no length, a transform that is
    not a number, or limits that leave it nothing.
    """
    points = fk_joints(readings)
    try:
        chain = chain_of(
            readings,
            [point - points[0] for point in points],
            [reading.pose_armature for reading in readings],
            [reading.fk_rotation for reading in readings],
            parent_pose,
            bend_normal=lambda: hinge_armature(readings),
        )
    except _BoneLimitError:
        raise
    except ChainError as error:
        poses = ((reading.name, reading.pose_armature) for reading in readings)
        name = next(
            (name for name, pose in poses if not all(map(isfinite, (value for row in pose for value in row)))),
            readings[-1].name,
        )
        raise ChainError(messages.BONE_NO_NUMBER(bone=name)) from error
    for reading, length in zip(readings, chain.lengths, strict=True):
        if length <= 1e-6 * chain.length:
            raise ChainError(messages.BONE_WITHOUT_LENGTH(bone=reading.name))
    return chain


def chain_of(
    readings: Sequence[BoneReading],
    joints: Sequence[Vector],
    poses: Sequence[Matrix],
    rotations: Sequence[Quaternion],
    parent_pose: Matrix | None,
    bend_normal: Vector | Callable[[], Vector],
) -> Chain:
    """The chain of a limb's bones, with their limits, in a pose that it has.

    joints: of the chain, root first; poses: pose matrices of its bones; rotations: their local rotations;
    parent_pose: of the root bone's parent; all in armature space but for the rotations, which are local, and the
    joints, which may count from the root. Raises ChainError that names the bone whose limits are none.
    """
    if all(reading.limits is None for reading in readings):
        return Chain(joints, bend_normal=bend_normal)
    orientations, own, before = [], [], parent_pose
    for reading, pose, rotation in zip(readings, poses, rotations, strict=True):
        orientations.append(reading.orientation(pose))
        own.append(_joint_rotation(reading, orientations[-1], rotation, before) if reading.limits else rotation)
        before = reading.last_pose(pose)
    return limited_chain(
        [reading.name for reading in readings],
        [reading.limits for reading in readings],
        joints,
        orientations,
        own,
        parent_pose.col[1].to_3d() if parent_pose else None,
        bend_normal,
    )


def limited_chain(
    names: Sequence[str],
    limits: Sequence[BoneLimits | None],
    joints: Sequence[Vector],
    orientations: Sequence[Quaternion],
    rotations: Sequence[Quaternion],
    parent_direction: Vector | None,
    bend_normal: Vector | Callable[[], Vector],
) -> Chain:
    """A chain with limits: of each link's bone its name, limits, orientation, and what of that is its own rotation.

    parent_direction: of the bone above the root. Raises ChainError that names the bone whose limits are none.
    """
    cones, hinges, swings = [], [], []
    for own, orientation, rotation in zip(limits, orientations, rotations, strict=True):
        hinge, swing = joint_of(own, orientation, rotation) if own else (None, None)
        cones.append(own and own.cone)
        hinges.append(hinge)
        swings.append(swing)
    try:
        return Chain(
            joints,
            cones=cones if any(cone is not None for cone in cones) else None,
            hinges=hinges,
            swings=swings,
            parent_direction=parent_direction,
            bend_normal=bend_normal,
        )
    except LimitError as error:
        whose = messages.LIMITS_OF_BONE(bone=names[error.link])
        raise _BoneLimitError(messages.OF(whose=whose, said=error.what)) from error


def _joint_rotation(
    reading: BoneReading, orientation: Quaternion, rotation: Quaternion, parent_pose: Matrix | None
) -> Quaternion:
    """How a bone's joint is turned from its rest pose: as the bone itself, where it inherits its parent's rotation.

    Where it does not, what it is turned against its parent: that is what Blender's own IK limits.
    """
    bone = reading.bone
    if bone.use_inherit_rotation or bone.parent is None or parent_pose is None:
        return rotation
    parent = parent_pose.to_3x3()
    if parent.determinant() < 0.0:
        parent *= -1.0
    rest = bone.parent.matrix_local.to_3x3().inverted() @ bone.matrix_local.to_3x3()
    return (parent.normalized() @ rest).to_quaternion().inverted() @ orientation
