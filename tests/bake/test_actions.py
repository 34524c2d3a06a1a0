"""Where a bake's keys go, and that all other keys stay as they were."""

from random import Random

import bpy
import pytest

from ik_addon.authoring.rigging import rig_legs
from ik_addon.bake import bake, chains_of
from ik_addon.bake.clips import clips_baked
from ik_addon.solvers import ChainError

from ..clips.characters import walking_clips
from ..rig.keys import key, push_down
from ..rig.rigs import Rig
from ..scenes import (
    EXACT,
    action_state,
    curves_of,
    farthest_apart,
    go_to,
    key_fk,
    keyed_frames,
    played,
    played_without_the_add_on,
    refuses,
    rotation_curves,
    walking_leg,
)

pytestmark = pytest.mark.versions

BAKED = range(4, 10)
slotted = pytest.mark.skipif(not hasattr(bpy.types, "ActionSlot"), reason="actions have no slots before Blender 4.4")


def baked(ob: bpy.types.Object, action: str, after: str = "KEEP") -> None:
    bake(bpy.context, chains_of([ob]), BAKED, action, after)


def animated_leg(name: str = "leg", side: float = 0.0) -> Rig:
    """A leg of which everything is keyed, in every interpolation and with every kind of handle."""
    rig, random = walking_leg(name, side), Random(3)
    hips, foot = rig.ob.pose.bones["hips"], rig.ob.pose.bones["foot"]
    rig.ob["mood"] = 1.0
    key(hips, "location", [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.2, 0.1), (0.0, 0.0, 0.0)])
    key(rig.ob, "location", [(0.0, 0.0, 0.0), (0.1, 0.0, 0.2), (0.0, 0.0, 0.1), (0.0, 0.0, 0.0)])
    key(foot, "rotation_quaternion", [(1.0, 0.0, 0.0, 0.0), (0.9, 0.1, 0.0, 0.0), (0.8, 0.0, 0.1, 0.0), (1, 0, 0, 0)])
    rig.ob.keyframe_insert('["mood"]', frame=5)
    key_fk(rig)
    for name in rig.bones:
        key(rig.ob.pose.bones[name], "scale", [(1.0, 1.0, 1.0)] * 4)
    for curve in curves_of(rig.ob).values():
        curve.lock = random.random() < 0.3
        curve.extrapolation = random.choice(["CONSTANT", "LINEAR"])
        for point in curve.keyframe_points:
            point.interpolation = random.choice(["CONSTANT", "LINEAR", "BEZIER", "BOUNCE", "SINE"])
            point.easing = random.choice(["AUTO", "EASE_IN", "EASE_OUT"])
            point.handle_left_type = random.choice(["FREE", "ALIGNED", "AUTO", "VECTOR"])
            point.handle_right_type = random.choice(["FREE", "AUTO", "AUTO_CLAMPED"])
            point.handle_left = (point.handle_left.x - 0.1, point.handle_left.y + 0.05)
        curve.update()
    go_to(1)
    return rig


def by_curve(ob: bpy.types.Object) -> dict:
    handle = getattr(ob.animation_data, "action_slot_handle", 0)
    return {name[1:]: state for name, state in action_state(ob.animation_data.action).items() if name[0] == handle}


def of_the_chain(path: str) -> bool:
    return path in (
        'pose.bones["thigh"].rotation_quaternion',
        'pose.bones["shin"].rotation_quaternion',
    )


def test_a_new_action_holds_the_rotations_of_the_chains_bones_alone():
    rig = animated_leg()
    old, before = rig.ob.animation_data.action, action_state(rig.ob.animation_data.action)
    baked(rig.ob, "NEW")
    new = rig.ob.animation_data.action
    assert new != old
    assert {path for path, _ in curves_of(rig.ob)} == {
        'pose.bones["thigh"].rotation_quaternion',
        'pose.bones["shin"].rotation_quaternion',
    }
    assert all(keyed_frames(curve) == [*BAKED] for curve in curves_of(rig.ob).values())
    assert action_state(old) == before and old.use_fake_user and new.use_fake_user
    if hasattr(bpy.types, "ActionSlot"):
        [slot] = new.slots
        assert (slot, slot.name_display) == (rig.ob.animation_data.action_slot, old.slots[0].name_display)


@pytest.mark.parametrize("action", ["COPY", "CURRENT"])
def test_all_other_channels_stay_bit_for_bit(action):
    rig = animated_leg()
    before = by_curve(rig.ob)
    baked(rig.ob, action)
    after = by_curve(rig.ob)
    assert before.keys() == after.keys()
    others = [name for name in before if not of_the_chain(name[0])]
    assert len(others) > 15
    for name in others:
        assert after[name] == before[name], name


