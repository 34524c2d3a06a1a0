"""Snapping over clips: each clip's controls carry its FK pose, or its bones get what it shows; nothing else changes."""

import bpy
import numpy as np
import pytest

from ik_addon.authoring.rigging import rig_legs
from ik_addon.rig.blender.clips import playing_clip
from ik_addon.rig.data.control_clips import partner

from ..rig.rigs import update
from ..scenes import action_state, enter, whole_state, without_handlers
from .characters import (
    AMOUNTS,
    FRAMES,
    all_shown,
    as_bones,
    farthest,
    film,
    new_character,
    new_clip,
    rigged_character,
    show,
)

pytestmark = pytest.mark.versions

NEAR = 1e-4
TIPS = ("shin.L", "shin.R")


def select_tips(ob) -> None:
    enter("POSE", ob, TIPS[0])
    for name in TIPS:
        bone = ob.pose.bones[name]
        # Since Blender 5.0 the pose bone is selected.
        (bone if hasattr(bone, "select") else bone.bone).select = True
    update()


def snap(ob, name: str, **options) -> None:
    select_tips(ob)
    assert getattr(bpy.ops.analytic_ik, name)(clips="ALL", **options) == {"FINISHED"}
    update()


def in_fk(ob) -> dict[str, np.ndarray]:
    """What the keys of the bones alone show."""
    with without_handlers():
        return all_shown(ob)


@as_bones
def test_in_every_clip_the_controls_carry_the_fk_pose(as_bones):
    ob = rigged_character(as_bones)
    fk = in_fk(ob)
    assert farthest(all_shown(ob), fk) > 0.01
    snap(ob, "snap_targets")
    assert farthest(all_shown(ob), fk) < NEAR
    assert farthest(all_shown(ob, names=reversed(AMOUNTS)), fk) < NEAR


@as_bones
def test_in_every_clip_the_shown_pose_becomes_the_fk_pose(as_bones):
    ob = rigged_character(as_bones)
    lifted = all_shown(ob)
    snap(ob, "snap_pose")
    assert farthest(in_fk(ob), lifted) < NEAR
    assert farthest(all_shown(ob), lifted) < NEAR


@as_bones
def test_clips_that_came_later_are_carried_with_the_first(as_bones):
    """A character that was rigged with one clip, whose Empties so play an action of their own."""
    ob = new_character(["walk"])
    rig_legs(bpy.context, ob, as_bones=as_bones)
    new_clip(ob, "run")
    new_clip(ob, "idle")
    update()
    fk = in_fk(ob)
    show(ob, "walk")
    snap(ob, "snap_targets")
    assert farthest(all_shown(ob), fk) < NEAR
    assert farthest(all_shown(ob, names=reversed(AMOUNTS)), fk) < NEAR
    for control in () if as_bones else (each for each in bpy.data.objects if each.type == "EMPTY"):
        assert playing_clip(control) == partner(control, playing_clip(ob))


@as_bones
def test_a_pole_that_is_missing_is_made_once(as_bones, capfd):
    ob = rigged_character(as_bones)
    fk = in_fk(ob)
    for name in TIPS:
        ob.pose.bones[name].analytic_ik_pole_target = None
        ob.pose.bones[name].analytic_ik_pole_subtarget = ""
    snap(ob, "snap_targets", controls="BONES" if as_bones else "EMPTIES")
    said = capfd.readouterr().out
    assert "Snapped 2 chains in 3 clips, with a pole target" in said
    assert farthest(all_shown(ob), fk) < NEAR


@pytest.mark.some(2)
@pytest.mark.parametrize("operator", ["snap_targets", "snap_pose"])
@as_bones
def test_clips_without_a_tick_stay_as_they_are(as_bones, operator):
    ob = rigged_character(as_bones)
    show(ob, "walk")
    select_tips(ob)
    before, shown = {name: action_state(bpy.data.actions[name]) for name in AMOUNTS}, all_shown(ob)
    ticks = [{"name": name, "use": name == "run"} for name in AMOUNTS]
    assert getattr(bpy.ops.analytic_ik, operator)(clips="ALL", chosen_clips=ticks) == {"FINISHED"}
    changed = {name for name in AMOUNTS if action_state(bpy.data.actions[name]) != before[name]}
    assert changed <= {"run"}
    now = all_shown(ob)
    assert farthest({name: now[name] for name in ("walk", "idle")}, shown) < 1e-6


@pytest.mark.some(2)
@pytest.mark.parametrize("operator", ["snap_targets", "snap_pose"])
@as_bones
def test_what_fails_in_a_later_clip_leaves_everything_as_it_was(as_bones, operator):
    ob = rigged_character(as_bones)
    folded = bpy.data.actions.new("folded")
    ob.animation_data.action = folded
    thigh = ob.pose.bones["thigh.L"]
    thigh.scale = (0.0, 0.0, 0.0)
    thigh.keyframe_insert("scale", frame=1)
    show(ob, "walk")
    select_tips(ob)
    before = whole_state()
    ticks = [{"name": name, "use": True} for name in ("walk", "folded")]
    with pytest.raises(RuntimeError, match="'folded'"):
        getattr(bpy.ops.analytic_ik, operator)(clips="ALL", chosen_clips=ticks)
    assert whole_state() == before


@pytest.mark.some(4)
@pytest.mark.parametrize("clips", ["CURRENT", "ALL"])
@pytest.mark.parametrize("operator", ["snap_targets", "snap_pose"])
@as_bones
def test_an_armature_that_shares_its_action_is_snapped_alone(as_bones, operator, clips):
    ob = rigged_character(as_bones)
    twin = ob.copy()
    bpy.context.scene.collection.objects.link(twin)
    for bone in twin.pose.bones:
        if bone.analytic_ik_enabled:
            bone.analytic_ik_enabled = False
    update()
    playing, before = twin.animation_data.action, film(twin, FRAMES)
    keys = action_state(playing)
    fk, lifted = film_in_fk(ob), film(ob, FRAMES)
    select_tips(ob)
    options = {"clips": "ALL"} if clips == "ALL" else {"use_range": True, "frame_start": 1, "frame_end": 12}
    assert getattr(bpy.ops.analytic_ik, operator)(**options) == {"FINISHED"}
    assert twin.animation_data.action == playing
    assert np.abs(film(twin, FRAMES) - before).max() < 1e-6
    if operator == "snap_pose":
        assert action_state(playing) == keys
        assert np.abs(film_in_fk(ob) - lifted).max() < NEAR
    else:
        assert np.abs(film(ob, FRAMES) - fk).max() < NEAR


def film_in_fk(ob) -> np.ndarray:
    with without_handlers():
        return film(ob, FRAMES)
