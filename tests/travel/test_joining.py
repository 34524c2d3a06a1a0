"""Clips one after the other: each plays as before, but for a step at the joint; feet that stand stand as before."""

import re
from dataclasses import replace
from itertools import pairwise

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_addon.authoring.rigging import rig_legs
from ik_addon.authoring.snap import poles_snapped
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.curves import runs
from ik_addon.planting.feet.measures import measured
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.treadmill import stands_on
from ik_addon.planting.scene.limbs import key_contacts, keyed_contacts
from ik_addon.rig.blender.animation import current_fcurve_collections
from ik_addon.rig.blender.clips import clips_of, motion_frames, play
from ik_addon.travel import join_clips, joining, joint, loop, put_in_place
from ik_addon.ui.operators import travel

from ..clips.characters import show
from ..rig.rigs import update
from ..scenes import EXACT, go_to, refuses, select
from .walkers import CHAINS, LEG, Walk, check_speeds, seen_on_ground, shown, some_slow, walker

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


def joined(
    chains: str, second: Walk = SECOND, first: Walk = FIRST, fk: bool = True, end: int = 0
) -> tuple[bpy.types.Object, dict, dict, dict, dict]:
    """The walker, both clips, the report, and what is shown. fk: the legs have FK keys. end: see `join_clips`."""
    ob = with_two_clips(chains, second, first)
    if not fk:
        without_leg_keys(ob)
    before = shown(ob, first.frames)
    action = ob.animation_data.action
    ob.animation_data.action = bpy.data.actions["next"]
    update()
    after = shown(ob, second.frames)
    ob.animation_data.action = action
    ob.pose.bones["root"].matrix_basis = Matrix()
    update()
    report = join_clips(bpy.context, ob, "next", end=end)
    return ob, before, after, report, shown(ob, range(report["frames"][0], report["frames"][1] + 1))


def without_leg_keys(ob: bpy.types.Object) -> None:
    """Let nothing but their controls carry the legs, knees out, as who animates these by hand has it."""
    poles = [ob.pose.bones[f"shin.{side}"].analytic_ik_pole_target for side in "LR"]
    for clip in clips_of(ob):
        play(ob, clip)
        for pole, aside in zip(poles, (LEG, -LEG), strict=True):
            for home in current_fcurve_collections(pole.animation_data) if pole != ob else ():
                for key in home.find("location", index=0).keyframe_points:
                    key.co.y += aside
        for home in current_fcurve_collections(ob.animation_data):
            for curve in [each for each in home if re.search(r"thigh|shin|foot", each.data_path)]:
                if "rotation" in curve.data_path and "IK" not in curve.data_path:
                    home.remove(curve)
    show(ob, "walk")
    for name in ("thigh", "shin", "foot"):
        for side in "LR":
            ob.pose.bones[f"{name}.{side}"].matrix_basis = Matrix()
    update()


@pytest.mark.parametrize(
    ("chains", "fk"), [*((chains, True) for chains in CHAINS), *((chains, False) for chains in CHAINS[1:])]
)
def test_each_clip_plays_as_it_did_but_for_a_step(chains, fk):
    ob, before, after, report, now = joined(chains, fk=fk)
    row, following = (frame - FIRST.frames.start for frame in report["joint"])
    assert motion_frames(ob) == range(report["frames"][0], report["frames"][1] + 1)
    # The first, up to the joint; the second, moved as a whole over the ground, from a step after it.
    for name in before:
        assert np.abs(now[name][: row + 1] - before[name][: row + 1]).max() < EXACT
    moves = now["hips"][-1] @ np.linalg.inv(after["hips"][-1])
    assert moves[2] == pytest.approx((0.0, 0.0, 1.0, 0.0), abs=1e-3)
    late = row + 26
    for name in [name for name in after if name not in ("root", "prop")]:
        wanted = moves @ after[name][following + late - row :]
        assert np.abs(now[name][late:] - wanted).max() < 1e-5
    for name in ("hips", "head", "shin.L", "shin.R", "foot.L", "foot.R"):
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


