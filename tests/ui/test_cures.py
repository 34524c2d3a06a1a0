"""Each problem has its sentence and its buttons; a button takes the problem away, in one step, and nothing else."""

from collections.abc import Callable
from types import SimpleNamespace

import bpy
import pytest
from mathutils import Matrix

from ik_addon.authoring import fixes as authoring_cures
from ik_addon.authoring import snap
from ik_addon.authoring import snap as switching
from ik_addon.authoring.fixes import CURES, MAKES_CONTROLS
from ik_addon.authoring.placing import control_bones
from ik_addon.rig.status.problems import warnings_of
from ik_addon.solvers import ChainError
from ik_addon.ui.operators import certificates as cures
from ik_addon.ui.operators.chains import ANALYTIC_IK_OT_switch_to_ik

from ..rig.rigs import BoneSpec, Control, Rig, leg, new_armature, new_empty, update
from ..scenes import (
    EXACT,
    apart,
    curves_of,
    enter,
    go_to,
    key_fk,
    linked,
    missed_world,
    pose_of,
    refuses,
    second_chain,
    walking_leg,
    whole_state,
)
from ..troubles import CASES, disabled_target, fk_keys, scale_unevenly, shown_cure
from .layouts import chain_panel, press

by_case = pytest.mark.parametrize(
    ("problem", "words", "kind"), CASES, ids=[f"{problem.__name__}-{kind}" for problem, _, kind in CASES]
)


CURED = {
    "NEW_TARGET": "follows the new Empty 'shin target'",
    "BRING_BACK_TARGET": "brought back 'leg target'",
    "BRING_BACK_POLE": "brought back 'gone'",
    "CLEAR_END_BONE": "ends its chain at its tail",
    "CLEAR_POLE": "bends as its FK pose does, without a pole",
    "FEWER_BONES": "has a chain of ",
    "AUTO_SOLVER": "uses the automatic solver",
    "POSE_POSITION": "is in Pose Position",
    "REMOVE_DRIVERS": "no driver sets its ",
    "MUTE_CONSTRAINT": "constraint 'Limit Rotation' is muted",
    "REMOVE_CHAIN": "its chain was removed",
    "RESET_SCALE": "has its own size again",
    "SHOW_TARGET": "its target 'leg target' is shown",
    "FOLLOW_MOTION": "its controls follow frames 1-13",
    "MUTE_KEYS": "the keys of its chain's bones are muted",
    "MUTE_SWITCH": "its chain is turned on and off by hand",
}
"""What a button says that it did."""


@by_case
def test_the_button_takes_the_problem_away(problem: Callable[[Rig], None], words: str, kind: str, capfd):
    rig = walking_leg()
    problem(rig)
    update()
    wanted = shown_cure(rig, words, kind)
    assert bpy.ops.analytic_ik.cure(**wanted) == {"FINISHED"}
    assert f"Bone '{wanted['bone']}': {CURED[kind]}" in capfd.readouterr().out
    update()
    shown = chain_panel(rig)
    assert words not in shown.text()
    assert kind not in [cure[0] for cure in shown.cures()]
    if kind == "REMOVE_CHAIN":
        assert not rig.tip.analytic_ik_enabled and not rig.tip.analytic_ik_target
        return
    assert missed_world(rig_now(rig)) < EXACT * 2.0
    # And it stays away.
    go_to(6)
    assert words not in chain_panel(rig).text()
    assert missed_world(rig_now(rig)) < EXACT * 2.0


def rig_now(rig: Rig) -> Rig:
    """The rig with the target that it has now."""
    tip = bpy.data.objects[rig.ob.name].pose.bones[rig.bones[-1]]
    return Rig(tip.id_data, rig.bones, Control(tip.analytic_ik_target, tip.analytic_ik_subtarget))


def test_every_cure_is_offered_and_told():
    # These are offered by the status row (test_panel.py).
    assert {kind for *_, kind in CASES} | {"STRETCH", "FLIP_BEND", "FOLLOW_BODY", "TURN_BODY"} == {
        *CURES,
        *MAKES_CONTROLS,
    }
    assert {*CURES, *MAKES_CONTROLS} == set(cures.BUTTONS)
    assert set(cures.BONE_BUTTONS) <= set(MAKES_CONTROLS)
    enter("OBJECT", leg().ob)
    bpy.context.scene.analytic_ik_controls = "EMPTIES"
    for kind, (text, icon, description) in cures.BUTTONS.items():
        assert text and icon and not description.endswith(".")
        said = cures.ANALYTIC_IK_OT_cure.description(bpy.context, SimpleNamespace(kind=kind))
        assert said == description


