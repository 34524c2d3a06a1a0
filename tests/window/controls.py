"""The control of a chain, which is an object or a bone: where the window shows it, and clicks until it is chosen."""

from collections.abc import Iterator

import bpy
import driver as d
from mathutils import Vector

Control = tuple[bpy.types.Object, bpy.types.PoseBone | None]


def control(tip: bpy.types.PoseBone) -> Control:
    """What a chain follows: an object, or a bone of one."""
    ob = tip.analytic_ik_target
    return ob, ob.pose.bones[tip.analytic_ik_subtarget] if tip.analytic_ik_subtarget else None


def place(tip: bpy.types.PoseBone) -> Vector:
    """Where the control of a chain is, as the view shows it, in the world."""
    ob, bone = control(tip)
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = shown.matrix_world
    return matrix @ shown.pose.bones[bone.name].head if bone else matrix.translation.copy()


def choose(tip: bpy.types.PoseBone) -> d.Steps:
    """Click on the control of a chain, in Pose Mode if it is a bone."""
    _, bone = control(tip)
    if bone is not None and bpy.context.mode != "POSE":
        yield from d.press("ctrl+Tab", d.middle())
        assert bpy.context.mode == "POSE", bpy.context.mode
    clicks = 0
    for at in _around(d.pixel_of(place(tip))):
        yield from d.click(at)
        clicks += 1
        if _is_chosen(tip):
            break
    assert _is_chosen(tip), "no click chose the control"
    print(f"The control was chosen by click {clicks}", flush=True)


def _is_chosen(tip: bpy.types.PoseBone) -> bool:
    ob, bone = control(tip)
    return bpy.context.object == ob and (bone is None or bpy.context.active_pose_bone == bone)


def _around(at: d.Pixel) -> Iterator[d.Pixel]:
    """Pixels farther and farther from one: where a hand would click next, if a click chose something else."""
    yield at
    for away in range(6, 90, 6):
        for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, -1)):
            yield at[0] + x * away, at[1] + y * away
