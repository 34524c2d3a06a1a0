"""The functions for scripts: on armature objects, with reports of the promised shape, and nothing else is changed."""

import re
from functools import partial
from math import inf, nan

import bpy
import numpy as np
import pytest

from ik_addon import api
from ik_addon.planting.feet.simplifying import KeyOptions
from ik_addon.rig.blender.clips import clip_name, clips_of

from .clips.characters import AMOUNTS, all_shown, farthest, film, new_character, walking_clips
from .every_report import check_report
from .rig.rigs import new_empty
from .scenes import go_to, rotation_curves, select, whole_state, without_handlers

pytestmark = pytest.mark.versions

NEAR = 1e-4


@pytest.fixture
def character():
    """With three clips; the cube is active, so that nothing leans on the context."""
    ob = new_character()
    select(new_empty("other", (0.0, 0.0, 0.0)))
    go_to(5)
    return ob


def state() -> tuple:
    view = bpy.context.view_layer
    return view.objects.active.name, [ob.name for ob in bpy.context.selected_objects], bpy.context.scene.frame_current


@pytest.mark.parametrize("controls", ["EMPTIES", "BONES"])
def test_a_character_is_rigged_checked_and_baked_in_all_clips(character, controls):
    shown = all_shown(character)
    before = state()
    rigged = api.rig(character, controls=controls)
    check_report(rigged)
    [entry] = rigged["files"]
    [rigged] = entry["rigged"]
    assert {limb["bones"][-1] for limb in rigged["limbs"]} == {"shin.L", "shin.R"}
    assert sorted(rigged["clips"]) == sorted(AMOUNTS)
    for limb in rigged["limbs"]:
        for name in ("target", "pole_target"):
            control = limb[name]
            ob = bpy.data.objects[control["object"]]
            assert (control["bone"] in ob.pose.bones) if controls == "BONES" else control["bone"] is None
    checked = api.check(character, clips="ALL", feet=False)
    check_report(checked)
    assert sorted(entry["clip"] for entry in checked["files"]) == sorted(AMOUNTS)
    assert all(chain["max_error"] < NEAR for entry in checked["files"] for chain in entry["chains"])
    baked = api.bake(character, clips="ALL", action="CURRENT")
    check_report(baked)
    assert all(chain["keys"] for entry in baked["files"] for chain in entry["chains"])
    assert state() == before
    with without_handlers():
        assert farthest(shown, all_shown(character)) < NEAR


def test_what_plays_is_baked_over_its_own_frames_or_those_that_are_given(character):
    api.rig(character)
    assert api.check(character)["files"][0]["frames"] == [1, 12, 1]
    frames = range(3, 9, 2)
    live = film(character, frames)
    report = api.bake(character, frames=frames, after="REMOVE")
    check_report(report)
    assert report["files"][0]["frames"] == [3, 7, 2]
    with without_handlers():
        assert np.abs(film(character, frames) - live).max() < NEAR


def test_of_a_clip_that_is_too_short_for_feet_the_chains_are_checked(character):
    pose = bpy.data.actions.new("pose")
    pose.use_fake_user, character.animation_data.action = True, pose
    character.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=1)
    api.rig(character)
    entries = {entry["clip"]: entry for entry in api.check(character, clips="ALL")["files"]}
    assert "fewer than 3 frames" in entries["pose"]["left_out"]
    assert "feet" not in entries["pose"] and len(entries["pose"]["chains"]) == 2
    assert all(len(entries[name]["feet"]) == 2 and "left_out" not in entries[name] for name in AMOUNTS)
    select(character)
    assert bpy.ops.analytic_ik.check(clips="ALL", feet=True) == {"FINISHED"}


def test_clips_are_chosen_by_name(character):
    api.rig(character)
    report = api.bake(character, clips=["run"], after="KEEP")
    assert [entry["clip"] for entry in report["files"]] == ["run"]


def test_feet_are_checked_without_chains(character):
    report = api.check(character, ground=api.Ground("LEVEL", 0.0))
    check_report(report)
    [entry] = report["files"]
    assert not entry["chains"] and {foot["ground"] for foot in entry["feet"]} == {"LEVEL"}


@pytest.mark.slow
def test_clips_are_planted_and_those_without_a_stand_are_named():
    ob = walking_clips()
    report = api.plant(ob, clips="ALL", ground=api.Ground("LEVEL", 0.0), keep_controls=False)
    check_report(report)
    entries = {entry["clip"]: entry for entry in report["files"]}
    assert entries.keys() == {"walk", "slow", "flying"}
    assert "no foot stands still" in entries["flying"]["left_out"]
    for name in ("walk", "slow"):
        assert all(foot["after"]["slide"] < 0.01 < foot["before"]["slide"] for foot in entries[name]["feet"])


