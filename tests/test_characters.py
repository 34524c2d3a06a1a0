"""The script that tries characters: its measures are right and can fail; a bad file does not stop the others."""

import subprocess
import sys
from math import cos, radians, sin, tau
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from benchmarks import characters
from benchmarks.character import trial
from benchmarks.character.files import importers
from benchmarks.character.oracle import Motion, limb_of, orientations, played, turns, uneven

from .scenes import enter

CHECKOUT = Path(__file__).parents[1]

# A body that walks on the spot: joints one below the other, and feet that point forward.
SKELETON = """HIERARCHY
ROOT Hips
{ OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT LeftUpLeg { OFFSET 0.1 -0.05 0 CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT LeftLeg { OFFSET 0 -0.45 0 CHANNELS 3 Zrotation Xrotation Yrotation
      JOINT LeftFoot { OFFSET 0 -0.42 0 CHANNELS 3 Zrotation Xrotation Yrotation
        End Site { OFFSET 0 -0.06 0.14 } } } }
  JOINT RightUpLeg { OFFSET -0.1 -0.05 0 CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT RightLeg { OFFSET 0 -0.45 0 CHANNELS 3 Zrotation Xrotation Yrotation
      JOINT RightFoot { OFFSET 0 -0.42 0 CHANNELS 3 Zrotation Xrotation Yrotation
        End Site { OFFSET 0 -0.06 0.14 } } } }
  JOINT Spine { OFFSET 0 0.1 0 CHANNELS 3 Zrotation Xrotation Yrotation
    End Site { OFFSET 0 0.4 0 } } }
MOTION
"""


@pytest.fixture
def walk(tmp_path) -> Path:
    rows = []
    for frame in range(16):
        phase = tau * frame / 16.0
        row = [0.0, 0.9 + 0.02 * cos(2.0 * phase), 0.0, 3.0 * sin(phase), 2.0, 5.0 * sin(phase)]
        for side in (0.0, tau / 2.0):
            knee = 10.0 + 50.0 * max(0.0, sin(phase + side))
            row += [2.0, -25.0 * sin(phase + side + 0.7), 4.0, 0.0, knee, 0.0, 3.0, 10.0 * sin(phase + side), -5.0]
        rows.append(" ".join(f"{value:.6f}" for value in (*row, 0.0, 0.0, 0.0)))
    text = SKELETON.replace("{", "\n{\n").replace("}", "\n}\n").replace("CHANNELS", "\nCHANNELS")
    path = tmp_path / "walk.bvh"
    path.write_text(text + f"Frames: {len(rows)}\nFrame Time: 0.0333333\n" + "\n".join(rows) + "\n")
    return path


def out_of_bounds(row: trial.Row) -> set[str]:
    return {
        column.key
        for column in characters.COLUMNS
        if row.get(column.key) is not None and not column.holds(row[column.key])
    }


def test_a_capture_is_rigged_moved_and_baked_within_all_bounds(walk):
    row = trial.tried(str(walk), "default")
    assert row["limbs"] == [f"{side}UpLeg > {side}Leg > ({side}Foot)" for side in ("Left", "Right")]
    assert row["frames"] == 16 and row["errors"] == [] and row["lift frames"] > 4 and row["hold frames"] > 1
    measured = {"moved", "turned", "control", "snap", "snap degrees", "hold", "lift", "foot degrees", "flips", "bake"}
    assert measured <= {key for key, value in row.items() if value is not None}
    assert out_of_bounds(row) == set()


def test_controls_beside_the_ankle_are_seen(walk, monkeypatch):
    stand_in = trial._stand_in

    def beside(places, frames):
        return stand_in(places + np.array([[0, 0, 0, 0.0]] * 2 + [[0, 0, 0, -1e-3], [0, 0, 0, 0]]), frames)

    monkeypatch.setattr(trial, "_stand_in", beside)
    assert out_of_bounds(trial.tried(str(walk), "default")) == {"lift"}


