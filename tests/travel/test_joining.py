"""Clips one after the other: each plays as before, but for a step at the joint; feet that stand stand as before."""

import re
from dataclasses import replace

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ik_addon.authoring.rigging import rig_legs
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.measures import measured
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.treadmill import stands_on
from ik_addon.planting.scene.limbs import key_contacts, keyed_contacts
from ik_addon.rig.blender.clips import motion_frames
from ik_addon.travel import join_clips, joining, put_in_place
from ik_addon.ui.operators import travel

from ..clips.characters import show
from ..rig.rigs import update
from ..scenes import EXACT, go_to, select, whole_state
from .walkers import CHAINS, Walk, seen_on_ground, shown, walker

pytestmark = pytest.mark.versions

SLIDE = 2e-6
"""How far feet may slide that stand, leg lengths."""
AWAY = Matrix.Translation((3.0, -2.0, 0.0)) @ Matrix.Rotation(0.8, 4, "Z")
FIRST, SECOND = Walk(last=41), Walk(last=52, drift=0.1)


def with_two_clips(chains: str, second: Walk = SECOND, first: Walk = FIRST) -> bpy.types.Object:
    """A walker who plays the first walk, and has another."""
    other = walker(second)
    other.animation_data.action.name = "next"
    # It walks elsewhere, and another way.
    root = other.pose.bones["root"]
    root.matrix = AWAY @ root.bone.matrix_local
    for channel in ("location", "rotation_quaternion"):
        root.keyframe_insert(channel, frame=1)
    bpy.data.objects.remove(other)
    ob = walker(first)
    if chains != "no chains":
        rig_legs(bpy.context, ob, as_bones=chains == "control bones")
    update()
    return ob


def joined(chains: str, second: Walk = SECOND) -> tuple[bpy.types.Object, dict, dict, dict, dict]:
    ob = with_two_clips(chains, second)
    before = shown(ob, FIRST.frames)
    action = ob.animation_data.action
    ob.animation_data.action = bpy.data.actions["next"]
    update()
    after = shown(ob, second.frames)
    ob.animation_data.action = action
    ob.pose.bones["root"].matrix_basis = Matrix()
    update()
    report = join_clips(bpy.context, ob, "next")
    return ob, before, after, report, shown(ob, range(report["frames"][0], report["frames"][1] + 1))


@pytest.mark.parametrize("chains", CHAINS)
def test_each_clip_plays_as_it_did_but_for_a_step(chains):
    ob, before, after, report, now = joined(chains)
    row, following = (frame - FIRST.frames.start for frame in report["joint"])
    assert motion_frames(ob) == range(report["frames"][0], report["frames"][1] + 1)
    assert report["jerk"] is None
    # The first, up to the joint; the second, moved as a whole over the ground, from a step after it.
    for name in before:
        assert np.abs(now[name][: row + 1] - before[name][: row + 1]).max() < EXACT
    moves = now["hips"][-1] @ np.linalg.inv(after["hips"][-1])
    assert moves[2] == pytest.approx((0.0, 0.0, 1.0, 0.0), abs=1e-3)
    late = row + 26
    for name in [name for name in after if name not in ("root", "prop")]:
        wanted = moves @ after[name][following + late - row :]
        assert np.abs(now[name][late:] - wanted).max() < 1e-5
    for name in ("hips", "head", "shin.L", "shin.R"):
        check_no_jump(now[name], row, before[name], after[name])


def check_no_jump(joined: np.ndarray, row: int, *clips: np.ndarray) -> None:
    """At the joint nothing is faster than anywhere in the clips that were joined."""
    near, *usual = (np.linalg.norm(np.diff(each[:, :3, 3], axis=0), axis=1) for each in (joined, *clips))
    assert near[row - 1 : row + 3].max() < 1.1 * max(speeds.max() for speeds in usual)
    changes = max(np.abs(np.diff(speeds)).max() for speeds in usual)
    assert np.abs(np.diff(near))[row - 2 : row + 3].max() < 1.5 * changes


@pytest.mark.parametrize("chains", CHAINS)
def test_feet_stand_through_the_joint(chains):
    ob, _, _, report, _ = joined(chains)
    frames = range(report["frames"][0], report["frames"][1] + 1)
    clip = seen_on_ground(ob, frames)
    sole, contacts = sole_of(clip), stands_on(clip, Options()).contacts
    assert contacts[:, :, report["joint"][0] - 1].any()
    assert max(leg["slide"] for leg in measured(clip, sole, contacts)) < 1e-3
    if chains != "no chains":
        bpy.ops.analytic_ik.plant_feet(anyway=True)
        planted = seen_on_ground(ob, frames)
        contacts = np.array([keyed_contacts(ob.pose.bones[f"shin.{side}"], frames) for side in "LR"])
        assert contacts[:, :, report["joint"][0] - 1].any()
        assert max(leg["slide"] for leg in measured(planted, sole_of(planted), contacts)) < SLIDE


