"""Switch to FK, Switch to IK: nothing jumps, and Auto Keying gets its keys."""

from contextlib import contextmanager

import bpy
import pytest

from ik_addon.rig.blender.animation import current_fcurve_collections
from ik_addon.ui.operators.chains import ANALYTIC_IK_OT_switch_to_fk, ANALYTIC_IK_OT_switch_to_ik

from ..rig.rigs import Rig, new_empty
from ..scenes import EXACT, apart, enter, go_to, pose_of, refuses, walking_leg
from .layouts import press

pytestmark = pytest.mark.versions


@contextmanager
def auto_keying():
    tools, edit = bpy.context.scene.tool_settings, bpy.context.preferences.edit
    before = edit.use_keyframe_insert_available
    tools.use_keyframe_insert_auto, edit.use_keyframe_insert_available = True, False
    try:
        yield
    finally:
        tools.use_keyframe_insert_auto, edit.use_keyframe_insert_available = False, before


def posed() -> Rig:
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    go_to(4)
    return rig


def keyed_paths(ob: bpy.types.Object, frame: float) -> set[str]:
    homes = current_fcurve_collections(ob.animation_data) if ob.animation_data else []
    return {
        curve.data_path for home in homes for curve in home if any(key.co.x == frame for key in curve.keyframe_points)
    }


@pytest.mark.parametrize("influence", [1.0, 0.4, 0.0])
@pytest.mark.parametrize("way", ["fk", "ik"])
def test_nothing_jumps(way, influence):
    rig = posed()
    rig.tip.analytic_ik_influence = influence
    bpy.context.view_layer.update()
    before = pose_of(rig.ob)
    getattr(bpy.ops.analytic_ik, f"switch_to_{way}")()
    bpy.context.view_layer.update()
    assert rig.tip.analytic_ik_influence == (0.0 if way == "fk" else 1.0)
    assert apart(before, pose_of(rig.ob), sum(rig.lengths())) < 20.0 * EXACT


def test_auto_keying_gets_its_keys():
    rig = posed()
    before = pose_of(rig.ob)
    influence = 'pose.bones["shin"].analytic_ik_influence'
    with auto_keying():
        bpy.ops.analytic_ik.switch_to_fk()
        keyed = keyed_paths(rig.ob, 4.0)
        assert influence in keyed
        assert {'pose.bones["thigh"].rotation_quaternion', 'pose.bones["shin"].rotation_quaternion'} <= keyed
        go_to(9)
        bpy.ops.analytic_ik.switch_to_ik()
        assert influence in keyed_paths(rig.ob, 9.0)
        assert "location" in keyed_paths(rig.target.ob, 9.0)
    # Up to the second switch the leg is all FK.
    for frame, value in ((4, 0.0), (8, 0.0), (9, 1.0), (12, 1.0)):
        go_to(frame)
        assert rig.tip.analytic_ik_influence == value
    go_to(4)
    assert apart(before, pose_of(rig.ob), sum(rig.lengths())) < 20.0 * EXACT


@pytest.mark.parametrize("way", ["fk", "ik"])
def test_a_driven_influence_is_refused_with_nothing_changed(way):
    rig = posed()
    rig.tip.driver_add("analytic_ik_influence").driver.expression = "0.5"
    bpy.context.view_layer.update()
    with refuses(RuntimeError, r"a driver sets its influence\. Remove that driver"):
        getattr(bpy.ops.analytic_ik, f"switch_to_{way}")()


def test_what_cannot_be_snapped_is_refused_with_nothing_changed():
    rig = posed()
    rig.tip.analytic_ik_influence = 0.0
    rig.target.ob.constraints.new("LIMIT_LOCATION")
    bpy.context.view_layer.update()
    with refuses(RuntimeError, "moves its control"), auto_keying():
        bpy.ops.analytic_ik.switch_to_ik()


def test_without_keys_a_switch_holds_on_all_frames_and_says_so(capfd):
    posed()
    capfd.readouterr()
    bpy.ops.analytic_ik.switch_to_fk()
    assert "to FK in the whole shot. For this frame on, tick Insert Keys" in capfd.readouterr().out
    with auto_keying():
        bpy.ops.analytic_ik.switch_to_ik()
    assert "to IK at frame 4" in capfd.readouterr().out


@pytest.mark.parametrize("only_available", [True, False])
def test_switches_within_a_shot_leave_the_frames_before_as_they_are(only_available):
    rig = posed()
    rig.tip.analytic_ik_pole_target = new_empty("pole", (0.3, -3.0, 1.0))
    bpy.context.scene.frame_start = 1
    far = 20.0 * EXACT

    def poses(frames: range) -> dict[int, list]:
        found = {}
        for frame in frames:
            go_to(frame)
            found[frame] = pose_of(rig.ob)
        return found

    def is_as_it_was(before: dict[int, list]) -> bool:
        now = poses(range(min(before), max(before) + 1))
        return all(apart(before[frame], now[frame], sum(rig.lengths())) < far for frame in before)

    shot = poses(range(1, 4))
    with auto_keying():
        bpy.context.preferences.edit.use_keyframe_insert_available = only_available
        go_to(4)
        bpy.ops.analytic_ik.switch_to_fk()
        assert is_as_it_was(shot)
        shot |= poses(range(4, 9))
        go_to(9)
        bpy.ops.analytic_ik.switch_to_ik()
    assert rig.tip.analytic_ik_influence == 1.0
    assert is_as_it_was(shot)
    go_to(3)
    assert rig.tip.analytic_ik_influence == 1.0
    go_to(6)
    assert rig.tip.analytic_ik_influence == 0.0


@pytest.mark.parametrize("way", ["fk", "ik"])
def test_insert_keys_does_what_auto_keying_does_and_leaves_it_off(way):
    rig = posed()
    rig.tip.analytic_ik_influence = 1.0 if way == "fk" else 0.0
    go_to(2)
    before = pose_of(rig.ob)
    go_to(4)
    tools = bpy.context.scene.tool_settings
    mode = tools.auto_keying_mode = "REPLACE_KEYS"
    getattr(bpy.ops.analytic_ik, f"switch_to_{way}")(insert_keys=True)
    assert (tools.use_keyframe_insert_auto, tools.auto_keying_mode) == (False, mode)
    assert rig.tip.path_from_id("analytic_ik_influence") in keyed_paths(rig.ob, 4)
    go_to(2)
    assert rig.tip.analytic_ik_influence == (1.0 if way == "fk" else 0.0)
    assert apart(before, pose_of(rig.ob), sum(rig.lengths())) < 20.0 * EXACT


@pytest.mark.parametrize("way", ["fk", "ik"])
def test_a_switch_by_its_button_is_keyed_where_influence_has_keys(way):
    """Without a key it would be lost at the next frame."""
    operator = {"fk": ANALYTIC_IK_OT_switch_to_fk, "ik": ANALYTIC_IK_OT_switch_to_ik}[way]
    rig = posed()
    path = rig.tip.path_from_id("analytic_ik_influence")
    rig.tip.analytic_ik_influence = 1.0 if way == "fk" else 0.0
    press(operator)
    assert path not in keyed_paths(rig.ob, 4)
    rig.tip.analytic_ik_influence = 1.0 if way == "fk" else 0.0
    rig.ob.keyframe_insert(path, frame=1)
    press(operator)
    assert path in keyed_paths(rig.ob, 4)
    go_to(1)
    assert rig.tip.analytic_ik_influence == (1.0 if way == "fk" else 0.0)
    go_to(5)
    assert rig.tip.analytic_ik_influence == (0.0 if way == "fk" else 1.0)
