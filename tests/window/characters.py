"""A character comes into the scene as an importer makes it, and the view shows the whole of it."""

from pathlib import Path

import bpy
import driver as d
from mathutils import Euler


def bring_in(file: Path) -> d.Steps:
    """An empty scene, and the character of a file."""
    with d.over():
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for ob in list(bpy.context.scene.objects):
            bpy.data.objects.remove(ob)
        if file.suffix == ".bvh":
            bpy.ops.import_anim.bvh(filepath=str(file))
        elif file.suffix == ".fbx":
            bpy.ops.import_scene.fbx(filepath=str(file))
        else:
            bpy.ops.import_scene.gltf(filepath=str(file))
    yield 1.0


def show_whole(ob: bpy.types.Object) -> None:
    """Select an armature object in Object Mode, and look at the whole of it, obliquely."""
    with d.over():
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
    for other in bpy.context.scene.objects:
        other.select_set(other == ob)
    bpy.context.view_layer.objects.active = ob
    with d.over():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_selected()
    # From the side and above: the outline around a foot is flat.
    d.area().spaces.active.region_3d.view_rotation = Euler((1.17, 0.0, 0.9)).to_quaternion()
