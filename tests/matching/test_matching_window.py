"""Match Source as it is pressed: what is selected, what the operator and the panel say, and how it refuses."""

import bpy
import pytest

from ik_addon.authoring.rigging import rig_legs
from ik_addon.matching import last_match_report, match_source
from ik_addon.planting.scene.sources import mark_source
from ik_addon.solvers import ChainError
from ik_addon.ui.panels import motion as panel

from ..helpers.once import once
from ..rig.rigs import BoneSpec, new_armature, new_empty, update
from ..scenes import curves_of, go_to, refuses, select
from ..ui.layouts import drawn
from .bodies import SIDES, Build, moving_body, new_body
from .oracle import LIMBS, Seen

pytestmark = pytest.mark.versions

FRAMES = range(1, 7)
SOURCE, OWN = Build("mixamo"), Build(legs=1.3, arms=0.8)


@once
def rigged(clips: bool) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A source and a rigged character, selected in this order. clips: with two clips, and with three, two of them of
    the same names."""
    origin, ob = moving_body(SOURCE, "source", frames=FRAMES), moving_body(OWN, "character", frames=FRAMES)
    if clips:
        named(origin, "mixamo|walk", "run")
        named(ob, "walk", "run.001", "idle")
    rig_legs(bpy.context, ob, arms=True)
    select(origin, ob, active=ob)
    go_to(1)
    return origin, ob


@pytest.fixture
def scene(addon) -> tuple[bpy.types.Object, bpy.types.Object]:
    return rigged(clips=False)


def refused(said: str, **options) -> None:
    update()
    with refuses(RuntimeError, said):
        bpy.ops.analytic_ik.match_source(**options)


def test_the_source_and_then_the_character_are_selected(scene, capfd):
    assert bpy.ops.analytic_ik.match_source() == {"FINISHED"}
    report = last_match_report()
    assert (report["source"], report["armature"]) == ("source", "character")
    assert "Matched 4 chains to 'source', frames 1-6. The body moves by up to" in capfd.readouterr().out


def test_the_source_is_given_by_name(scene):
    other = moving_body(Build("cmu"), "other", frames=FRAMES)
    select(scene[1])
    bpy.ops.analytic_ik.match_source(source="other", arms="CHEST")
    assert last_match_report()["source"] == other.name


def test_some_chains_of_some_frames_are_matched(scene):
    origin, ob = scene
    select(origin, ob, active=ob)
    for bone in ob.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name == "shin.L"
    bpy.ops.analytic_ik.match_source(only_selected=True, frame_start=2, frame_end=5)
    report = last_match_report()
    assert [limb["tip"] for limb in report["limbs"]] == ["shin.L"]
    assert report["frames"] == [2, 5, 1]


def test_the_scale_is_measured_where_it_is_asked_to(scene):
    bpy.ops.analytic_ik.match_source()
    lengths = [limb["scale"] for limb in last_match_report()["limbs"]]
    bpy.ops.analytic_ik.match_source(scale="FRAME", scale_frame=3)
    measured = [limb["scale"] for limb in last_match_report()["limbs"]]
    assert measured != lengths
    assert measured == pytest.approx(lengths, rel=0.1)


def test_what_is_out_of_reach_is_a_warning_and_stands_in_the_panel(scene, capfd):
    bpy.ops.analytic_ik.match_source(arms="GROUND", body=False)
    unreached = last_match_report()["unreached_frames"]
    assert f"Out of reach: {len(unreached)} frames, the first is {unreached[0]}" in capfd.readouterr().out
    told = drawn(panel.ANALYTIC_IK_PT_planting).labels
    assert any(text.startswith("Out of reach: ") for text in told)


def test_a_limb_that_the_source_lacks_is_named(scene, capfd):
    for side in SIDES:
        scene[0].data.bones[SOURCE.bone("upper_arm", side)].name = f"wing {side}"
        scene[0].data.bones[SOURCE.bone("forearm", side)].name = f"wing tip {side}"
    bpy.ops.analytic_ik.match_source()
    assert "The source does not have: 'forearm.L', 'forearm.R'" in capfd.readouterr().out


def test_the_panel_says_how_far_limbs_were_off_until_another_action_plays(scene):
    shown = drawn(panel.ANALYTIC_IK_PT_planting)
    assert "analytic_ik.match_source" in shown.operators
    assert not any("off the source" in text for text in shown.labels)
    bpy.ops.analytic_ik.match_source()
    told = [text for text in drawn(panel.ANALYTIC_IK_PT_planting).labels if "off the source" in text]
    assert len(told) == 4
    assert told[0].startswith("forearm.L: off the source by ")
    scene[1].animation_data.action = bpy.data.actions["character walk"]
    assert not any("off the source" in text for text in drawn(panel.ANALYTIC_IK_PT_planting).labels)


def test_without_a_source_it_asks_for_one(scene):
    select(scene[1])
    refused("Armature 'character': it has no source. Select the armature that the motion comes from too")
    other = new_body(Build("cmu"), "other")
    select(scene[0], other, scene[1], active=scene[1])
    refused("it has no source")


def test_what_is_no_source_is_refused(scene):
    refused("Source 'nobody': the scene has no such armature. Choose another one.", source="nobody")
    new_empty("empty")
    refused("Source 'empty': the scene has no such armature.", source="empty")
    refused("Source 'character': it is the character itself.", source="character")


def test_a_source_without_limbs_is_refused(scene):
    snake = new_armature("snake", [BoneSpec("head", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0))])
    select(scene[1])
    refused("Source 'snake': neither the names nor the shape of its bones show a leg or an arm.", source=snake.name)


def test_a_source_with_none_of_the_same_limbs_is_refused(scene):
    for kind in ("thigh", "shin", "foot", "toe", "upper_arm", "forearm", "hand"):
        scene[0].data.bones[SOURCE.bone(kind, "L")].name = f"wing {kind}"
        ob = scene[1]
    for side_tip in ("shin.R", "forearm.R"):
        ob.pose.bones[side_tip].analytic_ik_enabled = False
    refused("Armature 'character': source 'source' has none of the limbs that its chains move.")


def test_a_source_without_size_is_refused(scene):
    scene[0].scale = (0.0, 0.0, 0.0)
    refused("Source 'source': its limbs have no length in these frames.")


def test_a_source_whose_motion_is_no_number_is_refused(scene):
    curve = curves_of(scene[0])['pose.bones["mixamorig:Hips"].location', 0]
    curve.keyframe_points[2].co[1] = float("nan")
    update()
    # (No number is like itself: nothing of before can be compared.)
    with pytest.raises(RuntimeError, match="Source 'source': its limbs have no length in these frames"):
        bpy.ops.analytic_ik.match_source()
    assert scene[1].animation_data.action.name == "character walk"


def test_a_planted_clip_is_refused(scene):
    action = scene[1].animation_data.action
    mark_source(action, action, "planted")
    refused("Armature 'character': its action was planted.")


def test_a_character_that_does_not_move_is_refused(scene):
    refused("fewer than 3 frames", frame_start=1, frame_end=2)
    scene[1].animation_data.action = None
    with pytest.raises(ChainError, match="Armature 'character': no keys move it over a range of frames"):
        match_source(bpy.context, scene[1], scene[0])


def test_a_character_without_chains_is_refused(scene):
    other = moving_body(OWN, "other", frames=FRAMES)
    with pytest.raises(ChainError, match="Armature 'other' has no live chain"):
        match_source(bpy.context, other, scene[0])


# Clips


def named(ob: bpy.types.Object, *names: str) -> None:
    """The clip of a body under several names, each with another length of step; the last one is assigned."""
    own = ob.animation_data.action
    pelvis = next(path for path, _ in curves_of(ob) if path.endswith("location"))
    for k, name in enumerate(names):
        action = own.copy()
        action.name = name
        action.use_fake_user = True
        ob.animation_data.action = action
        if hasattr(action, "slots"):
            ob.animation_data.action_slot = action.slots[0]
        for point in curves_of(ob)[pelvis, 1].keyframe_points:
            point.co[1] *= 1.0 + 0.2 * k
    bpy.data.actions.remove(own)


@pytest.fixture
def clips(addon) -> tuple[bpy.types.Object, bpy.types.Object]:
    return rigged(clips=True)


@pytest.mark.slow
def test_every_clip_is_matched_to_the_one_of_its_name(clips, capfd):
    origin, ob = clips
    playing = origin.animation_data.action
    for _ in range(2):
        assert bpy.ops.analytic_ik.match_source(clips="ALL") == {"FINISHED"}
        said = capfd.readouterr().out
        assert "Matched 4 chains to 'source' in 2 clips. Left out: 'idle" in said
        assert (
            "Source 'source': it has no clip 'idle'. Give the action that the clip was retargeted from this name"
            in said
        )
        assert {"walk matched", "run.001 matched"} <= set(bpy.data.actions.keys())
        assert not any("matched matched" in action.name for action in bpy.data.actions)
    assert origin.animation_data.action == playing
    assert ob.animation_data.action.name == "idle"
    for own, theirs in (("walk matched", "mixamo|walk"), ("run.001 matched", "run")):
        ob.animation_data.action = bpy.data.actions[own]
        origin.animation_data.action = bpy.data.actions[theirs]
        seen = Seen(origin, SOURCE, ob, OWN, frames=FRAMES)
        assert max(seen.misses(limb).max() for limb in LIMBS) < 1e-5
        # Whichever of them plays.
        assert sum("off the source" in text for text in drawn(panel.ANALYTIC_IK_PT_planting).labels) == 4


def test_where_no_clip_has_its_name_that_is_told(clips):
    for name in ("mixamo|walk", "run"):
        bpy.data.actions[name].name = "other"
    refused("Source 'source': it has no clip 'idle'", clips="ALL")
