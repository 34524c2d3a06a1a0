"""The foot: which bones ride on a chain's end, how it follows its target's orientation, and how it rolls."""

from collections.abc import Sequence
from dataclasses import replace

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...solvers.arrays import multiply, rotated
from ..blender.rotations import rotation_in
from ..data.settings import Settings, may_change
from .limb import BoneReading

_TOE_NAMES = ("toe", "ball")
_AT_THE_END = 0.3
"""How far from a foot's tail its toe may begin, in lengths of the foot."""
_IN_LINE = 0.1
"""Sine of the angle to the shin below which a foot has no forward direction of its own."""


def end_bone(tip: bpy.types.PoseBone) -> bpy.types.PoseBone | None:
    """The bone that rides on a chain's end, or None: its end bone if that is a child of the tip; if it names none, its
    child that begins nearest to its tail."""
    if tip.analytic_ik_end_bone:
        named = tip.id_data.pose.bones.get(tip.analytic_ik_end_bone)
        return named if named is not None and named.parent == tip else None
    return _nearest(tip, list(tip.children))


def toe_of(foot: bpy.types.PoseBone) -> bpy.types.PoseBone | None:
    """The toe of a foot: the child that begins at its tail."""
    toe = _nearest(foot, _toes(foot))
    if toe is None or (toe.bone.head_local - foot.bone.tail_local).length > _AT_THE_END * foot.bone.length:
        return None
    return toe


def toe_joint(foot: bpy.types.PoseBone) -> Vector:
    """Where the toes of a foot begin at rest, in armature space: at its toe; else at its only child or the one named
    like a toe, for importers may leave tails where no joint is; else at its tail."""
    toe, toes = toe_of(foot), _toes(foot)
    if toe is None and foot.bone.length:
        away = (toes[0].bone.head_local - foot.bone.head_local).length if len(toes) == 1 else 0.0
        toe = toes[0] if away > _AT_THE_END * foot.bone.length else None
    return toe.bone.head_local if toe is not None else foot.bone.tail_local


