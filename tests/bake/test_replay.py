"""A bake plays without the add-on what the live chains did."""

import ast
from itertools import pairwise
from math import cos, pi, sin

import bpy
import pytest

from ik_addon.bake import bake, chains_of
from ik_addon.rig.live import handlers as live

from ..helpers.sources import add_on_sources, parsed
from ..rig.keys import FK_KEYS, animated_rig, key
from ..rig.rigs import ROTATION_MODES, leg
from ..scenes import (
    EXACT,
    angle_between,
    chain_below_chain,
    curves_of,
    enter,
    farthest_apart,
    group_by_bone,
    key_fk,
    played,
    played_without_the_add_on,
    read_whole,
    rotation_curves,
    walking_leg,
)

pytestmark = pytest.mark.versions

ACTIONS = ("NEW", "COPY", "CURRENT")
AFTER = ("KEEP", "MUTE", "REMOVE")


def baked(ob: bpy.types.Object, frames: range, action: str = "COPY", after: str = "MUTE", **options) -> dict:
    return bake(bpy.context, chains_of([ob]), frames, action, after, **options)


def assert_plays_as_live(rig, frames: range, action: str, after: str) -> None:
    length = sum(rig.lengths())
    expected = played(rig.ob, frames)
    baked(rig.ob, frames, action, after)
    # Backwards: a pose that leant on the frame before would show.
    assert farthest_apart(played_without_the_add_on(rig.ob, reversed(frames)), expected, length) < EXACT


