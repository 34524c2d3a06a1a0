"""The control of a chain, which is an object or a bone: where the window shows it, and clicks until it is chosen."""

from collections.abc import Callable, Iterable, Iterator

import bpy
import driver as d
from mathutils import Matrix, Vector

Control = tuple[bpy.types.Object, bpy.types.PoseBone | None]


def tips_of(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The tip bones of an armature object's live chains."""
    return [bone for bone in ob.pose.bones if bone.analytic_ik_enabled]


def control(tip: bpy.types.PoseBone) -> Control:
    """What one grabs to move a chain: its target, an object or a bone; or the bone that carries one that cannot be
    selected."""
    ob = tip.analytic_ik_target
    bone = ob.pose.bones[tip.analytic_ik_subtarget] if tip.analytic_ik_subtarget else None
    if bone is None:
        return (ob.parent, ob.parent.pose.bones[ob.parent_bone]) if ob.hide_select else (ob, None)
    return ob, bone.parent if bone.bone.hide_select else bone


def place(tip: bpy.types.PoseBone) -> Vector:
    """Where the target of a chain is, as the view shows it, in the world."""
    shown = tip.analytic_ik_target.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bone, matrix = tip.analytic_ik_subtarget, shown.matrix_world
    return matrix @ shown.pose.bones[bone].head if bone else matrix.translation.copy()


def missed(tip: bpy.types.PoseBone) -> float:
    """How far a chain's end is from its target, in the world."""
    shown = tip.id_data.evaluated_get(bpy.context.evaluated_depsgraph_get())
    end = tip.analytic_ik_end_bone
    reached = shown.pose.bones[end].head if end else shown.pose.bones[tip.name].tail
    return (shown.matrix_world @ reached - place(tip)).length


def choose(tip: bpy.types.PoseBone) -> d.Steps:
    """Click on the control of a chain, in Pose Mode if it is a bone."""
    ob, bone = control(tip)
    if bone is None:
        at = d.pixel_of(place(tip))
        yield from _click_until([at, *_around(at)], lambda: bpy.context.object == ob)
    else:
        yield from choose_bone(bone)


def choose_bone(bone: bpy.types.PoseBone) -> d.Steps:
    """Click on a bone in Pose Mode, on its shape if it has one."""
    if bpy.context.mode != "POSE":
        yield from d.press("ctrl+Tab", d.middle())
        assert bpy.context.mode == "POSE", bpy.context.mode
    shown = bone.id_data.evaluated_get(bpy.context.evaluated_depsgraph_get())
    head, tail = (
        shown.matrix_world @ point for point in (shown.pose.bones[bone.name].head, shown.pose.bones[bone.name].tail)
    )
    pixels = [
        *_outline(bone),
        *(d.pixel_of(head.lerp(tail, part)) for part in (0.5, 0.3, 0.7)),
        *_around(d.pixel_of(head)),
    ]
    yield from _click_until(pixels, lambda: bpy.context.active_pose_bone == bone)


def _click_until(pixels: Iterable[d.Pixel], is_done: Callable[[], bool]) -> d.Steps:
    """Click at pixel after pixel until something is so."""
    clicks = 0
    for at in filter(d.is_in_view, pixels):
        yield from d.click(at)
        clicks += 1
        if is_done():
            print(f"It was chosen by click {clicks}", flush=True)
            return
    raise AssertionError(f"none of {clicks} clicks chose it")


def _outline(bone: bpy.types.PoseBone) -> list[d.Pixel]:
    """Pixels on the shape of a control bone, the lowest first: what a hand would click on, below the foot's skin."""
    if bone.custom_shape is None or bone.custom_shape.type != "MESH":
        return []
    shown = bone.id_data.evaluated_get(bpy.context.evaluated_depsgraph_get())
    size = bone.custom_shape_scale_xyz * (bone.bone.length if bone.use_custom_shape_bone_size else 1.0)
    turned = bone.custom_shape_rotation_euler.to_quaternion()
    matrix = shown.matrix_world @ shown.pose.bones[bone.name].matrix
    matrix = matrix @ Matrix.LocRotScale(bone.custom_shape_translation, turned, size)
    mesh = bone.custom_shape.data
    ends = [[matrix @ mesh.vertices[k].co for k in edge.vertices] for edge in mesh.edges]
    pixels = sorted((d.pixel_of((first + last) / 2.0) for first, last in ends), key=lambda pixel: pixel[1])
    return pixels[::4]


def _around(at: d.Pixel) -> Iterator[d.Pixel]:
    """Pixels farther and farther from one: where a hand would click next, if a click chose something else."""
    yield at
    for away in range(6, 90, 6):
        for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, -1)):
            yield at[0] + x * away, at[1] + y * away
