"""Characters with several clips: every one is carried, shown, baked, checked and planted as if it were the only one."""

import bpy
import numpy as np
import pytest

from ik_addon.authoring import rigging
from ik_addon.authoring.rigging import rig_legs
from ik_addon.authoring.snap import motion_snapped, snap_targets
from ik_addon.bake import chains_of
from ik_addon.bake.baking import bake
from ik_addon.bake.clips import bake_clips, rigged_clips
from ik_addon.bake.stepping import finish
from ik_addon.planting.scene.checking import clips_checked
from ik_addon.planting.scene.sources import is_planted, mark_source, source_of
from ik_addon.rig.blender.armatures import armature_objects
from ik_addon.rig.blender.clips import clip_name, clips_of, made_from, mark_made
from ik_addon.rig.status.problems import bones_left_behind
from ik_addon.solvers import ChainError

from ..authoring.skeletons import FAMILIES, armature_of
from ..rig.rigs import new_empty, update
from ..scenes import (
    action_state,
    curve_bags,
    curves_of,
    go_to,
    refuses,
    reopened,
    select,
    without_handlers,
)
from .characters import (
    AMOUNTS,
    FRAMES,
    SLOTTED,
    all_shown,
    as_bones,
    farthest,
    film,
    new_character,
    new_clip,
    rigged_character,
    show,
    shown,
)

pytestmark = pytest.mark.versions

NEAR = 1e-4


def names_of(ob) -> list[str]:
    clips = clips_of(ob)
    return sorted(clip_name(clip, clips) for clip in clips)


def check_clips(ob, names="ALL") -> dict:
    chains = chains_of([ob])
    return finish(clips_checked(bpy.context, chains, [ob], names))


# What a clip is


@pytest.mark.parametrize("strips", [False, True])
def test_every_action_of_an_armature_is_a_clip(strips):
    ob = new_character(strips=strips)
    assert names_of(ob) == sorted(AMOUNTS)


def test_what_moves_something_else_is_none():
    ob = new_character()
    new_empty("prop").keyframe_insert("location", frame=1)
    bpy.data.actions.new("nothing")
    other = armature_of(FAMILIES[0].bones())
    new_clip(other, "walk.other")
    # Two armatures have its bones: nobody knows whose it is.
    assert names_of(ob) == ["idle"]
    assert names_of(other) == ["walk.other"]


@pytest.mark.skipif(not SLOTTED, reason="actions have no slots")
def test_slots_of_one_action_are_clips():
    ob = new_character(["walk"])
    action = ob.animation_data.action
    first = ob.animation_data.action_slot
    ob.animation_data.action_slot = second = action.slots.new("OBJECT", "jump")
    ob.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=1)
    assert names_of(ob) == ["walk: jump", f"walk: {first.name_display}"]
    ob.animation_data.action_slot = first
    other = armature_of(FAMILIES[0].bones())
    other.animation_data_create().action = action
    other.animation_data.action_slot = second
    assert names_of(ob) == ["walk"]


# Carried


@pytest.mark.some(2)
@as_bones
@pytest.mark.parametrize("strips", [False, True])
def test_every_clip_is_carried_to_the_controls(as_bones, strips):
    ob = new_character(strips=strips)
    before = all_shown(ob)
    rigged = rig_legs(bpy.context, ob, as_bones=as_bones)
    assert sorted(rigged.followed.clips) == sorted(AMOUNTS) and not rigged.warnings
    # In any order, and each again.
    assert farthest(before, all_shown(ob)) < NEAR
    assert farthest(before, all_shown(ob, names=reversed(AMOUNTS))) < NEAR


@as_bones
def test_a_clip_from_which_another_was_made_is_carried_too(as_bones):
    ob = new_character()
    before, (source, made, *_) = all_shown(ob), AMOUNTS
    mark_made(bpy.data.actions[made], bpy.data.actions[source], "planted")
    show(ob, made)
    assert source not in names_of(ob)
    assert sorted(rig_legs(bpy.context, ob, as_bones=as_bones).followed.clips) == sorted(AMOUNTS)
    assert farthest(before, all_shown(ob)) < NEAR


def test_what_would_change_another_clip_is_refused_and_leaves_nothing(capfd):
    ob = rigged_character(as_bones=False)
    new_clip(ob, "walk.later")
    update()
    select(ob)
    with refuses(RuntimeError, r"plays another clip\. Use Snap IK to FK in this one first"):
        bpy.ops.analytic_ik.make_loop()


