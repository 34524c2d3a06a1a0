"""A small robot walks over uneven ground, its legs pulled by foot and knee Empties."""

from __future__ import annotations

import bpy
from mathutils import Vector

from .biped_character import BACKGROUND, make_character, make_set
from .biped_gait import (
    ANKLE,
    HIPS_HEIGHT,
    KNEE,
    LAST_FRAME,
    SPEED,
    START_Y,
    BodyMotion,
    FootPath,
    ground_height,
)
from .motion import key_values, key_vectors
from .rigging import key_bone_offset, key_bone_turn, make_chain, make_empty, mirrored
from .staging import add_camera, dolly, new_collection, start_scene

POLE_AHEAD = 0.9  # of the knees, so far that they never come near it


def _stage(collection: bpy.types.Collection) -> None:
    """Build the set along the walk, and a camera that goes with the robot."""
    make_set((START_Y - SPEED * LAST_FRAME - 1.8, START_Y + 1.8), 250, ground_height, collection)
    eye, look_at = (5.4, START_Y - 3.5, 1.7), (0.0, START_Y - 0.1, 0.76)
    camera = add_camera(collection, eye, look_at, lens=56.0)
    dolly(camera, (0.0, -SPEED * (LAST_FRAME - 1), 0.0))


def _key_body(rig: bpy.types.Object, body: BodyMotion) -> None:
    """Key the root, the hips, the trunk and the arms; every third frame is enough for them."""
    frames = [*range(1, LAST_FRAME + 1, 3), LAST_FRAME]
    hips_rest = Vector((0.0, 0.0, HIPS_HEIGHT))
    key_bone_offset(rig, "root", [(f, body.root(f)) for f in frames])
    key_bone_offset(rig, "hips", [(f, body.hips(f) - body.root(f) - hips_rest) for f in frames])
    for bone in body.turns(1):
        key_bone_turn(rig, bone, [(frame, body.turns(frame)[bone]) for frame in frames])


def _make_leg(rig: bpy.types.Object, side: str, path: FootPath, controls: bpy.types.Collection) -> None:
    """Give a leg its foot and knee Empties, their keys, and the chain that follows them."""
    frames = range(1, LAST_FRAME + 1)
    poses = [path.pose(frame) for frame in frames]
    foot_rest = rig.data.bones[f"foot.{side}"].matrix_local.to_3x3()
    foot = make_empty(f"Foot.{side}", mirrored(ANKLE, side), controls, display="CUBE", size=0.07)
    # Linear: eased between frames, place and turn would not agree on where the heel or the ball stands.
    key_vectors(foot, "location", zip(frames, (pose.ankle for pose in poses), strict=True), "LINEAR")
    turns = []
    euler = foot_rest.to_euler()
    for pose in poses:
        euler = (pose.turn @ foot_rest).to_euler("XYZ", euler)
        turns.append(euler)
    key_vectors(foot, "rotation_euler", zip(frames, turns, strict=True), "LINEAR")
    toe = rig.pose.bones[f"toe.{side}"]
    toe_bends = zip(frames, (pose.toe_bend for pose in poses), strict=True)
    key_values(rig, toe.path_from_id("rotation_euler"), 0, toe_bends, "LINEAR", toe.name)

    ahead = mirrored(KNEE, side) + Vector((0.0, -POLE_AHEAD, 0.0))
    knee = make_empty(f"Knee.{side}", ahead, controls, size=0.06)
    key_vectors(knee, "location", [(f, BodyMotion.root(f) + ahead) for f in [*frames[::6], LAST_FRAME]])

    make_chain(rig, f"shin.{side}", 2, foot, knee)
    level = rig.pose.bones[f"foot.{side}"].constraints.new("COPY_ROTATION")
    level.target = foot


def build() -> bpy.types.Object:
    """Build the scene and return its armature."""
    start_scene("biped_walk", LAST_FRAME, BACKGROUND)
    character, controls, stage = (new_collection(name) for name in ("Character", "Controls", "Set"))
    rig = make_character(character)
    _stage(stage)
    feet = {side: FootPath(side) for side in ("L", "R")}
    _key_body(rig, BodyMotion(feet))
    for side, path in feet.items():
        _make_leg(rig, side, path, controls)
    return rig
