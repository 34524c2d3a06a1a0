"""Limbs are named by their bones: for `rig`, `plant` and scripts; a dry run writes them down."""

import json
from collections.abc import Callable
from pathlib import Path

import bpy
import pytest

from ik_addon import api, command_line
from ik_addon.solvers import ChainError

from .authoring.skeletons import FAMILIES, armature_of

LEGS = {"legs": [[f"thigh.{side}", f"shin.{side}", f"foot.{side}"] for side in "LR"], "arms": []}
OTHER_WORDS = {"thigh": "quux", "shin": "wing", "foot": "fin", "toe": "fin_toe"}


def renamed(name: str) -> str:
    """Names that show no leg."""
    part, dot, side = name.partition(".")
    return f"{OTHER_WORDS.get(part, part)}{dot}{side}"


def save_scene(path: Path, make: Callable[[], object]) -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    make()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_scene(tmp_path / "body.blend", lambda: armature_of(FAMILIES[0].bones()))
    save_scene(tmp_path / "odd.blend", lambda: armature_of(FAMILIES[0].bones(decoys=False), rename=renamed))
    return tmp_path


def run(*arguments: object) -> int:
    return command_line.run([*map(str, arguments)])


def tips() -> dict[str, str]:
    bones = bpy.data.objects["skeleton"].pose.bones
    return {bone.name: bone.analytic_ik_end_bone for bone in bones if bone.analytic_ik_enabled}


def test_a_dry_run_says_the_limbs_and_writes_them_and_nothing_else(folder, capsys):
    before = {path.name for path in folder.iterdir()}
    assert run("rig", folder / "body.blend", "--dry-run", "--limbs-out", folder / "limbs.json") == 0
    assert json.loads((folder / "limbs.json").read_text()) == LEGS
    assert {path.name for path in folder.iterdir()} == before | {"limbs.json"}
    assert "skeleton: found 'thigh.L' to 'shin.L', which ends at 'foot.L'\n" in capsys.readouterr().out
    # What an earlier run has written may be replaced.
    assert run("rig", folder / "body.blend", "--dry-run", "--arms", "--limbs-out", folder / "limbs.json") == 0
    assert len(json.loads((folder / "limbs.json").read_text())["arms"]) == 2


def test_a_map_serves_each_character_with_the_same_skeleton(folder):
    limbs = folder / "limbs.json"
    assert run("rig", folder / "body.blend", "--output", folder / "out.blend", "--limbs-out", limbs) == 0
    assert run("rig", folder / "body.blend", "--output", folder / "again.blend", "--limbs", limbs) == 0
    found = []
    for name in ("out.blend", "again.blend"):
        bpy.ops.wm.open_mainfile(filepath=str(folder / name))
        found.append((tips(), sorted(ob.name for ob in bpy.context.scene.objects)))
    assert found[0] == found[1] and found[0][0] == {"shin.L": "foot.L", "shin.R": "foot.R"}


def test_bones_that_show_no_limb_are_rigged_as_they_are_named(folder, capsys):
    file, limbs = folder / "odd.blend", folder / "limbs.json"
    assert run("rig", file, "--dry-run") == 1
    assert "Name the bones of its limbs with --limbs." in capsys.readouterr().err
    legs = [[f"quux.{side}", f"wing.{side}", f"fin.{side}" if side == "L" else None] for side in "LR"]
    limbs.write_text(json.dumps({"legs": legs}))
    assert run("rig", file, "--dry-run", "--limbs", limbs) == 0
    assert "'quux.R' to 'wing.R', which ends at its tail" in capsys.readouterr().out
    assert run("rig", file, "--output", folder / "out.blend", "--limbs", limbs) == 0
    bpy.ops.wm.open_mainfile(filepath=str(folder / "out.blend"))
    assert tips() == {"wing.L": "fin.L", "wing.R": ""}
    assert {"Foot.L", "Foot.R", "Knee.L", "Knee.R"} <= set(bpy.data.objects.keys())


