"""The command line, mostly as its users run it: a process of its own that opens, bakes, saves and ends cleanly."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

from ik_addon import blender_command, command_line
from ik_addon.authoring.placing import control_bones
from ik_addon.bake import saving
from ik_addon.bake import saving as places
from ik_addon.command_line import commands as baking
from ik_addon.command_line.console import noise_apart

from .authoring.skeletons import FAMILIES, armature_of
from .helpers.commands import COMMAND, ENVIRONMENT, names, ran
from .rig.rigs import BoneSpec, new_armature, new_empty
from .scenes import (
    EXACT,
    Poses,
    curves_of,
    farthest_apart,
    keyed_frames,
    played,
    played_without_the_add_on,
    rotation_curves,
    slide,
    walking_leg,
)

pytestmark = pytest.mark.versions

COMPRESSED = b"\x28\xb5\x2f\xfd"
FRAMES = range(1, 13)


@pytest.fixture(scope="module")
def originals(addon, tmp_path_factory) -> Path:
    """A folder of files: two legs that walk, one out of reach, one broken, and what is no file of Blender's."""
    folder = tmp_path_factory.mktemp("files")
    save_scene(folder / "walk.blend", lambda: (walking_leg("left", 0.5), walking_leg("right", -0.5)))
    save_scene(folder / "small.blend", walking_leg, compress=True)
    save_scene(folder / "far.blend", far_leg)
    save_scene(folder / "broken.blend", broken_leg)
    save_scene(folder / "still.blend", lambda: None)
    (folder / "notes.blend").write_text("This is a shopping list.")
    (folder / "torn.blend").write_bytes((folder / "walk.blend").read_bytes()[:5000])
    return folder


def save_scene(path: Path, make, compress: bool = False) -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    make()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    skin = bpy.data.images.new("skin", 4, 4)
    skin.source, skin.filepath, skin.use_fake_user = "FILE", "//textures/skin.png", True
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=compress)
    skin.filepath = "//textures/skin.png"
    bpy.ops.wm.save_mainfile(compress=compress)
    for backup in path.parent.glob("*.blend1"):
        backup.unlink()


def far_leg() -> None:
    rig = walking_leg()
    slide(rig.target.ob, (0.0, 0.0, 0.5), (0.0, 0.0, -4.0))


def broken_leg() -> None:
    walking_leg().tip.analytic_ik_target = None


@pytest.fixture
def files(originals, tmp_path) -> Path:
    """The same folder, to be changed."""
    return Path(shutil.copytree(originals, tmp_path / "files"))


def live_poses(file: Path, frames: range = FRAMES) -> dict[str, Poses]:
    bpy.ops.wm.open_mainfile(filepath=str(file))
    return {ob.name: played(ob, frames) for ob in armatures()}


def baked_poses(file: Path, frames: range = FRAMES) -> dict[str, Poses]:
    bpy.ops.wm.open_mainfile(filepath=str(file))
    return {ob.name: played_without_the_add_on(ob, frames) for ob in armatures()}


def armatures() -> list[bpy.types.Object]:
    return [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]


def assert_plays(file: Path, expected: dict[str, Poses], frames: range = FRAMES) -> None:
    poses = baked_poses(file, frames)
    assert poses.keys() == expected.keys()
    for name, motion in expected.items():
        assert farthest_apart(poses[name], motion, 2.0) < EXACT


