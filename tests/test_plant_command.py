"""`plant` and `check --feet`: from a capture in a file to planted feet in a file, as their users run them."""

import json
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from ik_addon import command_line
from ik_addon.bake import formats, saving
from ik_addon.command_line import commands
from ik_addon.planting import plant_clips
from ik_addon.planting.feet.curves import runs
from ik_addon.planting.feet.options import SHOWN, Options
from ik_addon.planting.scene.limbs import keyed_contacts
from ik_addon.planting.scene.sources import kept_settings, source_of
from ik_addon.rig.blender.animation import all_fcurves
from ik_addon.solvers import ChainError

from .helpers.commands import LEG, SECONDS, names, ran, sliding
from .planting import bvh, clips
from .rig.rigs import BoneSpec, evaluated_copy, new_armature, new_empty
from .scenes import go_to, select, sliding_walk

pytestmark = pytest.mark.versions

TIPS = {"LeftLeg": "LeftToeBase", "RightLeg": "RightToeBase"}
"""By the last bone of each leg the joint at which its ball is."""
FRAMES = range(1, 92)


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with a capture, what is none, and a scene without anybody."""
    bvh.write(tmp_path / "walk.bvh", sliding(clips.walk(fps=30.0, seconds=SECONDS, size=LEG)[0]))
    (tmp_path / "notes.bvh").write_text("This is a shopping list.")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "still.blend"))
    return tmp_path


def armature() -> bpy.types.Object:
    return next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")


def joints_of(ob: bpy.types.Object) -> dict[str, np.ndarray]:
    """The heads of all bones over the frames, in the world, by name."""
    found: dict[str, list] = {}
    for frame in FRAMES:
        go_to(frame)
        shown = evaluated_copy(ob)
        for bone in shown.pose.bones:
            found.setdefault(bone.name, []).append(shown.matrix_world @ bone.head)
    return {name: np.array(places, float) for name, places in found.items()}


def locks_of(ob: bpy.types.Object) -> dict[str, np.ndarray]:
    """By joint the frames (T,) in which its ball is keyed to stand."""
    return {joint: keyed_contacts(ob.pose.bones[tip], FRAMES)[1] for tip, joint in TIPS.items()}


def slide(joints: dict[str, np.ndarray], locks: dict[str, np.ndarray]) -> float:
    """The farthest that a ball is from itself in a contact, along one axis, in leg lengths."""
    found = [
        np.ptp(joints[joint][first : last + 1], axis=0).max()
        for joint, standing in locks.items()
        for first, last in runs(standing)
    ]
    return float(max(found)) / LEG


def here(*arguments: object, cwd: Path) -> None:
    """The command in this process."""
    own = [cwd / name if name == "walk.bvh" else name for name in map(str, arguments)]
    own = [cwd / given if before in PLACES else given for before, given in zip(["", *own], own, strict=False)]
    assert command_line.run(list(map(str, own))) == 0


PLACES = {"--output", "--output-dir", "--report"}


def test_a_clip_whose_feet_stand_already_is_left_alone_and_its_file_is_written(folder, capsys):
    run = ["plant", folder / "walk.bvh", "--output", folder / "once.bvh", "--report", folder / "r.json"]
    assert command_line.run(list(map(str, run))) == 0
    planted_once = joints_of(armature())
    run = ["plant", folder / "once.bvh", "--output", folder / "twice.bvh", "--report", folder / "r.json"]
    capsys.readouterr()
    assert command_line.run(list(map(str, run))) == 0
    assert "its feet stand already" in capsys.readouterr().err
    [entry] = json.loads((folder / "r.json").read_text())["files"]
    assert entry["error"] is None and "its feet stand already" in entry["left_out"]
    formats.open_file(folder / "twice.bvh")
    again = joints_of(armature())
    assert max(np.abs(again[name] - places).max() for name, places in planted_once.items()) < 1e-3 * LEG
    # Who wants it planted has it planted.
    assert command_line.run([*map(str, run), "--anyway"]) == 0
    assert json.loads((folder / "r.json").read_text())["files"][0].get("left_out") is None


@pytest.mark.parametrize("run", [here, pytest.param(ran, marks=pytest.mark.deep)])
@pytest.mark.slow
def test_a_capture_comes_back_planted_in_each_format(folder, run):
    """The balls stand in the frames that are keyed in the .blend file, in every file."""
    source = bvh.read(folder / "walk.bvh")
    content = (folder / "walk.bvh").read_bytes()
    done = run("plant", "walk.bvh", "--output", "walk.blend", "--report", "r.json", "--quiet", cwd=folder)
    if done is not None:
        assert "walk.bvh: walk: LeftLeg: " in done.stdout and " contacts, slide " in done.stdout
        assert done.stderr == ""
    run("plant", "walk.bvh", "--output-dir", "out", cwd=folder)
    run("plant", "walk.bvh", "--output-dir", "out", "--format", "glb", cwd=folder)
    assert names(folder / "out") == {"walk.bvh", "walk.glb"}
    assert (folder / "walk.bvh").read_bytes() == content

    [entry] = json.loads((folder / "r.json").read_text())["files"]
    assert (entry["frames"], entry["error"]) == ([1, 91, 1], None)
    assert [foot["bone"] for foot in entry["feet"]] == [*TIPS]
    for foot in entry["feet"]:
        assert foot["after"]["slide"] < 1e-4 < 0.02 < foot["before"]["slide"]

    bpy.ops.wm.open_mainfile(filepath=str(folder / "walk.blend"))
    assert bpy.context.scene.render.fps == 30
    ob = armature()
    planted, locks = joints_of(ob), locks_of(ob)
    assert all(standing.sum() >= 6 for standing in locks.values())
    assert slide(source.places, locks) > 0.02
    assert slide(planted, locks) < 1e-5
    # The chains are there still, and with them Update Feet.
    assert not any(bone.analytic_ik_enabled for bone in ob.pose.bones)
    assert ob.pose.bones["LeftLeg"].analytic_ik_target is not None
    assert kept_settings(ob)["tips"] == [*TIPS]
    assert source_of(ob).name == "walk"

    again = bvh.read(folder / "out" / "walk.bvh")
    assert again.fps == pytest.approx(30.0, abs=0.01)
    assert again.places.keys() == source.places.keys()
    for name, places in planted.items():
        assert again.places[name] == pytest.approx(places, abs=1e-4)
    assert slide(again.places, locks) < 1e-4

    # A .glb file knows seconds alone, and Blender imports it at its own rate.
    formats.open_file(folder / "out" / "walk.glb")
    ob, rate = armature(), bpy.context.scene.render.fps / 30.0
    for k, frame in enumerate(FRAMES):
        go_to(frame * rate)
        shown = evaluated_copy(ob)
        for joint in TIPS.values():
            assert np.array(shown.matrix_world @ shown.pose.bones[joint].head) == pytest.approx(
                planted[joint][k], abs=1e-4
            )


def test_bad_files_are_named_and_the_others_go_on(folder, capsys):
    given = ["gone.bvh", "notes.bvh", "still.blend", "walk.bvh"]
    arguments = ["plant", *(f"{folder}/{name}" for name in given), "--output-dir", f"{folder}/out"]
    assert command_line.run([*arguments, "--report", f"{folder}/r.json", "--quiet"]) == 1
    complaints = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[0] for line in complaints] == [f"{folder}/{name}" for name in given[:3]]
    assert "there is no such file" in complaints[0]
    assert "Blender cannot import it (" in complaints[1]
    assert "its scene has no armature" in complaints[2]
    assert names(folder / "out") == {"walk.bvh"}
    entries = json.loads((folder / "r.json").read_text())["files"]
    assert [bool(entry["error"]) for entry in entries] == [True, True, True, False]


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".fbx", ".gltf"])
def test_other_formats_hold_the_planted_motion_too(folder, suffix):
    """Of a character with a mesh, which has another clip besides: their names stay."""
    ob = sliding_walk()
    with_legs_muted(ob)
    for action in [action for action in bpy.data.actions if action != ob.animation_data.action]:
        bpy.data.actions.remove(action)
    other = ob.animation_data.action.copy()
    other.name, other.use_fake_user = "Other", True
    strip = ob.animation_data.nla_tracks.new().strips.new("Other", 1, other)
    strip.mute = True
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "walker.blend"))
    output = folder / f"walker{suffix}"
    assert command_line.run(["plant", str(folder / "walker.blend"), "--output", str(output)]) == 0
    planted = toes_of(armature())
    assert not [left for left in names(folder) if left.startswith(".")]
    formats.open_file(output)
    if suffix == ".gltf":
        assert (folder / "walker.bin").exists()
    # Blender's importers put the name of the armature before or after it.
    clips_of = {action.name.rpartition("|")[2].removesuffix("_Robot rig"): action for action in bpy.data.actions}
    assert {"Walk capture", "Other"} <= clips_of.keys()
    assert not [name for name in clips_of if "planted" in name or "Foot" in name]
    ob = armature()
    ob.animation_data.action = clips_of["Walk capture"]
    again = toes_of(ob)
    for name, places in planted.items():
        assert again[name] == pytest.approx(places, abs=1e-4)


def toes_of(ob: bpy.types.Object) -> dict[str, np.ndarray]:
    """The heads of the toes over the frames of the scene, in the world."""
    found: dict[str, list] = {"toe.L": [], "toe.R": []}
    for frame in range(1, 121, 4):
        go_to(frame)
        for name, places in found.items():
            places.append(ob.matrix_world @ evaluated_copy(ob).pose.bones[name].head)
    return {name: np.array(places, float) for name, places in found.items()}


def with_legs_muted(ob: bpy.types.Object) -> None:
    """The character as it came: without chains and controls."""
    select(ob)
    for tip in [bone for bone in ob.pose.bones if bone.analytic_ik_enabled]:
        tip.analytic_ik_enabled = False
        for name in ("target", "pole_target"):
            tip.property_unset(f"analytic_ik_{name}")
    for empty in [each for each in bpy.data.objects if each.type == "EMPTY"]:
        bpy.data.objects.remove(empty)


# Each option


@pytest.mark.some(1)
@pytest.mark.parametrize("suffix", [".fbx", ".glb"])
def test_files_with_fewer_keys_are_smaller(folder, suffix):
    sizes = []
    for more in ((), ("--optimize",)):
        output = folder / f"{len(more)}{suffix}"
        assert command_line.run(["plant", str(folder / "walk.bvh"), "--output", str(output), *more]) == 0
        sizes.append(output.stat().st_size)
    assert sizes[1] < sizes[0]


def test_what_planting_makes_worse_is_left_as_it_is_but_for_those_who_want_it(folder, capsys):
    given = ["plant", str(folder / "walk.bvh"), "--output", str(folder / "out.bvh")]
    assert command_line.run([*given, "--limit", "body=0.0"]) == 1
    assert "planting makes these frames worse: the body moves by" in capsys.readouterr().err
    assert not (folder / "out.bvh").exists()
    assert command_line.run([*given, "--limit", "body=0.0", "--anyway"]) == 0


def test_options_of_planting_are_those_of_the_operator(folder, monkeypatch):
    """Defaults as well, and what the command is given comes to planting."""
    given = []

    def plant(context, ob, clips, frames, options, ground, keep, limbs, path):
        given.append(options)
        raise ChainError("Enough.")

    monkeypatch.setattr(commands, "clips_planted", plant)
    line = ["plant", str(folder / "walk.bvh"), "--output", str(folder / "out.bvh")]
    assert command_line.run(line) == 1
    told = "--slide 0.2 --blend 0.5 --body 0.25 --body-direction nearest --softness 0.9 --clearance 0.1"
    assert command_line.run([*line, *told.split(), "--no-find-footing", "--anyway"]) == 1
    assert given == [Options(), Options(0.2, 0.5, 0.25, "NEAREST", 0.9, 0.1, False, True)]
    shown = bpy.ops.analytic_ik.plant_feet.get_rna_type().properties
    for name, (default, said) in SHOWN.items():
        assert shown[name].default == pytest.approx(default), name
        assert shown[name].name == said["name"]


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        (("--body", "1.5"), "'1.5' is not possible. Write a number from 0 to 1."),
        (("--slide", "-1"), "'-1' is not possible. Write a number from 0."),
        (("--blend", "nan"), "'nan' is not possible. Write a number from 0."),
        (("--softness", "long"), "'long' is not possible. Write a number from 0.5 to 1."),
    ],
)
def test_numbers_beyond_their_range_are_refused(folder, capsys, option, complaint):
    assert command_line.run(["plant", str(folder / "walk.bvh"), "--output", str(folder / "out.bvh"), *option]) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    "ground",
    [
        ("object", "--ground-object", "Stage"),
        ("object", "--ground-object", "Moon"),
        pytest.param(("level", "--height", "0.25"), marks=pytest.mark.slow),
    ],
)
def test_feet_stand_on_the_ground_that_is_named(folder, capsys, ground):
    ob = sliding_walk()
    with_legs_muted(ob)
    bpy.ops.mesh.primitive_plane_add(size=50.0, location=(0.0, 0.0, 0.25))
    bpy.context.object.name = "Stage"
    file, output = folder / "stage.blend", folder / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    given = ["plant", str(file), "--frames", "1-60", "--output", str(output), "--ground", *ground]
    assert command_line.run(given) == int("Moon" in ground)
    if "Moon" in ground:
        assert "its scene has no object 'Moon' as the ground" in capsys.readouterr().err
        assert not output.exists()
        return
    report = json.loads(armature().analytic_ik_report)
    assert [foot["ground"] for foot in report["feet"]] == [ground[0].upper()] * 2
    assert all(foot["after"]["sunken"] < 2e-3 for foot in report["feet"])


def test_a_check_of_feet_tells_by_its_exit_status_whether_a_figure_is_too_large(folder, capsys):
    before = names(folder)
    capture = str(folder / "walk.bvh")
    assert command_line.run(["check", capture]) == 1
    assert (
        "files of its format hold no chains. Use check --feet for its feet, or the command rig or plant"
        in capsys.readouterr().err
    )
    assert command_line.run(["check", capture, "--feet"]) == 0
    assert "LeftLeg: " in capsys.readouterr().out
    assert command_line.run(["check", capture, "--limit", "slide=0.5", "--limit", "knee_pops=9"]) == 0
    assert command_line.run(["check", capture, "--limit", "slide=0.5", "--limit", "skating=0.01"]) == 1
    text, report = folder / "c.txt", folder / "r.json"
    assert command_line.run(["check", capture, "--feet", "--certificate", str(text), "--report", str(report)]) == 0
    assert "Feet slide on the ground" in text.read_text()
    [entry] = json.loads(report.read_text())["files"]
    assert entry["chains"] == [] and [foot["before"] for foot in entry["feet"]] == [None, None]
    assert entry["frames"] == [1, 91, 1] and "metrics" not in entry
    assert names(folder) == before | {"c.txt", "r.json"}
    capsys.readouterr()
    assert command_line.run(["check", capture, "--metrics", "--report", str(report)]) == 0
    [metrics] = json.loads(report.read_text())["files"][0]["metrics"]
    assert metrics["before"] is None and metrics["fps"] == pytest.approx(30.0, rel=1e-4)
    assert f"gmd_skating_ratio {metrics['after']['gmd_skating_ratio']:.4g}, " in capsys.readouterr().out


def test_a_scene_whose_armatures_have_no_legs_is_told(folder, capsys):
    new_armature("pole", [BoneSpec("root", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))])
    file = folder / "pole.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert command_line.run(["check", str(file), "--feet"]) == 1
    assert "Armature 'pole': it has no leg that can be found" in capsys.readouterr().err
    # Nothing to plant is no failure.
    assert command_line.run(["plant", str(file), "--output", f"{folder}/out.blend"]) == 0
    assert "Armature 'pole': no keys move it over a range of frames" in capsys.readouterr().err
    assert not (folder / "out.blend").exists()


def test_files_without_motion_count_apart(folder, capsys):
    new_armature("pole", [BoneSpec("root", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))])
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "pole.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.object.empty_add()
    bpy.context.object.keyframe_insert("location", frame=1)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "joints.blend"))
    files, report = [str(folder / name) for name in ("pole.blend", "joints.blend")], folder / "report.json"
    given = ["plant", *files, "--output-dir", f"{folder}/out", "--report", str(report)]
    assert command_line.run(given) == 1
    said = capsys.readouterr()
    assert said.out.endswith("Files: 0 done, 1 failed, 1 with nothing to plant\n")
    assert "joints.blend: it has motion, but no skin, so its joints came as Empties" in said.err
    assert [entry.get("nothing", False) for entry in json.loads(report.read_text())["files"]] == [True, False]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("check {0}/walk.bvh --limit slide", "'' is not possible"),
        ("check {0}/walk.bvh --limit dance=1", "'dance=1' is not a limit. Write one of slide, skating"),
        (
            "plant {0}/walk.bvh --output {0}/walk.abc",
            "walk.abc' is in none of the formats .blend, .bvh, .fbx, .glb, .gltf",
        ),
        ("plant {0}/walk.bvh", "one of the arguments --output --output-dir is required"),
        ("plant {0}/walk.bvh {0}/still.blend --output {0}/out.blend", "--output takes one FILE"),
        ("plant {0}/a.bvh {0}/a.fbx --output-dir {0}/out --format glb", "would both be saved to"),
        ("plant {0}/walk.bvh --output {0}/out.blend --ground sea", "invalid choice"),
        ("plant {0}/walk.bvh --output {0}/out.blend --ground object", "Add --ground-object NAME"),
    ],
)
def test_bad_usage_is_told(folder, capsys, arguments, sentence):
    before = names(folder)
    assert command_line.run(arguments.format(folder).split()) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert names(folder) == before


# What may stand in the way


def test_an_addon_that_is_missing_is_named(folder, capsys, monkeypatch):
    monkeypatch.setattr(formats.addon_utils, "check", lambda _: (False, False))
    monkeypatch.setattr(formats.addon_utils, "enable", lambda _: None)
    assert command_line.run(["plant", f"{folder}/walk.bvh", "--output", f"{folder}/out.blend"]) == 1
    assert "Blender's add-on 'io_anim_bvh' cannot be enabled" in capsys.readouterr().err


def test_an_export_that_fails_leaves_what_was_there(folder, capsys, monkeypatch):
    (folder / "out.glb").write_text("glTF as it was before")
    before = names(folder)

    def fail(path, *_):
        Path(path).write_text("half")
        raise RuntimeError("Error: Python: Traceback\n  deep inside\nOSError: the disk is full.\nLocation: /somewhere")

    own = formats._FORMATS[".glb"]
    monkeypatch.setitem(formats._FORMATS, ".glb", replace(own, write=fail))
    assert command_line.run(["plant", f"{folder}/walk.bvh", "--output", f"{folder}/out.glb"]) == 1
    assert "could not be written (OSError: the disk is full)" in capsys.readouterr().err
    assert names(folder) == before
    assert (folder / "out.glb").read_text() == "glTF as it was before"


def test_an_exporter_that_writes_nothing_is_told(tmp_path):
    with pytest.raises(OSError, match="Blender could not finish it"):
        saving.save_files(tmp_path / "out.glb", lambda _: None, lambda _: False)
    assert names(tmp_path) == set()


def test_a_file_in_which_no_foot_stands_is_written_as_it_is(folder, capsys):
    """A farm would try a failed one again. This one is on its back and shakes, and what may be wrong is said."""
    formats.open_file(folder / "walk.bvh")
    armature().rotation_euler.x = np.pi / 2.0
    for curve in [curve for curve in all_fcurves(armature().animation_data.action) if "location" in curve.data_path]:
        for k, point in enumerate(curve.keyframe_points):
            point.co.y += LEG * (-1.0) ** k
    bpy.ops.object.select_all(action="SELECT")
    bpy.context.view_layer.objects.active = armature()
    formats.write_file(folder / "lies.bvh", False, range(1, 41))
    formats.open_file(folder / "lies.bvh")
    before = joints_of(armature())
    run = ["plant", folder / "lies.bvh", "--output", folder / "out.bvh", "--report", folder / "r.json"]
    assert command_line.run(list(map(str, run))) == 0
    assert "its legs do not point down at rest" in capsys.readouterr().err
    [entry] = json.loads((folder / "r.json").read_text())["files"]
    assert entry["error"] is None and "do not point down" in entry["left_out"]
    formats.open_file(folder / "out.bvh")
    again = joints_of(armature())
    assert max(np.abs(again[name] - places).max() for name, places in before.items()) < 1e-3 * LEG


def test_files_beside_the_main_one_come_along(tmp_path):
    def write(place):
        place.write_text("main")
        place.with_suffix(".bin").write_text("data")

    saving.save_files(tmp_path / "out.gltf", write, lambda _: False)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"out.gltf": "main", "out.bin": "data"}


def test_what_cannot_be_planted_is_left_as_it_was(folder):
    """Its legs were rigged already when it turned out that no foot stands."""
    formats.open_file(folder / "walk.bvh")
    ob = armature()
    empty = new_empty("mine")
    objects, actions = set(bpy.data.objects.keys()), set(bpy.data.actions.keys())
    with pytest.raises(ChainError, match="fewer than 3 frames"):
        plant_clips(bpy.context, ob, frames=range(1, 3))
    assert set(bpy.data.objects.keys()) == objects and empty.name in objects
    assert set(bpy.data.actions.keys()) == actions
    assert not any(bone.analytic_ik_enabled for bone in ob.pose.bones)
