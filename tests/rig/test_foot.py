"""A foot that follows its target and rolls, and the side to which a straight limb bends."""

from math import cos, pi, radians, sin
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_addon.rig.model.foot import toe_joint
from ik_addon.rig.status.problems import problems_of

from ..helpers.feet import ANKLE, BALL, TIP, follow, foot_of, footed_leg, random_footed, turn_target
from .rigs import (
    BoneSpec,
    Control,
    Rig,
    editing,
    evaluated_copy,
    leg,
    local_rotation,
    make_chain,
    matrix_difference,
    new_empty,
    orientation,
    pose_values,
    random_rig,
    random_rotation,
    random_unit,
    reach,
    reachable_point,
    set_on,
    set_rotation,
    update,
)

EXACT = 1e-5
STRAY = Vector((0.0, -0.03, 0.15))
"""From a foot's head to where an importer leaves its tail: no joint is there."""
HEEL = (0.0, 0.0, 0.05)
"""Of the leg below: under its ankle, on the line of its sole."""


def pose_matrix(rig: Rig, name: str) -> Matrix:
    return evaluated_copy(rig.ob).pose.bones[name].matrix.copy()


def foot_orientation(rig: Rig) -> Matrix:
    return orientation(pose_matrix(rig, foot_of(rig).name))


def exact(rig: Rig) -> float:
    """What is promised of a foot's orientation; near the gimbal lock of its Euler angles their rounding shows."""
    foot = foot_of(rig)
    if foot.rotation_mode in ("QUATERNION", "AXIS_ANGLE"):
        return EXACT
    middle = foot.rotation_euler["XYZ".index(foot.rotation_mode[1])]
    return EXACT if abs(cos(middle)) > 0.1 else 2e-4


def target_in_armature(rig: Rig) -> Matrix:
    """How the target's axes lie in armature space, as Blender evaluates them."""
    evaluated = evaluated_copy(rig.target.ob)
    world = evaluated.matrix_world
    if rig.target.bone:
        world = world @ evaluated.pose.bones[rig.target.bone].matrix
    return orientation(evaluated_copy(rig.ob).matrix_world.inverted() @ world)


def is_rigid(axes: Matrix) -> bool:
    return matrix_difference(axes @ axes.transposed(), Matrix.Identity(3)) < 1e-5


# Follows


@pytest.mark.parametrize("order", ["target, live, follow", "target, follow, live", "live, target, follow"])
@pytest.mark.parametrize("seed", range(50, 58))
def test_whatever_is_set_first_the_orientation_at_the_switch_is_kept(seed, order):
    rig = random_footed(seed)
    tip = rig.tip
    tip.analytic_ik_chain_count = 2
    kept = None
    for step in order.split(", "):
        if step == "target":
            tip.analytic_ik_target, tip.analytic_ik_subtarget = rig.target.ob, rig.target.bone
        elif step == "live":
            tip.analytic_ik_enabled = True
        else:
            update()
            kept = foot_orientation(rig)
            tip.analytic_ik_use_rotation = True
    update()
    assert matrix_difference(foot_orientation(rig), kept) < EXACT


def test_switched_on_without_a_target_a_target_at_rest_leaves_it_at_rest():
    rig = footed_leg()
    rig.tip.analytic_ik_use_rotation = True
    set_rotation(rig.ob.pose.bones["foot"], Quaternion((0.9, 0.2, 0.1, 0.3)))
    rig.target.place((0.2, -0.3, 0.5))
    rig.enable()
    rest = orientation(rig.ob.data.bones["foot"].matrix_local)
    assert matrix_difference(foot_orientation(rig), rest) < EXACT
    turn = random_rotation(Random(1))
    turn_target(rig, turn)
    assert matrix_difference(foot_orientation(rig), turn.to_matrix() @ rest) < EXACT


@pytest.mark.parametrize("seed", range(60, 70))
def test_switched_off_and_on_again_it_keeps_how_it_stands_then(seed):
    rig = random_footed(seed)
    follow(rig)
    set_on(rig, use_rotation=False)
    turn_target(rig, random_rotation(rig.random))
    rig.place_target(reachable_point(rig))
    before = foot_orientation(rig)
    set_on(rig, use_rotation=True)
    assert matrix_difference(foot_orientation(rig), before) < exact(rig)


