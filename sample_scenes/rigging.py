"""Armatures from tables of bones, their controls, and the analytic chains between the two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import radians

import bpy
from mathutils import Euler, Matrix, Vector

from .motion import key_vectors


@dataclass(frozen=True)
class BoneSpec:
    """A bone of the rest pose; its local Z axis turns as near to *up* as the bone allows."""

    name: str
    head: Sequence[float]
    tail: Sequence[float]
    parent: str = ""
    up: Sequence[float] = (0.0, 0.0, 1.0)
    connected: bool = False
    deform: bool = True


def make_armature(
    name: str, bones: Iterable[BoneSpec], collection: bpy.types.Collection, display: str = "STICK"
) -> bpy.types.Object:
    """Make an armature object whose bones turn by Euler angles and show through the mesh."""
    data = bpy.data.armatures.new(name)
    data.display_type = display
    rig = bpy.data.objects.new(name, data)
    rig.show_in_front = True
    collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for spec in bones:
        bone = data.edit_bones.new(spec.name)
        bone.head, bone.tail = spec.head, spec.tail
        bone.align_roll(Vector(spec.up))
        bone.use_deform = spec.deform
        if spec.parent:
            bone.parent = data.edit_bones[spec.parent]
            bone.use_connect = spec.connected
    bpy.ops.object.mode_set(mode="OBJECT")
    for pose_bone in rig.pose.bones:
        pose_bone.rotation_mode = "XYZ"
        pose_bone.bone.color.palette = _palette_of(pose_bone.name)
    return rig


def _palette_of(bone: str) -> str:
    """Return the usual colours of the sides: blue for left, red for right, yellow in the middle."""
    _, _, side = bone.rpartition(".")
    return {"L": "THEME04", "R": "THEME01"}.get(side[:1], "THEME09")


def turn_by(pitch: float = 0.0, roll: float = 0.0, yaw: float = 0.0) -> Matrix:
    """Return a rotation from degrees: forwards, to the left side, and to the left about the vertical.

    For figures that face -Y, as is usual in Blender.
    """
    return Euler((radians(pitch), radians(roll), radians(yaw)), "XYZ").to_matrix()


def mirrored(point: Sequence[float], side: str) -> Vector:
    """Return a point of the left side, mirrored for side "R"."""
    x, y, z = point
    return Vector((x if side == "L" else -x, y, z))


def make_empty(
    name: str,
    location: Sequence[float],
    collection: bpy.types.Collection,
    *,
    display: str = "SPHERE",
    size: float = 0.05,
) -> bpy.types.Object:
    """Make an Empty to pull a chain by."""
    empty = bpy.data.objects.new(name, None)
    empty.empty_display_type = display
    empty.empty_display_size = size
    empty.show_in_front = True
    empty.location = location
    collection.objects.link(empty)
    return empty


def make_chain(
    rig: bpy.types.Object,
    tip: str,
    bone_count: int,
    target: bpy.types.Object,
    pole: bpy.types.Object | None = None,
    solver: str = "AUTO",
) -> bpy.types.PoseBone:
    """Make the bones up to *tip* an analytic chain that follows *target*; return the tip."""
    tip_bone = rig.pose.bones[tip]
    tip_bone.analytic_ik_target = target
    tip_bone.analytic_ik_pole_target = pole
    tip_bone.analytic_ik_chain_count = bone_count
    tip_bone.analytic_ik_solver = solver
    tip_bone.analytic_ik_enabled = True
    return tip_bone


def key_bone_offset(
    rig: bpy.types.Object, bone: str, samples: Iterable[tuple[float, Vector]], interpolation: str = "BEZIER"
) -> None:
    """Key a bone's location with (frame, offset from rest) samples along the armature's axes."""
    to_local = rig.data.bones[bone].matrix_local.to_3x3().inverted()
    path = rig.pose.bones[bone].path_from_id("location")
    key_vectors(rig, path, [(frame, to_local @ offset) for frame, offset in samples], interpolation, bone)


def key_bone_turn(rig: bpy.types.Object, bone: str, samples: Iterable[tuple[float, Matrix]]) -> None:
    """Key a bone's rotation with (frame, turn) samples, as turns of the rest pose in the armature's axes."""
    rest = rig.data.bones[bone].matrix_local.to_3x3()
    path = rig.pose.bones[bone].path_from_id("rotation_euler")
    angles = [(frame, (rest.inverted() @ turn @ rest).to_euler()) for frame, turn in samples]
    key_vectors(rig, path, angles, group=bone)
