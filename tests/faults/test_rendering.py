"""Pictures of live chains are those of the bake: however they follow, whatever the render is told to do.

The bake is judged elsewhere (tests/bake); here it is rendered with no handler at work, as anyone who opens the file
without the add-on would. What the window does while it renders is in tests/window/rendering.py.
"""

import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_addon.bake.baking import bake, chains_of
from ik_addon.rig.live import handlers as live
from ik_addon.rig.live import state as live_state
from ik_addon.rig.model.order import ChainName
from ik_addon.rig.pose.lending import Loans

from ..helpers.filmed import (
    filmed_leg,
    key_above,
    key_fk_pose,
    key_influence,
    key_object,
    key_scales_of_a_stretching_leg,
    lamp_on,
)
from ..pictures import Pictures, layers_at, picture_at
from ..rig.keys import key
from ..rig.rigs import Rig, leg, update
from ..scenes import curve_bags, go_to, without_handlers

pytestmark = pytest.mark.slow

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


def film() -> Rig:
    """A live leg before a camera, with shining boxes on its bones and a mesh that it deforms."""
    rig = filmed_leg()
    # By chance the pose in which it stays may look like the others.
    rig.random.seed(1)
    scene = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y = 48, 32
    scene.cycles.samples = 1
    clothe(rig)
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


# The ways in which a chain follows, and how the panel names them


def plain(rig: Rig) -> str:
    return "Ahead of the Frame"


def constrained_target(rig: Rig) -> str:
    rig.target.ob.constraints.new("LIMIT_LOCATION")
    return "After the Frame"


def limited(rig: Rig) -> str:
    """The original armature does not know a render's limits."""
    rig.tip.use_ik_limit_x = True
    key(rig.tip, "ik_max_x", [2.5, 1.5, 0.2, 2.0])
    return "Every Frame"


def stretching(rig: Rig) -> str:
    key_scales_of_a_stretching_leg(rig)
    return "Every Frame"


def keyed_fk(rig: Rig) -> str:
    rig.random.seed(2)
    key_fk_pose(rig)
    return "Ahead of the Frame"


def rolling_foot(rig: Rig) -> str:
    rig.tip.analytic_ik_use_rotation = True
    key(rig.tip, "analytic_ik_foot_roll", [0.0, 0.8, -0.5, 0.3])
    key(rig.target.ob, "rotation_euler", [(0.0, 0.0, 0.0), (0.5, 0.0, 0.2), (-0.6, 0.0, 0.0), (0.2, 0.1, 0.0)])
    return "Ahead of the Frame"


def animated_influence(rig: Rig) -> str:
    key_influence(rig)
    return "Ahead of the Frame"


def chain_on_a_chain(rig: Rig) -> str:
    """A second armature rides on the first one's foot, with a chain of its own."""
    other = leg("rider", side=0.4)
    other.ob.parent, other.ob.parent_type, other.ob.parent_bone = rig.ob, "BONE", "foot"
    other.ob.scale = (0.5, 0.5, 0.5)
    lamp_on(other.ob, "shin", (0.2, 0.2, 0.2))
    key(other.target.ob, "location", [(0.4, -0.6, 0.4), (0.4, 0.9, 0.9), (0.4, -1.2, 0.3), (0.4, 0.2, 1.0)])
    other.enable()
    return "Every Frame"


def keyed_chain_on_a_chain(rig: Rig) -> str:
    """Likewise, and the first one's bones are keyed too."""
    key_fk_pose(rig)
    return chain_on_a_chain(rig)


WAYS = (
    plain,
    constrained_target,
    limited,
    stretching,
    keyed_fk,
    rolling_foot,
    animated_influence,
    chain_on_a_chain,
)


def in_its_place(rig: Rig) -> None:
    """Nothing but the chain moves."""


def carried(rig: Rig) -> None:
    """The bone above the chain and the armature object move too."""
    key_above(rig)
    key_object(rig)


def filmed(follow: Callable[[Rig], str], move: Callable[[Rig], None] = carried) -> Rig:
    """A scene to render, its chains following in that way, gone through as playback does, and left at another frame."""
    rig = film()
    move(rig)
    way = follow(rig)
    for frame in (1, 2, 3, 4, 5, 13):
        go_to(frame)
    seen = live_state.way_of(bpy.context.scene, ChainName(rig.ob.name_full, rig.tip.name))
    assert seen.startswith(way), seen
    return rig


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
    stretch_time(parts)
    chains = chains_of(bpy.context.scene.objects)
    bake(bpy.context, chains, range(parts, 12 * parts + 1))
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
        assert differing(a, b) > DIFFERENT / 2.0, "nothing moves"
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


@pytest.mark.parametrize("move", [in_its_place, carried])
@pytest.mark.parametrize("follow", WAYS)
def test_pictures_are_those_of_the_bake(follow, move, tmp_path):
    filmed(follow, move)

    def render() -> Pictures:
        go_to(13)
        return stills(tmp_path, (3, 6)) | animation(tmp_path, range(7, 9)) | animation(tmp_path, range(4, 12, 3))

    assert_bake_shows(render)


@pytest.mark.parametrize("follow", WAYS)
def test_a_still_between_two_frames_is_that_of_the_bake(follow, tmp_path):
    filmed(follow)
    assert_bake_shows(lambda: stills(tmp_path, (3.5, 6.25)), parts=4)


@pytest.mark.parametrize(
    ("follow", "position"),
    [
        *zip(WAYS, ["START", "CENTER", "END"] * 3, strict=False),
        (plain, "CENTER"),
        (plain, "END"),
        (rolling_foot, "END"),
    ],
)
def test_motion_blur_is_that_of_the_bake(follow, position, tmp_path):
    """Of what the bones carry, and of a mesh that they deform, seen at five times during the exposure."""
    filmed(follow)
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


@pytest.mark.parametrize("follow", WAYS)
def test_data_that_a_render_keeps_is_no_old_pose(follow, tmp_path):
    filmed(follow)
    bpy.context.scene.render.use_persistent_data = True
    assert_bake_shows(lambda: animation(tmp_path, range(3, 6)) | stills(tmp_path, (10,)))


@pytest.mark.parametrize("left_out", ["first", "second"])
@pytest.mark.parametrize("follow", [*WAYS, keyed_chain_on_a_chain])
def test_each_view_layer_shows_the_bake_also_where_one_leaves_the_armature_out(follow, left_out, tmp_path):
    """Where it is left out it is posed all the same, for what hangs on it is shown."""
    rig = filmed(follow)
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


@pytest.mark.parametrize("follow", [plain, constrained_target, stretching])
def test_pictures_of_cameras_that_markers_choose_are_those_of_the_bake(follow, tmp_path):
    filmed(follow)
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


@pytest.mark.parametrize("follow", [plain, constrained_target, stretching])
def test_pictures_by_workbench_are_those_of_the_bake(follow, graphics, tmp_path):
    import gpu

    getattr(gpu, "init", int)()
    filmed(follow)
    bpy.context.scene.render.engine = "BLENDER_WORKBENCH"
    shading = bpy.context.scene.display.shading
    shading.light, shading.color_type, shading.single_color = "FLAT", "SINGLE", (1.0, 1.0, 1.0)
    assert_bake_shows(lambda: stills(tmp_path, (3, 3.5)) | animation(tmp_path, range(5, 10, 2)), parts=2)


# The window goes on while a render has a thread of its own; here that is only said to be so


def test_what_is_changed_while_the_window_renders_is_followed_and_nothing_is_lent(monkeypatch):
    """The originals, which the render copies meanwhile, hold the FK pose throughout."""
    rig = film()
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
