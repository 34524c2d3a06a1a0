"""A limb in plain numbers: its bones in their FK pose, its target, and Blender's forward kinematics of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
from mathutils import Matrix, Quaternion, Vector

from ... import messages
from ...solvers import Chain, ChainError, Kind
from ..blender.bones import pose_matrix, rotation_in
from ..blender.channels import Raw
from ..data.settings import Settings
from .limits import BoneLimits

INHERITING = {"FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE"}
"""The ways to inherit scale with which a bone grows as its parent does."""


@dataclass(frozen=True, slots=True)
class BoneReading:
    """One link of a chain: a bone, and the bones behind it that are rigid with it.

    pose_bone, bone: of the original armature, for what is not animated.
    mode: its rotation mode.
    fk, fk_rotation: its FK rotation, as channel numbers and as a local quaternion.
    location, scale: its local channels, the scale before this chain is lengthened.
    pose_armature: its pose matrix in the FK pose, in armature space.
    limits: of its joint, None if it is free.
    segments: the bones behind it that keep their FK rotation, such as a thigh's twist bones (`is_rigid`).
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
    segments: tuple["BoneReading", ...] = ()

    @property
    def name(self) -> str:
        return self.bone.name

    @property
    def last(self) -> "BoneReading":
        """The last bone of the link."""
        return self.segments[-1] if self.segments else self

    def last_pose(self, pose_armature: Matrix) -> Matrix:
        """The pose matrix of the link's last bone for a pose matrix of its first, in armature space."""
        for segment in self.segments:
            pose_armature = segment.posed(segment.fk_rotation, pose_armature)
        return pose_armature

    def end_of(self, pose_armature: Matrix) -> Vector:
        """Where a chain with this last link ends for a pose matrix of the link's first bone, in armature space."""
        return self.last_pose(pose_armature) @ end_in_tip(self.last.pose_bone)

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
    """All that solving a chain needs. Points and matrices in armature space.

    bones: the chain's links, from root to tip.

    world: the armature object's matrix. parent_pose: pose matrix of the root bone's parent, as posed in this pass.
    chain: the FK pose relative to the root's head, where single precision is finest. target_armature: where the
    chain's end goes, foot roll included. ends: foot and toe, if they follow the target's orientation; held: how the
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
        """All bones whose rotation the chain sets: the first of each link, then those on its end."""
        return (*self.bones, *(end.reading for end in self.ends))

    @property
    def names(self) -> list[str]:
        """Names of the chain's own bones, root first."""
        return [bone.name for link in self.bones for bone in (link, *link.segments)]

    @property
    def rigid(self) -> tuple[BoneReading, ...]:
        """Its bones that keep their FK rotation."""
        return tuple(segment for link in self.bones for segment in link.segments)

    @property
    def root_armature(self) -> Vector:
        """Where the root's head is."""
        return self.bones[0].pose_armature.to_translation()

    def joints(self, poses_armature: Sequence[Matrix]) -> list[Vector]:
        """Joints for pose matrices of the chain's links, in armature space, root first."""
        return joints(self.bones, poses_armature)

    def end_of(self, poses_armature: Sequence[Matrix]) -> Vector:
        """Where the chain ends for pose matrices of its links, in armature space."""
        return self.bones[-1].end_of(poses_armature[-1])


def end_in_tip(tip: bpy.types.PoseBone) -> Vector:
    """Where a chain ends, in its tip's rest space: at its end bone's head, else at the tip's tail.

    Between bones the joint is a head: where importers put tails, no joint need be.
    """
    name = tip.analytic_ik_end_bone
    end = tip.id_data.data.bones.get(name) if name else None
    if end is None:
        return Vector((0.0, tip.bone.length, 0.0))
    return tip.bone.matrix_local.inverted_safe() @ end.head_local


def end_world(tip: bpy.types.PoseBone) -> Vector:
    """The end of a chain in world space.

    tip: its tip bone, evaluated.
    """
    return tip.id_data.matrix_world @ (tip.matrix @ end_in_tip(tip))


def missed_world(tip: bpy.types.PoseBone, limb: Limb) -> float:
    """Distance from the end of a chain to its target, in world units.

    tip: its tip bone, evaluated.
    limb: the chain as read from the same evaluation.
    """
    return (end_world(tip) - limb.world @ limb.target_armature).length


def posed_joints(bones: Sequence[bpy.types.PoseBone]) -> list[Vector]:
    """Joints of a chain's bones as evaluated, in armature space, root first: heads of its links, then its end."""
    points = [bone.head.copy() for bone in link_bones(bones)]
    points.append(bones[-1].matrix @ end_in_tip(bones[-1]))
    return points


def link_bones(bones: Sequence[bpy.types.PoseBone]) -> list[bpy.types.PoseBone]:
    """Of a chain's bones, root first, those that begin a link."""
    return [bone for k, bone in enumerate(bones) if k == 0 or not is_rigid(bone)]


def is_rigid(bone: bpy.types.PoseBone) -> bool:
    """True if chains keep a bone's FK rotation, so that it is one link with the bone before it.

    Bones that are split for twist are rigged so. A bone that does not inherit its parent's rotation cannot be.
    """
    return bone.analytic_ik_rigid and bone.bone.use_inherit_rotation and bone.bone.inherit_scale in INHERITING


def chain_bones(tip: bpy.types.PoseBone, chain_count: int | None = None) -> list[bpy.types.PoseBone]:
    """The bones of a chain from root to tip. Raises ChainError where the armature has too few.

    chain_count: how many there are to be, 0: up to the root, None: as many as the tip's setting says.
    """
    bones, chain_count = [tip], tip.analytic_ik_chain_count if chain_count is None else chain_count
    while bones[-1].parent is not None and len(bones) != chain_count:
        bones.append(bones[-1].parent)
    if chain_count and len(bones) < chain_count:
        raise ChainError(messages.TOO_FEW_BONES(count=len(bones), wanted=chain_count), Kind.BONES)
    return bones[::-1]


def known_bones(tip: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """The bones of a chain from root to tip; [] where the armature has too few."""
    try:
        return chain_bones(tip)
    except ChainError:
        return []


def joints(readings: Sequence[BoneReading], poses_armature: Sequence[Matrix]) -> list[Vector]:
    """Joints of a chain from the pose matrices of its links, in armature space: their heads, then the chain's end."""
    return [*(pose.to_translation() for pose in poses_armature), readings[-1].end_of(poses_armature[-1])]


def fk_joints(readings: Sequence[BoneReading]) -> list[Vector]:
    """Joints of a chain in its FK pose, in armature space: heads of its links, then its end."""
    return joints(readings, [reading.pose_armature for reading in readings])
