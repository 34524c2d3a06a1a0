"""A limb in plain numbers: its bones in their FK pose, its target, and Blender's forward kinematics of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
from mathutils import Matrix, Quaternion, Vector

from .. import messages
from ..solvers import Chain, ChainError
from .channels import Raw
from .limits import BoneLimits
from .settings import Settings


@dataclass(frozen=True, slots=True)
class BoneReading:
    """One bone of a chain. pose_bone, bone: of the original armature, for what is not animated.

    mode: its rotation mode. fk, fk_rotation: its FK rotation, as channel numbers and as a local quaternion.
    location, scale: its local channels, the scale before this chain is lengthened. pose_armature: its pose matrix
    in the FK pose. limits: of its joint.
    """

    pose_bone: bpy.types.PoseBone
    bone: bpy.types.Bone
    mode: str
    fk: Raw
    fk_rotation: Quaternion
    location: Vector
    scale: Vector
    pose_armature: Matrix
    limits: BoneLimits | None = None

    @property
    def name(self) -> str:
        return self.bone.name

    def posed(self, rotation: Quaternion, parent_pose: Matrix | None, scale: Vector | None = None) -> Matrix:
        """The bone's pose matrix in armature space for a local rotation, its parent's pose matrix and a local scale."""
        basis = Matrix.LocRotScale(self.location, rotation, self.scale if scale is None else scale)
        return pose_matrix(self.bone, basis, parent_pose)

    def local_rotation(self, pose_armature: Matrix, parent_pose: Matrix | None) -> Quaternion:
        """The local rotation that gives the bone an orientation: the inverse of `posed`."""
        return self.orientation(pose_matrix(self.bone, pose_armature, parent_pose, invert=True))

    def orientation(self, matrix: Matrix) -> Quaternion:
        """The rotation in a matrix of the bone, which holds its scale as well: see `rotation_in`."""
        return rotation_in(matrix, self.scale)


@dataclass(frozen=True, slots=True)
class EndBone:
    """A bone that rides on a chain's end and is turned to an orientation in armature space."""

    reading: BoneReading
    orientation: Quaternion

    def local_rotation(self, parent_pose: Matrix) -> Quaternion:
        """The local rotation that gives it its orientation under its parent's pose."""
        fk_pose = self.reading.pose_armature
        turn = self.orientation @ self.reading.orientation(fk_pose).inverted()
        return self.reading.local_rotation(turn.to_matrix().to_4x4() @ fk_pose, parent_pose)


@dataclass(frozen=True, slots=True)
class Limb:
    """All that solving a chain needs. Points and matrices in armature space; bones from root to tip.

    world: the armature object's matrix. parent_pose: pose matrix of the root bone's parent, as posed in this pass.
    chain: the FK pose relative to the root's head, where single precision is finest. target_armature: where the tip's
    tail shall go, foot roll included. ends: foot and toe, where they follow the target's orientation; held: how the
    foot stands against it before it rolls.
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
    ends: tuple[EndBone, ...] = ()
    held: Quaternion | None = None

    @property
    def turned(self) -> tuple[BoneReading, ...]:
        """All bones whose rotation the chain sets: its own, then those on its end."""
        return (*self.bones, *(end.reading for end in self.ends))

    @property
    def root_armature(self) -> Vector:
        """Where the root's head is."""
        return self.bones[0].pose_armature.to_translation()

    def tail_of(self, tip_pose: Matrix) -> Vector:
        """Where the tip's tail is for a pose matrix of the tip."""
        return tip_pose @ Vector((0.0, self.bones[-1].bone.length, 0.0))


def chain_bones(tip: bpy.types.PoseBone, chain_count: int) -> list[bpy.types.PoseBone]:
    """The bones of a chain from root to tip. Raises ChainError where the armature has too few."""
    bones = [tip]
    while bones[-1].parent is not None and len(bones) != chain_count:
        bones.append(bones[-1].parent)
    if chain_count and len(bones) < chain_count:
        raise ChainError(messages.TOO_FEW_BONES(count=len(bones), wanted=chain_count), "BONES")
    return bones[::-1]


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


def joints(poses_armature: list[Matrix], tip_length: float) -> list[Vector]:
    """Joints of a chain from the pose matrices of its bones: their heads, then the tip's tail."""
    points = [pose.to_translation() for pose in poses_armature]
    points.append(poses_armature[-1] @ Vector((0.0, tip_length, 0.0)))
    return points


def fk_joints(readings: Sequence[BoneReading]) -> list[Vector]:
    """Heads of a chain's bones and tail of its tip in the FK pose, in armature space."""
    return joints([reading.pose_armature for reading in readings], readings[-1].bone.length)
