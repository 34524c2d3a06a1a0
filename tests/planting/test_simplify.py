"""Simplify Keys and Back to All Keys, measured on evaluated bones, at frames and between."""

import bpy
import numpy as np
import pytest

from ik_addon.planting.feet.simplifying import ControlTrack, KeyOptions, LimbTracks, simplified
from ik_addon.planting.scene import simplify
from ik_addon.planting.scene.control_tracks import keyed_controls
from ik_addon.planting.scene.kept_keys import curves_of
from ik_addon.ui.panels import motion as panel

from ..scenes import sliding_walk
from ..ui.layouts import drawn
from .planted_walks import FRAMES, LEG, THIRDS, all_bytes, farthest, planted, seen

pytestmark = pytest.mark.versions


def slide(report, places, frames) -> float:
    """The farthest that a ball goes from where it first is in one of its contacts."""
    worst = 0.0
    for chain in report["chains"]:
        own = places[chain["tip"].replace("shin", "toe")]
        for lock in chain["contacts"]:
            if lock["point"] == "BALL":
                rows = [k for k, frame in enumerate(frames) if lock["first"] <= frame <= lock["last"]]
                worst = max(worst, float(np.linalg.norm(own[rows] - own[rows[0]], axis=1).max()))
    return worst / LEG


def columns(ob) -> int:
    """How many keys there are in the range, each counted once for a control."""
    found = [
        (each, point)
        for each in keyed_controls(ob).all
        for curve in curves_of(each).values()
        for point in curve.keyframe_points
    ]
    return len({(each.name, point.co[0]) for each, point in found if FRAMES[0] <= point.co[0] <= FRAMES[-1]})


@pytest.mark.slow
@pytest.mark.parametrize("controls", ["EMPTIES", "BONES"])
def test_few_keys_show_the_same_at_frames_and_stand_between_them(controls):
    ob, report = planted(controls=controls)
    dense, between, keys = seen(ob), seen(ob, THIRDS), columns(ob)
    assert bpy.ops.analytic_ik.simplify_keys() == {"FINISHED"}
    few, few_between = seen(ob), seen(ob, THIRDS)
    # Bones go along with a root that goes round a corner at each frame: there what stands keeps its keys.
    assert columns(ob) < (0.6 if controls == "BONES" else 0.4) * keys, (columns(ob), keys)
    assert farthest(dense, few, ("foot", "toe")) < 0.005 + 1e-5
    assert farthest(dense, few, "shin") < 0.015
    assert farthest(dense, few, "thigh") < 0.005 + 1e-5
    # What slides already where what carries the control moves is no worse.
    assert slide(report, few_between, THIRDS) < slide(report, between, THIRDS) + 2e-4


@pytest.mark.slow
def test_between_keys_curves_go_on_as_they_came():
    ob, _ = planted()
    bpy.ops.analytic_ik.simplify_keys()
    for control in keyed_controls(ob).all:
        for curve in curves_of(control).values():
            points = curve.keyframe_points
            assert all(
                point.interpolation == "BEZIER" for point in [*points][:-1] if FRAMES[0] <= point.co[0] < FRAMES[-1]
            )
            for before, point, after in zip(points, points[1:], points[2:], strict=False):
                if not FRAMES[0] < point.co[0] < FRAMES[-1]:
                    continue
                left, right = point.co - point.handle_left, point.handle_right - point.co
                assert left.y / left.x == pytest.approx(right.y / right.x, abs=2e-4)
                assert left.x == pytest.approx((point.co[0] - before.co[0]) / 3.0, rel=1e-3)
                assert right.x == pytest.approx((after.co[0] - point.co[0]) / 3.0, rel=1e-3)


def test_all_keys_come_back_byte_for_byte(capfd):
    ob, _ = planted()
    before = all_bytes(ob)
    for _ in range(2):
        bpy.ops.analytic_ik.simplify_keys(tolerance=0.01)
    assert all_bytes(ob) != before
    assert bpy.ops.analytic_ik.all_keys() == {"FINISHED"}
    assert "keys are back" in capfd.readouterr().out
    assert all_bytes(ob) == before
    with pytest.raises(RuntimeError, match=r"has all of its keys\. Press Simplify Keys to have fewer"):
        bpy.ops.analytic_ik.all_keys()


def test_keys_of_others_and_outside_the_range_stay():
    ob, _ = planted()
    before, inside = all_bytes(ob), range(10, 41)
    own = {name: points_outside(curve, inside) for control in keyed_controls(ob).all for name, curve in named(control)}
    bpy.ops.analytic_ik.simplify_keys(frame_start=inside[0], frame_end=inside[-1])
    for control in keyed_controls(ob).all:
        for name, curve in named(control):
            assert points_outside(curve, inside) == own[name]
    after = all_bytes(ob)
    mine = {name[1:] for name in own}
    assert {name for name in before if before[name] != after[name]} <= {
        name for name in before if any(path == name[1] or (path, index) == name[1] for path, index in mine)
    }


