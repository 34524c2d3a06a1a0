"""The panel of a bone that follows its limbs: whose it is, when it is there, and what it says."""

import bpy
import pytest
from mathutils import Matrix, Vector

from ik_addon.ui.panels import chain as panel

from ..helpers.creature import Creature
from ..rig.rigs import Control, make_chain, new_empty, update
from ..scenes import enter
from .layouts import context, drawn, is_shown


def with_active(creature: Creature, bone: str) -> Creature:
    enter("POSE", creature.ob)
    creature.ob.data.bones.active = creature.ob.data.bones[bone]
    update()
    return creature


def on_the_root(creature: Creature) -> Creature:
    """With its targets parented to its root bone, as control bones are."""
    for target in creature.targets.values():
        place = target.matrix_world.copy()
        target.parent, target.parent_type, target.parent_bone = creature.ob, "BONE", "root"
        update()
        target.matrix_world = place
    update()
    return creature


def body_panel():
    return drawn(panel.ANALYTIC_IK_PT_body)


@pytest.mark.parametrize("active", ["shin.L", "thigh.R", "hips"])
def test_it_is_there_for_a_limb_and_for_the_bone_itself(active):
    on_the_root(with_active(Creature(influence=0.0), active))
    said = body_panel()
    assert panel.shown_body(context()).name == "hips"
    assert said.properties == [
        "analytic_ik_body_influence",
        "analytic_ik_body_direction",
        "analytic_ik_body_softness",
        "analytic_ik_body_turn",
    ]
    assert said.text() == "hips Influence"


@pytest.mark.parametrize("active", ["root", "spine"])
def test_it_is_not_there_for_other_bones(active):
    on_the_root(with_active(Creature(influence=0.0), active))
    assert not is_shown(panel.ANALYTIC_IK_PT_body)


def test_the_topmost_bone_that_does_not_carry_targets_is_proposed():
    creature = with_active(Creature(influence=0.0), "shin.L")
    assert panel.shown_body(context()).name == "root"
    on_the_root(creature)
    assert panel.shown_body(context()).name == "hips"


def test_one_leg_alone_has_none():
    creature = with_active(Creature(influence=0.0), "shin.L")
    creature.ob.pose.bones["shin.R"].analytic_ik_enabled = False
    update()
    assert not is_shown(panel.ANALYTIC_IK_PT_body)


def test_it_says_how_its_limbs_stand():
    creature = with_active(Creature(), "hips")
    for leg in creature.legs:
        creature.step(leg, (0, 0, 0.4))
    assert "All limbs reach Bone 'hips' carries 'shin.L', 'shin.R'" in body_panel().text()
    creature.step("L", (0, -0.9, 0))
    assert "Moved by 18 cm" in body_panel().text()
    creature.step("L", (0, -9, 0))
    assert "too far: limbs apart" in body_panel().text()
    creature.hips.analytic_ik_body_turn = 0.5
    update()
    assert "too far, even turned" in body_panel().text()


def test_it_says_what_keeps_it_from_following():
    creature = with_active(Creature(), "hips")
    constraint = creature.hips.constraints.new("LIMIT_ROTATION")
    constraint.name = "keep"
    assert "constraint 'keep' moves it" in body_panel().text()
    creature.hips.constraints.remove(constraint)
    make_chain(creature.hips, Control(new_empty("goal", (0, 1, 1))), chain_count=1)
    assert "belongs to the chain of 'hips'" in body_panel().text()


def test_it_draws_without_limbs_at_rest_and_with_an_armature_of_no_size():
    creature = with_active(Creature(), "hips")
    for leg in creature.legs:
        creature.ob.pose.bones[f"shin.{leg}"].analytic_ik_enabled = False
    assert body_panel().text() == "hips Influence"
    creature.ob.pose.bones["shin.L"].analytic_ik_enabled = True
    creature.ob.data.pose_position = "REST"
    body_panel()
    creature.ob.data.pose_position = "POSE"
    creature.ob.matrix_world = Matrix.Diagonal((0, 0, 0, 1))
    body_panel()


def test_out_of_reach_the_body_is_offered_and_brings_the_limb_there():
    creature = with_active(Creature(influence=0.0), "shin.L")
    on_the_root(creature)
    creature.step("L", (0, -0.9, 0))
    shown = drawn(panel.ANALYTIC_IK_PT_sidebar)
    assert ("FOLLOW_BODY", "shin.L", "hips") in shown.cures()
    bpy.ops.analytic_ik.cure(kind="FOLLOW_BODY", bone="shin.L", what="hips")
    update()
    assert creature.hips.analytic_ik_body_influence == 1.0
    shown = drawn(panel.ANALYTIC_IK_PT_sidebar)
    assert shown.cures() == [] and "out of reach" not in shown.text()


def test_limbs_that_no_move_serves_are_offered_a_turn_that_does():
    creature = with_active(Creature(4), "shin.FL")
    steps = {"FL": (0.1, -1.85, 0.9), "HR": (0.0, 1.85, -0.6), "FR": (-0.2, -0.3, 0.0), "HL": (0.2, 0.4, 0.1)}
    for leg, step in steps.items():
        creature.step(leg, Vector(step))
    update()
    wanted = ("TURN_BODY", "shin.FL", "hips")
    assert wanted in drawn(panel.ANALYTIC_IK_PT_sidebar).cures()
    creature.ob.data.bones.active = creature.ob.data.bones["hips"]
    shown = body_panel()
    assert shown.cures() == [wanted] and "too far: limbs apart" in shown.text()
    bpy.ops.analytic_ik.cure(kind="TURN_BODY", bone="shin.FL", what="hips")
    update()
    shown = body_panel()
    assert shown.cures() == [] and "turned by 17.6°" in shown.text()
    creature.step("FL", (0.1, -9.0, 0.9))
    update()
    assert "too far" in body_panel().text() and body_panel().cures() == []
