"""Many pairs of links at once: what the solver of one gives, in every corner, and laws that need no other solver."""

from dataclasses import replace
from itertools import permutations, product
from math import hypot, inf, nan, pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mathutils import Quaternion

from ik_addon.solvers import Chain, ChainError, Goal, Outcome, link_rotations
from ik_addon.solvers.pairs import conjugate, multiply, solve_pairs

from .strategies import (
    AXES,
    EPSILON,
    ORIGIN,
    Case,
    X,
    Z,
    about,
    across,
    along_and_side,
    calm_cases,
    cases,
    cross,
    dist,
    dot,
    farthest_apart,
    forward,
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

pytestmark = pytest.mark.filterwarnings("error")

few = settings(max_examples=15)
twos = st.just(2)
LEG = ((0.0, 0.0, 2.0), (0.0, -0.1, 1.0), (0.0, 0.0, 0.0))
OUTCOMES = {0: Outcome.REACHED, 1: Outcome.TOO_FAR, -1: Outcome.TOO_NEAR}


def batch(rows):
    """The pairs of rows of cases, each row one chain and its wishes with other targets and poles."""
    points = [[(case.target, case.pole or ORIGIN) for case in row] for row in rows]
    points = np.array(points).reshape(len(rows), -1, 2, 3)
    chains, goals = [row[0].chain for row in rows], [row[0].goal for row in rows]
    return solve_pairs(chains, goals, points[:, :, 0], points[:, :, 1])


def alone(case):
    """The rotations of one case, as a batch of one."""
    return batch([[case]]).turns[0, 0]


def crossed(some):
    """Every chain, with its own wishes, with every target and pole."""
    poles = [case.pole or single(plus(case.target, X)) for case in some]
    return [
        [replace(one, target=other.target, pole=one.pole and pole) for other, pole in zip(some, poles, strict=True)]
        for one in some
    ]


def between(one, other):
    """The angle in radians from one rotation to the other."""
    one, other = np.array(one, float), np.array(other, float)
    one, other = one / np.linalg.norm(one), other / np.linalg.norm(other)
    return 4.0 * np.arcsin(min(1.0, min(np.linalg.norm(one - other), np.linalg.norm(one + other)) / 2.0))


def blur(case):
    """How far a rounding of its target or its pole turns the links of a case."""
    shifts = [times(axis, case.rounding) for axis in AXES]
    row = [case, *(replace(case, target=plus(case.target, shift)) for shift in shifts)]
    if case.pole:
        size = EPSILON * (hypot(*case.pole) + hypot(*case.root))
        row += [replace(case, pole=plus(case.pole, times(axis, size))) for axis in AXES]
    turns = batch([row]).turns[0]
    return max(between(a, b) for other in turns for a, b in zip(turns[0], other, strict=True))


def assert_as_one_by_one(rows, pairs):
    for k, row in enumerate(rows):
        for j, case in enumerate(row):
            solution = case.solved("AUTO")
            apart = farthest_apart(forward(case, pairs.turns[k, j])[2:], solution.joints[2:])
            assert apart <= 2 * case.rounding
            slack = 1e-5 * case.reach[1]
            if all(
                abs(case.distance - limit - side * slack) > case.rounding for limit in case.reach for side in (-1, 1)
            ):
                assert OUTCOMES[int(pairs.outcomes[k, j])] is solution.outcome
            for ours, theirs in zip(pairs.turns[k, j], link_rotations(case.chain, solution), strict=True):
                turn = between(ours, theirs)
                assert turn <= 4 * EPSILON or turn <= 4 * EPSILON + 2 * blur(case)


# As one by one


@settings(max_examples=200)
@given(st.lists(cases(twos, decades=6), min_size=1, max_size=3))
def test_in_every_corner_it_is_what_the_solver_of_one_chain_gives(some):
    rows = crossed(some)
    assert_as_one_by_one(rows, batch(rows))


@settings(max_examples=60)
@given(data=st.data(), with_pole=st.booleans(), swivel=reals(-pi, pi), flip=st.booleans(), softness=reals(0.0, 0.5))
def test_away_from_corners_it_is_so_to_the_last_digits(data, with_pole, swivel, flip, softness):
    case = data.draw(calm_cases(twos, with_pole))
    case = replace(case, swivel=swivel, flip=flip, softness=softness)
    theirs = link_rotations(case.chain, case.solved("AUTO"))
    assert max(map(between, alone(case), theirs)) <= 4 * EPSILON


@settings(max_examples=40)
@given(
    lengths=st.sampled_from([(1.0, 1.0), (1.0, 0.4), (0.3, 1.0)]),
    sides=st.tuples(units, units),
    hinge=st.none() | units.map(single),
    part=st.sampled_from([0.0, 1e-9, 1e-3, 0.3, 0.9, 0.99, 1.0, 1.01, 3.0, 1e6]) | reals(0.0, 2.0),
    pole=st.none() | st.tuples(powers_of_ten(-8, 3), reals(-2.0, 2.0)),
    wishes=st.tuples(st.just(0.0) | reals(-pi, pi), st.booleans(), st.just(0.0) | reals(0.0, 0.5)),
    straight=st.booleans(),
)
def test_so_too_far_too_near_folded_straight_and_with_poles_near_the_line(
    lengths, sides, hinge, part, pole, wishes, straight
):
    first, toward = sides
    second = first if straight else turned(about(some_perpendicular(first), 1.0), first)
    knee = times(first, lengths[0])
    case = Case((ORIGIN, single(knee), single(plus(knee, times(second, lengths[1])))), ORIGIN, None, *wishes)
    case = replace(case, target=single(times(toward, part * case.length)), hinge=hinge)
    if pole:
        off, further = pole
        case = replace(case, pole=single(plus(times(toward, further), times(some_perpendicular(toward), off))))
    assert_as_one_by_one([[case]], batch([[case]]))


@few
@given(st.lists(cases(twos), min_size=2, max_size=4))
def test_an_entry_does_not_depend_on_its_neighbours(some):
    rows = crossed(some)
    together = batch(rows)
    for k, row in enumerate(rows):
        for j, case in enumerate(row):
            by_itself = batch([[case]])
            assert np.abs(together.turns[k, j] - by_itself.turns[0, 0]).max() <= 1e-9
            assert together.outcomes[k, j] == by_itself.outcomes[0, 0]


def test_a_large_batch_is_what_its_entries_are():
    random = np.random.default_rng(7)
    joints, poles = random.uniform(-1.0, 1.0, (30, 3, 3)), random.uniform(-3.0, 3.0, (30, 40, 3))
    targets = random.uniform(-2.0, 2.0, (30, 40, 3))
    rows = [
        [
            Case(
                tuple(map(single, joints[k])),
                single(targets[k, j]),
                single(poles[k, j]) if k % 3 else None,
                k / 5 if k % 2 else 0.0,
                k % 4 > 1,
                k / 100 if k % 5 else 0.0,
            )
            for j in range(40)
        ]
        for k in range(30)
    ]
    assert_as_one_by_one(rows, batch(rows))


# Laws


@settings(max_examples=100)
@given(cases(twos, decades=6))
def test_the_turned_links_come_as_near_to_the_target_as_they_can(case):
    case = replace(case, softness=0.0)
    end = forward(case, alone(case))[2]
    assert dist(end, case.target) == pytest.approx(case.shortfall, abs=2 * case.rounding)


@settings(max_examples=60)
@given(st.lists(cases(twos), min_size=1, max_size=3))
def test_the_turns_are_of_unit_length(some):
    assert np.abs(np.linalg.norm(batch(crossed(some)).turns, axis=-1) - 1.0).max() <= EPSILON


@settings(max_examples=40)
@given(case=calm_cases(twos), swivel=reals(-pi, pi), flip=st.booleans())
def test_the_knee_points_to_the_pole_and_the_links_keep_their_roll(case, swivel, flip):
    before = unit(cross(minus(case.joints[1], case.joints[0]), minus(case.joints[2], case.joints[1])))
    along, side = along_and_side(case)
    swivelled = about(along, swivel)
    turns = alone(replace(case, swivel=swivel, flip=flip))
    knee = across(turned(turns[0], minus(case.joints[1], case.root)), along)
    assert dist(unit(knee), times(turned(swivelled, side), -1.0 if flip else 1.0)) <= 1e-4
    for turn in turns:
        assert dist(turned(turn, before), turned(swivelled, cross(side, along))) <= 1e-5


@few
@given(calm_cases(twos, with_pole=False))
def test_without_a_pole_the_bend_is_carried_by_the_shortest_turn(case):
    line, aim = unit(minus(case.joints[-1], case.root)), unit(minus(case.target, case.root))
    before = unit(cross(minus(case.joints[1], case.joints[0]), minus(case.joints[2], case.joints[1])))
    halfway = unit(plus(line, aim))
    # Two mirrors make the shortest turn.
    after = minus(before, times(line, 2.0 * dot(line, before)))
    after = minus(after, times(halfway, 2.0 * dot(halfway, after)))
    for turn in alone(case):
        assert dist(turned(turn, before), after) <= 1e-5


@few
@given(part=reals(0.5, 3.0), softness=reals(0.1, 0.5), toward=units)
def test_a_soft_chain_eases_into_its_full_length(part, softness, toward):
    case = Case(LEG, single(plus(LEG[0], times(toward, part * 2.0))), None, 0.0, False, softness)
    beyond = case.distance / case.length - (1.0 - softness)
    held = case.distance
    if beyond > 0.0:
        held = case.length * (1.0 - softness * np.exp(-beyond / softness))
    assert dist(case.root, forward(case, alone(case))[2]) == pytest.approx(held, abs=1e-5)


@pytest.mark.parametrize(("along", "side"), [pair for pair in permutations(AXES, 2) if not dot(*pair)])
@pytest.mark.parametrize("away", [0.0, 1e-4])
def test_every_quarter_turn_of_the_target_and_the_pole(along, side, away):
    start = Case((ORIGIN, single((0.6, 0.8, 0.0)), (1.2, 0.0, 0.0)), ORIGIN)
    case = replace(start, target=single(plus(times(along, 1.2), times(side, away))), pole=side)
    expected = [ORIGIN, plus(times(along, 0.6), times(side, 0.8)), times(along, 1.2)]
    turns = alone(case)
    assert farthest_apart(forward(case, turns), expected) <= 1e-6 + 2 * away
    for turn in turns:
        assert dist(turned(turn, Z), cross(along, side)) <= 1e-6


# Degenerate entries, and what is refused


def test_degenerate_entries_do_no_harm_to_those_beside_them():
    root = LEG[0]
    calm = (0.3, -0.5, 0.8)
    targets = [calm, root, (0.0, 0.0, 0.0), (0.0, 0.0, 9.0), (1e-9, 0.0, 2.0), (0.0, 0.0, 2.1), (9.0, 0.0, 1.0), calm]
    poles = [(0.0, -3.0, 1.0), root, (0.0, 0.0, -5.0), (0.0, 0.0, 1.0), calm, calm, root, calm]
    rows = [[Case(LEG, target, pole) for target, pole in zip(targets, poles, strict=True)] for _ in range(2)]
    rows[1] = [replace(case, pole=None) for case in rows[1]]
    assert_as_one_by_one(rows, batch(rows))


@few
@given(
    case=calm_cases(twos), with_pole=st.booleans(), off=powers_of_ten(-7, -1.1), azimuth=st.just(0.0) | reals(-pi, pi)
)
def test_near_the_line_and_behind_the_chain_it_is_the_very_answer_of_one(case, with_pole, off, azimuth):
    line = unit(minus(case.target if with_pole else case.joints[2], case.root))
    side = unit(across(minus(case.joints[1], case.root), line))
    near = turned(about(turned(about(line, azimuth), side), off), line)
    if with_pole:
        case = replace(case, pole=single(plus(case.root, near)))
    else:
        case = replace(case, target=single(minus(case.root, times(near, case.distance))), pole=None)
    assert (alone(case) == link_rotations(case.chain, case.solved("AUTO"))).all()


@settings(max_examples=40)
@given(case=calm_cases(twos, with_pole=False), off=reals(0.21, 0.3) | reals(0.3, 1.5), azimuth=reals(-pi, pi))
def test_before_that_the_shortest_turn_carries_the_bend_precisely(case, off, azimuth):
    line = unit(minus(case.joints[2], case.root))
    near = turned(about(turned(about(line, azimuth), some_perpendicular(line)), off), line)
    case = replace(case, target=single(minus(case.root, times(near, case.distance))))
    assert max(map(between, alone(case), link_rotations(case.chain, case.solved("AUTO")))) <= 4 * EPSILON


def test_poles_of_chains_without_one_are_not_looked_at():
    chains, goals = [Chain(LEG)] * 2, [Goal(ORIGIN), Goal(ORIGIN, ORIGIN)]
    targets = np.full((2, 3, 3), (0.3, -0.5, 0.8))
    poles = np.full((2, 3, 3), (0.0, -3.0, 1.0))
    expected = solve_pairs(chains, goals, targets, poles).turns
    poles[0] = nan
    assert (solve_pairs(chains, goals, targets, poles).turns == expected).all()


def test_single_precision_is_taken_as_it_is_and_nothing_is_changed():
    case = Case(LEG, single((0.3, -0.5, 0.8)), single((0.1, -3.0, 1.0)))
    targets, poles = np.array([[case.target]], np.float32), np.array([[case.pole]], np.float32)
    turns = solve_pairs([case.chain], [case.goal], targets, poles).turns
    assert (turns[0, 0] == alone(case)).all()
    assert targets.tolist() == [[list(case.target)]] and poles.tolist() == [[list(case.pole)]]


@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 3), (2, 0)])
def test_of_nothing_there_is_nothing(m, n):
    pairs = solve_pairs([Chain(LEG)] * m, [Goal(ORIGIN)] * m, np.empty((m, n, 3)), np.empty((m, n, 3)))
    assert pairs.turns.shape == (m, n, 2, 4) and pairs.outcomes.shape == (m, n)


