"""A body that turns too: limbs that no shift serves reach, with the least turn, and all else is as without."""

from math import degrees, radians

import bpy
import pytest
from mathutils import Euler

from ik_addon import bake
from ik_addon.rig.model.order import ChainName
from ik_addon.rig.pose.solving import solve_scene

from ..helpers.creature import (
    ALL_REACH,
    WORLDS,
    Creature,
    differ,
    matrices,
    pose_at,
    spread,
    spread_over_frames,
    step_wide,
)
from ..oracle.whole_pass import solved_now
from .keys import curves_in
from .rigs import evaluated_copy, update

pytestmark = pytest.mark.versions


def turned(creature):
    """By what angle the hips are turned against their FK pose, in radians."""
    bone, own = evaluated_copy(creature.ob).pose.bones["hips"], creature.hips
    mode = own.rotation_mode
    now, fk = (
        each.rotation_quaternion.copy() if mode == "QUATERNION" else each.rotation_euler.to_quaternion()
        for each in (bone, own)
    )
    return now.rotation_difference(fk).angle


def channels(ob):
    return [(*bone.location, *bone.rotation_quaternion, *bone.rotation_euler, *bone.scale) for bone in ob.pose.bones]


@pytest.mark.parametrize("direction", ["DOWN", "NEAREST"])
@pytest.mark.parametrize("world", WORLDS)
def test_limbs_that_no_shift_serves_reach(world, direction):
    without = spread(degrees=0.0, world=WORLDS[world], direction=direction)
    assert without.missed() > 0.02 and turned(without) == 0.0
    without.hips.analytic_ik_body_turn = radians(60)
    update()
    assert without.missed() < ALL_REACH and radians(3) < turned(without) < radians(60)
    assert solve_scene(bpy.context.evaluated_depsgraph_get(), False).bodies[ChainName("creature", "hips")].angle


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_from_any_pose_in_any_mode_and_the_channels_stay_the_users(mode):
    creature = spread()
    hips = creature.hips
    hips.rotation_mode = mode
    rotation = Euler((0.2, -0.1, 0.3)).to_quaternion()
    if mode == "QUATERNION":
        hips.rotation_quaternion = rotation
    elif mode == "XYZ":
        hips.rotation_euler = rotation.to_euler()
    else:
        axis, angle = rotation.to_axis_angle()
        hips.rotation_axis_angle = (angle, *axis)
    hips.location, hips.scale = (0.05, -0.1, 0.02), (1.0, 1.0, 1.0)
    update()
    before = channels(creature.ob)
    for part in (0.3, 1.0, 0.8, 0.97):
        step_wide(creature, part)
        update()
        assert creature.missed() < ALL_REACH
        assert channels(creature.ob) == before


def test_where_a_shift_serves_nothing_turns_and_all_is_as_by_a_pass_that_knows_no_turns():
    creature = Creature(4)
    creature.hips.analytic_ik_body_turn = radians(60)
    for part in (0.1, 0.4, 0.6):
        step_wide(creature, part)
        update()
        assert turned(creature) == 0.0
        found = {
            link.name: [x for row in pose for x in row]
            for posed in solved_now().values()
            for link, pose in zip(posed.limb.bones, posed.poses_armature, strict=True)
        }
        assert len(found) == 8 and differ(found, matrices(creature.ob)) < 1e-6


def test_it_turns_no_farther_than_it_may_and_less_short_than_without():
    missed = []
    for most in (0.0, 3.0, 6.0, 60.0):
        creature = spread(degrees=most)
        missed.append(creature.missed())
        assert degrees(turned(creature)) < most + 1e-3
    assert missed[0] > missed[1] > missed[2] > missed[3] and missed[3] < ALL_REACH


def largest_step(creature, parts):
    """The farthest that the hips go, or turn, from one of these spreads to the next."""
    before, largest = None, 0.0
    for part in parts:
        step_wide(creature, part)
        update()
        bone = evaluated_copy(creature.ob).pose.bones["hips"]
        place = bone.head.copy(), bone.matrix.to_quaternion()
        if before is not None:
            moved = (place[0] - before[0]).length, place[1].rotation_difference(before[1]).angle
            largest = max(largest, *moved)
        before = place
    return largest


def test_it_turns_without_jumps():
    """A jump would be as large in steps of a quarter; out to where no turn helps any more it is half."""
    creature = spread(0.0)
    coarse, fine = (largest_step(creature, [k / 1000 for k in range(940, 1021, step)]) for step in (4, 1))
    assert turned(creature) > radians(5) and fine < 0.65 * coarse


def test_switched_off_it_is_where_it_was():
    creature = spread()
    own, full = channels(creature.ob), turned(creature)
    creature.hips.analytic_ik_body_influence = 0.5
    update()
    assert turned(creature) == pytest.approx(full / 2, abs=1e-4)
    creature.hips.analytic_ik_body_turn = 0.0
    update()
    assert turned(creature) == 0.0
    shifted = creature.body()
    creature.hips.analytic_ik_body_turn = radians(60)
    update()
    assert turned(creature) == pytest.approx(full / 2, abs=1e-4)
    creature.hips.analytic_ik_body_influence = 0.0
    update()
    assert turned(creature) == 0.0 and creature.body().length == 0.0 and shifted.length > 0.01
    assert channels(creature.ob) == own
    creature.hips.analytic_ik_body_influence = 1.0
    update()
    assert creature.missed() < ALL_REACH
    for leg in creature.legs:
        creature.ob.pose.bones[f"shin.{leg}"].analytic_ik_enabled = False
    update()
    assert turned(creature) == 0.0 and creature.body().length == 0.0


def test_a_driver_of_its_rotation_keeps_it_from_following():
    creature = spread()
    creature.hips.driver_add("rotation_quaternion", 1)
    update()
    unfit = solve_scene(bpy.context.evaluated_depsgraph_get(), False).unfit
    assert [str(error) for error in unfit.values()] == [
        "Bone 'hips': a driver sets its rotation, so it cannot follow its limbs. Remove that driver."
    ]
    assert turned(creature) < 1e-6
    creature.hips.driver_remove("rotation_quaternion", 1)
    update()
    assert creature.missed() < ALL_REACH


# Frames


@pytest.mark.parametrize("keyed_hips", [True, False])
@pytest.mark.parametrize("action", ["COPY", "NEW"])
def test_baked_it_plays_as_it_did(keyed_hips, action):
    creature, frames = spread_over_frames(keyed_hips), range(1, 22)
    poses = {frame: pose_at(creature, frame) for frame in frames}
    chains = bake.chains_of([creature.ob])
    bake.bake(bpy.context, chains, frames, action=action)
    assert creature.hips.analytic_ik_body_influence == 0.0
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        assert differ(matrices(creature.ob), poses[frame]) < 1e-5
    paths = {curve.data_path for curve in curves_in(creature.ob.animation_data.action)}
    assert {f'pose.bones["hips"].{each}' for each in ("location", "rotation_quaternion")} <= paths
