"""A small robot walks over uneven ground on two legs that follow their controls. One step is too long."""

from __future__ import annotations

import bpy
from mathutils import Vector

from .biped_character import BACKGROUND, make_character, make_set
from .biped_gait import (
    ANKLE,
    HIPS_HEIGHT,
    KNEE,
    LAST_FRAME,
    LONG_STEP,
    SPEED,
    START_Y,
    BodyMotion,
    FootPath,
    Height,
    ground_height,
    root_at,
)
from .motion import key_values, key_vectors
from .rigging import key_bone_offset, key_bone_turn, make_chain, make_empty, mirrored
from .staging import Opening, add_camera, dolly, new_collection, start_scene

POLE_AHEAD = 0.9  # of the knees, so far that they never come near it

READ_ME = """\
1. Press Space: the legs follow the boxes at the feet. Foot Roll is keyed.
2. Click the left shin. Turn Swivel in the Analytic IK tab, or drag the ring at the knee.
3. In Object Mode, move a foot's box: the knee bends by itself.
4. Press Check: one step is too long on purpose. Click its line in the Certificate panel.
5. Press Bake: the legs get plain keys that play without the add-on.
"""


def make_stage(collection: bpy.types.Collection, height: Height = ground_height) -> None:
    """Build the set along the walk, and a camera that goes with the robot."""
    make_set((START_Y - SPEED * LAST_FRAME - 1.8, START_Y + 1.8), 250, height, collection)
    eye, look_at = (3.3, START_Y - 2.35, 1.25), (0.0, START_Y - 0.12, 0.85)
    camera = add_camera(collection, eye, look_at, lens=45.0)
    dolly(camera, (0.0, -SPEED * (LAST_FRAME - 1), 0.0))


def key_body(rig: bpy.types.Object, body: BodyMotion, every: int = 3) -> None:
    """Key the root, the hips, the trunk and the arms, at every third frame if not told otherwise."""
    frames = [*range(1, LAST_FRAME, every), LAST_FRAME]
    hips_rest = Vector((0.0, 0.0, HIPS_HEIGHT))
    key_bone_offset(rig, "root", [(f, body.root(f)) for f in frames])
    key_bone_offset(rig, "hips", [(f, body.hips(f) - body.root(f) - hips_rest) for f in frames])
    for bone in body.turns(1):
        key_bone_turn(rig, bone, [(frame, body.turns(frame)[bone]) for frame in frames])


def make_leg(rig: bpy.types.Object, side: str, path: FootPath, controls: bpy.types.Collection) -> None:
    """Give a leg its foot and knee Empties, the chain that follows them, and their keys."""
    foot_rest = rig.data.bones[f"foot.{side}"].matrix_local.to_3x3()
    foot = make_empty(f"Foot.{side}", mirrored(ANKLE, side), controls, display="CUBE", size=0.07)
    foot.rotation_euler = foot_rest.to_euler()
    ahead = mirrored(KNEE, side) + Vector((0.0, -POLE_AHEAD, 0.0))
    knee = make_empty(f"Knee.{side}", ahead, controls, size=0.06)
    tip = make_chain(rig, f"shin.{side}", 2, foot, knee)
    tip.analytic_ik_end_bone = f"foot.{side}"
    # From here on the foot keeps the orientation to its control that both have at rest.
    bpy.context.view_layer.update()
    tip.analytic_ik_use_rotation = True

    frames = range(1, LAST_FRAME + 1)
    poses = [path.pose(frame) for frame in frames]
    # Linear: eased between frames, place, turn and roll would not agree on where the foot stands.
    key_vectors(foot, "location", zip(frames, (pose.flat_ankle for pose in poses), strict=True), "LINEAR")
    turns = []
    euler = foot_rest.to_euler()
    for pose in poses:
        euler = (pose.flat_turn @ foot_rest).to_euler("XYZ", euler)
        turns.append(euler)
    key_vectors(foot, "rotation_euler", zip(frames, turns, strict=True), "LINEAR")
    rolls = zip(frames, (pose.roll for pose in poses), strict=True)
    key_values(rig, tip.path_from_id("analytic_ik_foot_roll"), 0, rolls, "LINEAR", tip.name)
    key_vectors(knee, "location", [(f, root_at(f, path.height) + ahead) for f in [*frames[::6], LAST_FRAME]])


def build() -> Opening:
    """Build the scene."""
    start_scene("biped_walk", LAST_FRAME, BACKGROUND)
    character, controls, stage = (new_collection(name) for name in ("Character", "Controls", "Set"))
    rig = make_character(character)
    make_stage(stage)
    for side in ("L", "R"):
        make_leg(rig, side, FootPath(side, LONG_STEP), controls)
    # The body walks as if no step were too long.
    key_body(rig, BodyMotion({side: FootPath(side) for side in ("L", "R")}))
    return Opening(rig, READ_ME, "shin.L")
