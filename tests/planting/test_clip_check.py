"""The clip check in Blender: of feet that slide, before and after planting, live, baked and without chains."""

import json

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from ik_addon.bake import chains_of, last_report
from ik_addon.bake.certificate import certificate_of
from ik_addon.planting import Ground, Options, check_feet, plant
from ik_addon.planting.scene.checking import feet_checked
from ik_addon.planting.scene.limbs import keyed_contacts
from ik_addon.planting.scene.reading import leg_tips
from ik_addon.planting.scene.sources import forget_source, source_of
from ik_addon.solvers import ChainError

from ..rig.rigs import BoneSpec, evaluated_copy, local_rotation, new_armature, rotation_channel, set_rotation, update
from ..scenes import go_to, select, sliding_walk, where_one_stands, whole_state

pytestmark = pytest.mark.versions

FRAMES = range(1, 61)


@pytest.fixture
def walker() -> bpy.types.Object:
    return sliding_walk()


def ball_slides(ob: bpy.types.Object, report: dict) -> dict[str, float]:
    """By tip the farthest that the joint of the toes is from itself in one contact of the ball, in leg lengths."""
    worst = dict.fromkeys((chain["tip"] for chain in report["chains"]), 0.0)
    ways: dict[str, list] = {tip: [] for tip in worst}
    for frame in FRAMES:
        go_to(frame)
        shown = evaluated_copy(ob)
        for tip, way in ways.items():
            way.append(np.array(shown.matrix_world @ shown.pose.bones[tip.replace("shin", "toe")].head, float))
    for chain in report["chains"]:
        for lock in chain["contacts"]:
            if lock["point"] == "BALL":
                way = np.array(ways[chain["tip"]][lock["first"] - FRAMES[0] : lock["last"] + 1 - FRAMES[0]])
                apart = float(np.linalg.norm(way[:, None] - way, axis=-1).max())
                worst[chain["tip"]] = max(worst[chain["tip"]], apart / chain["length"])
    return worst


def test_before_and_after_are_those_of_the_source_and_of_what_is_shown(walker):
    report = plant(bpy.context, leg_tips(walker), FRAMES)
    feet = check_feet(bpy.context, walker, FRAMES)
    assert [foot["bone"] for foot in feet] == [chain["tip"] for chain in report["chains"]]
    for foot, chain in zip(feet, report["chains"], strict=True):
        assert foot["contacts"] == len(chain["contacts"])
        assert foot["length"] == pytest.approx(chain["length"], rel=1e-5)
        for when in ("before", "after"):
            assert foot[when] == pytest.approx(chain[when], abs=2e-5, rel=1e-3)
        assert foot["after"]["slide"] < 2e-5 < 0.01 < foot["before"]["slide"]
        assert foot["before"]["skating"] > foot["after"]["skating"]
    after = ball_slides(walker, report)
    assert all(foot["after"]["slide"] >= after[foot["bone"]] - 1e-5 for foot in feet)


def test_a_file_says_of_itself_what_planting_said(walker):
    """Also if its capture sank: that has no part in the ground on which the feet stand now."""
    for frame in (*range(10, 15), *range(40, 45)):
        go_to(frame)
        for side in "LR":
            foot = walker.pose.bones[f"foot.{side}"]
            foot.rotation_mode = "XYZ"
            foot.rotation_euler.x += 0.5
            foot.keyframe_insert("rotation_euler", frame=frame)
    report = plant(bpy.context, leg_tips(walker), FRAMES, Options(anyway=True))
    bpy.ops.analytic_ik.bake(frame_start=FRAMES[0], frame_end=FRAMES[-1], action="CURRENT", after="REMOVE")
    # As in a file of another format.
    forget_source(walker.animation_data.action)
    for foot, chain in zip(check_feet(bpy.context, walker, FRAMES), report["chains"], strict=True):
        assert foot["before"] is None
        for figure in ("skating", "sunken", "knee_pops"):
            assert foot["after"][figure] == pytest.approx(chain["after"][figure], abs=1e-3)


