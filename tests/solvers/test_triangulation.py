"""Triangulation: what its paper leaves open, and its two ways to use the freedom left."""

from cmath import phase
from dataclasses import replace
from itertools import pairwise
from math import cos, dist, hypot, pi, sin

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ik_addon.solvers import Chain, Goal, Outcome, solve

from .strategies import (
    AXES,
    EPSILON,
    ORIGIN,
    Case,
    X,
    Y,
    Z,
    about,
    across,
    along_and_side,
    bulge,
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

few = settings(max_examples=30)


def best_on_a_grid(lengths, distance, steps=60):
    """The smallest miss of three links in a plane: two of them on a grid of angles, the last one aimed."""
    a, b, c = lengths
    angles = [2.0 * pi * k / steps for k in range(steps)]
    turns = [complex(cos(angle), sin(angle)) for angle in angles]
    return min(abs(abs(distance - first * (a + b * second)) - c) for first in turns for second in turns)


@settings(max_examples=20)
@given(
    lengths=st.tuples(*[reals(0.05, 1.0)] * 3),
    part=reals(0.0, 1.5),
    least_motion=st.booleans(),
)
def test_no_pose_on_a_grid_of_angles_ends_nearer(lengths, part, least_motion):
    distance = part * sum(lengths)
    chain = Chain(chained(ORIGIN, lengths, [X, Y, Z]))
    residual = solve(chain, Goal((0.0, distance, 0.0), least_motion=least_motion), "TRIANGULATION").residual
    grid = best_on_a_grid(lengths, distance)
    assert residual <= grid + EPSILON * sum(lengths)
    assert residual >= grid - 2.0 * pi / 60 * (lengths[0] + 2.0 * lengths[1])


@few
@given(case=calm_cases(st.integers(3, 8)))
def test_without_least_motion_two_links_make_the_triangle_and_the_tail_stays_straight(case):
    first, rest = case.lengths[0], sum(case.lengths[1:])
    assume(abs(rest - first) < case.distance < rest + first)
    solution = case.solved("TRIANGULATION")
    tail = solution.directions[1]
    assert max(dist(tail, direction) for direction in solution.directions[1:]) <= 1e-5
    # Equation 5: the angle at the root.
    cosine = -(rest**2 - first**2 - case.distance**2) / (2 * first * case.distance)
    aim, side = along_and_side(case)
    assert dot(solution.directions[0], aim) == pytest.approx(cosine, abs=1e-5)
    assert dot(solution.directions[0], side) > 0.0


@few
@given(case=calm_cases(st.integers(2, 8)), least_motion=st.booleans())
def test_a_chain_that_bends_in_a_plane_is_turned_into_the_plane_of_the_pole(case, least_motion):
    aim, side = along_and_side(case)
    for joint in case.solved("TRIANGULATION", least_motion=least_motion).joints:
        assert abs(dot(minus(joint, case.root), cross(aim, side))) <= 2e-5 * case.length


@few
@given(
    count=st.integers(2, 6),
    toward=units,
    root=units,
    how_far=st.sampled_from([0.0, 10.0, 100.0]),
    part=reals(0.1, 0.9),
    azimuth=reals(-pi, pi),
)
def test_a_straight_chain_with_rounded_joints_still_bends_to_the_pole(count, toward, root, how_far, part, azimuth):
    joints = [single(p) for p in chained(times(root, how_far), [1.0 / count] * count, [toward] * count)]
    off = turned(about(toward, azimuth), some_perpendicular(toward))
    case = Case(tuple(joints), single(plus(joints[0], times(toward, part))), single(plus(joints[0], off)))
    aim, side = along_and_side(case)
    bend = bulge(case.solved("TRIANGULATION").joints, aim)
    assume(hypot(*bend) > 1e-2)  # at the distances where it folds flat it has no side
    assert dist(unit(bend), side) <= 1e-3


@few
@given(bend=powers_of_ten(-2.5, -0.5), toward=units, distance=reals(1.2, 2.8))
def test_a_link_that_starts_almost_in_line_with_its_target_opens_by_the_exact_angle(bend, toward, distance):
    aside = times(some_perpendicular(toward), bend)
    joints = chained(ORIGIN, [1.0, 1.0, 1.0], [plus(toward, aside), minus(toward, aside), toward])
    case = Case(tuple(single(joint) for joint in joints), single(times(toward, distance)))
    first, rest = case.lengths[0], sum(case.lengths[1:])
    cosine = (first**2 + case.distance**2 - rest**2) / (2 * first * case.distance)
    direction = case.solved("TRIANGULATION").directions[0]
    assert dot(direction, unit(case.target)) == pytest.approx(cosine, abs=4 * EPSILON)


# Least motion


@few
@given(case=cases(st.integers(1, 8)))
def test_least_motion_keeps_a_pose_whose_end_is_at_the_target(case):
    stays = replace(case, target=case.joints[-1], pole=None, swivel=0.0, flip=False, least_motion=True)
    solution = stays.solved("TRIANGULATION")
    # Without a line from root to end the chain turns nowhere either.
    assert farthest_apart(solution.joints, case.joints) <= 4 * case.rounding


@settings(max_examples=60)
@given(data=st.data(), count=st.integers(3, 6), part=reals(0.0, 1.0))
def test_least_motion_moves_no_link_that_need_not_and_the_first_that_must_no_further(data, count, part):
    lengths = [data.draw(reals(0.05, 1.0)) for _ in range(count)]
    joints = [single(joint) for joint in chained(ORIGIN, lengths, [data.draw(units) for _ in range(count)])]
    away = hypot(*joints[-1])
    assume(away > 0.1 * sum(lengths))
    near, far = Case(tuple(joints), X).reach
    # In the direction of its own end, so that no turn of the whole chain comes first.
    target = times(joints[-1], (near + (far - near) * part) / away)
    case = Case(tuple(joints), single(target), least_motion=True)
    assume(case.distance > 0.05 * case.length)
    solution = case.solved("TRIANGULATION")
    slack = 8 * case.rounding
    assert solution.residual <= slack
    for k in range(1, count):
        rest = case.lengths[k:]
        nearest, farthest = max(0.0, 2 * max(rest) - sum(rest)), sum(rest)
        kept = dist(joints[k], case.target)
        if not nearest + slack < kept < farthest - slack:
            left = dist(solution.joints[k], case.target)
            step, before = case.lengths[k - 1], dist(joints[k - 1], case.target)
            lowest, highest = max(nearest, abs(before - step)), min(farthest, before + step)
            assert left == pytest.approx(min(max(kept, lowest), highest), abs=2 * slack)
            break
        assert dist(solution.joints[k], joints[k]) <= slack


@few
@given(case=calm_cases(st.integers(3, 8), with_pole=False), swivel=reals(-pi, pi), flip=st.booleans())
def test_least_motion_is_swivelled_as_a_whole_and_without_a_jump(case, swivel, flip):
    still = replace(case, least_motion=True, flip=flip)
    expected = [
        plus(case.root, turned(about(unit(minus(case.target, case.root)), swivel), minus(joint, case.root)))
        for joint in still.solved("TRIANGULATION").joints
    ]
    if not flip:
        # Where two links just fold onto each other, what is left of them across is a root: of single precision, 3e-4.
        assert farthest_apart(expected, still.solved("TRIANGULATION", swivel=swivel).joints) <= 1e-3 * case.length


def flat(lengths, bends):
    """A chain in the plane of X and Z from the origin along X, as if its first joint bulged to Z, with these bends."""
    points, angle = [ORIGIN], 0.0
    for length, bend in zip(lengths, (0.0, *bends), strict=True):
        angle -= bend
        points.append(plus(points[-1], times((cos(angle), 0.0, sin(angle)), length)))
    return points


def with_pole(joints, part):
    """To a part of the distance of its end, in that direction, with a pole on the side of the first joint."""
    line = unit(joints[-1])
    side = (-line[2], 0.0, line[0])
    return Case(tuple(joints), times(joints[-1], part), times(side, 9.0), least_motion=True)


def bends_of(joints):
    links = [complex(b[0] - a[0], b[2] - a[2]) for a, b in pairwise(joints)]
    return [-phase(b * a.conjugate()) for a, b in pairwise(links)]


@few
@given(data=st.data(), count=st.integers(3, 6), part=reals(0.0, 1.0))
def test_with_a_pole_a_chain_that_extends_opens_all_joints_by_the_same_part(data, count, part):
    lengths = [data.draw(reals(0.2, 1.0)) for _ in range(count)]
    first = data.draw(reals(0.3, 0.8))
    bends = [first, *(data.draw(reals(-0.8, 0.8)) for _ in lengths[2:])]
    joints = flat(lengths, bends)
    away, case = hypot(*joints[-1]), with_pole(joints, 1.0)
    assume(away < 0.98 * sum(lengths) and dot(bulge(joints, unit(joints[-1])), case.pole) > 0.1)
    case = with_pole(joints, 1.0 + 0.98 * part * (sum(lengths) / away - 1.0))
    solution = case.solved("TRIANGULATION")
    assert solution.residual <= 4 * case.rounding
    found = bends_of(solution.joints)
    assert found == pytest.approx([bend * found[0] / first for bend in bends], abs=1e-4)


@pytest.mark.parametrize("first", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("part", [0.9, 0.97])
def test_a_leg_whose_last_joint_passes_through_straight_is_calm_where_it_has_to_be_shorter(first, part):
    lengths, steps, count = (0.49, 0.35, 0.16), [], 400
    for k in range(count + 1):
        # Seen along the line to its end.
        case = with_pole(flat(lengths, (first, 0.7 * k / count - 0.35)), part)
        line = unit(case.target)
        solved = case.solved("TRIANGULATION").joints
        assert bends_of(solved)[0] > 0.0
        steps.append([(dot(joint, line), dot(joint, (-line[2], 0.0, line[0]))) for joint in solved[1:3]])
    far = max(dist(a, b) for one, other in pairwise(steps) for a, b in zip(one, other, strict=True))
    # Where the last two links closed the triangle a joint changed sides at once, by 0.1 to 0.3.
    assert far <= 0.01


# Cyclic coordinate descent


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