def test_clips_that_the_controls_do_not_carry_are_named(monkeypatch, capfd):
    ob, missed = new_character(), {}

    def measured(context, tips, frames, clips):
        snapped = yield from motion_snapped(context, tips, frames, clips)
        name = ob.animation_data.action.name
        missed[name] = 0.02 if name == "run" else 0.0
        snapped.missed[tips[-1].name] = missed[name]
        return snapped

    monkeypatch.setattr(rigging, "motion_snapped", measured)
    assert bpy.ops.analytic_ik.rig_legs() == {"FINISHED"}
    said = capfd.readouterr().out
    assert missed.keys() == AMOUNTS.keys()
    assert f"the controls follow {len(AMOUNTS) - 1} clips" in said
    assert "Warning: Clip 'run' is not followed exactly: 'shin." in said


@as_bones
def test_the_controls_carry_it_and_not_the_keys_below(as_bones):
    ob = rigged_character(as_bones)
    lifted = all_shown(ob)
    with without_handlers():
        in_fk = all_shown(ob)
    assert farthest(lifted, in_fk) > 0.01
    assert farthest(lifted, all_shown(ob)) < 1e-6


def test_bones_that_a_clip_leaves_alone_are_at_rest_in_it():
    ob = new_character()
    nodding = bpy.data.actions["run"]
    ob.animation_data.action = nodding
    ob.pose.bones["spine"].rotation_mode = "QUATERNION"
    ob.pose.bones["spine"].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    ob.pose.bones["spine"].keyframe_insert("rotation_quaternion", frame=1)
    rig_legs(bpy.context, ob)
    # As exporters and players have it: nothing is left over from the clip before.
    ob.animation_data.action = bpy.data.actions["walk"]
    ob.pose.bones["spine"].rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    update()
    with without_handlers():
        in_fk = shown(ob, "walk")
    assert np.abs(shown(ob, "walk") - in_fk).max() < NEAR


def test_a_copy_in_no_scene_does_not_lead_the_controls():
    """FBX makes one of each object that it exports, and leaves it with the action from before."""
    ob = rigged_character(False)
    lifted = all_shown(ob)
    show(ob, "idle")
    copy = ob.copy()
    ob.animation_data.action = bpy.data.actions["walk"]
    go_to(FRAMES[0])
    found = film(ob, FRAMES)
    assert copy.animation_data.action.name == "idle"
    assert np.abs(found - lifted["walk"]).max() < 1e-6


def test_a_control_that_plays_something_of_its_own_keeps_it():
    ob = rigged_character(False)
    foot = bpy.data.objects["Foot.L"]
    foot.animation_data.action = None
    foot.keyframe_insert("location", frame=1)
    own = foot.animation_data.action
    for name in AMOUNTS:
        show(ob, name)
        assert foot.animation_data.action == own


def test_undo_brings_controls_and_clip_back_together():
    ob = rigged_character(False)
    name, before = ob.name, shown(ob, "walk")
    bpy.ops.ed.undo_push(message="walk")
    show(ob, "run")
    go_to(5)
    bpy.ops.ed.undo_push(message="run")
    bpy.ops.ed.undo()
    ob = bpy.data.objects[name]
    assert ob.animation_data.action.name == "walk"
    assert np.abs(shown(ob, "walk") - before).max() < 1e-6
    bpy.ops.ed.redo()
    update()
    playing = {control.animation_data.action.name for control in bpy.data.objects if control.name.startswith("Foot")}
    assert all(name.startswith("run") for name in playing)


@as_bones
def test_what_cannot_be_carried_leaves_nothing(as_bones, monkeypatch):
    ob = new_character()
    before = {action.name: action_state(action) for action in bpy.data.actions}
    objects = set(bpy.data.objects)
    done = []

    def failing(*given, **named):
        done.append(1)
        if len(done) == 2:
            raise ChainError("no")
        return (yield from snapping(*given, **named))

    module = __import__("ik_addon.authoring.rigging", fromlist=["rigging"])
    snapping = module.motion_snapped
    monkeypatch.setattr(module, "motion_snapped", failing)
    with pytest.raises(ChainError, match=r"Clip '\w+': no"):
        rig_legs(bpy.context, ob, as_bones=as_bones)
    assert {action.name: action_state(action) for action in bpy.data.actions} == before
    assert set(bpy.data.objects) == objects


# A clip that came later


@as_bones
def test_a_clip_without_keys_of_the_controls_is_told_and_followed(as_bones):
    ob = rigged_character(as_bones)
    before = all_shown(ob)
    new_clip(ob, "walk.later")
    update()
    assert bones_left_behind(ob, "shin.L") == ["thigh.L", "shin.L"]
    with without_handlers():
        in_fk = shown(ob, "walk.later")
    select(ob)
    snap_targets(bpy.context, [ob.pose.bones[f"shin.{side}"] for side in "LR"], FRAMES)
    assert not bones_left_behind(ob, "shin.L")
    assert np.abs(shown(ob, "walk.later") - in_fk).max() < NEAR
    assert farthest(before, all_shown(ob)) < 1e-6