FEET = [{f"foot.{side}": 0.16} for side in "LR"]
STANDING, OTHERWISE = Walk(last=30, stands=True), Walk(last=40, stands=True, looks=0.2)
PAIRS = {
    "walks on": (FIRST, SECOND),
    "stops": (FIRST, STANDING),
    "goes": (STANDING, FIRST),
    "stands on": (STANDING, OTHERWISE),
}


@pytest.mark.parametrize("chains", some_slow(CHAINS))
@pytest.mark.parametrize("pair", PAIRS)
def test_nothing_is_faster_than_in_either_clip_and_a_foot_stays_where_it_has_landed(pair, chains):
    first, second = PAIRS[pair]
    ob, before, after, report, now = joined(chains, second, first)
    check_speeds(FEET, LEG, now, before, after)
    frames = range(report["frames"][0], report["frames"][1] + 1)
    for side in "LR":
        contacts = keyed_contacts(ob.pose.bones[f"shin.{side}"], frames).any(axis=0)
        assert contacts.any()
        feet = now[f"foot.{side}"]
        for start, end in runs(contacts):
            assert np.abs(feet[start : end + 1] - feet[start]).max() < 1e-4 * LEG
    rough = [joint.jolts_of(np.array([own[f"foot.{side}"][:, :3, 3] for side in "LR"])) for own in (now, before, after)]
    assert (rough[0] <= joint.ROUGHER * np.maximum(*rough[1:]) + 1e-3 * LEG).all()
    if pair == "stands on":
        assert len(frames) > 0.9 * (len(first.frames) + len(second.frames))
    if pair == "stops":
        # One foot stands; the other lands where the second clip has it, and has no contact until then.
        row = report["joint"][0] - frames.start
        stands = [keyed_contacts(ob.pose.bones[f"shin.{side}"], frames).any(axis=0) for side in "LR"]
        assert sorted(own[row : row + 2].all() for own in stands) == [False, True]
        assert all(own[-4:].all() for own in stands)


def test_where_the_best_joint_is_refused_another_one_is_tried(monkeypatch):
    judge, tried = joining._refused, []

    def strict(pair, way, film):
        tried.append(len(film.frames))
        return (2.0, "too fast") if len(tried) == 1 else judge(pair, way, film)

    monkeypatch.setattr(joining, "_refused", strict)
    *clips, _, now = joined("no chains")[1:]
    assert len(tried) == 2 and len(now["hips"]) == tried[1]
    check_speeds(FEET, LEG, now, *clips)


TOO_FAST = {
    # A head that looks behind.
    r"Bone 'head': at frame \d+ it would turn by \d+.\d° in a frame, to go on as 'next', and may by \d.\d°": (
        STANDING,
        replace(OTHERWISE, last=14, looks=2.5),
    ),
    # A foot in the air that never moves.
    r"Bone 'shin.R': at frame \d+ it would go \d+.\d% of a leg in a frame, to go on as 'next', and may go 0.1%": (
        replace(STANDING, lifted=0.3),
        STANDING,
    ),
}


@pytest.mark.parametrize("words", TOO_FAST)
def test_what_would_have_to_move_too_fast_is_refused(words):
    first, second = TOO_FAST[words]
    ob = with_two_clips("no chains", second, first)
    select(ob)
    go_to(1)
    with refuses(RuntimeError, words):
        bpy.ops.analytic_ik.join_clips(clip="next")