def test_a_file_is_baked_to_another_one(files):
    expected, source, before = live_poses(files / "walk.blend"), (files / "walk.blend").read_bytes(), names(files)
    (files / "out").mkdir()
    done = ran("bake", "walk.blend", "--output", "out/baked.blend", "--report", "report.json", "--quiet", cwd=files)
    # What Blender prints is no result; on stderr there is no word, and no bar for a pipe.
    assert done.stderr == ""
    # Of two armatures each is named.
    found = re.findall(r"^walk\.blend: (.+): shin: 12 frames, max error .+$", done.stdout, re.MULTILINE)
    assert len(set(found)) == 2 == len(done.stdout.splitlines()), done.stdout
    assert (files / "walk.blend").read_bytes() == source
    assert names(files) == before | {"out", "report.json"}
    assert names(files / "out") == {"baked.blend"}
    assert (files / "out" / "baked.blend").read_bytes().startswith(b"BLENDER")
    assert_plays(files / "out" / "baked.blend", expected)
    assert not any(ob.pose.bones["shin"].analytic_ik_enabled for ob in armatures())
    # A path relative to the file is relative to where the file is now.
    skin = bpy.path.abspath(bpy.data.images["skin"].filepath)
    assert os.path.normpath(skin) == str(files / "textures" / "skin.png")
    report = json.loads((files / "report.json").read_text())
    assert report["blender"] == ".".join(map(str, bpy.app.version))
    [entry] = report["files"]
    assert list(entry) == ["file", "frames", "seconds", "chains", "error"]
    assert (entry["file"], entry["frames"], entry["error"]) == ("walk.blend", [1, 12, 1], None)
    assert {chain["armature"] for chain in entry["chains"]} == {"left", "right"}
    assert all(chain["max_error"] < EXACT * 2.0 for chain in entry["chains"])


def test_bad_files_are_named_and_the_others_go_on(files):
    frames = range(3, 10, 2)
    expected = live_poses(files / "walk.blend", frames)
    (files / "out").mkdir()
    (files / "out" / "broken.blend").write_bytes(b"BLENDER as it was before")
    given = ["walk", "notes", "broken", "gone", "torn", "still", "small"]
    done = ran(
        "bake",
        *(f"{name}.blend" for name in given),
        *("--output-dir", "out", "--frames", "3-9", "--step", "2", "--action", "new", "--after", "remove"),
        *("--report", "report.json", "--quiet"),
        cwd=files,
        status=1,
    )
    complaints = done.stderr.splitlines()
    assert [line.partition(":")[0] for line in complaints] == [f"{name}.blend" for name in given[1:-1]]
    assert complaints[0] == "notes.blend: it is not a .blend file. Name a file that Blender saved."
    assert complaints[1].startswith("broken.blend: Bone 'shin': there is no target. Choose an object")
    assert complaints[2] == "gone.blend: there is no such file. Check its path."
    assert complaints[4].startswith("still.blend: no armature of its scene has a live analytic IK chain. Add one")
    assert names(files / "out") == {"walk.blend", "small.blend", "broken.blend"}
    assert (files / "out" / "broken.blend").read_bytes() == b"BLENDER as it was before"
    assert (files / "out" / "small.blend").read_bytes().startswith(COMPRESSED)
    assert_plays(files / "out" / "walk.blend", expected, frames)
    for ob in armatures():
        assert ob.pose.bones["shin"].analytic_ik_target is None
        assert keyed_frames(rotation_curves(ob, "shin")[0]) == list(frames)
    entries = json.loads((files / "report.json").read_text())["files"]
    assert [bool(entry["error"]) for entry in entries] == [False, True, True, True, True, True, False]
    assert [entry["file"] for entry in entries] == [f"{name}.blend" for name in given]
    assert entries[2]["error"] in complaints[1]
    assert entries[0]["frames"] == [3, 9, 2]


@pytest.mark.slow
def test_frames_without_keys_are_told_of(files, capsys):
    given = ["bake", str(files / "walk.blend"), "--output", str(files / "far.blend"), "--frames", "5000-5010"]
    assert command_line.run(given) == 0
    assert "walk.blend: Frames 5000-5010 have no keys, which are at 1-12. Set other frames." in capsys.readouterr().err


