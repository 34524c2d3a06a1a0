"""Files from before actions had slots: what Empties play beside a clip is found in later versions too."""

import bpy
import pytest

from ik_addon.authoring.for_export import back_to_live, bake_clips_for_export
from ik_addon.bake.clips import rigged_clips
from ik_addon.rig.blender.clips import clips_of
from ik_addon.rig.data.control_clips import _OF_CONTROLS, partner, separate_controls

from ..rig.rigs import update
from .characters import AMOUNTS, SLOTTED, all_shown, farthest, rigged_character

pytestmark = [pytest.mark.versions, pytest.mark.skipif(not SLOTTED, reason="actions have no slots")]


def as_before_slots() -> bpy.types.Object:
    """A character whose Empties play an action of their own in each clip, as Blender 4.2 saves it."""
    ob = rigged_character(False)
    for clip in clips_of(ob):
        for control in separate_controls(ob):
            own = partner(control, clip)
            made = clip.action.copy()
            made.name = f"{clip.name} {control.name}"
            for slot in list(made.slots):
                if slot.handle != own.slot:
                    made.slots.remove(slot)
            record = getattr(clip.action, _OF_CONTROLS).add()
            record.name, record.action = control.name, made
    for clip in clips_of(ob):
        for slot in [slot for slot in clip.action.slots if slot.handle != clip.slot]:
            clip.action.slots.remove(slot)
    for control in separate_controls(ob):
        control.animation_data.action = getattr(ob.animation_data.action, _OF_CONTROLS)[control.name].action
        control.animation_data.action_slot = control.animation_data.action.slots[0]
    update()
    return ob


def test_each_clip_is_shown_with_what_belongs_to_it():
    lifted = all_shown(rigged_character(False))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = as_before_slots()
    assert len(rigged_clips(ob)) == len(AMOUNTS)
    assert farthest(all_shown(ob), lifted) < 1e-6
    assert farthest(all_shown(ob, names=reversed(AMOUNTS)), lifted) < 1e-6


def test_it_is_baked_for_export_and_back():
    ob = as_before_slots()
    live = all_shown(ob)
    bake_clips_for_export(bpy.context, ob)
    assert farthest(all_shown(ob), live) < 1e-5
    back_to_live(ob)
    update()
    assert farthest(all_shown(ob), live) < 1e-6
