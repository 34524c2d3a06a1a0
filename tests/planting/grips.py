"""Grips: a hand's pose in the space of what it holds, measured on evaluated bones."""

import bpy
import numpy as np

from ik_addon.authoring.placing import Control

from ..rig.rigs import evaluated_copy
from ..scenes import go_to

ARM = 0.463
"""Length of an arm of the captured walker."""


def world_of(ob: bpy.types.Object, bone: str = "") -> np.ndarray:
    shown = evaluated_copy(ob)
    world = np.array(shown.matrix_world, float)
    return world @ np.array(shown.pose.bones[bone].matrix, float) if bone else world


def grips(ob: bpy.types.Object, held: Control, frames, hand: str = "hand.L") -> np.ndarray:
    """(frames, 4, 4): the hand's evaluated pose in the evaluated space of what it holds, which may have a size."""
    found = []
    for frame in frames:
        go_to(float(frame))
        found.append(np.linalg.inv(world_of(held.ob, held.bone)) @ world_of(ob, hand))
    return np.array(found)


def drift(seen: np.ndarray, held: Control, length: float = ARM) -> tuple[float, float]:
    """How far a hand goes in a space, in arm lengths, and how far it turns there, in elements of its axes."""
    size = np.linalg.norm(world_of(held.ob, held.bone)[:3, 0])
    axes = seen[:, :3, :3] / np.linalg.norm(seen[:, :3, :3], axis=1, keepdims=True)
    places = seen[:, :3, 3]
    return np.linalg.norm(places - places[0], axis=1).max() * size / length, np.abs(axes - axes[0]).max()
