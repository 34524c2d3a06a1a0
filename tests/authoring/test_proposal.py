"""The chain that Add Analytic IK makes is the one that its button names: of a foot or a thigh, that of its limb."""

from dataclasses import replace

import bpy
import pytest

from ik_addon.authoring.rigging import proposed_chain
from ik_addon.ui.operators.chains import ANALYTIC_IK_OT_add, add_label

from ..rig.rigs import BoneSpec, evaluated_copy, new_armature, update
from ..scenes import angle_between, enter, pose_of, whole_state
from ..ui.layouts import press
from .skeletons import FAMILIES, armature_of

HUMAN = next(family for family in FAMILIES if all(len(limb.bones) == 2 for limb in family.found()))


def human(*active: str) -> bpy.types.Object:
    ob = armature_of(HUMAN.bones())
    enter("POSE", ob, *active)
    update()
    return ob


def leg():
    return HUMAN.found()[0]


def pressed(**options) -> None:
    press(ANALYTIC_IK_OT_add, **options)


def tips(ob: bpy.types.Object) -> dict[str, int]:
    return {bone.name: bone.analytic_ik_chain_count for bone in ob.pose.bones if bone.analytic_ik_enabled}


def test_a_bone_that_carries_limbs_is_asked_about(monkeypatch):
    bones = [BoneSpec("ground", (0.0, 0.0, 0.0), (0.0, 0.3, 0.0)), *HUMAN.bones()]
    ob = new_armature("human", [bones[0], *(replace(bone, parent=bone.parent or "ground") for bone in bones[1:])])
    carrier = ob.pose.bones[leg().bones[0]].parent
    enter("POSE", ob, carrier.name)
    update()
    asked = []
    monkeypatch.setattr(ANALYTIC_IK_OT_add, "ask", lambda *given: asked.append(given[-1]) or {"CANCELLED"})
    pressed()
    assert asked == [
        f"Bone '{carrier.name}' carries 2 legs and 2 arms and is no limb itself. Should a chain end there?"
    ]
    assert tips(ob) == {}
    # A script is not asked.
    bpy.ops.analytic_ik.add()
    assert tips(ob) == {carrier.name: 2}


@pytest.mark.parametrize("which", ["thigh", "shin", "foot"])
def test_the_button_does_what_it_says(which, capfd):
    limb = leg()
    chosen = {"thigh": limb.bones[0], "shin": limb.bones[1], "foot": limb.end}[which]
    ob = human(chosen)
    assert add_label(bpy.context) == f"Add Analytic IK: {limb.bones[0]} > {limb.bones[1]}"
    pressed()
    assert tips(ob) == {limb.bones[1]: 2}
    said = capfd.readouterr().out
    target = ob.pose.bones[limb.bones[1]].analytic_ik_subtarget
    assert f"Added a 2-bone chain {limb.bones[0]} > {limb.bones[1]}, ending at '{limb.end}'. Move '{target}'" in said
    led = f"Bone '{chosen}' belongs to the limb {limb.bones[0]} > {limb.bones[1]}, so the chain ends at "
    assert (led in said) == (which != "shin")


def test_use_this_bone_takes_the_chosen_bone():
    limb = leg()
    ob = human(limb.end)
    pressed(use_this_bone=True)
    assert tips(ob) == {limb.end: 2}


def test_for_scripts_the_active_bone_is_the_tip_and_controls_are_empties():
    limb = leg()
    ob = human(limb.end)
    bpy.ops.analytic_ik.add()
    assert tips(ob) == {limb.end: 2}
    assert ob.pose.bones[limb.end].analytic_ik_target.type == "EMPTY"


def test_a_limb_of_three_bones_gets_a_chain_of_three():
    family = next(family for family in FAMILIES if any(len(limb.bones) == 3 for limb in family.found()))
    limb = next(limb for limb in family.found() if len(limb.bones) == 3)
    ob = armature_of(family.bones())
    enter("POSE", ob, limb.end or limb.bones[0])
    assert add_label(bpy.context) == f"Add Analytic IK: {' > '.join(limb.bones)}"
    pressed()
    assert tips(ob) == {limb.bones[-1]: 3}


