"""The channels of a pose bone that IK writes: rotation, in the bone's own rotation mode, and scale."""

from collections.abc import Sequence
from math import atan2, pi

import bpy
from mathutils import Euler, Quaternion, Vector

from .euler import euler_of

Raw = tuple[float, ...]
"""The numbers of a channel: quaternion (w, x, y, z), axis-angle (angle, x, y, z), Euler angles, or scale (x, y, z)."""

SCALE = "SCALE"
"""Named like a rotation mode, for the channel of a bone's scale is kept and keyed as that of its rotation is."""

LOCATION = "LOCATION"
"""Likewise, for the channel of its location."""


def channel_of(mode: str) -> tuple[str, int]:
    """The property that holds a rotation in `mode`, or scale or location, and how many numbers it has."""
    if mode in (SCALE, LOCATION):
        return mode.lower(), 3
    if mode == "QUATERNION":
        return "rotation_quaternion", 4
    if mode == "AXIS_ANGLE":
        return "rotation_axis_angle", 4
    return "rotation_euler", 3


def channel_path(bone: str, mode: str) -> str:
    """The RNA path, from its object, of the channel of `mode` of a bone."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel_of(mode)[0]}'


def raw_values(owner: bpy.types.PoseBone | bpy.types.Object, mode: str) -> Raw:
    """The numbers that stand in the channel of `mode` of a bone or an object."""
    return tuple(getattr(owner, channel_of(mode)[0]))


def quaternion_of(raw: Sequence[float], mode: str) -> Quaternion:
    """The rotation that Blender makes of a channel's numbers."""
    if mode == "QUATERNION":
        quaternion = Quaternion(raw)
        # A quaternion of zeros is half a turn about X to Blender.
        return quaternion.normalized() if quaternion.magnitude else Quaternion((0.0, 1.0, 0.0, 0.0))
    if mode == "AXIS_ANGLE":
        axis = Vector(raw[1:])
        return Quaternion(axis.normalized(), raw[0]) if axis.length else Quaternion()
    return Euler(raw, mode).to_quaternion()


def raw_of(quaternion: Quaternion, mode: str, near: Sequence[float]) -> Raw:
    """The numbers of `mode` that mean `quaternion`, of all such the nearest to `near`.

    So a channel that follows `near` frame by frame has no sign flips and no jumps by whole turns.
    """
    if mode == "QUATERNION":
        nearest = quaternion.copy()
        if quaternion.dot(Quaternion(near)) < 0.0:
            nearest.negate()
        return tuple(nearest)
    if mode == "AXIS_ANGLE":
        # By the arc tangent: Quaternion.to_axis_angle loses angles below 1e-3 to an arc cosine.
        sine = Vector((quaternion.x, quaternion.y, quaternion.z))
        axis, angle = sine.normalized(), 2.0 * atan2(sine.length, quaternion.w)
        near_angle, near_axis = near[0], Vector(near[1:])
        if sine.length < 1e-6:
            axis = near_axis.normalized() if near_axis.length else Vector((0.0, 1.0, 0.0))
        elif axis.dot(near_axis) < 0.0:
            axis, angle = -axis, -angle
        angle += 2.0 * pi * round((near_angle - angle) / (2.0 * pi))
        return (angle, *axis)
    return euler_of(quaternion, mode, near)
