"""A leg before a camera, with lamps on its bones."""

from math import pi

import bpy

from ..rig.keys import key
from ..rig.rigs import Rig, leg


def set_up_renders(scene: bpy.types.Scene) -> None:
    """Small and quick pictures."""
    scene.render.engine = "CYCLES"
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = "CPU", 2, False
    scene.cycles.use_adaptive_sampling = False
    scene.render.resolution_x = scene.render.resolution_y = 48
    scene.render.threads_mode, scene.render.threads = "FIXED", 1
    scene.render.image_settings.file_format = "PNG"
    scene.view_settings.view_transform = "Raw"


def filmed_leg() -> Rig:
    """A live leg with lamps on its thigh and foot, before a camera."""
    rig = leg()
    rig.enable()
    key(rig.target.ob, "location", [(0.0, -0.3, 0.4), (0.0, 0.6, 0.5), (0.0, -0.9, 0.8), (0.0, 0.2, 0.3)])
    film(rig)
    return rig


def film(rig: Rig) -> None:
    """A camera before a leg, and shining boxes on its thigh and foot."""
    scene = bpy.context.scene
    set_up_renders(scene)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", 4.0
    camera.location, camera.rotation_euler = (5.0, 0.0, 1.0), (pi / 2, 0.0, pi / 2)
    scene.collection.objects.link(camera)
    scene.camera = camera
    lamp_on(rig.ob, "foot", (0.25, 0.4, 0.15))
    lamp_on(rig.ob, "thigh", (0.1, 0.3, 0.3))


def lamp_on(ob: bpy.types.Object, bone: str, size: tuple[float, float, float]) -> None:
    """A shining box that rides on a bone."""
    mesh = bpy.data.meshes.new("lamp")
    x, y, z = size
    corners = [(i * x, j * y, k * z) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners, [], faces)
    lamp = bpy.data.objects.new("lamp", mesh)
    lamp.parent, lamp.parent_type, lamp.parent_bone = ob, "BONE", bone
    bpy.context.scene.collection.objects.link(lamp)
    material = bpy.data.materials.new("light")
    if not material.node_tree:
        material.use_nodes = True
    nodes = material.node_tree.nodes
    nodes.clear()
    shine, output = nodes.new("ShaderNodeEmission"), nodes.new("ShaderNodeOutputMaterial")
    material.node_tree.links.new(shine.outputs[0], output.inputs[0])
    mesh.materials.append(material)
