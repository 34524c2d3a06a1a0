"""What moves a part of a body, or holds a part back: tails, a head that looks, sides that mirror, locks and limits."""

from math import radians
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Vector

from benchmarks.grabbing import direction
from ik_addon import api, messages
from ik_addon.grabbing.scene.posing import GrabSession
from ik_addon.grabbing.solving.drag import Drag, GrabOptions, grabbed
from ik_addon.grabbing.solving.geometry import add, mul

from ..rig.rigs import BoneSpec, editing, evaluated_copy, new_armature, update
from ..scenes import enter, pose_of
from .bodies import body_of, person

TAIL = 4


def with_tail():
    ob = person()
    with editing(ob) as bones:
        for k in range(TAIL):
            bone = bones.new(f"tail.{k}")
            bone.head, bone.tail = (0.0, 0.1 + 0.1 * k, 1.0), (0.0, 0.2 + 0.1 * k, 1.0)
            bone.parent = bones[f"tail.{k - 1}" if k else "hips"]
    enter("POSE", ob, "hips")
    update()
    return ob


def worm():
    ob = new_armature(
        "worm",
        [BoneSpec(f"b{k}", (0, 0, 0.3 * k), (0, 0, 0.3 * (k + 1)), f"b{k - 1}" if k else "") for k in range(5)],
    )
    enter("POSE", ob, "b0")
    update()
    return ob


def tail_of(ob, bone):
    return ob.matrix_world @ evaluated_copy(ob).pose.bones[bone].tail


@pytest.mark.versions
@pytest.mark.parametrize(
    ("make", "bone", "way"), [(with_tail, "tail.3", (0.1, -0.05, 0.1)), (worm, "b4", (0.4, 0.2, -0.2))]
)
def test_a_tail_and_a_body_without_legs_follow_their_tip_to_the_last_fork(make, bone, way):
    ob = make()
    before = pose_of(ob)
    place = tail_of(ob, bone) + Vector(way)
    report = api.grab(ob, bone, place)
    update()
    assert (tail_of(ob, bone) - place).length < 1e-6 and report["missed"] < 1e-6
    still = {name for name in before if not name.startswith(("tail", "b"))} | {"b0"} & before.keys()
    assert all(np.allclose(np.array(before[name]), np.array(pose_of(ob)[name]), atol=1e-6) for name in still)
    assert set(report["turned"]) <= before.keys() - still


def test_a_tail_that_cannot_reach_tells_its_miss():
    ob = with_tail()
    place = tail_of(ob, "tail.3") + Vector((0.0, 3.0, 1.0))
    report = api.grab(ob, "tail.3", place)
    update()
    assert abs((tail_of(ob, "tail.3") - place).length - report["missed"]) < 1e-5


@pytest.mark.parametrize("seed", range(4))
def test_a_head_looks_at_a_place(seed):
    ob = person()
    ob.pose.bones["head"].rotation_mode = "XYZ"
    ob.pose.bones["head"].rotation_euler = (0.1, 0.3, -0.2)
    enter("POSE", ob, "head")
    update()
    random = Random(seed)
    head = ob.pose.bones["head"].head.copy()
    place = head + Vector((random.uniform(-1, 1), random.uniform(-2, -1), random.uniform(-0.7, 0.7)))
    api.grab(ob, "head", place, look=True)
    update()
    bone = evaluated_copy(ob).pose.bones["head"]
    # At rest it faces -Y.
    faces = bone.matrix.to_3x3() @ ob.data.bones["head"].matrix_local.to_3x3().inverted() @ Vector((0.0, -1.0, 0.0))
    assert faces.angle(place - bone.head) < radians(0.01)
    # A body without a change of anything else.
    assert {"neck", "head"} == {
        name
        for name, matrix in pose_of(ob).items()
        if name in ("neck", "head", "chest", "hips") and matrix != ob.data.bones[name].matrix_local
    }


def test_a_look_that_is_not_moved_moves_nothing():
    body = body_of(person())
    pose = grabbed(body, Drag("GAZE"), Drag("GAZE").start(body), {})
    assert not pose.channels.turns and not pose.channels.locations


