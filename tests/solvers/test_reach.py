"""Near full extension and beyond it: softness and stretch, of chains with limits and without."""

import random
from dataclasses import replace
from itertools import pairwise
from math import cos, dist, hypot, sin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ik_addon.solvers import Hinge, Outcome

from .limited import Limited, angle_between, random_rotation, straight
from .strategies import ORIGIN, X, dot, farthest_apart, plus, single, times, turned, unit

SOLVERS = ["VECTOR", "LAW_OF_COSINES", "CIRCLE", "SPHERE", "TRIANGULATION", "cones", "hinges"]
every_solver = pytest.mark.parametrize("solver", SOLVERS)
few = settings(max_examples=20)
seeds = st.integers(0, 2**32 - 1)
softnesses = st.floats(0.02, 0.5)


def limb(seed, solver):
    """A limb that bends one way, with its pole on that side; limited where `solver` is a kind of limit."""
    rng = random.Random(seed)
    frame = random_rotation(rng)
    lengths = [rng.uniform(0.5, 1.0) for _ in range(3 if solver in ("TRIANGULATION", "cones") else 2)]
    points, angle = [ORIGIN], 0.0
    for length in lengths:
        points.append(plus(points[-1], times(turned(frame, (cos(angle), 0.0, sin(angle))), length)))
        angle -= rng.uniform(0.2, 0.6)
    case = Limited(tuple(single(point) for point in points), pole=single(turned(frame, (0.0, 0.0, 3.0))))
    if solver == "cones":
        return replace(case, cones=(None, *[rng.uniform(2.0, 3.0) for _ in lengths[1:]]))
    if solver == "hinges":
        bend = angle_between(*case.directions)
        return replace(case, hinges=(None, Hinge(single(turned(frame, (0.0, 1.0, 0.0))), -bend, 2.9 - bend)))
    return case


def toward_of(case):
    """A direction in which the pole is well to the side."""
    return unit(case.joints[-1])


def at(case, solver, distance, **changes):
    """How far the end gets along the line to a target at `distance`, and the solution."""
    toward = toward_of(case)
    name = "AUTO" if solver in ("cones", "hinges") else solver
    solution = case.solved(name, target=single(times(toward, distance)), **changes)
    end = tuple(solution.joints[-1])
    assert dist(times(toward, dot(end, toward)), end) <= 1e-5 * max(case.length, distance)
    return dot(end, toward), solution


# Softness


@every_solver
@few
@given(seed=seeds, softness=softnesses, part=st.floats(0.0, 1.0))
def test_a_soft_chain_is_exact_until_it_eases_and_then_its_lag_is_the_residual(solver, seed, softness, part):
    case = limb(seed, solver)
    hard = (1.0 - softness) * case.length
    distance = 0.5 * case.length + part * case.length
    end, solution = at(case, solver, distance, softness=softness)
    if distance <= hard:
        assert solution.residual <= 1e-5 * case.length
    else:
        assert end <= distance + 1e-6 * case.length
    assert solution.residual == pytest.approx(distance - end, abs=1e-5 * case.length)
    assert solution.outcome is (Outcome.REACHED if distance <= case.length * (1.0 + 9e-6) else Outcome.TOO_FAR)


@every_solver
@few
@given(seed=seeds, softness=softnesses, parts=st.lists(st.floats(0.5, 4.0), min_size=2, max_size=4))
def test_a_soft_chain_comes_ever_farther_and_never_past_its_length(solver, seed, softness, parts):
    case = limb(seed, solver)
    ends = [at(case, solver, part * case.length, softness=softness)[0] for part in sorted(parts)]
    for nearer, farther in pairwise(ends):
        assert nearer <= farther + 1e-5 * case.length
    assert ends[-1] <= case.length * (1.0 + 1e-6)


def fastest(case, solver, softness, steps):
    """The largest speed of an inner joint, for a target that passes full extension at speed 1."""
    length = case.length
    distances = [length * (0.9 + 0.2 * k / steps) for k in range(steps + 1)]
    poses = [at(case, solver, distance, softness=softness)[1].joints[1:-1] for distance in distances]
    moves = [farthest_apart(a, b) for a, b in pairwise(poses)]
    return max(moves) / (0.2 * length / steps)


