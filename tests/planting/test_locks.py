"""Lock to Object: a hand follows what holds it by Blender's own constraint, whatever becomes of that afterwards."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_addon.authoring.placing import Control, live_locks_of
from ik_addon.authoring.rigging import rig_legs
from ik_addon.authoring.selection import all_tips
from ik_addon.planting import last_report, lock, plant, release
from ik_addon.planting.scene.lock import locked
from ik_addon.planting.scene.reading import leg_tips
from ik_addon.solvers import ChainError
from ik_addon.ui.panels import motion

from ..rig.rigs import BoneSpec, new_armature, new_empty, update
from ..scenes import (
    action_state,
    carrier_of_a_prop,
    enter,
    go_through,
    go_to,
    refuses,
    select,
    select_bones,
    whole_state,
)
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
    lock(bpy.context, [ob.pose.bones["forearm.L"]], Control(prop), range(1, 61))
    # No key was made, of FK or of anything.
    assert not ob.animation_data
    key_prop(prop)
    rigid = new_empty("rigid")
    rigid.animation_data_create().action = prop.animation_data.action
    if hasattr(rigid.animation_data, "action_slot"):
        rigid.animation_data.action_slot = prop.animation_data.action_slot
    assert max(drift(grips(ob, Control(rigid), CHECKED), Control(rigid), ARM)) < EXACT


@pytest.mark.some(4)
@pytest.mark.parametrize("as_bones", [False, True])
@pytest.mark.parametrize("bone", ["chest", "head", "hips", "hand.R"])
def test_a_hand_goes_with_a_bone_of_its_own_body(as_bones, bone):
    ob = person(as_bones)
    lock(bpy.context, [ob.pose.bones["forearm.L"]], Control(ob, bone), range(1, 61))
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
    lock(bpy.context, [ob.pose.bones["forearm.L"]], Control(prop), range(20, 41), blend=6 / 24)
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
    lock(bpy.context, [ob.pose.bones["forearm.L"]], Control(prop), range(20, 61), blend=0.0)
    for frame, was in zip((19, 19.9, 20), (*before, before[1]), strict=True):
        assert np.abs(hand(ob, frame) - was).max() < EXACT * ARM
    key_prop(prop)
    assert np.abs(hand(ob, 40) - before[1]).max() > 0.1 * ARM


@pytest.mark.parametrize("as_bones", [False, True])
def test_a_release_leaves_the_hand_where_it_is_shown(as_bones):
    ob, prop = person(as_bones), new_prop()
    lock(bpy.context, [ob.pose.bones["forearm.L"]], Control(prop), range(1, 61))
    key_prop(prop)
    before = hand(ob, 33)
    assert release(bpy.context, ob, ["forearm.L"]) == ["forearm.L"]
    update()
    assert np.abs(world_of(ob, "hand.L") - before).max() < EXACT * ARM
    assert live_locks_of(all_tips(ob)) == [] and "box" in bpy.data.objects
    assert not [each for each in bpy.data.objects if " on " in each.name]
    with pytest.raises(ChainError, match="no selected limb is locked"):
        release(bpy.context, ob, ["forearm.L"])


@pytest.mark.parametrize("as_bones", [False, True])
def test_a_prop_that_is_deleted_leaves_the_hand_where_it_was_locked(as_bones):
    ob, prop = person(as_bones), new_prop()
    before = hand(ob, 1)
    lock(bpy.context, [ob.pose.bones["forearm.L"]], Control(prop), range(1, 61))
    key_prop(prop)
    go_to(40)
    bpy.data.objects.remove(prop)
    update()
    assert np.abs(world_of(ob, "hand.L") - before).max() < EXACT * ARM
    assert [lock.held for lock in live_locks_of(all_tips(ob))] == [None]


def test_two_hands_hold_one_prop_and_a_foot_a_pedal():
    ob, prop = person(True), new_prop()
    pedal = new_empty("pedal", (0.05, -0.05, 0.05))
    for tip, held in (("forearm.L", prop), ("forearm.R", prop), ("shin.L", pedal)):
        lock(bpy.context, [ob.pose.bones[tip]], Control(held), range(1, 61))
    prop.scale = (1.0, 1.0, 1.0)
    key_prop(prop, 0.05)
    for frame, z in ((1, 0.05), (60, 0.3)):
        pedal.location.z = z
        pedal.keyframe_insert("location", frame=frame)
    for end, held in (("hand.L", prop), ("hand.R", prop), ("foot.L", pedal)):
        assert max(drift(grips(ob, Control(held), CHECKED, end), Control(held), ARM)) < EXACT


def test_native_chains_keep_the_lock():
    ob, prop = person(True), new_prop()
    lock(bpy.context, [ob.pose.bones["forearm.L"]], Control(prop), range(1, 61))
    bpy.ops.analytic_ik.make_native()
    prop.scale = (1.0, 1.0, 1.0)
    key_prop(prop, 0.05)
    assert max(drift(grips(ob, Control(prop), CHECKED), Control(prop), ARM)) < 1e-3


def test_what_the_hand_carries_is_refused_and_changes_nothing():
    ob, prop = person(True), new_prop()
    prop.parent, prop.parent_type, prop.parent_bone = ob, "BONE", "hand.L"
    update()
    with refuses(ChainError, r"forearm\.L"):
        lock(bpy.context, [ob.pose.bones["forearm.L"]], Control(prop), range(1, 61))


def test_it_is_pressed_seen_and_released(capfd):
    ob, prop = person(True), new_prop()
    enter("POSE", ob, "forearm.L")
    prop.select_set(True)
    bpy.ops.analytic_ik.lock_to_object()
    assert "Locked 'forearm.L' to 'box', frames 1-60. It may be animated now" in capfd.readouterr().out
    shown = drawn(motion.ANALYTIC_IK_PT_planting, width=2000)
    assert "forearm.L with 'box'" in shown.text()
    assert [button.tip for button in shown.buttons if button.operator == "analytic_ik.release"] == ["forearm.L"]
    bpy.data.objects.remove(prop)
    update()
    assert "forearm.L with an object that is gone" in drawn(motion.ANALYTIC_IK_PT_planting, width=2000).text()
    bpy.ops.analytic_ik.release()
    assert "Released 'forearm.L'" in capfd.readouterr().out
    assert live_locks_of(all_tips(ob)) == []


@pytest.mark.parametrize("as_bones", [False, True])
def test_what_would_move_a_locked_control_says_so_and_changes_nothing(as_bones):
    ob, prop = person(as_bones), new_prop()
    tip = ob.pose.bones["forearm.L"]
    lock(bpy.context, [tip], Control(prop), range(20, 41))
    tip.analytic_ik_influence = 0.0
    go_to(30)
    before = whole_state()
    said = "is locked. Press Release first, or go to a frame without the lock"
    for refused in (
        bpy.ops.analytic_ik.switch_to_ik,
        bpy.ops.analytic_ik.snap_targets,
        lambda: bpy.ops.analytic_ik.snap_targets(use_range=True, frame_start=1, frame_end=9),
    ):
        with pytest.raises(RuntimeError, match=said):
            refused()
    assert whole_state() == before
    # Where the lock is off it holds nothing, also with keys elsewhere.
    go_to(5)
    assert bpy.ops.analytic_ik.switch_to_ik() == {"FINISHED"}
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.analytic_ik.snap_targets(use_range=True, frame_start=1, frame_end=9)


def test_a_control_bone_that_is_deleted_has_no_lock():
    ob, prop = person(True), new_prop()
    lock(bpy.context, [ob.pose.bones["forearm.L"]], Control(prop), range(1, 61))
    name = control_of(ob, "L").bone
    enter("EDIT", ob)
    ob.data.edit_bones.remove(ob.data.edit_bones[name])
    enter("POSE", ob, "forearm.L")
    assert live_locks_of(all_tips(ob)) == []
    drawn(motion.ANALYTIC_IK_PT_planting)


# On a captured walker, whose arms have keys

FRAMES = range(20, 61)


@pytest.fixture
def scene() -> tuple[bpy.types.Object, bpy.types.Object]:
    return carrier_of_a_prop()


def left(ob: bpy.types.Object) -> bpy.types.PoseBone:
    return ob.pose.bones["forearm.L"]


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0, 12])
def test_found_contacts_are_where_the_hand_moves_with_the_object(scene, gap):
    """A prop that a hand carries from frame 30 to 70, and that flies off before and after, and between for a while."""
    ob, prop = scene
    prop.animation_data_clear()
    rng = np.random.default_rng(3)
    for frame in range(1, 121):
        go_to(frame)
        world = Matrix(world_of(ob, "hand.L").tolist())
        away = max(30 - frame, frame - 70, min(frame - 44, 44 + gap - frame), 0)
        noise = rng.normal(size=3) * 1e-3
        prop.matrix_world = Matrix.Translation((*noise[:2], noise[2] + 0.03 * away)) @ world
        prop.keyframe_insert("location", frame=frame)
        prop.keyframe_insert("rotation_euler", frame=frame)
    before = {frame: hand(ob, frame) for frame in range(1, 121)}
    spans = [span for _, span in lock(bpy.context, [left(ob)], Control(prop), range(1, 121), "FOUND", 0.0)]
    assert len(spans) == (2 if gap else 1)
    assert abs(spans[0][0] - 30) <= 4 and abs(spans[-1][-1] - 70) <= 4
    for span in spans:
        assert max(drift(grips(ob, Control(prop), span), Control(prop))) < EXACT
        # The mean of the contact: noise of a millimeter, no grip of one frame.
        assert max(np.linalg.norm((hand(ob, frame) - before[frame])[:3, 3]) for frame in span) < 0.01 * ARM
    held = {frame for span in spans for frame in span}
    assert max(np.abs(hand(ob, frame) - was).max() for frame, was in before.items() if frame not in held) < EXACT


def test_closed_in_the_middle_it_leaves_all_as_it_was(scene):
    ob, prop = scene
    update()
    before = whole_state()
    for share in (0.0, 0.5, 0.95):
        go_through(locked(bpy.context, [left(ob)], Control(prop), FRAMES, "FOUND"), share)
        assert whole_state() == before


@pytest.mark.slow
def test_one_object_after_the_other(scene):
    ob, prop = scene
    child = new_empty("child")
    child.parent, child.location, child.rotation_euler = prop, (0.05, 0.02, -0.03), (0.3, 0.2, 0.1)
    lock(bpy.context, [left(ob)], Control(prop), FRAMES)
    go_to(60)
    lock(bpy.context, [left(ob)], Control(child), range(60, 64))
    assert max(drift(grips(ob, Control(prop), FRAMES), Control(prop))) < EXACT
    assert max(drift(grips(ob, Control(child), range(60, 64)), Control(child))) < EXACT


@pytest.mark.slow
@pytest.mark.parametrize("first", ["plant", "lock"])
def test_feet_that_are_planted_and_hands_that_are_locked_keep_each_other(scene, first):
    ob, prop = scene
    source = action_state(ob.animation_data.action)
    action = ob.animation_data.action
    if first == "plant":
        plant(bpy.context, leg_tips(ob), range(1, 121))
    go_to(30)
    lock(bpy.context, [left(ob)], Control(prop), FRAMES)
    if first == "lock":
        plant(bpy.context, leg_tips(ob), range(1, 121))
    near = [frame for frame in FRAMES if abs(frame - 30) < 8]
    assert max(drift(grips(ob, Control(prop), near), Control(prop))) < EXACT
    assert max(chain["slide_after"] for chain in last_report()["chains"]) < 1e-5
    assert action_state(action) == source


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_of_any_size_and_turned(scene, scale):
    ob, prop = scene
    root = new_empty("scale")
    ob.parent = prop.parent = root
    for tip in (ob.pose.bones[name] for name in ("forearm.L", "forearm.R", "shin.L", "shin.R")):
        for control in (tip.analytic_ik_target, tip.analytic_ik_pole_target):
            control.parent = root
    root.matrix_world = Matrix.Rotation(0.7, 4, (0.3, 1.0, 0.2)) @ Matrix.Scale(scale, 4)
    update()
    go_to(30)
    lock(bpy.context, [left(ob)], Control(prop), FRAMES)
    assert max(drift(grips(ob, Control(prop), FRAMES), Control(prop), ARM * scale)) < EXACT


def test_what_cannot_hold_is_refused_and_changes_nothing(scene):
    ob, prop = scene

    def refused(said: str, tip: bpy.types.PoseBone, held: Control, **options) -> None:
        update()
        with refuses(ChainError, said):
            lock(bpy.context, [tip], held, **{"frames": FRAMES, **options})

    follower, gone = new_empty("follower"), new_empty("gone")
    follower.constraints.new("COPY_LOCATION").target = left(ob).analytic_ik_target
    refused("its limb moves 'follower'", left(ob), Control(follower))
    refused("its limb moves bone 'hand.L'", left(ob), Control(ob, "hand.L"))
    bpy.context.scene.collection.objects.unlink(gone)
    refused("the object that it is locked to is gone", left(ob), Control(gone))
    refused("has no bone 'tail' to lock it to", left(ob), Control(ob, "tail"))
    refused("is in contact with 'prop'", left(ob), Control(prop), frames=range(20, 24), contacts="FOUND")
    refused("fewer than 3 frames", left(ob), Control(prop), frames=range(20, 22), contacts="FOUND")
    # Hands that hold each other.
    lock(bpy.context, [left(ob)], Control(ob, "hand.R"), FRAMES)
    refused("its limb moves bone 'hand.L'", ob.pose.bones["forearm.R"], Control(ob, "hand.L"))
    ob.pose.bones["hips"].analytic_ik_body_influence = 1.0
    refused("bone 'hips' follows its limbs and moves bone 'head'", ob.pose.bones["forearm.R"], Control(ob, "head"))


def test_a_foot_that_is_locked_is_not_planted_too(scene):
    ob, prop = scene
    lock(bpy.context, [ob.pose.bones["shin.L"]], Control(prop), FRAMES)
    update()
    with refuses(ChainError, r"Bone 'shin\.L': its control .* is locked"):
        plant(bpy.context, leg_tips(ob), range(1, 61))


# What is selected


@pytest.mark.parametrize(
    ("selected", "expected"),
    [
        (("hand.L", "prop"), {("forearm.L", "'prop'")}),
        (("hand.R", "hand.L", "prop"), {("forearm.L", "'prop'"), ("forearm.R", "'prop'")}),
        (("thigh.L", "hand.L"), {("forearm.L", "bone 'thigh.L'")}),
        (("head", "hand.L"), {("forearm.L", "bone 'head'")}),
    ],
)
def test_what_is_selected_first_holds_what_is_selected_last(scene, selected, expected):
    ob, prop = scene
    select(ob)
    bpy.ops.object.mode_set(mode="POSE")
    select_bones(ob, *(name for name in selected if name != "prop"))
    prop.select_set("prop" in selected)
    bpy.ops.analytic_ik.lock_to_object(frame_start=20, frame_end=40)
    assert {(lock.tip, lock.held.shown) for lock in live_locks_of(all_tips(ob))} == expected


def test_the_object_and_then_the_control_are_selected_and_a_name_counts_more(scene):
    ob, prop = scene
    other = new_empty("other")
    bpy.ops.object.mode_set(mode="OBJECT")
    target = left(ob).analytic_ik_target
    select(prop, target)
    bpy.context.view_layer.objects.active = target
    bpy.ops.analytic_ik.lock_to_object(frame_start=20, frame_end=40)
    bpy.ops.analytic_ik.lock_to_object(object=other.name, frame_start=50, frame_end=60)
    assert [lock.held.ob for lock in live_locks_of(all_tips(ob))] == [prop, other]
    select(ob)
    bpy.ops.object.mode_set(mode="POSE")
    select_bones(ob, "hand.L")
    for bone, said in (("", "there is no object to lock to. Select it"), ("forearm.L", "its limb moves")):
        with pytest.raises(RuntimeError, match=said):
            bpy.ops.analytic_ik.lock_to_object(**{"object": ob.name, "bone": bone} if bone else {})


# Files of before

OLD = """class KeptHold(bpy.types.PropertyGroup):
    tip: bpy.props.StringProperty()
    ob: bpy.props.PointerProperty(type=bpy.types.Object)
    first: bpy.props.IntProperty()