@pytest.mark.versions
@pytest.mark.parametrize("way", [(0.15, -0.3, 0.3), (0.2, -0.9, -0.4), (0.3, -2.0, 0.5)])
def test_x_mirror_moves_both_hands_alike(way):
    ob = person()
    ob.pose.use_mirror_x = True
    enter("POSE", ob, "hand.L")
    update()
    place = ob.pose.bones["hand.L"].head + Vector(way)
    report = api.grab(ob, "hand.L", place)
    update()
    pose = pose_of(ob)
    for name, matrix in pose.items():
        if name.endswith(".L"):
            left, right = matrix.translation, pose[name[:-1] + "R"].translation
            assert (left - Vector((-right.x, right.y, right.z))).length < 2e-6
    assert abs(pose["chest"].translation.x) < 1e-6
    assert abs((pose["hand.L"].translation - place).length - report["missed"]) < 1e-6


@pytest.mark.versions
def test_a_knee_with_limits_stays_in_them_and_feet_stay():
    ob = person()
    for side in "LR":
        shin = ob.pose.bones[f"shin.{side}"]
        shin.use_ik_limit_x, shin.ik_min_x, shin.ik_max_x = True, 0.0, radians(70.0)
        shin.lock_ik_y = shin.lock_ik_z = True
    enter("POSE", ob, "hips")
    update()
    feet = {name: pose_of(ob)[name].translation.copy() for name in ("foot.L", "foot.R")}
    start = ob.pose.bones["hips"].head.copy()
    for drop in (0.1, 0.2, 0.6):
        report = api.grab(ob, "hips", start - Vector((0.0, 0.0, drop)))
        update()
        for name, place in feet.items():
            assert (pose_of(ob)[name].translation - place).length < 1e-6
        for side in "LR":
            turn = ob.pose.bones[f"shin.{side}"].rotation_quaternion
            assert abs(turn.angle) < radians(70.01)
            assert abs(turn.y) + abs(turn.z) < 1e-6
    assert report["missed"] > 0.05


def test_a_locked_knee_keeps_the_limb_as_it_is():
    ob = person()
    ob.pose.bones["forearm.L"].lock_rotation = (True, True, True)
    enter("POSE", ob, "hand.L")
    update()
    api.grab(ob, "hand.L", ob.pose.bones["hand.L"].head + Vector((0.2, -0.6, 0.4)))
    update()
    assert ob.pose.bones["forearm.L"].matrix_basis == bpy.data.objects[ob.name].pose.bones["forearm.R"].matrix_basis


def test_a_locked_spine_does_not_turn_and_locked_hips_stay():
    ob = person()
    ob.pose.bones["spine"].lock_rotation[2] = True
    ob.pose.bones["hips"].lock_location = (True, True, True)
    enter("POSE", ob, "hand.L")
    update()
    before = pose_of(ob)
    report = api.grab(ob, "hand.L", before["hand.L"].translation + Vector((0.0, -1.0, -0.6)), lift_heels=False)
    update()
    assert "spine" not in report["turned"] and "chest" in report["turned"]
    assert (pose_of(ob)["hips"].translation - before["hips"].translation).length < 1e-6
    for name in ("foot.L", "foot.R"):
        assert (pose_of(ob)[name].translation - before[name].translation).length < 1e-6
    with pytest.raises(api.ChainError) as error:
        api.grab(ob, "hips", Vector((0.0, 0.0, 0.8)))
    assert str(error.value) == messages.GRAB_LOCKED(bone="hips")


def test_what_is_locked_and_would_turn_is_refused():
    ob = person()
    ob.pose.bones["thigh.L"].lock_rotation = (True, True, True)
    enter("POSE", ob, "hips")
    update()
    before = pose_of(ob)
    with pytest.raises(api.ChainError) as error:
        api.grab(ob, "hips", Vector((0.0, 0.0, 0.8)))
    assert str(error.value) == messages.GRAB_LOCKED(bone="thigh.L")
    assert pose_of(ob) == before


def test_each_joint_that_is_shown_can_be_dragged():
    session = GrabSession(bpy.context, with_tail())
    shown = {*session.joints()}
    assert {"hips", "chest", "head", "tail.3", "hand.L", "foot.R", "shin.L", "forearm.R"} == shown - {
        "hand.R",
        "foot.L",
        "shin.R",
        "forearm.L",
    }
    for bone, drag in session.joints().items():
        place = session.place(session.evaluated, bone, drag)
        assert (session.goal(bone, drag, place) - session.start(drag)).length < 1e-6
        goal = Vector(add(tuple(session.start(drag)), mul(direction(Random(1)), 0.05)))
        session.pose(bpy.context, drag, goal, {0: "BOTH"} if drag.limb != 0 else {}, GrabOptions())
    session.restore()
