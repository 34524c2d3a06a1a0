"""The examples of docs/scripting.md that have a name are run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import bpy
import pytest

import ik_addon
from ik_addon import api
from ik_addon.bake.formats import write_file

from .clips.characters import AMOUNTS, new_character, walking_clips
from .scenes import select

CHECKOUT = Path(__file__).parents[1]
EXAMPLES = dict(
    re.findall(r'```python title="(\w+\.py)"\n(.*?)```', (CHECKOUT / "docs" / "scripting.md").read_text(), re.S)
)

pytestmark = pytest.mark.versions


@pytest.fixture
def as_extension(monkeypatch):
    """The package by the name that an extension has in Blender."""
    name = "bl_ext.user_default.analytic_ik"
    for end in range(1, name.count(".") + 2):
        monkeypatch.setitem(sys.modules, ".".join(name.split(".")[:end]), ModuleType("part"))
    monkeypatch.setitem(sys.modules, f"{name}.ik_addon", ik_addon)


def run(name: str) -> dict:
    names: dict = {"__name__": "example"}
    exec(compile(EXAMPLES[name], name, "exec"), names)
    return names


def test_every_clip_of_a_character(as_extension, capfd):
    select(new_character())
    run("all_clips.py")
    said = capfd.readouterr().out
    assert "LEG L Foot.L" in said
    for name in AMOUNTS:
        assert re.search(rf"^{name}: frames \[1, 12, 1\], off by \d\.\de-\d\d of the limb$", said, re.M)


@pytest.mark.slow
def test_a_folder_of_captures(tmp_path):
    source, output = tmp_path / "captures", tmp_path / "planted"
    source.mkdir()
    output.mkdir()
    ob = walking_clips()
    bpy.context.view_layer.objects.active = ob
    write_file(source / "walk.bvh", False, range(1, 61))
    script = tmp_path / "plant_folder.py"
    script.write_text(EXAMPLES["plant_folder.py"])
    # The environment's Blender sees no settings of a user.
    given = [sys.executable, str(script), str(source), str(output)]
    done = subprocess.run(given, env=os.environ | {"PYTHONPATH": str(CHECKOUT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in output.iterdir()} == {"walk.fbx"}


def test_after_a_retarget(as_extension, tmp_path, capfd):
    hero = new_character()
    capture = hero.copy()
    bpy.context.scene.collection.objects.link(capture)
    hero.name, capture.name = "Hero", "Capture"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    run("after_retarget.py")
    assert (
        len(re.findall(r"^\w+\.[LR]: was off by \d\.\d{3}, is by \d\.\de-\d\d in reach$", capfd.readouterr().out, re.M))
        == 4
    )
    assert (tmp_path / "hero.glb").is_file()


def test_an_agent_finds_what_is_wrong(as_extension):
    ob = new_character()
    faults = run("verified.py")["faults"]
    api.rig(ob)
    good = api.check(ob, clips="ALL", feet=False)
    assert faults(good) == []
    for control in [ob for ob in bpy.data.objects if ob.name.startswith("Foot")]:
        control.delta_location.z = -9.0
    bad = faults(api.check(ob, clips="ALL", feet=False))
    assert len(bad) >= len(AMOUNTS) and all("is off at frame" in each for each in bad)
    assert faults({"files": [{**good["files"][0], "error": "It is torn."}]}) == ["idle: It is torn."]
