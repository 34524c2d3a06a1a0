"""The list of an armature's chains: how each stands, what a click does, and how far apart tip and target are."""

from types import SimpleNamespace

import bpy
import pytest

from ik_addon.authoring.selection import tip_of_chain
from ik_addon.ui.base import columns_for, length_words
from ik_addon.ui.operators.chains import ANALYTIC_IK_OT_select_chain
from ik_addon.ui.panels import chain as panel
from ik_addon.ui.panels import chain_list
from ik_addon.ui.panels import menus as properties_panel

from ..rig.rigs import BoneSpec, Control, Rig, leg, new_armature, new_empty, update
from ..scenes import enter, missed_world, second_chain, select_bones, selected_bone_names, walking_leg
from .layouts import chain_panel, chains_panel, context, drawn


def test_how_far_a_chain_is_from_its_target_is_shown_in_the_scenes_units():
    rig = leg()
    rig.enable()
    rig.target.place((0.0, 0.0, -1.0))
    scene, missed = bpy.context.scene, missed_world(rig)
    for system, scale, words in (
        ("NONE", 1.0, f"{missed:.3g}"),
        ("METRIC", 1.0, f"{missed * 100:.3g} cm"),
        ("METRIC", 0.01, f"{missed * 10:.3g} mm"),
    ):
        scene.unit_settings.system, scene.unit_settings.scale_length = system, scale
        assert length_words(scene, missed) == words
        shown = chains_panel(rig)
        assert words in shown.labels
        assert "CON_DISTLIMIT" in shown.icons
        assert f"{words} short: out of reach" in chain_panel(rig).text()
    scene.unit_settings.system = "IMPERIAL"
    assert length_words(scene, 0.3048 / scene.unit_settings.scale_length) == "1'"


@pytest.mark.parametrize(
    ("settings", "z", "icon"),
    [
        ({}, 0.4, "CHECKMARK"),
        ({}, -1.0, "CON_DISTLIMIT"),
        ({"softness": 0.3}, 0.1, "SPHERECURVE"),
        ({"influence": 0.5}, 0.4, "MOD_OPACITY"),
        ({"use_cone": True, "cone": 0.5}, 1.5, "CON_ROTLIMIT"),
        ({"chain_count": 9}, 0.4, "ERROR"),
        ({"enabled": False}, 0.4, "PAUSE"),
    ],
)
def test_each_state_has_its_icon(settings, z, icon):
    rig = leg()
    rig.enable()
    for name, value in settings.items():
        setattr(rig.tip, f"analytic_ik_{name}", value)
    rig.target.place((0.0, 0.0, z))
    shown = chains_panel(rig)
    assert shown.icons[0] == icon
    said = ANALYTIC_IK_OT_select_chain.description(context(), SimpleNamespace(tip="shin"))
    assert said.splitlines()[1].startswith(("shin: ", "Bone 'shin': "))
    assert not said.endswith(".")


@pytest.mark.parametrize("name", ["shin", "it's': x", "{0} \\"])
def test_a_button_names_its_chain_once_whatever_it_is_called(name):
    rig = leg()
    rig.ob.pose.bones["shin"].name = rig.bones[-1] = name
    rig.enable()
    rig.target.place((0.0, 0.0, -1.0))
    enter("POSE", rig.ob, name)
    button = ANALYTIC_IK_OT_select_chain
    said = button.description(context(), SimpleNamespace(tip=name)).removeprefix(f"{button.__doc__}.\n")
    why = "its target is out of reach. Move it closer, or set Out of Reach to Stretch"
    assert said == f"Bone '{name}': {why}"
    rig.tip.analytic_ik_enabled = False
    update()
    assert button.description(context(), SimpleNamespace(tip=name)).endswith(f"\nBone '{name}': its chain is off")


def test_a_button_names_the_constraint_that_its_chain_was():
    rig = leg()
    constraint = rig.ob.pose.bones["shin"].constraints.new("IK")
    constraint.target, constraint.chain_count, constraint.name = rig.target.ob, 2, "Leg IK"
    enter("POSE", rig.ob, "shin")
    bpy.ops.analytic_ik.adopt()
    button = ANALYTIC_IK_OT_select_chain
    assert button.description(context(), SimpleNamespace(tip="shin")).endswith("Converted from IK constraint 'Leg IK'")


def test_the_list_holds_nothing_of_blenders_afterwards():
    chains_panel(walking_leg())
    assert chain_list._states == []


def test_a_list_of_many_problems_says_some_of_them():
    rig = walking_leg()
    for name in ("hips", "thigh", "foot"):
        second_chain(rig, name, 1).analytic_ik_target = None
    rig.tip.analytic_ik_target = None
    rig.tip.analytic_ik_enabled = True
    update()
    shown = chains_panel(rig)
    assert len(shown.cures()) == chain_list._PROBLEMS
    assert "1 more chain has a problem" in shown.text()


def test_many_more_problems_are_counted():
    bones = [BoneSpec(f"bone {k}", (k, 0.0, 0.0), (k, 0.0, 1.0)) for k in range(6)]
    ob = new_armature("fence", bones)
    for bone in ob.pose.bones:
        bone.analytic_ik_enabled, bone.analytic_ik_chain_count = True, 1
    update()
    shown = chains_panel(Rig(ob, ["bone 0"], Control(ob)))
    assert len(shown.cures()) == chain_list._PROBLEMS
    assert f"{6 - chain_list._PROBLEMS} more chains have problems" in shown.text()


