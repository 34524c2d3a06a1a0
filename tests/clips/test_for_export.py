"""Bake All Clips for Export: what a game gets is what was shown live, under the same names and without controls."""

import bpy
import numpy as np
import pytest

from ik_addon.authoring.for_export import back_to_live, bake_clips_for_export
from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake import chains_of
from ik_addon.bake.clips import bake_clips
from ik_addon.rig.blender.animation import all_fcurves, bone_of_path
from ik_addon.rig.blender.clips import clip_name, clips_of
from ik_addon.solvers import ChainError

from ..rig.rigs import update
from ..scenes import enter, go_to, refuses, whole_state, without_handlers
from ..travel.walkers import Walk
from ..travel.walkers import walker as walks
from .characters import (
    AMOUNTS,
    FRAMES,
    SLOTTED,
    all_shown,
    as_bones,
    farthest,
    numbered,
    rigged_character,
    show,
    walker,
)
from .exporting import MODES, OF_ONE_CLIP, exported, film

pytestmark = pytest.mark.versions

NEAR = 1e-4
"""Of the leg."""
LEG = 0.86


def own_bones(ob: bpy.types.Object) -> list[str]:
    """All that are no control bones."""
    return [bone.name for bone in ob.data.bones if bone.use_deform]


def unmute_tracks(ob: bpy.types.Object) -> None:
    """FBX takes these alone."""
    for track in ob.animation_data.nla_tracks:
        track.mute = False


def films(ob: bpy.types.Object, names, bones) -> dict[str, np.ndarray]:
    found = {}
    for name in names:
        show(ob, name)
        found[name] = film(ob, bones, FRAMES)
    return found


def compare(ob: bpy.types.Object, names, mode: str, folder, is_live: bool = False, **options):
    """Export, import again and compare with what is shown; returns what was imported. is_live: FBX of actions without
    slots also has clips that are named after Empties."""
    bones = own_bones(ob)
    shown = films(ob, names, bones)
    playing = names[-1]
    show(ob, playing)
    wanted = {"": shown[playing]} if mode in OF_ONE_CLIP else shown
    back = exported(folder, mode, bones, FRAMES, **options)
    if not (is_live and mode == "FBX ACTIONS" and not SLOTTED):
        assert set(back.films) == set(wanted)
    for name in wanted:
        assert np.abs(back.films[name] - wanted[name]).max() < NEAR * LEG, name
    return back


characters = pytest.mark.parametrize(
    ("count", "beast"),
    [
        pytest.param(3, False, id="biped, 3 clips"),
        pytest.param(3, True, marks=pytest.mark.slow, id="quadruped, 3 clips"),
        pytest.param(20, False, marks=pytest.mark.deep, id="biped, 20 clips"),
        pytest.param(13, True, marks=pytest.mark.deep, id="quadruped, 13 clips"),
    ],
)
in_every_mode = pytest.mark.parametrize(
    "mode", [pytest.param(mode, marks=[] if mode == "ACTIONS" else pytest.mark.slow) for mode in MODES]
)


@pytest.mark.some(8)
@in_every_mode
@as_bones
@characters
def test_live_clips_are_exported_as_they_are_shown(count, beast, as_bones, mode, tmp_path):
    names = numbered(count)
    ob = rigged_character(as_bones, names=names, strips=True, beast=beast)
    unmute_tracks(ob)
    compare(ob, names, mode, tmp_path, is_live=True)


@pytest.mark.some(8)
@in_every_mode
@as_bones
@characters
def test_clips_baked_for_export_are_what_was_shown_live(count, beast, as_bones, mode, tmp_path):
    names = numbered(count)
    ob = rigged_character(as_bones, names=names, strips=True, beast=beast)
    unmute_tracks(ob)
    bones = own_bones(ob)
    live = films(ob, names, bones)
    bake_clips_for_export(bpy.context, ob)
    baked = films(ob, names, bones)
    assert max(np.abs(live[name] - baked[name]).max() for name in names) < 0.1 * NEAR
    back = compare(ob, names, mode, tmp_path)
    # Neither Empties nor the shapes of control bones.
    assert back.objects == []


@as_bones
def test_back_to_live_gives_everything_back(as_bones):
    ob = rigged_character(as_bones, strips=True)
    show(ob, "run")
    enter("POSE", ob, "spine")
    go_to(4)
    before = whole_state()
    assert bpy.ops.analytic_ik.bake_for_export() == {"FINISHED"}
    assert all(f"{name} (live)" in bpy.data.actions for name in AMOUNTS)
    assert not any(each.type == "EMPTY" for each in bpy.context.scene.objects)
    update()
    assert bpy.ops.analytic_ik.back_to_live() == {"FINISHED"}
    go_to(4)
    after = whole_state()
    for state in (before, after):
        state["objects"][ob.name].pop("report", None)
    assert after == before