def test_what_is_rigged_already_is_left_out(folder):
    bpy.ops.wm.open_mainfile(filepath=str(folder / "body.blend"))
    ob = bpy.data.objects["skeleton"]
    left, right = LEGS["legs"]
    assert len(api.rig(ob, limbs={"legs": [left]})["files"][0]["rigged"][0]["limbs"]) == 1
    again = api.rig(ob, limbs={"legs": [left, right]})["files"][0]["rigged"][0]
    assert [limb["bones"] for limb in again["limbs"]] == [["thigh.R", "shin.R"]]
    assert [out["bone"] for out in again["left_out"]] == ["shin.L"]
    with pytest.raises(ChainError, match="already has a chain"):
        api.rig(ob, limbs={"legs": [left]})


def test_limbs_that_the_armature_has_not_are_refused_and_nothing_is_saved(folder, capsys):
    limbs = folder / "limbs.json"
    limbs.write_text(json.dumps(LEGS))
    assert run("rig", folder / "odd.blend", "--output", folder / "out.blend", "--limbs", limbs) == 1
    assert "has no bone 'thigh.L'. Choose one of its bones" in capsys.readouterr().err
    assert not (folder / "out.blend").exists()


def test_plant_takes_the_legs_of_a_map(folder):
    bpy.ops.wm.open_mainfile(filepath=str(folder / "odd.blend"))
    ob = bpy.data.objects["skeleton"]
    for frame in (1, 20):
        ob.pose.bones["quux.L"].rotation_quaternion = (1.0, 0.01 * frame, 0.0, 0.0)
        ob.pose.bones["quux.L"].keyframe_insert("rotation_quaternion", frame=frame)
    with pytest.raises(ChainError, match="has no bone 'thigh"):
        api.plant(ob, limbs=LEGS)
    legs = [[f"quux.{side}", f"wing.{side}", f"fin.{side}"] for side in "LR"]
    entry = api.plant(ob, limbs={"legs": legs})["files"][0]
    assert {chain["bone"] for chain in entry["chains"]} == {"wing.L", "wing.R"}


@pytest.mark.parametrize(
    "given", ["", "[]", "{}", '{"legs": []}', '{"legs": [["a", "b"]]}', '{"tails": [["a", "b", null]]}', "not JSON"]
)
def test_what_names_no_limbs_is_bad_usage(given, folder, capsys):
    (folder / "limbs.json").write_text(given)
    assert run("rig", folder / "body.blend", "--dry-run", "--limbs", folder / "limbs.json") == 2
    assert "limbs.json: it names no limbs. Write it with" in capsys.readouterr().err


def test_a_file_of_limbs_that_is_not_there_is_bad_usage(folder, capsys):
    assert run("plant", folder / "body.blend", "--output-dir", folder / "out", "--limbs", folder / "gone.json") == 2
    assert "gone.json: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("{0}/body.blend",), "nothing says where to save"),
        (("{0}/body.blend", "--dry-run", "--output", "{0}/out.blend"), "--dry-run saves nothing"),
        (("{0}/body.blend", "{0}/odd.blend", "--dry-run", "--limbs-out", "{0}/l.json"), "--limbs-out takes one FILE"),
        (("{0}/body.blend", "--dry-run", "--limbs-out", "{0}/notes.json"), "is there already and is not a"),
    ],
)
def test_what_makes_no_sense_is_bad_usage(arguments, sentence, folder, capsys):
    (folder / "notes.json").write_text("my notes")
    assert run("rig", *(argument.format(folder) for argument in arguments)) == 2
    assert sentence in capsys.readouterr().err
    assert (folder / "notes.json").read_text() == "my notes"


def test_the_limbs_of_several_armatures_are_not_written_as_one(folder, capsys):
    def two() -> None:
        for _ in range(2):
            armature_of(FAMILIES[0].bones())

    save_scene(folder / "two.blend", two)
    assert run("rig", folder / "two.blend", "--dry-run", "--limbs-out", folder / "limbs.json") == 1
    assert "more than one of its armatures has limbs. Choose one with --armature" in capsys.readouterr().err
    assert run("rig", folder / "two.blend", "--dry-run", "--armature", "skeleton") == 0
