"""The travel of the hips on a root and back: nothing else moves in the world, and the root goes where the hips go."""

from dataclasses import replace
from math import cos, pi, sin

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ik_addon.rig.data.control_clips import separate_controls
from ik_addon.solvers import ChainError
from ik_addon.travel import to_hips, to_root

from ..rig.rigs import update
from ..scenes import EXACT, whole_state
from .walkers import CHAINS, LEG, PLACED, Walk, apart, character, shown, shown_objects, some_slow, walker

pytestmark = pytest.mark.versions

WALKS = {
    "root below the hips": Walk(),
    "root beside, turned": Walk(root_place=(0.2, 0.3, 0.1, 0.7), mode="XYZ", turn=0.8),
    "no root": Walk(root="", mode="ZYX", fps=30, turn=-1.2),
    "object placed and scaled": Walk(world=PLACED @ Matrix.Scale(0.1, 4), turn=0.5),
}


@pytest.mark.parametrize("chains", CHAINS)
@pytest.mark.parametrize("name", some_slow(WALKS))
def test_all_but_the_root_stays_where_it_is_in_the_world_and_the_root_goes_with_the_hips(name, chains):
    walk = WALKS[name]
    ob, leg = character(walk, chains)
    controls = separate_controls(ob)
    before, empties = shown(ob, walk.frames), shown_objects([ob, *controls], walk.frames)
    report = to_root(bpy.context, ob, heading=True)
    split, moved = shown(ob, walk.frames), shown_objects([ob, *controls], walk.frames)
    assert apart(before, split, leg, but=(walk.root,)) < EXACT
    assert all(np.abs(moved[each.name] - empties[each.name]).max() < EXACT * leg for each in controls)
    roots = (before[walk.root], split[walk.root]) if walk.root else (empties[ob.name], moved[ob.name])
    hips = before["hips"][:, :3, 3]
    goes = roots[1][:, :3, 3] - roots[0][:1, :3, 3]
    assert np.abs((hips - hips[0] - goes)[:, :2]).max() < EXACT * leg
    assert np.abs(goes[:, 2]).max() < EXACT * leg
    assert report["heading"] == pytest.approx(headings_turned(roots[1]), abs=1e-4)
    if name != "object placed and scaled":
        assert report["heading"] == pytest.approx(walk.turn, abs=1e-4)
    to_hips(bpy.context, ob)
    again, objects = shown(ob, walk.frames), shown_objects([ob, *controls], walk.frames)
    assert apart(before, again, leg) < EXACT
    assert all(np.abs(objects[each] - empties[each]).max() < EXACT * leg for each in empties)


def headings_turned(worlds: np.ndarray) -> float:
    turn = Matrix(worlds[-1]).to_3x3().normalized() @ Matrix(worlds[0]).to_3x3().normalized().inverted()
    return turn.to_euler().z


def test_the_keys_of_the_hips_are_what_they_were_after_there_and_back():
    walk = Walk(mode="XYZ", turn=0.4)
    ob = walker(walk)
    before = channels(ob, walk)
    to_root(bpy.context, ob, heading=True, height=True)
    assert np.abs(channels(ob, walk) - before).max() > 0.1
    to_hips(bpy.context, ob)
    assert np.abs(channels(ob, walk) - before).max() < EXACT


def channels(ob: bpy.types.Object, walk: Walk) -> np.ndarray:
    rows = []
    for frame in walk.frames:
        bpy.context.scene.frame_set(frame)
        rows.append((*ob.pose.bones["hips"].location, *ob.pose.bones["hips"].rotation_euler))
    return np.array(rows)


def test_height_and_path_are_chosen():
    walk = Walk()
    ob = walker(walk)
    hips = shown(ob, walk.frames)["hips"][:, :3, 3]
    source = ob.animation_data.action
    to_root(bpy.context, ob, height=True)
    root = shown(ob, walk.frames)["root"][:, :3, 3]
    assert np.abs(root - root[0] - (hips - hips[0])).max() < EXACT * LEG
    ob.animation_data.action = source
    before = shown(ob, walk.frames)
    to_root(bpy.context, ob, straight=True)
    after = shown(ob, walk.frames)
    steps = np.diff(after["root"][:, :3, 3], axis=0)
    assert np.ptp(steps, axis=0).max() < EXACT * LEG
    assert apart(before, after, but=("root",)) < EXACT


def test_the_root_is_the_bone_or_the_object_that_is_chosen():
    walk = Walk()
    ob = walker(walk)
    before = shown(ob, walk.frames)
    assert to_root(bpy.context, ob, root="")["root"] == ""
    after = shown(ob, walk.frames)
    assert apart(before, after) < EXACT
    assert shown_objects([ob], walk.frames)[ob.name][-1, 1, 3] < -1.0
    with pytest.raises(ChainError, match=r"Bone 'prop': body 'hips' does not move with it"):
        to_root(bpy.context, ob, root="prop")
    with pytest.raises(ChainError, match=r"has no bone 'nose'"):
        to_root(bpy.context, ob, root="nose")


