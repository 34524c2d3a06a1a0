"""Lock to Object as it is pressed: what is selected, what the operators and the panel say, and how they refuse."""

import bpy
import pytest

from ik_addon import messages
from ik_addon.planting import last_lock_report
from ik_addon.rig.data.held_feet import holds_of
from ik_addon.ui.panels import motion as panel

from ..rig.rigs import new_empty, update
from ..scenes import carrier_of_a_prop, curves_of, select, select_bones, sliding_walk, whole_state
from ..ui.layouts import drawn

pytestmark = pytest.mark.versions


@pytest.fixture
def scene() -> tuple[bpy.types.Object, bpy.types.Object]:
    return carrier_of_a_prop()


def press(**options) -> None:
    bpy.ops.analytic_ik.lock_to_object(**{"frame_start": 20, "frame_end": 40, **options})


def refused(said: str, **options) -> None:
    update()
    before = whole_state()
    with pytest.raises(RuntimeError, match=said):
        press(**options)
    assert whole_state() == before


def held() -> set[tuple[str, str, str]]:
    return {(hold["tip"], hold["object"], hold["bone"]) for hold in last_lock_report()["holds"]}


def pose(ob: bpy.types.Object, *bones: str) -> None:
    select(ob)
    bpy.ops.object.mode_set(mode="POSE")
    select_bones(ob, *bones)


def test_the_object_and_then_the_hand_are_selected(scene, capfd):
    ob, prop = scene
    pose(ob, "hand.L")
    prop.select_set(True)
    press()
    assert held() == {("forearm.L", "prop", "")}
    assert "Locked 'forearm.L': 1 contact, frames 20-40" in capfd.readouterr().out


def test_the_object_and_then_the_control_are_selected(scene):
    ob, prop = scene
    bpy.ops.object.mode_set(mode="OBJECT")
    select(prop, ob.pose.bones["forearm.L"].analytic_ik_target)
    bpy.context.view_layer.objects.active = ob.pose.bones["forearm.L"].analytic_ik_target
    press()
    assert held() == {("forearm.L", "prop", "")}


def test_both_hands_are_locked_to_one_object(scene):
    ob, prop = scene
    pose(ob, "hand.R", "hand.L")
    prop.select_set(True)
    press()
    assert held() == {("forearm.L", "prop", ""), ("forearm.R", "prop", "")}


@pytest.mark.parametrize(
    "bone", ["thigh.L", *(pytest.param(name, marks=pytest.mark.slow) for name in ("hand.R", "head"))]
)
def test_another_bone_and_then_the_hand_are_selected(scene, bone):
    ob, _ = scene
    pose(ob, bone, "hand.L")
    press()
    assert held() == {("forearm.L", "Robot rig", bone)}


def test_an_object_that_is_named_counts_more_than_what_is_selected(scene):
    ob, prop = scene
    other = new_empty("other")
    pose(ob, "hand.L")
    other.select_set(True)
    press(object=prop.name, contacts="RANGE", grip="MEAN", blend=0.1)
    assert held() == {("forearm.L", "prop", "")}
    assert holds_of(ob)[0].blend == pytest.approx(0.1)


def test_the_panel_shows_what_is_locked(scene):
    ob, prop = scene
    assert drawn(panel.ANALYTIC_IK_PT_planting).operators == [
        "analytic_ik.plant_feet",
        "analytic_ik.path_from_clip",
        "analytic_ik.simplify_keys",
        "analytic_ik.apply_correction",
        "analytic_ik.lock_to_object",
        "analytic_ik.match_source",
    ]
    pose(ob, "hand.L")
    prop.select_set(True)
    press()
    shown = drawn(panel.ANALYTIC_IK_PT_planting)
    assert shown.operators[4:6] == ["analytic_ik.lock_to_object", "analytic_ik.lock_again"]
    assert "forearm.L: 1 contact with 'prop', frames 20-40" in shown.text()
    assert bpy.ops.analytic_ik.lock_again() == {"FINISHED"}
    press(frame_start=60, frame_end=80)
    assert "forearm.L: 2 contacts with 'prop', frames 20-80" in drawn(panel.ANALYTIC_IK_PT_planting).text()
    bpy.data.objects.remove(prop)
    assert "2 contacts with an object that is gone" in drawn(panel.ANALYTIC_IK_PT_planting).text()


def test_what_is_out_of_reach_is_told(scene, capfd):
    ob, prop = scene
    for point in curves_of(prop)["location", 0].keyframe_points:
        point.co[1] += 3.0
    update()
    pose(ob, "hand.L")
    prop.select_set(True)
    press(grip="MEAN")
    for point in curves_of(prop)["location", 0].keyframe_points:
        point.co[1] += point.co[0]
    update()
    assert bpy.ops.analytic_ik.lock_again() == {"FINISHED"}
    assert "Out of reach: 21 frames, the first is 20. Move the object closer" in capfd.readouterr().out
    assert "Out of reach: 21 frames" in drawn(panel.ANALYTIC_IK_PT_planting).text()


def test_refusals_name_what_is_wrong_and_what_to_do(scene):
    ob, prop = scene
    pose(ob, "hand.L")
    refused("there is no object to lock to. Select it")
    refused("Bone 'forearm.L': the object that it is locked to is gone", object="nothing")
    refused("has no bone 'tail'", object=ob.name, bone="tail")
    refused("its limb moves bone 'forearm.L'", object=ob.name, bone="forearm.L")
    refused("is in contact with 'prop'", object=prop.name, contacts="KEYED")
    with pytest.raises(RuntimeError, match=r"its action has no lock\. Press Lock to Object"):
        bpy.ops.analytic_ik.lock_again()
    select_bones(ob)
    ob.data.bones.active = None
    refused("no selected", object=prop.name)


def test_a_clip_of_two_frames_is_refused():
    ob = sliding_walk(arms=True, follow_motion=False)
    ob.animation_data_clear()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 2
    pose(ob, "hand.L")
    refused("fewer than 3 frames", object=new_empty("prop").name, frame_start=1, frame_end=2)


def test_one_of_a_kind_is_said_as_one():
    assert messages.CONTACTS(count=1) == "1 contact"
    assert messages.CONTACTS(count=2) == "2 contacts"
