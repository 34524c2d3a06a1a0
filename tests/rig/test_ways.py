"""What is said of how a chain is solved, and of what should not happen."""

import bpy
import pytest

from ik_addon.rig.blender import sampling as simple
from ik_addon.rig.live import handlers as live
from ik_addon.rig.live import state as live_state
from ik_addon.rig.model.order import ChainName
from ik_addon.rig.pose import planned

from ..scenes import go_to, second_chain, walking_leg
from .rigs import Rig, update


def way_of(rig: Rig) -> str:
    """As the panel says it, once the chain has been solved at a frame or two."""
    for frame in (2, 3, 1):
        go_to(frame)
    return live_state.way_of(bpy.context.scene, ChainName(rig.ob.name, rig.bones[-1]))


def test_a_sound_chain_is_solved_before_the_frame():
    assert way_of(walking_leg()) == "Ahead of the Frame"


def stretching(rig: Rig) -> None:
    rig.tip.analytic_ik_reach = "STRETCH"


def rolling(rig: Rig) -> None:
    rig.tip.analytic_ik_use_rotation, rig.tip.analytic_ik_foot_roll = True, 0.2


def blending(rig: Rig) -> None:
    rig.tip.analytic_ik_use_rotation, rig.tip.analytic_ik_influence = True, 0.5


def limited(rig: Rig) -> None:
    """The thigh cannot aim the leg at its target."""
    thigh = rig.ob.pose.bones["thigh"]
    thigh.use_ik_limit_x, thigh.ik_min_x, thigh.ik_max_x = True, 0.0, 0.01
    thigh.use_ik_limit_z, thigh.ik_min_z, thigh.ik_max_z = True, 0.0, 0.01


def keyed(rig: Rig) -> None:
    rig.ob.pose.bones["thigh"].keyframe_insert("rotation_quaternion", frame=1)


def rotation_mode_keyed(rig: Rig) -> None:
    rig.ob.pose.bones["thigh"].keyframe_insert("rotation_mode", frame=1)


def driven(rig: Rig) -> None:
    rig.ob.pose.bones["thigh"].driver_add("rotation_quaternion", 1)


def inheriting_less(rig: Rig) -> None:
    rig.ob.data.bones["shin"].use_inherit_rotation = False


def uneven(rig: Rig) -> None:
    rig.ob.pose.bones["hips"].scale.x = 2.0


def switched(rig: Rig) -> None:
    rig.tip.keyframe_insert("analytic_ik_enabled", frame=1)


def moving_another(rig: Rig) -> None:
    second_chain(rig, "foot", 1)


def moving_its_own_target(rig: Rig) -> None:
    copy = rig.target.ob.constraints.new("COPY_LOCATION")
    copy.target, copy.subtarget, copy.use_offset, copy.influence = rig.ob, "foot", True, 0.1


def without_target(rig: Rig) -> None:
    rig.tip.analytic_ik_target = None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (limited, "its joint limits allow several poses that are as good"),
        (rotation_mode_keyed, "bone 'thigh' has animation or a driver on its rotation_mode"),
        (driven, "bone 'thigh' has animation or a driver on its rotation_quaternion"),
        (inheriting_less, "bone 'shin' does not inherit all of its parent's motion"),
        (uneven, "its bones, or those above, are scaled unevenly"),
        (moving_another, "it moves with another chain, or moves one"),
        (moving_its_own_target, "it moves what it follows"),
        (without_target, "Bone 'shin': there is no target. Choose an object as its Target."),
    ],
)
def test_a_chain_that_is_read_anew_says_why(change, why):
    rig = walking_leg()
    change(rig)
    update()
    assert way_of(rig) == f"Every Frame ({why})"


@pytest.mark.parametrize("on", [True, False])
def test_a_chain_whose_switch_is_animated_is_solved_after_the_frame(on):
    rig = walking_leg()
    rig.tip.analytic_ik_enabled = on
    switched(rig)
    update()
    assert way_of(rig) == "After the Frame (its switch is animated)"


@pytest.mark.parametrize("change", [stretching, rolling, blending, keyed])
def test_whatever_its_f_curves_say_is_solved_before_the_frame(change):
    rig = walking_leg()
    change(rig)
    update()
    assert way_of(rig) == "Ahead of the Frame"


def test_keys_that_another_object_plays_too_are_not_silenced():
    rig = walking_leg()
    keyed(rig)
    other = rig.ob.copy()
    bpy.context.scene.collection.objects.link(other)
    other.location.x = 3.0
    update()
    assert way_of(rig) == "After the Frame (another object plays the action of 'leg' too)"


def test_a_chain_whose_numbers_do_not_give_its_pose_is_read_anew(monkeypatch):
    monkeypatch.setattr(planned, "_is_same", lambda posed, pose: False)
    assert way_of(walking_leg()) == "Every Frame (its bones are set up in an unusual way)"


def test_an_action_of_several_layers_is_not_sampled(monkeypatch):
    """No Blender makes one yet; a later one may."""
    rig, collections = walking_leg(), simple.current_fcurve_collections
    monkeypatch.setattr(simple, "current_fcurve_collections", lambda data: collections(data) * 2)
    assert simple.not_simple(rig.target.ob) == "the action of 'leg target' has several layers"


def test_an_armature_that_is_gone_is_a_reason_and_no_crash():
    rig = walking_leg()
    known = live.plan_of(bpy.context)
    bpy.data.objects.remove(rig.ob)
    assert list(known.reasons(bpy.context.scene).values()) == ["its armature is gone"]


def test_what_should_not_happen_is_printed_once_and_reaches_nobody(monkeypatch, capsys):
    rig = walking_leg()
    rig.tip.analytic_ik_reach = "STRETCH"
    update()

    def broken(*_):
        raise ZeroDivisionError("{nothing} 100 %")

    # As where nothing is known of it yet.
    live.memory.reset()
    monkeypatch.setattr(live, "solve_scene", broken)
    for frame in (2, 3, 4):
        go_to(frame)
    said = capsys.readouterr().out
    assert said.count("Analytic IK: a chain could not be solved. Please report this.\nTraceback") == 1
    assert "ZeroDivisionError: {nothing} 100 %\n" in said
    monkeypatch.undo()
    go_to(5)
    assert rig.missed() < 1e-5
    assert capsys.readouterr().out == ""
