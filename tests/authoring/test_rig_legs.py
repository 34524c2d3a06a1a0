"""Legs are rigged in one click: a chain, a foot control and a knee pole each, and no bone moves."""

import re
from random import Random
from types import SimpleNamespace

import bpy
import pytest
from mathutils import Matrix, Vector

from ik_addon.ui.operators.rigs import ANALYTIC_IK_OT_rig_legs

from ..helpers.controlled import tips_of
from ..rig.rigs import BoneSpec, evaluated_copy, matrix_difference, new_armature, update
from ..scenes import angle_between, bone_state, enter, pose_of, select, select_bones, whole_state
from .skeletons import FAMILIES, Family, armature_of

FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=str)
EXACT = 1e-5


def rigged(family: Family, **options) -> bpy.types.Object:
    ob = armature_of(family.bones())
    select(ob)
    select_bones(ob)
    update()
    bpy.ops.analytic_ik.rig_legs(**options)
    update()
    return ob


def legs_of(family: Family) -> list:
    return [limb for limb in family.found() if limb.kind == "LEG"]


def chain_length(ob: bpy.types.Object, limb) -> float:
    return sum(ob.data.bones[name].length for name in limb.bones)


def ankle_of(ob: bpy.types.Object, leg, pose: dict) -> Vector:
    """Where a leg ends in a pose; its foot may be parented to something else."""
    tip = ob.data.bones[leg.bones[-1]]
    end = ob.data.bones[leg.end].head_local if leg.end else tip.tail_local
    return pose[tip.name] @ tip.matrix_local.inverted() @ end


# What is set up


@pytest.mark.some(20)
@FAMILY
def test_each_leg_gets_a_chain_and_controls_and_no_bone_moves(family):
    ob = armature_of(family.bones())
    select(ob)
    select_bones(ob)
    before = pose_of(ob)
    bpy.ops.analytic_ik.rig_legs()
    update()
    legs = legs_of(family)
    assert {tip.name for tip in tips_of(ob)} == {leg.bones[-1] for leg in legs}
    for leg in legs:
        tip = ob.pose.bones[leg.bones[-1]]
        assert tip.analytic_ik_chain_count == len(leg.bones)
        assert tip.analytic_ik_target.name.startswith("Foot") and tip.analytic_ik_pole_target.name.startswith("Knee")
        assert tip.analytic_ik_target.name.endswith(leg.side)
        assert tip.analytic_ik_use_rotation == leg.rides
    after = pose_of(ob)
    for name, pose in before.items():
        assert (after[name].translation - pose.translation).length <= EXACT
        assert angle_between(after[name], pose) <= 2e-4


@pytest.mark.some(14)
@FAMILY
def test_a_lifted_foot_bends_its_knee_forward_and_keeps_its_orientation(family):
    ob = rigged(family)
    before = pose_of(ob)
    for leg in legs_of(family):
        target = ob.pose.bones[leg.bones[-1]].analytic_ik_target
        lift = Vector((0.0, -0.1, 0.15)) * chain_length(ob, leg)
        target.matrix_world = Matrix.Translation(lift) @ target.matrix_world
        after = pose_of(ob)
        moved = ankle_of(ob, leg, after) - ankle_of(ob, leg, before)
        assert (moved - lift).length <= 1e-4 * chain_length(ob, leg)
        if leg.rides:
            assert angle_between(after[leg.end], before[leg.end]) <= 1e-4
        if len(leg.bones) == 2 and not leg.place:
            # A human's knee goes forward, which is -Y.
            shin = leg.bones[1]
            assert after[shin].translation.y < before[shin].translation.y


def test_removing_takes_back_all_that_rigging_set_on_bones():
    family = next(family for family in FAMILIES if any(limb.segments for limb in family.found()))
    ob = armature_of(family.bones())
    select(ob)
    select_bones(ob)
    update()
    before = {bone.name: bone_state(bone) for bone in ob.pose.bones}
    bpy.ops.analytic_ik.rig_legs()
    tips = [tip.name for tip in tips_of(ob)]
    assert any(bone.analytic_ik_rigid for bone in ob.pose.bones)
    select_bones(ob, *tips)
    bpy.ops.analytic_ik.remove(keep_pose=False)
    update()
    assert {bone.name: bone_state(bone) for bone in ob.pose.bones} == before


def test_controls_have_names_shapes_and_a_collection_of_their_own():
    ob = rigged(FAMILIES[0], arms=True)
    collection = bpy.data.collections[f"{ob.name} controls"]
    assert {control.name for control in collection.objects} == {
        f"{name}.{side}" for name in ("Foot", "Knee", "Hand", "Elbow") for side in "LR"
    }
    for control in collection.objects:
        assert control.users_collection == (collection,)
        assert 0.01 < control.empty_display_size < 0.5


