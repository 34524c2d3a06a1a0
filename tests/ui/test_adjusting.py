"""*Adjust Last Operation* (F9) runs an operator again with other options, also where nothing is left that it needs."""

import bpy
import pytest

from ik_addon.rig.model.order import tips_of

from ..helpers.controlled import human_with_ground, rigged_with_bones
from ..scenes import enter, walking_leg
from .layouts import adopted, with_blenders_ik

pytestmark = pytest.mark.versions


def run(name: str) -> bpy.types.Operator:
    """Run an operator as the interface does; what the window would adjust."""
    bpy.ops.ed.undo_push(message="before")
    assert getattr(bpy.ops.analytic_ik, name)("INVOKE_DEFAULT", True) == {"FINISHED"}
    return bpy.context.window_manager.operators[-1]


def run_again() -> None:
    window = bpy.context.window_manager.windows[0]
    area = next(each for each in window.screen.areas if each.type == "VIEW_3D")
    region = next(each for each in area.regions if each.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        assert bpy.ops.ed.undo_redo() == {"FINISHED"}


def test_controls_are_deleted_with_the_last_chain_afterwards():
    ob = rigged_with_bones(human_with_ground())
    before = {bone.name for bone in ob.pose.bones if bone.analytic_ik_target is None}
    enter("POSE", ob, "shin.L")
    controls = {tip: ob.pose.bones[tip].analytic_ik_subtarget for tip in tips_of(ob)}
    for name in controls:
        bone = ob.pose.bones[name]
        (bone if hasattr(bone, "select") else bone.bone).select = True
    last = run("remove")
    ob = bpy.context.object
    assert not tips_of(ob)
    assert set(controls.values()) <= set(ob.pose.bones.keys())
    last.properties.delete_controls = True
    run_again()
    ob = bpy.context.object
    assert not tips_of(ob)
    assert before.intersection(ob.pose.bones.keys())
    assert not set(controls.values()).intersection(ob.pose.bones.keys())


def with_a_chain() -> None:
    enter("POSE", walking_leg().ob, "shin")


def native() -> None:
    with_a_chain()
    bpy.ops.analytic_ik.make_native()


CASES = {
    "remove": with_a_chain,
    "adopt": with_blenders_ik,
    "restore": adopted,
    "make_native": with_a_chain,
    "make_live": native,
}


@pytest.mark.parametrize("name", CASES)
def test_what_took_its_own_need_is_offered_again_until_something_else_is_done(name):
    CASES[name]()
    operator = getattr(bpy.ops.analytic_ik, name)
    run(name)
    assert operator.poll()
    with pytest.raises(RuntimeError, match=r"Armature|chains"):
        operator()
    run_again()
    assert operator.poll()
    bpy.ops.pose.select_all("INVOKE_DEFAULT", True, action="SELECT")
    assert not operator.poll()