def test_a_file_is_baked_in_place_and_stays_compressed(files):
    expected, before = live_poses(files / "small.blend"), names(files)
    ran("bake", "small.blend", "--in-place", "--action", "CURRENT", "--tolerance", "0.05", "--after", "keep", cwd=files)
    assert names(files) == before
    assert (files / "small.blend").read_bytes().startswith(COMPRESSED)
    poses = baked_poses(files / "small.blend")["leg"]
    strayed = [
        (poses[frame]["foot"].translation - expected["leg"][frame]["foot"].translation).length for frame in FRAMES
    ]
    assert max(strayed) < 0.05 + EXACT
    [leg] = armatures()
    assert 2 <= len(keyed_frames(rotation_curves(leg, "shin")[0])) < 12
    assert len(curves_of(leg)) == 8
    assert leg.pose.bones["shin"].analytic_ik_enabled
    assert bpy.data.images["skin"].filepath == "//textures/skin.png"


@pytest.mark.slow
def test_a_check_tells_by_its_exit_status_whether_a_tip_missed_by_more(files):
    before, content = names(files), (files / "far.blend").read_bytes()
    given = ["check", "far.blend", "walk.blend", "--report", "r.json", "--quiet", "--max-error"]
    done = ran(*given, "0.001", cwd=files, status=1)
    assert "far.blend: shin: 12 frames, max error" in done.stdout
    assert "out of reach at" in done.stdout
    assert re.fullmatch(r"far\.blend: shin: max_error \S+ is over the limit of 0\.001\n", done.stderr)
    assert done.stdout.endswith("Files: 2 done, 0 failed\n")
    assert names(files) == before | {"r.json"}
    assert (files / "far.blend").read_bytes() == content
    chains = [entry["chains"][0] for entry in json.loads((files / "r.json").read_text())["files"]]
    assert chains[0]["max_error"] > 1.0 > EXACT > chains[1]["max_error"]
    assert chains[0]["unreached_frames"][-1][-1] == 12
    assert command_line.run(["check", f"{files}/far.blend", "--max-error", "100"]) == 0
    assert command_line.run(["check", f"{files}/far.blend"]) == 0


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="a terminal to show it on is made by openpty")
@pytest.mark.slow
def test_progress_shows_on_a_terminal(files):
    pytest.importorskip("tqdm")
    import termios

    terminal, end = os.openpty()
    termios.tcsetwinsize(end, (24, 100))
    process = subprocess.Popen(
        [*COMMAND, "check", "walk.blend"],
        cwd=files,
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=end,
    )
    os.close(end)
    shown = b""
    while chunk := read(terminal):
        shown += chunk
    os.close(terminal)
    assert process.wait(timeout=60) == 0
    assert b"walk.blend: 100%" in shown
    assert b"12/12" in shown


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:
        # Linux says so when the other side has closed it.
        return b""


@pytest.mark.slow
def test_bad_usage_ends_a_process_with_2(files):
    done = ran("bake", "walk.blend", "small.blend", "--output", "out.blend", cwd=files, status=2)
    assert done.stderr.splitlines()[-1].endswith("error: --output takes one FILE. Use --output-dir for several.")
    assert not (files / "out.blend").exists()


# In this process: what is said, and what is left, where something is in the way

