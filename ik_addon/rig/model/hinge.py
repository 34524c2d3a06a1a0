"""The axis about which a straight chain bends: stated by its bones, since its joints do not tell."""

from collections.abc import Sequence

import bpy
from mathutils import Vector

from ...solvers import Chain
from ...solvers.bending import start_frame
from .limb import BoneReading, end_in_tip

STRAIGHT_AXES = {
    "X": Vector((1.0, 0.0, 0.0)),
    "NEGATIVE_X": Vector((-1.0, 0.0, 0.0)),
    "Z": Vector((0.0, 0.0, 1.0)),
    "NEGATIVE_Z": Vector((0.0, 0.0, -1.0)),
}
"""Axes in a bone's own space, by the names of the setting that states them."""


def hinge_armature(bones: Sequence[BoneReading]) -> Vector:
    """Axis in armature space about which a chain's first inner joint bends positively; bones: root first.

    The axis that the chain's setting states; else that bone's only unlocked IK axis, if it has one, towards the larger
    side of its limits; else the normal of the chain's bend in its rest pose; else the bone's X axis.
    """
    reading, axis = bones[min(1, len(bones) - 1)], _stated_axis(bones)
    if axis is not None:
        return reading.orientation(reading.pose_armature) @ axis
    return reading.pose_armature.to_3x3().normalized() @ _rest_normal(bones)


def bend_axis(bones: Sequence[BoneReading]) -> Vector:
    """The same axis in the space of the bone behind the first inner joint, if that is neither sheared nor mirrored."""
    return _stated_axis(bones) or _rest_normal(bones)


def _stated_axis(bones: Sequence[BoneReading]) -> Vector | None:
    straight_axis = bones[-1].last.pose_bone.analytic_ik_straight_axis
    return STRAIGHT_AXES.get(straight_axis) or free_axis(bones[min(1, len(bones) - 1)].pose_bone)


def _rest_normal(bones: Sequence[BoneReading]) -> Vector:
    """Normal of the rest pose's bend in the space of the bone behind the first inner joint; else its X axis."""
    tip = bones[-1].last.pose_bone
    rest_bone = bones[min(1, len(bones) - 1)].bone.matrix_local.to_3x3()
    rest_joints = [*(reading.bone.head_local for reading in bones), tip.bone.matrix_local @ end_in_tip(tip)]
    normal_armature = start_frame(Chain(rest_joints, bend_normal=rest_bone.col[0])).normal
    return rest_bone.inverted() @ normal_armature


def free_axis(pose_bone: bpy.types.PoseBone) -> Vector | None:
    """The one IK axis of a bone that is not locked, in its own space, towards the larger side of its limits."""
    free = [axis for axis in "xyz" if not getattr(pose_bone, f"lock_ik_{axis}")]
    if len(free) != 1:
        return None
    axis = free[0]
    direction = Vector(tuple(float(axis == other) for other in "xyz"))
    lowest, highest = getattr(pose_bone, f"ik_min_{axis}"), getattr(pose_bone, f"ik_max_{axis}")
    return -direction if getattr(pose_bone, f"use_ik_limit_{axis}") and -lowest > highest else direction
