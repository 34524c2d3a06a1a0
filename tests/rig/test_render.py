"""What is rendered is what the viewport shows: compared with the same pose, keyed, and no add-on at work."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from math import pi
from pathlib import Path

import bpy
import numpy as np
import pytest

from ik_addon.rig.blender.evaluation import is_render_thread
from ik_addon.rig.live import handlers as live

from .keys import FRAMES, fcurves, key, key_rotation
from .rigs import Rig, evaluated_copy, leg, new_empty, pose_values, rotation_channel, update

pytestmark = pytest.mark.versions

SHOWN = (3, 6, 11)
"""Frames that are rendered; none has a key."""

Images = dict[int, np.ndarray]


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


# The kinds of animation


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


def key_constraint(rig: Rig) -> None:
    """Also what is keyed besides the bones' own channels must not freeze."""
    constraint = rig.ob.pose.bones["foot"].constraints.new("DAMPED_TRACK")
    constraint.target = new_empty("toe", (0.0, -3.0, 1.0))
    key(constraint, "influence", [0.0, 1.0, 0.2, 0.8])


def key_parts_of_the_fk_pose(rig: Rig) -> None:
    for name in rig.bones:
        rig.ob.pose.bones[name].rotation_mode = "XYZ"
        key_rotation(rig.random, rig.ob.pose.bones[name], index=0)
    rig.tip.analytic_ik_influence = 0.5


def key_fk_pose(rig: Rig) -> None:
    for name in rig.bones:
        key_rotation(rig.random, rig.ob.pose.bones[name])
    rig.tip.analytic_ik_influence = 0.5


def key_switch(rig: Rig) -> None:
    key(rig.tip, "analytic_ik_enabled", [True, False, True, False])


def key_custom_property(rig: Rig) -> None:
    """A custom property that drives a bone above the chain."""
    rig.ob["lift"] = 0.0
    for frame, value in zip(FRAMES, (0.0, 0.5, -0.3, 0.4), strict=True):
        rig.ob["lift"] = value
        rig.ob.keyframe_insert('["lift"]', frame=frame)
    driver = rig.ob.pose.bones["hips"].driver_add("location", 2).driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = rig.ob, '["lift"]'
    driver.type = "SUM"


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


def key_limits(rig: Rig) -> None:
    """The original armature does not know a render's limits."""
    shin = rig.tip
    shin.analytic_ik_use_cone = shin.use_ik_limit_x = True
    key(shin, "analytic_ik_cone", [2.5, 0.3, 1.0, 0.1])
    key(shin, "ik_max_x", [2.5, 1.5, 0.2, 2.0])


def key_target_that_the_body_follows(rig: Rig) -> None:
    rig.ob.pose.bones["hips"].analytic_ik_body_influence = 1.0
    key(rig.target.ob, "location", [(0.0, -0.3, 0.4), (0.0, 1.2, -0.2), (0.0, -0.9, 0.8), (0.0, -1.5, -0.1)])
    key(rig.ob.pose.bones["hips"], "location", [(0.0, 0.0, 0.0), (0.2, -0.1, 0.2), (-0.3, 0.1, 0.3), (0.0, 0.2, 0.0)])


KINDS = (
    key_target_that_the_body_follows,
    key_above,
    key_object,
    key_influence,
    key_constraint,
    key_fk_pose,
    key_parts_of_the_fk_pose,
    key_switch,
    key_custom_property,
    key_scales_of_a_stretching_leg,
    key_limits,
)


# Rendering


def rendered(path: Path) -> np.ndarray:
    image = bpy.data.images.load(str(path))
    pixels = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels


def stills(folder: Path, frames: Iterable[int]) -> Images:
    images = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        bpy.context.scene.render.filepath = str(folder / f"still{frame}.png")
        bpy.ops.render.render(write_still=True)
        images[frame] = rendered(folder / f"still{frame}.png")
    return images


def animation(folder: Path, frames: Iterable[int]) -> Images:
    scene = bpy.context.scene
    frames = sorted(frames)
    scene.frame_start, scene.frame_end, scene.frame_step = frames[0], frames[-1], 1
    if len(frames) > 1:
        scene.frame_step = frames[1] - frames[0]
    scene.render.filepath = str(folder / "frame####")
    bpy.ops.render.render(animation=True)
    return {frame: rendered(folder / f"frame{frame:04}.png") for frame in frames}