def test_a_knee_that_its_pole_swings_is_refused(monkeypatch):
    ob = with_two_clips("Empties")
    select(ob)
    go_to(1)

    def swung(context, tips, frames):
        yield from poles_snapped(context, tips, frames)
        pole = tips[0].analytic_ik_pole_target
        for home in current_fcurve_collections(pole.animation_data):
            for key in home.find("location", index=1).keyframe_points:
                # For a frame it is behind the leg.
                key.co.y += 10.0 * LEG * (key.co.x == frames[len(frames) // 2])

    monkeypatch.setattr(joining, "poles_snapped", swung)
    with refuses(RuntimeError, r"Bone '(thigh|shin).L': at frame \d+ it would (go|turn by) [\d.]+[%°]"):
        bpy.ops.analytic_ik.join_clips(clip="next")


def test_the_first_clip_ends_where_it_is_told():
    _, *clips, report, now = joined("no chains", end=33)
    assert report["joint"][0] == 33
    check_speeds(FEET, LEG, now, *clips)


def test_a_leg_of_three_links_bends_evenly_toward_its_foot():
    """A horse's: with least motion alone its short last link takes all, and folds over within a few frames."""
    joints = [Vector(place) for place in ((0, 0, 0), (0, -0.34, -0.25), (-0.02, -0.31, -0.55), (-0.02, -0.31, -0.68))]
    links, before = [np.array(end - start) for start, end in pairwise(joints)], None
    for share in np.linspace(0.7, 1.12, 41):
        goal = share * np.array(joints[-1])
        now = [turn @ link for turn, link in zip(loop._turns(joints, goal), links, strict=True)]
        assert np.sum(now, axis=0) == pytest.approx(goal, abs=1e-5)
        assert np.linalg.norm(now, axis=1) == pytest.approx(np.linalg.norm(links, axis=1), abs=1e-6)
        if before is not None:
            turned = [np.degrees(Vector(one).angle(Vector(other))) for one, other in zip(now, before, strict=True)]
            assert max(turned) < 4.0
        before = now


@pytest.mark.parametrize("chains", CHAINS)
def test_a_foot_that_would_be_out_of_reach_is_refused(monkeypatch, chains):
    ob = with_two_clips(chains)
    select(ob)
    go_to(1)
    # The body goes up, and a foot that stands does not.
    monkeypatch.setattr(joint, "body_shifts", lambda clip, *_: (np.tile((0.0, 0.0, 0.7), (clip.frame_count, 1)), None))
    with refuses(RuntimeError, r"'shin.[LR]': its foot would be [\d.]+% of a leg out of reach at frame"):
        bpy.ops.analytic_ik.join_clips(clip="next")


def test_the_dialog_offers_the_other_clips_of_the_armature():
    ob = with_two_clips("no chains")
    spare = bpy.data.objects.new("spare", None)
    spare.keyframe_insert("location")
    select(ob)
    assert travel._that_may_follow(None, bpy.context, "") == ["next"]
    for action in (bpy.data.actions["next"], ob.animation_data.action):
        action.name = f"Armature|{action.name}"
    # Blender would show it split at the "|".
    assert travel._that_may_follow(None, bpy.context, "") == ["next"]
    assert bpy.ops.analytic_ik.join_clips(clip="next") == {"FINISHED"}


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
    with refuses(RuntimeError, r"has no clip 'walks'"):
        bpy.ops.analytic_ik.join_clips(clip="walks")
    with refuses(RuntimeError, r"the clip cannot end at frame 60. Choose End at from 2 to 41, or 0"):
        bpy.ops.analytic_ik.join_clips(clip="next", end=60)
    with refuses(RuntimeError, r"no clip is to go on. Choose a clip in Next Clip"):
        bpy.ops.analytic_ik.join_clips()
    with refuses(RuntimeError, r"no foot stands both near the end of 'walk' and near the start of 'hop'"):
        bpy.ops.analytic_ik.join_clips(clip="hop")
    put_in_place(bpy.context, ob)
    with refuses(RuntimeError, r"clip 'walk in place' walks in place. Use Travel on it first"):
        bpy.ops.analytic_ik.join_clips(clip="next")
    ob.animation_data.action = bpy.data.actions["next"]
    with pytest.raises(RuntimeError, match=r"clip 'walk in place' walks in place. Use Travel on it first"):
        bpy.ops.analytic_ik.join_clips(clip="walk in place")
