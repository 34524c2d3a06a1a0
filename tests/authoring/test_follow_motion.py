"""Limbs that have a motion from keys keep it when they are rigged: on every frame no bone moves."""

from collections.abc import Iterator
from itertools import pairwise
from random import Random

import bpy
import pytest

from ik_addon.authoring import rigging
from ik_addon.authoring.selection import is_tip

from ..rig.keys import fcurves, push_down
from ..rig.rigs import update
from ..scenes import (
    action_state,
    curves_of,
    go_to,
    keyed_frames,
    played,
    played_without_the_add_on,
    pose_of,
    select,
    select_bones,
)
from .skeletons import FAMILIES, Family, armature_of

TIMES = (-1.3, 3.0, 7.45, 12.6)
"""Where keys are: between frames, as in files that were made for another frame rate."""
FRAMES = range(-2, 14)
"""The whole frames about them."""
HUMAN = FAMILIES[0]


def in_motion(
    family: Family = HUMAN, sides: tuple[str, ...] = ("L", "R"), times: tuple[float, ...] = TIMES
) -> bpy.types.Object:
    """A body that moves as a whole, with the limbs of some sides, by keys at some times."""
    ob, random = armature_of(family.bones()), Random(family.bones()[0].name)
    names = {name for limb in family.found() if limb.side in sides for name in (*limb.bones, limb.end) if name}
    root = next(bone for bone in ob.pose.bones if bone.parent is None)
    for time in times:
        root.location = [random.uniform(-0.2, 0.2) for _ in range(3)]
        root.keyframe_insert("location", frame=time)
        for name in sorted({*names, root.name}):
            bone = ob.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = [random.uniform(-0.35, 0.35) for _ in range(3)]
            bone.keyframe_insert("rotation_euler", frame=time)
    select(ob)
    select_bones(ob)
    go_to(4)
    return ob


def controls_of(ob: bpy.types.Object) -> Iterator[bpy.types.Object]:
    for bone in ob.pose.bones:
        if bone.analytic_ik_enabled:
            yield from (bone.analytic_ik_target, bone.analytic_ik_pole_target)


def assert_no_bone_moved(ob: bpy.types.Object, before: dict, after: dict) -> None:
    """By more than 1e-4 of a limb, or 0.1°."""
    for tip in (bone for bone in ob.pose.bones if bone.analytic_ik_enabled):
        chain = [tip, *tip.parent_recursive][: tip.analytic_ik_chain_count]
        length = sum(bone.bone.length for bone in chain)
        for frame in before:
            for bone in [*chain, *tip.children_recursive]:
                was, now = before[frame][bone.name], after[frame][bone.name]
                assert (now.translation - was.translation).length <= 1e-4 * length, (frame, bone.name)
                turned = (was.to_quaternion().rotation_difference(now.to_quaternion())).angle
                assert min(turned, 6.2832 - turned) <= 1.8e-3, (frame, bone.name)


# The law


@pytest.mark.parametrize("family", [HUMAN, *[each for each in FAMILIES if each.places != "human"][:2]], ids=str)
def test_on_every_frame_no_bone_moves(family):
    ob = in_motion(family)
    frames = range(FRAMES[0] - 3, FRAMES[-1] + 4)
    before, keys = played_without_the_add_on(ob, frames), action_state(ob.animation_data.action)
    go_to(4)
    assert bpy.ops.analytic_ik.rig_legs() == {"FINISHED"}
    assert action_state(ob.animation_data.action) == keys
    # At once, before anything goes to another frame.
    update()
    assert_no_bone_moved(ob, {4: before[4]}, {4: pose_of(ob)})
    for control in controls_of(ob):
        for (path, index), curve in curves_of(control).items():
            assert getattr(control, path)[index] == pytest.approx(curve.evaluate(4), abs=1e-6)
    assert_no_bone_moved(ob, before, played(ob, frames))
    for control in controls_of(ob):
        assert control.animation_data and curves_of(control)
        assert all(keyed_frames(curve) == list(FRAMES) for curve in curves_of(control).values())