# A new target leaves the limb where it is


@pytest.mark.parametrize("follows", [False, True])
@pytest.mark.parametrize("with_pole", [False, True])
@pytest.mark.parametrize("knee", [0.2, 0.0])
def test_a_new_target_moves_no_bone(knee, with_pole, follows):
    rig = leg(knee=knee)
    # Away from the origin, where rounding would bend a straight knee.
    rig.ob.location, rig.ob.rotation_euler = (7.3, -4.1, 2.9), (0.4, 0.3, 1.1)
    rig.target.ob.rotation_euler = (0.3, 1.0, -0.4)
    if with_pole:
        rig.pole = Control(new_empty("pole", (3.0, 0.5, 1.0)))
    rig.enable(swivel=0.7, use_rotation=follows)
    rig.tip.analytic_ik_target = None
    update()
    before = pose_of(rig.ob)
    enter("POSE", rig.ob, "shin")
    bpy.ops.analytic_ik.cure(kind="NEW_TARGET", bone="shin")
    update()
    assert rig.tip.analytic_ik_target.name == "shin target"
    assert apart(before, pose_of(rig.ob), 2.0) < EXACT
    rig.tip.analytic_ik_target.location.z += 0.3
    update()
    assert missed_world(rig_now(rig)) < EXACT * 2.0


# As a control bone, where the scene says so


def target_of(tip):
    return tip.analytic_ik_target, tip.analytic_ik_subtarget


@pytest.mark.parametrize("follows", [False, True])
@pytest.mark.parametrize("knee", [0.2, 0.0])
def test_in_the_window_a_new_target_is_what_the_scene_says(knee, follows, capfd):
    rig = leg(knee=knee)
    rig.ob.location, rig.ob.rotation_euler = (7.3, -4.1, 2.9), (0.4, 0.3, 1.1)
    rig.enable(swivel=0.7, use_rotation=follows)
    rig.tip.analytic_ik_target = None
    update()
    before = pose_of(rig.ob)
    shown = chain_panel(rig)
    assert "New Target Bone" in shown.labels and "BONE_DATA" in shown.icons
    asked = SimpleNamespace(kind="NEW_TARGET")
    assert "control bone" in cures.ANALYTIC_IK_OT_cure.description(bpy.context, asked)
    assert press(cures.ANALYTIC_IK_OT_cure, kind="NEW_TARGET", bone="shin") == {"FINISHED"}
    ob, name = target_of(rig.tip)
    assert ob == rig.ob and name in control_bones(ob.data)
    assert f"Bone 'shin': follows the new control bone '{name}'\n" in capfd.readouterr().out
    after = pose_of(rig.ob)
    assert apart(before, {bone: after[bone] for bone in before}, 2.0) < EXACT
    control = ob.pose.bones[name]
    control.matrix = Matrix.Translation((0.0, 0.0, 0.3)) @ control.matrix
    update()
    assert missed_world(rig_now(rig)) < EXACT * 2.0
    # The choice is the scene's, and can be changed in the button's own options.
    bpy.context.scene.analytic_ik_controls = "EMPTIES"
    rig.tip.analytic_ik_target = None
    update()
    assert "New Target Empty" in chain_panel(rig).labels
    assert "an Empty" in cures.ANALYTIC_IK_OT_cure.description(bpy.context, asked)
    press(cures.ANALYTIC_IK_OT_cure, kind="NEW_TARGET", bone="shin")
    assert target_of(rig.tip)[0].type == "EMPTY"
    press(cures.ANALYTIC_IK_OT_cure, kind="NEW_TARGET", bone="shin", controls="BONES")
    assert target_of(rig.tip)[0] == rig.ob


@pytest.mark.parametrize("operator", ["snap_targets", "switch_to_ik", "cure"])
def test_a_missing_pole_target_is_what_the_scene_says(operator, capfd):
    rig = walking_leg()
    rig.target.ob.animation_data_clear()
    key_fk(rig)
    go_to(5)
    rig.tip.analytic_ik_influence = 0.0 if operator == "switch_to_ik" else 1.0
    enter("POSE", rig.ob, "shin")
    fk = pose_of(rig.ob) if operator == "switch_to_ik" else None
    if operator == "switch_to_ik":
        press(ANALYTIC_IK_OT_switch_to_ik)
    elif operator == "cure":
        press(cures.ANALYTIC_IK_OT_cure, kind="FOLLOW_MOTION", bone="shin")
    else:
        bpy.ops.analytic_ik.snap_targets(controls="BONES")
        assert "with a pole target, the new control bone '" in capfd.readouterr().out
    pole, name = rig.tip.analytic_ik_pole_target, rig.tip.analytic_ik_pole_subtarget
    assert pole == rig.ob and name in control_bones(rig.ob.data)
    if fk:
        now = pose_of(rig.ob)
        assert apart(fk, {bone: now[bone] for bone in fk}, 2.0) < EXACT * 10.0
    if operator == "cure":
        assert any(f'"{name}"' in path for path, _ in curves_of(rig.ob))


