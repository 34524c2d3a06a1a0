"""The foot: which bones ride on a chain's end, how it follows its target's orientation, and how it rolls."""

from dataclasses import dataclass

import bpy
from mathutils import Matrix, Quaternion, Vector

from .animation import animated_paths
from .limb import BoneReading, EndBone

_AT_THE_END = 0.3
"""How far from a foot's tail its toe may begin, in lengths of the foot."""
_IN_LINE = 0.1
"""Sine of the angle to the shin below which a foot has no forward direction of its own."""


def end_bone(tip: bpy.types.PoseBone) -> bpy.types.PoseBone | None:
    """The bone that rides on a chain's end: of the tip's children the one that begins nearest to its tail."""
    return _nearest(tip, list(tip.children))


def toe_of(foot: bpy.types.PoseBone) -> bpy.types.PoseBone | None:
    """The toe of a foot: the child that begins at its tail."""
    toe = _nearest(foot, [child for child in foot.children if not _is_heel(child)])
    if toe is None or (toe.bone.head_local - foot.bone.tail_local).length > _AT_THE_END * foot.bone.length:
        return None
    return toe


def end_bones(tip: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """The bones that a chain turns besides its own: a foot that follows its target, and its toe where the foot rolls.

    tip: an evaluated bone.
    """
    return _riding(tip, tip.analytic_ik_use_rotation, tip.analytic_ik_foot_roll != 0.0)


def possible_end_bones(tip: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """Those that the chain of an original tip turns now or at another frame."""
    animated, path = set(animated_paths(tip.id_data)), tip.path_from_id()
    follows = tip.analytic_ik_use_rotation or f"{path}.analytic_ik_use_rotation" in animated
    return _riding(tip, follows, tip.analytic_ik_foot_roll != 0.0 or f"{path}.analytic_ik_foot_roll" in animated)


def _riding(tip: bpy.types.PoseBone, follows: bool, rolls: bool) -> list[bpy.types.PoseBone]:
    foot = end_bone(tip) if follows else None
    toe = toe_of(foot) if foot and rolls else None
    return [bone for bone in (foot, toe) if bone is not None]


def place_foot(
    readings: tuple[BoneReading, ...],
    ankle_armature: Vector,
    orientation: Quaternion,
    roll: float,
    toe_angle: float,
) -> tuple[Vector, tuple[EndBone, ...]]:
    """Where the ankle goes, and how foot and toe stand, for the foot's place before it rolls.

    readings: of the foot, and of its toe if it has one. roll, toe_angle: radians; see the settings. The toe stays on
    the ground while the foot rolls over the ball. All in armature space.
    """
    foot, toe = readings[0], readings[-1]
    place = _Place(ankle_armature, orientation)
    standing = place
    if roll:
        pivots = _pivots(foot)
        axis = orientation @ pivots.axis
        place = place.rolled(pivots.heel, axis, min(roll, 0.0))
        standing = place.rolled(pivots.tip, axis, max(roll - toe_angle, 0.0))
        place = standing.rolled(pivots.ball, axis, min(max(roll, 0.0), toe_angle))
    ends = [EndBone(foot, place.orientation)]
    if toe is not foot:
        fk_foot, fk_toe = (reading.orientation(reading.pose_armature) for reading in readings)
        ends.append(EndBone(toe, standing.orientation @ fk_foot.inverted() @ fk_toe))
    return place.ankle, tuple(ends)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a foot stands, in armature space."""

    ankle: Vector
    orientation: Quaternion

    def rolled(self, pivot: Vector, axis: Vector, angle: float) -> "_Place":
        """Turned about an axis in armature space through a point of the foot, given in its own space."""
        turn = Quaternion(axis, angle)
        pivot_armature = self.ankle + self.orientation @ pivot
        return _Place(pivot_armature + turn @ (self.ankle - pivot_armature), turn @ self.orientation)


@dataclass(frozen=True, slots=True)
class _Pivots:
    """About what a foot rolls, from its head, in its own space and pose size. axis: unit; lifts the heel."""

    heel: Vector
    ball: Vector
    tip: Vector
    axis: Vector


def _pivots(foot: BoneReading) -> _Pivots:
    """The pivots of a foot from its bones at rest; the shin says what is up, the toe where the sole lies."""
    bone = foot.bone
    shin, toe_pose_bone = bone.parent, toe_of(foot.pose_bone)
    toe = toe_pose_bone.bone if toe_pose_bone else None
    ankle, ball = bone.head_local, toe.head_local if toe else bone.tail_local
    tip = toe.tail_local if toe else ball
    up = (shin.head_local - ankle).normalized()
    along = (tip - ball if toe else ball - ankle).normalized()
    axis = up.cross(along)
    axis = axis.normalized() if axis.length > _IN_LINE else bone.matrix_local.to_3x3().col[0]
    forward = along if toe else (along - up * along.dot(up)).normalized()
    heel_bone = next((child.bone for child in foot.pose_bone.children if _is_heel(child)), None)
    if heel_bone is not None:
        heel = (heel_bone.head_local + heel_bone.tail_local) / 2.0
    else:
        heel = ball + forward * (ankle - ball).dot(forward)
    to_foot = bone.matrix_local.to_3x3().inverted()
    scaled = Matrix.Diagonal(foot.pose_armature.to_scale()) @ to_foot
    return _Pivots(scaled @ (heel - ankle), scaled @ (ball - ankle), scaled @ (tip - ankle), to_foot @ axis)


def _nearest(bone: bpy.types.PoseBone, children: list[bpy.types.PoseBone]) -> bpy.types.PoseBone | None:
    """Of children the one that begins nearest to a bone's tail; of several there the longest."""
    size = 1e-3 * bone.bone.length

    def order(child: bpy.types.PoseBone) -> tuple[int, float]:
        return round((child.bone.head_local - bone.bone.tail_local).length / size), -child.bone.length

    return min(children, key=order, default=None)


def _is_heel(bone: bpy.types.PoseBone) -> bool:
    return "heel" in bone.name.lower()