@pytest.mark.parametrize("seed", range(12))
def test_a_straight_leg_bends_to_where_its_foot_points_whatever_its_rolls(seed):
    random = Random(seed)
    rolls = [random.uniform(-3.1, 3.1) for _ in range(4)]
    ob = new_armature(
        "human",
        [
            BoneSpec("hips", (0.0, 0.0, 1.0), (0.0, 0.0, 1.2)),
            BoneSpec("thigh.L", (0.1, 0.0, 1.0), (0.1, 0.0, 0.55), "hips", roll=rolls[0]),
            BoneSpec("shin.L", (0.1, 0.0, 0.55), (0.1, 0.0, 0.1), "thigh.L", True, rolls[1]),
            BoneSpec("foot.L", (0.1, 0.0, 0.1), (0.1, -0.15, 0.03), "shin.L", True, rolls[2]),
        ],
    )
    select(ob)
    before = pose_of(ob)
    bpy.ops.analytic_ik.rig_legs()
    update()
    assert all(angle_between(pose_of(ob)[name], before[name]) <= 1e-3 for name in before)
    ob.pose.bones["shin.L"].analytic_ik_target.location.z += 0.2
    knee = evaluated_copy(ob).pose.bones["shin.L"].head
    # The bone's own axes are all that can be stated: the knee goes forward within an eighth of a turn.
    assert -knee.y > 0.1 and abs(knee.x - 0.1) <= abs(knee.y) * 1.05


def test_a_foot_that_hangs_on_the_root_carries_the_target_of_its_leg(capfd):
    """As in characters whose feet were controls of their rig before they were exported."""
    ob = new_armature(
        "knight",
        [
            BoneSpec("Root", (0.0, 0.0, 0.0), (0.0, 0.3, 0.0)),
            BoneSpec("Body", (0.0, 0.0, 1.0), (0.0, 0.0, 1.2), "Root"),
            BoneSpec("UpperLeg.L", (0.1, 0.0, 1.0), (0.1, -0.03, 0.55), "Body"),
            BoneSpec("LowerLeg.L", (0.1, -0.03, 0.55), (0.1, 0.0, 0.2), "UpperLeg.L"),
            BoneSpec("Foot.L", (0.1, 0.0, 0.1), (0.1, -0.15, 0.1), "Root"),
        ],
    )
    ob.location, ob.scale = (0.3, 0.2, 0.1), (2.0, 2.0, 2.0)
    select(ob)
    before = pose_of(ob)
    bpy.ops.analytic_ik.rig_legs()
    update()
    assert "'LowerLeg.L', ending at 'Foot.L' (Foot.L on bone 'Foot.L', Knee.L)" in capfd.readouterr().out
    assert all(matrix_difference(pose_of(ob)[name], before[name]) < 1e-5 for name in before)
    foot, shin = ob.pose.bones["Foot.L"], ob.pose.bones["LowerLeg.L"]
    # A click finds the foot; the target, dragged away from it, would tear the leg off.
    assert shin.analytic_ik_target.hide_select
    end_before = shin.matrix.inverted() @ foot.head
    foot.location = (0.0, 0.1, 0.05)
    bones = evaluated_copy(ob).pose.bones
    assert (bones["Foot.L"].head - before["Foot.L"].translation).length > 0.1
    assert (bones["LowerLeg.L"].matrix @ end_before - bones["Foot.L"].head).length < 1e-5


def test_a_button_looks_at_selected_bones_only_where_one_sees_them():
    ob = armature_of(FAMILIES[0].bones())
    for mode, looks in (("OBJECT", False), ("POSE", True)):
        enter(mode, ob)
        pressed = SimpleNamespace(execute=lambda context: {"FINISHED"}, choose_controls=lambda *_: None, ask=False)
        assert ANALYTIC_IK_OT_rig_legs.invoke(pressed, bpy.context, None) == {"FINISHED"}
        assert pressed.only_selected is looks
    select_bones(ob, FAMILIES[0].found()[0].bones[0])
    bpy.ops.analytic_ik.rig_legs(only_selected=False)
    assert len(tips_of(ob)) == len(legs_of(FAMILIES[0]))


def test_of_many_bones_that_are_left_out_a_few_are_named(capfd):
    """Helper bones are not among them."""
    spare = [BoneSpec(f"thigh.{k}", (0.3, 0.0, 1.0), (0.3, 0.0, 0.5), "spine") for k in range(9)]
    helpers = [BoneSpec(f"MCH-thigh.{k}", (0.3, 0.0, 1.0), (0.3, 0.0, 0.5), "spine") for k in range(9)]
    select(armature_of([*FAMILIES[0].bones(), *spare, *helpers]))
    bpy.ops.analytic_ik.rig_legs()
    said = capfd.readouterr().out
    assert re.search(r"Left out ('thigh\.\d': it has no shin below it[;,] )+and \d more", said)
    assert "MCH" not in said


# What is refused


def refused(pattern: str, **options) -> None:
    before = whole_state()
    collections = len(bpy.data.collections)
    with pytest.raises(RuntimeError, match=pattern):
        bpy.ops.analytic_ik.rig_legs(**options)
    assert whole_state() == before
    assert len(bpy.data.collections) == collections


def test_an_armature_without_legs_is_refused_by_name():
    select(new_armature("crane", [BoneSpec("boom", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))]))
    refused("Armature 'crane': no leg to rig was found. Add chains to its limbs by hand")
    refused("Armature 'crane': no leg or arm to rig was found. Add chains to its limbs by hand", arms=True)


def test_selected_bones_without_a_leg_are_refused_with_the_cure():
    ob = armature_of(FAMILIES[0].bones())
    select(ob)
    select_bones(ob, next(bone.name for bone in ob.data.bones if bone.parent is None))
    refused("no leg to rig was found among its selected bones.*. Clear the selection to search all bones")
    refused(
        "no leg or arm to rig was found among its selected bones.*. Clear the selection to search all bones", arms=True
    )


def test_legs_that_have_a_chain_are_left_alone():
    rigged(FAMILIES[0])
    refused("the limbs that were found have chains already. To rig them again, remove their chains first")
