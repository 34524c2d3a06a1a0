"""The report of a bake or check: its shape, and that its numbers are what Blender shows."""

import json
from math import degrees

import bpy
import pytest

from ik_addon.bake import bake, chains_of, check, last_report
from ik_addon.bake.report import report_of, words

from ..rig.keys import key
from ..rig.rigs import Rig, evaluated_copy, pole_point, random_rig, random_unit, reach
from ..scenes import angle_between, curves_of, go_to, key_fk, only_chain, reopened, slide, walking_leg
from .entries import entry

CHAIN = {
    "armature": str,
    "bone": str,
    "solver": str,
    "chain_count": int,
    "frames": int,
    "max_error": float,
    "mean_error": float,
    "worst_frame": int,
    "unreached_frames": list,
    "limited_frames": list,
    "moved_frames": list,
    "max_lag": float,
    "max_step_degrees": float,
    "max_step_frame": int,
    "length": float,
    "aligned_frames": list,
    "straight_frames": list,
    "flipped_frames": list,
    "keys": int,
}


def checked(ob: bpy.types.Object, frames: range) -> dict:
    return check(bpy.context, chains_of([ob]), frames)


@pytest.mark.parametrize("baking", [False, True])
def test_its_shape_is_the_promised_one(baking):
    rig = walking_leg()
    frames, chains = range(1, 12, 3), chains_of([rig.ob])
    report = bake(bpy.context, chains, frames) if baking else check(bpy.context, chains, frames)
    assert list(report) == ["schema", "blender", "files"]
    assert report["blender"] == ".".join(map(str, bpy.app.version))
    [file] = report["files"]
    assert list(file) == ["file", "frames", "seconds", "chains", "error"]
    assert (file["file"], file["frames"], file["error"]) == (bpy.data.filepath, [1, 10, 3], None)
    assert 0.0 < file["seconds"] < 60.0
    chain = only_chain(report)
    assert {name: type(value) for name, value in chain.items()} == CHAIN
    assert list(chain) == list(CHAIN)
    named = (chain["armature"], chain["bone"], chain["solver"], chain["chain_count"], chain["frames"])
    assert named == ("leg", "shin", "VECTOR", 2, 4)
    assert json.loads(json.dumps(report)) == report
    assert last_report() == report


def wandering_rig(seed: int) -> Rig:
    """A rig of any kind whose target wanders through its reach and out of it."""
    rig = random_rig(seed, count=2 + seed % 3)
    root, far = rig.joints()[0], reach(rig.lengths())[1]
    moved = rig.target.ob.pose.bones[rig.target.bone] if rig.target.bone else rig.target.ob
    for frame in (1, 6, 12):
        rig.place_target(root + random_unit(rig.random) * far * rig.random.uniform(0.3, 1.4))
        moved.keyframe_insert("location", frame=frame)
    if rig.pole:
        rig.place_pole(pole_point(rig, rig.to_armature(rig.target)))
    rig.enable(softness=rig.random.choice([0.0, 0.2]))
    return rig


@pytest.mark.parametrize("seed", range(40, 60))
def test_its_largest_step_is_the_largest_turn_of_a_bone_between_frames(seed):
    rig, largest, before = wandering_rig(seed), 0.0, []
    for frame in range(1, 13):
        go_to(frame)
        now = [evaluated_copy(rig.ob).pose.bones[name].matrix_basis.to_3x3().normalized() for name in rig.bones]
        largest = max([largest, *(angle_between(a, b) for a, b in zip(before, now, strict=False))])
        before = now
    assert largest > 0.01
    assert only_chain(checked(rig.ob, range(1, 13)))["max_step_degrees"] == pytest.approx(degrees(largest), abs=0.01)


@pytest.mark.parametrize("seed", range(60, 70))
def test_the_frame_of_the_largest_step_is_the_one_that_it_leads_to(seed):
    rig = wandering_rig(seed)
    chain = only_chain(checked(rig.ob, range(1, 13)))
    largest = chain["max_step_frame"]
    assert only_chain(checked(rig.ob, range(largest - 1, largest + 1)))["max_step_degrees"] == pytest.approx(
        chain["max_step_degrees"], abs=0.01
    )


@pytest.mark.some(2)
@pytest.mark.parametrize("unsteady", [False, True])
@pytest.mark.parametrize("jump", [2, 7, 12])
def test_a_jump_is_dated_when_it_has_happened(jump, unsteady):
    rig = walking_leg()
    if unsteady:
        rig.ob.pose.bones["thigh"].keyframe_insert("rotation_quaternion", frame=1)
    for frame in range(1, 13):
        rig.target.ob.location = (0.0, -0.3 if frame < jump else 0.5, 0.5)
        rig.target.ob.keyframe_insert("location", frame=frame)
    assert only_chain(checked(rig.ob, range(1, 13)))["max_step_frame"] == jump


def test_a_single_frame_has_no_step():
    chain = only_chain(checked(walking_leg().ob, range(3, 4)))
    assert (chain["max_step_degrees"], chain["max_step_frame"]) == (0.0, None)


