"""What is rendered is what the viewport shows: compared with the same pose, keyed, and no add-on at work."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bpy
import numpy as np
import pytest

from ik_addon.rig.blender.evaluation import is_render_thread
from ik_addon.rig.live import handlers as live

from ..helpers.filmed import (
    filmed_leg,
    key_above,
    key_fk_pose,
    key_influence,
    key_object,
    key_scales_of_a_stretching_leg,
    set_up_renders,
)
from .keys import FRAMES, fcurves, key, key_rotation
from .rigs import Rig, evaluated_copy, new_empty, pose_values, rotation_channel, update

pytestmark = pytest.mark.versions

SHOWN = (3, 6, 11)
"""Frames that are rendered; none has a key."""

Images = dict[int, np.ndarray]


# The kinds of animation


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
