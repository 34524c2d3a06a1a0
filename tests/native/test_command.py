"""`native` on files: what can be native is, and the rest is told."""

import json

import bpy
import pytest

from ik_addon.bake import chains_of
from ik_addon.command_line import run
from ik_addon.rig.data.settings import native_tips

from ..every_report import check_report
from ..scenes import walking_leg

pytestmark = pytest.mark.versions


@pytest.fixture
def file(tmp_path):
    walking_leg()
    path = tmp_path / "leg.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_a_file_becomes_native_and_a_second_time_nothing(file, tmp_path, capfd):
    output, report = tmp_path / "native.blend", tmp_path / "report.json"
    assert run(["native", str(file), "--output", str(output), "--report", str(report)]) == 0
    [entry] = json.loads(report.read_text())["files"]
    check_report(json.loads(report.read_text()))
    [native] = entry["native"]
    assert native["tips"] == ["shin"] and native["difference"] < 1e-4 and not native["stay_live"]
    bpy.ops.wm.open_mainfile(filepath=str(output))
    ob = bpy.data.objects["leg"]
    assert not chains_of([ob]) and [tip.name for tip in native_tips(ob)] == ["shin"]
    before = output.read_bytes()
    assert run(["native", str(output), "--in-place"]) == 0
    assert "native already" in capfd.readouterr().out
    assert output.read_bytes() == before


def test_a_folder_gets_what_is_native_already_too(file, tmp_path, capfd):
    assert run(["native", str(file), "--in-place"]) == 0
    folder, report = tmp_path / "native", tmp_path / "report.json"
    line = ["native", str(file), "--output-dir", str(folder), "--report", str(report)]
    before = file.read_bytes()
    capfd.readouterr()
    assert run(line) == 0
    assert "native already" in capfd.readouterr().out
    bpy.ops.wm.open_mainfile(filepath=str(folder / file.name))
    assert [tip.name for tip in native_tips(bpy.data.objects["leg"])] == ["shin"]
    assert file.read_bytes() == before
    # So nothing is left to do.
    assert run([*line, "--resume"]) == 0
    assert "native already" not in capfd.readouterr().out


def test_what_cannot_be_native_is_told_and_nothing_is_saved(tmp_path, capfd):
    rig = walking_leg()
    rig.tip.analytic_ik_solver = "CCD"
    path = tmp_path / "leg.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    output, report = tmp_path / "native.blend", tmp_path / "report.json"
    assert run(["native", str(path), "--output", str(output), "--report", str(report), "--quiet"]) == 1
    why = "Bone 'shin': its Solver is CCD, which has no native form. Set it to Automatic, or bake the chain."
    assert capfd.readouterr().err == f"{path}: {why}\n"
    assert not output.exists()
    [entry] = json.loads(report.read_text())["files"]
    assert entry["error"] == f"none of its chains can be native. {why}"
    assert entry["native"][0]["stay_live"] == [why]


def test_what_holds_no_constraints_is_refused(file, tmp_path):
    assert run(["native", str(file), "--output", str(tmp_path / "leg.glb")]) == 2