def test_between_two_frames_a_limb_strays_by_a_part_of_its_way():
    ob = in_motion()
    frames = [k / 2.0 for k in range(2 * FRAMES[-1])]
    before = played_without_the_add_on(ob, frames)
    go_to(4)
    bpy.ops.analytic_ik.rig_legs()
    after = played(ob, frames)
    for name in (name for leg in HUMAN.found() if leg.kind == "LEG" for name in (leg.bones[1], leg.end)):
        places = {frame: before[frame][name].translation for frame in frames}
        ways = [(b - a).length for a, b in pairwise(places[frame] for frame in frames[::2])]
        for k, middle in enumerate(frames[1:-1:2]):
            off = (after[middle][name].translation - places[middle]).length
            assert off <= 0.5 * max(ways[max(k - 1, 0) : k + 2]) + 1e-4, (middle, name)


def test_the_motion_of_a_strip_is_followed():
    ob = in_motion()
    push_down(ob, mute=False)
    update()
    before = played_without_the_add_on(ob, FRAMES)
    go_to(4)
    bpy.ops.analytic_ik.rig_legs()
    assert_no_bone_moved(ob, before, played(ob, FRAMES))


def test_a_cycle_is_followed_over_the_range_of_the_scene():
    ob = in_motion()
    for curve in fcurves(ob):
        curve.modifiers.new("CYCLES")
    # Blender hears of a new modifier from its own buttons alone.
    ob.animation_data.action.update_tag()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 60
    frames = range(1, 61)
    before = played_without_the_add_on(ob, frames)
    go_to(4)
    bpy.ops.analytic_ik.rig_legs()
    assert_no_bone_moved(ob, before, played(ob, frames))


def test_a_leg_without_keys_is_carried_by_a_body_that_has_them():
    ob = in_motion(sides=("L",))
    before = played_without_the_add_on(ob, FRAMES)
    go_to(4)
    bpy.ops.analytic_ik.rig_legs()
    assert_no_bone_moved(ob, before, played(ob, FRAMES))


# Where it does nothing


def test_who_does_not_want_it_gets_controls_without_keys(capfd):
    ob = in_motion()
    bpy.ops.analytic_ik.rig_legs(follow_motion=False)
    assert (
        "Keys move the bones of 2 chains, and the controls do not follow. Use Snap IK to FK" in capfd.readouterr().out
    )
    assert len(list(controls_of(ob))) == 4
    assert all(control.animation_data is None for control in controls_of(ob))


def test_the_cure_of_one_leg_lets_all_follow_their_keys():
    ob = in_motion()
    before = played_without_the_add_on(ob, FRAMES)
    bpy.ops.analytic_ik.rig_legs(follow_motion=False)
    bpy.ops.analytic_ik.cure(kind="FOLLOW_MOTION", bone=next(bone.name for bone in ob.pose.bones if is_tip(bone)))
    assert all(control.animation_data is not None for control in controls_of(ob))
    assert_no_bone_moved(ob, before, played(ob, FRAMES))


# What it says, and what it leaves


@pytest.mark.parametrize(
    ("selected", "arms", "words"),
    [
        ((), False, "2 legs"),
        ((), True, "2 legs and 2 arms"),
        (("L",), False, "1 leg"),
    ],
)
def test_the_report_counts_the_limbs_and_names_the_frames(selected, arms, words, capfd):
    ob = in_motion()
    legs = [limb for limb in HUMAN.found() if limb.kind == "LEG" and limb.side in selected]
    select_bones(ob, *(leg.bones[-1] for leg in legs))
    bpy.ops.analytic_ik.rig_legs(arms=arms)
    said = capfd.readouterr().out
    assert said.endswith(f"Rigged {words}, the controls follow frames {FRAMES[0]}-{FRAMES[-1]}\n")
    assert "(Foot.L, Knee.L)" in said


def test_keys_that_the_controls_do_not_carry_exactly_are_told(capfd, monkeypatch):
    in_motion()
    monkeypatch.setattr(rigging, "VISIBLE", -1.0)
    assert bpy.ops.analytic_ik.rig_legs() == {"FINISHED"}
    said = capfd.readouterr().out
    assert "the controls follow frames -2-13" in said
    assert "Warning: The keys are not followed exactly: '" in said.splitlines()[-1]
