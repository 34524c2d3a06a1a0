"""Limits and locks of hips, shoulders, wrists and spines: kept by every drag, with what is held held."""

from math import asin, cos, degrees, radians
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ik_addon import api
from ik_addon.grabbing.scene.posing import GrabSession
from ik_addon.grabbing.solving.drag import Drag, GrabOptions

from ..rig.rigs import update
from ..scenes import enter
from .bodies import evaluated_point, person, random_drag

HELD = 1e-6


def limited(ob, bone, **ranges):
    """Limits in degrees, by axis."""
    bone = ob.pose.bones[bone]
    for axis, (least, most) in ranges.items():
        setattr(bone, f"use_ik_limit_{axis}", True)
        setattr(bone, f"ik_min_{axis}", radians(least))
        setattr(bone, f"ik_max_{axis}", radians(most))


def angles(bone):
    """Swing about X and Z and twist about Y of its channels, in degrees, as mathutils splits a rotation."""
    turn = bone.matrix_basis.to_quaternion()
    swing, twist = turn.to_swing_twist("Y")
    x, z = ((2.0 * asin(max(-1.0, min(1.0, part if swing.w >= 0.0 else -part)))) for part in (swing.x, swing.z))
    return {"x": degrees(x), "y": (degrees(twist) + 180.0) % 360.0 - 180.0, "z": degrees(z)}


def is_within(bone, slack=0.01):
    """Whether IK limits that are used hold; two swings within a quarter of an ellipse."""
    now, share = angles(bone), 0.0
    for axis in "xyz":
        if getattr(bone, f"use_ik_limit_{axis}"):
            least, most = (degrees(getattr(bone, f"ik_{end}_{axis}")) for end in ("min", "max"))
            if not least - slack <= now[axis] <= most + slack:
                return False
            if axis != "y":
                limit = most if now[axis] > 0.0 else least
                share += (np.sin(radians(now[axis] / 2.0)) / np.sin(radians(limit / 2.0))) ** 2 if limit else 0.0
    return share <= 1.0 + 1e-3 or not (bone.use_ik_limit_x and bone.use_ik_limit_z)


def posing(bone):
    ob = person()
    enter("POSE", ob, bone)
    update()
    return ob


@pytest.mark.versions
def test_a_hip_with_limits_stops_the_hips_and_the_foot_stays():
    ob = posing("hips")
    limited(ob, "thigh.L", x=(-40.0, 40.0), z=(-40.0, 40.0))
    foot, start = ob.pose.bones["foot.L"].head.copy(), ob.pose.bones["hips"].head.copy()
    missed = []
    for drop in (0.03, 0.1, 0.5):
        report = api.grab(ob, "hips", start - Vector((0.0, 0.0, drop)))
        update()
        assert is_within(ob.pose.bones["thigh.L"])
        assert (ob.pose.bones["foot.L"].head - foot).length < HELD
        away = (ob.pose.bones["hips"].head - start + Vector((0.0, 0.0, drop))).length
        assert abs(away - report["missed"]) < HELD
        missed.append(report["missed"])
    assert missed[0] < HELD < 0.1 < missed[2]


@pytest.mark.versions
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "YZX", "ZXY"])
def test_an_arm_whose_twist_is_locked_swivels_to_its_place(mode):
    ob = posing("hand.L")
    arm = ob.pose.bones["upper_arm.L"]
    arm.rotation_mode = mode
    arm.lock_rotation = (False, True, False)
    order = "XYZ" if mode == "QUATERNION" else mode
    start = ob.pose.bones["hand.L"].head.copy()
    for way in ((0.1, -0.3, 0.1), (0.15, -0.2, 0.3), (0.05, 0.1, 0.2)):
        place = start + Vector(way)
        report = api.grab(ob, "hand.L", place, spine=0.0)
        update()
        assert report["missed"] < HELD and (ob.pose.bones["hand.L"].head - place).length < HELD
        turned = arm.matrix_basis.to_euler(order)
        assert abs(turned.y) < 2e-6 and abs(turned.x) + abs(turned.z) > 0.1


