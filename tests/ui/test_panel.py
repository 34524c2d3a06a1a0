"""The panels draw whatever state a chain is in, and show the sentence that says what is wrong."""

from itertools import pairwise

import bpy
import pytest

from ik_addon.ui.base import lines_of
from ik_addon.ui.operators import stepped as running
from ik_addon.ui.panels import certificate, chain_list
from ik_addon.ui.panels import chain as limits_panel
from ik_addon.ui.panels import chain as overlay_panel
from ik_addon.ui.panels import chain as panel
from ik_addon.ui.panels import menus as properties_panel
from ik_addon.ui.panels import motion as bake_panel

from ..rig.rigs import BoneSpec, Control, Rig, leg, new_armature, new_empty, update
from ..scenes import enter, link_from_library, select, skin_of, walking_leg
from ..troubles import PROBLEMS, WARNINGS, deleted_pole, too_many_bones, wrong_solver
from .layouts import (
    Layout,
    advanced_panel,
    an_empty,
    chain_panel,
    chains_panel,
    context,
    drawn,
    edit_mode,
    is_shown,
    nothing,
)

pytestmark = pytest.mark.versions

# What is wrong with a chain


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_chains_panel_says_what_is_wrong_with_it(problem):
    rig = walking_leg()
    problem(rig)
    shown = chain_panel(rig)
    assert PROBLEMS[problem] in shown.text()
    assert "ERROR" in shown.icons
    # Without its pole a chain is solved all the same.
    assert problem is deleted_pole or PROBLEMS[problem] in chains_panel(rig).text()
    # And all that could be the cure is there to be changed.
    assert {"analytic_ik_target", "analytic_ik_chain_count"} <= set(shown.properties)
    assert problem is not wrong_solver or "analytic_ik_solver" in advanced_panel(rig).properties


@pytest.mark.parametrize("warning", WARNINGS)
def test_what_spoils_a_chain_is_told(warning):
    rig = walking_leg()
    warning(rig)
    assert WARNINGS[warning] in chain_panel(rig).text()


# What is shown


def test_a_bone_without_a_chain_offers_to_add_one():
    shown = chain_panel(leg())
    assert shown.operators == ["analytic_ik.rig_legs", "analytic_ik.rig_legs", "analytic_ik.add"]
    # The first rigs at once, the second lets choose the limbs.
    assert [getattr(button, "ask", False) for button in shown.buttons[:2]] == [False, True]
    assert shown.properties == ["analytic_ik_controls", "analytic_ik_limbs"]
    # The button says which chain it makes.
    assert "Add Analytic IK: thigh > shin" in shown.text()
    # A bone is selected: nothing is missing.
    assert "Select" not in shown.text()


def test_a_sound_chain_shows_its_settings_and_no_complaint():
    shown = chain_panel(walking_leg())
    assert "ERROR" not in shown.icons
    assert "'" not in shown.text()
    assert "On target" in shown.text()
    ways = ["analytic_ik.switch_to_fk", "analytic_ik.switch_to_ik"]
    assert shown.operators == ["analytic_ik.select_chain", "analytic_ik.remove", "analytic_ik.select_chain", *ways]
    # What is animated comes first, what is set up once below.
    names = ["enabled", "influence", "target", "pole_target", "chain_count", "reach", "use_rotation"]
    assert shown.properties == [f"analytic_ik_{name}" for name in names]


def test_what_few_chains_need_is_folded_away():
    shown = advanced_panel(walking_leg())
    assert shown.properties == [
        f"analytic_ik_{name}" for name in ("swivel", "flip", "straight_axis", "end_bone", "softness")
    ]
    for kind in (panel.ANALYTIC_IK_PT_setup, panel.ANALYTIC_IK_PT_advanced, limits_panel.ANALYTIC_IK_PT_limits):
        assert "DEFAULT_CLOSED" in kind.bl_options
    assert panel.ANALYTIC_IK_PT_setup.bl_parent_id == "ANALYTIC_IK_PT_sidebar"
    for kind in (panel.ANALYTIC_IK_PT_advanced, limits_panel.ANALYTIC_IK_PT_limits):
        assert kind.bl_parent_id == "ANALYTIC_IK_PT_setup"


