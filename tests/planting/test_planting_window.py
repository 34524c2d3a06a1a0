"""Plant Feet as it is pressed: what the operators and the panel say, and how they refuse."""

import re
from itertools import pairwise
from math import pi, sin

import bpy
import pytest

from ik_addon import messages
from ik_addon.authoring.selection import focus
from ik_addon.planting import last_report, plant
from ik_addon.planting.feet.options import Options
from ik_addon.planting.scene.footprints import footprints_of
from ik_addon.planting.scene.reading import leg_tips
from ik_addon.rig.blender.file_memory import file_memory
from ik_addon.solvers import ChainError
from ik_addon.ui.panels import motion as panel

from ..rig.rigs import (
    BoneSpec,
    Control,
    evaluated_copy,
    leg,
    make_chain,
    matrix_difference,
    new_armature,
    new_empty,
    update,
)
from ..scenes import curves_of, go_to, key_fk, select, sliding_walk, walking_leg
from ..ui.layouts import drawn, is_shown
from .corrected import move

pytestmark = pytest.mark.versions


def press(**options) -> None:
    bpy.ops.analytic_ik.plant_feet(**{"frame_start": 1, "frame_end": 40, **options})


def refused(said: str, **options) -> None:
    with pytest.raises(RuntimeError, match=said):
        press(**options)


def test_the_panel_says_what_was_done(capfd):
    ob = sliding_walk()
    assert drawn(panel.ANALYTIC_IK_PT_planting).operators == [
        "analytic_ik.plant_feet",
        "analytic_ik.path_from_clip",
        "analytic_ik.simplify_keys",
        "analytic_ik.apply_correction",
        "analytic_ik.lock_to_object",
        "analytic_ik.match_source",
    ]
    press()
    assert "Planted" in capfd.readouterr().out
    shown = drawn(panel.ANALYTIC_IK_PT_planting)
    assert shown.operators == [
        "analytic_ik.plant_feet",
        "analytic_ik.plant_again",
        "analytic_ik.path_from_clip",
        "analytic_ik.simplify_keys",
        "analytic_ik.apply_correction",
        "analytic_ik.lock_to_object",
        "analytic_ik.match_source",
    ]
    assert [label for label in shown.labels if label.startswith("shin.L: ") and "slide" in label]
    assert re.search(r"Body 'hips' moves by [\d.]+ [cm]?m \(\d+\.\d%\)", shown.text())
    assert re.search(r"slide [\d.]+ [cm]?m \(\d+\.\d%\) → 0 m", shown.text())
    move(ob, 10)
    # A row of it is broken where it does not fit, not cut.
    wide, narrow = (drawn(panel.ANALYTIC_IK_PT_planting, width) for width in (900, 160))
    assert "As planted, without corrections" in wide.text()
    [row] = [label for label in wide.labels if "frame 10 (" in label]
    assert row in narrow.text()
    assert row not in narrow.labels
    assert bpy.ops.analytic_ik.plant_again() == {"FINISHED"}
    # As after a file is opened.
    file_memory.forget()
    assert "Press Check to see how far feet slide" in drawn(panel.ANALYTIC_IK_PT_planting).text()
    assert [tip.name for tip in leg_tips(ob)] == ["shin.L", "shin.R"]


def test_a_walk_in_place_says_how_fast_its_ground_passes():
    ob = sliding_walk()
    # What goes forward stays: the same walk on a treadmill.
    for (path, _), curve in curves_of(ob).items():
        if path in ('pose.bones["hips"].location', 'pose.bones["root"].location', "location"):
            points = curve.keyframe_points
            first, last = points[0].co.copy(), points[-1].co.copy()
            for point in points:
                point.co[1] -= (last[1] - first[1]) * (point.co[0] - first[0]) / max(last[0] - first[0], 1.0)
            curve.update()
    for tip in leg_tips(ob):
        tip.analytic_ik_target.animation_data_clear()
    press(frame_end=60)
    assert "The clip stays in place" in drawn(panel.ANALYTIC_IK_PT_planting).text()