@pytest.mark.parametrize("action", ["COPY", "CURRENT"])
def test_keys_outside_the_range_stay_with_their_interpolation(action):
    rig = animated_leg()

    def outside(curve) -> list[tuple]:
        return [
            (tuple(k.co), k.interpolation, k.easing, k.handle_left_type, k.handle_right_type, k.type)
            for k in curve.keyframe_points
            if not BAKED.start - 0.5 < k.co.x < BAKED[-1] + 0.5
        ]

    before = {name: outside(curve) for name, curve in curves_of(rig.ob).items() if of_the_chain(name[0])}
    assert all(len(keys) == 2 for keys in before.values())
    baked(rig.ob, action)
    for name, keys in before.items():
        assert outside(curves_of(rig.ob)[name]) == keys
    assert len(before) == 8


@pytest.mark.parametrize("action", ["COPY", "CURRENT"])
def test_free_handles_outside_the_range_stay_bit_for_bit(action):
    rig = animated_leg()

    def handles(curve) -> list[tuple]:
        points = [k for k in curve.keyframe_points if not BAKED.start - 0.5 < k.co.x < BAKED[-1] + 0.5]
        left = [tuple(k.handle_left) for k in points if k.handle_left_type == "FREE"]
        return left + [tuple(k.handle_right) for k in points if k.handle_right_type == "FREE"]

    before = {name: handles(curve) for name, curve in curves_of(rig.ob).items() if of_the_chain(name[0])}
    assert sum(map(len, before.values())) > 3
    baked(rig.ob, action)
    assert {name: handles(curves_of(rig.ob)[name]) for name in before} == before


def test_a_bake_of_all_clips_that_is_stopped_leaves_no_fake_user():
    ob = walking_clips()
    rig_legs(bpy.context, ob)
    for action in bpy.data.actions:
        action.use_fake_user = False
    before = {action.name: False for action in bpy.data.actions}
    steps = clips_baked(bpy.context, chains_of([ob]), clips="ALL")
    written = []
    for _ in steps:
        written = [name for name, kept in before.items() if bpy.data.actions[name].use_fake_user != kept]
        if len(written) > 1:
            break
    steps.close()
    assert len(written) > 1
    assert {action.name: action.use_fake_user for action in bpy.data.actions} == before


def test_the_current_action_takes_the_keys_itself():
    rig = animated_leg()
    old, count = rig.ob.animation_data.action, len(bpy.data.actions)
    baked(rig.ob, "CURRENT")
    assert rig.ob.animation_data.action == old
    assert len(bpy.data.actions) == count
    assert not old.use_fake_user


@pytest.mark.parametrize("action", ["NEW", "COPY"])
def test_another_object_with_the_same_action_keeps_it(action):
    rig, twin = animated_leg(), walking_leg("twin", 1.0)
    shared = rig.ob.animation_data.action
    twin.ob.animation_data_create().action = shared
    before = action_state(shared)
    baked(rig.ob, action)
    assert twin.ob.animation_data.action == shared
    assert action_state(shared) == before


def two_legs_with_one_action() -> tuple[Rig, Rig]:
    """Two legs that move by one action, each by its own slot."""
    rigs = animated_leg(), animated_leg("twin", 1.0)
    first, second = (rig.ob.animation_data for rig in rigs)
    own = {name: action_values(curve) for name, curve in curves_of(rigs[1].ob).items()}
    slot = first.action.slots.new(id_type="OBJECT", name="twin")
    second.action, second.action_slot = first.action, slot
    bag = first.action.layers[0].strips[0].channelbag(slot, ensure=True)
    for (path, index), values in own.items():
        curve = bag.fcurves.new(path, index=index)
        for frame, value in values:
            curve.keyframe_points.insert(frame, value)
    return rigs


@slotted
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("action", ["NEW", "COPY", "CURRENT"])
def test_the_slot_of_another_object_in_the_same_action_is_not_touched(action, which):
    rigs = two_legs_with_one_action()
    rig, twin = rigs[which], rigs[1 - which]
    shared, slot = twin.ob.animation_data.action, twin.ob.animation_data.action_slot.identifier
    before, motion, expected = by_curve(twin.ob), played(twin.ob, BAKED), played(rig.ob, BAKED)
    own_slot = rig.ob.animation_data.action_slot.identifier
    baked(rig.ob, action)
    assert (twin.ob.animation_data.action, twin.ob.animation_data.action_slot.identifier) == (shared, slot)
    assert by_curve(twin.ob) == before
    assert farthest_apart(played(twin.ob, BAKED), motion, 2.0) < EXACT
    if action != "NEW":
        # A new action has none of the leg's other motion.
        assert rig.ob.animation_data.action_slot.identifier == own_slot
        assert farthest_apart(played_without_the_add_on(rig.ob, BAKED), expected, 2.0) < EXACT