def test_an_animators_panels_are_open_and_come_first():
    sidebar = [kind for kind in bpy.types.Panel.__subclasses__() if getattr(kind, "bl_category", "") == "Analytic IK"]
    own = {kind.__name__: kind for kind in sidebar if kind.is_registered}
    opened = [kind for kind in own.values() if "DEFAULT_CLOSED" not in getattr(kind, "bl_options", ())]
    opened.sort(key=lambda kind: kind.bl_order)
    # Of the certificate there is something to see only after a bake or check.
    assert [kind.bl_label for kind in opened] == ["Analytic IK", "Motion Capture", "Bake", "Certificate"]


def test_a_hand_is_offered_nothing_of_feet():
    rig = walking_leg(use_rotation=True)
    assert "analytic_ik_foot_roll" in chain_panel(rig).properties
    for old, new in (("thigh", "upper_arm.L"), ("shin", "forearm.L"), ("foot", "hand.L")):
        rig.ob.data.bones[old].name = new
    shown = chain_panel(rig, "forearm.L").properties
    assert "analytic_ik_use_rotation" in shown
    assert not {"analytic_ik_foot_roll", "analytic_ik_toe_angle"} & set(shown)
    # What somebody has set is there to be taken back.
    rig.ob.pose.bones["forearm.L"].analytic_ik_foot_roll = 0.2
    assert "analytic_ik_foot_roll" in chain_panel(rig, "forearm.L").properties


def test_a_toe_shows_its_leg():
    bones = [
        BoneSpec("thigh", (0, 0, 1.0), (0, -0.1, 0.5)),
        BoneSpec("shin", (0, -0.1, 0.5), (0, 0, 0.1), "thigh"),
        BoneSpec("foot", (0, 0, 0.1), (0, -0.15, 0), "shin"),
        BoneSpec("toe", (0, -0.15, 0), (0, -0.25, 0), "foot"),
    ]
    rig = Rig(new_armature("with toe", bones), ["thigh", "shin"], Control(new_empty("heel", (0, 0, 0.1))))
    rig.enable()
    assert "analytic_ik_influence" in chain_panel(rig, "toe").properties


def test_another_limb_of_a_rigged_character_is_added_at_once():
    rig = walking_leg()
    bones = [
        BoneSpec("thigh.R", (0.4, 0, 1), (0.4, -0.1, 0.5)),
        BoneSpec("shin.R", (0.4, -0.1, 0.5), (0.4, 0, 0), "thigh.R"),
    ]
    other = new_armature("other", bones)
    select(other, rig.ob, active=rig.ob)
    bpy.ops.object.join()
    shown = chain_panel(rig, "shin.R", width=2000)
    assert shown.operators[:2] == ["analytic_ik.select_chain", "analytic_ik.add"]
    assert shown.operators.count("analytic_ik.add") == 1


def test_a_rigged_character_leads_with_its_limbs():
    rig = walking_leg()
    shown = chain_panel(rig, "hips", width=2000)
    assert shown.operators[0] == "analytic_ik.select_chain"
    assert shown.buttons[0].tip == rig.tip.name
    assert "Select a limb, or click its control" in shown.text()
    assert shown.operators.index("analytic_ik.rig_legs") > 0 and "Rig More Limbs" in shown.labels


def test_snapping_is_behind_the_switches_and_restoring_where_something_was_adopted():
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    assert drawn(panel.ANALYTIC_IK_MT_snap).operators == ["analytic_ik.snap_pose", "analytic_ik.snap_targets"]
    rig.tip.analytic_ik_record_adopted = "{}"
    shown = drawn(panel.ANALYTIC_IK_PT_setup)
    assert shown.operators == ["analytic_ik.restore"] * 2
    assert [button.all for button in shown.buttons if button.operator == "analytic_ik.restore"] == [False, True]


def test_bones_can_be_chosen_of_a_target_and_a_pole_that_are_armatures():
    rig, other = walking_leg(), leg("other", side=0.5)
    assert "analytic_ik_subtarget" not in chain_panel(rig).properties
    rig.tip.analytic_ik_target = rig.tip.analytic_ik_pole_target = other.ob
    assert {"analytic_ik_subtarget", "analytic_ik_pole_subtarget"} <= set(chain_panel(rig).properties)


@pytest.mark.parametrize("reach", ["CLAMP", "STRETCH", "HOLD"])
def test_how_far_a_chain_stretches_is_asked_where_it_does(reach):
    rig = walking_leg(reach=reach)
    shown = chain_panel(rig).properties
    assert ("analytic_ik_stretch_max" in shown) is (reach == "STRETCH")
    if reach == "STRETCH":
        assert shown.index("analytic_ik_stretch_max") == shown.index("analytic_ik_reach") + 1