def test_switching_on_what_is_on_keeps_what_was_kept():
    rig = footed_leg()
    follow(rig)
    before = foot_orientation(rig)
    rig.ob.pose.bones["foot"].rotation_quaternion = (0.8, 0.1, 0.3, 0.2)
    set_on(rig, use_rotation=True)
    assert matrix_difference(foot_orientation(rig), before) < EXACT


@pytest.mark.parametrize("seed", range(200, 240))
def test_where_the_target_turns_the_foot_turns_along(seed):
    rig = random_footed(seed)
    follow(rig)
    axes, before = target_in_armature(rig), foot_orientation(rig)
    if not is_rigid(axes):
        # Seen from an unevenly scaled armature a turned target is sheared.
        return
    for _ in range(5):
        turn_target(rig, random_rotation(rig.random))
        rig.place_target(reachable_point(rig))
        now = target_in_armature(rig)
        if is_rigid(now):
            assert matrix_difference(foot_orientation(rig), now @ axes.transposed() @ before) < exact(rig)
        assert rig.missed() < EXACT


@pytest.mark.parametrize("place", ["scaled", "mirrored", "parented", "on a turned and scaled parent"])
def test_targets_may_be_scaled_and_parented(place):
    rig, random = footed_leg(), Random(7)
    target = rig.target.ob
    if place in ("scaled", "mirrored"):
        target.scale = (0.5, 1.5, 3.0) if place == "scaled" else (-1.0, 1.0, 1.0)
    else:
        target.parent = new_empty("parent", (0.3, 0.2, 0.1))
        target.parent.rotation_euler = (0.4, -0.3, 1.0)
        if "scaled" in place:
            target.parent.scale = (2.0, 2.0, 2.0)
    update()
    rig.target.place((0.1, -0.2, 0.4))
    follow(rig)
    axes, before = target_in_armature(rig), foot_orientation(rig)
    for _ in range(5):
        turn_target(rig, random_rotation(random))
        expected = target_in_armature(rig) @ axes.transposed() @ before
        assert matrix_difference(foot_orientation(rig), expected) < EXACT
    if target.parent:
        target.parent.rotation_euler = (1.0, 0.5, -0.4)
        update()
        expected = target_in_armature(rig) @ axes.transposed() @ before
        assert matrix_difference(foot_orientation(rig), expected) < EXACT


@pytest.mark.parametrize("seed", range(420, 435))
def test_influence_blends_the_foot_along_the_shortest_way_and_never_drifts(seed):
    rig = random_footed(seed)
    fk = local_rotation(foot_of(rig))
    follow(rig)
    turn_target(rig, random_rotation(rig.random))
    set_on(rig, influence=0.3)
    first = pose_values(rig.ob)
    # Under the blended shin, the foot that follows would stand otherwise than under the solved one.
    tip_pose, foot = pose_matrix(rig, rig.tip.name), foot_of(rig)
    for _ in range(10):
        rig.ob.update_tag()
        update()
    assert pose_values(rig.ob) == first
    bpy.context.scene.frame_set(5)
    assert pose_values(rig.ob) == first
    set_on(rig, influence=1.0)
    wanted = pose_matrix(rig, foot.name)
    full = foot.bone.convert_local_to_pose(
        wanted,
        foot.bone.matrix_local,
        parent_matrix=tip_pose,
        parent_matrix_local=foot.parent.bone.matrix_local,
        invert=True,
    )
    end = orientation(full).to_quaternion()
    expected = fk.slerp(end if fk.dot(end) > 0.0 else -end, 0.3)
    set_on(rig, influence=0.3)
    if abs(fk.dot(end)) > 0.01 and min(*rig.tip.scale, *foot.scale) > 0.0:
        shown = evaluated_copy(rig.ob).pose.bones[foot.name]
        assert matrix_difference(local_rotation(shown).to_matrix(), expected.to_matrix()) < 1e-4