# Baked


@pytest.mark.some(2)
@as_bones
@pytest.mark.parametrize("action", ["COPY", "CURRENT"])
def test_baked_clips_play_without_the_add_on_as_they_did_live(as_bones, action):
    ob = rigged_character(as_bones, strips=True)
    before = all_shown(ob)
    report = bake_clips(bpy.context, chains_of([ob]), action, strips=True)
    assert sorted(entry["clip"] for entry in report["files"]) == sorted(AMOUNTS)
    assert not any(bone.analytic_ik_enabled for bone in ob.pose.bones)
    suffix = " baked" if action == "COPY" else ""
    with without_handlers():
        assert farthest(before, all_shown(ob, suffix)) < 1e-5
    played = {track.name: track.strips[0].action.name for track in ob.animation_data.nla_tracks}
    assert played == {name: name + suffix for name in AMOUNTS}


@as_bones
def test_it_is_what_baking_each_clip_alone_gives(as_bones):
    def keys_of(name: str) -> dict:
        # Groups are named after bones in both.
        return action_state(bpy.data.actions[name])

    ob = rigged_character(as_bones)
    bake_clips(bpy.context, chains_of([ob]))
    together = {name: keys_of(f"{name} baked") for name in AMOUNTS}
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = rigged_character(as_bones)
    for name in AMOUNTS:
        show(ob, name)
        bake(bpy.context, chains_of([ob]), FRAMES, after="KEEP")
        assert keys_of(f"{name} baked") == together[name]


@pytest.mark.some(2)
@as_bones
@pytest.mark.parametrize("strips", [False, True])
def test_every_baked_clip_is_saved(as_bones, strips, tmp_path):
    ob = rigged_character(as_bones, strips=strips)
    bake_clips(bpy.context, chains_of([ob]), strips=strips)
    made = {f"{name} baked" for name in AMOUNTS}
    assert made <= {action.name for action in bpy.data.actions}
    reopened(tmp_path / "baked.blend")
    assert made <= {action.name for action in bpy.data.actions}


def test_a_clip_is_baked_over_its_own_frames():
    ob = new_character(["walk"])
    new_clip(ob, "run", range(20, 27))
    rig_legs(bpy.context, ob)
    report = bake_clips(bpy.context, chains_of([ob]))
    frames = {entry["clip"]: entry["frames"] for entry in report["files"]}
    assert frames == {"walk": [1, 12, 1], "run": [20, 26, 1]}


def test_what_was_baked_is_one_clip_with_what_it_was_baked_from():
    ob = rigged_character(True)
    bake_clips(bpy.context, chains_of([ob]), after="KEEP")
    assert names_of(ob) == sorted(f"{name} baked" for name in AMOUNTS)


def test_checking_measures_each_clip_and_changes_nothing():
    ob = rigged_character(False)
    before = {action.name: action_state(action) for action in bpy.data.actions}
    report = check_clips(ob)
    assert sorted(entry["clip"] for entry in report["files"]) == sorted(AMOUNTS)
    assert all(chain["max_error"] < 1e-5 for entry in report["files"] for chain in entry["chains"])
    assert {action.name: action_state(action) for action in bpy.data.actions} == before
    assert ob.animation_data.action.name == "idle"


# Said


def test_clips_that_are_none_are_named():
    ob = rigged_character(True)
    with pytest.raises(ChainError, match="Armature 'skeleton' has no clip 'jump', or its controls"):
        bake_clips(bpy.context, chains_of([ob]), clips=["jump"])
    ob.animation_data.action = None
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    with pytest.raises(ChainError, match="has no clip in which the controls have keys"):
        check_clips(ob)


def test_a_clip_that_holds_a_pose_is_checked_and_baked_at_its_frame():
    ob = rigged_character(True)
    still = bpy.data.actions.new("still")
    ob.animation_data.action = still
    ob.pose.bones["spine"].keyframe_insert("location", frame=7)
    [entry] = check_clips(ob, ["still"])["files"]
    assert entry["frames"] == [7, 7, 1]
    bake_clips(bpy.context, chains_of([ob]))
    frames = {point.co.x for curve in curves_of(ob).values() for point in curve.keyframe_points}
    assert ob.animation_data.action.name == "still baked" and frames == {7.0}


