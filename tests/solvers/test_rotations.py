"""From joints to rotations: they give the solution's joints, keep the roll and add no twist."""

from dataclasses import replace
from math import dist, pi

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mathutils import Quaternion, Vector

from ik_addon.solvers import SOLVERS, TWO_BONE_SOLVERS, Chain, Goal, blend, link_rotations, solve
from ik_addon.solvers.vectors import swing

from .strategies import (
    CLOSED_FORMS,
    EPSILON,
    ORIGIN,
    Case,
    about,
    along_and_side,
    angle_of,
    calm_cases,
    cases,
    chained,
    cross,
    dot,
    farthest_apart,
    forward,
    link_counts,
    minus,
    plus,
    powers_of_ten,
    reals,
    rotations,
    single,
    some_perpendicular,
    times,
    turned,
    unit,
    units,
)

few = settings(max_examples=15)
signs = st.sampled_from([1.0, -1.0])


@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=40)
@given(st.data())
def test_the_rotations_of_the_links_give_the_joints_of_the_solution(solver, data):
    case = data.draw(cases(link_counts(solver, most=3 if solver == "CCD" else 8)))
    solution = case.solved(solver)
    assert farthest_apart(forward(case, link_rotations(case.chain, solution)), solution.joints) <= (2 * case.rounding)


@pytest.mark.parametrize("solver", CLOSED_FORMS)
@few
@given(data=st.data(), off=reals(0.2, 2.0), further=reals(-1.0, 1.0))
def test_a_target_on_the_own_end_and_a_pole_in_the_own_plane_give_the_pose_back(solver, data, off, further):
    case = data.draw(calm_cases(link_counts(solver, most=6)))
    line = unit(minus(case.joints[-1], case.root))
    knee = minus(case.joints[1], case.root)
    side = unit(minus(knee, times(line, dot(knee, line))))
    pole = single(plus(case.root, plus(times(side, off), times(line, further))))
    for with_pole in (pole, None):
        own = replace(case, target=case.joints[-1], pole=with_pole, least_motion=True)
        for rotation in link_rotations(own.chain, own.solved(solver)):
            assert angle_of(rotation) <= 1e-4


@pytest.mark.parametrize("solver", CLOSED_FORMS)
@few
@given(data=st.data(), toward=units, hinge=st.none() | units)
def test_a_straight_chain_on_its_own_end_stays_as_it_is(solver, data, toward, hinge):
    count = data.draw(link_counts(solver, most=5))
    joints = [single(joint) for joint in chained(ORIGIN, [1.0] * count, [toward] * count)]
    chain = Chain(joints, bend_normal=hinge)
    solution = solve(chain, Goal(joints[-1]), solver)
    for rotation in link_rotations(chain, solution):
        # At full extension a rounding of the distance bends by its square root.
        assert angle_of(rotation) <= 2.0 * EPSILON**0.5


@pytest.mark.parametrize("solver", TWO_BONE_SOLVERS)
@few
@given(data=st.data(), flip=st.booleans(), swivel=reals(-pi, pi))
def test_two_links_keep_their_roll_to_the_bend_plane(solver, data, flip, swivel):
    case = data.draw(calm_cases(st.just(2)))
    before = unit(cross(minus(case.joints[1], case.joints[0]), minus(case.joints[2], case.joints[1])))
    along, side = along_and_side(case)
    after = turned(about(along, swivel), cross(side, along))
    solution = case.solved(solver, flip=flip, swivel=swivel)
    assert dist(solution.normal, after) <= 1e-4
    for rotation in link_rotations(case.chain, solution):
        assert dist(turned(rotation, before), after) <= 1e-4


@pytest.mark.parametrize("solver", ["TRIANGULATION", "CCD"])
@few
@given(directions=st.lists(units, min_size=3, max_size=5), toward=units, part=reals(0.2, 0.9))
def test_longer_chains_swing_each_link_against_the_one_before_without_a_twist(solver, directions, toward, part):
    count = len(directions)
    joints = tuple(single(joint) for joint in chained(ORIGIN, [1.0] * count, directions))
    case = Case(joints, single(times(toward, part * count)))
    solution = case.solved(solver)
    before = solution.turn
    for link, rotation in zip(case.chain.directions, link_rotations(case.chain, solution), strict=True):
        swung = rotation @ before.inverted()
        # Within a thousandth of a half turn the axis is the bend's normal, and not quite across the link.
        assert abs(dot(tuple(swung)[1:], before @ link)) <= (1e-5 if abs(swung.w) > 1e-3 else 1e-3)
        before = rotation


@pytest.mark.parametrize("solver", SOLVERS)
@few
@given(st.data())
def test_without_a_pole_the_chain_is_aimed_by_the_shortest_turn(solver, data):
    case = data.draw(calm_cases(link_counts(solver, most=4), with_pole=False))
    line, aim = unit(minus(case.joints[-1], case.root)), unit(minus(case.target, case.root))
    turn = tuple(case.solved(solver).turn)
    assert dist(turned(turn, line), aim) <= 1e-5
    assert max(abs(dot(turn[1:], line)), abs(dot(turn[1:], aim))) <= 1e-5


# swing


@settings(max_examples=200)
@given(start=units, azimuth=reals(-pi, pi), angle=reals(0.0, pi) | powers_of_ten(-8, 0).map(lambda x: pi - x))
def test_swing_brings_start_to_end_by_the_shortest_way_at_every_angle(start, azimuth, angle):
    start = Vector(start).normalized()
    axis = turned(about(tuple(start), azimuth), some_perpendicular(start))
    end = Vector(turned(about(axis, angle), start)).normalized()
    rotation = swing(start, end, Vector(some_perpendicular(start)))
    assert dist(turned(rotation.normalized(), start), end) <= 1e-6
    assert angle_of(rotation) == pytest.approx(angle, abs=2e-3 if angle > 3.0 else 1e-5)


@few
@given(start=units, azimuth=reals(-pi, pi))
def test_swing_between_opposite_directions_turns_about_the_given_axis(start, azimuth):
    start = Vector(start).normalized()
    axis = Vector(turned(about(tuple(start), azimuth), some_perpendicular(start)))
    rotation = swing(start, -start, axis)
    assert abs(dot(tuple(rotation)[1:], axis)) >= 1.0 - 1e-5


# blend


@few
@given(one=rotations, other=rotations, sign=signs)
def test_blend_starts_at_fk_and_ends_at_ik(one, other, sign):
    fk, ik = Quaternion(one), Quaternion(times(other, sign))
    assert angle_of(blend(fk, ik, 0.0) @ fk.inverted()) <= 1e-5
    assert angle_of(blend(fk, ik, 1.0) @ ik.inverted()) <= 1e-5


@few
@given(one=rotations, axis=units, angle=reals(0.0, 3.0), sign=st.sampled_from([1.0, -1.0]), influence=reals(0, 1))
def test_blend_goes_the_shortest_way_at_an_even_speed(one, axis, angle, sign, influence):
    fk = Quaternion(one)
    ik = Quaternion(times(tuple(Quaternion(about(axis, angle)) @ fk), sign))
    assert angle_of(blend(fk, ik, influence) @ fk.inverted()) == pytest.approx(influence * angle, abs=1e-3)
    assert angle_of(ik @ blend(fk, ik, influence).inverted()) == pytest.approx((1.0 - influence) * angle, abs=1e-3)