@pytest.mark.some(16)
@pytest.mark.parametrize("fk_keys", FK_KEYS)
@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("seed", range(9))
def test_a_bake_plays_without_the_add_on_as_the_chain_did_live(seed, step, fk_keys):
    rig = animated_rig(seed, fk_keys)
    # A new action drops the animation of what is not in the chains, and so the parents' motion.
    action = ACTIONS[1 + seed % 2] if rig.ob.animation_data else ACTIONS[seed % 3]
    assert_plays_as_live(rig, range(1, 14, step), action, AFTER[seed // 3])


@pytest.mark.some(4)
@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("seed", range(20, 32))
def test_a_chain_below_a_chain_is_baked_as_it_was_live(seed, step):
    upper, _ = chain_below_chain(seed)
    assert_plays_as_live(upper, range(1, 13, step), ACTIONS[seed % 3], AFTER[seed // 3 % 3])


@pytest.mark.parametrize("seed", range(60, 75))
def test_blenders_own_visual_bake_gives_the_same_motion(seed):
    frames, kind = range(1, 14, 2), FK_KEYS[seed % 3]
    poses = []
    for by_blender in (True, False):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        rig = animated_rig(seed, kind)
        for bone in rig.ob.pose.bones:
            # Blender's bake takes a mirrored bone for a turned one.
            bone.scale = [abs(value) for value in bone.scale]
        length = sum(rig.lengths())
        if by_blender:
            enter("POSE", rig.ob, *rig.bones)
            bpy.ops.nla.bake(
                frame_start=1,
                frame_end=13,
                step=2,
                only_selected=True,
                visual_keying=True,
                use_current_action=True,
                bake_types={"POSE"},
                channel_types={"ROTATION"},
            )
        else:
            baked(rig.ob, frames, "CURRENT", "MUTE")
        poses.append(played_without_the_add_on(rig.ob, frames))
    # Blender takes a chain's matrices through four conversions between spaces.
    assert farthest_apart(*poses, length) < 2 * EXACT


def test_keys_that_equal_what_was_solved_are_the_fk_pose_in_a_bake_too():
    """A bake is the first to visit these frames: it must not take the keys for its own work."""
    poses = []
    for by_bake in (False, True):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        rig = leg()
        rig.enable(influence=0.5)
        for name in rig.bones:
            rig.ob.pose.bones[name].keyframe_insert("rotation_quaternion", frame=1)
        if by_bake:
            baked(rig.ob, range(1, 4))
        poses.append((played_without_the_add_on if by_bake else played)(rig.ob, range(1, 4)))
    assert farthest_apart(*poses, 2.0) < EXACT


def test_what_happens_to_the_chain_afterwards():
    rig = walking_leg(softness=0.1, flip=True)
    baked(rig.ob, range(1, 4), after="KEEP")
    assert rig.tip.analytic_ik_enabled
    baked(rig.ob, range(1, 4), after="MUTE")
    assert (rig.tip.analytic_ik_enabled, rig.tip.analytic_ik_target) == (False, rig.target.ob)
    assert rig.tip.analytic_ik_softness == pytest.approx(0.1)
    rig.enable()
    baked(rig.ob, range(1, 4), after="REMOVE")
    assert (rig.tip.analytic_ik_enabled, rig.tip.analytic_ik_target) == (False, None)
    assert (rig.tip.analytic_ik_softness, rig.tip.analytic_ik_flip) == (0.0, False)


def mute(curve) -> None:
    curve.mute = True


def lock(curve) -> None:
    curve.lock = True


def mute_group(curve) -> None:
    curve.group.mute = True


def add_cycles(curve) -> None:
    curve.modifiers.new("CYCLES")


def add_noise(curve) -> None:
    curve.modifiers.new("NOISE").strength = 2.0


@pytest.mark.some(5)
@pytest.mark.parametrize("obstacle", [mute, lock, mute_group, add_cycles, add_noise])
@pytest.mark.parametrize("action", ["COPY", "CURRENT"])
def test_curves_that_would_not_play_their_keys_are_made_to(obstacle, action):
    rig = walking_leg()
    key_fk(rig)
    group_by_bone(rig.ob)
    for name in rig.bones:
        for curve in rotation_curves(rig.ob, name):
            obstacle(curve)
    assert_plays_as_live(rig, range(1, 14), action, "MUTE")


def test_what_else_is_in_a_muted_group_does_not_begin_to_play():
    rig = walking_leg()
    thigh = rig.ob.pose.bones["thigh"]
    key(thigh, "location", [(1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (3.0, 0.0, 0.0), (0.0, 0.0, 0.0)])
    thigh.location = (0.0, 0.0, 0.0)
    group_by_bone(rig.ob)
    for curve in curves_of(rig.ob).values():
        curve.group.mute = True
    assert_plays_as_live(rig, range(1, 14), "CURRENT", "MUTE")


# Continuity


def circling_leg(mode: str, axis: str) -> tuple:
    """A leg whose target circles twice: about its hip in the bend plane, or about the plumb line through it."""
    rig = leg()
    for name in rig.bones:
        rig.ob.pose.bones[name].rotation_mode = mode
    for frame in range(1, 82):
        turn = 4.0 * pi * (frame - 1) / 80.0
        across, height = (sin(turn), 2.0 + cos(turn)) if axis == "x" else (0.8 * sin(turn), 1.0)
        rig.target.ob.location = (0.8 * cos(turn) if axis == "z" else 0.0, across, height)
        rig.target.ob.keyframe_insert("location", frame=frame)
    rig.enable()
    return rig, range(1, 82)


@pytest.mark.some(4)
@pytest.mark.parametrize("axis", ["x", "z"])
@pytest.mark.parametrize("mode", ROTATION_MODES)
def test_keys_run_on_without_flips_and_whole_turns(mode, axis):
    rig, frames = circling_leg(mode, axis)
    expected = played(rig.ob, frames)
    baked(rig.ob, frames)
    for name in rig.bones:
        columns = ([key.co.y for key in curve.keyframe_points] for curve in rotation_curves(rig.ob, name))
        rows = list(zip(*columns, strict=True))
        assert len(rows) == len(frames)
        for before, after in pairwise(rows):
            if mode == "QUATERNION":
                assert sum(a * b for a, b in zip(before, after, strict=True)) > 0.9
            elif mode != "AXIS_ANGLE":
                # Half a turn would be the other way to write the same angles; a whole one, a jump.
                assert max(abs(a - b) for a, b in zip(before, after, strict=True)) < 2.0
            else:
                assert abs(after[0] - before[0]) < 1.0
    halves = [frame + 0.5 for frame in frames][:-1]
    between = played_without_the_add_on(rig.ob, halves)
    for frame in halves:
        for name in rig.bones:
            step = angle_between(expected[frame - 0.5][name], expected[frame + 0.5][name])
            strayed = angle_between(expected[frame - 0.5][name], between[frame][name])
            assert strayed < step + 0.05, f"{name} at {frame} in {mode}"


# What one looks at


def test_the_handlers_keep_still_while_frames_are_stepped(monkeypatch):
    """Otherwise every frame would be solved twice."""
    rig, calls, real = walking_leg(), [], live.solve_scene
    monkeypatch.setattr(live, "solve_scene", lambda *a, **k: calls.append(a) or real(*a, **k))
    with read_whole():
        baked(rig.ob, range(1, 11), after="KEEP")
    # The one more is the frame that is gone back to, where the chain is live again.
    assert 10 <= len(calls) <= 12


# How keys are written


def test_no_key_is_inserted_one_by_one():
    # A hand that drags a gizmo may set one, and one that switches between FK and IK.
    rooms, switch = ("rig/", "bake/", "authoring/"), "authoring/keys.py"
    sources = [text for path, text in add_on_sources().items() if path.startswith(rooms) and path != switch]
    nodes = [node for text in sources for node in ast.walk(parsed(text))]
    names = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    assert "foreach_set" in names
    assert "keyframe_insert" not in names


@pytest.mark.parametrize("only_selected", [False, True])
def test_only_selected_means_chains_whose_tip_is_selected(only_selected):
    upper, lower = chain_below_chain(20)
    enter("POSE", upper.ob, lower.bones[-1], upper.bones[0])
    bpy.ops.analytic_ik.bake(frame_start=1, frame_end=5, only_selected=only_selected)
    assert bool(rotation_curves(upper.ob, upper.bones[0])) is not only_selected
    assert rotation_curves(upper.ob, lower.bones[0])
    assert upper.tip.analytic_ik_enabled is only_selected
    assert not lower.tip.analytic_ik_enabled
