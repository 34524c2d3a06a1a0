"""A walk as a motion capture: keys on every bone at every frame, no control, feet that slide, and a hill in its way."""

from __future__ import annotations

from math import cos, pi, sin

import bpy
from mathutils import Vector

from ik_addon.bake import bake, chains_of

from .biped_character import BACKGROUND, make_character
from .biped_gait import LAST_FRAME, BodyMotion, FootPath, FootPose
from .biped_walk import key_body, make_leg, make_stage
from .staging import Opening, new_collection, start_scene

READ_ME = """\
1. Press Space: every bone has keys, as in a capture. The feet slide, and they walk through the hill.
2. Press Rig Legs in the Analytic IK tab: the new controls follow the walk, and no bone moves.
3. Open Motion Capture and press Plant Feet. Choose Ground: Object, Object: Hill, and turn on Footprints.
4. The feet stand still on the hill, and the body follows. Move the Empty of a step, and press Update Feet.
5. Press Bake: the corrected legs are keys in a copy of the action.
"""

HILL_HEIGHT, HILL_LENGTH, HILL_TOP = 0.3, 3.0, -0.55
"""How high the hill is, how long along Y, and where its top is; in metres."""


def level(_x: float, _y: float) -> float:
    """Return the height of the floor on which the walk was captured."""
    return 0.0


def hill_height(_x: float, y: float) -> float:
    """Return the height of the ground of the shot: level at first, then a hill."""
    part = (y - HILL_TOP) / HILL_LENGTH
    return 0.5 * HILL_HEIGHT * (1.0 + cos(2.0 * pi * part)) if abs(part) < 0.5 else 0.0


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
    make_stage(stage, hill_height)
    bpy.data.objects["Ground"].name = "Hill"
    feet = {side: SlidingFoot(side, height=level) for side in ("L", "R")}
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
