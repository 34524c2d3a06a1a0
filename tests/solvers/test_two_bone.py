"""The four two-bone forms: against 60 digits and each other, and in every corner."""

from dataclasses import replace
from decimal import Decimal, localcontext
from math import dist, hypot, isfinite, sqrt

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ik_addon.solvers import TWO_BONE_SOLVERS, Chain, Goal, Outcome, link_rotations, solve

from .strategies import (
    EPSILON,
    ORIGIN,
    Case,
    Y,
    about,
    across,
    along_and_side,
    calm_cases,
    cases,
    chained,
    cross,
    dot,
    farthest_apart,
    minus,
    plus,
    powers_of_ten,
    reals,
    single,
    some_perpendicular,
    times,
    turned,
    unit,
    units,
)

every_form = pytest.mark.parametrize("form", TWO_BONE_SOLVERS)
few = settings(max_examples=15)


@st.composite
def legs(draw):
    """Two links whose lengths differ up to a thousandfold, and a target in reach: often barely so."""
    scale = draw(powers_of_ten(-6, 6))
    lengths = (scale, scale * draw(st.just(1.0) | powers_of_ten(-3, 3)))
    root = draw(st.just(ORIGIN) | units.map(lambda u: times(u, scale)))
    joints = tuple(single(point) for point in chained(root, lengths, [draw(units), draw(units)]))
    case = Case(joints, joints[-1])
    near, far = case.reach
    part = draw(reals(0.0, 1.0) | powers_of_ten(-6, 0) | powers_of_ten(-6, 0).map(lambda rest: 1.0 - rest))
    toward = draw(units)
    offset = times(toward, near + (far - near) * part)
    off_line = times(some_perpendicular(toward), draw(powers_of_ten(-2, 1)) * scale)
    pole = plus(root, plus(turned(about(toward, draw(reals(-3.0, 3.0))), off_line), offset))
    return Case(joints, single(plus(root, offset)), single(pole))


def in_digits(function):
    """Run in 60 decimal digits: nothing that the tests look at cancels there."""

    def run(*args):
        with localcontext() as context:
            context.prec = 60
            return function(*args)

    return run


@in_digits
def exact_knee(case, lengthened=0.0):
    """Offset of the knee from the root by x = (d^2 + r1^2 - r2^2) / 2d, with d `lengthened`."""
    root, knee, end, target, pole = (
        [Decimal(value) for value in point] for point in (*case.joints, case.target, case.pole)
    )

    def size(vector):
        return dot(vector, vector).sqrt()

    first, second = size(minus(knee, root)), size(minus(end, knee))
    offset = minus(target, root)
    distance = size(offset)
    along = times(offset, 1 / distance)
    side = across(minus(pole, root), along)
    base = min(max(distance + Decimal(lengthened), abs(first - second)), first + second)
    x = (base * base + first * first - second * second) / (2 * base)
    y = max(Decimal(0), first * first - x * x).sqrt()
    return [float(a + b) for a, b in zip(times(along, x), times(side, y / size(side)), strict=True)]


def knee_tolerance(case):
    """How far one rounding of the input can move the knee."""
    roundings = [EPSILON * case.length, -EPSILON * case.length]
    knee = exact_knee(case)
    to_pole = minus(case.pole, case.root)
    blur_of_pole = EPSILON * hypot(*to_pole) / hypot(*across(to_pole, along_and_side(case)[0]))
    by_distance = max(dist(knee, exact_knee(case, rounding)) for rounding in roundings)
    return by_distance + case.lengths[0] * (blur_of_pole + EPSILON) + case.rounding


@every_form
@settings(max_examples=40)
@given(case=legs())
def test_the_knee_is_where_sixty_digits_put_it(form, case):
    assume(case.distance > EPSILON * 4 * case.length)
    knee = minus(case.solved(form).joints[1], case.root)
    assert dist(knee, exact_knee(case)) <= knee_tolerance(case)


@every_form
@few
@given(case=cases(st.just(2), decades=6))
def test_the_four_forms_agree_on_the_end_in_every_corner(form, case):
    ours, theirs = case.solved(form), case.solved("VECTOR")
    assert ours.outcome is theirs.outcome
    # A target on the root of unequal links leaves the direction free, but all forms must choose the same.
    assert dist(ours.joints[-1], theirs.joints[-1]) <= 2 * case.rounding


@every_form
@settings(max_examples=25)
@given(case=cases(st.just(2), decades=6), to_pole=units)
def test_the_knee_lies_in_the_half_plane_of_the_pole(form, case, to_pole):
    assume(case.distance > 1e-3 * case.length > 0.0)
    case = replace(case, pole=single(plus(case.root, times(to_pole, case.length))))
    to_pole = minus(case.pole, case.root)
    assume(hypot(*across(to_pole, unit(minus(case.target, case.root)))) > 1e-3 * hypot(*to_pole))
    along, side = along_and_side(case)
    knee = minus(case.solved(form, swivel=0.0, flip=False, softness=0.0).joints[1], case.root)
    slack = 1e3 * EPSILON * case.length + 2 * case.rounding
    assert dot(knee, side) >= -slack
    assert abs(dot(knee, cross(along, side))) <= slack


