"""Root motion, clips in place and loops of downloaded captures and game characters."""

from dataclasses import dataclass

import bpy
import numpy as np
import pytest

from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake.stepping import finish
from ik_addon.planting.feet.clip import LegMotion
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.measures import measured
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.treadmill import stands_on
from ik_addon.planting.scene.reading import legs_of
from ik_addon.planting.scene.reading import shown as legs_shown
from ik_addon.rig.blender.clips import clip_name, clips_of, motion_frames, play, playing_clip
from ik_addon.travel import join_clips, make_loop, put_in_place, to_hips, to_root, travel

from ..planting.clips import capture
from ..scenes import EXACT
from .walkers import apart, check_speeds, shown

pytestmark = [pytest.mark.versions, pytest.mark.slow]


@dataclass(frozen=True)
class Case:
    """A clip of a file. root: the bone that travels, "" for the object."""

    file: str
    clip: str
    root: str

    def __str__(self) -> str:
        return f"{self.file}-{self.clip}"


CAPTURED = Case("cmu_131_01_walk.bvh", "cmu_131_01_walk", "")
CYCLES = [
    Case("characters/quat_Wolf.glb", "AnimalArmature|Walk", "Body"),
    Case("characters/quat_Wolf.glb", "AnimalArmature|Idle", "Body"),
    Case("characters/kaykit_Med_MovementBasic.glb", "Rig_Medium|Walking_A", "root"),
    Case("characters/kaykit_Med_MovementBasic.glb", "Rig_Medium|Running_B", "root"),
    Case("characters/Fox.glb", "Walk", "_rootJoint"),
    Case("characters/Fox.glb", "Run", "_rootJoint"),
]


def opened(case: Case) -> tuple[bpy.types.Object, range, float]:
    """An armature that plays a clip, the clip's frames, and the length of a leg."""
    path = str(capture(case.file))
    if path.endswith("bvh"):
        bpy.ops.import_anim.bvh(filepath=path, update_scene_fps=True)
    else:
        bpy.ops.import_scene.gltf(filepath=path)
    ob = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    clips = clips_of(ob)
    ob.animation_data.use_nla = False
    # In Blender 4.2 their names end with the object's.
    names = {case.clip, f"{case.clip}_{ob.name}"}
    play(ob, next(each for each in clips if clip_name(each, clips) in names))
    frames = motion_frames(ob)
    return ob, frames, float(np.mean([sum(leg.lengths) for leg in legs_of(ob)]))