def leg_with_a_chain_on_its_foot() -> tuple[Rig, Rig]:
    rig = footed_leg()
    specs = [
        BoneSpec("antler", (0.0, -0.1, 0.2), (0.2, -0.4, 0.5), "foot"),
        BoneSpec("antler tip", (0.2, -0.4, 0.5), (0.0, -0.4, 0.9), "antler", connect=True),
    ]
    bpy.context.view_layer.objects.active = rig.ob
    bpy.ops.object.mode_set(mode="EDIT")
    for spec in specs:
        bone = rig.ob.data.edit_bones.new(spec.name)
        bone.head, bone.tail, bone.use_connect = spec.head, spec.tail, spec.connect
        bone.parent = rig.ob.data.edit_bones[spec.parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    second = Rig(rig.ob, ["antler", "antler tip"], Control(new_empty("goal", (0.3, -0.5, 0.8))))
    return rig, second


def test_a_foot_of_another_chain_is_refused_by_name():
    rig, _ = leg_with_a_chain_on_its_foot()
    antler = rig.ob.pose.bones["antler"]
    make_chain(antler, Control(new_empty("goal", (0.3, -0.5, 0.8))), chain_count=2)
    follow(rig)
    problems = problems_of(rig.ob, ["antler", "shin"], bpy.context.evaluated_depsgraph_get())
    (text,) = map(str, problems.values())
    assert "'foot'" in text and "belongs to the chain of" in text
    set_on(rig, use_rotation=False)
    assert not problems_of(rig.ob, ["antler", "shin"], bpy.context.evaluated_depsgraph_get())


# Files, undo, frames


def test_a_switch_that_is_keyed_off_last_keeps_its_orientation_at_the_earlier_frames():
    rig = footed_leg()
    rig.target.ob.rotation_euler = (0.3, 0.2, 0.5)
    rig.enable()
    kept = foot_orientation(rig)
    for frame, on in ((1, True), (5, False)):
        rig.tip.analytic_ik_use_rotation = on
        rig.tip.keyframe_insert("analytic_ik_use_rotation", frame=frame)
    bpy.context.scene.frame_set(1)
    assert matrix_difference(foot_orientation(rig), kept) < EXACT


# Rolls: the expected poses in double precision, from nothing but the rest pose of the leg above


def about_x(angle: float, point: tuple[float, float, float]) -> np.ndarray:
    """The turn about the X axis through a point."""
    c, s = cos(angle), sin(angle)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    whole, pivot = np.eye(4), np.array(point)
    whole[:3, :3], whole[:3, 3] = turn, pivot - turn @ pivot
    return whole


def rolled(roll: float, toe_angle: float, heel: tuple, ball: tuple, tip: tuple) -> tuple[np.ndarray, np.ndarray]:
    """How a foot at rest, and its toe, are moved by a roll."""
    if roll < 0.0:
        both = about_x(roll, heel)
        return both, both
    toe = about_x(max(roll - toe_angle, 0.0), tip)
    return toe @ about_x(min(roll, toe_angle), ball), toe


def assert_rolls(rig: Rig, roll: float, toe_angle: float, heel: tuple = HEEL, ball: tuple = BALL, tip: tuple = TIP):
    names = [name for name in ("foot", "toe") if name in rig.ob.pose.bones]
    set_on(rig, foot_roll=0.0, toe_angle=toe_angle)
    start = {name: np.array(pose_matrix(rig, name), float) for name in names}
    rest = np.array(rig.ob.data.bones["foot"].matrix_local, float)
    placed = start["foot"] @ np.linalg.inv(rest)
    set_on(rig, foot_roll=roll)
    for name, moved in zip(names, rolled(roll, toe_angle, heel, ball, tip), strict=False):
        expected = placed @ moved @ np.linalg.inv(placed) @ start[name]
        assert np.abs(np.array(pose_matrix(rig, name), float) - expected).max() < 2 * EXACT, (name, roll)
    ankle = placed @ rolled(roll, toe_angle, heel, ball, tip)[0] @ np.array((*ANKLE, 1.0))
    assert np.abs(np.array(rig.joints()[-1]) - ankle[:3]).max() < 2 * EXACT
    if roll > 0.0:
        up = placed[:3, :3] @ (0.0, 0.0, 1.0)
        assert (ankle - placed @ np.array((*ANKLE, 1.0)))[:3] @ up > 0.0


ROLLS = (-1.0, -0.3, -1e-3, 1e-3, 0.2, 0.5, pi / 4.0, 0.9, 1.4)


def standing_leg(seed: int, **made: bool) -> Rig:
    """A leg that follows a target of any orientation, in a world of any kind."""
    random = Random(seed)
    rig = footed_leg(**made)
    if seed % 2:
        rig.ob.location, rig.ob.rotation_euler = (0.5, 1.0, -0.3), (0.4, 0.7, -1.0)
        rig.ob.scale = (1.5, 1.5, 1.5) if seed % 3 else (-1.0, 1.0, 1.0)
    update()
    follow(rig)
    rig.place_target(Vector((0.1, -0.3, 0.9)))
    if seed > 1:
        turn_target(rig, random_rotation(random))
    return rig


@pytest.mark.some(6)
@pytest.mark.parametrize("toe_angle", [pi / 4.0, 0.3, 0.0])
@pytest.mark.parametrize("seed", range(7))
def test_a_foot_rolls_over_ball_toe_and_heel_whatever_way_it_is_turned(seed, toe_angle):
    rig = standing_leg(seed)
    for roll in ROLLS:
        assert_rolls(rig, roll, toe_angle)
    set_on(rig, foot_roll=0.0)
    assert pose_values(rig.ob)["toe"] == (1.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("seed", range(4))
def test_a_heel_bone_says_where_the_heel_is(seed):
    rig = standing_leg(seed, heel=True)
    for roll in ROLLS:
        assert_rolls(rig, roll, 0.6, heel=(0.0, 0.1, 0.02))


@pytest.mark.parametrize("seed", range(4))
def test_without_a_toe_it_rolls_over_its_tail(seed):
    rig = standing_leg(seed, toe=False)
    up = np.array((0.0, -0.3, 0.9)) / np.hypot(0.3, 0.9)
    along = np.array(BALL) - np.array(ANKLE)
    forward = along - up * (along @ up)
    forward /= np.linalg.norm(forward)
    heel = np.array(BALL) - forward * (along @ forward)
    for roll in ROLLS:
        assert_rolls(rig, roll, 0.6, heel=tuple(heel), tip=BALL)


@pytest.mark.parametrize("seed", range(2))
def test_a_heel_bone_that_begins_at_the_ball_is_no_toe(seed):
    rig = standing_leg(seed, toe=False)
    with editing(rig.ob) as edit_bones:
        heel = edit_bones.new("heel")
        heel.head, heel.tail, heel.parent = BALL, (0.0, 0.1, 0.02), edit_bones["foot"]
    for roll in (-0.4, 0.4):
        assert_rolls(rig, roll, 0.6, heel=(0.0, -0.1, 0.035), tip=BALL)


@pytest.mark.parametrize("seed", range(6))
def test_a_toe_that_is_bent_keeps_its_orientation_over_the_ball(seed):
    rig = footed_leg()
    set_rotation(rig.ob.pose.bones["toe"], random_rotation(Random(seed), 0.8))
    fk = pose_values(rig.ob)["toe"]
    follow(rig)
    before = pose_matrix(rig, "toe")
    for roll in (0.1, 0.4, 0.7):
        set_on(rig, foot_roll=roll)
        assert matrix_difference(pose_matrix(rig, "toe"), before) < EXACT
    set_on(rig, foot_roll=0.0)
    assert pose_values(rig.ob)["toe"] == fk


def test_the_tip_of_a_toe_that_is_bent_stays_beyond_the_toe_angle():
    rig = footed_leg()
    set_rotation(rig.ob.pose.bones["toe"], Quaternion((1.0, 0.0, 0.0), 0.5))
    follow(rig, toe_angle=0.3)
    tip = evaluated_copy(rig.ob).pose.bones["toe"].tail.copy()
    set_on(rig, foot_roll=0.9)
    assert (evaluated_copy(rig.ob).pose.bones["toe"].tail - tip).length < EXACT


def test_the_roll_sets_in_smoothly_where_the_toe_inherits_no_rotation():
    rig = footed_leg()
    rig.ob.data.bones["toe"].use_inherit_rotation = False
    follow(rig)
    turn_target(rig, Quaternion((1.0, 0.3, 0.1), 0.5))
    before = pose_matrix(rig, "toe")
    set_on(rig, foot_roll=1e-4)
    assert matrix_difference(pose_matrix(rig, "toe"), before) < 1e-3


def test_a_roll_without_following_does_nothing():
    rig = footed_leg()
    rig.enable()
    before = pose_values(rig.ob)
    set_on(rig, foot_roll=0.7)
    assert pose_values(rig.ob) == before


# The side to which a straight limb bends

AXES = {"X": (1, 0, 0), "NEGATIVE_X": (-1, 0, 0), "Z": (0, 0, 1), "NEGATIVE_Z": (0, 0, -1)}


def bend_axis(rig: Rig) -> Vector:
    """The axis about which the second bone is bent against the first, in the second one's space."""
    first, second = rig.matrices()[:2]
    normal = first.col[1].to_3d().cross(second.col[1].to_3d())
    # No scale of the bones is mirrored here.
    return (orientation(second).transposed() @ normal).normalized()


def straight_rig(seed: int) -> Rig:
    rig = random_rig(seed, straight="FK", with_pole=False)
    for bone in rig.ob.pose.bones:
        bone.scale = [abs(value) for value in bone.scale]
    update()
    return rig


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("seed", range(9300, 9306))
def test_a_straight_limb_bends_about_the_axis_that_is_stated(seed, axis):
    rig = straight_rig(seed)
    rig.enable(straight_axis=axis)
    near, far = reach(rig.lengths())
    root = rig.joints()[0]
    for _ in range(13):
        rig.place_target(root + random_unit(rig.random) * (near + (far - near) * rig.random.uniform(0.05, 0.95)))
        assert rig.missed() < EXACT
        assert bend_axis(rig).dot(AXES[axis]) > 0.999


def test_a_stated_side_wins_over_that_of_the_free_axis():
    rig = leg(knee=0.0)
    rig.tip.lock_ik_x = rig.tip.lock_ik_y = True
    rig.enable(straight_axis="NEGATIVE_Z")
    rig.place_target(Vector((0.2, -0.3, 0.5)))
    assert bend_axis(rig).dot((0, 0, -1)) > 0.999
    assert rig.missed() < EXACT


def test_a_limb_that_is_bent_tells_more_than_what_is_stated():
    rig = leg(knee=0.0)
    rig.enable(straight_axis="NEGATIVE_X")
    rig.ob.pose.bones["shin"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), radians(20.0))
    rig.place_target(Vector((0.2, -0.3, 0.5)))
    assert bend_axis(rig).dot((1, 0, 0)) > 0.999


@pytest.mark.parametrize(("name", "found"), [("toe", True), ("Thumb1", True), ("heel", False)])
def test_toes_begin_at_the_foots_child_wherever_its_tail_is(name, found):
    rig = footed_leg()
    foot = foot_of(rig)
    own, joint = foot.name, toe_joint(foot).copy()
    with editing(rig.ob) as bones:
        for child in bones[own].children:
            child.use_connect, child.name = False, name
        bones[own].tail = bones[own].head + STRAY
    foot = rig.ob.pose.bones[own]
    assert (toe_joint(foot) - (joint if found else foot.bone.tail_local)).length < EXACT


@pytest.mark.parametrize("has_toe", [True, False])
def test_a_control_below_a_foot_is_no_toe_of_it(has_toe):
    rig = footed_leg()
    own = foot_of(rig).name
    with editing(rig.ob) as bones:
        for child in list(bones[own].children):
            child.use_connect, child.name = False, "FFB"
            if not has_toe:
                bones.remove(child)
        bones[own].tail = bones[own].head + STRAY
    joint = toe_joint(rig.ob.pose.bones[own]).copy()
    with editing(rig.ob) as bones:
        control = bones.new("control")
        control.head, control.tail = bones[own].head - STRAY, bones[own].head - 2.0 * STRAY
        control.parent, control.use_deform = bones[own], False
    assert (toe_joint(rig.ob.pose.bones[own]) - joint).length < EXACT