"""


def test_a_lock_that_was_baked_before_is_ordinary_keys(scene, tmp_path):
    """As an action kept it: with its source, holds and keys of contact."""
    ob, prop = scene
    kinds: dict = {"bpy": bpy}
    exec(OLD, kinds)
    bpy.utils.register_class(kinds["KeptHold"])
    bpy.types.Action.analytic_ik_holds = bpy.props.CollectionProperty(type=kinds["KeptHold"])
    source = ob.animation_data.action
    action = ob.animation_data.action = source.copy()
    kept = action.analytic_ik_holds.add()
    kept.tip, kept.ob, kept.first = "forearm.L", prop, 20
    action["analytic_ik_planted_from"] = source
    left(ob).keyframe_insert("analytic_ik_contact", frame=20)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "old.blend"))
    before = {frame: hand(ob, frame) for frame in (1, 30, 60)}
    del bpy.types.Action.analytic_ik_holds
    bpy.utils.unregister_class(kinds["KeptHold"])
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "old.blend"))
    ob = next(each for each in bpy.data.objects if each.type == "ARMATURE")
    assert live_locks_of(all_tips(ob)) == []
    for frame, was in before.items():
        assert np.abs(hand(ob, frame) - was).max() < EXACT * ARM
    with pytest.raises(ChainError, match="no selected limb is locked"):
        release(bpy.context, ob, ["forearm.L"])
    assert lock(bpy.context, [left(ob)], Control(bpy.data.objects["prop"]), FRAMES)
    assert plant(bpy.context, leg_tips(ob), range(1, 61))["chains"]
