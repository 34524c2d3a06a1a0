"""Chains of cones below a free root: the pass in one plane, and the poses that come of it."""

import random
from dataclasses import replace
from itertools import pairwise
from math import cos, degrees, hypot, pi, radians, remainder, sin, tau

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ik_addon.solvers.shapes import bends_at

from .limited import angle_between, broken, random_pose, random_unit, straight, untrue
from .strategies import X, cross, dot, farthest_apart, plus, single, times, unit

seeds = st.integers(0, 2**32 - 1)

STEPS = 300


def three_links(rng):
    """Lengths and cones of three links, and the distances that they hold the end at."""
    lengths = [rng.uniform(0.1, 1.0) for _ in range(3)]
    cones = [rng.choice([pi, rng.uniform(0.2, pi), rng.uniform(0.2, pi)]) for _ in range(2)]
    return lengths, cones, span(lengths, bends_at(lengths, cones, 0.0)), sum(lengths)


def span(lengths, bends):
    x = y = angle = 0.0
    for length, bend in zip(lengths, (0.0, *bends), strict=True):
        angle += bend
        x, y = x + length * cos(angle), y + length * sin(angle)
    return hypot(x, y)


@given(seed=seeds, part=st.floats(0.0, 1.0))
def test_three_links_hold_every_distance_from_their_shortest_to_straight(seed, part):
    lengths, cones, near, far = three_links(random.Random(seed))
    distance = near + (far - near) * part
    bends = bends_at(lengths, cones, distance)
    assert span(lengths, bends) == pytest.approx(distance, abs=1e-6 * far)
    assert all(abs(bend) <= cone + 1e-9 for bend, cone in zip(bends, cones, strict=True))


@pytest.mark.parametrize("cones, distance", [((90, 30), 2.0), ((30, 90), 2.5), ((30, 90), 1.94)])
def test_three_links_meet_what_a_sampled_pass_or_the_papers_rule_misses(cones, distance):
    bends = bends_at([1.0, 1.0, 1.0], [radians(cone) for cone in cones], distance)
    assert span([1.0, 1.0, 1.0], bends) == pytest.approx(distance, abs=1e-9)
    # The first joint is at its limit, and the second bends no more than it must.
    assert degrees(bends[0]) == pytest.approx(cones[0])
    assert 0.0 < degrees(bends[1]) < cones[1]


@pytest.mark.parametrize("seed", range(20))
def test_the_bends_of_three_links_follow_the_distance_without_a_jump(seed):
    lengths, cones, _, far = three_links(random.Random(seed))

    def largest_step(steps):
        found = [bends_at(lengths, cones, far * k / steps) for k in range(steps + 1)]
        # A whole turn is none.
        return max(hypot(*(remainder(y - x, tau) for x, y in zip(a, b, strict=True))) for a, b in pairwise(found))

    assert largest_step(16 * STEPS) <= 0.4 * largest_step(STEPS) + 1e-3


def limb_out_of_plane(rng, **limits):
    """A limb whose own pose is in no plane, and a goal with a pole."""
    count = rng.randint(3, 4)
    cones = (None, *[rng.uniform(0.8, 2.5) for _ in range(count - 1)])
    case = straight([rng.uniform(0.5, 1.0) for _ in range(count)], random_unit(rng), cones=cones)
    toward, side = random_unit(rng), random_unit(rng)
    return replace(
        case,
        joints=tuple(single(joint) for joint in random_pose(case, rng)),
        target=single(times(toward, case.length * rng.uniform(0.5, 0.95))),
        pole=single(plus(times(toward, rng.uniform(-1.0, 1.0)), times(side, 3.0))),
    )


@pytest.mark.parametrize("root", [None, 3.1])
@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_a_limb_bends_towards_its_pole_whatever_plane_it_starts_in(seed, flip, root):
    case = limb_out_of_plane(random.Random(seed))
    # A cone of the root that forbids nothing here must not count.
    case = replace(case, flip=flip, cones=(root, *case.cones[1:]), parent=unit(case.target))
    solution = case.solved()
    along = unit(case.target)
    normal = unit(cross(along, case.pole))
    assert max(abs(dot(joint, normal)) for joint in solution.joints) <= 2e-6 * case.length
    side = cross(normal, along)
    assert (sum(dot(joint, side) for joint in solution.joints) < 0.0) is flip
    assert broken(case, solution) <= 1e-4
    assert untrue(case, solution) <= 1e-5


@pytest.mark.parametrize("seed", range(20))
def test_a_cone_of_the_root_that_forbids_nothing_changes_nothing(seed):
    free = replace(limb_out_of_plane(random.Random(seed)), parent=X)
    toward = replace(free, parent=unit(free.target))
    for case in (free, toward):
        solution, held = case.solved(), replace(case, cones=(3.1, *case.cones[1:])).solved()
        if angle_between(case.parent, solution.directions[0]) < 3.0:
            assert farthest_apart(solution.joints, held.joints) <= 1e-5
            assert solution.limited == held.limited
