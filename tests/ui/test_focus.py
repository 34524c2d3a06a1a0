"""The chain of the active control: what is shown, and what operators work on."""

import bpy
import pytest

from ik_addon.authoring.selection import chosen_tips, driven_by, focus
from ik_addon.rig.live.state import known_plan
from ik_addon.ui.panels import chain, chain_list
from ik_addon.ui.panels import motion as bake
from ik_addon.ui.view import chains as reading

from ..rig.rigs import BoneSpec, Control, Rig, leg, new_armature, new_empty, update
from ..scenes import enter, select, select_bones, walking_leg
from .layouts import drawn, is_shown


def with_pole() -> Rig:
    rig = walking_leg()
    rig.tip.analytic_ik_pole_target = new_empty("knee", (0.0, -2.0, 0.5))
    update()
    return rig


def with_control_bone() -> Rig:
    """A leg that follows a bone of another armature."""
    rig, other = walking_leg(), leg("control rig", side=1.0)
    rig.target = Control(other.ob, "foot")
    rig.tip.analytic_ik_target, rig.tip.analytic_ik_subtarget = other.ob, "foot"
    update()
    return rig


@pytest.mark.parametrize("which", ["target", "pole_target"])
def test_with_a_control_active_its_chain_is_shown(which):
    rig = with_pole()
    select(getattr(rig.tip, f"analytic_ik_{which}"))
    shown = focus(bpy.context)
    assert (shown.armature, shown.tip, shown.driven) == (rig.ob, rig.tip, (rig.tip,))
    assert "analytic_ik_influence" in drawn(chain.ANALYTIC_IK_PT_sidebar).properties
    for kind in (chain.ANALYTIC_IK_PT_setup, chain_list.ANALYTIC_IK_PT_chains, bake.ANALYTIC_IK_PT_bake):
        assert is_shown(kind)


def test_a_control_bone_of_another_armature_shows_the_chain_in_pose_mode():
    rig = with_control_bone()
    other = rig.target.ob
    enter("POSE", other, "foot")
    assert focus(bpy.context).tip == rig.tip
    bpy.ops.analytic_ik.switch_to_fk()
    assert rig.tip.analytic_ik_influence == 0.0
    enter("POSE", other, "shin")
    assert focus(bpy.context) == (other, None, ())
    # In Object Mode the armature is meant, whatever bone was active in it.
    enter("OBJECT", other, "foot")
    assert focus(bpy.context).armature == other


def test_chains_are_made_on_the_active_armature_all_the_same():
    rig = with_control_bone()
    other = rig.target.ob
    enter("POSE", other, "foot")
    bpy.ops.analytic_ik.add()
    assert other.pose.bones["foot"].analytic_ik_enabled


def test_of_several_chains_on_one_control_one_is_shown_and_the_others_can_be():
    rig, other = walking_leg(), leg("other", side=0.5)
    other.target = rig.target
    other.enable()
    update()
    select(rig.target.ob)
    shown = focus(bpy.context)
    assert set(shown.driven) == {rig.tip, other.tip}
    buttons = [one for one in drawn(chain.ANALYTIC_IK_PT_sidebar).buttons if one.operator == "analytic_ik.show_chain"]
    assert [button.tip for button in buttons] == ["shin", "shin"]
    for tip in shown.driven:
        bpy.ops.analytic_ik.show_chain(armature=tip.id_data.name_full, tip=tip.name)
        assert focus(bpy.context).tip == tip
        assert chosen_tips(bpy.context, tip.id_data) == [tip]


@pytest.mark.parametrize("controls", ["EMPTIES", "BONES"])
def test_a_foot_that_carries_a_control_shows_its_chain(controls):
    """The control itself cannot be selected: the foot is what one grabs."""
    bones = [
        BoneSpec("Root", (0.0, 0.0, 0.0), (0.0, 0.3, 0.0)),
        BoneSpec("Body", (0.0, 0.0, 1.0), (0.0, 0.0, 1.2), "Root"),
        BoneSpec("UpperLeg.L", (0.1, 0.0, 1.0), (0.1, -0.03, 0.55), "Body"),
        BoneSpec("LowerLeg.L", (0.1, -0.03, 0.55), (0.1, 0.0, 0.2), "UpperLeg.L"),
        BoneSpec("Foot.L", (0.1, 0.0, 0.1), (0.1, -0.15, 0.1), "Root"),
    ]
    ob = new_armature("knight", bones)
    select(ob)
    bpy.ops.analytic_ik.rig_legs(controls=controls)
    tip = ob.pose.bones["LowerLeg.L"]
    enter("POSE", ob, "Foot.L")
    assert focus(bpy.context).tip == tip
    assert chosen_tips(bpy.context, ob) == [tip]
    enter("POSE", ob, "Root")
    assert focus(bpy.context).tip is None


def test_a_muted_chain_is_shown_too():
    rig = walking_leg()
    rig.tip.analytic_ik_enabled = False
    select(rig.target.ob)
    assert focus(bpy.context).tip == rig.tip


@pytest.mark.parametrize("change", ["cleared", "removed", "another scene"])
def test_what_is_no_control_any_more_shows_nothing(change):
    rig = walking_leg()
    target = rig.target.ob
    if change == "cleared":
        rig.tip.analytic_ik_target = new_empty("another")
    elif change == "removed":
        enter("POSE", rig.ob, "shin")
        bpy.ops.analytic_ik.remove()
    else:
        bpy.context.scene.collection.objects.unlink(rig.ob)
    select(target)
    assert driven_by(bpy.context, target) == []


def test_a_chain_in_the_list_is_selected_from_its_control():
    rig = walking_leg()
    select(rig.target.ob)
    bpy.ops.analytic_ik.select_chain(tip="shin")
    assert bpy.context.active_object == rig.ob
    assert focus(bpy.context) == (rig.ob, rig.tip, ())


# The overlay


def shown_tips() -> list[str]:
    depsgraph = bpy.context.evaluated_depsgraph_get()
    kept = reading.shown_chains("SELECTED", depsgraph, reading.chains_out_of_reach(depsgraph))
    return [one.tip for chains in kept.chains.values() for one in chains]


def test_the_overlay_shows_the_chain_of_a_selected_control():
    rig = with_pole()
    select(rig.ob)
    assert shown_tips() == []
    for control in (rig.target.ob, rig.tip.analytic_ik_pole_target):
        select(control)
        assert shown_tips() == ["shin"]
    select(new_empty("unrelated"))
    assert shown_tips() == []


def test_the_overlay_shows_the_chain_of_a_selected_control_bone():
    rig = with_control_bone()
    enter("POSE", rig.target.ob, "foot")
    select_bones(rig.target.ob, "foot")
    assert shown_tips() == ["shin"]


@pytest.mark.parametrize(("z", "shown"), [(-1.0, True), (0.4, False)])
@pytest.mark.parametrize("reach", ["CLAMP", "STRETCH", "HOLD"])
def test_what_is_out_of_reach_is_drawn_whatever_is_selected(reach, z, shown):
    rig = leg()
    rig.enable(reach=reach)
    rig.tip.analytic_ik_stretch_max = 1.01
    rig.target.place((0.0, 0.0, z))
    update()
    select(new_empty("unrelated"))
    assert (shown_tips() == ["shin"]) is shown
    assert known_plan(bpy.context.scene) is not None