@pytest.mark.versions
def test_a_hand_keeps_its_rotation_as_far_as_its_wrist_goes():
    ob = posing("hand.L")
    limited(ob, "hand.L", x=(-15.0, 15.0), y=(-10.0, 10.0), z=(-15.0, 15.0))
    place = ob.pose.bones["hand.L"].head + Vector((0.2, -0.3, 0.4))
    report = api.grab(ob, "hand.L", place, rotation="KEEP")
    update()
    assert report["missed"] < HELD and (ob.pose.bones["hand.L"].head - place).length < HELD
    assert is_within(ob.pose.bones["hand.L"]) and max(map(abs, angles(ob.pose.bones["hand.L"]).values())) > 5.0


@pytest.mark.parametrize("seed", range(6))
def test_limits_and_pins_hold_whatever_is_dragged(seed):
    ob, random = posing("hips"), Random(seed)
    for bone in ("thigh.L", "upper_arm.R", "hand.R", "shin.R", "spine", "foot.R", "shoulder.L", "neck"):
        axes = random.sample("xyz", random.choice((1, 2, 3)))
        limited(ob, bone, **{axis: (-random.uniform(5.0, 60.0), random.uniform(5.0, 60.0)) for axis in axes})
    ob.pose.bones["upper_arm.L"].rotation_mode = "XYZ"
    ob.pose.bones["upper_arm.L"].lock_rotation[0] = True
    update()
    session = GrabSession(bpy.context, ob)
    body, reached = session.body, 0
    for _ in range(6):
        drag, goal, held = random_drag(body, random)
        pose = session.pose(bpy.context, drag, Vector(goal), held, GrabOptions())
        update()
        assert all(is_within(bone) for bone in ob.pose.bones), [b.name for b in ob.pose.bones if not is_within(b)]
        # Near a quarter turn of Y the rotation says so much less of X.
        x, y, _ = ob.pose.bones["upper_arm.L"].rotation_euler
        assert abs(x * cos(y)) < 2e-6
        for k in held:
            limb = body.limbs[k]
            rolls = limb.found.toe in pose.moves
            bone, start = (limb.found.end, limb.ball) if rolls else (limb.links[-1], limb.end)
            assert np.linalg.norm(evaluated_point(ob, body, bone, start) - start) < HELD
        if drag.kind == "LIMB":
            limb = body.limbs[drag.limb]
            apart = np.linalg.norm(evaluated_point(ob, body, limb.links[-1], limb.end) - goal)
            assert abs(apart - pose.missed) < HELD
        reached += pose.missed < HELD
    session.restore()


def test_an_elbow_that_is_dragged_stops_at_the_shoulders_limits():
    ob = posing("forearm.L")
    limited(ob, "upper_arm.L", x=(-30.0, 30.0), z=(-30.0, 30.0))
    session = GrabSession(bpy.context, ob)
    arm = session.drag_of("forearm.L").limb
    place = session.start(Drag("JOINT", arm)) + Vector((0.5, -0.3, 0.6))
    session.pose(bpy.context, Drag("JOINT", arm), place, {}, GrabOptions())
    update()
    assert (
        is_within(ob.pose.bones["upper_arm.L"]) and max(map(abs, angles(ob.pose.bones["upper_arm.L"]).values())) > 25.0
    )


def test_a_pinned_hand_keeps_its_rotation_and_its_limits():
    ob = posing("hips")
    limited(ob, "hand.L", x=(-8.0, 8.0), y=(-8.0, 8.0), z=(-8.0, 8.0))
    session = GrabSession(bpy.context, ob)
    body = session.body
    arm = next(k for k, limb in enumerate(body.limbs) if limb.found.kind == "ARM" and limb.found.side == "L")
    before = np.array(ob.pose.bones["hand.L"].matrix)
    session.pose(
        bpy.context, Drag("HIPS"), session.start(Drag("HIPS")) - Vector((0.0, 0.0, 0.4)), {arm: "BOTH"}, GrabOptions()
    )
    update()
    assert np.abs(np.array(ob.pose.bones["hand.L"].matrix) - before).max() < 2e-6
    assert is_within(ob.pose.bones["hand.L"])
