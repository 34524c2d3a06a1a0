"""The control of a chain, which is an object or a bone: where the window shows it, and clicks until it is chosen."""

from collections.abc import Iterator

import bpy
import driver as d
from mathutils import Matrix, Vector

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
    for at in (*_outline(tip), *_around(d.pixel_of(place(tip)))):
        yield from d.click(at)
        clicks += 1
        if _is_chosen(tip):
            break
    assert _is_chosen(tip), "no click chose the control"
    print(f"The control was chosen by click {clicks}", flush=True)


def _is_chosen(tip: bpy.types.PoseBone) -> bool:
    ob, bone = control(tip)
    return bpy.context.object == ob and (bone is None or bpy.context.active_pose_bone == bone)


def _outline(tip: bpy.types.PoseBone) -> list[d.Pixel]:
    """Pixels on the shape of a control bone, the lowest first: what a hand would click on, below the foot's skin."""
    ob, bone = control(tip)
    if bone is None or bone.custom_shape is None:
        return []
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    posed = shown.pose.bones[bone.name]
    size = posed.custom_shape_scale_xyz * (posed.bone.length if posed.use_custom_shape_bone_size else 1.0)
    turned = posed.custom_shape_rotation_euler.to_quaternion()
    matrix = shown.matrix_world @ posed.matrix @ Matrix.LocRotScale(posed.custom_shape_translation, turned, size)
    mesh = bone.custom_shape.data
    ends = [[matrix @ mesh.vertices[k].co for k in edge.vertices] for edge in mesh.edges]
    pixels = sorted((d.pixel_of((first + last) / 2.0) for first, last in ends), key=lambda pixel: pixel[1])
    return [pixel for pixel in pixels[::4] if d.is_in_view(pixel)]


def _around(at: d.Pixel) -> Iterator[d.Pixel]:
    """Pixels farther and farther from one: where a hand would click next, if a click chose something else."""
    yield at
    for away in range(6, 90, 6):
        for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, -1)):
            yield at[0] + x * away, at[1] + y * away
