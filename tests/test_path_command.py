"""`plant --path`: captures walk along a curve of their file, of another one, or through points in a text."""

import json
import re
from pathlib import Path

import bpy
import numpy as np
import pytest

from ik_addon import command_line
from ik_addon.bake import formats
from ik_addon.planting.scene.sources import kept_settings

from .helpers.commands import LEG, SECONDS, sliding
from .planting import bvh, clips
from .rig.rigs import evaluated_copy
from .scenes import go_to

pytestmark = pytest.mark.versions

POINTS = [[0.0, 0.0], [0.0, 2.0], [1.0, 4.0]]


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with a capture, curves in a .blend file, and points."""
    bvh.write(tmp_path / "walk.bvh", sliding(clips.walk(fps=30.0, seconds=SECONDS, size=LEG)[0]))
    (tmp_path / "way.json").write_text(json.dumps(POINTS))
    (tmp_path / "round.json").write_text(json.dumps({"points": [*POINTS, [-3.0, 2.0, 1.0]], "closed": True}))
    (tmp_path / "broken.json").write_text('{"points": [[0, 1], ["x", 2]]}')
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(len(POINTS) - 1)
    for knot, point in zip(spline.points, POINTS, strict=True):
        knot.co = (*point, 0.0, 1.0)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Way", data))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "curves.blend"))
    return tmp_path


def plant(folder: Path, path: str, output: str = "out.blend", *more: str) -> int:
    return command_line.run(
        ["plant", str(folder / "walk.bvh"), "--output", str(folder / output), "--path", path, "--quiet", *more]
    )


def hips_over() -> np.ndarray:
    """Where the body is over the frames, in the world."""
    ob = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    found = []
    for frame in range(1, 92, 10):
        go_to(frame)
        shown = evaluated_copy(ob)
        found.append(shown.matrix_world @ shown.pose.bones["Hips"].head)
    return np.array(found, float)


def test_points_and_the_curve_of_another_file_are_one_path(folder, capsys):
    assert plant(folder, str(folder / "way.json")) == 0
    assert re.search(
        r"walk.bvh: Path 'way': from 0 to [.\d]+ of [.\d]+, [.\d]+ left, stride 1$", capsys.readouterr().out, re.M
    )
    ob = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    assert kept_settings(ob)["path"] == "way" and "way" in bpy.data.objects
    through = hips_over()
    assert plant(folder, f"{folder / 'curves.blend'}:Way") == 0
    assert np.abs(hips_over() - through).max() < 1e-5
    # It goes up, as the points do, and then aside.
    assert abs(through[0, 0]) < 0.1 * LEG and through[4, 1] > through[0, 1] + LEG


def test_another_format_holds_the_character_alone(folder):
    assert plant(folder, str(folder / "round.json"), "out.glb", "--path-stride", "0.8") == 0
    formats.open_file(folder / "out.glb")
    assert not [ob for ob in bpy.context.scene.objects if ob.name.startswith("round")]
    assert len(hips_over()) == 10


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("broken.json", 2, "it has no points. Write a list"),
        ("none.json", 2, "none.json"),
        ("none.blend:Way", 2, "none.blend"),
        ("curves.blend:Street", 1, "has no object 'Street' to walk along"),
    ],
)
def test_what_is_no_path_is_refused(folder, capsys, path, status, said):
    assert plant(folder, str(folder / path)) == status
    assert said in capsys.readouterr().err
    assert not (folder / "out.blend").exists()


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        ("1-200", "Frames 1-200 go on beyond the keys at 1-91. Set End to 91, or make the keys cyclic"),
        ("300-400", "Frames 300-400 have no keys, which are at 1-91. Set other frames"),
    ],
)
def test_who_has_no_keys_walks_nowhere(folder, capsys, frames, said):
    assert plant(folder, str(folder / "way.json"), "out.blend", "--frames", frames) == 1
    assert said in capsys.readouterr().err
    assert not (folder / "out.blend").exists()


def test_a_name_is_that_of_a_curve_in_the_file(folder, capsys):
    assert plant(folder, "Street") == 1
    assert "Path 'Street': the scene has no such object" in capsys.readouterr().err


def test_a_file_of_curves_is_not_written_over(folder, capsys):
    content = (folder / "curves.blend").read_bytes()
    assert plant(folder, f"{folder / 'curves.blend'}:Way", "curves.blend") == 2
    assert "--path" in capsys.readouterr().err
    assert (folder / "curves.blend").read_bytes() == content
