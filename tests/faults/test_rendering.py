"""Pictures of live chains are those of the bake: whatever happens to them, whatever the render is told to do.

The bake is judged elsewhere (tests/bake); here it is rendered with no handler at work, as anyone who opens the file
without the add-on would. What the window does while it renders is in tests/window/rendering.py.
"""

import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_addon.bake.baking import bake, chains_of
from ik_addon.rig.blender.evaluation import is_render_thread
from ik_addon.rig.live import handlers as live
from ik_addon.rig.pose.posing import Loans

from ..changes import CHANGES, REFUSED, walking
from ..helpers.filmed import film, filmed_leg, set_up_renders
from ..pictures import Pictures, layers_at, picture_at
from ..rig.rigs import Rig, pose_values, update
from ..scenes import curve_bags, go_to, without_handlers

pytestmark = pytest.mark.versions

SAME = 0.02
"""Largest difference of a pixel that is rounding; what is lit is 1, what is not is 0."""
EDGES = 0.002
"""The part of all pixels in which rounding may carry an edge across a sample."""
DIFFERENT = 0.02
"""The part of all pixels in which another pose shows."""


@pytest.fixture(autouse=True)
def no_complaint(capsys):
    """No handler fails, in any of these tests."""
    live.undo_post()
    yield
    live.register()
    assert "Analytic IK" not in capsys.readouterr().out


# What is filmed


def filmed(name: str) -> Rig:
    """A leg before a camera to which something of the catalog happens, with shining boxes on its bones and a mesh that
    it deforms; gone through as playback does, and left at another frame."""
    rig = walking(CHANGES[name].keyed)
    film(rig)
    scene = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y = 48, 32
    scene.cycles.samples = 1
    clothe(rig)
    CHANGES[name](rig)
    for frame in (1, 2, 3, 4, 5, 13):
        go_to(frame)
    return rig


def clothe(rig: Rig) -> None:
    """A mesh round the chain's bones, deformed by them."""
    corners, faces, groups = [], [], {}
    for name in rig.bones:
        bone = rig.ob.data.bones[name]
        first = len(corners)
        for point in (bone.head_local, bone.tail_local):
            corners += [
                point + Vector((0.0, y, z)) for y, z in ((-0.12, -0.1), (0.12, -0.1), (0.12, 0.1), (-0.12, 0.1))
            ]
        faces += [
            [first + k for k in (0, 1, 5, 4)],
            [first + k for k in (2, 3, 7, 6)],
            [first + k for k in (0, 3, 7, 4)],
        ]
        groups[name] = range(first, first + 8)
    mesh = bpy.data.meshes.new("sleeve")
    mesh.from_pydata(corners, [], faces)
    mesh.materials.append(bpy.data.materials["light"])
    sleeve = bpy.data.objects.new("sleeve", mesh)
    bpy.context.scene.collection.objects.link(sleeve)
    sleeve.parent = rig.ob
    for name, indices in groups.items():
        sleeve.vertex_groups.new(name=name).add(list(indices), 1.0, "REPLACE")
    sleeve.modifiers.new("armature", "ARMATURE").object = rig.ob


APART = {
    *("chain_removed", "switched_off"),  # nothing follows
    "a_target_on_a_mesh_that_the_scene_simplifies",  # in a render it is another mesh
    "blenders_own_ik_on_its_foot",  # it begins where it finds the bones
}
FILMED = [
    name for name, change in CHANGES.items() if change.baked != REFUSED and not change.drifts and name not in APART
]
WAYS = (
    *("nothing", "constrained_target", "knee_keyed", "scales_keyed", "fk_key_moved", "rolling", "influence_keyed"),
    *("below_another", "object_carried", "hips_follow"),
)
"""Of each way in which a chain is solved and written one that can be baked between two frames too."""


# Rendering


def still(folder: Path, frame: float) -> np.ndarray:
    scene, path = bpy.context.scene, folder / f"still{frame}.png"
    go_to(frame)
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    assert scene.frame_current + scene.frame_subframe == frame
    return picture_at(path)


def stills(folder: Path, frames: Iterable[float]) -> Pictures:
    return {f"still {frame}": still(folder, frame) for frame in frames}


def animation(folder: Path, frames: range) -> Pictures:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.frame_step = frames[0], frames[-1], frames.step
    scene.render.filepath = str(folder / "frame####")
    bpy.ops.render.render(animation=True)
    return {f"frame {frame}": picture_at(folder / f"frame{frame:04}.png") for frame in frames}


def bake_all(parts: int = 1) -> None:
    """Bake all chains of the scene over the frames 1 to 12. parts: keys for each frame, for what lies between frames.

    The bake keys whole frames: so for that time all F-Curves play so many times slower.
    """
    if parts > 1:
        stretch_time(parts)
    chains = chains_of(bpy.context.scene.objects)
    bake(bpy.context, chains, range(parts, 12 * parts + 1))
    if parts > 1:
        stretch_time(1.0 / parts)
    update()


