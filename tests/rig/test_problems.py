"""A chain that cannot be solved: one sentence that names the bone and the cure, and no harm done."""

import bpy
import pytest

from ik_addon.rig.pose.solving import solve_scene
from ik_addon.rig.status.problems import notes_of, warnings_of
from ik_addon.rig.status.states import States

from ..scenes import enter, go_to
from ..troubles import UNSOLVED
from .keys import key
from .rigs import Rig, evaluated_copy, leg, matrix_difference, new_empty, pose_values, update


def errors(ob: bpy.types.Object) -> dict[str, str]:
    done = solve_scene(bpy.context.evaluated_depsgraph_get(), frame_changed=False)
    return {chain.tip: str(error) for chain, error in done.errors.items() if chain.armature == ob.name_full}


@pytest.mark.parametrize("break_it", UNSOLVED)
def test_a_broken_chain_says_what_is_wrong_and_harms_nobody(break_it, capfd):
    sound, rig = leg("sound", side=3.0), leg()
    sound.enable()
    fk = pose_values(rig.ob)
    rig.enable()
    break_it(rig)
    update()
    bpy.context.scene.frame_set(3)
    (said,) = errors(rig.ob).values()
    assert said.startswith("Bone 'shin': ") and UNSOLVED[break_it] in said
    assert "\n" not in said and len(said) < 250
    assert pose_values(rig.ob) == fk
    depsgraph = bpy.context.evaluated_depsgraph_get()
    listed = States(rig.ob, depsgraph).problem_of("shin")
    assert listed.sentence == said and listed == States(rig.ob, depsgraph).of("shin").problem
    sound.target.place((3.1, -0.2, 0.5))
    bpy.context.scene.frame_set(4)
    assert sound.missed() < 1e-5
    printed = capfd.readouterr()
    assert "Traceback" not in printed.out + printed.err
    assert "Analytic IK" not in printed.out + printed.err


def pole_object_deleted(rig: Rig) -> str:
    pole = rig.tip.analytic_ik_pole_target
    with bpy.context.temp_override(selected_objects=[pole]):
        bpy.ops.object.delete()
    return "its pole target 'pole' was deleted"


def pole_bone_deleted(rig: Rig) -> str:
    rig.tip.analytic_ik_pole_target, rig.tip.analytic_ik_pole_subtarget = rig.ob, "nose"
    return "its pole target 'leg' has no bone 'nose'"


@pytest.mark.parametrize("delete", [pole_object_deleted, pole_bone_deleted])
def test_a_chain_whose_pole_is_gone_goes_on_as_one_without_a_pole_and_says_so(delete):
    rig, plain = leg("leg"), leg("plain")
    rig.tip.analytic_ik_pole_target = new_empty("pole", (2.0, -1.0, 1.0))
    rig.enable()
    plain.enable()
    assert matrix_difference(rig.matrices()[0], plain.matrices()[0]) > 0.1
    sentence = delete(rig)
    for x in (0.0, 0.1, 0.2):
        for each in (rig, plain):
            each.target.place((x, -0.3, 0.4 + x))
        assert all(matrix_difference(*pair) < 1e-6 for pair in zip(rig.matrices(), plain.matrices(), strict=True))
    (warning,) = warnings_of(rig.ob, "shin")
    assert warning.sentence.startswith(f"Bone 'shin': {sentence}") and warning.cures


def test_a_target_below_another_armatures_bone_is_no_problem():
    rig, other = leg(), leg("other", side=1.0)
    rig.tip.analytic_ik_target, rig.tip.analytic_ik_subtarget = other.ob, "shin"
    rig.tip.analytic_ik_enabled = True
    update()
    assert errors(rig.ob) == {}


def test_blenders_own_ik_on_a_bone_below_is_named():
    """It poses the chain's bones as well, and goes on from where the chain has put them."""
    rig = leg()
    rig.enable()
    constraint = rig.ob.pose.bones["foot"].constraints.new("IK")
    constraint.target, constraint.chain_count = new_empty("other", (0.0, 1.0, 1.0)), 3
    assert rig.missed() > 0.1
    (warning,) = warnings_of(rig.ob, "shin")
    assert "Bone 'foot': constraint 'IK' moves 'shin' after the chain. Mute it" in warning.sentence
    assert warning.cures == (("MUTE_CONSTRAINT", "foot", "IK"),)
    constraint.chain_count = 1
    assert warnings_of(rig.ob, "shin") == []


def test_bones_that_are_being_renamed_are_in_nobodys_way():
    rig = leg()
    rig.enable()
    bpy.context.view_layer.objects.active = rig.ob
    bpy.ops.object.mode_set(mode="EDIT")
    rig.ob.data.edit_bones["foot"].name = "paw"
    assert warnings_of(rig.ob, "shin") == []


@pytest.mark.parametrize("kind", ["SINGLE_PROP", "TRANSFORM_SPACE", "LOCAL_SPACE"])
def test_a_driver_that_reads_the_channels_of_a_chain_is_noted(kind):
    """With Blender's IK it gets the FK pose. In local space it gets the solution, with both."""
    rig = leg()
    rig.enable()
    skin = new_empty("skin")
    skin.parent = rig.ob
    driver = skin.driver_add("location", 0).driver
    driver.type = "SUM"
    variable = driver.variables.new()
    variable.type = kind if kind == "SINGLE_PROP" else "TRANSFORMS"
    (target,) = variable.targets
    target.id = rig.ob
    if kind == "SINGLE_PROP":
        target.data_path = 'pose.bones["thigh"].rotation_quaternion[1]'
    else:
        target.bone_target, target.transform_type, target.transform_space = "thigh", "ROT_X", kind
    key(rig.target.ob, "location", [(0.0, -0.3, 0.4), (0.1, 0.2, 0.5), (0.0, -0.5, 0.6), (0.0, 0.0, 0.3)])
    for frame in (3, 9, 2, 9, 3):
        go_to(frame)
        thigh = evaluated_copy(rig.ob).pose.bones["thigh"].rotation_quaternion
        if kind == "LOCAL_SPACE":
            assert evaluated_copy(skin).location.x == pytest.approx(thigh.to_euler().x, abs=1e-5)
    notes = [note.sentence for note in notes_of(rig.ob, "shin")]
    assert len(notes) == (kind != "LOCAL_SPACE")
    assert all("A driver of 'skin' reads the channels of 'thigh'" in note for note in notes)


def test_motion_paths_are_said_to_be_without_the_chain_where_blender_asks_nobody(monkeypatch):
    monkeypatch.setattr("ik_addon.rig.status.problems._PATHS_WITHOUT_HANDLERS", True)
    rig = leg()
    rig.enable()
    assert not notes_of(rig.ob, "shin")
    enter("POSE", rig.ob, "shin")
    bpy.ops.pose.paths_calculate()
    bpy.ops.object.mode_set(mode="OBJECT")
    (note,) = notes_of(rig.ob, "shin")
    assert note.sentence.startswith("Blender calculates the motion paths of 'shin' without the chain. Bake it")
