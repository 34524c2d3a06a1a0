"""Limbs that constraints or drivers move get no chain, and a sentence that says what moves them.

What counts is what Blender shows: where the refusal is right, a chain forced upon the bones misses its target.
"""

from collections.abc import Callable

import bpy
import pytest

from ik_addon.rig.model.order import live_tips
from ik_addon.rig.status.problems import warnings_of

from ..rig.rigs import BoneSpec, Control, Rig, leg, new_armature, new_empty, update
from ..scenes import EXACT, enter, missed_world, refuses


def constrain(rig: Rig, bone: str, kind: str, **settings: object) -> bpy.types.Constraint:
    constraint = rig.ob.pose.bones[bone].constraints.new(kind)
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint


def elsewhere() -> bpy.types.Object:
    ob = new_empty("elsewhere", (0.5, 0.4, 1.6))
    ob.rotation_euler = (0.5, 0.7, -0.6)
    return ob


def copies_a_bone(rig: Rig) -> None:
    constrain(rig, "thigh", "COPY_ROTATION", target=rig.ob, subtarget="hips")


def copies_an_object(rig: Rig) -> None:
    constrain(rig, "thigh", "COPY_TRANSFORMS", target=elsewhere())


def child_of(rig: Rig) -> None:
    constraint = constrain(rig, "thigh", "CHILD_OF", target=elsewhere())
    # At its first evaluation it leaves the bone where it is.
    update()
    constraint.target.location.y += 0.3


def several_bones(rig: Rig) -> None:
    constraint = constrain(rig, "thigh", "ARMATURE")
    aim = constraint.targets.new()
    aim.target, aim.subtarget = new_armature("guide", [BoneSpec("bar", (1, 0, 1), (1, 1, 2))]), "bar"
    aim.target.pose.bones["bar"].rotation_quaternion = (0.8, 0.5, 0.3, 0.1)


def tracks(rig: Rig) -> None:
    constrain(rig, "shin", "DAMPED_TRACK", target=elsewhere(), influence=0.5)


def own_ik(rig: Rig) -> None:
    constrain(rig, "shin", "IK", target=elsewhere(), chain_count=2)


def ik_from_below(rig: Rig) -> None:
    constrain(rig, "foot", "IK", target=elsewhere(), chain_count=3)


def driven(rig: Rig) -> None:
    curve = rig.ob.pose.bones["thigh"].driver_add("rotation_quaternion", 1)
    curve.driver.expression = "0.3"


MOVED = [
    (copies_a_bone, "bone 'thigh' follows 'hips' by its constraint 'Copy Rotation'. Rig the bones that move it"),
    (copies_an_object, "constraint 'Copy Transforms' moves bone 'thigh'. Mute that constraint"),
    (child_of, "constraint 'Child Of' moves bone 'thigh'. Mute that constraint"),
    (several_bones, "constraint 'Armature' moves bone 'thigh'. Mute that constraint"),
    (tracks, "constraint 'Damped Track' moves bone 'shin'. Mute that constraint"),
    (own_ik, "constraint 'IK' of bone 'shin' already is an IK. Use Convert Blender IK instead"),
    (ik_from_below, "constraint 'IK' of bone 'foot' already is an IK. Use Convert Blender IK instead"),
    (driven, "a driver sets the rotation of bone 'thigh'. Remove that driver"),
]


@pytest.mark.parametrize(("move", "words"), MOVED, ids=[move.__name__ for move, _ in MOVED])
def test_a_limb_that_something_else_moves_is_refused_by_name(move: Callable[[Rig], None], words: str):
    rig = leg()
    move(rig)
    update()
    enter("POSE", rig.ob, "shin")
    with refuses(RuntimeError, f"Bone 'shin': {words}"):
        bpy.ops.analytic_ik.add()
    if move is not driven:
        # The refusal is right: the chain would not arrive.
        rig.enable()
        assert missed_world(rig) > 0.01


def muted(rig: Rig) -> None:
    constrain(rig, "thigh", "COPY_TRANSFORMS", target=elsewhere(), mute=True)


def without_influence(rig: Rig) -> None:
    constrain(rig, "shin", "IK", target=elsewhere(), chain_count=2, influence=0.0)


def without_target(rig: Rig) -> None:
    constrain(rig, "thigh", "CHILD_OF")


def a_wide_limit(rig: Rig) -> None:
    constrain(rig, "shin", "LIMIT_ROTATION", use_limit_x=True, min_x=-3.0, max_x=3.0, owner_space="LOCAL")


def a_constrained_parent(rig: Rig) -> None:
    constrain(rig, "hips", "COPY_TRANSFORMS", target=elsewhere())


def short_ik_below(rig: Rig) -> None:
    constrain(rig, "foot", "IK", target=elsewhere(), chain_count=1)


def a_driven_place(rig: Rig) -> None:
    for bone, channel, number in (("thigh", "location", "0.2"), ("thigh", "scale", "1.1"), ("hips", "location", "0.1")):
        rig.ob.pose.bones[bone].driver_add(channel, 1).driver.expression = number
    rig.ob.pose.bones["thigh"].scale = (1.1, 1.0, 1.1)


@pytest.mark.parametrize(
    "move",
    [muted, without_influence, without_target, a_wide_limit, a_constrained_parent, short_ik_below, a_driven_place],
)
def test_what_leaves_the_limb_to_its_chain_is_no_reason_to_refuse(move: Callable[[Rig], None]):
    rig = leg()
    move(rig)
    update()
    enter("POSE", rig.ob, "shin")
    assert bpy.ops.analytic_ik.add() == {"FINISHED"}
    update()
    target = rig.tip.analytic_ik_target
    target.location += 0.3 * (rig.to_world(rig.joints()[0]) - target.location)
    update()
    assert missed_world(Rig(rig.ob, rig.bones, Control(target))) < EXACT * 2.0


def test_a_chain_under_a_copying_constraint_is_offered_no_way_to_tear_the_bone_from_its_rig():
    rig = leg()
    rig.enable()
    copies_a_bone(rig)
    copies_an_object(rig)
    update()
    bone, other = warnings_of(rig.ob, "shin")
    assert bone.sentence.startswith("Bone 'shin': bone 'thigh' follows 'hips'")
    assert [cure.kind for cure in bone.cures] == ["REMOVE_CHAIN"]
    assert [cure.kind for cure in other.cures] == ["MUTE_CONSTRAINT"]


# As Rigify leaves its rigs; what it generates is in test_rigify.py


def test_a_chain_below_rigifys_constraints_is_off_and_live_without_them():
    rig = leg()
    rig.enable()
    rig.ob.data["rig_id"] = "generated"
    update()
    assert live_tips(rig.ob) == ["shin"]
    copies_a_bone(rig)
    update()
    assert live_tips(rig.ob) == []
    assert rig.ob.pose.bones["shin"].rotation_quaternion.angle == 0.0
    (warning,) = warnings_of(rig.ob, "shin")
    assert [cure.kind for cure in warning.cures] == ["REMOVE_CHAIN"]
    rig.ob.pose.bones["thigh"].constraints[0].influence = 0.0
    update()
    assert live_tips(rig.ob) == ["shin"]
    assert missed_world(rig) < EXACT * 2.0
