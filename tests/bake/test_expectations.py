"""What Blender's own tests of baking an object's animation expect of actions, slots and keys, expected of ours.

They are in `tests/python/bl_animation_bake.py` of Blender's sources, one test for each of: no animation yet, a new
action, the existing action, and both of these where the action has a slot of another object.
"""

import bpy
import numpy as np
import pytest

from ik_addon.bake import bake, chains_of

from ..rig.rigs import Rig, update
from ..scenes import action_state, curve_bags, go_to, key_fk, walking_leg

pytestmark = pytest.mark.versions

BAKED = range(3, 9)
"""Inside of the keys, which are at the frames 1 to 13."""
SLOTTED = hasattr(bpy.types, "ActionSlot")
slotted = pytest.mark.skipif(not SLOTTED, reason="actions have no slots before Blender 4.4")
OWN = ("thigh", "shin")


def baked(rig: Rig, action: str) -> bpy.types.Action:
    bake(bpy.context, chains_of([rig.ob]), BAKED, action, "KEEP")
    return rig.ob.animation_data.action


def keyed_leg(name: str = "leg", side: float = 0.0) -> Rig:
    rig = walking_leg(name, side)
    key_fk(rig)
    go_to(1)
    return rig


def sharing() -> tuple[Rig, Rig]:
    """Two legs with a slot each in one action."""
    first, second = keyed_leg("first"), keyed_leg("second", 1.0)
    action = first.ob.animation_data.action
    data = second.ob.animation_data
    slot = action.slots.new("OBJECT", "of the second")
    data.action = action
    data.action_slot = slot
    key_fk(second)
    update()
    return first, second


def rotations(rig: Rig) -> dict[tuple[str, int], list[float]]:
    """The frames of the keys of the chain's rotations, by path and index."""
    action = rig.ob.animation_data.action
    bags = curve_bags(action)
    curves = bags[rig.ob.animation_data.action_slot_handle if SLOTTED else next(iter(bags))].fcurves
    own = [curve for curve in curves if any(f'"{bone}"' in curve.data_path for bone in OWN)]
    return {
        (curve.data_path, curve.array_index): [point.co.x for point in curve.keyframe_points]
        for curve in own
        if "rotation" in curve.data_path
    }


def test_without_an_action_there_is_one_with_a_slot_that_is_assigned_and_all_channels():
    """Baking without an existing action creates one, with one slot, which is the object's; all channels have a key at
    every frame of the range, and none behind it."""
    rig = walking_leg()
    assert rig.ob.animation_data is None or rig.ob.animation_data.action is None
    action = baked(rig, "NEW")
    assert action is not None
    if SLOTTED:
        assert list(action.slots) == [rig.ob.animation_data.action_slot]
    keys = rotations(rig)
    assert len(keys) == 4 * len(OWN)
    assert all(frames == list(BAKED) for frames in keys.values())


def test_a_new_action_has_one_slot_of_the_same_name_and_no_keys_outside_the_range():
    """Baking to a new action results in another action with one slot, named as the one before; it has no keys outside
    of the range."""
    rig = keyed_leg()
    before = rig.ob.animation_data.action
    if SLOTTED:
        rig.ob.animation_data.action_slot.name_display = "a name of its own"
    after = baked(rig, "NEW")
    assert after != before
    if SLOTTED:
        [slot] = after.slots
        assert slot == rig.ob.animation_data.action_slot
        assert slot.name_display == before.slots[0].name_display == "a name of its own"
    keys = rotations(rig)
    assert len(keys) == 4 * len(OWN)
    assert all(frames == list(BAKED) for frames in keys.values())


def test_the_existing_action_keeps_its_slot_and_all_keys_outside_the_range():
    """Baking into the existing action keeps it, with one slot, and preserves keys out of the range."""
    rig = keyed_leg()
    before, outside = rig.ob.animation_data.action, {}
    for where, frames in rotations(rig).items():
        outside[where] = [frame for frame in frames if frame not in BAKED]
    assert baked(rig, "CURRENT") == before
    if SLOTTED:
        assert list(before.slots) == [rig.ob.animation_data.action_slot]
    for where, frames in rotations(rig).items():
        assert frames == sorted([*outside[where], *BAKED])


@slotted
def test_a_new_action_has_the_slot_of_its_object_alone():
    """Baking one of two objects of a multi-slot action to a new one: it has one slot, named as the object's own was,
    and keys of that object's motion."""
    first, second = sharing()
    before, name = first.ob.animation_data.action, second.ob.animation_data.action_slot.name_display
    after = baked(second, "NEW")
    assert after != before
    assert [slot.name_display for slot in after.slots] == [name]
    assert first.ob.animation_data.action == before
    assert all(frames == list(BAKED) for frames in rotations(second).values())


@slotted
def test_the_existing_action_gets_no_slot_and_that_of_another_object_is_untouched():
    """Baking one of two objects into the multi-slot action that both have: no slot is added, its keys are its own, and
    those out of the range stay."""
    first, second = sharing()
    action, handle = first.ob.animation_data.action, first.ob.animation_data.action_slot_handle
    before = {name: state for name, state in action_state(action).items() if name[0] == handle}
    outside = {where: [at for at in frames if at not in BAKED] for where, frames in rotations(second).items()}
    assert baked(second, "CURRENT") == action
    assert len(action.slots) == 2
    assert first.ob.animation_data.action_slot != second.ob.animation_data.action_slot
    assert {name: state for name, state in action_state(action).items() if name[0] == handle} == before
    for where, frames in rotations(second).items():
        assert frames == sorted([*outside[where], *BAKED])


@pytest.mark.parametrize("action", ["NEW", "COPY", "CURRENT"])
def test_what_is_baked_is_what_was_shown(action):
    """The first and the last key have the values that the object had there."""
    rig = keyed_leg()
    shown = {frame: poses_at(rig, frame) for frame in (BAKED[0], BAKED[-1])}
    bake(bpy.context, chains_of([rig.ob]), BAKED, action)
    for frame, matrices in shown.items():
        assert np.abs(poses_at(rig, frame) - matrices).max() < 1e-5


def poses_at(rig: Rig, frame: int) -> np.ndarray:
    go_to(frame)
    copy = rig.ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([copy.pose.bones[bone].matrix for bone in OWN])