def stretch_time(factor: float) -> None:
    for action in bpy.data.actions:
        for bag in curve_bags(action).values():
            for curve in bag.fcurves:
                for point in curve.keyframe_points:
                    for at in (point.co, point.handle_left, point.handle_right):
                        at.x *= factor
                curve.update()
        action.update_tag()


def differing(a: np.ndarray, b: np.ndarray) -> float:
    """The part of the pixels that differ."""
    return float((np.abs(a - b) > SAME).mean())


def assert_alike(ours: Pictures, baked: Pictures) -> None:
    """The same pictures, in which something is to be seen, and no two alike."""
    assert ours.keys() == baked.keys()
    differences = {
        name: (float(np.abs(ours[name] - baked[name]).max()), differing(ours[name], baked[name])) for name in ours
    }
    assert max(part for _, part in differences.values()) <= EDGES, differences
    pictures = list(ours.values())
    for a, b in pairwise(pictures):
        assert differing(a, b) > DIFFERENT / 4.0, "nothing moves"
    shown = [float((image[0::4] > 0.5).mean()) for image in pictures]
    assert all(0.01 < part < 0.6 for part in shown), f"nothing to be seen: {shown}"


def assert_bake_shows(render: Callable[[], Pictures], parts: int = 1) -> None:
    """What is rendered live is what the bake shows without any handler, and without handlers the live file does not."""
    ours = render()
    go_to(13)
    with without_handlers():
        frozen = render()
    # One of them may by chance be near the pose in which it stays.
    apart = [differing(ours[name], frozen[name]) for name in ours]
    assert np.mean(apart) > DIFFERENT, f"nothing depends on the add-on: {apart}"
    bake_all(parts)
    with without_handlers():
        assert_alike(ours, render())


# Laws


@pytest.mark.some(24)
@pytest.mark.parametrize("name", FILMED)
def test_pictures_are_those_of_the_bake(name, tmp_path):
    filmed(name)

    def render() -> Pictures:
        go_to(13)
        return stills(tmp_path, (3, 6)) | animation(tmp_path, range(7, 9)) | animation(tmp_path, range(4, 12, 3))

    assert_bake_shows(render)


@pytest.mark.some(5)
@pytest.mark.parametrize("name", WAYS)
def test_a_still_between_two_frames_is_that_of_the_bake(name, tmp_path):
    filmed(name)
    assert_bake_shows(lambda: stills(tmp_path, (3.5, 6.25)), parts=4)


@pytest.mark.some(6)
@pytest.mark.parametrize(
    ("name", "position"),
    [
        *zip(WAYS, ["START", "CENTER", "END"] * 4, strict=False),
        ("nothing", "CENTER"),
        ("nothing", "END"),
        ("rolling", "END"),
    ],
)
def test_motion_blur_is_that_of_the_bake(name, position, tmp_path):
    """Of what the bones carry, and of a mesh that they deform, seen at five times during the exposure."""
    filmed(name)
    scene = bpy.context.scene
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = True, 1.0
    scene.render.motion_blur_position = position
    scene.cycles.samples = 4
    for ob in scene.objects:
        if ob.type == "MESH":
            ob.cycles.use_deform_motion, ob.cycles.motion_steps = True, 2
    blurred = still(tmp_path, 6)
    assert_bake_shows(lambda: stills(tmp_path, (3, 6)) | animation(tmp_path, range(8, 11, 2)), parts=4)
    scene.render.use_motion_blur = False
    with without_handlers():
        assert differing(blurred, still(tmp_path, 6)) > DIFFERENT / 2.0


@pytest.mark.some(5)
@pytest.mark.parametrize("name", WAYS)
def test_data_that_a_render_keeps_is_no_old_pose(name, tmp_path):
    filmed(name)
    bpy.context.scene.render.use_persistent_data = True
    assert_bake_shows(lambda: animation(tmp_path, range(3, 6)) | stills(tmp_path, (10,)))


@pytest.mark.some(4)
@pytest.mark.parametrize("left_out", ["first", "second"])
@pytest.mark.parametrize("name", WAYS)
def test_each_view_layer_shows_the_bake_also_where_one_leaves_the_armature_out(name, left_out, tmp_path):
    """Where it is left out it is posed all the same, for what hangs on it is shown."""
    rig = filmed(name)
    scene = bpy.context.scene
    own = bpy.data.collections.new("rig")
    scene.collection.children.link(own)
    own.objects.link(rig.ob)
    scene.collection.objects.unlink(rig.ob)
    scene.view_layers[0].name = "first"
    scene.view_layers.new("second")
    scene.view_layers[left_out].layer_collection.children["rig"].exclude = True
    update()
    write_layers(scene)

    def render() -> Pictures:
        found: Pictures = {}
        scene.frame_start, scene.frame_end, scene.frame_step = 4, 8, 2
        scene.render.filepath = str(tmp_path / "frame####")
        bpy.ops.render.render(animation=True)
        for frame in (4, 6, 8):
            layers = layers_at(tmp_path / f"frame{frame:04}.exr")
            assert layers.keys() == {"first", "second"}
            found |= {f"{layer} {frame}": np.clip(pixels, 0.0, 1.0) for layer, pixels in layers.items()}
        # A picture beside that of another frame.
        return dict(sorted(found.items()))

    assert_bake_shows(render)