@as_bones
def test_in_between_the_file_may_be_saved_and_opened(as_bones, tmp_path):
    ob = rigged_character(as_bones)
    live, name = all_shown(ob), ob.name
    bake_clips_for_export(bpy.context, ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "baked.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "baked.blend"), load_ui=True)
    ob = bpy.data.objects[name]
    with without_handlers():
        assert farthest(all_shown(ob), live) < 0.1 * NEAR
    assert back_to_live(ob) == len(AMOUNTS)
    update()
    assert farthest(all_shown(ob), live) < 1e-6


def test_what_puts_them_aside_is_said_and_cannot_be_done_twice(capfd):
    ob = rigged_character(False)
    enter("POSE", ob, "spine")
    with pytest.raises(
        RuntimeError, match=r"'skeleton' is not baked for export. Click Bake All Clips for Export first"
    ):
        bpy.ops.analytic_ik.back_to_live()
    with pytest.raises(ChainError, match="is not baked for export"):
        back_to_live(ob)
    bpy.ops.analytic_ik.bake_for_export()
    assert "Baked 3 clips for export, controls left out" in capfd.readouterr().out
    with pytest.raises(RuntimeError, match=r"'skeleton' is baked for export already. Click Back to Live first"):
        bpy.ops.analytic_ik.bake_for_export()
    with pytest.raises(ChainError, match="is baked for export already"):
        bake_clips_for_export(bpy.context, ob)
    bpy.ops.analytic_ik.unmute()
    assert "The chains are live again in 3 clips" in capfd.readouterr().out


@as_bones
def test_what_fails_leaves_everything_as_it_was(as_bones):
    ob = rigged_character(as_bones)
    folded = bpy.data.actions.new("folded")
    ob.animation_data.action = folded
    thigh = ob.pose.bones["thigh.L"]
    thigh.scale = (0.0, 0.0, 0.0)
    thigh.keyframe_insert("scale", frame=1)
    update()
    with refuses(ChainError, "Clip 'folded'"):
        bake_clips_for_export(bpy.context, ob)


def test_a_clip_in_an_action_of_a_library_is_refused(tmp_path):
    ob = rigged_character(True)
    bpy.data.libraries.write(str(tmp_path / "walk.blend"), {bpy.data.actions["walk"]})
    with bpy.data.libraries.load(str(tmp_path / "walk.blend"), link=True) as (_, into):
        into.actions = ["walk"]
    ob.animation_data.action = into.actions[0]
    update()
    with pytest.raises(ChainError, match="'walk' is linked"):
        bake_clips_for_export(bpy.context, ob)


def test_empties_come_back_to_where_they_were():
    """In the scene itself, in two collections, or in one that was deleted meanwhile."""
    ob = rigged_character(False)
    kept, lost = (bpy.data.collections.new(name) for name in ("kept", "lost"))
    for collection in (kept, lost):
        bpy.context.scene.collection.children.link(collection)
    foot, other, knee = (bpy.data.objects[name] for name in ("Foot.L", "Foot.R", "Knee.L"))
    home = foot.users_collection[0]
    kept.objects.link(foot)
    for each in (other, knee):
        home.objects.unlink(each)
    bpy.context.scene.collection.objects.link(other)
    lost.objects.link(knee)
    update()
    bake_clips_for_export(bpy.context, ob)
    assert not any(each.users_collection for each in (foot, other, knee))
    bpy.data.collections.remove(lost)
    back_to_live(ob)
    assert {*foot.users_collection} == {home, kept}
    assert [*other.users_collection] == [*knee.users_collection] == [bpy.context.scene.collection]


def test_controls_that_are_no_empties_stay_in_the_scene():
    ob = rigged_character(False)
    mesh = bpy.data.objects.new("prop", bpy.data.meshes.new("prop"))
    bpy.context.scene.collection.objects.link(mesh)
    ob.pose.bones["shin.L"].analytic_ik_pole_target = mesh
    update()
    bake_clips_for_export(bpy.context, ob)
    assert "prop" in bpy.context.scene.objects
    assert "Foot.L" not in bpy.context.scene.objects


def test_chains_that_were_off_stay_off():
    ob = rigged_character(True)
    ob.pose.bones["shin.R"].analytic_ik_enabled = False
    update()
    bake_clips_for_export(bpy.context, ob)
    assert not any(bone.analytic_ik_enabled for bone in ob.pose.bones)
    back_to_live(ob)
    assert [bone.name for bone in ob.pose.bones if bone.analytic_ik_enabled] == ["shin.L"]


def test_what_was_deleted_meanwhile_is_no_obstacle():
    ob = rigged_character(False)
    live = all_shown(ob)
    bake_clips_for_export(bpy.context, ob)
    bpy.data.actions.remove(bpy.data.actions["walk (live)"])
    bpy.data.actions.remove(bpy.data.actions["idle"])
    bpy.data.objects.remove(bpy.data.objects["Foot.L"])
    assert back_to_live(ob) == 1
    assert {"walk", "run", "idle"} <= set(bpy.data.actions.keys())
    ob.animation_data.action = bpy.data.actions["idle"]
    assert len(clips_of(ob)) == 3
    assert live


def test_all_armatures_of_a_scene_are_baked_at_once():
    first = rigged_character(False)
    twin = first.copy()
    bpy.context.scene.collection.objects.link(twin)
    twin.animation_data_clear()
    twin.animation_data_create().action = first.animation_data.action.copy()
    update()
    bpy.context.view_layer.objects.active = None
    assert bpy.ops.analytic_ik.bake_for_export(all=True) == {"FINISHED"}
    assert not any(bone.analytic_ik_enabled for ob in (first, twin) for bone in ob.pose.bones)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["ACTIONS", "FBX ACTIONS"])