@slotted
@pytest.mark.parametrize("action", ["COPY", "CURRENT"])
def test_an_armature_without_a_slot_does_not_take_another_objects(action):
    rig, twin = animated_leg(), walking_leg("twin", 1.0)
    data = twin.ob.animation_data_create()
    data.action, data.action_slot = rig.ob.animation_data.action, None
    before, expected = by_curve(rig.ob), played(twin.ob, BAKED)
    baked(twin.ob, action)
    assert data.action_slot.identifier != rig.ob.animation_data.action_slot.identifier
    assert by_curve(rig.ob) == before
    assert len(curves_of(twin.ob)) == 8
    assert farthest_apart(played_without_the_add_on(twin.ob, BAKED), expected, 2.0) < EXACT


def action_values(curve: bpy.types.FCurve) -> list[tuple[float, float]]:
    return [tuple(point.co) for point in curve.keyframe_points]


def test_a_bone_with_quotes_in_its_name_is_keyed():
    rig = walking_leg()
    rig.ob.pose.bones["thigh"].name = 'thi"gh\\'
    rig.bones[0] = 'thi"gh\\'
    expected = played(rig.ob, BAKED)
    baked(rig.ob, "COPY", "MUTE")
    assert len(rotation_curves(rig.ob, 'thi"gh\\')) == 4
    assert farthest_apart(played_without_the_add_on(rig.ob, BAKED), expected, 2.0) < EXACT


# A chain that a bake or the operator switched off stays off, and keys that would not last are refused


FRAMES = range(1, 14)


def switch_by_key(rig: Rig) -> None:
    key(rig.tip, "analytic_ik_enabled", [True] * 4)


def switch_by_driver(rig: Rig) -> None:
    rig.tip.driver_add("analytic_ik_enabled").driver.expression = "True"


def switch_by_strip(rig: Rig) -> None:
    switch_by_key(rig)
    push_down(rig.ob, mute=False)


@pytest.mark.parametrize("switch", [switch_by_driver, switch_by_strip])
@pytest.mark.parametrize("after", ["MUTE", "REMOVE"])
def test_what_would_switch_a_chain_on_again_is_refused_by_name(switch, after):
    rig = walking_leg()
    switch(rig)
    go_to(2)
    with refuses(ChainError, r"Bone 'shin': .* enables its chain .*. Remove"):
        bake(bpy.context, chains_of([rig.ob]), FRAMES, "COPY", after)
    bake(bpy.context, chains_of([rig.ob]), FRAMES, "COPY", "KEEP")


def test_armatures_that_share_an_action_are_not_baked_into_it_together():
    legs = [walking_leg("a"), walking_leg("b", 1.0)]
    key_fk(legs[0])
    first, second = (rig.ob.animation_data_create() for rig in legs)
    second.action = first.action
    if hasattr(second, "action_slot"):
        second.action_slot = first.action_slot
    go_to(1)
    with refuses(ChainError, r"Armatures 'a' and 'b' share the action .*. Bake to copies"):
        bake(bpy.context, chains_of([rig.ob for rig in legs]), FRAMES, "CURRENT")
    live = [played(rig.ob, FRAMES) for rig in legs]
    bake(bpy.context, chains_of([rig.ob for rig in legs]), FRAMES, "COPY")
    for rig, poses in zip(legs, live, strict=True):
        assert farthest_apart(poses, played_without_the_add_on(rig.ob, FRAMES), 2.0) < EXACT


def test_no_old_key_is_left_in_the_range_that_was_asked_for_though_the_step_misses_its_end():
    rig = walking_leg()
    key_fk(rig)
    old = {frame for curve in rotation_curves(rig.ob, "thigh") for frame in keyed_frames(curve)}
    assert any(8 < frame <= 11 for frame in old) and any(frame > 11 for frame in old)
    bake(bpy.context, chains_of([rig.ob]), range(1, 12, 6), "COPY", "KEEP")
    for curve in rotation_curves(rig.ob, "thigh"):
        assert keyed_frames(curve) == [1, 7, *sorted(frame for frame in old if frame > 11)]
