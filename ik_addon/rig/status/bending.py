"""Whether a limb bends against its rest pose: a knee that points backward."""

from math import radians

import bpy
from mathutils import Matrix, Vector

from ...solvers import ChainError
from ..model.limb import chain_bones, end_in_tip, posed_joints

_BENT = 0.01
"""Distance of the knee from the line between the ends of a limb, in parts of that line, below which it is straight."""
_FAR_SWING = radians(120.0)
"""Swing from the rest pose beyond which two bends cannot be compared."""
_AGAINST = radians(150.0)
"""Angle between the bends of the rest pose and of the pose, which is more than arms and legs are turned on purpose."""


def bends_backwards(ob: bpy.types.Object, tip_name: str, depsgraph: bpy.types.Depsgraph) -> bool:
    """True if the knee of a chain points to the other side than in the rest pose, as the body above it is turned.

    False for limbs that are straight in their rest pose, or now, and for chains of one bone.
    """
    tip = ob.evaluated_get(depsgraph).pose.bones[tip_name]
    try:
        bones = chain_bones(tip, tip.analytic_ik_chain_count)
    except ChainError:
        return False
    if len(bones) < 2:
        return False
    parent = bones[0].parent
    rest_joints = [*(bone.bone.head_local for bone in bones), tip.bone.matrix_local @ end_in_tip(tip)]
    rest = _in_frame(parent.bone.matrix_local if parent else Matrix(), rest_joints)
    pose = _in_frame(parent.matrix if parent else Matrix(), posed_joints(bones))
    knee = max(range(1, len(bones)), key=lambda k: _bend(rest, k).length)
    rest_bend, bend = _bend(rest, knee), _bend(pose, knee)
    rest_line, line = rest[-1] - rest[0], pose[-1] - pose[0]
    if rest_bend.length <= _BENT * rest_line.length or bend.length <= _BENT * line.length:
        return False
    swing = rest_line.rotation_difference(line)
    return swing.angle < _FAR_SWING and (swing @ rest_bend).angle(bend) > _AGAINST


def _in_frame(frame: Matrix, joints: list[Vector]) -> list[Vector]:
    inverse = frame.to_3x3().inverted_safe()
    return [inverse @ joint for joint in joints]


def _bend(joints: list[Vector], knee: int) -> Vector:
    """From the line between the ends of a limb to its knee."""
    line = (joints[-1] - joints[0]).normalized()
    offset = joints[knee] - joints[0]
    return offset - line * offset.dot(line)
