"""A leg before a camera, with a lamp on its bones: what moves it, and what its images show."""

from math import pi

import bpy

from ..rig.keys import FRAMES, key, key_rotation
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
    """A live leg with a lamp of a mesh on its foot, before a camera."""
    scene = bpy.context.scene
    set_up_renders(scene)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", 4.0
    camera.location, camera.rotation_euler = (5.0, 0.0, 1.0), (pi / 2, 0.0, pi / 2)
    scene.collection.objects.link(camera)
    scene.camera = camera
    rig = leg()
    lamp_on(rig.ob, "foot", (0.25, 0.4, 0.15))
    lamp_on(rig.ob, "thigh", (0.1, 0.3, 0.3))
    rig.enable()
    key(rig.target.ob, "location", [(0.0, -0.3, 0.4), (0.0, 0.6, 0.5), (0.0, -0.9, 0.8), (0.0, 0.2, 0.3)])
    return rig


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


def key_above(rig: Rig) -> None:
    """The bone above the chain is keyed: a pose that is written must not freeze it."""
    hips = rig.ob.pose.bones["hips"]
    key(hips, "location", [(0.0, 0.0, 0.0), (0.3, -0.3, 0.2), (-0.3, 0.3, 0.3), (0.0, 0.2, 0.0)])
    key_rotation(rig.random, hips)


def key_object(rig: Rig) -> None:
    key(rig.ob, "location", [(0.0, 0.0, 0.0), (0.0, 0.4, 0.3), (0.0, -0.4, 0.0), (0.0, 0.3, 0.2)])
    key(rig.ob, "rotation_euler", [(0.0, 0.0, 0.0), (0.4, 0.0, 0.0), (-0.4, 0.0, 0.2), (0.2, 0.0, 0.0)])


def key_influence(rig: Rig) -> None:
    key(rig.tip, "analytic_ik_influence", [0.0, 1.0, 0.3, 1.0])


def key_fk_pose(rig: Rig) -> None:
    for name in rig.bones:
        key_rotation(rig.random, rig.ob.pose.bones[name])
    rig.tip.analytic_ik_influence = 0.5


def key_scales_of_a_stretching_leg(rig: Rig) -> None:
    """Partly keyed scales on bones that the chain scales, and a target in and out of its reach."""
    rig.tip.analytic_ik_reach, rig.tip.analytic_ik_stretch_max = "STRETCH", 2.0
    key(rig.target.ob, "location", [(0.0, -0.3, 0.4), (0.0, 1.2, -0.2), (0.0, -0.9, 0.8), (0.0, -1.5, -0.1)])
    for name, index in (("foot", 1), ("thigh", 0)):
        bone = rig.ob.pose.bones[name]
        bone.scale = (0.9, 1.1, 1.2)
        for frame, value in zip(FRAMES, (1.0, 1.3, 0.8, 1.2), strict=True):
            bone.scale[index] = value
            bone.keyframe_insert("scale", index=index, frame=frame)