def test_a_body_that_reaches_no_foot_is_told():
    ob = sliding_walk()
    press(footprints=True)
    footprint = next(footprints_of(ob.pose.bones["shin.L"]))
    footprint.location.x += 30.0
    update()
    bpy.ops.analytic_ik.plant_again()
    shown = drawn(panel.ANALYTIC_IK_PT_planting).text()
    assert "Out of reach" in shown
    # So far it moves that one should look at it.
    assert f"Frame {last_report()['body_frame']}" in shown
    assert "the knee may pop at frame" in shown
    assert ob.animation_data.action.name.endswith("planted")


def test_only_selected_legs_are_planted():
    ob = sliding_walk()
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:
        (bone if bpy.app.version >= (5, 0) else bone.bone).select = bone.name == "shin.L"
    press(only_selected=True, ground="LEVEL", height=0.1)
    assert [chain["tip"] for chain in last_report()["chains"]] == ["shin.L"]


def test_refusals_name_what_is_wrong_and_what_to_do():
    ob = sliding_walk()
    before = {name: [tuple(point.co) for point in curve.keyframe_points] for name, curve in curves_of(ob).items()}
    refused("fewer than 3 frames", frame_end=2)
    refused("The ground has no object. Choose a mesh object", ground="OBJECT")
    refused("it is no mesh", ground="OBJECT", ground_object=new_empty("stone").name)
    points = bpy.data.objects.new("points", bpy.data.meshes.new("points"))
    bpy.context.scene.collection.objects.link(points)
    refused("its mesh has no faces", ground="OBJECT", ground_object="points")
    with pytest.raises(RuntimeError, match="was not made by Plant Feet"):
        bpy.ops.analytic_ik.plant_again()
    target = bpy.data.objects["Foot.L"]
    target.parent, target.parent_type, target.parent_bone = ob, "BONE", "hips"
    refused("Bone 'hips': it carries the legs and their control")
    after = {name: [tuple(point.co) for point in curve.keyframe_points] for name, curve in curves_of(ob).items()}
    assert after == before


def test_a_leg_that_never_stands_is_told():
    rig = walking_leg()
    key_fk(rig)
    ob = rig.ob
    curve = ob.animation_data_create()
    assert curve is not None
    for frame in range(1, 41):
        ob.location.z = 0.2 * frame
        ob.keyframe_insert("location", frame=frame)
    select(ob)
    refused("no foot stands still")


def test_an_action_without_motion_is_told():
    ob = sliding_walk()
    still = bpy.data.actions.new("Still")
    for each in (ob, *{tip.analytic_ik_target for tip in leg_tips(ob)}):
        if each.animation_data is not None:
            each.animation_data.action = still if each == ob else None
    refused(f"Armature '{ob.name}': no leg moves in these frames. Choose an action with motion")


def test_a_body_that_lies_is_told():
    ob = sliding_walk()
    ob.rotation_euler.y = 0.5 * pi
    refused("the body lies or sits in these frames")


@pytest.mark.parametrize(
    "figure, said",
    [
        ("slide", "feet slide by 0.00 of a leg"),
        ("knee_speed", "knees bend at .* radians a second"),
        ("loop", "the ends of the loop"),
        ("sunken", "feet sink in by"),
    ],
)
def test_what_gets_worse_than_its_limit_is_told(figure, said):
    ob = sliding_walk()
    with pytest.raises(ChainError, match=said):
        plant(bpy.context, leg_tips(ob), range(1, 41), options=Options(limits={figure: -1.0}))


def test_legs_without_a_common_bone_are_told():
    ob = new_armature(
        "pair",
        [
            spec
            for side, x in (("L", 0.3), ("R", -0.3))
            for spec in (
                BoneSpec(f"thigh.{side}", (x, 0.0, 2.0), (x, -0.2, 1.0)),
                BoneSpec(f"shin.{side}", (x, -0.2, 1.0), (x, 0.0, 0.0), f"thigh.{side}", connect=True),
            )
        ],
    )
    for side, x in (("L", 0.3), ("R", -0.3)):
        make_chain(ob.pose.bones[f"shin.{side}"], Control(new_empty(f"target {side}", (x, 0.0, 0.3))), chain_count=2)
    update()
    select(ob)
    refused("no bone carries all these legs")


