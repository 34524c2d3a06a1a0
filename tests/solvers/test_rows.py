"""Many chains and rows at once: what the solver of one gives, in every corner."""

from dataclasses import replace
from itertools import pairwise, product
from math import cos, hypot, inf, nan, pi, sin, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ik_addon.solvers import Chain, ChainError, Goal, link_rotations, rows, solve
from ik_addon.solvers.bending import start_frame
from ik_addon.solvers.rows import GoalRows, solve_rows, start_rows

from .strategies import (
    AXES,
    EPSILON,
    ORIGIN,
    Case,
    X,
    about,
    across,
    calm_cases,
    cases,
    dist,
    forward,
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

pytestmark = pytest.mark.filterwarnings("error")

few = settings(max_examples=15)
twos = st.just(2)
more = st.sampled_from([1, 3, 4, 5, 8])
counts = pytest.mark.parametrize(
    "counts", [pytest.param(twos, id="two"), pytest.param(more, marks=pytest.mark.slow, id="more")]
)
LEG = ((0.0, 0.0, 2.0), (0.0, -0.1, 1.0), (0.0, 0.0, 0.0))
stretches = st.just(1.0) | reals(1.0, 2.0)


def goal_rows(goals: list[Goal], targets: np.ndarray, poles: np.ndarray) -> GoalRows:
    """The goals of m chains over n rows, each with the same wishes at every row.

    goals: one for each chain, with its wishes; its target is not looked at, its pole only shows whether there is one.
    targets, poles: arrays (m, n, 3); see `GoalRows`.
    """
    wishes = [(goal.swivel, goal.softness, goal.stretch_max, goal.flip) for goal in goals]
    swivel, softness, stretch_max, flip = np.array(wishes, float).reshape(-1, 4).T[..., None]
    has_pole = np.array([goal.pole is not None for goal in goals], bool)
    least_motion = any([goal.least_motion for goal in goals])
    return GoalRows(targets, poles, has_pole, swivel, softness, stretch_max, flip != 0.0, least_motion)


def points_of(rows):
    """The targets and the poles of rows of cases; without a pole NaN."""
    points = [[(case.target, case.pole or (nan, nan, nan)) for case in row] for row in rows]
    points = np.array(points, float).reshape(len(rows), -1, 2, 3)
    return points[:, :, 0], points[:, :, 1]


def starts_of(chains):
    """The starting poses of chains, one each for all rows."""
    joints = np.array([[[joint[:] for joint in chain.joints]] for chain in chains] or np.empty((0, 1, 3, 3)))
    hinges = [chain.bend_normal[:] if chain.bend_normal else (nan, nan, nan) for chain in chains]
    return start_rows(joints, np.array(hinges, float).reshape(-1, 1, 3))


def batch(rows):
    """The solved rows of cases, each row one chain and its wishes with other targets and poles."""
    starts = starts_of([row[0].chain for row in rows])
    return solve_rows(starts, goal_rows([row[0].goal for row in rows], *points_of(rows)))


def solve_all(chains, goals, targets, poles):
    return solve_rows(starts_of(chains), goal_rows(goals, targets, poles))


def keyed_starts(rows):
    """The starting poses of rows of cases, which have their own joints each."""
    joints = np.array([[case.joints for case in row] for row in rows])
    return start_rows(joints, np.array([[case.hinge or (nan, nan, nan) for case in row] for row in rows]))


def keyed(rows):
    """The solved rows of cases that have all their own, but all or none in a row have a pole."""
    has_pole = np.array([row[0].pole is not None for row in rows])
    names = "swivel", "softness", "stretch_max", "flip"
    wishes = [np.array([[getattr(case, name) for case in row] for row in rows]) for name in names]
    return solve_rows(keyed_starts(rows), GoalRows(*points_of(rows), has_pole, *wishes))


def alone(case, solved=batch):
    """The rotations of one case, as a batch of one."""
    return solved([[case]]).turns[0, 0]


def crossed(some):
    """Every chain, with its own wishes, with every target and pole."""
    poles = [case.pole or single(plus(case.target, X)) for case in some]
    return [
        [replace(one, target=other.target, pole=one.pole and pole) for other, pole in zip(some, poles, strict=True)]
        for one in some
    ]


def mixed(some):
    """Rows in which every case is once in each: with a pole where the row's own case has one."""
    poles = [case.pole or single(plus(case.target, X)) for case in some]
    return [[replace(other, pole=one.pole and pole) for other, pole in zip(some, poles, strict=True)] for one in some]


def between(one, other):
    """The angle in radians from one rotation to the other."""
    one, other = np.array(one, float), np.array(other, float)
    one, other = one / np.linalg.norm(one), other / np.linalg.norm(other)
    return 4.0 * np.arcsin(min(1.0, min(np.linalg.norm(one - other), np.linalg.norm(one + other)) / 2.0))


def blur(case, solved):
    """How far a rounding of its target, its pole or, where keyed, its joints turns the links of a case."""
    shifts = [times(axis, case.rounding) for axis in AXES]
    row = [case, *(replace(case, target=plus(case.target, shift)) for shift in shifts)]
    if case.pole:
        size = EPSILON * (hypot(*case.pole) + hypot(*case.root))
        row += [replace(case, pole=plus(case.pole, times(axis, size))) for axis in AXES]
    if solved is keyed:
        for k, shift in product(range(len(case.joints)), shifts):
            joints = [plus(joint, shift) if k == j else joint for j, joint in enumerate(case.joints)]
            row.append(replace(case, joints=tuple(joints)))
    turns = solved([row]).turns[0]
    return max(between(a, b) for other in turns for a, b in zip(turns[0], other, strict=True))


def unsteadiness(case, solution):
    """How far a rounding in single precision turns the links of a longer chain.

    Near the limits of its reach they bend by the square root of what is left to it, short ones more, and the shortest
    swing nearly half round has an axis as precise as the sine of its angle is large. Where a link is shorter than a
    thousandth, or that sine less than 0.05, one answer serves both.
    """
    if len(case.lengths) == 2:
        return 0.0
    held = dist(case.root, solution.joints[-1]) / solution.stretch
    size = case.length or 1.0
    left, shortest = min(abs(held - limit) for limit in case.reach) / size, min(case.lengths) / size
    rotations = [solution.turn, *link_rotations(case.chain, solution)]
    angles = [(after @ before.conjugated()).angle for before, after in pairwise(rotations)]
    sine = min([max(abs(sin(angle)), 0.05) for angle in angles if cos(angle) < 0.0], default=1.0)
    return 4 * EPSILON * (1.0 / sqrt(max(left, EPSILON) * max(shortest, 1e-3)) + 1.0 / sine)


def end_of(case, turns, stretch):
    """Where the links end that are turned and lengthened."""
    return plus(case.root, times(minus(forward(case, turns)[-1], case.root), stretch))


def assert_as_one_by_one(rows, results, solved=batch):
    for k, row in enumerate(rows):
        for j, case in enumerate(row):
            solution = case.solved("AUTO")
            turns, stretch = results.turns[k, j], results.stretches[k, j]
            assert np.abs(np.linalg.norm(turns, axis=-1) - 1.0).max() <= EPSILON
            assert stretch == pytest.approx(solution.stretch, rel=EPSILON)
            assert dist(end_of(case, turns, stretch), solution.joints[-1]) <= 2 * case.rounding * stretch
            slack = 1e-5 * case.reach[1] * stretch
            if all(
                abs(case.distance - limit - side * slack) > case.rounding * stretch
                for limit in (case.reach[0], case.reach[1] * stretch)
                for side in (-1, 1)
            ):
                assert results.outcomes[k, j] == solution.outcome
            theirs = link_rotations(case.chain, solution)
            turn = max(between(a, b) for a, b in zip(turns, theirs, strict=True))
            slack = 4 * EPSILON + unsteadiness(case, solution)
            assert turn <= slack or turn <= slack + 3 * blur(case, solved)


# As one by one


def several(counts, fewest=1, most=3, **decades):
    """Cases of chains with the same number of links, with wishes of every sort."""
    wishes = {"softness": st.just(0.0) | reals(0.0, 0.5), "stretch_max": stretches, "least_motion": st.just(False)}
    drawn = counts.flatmap(
        lambda count: st.lists(wished(st.just(count), wishes, **decades), min_size=fewest, max_size=most)
    )
    return drawn


def wished(counts, wishes, **decades):
    return st.builds(
        lambda case, drawn: replace(case, **drawn), cases(counts, **decades), st.fixed_dictionaries(wishes)
    )


@counts
@settings(max_examples=60)
@given(data=st.data())
def test_in_every_corner_it_is_what_the_solver_of_one_chain_gives(counts, data):
    rows = crossed(data.draw(several(counts, decades=6)))
    assert_as_one_by_one(rows, batch(rows))


@counts
@settings(max_examples=60)
@given(data=st.data())
def test_so_with_a_starting_pose_and_wishes_of_its_own_in_every_row(counts, data):
    rows = mixed(data.draw(several(counts, decades=6)))
    assert_as_one_by_one(rows, keyed(rows), keyed)


@pytest.mark.parametrize("solved", [batch, keyed])
@counts
@settings(max_examples=60)
@given(
    data=st.data(),
    with_pole=st.booleans(),
    swivel=reals(-pi, pi),
    flip=st.booleans(),
    softness=reals(0.0, 0.5),
    stretch_max=stretches,
)
def test_away_from_corners_it_is_so_to_the_last_digits(
    counts, solved, data, with_pole, swivel, flip, softness, stretch_max
):
    case = data.draw(calm_cases(counts, with_pole))
    case = replace(case, swivel=swivel, flip=flip, softness=softness, stretch_max=stretch_max)
    solution = case.solved("AUTO")
    turn = max(map(between, alone(case, solved), link_rotations(case.chain, solution)))
    slack = 4 * EPSILON + unsteadiness(case, solution)
    # More links add up what each one rounds, and turn by what is left of a triangle.
    assert turn <= slack or (len(case.lengths) > 2 and turn <= slack + 2 * blur(case, solved))


@pytest.mark.parametrize("solved", [batch, keyed])
@settings(max_examples=40)
@given(
    lengths=st.sampled_from([(1.0, 1.0), (1.0, 0.4), (0.3, 1.0), (1.0,), (0.7, 0.2, 0.6), (0.2, 0.3, 0.4, 0.3)]),
    sides=st.tuples(units, units),
    hinge=st.none() | units.map(single),
    part=st.sampled_from([0.0, 1e-9, 1e-3, 0.3, 0.9, 0.99, 1.0, 1.01, 3.0, 1e6]) | reals(0.0, 2.0),
    pole=st.none() | st.tuples(powers_of_ten(-8, 3), reals(-2.0, 2.0)),
    wishes=st.tuples(st.just(0.0) | reals(-pi, pi), st.booleans(), st.just(0.0) | reals(0.0, 0.5)),
    stretch_max=stretches,
    straight=st.booleans(),
)
def test_so_too_far_too_near_folded_straight_and_with_poles_near_the_line(
    solved, lengths, sides, hinge, part, pole, wishes, stretch_max, straight
):
    first, toward = sides
    bend = about(some_perpendicular(first), 0.0 if straight else 1.0)
    points, link = [ORIGIN], first
    for size in lengths:
        points.append(plus(points[-1], times(link, size)))
        link = turned(bend, link)
    case = Case(tuple(map(single, points)), ORIGIN, None, *wishes, hinge=hinge, stretch_max=stretch_max)
    case = replace(case, target=single(times(toward, part * case.length)))
    if pole:
        off, further = pole
        case = replace(case, pole=single(plus(times(toward, further), times(some_perpendicular(toward), off))))
    assert_as_one_by_one([[case]], solved([[case]]), solved)


@pytest.mark.parametrize("solved", [batch, keyed])
@counts
@few
@given(data=st.data())
def test_an_entry_does_not_depend_on_its_neighbours(counts, solved, data):
    some = data.draw(several(counts, 2, 4))
    rows = mixed(some) if solved is keyed else crossed(some)
    together = solved(rows)
    for k, row in enumerate(rows):
        for j, case in enumerate(row):
            by_itself = solved([[case]])
            assert np.abs(together.turns[k, j] - by_itself.turns[0, 0]).max() <= 1e-9
            assert together.outcomes[k, j] == by_itself.outcomes[0, 0]
            assert together.stretches[k, j] == pytest.approx(by_itself.stretches[0, 0], rel=1e-12)


@counts
@settings(max_examples=60)
@given(data=st.data())
def test_a_pose_repeated_is_that_pose(counts, data):
    case = data.draw(several(counts, 1, 1))[0]
    repeated, frame = frames(keyed_starts([[case] * 3])), start_frame(case.chain)
    shifts = [times(axis, case.rounding) for axis in AXES]
    moved = [
        tuple(plus(joint, shift) if k == j else joint for j, joint in enumerate(case.joints))
        for k, shift in product(range(len(case.joints)), shifts)
    ]
    blurred = frames(keyed_starts([[replace(case, joints=joints) for joints in moved]]))[:, 0]
    assert (repeated == repeated[:, :, :1]).all()
    ours, theirs = repeated[:, 0, :1], np.array([[*frame.along, *frame.side]]).T
    slack = np.abs(blurred - ours).max(axis=1, keepdims=True)
    assert (np.abs(ours - theirs) <= EPSILON + 2 * slack).all()


def frames(starts):
    """The bend frames of starting poses, (6, m, n)."""
    return np.concatenate((starts.along, starts.side))


# Degenerate entries, and what is refused


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


@counts
def test_what_is_regular_is_solved_in_arrays(counts, monkeypatch):
    random = np.random.default_rng(5)
    links = 2 if counts is twos else 5
    steps = random.uniform(-0.2, 0.2, (2, 200, links + 1, 3))
    joints = np.cumsum(steps + np.array((0.0, 0.0, 0.5)), axis=2)
    targets = joints[:, :, 0] + random.uniform(-0.3, 0.3, (2, 200, 3)) * links
    starts = start_rows(joints, np.full((2, 1, 3), nan))
    assert len(starts.chains) <= 8
    alone = []
    monkeypatch.setattr(rows, "solve", lambda chain, goal: alone.append(goal) or solve(chain, goal))
    poles = random.uniform(-5.0, 5.0, targets.shape)
    solve_rows(starts, goal_rows([Goal(ORIGIN, ORIGIN), Goal(ORIGIN)], targets, poles))
    assert len(alone) <= 40


@pytest.mark.parametrize("links", [1, 2, 5])
def test_straight_poses_with_a_hinge_need_no_chain(links):
    joints = np.zeros((2, 7, links + 1, 3))
    joints[..., 2] = np.arange(links + 1)
    hinges = np.array([[[0.5, 1.0, 0.7]], [[-1.0, 0.2, -3.0]]])
    one, each = start_rows(joints, hinges), start_rows(joints, np.repeat(hinges, 7, axis=1))
    assert not one.chains and (frames(one) == frames(each)).all()
    for k in range(2):
        frame = start_frame(Chain(joints[k, 0].tolist(), bend_normal=hinges[k, 0].tolist()))
        assert np.abs(frames(one)[:, k, 0] - (*frame.along, *frame.side)).max() <= EPSILON
    # Along the chain it shows no plane, and the fixed rule does.
    assert np.isfinite(frames(start_rows(joints, joints[:, :, 1]))).all()


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("slope", [0.0, 1e-5, 3e-4, 8e-4, 1.5e-3, 4e-3])
def test_straight_chains_fold_away_from_near_targets(flip, slope, monkeypatch):
    joints = tuple(single((slope * k * (k - 1), 0.0, k)) for k in range(5))
    targets = [times((0.0, 0.6, 0.8), part) for part in (0.3, 1.0, 1.7, 2.5, 3.5)]
    poles = [(3.0, 1.0, 0.0), (1.0, -2.0, 3.0)]
    cases = [
        Case(joints, single(target), pole, 0.3, flip, hinge=(0.0, 1.0, 0.0)) for target in targets for pole in poles
    ]
    alone = []
    monkeypatch.setattr(rows, "solve", lambda chain, goal: alone.append(goal) or solve(chain, goal))
    results = batch([cases])
    assert slope > 2e-4 or not alone
    assert_as_one_by_one([cases], results)


@pytest.mark.parametrize("value", [nan, inf, 1e39])
def test_joints_that_are_no_points_are_named(value):
    joints = np.array([[LEG] * 3] * 2)
    joints[1, 2, 1, 0] = value
    with pytest.raises(ChainError, match="joint 1 has a value that is not a finite number"):
        start_rows(joints, np.full((2, 1, 3), nan))


def test_chains_far_away_are_refused_as_one_is():
    joints = np.array([[LEG]]) * 1e6 + 2.0**51
    with pytest.raises(ChainError, match="too large"):
        start_rows(joints, np.full((1, 1, 3), nan))


def test_poles_of_chains_without_one_are_not_looked_at():
    chains, goals = [Chain(LEG)] * 2, [Goal(ORIGIN), Goal(ORIGIN, ORIGIN)]
    targets = np.full((2, 3, 3), (0.3, -0.5, 0.8))
    poles = np.full((2, 3, 3), (0.0, -3.0, 1.0))
    expected = solve_all(chains, goals, targets, poles).turns
    poles[0] = nan
    assert (solve_all(chains, goals, targets, poles).turns == expected).all()


def test_single_precision_is_taken_as_it_is_and_nothing_is_changed():
    case = Case(LEG, single((0.3, -0.5, 0.8)), single((0.1, -3.0, 1.0)))
    targets, poles = np.array([[case.target]], np.float32), np.array([[case.pole]], np.float32)
    turns = solve_all([case.chain], [case.goal], targets, poles).turns
    assert (turns[0, 0] == alone(case)).all()
    assert targets.tolist() == [[list(case.target)]] and poles.tolist() == [[list(case.pole)]]


@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 3), (2, 0)])
def test_of_nothing_there_is_nothing(m, n):
    solved = solve_all([Chain(LEG)] * m, [Goal(ORIGIN)] * m, np.empty((m, n, 3)), np.empty((m, n, 3)))
    assert solved.turns.shape == (m, n, 2, 4)
    assert solved.outcomes.shape == solved.stretches.shape == (m, n)