@settings(max_examples=200)
@given(case=cases(st.just(2), decades=6) | legs() | calm_cases(st.just(2)))
def test_the_common_case_in_one_piece_is_the_vector_form_number_for_number(case):
    at_once, in_steps = case.solved("AUTO"), case.solved("VECTOR")
    assert (at_once.outcome, at_once.turn, at_once.normal) == (in_steps.outcome, in_steps.turn, in_steps.normal)
    assert at_once.joints[:2] == in_steps.joints[:2]
    assert at_once.directions == in_steps.directions
    assert link_rotations(case.chain, at_once) == link_rotations(case.chain, in_steps)
    # There the end is the target itself.
    assert dist(at_once.joints[2], in_steps.joints[2]) <= case.rounding
    assert at_once.residual <= in_steps.residual


@every_form
@few
@given(case=calm_cases(st.just(2), with_pole=False), part=st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 4.0]))
def test_a_pole_in_line_with_the_target_counts_as_none(form, case, part):
    at_origin = Case(tuple(single(minus(joint, case.root)) for joint in case.joints), case.target)
    in_line = at_origin.solved(form, pole=times(case.target, part))
    assert farthest_apart(in_line.joints, at_origin.solved(form).joints) <= at_origin.rounding


BENT = ((0.0, 0.0, 3.0), (0.0, -0.5, 2.0), (0.0, 0.0, 1.0))
FRONT = (0.0, -9.0, 3.0)


def limb(first, second):
    """A limb of two given lengths that hangs straight from the origin."""
    return Chain([ORIGIN, (0.0, 0.0, -first), (0.0, 0.0, -first - second)], bend_normal=(1.0, 0.0, 0.0))


def ends(solution):
    return [tuple(round(value, 6) + 0.0 for value in joint) for joint in solution.joints[1:]]


@every_form
def test_equal_links_fold_onto_a_target_at_the_root_on_the_side_of_the_pole(form):
    solution = solve(Chain(BENT), Goal(BENT[0], pole=(0.0, 0.0, 9.0)), form)
    assert solution.outcome is Outcome.REACHED
    assert solution.residual <= 1e-6
    assert dist(solution.joints[1], (0.0, -sqrt(1.25), 3.0)) <= 1e-5
    sideways = solve(Chain(BENT), Goal(BENT[0], pole=(4.0, 0.0, 3.0)), form)
    assert dist(sideways.joints[1], (sqrt(1.25), 0.0, 3.0)) <= 1e-5


@every_form
@pytest.mark.parametrize("closeness", [1e-2, 1e-4, 1e-6])
def test_the_fold_onto_the_root_is_the_limit_of_targets_that_come_nearer(form, closeness):
    at_root = solve(Chain(BENT), Goal(BENT[0], pole=FRONT), form)
    near_root = solve(Chain(BENT), Goal((0.0, 0.0, 3.0 - closeness), pole=FRONT), form)
    assert farthest_apart(at_root.joints, near_root.joints) <= 2 * closeness


@every_form
@pytest.mark.parametrize("first, second", [(2.0, 1.0), (1.0, 2.0)])
def test_unequal_links_fold_on_their_line_when_the_target_is_at_the_root(form, first, second):
    solution = solve(limb(first, second), Goal(ORIGIN), form)
    assert solution.outcome is Outcome.TOO_NEAR
    assert solution.residual == pytest.approx(1.0)
    knee = -first if first > second else first
    assert ends(solution) == [(0.0, 0.0, knee), (0.0, 0.0, -1.0)]


@every_form
@pytest.mark.parametrize(
    "first, second, target, outcome, residual",
    [
        (1.0, 1.0, (0.0, 3.0, 0.0), Outcome.TOO_FAR, 1.0),
        (3.0, 1.0, (0.0, 1.0, 0.0), Outcome.TOO_NEAR, 1.0),
        (1.0, 3.0, (0.0, 1.0, 0.0), Outcome.TOO_NEAR, 1.0),
        (0.0, 1.0, (0.0, 1.0, 0.0), Outcome.REACHED, 0.0),
        (1.0, 0.0, (0.0, 1.0, 0.0), Outcome.REACHED, 0.0),
        (0.0, 1.0, (0.0, 3.0, 0.0), Outcome.TOO_FAR, 2.0),
        (1.0, 0.0, (0.0, 3.0, 0.0), Outcome.TOO_FAR, 2.0),
        (0.0, 1.0, (0.0, 0.25, 0.0), Outcome.TOO_NEAR, 0.75),
        (1.0, 0.0, (0.0, 0.25, 0.0), Outcome.TOO_NEAR, 0.75),
        (0.0, 1.0, ORIGIN, Outcome.TOO_NEAR, 1.0),
        (1.0, 0.0, ORIGIN, Outcome.TOO_NEAR, 1.0),
        (0.0, 0.0, (0.0, 1.0, 0.0), Outcome.TOO_FAR, 1.0),
        (0.0, 0.0, ORIGIN, Outcome.REACHED, 0.0),
    ],
)
def test_where_the_sources_fail_the_end_is_as_near_as_it_can_be(form, first, second, target, outcome, residual):
    solution = solve(limb(first, second), Goal(target), form)
    assert solution.outcome is outcome
    assert solution.residual == pytest.approx(residual, abs=1e-6)
    end = solution.joints[-1]
    assert all(isfinite(value) for value in end)
    if any(target) and first + second:
        assert dist(unit(end), Y) <= 1e-6
