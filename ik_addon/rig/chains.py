"""From a limb's links, in a pose that they have, to the chain that is solved."""

from collections.abc import Callable, Sequence
from math import isfinite

from mathutils import Matrix, Quaternion, Vector

from .. import messages
from ..solvers import Chain, ChainError, LimitError
from .hinge import hinge_armature
from .limb import BoneReading, fk_joints
from .limits import joint_of


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
    cones, hinges, swings = [], [], []
    before = parent_pose
    for reading, pose, rotation in zip(readings, poses, rotations, strict=True):
        limits = reading.limits
        cones.append(limits and limits.cone)
        hinge, swing = None, None
        if limits is not None:
            orientation = reading.orientation(pose)
            hinge, swing = joint_of(limits, orientation, _joint_rotation(reading, orientation, rotation, before))
        hinges.append(hinge)
        swings.append(swing)
        before = reading.last_pose(pose)
    try:
        return Chain(
            joints,
            cones=cones if any(cone is not None for cone in cones) else None,
            hinges=hinges,
            swings=swings,
            parent_direction=parent_pose.col[1].to_3d() if parent_pose else None,
            bend_normal=bend_normal,
        )
    except LimitError as error:
        whose = messages.LIMITS_OF_BONE(bone=readings[error.link].name)
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