@pytest.mark.parametrize("count", [2, 3])
def test_least_motion_is_offered_to_chains_that_can_use_it(count):
    rig = walking_leg()
    rig.tip.analytic_ik_chain_count = count
    assert ("analytic_ik_least_motion" in advanced_panel(rig).properties) is (count == 3)


def test_the_bone_tab_shows_the_same():
    rig = walking_leg()
    expected = chain_panel(rig)
    shown = drawn(panel.ANALYTIC_IK_PT_bone_setup, layout=drawn(panel.ANALYTIC_IK_PT_bone))
    assert (shown.properties, shown.labels) == (expected.properties, expected.labels)


# Joint limits


def joint_panel(rig: Rig, bone: str = "shin") -> Layout:
    enter("POSE", rig.ob, bone)
    return drawn(limits_panel.ANALYTIC_IK_PT_limits)


@pytest.mark.parametrize("bone", ["hips", "thigh", "shin", "foot"])
def test_every_bone_shows_what_its_joint_may_do(bone):
    shown = joint_panel(walking_leg(), bone)
    assert {f"{what}_{axis}" for what in ("lock_ik", "use_ik_limit") for axis in "xyz"} <= set(shown.properties)
    own = {"analytic_ik_use_min_bend", "analytic_ik_min_bend", "analytic_ik_use_cone", "analytic_ik_cone"}
    assert own <= set(shown.properties)


@pytest.mark.parametrize("width", [1, 100, 300, 2000])
def test_a_sentence_is_broken_into_lines_of_any_width(width):
    rig = walking_leg()
    too_many_bones(rig)
    shown = chain_panel(rig, width=width)
    assert PROBLEMS[too_many_bones] in shown.text()
    lines = [label for label in shown.labels if len(label) > 12]
    # With the name of its button.
    assert (len(lines) == 2) is (width == 2000)


@pytest.mark.parametrize("scene", [nothing, an_empty, edit_mode])
def test_the_panels_stay_away_where_they_have_nothing_to_show(scene):
    scene()
    for kind in (
        limits_panel.ANALYTIC_IK_PT_limits,
        chain_list.ANALYTIC_IK_PT_chains,
        panel.ANALYTIC_IK_PT_bone,
        panel.ANALYTIC_IK_PT_advanced,
        panel.ANALYTIC_IK_PT_bone_advanced,
        limits_panel.ANALYTIC_IK_PT_bone_limits,
        bake_panel.ANALYTIC_IK_PT_bake,
        certificate.ANALYTIC_IK_PT_certificate,
    ):
        assert not kind.poll(context())


def test_without_an_active_bone_legs_can_be_rigged_all_the_same():
    rig = leg()
    enter("POSE", rig.ob)
    rig.ob.data.bones.active = None
    shown = drawn(panel.ANALYTIC_IK_PT_sidebar)
    assert shown.operators == ["analytic_ik.rig_legs", "analytic_ik.rig_legs"]
    assert "Select the last bone of a limb" in shown.text()
    rig.ob.pose.bones["shin"].constraints.new("IK")
    shown = drawn(panel.ANALYTIC_IK_PT_sidebar)
    assert shown.operators[-1] == "analytic_ik.adopt"
    assert [button.all for button in shown.buttons if button.operator == "analytic_ik.adopt"] == [True]


def test_while_something_runs_the_bake_panel_shows_how_far_it_is(monkeypatch):
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    assert drawn(bake_panel.ANALYTIC_IK_PT_bake).operators[:2] == ["analytic_ik.bake", "analytic_ik.check"]
    monkeypatch.setattr(running, "_current", [running.Running("Bake", (_ for _ in ()), 40, 10)])
    shown = drawn(bake_panel.ANALYTIC_IK_PT_bake)
    assert "Bake: 10 of 40" in shown.text()
    assert "(25%)" in shown.text()
    assert "Esc cancels" in shown.text()
    assert shown.operators == []
    # Only the panel of its button; in the others nothing moves.
    shown = drawn(bake_panel.ANALYTIC_IK_PT_planting)
    assert "Esc cancels" not in shown.text() and "analytic_ik.plant_feet" in shown.operators
    work = running.Running("Planting", (_ for _ in ()), 40, 10, "ANALYTIC_IK_PT_planting")
    monkeypatch.setattr(running, "_current", [work])
    assert "Planting: 10 of 40" in drawn(bake_panel.ANALYTIC_IK_PT_planting).text()
    assert "Esc cancels" not in drawn(bake_panel.ANALYTIC_IK_PT_bake).text()