@pytest.mark.parametrize("operator", ["cure", "snap_targets", "switch_to_ik"])
def test_a_new_control_bone_is_gone_again_if_something_fails(operator, monkeypatch):
    rig = leg()
    rig.enable(influence=0.5)
    enter("POSE", rig.ob, "shin")
    before = whole_state()

    def fails(*_, **__):
        raise ChainError("It fails.")

    if operator == "cure":
        monkeypatch.setattr(authoring_cures, "words_of", fails)
    elif operator == "snap_targets":
        monkeypatch.setattr(snap, "_snap_controls", fails)
    else:
        monkeypatch.setattr(switching, "key_if_asked", fails)
    options = {"kind": "NEW_TARGET", "bone": "shin"} if operator == "cure" else {}
    with pytest.raises(RuntimeError, match="It fails"):
        getattr(bpy.ops.analytic_ik, operator)(controls="BONES", **options)
    assert whole_state() == before
    assert rig.tip.analytic_ik_pole_target is None and [bone.name for bone in rig.ob.data.bones] == list(
        pose_of(rig.ob)
    )
    assert not control_bones(rig.ob.data)


def test_a_cured_constraint_keeps_its_settings_and_the_add_ons_own_is_no_problem():
    rig = walking_leg()
    disabled_target(rig)
    update()
    go_to(3)
    assert [constraint.name for constraint in rig.tip.constraints] == ["Analytic IK"]
    assert "MUTE_CONSTRAINT" not in [cure[0] for cure in chain_panel(rig).cures()]


def test_the_constraint_that_ties_a_chain_is_switched_off_again():
    rig = walking_leg()
    update()
    rig.tip.constraints["Analytic IK"].mute = False
    update()
    [warning] = warnings_of(rig.ob, "shin")
    assert "'Analytic IK'" in warning.sentence and "solves the chain again" in warning.sentence
    enter("POSE", rig.ob, "shin")
    bpy.ops.analytic_ik.cure(kind="MUTE_CONSTRAINT", bone="shin", what="Analytic IK")
    update()
    assert rig.tip.constraints["Analytic IK"].mute and not warnings_of(rig.ob, "shin")
    go_to(5)
    assert missed_world(rig) < EXACT


def test_only_the_bones_own_keys_are_muted():
    rig = walking_leg()
    fk_keys(rig)
    rig.ob.pose.bones["hips"].keyframe_insert("rotation_quaternion", frame=1)
    rig.ob.pose.bones["thigh"].keyframe_insert("location", frame=1)
    enter("POSE", rig.ob, "shin")
    bpy.ops.analytic_ik.cure(kind="MUTE_KEYS", bone="shin")
    muted = {path for (path, _), curve in curves_of(rig.ob).items() if curve.mute}
    assert muted == {f'pose.bones["{name}"].rotation_quaternion' for name in ("thigh", "shin")}


def test_keys_under_controls_that_move_are_no_surprise():
    rig = walking_leg()
    key_fk(rig)
    assert "have keys" not in chain_panel(rig).text()
    fk_keys(rig)
    assert "have keys" in chain_panel(rig).text()
    rig.target.ob.constraints.new("COPY_LOCATION")
    assert "have keys" not in chain_panel(rig).text()


def test_a_pose_that_is_keyed_once_is_no_motion_to_follow():
    rig = walking_leg()
    rig.target.ob.animation_data_clear()
    rig.tip.keyframe_insert("rotation_quaternion", frame=1)
    assert "has keys" not in chain_panel(rig).text()
    refused(
        "Bone 'shin': no keys move it over a range of frames. Key its bones first", kind="FOLLOW_MOTION", bone="shin"
    )


def test_keys_under_a_chain_that_blends_are_no_surprise():
    rig = walking_leg()
    fk_keys(rig)
    rig.tip.analytic_ik_influence = 0.5
    assert "have keys" not in chain_panel(rig).text()


def test_a_scale_that_is_keyed_offers_no_button_that_would_not_last():
    rig = walking_leg()
    scale_unevenly(rig)
    rig.ob.pose.bones["hips"].keyframe_insert("scale", frame=1)
    shown = chain_panel(rig)
    assert "its uneven scale shears" in shown.text()
    assert shown.cures() == []


