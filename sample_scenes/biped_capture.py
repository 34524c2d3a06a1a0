"""The walk as a motion capture: keys on every bone at every frame, no control, and feet that slide a little."""

from __future__ import annotations

from math import sin

import bpy
from mathutils import Vector

from ik_addon.bake import bake, chains_of

from .biped_character import BACKGROUND, make_character
from .biped_gait import LAST_FRAME, BodyMotion, FootPath, FootPose
from .biped_walk import key_body, make_leg, make_stage
from .staging import Opening, new_collection, start_scene

READ_ME = """\
1. Press Space: every bone has keys, as in a capture, and the feet slide on the ground.
2. Press Rig Legs in the Animation tab: the new controls follow the walk, and no bone moves.
3. Open Motion Capture and press Plant Feet: each foot stands still while it touches the ground, and the body follows.
4. Turn on Footprints there, move the Empty of a step, and press Update Feet.
5. Press Bake: the corrected legs are keys in a copy of the action.
"""


class SlidingFoot(FootPath):
    """The walk of a foot as a capture records it: it drifts while it stands."""

    def pose(self, frame: float) -> FootPose:
        """Return the foot's pose at a frame."""
        pose = super().pose(frame)
        late = 1.3 * self._first_step
        drift = Vector((0.012 * sin(0.31 * frame + late), 0.022 * sin(0.47 * frame + late), 0.004 * sin(1.9 * frame)))
        return FootPose(pose.ankle + drift, pose.flat_turn, pose.roll)


def build() -> Opening:
    """Build the scene: the legs are baked, and their chains and controls removed."""
    start_scene("biped_capture", LAST_FRAME, BACKGROUND)
    character, controls, stage = (new_collection(name) for name in ("Character", "Controls", "Set"))
    rig = make_character(character)
    make_stage(stage)
    feet = {side: SlidingFoot(side) for side in ("L", "R")}
    for side, path in feet.items():
        make_leg(rig, side, path, controls)
    key_body(rig, BodyMotion(feet), every=1)
    bake(bpy.context, chains_of([rig]), range(1, LAST_FRAME + 1), action="CURRENT", after="REMOVE")
    bpy.data.batch_remove([*controls.objects, controls])
    rig.property_unset("analytic_ik_report")
    action = rig.animation_data.action
    action.name = "Walk capture"
    for curve in [curve for curve in action.fcurves if curve.data_path.endswith("foot_roll")]:
        action.fcurves.remove(curve)
    return Opening(rig, READ_ME)