def test_control_bones_are_left_out_where_deforming_bones_alone_are_asked_for(mode, tmp_path):
    ob = rigged_character(True)
    own = set(own_bones(ob))
    bake_clips_for_export(bpy.context, ob)
    only = {"use_armature_deform_only": True} if mode.startswith("FBX") else {"export_def_bones": True}
    assert exported(tmp_path, mode, sorted(own), FRAMES, **only).bones == own


def test_empties_that_ride_on_bones_are_not_exported_and_ride_on_them_again(tmp_path):
    ob = rigged_character(False)
    foot = bpy.data.objects["Foot.L"]
    foot.parent, foot.parent_type, foot.parent_bone = ob, "BONE", "spine"
    foot.matrix_parent_inverse[0][3] = 0.25
    update()
    rode = foot.parent, foot.parent_type, foot.parent_bone, [list(row) for row in foot.matrix_parent_inverse]
    bake_clips_for_export(bpy.context, ob)
    back_to_live(ob)
    assert rode == (foot.parent, foot.parent_type, foot.parent_bone, [list(row) for row in foot.matrix_parent_inverse])
    bake_clips_for_export(bpy.context, ob)
    names = exported(tmp_path, "ACTIONS", own_bones(ob), FRAMES).objects
    assert not [name for name in names if name.startswith("Foot")]


def test_a_clip_that_another_one_was_made_of_is_exported_beside_it():
    """Who lets a walk travel has two walks; who plants one, or moves its travel to the root, has it once."""
    ob = walks(Walk(last=25))
    rig_legs(bpy.context, ob)
    update()
    bpy.ops.analytic_ik.in_place()
    bpy.ops.analytic_ik.plant_feet(anyway=True)
    names = {clip_name(clip, clips_of(ob)) for clip in clips_of(ob)}
    assert names == {"walk", "walk in place planted"}
    bake_clips_for_export(bpy.context, ob)
    assert {clip_name(clip, clips_of(ob)) for clip in clips_of(ob)} == {"walk", "walk in place"}
    back_to_live(ob)
    assert {clip_name(clip, clips_of(ob)) for clip in clips_of(ob)} == names


@as_bones
def test_what_was_baked_before_is_no_clip_beside_the_one_that_plays(as_bones):
    ob = rigged_character(as_bones)
    show(ob, "walk")
    chains = chains_of([ob])
    bake_clips(bpy.context, chains, "COPY", clips="CURRENT", frames=FRAMES)
    assert ob.animation_data.action.name == "walk baked"
    # Back to what was baked, as if nothing had been.
    show(ob, "walk")
    for chain in chains:
        ob.pose.bones[chain.tip].analytic_ik_enabled = True
    update()
    report = bake_clips_for_export(bpy.context, ob)
    assert sorted(entry["clip"] for entry in report["files"]) == sorted(AMOUNTS)
    # Exporters of all actions do not see it either.
    assert "walk baked" not in moving_actions()
    back_to_live(ob)
    assert all(not curve.data_path.startswith("analytic_ik") for curve in all_fcurves(bpy.data.actions["walk baked"]))


def moving_actions() -> set[str]:
    """The names of actions that move bones."""
    moved = (action for action in bpy.data.actions if any(bone_of_path(c.data_path)[0] for c in all_fcurves(action)))
    return {action.name for action in moved}


def test_planted_clips_are_exported_under_the_names_of_their_captures():
    ob = walker(False)
    bpy.ops.analytic_ik.plant_feet(clips="ALL")
    before = {clip_name(clip, clips_of(ob)) for clip in clips_of(ob)}
    assert "walk planted" in before
    report = bake_clips_for_export(bpy.context, ob)
    assert {"walk", "slow"} <= {entry["clip"] for entry in report["files"]}
    assert {clip_name(clip, clips_of(ob)) for clip in clips_of(ob)} == {entry["clip"] for entry in report["files"]}
    assert ob.animation_data.action.name == "walk"
    back_to_live(ob)
    assert {clip_name(clip, clips_of(ob)) for clip in clips_of(ob)} == before
    assert {"walk", "walk planted"} <= set(bpy.data.actions.keys())
    assert not [name for name in set(bpy.data.actions.keys()) if "(source)" in name or "(live)" in name]
