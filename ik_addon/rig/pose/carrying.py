"""A bone that follows its limbs: where it goes so that each chain that it carries reaches its target."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ... import messages
from ...solvers import ChainError
from ...solvers.carrier import eased_shift
from ...solvers.limited import legal_reach
from ..blender.animation import is_driven
from ..blender.bones import pose_matrix
from ..blender.channels import Raw, quaternion_of
from ..data.settings import body_settings_of, settings_of
from ..model.limb import Limb
from .reading import ArmatureReader

_FULL = 1e-4
"""Part of a limb's length by which it is held bent: the last bend opens like a root, and nearer to straight the
rounding of float32 would show, and nothing would say to which side its joints bend."""


@dataclass(frozen=True, slots=True)
class PosedBody:
    """A bone that follows its limbs. location: the numbers of its channel. shift_world: how far it went from its FK
    pose. excess_world: by how much the worst limb misses its reach at the end, 0: all of them reach; world units."""

    location: Raw
    shift_world: Vector
    excess_world: float


def follow(reader: ArmatureReader, name: str, tips: Sequence[str]) -> PosedBody:
    """Find where a bone goes, and tell the reader. tips: of the chains that it follows, its limbs.

    Raises ChainError that names the bone where it cannot move. A chain that cannot be read holds nothing.
    """
    pose_bone = reader.tip(name)
    settings, bone = body_settings_of(pose_bone), pose_bone.bone
    parent_pose, location = reader.parent_pose(pose_bone), reader.fk.location(name)
    mode, rotation = reader.fk.rotation(name)
    turn, scale = quaternion_of(rotation, mode), reader.scale_of(pose_bone)

    def posed(at: Sequence[float]) -> Matrix:
        return pose_matrix(bone, Matrix.LocRotScale(Vector(at), turn, scale), parent_pose)

    if not settings.influence:
        reader.pose(name, posed(location))
        return PosedBody(location, Vector(), 0.0)
    check_movable(reader, pose_bone)
    fk_pose = posed(location)
    with reader.supposing(name, fk_pose):
        limbs = [*_limbs(reader, tips)]
    shift, excess = _shift(reader.world, limbs, settings.direction == "DOWN", settings.softness)
    if shift.any():
        moved = fk_pose.copy()
        moved.translation += Vector(shift * settings.influence)
        location = tuple(pose_matrix(bone, moved, parent_pose, invert=True).translation)
    pose = posed(location)
    reader.pose(name, pose)
    shift_world = reader.world.to_3x3() @ (pose.translation - fk_pose.translation)
    return PosedBody(location, shift_world, excess * reader.world.median_scale)


def check_movable(reader: ArmatureReader, pose_bone: bpy.types.PoseBone) -> None:
    """Raise ChainError where a bone does not go where its location says."""
    try:
        if pose_bone.bone.use_connect and pose_bone.parent is not None:
            raise ChainError(messages.BODY_CONNECTED(parent=pose_bone.parent.name))
        acting = next((each for each in pose_bone.constraints if each.enabled and each.influence > 0.0), None)
        if acting is not None:
            raise ChainError(messages.BODY_CONSTRAINED(constraint=acting.name))
        if is_driven(reader.ob, reader.ob.pose.bones[pose_bone.name], "location"):
            raise ChainError(messages.BODY_DRIVEN())
    except ChainError as error:
        raise error.of(messages.BONE(bone=pose_bone.name)) from error


def _limbs(reader: ArmatureReader, tips: Sequence[str]):
    """The chains of these tips as they are below the bone as the reader supposes it, with the influence of each."""
    for tip in tips:
        settings = settings_of(reader.tip(tip))
        if not settings.influence > 0.0:
            continue
        try:
            # The pole may move with the bone, and does not matter here.
            yield reader.limb(tip, replace(settings, pole_target=None, pole_subtarget=""))
        except ChainError:
            # The chain itself says why.
            continue


def _shift(world: Matrix, limbs: Sequence[Limb], down: bool, softness: float) -> tuple[np.ndarray, float]:
    """How a bone moves so that limbs reach, in armature space, and by how much the worst one misses."""
    if not limbs:
        return np.zeros(3), 0.0
    offsets = np.array([[*limb.target_armature, *limb.root_armature] for limb in limbs])
    offsets = offsets[:, :3] - offsets[:, 3:]
    reaches = np.array([legal_reach(limb.chain) for limb in limbs])
    held = [1.0 - max(limb.settings.softness, _FULL) for limb in limbs]
    shortest, longest = reaches[:, 0], reaches[:, 1] * held
    # A limb that is hardly led by its target hardly holds.
    influence = np.array([limb.settings.influence for limb in limbs])
    away = np.maximum(np.linalg.norm(offsets, axis=1) - longest, 0.0)
    shortest, longest = shortest * influence, longest + (1.0 / influence - 1.0) * (longest + away)
    to_z = _to_z(world)
    shift, excess = eased_shift(offsets @ to_z.T, longest, shortest, softness * longest.min(), down)
    return to_z.T @ shift, excess


def _to_z(world: Matrix) -> np.ndarray:
    """The rotation that takes the direction which is up in the world, seen from the armature, to z."""
    up = np.array(world.to_3x3().inverted_safe().col[2], float)
    z = up / np.linalg.norm(up)
    x = np.cross(np.eye(3)[np.abs(z).argmin()], z)
    x /= np.linalg.norm(x)
    return np.array((x, np.cross(z, x), z))