def test_the_source_is_kept_and_bones_that_do_not_change_keep_their_keys():
    walk = Walk()
    ob = walker(walk)
    source = ob.animation_data.action
    to_root(bpy.context, ob)
    made = ob.animation_data.action
    assert (made.name, source.name, source.use_fake_user) == ("walk root motion", "walk", True)
    assert made["analytic_ik_made_from"] == source
    ob.animation_data.action = source
    assert np.abs(shown(ob, walk.frames)["root"] - shown(ob, [1])["root"]).max() < EXACT


def test_controls_parented_to_the_root_or_to_something_on_it_stay():
    walk = Walk()
    ob, _ = character(walk, "Empties")
    left, right = (tip.analytic_ik_target for tip in (ob.pose.bones["shin.L"], ob.pose.bones["shin.R"]))
    group = bpy.data.objects.new("group", None)
    bpy.context.collection.objects.link(group)
    for child, parent, bone in ((group, ob, "root"), (left, group, ""), (right, ob, "root")):
        child.parent, child.parent_type, child.parent_bone = parent, "BONE" if bone else "OBJECT", bone
    update()
    before, objects = shown(ob, walk.frames), shown_objects([group, left, right], walk.frames)
    to_root(bpy.context, ob, heading=True)
    assert apart(before, shown(ob, walk.frames), but=("root",)) < EXACT
    moved = shown_objects([group, left, right], walk.frames)
    assert all(np.abs(moved[name] - objects[name]).max() < EXACT * LEG for name in objects)


def test_a_muted_chain_keeps_its_controls_in_place_too():
    walk = Walk()
    ob, _ = character(walk, "control bones")
    for tip in ("shin.L", "shin.R"):
        ob.pose.bones[tip].analytic_ik_enabled = False
    update()
    before = shown(ob, walk.frames)
    to_root(bpy.context, ob)
    assert apart(before, shown(ob, walk.frames), but=("root",)) < EXACT


def constrained(ob):
    ob.pose.bones["prop"].constraints.new("COPY_LOCATION").target = bpy.data.objects.new("held", None)


def driven(ob):
    ob.pose.bones["hips"].driver_add("location", 0)


def connected(ob):
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones["prop"].head = ob.data.edit_bones["root"].tail
    ob.data.edit_bones["prop"].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")


def still(ob):
    ob.animation_data.action = None


def without_legs(ob):
    for bone in ob.data.bones:
        bone.name = f"b{len(bone.name)}"
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in [each for each in ob.data.edit_bones if each.head.z < 0.6]:
        ob.data.edit_bones.remove(bone)
    bpy.ops.object.mode_set(mode="OBJECT")


def unevenly(ob):
    ob.scale = 1.0, 1.6, 1.0
    update()


REFUSED = {
    constrained: (r"Bone 'prop': constraint 'Copy Location' moves it, so keys cannot. Mute it", {}),
    driven: (r"Bone 'hips': a driver sets its location and would override the keys. Remove that driver.", {}),
    connected: (r"Bone 'prop': it is connected to its parent and cannot move. Disconnect it in Edit Mode.", {}),
    still: (r"Armature 'walker': no keys move it over a range of frames. Key its bones first.", {}),
    without_legs: (r"Armature 'walker': no bone carries legs that can be found. Choose its body", {}),
    unevenly: (r"Bone 'root': what carries it is scaled unevenly, so it would be sheared.", {"root": ""}),
}


@pytest.mark.parametrize("spoil", REFUSED, ids=lambda spoil: spoil.__name__)
def test_what_cannot_stay_is_named_and_nothing_changes(spoil):
    ob = walker(Walk(turn=1.0, last=25))
    spoil(ob)
    before = whole_state()
    said, given = REFUSED[spoil]
    with pytest.raises(ChainError, match=said):
        to_root(bpy.context, ob, heading=True, **given)
    assert whole_state() == before


def test_a_body_that_turns_on_and_on_has_a_continuous_heading():
    walk = replace(Walk(), turn=2.5 * pi)
    ob = walker(walk)
    before = shown(ob, walk.frames)
    report = to_root(bpy.context, ob, heading=True)
    assert report["heading"] == pytest.approx(2.5 * pi, abs=1e-3)
    after = shown(ob, walk.frames)
    assert apart(before, after, but=("root",)) < EXACT
    assert after["root"][-1, :2, 0] == pytest.approx((cos(2.5 * pi), sin(2.5 * pi)), abs=1e-4)