USAGE = [
    ("bake {0}/walk.blend --output {0}/out.blend --step 0", "'0' is not a step. Write a whole number from 1"),
    ("bake {0}/walk.blend --output {0}/out.blend --step x", "'x' is not a step. Write a whole number from 1"),
    ("bake {0}/walk.blend --output {0}/out.blend --frames 9-3", "'9-3' is not a range of frames. Write the first and"),
    ("check {0}/walk.blend --frames 9", "'9' is not a range of frames. Write the first and last as 1-250"),
    ("bake {0}/walk.blend --output {0}/out.blend --tolerance -1", "'-1' is not possible. Write a number from 0"),
    ("bake {0}/walk.blend --output {0}/out.blend --tolerance nan", "'nan' is not possible. Write a number from 0"),
    ("check {0}/walk.blend --max-error inf", "'inf' is not possible. Write a number from 0"),
    ("bake {0}/walk.blend", "one of the arguments --output --output-dir --in-place is required"),
    ("bake {0}/walk.blend --in-place --output {0}/out.blend", "not allowed with argument"),
    ("bake {0}/walk.blend --output {0}/out.blend --action MERGE", "invalid choice: 'MERGE'"),
    ("bake {0}/walk.blend --output {0}/out.blend --after DELETE", "invalid choice: 'DELETE'"),
    (
        "bake {0}/walk.blend {0}/far.blend {0}/sub/walk.blend --output-dir {0}",
        "'{0}/walk.blend' and '{0}/sub/walk.blend' would both be saved to '{0}/walk.blend'. Rename one, or save them",
    ),
    (
        "bake {0}/walk.blend {0}/sub/../walk.blend --in-place",
        "'{0}/walk.blend' and '{0}/sub/../walk.blend' would both be saved to '{0}/sub/../walk.blend'. Rename one",
    ),
    ("bake {0}/walk.blend {0}/walk.blend --output-dir {0}/out", "'{0}/walk.blend' is given twice. Name it once."),
    ("bake {0}/walk.blend --output {0}", "'{0}' is a folder or a device. Name a file to save to."),
    ("bake {0}/walk.blend {0}/far.blend --output {0}/out.blend", "--output takes one FILE. Use --output-dir for sev"),
    ("bake --in-place", "Name at least one FILE"),
    # Here the command runs as in the extension.
    (
        "check {0}/walk.blend --jobs 2",
        "--jobs needs the Python package. Leave it out, or install analytic-ik with pip.",
    ),
    ("check {0}/walk.blend --cluster x:1", "--cluster needs the Python package."),
    ("check {0}/walk.blend --tries 3", "--tries needs the Python package."),
    ("check", "Name at least one FILE"),
    ("dance {0}/walk.blend", "invalid choice: 'dance'"),
    ("", "the following arguments are required: COMMAND"),
]


@pytest.mark.parametrize(("arguments", "sentence"), USAGE)
def test_bad_usage_is_told(files, capsys, arguments, sentence):
    before = names(files)
    assert command_line.run(arguments.format(files).split()) == 2
    assert sentence.format(files) in " ".join(capsys.readouterr().err.split())
    assert names(files) == before


@pytest.mark.parametrize("is_blind", [True, False])
def test_names_that_differ_by_their_capitals_are_one_where_the_folder_says_so(files, capsys, monkeypatch, is_blind):
    """Whether it does is tried with a file of a name drawn at random, which is found by its capitals, or is not."""
    monkeypatch.setattr(saving.secrets, "token_hex", lambda _: "a")
    monkeypatch.setattr(command_line, "process", lambda file, _: [{"file": str(file), "error": None, "chains": []}])
    if is_blind and not (files / "WALK.BLEND").exists():
        (files / ".ANALYTIC-IK.A.PART").touch()
    before = names(files)
    given = ["bake", f"{files}/walk.blend", f"{files}/sub/Walk.blend", "--output-dir", f"{files}/not/made/yet"]
    is_blind = is_blind or (files / "WALK.BLEND").exists()
    assert command_line.run(given) == (2 if is_blind else 0)
    said = " ".join(capsys.readouterr().err.split())
    assert ("would both be saved to" in said) == is_blind
    assert names(files) == before


def test_letters_that_look_the_same_are_names_of_two_files_or_of_one(files, capsys, monkeypatch):
    """An e with its accent, and an e and an accent: macOS takes them for the same name."""
    monkeypatch.setattr(places, "ignores_case", lambda _: True)
    assert command_line.run(["bake", f"{files}/caf\u00e9.blend", f"{files}/cafe\u0301.blend", "--in-place"]) == 2
    assert "would both be saved to" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("arguments", ["--help", "bake --help", "check --help"])
def test_help_is_no_error(capsys, arguments):
    assert command_line.run(arguments.split()) == 0
    assert "usage: analytic-ik" in capsys.readouterr().out


def test_an_output_folder_that_is_missing_is_told_before_anything_is_stepped(files, capsys, monkeypatch):
    monkeypatch.setattr(baking, "clips_baked", None)
    assert command_line.run(["bake", f"{files}/walk.blend", "--output", f"{files}/nowhere/out.blend"]) == 1
    assert re.search(r"there is no folder '.*nowhere' to save to. Make it first", capsys.readouterr().err)