@pytest.mark.parametrize(
    ("kind", "bone", "what", "words"),
    [
        ("NONSENSE", "shin", "", "There is no fix 'NONSENSE'. Use one of NEW_TARGET, "),
        ("NEW_TARGET", "nose", "", "Armature 'leg' has no bone 'nose'. Choose one of its bones"),
        ("MUTE_CONSTRAINT", "shin", "gone", "Bone 'shin' has no constraint 'gone', it was removed or renamed"),
        ("BRING_BACK_TARGET", "foot", "", "Bone 'foot': its target is no longer in the file. Choose another one"),
        ("BRING_BACK_POLE", "shin", "", "Bone 'shin': its pole target is no longer in the file. Choose another one"),
        ("SHOW_TARGET", "foot", "", "Bone 'foot': there is no target. Choose an object as its Target"),
        ("FEWER_BONES", "thigh", "", "Bone 'thigh': it belongs to another chain. Remove one of the two chains"),
    ],
)
def test_what_cannot_be_cured_is_refused(kind, bone, what, words):
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    refused(words, kind=kind, bone=bone, what=what)


def refused(words: str, **wanted: str) -> None:
    """That nothing was changed is part of every test."""
    update()
    with refuses(RuntimeError, words):
        bpy.ops.analytic_ik.cure(**wanted)


def test_a_linked_target_is_shown_in_its_own_file(tmp_path):
    rig = walking_leg()
    enter("POSE", rig.ob, "shin")
    rig.tip.analytic_ik_target = linked(rig.target.ob, tmp_path)
    bpy.context.scene.collection.objects.link(rig.tip.analytic_ik_target)
    rig.tip.analytic_ik_target.hide_set(True)
    words = "Bone 'shin': its target 'leg target' is linked. Make a library override of it first"
    refused(words, kind="SHOW_TARGET", bone="shin")


def test_linked_armature_data_are_posed_in_their_own_file(tmp_path):
    rig = walking_leg()
    enter("OBJECT", rig.ob, "shin")
    own = rig.ob.data.copy()
    own.pose_position = "REST"
    rig.ob.data = linked(own, tmp_path)
    words = f"Armature data '{rig.ob.data.name}' is linked. Show its pose in the file that it comes from"
    refused(words, kind="POSE_POSITION", bone="shin")


@pytest.mark.parametrize("kind", ["MUTE_KEYS", "MUTE_SWITCH"])
def test_keys_of_a_linked_action_are_muted_in_its_own_file(kind, tmp_path):
    rig = walking_leg()
    fk_keys(rig)
    enter("POSE", rig.ob, "shin")
    rig.ob.animation_data.action = linked(rig.ob.animation_data.action, tmp_path)
    words = f"Bone 'shin': its action '{rig.ob.animation_data.action.name}' is linked. Make it local first"
    refused(words, kind=kind, bone="shin")


def test_one_bone_that_is_left_is_told_as_one(capfd):
    rig = walking_leg()
    second_chain(rig, "thigh", 1)
    enter("POSE", rig.ob, "shin")
    bpy.ops.analytic_ik.cure(kind="FEWER_BONES", bone="shin")
    assert "Bone 'shin': has a chain of 1 bone\n" in capfd.readouterr().out
    assert rig.tip.analytic_ik_chain_count == 1


def test_a_pole_that_cannot_follow_to_a_new_target_is_told(capfd):
    rig = leg()
    rig.pole = Control(new_empty("pole", (3.0, 0.5, 1.0)))
    rig.enable()
    rig.pole.ob.constraints.new("LIMIT_LOCATION")
    rig.tip.analytic_ik_target = None
    enter("POSE", rig.ob, "shin")
    bpy.ops.analytic_ik.cure(kind="NEW_TARGET", bone="shin")
    said = (
        "Bone 'shin': follows the new Empty 'shin target', "
        "and turned to it because its pole target could not be moved\n"
    )
    assert said in capfd.readouterr().out
    assert tuple(rig.pole.ob.location) == (3.0, 0.5, 1.0)


def test_a_circle_of_chains_has_no_button():
    bones = [BoneSpec("a", (0, 0, 0), (0, 0, 1)), BoneSpec("b", (1, 0, 0), (1, 0, 1))]
    ob = new_armature("pair", bones)
    rig = Rig(ob, ["a"], Control(ob, "b"))
    rig.enable()
    Rig(ob, ["b"], Control(ob, "a")).enable()
    assert chain_panel(rig, "a").cures() == []