def test_a_stray_chain_is_named():
    ob = sliding_walk()
    stray = leg("stray", side=3.0).ob
    for bone in stray.data.bones:
        bone.name = f"{bone.name} 0"
    select(ob, stray, active=ob)
    bpy.ops.object.join()
    make_chain(ob.pose.bones["shin 0"], Control(new_empty("goal", (3.0, 0.0, 0.3))), chain_count=2)
    update()
    select(ob)
    refused("The body of the others does not carry 'shin 0'")


def test_motion_that_is_no_number_is_told():
    ob = sliding_walk()
    curve = curves_of(ob)['pose.bones["hips"].location', 0]
    curve.keyframe_points[4].co[1] = float("nan")
    curve.update()
    refused("holds values that are not numbers")


def test_one_of_a_kind_is_said_as_one():
    assert messages.FRAMES(count=1) == "1 frame"
    assert messages.STEPS(count=1) == "1 step"


def test_with_a_footprint_active_its_leg_is_shown():
    ob = sliding_walk()
    press(footprints=True)
    footprint = next(footprints_of(ob.pose.bones["shin.R"]))
    select(footprint)
    shown = focus(bpy.context)
    assert (shown.armature, shown.tip.name) == (ob, "shin.R")
    assert is_shown(panel.ANALYTIC_IK_PT_planting)
    footprint.location.z += 0.05
    update()
    assert bpy.ops.analytic_ik.plant_again() == {"FINISHED"}


def test_the_pose_is_that_of_its_frame_right_after_planting():
    ob = sliding_walk()
    bpy.context.scene.frame_set(9)
    press()
    now = [bone.matrix.copy() for bone in evaluated_copy(ob).pose.bones]
    go_to(9)
    for a, b in zip(now, evaluated_copy(ob).pose.bones, strict=True):
        assert matrix_difference(a, b.matrix) < 1e-5


def test_contacts_are_bars():
    ob = sliding_walk()
    press()
    points = curves_of(ob)['pose.bones["shin.L"].analytic_ik_contact', 0].keyframe_points
    pairs = [(a, b) for a, b in pairwise(points) if a.co[1] == b.co[1]]
    # Two keys of one value are what the Dope Sheet draws as a bar.
    assert pairs and all(a.co[1] > 0.0 for a, _ in pairs)
    assert {point.type for point in points if not point.co[1]} == {"BREAKDOWN"}


def test_figures_of_another_clip_are_not_shown():
    ob = sliding_walk()
    source = ob.animation_data.action
    press()
    assert "slide" in drawn(panel.ANALYTIC_IK_PT_planting).text()
    ob.animation_data.action = source
    assert "slide" not in drawn(panel.ANALYTIC_IK_PT_planting).text()


def test_after_a_bake_the_panel_says_why_its_buttons_are_off():
    sliding_walk()
    press(frame_end=20)
    assert "are muted" not in drawn(panel.ANALYTIC_IK_PT_planting).text()
    bpy.ops.analytic_ik.bake(frame_start=1, frame_end=20)
    shown = drawn(panel.ANALYTIC_IK_PT_planting)
    assert "The chains are muted" in shown.text()
    assert shown.operators[:2] == ["analytic_ik.plant_feet", "analytic_ik.plant_again"]
    assert shown.operators[5:] == ["analytic_ik.lock_to_object", "analytic_ik.match_source"]
    assert drawn(panel.ANALYTIC_IK_PT_bake).operators.count("analytic_ik.unmute") == 1
    bpy.ops.analytic_ik.unmute()
    assert "are muted" not in drawn(panel.ANALYTIC_IK_PT_planting).text()
    assert bpy.ops.analytic_ik.plant_again() == {"FINISHED"}


def test_feet_that_hang_in_the_air_are_told():
    """Drawn up, one higher than the other, while the hips stay as high as at rest."""
    ob = sliding_walk()
    ob.animation_data.action = None
    for frame in range(1, 31):
        for side, lift in (("L", 0.8), ("R", 1.2)):
            sway = 0.02 * sin(0.3 * frame)
            for name, angle in (("thigh", -lift), ("shin", 2.0 * lift)):
                bone = ob.pose.bones[f"{name}.{side}"]
                bone.rotation_mode = "XYZ"
                bone.rotation_euler = (angle + sway, 0.0, 0.0)
                bone.keyframe_insert("rotation_euler", frame=frame)
    refused("no foot reaches the ground in these frames", frame_start=1, frame_end=30)