@as_bones
def test_the_operators_go_through_all_clips(as_bones, capfd):
    ob = rigged_character(as_bones, strips=True)
    assert bpy.ops.analytic_ik.check(clips="ALL") == {"FINISHED"}
    assert bpy.ops.analytic_ik.bake(clips="ALL") == {"FINISHED"}
    said = capfd.readouterr().out
    assert "Checked 3 clips of 2 chains" in said
    assert "Baked 3 clips of 2 chains" in said
    assert len(rigged_clips(ob)) == 3


def test_a_clip_whose_feet_go_too_far_is_named(capfd):
    ob = rigged_character(True)
    for curve in [curve for curve in _curves(bpy.data.actions["run"]) if "foot_ik" in curve.data_path]:
        if curve.data_path.endswith("location"):
            for point in curve.keyframe_points:
                point.co.y += 5.0
            curve.update()
    bpy.ops.analytic_ik.check(clips="ALL")
    assert "Clip 'run':" in capfd.readouterr().out
    assert ob.analytic_ik_report


def _curves(action):
    return [curve for bag in curve_bags(action).values() for curve in bag.fcurves]


def test_without_a_tick_nothing_is_baked():
    rigged_character(True)
    with pytest.raises(RuntimeError, match=r"No clip of armature 'skeleton' is ticked. Tick one in the list"):
        bpy.ops.analytic_ik.bake(clips="ALL", chosen_clips=[{"name": "walk", "use": False}])
    ticks = [{"name": "walk", "use": True}, {"name": "run", "use": False}]
    assert bpy.ops.analytic_ik.bake(clips="ALL", chosen_clips=ticks) == {"FINISHED"}
    assert {action.name for action in bpy.data.actions} == {*AMOUNTS, "walk baked"}


@pytest.mark.parametrize("undone", [False, True])
def test_an_action_that_is_deleted_is_the_source_of_none(undone):
    ob = new_character()
    source = ob.animation_data.action
    made = source.copy()
    made.use_fake_user, ob.animation_data.action = True, made
    mark_made(made, source, "planted")
    mark_source(made, source, "planted")
    if undone:
        bpy.ops.ed.undo_push(message="made")
        bpy.ops.ed.undo_push(message="nothing")
        bpy.ops.ed.undo()
    source, made = made_from(bpy.data.actions[made.name]), bpy.data.actions[made.name]
    (ob,) = armature_objects()
    assert source_of(ob) == source
    bpy.data.actions.remove(source)
    assert made_from(made) is None
    assert is_planted(ob) and source_of(ob) is None


def strips_of(owner) -> list:
    return [strip for track in owner.animation_data.nla_tracks for strip in track.strips]


@pytest.mark.skipif(not hasattr(bpy.types, "ActionSlot"), reason="actions have no slots")
@pytest.mark.parametrize("clips", ["ALL", "CURRENT"])
def test_what_else_an_action_moves_goes_with_what_is_made_of_it(clips):
    """Shape keys in slots of their own, as importers of glTF make them."""
    ob = rigged_character(True, strips=True)
    face = bpy.data.objects.new("face", bpy.data.meshes.new("face"))
    bpy.context.scene.collection.objects.link(face)
    for name in ("Basis", "smile"):
        face.shape_key_add(name=name)
    keys = face.data.shape_keys
    data = keys.animation_data_create()
    for strip in strips_of(ob):
        data.action = strip.action
        data.action_slot = strip.action.slots.new("KEY", "face")
        keys.key_blocks["smile"].keyframe_insert("value", frame=1)
        own = data.nla_tracks.new().strips.new(strip.name, 1, strip.action)
        own.action_slot = data.action_slot
    data.action = ob.animation_data.action
    data.action_slot = next(slot for slot in data.action.slots if slot.target_id_type == "KEY")
    before = [strip.action for strip in strips_of(ob)]
    select(ob)
    for mode in ("make_loop", "bake"):
        if mode == "bake" and clips == "CURRENT":
            continue
        assert getattr(bpy.ops.analytic_ik, mode)(clips=clips) == {"FINISHED"}
    assert data.action == ob.animation_data.action and data.action_slot.target_id_type == "KEY"
    after = [strip.action for strip in strips_of(ob)]
    changed = [new != old for old, new in zip(before, after, strict=True)]
    assert all(changed) if clips == "ALL" else sum(changed) == 1
    assert [strip.action for strip in strips_of(keys)] == after
    assert all(strip.action_slot.target_id_type == "KEY" for strip in strips_of(keys))


def test_rig_legs_says_how_many_clips_the_controls_follow(capfd):
    select(new_character())
    assert bpy.ops.analytic_ik.rig_legs() == {"FINISHED"}
    assert "Rigged 2 legs, the controls follow 3 clips\n" in capfd.readouterr().out
