"""What chains with joint limits reach, against brute force: every distance there is, and the nearest elsewhere."""

import random
from dataclasses import replace
from math import pi, radians

import numpy as np
import pytest

from ik_addon.solvers import Hinge, Swing

from .limited import KEPT, MET, broken, planar_nearest, random_pose, random_unit, straight
from .strategies import X, Y, Z, plus, single, times

pytestmark = pytest.mark.slow

DOWN = (0.0, 0.0, -1.0)
BANDS = [(10, 60), (60, 120), (120, 170), (10, 170)]


def goal(rng, case, distance):
    """The chain, from a straight or any other legal pose, with a target at a distance from its root."""
    if rng.random() < 0.5:
        case = replace(case, joints=tuple(single(joint) for joint in random_pose(case, rng)))
    return replace(
        case,
        target=single(times(random_unit(rng), distance)),
        pole=rng.choice([None, single(times(random_unit(rng), case.length))]),
        least_motion=rng.random() < 0.3,
        flip=rng.random() < 0.3,
    )


def random_cones(rng, band):
    lengths = [rng.uniform(0.2, 1.0) for _ in range(rng.randint(2, 8))]
    return straight(lengths, random_unit(rng), cones=(None, *(radians(rng.uniform(*band)) for _ in lengths[1:])))


def share_reached(cases):
    return sum(case.solved().residual <= MET * case.length for case in cases) / len(cases)


# A free root: the distances that are reached fill one interval


def test_the_papers_arm_reaches_every_distance_that_there_is():
    rng = random.Random(1)
    arm = straight([18.0, 18.0, 4.0], cones=(None, radians(126), radians(90)))
    assert share_reached([goal(rng, arm, 12.9081 + 27.0919 * rng.random()) for _ in range(300)]) == 1.0


@pytest.mark.parametrize("band", BANDS)
def test_cones_reach_every_distance_that_brute_force_finds(band):
    rng, numbers = random.Random(3), np.random.default_rng(3)
    cases = []
    for _ in range(50):
        chain = random_cones(rng, band)
        near, far = planar_nearest(chain.lengths, chain.cones[1:], numbers), chain.length
        for part in (0.0, 1.0, 0.0005, 0.9995, rng.random() ** 3, rng.random(), rng.random(), rng.random()):
            cases.append(goal(rng, chain, near + (far - near) * part))
    assert share_reached(cases) >= 0.995


@pytest.mark.parametrize("band", BANDS)
def test_what_cones_do_not_reach_they_miss_by_as_little_as_brute_force(band):
    rng, numbers = random.Random(5), np.random.default_rng(5)
    for _ in range(60):
        chain = random_cones(rng, band)
        near, far = planar_nearest(chain.lengths, chain.cones[1:], numbers), chain.length
        for distance in (near * rng.random(), near * 0.99, far * rng.uniform(1.0, 2.0)):
            case = goal(rng, chain, distance)
            least = max(0.0, near - case.distance, case.distance - far)
            assert least - 2e-5 * far <= case.solved().residual <= least + 2e-4 * far


# Roots with limits of their own


def rooted_cones(rng):
    lengths = [rng.uniform(0.2, 1.0) for _ in range(rng.randint(2, 6))]
    toward = random_unit(rng)
    return straight(
        lengths,
        toward,
        cones=tuple(radians(rng.uniform(10.0, 90.0)) for _ in lengths),
        parent=rng.choice([toward, single(random_unit(rng))]),
    )


def hip_and_knee(rng):
    hip = Swing(
        X,
        (-rng.uniform(0.3, 1.0), rng.uniform(1.0, 2.3)),
        (-rng.uniform(0.2, 0.7), rng.uniform(0.5, 1.4)),
        (-rng.uniform(0.2, 1.0), rng.uniform(0.2, 1.0)),
    )
    lengths = [rng.uniform(0.5, 1.0), rng.uniform(0.5, 1.0)]
    return straight(lengths, DOWN, swings=(hip, None), hinges=(None, Hinge(X, 0.0, rng.uniform(1.5, 2.8))))


def hinges_alone(rng):
    lengths = [rng.uniform(0.3, 1.0) for _ in range(rng.randint(3, 6))]
    ranges = [sorted(rng.uniform(-pi / 2.0, pi / 2.0) for _ in range(2)) for _ in lengths]
    return straight(lengths, random_unit(rng), hinges=tuple(Hinge(single(random_unit(rng)), *ends) for ends in ranges))


def leg(rng):
    knee, ankle = Hinge(X, 0.0, radians(150)), Hinge(X, -pi / 4.0, pi / 4.0)
    hip = rng.choice([{}, {"parent": DOWN, "cones": (radians(80), None, None)}])
    return straight([1.0, 0.9, 0.3], DOWN, hinges=(None, knee, ankle), **hip)


def alternating_hinges(rng):
    lengths = [rng.uniform(0.3, 1.0) for _ in range(rng.randint(3, 5))]
    hinges = [Hinge((X, Y)[k % 2], -rng.uniform(0.5, 2.1), rng.uniform(0.5, 2.1)) for k in range(len(lengths))]
    return straight(lengths, Z, hinges=(rng.choice([None, hinges[0]]), *hinges[1:]))


@pytest.mark.parametrize("with_pole", [False, True])
@pytest.mark.parametrize("sort", [rooted_cones, hip_and_knee, hinges_alone, leg, alternating_hinges])
def test_chains_reach_the_ends_of_random_legal_poses_from_limited_roots(sort, with_pole):
    rng = random.Random(6)
    cases = []
    for _ in range(25):
        chain = sort(rng)
        for _ in range(3):
            pole = single(times(random_unit(rng), 3.0)) if with_pole else None
            cases.append(replace(chain, target=single(random_pose(chain, rng)[-1]), pole=pole))
    assert share_reached(cases) >= 0.99
    assert max(broken(case, case.solved()) for case in cases[::3]) <= KEPT


@pytest.mark.parametrize("sort", [rooted_cones, hip_and_knee, hinges_alone, leg, alternating_hinges])
def test_no_random_legal_pose_ends_much_nearer_to_a_target_out_of_reach(sort):
    rng = random.Random(7)
    for _ in range(10):
        chain = sort(rng)
        ends = np.array([random_pose(chain, rng)[-1] for _ in range(100)])
        target = single(plus(chain.root, times(random_unit(rng), chain.length * rng.uniform(0.0, 1.2))))
        nearest = np.linalg.norm(ends - np.array(target), axis=1).min()
        assert replace(chain, target=target).solved().residual <= nearest + 2e-4 * chain.length