def test_what_prints_once_its_file_is_done_prints_where_others_do(capsys):
    with noise_apart(False):
        kept = sys.stdout
    kept.write("late")
    with noise_apart(False):
        kept.write("later\n")
    assert "later" in capsys.readouterr().err


def test_a_certificate_is_written_as_text(files):
    text = files / "certificate.txt"
    assert (
        command_line.run(
            ["check", *(f"{files}/{name}.blend" for name in ("walk", "far", "torn")), "--certificate", str(text)]
        )
        == 1
    )
    written = text.read_text(encoding="utf-8")
    for said in (
        "walk.blend",
        "Both chains meet their targets",
        "far.blend",
        "The chain is out of reach",
        "torn.blend",
    ):
        assert said in written
    assert written.endswith("\n")


def test_a_relative_path_stays_as_it_is_where_the_folder_is_the_same(files):
    assert command_line.run(["bake", f"{files}/walk.blend", "--output", f"{files}/baked.blend"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(files / "baked.blend"))
    assert bpy.data.images["skin"].filepath == "//textures/skin.png"


def test_a_missing_output_folder_of_several_files_is_made(files):
    assert command_line.run(["bake", f"{files}/walk.blend", "--output-dir", f"{files}/made/here"]) == 0
    assert names(files / "made" / "here") == {"walk.blend"}


def test_without_a_name_the_file_that_blender_has_open_is_taken(files):
    bpy.ops.wm.open_mainfile(filepath=str(files / "walk.blend"))
    assert command_line.run(["check", "--frames", "2-4"]) == 0
    assert command_line.run(["bake", "--output", f"{files}/out.blend"]) == 0
    assert (files / "out.blend").exists()


@pytest.mark.slow
def test_the_legs_of_a_file_are_rigged(tmp_path):
    save_scene(tmp_path / "body.blend", lambda: armature_of(FAMILIES[0].bones()))
    source = (tmp_path / "body.blend").read_bytes()
    done = ran("rig", "body.blend", "--output", "rigged.blend", "--quiet", cwd=tmp_path)
    assert done.stderr == ""
    assert (
        len(
            re.findall(r"^body\.blend: skeleton: '.*' to '.*' follow 'Foot\.[LR]' and 'Knee\.[LR]'$", done.stdout, re.M)
        )
        == 2
    )
    assert (tmp_path / "body.blend").read_bytes() == source
    assert names(tmp_path) == {"body.blend", "rigged.blend"}
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rigged.blend"))
    assert {"Foot.L", "Foot.R", "Knee.L", "Knee.R"} <= set(bpy.data.objects.keys())
    assert sum(bone.analytic_ik_enabled for bone in bpy.data.objects["skeleton"].pose.bones) == 2


@pytest.mark.parametrize("controls", [(), ("--controls", "empties"), ("--controls", "bones")])
def test_controls_are_empties_or_bones_as_asked(controls, tmp_path, capsys):
    save_scene(tmp_path / "body.blend", lambda: armature_of(FAMILIES[0].bones()))
    output = tmp_path / "rigged.blend"
    assert command_line.run(["rig", str(tmp_path / "body.blend"), "--output", str(output), *controls]) == 0
    said = capsys.readouterr().out
    bpy.ops.wm.open_mainfile(filepath=str(output))
    ob = bpy.data.objects["skeleton"]
    made = {tip.analytic_ik_subtarget for tip in ob.pose.bones if tip.analytic_ik_enabled}
    empties = [each for each in bpy.context.scene.objects if each.type == "EMPTY"]
    if "bones" in controls:
        assert len(made) == 2 and made <= control_bones(ob.data) and not empties
        assert all(f"follow '{name}' and" in said for name in made)
    else:
        assert made == {""} and len(empties) == 4


def test_what_was_rigged_and_what_was_left_out_is_told(tmp_path, capsys):
    left, right = (limb for limb in FAMILIES[0].found() if limb.kind == "LEG")

    def half_rigged() -> None:
        bones = armature_of(FAMILIES[0].bones()).pose.bones
        made = bones[right.bones[-1]].constraints.new("IK")
        made.name, made.target = "leg {IK}", new_empty("goal")
        for frame in (1, 7):
            bones[left.bones[0]].rotation_quaternion = (1.0, 0.02 * frame, 0.0, 0.0)
            bones[left.bones[0]].keyframe_insert("rotation_quaternion", frame=frame)

    file = tmp_path / "100% {body}.blend"
    save_scene(file, half_rigged)
    assert command_line.run(["rig", str(file), "--output", str(tmp_path / "rigged.blend")]) == 0
    said = capsys.readouterr().out
    first, tip = left.bones[0], left.bones[-1]
    assert f"{file}: skeleton: '{first}' to '{tip}' follow 'Foot.L' and 'Knee.L'\n" in said
    assert f"{file}: skeleton: the controls follow frames 1-7\n" in said
    why = f"constraint 'leg {{IK}}' of bone '{right.bones[-1]}' already is an IK. Use Convert Blender IK instead"
    assert f"{file}: skeleton: left out '{right.bones[-1]}': {why}\n" in said


def test_a_bone_that_rounding_moves_visibly_is_told(tmp_path, capsys):
    def far_away() -> None:
        armature_of(FAMILIES[0].bones()).location = (3e5, 4e5, 0.0)

    save_scene(tmp_path / "far.blend", far_away)
    report = tmp_path / "report.json"
    arguments = ["rig", str(tmp_path / "far.blend"), "--output", str(tmp_path / "out.blend"), "--report", str(report)]
    assert command_line.run(arguments) == 0
    [warning, *_] = json.loads(report.read_text())["files"][0]["rigged"][0]["warnings"]
    assert re.match(
        r"Bone '[\w.]+' moved by [\d.]+: so far from the origin, Blender's numbers are this coarse. ", warning
    )
    assert f"skeleton: {warning}" in capsys.readouterr().out


def test_a_file_without_legs_is_told_and_not_saved(files, capsys):
    before = names(files)
    for arguments, sentence in (
        (("still.blend",), "its scene has no armature"),
        (("small.blend", "--armature", "Suzanne"), "its scene has no armature 'Suzanne'. Check the name"),
        (("notes.blend",), "it is not a .blend file"),
    ):
        status = command_line.run(
            ["rig", str(files / arguments[0]), *arguments[1:], "--output", str(files / "out.blend")]
        )
        assert status == 1
        assert sentence in capsys.readouterr().err
    save_scene(files / "plank.blend", lambda: new_armature("plank", [BoneSpec("plank", (0, 0, 0), (0, 0, 1))]))
    arguments = ["rig", str(files / "plank.blend"), "--output", str(files / "out.blend")]
    assert command_line.run([*arguments, "--report", str(files / "report.json")]) == 1
    assert "none of its armatures could be rigged" in (files / "report.json").read_text()
    assert "plank" in capsys.readouterr().err
    assert names(files) == before | {"plank.blend", "report.json"}
    assert command_line.run(["rig", "a.blend", "b.blend", "--output", "c.blend"]) == 2
    assert command_line.run(["rig", "a.glb", "--output", "c.glb"]) == 2
    assert "'c.glb' cannot hold chains and controls. Name a .blend file." in capsys.readouterr().err
    assert command_line.run(["rig", str(files / "small.blend")]) == 2
    assert command_line.run(["rig", "a.blend", "--output", "c.blend", "--controls", "sticks"]) == 2


def test_blender_knows_the_command():
    """As `blender --command analytic_ik`; an identifier that is registered twice would be lost."""
    assert len(blender_command._handles) == 1
    blender_command.unregister()
    assert not blender_command._handles
    blender_command.register()
    assert len(blender_command._handles) == 1
