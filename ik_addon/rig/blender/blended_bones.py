"""Bones that go along with several others of their armature, by Blender's Armature constraint: where that takes them,
and which channels bring them elsewhere."""

from collections.abc import Callable, Mapping

import bpy
import numpy as np
from mathutils import Matrix

from ... import messages
from ...solvers import ChainError
from .animation import animated_paths
from .rotations import array_of, pose_matrix

Shares = Mapping[str, float]
"""Names of the bones with which another one goes along, each with its part of the weights."""

_FLAT = 1e-3
"""Determinant of a way below which bones that are turned against each other take all to nearly one line."""


def shares_of(bone: bpy.types.PoseBone) -> Shares | None:
    """The bones of its armature with which a bone goes along by a constraint. Empty: no constraint moves it; None: one
    does so in any other way. As the constraints are set just now."""
    acting = [each for each in bone.constraints if not each.mute and each.influence > 0.0]
    if not acting:
        return {}
    constraint = acting[0]
    if len(acting) > 1 or constraint.type != "ARMATURE" or constraint.influence < 1.0:
        return None
    if constraint.use_deform_preserve_volume or constraint.use_bone_envelopes:
        return None
    weights: dict[str, float] = {}
    for each in constraint.targets:
        if each.target is None or each.target.original != bone.id_data.original:
            return None
        bones = bone.id_data.data.bones
        # A bone of several segments takes along what lies beside it by its curve.
        if each.subtarget in ("", bone.name) or each.subtarget not in bones or bones[each.subtarget].bbone_segments > 1:
            return None
        weights[each.subtarget] = weights.get(each.subtarget, 0.0) + each.weight
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items() if weight} if total > 0.0 else None


def way_along(bones: bpy.types.bpy_prop_collection, shares: Shares, poses: Callable[[str], np.ndarray]) -> np.ndarray:
    """How far bones take another one from where its channels put it, in armature space: the mean of how far each is
    from its rest pose (Blender Manual, Armature Constraint). poses: (..., 4, 4), by names."""
    ways = [
        share * (poses(name) @ array_of(bones[name].matrix_local.inverted_safe())) for name, share in shares.items()
    ]
    return sum(ways[1:], start=ways[0])


def basis_at(bone: bpy.types.Bone, wanted_armature: Matrix, parent_pose: Matrix | None, way: Matrix | None) -> Matrix:
    """What a bone's channels have to make for it to be where it is wanted. way: see `way_along`; None: nothing takes it
    along. Raises ChainError if no channels bring it there."""
    if way is not None:
        check_way(bone.name, way)
        wanted_armature = way.inverted() @ wanted_armature
    return pose_matrix(bone, wanted_armature, parent_pose, invert=True)


def check_way(bone: str, way: Matrix) -> None:
    """Raise ChainError if bones that are turned against each other take another one, of this name, nowhere."""
    if abs(way.determinant()) < _FLAT:
        raise ChainError(messages.CONTROL_TORN(control=bone))


def goes_by_channels(bone: bpy.types.PoseBone) -> bool:
    """Whether nothing but channels says where a bone is: its own, those of the bones above it and of those with which
    it goes along, all by their parents alone."""
    shares = shares_of(bone)
    if shares is None or (shares and is_share_animated(bone)):
        return False
    others = [bone.id_data.pose.bones[name] for name in shares]
    line = {above for each in (bone, *others) for above in each.parent_recursive}
    return not any(not each.mute for other in line.union(others) for each in other.constraints)


def is_share_animated(bone: bpy.types.PoseBone) -> bool:
    """Whether animation sets something of a bone's constraints."""
    start = f"{bone.path_from_id()}.constraints"
    return any(path.startswith(start) for path in animated_paths(bone.id_data))
