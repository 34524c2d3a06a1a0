"""The wishes of a goal that every solver shares: swivel, flip, hinge, softness."""

from dataclasses import replace
from math import dist, pi

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ik_addon.solvers import SOLVERS, Chain, Goal, Outcome, solve
from ik_addon.solvers.bending import is_straight, start_frame

from .strategies import (
    AXES,
    CLOSED_FORMS,
    EPSILON,
    ORIGIN,
    X,
    about,
    along_and_side,
    bulge,
    calm_cases,
    chained,
    cross,
    dot,
    farthest_apart,
    link_counts,
    minus,
    plus,
    reals,
    single,
    some_perpendicular,
    times,
    turned,
    unit,
    units,
)

every_closed_form = pytest.mark.parametrize("solver", CLOSED_FORMS)
every_solver = pytest.mark.parametrize("solver", SOLVERS)
few = settings(max_examples=12)


def calm_case(data, solver, with_pole=True):
    return data.draw(calm_cases(link_counts(solver, most=6), with_pole))


@few
@given(units, reals(0.05, 1.2), reals(0.0, 1.5), reals(0.3, 1.0))
def test_three_links_bend_to_the_side_of_their_first_joint(normal, first, second, length):
    """A leg with a knee and a hock: however far the hock bends the other way, and with it the most of the joints."""
    along = some_perpendicular(normal)
    lower = turned(about(normal, first), along)
    last = turned(about(normal, -second), lower)
    joints = [ORIGIN, along, plus(along, lower), plus(plus(along, lower), times(last, length))]
    frame = start_frame(Chain(joints))
    assert dist(frame.normal, normal) <= 1e-5 / first


@every_closed_form
@few
@given(data=st.data(), angle=reals(-2 * pi, 2 * pi), with_pole=st.booleans())
def test_swivel_turns_the_chain_about_the_line_to_the_target_by_its_angle(solver, data, angle, with_pole):
    case = calm_case(data, solver, with_pole)
    swivel = about(unit(minus(case.target, case.root)), angle)
    expected = [plus(case.root, turned(swivel, minus(joint, case.root))) for joint in case.solved(solver).joints]
    assert farthest_apart(expected, case.solved(solver, swivel=angle).joints) <= 2e-5 * case.length


@every_closed_form
@few
@given(st.data())
def test_flip_mirrors_the_chain_to_the_other_side_of_the_line(solver, data):
    case = calm_case(data, solver)
    _, side = along_and_side(case)
    expected = [
        minus(joint, times(side, 2.0 * dot(minus(joint, case.root), side))) for joint in case.solved(solver).joints
    ]
    assert farthest_apart(expected, case.solved(solver, flip=True).joints) <= 2e-5 * case.length


# The hinge


@every_solver
@few
@given(
    data=st.data(),
    toward=units,
    azimuth=reals(-pi, pi),
    noise=st.floats(0.0, 1e-4),
    part=reals(0.4, 0.9),
    tilt=reals(-0.5, 0.5),
)
def test_a_straight_chain_bends_about_its_hinge_by_the_right_hand_rule(
    solver, data, toward, azimuth, noise, part, tilt
):
    count = max(2, data.draw(link_counts(solver, most=4)))
    off = some_perpendicular(toward)
    hinge = turned(about(toward, azimuth), off)
    bent_wrong = [plus(toward, times(off, noise * (-1.0) ** k)) for k in range(count)]
    joints = chained(ORIGIN, [1.0] * count, bent_wrong)
    tilted = unit(plus(hinge, times(toward, tilt)))
    solution = solve(Chain(joints, bend_normal=tilted), Goal(times(toward, part * count)), solver)
    assert dist(solution.normal, hinge) <= 1e-3
    if solver != "CCD":
        # Positive bends turn the later links towards the line again: the joints bulge to line x hinge.
        assert dot(bulge(solution.joints, toward), cross(toward, hinge)) > -1e-3 * count
    if count == 2:
        assert dist(unit(cross(*solution.directions)), hinge) <= (1e-2 if solver == "CCD" else 1e-3)


@every_solver
@few
@given(data=st.data(), hinge=units)
def test_a_chain_that_bends_by_itself_ignores_its_hinge(solver, data, hinge):
    case = calm_case(data, solver, with_pole=False)
    assert not is_straight(case.chain)
    one, other = case.solved(solver, hinge=single(hinge)), case.solved(solver)
    assert (one.joints, one.directions, one.normal) == (other.joints, other.directions, other.normal)


@pytest.mark.parametrize("toward", AXES)
@pytest.mark.parametrize("hinge", [None, ORIGIN])
def test_a_straight_chain_without_a_hinge_bends_by_a_fixed_rule(toward, hinge):
    chain = Chain([ORIGIN, toward, times(toward, 2.0)], bend_normal=hinge)
    assert is_straight(chain)
    solution = solve(chain, Goal(toward))
    assert solution.residual <= 4 * EPSILON
    assert dist(solution.joints[1], times(toward, 0.5)) == pytest.approx(0.75**0.5, abs=1e-5)


@pytest.mark.parametrize("hinge", [X, AXES[3]])
def test_a_folded_chain_opens_about_its_hinge(hinge):
    folded = Chain([ORIGIN, (0.0, 0.0, -1.0), (0.0, 0.0, -0.25)], bend_normal=hinge)
    solution = solve(folded, Goal((0.0, 0.0, -1.25)))
    bend = cross(solution.directions[0], solution.directions[1])
    assert dist(unit(bend), hinge) <= 1e-5


# Softness


def stretched(case, solver, distance, softness):
    """How far the end is from the root when the target is at `distance`, and the solution."""
    toward = unit(minus(case.target, case.root))
    target = single(plus(case.root, times(toward, distance)))
    solution = replace(case, target=target, softness=softness).solved(solver)
    offset = minus(solution.joints[-1], case.root)
    assert dist(times(toward, dot(offset, toward)), offset) <= 4 * case.rounding
    return dot(offset, toward), solution


@every_closed_form
@few
@given(data=st.data(), softness=reals(0.05, 0.5), beyond=reals(0.0, 1.0))
def test_a_soft_chain_starts_to_lag_with_the_slope_it_had(solver, data, softness, beyond):
    case = calm_case(data, solver)
    span = softness * case.length
    distance = case.length - span + beyond * span
    end, solution = stretched(case, solver, distance, softness)
    # Slope 1 and a bounded curvature: the lag is of second order, and not less than a parabola's third.
    lag = distance - end
    assert span * beyond**2 / 3.0 - 4 * case.rounding <= lag <= span * beyond**2 + 4 * case.rounding
    assert solution.residual == pytest.approx(lag, abs=4 * case.rounding)
    assert solution.outcome is Outcome.REACHED
