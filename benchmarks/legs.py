"""Scenes of many legs, the same for every contender."""

from collections.abc import Iterable, Sequence
from math import asin, ceil, cos, pi, sin, sqrt

import bpy
from mathutils import Quaternion, Vector

from ik_addon.native.making import make_native
from ik_addon.rig.live import handlers as live

from . import keys

FRAMES = range(1, 251)
LEG_LENGTH = 2.0
_BEND = asin(0.2)
"""How far the first and the last bone of a leg lean, against each other."""


def build(
    legs: int,
    contender: str,
    animated_root: bool = False,
    bones: int = 2,
    poles: bool = True,
    others: int = 0,
    skin_vertices: int = 0,
    constrained: bool = False,
    split: bool = False,
    spare: int = 0,
    fk_keys: bool = False,
    body_keys: bool = False,
    limit: bool = False,
    body: bool = False,
    native: bool = False,
    switch: bool = False,
    frames: range = FRAMES,
) -> bpy.types.Object:
    """A fresh scene with one armature of legs that follow Empties animated over `frames`; returns its object.

    contender: BARE (nothing follows), BLENDER (the IK constraint, poles with their computed angle), OURS; our handlers
    are on for ours alone. bones: of each leg, of one length. others: Empties that have nothing to do with the legs.
    skin_vertices: of a grid that the legs deform. constrained: feet follow animated Empties by constraints, every other
    knee by a driver. split: each bone is two in line, the second of which only twists. spare: bones besides the legs.
    fk_keys: the legs' own bones have keys; body_keys: all others have. limit: the first leg's thigh has one of
    Blender's IK limits. body: the root follows our legs; Blender has nothing for that. native: our chains are made
    native, and play without our handlers; switch: with FK/IK Switch.
    """
    live.unregister()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    for other in range(others):
        _empty(scene, f"other.{other}").location = (other % 50, 5.0 + other // 50, 0.0)
    ob = _armature(scene, legs, bones, split, spare)
    for bone in ob.pose.bones:
        if split and bone.name.startswith(("twist", "shin")):
            bone.lock_ik_x = bone.lock_ik_z = contender == "BLENDER"
            bone.analytic_ik_rigid = contender == "OURS"
    if skin_vertices:
        skin(ob, skin_vertices, _by_leg(ob))
    if animated_root:
        root = ob.pose.bones["root"]
        for frame in frames[::10]:
            root.location = (0.05 * (frame % 3), 0.0, 0.02 * (frame % 7))
            root.keyframe_insert("location", frame=frame)
    own = baked_bones(ob)
    turned = [bone.name for bone in ob.pose.bones if (fk_keys if bone.name in own else body_keys)]
    if turned:
        _key_rotations(ob, turned, frames[::10])
    if limit:
        thigh = ob.pose.bones["thigh.0.0"]
        thigh.use_ik_limit_x, thigh.ik_min_x, thigh.ik_max_x = True, -pi / 2.0, pi / 2.0
    chain_count = 2 * bones if split else bones
    for leg in range(legs):
        foot, knee = _controls(scene, leg, frames, constrained)
        shin, pole = ob.pose.bones[f"shin.{leg}"], knee if poles else None
        if contender == "BLENDER":
            constraint = shin.constraints.new("IK")
            constraint.target, constraint.pole_target = foot, pole
            constraint.chain_count, constraint.pole_angle = chain_count, -pi / 2.0
        elif contender == "OURS":
            shin.analytic_ik_target, shin.analytic_ik_pole_target = foot, pole
            shin.analytic_ik_chain_count = chain_count
            shin.analytic_ik_enabled = True
    if contender == "OURS":
        ob.pose.bones["root"].analytic_ik_body_influence = float(body)
        live.register()
    scene.frame_set(frames[0])
    if native and contender == "OURS":
        make_native(bpy.context, [ob.pose.bones[f"shin.{leg}"] for leg in range(legs)], switch)
        live.unregister()
        scene.frame_set(frames[0])
    return ob


def skin(ob: bpy.types.Object, vertices: int, groups: Sequence[Sequence[str]]) -> None:
    """A grid of at least so many vertices, in stripes: each is deformed by all bones of one group alike."""
    side = ceil(sqrt(vertices))
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=side - 1, y_subdivisions=side - 1, calc_uvs=False)
    grid = bpy.context.object
    count = len(grid.data.vertices)
    for k, names in enumerate(groups):
        stripe = range(count * k // len(groups), count * (k + 1) // len(groups))
        for name in names:
            group = grid.vertex_groups.get(name) or grid.vertex_groups.new(name=name)
            group.add(stripe, 1.0 / len(names), "REPLACE")
    grid.modifiers.new("Armature", "ARMATURE").object = ob
    grid.select_set(False)
    bpy.context.view_layer.objects.active = ob


def error(ob: bpy.types.Object) -> float:
    """The largest distance of a shin's tail from its foot control as the scene is, in leg lengths."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    posed = ob.evaluated_get(depsgraph)
    tails = {
        bone.name.partition(".")[2]: posed.matrix_world @ bone.tail
        for bone in posed.pose.bones
        if bone.name.startswith("shin")
    }
    feet = {leg: bpy.data.objects[f"foot.{leg}"].evaluated_get(depsgraph).matrix_world.translation for leg in tails}
    return max((tails[leg] - feet[leg]).length for leg in tails) / LEG_LENGTH


def worst_error(ob: bpy.types.Object, frames: range, count: int = 25) -> float:
    """The largest `error` at some `count` of the frames."""
    return max(_errors(ob, frames[:: ceil(len(frames) / count)]))


def baked_bones(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of all legs."""
    return [bone.name for bone in ob.data.bones if bone.name.startswith(("thigh", "twist", "shin"))]


def _by_leg(ob: bpy.types.Object) -> list[list[str]]:
    """The same, leg by leg."""
    legs: dict[str, list[str]] = {}
    for name in baked_bones(ob):
        legs.setdefault(name.split(".")[1], []).append(name)
    return list(legs.values())


def _key_rotations(ob: bpy.types.Object, names: Sequence[str], frames: range) -> None:
    turns = [Quaternion((1.0, 0.0, 0.0), 0.1 * sin(0.1 * frame)) for frame in frames]
    keys.write(ob, frames, {f'pose.bones["{name}"].rotation_quaternion': turns for name in names})


def _errors(ob: bpy.types.Object, frames: range) -> Iterable[float]:
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        yield error(ob)


def _empty(scene: bpy.types.Scene, name: str) -> bpy.types.Object:
    ob = bpy.data.objects.new(name, None)
    scene.collection.objects.link(ob)
    return ob


def _armature(scene: bpy.types.Scene, legs: int, bones: int, split: bool, spare: int) -> bpy.types.Object:
    armature = bpy.data.armatures.new("Legs")
    ob = bpy.data.objects.new("Legs", armature)
    scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    root = armature.edit_bones.new("root")
    root.head, root.tail = (0.0, 0.0, 2.0), (0.0, 0.0, 2.5)
    for k in range(spare):
        bone = armature.edit_bones.new(f"spare.{k}")
        bone.head, bone.tail = (0.1 * k, 1.0, 2.0), (0.1 * k, 1.0, 2.3)
        bone.parent = root
    for leg in range(legs):
        before, head = root, Vector((0.5 * leg, 0.0, 2.0))
        for k in range(bones):
            lean = _BEND * (2 * k / (bones - 1) - 1)
            names = [f"thigh.{leg}.{k}", f"twist.{leg}.{k}"] if split else [f"thigh.{leg}.{k}"]
            if k == bones - 1:
                names[-1] = f"shin.{leg}"
            for name in names:
                bone = armature.edit_bones.new(name)
                way = Vector((0.0, sin(lean), -cos(lean))) * (LEG_LENGTH / bones / len(names))
                bone.head, bone.tail = head, head + way
                bone.parent, bone.use_connect = before, before is not root
                before, head = bone, bone.tail.copy()
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def _controls(
    scene: bpy.types.Scene, leg: int, frames: range, constrained: bool
) -> tuple[bpy.types.Object, bpy.types.Object]:
    """The foot and the knee of a leg."""
    foot, knee = _empty(scene, f"foot.{leg}"), _empty(scene, f"knee.{leg}")
    knee.location = (0.5 * leg, -3.0, 1.0)
    moved = _empty(scene, f"guide.{leg}") if constrained else foot
    for frame in frames[::7]:
        phase = 0.2 * frame + leg
        moved.location = (
            0.5 * leg + 0.1 * ((frame + leg) % 5 - 2) / 2.0,
            0.4 * ((phase % 4.0) - 2.0) / 2.0,
            0.3 + 0.25 * (phase % 3.0) / 3.0,
        )
        moved.keyframe_insert("location", frame=frame)
    if constrained:
        foot.constraints.new("COPY_LOCATION").target = moved
    if constrained and leg % 2:
        driver = knee.driver_add("location", 0).driver
        driver.type = "AVERAGE"
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = moved, "location.x"
    return foot, knee
