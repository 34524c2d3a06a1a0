"""Blender's own forward kinematics of bones, and the rotations in their matrices."""

import bpy
from mathutils import Matrix, Quaternion, Vector


def pose_matrix(bone: bpy.types.Bone, matrix: Matrix, parent_pose: Matrix | None, invert: bool = False) -> Matrix:
    """A bone's local matrix brought to armature space under its parent's pose; with `invert`, the way back.

    Blender's own function, so every combination of the bone's inherit and location flags is right.
    """
    if bone.parent is None or parent_pose is None:
        return bone.convert_local_to_pose(matrix, bone.matrix_local, invert=invert)
    return bone.convert_local_to_pose(
        matrix,
        bone.matrix_local,
        parent_matrix=parent_pose,
        parent_matrix_local=bone.parent.matrix_local,
        invert=invert,
    )


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