def test_a_foot_that_leaves_its_leg_is_measured_where_it_is_seen(walker):
    """Its location is keyed, as in characters that stretch."""
    select(walker)
    bpy.ops.object.mode_set(mode="EDIT")
    walker.data.edit_bones["foot.L"].use_connect = False
    bpy.ops.object.mode_set(mode="OBJECT")
    foot = walker.pose.bones["foot.L"]
    for k, frame in enumerate(FRAMES[::4]):
        foot.location = 0.03 * np.array((np.sin(k), np.cos(2.0 * k), 0.0))
        foot.keyframe_insert("location", frame=frame)
    report = plant(bpy.context, leg_tips(walker), FRAMES, Options(anyway=True))
    seen = ball_slides(walker, report)
    for own, chain in zip(check_feet(bpy.context, walker, FRAMES), report["chains"], strict=True):
        for when in ("before", "after"):
            assert own[when] == pytest.approx(chain[when], abs=1e-4, rel=1e-2)
        assert chain["after"]["slide"] >= 0.95 * seen[chain["tip"]] - 1e-5
        assert chain["after"]["slide"] < 0.1 * chain["before"]["slide"]


def test_a_slide_is_at_least_that_of_the_toes_seen_from_outside(walker):
    """Of a clip that was not planted: the contacts are found, and each is looked at on evaluated bones."""
    report = plant(bpy.context, leg_tips(walker), FRAMES)
    for tip in leg_tips(walker):
        tip.analytic_ik_enabled = False
    walker.animation_data.action = source_of(walker)
    update()
    toes = ball_slides(walker, report)
    for foot in check_feet(bpy.context, walker, FRAMES):
        assert foot["before"] is None
        assert "distance" not in foot["after"]
        # Contacts that are found are a little longer than what was locked, and heels slide too.
        assert foot["after"]["slide"] >= 0.95 * toes[foot["bone"]] > 0.01


@pytest.mark.some(1)
@pytest.mark.parametrize("after", ["REMOVE", "MUTE", "KEEP"])
@pytest.mark.slow
def test_a_bake_changes_no_figure(walker, after):
    plant(bpy.context, leg_tips(walker), FRAMES)
    live = check_feet(bpy.context, walker, FRAMES)
    bpy.ops.analytic_ik.bake(frame_start=FRAMES[0], frame_end=FRAMES[-1], after=after)
    baked = check_feet(bpy.context, walker, FRAMES)
    for foot, other in zip(live, baked, strict=True):
        assert other["bone"] == foot["bone"]
        assert other["before"] == pytest.approx(foot["before"], abs=1e-5, rel=1e-3)
        assert other["after"] == pytest.approx(foot["after"], abs=1e-4, rel=1e-2)


def test_nothing_changes(walker):
    plant(bpy.context, leg_tips(walker), FRAMES)
    go_to(17.5)
    before, here = whole_state(), where_one_stands()
    check_feet(bpy.context, walker, FRAMES)
    assert whole_state() == before
    assert where_one_stands() == here


@pytest.mark.parametrize("steps", [30, 90])
@pytest.mark.slow
def test_closed_in_the_middle_nothing_has_changed(walker, steps):
    plant(bpy.context, leg_tips(walker), FRAMES)
    before, here = whole_state(), where_one_stands()
    going = feet_checked(bpy.context, walker, FRAMES)
    for _ in range(steps):
        next(going)
    going.close()
    assert whole_state() == before
    assert where_one_stands() == here


def test_feet_sink_as_deep_as_the_ground_is_raised(walker):
    plant(bpy.context, leg_tips(walker), FRAMES, ground=Ground("LEVEL", 0.2))
    for rise in (0.0, 0.05):
        for foot in check_feet(bpy.context, walker, FRAMES, Ground("LEVEL", 0.2 + rise)):
            assert foot["ground"] == "LEVEL"
            assert foot["after"]["sunken"] * foot["length"] == pytest.approx(rise, abs=1e-3)
            assert foot["after"]["floating"] * foot["length"] == pytest.approx(0.0, abs=1e-3)
    for foot in check_feet(bpy.context, walker, FRAMES, Ground("LEVEL", 0.15)):
        assert foot["after"]["floating"] * foot["length"] == pytest.approx(0.05, abs=1e-3)


def test_the_ground_is_that_on_which_the_feet_were_planted(walker):
    select(walker)
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60, ground="LEVEL", height=0.3)
    for foot in check_feet(bpy.context, walker, FRAMES):
        assert foot["ground"] == "LEVEL"
        assert foot["after"]["sunken"] < 1e-3
    for foot in check_feet(bpy.context, walker, FRAMES, Ground()):
        assert foot["ground"] == "CAPTURED"


