"""Blender's own IK that poses bones above a chain, with the bones of the chain: what hangs there is solved after it."""

from random import Random

import bpy
import pytest

from ik_addon.bake import bake, chains_of
from ik_addon.rig.status.problems import warnings_of

from ..scenes import EXACT, apart, go_to, pose_of, slide
from .rigs import BoneSpec, Control, Rig, fk_values, new_armature, new_empty, update

pytestmark = pytest.mark.versions

REACHING = [("thigh.L", 2), ("shin.L", 3), ("foot.L", 4), ("foot.L", 0)]
"""Bones of the left leg, and chain lengths with which Blender's IK poses the hips of both."""


def two_legs() -> tuple[Rig, Rig]:
    """Two live legs that hang on the same hips; their targets wander within reach."""
    specs, legs = [BoneSpec("hips", (0.0, 0.5, 2.0), (0.0, 0.0, 2.0))], {}
    for side, x in (("L", 0.3), ("R", -0.3)):
        specs += [
            BoneSpec(f"thigh.{side}", (x, 0.0, 2.0), (x, -0.2, 1.0), "hips"),
            BoneSpec(f"shin.{side}", (x, -0.2, 1.0), (x, 0.0, 0.0), f"thigh.{side}", connect=True),
            BoneSpec(f"foot.{side}", (x, 0.0, 0.0), (x, -0.4, 0.0), f"shin.{side}", connect=True),
        ]
        target = new_empty(f"target {side}")
        slide(target, (x, -0.6, 0.6), (x + 0.2, 0.2, 0.5))
        legs[side] = Control(target)
    ob = new_armature("legs", specs)
    left, right = (Rig(ob, [f"thigh.{side}", f"shin.{side}"], target) for side, target in legs.items())
    for rig in (left, right):
        rig.enable()
    return left, right


def add_blenders(rig: Rig, bone: str, count: int) -> bpy.types.Constraint:
    """Blender's own IK on a bone, to where the hips follow."""
    aim = new_empty("aim")
    slide(aim, (0.5, -0.5, 1.2), (0.1, 0.3, 1.3))
    constraint = rig.ob.pose.bones[bone].constraints.new("IK")
    constraint.target, constraint.chain_count = aim, count
    update()
    return constraint


@pytest.mark.parametrize(("bone", "count"), REACHING)
def test_the_other_leg_reaches_its_target_and_frames_have_one_pose_in_any_order(bone, count):
    left, right = two_legs()
    fk = fk_values(left.ob)
    add_blenders(left, bone, count)
    frames, poses = Random(count).choices(range(1, 13), k=12), {}
    for frame in (*frames, *reversed(frames)):
        go_to(frame)
        assert right.missed() < EXACT
        now = pose_of(left.ob)
        assert apart(poses.setdefault(frame, now), now, 2.0) < EXACT
        update()
        left.ob.update_tag()
        assert apart(pose_of(left.ob), now, 2.0) < EXACT, "evaluated once more"
    assert fk_values(left.ob) == fk


@pytest.mark.parametrize(("bone", "count"), REACHING)
def test_what_is_dragged_is_followed(bone, count):
    left, right = two_legs()
    add_blenders(left, bone, count)
    go_to(4)
    for x in (-0.2, -0.1, 0.0):
        right.target.place((x, -0.3, 0.6))
        assert right.missed() < EXACT
    bpy.data.objects["aim"].location.z += 0.1
    assert right.missed() < EXACT
    left.ob.pose.bones["hips"].rotation_quaternion.x += 0.1
    assert right.missed() < EXACT


@pytest.mark.parametrize(("bone", "count"), REACHING)
def test_the_leg_that_it_poses_has_sentences_and_the_other_needs_none(bone, count):
    left, right = two_legs()
    constraint = add_blenders(left, bone, count)
    said = [warning.sentence for warning in warnings_of(left.ob, "shin.L")]
    assert any(f"Bone '{bone}': constraint 'IK' moves" in sentence for sentence in said)
    assert any("'hips' follows the chain's own bone" in sentence and "a cycle" in sentence for sentence in said)
    assert warnings_of(right.ob, "shin.R") == []
    constraint.mute = True
    update()
    assert warnings_of(left.ob, "shin.L") == []
    assert max(left.missed(), right.missed()) < EXACT


def test_a_bake_has_what_was_shown():
    left, right = two_legs()
    add_blenders(left, "thigh.L", 2)
    shown = {}
    for frame in range(1, 13):
        go_to(frame)
        shown[frame] = pose_of(left.ob)
    entries = bake(bpy.context, chains_of([right.ob]), range(1, 13))["files"][0]["chains"]
    assert {entry["bone"]: entry["max_error"] < EXACT for entry in entries} == {"shin.L": False, "shin.R": True}
    for frame in (7, 2, 12, 5):
        go_to(frame)
        assert apart(pose_of(left.ob), shown[frame], 2.0) < 1e-4
