"""What every scene has: an empty start, collections, materials, light, camera, and a tidy save."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import radians
from pathlib import Path

import bpy
from mathutils import Vector

from .motion import key_vectors
from .sidebar import sidebar_open_at

Colour = tuple[float, float, float]

# Suns shine alike from everywhere: from up here, the lines drawn for them do not cross the view.
SUNS_ASIDE = Vector((0.0, -40.0, 60.0))
FLOOR_SIZE = 400.0
# The floor is lit by the suns besides the world: this much darker, it looks like the world behind it.
FLOOR_DARKENING = 0.58


def start_scene(name: str, last_frame: int, background: Colour) -> bpy.types.Scene:
    """Empty everything and set up a scene of frames 1 to *last_frame* at 24 per second."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    scene.name = name
    scene.frame_start, scene.frame_end = 1, last_frame
    scene.render.fps = 24
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 64
    scene.render.resolution_x, scene.render.resolution_y = 1280, 800
    scene.render.filepath = f"//{name}_"
    scene.view_settings.look = "AgX - Medium High Contrast"
    world = bpy.data.worlds.new("World")
    world.color = background
    world.use_nodes = True
    shader = world.node_tree.nodes["Background"]
    shader.inputs["Color"].default_value = (*background, 1.0)
    shader.inputs["Strength"].default_value = 0.8
    scene.world = world
    return scene


def new_collection(name: str) -> bpy.types.Collection:
    """Add a collection to the scene."""
    collection = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(collection)
    return collection


def new_material(
    name: str, colour: Colour, *, roughness: float = 0.45, metallic: float = 0.0, glow: float = 0.0
) -> bpy.types.Material:
    """Make a material that has the same colour in the solid viewport and in the render."""
    material = bpy.data.materials.new(name)
    material.diffuse_color = (*colour, 1.0)
    material.roughness, material.metallic = roughness, metallic
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = roughness
    shader.inputs["Metallic"].default_value = metallic
    shader.inputs["Emission Color"].default_value = (*colour, 1.0)
    shader.inputs["Emission Strength"].default_value = glow
    return material


def add_three_suns(collection: bpy.types.Collection, key_from: Sequence[float], strength: float = 3.0) -> None:
    """Light the scene with a warm key, a cool fill and a rim light.

    Suns light every place alike, so what walks through the scene keeps its light.
    """
    x, y, z = key_from
    _add_sun(collection, "Key light", (x, y, z), strength, (1.0, 0.93, 0.82), 9.0)
    _add_sun(collection, "Fill light", (-x, y, z * 0.5), strength * 0.22, (0.78, 0.88, 1.0), 60.0)
    _add_sun(collection, "Rim light", (-x * 0.6, -y, z * 0.7), strength * 0.6, (1.0, 0.97, 0.95), 15.0)


def _add_sun(
    collection: bpy.types.Collection,
    name: str,
    shines_from: Sequence[float],
    strength: float,
    colour: Colour,
    blur: float,
) -> None:
    light = bpy.data.lights.new(name, "SUN")
    light.energy, light.color, light.angle = strength, colour, radians(blur)
    sun = bpy.data.objects.new(name, light)
    sun.location = Vector(shines_from) + SUNS_ASIDE
    sun.rotation_euler = Vector(shines_from).to_track_quat("Z", "Y").to_euler()
    collection.objects.link(sun)


def add_floor(collection: bpy.types.Collection, height: float, background: Colour) -> bpy.types.Object:
    """Lay a floor that reaches to the horizon and, in the render, passes into the background there."""
    half = FLOOR_SIZE / 2.0
    corners = [(-half, -half, height), (half, -half, height), (half, half, height), (-half, half, height)]
    mesh = bpy.data.meshes.new("Floor")
    mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
    red, green, blue = (part * FLOOR_DARKENING for part in background)
    backdrop = new_material("Backdrop", (red, green, blue), roughness=1.0)
    backdrop.node_tree.nodes["Principled BSDF"].inputs["Specular IOR Level"].default_value = 0.0
    mesh.materials.append(backdrop)
    floor = bpy.data.objects.new("Floor", mesh)
    collection.objects.link(floor)
    # The solid viewport does not light it like the render: there the plain background looks better.
    floor.hide_set(True)
    return floor


def add_camera(
    collection: bpy.types.Collection, eye: Sequence[float], look_at: Sequence[float], lens: float = 50.0
) -> bpy.types.Object:
    """Add the scene's camera."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.lens = lens
    camera.data.clip_end = FLOOR_SIZE
    camera.location = eye
    camera.rotation_euler = (Vector(eye) - Vector(look_at)).to_track_quat("Z", "Y").to_euler()
    collection.objects.link(camera)
    bpy.context.scene.camera = camera
    return camera


def dolly(camera: bpy.types.Object, travel: Sequence[float]) -> None:
    """Move the camera evenly along *travel* over the scene's frames."""
    scene = bpy.context.scene
    start = camera.location.copy()
    samples = [(scene.frame_start, start), (scene.frame_end, start + Vector(travel))]
    key_vectors(camera, "location", samples, "LINEAR")


@dataclass(frozen=True)
class Opening:
    """What a scene opens with: its armature in Pose Mode, the active bone, and a text of what to try."""

    rig: bpy.types.Object
    read_me: str
    active_bone: str = ""


def save_scene(path: Path, opening: Opening) -> None:
    """Save at frame 1, seen through the camera, with the text beside the view and the add-on's tab open."""
    scene = bpy.context.scene
    rig = opening.rig
    for thing in scene.objects:
        thing.select_set(thing == rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.data.bones:
        bone.select = bone.name == opening.active_bone
    rig.data.bones.active = rig.data.bones.get(opening.active_bone)
    read_me = bpy.data.texts.new("Read me")
    read_me.write(opening.read_me.replace("\n", "\n\n"))
    _set_up_viewports()
    _show_text(read_me)
    bpy.data.orphans_purge(do_recursive=True)
    scene.frame_set(1)
    bpy.context.preferences.filepaths.save_version = 0
    with sidebar_open_at("Analytic IK"):
        bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)


def _show_text(text: bpy.types.Text) -> None:
    """Show a text in the first window, where the Properties editor is."""
    text.cursor_set(0)
    area = next(area for area in bpy.context.window.screen.areas if area.type == "PROPERTIES")
    area.type = "TEXT_EDITOR"
    space = area.spaces.active
    space.text = text
    space.show_word_wrap = True
    space.show_line_numbers = space.show_syntax_highlight = space.show_line_highlight = False
    space.font_size = 13


def _set_up_viewports() -> None:
    for screen in bpy.data.screens:
        for area in screen.areas:
            if area.type == "FILE_BROWSER" and area.spaces.active.params is not None:
                # The start-up file's browser would save the home folder of whoever builds the scenes.
                area.spaces.active.params.directory = b"//"
            if area.type != "VIEW_3D":
                continue
            space = area.spaces.active
            space.region_3d.view_perspective = "CAMERA"
            space.region_3d.view_camera_zoom = 20.0
            space.overlay.show_floor = space.overlay.show_cursor = False
            space.overlay.show_axis_x = space.overlay.show_axis_y = False
            shading = space.shading
            shading.type = "SOLID"
            shading.light, shading.studio_light = "STUDIO", "paint.sl"
            shading.color_type = "MATERIAL"
            shading.background_type = "WORLD"
            shading.show_cavity = True
            shading.show_shadows = True
