"""A planted walk, what is seen of it, and its keys to the byte."""

import bpy
import numpy as np

from ik_addon.bake.keys import bytes_of
from ik_addon.planting import last_report

from ..helpers.once import once
from ..rig.rigs import evaluated_copy
from ..scenes import curves_of as curves_playing
from ..scenes import sliding_walk

FRAMES = range(1, 61)
LEG = 0.85
THIRDS = np.arange(3 * FRAMES[0], 3 * FRAMES[-1] + 1) / 3.0


@once
def _planted(**options) -> bpy.types.Object:
    ob = sliding_walk(**options)
    bpy.ops.analytic_ik.plant_feet(frame_start=FRAMES[0], frame_end=FRAMES[-1])
    _reports[repr(options)] = last_report()
    return ob


_reports: dict[str, dict] = {}


def planted(**options) -> tuple[bpy.types.Object, dict]:
    """The walk and the report of its planting."""
    return _planted(**options), _reports[repr(options)]


def seen(ob, frames=FRAMES) -> dict[str, np.ndarray]:
    """In the world at each frame: joints of the legs, (frames, 3)."""
    found: dict[str, list] = {}
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=float(frame % 1.0))
        shown = evaluated_copy(ob)
        for side in "LR":
            for bone in ("thigh", "shin", "foot", "toe"):
                place = shown.matrix_world @ shown.pose.bones[f"{bone}.{side}"].head
                found.setdefault(f"{bone}.{side}", []).append(tuple(place))
    return {name: np.array(rows) for name, rows in found.items()}


def farthest(one, other, bones) -> float:
    return (
        max(float(np.linalg.norm(one[name] - other[name], axis=1).max()) for name in one if name.startswith(bones))
        / LEG
    )


def all_bytes(ob) -> dict:
    """The keys of all objects."""
    found = {}
    for each in bpy.data.objects:
        if each.animation_data and each.animation_data.action:
            for name, curve in curves_playing(each).items():
                found[each.name, name] = bytes_of(curve)
    return found
