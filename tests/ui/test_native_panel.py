"""A native chain in the panels: its own icon, its custom properties, and the way back."""

import bpy
import pytest

from ik_addon.ui.panels import chain as limits
from ik_addon.ui.panels import chain as panel
from ik_addon.ui.panels import chain_list
from ik_addon.ui.panels import motion as bake_panel

from ..rig.rigs import Rig, update
from ..scenes import enter, second_chain, walking_leg
from .layouts import chain_panel, drawn, is_shown


def native_leg(**settings: object) -> Rig:
    rig = walking_leg(**settings)
    enter("POSE", rig.ob, "shin")
    assert bpy.ops.analytic_ik.make_native() == {"FINISHED"}
    update()
    return rig


def test_it_has_an_icon_of_its_own_and_no_switch():
    native_leg()
    shown = drawn(chain_list.ANALYTIC_IK_PT_chains)
    assert "CONSTRAINT" in shown.icons
    assert "PAUSE" not in shown.icons
    assert "analytic_ik_enabled" not in shown.properties


def test_its_panel_shows_its_custom_properties_and_the_way_back():
    rig = native_leg(influence=0.9, swivel=0.2, flip=True, softness=0.1)
    shown = chain_panel(rig)
    assert "Native" in shown.text()
    assert shown.properties == [f'["ik_{name}"]' for name in ("influence", "swivel", "flip", "softness")]
    assert {"Influence", "Swivel", "Flip Bend", "Softness"} <= set(shown.labels)
    assert "analytic_ik.make_live" in shown.operators
    assert "analytic_ik.remove" not in shown.operators
    parts = (panel.ANALYTIC_IK_PT_setup, panel.ANALYTIC_IK_PT_advanced)
    for part in (*parts, limits.ANALYTIC_IK_PT_limits):
        assert not is_shown(part)


def test_its_panel_says_what_keeps_it_from_being_as_the_live_one():
    rig = native_leg()
    assert not chain_panel(rig).icons.count("ERROR")
    rig.ob.pose.bones["thigh"].constraints["Native IK"].mute = True
    update()
    said = "Bone 'shin': its bones or constraints were changed since Make Native, and it is not where it should be."
    assert f"{said} Press Make Live, then Make Native again." in chain_panel(rig).text()
    rig.tip.analytic_ik_target = None
    update()
    said = "Bone 'shin': there is no target. Choose an object as its Target. Press Make Live first."
    assert said in chain_panel(rig).text()


def test_a_copied_chain_says_whose_helper_bones_it_follows():
    rig = native_leg()
    enter("EDIT", rig.ob)
    for bone in rig.ob.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name in rig.bones
    bpy.ops.armature.duplicate()
    enter("POSE", rig.ob, "shin.001")
    said = "follows its helper bones too. Press Make Live, then Make Native again."
    for tip, other in (("shin.001", "shin"), ("shin", "shin.001")):
        assert f"Bone '{tip}': bone '{other}' {said}" in drawn(panel.ANALYTIC_IK_PT_sidebar).text()
        enter("POSE", rig.ob, "shin")
    # Its helpers are the copy's too.
    bpy.ops.analytic_ik.make_live(only_selected=True)
    assert [rig.ob.pose.bones[name].analytic_ik_enabled for name in ("shin", "shin.001")] == [True, True]


def test_make_native_is_beside_bake_with_the_difference_in_a_line():
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    shown = drawn(bake_panel.ANALYTIC_IK_PT_bake)
    assert "analytic_ik.make_native" in shown.operators
    assert "analytic_ik.make_live" not in shown.operators
    assert "Bake makes keys. Make Native keeps the controls" in shown.text()
    bpy.ops.analytic_ik.make_native()
    shown = drawn(bake_panel.ANALYTIC_IK_PT_bake)
    assert "analytic_ik.make_native" not in shown.operators
    assert "analytic_ik.make_live" in shown.operators
    # It is not muted: nothing is to be unmuted.
    assert "analytic_ik.unmute" not in shown.operators


@pytest.mark.parametrize("name", ["remove", "limit_knees", "snap_targets", "snap_pose", "switch_to_fk", "switch_to_ik"])
def test_what_changes_a_chain_asks_to_make_it_live_first(name):
    native_leg()
    with pytest.raises(RuntimeError, match="Bone 'shin': its chain is native"):
        getattr(bpy.ops.analytic_ik, name)()


@pytest.mark.parametrize("name", ["bake", "check", "bake_for_export", "plant_feet", "make_native"])
def test_what_needs_live_chains_says_that_they_are_native(name):
    native_leg()
    with pytest.raises(RuntimeError, match=r"Armature 'leg': its chains are native\. Press Make Live first"):
        getattr(bpy.ops.analytic_ik, name)()


def test_only_selected_chains_become_native_and_live():
    rig = walking_leg()
    second = second_chain(rig, "foot", 1)
    enter("POSE", rig.ob, "shin")
    bpy.ops.analytic_ik.make_native(only_selected=True)
    assert (rig.tip.analytic_ik_enabled, second.analytic_ik_enabled) == (False, True)
    enter("POSE", rig.ob, "foot")
    with pytest.raises(RuntimeError, match="has no native chain"):
        bpy.ops.analytic_ik.make_live(only_selected=True)
    enter("POSE", rig.ob, "shin")
    bpy.ops.analytic_ik.make_live(only_selected=True)
    assert rig.tip.analytic_ik_enabled
    enter("POSE", rig.ob, "hips")
    with pytest.raises(RuntimeError, match="no selected bone is the tip bone of a live chain"):
        bpy.ops.analytic_ik.make_native(only_selected=True)


def test_a_converted_chain_goes_back_to_blenders_ik_only_when_it_is_live():
    rig = walking_leg()
    rig.tip.analytic_ik_enabled = False
    rig.tip.property_unset("analytic_ik_target")
    constraint = rig.tip.constraints.new("IK")
    constraint.target, constraint.chain_count = rig.target.ob, 2
    update()
    enter("POSE", rig.ob, "shin")
    bpy.ops.analytic_ik.adopt()
    bpy.ops.analytic_ik.make_native()
    assert not [each for each in rig.tip.constraints if each.type == "IK"]
    with pytest.raises(RuntimeError, match="its chain is native"):
        bpy.ops.analytic_ik.restore()
    bpy.ops.analytic_ik.make_live()
    assert bpy.ops.analytic_ik.restore() == {"FINISHED"}
    assert [each.name for each in rig.tip.constraints if each.type == "IK" and not each.mute] == ["IK"]


def test_unmuting_leaves_native_chains_alone():
    rig = native_leg()
    bpy.ops.analytic_ik.unmute()
    assert not rig.tip.analytic_ik_enabled