@pytest.mark.parametrize(("step", "tolerance"), [(1, 0.0), (3, 0.0), (1, 0.05)])
@pytest.mark.parametrize("reach", ["CLAMP", "STRETCH"])
def test_its_keys_are_those_in_the_action(reach, step, tolerance):
    rig = walking_leg(reach=reach)
    slide(rig.target.ob, (0.0, -0.6, 0.5), (0.2, 0.5, -0.4))
    frames = range(1, 13, step)
    chain = only_chain(bake(bpy.context, chains_of([rig.ob]), frames, "NEW", tolerance=tolerance))
    assert chain["keys"] == sum(len(curve.keyframe_points) for curve in curves_of(rig.ob).values()) > 0


@pytest.mark.some(3)
@pytest.mark.parametrize("scale", [1.0, 2.5])
@pytest.mark.parametrize("softness", [0.0, 0.1])
@pytest.mark.parametrize("unsteady", [False, True])
def test_its_length_is_the_limbs_in_the_world(unsteady, softness, scale):
    rig = walking_leg(softness=softness)
    rig.ob.scale = (scale, scale, scale)
    if unsteady:
        key_fk(rig)
    assert only_chain(checked(rig.ob, range(1, 13)))["length"] == pytest.approx(scale * sum(rig.lengths()), rel=1e-5)


def test_frames_out_of_reach_are_named_as_ranges():
    rig = walking_leg()
    for frame in range(1, 13):
        # The leg is two long, and a bit: the ankle hangs at height zero.
        rig.target.ob.location.z = -1.0 if frame in (2, 3, 4, 8, 11, 12) else 0.6
        rig.target.ob.keyframe_insert("location", frame=frame)
    assert only_chain(checked(rig.ob, range(1, 13)))["unreached_frames"] == [[2, 4], [8, 8], [11, 12]]
    assert only_chain(checked(rig.ob, range(2, 13, 2)))["unreached_frames"] == [[2, 4], [8, 8], [12, 12]]
    assert only_chain(checked(rig.ob, range(5, 8)))["unreached_frames"] == []


def test_frames_at_which_a_chain_is_off_are_not_counted():
    rig = walking_leg()
    key(rig.tip, "analytic_ik_enabled", [True, False, True, False])
    assert only_chain(checked(rig.ob, range(1, 14)))["frames"] == 8


def test_a_chain_that_is_off_throughout_has_no_numbers():
    rig = walking_leg()
    key(rig.tip, "analytic_ik_enabled", [False, False, False, True])
    chain = only_chain(checked(rig.ob, range(1, 10)))
    assert (chain["frames"], chain["worst_frame"], chain["max_error"], chain["max_step_degrees"]) == (0, None, 0.0, 0.0)


def test_words_name_the_frames_out_of_reach_and_those_that_limits_hold_off():
    rig = walking_leg()
    rig.target.ob.animation_data_clear()
    rig.tip.analytic_ik_use_cone, rig.tip.analytic_ik_cone = True, 0.5
    for frame in range(1, 13):
        # Only a sharp bend, or none that is long enough, brings the ankle there.
        rig.target.ob.location = (0.0, -0.2, 1.5 if frame in (2, 3, 4, 9) else -5.0 if frame == 7 else 0.02)
        rig.target.ob.keyframe_insert("location", frame=frame)
    chain = only_chain(checked(rig.ob, range(1, 13)))
    assert chain["limited_frames"] == [[2, 4], [9, 9]]
    assert chain["unreached_frames"] == [[7, 7]]
    assert "out of reach at 7, kept off by its limits at 2 to 4, 9" in words(chain)


def test_each_armature_keeps_its_own_part_through_save_and_reload(tmp_path):
    left, right = walking_leg("left", 0.5), walking_leg("right", -0.5)
    report = check(bpy.context, chains_of([left.ob, right.ob]), range(1, 5))
    reopened(tmp_path / "checked.blend")
    for name in ("left", "right"):
        own = report_of(bpy.data.objects[name])
        assert [chain["armature"] for chain in own["chains"]] == [name]
        assert own["chains"][0] in report["files"][0]["chains"]
        assert own["frames"] == [1, 4, 1]


def test_the_last_report_cannot_be_changed_from_outside_by_the_next_one():
    rig = walking_leg()
    checked(rig.ob, range(1, 3))
    first = last_report()
    checked(rig.ob, range(1, 9))
    assert only_chain(first)["frames"] == 2
    assert only_chain(last_report())["frames"] == 8


def test_a_chain_in_one_line():
    sound = "shin %s {0}: 12 frames, max error 1e-08 at frame 3, max rotation 12.3° per frame"
    assert words(entry("shin %s {0}")) == sound
    missing = entry("shin %s {0}", unreached_frames=[[3, 3], [5, 9]], limited_frames=[[1, 2]], max_lag=0.1234)
    misses = "out of reach at 3, 5 to 9, kept off by its limits at 1 to 2, up to 0.123 short by softness"
    assert words(missing) == f"{sound}, {misses}"
    assert words(entry("shin", frames=0)) == "shin: off at every frame"