def write_layers(scene: bpy.types.Scene) -> None:
    """Let pictures hold what each view layer shows."""
    image = scene.render.image_settings
    if hasattr(image, "media_type"):
        image.media_type = "MULTI_LAYER_IMAGE"
    image.file_format, image.exr_codec = "OPEN_EXR_MULTILAYER", "NONE"
    if hasattr(image, "use_exr_interleave"):
        image.use_exr_interleave = True


@pytest.mark.parametrize("name", ["nothing", "constrained_target", "scales_keyed"])
def test_pictures_of_cameras_that_markers_choose_are_those_of_the_bake(name, tmp_path):
    filmed(name)
    scene = bpy.context.scene
    other = scene.camera.copy()
    other.location.z += 0.4
    scene.collection.objects.link(other)
    for frame, camera in ((1, scene.camera), (5, other), (7, scene.camera)):
        scene.timeline_markers.new(str(frame), frame=frame).camera = camera
    assert_bake_shows(lambda: animation(tmp_path, range(3, 9)))


@pytest.fixture(scope="session")
def graphics() -> None:
    """Skips where Blender can draw nothing: it may not survive the attempt, so a process of its own makes it."""
    words = ["import bpy, gpu", "getattr(gpu, 'init', int)()", "bpy.context.scene.render.engine = 'BLENDER_WORKBENCH'"]
    words += ["bpy.ops.render.render()", "import os; os._exit(0)"]
    try:
        done = subprocess.run([sys.executable, "-c", "; ".join(words)], capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("Workbench does not come to an end here")
    if done.returncode:
        pytest.skip("Workbench cannot draw here: there is no OpenGL")


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["nothing", "constrained_target", "scales_keyed"])
def test_pictures_by_workbench_are_those_of_the_bake(name, graphics, tmp_path):
    import gpu

    getattr(gpu, "init", int)()
    filmed(name)
    bpy.context.scene.render.engine = "BLENDER_WORKBENCH"
    shading = bpy.context.scene.display.shading
    shading.light, shading.color_type, shading.single_color = "FLAT", "SINGLE", (1.0, 1.0, 1.0)
    assert_bake_shows(lambda: stills(tmp_path, (3, 3.5)) | animation(tmp_path, range(5, 10, 2)), parts=2)


def test_rendering_leaves_the_viewport_at_its_frame(tmp_path):
    rig = filmed("nothing")
    go_to(8)
    before = pose_values(rig.ob)
    animation(tmp_path, range(3, 12, 4))
    assert bpy.context.scene.frame_current == 8
    update()
    after = pose_values(rig.ob)
    assert all(abs(x - y) < 1e-6 for name in before for x, y in zip(before[name], after[name], strict=True))
    assert rig.missed() < 1e-5


@pytest.mark.some(2)
@pytest.mark.parametrize("name", ["nothing", "object_carried", "fk_key_moved", "scales_keyed"])
def test_a_linked_leg_is_rendered_as_it_is_in_its_own_file(name, tmp_path):
    filmed(name)

    def render() -> Pictures:
        return stills(tmp_path, (3,)) | animation(tmp_path, range(7, 12, 4))

    own, library = render(), str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(library, link=True) as (there, wanted):
        wanted.objects = there.objects
    scene = bpy.context.scene
    for ob in bpy.data.objects:
        scene.collection.objects.link(ob)
    scene.camera = bpy.data.objects["camera"]
    set_up_renders(scene)
    scene.render.resolution_x, scene.render.resolution_y, scene.cycles.samples = 48, 32, 1
    assert_alike(render(), own)


def test_a_render_in_a_thread_of_its_own_is_told_from_the_window():
    with ThreadPoolExecutor(1) as elsewhere:
        assert elsewhere.submit(is_render_thread).result()
    assert not is_render_thread()


# The window goes on while a render has a thread of its own; here that is only said to be so


def test_what_is_changed_while_the_window_renders_is_followed_and_nothing_is_lent(monkeypatch):
    """The originals, which the render copies meanwhile, hold the FK pose throughout."""
    rig = filmed_leg()
    rig.target.ob.animation_data_clear()
    update()
    monkeypatch.setattr(live, "is_rendering", lambda: True)
    lent = []
    monkeypatch.setattr(Loans, "lend", lambda *given: lent.append(given))
    before = [tuple(rig.ob.pose.bones[name].rotation_quaternion) for name in rig.bones]
    rig.target.ob.location.z += 0.3
    rig.tip.analytic_ik_swivel = 0.4
    rig.ob.update_tag()
    update()
    assert [tuple(rig.ob.pose.bones[name].rotation_quaternion) for name in rig.bones] == before
    assert rig.missed() < 1e-5 and not lent
