"""The command line over all clips of a file."""

import json

import bpy
import pytest

from ik_addon.command_line import run

from ..scenes import without_handlers
from .characters import AMOUNTS, all_shown, farthest, new_character, rigged_character

pytestmark = pytest.mark.versions


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "clips.blend"
    ob = rigged_character(True, strips=True)
    shown = all_shown(ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path, shown


@pytest.mark.slow
def test_all_clips_of_a_file_are_baked(file, tmp_path, capfd):
    path, shown = file
    report = tmp_path / "report.json"
    output = tmp_path / "baked.blend"
    given = [
        "bake",
        str(path),
        "--output",
        str(output),
        "--clips",
        "all",
        "--action",
        "current",
        "--report",
        str(report),
    ]
    assert run(given) == 0
    entries = json.loads(report.read_text())["files"]
    assert sorted(entry["clip"] for entry in entries) == sorted(AMOUNTS)
    assert {entry["file"] for entry in entries} == {str(path)}
    assert f"{path}: run: " in capfd.readouterr().out
    bpy.ops.wm.open_mainfile(filepath=str(output), load_ui=True)
    with without_handlers():
        assert farthest(shown, all_shown(bpy.data.objects["skeleton"])) < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("feet", [False, True])
def test_all_clips_of_a_file_are_checked(file, tmp_path, feet):
    path, _ = file
    report = tmp_path / "report.json"
    given = ["check", str(path), "--clips", "all", "--report", str(report), *(["--feet"] if feet else [])]
    assert run(given) == 0
    entries = json.loads(report.read_text())["files"]
    assert sorted(entry["clip"] for entry in entries) == sorted(AMOUNTS)
    assert all(("feet" in entry) == feet for entry in entries)
    assert run([*given, "--max-error", "0"]) == 1


def test_all_clips_of_a_file_are_carried_to_the_controls(tmp_path, capfd):
    path, output = tmp_path / "clips.blend", tmp_path / "rigged.blend"
    shown = all_shown(new_character())
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert run(["rig", str(path), "--output", str(output)]) == 0
    assert "the controls follow 3 clips: 'idle', 'run', 'walk'" in capfd.readouterr().out
    bpy.ops.wm.open_mainfile(filepath=str(output), load_ui=True)
    assert farthest(shown, all_shown(bpy.data.objects["skeleton"])) < 1e-4
