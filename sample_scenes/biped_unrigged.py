"""The robot of biped_walk before anything was done to it: it stands still, with no chain and no control."""

from __future__ import annotations

from .biped_character import BACKGROUND, make_character, make_set
from .staging import Opening, add_camera, new_collection, start_scene

LAST_FRAME = 120

READ_ME = """\
1. Press Rig Legs in the Analytic IK tab: each leg gets a control, and no bone moves.
2. Controls above the button: Bones are posed in Pose Mode, Empties in Object Mode.
3. Grab a foot's control (G) and lift it: the knee bends by itself.
4. Press I to key the control. Go on ten frames, put the foot down, press I again.
5. Press Bake: the leg gets plain keys that play without the add-on.
"""


def build() -> Opening:
    """Build the scene."""
    start_scene("biped_unrigged", LAST_FRAME, BACKGROUND)
    character, stage = (new_collection(name) for name in ("Character", "Set"))
    rig = make_character(character)
    make_set((-1.2, 1.2), 12, lambda _x, _y: 0.0, stage)
    add_camera(stage, eye=(3.1, -4.1, 1.35), look_at=(0.0, -0.1, 0.78), lens=56.0)
    return Opening(rig, READ_ME)