def test_after_a_bake_the_panel_says_that_the_chains_are_muted():
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    assert "are muted" not in drawn(bake_panel.ANALYTIC_IK_PT_bake).text()
    bpy.ops.analytic_ik.bake(frame_start=1, frame_end=3)
    shown = drawn(bake_panel.ANALYTIC_IK_PT_bake)
    assert "The chains are muted" in shown.text()
    assert shown.operators[-1] == "analytic_ik.unmute"
    bpy.ops.analytic_ik.unmute()
    assert rig.tip.analytic_ik_enabled
    assert "are muted" not in drawn(bake_panel.ANALYTIC_IK_PT_bake).text()


@pytest.mark.parametrize("bone", ["hips", "thigh", "shin"])
def test_what_the_view_shows_is_chosen_for_all_chains_and_for_this_one(bone):
    rig = walking_leg()
    enter("POSE", rig.ob, bone)
    shown = drawn(overlay_panel.ANALYTIC_IK_PT_overlay)
    own = ["analytic_ik_show_overlay"] if bone != "hips" else []
    assert shown.properties == ["analytic_ik_overlay", *own]


# Where there is no chain to show


@pytest.mark.parametrize(
    ("scene", "words"),
    [
        (nothing, "Select an armature, or a control of a chain"),
        (an_empty, "Select an armature, or a control of a chain"),
        (edit_mode, "Leave Edit Mode to use chains"),
    ],
)
def test_the_tab_stays_and_says_what_to_do(scene, words):
    scene()
    shown = drawn(panel.ANALYTIC_IK_PT_sidebar, width=2000)
    assert (shown.text(), shown.operators, shown.properties) == (words, [], [])


def test_which_limbs_are_rigged_is_chosen_beside_the_button():
    rig = leg()
    assert not chain_panel(rig).buttons[0].arms
    bpy.context.window_manager.analytic_ik_limbs = "LEGS_AND_ARMS"
    try:
        assert chain_panel(rig).buttons[0].arms
    finally:
        bpy.context.window_manager.analytic_ik_limbs = "LEGS"


# The status row


def test_what_is_below_the_status_stays_where_it_is():
    rig = walking_leg()
    before = chain_panel(rig).properties
    rig.target.place((0.0, 0.0, -9.0))
    far = chain_panel(rig)
    assert far.properties == before
    assert far.cures() == [("STRETCH", "shin", "")]
    assert "short: out of reach" in far.text()
    bpy.ops.analytic_ik.cure(kind="STRETCH", bone="shin")
    assert rig.tip.analytic_ik_reach == "STRETCH"
    assert chain_panel(rig).cures() == []


def test_a_chain_without_influence_is_fk_wherever_its_target_is():
    rig = walking_leg()
    rig.target.place((0.0, 0.0, -9.0))
    rig.tip.analytic_ik_influence = 0.0
    bpy.context.view_layer.update()
    shown = chain_panel(rig)
    assert "FK: Influence is 0" in shown.text() and "out of reach" not in shown.text()
    assert shown.cures() == []


def test_the_foot_of_a_chain_is_offered_no_chain_of_its_own():
    rig = walking_leg()
    rig.tip.analytic_ik_use_rotation = True
    bpy.context.view_layer.update()
    enter("POSE", rig.ob, "foot")
    assert "analytic_ik.add" not in drawn(panel.ANALYTIC_IK_PT_sidebar).operators


def test_a_knee_that_bends_backward_says_so_and_can_be_flipped():
    rig = walking_leg()
    assert "Bends against" not in chain_panel(rig).text()
    rig.tip.analytic_ik_flip = True
    shown = chain_panel(rig)
    assert "Bends against its rest pose" in shown.text()
    assert shown.cures() == [("FLIP_BEND", "shin", "")]
    bpy.ops.analytic_ik.cure(kind="FLIP_BEND", bone="shin")
    assert not rig.tip.analytic_ik_flip
    assert "Bends against" not in chain_panel(rig).text()


@pytest.mark.parametrize("width", [1.0, 7.0, 20.0, 1000.0])
def test_lines_are_as_wide_as_they_may_be_and_keep_all_words(width):
    sentence = "its target 'a rather long name' was deleted. Choose another one or clear it."
    lines = lines_of(sentence, width, len)
    assert " ".join(lines) == sentence
    assert all(len(line) <= width or " " not in line for line in lines)
    for line, below in pairwise(lines):
        assert len(f"{line} {below.split()[0]}") > width
    assert lines_of("", width, len) == []