@pytest.mark.parametrize("value", [nan, inf, -inf, 1e39, 1e200])
@pytest.mark.parametrize("wish", ["the target", "the pole"])
def test_a_point_that_is_not_finite_is_named(value, wish):
    points = np.full((2, 2, 3), (0.3, -0.5, 0.8)), np.full((2, 2, 3), (0.0, -3.0, 1.0))
    points[wish == "the pole"][1, 1, 2] = value
    with pytest.raises(ChainError, match=f"{wish} has a value that is not a finite number"):
        solve_pairs([Chain(LEG)] * 2, [Goal(ORIGIN, ORIGIN)] * 2, *points)


@pytest.mark.parametrize("far", [1e6, 2.0**49])
def test_far_poles_are_what_they_are_one_by_one(far):
    case = Case(LEG, (0.3, -0.5, 0.8), single((0.0, -far, 0.5 * far)))
    assert_as_one_by_one([[case]], batch([[case]]))


@pytest.mark.parametrize("far", [2.0**51, 1e18, 1e30])
def test_poles_that_float32_cannot_square_are_refused(far):
    with pytest.raises(ChainError, match=r"the pole .* too large"):
        batch([[Case(LEG, (0.3, -0.5, 0.8), single((0.0, -far, 0.5 * far)))]])


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"swivel": nan}, "the swivel is not a finite number"),
        ({"swivel": inf}, "the swivel is not a finite number"),
        ({"softness": nan}, "the softness is not a finite number"),
        ({"softness": 0.7}, "the softness is 0.7; give"),
        ({"softness": -0.1}, "the softness is -0.1; give"),
        ({"stretch_max": 1.5}, "the largest stretch is 1.5"),
        ({"stretch_max": nan}, "the largest stretch is nan"),
    ],
)
def test_wishes_that_cannot_be_had_are_named(wishes, message):
    points = np.full((1, 1, 3), (0.3, -0.5, 0.8))
    with pytest.raises(ChainError, match=message):
        solve_pairs([Chain(LEG)], [Goal(ORIGIN, **wishes)], points, points)


