"""The robot with control bones for legs and arms: it waves, all in Pose Mode and in one action."""

from __future__ import annotations

from math import cos, pi, sin

import bpy
from mathutils import Matrix, Vector

from .biped_character import BACKGROUND, make_character, make_set
from .motion import smoothstep
from .rigging import key_bone_offset, key_bone_turn, turn_by
from .staging import Opening, add_camera, new_collection, start_scene

LAST_FRAME = 96

READ_ME = """\
1. Press Space: the robot waves. Only its hips, its head and its control bones have keys.
2. Grab foot_ik.L, the outline around the left foot (G), and turn it (R): the foot follows.
3. Grab the hips: feet and hands stay where their controls are.
4. Select foot_ik.L, press Ctrl C, then Shift Ctrl V: the other foot gets its pose, mirrored.
5. In the FK/IK panel of a leg, press Switch to FK: rotate its bones, then switch back.
"""


def _raised(frame: float) -> float:
    """Return how far the right hand is up: 0 it hangs, 1 it waves."""
    return smoothstep((frame - 6.0) / 16.0) * smoothstep((90.0 - frame) / 16.0)


def _right_hand(frame: float) -> tuple[Vector, Matrix]:
    """Return the offset of the right hand's control from its rest pose, and its turn."""
    up, wave = _raised(frame), sin(2.0 * pi * (frame - 22.0) / 13.0)
    aside = Vector((-0.16, -0.06, 0.0)) * sin(pi * up)  # past the hips, on a curve
    offset = aside + up * Vector((-0.13 + 0.06 * wave, -0.13, 0.68))
    return offset, turn_by(roll=up * (160.0 - 16.0 * wave))


def _left_foot(frame: float) -> tuple[Vector, Matrix]:
    """Return the offset of the left foot's control, which taps the ground twice, and its turn."""
    tap = sum(sin(pi * min(max((frame - start) / 14.0, 0.0), 1.0)) for start in (34.0, 56.0))
    return tap * Vector((0.02, -0.1, 0.09)), turn_by(pitch=-14.0 * tap)


def _hips(frame: float) -> tuple[Vector, Matrix]:
    """Return the offset and the turn of the hips, which lean over the right leg and bob."""
    wave, up = 2.0 * pi * (frame - 1.0) / (LAST_FRAME - 1), _raised(frame)
    bob = cos(2.0 * pi * (frame - 1.0) / ((LAST_FRAME - 1) / 4.0)) - 1.0
    return Vector((-0.035 * up, 0.0, -0.03 + 0.018 * bob)), turn_by(roll=-2.5 * up, yaw=4.0 * sin(wave))


def _key(rig: bpy.types.Object) -> None:
    frames = [*range(1, LAST_FRAME, 3), LAST_FRAME]
    for bone, pose in (("hips", _hips), ("hand_ik.R", _right_hand), ("foot_ik.L", _left_foot)):
        key_bone_offset(rig, bone, [(frame, pose(frame)[0]) for frame in frames])
        key_bone_turn(rig, bone, [(frame, pose(frame)[1]) for frame in frames])
    key_bone_turn(rig, "head", [(f, turn_by(pitch=3.0 * _raised(f), roll=7.0 * _raised(f))) for f in frames])
    elbow_down = Vector((-0.25, 0.1, -0.1))
    key_bone_offset(rig, "elbow_pole.R", [(frame, _raised(frame) * elbow_down) for frame in frames])


def build() -> Opening:
    """Build the scene."""
    start_scene("biped_control_bones", LAST_FRAME, BACKGROUND)
    character, stage = (new_collection(name) for name in ("Character", "Set"))
    rig = make_character(character)
    make_set((-1.2, 1.2), 12, lambda _x, _y: 0.0, stage)
    add_camera(stage, eye=(2.3, -3.5, 1.3), look_at=(0.0, -0.1, 0.82), lens=52.0)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.analytic_ik.rig_legs(controls="BONES", arms=True)
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    _key(rig)
    return Opening(rig, READ_ME, "foot_ik.L")