# Going to a chain


@pytest.mark.parametrize("tip", ["", "nose", "hips"])
def test_what_is_no_chain_cannot_be_gone_to(tip):
    rig = walking_leg()
    enter("POSE", rig.ob, "foot")
    with pytest.raises(RuntimeError, match=f"bone '{tip}' is not the tip bone of a chain. Choose one from the list"):
        bpy.ops.analytic_ik.select_chain(tip=tip)
    assert selected_bone_names(rig.ob) == ["foot"]


def test_a_click_on_a_row_goes_there_too():
    rig = walking_leg()
    enter("POSE", rig.ob, "hips")
    assert rig.ob.analytic_ik_chain_index == -1
    rig.ob.analytic_ik_chain_index = rig.ob.pose.bones.find("shin")
    assert selected_bone_names(rig.ob) == ["shin"]
    for name in ("thigh", "shin", "foot"):
        select_bones(rig.ob, name)
        assert rig.ob.pose.bones[rig.ob.analytic_ik_chain_index].name == "shin"
    rig.ob.analytic_ik_chain_index = 99
    assert selected_bone_names(rig.ob) == ["foot"]
    assert new_empty("other").analytic_ik_chain_index == -1


def test_the_list_is_filtered_by_name():
    rig = walking_leg()
    second_chain(rig, "foot", 1)
    own = SimpleNamespace(bitflag_filter_item=1 << 30, filter_name="sh*")
    flags, order = chain_list.ANALYTIC_IK_UL_chains.filter_items(own, None, rig.ob.pose, "bones")
    kept = [bone.name for bone, flag in zip(rig.ob.pose.bones, flags, strict=True) if flag]
    assert (kept, order) == (["shin"], [])


# To which chain a bone belongs


def test_a_bone_belongs_to_the_chain_that_turns_or_carries_it():
    rig = walking_leg()
    found = {bone.name: (tip := tip_of_chain(bone)) and tip.name for bone in rig.ob.pose.bones}
    assert found == {"hips": None, "thigh": "shin", "shin": "shin", "foot": "shin"}
    rig.tip.analytic_ik_chain_count = 0
    assert tip_of_chain(rig.ob.pose.bones["hips"]).name == "shin"
    rig.tip.analytic_ik_enabled = False
    assert tip_of_chain(rig.ob.pose.bones["thigh"]) is None
    assert tip_of_chain(rig.tip) == rig.tip


def test_a_click_on_a_chains_name_selects_it_and_switches_nothing():
    rig = walking_leg()
    for shown in (chain_panel(rig), chains_panel(rig), constraints_panel(rig)):
        at = shown.labels.index("shin")
        (named,) = [button for button in shown.buttons if button.text == "shin"]
        assert (named.operator, named.tip) == ("analytic_ik.select_chain", "shin")
        # The switch is a checkbox without words.
        assert "analytic_ik_enabled" in shown.properties
        assert shown.labels.count("shin") == 1 and not shown.labels[at - 1 if at else at + 1]
    enter("POSE", rig.ob, "thigh")
    assert bpy.ops.analytic_ik.select_chain(tip="shin") == {"FINISHED"}
    assert rig.tip.analytic_ik_enabled and selected_bone_names(rig.ob) == ["shin"]


def constraints_panel(rig):
    enter("POSE", rig.ob, "thigh")
    return drawn(properties_panel.ANALYTIC_IK_PT_bone_constraints)


# Names have their room


@pytest.mark.parametrize(("width", "columns"), [(1000, 3), (330, 2), (150, 1), (1, 1)])
def test_as_many_buttons_are_beside_each_other_as_fit(width, columns):
    texts = ["mixamorig:LeftLeg", "a"]
    assert columns_for(context(width), texts, 3) == columns
    assert columns_for(context(width), texts, 1) == 1


@pytest.mark.parametrize(("name", "is_long"), [("shin", False), ("mixamorig:LeftLeg:end", True)])
def test_the_button_of_a_limb_with_long_names_has_them_below(name, is_long):
    rig = leg()
    rig.ob.pose.bones["shin"].name = name
    shown = chain_panel(rig, name, width=280)
    (button,) = [button for button in shown.buttons if button.operator == "analytic_ik.add"]
    assert button.text == (None if is_long else f"Add Analytic IK: thigh > {name}")
    assert f"thigh > {name}" in shown.text()


def test_the_panels_read_from_top_to_bottom():
    kinds = [getattr(bpy.types, name) for name in dir(bpy.types) if name.startswith("ANALYTIC_IK_PT_")]
    sidebar = [kind for kind in kinds if (kind.bl_space_type, kind.bl_region_type) == ("VIEW_3D", "UI")]
    top = [kind for kind in sidebar if not hasattr(kind, "bl_parent_id")]
    assert len({kind.bl_order for kind in top}) == len(top)
    assert min(top, key=lambda kind: kind.bl_order) is panel.ANALYTIC_IK_PT_sidebar