@pytest.mark.parametrize(
    "chain",
    [Chain(LEG[:2]), Chain([*LEG, (0.0, 0.0, -1.0)]), Chain(LEG, cones=[None, 1.0])],
    ids=["one", "three", "cone"],
)
def test_other_chains_are_refused(chain):
    points = np.full((1, 1, 3), (0.3, -0.5, 0.8))
    with pytest.raises(ChainError, match="two links without limits"):
        solve_pairs([chain], [Goal(ORIGIN)], points, points)


# Quaternions


@few
@given(st.lists(st.tuples(rotations, rotations), min_size=1, max_size=4))
def test_products_are_those_of_blender(some):
    a, b = np.array(some).transpose(1, 0, 2)
    expected = [Quaternion(one) @ Quaternion(other) for one, other in some]
    assert np.abs(multiply(a, b) - expected).max() <= 1e-6
    assert np.abs(multiply(multiply(a, b), conjugate(b)) - a).max() <= 1e-12
    assert np.abs(multiply(a[:, None], b[0]) - multiply(a, b[:1])[:, None]).max() <= 1e-15


def test_of_the_units_each_product_is_the_third():
    one, i, j, k = np.eye(4)
    for a, b, c in ((i, j, k), (j, k, i), (k, i, j)):
        assert (multiply(a, b) == c).all() and (multiply(b, a) == -c).all() and (multiply(a, a) == -one).all()
    for a, b in product(np.eye(4), repeat=2):
        assert (conjugate(multiply(a, b)) == multiply(conjugate(b), conjugate(a))).all()
