"""A limb in plain numbers: its bones in their FK pose, its target, and Blender's forward kinematics of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..solvers import Chain
from .channels import Raw
from .settings import Settings


@dataclass(frozen=True, slots=True)
class BoneReading:
    """One bone of a chain. pose_bone, bone: of the original armature, for what is not animated.

    mode: its rotation mode. fk, fk_rotation: its FK rotation, as channel numbers and as a local quaternion.
    location, scale: its local channels. pose_armature: its pose matrix in the FK pose.
    """

    pose_bone: bpy.types.PoseBone
    bone: bpy.types.Bone
    mode: str
    fk: Raw
    fk_rotation: Quaternion
    location: Vector
    scale: Vector
    pose_armature: Matrix

    @property
    def name(self) -> str:
        return self.bone.name

    def posed(self, rotation: Quaternion, parent_pose: Matrix | None) -> Matrix:
        """The bone's pose matrix in armature space for a local rotation and its parent's pose matrix."""
        basis = Matrix.LocRotScale(self.location, rotation, self.scale)
        return pose_matrix(self.bone, basis, parent_pose)

    def local_rotation(self, pose_armature: Matrix, parent_pose: Matrix | None) -> Quaternion:
        """The local rotation that gives the bone an orientation: the inverse of `posed`."""
        basis = pose_matrix(self.bone, pose_armature, parent_pose, invert=True).to_3x3()
        for axis, scale in enumerate(self.scale):
            if scale < 0.0:
                basis.col[axis] *= -1.0
        return basis.normalized().to_quaternion()


@dataclass(frozen=True, slots=True)
class Limb:
    """All that solving a chain needs. Points and matrices in armature space; bones from root to tip.

    world: the armature object's matrix. parent_pose: pose matrix of the root bone's parent, as posed in this pass.
    chain: the FK pose relative to the root's head, where single precision is finest.
    """

    tip: str
    settings: Settings
    solver: str
    world: Matrix
    bones: tuple[BoneReading, ...]
    chain: Chain
    parent_pose: Matrix | None
    target_armature: Vector
    pole_armature: Vector | None

    @property
    def root_armature(self) -> Vector:
        """Where the root's head is."""
        return self.bones[0].pose_armature.to_translation()

    def tail_of(self, tip_pose: Matrix) -> Vector:
        """Where the tip's tail is for a pose matrix of the tip."""
        return tip_pose @ Vector((0.0, self.bones[-1].bone.length, 0.0))


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


def joints(poses_armature: list[Matrix], tip_length: float) -> list[Vector]:
    """Joints of a chain from the pose matrices of its bones: their heads, then the tip's tail."""
    points = [pose.to_translation() for pose in poses_armature]
    points.append(poses_armature[-1] @ Vector((0.0, tip_length, 0.0)))
    return points


def fk_joints(readings: Sequence[BoneReading]) -> list[Vector]:
    """Heads of a chain's bones and tail of its tip in the FK pose, in armature space."""
    return joints([reading.pose_armature for reading in readings], readings[-1].bone.length)