def test_contacts_end_where_the_planted_frames_end(walker):
    """The last key of a contact would hold it to the end of the clip."""
    select(walker)
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60)
    assert any(keyed_contacts(tip, range(1, 121))[:, 60:].all(axis=1).any() for tip in leg_tips(walker))
    for foot in check_feet(bpy.context, walker, range(1, 121)):
        first, last = foot["slide_frames"]
        assert last - first < 30
        assert foot["after"]["slide"] < 0.3


def test_a_knee_that_pops_is_found_at_its_frame(walker):
    """A key that turns the knee by 20 degrees at one frame."""
    for tip in leg_tips(walker):
        tip.analytic_ik_enabled = False
    clean = check_feet(bpy.context, walker, FRAMES)
    shin = walker.pose.bones["shin.L"]
    go_to(30)
    set_rotation(shin, local_rotation(shin) @ Quaternion((1.0, 0.0, 0.0), np.radians(20.0)))
    shin.keyframe_insert(rotation_channel(shin), frame=30)
    popping = check_feet(bpy.context, walker, FRAMES)
    for before, after in zip(clean, popping, strict=True):
        assert after["after"]["knee_pops"] - before["after"]["knee_pops"] == (after["bone"] == "shin.L")
    [pop] = next(foot["pop_frames"] for foot in popping if foot["bone"] == "shin.L")
    assert pop[0] <= 30 <= pop[1]


def test_legs_without_chains_are_found_by_their_bones(walker):
    tips = leg_tips(walker)
    with_chains = check_feet(bpy.context, walker, FRAMES)
    select(walker)
    for tip in [tip.name for tip in tips]:
        walker.pose.bones[tip].analytic_ik_enabled = False
    bpy.ops.object.mode_set(mode="OBJECT")
    for ob in [ob for ob in bpy.data.objects if ob.type == "EMPTY"]:
        bpy.data.objects.remove(ob)
    for tip in tips:
        for name in ("target", "pole_target"):
            tip.property_unset(f"analytic_ik_{name}")
    without = check_feet(bpy.context, walker, FRAMES)
    assert [foot["bone"] for foot in without] == [foot["bone"] for foot in with_chains]
    for foot, other in zip(with_chains, without, strict=True):
        assert other["after"] == pytest.approx(foot["after"], abs=1e-3, rel=0.05)


def test_what_cannot_be_checked_is_refused_by_name(walker):
    lonely = new_armature("pole", [BoneSpec("root", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))])
    with pytest.raises(ChainError, match="Armature 'pole': it has no leg"):
        check_feet(bpy.context, lonely, FRAMES)
    with pytest.raises(ChainError, match="fewer than 3 frames"):
        check_feet(bpy.context, walker, range(1, 3))
    with pytest.raises(ChainError, match="Choose a mesh object"):
        check_feet(bpy.context, walker, FRAMES, Ground("OBJECT"))


# The operator


def test_check_has_the_feet_in_its_report_and_says_how_they_stand(walker):
    select(walker)
    assert bpy.ops.analytic_ik.check(frame_start=1, frame_end=60, feet=True) == {"FINISHED"}
    [file] = last_report()["files"]
    assert [foot["bone"] for foot in file["feet"]] == ["shin.L", "shin.R"]
    assert [chain["bone"] for chain in file["chains"]] == ["shin.L", "shin.R"]
    kept = json.loads(walker.analytic_ik_report)
    assert kept["feet"] == file["feet"]
    assert (False, "Feet slide on the ground: 'shin.L', 'shin.R'") in certificate_of(kept).verdicts
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60)
    bpy.ops.analytic_ik.check(frame_start=1, frame_end=60, feet=True)
    assert certificate_of(last_report()["files"][0]).verdicts[-1] == (True, "The feet stand still")
    bpy.ops.analytic_ik.check(frame_start=1, frame_end=60)
    assert "feet" not in last_report()["files"][0]


def test_feet_of_muted_chains_can_be_checked_where_they_were_planted(walker):
    select(walker)
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60)
    bpy.ops.analytic_ik.bake(frame_start=1, frame_end=60)
    assert not chains_of([walker])
    assert bpy.ops.analytic_ik.check(frame_start=1, frame_end=60, feet=True) == {"FINISHED"}
    [file] = last_report()["files"]
    assert file["chains"] == []
    assert all(foot["after"]["slide"] < 1e-4 for foot in file["feet"])
    assert certificate_of(file).verdicts == [(True, "The feet stand still")]
    with pytest.raises(RuntimeError, match="has no live chain"):
        bpy.ops.analytic_ik.check(frame_start=1, frame_end=60)