@every_solver
@pytest.mark.parametrize("softness", [0.05, 0.2])
def test_softness_bounds_the_speed_of_the_knee_that_snaps_without_it(solver, softness):
    case = limb(5, solver)
    hard, soft = ([fastest(case, solver, s, steps) for steps in (20, 80, 320)] for s in (0.0, softness))
    # Hard: in every step of length h the knee goes by sqrt(h), so four times the steps double its speed.
    assert hard[1] > 1.6 * hard[0] and hard[2] > 1.6 * hard[1]
    assert soft[2] < 1.1 * soft[1] + 0.1
    assert soft[2] < 0.5 * hard[2]


# Stretch


@every_solver
@few
@given(seed=seeds, most=st.floats(1.0, 3.0), part=st.floats(0.75, 4.0))
def test_a_stretched_chain_is_as_long_as_the_distance_up_to_its_cap(solver, seed, most, part):
    case = limb(seed, solver)
    distance = part * case.length
    _, solution = at(case, solver, distance, stretch_max=most)
    total = sum(dist(a, b) for a, b in pairwise(solution.joints))
    slack = 2e-5 * case.length * max(1.0, part)
    assert total == pytest.approx(max(case.length, min(distance, most * case.length)), abs=slack)
    assert solution.stretch == pytest.approx(total / case.length, abs=slack)
    assert solution.residual == pytest.approx(max(0.0, distance - most * case.length), abs=slack)
    if distance > most * case.length * (1.0 + 2e-5):
        assert solution.outcome is Outcome.TOO_FAR
    if distance < most * case.length:
        assert solution.outcome is Outcome.REACHED


@every_solver
@few
@given(seed=seeds, most=st.floats(1.0, 3.0), part=st.floats(0.75, 4.0), softness=softnesses)
def test_a_soft_stretched_chain_arrives_too_up_to_its_cap(solver, seed, most, part, softness):
    case = limb(seed, solver)
    distance = part * case.length
    end, soft = at(case, solver, distance, softness=softness)
    _, solution = at(case, solver, distance, softness=softness, stretch_max=most)
    slack = 2e-5 * case.length * max(1.0, part)
    assert solution.residual == pytest.approx(max(0.0, distance - most * end), abs=most * slack)
    assert solution.stretch <= most * (1.0 + 1e-6)
    for along, unstretched in zip(solution.directions, soft.directions, strict=True):
        assert dist(along, unstretched) <= 1e-5
    for (a, b), length in zip(pairwise(solution.joints), case.lengths, strict=True):
        assert dist(a, b) == pytest.approx(solution.stretch * length, abs=slack)


@pytest.mark.parametrize("least_bend", [0.2, 0.8])
def test_a_chain_that_never_gets_straight_stretches_from_where_it_ends(least_bend):
    case = straight([1.0, 0.8], (0.0, 0.0, -1.0), hinges=(None, Hinge(X, 0.0, 2.5, None, least_bend)))
    longest = hypot(1.0 + 0.8 * cos(least_bend), 0.8 * sin(least_bend))
    for distance in (0.9 * longest, 1.1 * longest, 1.4 * longest):
        solution = case.solved(target=(0.0, distance, 0.0), stretch_max=1.5)
        assert solution.residual <= 2e-5
        assert solution.stretch == pytest.approx(max(1.0, distance / longest), abs=1e-5)
    beyond = case.solved(target=(0.0, 2.0 * longest, 0.0), stretch_max=1.5)
    assert beyond.residual == pytest.approx(0.5 * longest, abs=1e-4)
    assert case.solved(target=(0.0, (longest + 1.8) / 2.0, 0.0)).outcome is Outcome.LIMITED


def test_without_stretch_or_in_reach_nothing_is_lengthened():
    for case in (limb(1, "VECTOR"), limb(1, "cones"), limb(1, "hinges")):
        for part, most in ((5.0, 1.0), (0.9, 2.0), (0.0, 2.0)):
            solution = case.solved(target=single(times(toward_of(case), part * case.length)), stretch_max=most)
            assert solution.stretch == 1.0
