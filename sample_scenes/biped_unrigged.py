"""The robot of biped_walk before anything was done to it: it stands still, with no chain and no control."""

from __future__ import annotations

import bpy

from .biped_character import BACKGROUND, make_character, make_set
from .staging import add_camera, new_collection, start_scene

LAST_FRAME = 120


def build() -> bpy.types.Object:
    """Build the scene and return its armature."""
    start_scene("biped_unrigged", LAST_FRAME, BACKGROUND)
    character, stage = (new_collection(name) for name in ("Character", "Set"))
    rig = make_character(character)
    make_set((-1.2, 1.2), 12, lambda _x, _y: 0.0, stage)
    add_camera(stage, eye=(3.1, -4.1, 1.35), look_at=(0.0, -0.1, 0.78), lens=56.0)
    return rig
