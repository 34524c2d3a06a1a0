"""Smooth targets give smooth motion: half the step, half the largest move. Where no rule can, the side is stable."""

import random
from dataclasses import replace
from itertools import pairwise
from math import cos, pi, radians, sin

import pytest

from ik_addon.solvers import Hinge

from .limited import Limited, random_rotation, random_unit, straight
from .strategies import ORIGIN, TWO_BONE_SOLVERS, X, farthest_apart, plus, single, times, turned

STEPS = 100


def smooth_path(rng, frame, near, far):
    """A smooth way through the shell between two distances, on one side: within a radian of the frame's X axis."""
    speeds = [rng.uniform(1.0, 3.0) for _ in range(3)]
    starts = [rng.uniform(0.0, 2.0 * pi) for _ in range(3)]

    def at(time):
        one, other, out = (sin(speed * time + start) for speed, start in zip(speeds, starts, strict=True))
        toward = turned(frame, (cos(0.6 * one) * cos(0.6 * other), sin(0.6 * one) * cos(0.6 * other), sin(0.6 * other)))
        return single(times(toward, near + (far - near) * (0.5 + 0.5 * out)))

    return at


def largest_move(case, solver, path, steps):
    poses = [case.solved(solver, target=path(3.0 * k / steps)).joints for k in range(steps + 1)]
    return max(farthest_apart(a, b) for a, b in pairwise(poses))


def is_continuous(case, solver, path, finer):
    """Whether `finer` times the steps move no joint by more than a small part of before.

    By a quarter for four times; a jump keeps its size. Where one link of many sets out from its fold or from straight,
    its angle goes with the root of the way: then sixteen times the steps move by a quarter.
    """
    coarse, fine = (largest_move(case, solver, path, steps) for steps in (STEPS, finer * STEPS))
    return fine <= 0.4 * coarse + 2e-4 * case.length


def lengths_of(rng, count):
    return [rng.uniform(0.5, 1.0) for _ in range(count)]


def limb(rng, count, frame):
    """A limb along the frame's X axis that bends one way, in the plane of X and Z."""
    points, angle = [ORIGIN], 0.5
    for length in lengths_of(rng, count):
        points.append(plus(points[-1], times(turned(frame, (cos(angle), 0.0, sin(angle))), length)))
        angle -= rng.uniform(0.6, 1.2) / (count - 1)
    return Limited(tuple(single(point) for point in points))


def free_limb(count, with_pole, least_motion=False):
    def make(rng, frame):
        pole = single(turned(frame, (0.0, 0.0, 4.0))) if with_pole else None
        return replace(limb(rng, count, frame), pole=pole, least_motion=least_motion)

    return make


def cone_limb(count, with_pole, least_motion=False, bent=True):
    def make(rng, frame):
        case = limb(rng, count, frame)
        if not bent:
            case = straight(case.lengths, turned(frame, X))
        pole = single(turned(frame, (0.0, 0.0, 4.0))) if with_pole else None
        cones = (None, *[rng.uniform(1.0, 2.5) for _ in range(count - 1)])
        return replace(case, cones=cones, pole=pole, least_motion=least_motion)

    return make


def knee(with_pole, least_bend=None):
    def make(rng, frame):
        pole = single(turned(frame, (0.0, 0.0, 4.0))) if with_pole else None
        hinge = Hinge(single(turned(frame, (0.0, 1.0, 0.0))), 0.0, 2.4, None, least_bend)
        return straight(lengths_of(rng, 2), turned(frame, X), hinges=(None, hinge), pole=pole)

    return make


def papers_arm(rng, frame):
    return straight([18.0, 18.0, 4.0], turned(frame, X), cones=(None, radians(126), radians(90)))


LIMBS = {
    **{form: (free_limb(2, True), form) for form in TWO_BONE_SOLVERS},
    "two links without a pole": (free_limb(2, False), "VECTOR"),
    "triangulation": (free_limb(4, True), "TRIANGULATION"),
    "triangulation without a pole": (free_limb(4, False), "TRIANGULATION"),
    "least motion": (free_limb(4, True, least_motion=True), "TRIANGULATION"),
    "two cones": (cone_limb(2, True), "AUTO"),
    "two cones without a pole": (cone_limb(2, False), "AUTO"),
    "three cones": (cone_limb(3, True), "AUTO"),
    "three cones without a pole": (cone_limb(3, False), "AUTO"),
    "the paper's arm": (papers_arm, "AUTO"),
    "least motion of cones": (cone_limb(4, True, least_motion=True), "AUTO"),
    "least motion of cones from straight": (cone_limb(4, False, least_motion=True, bent=False), "AUTO"),
    "knee": (knee(True), "AUTO"),
    "knee without a pole": (knee(False), "AUTO"),
    "knee with a least bend": (knee(True, 0.2), "AUTO"),
}


@pytest.mark.some(12)
@pytest.mark.slow
@pytest.mark.parametrize("make, solver", LIMBS.values(), ids=LIMBS)
@pytest.mark.parametrize("softness", [0.0, 0.1])
def test_a_smooth_target_moves_the_joints_smoothly(make, solver, softness):
    rng = random.Random(11)
    jumps = 0
    for _ in range(3):
        frame = random_rotation(rng)
        case = replace(make(rng, frame), softness=softness)
        # With softness through full extension, without up to near it.
        path = smooth_path(rng, frame, 0.5 * case.length, (1.15 if softness else 0.95) * case.length)
        jumps += not is_continuous(case, solver, path, 16 if solver == "TRIANGULATION" else 4)
    assert not jumps


# Where the target alone does not tell the side


def near_by(rng, point, size):
    return single(plus(point, times(random_unit(rng), 1e-7 * size)))


SINGULAR = {
    # Pole, target: of a limb that bends in the plane of X and Z from the origin along X.
    "the target on the root": (None, ORIGIN),
    "the target on the root, with a pole": ((0.0, 0.0, 3.0), ORIGIN),
    "the target opposite to the limb": (None, (-1.2, 0.0, 0.0)),
    "the pole in line with the target": ((3.0, 0.0, 0.0), (1.2, 0.0, 0.0)),
    "the pole behind the target": ((-3.0, 0.0, 0.0), (1.2, 0.0, 0.0)),
}


@pytest.mark.parametrize("pole, target", SINGULAR.values(), ids=SINGULAR)
@pytest.mark.parametrize("form", [*TWO_BONE_SOLVERS, "cones", "knee", "straight", "straight cones"])
def test_where_any_side_would_do_noise_does_not_choose_it(form, pole, target):
    rng = random.Random(13)
    frame = (1.0, 0.0, 0.0, 0.0)
    made = {
        "cones": cone_limb(2, False),
        "knee": knee(False),
        "straight": lambda rng, frame: straight([1.0, 1.0], X),
        "straight cones": cone_limb(2, False, bent=False),
    }
    case = made.get(form, free_limb(2, False))(rng, frame)
    end = case.joints[-1] if pole is None and target[0] < 0.0 else None
    target = times(end, -0.8) if end else target
    solver = form if form in TWO_BONE_SOLVERS else "AUTO"
    poses = []
    for k in range(60):
        noise = case.length if k else 0.0
        wishes = {
            "target": near_by(rng, target, noise),
            "pole": pole and near_by(rng, pole, noise),
        }
        poses.append(case.solved(solver, **wishes).joints)
    assert max(farthest_apart(pose, poses[0]) for pose in poses) <= 2e-3