def test_a_foot_that_does_not_follow_is_seen(walk, monkeypatch):
    """Its control is held still, but the chain has lost it."""
    monkeypatch.setattr(trial.Chain, "follow", lambda chain, control: setattr(chain.tip, "analytic_ik_influence", 0.0))
    assert {"hold", "lift"} <= out_of_bounds(trial.tried(str(walk), "default"))


def test_a_character_that_cannot_be_rigged_has_a_sentence_and_nothing_left(tmp_path):
    bpy.ops.object.armature_add()
    path = tmp_path / "one bone.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    row = trial.tried(str(path), "")
    assert "no leg" in row["refused"] and not row["left behind"] and "limbs" not in row


def test_a_limb_ends_at_its_end_bone_wherever_the_tail_is():
    bpy.ops.object.armature_add()
    ob = bpy.context.object
    enter("EDIT", ob)
    bones = ob.data.edit_bones
    bones[0].name = "thigh"
    for name, parent, head, tail in (
        ("shin", "thigh", (0, -0.1, 1), (1, 0, 1)),
        ("foot", "shin", (0, 0, 2.2), (0, 1, 2)),
    ):
        bones.new(name).parent = bones[parent]
        bones[name].head, bones[name].tail = head, tail
    enter("OBJECT", ob)
    ob.pose.bones["foot"].location = (0.3, 0.0, 0.0)
    motion = played(ob, [1])
    limb = limb_of(ob, ["thigh", "shin"], "foot")
    # It is where the shin holds it: the foot's own location is none of the limb's.
    assert np.allclose(limb.ends(motion), [[0, 0, 2.2]], atol=1e-6)
    length = np.hypot(1.0, 0.1) + np.hypot(1.2, 0.1)
    assert limb.length(motion) == pytest.approx(length, rel=1e-6)
    places = np.array([[0, 0, length * far] for far in (0.99, 1.01, 0.05)])
    assert [bool(limb.in_reach(motion, place[None])[0]) for place in places] == [True, False, False]
    assert np.allclose(limb_of(ob, ["thigh", "shin"], "").ends(motion), [[1, 0, 1]], atol=1e-6)


def test_angles_are_those_of_rotations_however_small_and_scaled():
    turn = Euler((0.3, -1.1, 2.0)).to_matrix()
    for degrees in (0.0, 1e-4, 0.1, 30.0, 179.0):
        for scale in (Matrix.Diagonal((0.01, 0.01, 0.01)), Matrix.Diagonal((2.0, 2.0, -2.0))):
            other = Matrix.Rotation(radians(degrees), 3, (1.0, 2.0, 3.0)) @ turn
            pair = [np.array((matrix @ scale).to_4x4()) for matrix in (turn, other)]
            assert turns(*pair) == pytest.approx(degrees, rel=1e-2, abs=2e-5)
    assert np.allclose(orientations(np.zeros((2, 4, 4))), np.eye(3))


def test_uneven_scale_is_that_of_the_worst_bone():
    world = np.stack([np.eye(4), np.diag([1.0, 1.5, 1.0, 1.0])])[None]
    motion = Motion((1,), ("even", "uneven"), world)
    assert uneven(motion, ["even"]) == 0.0 and uneven(motion, ["even", "uneven"]) == pytest.approx(0.5)


@pytest.mark.slow
def test_one_bad_file_does_not_stop_the_others(walk):
    (walk.parent / "broken.glb").write_bytes(b"no glTF")
    (walk.parent / "settings.json").write_text('{"a": 1}')
    assert not importers(str(walk.parent / "settings.json"))
    command = [sys.executable, "-m", "benchmarks.characters", str(walk.parent), "--frames", "4"]
    ran = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    lines = [line.split(" | ") for line in ran.stdout.splitlines() if line.startswith("| ")]
    found = {line[0].removeprefix("| "): line[2] for line in lines if len(line) == 3 and "." in line[0]}
    assert found.keys() == {"broken.glb", "walk.bvh"}
    assert found["broken.glb"].startswith("**while importing: ")
    assert found["walk.bvh"].startswith("LeftUpLeg > LeftLeg > (LeftFoot)")
    assert sum(line[0] == "| walk.bvh" and len(line) > 3 for line in lines) == 1