def test_a_clip_is_planted_over_frames_and_keeps_its_controls():
    ob = walking_clips()
    report = api.plant(ob, frames=range(1, 61), options=api.Options(body=1.0))
    check_report(report)
    assert report["files"][0]["frames"] == [1, 60, 1]
    assert "walk" in bpy.data.actions and ob.animation_data.action.name != "walk"


def test_a_retargeted_clip_is_matched_to_its_source(character):
    capture = character.copy()
    bpy.context.scene.collection.objects.link(capture)
    capture.name = "capture"
    # The retargeted one has lost a little of it.
    character.animation_data.action = character.animation_data.action.copy()
    for curve in rotation_curves(character, "thigh.L"):
        for point in curve.keyframe_points:
            point.co.y *= 0.9 if curve.array_index else 1.0
        curve.update()
    api.rig(character)
    report = api.match(character, capture)
    check_report(report)
    left = next(limb for limb in report["files"][0]["matched"]["limbs"] if limb["side"] == "L")
    assert left["error"] < 1e-5 * left["length"] and left["distance_before"] > 1e-3
    with pytest.raises(api.ChainError, match="'capture'"):
        api.match(capture, capture)


def test_progress_is_told(character):
    api.rig(character)
    told = []
    api.bake(character, clips="ALL", after="KEEP", progress=lambda *step: told.append(step))
    parts = [done / total for done, total in told]
    assert parts == sorted(parts) and parts[-1] == 1.0 and len(parts) >= len(AMOUNTS)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda ob: api.rig(bpy.data.objects["other"]), "Object 'other' is no armature"),
        (lambda ob: api.check(bpy.data.objects["other"]), "Object 'other' is no armature"),
        (lambda ob: api.bake(bpy.data.objects["other"]), "Object 'other' is no armature"),
        (lambda ob: api.plant(bpy.data.objects["other"]), "Object 'other' is no armature"),
        (lambda ob: api.plant(ob, clips="ALL", frames=range(1, 9)), "over their own frames"),
        (lambda ob: api.bake(ob), "Armature 'skeleton': no live chain"),
        (lambda ob: api.check(ob, feet=False), "Armature 'skeleton': no live chain"),
        (lambda ob: (api.rig(ob), api.bake(ob, clips="ALL", frames=range(1, 9))), "over their own frames"),
        (lambda ob: (api.rig(ob), api.check(ob, clips=["hop"])), "'hop'"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(character, ask, sentence):
    before, clips = state(), [clip_name(clip, clips_of(character)) for clip in clips_of(character)]
    with pytest.raises(api.ChainError, match=sentence):
        ask(character)
    assert state() == before
    assert [clip_name(clip, clips_of(character)) for clip in clips_of(character)] == clips


NUMBERS = [
    (lambda: api.Options(path_stride=-1.0), "the option path_stride is -1. Give a number from 0.01."),
    (lambda: api.Options(body=2.0), "the option body is 2. Give a number from 0 to 1."),
    (lambda: api.Options(path_offset=inf), "the option path_offset is not a finite number: inf. Give a number."),
    (lambda: api.Ground("LEVEL", nan), "the ground's height is not a finite number: nan. Give a number."),
    (lambda: KeyOptions(tolerance=-0.1), "the option tolerance is -0.1. Give a number from 0."),
]
"""Settings that nobody can mean."""


@pytest.mark.parametrize(("make", "said"), NUMBERS, ids=[said for _, said in NUMBERS])
def test_settings_out_of_their_range_are_refused_by_name(make, said):
    with pytest.raises(api.ChainError, match=re.escape(said)):
        make()


def test_functions_refuse_numbers_out_of_their_range_and_change_nothing(character):
    api.rig(character)
    before = whole_state()
    for work, said in (
        (partial(api.bake, tolerance=-1.0), "the tolerance is -1. Give a number from 0."),
        (partial(api.bake, clips="ALL", tolerance=nan), "the tolerance is not a finite number: nan"),
        (partial(api.grab, bone="hips", location=(0.0, 0.0, nan)), "location has a value that is not a finite number"),
        (
            partial(api.grab, bone="hips", location=(0.0, 0.0, 1.0), spine=1.5),
            "spine is 1.5. Give a number from 0 to",
        ),
    ):
        with pytest.raises(api.ChainError, match=re.escape(said)):
            work(character)
        assert whole_state() == before