def test_the_solver_is_a_matter_of_the_preferences(monkeypatch):
    rig = walking_leg()
    assert "analytic_ik_solver" not in advanced_panel(rig).properties
    monkeypatch.setattr(panel, "shows_reference_solvers", lambda _context: True)
    assert "analytic_ik_solver" in advanced_panel(rig).properties


def test_a_small_panel_is_where_constraints_are():
    rig = walking_leg()
    enter("POSE", rig.ob, "thigh")
    shown = drawn(properties_panel.ANALYTIC_IK_PT_bone_constraints)
    assert "On target" in shown.text()
    assert shown.operators[-1] == "analytic_ik.open_sidebar"
    enter("POSE", rig.ob, "hips")
    assert not is_shown(properties_panel.ANALYTIC_IK_PT_bone_constraints)


def test_rendering_is_a_matter_of_the_render_properties():
    enter("POSE", walking_leg().ob)
    assert "Lock" not in drawn(bake_panel.ANALYTIC_IK_PT_bake).text()
    shown = drawn(properties_panel.ANALYTIC_IK_PT_render, width=2000)
    assert "Rendering live chains? Lock the interface first" in shown.text()
    bpy.ops.analytic_ik.lock_interface()
    assert not is_shown(properties_panel.ANALYTIC_IK_PT_render)
    with pytest.raises(RuntimeError, match="is already locked while rendering"):
        bpy.ops.analytic_ik.lock_interface()


def test_the_sidebar_is_opened_in_a_3d_view_only():
    with bpy.context.temp_override(window=None):
        assert not bpy.ops.analytic_ik.open_sidebar.poll()
        with pytest.raises(RuntimeError, match="no 3D view"):
            bpy.ops.analytic_ik.open_sidebar()


def test_a_linked_armature_says_that_its_chains_follow_and_how_to_edit_them(tmp_path):
    rig = walking_leg()
    bone = rig.tip.name
    ob = link_from_library(rig.ob, tmp_path)
    select(ob)
    shown = drawn(chain_list.ANALYTIC_IK_PT_chains)
    assert bone in shown.labels or bone in shown.text()
    shown = drawn(panel.ANALYTIC_IK_PT_sidebar)
    assert "Linked: the chains follow their targets" in shown.text()
    assert "object.make_override_library" in shown.operators


def test_a_linked_armature_without_chains_says_nothing_of_chains(tmp_path):
    select(link_from_library(new_armature("bare", [BoneSpec("a", (0, 0, 0), (0, 0, 1))]), tmp_path))
    said = drawn(panel.ANALYTIC_IK_PT_sidebar).text()
    assert "Linked. To rig it, make a library override" in said and "follow" not in said


@pytest.mark.parametrize("clicked", ["skin", "root"])
def test_a_click_on_a_character_leads_to_its_armature(clicked):
    ob = leg().ob
    if clicked == "skin":
        part = skin_of(ob)
    else:
        part = ob.parent = new_empty("root")
    select(part)
    assert "This object belongs to armature 'leg'" in drawn(panel.ANALYTIC_IK_PT_sidebar).text()
    assert bpy.ops.analytic_ik.select_armature() == {"FINISHED"}
    assert (bpy.context.object, bpy.context.selected_objects) == (ob, [ob])
    assert "analytic_ik.rig_legs" in drawn(panel.ANALYTIC_IK_PT_sidebar).operators


def test_where_a_click_does_not_tell_which_armature_is_meant_none_is_offered():
    root = new_empty("root")
    for ob in (leg().ob, leg().ob):
        ob.parent = root
    select(root)
    assert "analytic_ik.select_armature" not in drawn(panel.ANALYTIC_IK_PT_sidebar).operators
    with pytest.raises(RuntimeError, match="No armature deforms the active object"):
        bpy.ops.analytic_ik.select_armature()


def test_the_bone_that_carries_a_target_is_named():
    """Of a foot that hangs on the root the target cannot be selected."""
    rig = leg()
    rig.enable()
    assert "moves this target along" not in chain_panel(rig).text()
    target = rig.target.ob
    target.parent, target.parent_type, target.parent_bone = rig.ob, "BONE", "hips"
    target.hide_select = True
    update()
    assert "Move bone 'hips'" in chain_panel(rig, "thigh").text()
    assert "Move bone 'hips'" not in chain_panel(rig, "hips").text()
