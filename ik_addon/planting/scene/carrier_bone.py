"""The bone that carries a body: where it is moved, all legs are."""

from collections.abc import Mapping, Sequence

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ... import messages
from ...authoring.placing import Control
from ...rig.blender.bones import pose_matrix
from ...rig.blender.carriers import carriers
from ...rig.model.body import check_movable
from ...rig.model.limb import chain_bones
from ...rig.pose.reading import ArmatureReader
from ...solvers import ChainError
from .limbs import keyed_control

_OF_THE_BODY = 2.0 / 3.0
"""Part of an armature's bones that hang on what is the body: on some rigs a pelvis carries the legs alone."""


def carrier_of(
    tips: Sequence[bpy.types.PoseBone], controls: Mapping[bpy.types.PoseBone, Sequence[Control]]
) -> bpy.types.PoseBone:
    """The bone that carries the roots of all these chains of one armature, with the body, and none of their controls.

    controls: target and pole of each of them.
    Raises ChainError where there is none, or where it cannot be moved.
    """
    ob = tips[0].id_data
    lines = [[bone.name for bone in chain_bones(tip)[0].parent_recursive] for tip in tips]
    shared = [name for name in lines[0] if all(name in line for line in lines[1:])]
    moved = [
        *(keyed_control(tip, own[0]) for tip, own in controls.items()),
        *(each for own in controls.values() for each in own),
    ]
    held = {bone.name: control for control in moved for own, bone in carriers(control.ob, control.bone) if own == ob}
    free = [ob.pose.bones[name] for name in shared if name not in held]
    if not free:
        if shared:
            control = held[shared[0]]
            raise ChainError(messages.CONTROL_ON_BODY(control=control.shown, bone=shared[0]))
        raise ChainError(messages.NO_BODY(armature=ob.name))
    whole = whole_body(free)
    # A connected bone cannot move, and what it is connected to can.
    carrier = next((bone for bone in free[free.index(whole) :] if not bone.bone.use_connect), whole)
    check_movable(carrier)
    return carrier


def whole_body(line: Sequence[bpy.types.PoseBone]) -> bpy.types.PoseBone:
    """Of bones above each other, nearest to the legs first, the first one that carries most of the body."""
    most = len(line[-1].children_recursive)
    return next(bone for bone in line if len(bone.children_recursive) >= _OF_THE_BODY * most)


def way_of(reader: ArmatureReader, bone: bpy.types.PoseBone) -> np.ndarray:
    """How an evaluated bone moves in the world with its location, (3, 3): a column for each of its three numbers."""
    parent_pose = reader.parent_pose(bone)
    at_rest = _head(bone, Vector(), parent_pose)
    columns = [_head(bone, Vector(axis), parent_pose) - at_rest for axis in np.eye(3).tolist()]
    return np.array(reader.world.to_3x3(), float) @ np.array(columns, float).T


def _head(bone: bpy.types.PoseBone, location: Vector, parent_pose: Matrix | None) -> Vector:
    return pose_matrix(bone.bone, Matrix.Translation(location), parent_pose).to_translation()
