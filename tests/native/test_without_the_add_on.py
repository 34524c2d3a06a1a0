"""A native rig in a process that has no add-on and may run no scripts: opened, linked, overridden, rendered."""

import json
import os
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

from ik_addon.bake.baking import bake, chains_of

from ..helpers.feet import follow, footed_leg
from ..helpers.filmed import filmed_leg
from ..pictures import picture_at
from ..rig.rigs import Control, Rig, editing, new_empty, update
from ..scenes import go_to, slide
from .natives import live, native, user_pose

pytestmark = pytest.mark.versions

FRAMES = (1, 4, 8, 12)
EEVEE = "BLENDER_EEVEE" if bpy.app.version >= (5, 0) else "BLENDER_EEVEE_NEXT"
WAYS = ("opened", "linked", "overridden")
Matrices = dict[str, list[list[float]]]


def run(jobs: list[dict], folder: Path) -> bool:
    """Do jobs in such a process, see without_the_add_on.py; whether it came to its end."""
    (folder / "jobs.json").write_text(json.dumps(jobs))
    script = Path(__file__).with_name("without_the_add_on.py")
    # With the settings of nobody: those of the factory.
    done = subprocess.run(
        [sys.executable, str(script), str(folder / "jobs.json")],
        env=os.environ | {"BLENDER_USER_RESOURCES": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    for words in ("Dependency cycle", "Error:", "Traceback"):
        assert words not in done.stdout + done.stderr
    return done.returncode == 0


def performer(controls: str) -> Rig:
    """A foot that follows a turning target and rolls, and a pole target: objects, or bones of the same armature."""
    rig = footed_leg(heel=True)
    target, pole = rig.target.ob, new_empty("pole", (0.2, -2.0, 1.0))
    rig.pole = Control(pole)
    if controls == "bones":
        bpy.data.objects.remove(target)
        bpy.data.objects.remove(pole)
        with editing(rig.ob) as bones:
            for name, place in (("goal", (0.0, 0.0, 0.0)), ("knee goal", (0.2, -2.0, 1.0))):
                bone = bones.new(name)
                bone.head, bone.tail = place, (place[0], place[1] + 0.2, place[2])
        rig.target, rig.pole = Control(rig.ob, "goal"), Control(rig.ob, "knee goal")
        target = rig.ob.pose.bones["goal"]
        target.rotation_mode = "XYZ"
    slide(target, (0.0, -0.5, 0.4), (0.2, 0.4, 0.3))
    for frame, angle in ((1, 0.0), (12, 0.8)):
        target.rotation_euler = (angle, 0.3 * angle, 0.0)
        target.keyframe_insert("rotation_euler", frame=frame)
    go_to(1)
    return rig


def performance(folder: Path, controls: str = "objects") -> tuple[Path, dict[int, Matrices]]:
    """With keyed swivel and influence; saved native in a collection. The file, and how the live leg plays."""
    rig = performer(controls)
    follow(rig, foot_roll=0.0)
    for name, values in {"swivel": (0.0, 0.7), "influence": (1.0, 0.6), "foot_roll": (-0.3, 1.1)}.items():
        for frame, value in zip((1, 12), values, strict=True):
            setattr(rig.tip, f"analytic_ik_{name}", value)
            rig.tip.keyframe_insert(f"analytic_ik_{name}", frame=frame)
    shown = {}
    for frame in FRAMES:
        go_to(frame)
        shown[frame] = {name: [list(row) for row in matrix] for name, matrix in user_pose(rig.ob).items()}
    native(rig)
    home = bpy.data.collections.new("character")
    bpy.context.scene.collection.children.link(home)
    for ob in {rig.ob, rig.target.ob, rig.pole.ob}:
        home.objects.link(ob)
        bpy.context.scene.collection.objects.unlink(ob)
    return save(folder / f"{controls}.blend"), shown


def save(path: Path) -> Path:
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.mark.parametrize("controls", ["objects", pytest.param("bones", marks=pytest.mark.slow)])
def test_it_plays_without_the_add_on(controls, tmp_path):
    file, expected = performance(tmp_path, controls)
    jobs = [{"file": str(file), "how": how, "frames": FRAMES, "shown": str(tmp_path / how)} for how in WAYS]
    assert run(jobs, tmp_path)
    for how in WAYS:
        found = json.loads((tmp_path / how).read_text())
        for frame in FRAMES:
            for name, matrix in expected[frame].items():
                off = np.abs(np.subtract(matrix, found[str(frame)][name])).max()
                assert off < 1e-4, (how, frame, name)


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("engine", ["CYCLES", "BLENDER_WORKBENCH", EEVEE])
def test_it_is_rendered_without_the_add_on_as_its_bake_is(engine, tmp_path):
    rig = filmed_leg()
    scene = bpy.context.scene
    scene.render.engine = engine
    scene.render.resolution_x = scene.render.resolution_y = 32
    scene.cycles.samples = scene.eevee.taa_render_samples = 1
    update()
    native(rig)
    files = {"native": save(tmp_path / "native.blend")}
    live(rig)
    bake(bpy.context, chains_of([rig.ob]), range(1, 13))
    files["baked"] = save(tmp_path / "baked.blend")
    jobs = []
    for name, file in files.items():
        (tmp_path / name).mkdir()
        jobs.append({"file": str(file), "how": "opened", "frames": [1, 5], "shown": str(tmp_path / name)})
    if not run(jobs, tmp_path):
        assert engine != "CYCLES"
        pytest.skip("Blender cannot draw here: there is no OpenGL")
    pictures = {name: [picture_at(tmp_path / name / f"{frame}.png") for frame in (1, 5)] for name in files}
    for ours, bakes in zip(pictures["native"], pictures["baked"], strict=True):
        assert np.abs(ours - bakes).max() <= 3.0 / 255.0
    assert np.mean(np.abs(np.subtract(*pictures["native"])) > 0.1) > 0.02, "the limb has not moved"


def test_nothing_of_it_needs_python(tmp_path):
    performance(tmp_path)
    curves = bpy.data.objects["leg"].animation_data.drivers
    assert curves
    assert all(curve.driver.is_valid and curve.driver.is_simple_expression for curve in curves)
    assert max(len(curve.driver.expression) for curve in curves) <= 255
    bones = bpy.data.objects["leg"].data
    assert not [bone.name for bone in bones.bones if bone.name.startswith("IK-") and bone.use_deform]
    assert not bones.collections_all["IK Mechanism"].is_visible