def test_long_chains_are_named_by_their_ends():
    family = next(family for family in FAMILIES if any(len(limb.bones) > 3 for limb in family.found()))
    limb = next(limb for limb in family.found() if len(limb.bones) > 3)
    found = proposed_chain(armature_of(family.bones()).pose.bones[limb.bones[0]])
    assert found.words == f"{limb.bones[0]} > ... > {limb.bones[-1]}"


def test_a_limb_that_has_a_chain_leads_nowhere():
    limb = leg()
    ob = human(limb.bones[-1])
    pressed()
    assert proposed_chain(ob.pose.bones[limb.end]).bones == (limb.bones[-1], limb.end)


def test_the_label_follows_bones_that_are_renamed_and_moved():
    limb = leg()
    ob = human(limb.end)
    assert add_label(bpy.context) == f"Add Analytic IK: {limb.bones[0]} > {limb.bones[1]}"
    ob.data.bones[limb.bones[0]].name = "renamed"
    label = add_label(bpy.context)
    bones = [bone.name for bone in ob.data.bones]
    assert all(name in bones for name in label.removeprefix("Add Analytic IK: ").split(" > "))


def test_a_bone_without_parent_gets_a_sentence_that_can_be_followed():
    ob = new_armature("crane", [BoneSpec("root", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))])
    enter("POSE", ob, "root")
    assert add_label(bpy.context) == "Add Analytic IK"
    before = whole_state()
    sentence = "Bone 'root' has no parent to make a chain with. Select the last bone of a limb, such as a shin"
    with pytest.raises(RuntimeError, match=sentence):
        pressed()
    assert whole_state() == before
    # Whoever asks for one bone gets it: it aims.
    pressed(chain_count=1)
    assert tips(ob) == {"root": 1}


def test_a_control_bone_gets_no_chain():
    limb = leg()
    ob = human(limb.end)
    pressed()
    control = ob.pose.bones[limb.bones[-1]].analytic_ik_subtarget
    enter("POSE", ob, control)
    assert add_label(bpy.context) == "Add Analytic IK"
    with pytest.raises(RuntimeError, match=f"Bone '{control}' is a control of a chain. Select the last bone of a limb"):
        pressed()


# Where the choice of controls is kept


def test_the_window_makes_bones_until_the_scene_says_empties():
    limb = leg()
    ob = human(limb.bones[-1])
    pressed()
    tip = ob.pose.bones[limb.bones[-1]]
    assert tip.analytic_ik_target == ob and tip.analytic_ik_subtarget
    bpy.ops.analytic_ik.remove()
    bpy.context.scene.analytic_ik_controls = "EMPTIES"
    enter("POSE", ob, limb.bones[-1])
    pressed()
    assert tip.analytic_ik_target.type == "EMPTY" and not tip.analytic_ik_subtarget


# Follow Rotation


@pytest.mark.parametrize("controls", ["EMPTIES", "BONES"])
def test_a_foot_keeps_its_orientation_from_the_start(controls):
    limb = leg()
    ob = human(limb.bones[-1])
    bpy.ops.analytic_ik.add(controls=controls)
    update()
    tip = ob.pose.bones[limb.bones[-1]]
    assert tip.analytic_ik_use_rotation
    before = pose_of(ob)[limb.end]
    owner = ob.pose.bones[tip.analytic_ik_subtarget] if controls == "BONES" else tip.analytic_ik_target
    owner.location = (0.0, 0.1, 0.15)
    after = evaluated_copy(ob).pose.bones[limb.end].matrix
    assert (after.translation - before.translation).length > 0.05
    assert angle_between(after, before) < 1e-3


def test_an_end_bone_that_another_chain_has_is_left_to_that():
    bones = [
        BoneSpec(
            f"t{k}",
            (0.0, 0.05 * (k % 2), 0.4 * k),
            (0.0, 0.05 * ((k + 1) % 2), 0.4 * k + 0.4),
            f"t{k - 1}" if k else "",
        )
        for k in range(4)
    ]
    ob = new_armature("tail", bones)
    enter("POSE", ob, "t3")
    bpy.ops.analytic_ik.add()
    enter("POSE", ob, "t1")
    bpy.ops.analytic_ik.add()
    update()
    assert not ob.pose.bones["t1"].analytic_ik_use_rotation
    assert tips(ob) == {"t3": 2, "t1": 2}
