"""What holds for every solver, every chain and every goal."""

from dataclasses import replace
from itertools import accumulate
from math import dist, hypot, isfinite

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ik_addon.solvers import SOLVERS, Outcome

from .strategies import (
    CLOSED_FORMS,
    EPSILON,
    calm_cases,
    cases,
    dot,
    farthest_apart,
    link_counts,
    minus,
    plus,
    reals,
    rotations,
    single,
    times,
    turned,
    unit,
    units,
)

every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_closed_form = pytest.mark.parametrize("solver", CLOSED_FORMS)
few = settings(max_examples=15)


def draw_case(data, solver, sort=cases):
    """A case for a solver. CCD, which may take 500 sweeps, gets short chains."""
    return data.draw(sort(link_counts(solver, most=3 if solver == "CCD" else 8)))


def numbers_of(solution):
    for vector in (*solution.joints, *solution.directions, solution.turn, solution.normal):
        yield from vector
    yield solution.residual


@every_solver
@few
@given(st.data())
def test_the_root_stays_and_the_links_keep_their_lengths(solver, data):
    case = draw_case(data, solver)
    solution = case.solved(solver)
    assert tuple(solution.joints[0]) == case.root
    for a, b, length in zip(solution.joints, solution.joints[1:], case.lengths, strict=False):
        assert abs(dist(a, b) - length) <= case.rounding


@every_solver
@few
@given(st.data())
def test_a_solution_is_made_of_finite_numbers_and_unit_vectors(solver, data):
    solution = draw_case(data, solver).solved(solver)
    assert all(isfinite(number) for number in numbers_of(solution))
    for vector in (*solution.directions, solution.turn, solution.normal):
        assert abs(hypot(*vector) - 1.0) <= 4 * EPSILON


@every_solver
@few
@given(st.data())
def test_the_residual_is_the_distance_from_the_end_to_the_target(solver, data):
    case = draw_case(data, solver)
    solution = case.solved(solver)
    assert solution.residual == pytest.approx(dist(solution.joints[-1], case.target), rel=1e-6)


@every_solver
@few
@given(st.data())
def test_the_outcome_tells_how_the_target_lies_to_the_reach(solver, data):
    case = draw_case(data, solver)
    outcome = case.solved(solver).outcome
    near, far = case.reach
    slack = 2 * case.rounding
    if case.distance > far + slack:
        assert outcome is Outcome.TOO_FAR
    elif case.distance < near - slack:
        assert outcome is Outcome.TOO_NEAR
    elif near + slack < case.distance < far - slack or case.distance == 0.0 == near:
        assert outcome is Outcome.REACHED


@every_closed_form
@settings(max_examples=60)
@given(st.data())
def test_closed_forms_end_as_near_to_the_target_as_any_pose(solver, data):
    case = draw_case(data, solver)
    assert abs(case.solved(solver).residual - case.shortfall) <= case.rounding


@every_solver
@few
@given(data=st.data(), times_reach=reals(1.001, 100.0), toward=units)
def test_a_chain_points_straight_at_a_target_that_is_too_far(solver, data, times_reach, toward):
    case = draw_case(data, solver)
    case = replace(case, target=single(plus(case.root, times(toward, times_reach * case.length))))
    solution = case.solved(solver)
    for joint, length in zip(solution.joints[1:], accumulate(case.lengths), strict=True):
        straight = plus(case.root, times(toward, length))
        assert dist(joint, straight) <= 2 * case.rounding


@every_solver
@few
@given(data=st.data(), disturbances=st.lists(st.sampled_from(list(SOLVERS)), max_size=3))
def test_the_same_input_gives_the_same_solution_whatever_was_solved_in_between(solver, data, disturbances):
    case = draw_case(data, solver)
    first = list(numbers_of(case.solved(solver)))
    for other in disturbances:
        draw_case(data, other).solved(other)
    assert list(numbers_of(case.solved(solver))) == first


@every_solver
@few
@given(data=st.data(), exponent=st.integers(-12, 12))
def test_a_case_twice_as_large_has_exactly_a_solution_twice_as_large(solver, data, exponent):
    case = draw_case(data, solver)
    factor = 2.0**exponent
    # A direction that is shorter than SMALL is none, at any scale.
    assume(case.distance == 0.0 or case.distance * min(1.0, factor) > 1e-12)
    small, large = case.solved(solver), case.scaled(factor).solved(solver)
    assert [times(joint, factor) for joint in small.joints] == [tuple(joint) for joint in large.joints]
    assert small.outcome is large.outcome
    assert small.turn == large.turn


@every_solver
@few
@given(data=st.data(), rotation=rotations, offset=units, with_pole=st.booleans())
def test_a_case_moved_rigidly_has_its_solution_moved_rigidly(solver, data, rotation, offset, with_pole):
    case = draw_case(data, solver, lambda counts: calm_cases(counts, with_pole))
    here, there = case.solved(solver), case.moved(rotation, offset).solved(solver)
    expected = [plus(turned(rotation, joint), offset) for joint in here.joints]
    # CCD stops within a tolerance, and on its way there may take a sweep more or less.
    loose = 1e-2 if solver == "CCD" else 2e-5
    assert farthest_apart(expected, there.joints) <= loose * case.length
    assert dist(turned(rotation, here.normal), there.normal) <= 1e-4


@every_solver
@few
@given(st.data())
def test_the_normal_of_the_bend_plane_is_across_the_line_to_the_target(solver, data):
    case = draw_case(data, solver)
    if case.distance > 4 * case.rounding:
        aim = unit(minus(case.target, case.root))
        assert abs(dot(case.solved(solver).normal, aim)) <= 8 * case.rounding / case.distance
