"""A chain that a bake or the operator switched off stays off, and keys that would not last are refused."""

import bpy
import pytest

from ik_addon.bake import bake, chains_of
from ik_addon.solvers import ChainError

from ..rig.keys import key, push_down
from ..rig.rigs import Rig
from ..scenes import (
    EXACT,
    farthest_apart,
    go_to,
    key_fk,
    keyed_frames,
    played,
    played_without_the_add_on,
    rotation_curves,
    walking_leg,
    whole_state,
)

pytestmark = pytest.mark.versions

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
    before = whole_state()
    with pytest.raises(ChainError, match=r"Bone 'shin': .* enables its chain .*. Remove"):
        bake(bpy.context, chains_of([rig.ob]), FRAMES, "COPY", after)
    assert whole_state() == before
    bake(bpy.context, chains_of([rig.ob]), FRAMES, "COPY", "KEEP")


def test_armatures_that_share_an_action_are_not_baked_into_it_together():
    legs = [walking_leg("a"), walking_leg("b", 1.0)]
    key_fk(legs[0])
    first, second = (rig.ob.animation_data_create() for rig in legs)
    second.action = first.action
    if hasattr(second, "action_slot"):
        second.action_slot = first.action_slot
    go_to(1)
    before = whole_state()
    with pytest.raises(ChainError, match=r"Armatures 'a' and 'b' share the action .*. Bake to copies"):
        bake(bpy.context, chains_of([rig.ob for rig in legs]), FRAMES, "CURRENT")
    assert whole_state() == before
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