def test_clips_of_which_no_foot_stands_where_they_meet_are_joined_in_the_air():
    ob = with_two_clips("Empties")
    tips, walk = [ob.pose.bones[f"shin.{side}"] for side in "LR"], ob.animation_data.action
    clips = []
    for walked, name, stand in ((FIRST, walk.name, slice(18)), (SECOND, "next", slice(28, None))):
        show(ob, name)
        clips.append(shown(ob, walked.frames)["hips"])
        contacts = np.zeros((2, 2, len(walked.frames)), bool)
        contacts[:, :, stand] = True
        key_contacts(tips, contacts, walked.frames)
    show(ob, walk.name)
    report = join_clips(bpy.context, ob, "next")
    assert report["difference"] < 0.1
    frames = range(report["frames"][0], report["frames"][1] + 1)
    contacts = np.array([keyed_contacts(tip, frames) for tip in tips])
    row = report["joint"][0] - frames.start
    assert contacts[:, :, :4].all() and contacts[:, :, -4:].all() and not contacts[:, :, row].any()
    check_no_jump(shown(ob, frames)["hips"], row, *clips)


def test_a_knee_that_jerks_at_the_joint_is_told_of(monkeypatch, capfd):
    ob = with_two_clips("no chains")
    select(ob)
    # Where poses are not alike, and nothing of the difference passes, the second clip begins with a jump.
    found = joining._joint_of
    monkeypatch.setattr(joining, "_joint_of", lambda *given: replace((at := found(*given)), following=at.following + 8))
    monkeypatch.setattr(joining._Joint, "left", lambda self, leg, apart, faster: np.zeros((1, 1)) * apart)
    assert bpy.ops.analytic_ik.join_clips(clip="next") == {"FINISHED"}
    assert re.search(r"The knee of 'shin.[LR]' jerks at frame \d+, \d+.\d times as much as", capfd.readouterr().out)


@pytest.mark.parametrize("chains", CHAINS)
def test_a_foot_that_would_be_out_of_reach_is_refused(monkeypatch, chains):
    ob = with_two_clips(chains)
    select(ob)
    go_to(1)
    before = whole_state()
    # The second clip is a leg and more away: the body goes there over a step, and a foot that stands does not.
    found, aside = joining._joint_of, np.eye(4)
    aside[0, 3] = 1.5
    monkeypatch.setattr(joining, "_joint_of", lambda *given: replace((at := found(*given)), move=aside @ at.move))
    with pytest.raises(RuntimeError, match=r"'shin.[LR]': its foot would be \d.\d\d leg lengths out of reach at frame"):
        bpy.ops.analytic_ik.join_clips(clip="next")
    assert whole_state() == before


def test_the_dialog_offers_the_other_clips_of_the_armature():
    ob = with_two_clips("no chains")
    spare = bpy.data.objects.new("spare", None)
    spare.keyframe_insert("location")
    select(ob)
    assert travel._that_may_follow(None, bpy.context, "") == ["next"]


def test_what_cannot_be_joined_is_refused():
    ob = with_two_clips("no chains")
    walk, hips = ob.animation_data.action, ob.pose.bones["hips"]
    ob.animation_data.action = bpy.data.actions.new("hop")
    for frame in range(1, 13):
        hips.location = (0.0, 0.3 * frame, 0.0)
        hips.keyframe_insert("location", frame=frame)
    ob.animation_data.action = walk
    select(ob)
    go_to(1)
    before = whole_state()
    with pytest.raises(RuntimeError, match=r"has no clip 'walks'"):
        bpy.ops.analytic_ik.join_clips(clip="walks")
    assert whole_state() == before
    with pytest.raises(RuntimeError, match=r"no clip is to go on. Choose a clip in Next Clip"):
        bpy.ops.analytic_ik.join_clips()
    assert whole_state() == before
    with pytest.raises(RuntimeError, match=r"the same feet never stand near the end of one clip"):
        bpy.ops.analytic_ik.join_clips(clip="hop")
    assert whole_state() == before
    put_in_place(bpy.context, ob)
    before = whole_state()
    with pytest.raises(RuntimeError, match=r"clip 'walk in place' walks in place. Use Travel on it first"):
        bpy.ops.analytic_ik.join_clips(clip="next")
    assert whole_state() == before