@pytest.mark.parametrize("case", [CAPTURED, *CYCLES], ids=str)
def test_nothing_but_the_root_moves(case):
    ob, frames, leg = opened(case)
    frames = frames[:: max(1, len(frames) // 50)]
    before = shown(ob, frames)
    assert to_root(bpy.context, ob, height=True, heading=True)["root"] == case.root
    assert apart(before, shown(ob, frames), leg, but=(case.root,)) < EXACT
    to_hips(bpy.context, ob)
    assert apart(before, shown(ob, frames), leg, but=(case.root,)) < EXACT


def test_a_capture_in_place_travels_again():
    ob, frames, leg = opened(CAPTURED)
    frames = frames[::20]
    before = shown(ob, frames)
    put_in_place(bpy.context, ob)
    still = shown(ob, frames)
    assert np.linalg.norm((before["Hips"] - still["Hips"])[-1, :3, 3]) > 3.0 * leg
    travel(bpy.context, ob)
    assert apart(before, shown(ob, frames), leg) < EXACT


def legs_in_world(ob: bpy.types.Object, frames: range) -> LegMotion:
    return finish(legs_shown(bpy.context, ob, legs_of(ob), frames))


@pytest.mark.parametrize("case", [each for each in CYCLES if "Idle" not in each.clip], ids=str)
def test_a_cycle_in_place_travels_with_feet_that_stand_as_well_as_on_their_belt(case):
    ob, frames, _ = opened(case)
    clip = legs_in_world(ob, frames)
    stage = stands_on(clip, Options())
    ground, contacts = stage.ground, stage.contacts
    seen = ground.seen_from(clip)
    sole = sole_of(seen)
    report = travel(bpy.context, ob)
    assert report["root"] == case.root
    on_belt, on_ground = (measured(each, sole, contacts) for each in (seen, legs_in_world(ob, frames)))
    assert max(leg["slide"] for leg in on_ground) < max(leg["slide"] for leg in on_belt) + 1e-4


@pytest.mark.parametrize("case", [CAPTURED, *CYCLES], ids=str)
def test_a_loop_is_closed_and_no_contact_slides_more(case):
    ob, frames, leg = opened(case)
    before, clip = shown(ob, frames), legs_in_world(ob, frames)
    stage = stands_on(clip, Options())
    ground, contacts = stage.ground, stage.contacts
    seen = ground.seen_from(clip)
    sole = sole_of(seen)
    body = make_loop(bpy.context, ob)["body"]
    after = shown(ob, frames)
    way = (after[body][-1] - after[body][0])[:3, 3] * (1.0, 1.0, 0.0)
    ends = [np.abs(after[name][-1, :3, 3] - way - after[name][0, :3, 3]).max() for name in after if name != case.root]
    assert max(ends) < 1e-6 * leg
    slides = [measured(each, sole, contacts) for each in (seen, ground.seen_from(legs_in_world(ob, frames)))]
    for one, other in zip(*slides, strict=True):
        assert other["slide"] < one["slide"] + 1e-3
    if case.clip.endswith("Running_B"):
        # It was a loop. The fox's run ends between two frames: at whole ones it stops for a fifth of a frame.
        assert apart(before, after, leg) < 1e-3


KNIGHT = "characters/kaykit_Knight.glb"
JOINED = [
    ("Walking_A", "Idle"),
    ("Walking_A", "2H_Melee_Idle"),
    ("Unarmed_Idle", "Walking_A"),
    ("Walking_C", "Walking_A"),
]


@pytest.mark.parametrize("clips", JOINED, ids="-".join)
def test_clips_of_a_game_character_are_joined_without_a_foot_or_a_bone_that_is_faster(clips):
    ob, _, leg = opened(Case(KNIGHT, clips[0], ""))
    seen, names = [], {}
    for clip in clips[::-1]:
        play(ob, next(each for each in clips_of(ob) if clip_name(each, clips_of(ob)) in (clip, f"{clip}_{ob.name}")))
        if "Walking" in clip:
            travel(bpy.context, ob)
        names[clip] = clip_name(playing_clip(ob), clips_of(ob))
        seen.append(shown(ob, motion_frames(ob)))
    report = join_clips(bpy.context, ob, names[clips[1]])
    now = shown(ob, range(report["frames"][0], report["frames"][1] + 1))
    bones = [ob.pose.bones[each.foot] for each in legs_of(ob)]
    feet = [{each.name: each.length for each in (bone, *bone.children_recursive)} for bone in bones]
    check_speeds(feet, leg, now, *seen)


@pytest.mark.parametrize("clips", [("Idle", "Walk"), ("Gallop", "Idle")], ids="-".join)
def test_knees_of_hind_legs_with_chains_go_through_a_joint_no_faster_than_in_either_clip(clips):
    ob, _, leg = opened(CYCLES[0])
    rig_legs(bpy.context, ob)
    seen, names = [], []
    for clip in clips[::-1]:
        full = f"AnimalArmature|{clip}"
        play(ob, next(each for each in clips_of(ob) if clip_name(each, clips_of(ob)) in (full, f"{full}_{ob.name}")))
        bpy.context.scene.frame_set(0)
        if clip != "Idle":
            travel(bpy.context, ob)
        names.append(clip_name(playing_clip(ob), clips_of(ob)))
        seen.append(shown(ob, motion_frames(ob)))
    report = join_clips(bpy.context, ob, names[0])
    now = shown(ob, range(report["frames"][0], report["frames"][1] + 1))
    for own in legs_of(ob):
        for bone in (*own.links, own.foot):
            far, *usual = (np.linalg.norm(np.diff(each[bone][:, :3, 3], axis=0), axis=1).max() for each in (now, *seen))
            assert far < 1.3 * max(*usual, 0.02 * leg)
