"""Lock to Object: hands that keep their grip on what moves, measured in its space on evaluated bones."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ik_addon.authoring.placing import Control
from ik_addon.planting import last_lock_report, last_report, lock, lock_again, plant
from ik_addon.planting.scene.lock import locked
from ik_addon.planting.scene.reading import leg_tips
from ik_addon.planting.scene.sources import source_of
from ik_addon.rig.data.held_feet import holds_of
from ik_addon.solvers import ChainError

from ..rig.rigs import new_empty, update
from ..scenes import (
    action_state,
    bag_of,
    carrier_of_a_prop,
    curves_of,
    go_through,
    go_to,
    whole_state,
)
from .grips import ARM, drift, grips, world_of

FRAMES = range(20, 61)
BETWEEN = np.arange(20.0, 60.01, 0.25)


@pytest.fixture
def scene() -> tuple[bpy.types.Object, bpy.types.Object]:
    return carrier_of_a_prop()


def left(ob: bpy.types.Object) -> bpy.types.PoseBone:
    return ob.pose.bones["forearm.L"]


def keys_of(ob: bpy.types.Object) -> dict:
    return {
        name: [(*point.co, point.interpolation) for point in curve.keyframe_points]
        for name, curve in curves_of(ob).items()
    }


def all_keys(ob: bpy.types.Object) -> list[dict]:
    return [keys_of(each) for each in bpy.data.objects if each.animation_data and each.animation_data.action]


def keyed(prop):
    return Control(prop)


def parented(prop):
    child = new_empty("child")
    child.parent = prop
    child.location, child.rotation_euler, child.scale = (0.05, 0.02, -0.03), (0.3, 0.2, 0.1), (2.0, 2.0, 2.0)
    update()
    return Control(child)


def constrained(prop):
    follower = new_empty("follower")
    constraint = follower.constraints.new("COPY_TRANSFORMS")
    constraint.target = prop
    update()
    return Control(follower)


@pytest.mark.some(1)
@pytest.mark.parametrize(
    "made", [keyed, pytest.param(parented, marks=pytest.mark.slow), pytest.param(constrained, marks=pytest.mark.slow)]
)
def test_a_hand_keeps_its_grip_on_what_turns_and_moves(scene, made):
    ob, held = scene[0], made(scene[1])
    go_to(30)
    assert drift(grips(ob, held, FRAMES), held)[0] > 0.1
    go_to(30)
    shown = np.linalg.inv(world_of(held.ob)) @ world_of(ob, "hand.L")
    report = lock(bpy.context, [left(ob)], held, FRAMES)
    seen = grips(ob, held, FRAMES)
    assert max(drift(seen, held)) < 1e-5
    # In the grip that was shown when it was pressed.
    assert np.abs(seen[0] - shown).max() < 1e-5
    assert max(drift(grips(ob, held, BETWEEN), held)) < 5e-3
    (hold,) = report["holds"]
    assert (hold["tip"], hold["object"], hold["first"], hold["last"]) == ("forearm.L", held.ob.name, 20, 60)
    assert hold["slide_after"] < 1e-5 * ARM < 0.1 * ARM < hold["slide_before"]
    assert hold["turn"] < 1e-5
    assert report == last_lock_report()
    assert not report["unreached_frames"]


@pytest.mark.slow
def test_a_bake_keeps_the_grip(scene):
    ob, held = scene[0], Control(scene[1])
    lock(bpy.context, [left(ob)], held, FRAMES)
    bpy.ops.analytic_ik.bake(frame_start=1, frame_end=120, action="COPY", after="REMOVE")
    assert max(drift(grips(ob, held, FRAMES), held)) < 1e-5


@pytest.mark.slow
def test_a_prop_that_goes_away_is_seen(scene):
    """The measure itself: a prop that moves on by a thousandth of an arm after the lock."""
    ob, held = scene[0], Control(scene[1])
    lock(bpy.context, [left(ob)], held, FRAMES)
    for point in curves_of(held.ob)["location", 0].keyframe_points:
        if point.co[0] > 40:
            point.co[1] += 1e-3 * ARM
    assert drift(grips(ob, held, FRAMES), held)[0] > 1e-4


@pytest.mark.slow
def test_away_from_the_lock_the_hand_moves_as_captured(scene):
    ob, held = scene[0], Control(scene[1])
    frames = [*range(1, 10), *range(80, 120)]
    before = []
    for frame in frames:
        go_to(frame)
        before.append(world_of(ob, "hand.L"))
    lock(bpy.context, [left(ob)], held, FRAMES, blend=0.25)
    for frame, world in zip(frames, before, strict=True):
        go_to(frame)
        assert np.abs(world_of(ob, "hand.L") - world).max() < 1e-5


@pytest.mark.slow
def test_the_other_arm_and_the_legs_stay(scene):
    ob, held = scene[0], Control(scene[1])
    frames = range(10, 71, 10)
    before = []
    for frame in frames:
        go_to(frame)
        before.append([world_of(ob, bone) for bone in ("hand.R", "foot.L", "foot.R", "chest")])
    go_to(30)
    lock(bpy.context, [left(ob)], held, FRAMES)
    for frame, worlds in zip(frames, before, strict=True):
        go_to(frame)
        after = [world_of(ob, bone) for bone in ("hand.R", "foot.L", "foot.R", "chest")]
        assert np.abs(np.array(after) - worlds).max() < 1e-5


@pytest.mark.slow
def test_run_twice_it_gives_the_same_keys(scene):
    ob, held = scene[0], Control(scene[1])
    lock(bpy.context, [left(ob)], held, FRAMES)
    before, actions = all_keys(ob), len(bpy.data.actions)
    go_to(55)
    lock(bpy.context, [left(ob)], held, FRAMES)
    assert all_keys(ob) == before
    lock_again(bpy.context, ob)
    assert all_keys(ob) == before
    assert len(bpy.data.actions) == actions


def test_the_sources_keep_every_key(scene):
    ob, held = scene[0], Control(scene[1])
    sources = {action: action_state(action) for action in bpy.data.actions}
    lock(bpy.context, [left(ob)], held, FRAMES)
    assert {action: action_state(action) for action in sources} == sources
    assert source_of(ob) in sources


def test_closed_in_the_middle_it_leaves_all_as_it_was(scene):
    ob, held = scene[0], Control(scene[1])
    update()
    before = whole_state()
    for share in (0.0, 0.3, 0.55, 0.95):
        go_through(locked(bpy.context, [left(ob)], held, FRAMES), share)
        assert whole_state() == before
        assert not holds_of(ob)


@pytest.mark.slow
def test_found_contacts_are_where_the_hand_moves_with_the_object(scene):
    """A prop that a hand carries from frame 30 to 70, and that flies off before and after."""
    ob, prop = scene
    prop.animation_data_clear()
    rng = np.random.default_rng(3)
    for frame in range(1, 121):
        go_to(frame)
        world = Matrix(world_of(ob, "hand.L").tolist())
        away = max(30 - frame, frame - 70, 0)
        noise = rng.normal(size=3) * 1e-3
        prop.matrix_world = Matrix.Translation((*noise[:2], noise[2] + 0.03 * away)) @ world
        prop.keyframe_insert("location", frame=frame)
        prop.keyframe_insert("rotation_euler", frame=frame)
    report = lock(bpy.context, [left(ob)], Control(prop), range(1, 121), contacts="FOUND")
    (hold,) = report["holds"]
    assert abs(hold["first"] - 30) <= 4
    assert abs(hold["last"] - 70) <= 4
    frames = range(hold["first"], hold["last"] + 1)
    assert max(drift(grips(ob, Control(prop), frames), Control(prop))) < 1e-5
    # Nearest to the capture: noise of a millimeter, no grip of one frame.
    assert hold["slide_before"] < 0.01 * ARM


@pytest.mark.slow
def test_one_object_after_the_other(scene):
    ob, held = scene[0], Control(scene[1])
    lock(bpy.context, [left(ob)], held, FRAMES)
    other = parented(scene[1])
    go_to(75)
    report = lock(bpy.context, [left(ob)], other, range(61, 90))
    assert sorted(((hold["object"], hold["first"], hold["last"]) for hold in report["holds"]), reverse=True) == [
        ("prop", 20, 60),
        ("child", 61, 89),
    ]
    for _ in range(2):
        assert max(drift(grips(ob, held, FRAMES), held)) < 1e-5
        reached = [frame for frame in range(61, 90) if frame not in report["unreached_frames"]]
        assert len(reached) > 8
        assert max(drift(grips(ob, other, reached), other)) < 1e-5
        # They follow each other in one bar, and are told apart again.
        again = lock_again(bpy.context, ob)
        assert [(hold["object"], hold["first"]) for hold in again["holds"]] == [("prop", 20), ("child", 61)]


def test_a_bar_that_is_made_shorter_frees_the_hand(scene):
    ob, held = scene[0], Control(scene[1])
    lock(bpy.context, [left(ob)], held, FRAMES, blend=0.1)
    before = grips(ob, held, FRAMES)
    curve = curves_of(ob)['pose.bones["forearm.L"].analytic_ik_contact', 0]
    assert [(point.co[0], point.co[1]) for point in curve.keyframe_points if point.co[1]] == [(20.0, 3.0), (60.0, 3.0)]
    for point in curve.keyframe_points:
        if point.co[0] >= 60.0 and point.co[0] < 100.0:
            point.co[0] -= 20.0
    curve.update()
    report = lock_again(bpy.context, ob)
    assert [(hold["first"], hold["last"]) for hold in report["holds"]] == [(20, 40)]
    after = grips(ob, held, FRAMES)
    assert np.abs(after[:21] - before[:21]).max() < 1e-5
    assert np.abs(after[30:] - before[30:]).max() > 0.05


@pytest.mark.slow
def test_without_bars_nothing_is_locked(scene):
    ob, held = scene[0], Control(scene[1])
    lock(bpy.context, [left(ob)], held, FRAMES)
    curve = curves_of(ob)['pose.bones["forearm.L"].analytic_ik_contact', 0]
    for point in curve.keyframe_points:
        point.co[1] = 0.0
    curve.update()
    assert lock_again(bpy.context, ob)["holds"] == []
    assert drift(grips(ob, held, FRAMES), held)[0] > 0.1


def test_a_bar_that_is_keyed_is_used(scene):
    ob, held = scene[0], Control(scene[1])
    tip = left(ob)
    for frame, contact in ((1, "NONE"), (35, "FLAT"), (50, "FLAT"), (51, "NONE")):
        tip.analytic_ik_contact = contact
        tip.keyframe_insert("analytic_ik_contact", frame=frame)
    report = lock(bpy.context, [tip], held, FRAMES, contacts="KEYED")
    assert [(hold["first"], hold["last"]) for hold in report["holds"]] == [(35, 50)]
    reached = [frame for frame in range(35, 51) if frame not in report["unreached_frames"]]
    assert len(reached) > 8
    assert max(drift(grips(ob, held, reached), held)) < 1e-5


@pytest.mark.slow
def test_one_hand_on_the_prop_and_the_other_on_that_hand(scene):
    """The space is a bone of the same armature, which a chain solves."""
    ob, prop = scene
    right, hand = ob.pose.bones["forearm.R"], Control(ob, "hand.L")
    lock(bpy.context, [left(ob)], Control(prop), FRAMES)
    go_to(30)
    report = lock(bpy.context, [right], hand, FRAMES)
    reached = [frame for frame in FRAMES if frame not in report["unreached_frames"]]
    assert len(reached) > 4
    assert max(drift(grips(ob, hand, reached, "hand.R"), hand)) < 1e-5
    # The prop moves, and both hands follow.
    for point in curves_of(prop)["location", 2].keyframe_points:
        point.co[1] += 0.03
    again = lock_again(bpy.context, ob)
    assert [hold["tip"] for hold in again["holds"]] == ["forearm.L", "forearm.R"]
    reached = [frame for frame in FRAMES if frame not in again["unreached_frames"]]
    assert max(drift(grips(ob, Control(prop), reached), Control(prop))) < 1e-5
    assert max(drift(grips(ob, hand, reached, "hand.R"), hand)) < 1e-5


def belt_on(ob: bpy.types.Object, bone: str) -> Control:
    """An object that follows a bone by a constraint: where that is solved only the whole scene knows."""
    belt = new_empty("belt")
    constraint = belt.constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget = ob, bone
    update()
    return Control(belt)


@pytest.mark.slow
@pytest.mark.parametrize("made", [Control, belt_on])
def test_a_hand_on_ones_own_planted_thigh(scene, made):
    ob, _ = scene
    plant(bpy.context, leg_tips(ob), range(1, 121))
    thigh = made(ob, "thigh.L")
    go_to(30)
    report = lock(bpy.context, [left(ob)], thigh, FRAMES)
    reached = [frame for frame in FRAMES if frame not in report["unreached_frames"]]
    assert len(reached) > 15
    assert max(drift(grips(ob, thigh, reached), thigh)) < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("first", ["plant", "lock"])
def test_feet_that_are_planted_and_hands_that_are_locked_keep_each_other(scene, first):
    ob, prop = scene
    held = Control(prop)
    source = ob.animation_data.action
    before = action_state(source)
    if first == "lock":
        lock(bpy.context, [left(ob)], held, FRAMES)
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=120)
    go_to(30)
    lock(bpy.context, [left(ob)], held, FRAMES)
    for raised in (0.0, 0.03):
        for point in curves_of(prop)["location", 2].keyframe_points:
            point.co[1] += raised
        assert bpy.ops.analytic_ik.plant_again() == {"FINISHED"}
        report = lock_again(bpy.context, ob)
        reached = [frame for frame in FRAMES if frame not in report["unreached_frames"]]
        assert len(reached) > 30
        assert max(drift(grips(ob, held, reached), held)) < 1e-5
        assert max(chain["slide_after"] for chain in last_report()["chains"]) < 1e-5
    assert source_of(ob) is source
    assert action_state(source) == before
    assert [hold.tip for hold in holds_of(ob)] == ["forearm.L"]


@pytest.mark.slow
def test_a_foot_on_a_pedal(scene):
    ob, _ = scene
    pedal = new_empty("pedal")
    go_to(1)
    pedal.matrix_world = Matrix(world_of(ob, "foot.R").tolist())
    for frame in (1, 20, 40, 60):
        go_to(frame)
        ankle = Matrix(world_of(ob, "foot.R").tolist())
        pedal.location = ankle.translation
        pedal.location.z += 0.05
        pedal.rotation_euler = (0.02 * frame, 0.0, 0.3)
        pedal.keyframe_insert("location", frame=frame)
        pedal.keyframe_insert("rotation_euler", frame=frame)
    go_to(30)
    held, tip = Control(pedal), ob.pose.bones["shin.R"]
    report = lock(bpy.context, [tip], held, range(25, 56))
    reached = [frame for frame in range(25, 56) if frame not in report["unreached_frames"]]
    assert len(reached) > 15
    assert max(drift(grips(ob, held, reached, "foot.R"), held)) < 1e-5


@pytest.mark.slow
def test_out_of_reach_the_frames_are_reported_and_a_body_that_follows_brings_the_hand_there(scene):
    ob, prop = scene
    plant(bpy.context, leg_tips(ob), range(1, 121))
    for point in curves_of(prop)["location", 0].keyframe_points:
        point.co[1] += 0.5 * ARM
    go_to(30)
    held = Control(prop)
    report = lock(bpy.context, [left(ob)], held, FRAMES, grip="MEAN")
    assert report["unreached_frames"]
    feet = {frame: None for frame in FRAMES}
    for frame in feet:
        go_to(frame)
        feet[frame] = [world_of(ob, bone)[:3, 3] for bone in ("foot.L", "foot.R")]
    hips = ob.pose.bones["hips"]
    hips.analytic_ik_body_influence, hips.analytic_ik_body_direction = 1.0, "NEAREST"
    update()
    again = lock_again(bpy.context, ob)
    assert len(again["unreached_frames"]) < len(report["unreached_frames"])
    for frame, places in feet.items():
        go_to(frame)
        # Planted feet stay where they are.
        assert np.abs([world_of(ob, bone)[:3, 3] for bone in ("foot.L", "foot.R")] - np.array(places)).max() < 1e-4


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
    held = Control(prop)
    lock(bpy.context, [left(ob)], held, FRAMES)
    assert max(drift(grips(ob, held, FRAMES), held, ARM * scale)) < 1e-5


@pytest.mark.slow
def test_controls_that_are_bones():
    ob, prop = carrier_of_a_prop(controls="BONES")
    held = Control(prop)
    go_to(30)
    source = action_state(ob.animation_data.action)
    action = ob.animation_data.action
    lock(bpy.context, [left(ob)], held, FRAMES)
    assert max(drift(grips(ob, held, FRAMES), held)) < 1e-5
    assert action_state(action) == source
    before = all_keys(ob)
    lock_again(bpy.context, ob)
    assert all_keys(ob) == before


@pytest.mark.slow
def test_a_hand_that_its_control_alone_moves_moves_so_before_and_after(scene):
    """No bone of the arm has a key: the motion is what is shown."""
    ob, prop = scene
    tip, held = left(ob), Control(prop)
    for (path, _), curve in curves_of(ob).items():
        if any(f'"{bone}.L"' in path for bone in ("upper_arm", "forearm", "hand")):
            bag_of(ob).fcurves.remove(curve)
    update()
    before = {}
    for frame in (1, 5, 80, 100, 120):
        go_to(frame)
        before[frame] = world_of(ob, "hand.L")
    assert np.abs(before[1] - before[80]).max() > 0.01
    go_to(30)
    sources = {action: action_state(action) for action in bpy.data.actions}
    lock(bpy.context, [tip], held, FRAMES)
    assert {action: action_state(action) for action in sources} == sources
    for frame, world in before.items():
        go_to(frame)
        assert np.abs(world_of(ob, "hand.L") - world).max() < 1e-5
    assert max(drift(grips(ob, held, FRAMES), held)) < 1e-5
    keys = all_keys(ob)
    lock_again(bpy.context, ob)
    assert all_keys(ob) == keys


@pytest.mark.slow
def test_a_lost_bone_of_another_lock_does_not_keep_a_hand_from_a_new_one(scene):
    ob, prop = scene
    lock(bpy.context, [left(ob)], Control(ob, "head"), range(80, 100))
    ob.pose.bones["head"].name = "skull"
    go_to(30)
    report = lock(bpy.context, [left(ob)], Control(prop), FRAMES)
    assert [hold["object"] for hold in report["holds"]] == ["prop"]


# What is refused


def refused(said: str, *given, **named) -> None:
    update()
    before = whole_state()
    with pytest.raises(ChainError, match=said):
        lock(bpy.context, *given, **named)
    assert whole_state() == before


def test_what_the_hand_carries_is_refused(scene):
    ob, _ = scene
    sword = new_empty("sword")
    sword.parent, sword.parent_type, sword.parent_bone = ob, "BONE", "hand.L"
    refused(r"Bone 'forearm.L': its limb moves 'sword'", [left(ob)], Control(sword), FRAMES)
    follower = new_empty("follower")
    follower.constraints.new("COPY_LOCATION").target = left(ob).analytic_ik_target
    refused("its limb moves 'follower'", [left(ob)], Control(follower), FRAMES)
    refused("its limb moves bone 'hand.L'", [left(ob)], Control(ob, "hand.L"), FRAMES)


def test_hands_that_hold_each_other_are_refused(scene):
    ob, _ = scene
    lock(bpy.context, [left(ob)], Control(ob, "hand.R"), FRAMES)
    refused("are locked to each other", [ob.pose.bones["forearm.R"]], Control(ob, "hand.L"), range(70, 90))


def test_what_follows_with_the_body_is_refused(scene):
    ob, _ = scene
    ob.pose.bones["hips"].analytic_ik_body_influence = 1.0
    refused("bone 'hips' follows its limbs and moves bone 'head'", [left(ob)], Control(ob, "head"), FRAMES)


def test_what_is_not_there_is_refused(scene):
    ob, prop = scene
    refused("has no bone 'tail' to lock it to", [left(ob)], Control(ob, "tail"), FRAMES)
    gone = new_empty("gone")
    bpy.context.scene.collection.objects.unlink(gone)
    refused("the object that it is locked to is gone", [left(ob)], Control(gone), FRAMES)
    refused("no selected limb is in contact with 'prop'", [left(ob)], Control(prop), FRAMES, contacts="KEYED")
    with pytest.raises(ChainError, match="its action has no lock"):
        lock_again(bpy.context, ob)


def test_a_prop_that_was_deleted_is_told_when_locks_are_updated(scene):
    ob, prop = scene
    lock(bpy.context, [left(ob)], Control(prop), FRAMES)
    bpy.data.objects.remove(prop)
    with pytest.raises(ChainError, match="the object that it is locked to is gone"):
        lock_again(bpy.context, ob)


def test_motion_of_a_prop_that_is_no_number_is_told(scene):
    ob, prop = scene
    curve = curves_of(prop)["location", 0]
    curve.keyframe_points[7].co[1] = float("nan")
    curve.update()
    actions = sorted(bpy.data.actions.keys())
    with pytest.raises(ChainError, match="the motion of 'prop' holds values that are not numbers"):
        lock(bpy.context, [left(ob)], Control(prop), FRAMES)
    assert sorted(bpy.data.actions.keys()) == actions
    assert not holds_of(ob)


def test_a_foot_that_is_locked_is_not_planted_too(scene):
    ob, prop = scene
    lock(bpy.context, [ob.pose.bones["shin.L"]], Control(prop), FRAMES, grip="MEAN")
    update()
    before = whole_state()
    with pytest.raises(ChainError, match=r"Bone 'shin\.L': its foot is locked to an object"):
        plant(bpy.context, leg_tips(ob), range(1, 61))
    assert whole_state() == before
    assert plant(bpy.context, [ob.pose.bones["shin.R"]], range(1, 61))["chains"]


def test_a_leg_that_is_planted_is_refused(scene):
    ob, prop = scene
    bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=60)
    refused("its foot is planted", [ob.pose.bones["shin.L"]], Control(prop), FRAMES)