@pytest.mark.parametrize("value", [nan, inf, -inf, 1e39, 1e200])
@pytest.mark.parametrize("wish", ["the target", "the pole"])
def test_a_point_that_is_not_finite_is_named(value, wish):
    points = np.full((2, 2, 3), (0.3, -0.5, 0.8)), np.full((2, 2, 3), (0.0, -3.0, 1.0))
    points[wish == "the pole"][1, 1, 2] = value
    with pytest.raises(ChainError, match=f"{wish} has a value that is not a finite number"):
        solve_all([Chain(LEG)] * 2, [Goal(ORIGIN, ORIGIN)] * 2, *points)


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
        ({"softness": 0.7}, "the softness is 0.7. Give"),
        ({"softness": -0.1}, "the softness is -0.1. Give"),
        ({"stretch_max": 0.5}, "the max stretch is 0.5. Give"),
        ({"stretch_max": nan}, "the max stretch is not a finite number"),
        ({"stretch_max": inf}, "the max stretch is not a finite number"),
    ],
)
def test_wishes_that_cannot_be_had_are_named(wishes, message):
    points = np.full((1, 1, 3), (0.3, -0.5, 0.8))
    with pytest.raises(ChainError, match=message):
        solve_all([Chain(LEG)], [Goal(ORIGIN, **wishes)], points, points)


def test_the_least_motion_of_more_links_is_refused():
    points = np.full((1, 1, 3), (0.3, -0.5, 0.8))
    more = Chain([*LEG, (0.0, 0.0, -1.0)])
    with pytest.raises(ChainError, match="FK shape"):
        solve_all([more], [Goal(ORIGIN, least_motion=True)], points, points)
    two = [solve_all([Chain(LEG)], [Goal(ORIGIN, least_motion=least)], points, points) for least in (False, True)]
    assert (two[0].turns == two[1].turns).all()