def named(control):
    return [((control.ob.name, curve.data_path, curve.array_index), curve) for curve in curves_of(control).values()]


def points_outside(curve, frames):
    return [tuple(point.co) for point in curve.keyframe_points if not frames[0] <= point.co[0] <= frames[-1]]


@pytest.mark.slow
def test_doing_it_twice_gives_the_same():
    ob, _ = planted()
    bpy.ops.analytic_ik.simplify_keys()
    once = all_bytes(ob)
    bpy.ops.analytic_ik.simplify_keys()
    assert all_bytes(ob) == once


@pytest.mark.slow
def test_update_feet_keeps_few_keys():
    ob, _ = planted()
    bpy.ops.analytic_ik.simplify_keys(tolerance=0.01)
    few, keys = seen(ob), columns(ob)
    assert bpy.ops.analytic_ik.plant_again() == {"FINISHED"}
    assert columns(ob) == keys
    assert farthest(few, seen(ob), ("foot", "shin", "thigh", "toe")) < 1e-5
    shown = drawn(panel.ANALYTIC_IK_PT_planting)
    assert "analytic_ik.all_keys" in shown.operators
    assert " keys, " in shown.text()


@pytest.mark.slow
@pytest.mark.parametrize("align", ["LIMB", "POSE"])
def test_aligned_controls_have_keys_in_the_same_frames(align):
    ob, _ = planted()
    dense = seen(ob)
    bpy.ops.analytic_ik.simplify_keys(align=align)
    assert farthest(dense, seen(ob), ("foot", "toe")) < 0.005 + 1e-5
    controls = keyed_controls(ob)
    groups = [[limb.foot, limb.pole] for limb in controls.limbs] if align == "LIMB" else [controls.all]
    for group in groups:
        rows = {
            tuple(point.co[0] for point in curve.keyframe_points if point.co[0] <= FRAMES[-1])
            for each in group
            for curve in curves_of(each).values()
        }
        assert len(rows) == 1


def test_a_control_without_keys_is_refused():
    ob = sliding_walk(follow_motion=False)
    ob.animation_data_clear()
    with pytest.raises(RuntimeError, match="its controls have no keys in these frames"):
        bpy.ops.analytic_ik.simplify_keys(frame_start=1, frame_end=20)


@pytest.mark.slow
def test_where_fewer_keys_would_show_something_else_all_stay(monkeypatch):
    """As if Blender showed more than the keys tell."""
    ob, _ = planted()
    before = all_bytes(ob)
    report = simplify._report
    monkeypatch.setattr(simplify, "_report", lambda *given: report(*given) | {"tips": 0.02})
    with pytest.raises(RuntimeError, match=r"would put tips off by 2\.0% of a leg and knees"):
        bpy.ops.analytic_ik.simplify_keys()
    assert all_bytes(ob) == before
    assert "analytic_ik.all_keys" not in drawn(panel.ANALYTIC_IK_PT_planting).operators


def test_a_body_keeps_the_roots_of_legs_that_another_joint_moves():
    """A pelvis with keys of its own turns between the body and its legs."""
    count, size = 40, 1.0
    time = np.linspace(0.0, 4.0 * np.pi, count)
    zero, spaces = np.zeros(count), np.tile(np.eye(4), (count, 1, 1))

    def standing(numbers):
        return np.tile(np.eye(3), (len(numbers), 1, 1))

    body = ControlTrack(np.stack((zero, 0.1 * np.sin(time), 1.0 + zero, zero), axis=1), spaces, standing)
    pelvis = 0.1 * np.stack((np.cos(0.3 * np.sin(time)), np.sin(0.3 * np.sin(time)), zero), axis=1)
    hips = body.numbers[:, :3] + pelvis
    ankles = np.stack((zero + 0.1, zero, zero + 0.05), axis=1)
    limb = LimbTracks(
        foot=None,
        pole=None,
        hips=hips,
        ankles=ankles,
        poles=np.add(hips, (0.0, -2.0, 0.0)),
        lengths=np.array((0.5, 0.5)),
        points=np.tile(ankles, (3, 1, 1)),
        contacts=np.zeros((2, count), bool),
    )
    found, options = {}, KeyOptions()
    for _ in simplified(found, [limb], body, 24.0, options):
        pass
    rows = np.arange(count)
    off = np.linalg.norm(body.in_world(found[body].at(rows), rows, body.owns(hips)) - hips, axis=1)
    assert off.max() < options.tolerance * size
    assert 2 < len(found[body].rows) < count / 2


def test_where_knees_would_be_elsewhere_all_keys_stay(monkeypatch):
    ob, _ = planted()
    before = all_bytes(ob)
    monkeypatch.setattr(simplify, "_knees_off", lambda *_: np.array((0.02, 0.0)))
    with pytest.raises(RuntimeError, match=r"and knees by 2\.0%"):
        bpy.ops.analytic_ik.simplify_keys()
    assert all_bytes(ob) == before
