"""Where a live chain goes: its tip, its bend and its roll, on armatures of any kind."""

from itertools import pairwise
from math import pi

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_addon.rig.pose.solving import solve_scene
from ik_addon.solvers import Outcome

from .keys import FRAMES, fcurves, key
from .rigs import (
    TWO_BONE_SOLVERS,
    Rig,
    across,
    bend_normal,
    bulge,
    evaluated_copy,
    leg,
    local_rotation,
    matrix_difference,
    orientation,
    pole_point,
    pose_values,
    random_rig,
    random_unit,
    reach,
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


def assert_same_pose(rig: Rig, matrices: list[Matrix], tolerance: float = EXACT) -> None:
    length = sum(rig.lengths())
    for now, before in zip(rig.matrices(), matrices, strict=True):
        assert (now.to_translation() - before.to_translation()).length < tolerance * length
        assert matrix_difference(orientation(now), orientation(before)) < tolerance


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


@pytest.mark.parametrize("seed", range(3000, 3030))
def test_a_single_bone_points_at_its_target(seed):
    rig = random_rig(seed, count=1)
    root = rig.joints()[0]
    target = root + random_unit(rig.random) * rig.random.uniform(0.1, 3.0)
    root, tip = solved(rig, target)
    assert across(tip - root, rig.to_armature(rig.target) - root).length < EXACT * (tip - root).length
    assert (tip - root).dot(target - root) > 0.0


@pytest.mark.parametrize("seed", range(4000, 4050))
def test_the_knee_lies_in_the_half_plane_of_the_pole(seed):
    rig = random_rig(seed, with_pole=True)
    solver = rig.random.choice(["AUTO", *TWO_BONE_SOLVERS, "TRIANGULATION"])
    root, knee, _ = solved(rig, reachable_point(rig), solver=solver)
    to_target = rig.to_armature(rig.target) - root
    to_pole = across(rig.to_armature(rig.pole) - root, to_target).normalized()
    aside = across(knee - root, to_target)
    assert (aside - to_pole * aside.length).length < EXACT * sum(rig.lengths())


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


@pytest.mark.parametrize("count", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("seed", range(6000, 6008))
def test_a_target_too_far_straightens_the_chain_towards_it(seed, count):
    rig = random_rig(seed, count)
    root, far = rig.joints()[0], reach(rig.lengths())[1]
    direction = random_unit(rig.random)
    joints = solved(rig, root + direction * far * rig.random.uniform(1.05, 3.0))
    passed = 0.0
    for a, b in pairwise(joints):
        passed += (b - a).length
        assert (b - root - direction * passed).length < EXACT * far


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("seed", range(7000, 7060))
def test_a_target_too_near_gets_the_nearest_pose(seed, count):
    rig = random_rig(seed, count)
    near, far = reach(rig.lengths())
    if near < 0.1 * far:
        return
    root, distance = rig.joints()[0], near * rig.random.uniform(0.1, 0.95)
    joints = solved(rig, root + random_unit(rig.random) * distance)
    missed = (joints[-1] - rig.to_armature(rig.target)).length
    assert abs(missed - (near - distance)) < EXACT * far


@pytest.mark.parametrize("with_pole", [False, True])
@pytest.mark.parametrize("seed", range(8000, 8050))
def test_a_target_at_the_fk_tip_and_a_pole_in_the_fk_bend_plane_move_nothing(seed, with_pole):
    rig = random_rig(seed, with_pole=with_pole)
    joints, fk = rig.joints(), rig.matrices()
    pole = joints[0] + bulge(joints).normalized() + (joints[-1] - joints[0]) * rig.random.uniform(-0.5, 1.5)
    solved(rig, joints[-1], pole, solver=rig.random.choice(["AUTO", *TWO_BONE_SOLVERS]))
    assert_same_pose(rig, fk)


@pytest.mark.parametrize("solver", ["AUTO", "CCD"])
@pytest.mark.parametrize("with_pole", [False, True])
@pytest.mark.parametrize("count", [3, 5, 20])
@pytest.mark.parametrize("seed", range(8200, 8204))
def test_a_longer_chain_of_least_motion_stays_at_the_fk_pose_too(seed, count, with_pole, solver):
    rig = random_rig(seed, count, with_pole=with_pole)
    joints, fk = rig.joints(), rig.matrices()
    pole = joints[0] + bulge(joints).normalized() + (joints[-1] - joints[0]) * rig.random.uniform(-0.5, 1.5)
    solved(rig, joints[-1], pole, solver=solver, least_motion=True)
    assert_same_pose(rig, fk)


@pytest.mark.parametrize("seed", range(8400, 8430))
def test_a_single_bone_whose_target_is_its_tip_does_not_even_roll(seed):
    rig = random_rig(seed, count=1, with_pole=False)
    fk = rig.matrices()
    solved(rig, rig.joints()[-1])
    assert_same_pose(rig, fk)


@pytest.mark.parametrize("straight", ["rest", "FK"])
@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("seed", range(9000, 9010))
def test_a_limb_that_is_straight_meets_its_target_too(seed, count, straight):
    rig = random_rig(seed, count, straight=straight)
    solved(rig, reachable_point(rig))
    assert rig.missed() < EXACT


@pytest.mark.parametrize("seed", range(9100, 9130))
def test_a_straight_limb_with_its_target_at_its_tip_does_not_move(seed):
    rig = random_rig(seed, straight="FK", with_pole=False)
    fk = rig.matrices()
    solved(rig, rig.joints()[-1])
    # The bend of a limb at full extension is the square root of its length's rounding.
    assert_same_pose(rig, fk, tolerance=2e-3)
    assert rig.missed() < EXACT


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


def test_a_straight_limb_bends_the_same_way_wherever_its_target_goes():
    rig = leg(knee=0.0)
    hinge = rig.ob.data.bones["shin"].x_axis.copy()
    rig.enable()
    for k in range(120):
        rig.target.place((0.0, 0.002 * k - 0.2, 0.1 + 0.001 * k))
        assert bend_normal(rig.joints()).dot(hinge) > 0.99


@pytest.mark.parametrize("seed", range(10000, 10030))
def test_the_swivel_turns_the_knee_about_the_line_to_the_target(seed):
    rig = random_rig(seed)
    root, knee, tip = solved(rig, reachable_point(rig))
    angle = rig.random.uniform(-pi, pi)
    rig.tip.analytic_ik_swivel = angle
    update()
    turned = root + Quaternion(tip - root, angle) @ (knee - root)
    assert (rig.joints()[1] - turned).length < EXACT * sum(rig.lengths())
    assert rig.missed() < EXACT


@pytest.mark.parametrize("seed", range(10100, 10130))
def test_flip_mirrors_the_knee(seed):
    rig = random_rig(seed)
    root, knee, tip = solved(rig, reachable_point(rig))
    rig.tip.analytic_ik_flip = True
    update()
    mirrored = knee - across(knee - root, tip - root) * 2.0
    assert (rig.joints()[1] - mirrored).length < EXACT * sum(rig.lengths())


@pytest.mark.parametrize("seed", range(10200, 10220))
def test_hold_keeps_the_fk_pose_of_a_chain_that_cannot_reach(seed):
    rig = random_rig(seed)
    root, far = rig.joints()[0], reach(rig.lengths())[1]
    fk = pose_values(rig.ob)
    solved(rig, root + random_unit(rig.random) * far * 1.2, reach="HOLD")
    fk_now = pose_values(rig.ob)
    assert all(fk_now[name] == fk[name] for name in rig.bones)


@pytest.mark.parametrize("seed", range(10300, 10320))
def test_a_soft_chain_never_quite_straightens(seed):
    rig = random_rig(seed)
    root, far = rig.joints()[0], reach(rig.lengths())[1]
    direction = random_unit(rig.random)
    rig.place_target(root + direction * far * 0.75)
    rig.enable(softness=0.2)
    assert rig.missed() < EXACT
    rig.place_target(root + direction * far)
    extended = (rig.joints()[-1] - root).length
    assert 0.85 * far < extended < 0.99 * far


@pytest.mark.parametrize("seed", range(10400, 10430))
def test_influence_blends_every_bone_along_the_shortest_way(seed):
    rig = random_rig(seed)
    fk = [local_rotation(bone) for bone in chain_of(rig)]
    solved(rig, reachable_point(rig))
    ik = [local_rotation(bone) for bone in chain_of(rig)]
    rig.tip.analytic_ik_influence = 0.3
    update()
    for bone, start, end in zip(chain_of(rig), fk, ik, strict=True):
        expected = start.slerp(end if start.dot(end) > 0.0 else -end, 0.3)
        if abs(start.dot(end)) > 1e-3:
            assert matrix_difference(local_rotation(bone).to_matrix(), expected.to_matrix()) < 2e-5


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


def chain_of(rig: Rig) -> list[bpy.types.PoseBone]:
    return [evaluated_copy(rig.ob).pose.bones[name] for name in rig.bones]


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("seed", range(11000, 11015))
def test_the_pass_says_how_far_the_tip_is_off(seed, count):
    rig = random_rig(seed, count)
    root, far = rig.joints()[0], reach(rig.lengths())[1]
    too_far = rig.random.random() < 0.5
    target = root + random_unit(rig.random) * far * 1.3 if too_far else reachable_point(rig)
    solved(rig, target)
    done = solve_scene(bpy.context.evaluated_depsgraph_get(), frame_changed=False)
    (limb,) = done.limbs.values()
    assert limb.outcome is (Outcome.TOO_FAR if too_far else Outcome.REACHED)
    missed = rig.to_world(rig.joints()[-1]) - rig.to_world(rig.to_armature(rig.target))
    assert abs(limb.error_world - missed.length) < 2e-5 * far * max(map(abs, rig.ob.matrix_world.to_scale()))


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


def hide_from_this_view(ob: bpy.types.Object, collection: bpy.types.Collection) -> None:
    ob.hide_set(True)


def hide_from_all_views(ob: bpy.types.Object, collection: bpy.types.Collection) -> None:
    ob.hide_viewport = True


def hide_its_collection(ob: bpy.types.Object, collection: bpy.types.Collection) -> None:
    collection.hide_viewport = True


def exclude_its_collection(ob: bpy.types.Object, collection: bpy.types.Collection) -> None:
    bpy.context.view_layer.layer_collection.children[collection.name].exclude = True


@pytest.mark.parametrize(
    "hide",
    [
        hide_from_this_view,
        hide_from_all_views,
        hide_its_collection,
        exclude_its_collection,
    ],
)
def test_a_hidden_target_is_followed_like_a_visible_one(hide):
    rig = leg()
    collection = bpy.data.collections.new("controls")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(rig.target.ob)
    collection.objects.link(rig.target.ob)
    rig.enable()
    hide(rig.target.ob, collection)
    places = [(0.0, -0.3, 0.4), (0.0, 0.4, 0.6), (0.2, -0.5, 0.7), (0.0, 0.1, 0.4)]
    key(rig.target.ob, "location", places)
    for frame, place in zip(FRAMES, places, strict=True):
        bpy.context.scene.frame_set(frame)
        assert (rig.joints()[-1] - Vector(place)).length < EXACT


def test_a_chain_that_is_switched_off_asks_for_nothing_hidden():
    rig = leg()
    rig.target.ob.hide_viewport = True
    rig.enable()
    bpy.context.scene.frame_set(2)
    assert len(rig.tip.constraints) == 1
    rig.tip.analytic_ik_enabled = False
    assert not rig.tip.constraints
    bpy.context.scene.frame_set(3)
    assert not rig.tip.constraints


def test_a_target_that_another_scene_does_not_hold_is_followed_there_at_once():
    """Blender 4.2 ended where what depends on what was changed before a scene was evaluated for the first time."""
    rig = leg()
    rig.enable()
    key(rig.target.ob, "location", [(0.0, -0.3, 0.4), (0.0, 0.4, 0.6), (0.2, -0.5, 0.7), (0.0, 0.1, 0.4)])
    bpy.context.scene.frame_set(6)
    other = bpy.data.scenes.new("other")
    other.collection.objects.link(rig.ob)
    bpy.context.window.scene = other
    assert other.frame_current == 1
    assert (rig.joints()[-1] - Vector((0.0, -0.3, 0.4))).length < EXACT


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
