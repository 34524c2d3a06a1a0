"""Live locks: a hand follows what holds it by Blender's own constraint, whatever becomes of that afterwards."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_addon.authoring.live_locks import live_locks_of
from ik_addon.authoring.placing import Control
from ik_addon.authoring.rigging import rig_legs
from ik_addon.planting.scene.live_lock import lock_live, release
from ik_addon.solvers import ChainError
from ik_addon.ui.panels import motion

from ..rig.rigs import BoneSpec, new_armature, new_empty, update
from ..scenes import enter, go_to, whole_state
from ..ui.layouts import drawn
from .grips import drift, grips, world_of

pytestmark = pytest.mark.versions

ARM = 0.5
EXACT = 1e-5
"""Part of the arm by which a hand may be off its grip."""


def person(as_bones: bool) -> bpy.types.Object:
    """A character that stands, whose arms reach forward, rigged."""
    bones = [BoneSpec("root", (0, 0, 0), (0, 0.2, 0)), BoneSpec("hips", (0, 0, 1.0), (0, 0, 1.2), "root")]
    bones += [BoneSpec("chest", (0, 0, 1.2), (0, 0, 1.5), "hips"), BoneSpec("head", (0, 0, 1.5), (0, 0, 1.7), "chest")]
    for side, x in (("L", 0.2), ("R", -0.2)):
        bones += [
            BoneSpec(f"upper_arm.{side}", (x, 0, 1.45), (1.5 * x, -0.1, 1.25), "chest"),
            BoneSpec(f"forearm.{side}", (1.5 * x, -0.1, 1.25), (x, -0.3, 1.3), f"upper_arm.{side}"),
            BoneSpec(f"hand.{side}", (x, -0.3, 1.3), (x, -0.4, 1.3), f"forearm.{side}"),
            BoneSpec(f"thigh.{side}", (x / 2, 0, 1.0), (x / 2, -0.05, 0.5), "hips"),
            BoneSpec(f"shin.{side}", (x / 2, -0.05, 0.5), (x / 2, 0, 0.1), f"thigh.{side}"),
            BoneSpec(f"foot.{side}", (x / 2, 0, 0.1), (x / 2, -0.15, 0), f"shin.{side}"),
        ]
    ob = new_armature("person", bones)
    rig_legs(bpy.context, ob, arms=True, as_bones=as_bones)
    enter("POSE", ob, "forearm.L")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 60
    return ob


def control_of(ob: bpy.types.Object, side: str) -> Control:
    tip = ob.pose.bones[f"forearm.{side}"]
    return Control(tip.analytic_ik_target, tip.analytic_ik_subtarget)


def key_prop(prop: bpy.types.Object, amount: float = 0.1) -> None:
    for frame, k in ((1, 0.0), (20, 1.0), (40, -1.0), (60, 0.5)):
        prop.location = (0.1 + amount * k, -0.3, 1.3 + 0.5 * amount * k)
        prop.rotation_euler = (0.3 * k, 0.2 * k, -0.4 * k)
        prop.keyframe_insert("location", frame=frame)
        prop.keyframe_insert("rotation_euler", frame=frame)


def new_prop() -> bpy.types.Object:
    """Of a size that shears what is turned in it."""
    prop = new_empty("box", (0.1, -0.3, 1.3))
    prop.scale = (2.0, 1.0, 0.5)
    update()
    return prop


CHECKED = [1.0, 7.0, 20.0, 33.5, 40.0, 59.0]


@pytest.mark.parametrize("as_bones", [False, True])
def test_the_prop_may_be_animated_last(as_bones):
    ob, prop = person(as_bones), new_prop()
    lock_live(bpy.context, ob.pose.bones["forearm.L"], Control(prop), range(1, 61))
    # No key was made, of FK or of anything.
    assert not ob.animation_data
    key_prop(prop)
    rigid = new_empty("rigid")
    rigid.animation_data_create().action = prop.animation_data.action
    if hasattr(rigid.animation_data, "action_slot"):
        rigid.animation_data.action_slot = prop.animation_data.action_slot
    assert max(drift(grips(ob, Control(rigid), CHECKED), Control(rigid), ARM)) < EXACT


@pytest.mark.parametrize("as_bones", [False, True])
@pytest.mark.parametrize("bone", ["chest", "head", "hips", "hand.R"])
def test_a_hand_goes_with_a_bone_of_its_own_body(as_bones, bone):
    ob = person(as_bones)
    lock_live(bpy.context, ob.pose.bones["forearm.L"], Control(ob, bone), range(1, 61))
    body = ob.pose.bones["hips"]
    body.rotation_mode = "XYZ"
    for frame, k in ((1, 0.0), (30, 1.0), (60, -1.0)):
        body.location, body.rotation_euler = (0.05 * k, 0.0, -0.05 * k), (0.3 * k, 0.1 * k, 0.0)
        body.keyframe_insert("location", frame=frame)
        body.keyframe_insert("rotation_euler", frame=frame)
        right = control_of(ob, "R").owner
        right.location = right.location + Vector((0.02 * k, 0.01, -0.02 * k))
        right.keyframe_insert("location", frame=frame)
    off = drift(grips(ob, Control(ob, bone), CHECKED), Control(ob, bone), ARM)
    assert max(off) < EXACT


def hand(ob: bpy.types.Object, frame: float, side: str = "L") -> np.ndarray:
    """The evaluated pose of a hand in the world."""
    go_to(frame)
    return world_of(ob, f"hand.{side}")


@pytest.mark.slow
@pytest.mark.parametrize("as_bones", [False, True])
def test_outside_of_its_frames_the_hand_moves_as_before_and_eases(as_bones):
    ob, prop = person(as_bones), new_prop()
    control = control_of(ob, "L").owner
    for frame, k in ((1, 0.0), (60, 1.0)):
        control.location = control.location + k * Vector((-0.1, 0.05, 0.05))
        control.keyframe_insert("location", frame=frame)
    frames = [1.0 + 0.25 * k for k in range(237)]
    before = np.array([hand(ob, frame) for frame in frames])
    go_to(30)
    lock_live(bpy.context, ob.pose.bones["forearm.L"], Control(prop), range(20, 41), blend=6 / 24)
    key_prop(prop, 0.06)
    after = np.array([hand(ob, frame) for frame in frames])
    free = [k for k, frame in enumerate(frames) if frame <= 14 or frame >= 46]
    assert np.abs(after[free] - before[free]).max() < EXACT * ARM
    assert max(drift(grips(ob, Control(prop), np.arange(20.0, 40.01, 0.5)), Control(prop), ARM)[:1]) < EXACT
    # Eased: nowhere faster than what eases over six frames goes.
    steps = np.linalg.norm(np.diff(after[:, :3, 3], axis=0), axis=1)
    assert steps.max() < 0.02


def test_without_a_blend_it_begins_at_its_frame_and_nothing_jumps_there():
    ob, prop = person(True), new_prop()
    go_to(20)
    before = [hand(ob, frame) for frame in (19, 20)]
    go_to(20)
    lock_live(bpy.context, ob.pose.bones["forearm.L"], Control(prop), range(20, 61), blend=0.0)
    for frame, was in zip((19, 19.9, 20), (*before, before[1]), strict=True):
        assert np.abs(hand(ob, frame) - was).max() < EXACT * ARM
    key_prop(prop)
    assert np.abs(hand(ob, 40) - before[1]).max() > 0.1 * ARM


@pytest.mark.parametrize("as_bones", [False, True])
def test_a_release_leaves_the_hand_where_it_is_shown(as_bones):
    ob, prop = person(as_bones), new_prop()
    lock_live(bpy.context, ob.pose.bones["forearm.L"], Control(prop), range(1, 61))
    key_prop(prop)
    before = hand(ob, 33)
    assert release(bpy.context, ob, ["forearm.L"]) == ["forearm.L"]
    update()
    assert np.abs(world_of(ob, "hand.L") - before).max() < EXACT * ARM
    assert live_locks_of(ob) == [] and "box" in bpy.data.objects
    assert not [each for each in bpy.data.objects if " on " in each.name]
    with pytest.raises(ChainError, match="no selected limb has a live lock"):
        release(bpy.context, ob, ["forearm.L"])


@pytest.mark.parametrize("as_bones", [False, True])
def test_a_prop_that_is_deleted_leaves_the_hand_where_it_was_locked(as_bones):
    ob, prop = person(as_bones), new_prop()
    before = hand(ob, 1)
    lock_live(bpy.context, ob.pose.bones["forearm.L"], Control(prop), range(1, 61))
    key_prop(prop)
    go_to(40)
    bpy.data.objects.remove(prop)
    update()
    assert np.abs(world_of(ob, "hand.L") - before).max() < EXACT * ARM
    assert [lock.held for lock in live_locks_of(ob)] == [None]


def test_two_hands_hold_one_prop_and_a_foot_a_pedal():
    ob, prop = person(True), new_prop()
    pedal = new_empty("pedal", (0.05, -0.05, 0.05))
    for tip, held in (("forearm.L", prop), ("forearm.R", prop), ("shin.L", pedal)):
        lock_live(bpy.context, ob.pose.bones[tip], Control(held), range(1, 61))
    prop.scale = (1.0, 1.0, 1.0)
    key_prop(prop, 0.05)
    for frame, z in ((1, 0.05), (60, 0.3)):
        pedal.location.z = z
        pedal.keyframe_insert("location", frame=frame)
    for end, held in (("hand.L", prop), ("hand.R", prop), ("foot.L", pedal)):
        assert max(drift(grips(ob, Control(held), CHECKED, end), Control(held), ARM)) < 2.0 * EXACT


def test_native_chains_keep_the_lock():
    ob, prop = person(True), new_prop()
    lock_live(bpy.context, ob.pose.bones["forearm.L"], Control(prop), range(1, 61))
    bpy.ops.analytic_ik.make_native()
    prop.scale = (1.0, 1.0, 1.0)
    key_prop(prop, 0.05)
    assert max(drift(grips(ob, Control(prop), CHECKED), Control(prop), ARM)) < 1e-3


def test_what_is_baked_is_what_was_shown():
    ob, prop = person(True), new_prop()
    lock_live(bpy.context, ob.pose.bones["forearm.L"], Control(prop), range(1, 61))
    key_prop(prop)
    before = [hand(ob, frame) for frame in range(1, 61)]
    bpy.ops.analytic_ik.bake(frame_start=1, frame_end=60)
    after = [hand(ob, frame) for frame in range(1, 61)]
    assert np.abs(np.array(after) - np.array(before)).max() < 2.0 * EXACT * ARM


def test_what_the_hand_carries_is_refused_and_changes_nothing():
    ob, prop = person(True), new_prop()
    prop.parent, prop.parent_type, prop.parent_bone = ob, "BONE", "hand.L"
    update()
    before = whole_state()
    with pytest.raises(ChainError, match=r"forearm\.L"):
        lock_live(bpy.context, ob.pose.bones["forearm.L"], Control(prop), range(1, 61))
    assert whole_state() == before


def test_it_is_pressed_seen_and_released(capfd):
    ob, prop = person(True), new_prop()
    enter("POSE", ob, "forearm.L")
    prop.select_set(True)
    bpy.ops.analytic_ik.lock_to_object(live=True)
    assert "Locked 'forearm.L' to 'box', frames 1-60. It may be animated now" in capfd.readouterr().out
    shown = drawn(motion.ANALYTIC_IK_PT_planting, width=2000)
    assert "forearm.L with 'box'" in shown.text()
    assert [button.tip for button in shown.buttons if button.operator == "analytic_ik.release"] == ["forearm.L"]
    bpy.data.objects.remove(prop)
    update()
    assert "forearm.L with an object that is gone" in drawn(motion.ANALYTIC_IK_PT_planting, width=2000).text()
    bpy.ops.analytic_ik.release()
    assert "Released 'forearm.L'" in capfd.readouterr().out
    assert live_locks_of(ob) == []


@pytest.mark.parametrize("as_bones", [False, True])
def test_what_would_move_a_locked_control_says_so_and_changes_nothing(as_bones):
    ob, prop = person(as_bones), new_prop()
    tip = ob.pose.bones["forearm.L"]
    lock_live(bpy.context, tip, Control(prop), range(20, 41))
    tip.analytic_ik_influence = 0.0
    go_to(30)
    before = whole_state()
    said = "is locked live. Press Release first, or go to a frame without the lock"
    for refused in (
        bpy.ops.analytic_ik.switch_to_ik,
        bpy.ops.analytic_ik.snap_targets,
        lambda: bpy.ops.analytic_ik.snap_targets(use_range=True, frame_start=1, frame_end=9),
        lambda: bpy.ops.analytic_ik.lock_to_object(object=prop.name, frame_start=45, frame_end=50),
    ):
        with pytest.raises(RuntimeError, match=said):
            refused()
    with pytest.raises(RuntimeError, match="its locks are live and follow by themselves"):
        bpy.ops.analytic_ik.lock_again()
    assert whole_state() == before
    # Where the lock is off it holds nothing, also with keys elsewhere.
    go_to(5)
    assert bpy.ops.analytic_ik.switch_to_ik() == {"FINISHED"}
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.analytic_ik.snap_targets(use_range=True, frame_start=1, frame_end=9)


@pytest.mark.parametrize("as_bones", [False, True])
def test_what_is_dragged_by_hand_takes_the_hand_along(as_bones):
    ob, prop = person(as_bones), new_prop()
    prop.scale = (1.0, 1.0, 1.0)
    lock_live(bpy.context, ob.pose.bones["forearm.L"], Control(prop), range(1, 61))
    update()
    before = np.linalg.inv(world_of(prop)) @ world_of(ob, "hand.L")
    for step in ((0.02, 0.0, 0.0), (0.0, -0.03, 0.02), (0.0, 0.0, 0.03)):
        prop.location = prop.location + Vector(step)
        prop.rotation_euler.z += 0.2
        update()
        assert np.abs(np.linalg.inv(world_of(prop)) @ world_of(ob, "hand.L") - before).max() < EXACT


def test_a_control_bone_that_is_deleted_has_no_lock():
    ob, prop = person(True), new_prop()
    lock_live(bpy.context, ob.pose.bones["forearm.L"], Control(prop), range(1, 61))
    name = control_of(ob, "L").bone
    enter("EDIT", ob)
    ob.data.edit_bones.remove(ob.data.edit_bones[name])
    enter("POSE", ob, "forearm.L")
    assert live_locks_of(ob) == []
    drawn(motion.ANALYTIC_IK_PT_planting)