def key_what_is_shown(rig: Rig, frames: Iterable[float]) -> None:
    """Key the pose that the viewport shows and switch the add-on off."""
    bones = rig.ob.pose.bones
    channels = [(bones[name], rotation_channel(bones[name])) for name in rig.bones]
    if rig.tip.analytic_ik_reach == "STRETCH":
        channels += [(bones[name], "scale") for name in ("thigh", "foot")]
    if bones["hips"].analytic_ik_body_influence:
        channels.append((bones["hips"], "location"))
    shown = {}
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        evaluated = evaluated_copy(rig.ob).pose.bones
        shown[frame] = [tuple(getattr(evaluated[bone.name], channel)) for bone, channel in channels]
    live.unregister()
    rig.tip.driver_remove("analytic_ik_enabled")
    for k, (bone, channel) in enumerate(channels):
        for frame in FRAMES:
            if rig.ob.animation_data and is_keyed(rig.ob, bone.path_from_id(channel)):
                bone.keyframe_delete(channel, frame=frame)
        for frame, values in shown.items():
            setattr(bone, channel, values[k])
            bone.keyframe_insert(channel, frame=frame)
    for curve in fcurves(rig.ob):
        if any(curve.data_path == bone.path_from_id(channel) for bone, channel in channels):
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
            curve.update()


def is_keyed(ob: bpy.types.Object, path: str) -> bool:
    return bool(ob.animation_data.action) and any(curve.data_path == path for curve in fcurves(ob))


def assert_alike(ours: Images, keyed: Images) -> None:
    for frame, image in ours.items():
        lit = image[0::4] > 0.5
        assert 0.005 < lit.mean() < 0.5, "the lamps are not in the picture"
        # A rounding may move an edge across a sample.
        assert (np.abs(image - keyed[frame]) > 0.02).mean() < 0.002, f"frame {frame}"
    assert all(np.abs(a - b).max() > 0.5 for a, b in zip(list(ours.values())[1:], ours.values(), strict=False))


@pytest.fixture(autouse=True)
def live_again():
    yield
    live.register()


@pytest.mark.parametrize("render", [stills, animation])
@pytest.mark.parametrize("animate", KINDS)
def test_a_render_shows_the_pose_of_its_frame(animate: Callable, render: Callable, tmp_path):
    rig = filmed_leg()
    animate(rig)
    frames = SHOWN if render is stills else (3, 7, 11)
    bpy.context.scene.frame_set(13)
    ours = render(tmp_path, frames)
    key_what_is_shown(rig, frames)
    assert_alike(ours, render(tmp_path, frames))


@pytest.mark.parametrize("animate", [key_above, key_object, key_influence])
def test_motion_blur_shows_the_poses_between_the_frames(animate, tmp_path):
    rig = filmed_leg()
    animate(rig)
    scene = bpy.context.scene
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = True, 1.0
    scene.cycles.samples = 16
    scene.frame_set(1)
    ours = stills(tmp_path, SHOWN)
    # Where Cycles looks: the frame, and half an exposure before and after it.
    key_what_is_shown(rig, [frame + part for frame in SHOWN for part in (-0.5, 0.0, 0.5)])
    blurred = stills(tmp_path, SHOWN)
    scene.render.use_motion_blur = False
    sharp = stills(tmp_path, SHOWN)
    assert_alike(ours, blurred)
    assert all(np.abs(ours[frame] - sharp[frame]).max() > 0.1 for frame in SHOWN)


def test_rendering_leaves_the_viewport_at_its_frame(tmp_path):
    rig = filmed_leg()
    key_above(rig)
    bpy.context.scene.frame_set(8)
    before = pose_values(rig.ob)
    animation(tmp_path, (3, 7, 11))
    assert bpy.context.scene.frame_current == 8
    update()
    after = pose_values(rig.ob)
    assert all(abs(x - y) < 1e-6 for name in before for x, y in zip(before[name], after[name], strict=True))
    assert rig.missed() < 1e-5


@pytest.mark.parametrize("render", [stills, animation])
@pytest.mark.parametrize("animate", [key_above, key_object, key_fk_pose, key_scales_of_a_stretching_leg])
def test_a_linked_leg_is_rendered_as_it_is_in_its_own_file(animate: Callable, render: Callable, tmp_path):
    animate(filmed_leg())
    own = render(tmp_path, (3, 7, 11))
    library = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(library, link=True) as (there, wanted):
        wanted.objects = there.objects
    scene = bpy.context.scene
    for ob in bpy.data.objects:
        scene.collection.objects.link(ob)
    scene.camera = bpy.data.objects["camera"]
    set_up_renders(scene)
    linked = render(tmp_path, own)
    for frame, image in own.items():
        assert (np.abs(image - linked[frame]) > 0.02).mean() < 0.002, f"frame {frame}"


def test_a_render_in_a_thread_of_its_own_is_told_from_the_window():
    with ThreadPoolExecutor(1) as elsewhere:
        assert elsewhere.submit(is_render_thread).result()
    assert not is_render_thread()
