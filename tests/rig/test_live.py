"""Where a live chain goes: its tip, its bend and its roll, on armatures of any kind."""

from itertools import pairwise
from math import pi

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from .keys import fcurves
from .rigs import (
    TWO_BONE_SOLVERS,
    Rig,
    across,
    bend_normal,
    bulge,
    evaluated_copy,
    leg,
    orientation,
    pole_point,
    pose_values,
    random_rig,
    reachable_point,
    rotation_channel,
    rotation_values,
    update,
)

EXACT = 1e-5
"""Of a chain's length: what is promised."""


def solved(rig: Rig, target_armature: Vector, pole_armature: Vector | None = None, **settings) -> list[Vector]:
    """Joints of the rig's chain once it is live with its controls at these points."""
    rig.place_target(target_armature)
    if rig.pole:
        rig.place_pole(pole_armature or pole_point(rig, target_armature))
    rig.enable(**settings)
    return rig.joints()


def assert_lengths_kept(before: list[Vector], after: list[Vector]) -> None:
    length = sum((b - a).length for a, b in pairwise(before))
    for (a, b), (c, d) in zip(pairwise(before), pairwise(after), strict=True):
        assert abs((b - a).length - (d - c).length) < EXACT * length


@pytest.mark.parametrize("solver", ["AUTO", *TWO_BONE_SOLVERS, "TRIANGULATION", "CCD"])
@pytest.mark.parametrize("seed", range(1000, 1008))
def test_every_solver_meets_every_target_in_reach(solver, seed):
    rig = random_rig(seed)
    fk = rig.joints()
    # CCD closes in slowly on a target near the edges of the reach.
    joints = solved(rig, reachable_point(rig, margin=0.2 if solver == "CCD" else 0.001), solver=solver)
    assert rig.missed() < EXACT
    assert_lengths_kept(fk, joints)


@pytest.mark.parametrize("least_motion", [False, True])
@pytest.mark.parametrize("solver", ["AUTO", "CCD"])
@pytest.mark.parametrize("count", [3, 5, 20])
@pytest.mark.parametrize("seed", range(2000, 2006))
def test_a_chain_of_any_length_meets_every_target_in_reach(seed, count, solver, least_motion):
    rig = random_rig(seed, count)
    fk = rig.joints()
    target = reachable_point(rig, margin=0.2 if solver == "CCD" else 0.001)
    joints = solved(rig, target, solver=solver, least_motion=least_motion)
    assert rig.missed() < EXACT
    assert_lengths_kept(fk, joints)


@pytest.mark.parametrize("seed", range(5000, 5040))
def test_two_bones_keep_their_roll_against_the_bend_plane(seed):
    rig = random_rig(seed)
    normal, fk = bend_normal(rig.joints()), rig.matrices()
    solved(rig, reachable_point(rig), solver=rig.random.choice(TWO_BONE_SOLVERS))
    now = bend_normal(rig.joints())
    for before, after in zip(fk, rig.matrices(), strict=True):
        normal_before = orientation(before).transposed() @ normal
        normal_after = orientation(after).transposed() @ now
        assert (normal_before - normal_after).length < 2e-4


@pytest.mark.parametrize("seed", range(9200, 9230))
def test_a_straight_limb_bends_about_its_only_free_ik_axis(seed):
    rig = random_rig(seed, straight="FK", with_pole=False)
    shin = rig.tip
    axis = rig.random.choice("xz")
    for other in "xyz":
        setattr(shin, f"lock_ik_{other}", other != axis)
    backwards = rig.random.random() < 0.5
    setattr(shin, f"use_ik_limit_{axis}", True)
    setattr(shin, f"ik_min_{axis}", -2.0 if backwards else 0.0)
    setattr(shin, f"ik_max_{axis}", 0.0 if backwards else 2.0)
    solved(rig, reachable_point(rig))
    local = evaluated_copy(rig.ob).pose.bones[shin.name].matrix_basis.to_3x3() @ Matrix.Diagonal(shin.scale).inverted()
    turned = local.to_quaternion()
    turned = Vector((turned.x, turned.y, turned.z)) * (-1.0 if turned.w < 0.0 else 1.0)
    assert turned.normalized()["xyz".index(axis)] * (-1.0 if backwards else 1.0) > 0.9999


@pytest.mark.parametrize("seed", range(10500, 10560))
def test_of_all_numbers_that_mean_a_rotation_those_nearest_to_the_fk_pose_are_written(seed):
    rig = random_rig(seed)
    for name in rig.bones:
        # As far off as keys of a limb that went round and round.
        channel = rotation_channel(rig.ob.pose.bones[name])
        values = [-value for value in rotation_values(rig.ob.pose.bones[name])]
        if channel == "rotation_euler":
            values = [value + 2.0 * pi * rig.random.randint(-2, 2) for value in values]
        setattr(rig.ob.pose.bones[name], channel, values)
    update()
    fk = pose_values(rig.ob)
    solved(rig, reachable_point(rig))
    for name in rig.bones:
        pose_bone = rig.ob.pose.bones[name]
        now, before = rotation_values(pose_bone), fk[name]
        if pose_bone.rotation_mode == "QUATERNION":
            assert Quaternion(now).dot(Quaternion(before)) >= 0.0
        elif pose_bone.rotation_mode == "AXIS_ANGLE":
            assert abs(now[0] - before[0]) < pi + 1e-4
            assert Vector(now[1:]).dot(before[1:]) > -1e-4
        else:
            assert max(abs(a - b) for a, b in zip(now, before, strict=True)) < 1.5 * pi


