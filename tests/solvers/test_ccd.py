"""Cyclic coordinate descent: slow but sure well inside the reach, and never stuck at the start."""

from dataclasses import replace
from math import dist, hypot

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ik_addon.solvers import Chain, Goal, Outcome, solve

from .strategies import (
    AXES,
    ORIGIN,
    Case,
    Z,
    across,
    calm_cases,
    chained,
    dot,
    minus,
    plus,
    reals,
    single,
    times,
    unit,
    units,
)


@settings(max_examples=25)
@given(case=calm_cases(st.integers(2, 6)))
def test_ccd_converges_on_targets_well_inside_the_reach(case):
    solution = case.solved("CCD")
    assert solution.outcome is Outcome.REACHED
    assert solution.residual <= 1e-4 * case.length


@settings(max_examples=25)
@given(
    count=st.integers(2, 6),
    toward=st.sampled_from(AXES) | units,
    part=reals(0.3, 0.9),
    folded=st.booleans(),
)
def test_a_chain_in_line_with_a_nearer_target_starts_to_move(count, toward, part, folded):
    signs = [-1.0 if folded and k % 2 else 1.0 for k in range(count)]
    joints = chained(ORIGIN, [1.0] * count, [times(toward, sign) for sign in signs])
    case = Case(tuple(single(joint) for joint in joints), single(times(toward, part * count)))
    assert case.solved("CCD").residual <= 1e-3 * count


@pytest.mark.parametrize("pole", AXES[:2] + AXES[3:5])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_straight_chain_curls_to_the_side_of_the_pole(count, pole):
    joints = chained(ORIGIN, [1.0] * count, [Z] * count)
    solution = solve(Chain(joints), Goal((0.0, 0.0, 0.7 * count), pole), "CCD")
    for joint in solution.joints[1:-1]:
        aside = across(joint, Z)
        assert dot(aside, pole) > 0.0
        assert hypot(*across(aside, pole)) <= 1e-4


@settings(max_examples=15)
@given(case=calm_cases(st.integers(2, 4)), part=reals(1.01, 10.0))
def test_a_target_that_is_too_far_needs_no_sweep(case, part):
    toward = unit(minus(case.target, case.root))
    case = replace(case, target=single(plus(case.root, times(toward, part * case.length))))
    solution = case.solved("CCD")
    assert solution.outcome is Outcome.TOO_FAR
    assert all(dist(direction, toward) <= 1e-5 for direction in solution.directions)
