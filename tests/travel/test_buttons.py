"""The operators of root motion: what they say, all clips at once, and a clip that is left out."""

import bpy
import numpy as np
import pytest

from ik_addon.authoring.rigging import rig_legs
from ik_addon.planting.scene.sources import is_made, mark_source

from ..clips.characters import new_character
from ..rig.rigs import update
from ..scenes import EXACT, go_to, refuses, whole_state
from .walkers import LEG, Walk, apart, shown, walker

pytestmark = pytest.mark.versions

ik = bpy.ops.analytic_ik
SHORT = Walk(last=25)


def with_clips(strips: bool = False) -> bpy.types.Object:
    """A walk that travels, assigned, the same in place, and a clip of two frames in which nothing travels."""
    ob = walker(SHORT)
    walk = ob.animation_data.action
    ik.in_place()
    ob.animation_data.action.name = "treadmill"
    ob.animation_data.action.use_fake_user = True
    # What is made of another one counts only where something plays it.
    del ob.animation_data.action["analytic_ik_made_from"]
    ob.animation_data.action.property_unset("analytic_ik_travel_taken")
    ob.animation_data.action = walk
    if strips:
        for action in (walk, bpy.data.actions["treadmill"]):
            track = ob.animation_data.nla_tracks.new()
            track.mute = True
            track.strips.new(action.name, 1, action)
    update()
    return ob


def said(capfd) -> str:
    return capfd.readouterr().out


@pytest.mark.parametrize("clips", ["CURRENT", "ALL"])
def test_a_loop_of_a_fall_is_refused_with_the_distance(clips):
    ob = walker(SHORT)
    tip = max(ob.pose.bones, key=lambda bone: bone.tail.z)
    for frame, angle in ((1, 0.0), (25, 2.0)):
        top = tip.parent_recursive[-1]
        top.rotation_mode = "XYZ"
        top.rotation_euler = (angle, 0.0, 0.0)
        top.keyframe_insert("rotation_euler", frame=frame)
    go_to(1)
    with refuses(RuntimeError, r"the ends of frames 1-25 are \d\.\d\d leg lengths apart"):
        ik.make_loop(clips=clips, cycle="WHOLE")
    with pytest.raises(RuntimeError, match=r"The last frame \(3\) is before the first \(9\)"):
        ik.make_loop(cycle="RANGE", frame_start=9, frame_end=3)


def test_each_says_what_it_did(capfd):
    bpy.context.scene.unit_settings.system = "METRIC"
    walker(SHORT)
    capfd.readouterr()
    for run, sentence in (
        (ik.root_motion, "Info: Bone 'root' travels 1 m with 'hips', frames 1-25"),
        (ik.in_place, "Info: Bone 'root' stays in place, frames 1-25. It traveled at 1 m per second"),
        (ik.travel, "Info: Bone 'root' travels 1 m at 1 m per second, frames 1-25"),
        (ik.make_loop, "Info: Made a loop of frames 1-25, whose ends were"),
        (lambda: ik.root_motion(direction="TO_HIPS"), "Info: Bone 'root' stands still, 'hips' travels, frames 1-25"),
        (lambda: ik.root_motion(root="OBJECT"), "Info: Object 'walker' travels 1 m with 'hips', frames 1-25"),
    ):
        assert run() == {"FINISHED"}
        assert sentence in said(capfd)


def test_the_root_that_is_chosen_has_to_be_named():
    walker(SHORT)
    before = whole_state()
    with pytest.raises(RuntimeError, match=r"Armature 'walker': no root is chosen. Choose its bone in the dialog"):
        ik.root_motion(root="BONE")
    with pytest.raises(RuntimeError, match=r"Armature 'walker' has no bone 'nose'"):
        ik.in_place(body="nose")
    assert whole_state() == before
    assert ik.root_motion(root="BONE", root_bone="root") == {"FINISHED"}


@pytest.mark.parametrize("strips", [False, True])
def test_all_clips_at_once_and_those_that_cannot_are_left_out(strips, capfd):
    ob = with_clips(strips)
    capfd.readouterr()
    assert ik.in_place(clips="ALL", strips=strips) == {"FINISHED"}
    out = said(capfd)
    assert "Warning: In Place: 1 clip. Left out: 'treadmill'. Clip 'treadmill'" in out or (
        "Warning: In Place: 1 clip. Left out: 'treadmill'. Armature 'walker': its body 'hips' does not travel" in out
    )
    assert ob.animation_data.action.name == "walk in place"
    if strips:
        names = [track.strips[0].action.name for track in ob.animation_data.nla_tracks]
        assert names == ["walk in place", "treadmill"]


def test_all_clips_get_root_motion():
    ob = with_clips()
    before = {}
    for name in ("walk", "treadmill"):
        ob.animation_data.action = bpy.data.actions[name]
        before[name] = shown(ob, SHORT.frames)
    ik.root_motion(clips="ALL", height=True)
    for name, motion in before.items():
        ob.animation_data.action = bpy.data.actions[f"{name} root motion"]
        after = shown(ob, SHORT.frames)
        assert apart(motion, after, but=("root",)) < EXACT
        ways = [motion["hips"], after["root"]]
        ways = [way[:, :3, 3] - way[0, :3, 3] for way in ways]
        assert np.abs(ways[0] - ways[1]).max() < EXACT * LEG


def test_where_no_clip_can_it_is_refused():
    ob = new_character(["idle", "walk"])
    with refuses(RuntimeError, "does not travel in this clip"):
        ik.in_place(clips="ALL")
    assert ob.animation_data.action.name == "walk"


def test_a_planted_clip_in_place_is_not_updated_from_its_source():
    ob = walker(SHORT)
    rig_legs(bpy.context, ob)
    update()
    ik.plant_feet(frame_start=1, frame_end=25, anyway=True)
    assert "analytic_ik_planted_from" in ob.animation_data.action
    ik.in_place()
    assert "analytic_ik_planted_from" not in ob.animation_data.action
    with pytest.raises(RuntimeError, match="its action was not made by Plant Feet"):
        ik.plant_again()


def test_what_a_matched_clip_was_made_from_is_forgotten():
    """Else matching again would begin before the loop, and write over it."""
    ob = walker(SHORT)
    mark_source(ob.animation_data.action, ob.animation_data.action.copy(), "matched")
    assert is_made(ob, "matched")
    ik.make_loop()
    assert not is_made(ob, "matched")