@pytest.mark.slow
def test_bones_under_unevenly_scaled_ones_meet_their_target_by_repeated_passes(record_property):
    missed = []
    for seed in range(12000, 12100):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        rig = random_rig(seed, uneven_scale=True)
        # The lengths change as the bones turn: stay clear of the edges of the reach.
        solved(rig, reachable_point(rig, margin=0.35))
        missed.append(rig.missed())
    missed.sort()
    share = sum(value < EXACT for value in missed) / len(missed)
    print(f"median {missed[len(missed) // 2]:.1e}, {share:.0%} within 1e-5, worst {missed[-5:]}")
    record_property("uneven_median", missed[len(missed) // 2])
    record_property("uneven_share", share)
    assert missed[len(missed) // 2] < EXACT
    assert share > 0.8


@pytest.mark.parametrize("wish", ["swivel", "flip"])
@pytest.mark.parametrize("seed", range(13000, 13030))
def test_repeated_passes_swivel_and_flip_only_once(seed, wish):
    rig = random_rig(seed, uneven_scale=True)
    root, knee, tip = solved(rig, reachable_point(rig, margin=0.35))
    missed = rig.missed()
    angle = pi if wish == "flip" else rig.random.choice((-1.0, 1.0)) * rig.random.uniform(0.5, 2.0)
    setattr(rig.tip, f"analytic_ik_{wish}", True if wish == "flip" else angle)
    update()
    expected = Quaternion(tip - root, angle) @ across(knee - root, tip - root)
    # The lengths depend on the pose: without a pole the plane is kept nearly, and some chains find no rest.
    assert max(missed, rig.missed()) > EXACT or bulge(rig.joints()).angle(expected) < 0.2


def test_a_target_that_is_shown_again_leaves_a_chain_with_keys_on_it():
    """What no longer asked for it made Blender find out anew what depends on what, and play the keys over the chain."""
    rig = leg()
    shelf = bpy.data.collections.new("shelf")
    bpy.context.scene.collection.children.link(shelf)
    bpy.context.scene.collection.objects.unlink(rig.target.ob)
    shelf.objects.link(rig.target.ob)
    rig.enable()
    rig.ob.pose.bones["thigh"].keyframe_insert("rotation_quaternion", frame=3)
    update()
    curve = fcurves(rig.ob)[0]
    curve.keyframe_points[0].co.y += 0.2
    curve.update()
    update()
    for hidden in (True, False, True, False):
        bpy.context.view_layer.layer_collection.children["shelf"].exclude = hidden
        update()
        assert rig.missed() < EXACT


def test_a_bone_that_is_given_back_to_blenders_own_ik_carries_the_rest_in_the_same_update():
    """What its constraint makes of its FK pose is not known before Blender has evaluated it."""
    rig = leg()
    rig.enable()
    own = rig.ob.pose.bones["thigh"].constraints.new("IK")
    own.target, own.chain_count = rig.target.ob, 1
    rig.place_target(Vector((0.3, -0.6, 0.7)))
    rig.tip.analytic_ik_chain_count = 1
    update()
    _, knee, tail = rig.joints()
    to_target = rig.to_armature(rig.target) - knee
    # One bone points at its target.
    assert (tail - knee).normalized().cross(to_target.normalized()).length < EXACT
    assert (tail - knee).dot(to_target) > 0.0


def test_keys_do_not_play_over_a_chain_in_a_scene_that_is_shown_for_the_first_time():
    """There Blender plays them and leaves the original as it was: it held what was to be written already."""
    rig = leg()
    rig.enable()
    rig.ob.pose.bones["thigh"].rotation_quaternion = (0.9, 0.2, 0.3, 0.0)
    rig.ob.pose.bones["thigh"].keyframe_insert("rotation_quaternion", frame=1)
    bpy.context.scene.frame_set(1)
    assert rig.missed() < EXACT
    other = bpy.data.scenes.new("other")
    for ob in (rig.ob, rig.target.ob):
        other.collection.objects.link(ob)
    bpy.context.window.scene = other
    assert rig.missed() < EXACT


def test_drivers_of_settings_drive_again_once_the_add_on_is_back(addon):
    """Without it Blender finds nothing that they drive, and gives them up until the file is opened anew."""
    rig = leg()
    rig.enable()
    rig.tip.driver_add("analytic_ik_influence").driver.expression = "frame * 0.1"
    bpy.context.scene.frame_set(2)
    addon.unregister()
    try:
        bpy.context.scene.frame_set(4)
    finally:
        addon.register()
    for frame in (6, 8):
        bpy.context.scene.frame_set(frame)
        assert abs(evaluated_copy(rig.ob).pose.bones["shin"].analytic_ik_influence - frame * 0.1) < 1e-6