def _toes(foot: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """The children of a foot that may be its toe: those named like one, else all. What hangs on one with skin and has
    none is a control."""
    deforms = foot.bone.use_deform
    children = [child for child in foot.children if not _is_heel(child) and child.bone.use_deform >= deforms]
    return [child for child in children if any(word in child.name.lower() for word in _TOE_NAMES)] or children


def end_bones(tip: bpy.types.PoseBone, settings: Settings) -> list[bpy.types.PoseBone]:
    """The bones that a chain with these settings turns besides its own: a foot that follows its target, and its toe
    where the foot rolls. tip: an evaluated bone."""
    return _riding(tip, settings.use_rotation, settings.foot_roll != 0.0)


def possible_end_bones(tip: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """Those that the chain of an original tip turns now or at another frame."""
    return _riding(tip, tip.analytic_ik_use_rotation or may_change(tip, "use_rotation"), rolls(tip))


def rolls(tip: bpy.types.PoseBone) -> bool:
    """Whether the foot of an original tip's chain rolls, now or at another frame."""
    return tip.analytic_ik_foot_roll != 0.0 or may_change(tip, "foot_roll")


def _riding(tip: bpy.types.PoseBone, follows: bool, rolls: bool) -> list[bpy.types.PoseBone]:
    foot = end_bone(tip) if follows else None
    toe = toe_of(foot) if foot and rolls else None
    return [bone for bone in (foot, toe) if bone is not None]


def held_rotation(tip: bpy.types.PoseBone, end: bpy.types.PoseBone, settings: Settings) -> Quaternion:
    """How a chain's end bone stands against its target: as kept; else a target at rest leaves it at rest."""
    held = Quaternion(tip.analytic_ik_record_rotation)
    if held.magnitude:
        return held.normalized()
    rest = rotation_in(end.bone.matrix_local)
    if not settings.subtarget:
        return rest
    return rotation_in(settings.target.data.bones[settings.subtarget].matrix_local).inverted() @ rest


def place_foot(
    readings: tuple[BoneReading, ...],
    ankle_armature: Vector,
    orientation: Quaternion,
    roll: float,
    toe_angle: float,
) -> tuple[Vector, tuple[BoneReading, ...]]:
    """Where the ankle goes, and how foot and toe stand, for the foot's place before it rolls.

    readings: of the foot, and of its toe if it has one. roll, toe_angle: radians; see the settings. The toe stays on
    the ground while the foot rolls over the ball. All in armature space.
    """
    foot, toe = readings[0], readings[1] if len(readings) > 1 else None
    if not roll and toe is None:
        return ankle_armature, (replace(foot, standing=orientation),)
    turn = orientation @ foot.orientation(foot.pose_armature).inverted()
    foot_pose = turn.to_matrix().to_4x4() @ foot.pose_armature
    foot_pose.translation = ankle_armature
    end, end_pose = foot, foot_pose
    if toe is not None:
        end, end_pose = toe, toe.posed(toe.fk_rotation, foot_pose)
    tip_armature = end_pose @ Vector((0.0, end.bone.length, 0.0))
    ball_armature = end_pose.to_translation() if toe else tip_armature
    heel, axis = heel_and_axis(foot.pose_bone)
    heel = Matrix.Diagonal(foot.pose_armature.to_scale()) @ heel
    to_own = orientation.inverted()
    tip, ball = (to_own @ (point - ankle_armature) for point in (tip_armature, ball_armature))
    before, axis, heel, tip, ball, roll_row, toe_row = (
        np.array([each])
        for each in ((*ankle_armature, *orientation), orientation @ axis, heel, tip, ball, roll, toe_angle)
    )
    (ankles, orientations), standing = rolled(
        (before[:, :3], before[:, 3:]), axis, (heel, tip, ball), roll_row, toe_row
    )
    ends = [replace(foot, standing=Quaternion(orientations[0]))]
    if toe is not None:
        ends.append(replace(toe, standing=Quaternion(standing[0]) @ to_own @ toe.orientation(end_pose)))
    return Vector(ankles[0]), tuple(ends)


def rolled(
    place: tuple[np.ndarray, np.ndarray],
    axis: np.ndarray,
    pivots: Sequence[np.ndarray],
    roll: np.ndarray,
    toe_angle: np.ndarray,
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """A foot's place, ankle (n, 3) and orientation (n, 4), once it has rolled; and the orientation that its toe keeps.

    place: before it rolls. axis: about which it does, (n, 3). pivots: heel, tip and ball in the foot's own space,
    (n or 1, 3). roll, toe_angle: (n or 1,), in radians; see the settings.
    """
    heel, tip, ball = pivots
    place = _turned(place, heel, axis, np.minimum(roll, 0.0))
    standing = _turned(place, tip, axis, np.maximum(roll - toe_angle, 0.0))
    return _turned(standing, ball, axis, np.minimum(np.maximum(roll, 0.0), toe_angle)), standing[1]


def _turned(
    place: tuple[np.ndarray, np.ndarray], pivot: np.ndarray, axis: np.ndarray, angles: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A place turned about an axis through a point in the foot's own space."""
    ankle, orientation = place
    sines = np.sin(0.5 * angles)[:, None] * axis
    turn = np.concatenate((np.broadcast_to(np.cos(0.5 * angles)[:, None], (len(sines), 1)), sines), axis=1)
    pivot = ankle + rotated(orientation, pivot)
    return pivot + rotated(turn, ankle - pivot), multiply(turn, orientation)


def heel_and_axis(foot: bpy.types.PoseBone) -> tuple[Vector, Vector]:
    """The heel, and the unit axis about which a foot rolls to lift it, in the foot bone's own space.

    Both from its bones at rest: the shin says what is up, the toe where the sole lies.
    """
    bone = foot.bone
    shin, toe_pose_bone = bone.parent, toe_of(foot)
    toe = toe_pose_bone.bone if toe_pose_bone else None
    ankle, ball = bone.head_local, toe.head_local if toe else bone.tail_local
    up = (shin.head_local - ankle).normalized()
    along = (toe.tail_local - ball if toe else ball - ankle).normalized()
    axis = up.cross(along)
    axis = axis.normalized() if axis.length > _IN_LINE else bone.matrix_local.to_3x3().col[0]
    forward = along if toe else (along - up * along.dot(up)).normalized()
    heel_bone = next((child.bone for child in foot.children if _is_heel(child)), None)
    if heel_bone is not None:
        heel = (heel_bone.head_local + heel_bone.tail_local) / 2.0
    else:
        heel = ball + forward * (ankle - ball).dot(forward)
    to_foot = bone.matrix_local.to_3x3().inverted()
    return to_foot @ (heel - ankle), to_foot @ axis


def _nearest(bone: bpy.types.PoseBone, children: list[bpy.types.PoseBone]) -> bpy.types.PoseBone | None:
    """Of children the one that begins nearest to a bone's tail; of several there the longest."""
    # A bone whose rest was scaled away has no length.
    size = 1e-3 * bone.bone.length or 1.0

    def order(child: bpy.types.PoseBone) -> tuple[float, float]:
        return ((child.bone.head_local - bone.bone.tail_local).length / size + 0.5) // 1.0, -child.bone.length

    return min(children, key=order, default=None)


def _is_heel(bone: bpy.types.PoseBone) -> bool:
    return "heel" in bone.name.lower()
