"""Chains with joint limits: what holds for every limit, every goal and every solver."""

import random
from dataclasses import replace
from math import hypot, inf, isfinite, nan, pi, radians

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mathutils import Quaternion

from ik_addon.solvers import TWO_BONE_SOLVERS, Chain, ChainError, Goal, Hinge, Outcome, Swing, solve

from .limited import (
    KEPT,
    MET,
    Limited,
    angle_between,
    broken,
    doubled,
    elsewhere,
    margins,
    product,
    random_chain,
    random_goal,
    random_pose,
    random_rotation,
    random_unit,
    solved_turns,
    straight,
    untrue,
)
from .strategies import (
    ORIGIN,
    X,
    Y,
    Z,
    about,
    across,
    angle_of,
    cross,
    dot,
    farthest_apart,
    minus,
    plus,
    single,
    some_perpendicular,
    times,
    turned,
    unit,
)

DOWN = (0.0, 0.0, -1.0)
KINDS = {
    "cones": ["cone"],
    "some cones": ["cone", None],
    "hinges": ["hinge"],
    "swings": ["swing"],
    "all sorts": ["cone", "hinge", "swing", None],
}
every_kind = pytest.mark.parametrize(
    "kinds",
    [pytest.param(kinds, marks=[] if len(kinds) > 2 else pytest.mark.slow, id=name) for name, kinds in KINDS.items()],
)
seeds = st.integers(0, 2**32 - 1)


def some(count):
    return settings(max_examples=count)


def any_case(seed, kinds, **of):
    rng = random.Random(seed)
    return random_goal(rng, random_chain(rng, kinds, **of))


# Limits hold


@every_kind
@some(50)
@given(seed=seeds)
def test_no_limit_is_broken_and_lengths_and_rotations_are_true(kinds, seed):
    case = any_case(seed, kinds)
    solution = case.solved()
    assert broken(case, solution) <= KEPT, case
    assert untrue(case, solution) <= 2e-5, case
    if hypot(*minus(case.target, case.root)) <= 1e-6 * case.length:
        assert solution.stretch == 1.0


@every_kind
@some(25)
@given(seed=seeds)
def test_the_iterative_solver_breaks_no_limit_either(kinds, seed):
    case = any_case(seed, kinds)
    solution = case.solved("CCD")
    assert broken(case, solution) <= KEPT, case
    assert untrue(case, solution) <= 2e-5, case


@pytest.mark.parametrize("solver", TWO_BONE_SOLVERS)
@some(15)
@given(seed=seeds)
def test_every_form_keeps_the_limits_of_two_links(solver, seed):
    case = any_case(seed, KINDS["all sorts"], counts=(2,))
    assert broken(case, case.solved(solver)) <= KEPT, case


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("own_stem", [False, True])
@some(60)
@given(seed=seeds, spare=st.floats(0.01, 2.5))
def test_a_cone_beside_a_swing_holds_as_well(own_stem, seed, spare):
    rng = random.Random(seed)
    case = random_chain(rng, KINDS["swings"], counts=(2, 2, 3))
    befores, swings, cones = [case.parent, *case.directions[:-1]], [], []
    for joint, before, along in zip(case.swings, befores, case.directions, strict=True):
        zero = along if joint.rest is None else turned(doubled(joint.rest), along)
        across_zero = single(unit(across(random_unit(rng), zero)))
        swings.append(joint if own_stem else joint._replace(across=across_zero, along=None))
        # Wide enough for the rest direction, which may lie far off the link before.
        cones.append(before and min(pi, angle_between(before, zero) + spare))
    case = random_goal(rng, replace(case, swings=tuple(swings), cones=tuple(cones)))
    # Where both bind, the rounding of the one adds to that of the other.
    assert broken(case, case.solved()) <= 2.0 * KEPT, case


@some(100)
@given(seed=seeds, angle=st.floats(0.3, 3.0))
def test_every_turn_between_two_legal_ones_is_in_the_cone(seed, angle):
    rng = random.Random(seed)
    rest = Quaternion(about(X, angle - 0.2))
    swings = (None, Swing(Y, (-pi, pi), (-pi, pi), rest=rest))
    joint = straight([1.0, 1.0], swings=swings, cones=(None, angle)).chain.limits[1]
    first, second = (joint.at(rng.random(), rng.random()) for _ in range(2))
    for step in range(21):
        assert angle_between(joint.between(first, second, step / 20.0) @ joint.zero, Z) <= angle + KEPT


@pytest.mark.parametrize("twist", [(0.0, 0.0), (-0.3, 0.5), (-pi, pi)])
@some(30)
@given(seed=seeds, count=st.integers(2, 4), narrow=st.booleans(), part=st.floats(0.0, 0.6))
def test_a_link_that_folds_back_all_the_way_keeps_its_limits(twist, seed, count, narrow, part):
    # Swung by half a turn a link has no twist of its own: there a turn can be read in many ways.
    rng = random.Random(seed)
    toward = random_unit(rng)
    across_link = single(turned(about(toward, rng.uniform(-pi, pi)), some_perpendicular(toward)))
    joint = Swing(across_link, (-2.3, 0.2) if narrow else (-pi, pi), twist=twist)
    case = straight([rng.uniform(0.5, 1.0) for _ in range(count)], toward, swings=(None, *[joint] * (count - 1)))
    case = replace(case, target=single(times(random_unit(rng), part)), least_motion=rng.random() < 0.5)
    assert broken(case, case.solved()) <= KEPT, case


@some(60)
@given(seed=seeds, with_pole=st.booleans(), most=st.floats(0.05, 3.0))
def test_the_limit_of_the_root_holds_with_a_pole(seed, with_pole, most):
    rng = random.Random(seed)
    count = rng.randint(1, 5)
    case = straight([rng.uniform(0.3, 1.0) for _ in range(count)], Z, parent=random_unit(rng))
    case = random_goal(rng, replace(case, cones=(most, *[rng.uniform(0.0, pi)] * (count - 1))))
    pole = single(times(random_unit(rng), 2.0)) if with_pole else None
    solution = case.solved(pole=pole)
    assert angle_between(case.parent, solution.directions[0]) <= most + KEPT


@some(60)
@given(seed=seeds, most=st.floats(0.2, 2.0), part=st.floats(0.3, 0.98))
def test_where_the_root_forbids_the_poles_side_the_knee_goes_to_the_nearest_side_that_it_allows(seed, most, part):
    rng = random.Random(seed)
    a, b = rng.uniform(0.5, 1.0), rng.uniform(0.5, 1.0)
    toward = random_unit(rng)
    side = turned(about(toward, rng.uniform(-pi, pi)), some_perpendicular(toward))
    distance = abs(a - b) + (a + b - abs(a - b)) * part
    case = straight([a, b], Z, cones=(most, None), parent=single(random_unit(rng)))
    case = replace(case, target=single(times(toward, distance)), pole=single(plus(times(side, 2.0), toward)))
    # The first link on its circle about the line to the target, by degrees from the pole's side.
    cosine = (a * a + distance * distance - b * b) / (2.0 * a * distance)
    sine = max(0.0, 1.0 - cosine * cosine) ** 0.5
    allowed = []
    for degree in range(-180, 180):
        out = turned(about(toward, radians(degree)), side)
        if angle_between(case.parent, plus(times(toward, cosine), times(out, sine))) <= most:
            allowed.append(abs(degree))
    if len(allowed) >= 20:
        solution = case.solved()
        assert solution.residual <= MET * case.length
        assert angle_between(across(solution.joints[1], toward), side) <= radians(min(allowed) + 1.0)


@some(80)
@given(seed=seeds, count=st.integers(2, 8), part=st.floats(0.2, 0.98), most=st.floats(0.3, 3.0))
def test_chains_of_cones_bend_in_the_plane_of_the_pole_and_to_its_side(seed, count, part, most):
    rng = random.Random(seed)
    toward = random_unit(rng)
    side = turned(about(toward, rng.uniform(-pi, pi)), some_perpendicular(toward))
    cones = (None, *[rng.uniform(0.7, 1.0) * most for _ in range(count - 1)])
    case = straight([rng.uniform(0.5, 1.0) for _ in range(count)], random_unit(rng), cones=cones)
    target = times(toward, part * case.length)
    solution = case.solved(target=single(target), pole=single(plus(times(side, 2.0), toward)))
    normal = cross(toward, side)
    assert max(abs(dot(joint, normal)) for joint in solution.joints) <= 2e-5 * case.length
    assert sum(dot(joint, side) for joint in solution.joints) >= -2e-5 * case.length


# Outcome, residual and flags


@every_kind
@some(60)
@given(seed=seeds)
def test_limited_means_that_free_links_would_reach_and_these_do_not(kinds, seed):
    case = replace(any_case(seed, kinds), softness=0.0, stretch_max=1.0)
    solution = case.solved()
    near, far = max(0.0, 2.0 * max(case.lengths) - case.length), case.length
    missed = solution.residual
    slack = 2e-6 * (case.length + max(abs(value) for point in (*case.joints, case.target) for value in point))
    if case.distance > far * (1.0 + MET) + slack:
        assert solution.outcome is Outcome.TOO_FAR
    elif case.distance < near - MET * far - slack:
        assert solution.outcome is Outcome.TOO_NEAR
    elif near + slack <= case.distance <= far - slack and missed > MET * far + slack:
        assert solution.outcome is Outcome.LIMITED
    elif near + slack <= case.distance <= far - slack and missed < MET * far - slack:
        assert solution.outcome is Outcome.REACHED
    assert missed >= max(0.0, near - case.distance, case.distance - far) - slack


@every_kind
@some(60)
@given(seed=seeds)
def test_limited_joints_are_those_that_stand_at_a_limit(kinds, seed):
    case = any_case(seed, kinds)
    solution = case.solved()
    joints = zip(case.rules, solved_turns(solution), margins(case, solution), solution.limited, strict=True)
    for rule, turn, margin, limited in joints:
        # Far from the rim of a long and narrow ellipse is not far from its quarters' ends.
        if margin > 1e-2 and not rule.folds_back(turn):
            assert not limited, case
        if margin < 2e-5:
            assert limited, case


# Knees


def knee(lengths, bend, least=None, most=2.6, toward=DOWN, axis=X):
    """Two links bent by `bend` about `axis`, whose hinge lets them bend by `least` to `most`."""
    after = turned(about(axis, bend), toward)
    joints = [ORIGIN, times(toward, lengths[0])]
    joints.append(plus(joints[1], times(after, lengths[1])))
    hinge = Hinge(axis, -0.4, most, Quaternion(about(axis, -bend)), least)
    return Limited(tuple(single(joint) for joint in joints), hinges=(None, hinge))


knees = st.builds(knee, st.tuples(st.floats(0.5, 1.0), st.floats(0.5, 1.0)), st.floats(0.2, 2.0), st.floats(0.0, 0.19))


def signed_bend(case, solution):
    """The angle of the second link against the first, about the hinge's axis as the first link carries it."""
    axis = turned(doubled(solution.rotations[0]), unit(case.hinges[1].axis))
    first, second = solution.directions
    return angle_between(first, second) * (1.0 if dot(cross(first, second), axis) >= 0.0 else -1.0)


@some(80)
@given(case=knees, seed=seeds)
def test_a_knee_is_never_straighter_than_its_least_bend_nor_bends_back(case, seed):
    case = random_goal(random.Random(seed), case)
    solution = case.solved()
    assert case.hinges[1].least_bend - KEPT <= signed_bend(case, solution) <= 2.6 + KEPT


@some(80)
@given(case=knees, seed=seeds, part=st.floats(0.3, 1.5))
def test_the_pole_decides_where_the_knee_points(case, seed, part):
    rng = random.Random(seed)
    toward = random_unit(rng)
    side = turned(about(toward, rng.uniform(-pi, pi)), some_perpendicular(toward))
    pole = plus(times(toward, rng.uniform(-1.0, 1.0)), times(side, rng.uniform(0.5, 3.0)))
    case = replace(case, target=single(times(toward, part * case.length)), pole=single(pole))
    offset = across(case.solved().joints[1], toward)
    assert dot(offset, side) > -2e-6
    assert abs(dot(offset, cross(toward, side))) <= 2e-5 * case.length


@some(60)
@given(case=knees, seed=seeds, away=st.floats(0.5, 3.0), with_pole=st.booleans())
def test_a_knee_whose_target_is_its_own_end_gives_its_pose_back(case, seed, away, with_pole):
    along = unit(case.joints[-1])
    pole = plus(times(unit(across(case.joints[1], along)), away), times(along, away - 1.5))
    solution = case.solved(target=case.joints[-1], pole=single(pole) if with_pole else None)
    assert farthest_apart(solution.joints, case.joints) <= 2e-5
    assert max(angle_of(doubled(rotation)) for rotation in solution.rotations) <= 1e-4


@some(40)
@given(seed=seeds)
def test_a_legal_limb_of_cones_whose_target_is_its_own_end_gives_its_pose_back(seed):
    rng = random.Random(seed)
    case = straight([rng.uniform(0.5, 1.0) for _ in range(2)], random_unit(rng), cones=(None, rng.uniform(0.5, 3.0)))
    case = replace(case, joints=tuple(single(joint) for joint in random_pose(case, rng)))
    if 0.01 < angle_between(*case.directions) < pi - 0.01:
        solution = case.solved(target=case.joints[-1])
        # Nearly straight the bend has the square root of a rounding.
        assert farthest_apart(solution.joints, case.joints) <= 1e-4
        assert max(angle_of(doubled(rotation)) for rotation in solution.rotations) <= 1e-3


# Invariance


def calm(seed, sort):
    """A chain with limits and a goal well in reach, the pole well off the line."""
    rng = random.Random(seed)
    if sort == "knee":
        case = knee([rng.uniform(0.5, 1.0), rng.uniform(0.5, 1.0)], rng.uniform(0.2, 2.0), 0.1)
    else:
        count = 2 if sort == "two cones" else 3
        cones = (None, *[rng.uniform(1.5, 3.0) for _ in range(count - 1)])
        case = straight([rng.uniform(0.7, 1.0) for _ in range(count)], random_unit(rng), cones=cones)
    toward = random_unit(rng)
    side = turned(about(toward, rng.uniform(-pi, pi)), some_perpendicular(toward))
    target = times(toward, case.length * rng.uniform(0.8, 0.97))
    return replace(case, target=single(target), pole=single(plus(times(side, 2.0), toward)))


def moved(case, rotation, offset, factor):
    def point(p):
        return single(plus(times(turned(rotation, p), factor), offset))

    def about_it(q):
        return (
            None
            if q is None
            else Quaternion(product(product(rotation, tuple(q)), (rotation[0], *times(rotation[1:], -1.0))))
        )

    hinges = case.hinges and tuple(
        h and h._replace(axis=single(turned(rotation, h.axis)), rest=about_it(h.rest)) for h in case.hinges
    )
    return replace(
        case,
        joints=tuple(map(point, case.joints)),
        target=point(case.target),
        pole=point(case.pole),
        hinges=hinges,
        parent=case.parent and single(turned(rotation, case.parent)),
    )


@pytest.mark.parametrize("sort", ["two cones", "three cones", "knee"])
@some(25)
@given(seed=seeds, decade=st.floats(-6.0, 6.0))
def test_turned_moved_and_scaled_a_case_has_its_solution_turned_moved_and_scaled(sort, seed, decade):
    case, rng, factor = calm(seed, sort), random.Random(seed), 10.0**decade
    rotation, offset = random_rotation(rng), times(random_unit(rng), factor)
    here, there = case.solved(), moved(case, rotation, offset, factor).solved()
    expected = [plus(times(turned(rotation, joint), factor), offset) for joint in here.joints]
    assert farthest_apart(expected, there.joints) <= 1e-4 * factor
    assert there.outcome is here.outcome
    assert there.limited == here.limited


@some(60)
@given(seed=seeds)
def test_limits_that_forbid_nothing_change_nothing_for_two_links(seed):
    case = calm(seed, "two cones")
    free = solve(Chain(case.joints), case.goal)
    for changes in ({"cones": (pi, pi), "parent": X}, {"cones": (None, None)}, {"cones": (7.0, 4.0), "parent": Y}):
        solution = replace(case, **{"cones": None, "parent": None, **changes}).solved()
        assert farthest_apart(solution.joints, free.joints) <= 1e-5
        assert solution.outcome is free.outcome
        assert not any(solution.limited)


@some(40)
@given(seed=seeds, count=st.integers(2, 8))
def test_limits_that_forbid_nothing_let_a_chain_reach_the_same(seed, count):
    rng = random.Random(seed)
    case = straight([rng.uniform(0.1, 1.0) for _ in range(count)], random_unit(rng), cones=(pi,) * count, parent=X)
    case = replace(case, target=single(times(random_unit(rng), case.length * rng.uniform(0.0, 1.3))))
    assert case.solved().residual == pytest.approx(solve(Chain(case.joints), case.goal).residual, abs=MET * case.length)


# Any finite input, and what is refused


def numbers_of(solution):
    for vector in (*solution.joints, *solution.directions, *solution.rotations, solution.turn, solution.normal):
        yield from vector
    yield from (solution.residual, solution.stretch)


@pytest.mark.some(120)
@pytest.mark.parametrize("solver", ["AUTO", "CCD"])
@pytest.mark.parametrize("joints", [[ORIGIN] * 3, [ORIGIN, ORIGIN, Z], [ORIGIN, Z, Z], [ORIGIN, Z, ORIGIN], [X, Z, X]])
@pytest.mark.parametrize("target", [ORIGIN, Z, (0.0, 0.0, 2.0), (0.0, 0.0, -5.0), (1e-30, 0.0, 0.0), (3e14, 0.0, 0.0)])
@pytest.mark.parametrize(
    "limits",
    [
        {"cones": (0.0, 0.0), "parent": X},
        {"cones": (pi, 0.0), "parent": DOWN},
        {"hinges": (Hinge(X, 0.5, 0.5), Hinge(Y, 0.0, 0.0))},
        {"hinges": (None, Hinge(Z, -pi, pi))},
        {"swings": (None, Swing(X, (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)))},
        {"swings": (Swing(X, (0.0, 1.0)), Swing(Y, (-pi, pi), (-1.0, 0.0), (-0.1, 0.1)))},
    ],
)
def test_degenerate_chains_and_limits_give_finite_solutions(solver, joints, target, limits):
    case = Limited(tuple(joints), target, **limits)
    for changes in ({}, {"pole": target}, {"least_motion": True, "softness": 0.3, "flip": True}, {"stretch_max": 9.0}):
        solution = case.solved(solver, **changes)
        assert all(isfinite(number) for number in numbers_of(solution))
        assert broken(case, solution) <= KEPT


LEG = straight([1.0, 1.0], DOWN)
BAD_LIMITS = {
    "negative cone": ({"cones": (None, -0.1)}, "link 1"),
    "cone nan": ({"cones": (None, nan)}, "link 1"),
    "cone inf": ({"cones": (inf, None), "parent": DOWN}, "link 0"),
    "hinge nan": ({"hinges": (None, Hinge(X, nan, 1.0))}, "link 1"),
    "hinge inf": ({"hinges": (None, Hinge(X, 0.0, inf))}, "link 1"),
    "hinge upside down": ({"hinges": (Hinge(X, 1.0, 0.5), None)}, "link 0"),
    "hinge without axis": ({"hinges": (None, Hinge(ORIGIN, 0.0, 1.0))}, "link 1"),
    "hinge axis nan": ({"hinges": (None, Hinge((nan, 0.0, 1.0), 0.0, 1.0))}, "link 1"),
    "rest without size": ({"hinges": (None, Hinge(X, 0.0, 1.0, Quaternion((0.0, 0.0, 0.0, 0.0))))}, "link 1"),
    "rest nan": ({"swings": (Swing(X, rest=Quaternion((nan, 0.0, 0.0, 0.0))), None)}, "link 0"),
    "least bend nan": ({"hinges": (None, Hinge(X, 0.0, 1.0, None, nan))}, "link 1"),
    "least bend negative": ({"hinges": (None, Hinge(X, 0.0, 1.0, None, -0.1))}, "link 1"),
    "least bend over the range": ({"hinges": (None, Hinge(X, 0.0, 1.0, None, 1.5))}, "link 1"),
    "swing nan": ({"swings": (None, Swing(X, (nan, 1.0)))}, "link 1"),
    "swing upside down": ({"swings": (None, Swing(X, (0.5, -0.5)))}, "link 1"),
    "swing without its rest": ({"swings": (None, Swing(X, (0.5, 1.0)))}, "link 1"),
    "swing axis along the link": ({"swings": (None, Swing(DOWN, (-0.5, 1.0)))}, "link 1"),
    "swing without axis": ({"swings": (None, Swing(ORIGIN))}, "link 1"),
    "twist upside down": ({"swings": (None, Swing(X, twist=(1.0, 0.0)))}, "link 1"),
    "twist inf": ({"swings": (None, Swing(X, twist=(-inf, inf)))}, "link 1"),
    "hinge and swing": ({"hinges": (None, Hinge(X)), "swings": (None, Swing(X))}, "link 1"),
    "cone away from its hinge": ({"cones": (None, 0.1), "hinges": (None, Hinge(X, 1.0, 2.0))}, "link 1"),
    "too few cones": ({"cones": (1.0,)}, "cones"),
    "too many hinges": ({"hinges": (None, Hinge(X), None)}, "hinges"),
    "too few swings": ({"swings": (Swing(X),)}, "swings"),
    "parent without direction": ({"cones": (1.0, 1.0), "parent": ORIGIN}, "the parent direction"),
    "parent nan": ({"cones": (1.0, 1.0), "parent": (nan, 0.0, 0.0)}, "the parent direction"),
}


@pytest.mark.parametrize("limits, named", BAD_LIMITS.values(), ids=BAD_LIMITS)
def test_limits_that_are_none_are_refused_by_the_link_that_has_them(limits, named):
    with pytest.raises(ChainError, match=named):
        replace(LEG, **limits).chain  # noqa: B018


@pytest.mark.parametrize("limited", [True, False])
@pytest.mark.parametrize(
    "wish, name",
    [
        ({"stretch_max": 0.99}, "stretch"),
        ({"stretch_max": nan}, "stretch"),
        ({"stretch_max": inf}, "stretch"),
        ({"softness": -0.1}, "softness"),
        ({"softness": 0.6}, "softness"),
        ({"softness": nan}, "softness"),
        ({"swivel": nan}, "swivel"),
        ({"swivel": inf}, "swivel"),
        ({"pole": (nan, 0.0, 0.0)}, "pole"),
    ],
)
def test_wishes_out_of_their_range_are_refused(limited, wish, name):
    case = replace(LEG, cones=(None, 1.0)) if limited else LEG
    with pytest.raises(ChainError, match=name):
        solve(case.chain, Goal((0.3, 0.0, -1.0), **wish))


def test_limits_are_given_as_plain_tuples_too():
    case = replace(LEG, target=(0.3, 0.5, -1.0))
    named = replace(case, hinges=(None, Hinge(X, 0.0, 2.0))).solved()
    plain = replace(case, hinges=(None, (X, 0.0, 2.0))).solved()
    assert (plain.rotations, plain.outcome) == (named.rotations, named.outcome)


def any_pair(rng):
    """Two links of any kind: straight or bent, symmetric ranges or others, on either joint or both."""
    along = random_unit(rng)
    normal = unit(across(random_unit(rng), along))
    second = rng.choice([along, turned(about(normal, rng.uniform(-2.0, 2.0)), along)])
    lengths = (1.0, rng.choice([1.0, rng.uniform(0.4, 1.5)]))
    cones, hinges, swings = [], [], []
    for link in (along, second):
        kind = rng.choice(["free", "hinge", "box", "one axis", "twist", "cone"])
        across_link = rng.choice([normal, unit(across(random_unit(rng), link))])
        wide, narrow = rng.choice([pi / 2.0, rng.uniform(0.1, 2.5)]), rng.uniform(0.1, 2.0)
        span = rng.choice([(-wide, wide), (-narrow, wide), (0.0, wide)])
        free = (-pi, pi)
        sides = {"box": (span, (-narrow, narrow)), "one axis": (span, free), "twist": (free, free)}.get(kind)
        twist = rng.choice([free, (-0.5, 0.5), (0.0, 0.0)]) if kind != "one axis" else free
        cones.append(wide if kind == "cone" else None)
        hinges.append(Hinge(single(across_link), *span) if kind == "hinge" else None)
        swings.append(Swing(single(across_link), *sides, twist) if sides else None)
    joints = tuple(map(single, (ORIGIN, along, plus(along, times(second, lengths[1])))))
    limits = {"cones": tuple(cones), "hinges": tuple(hinges), "swings": tuple(swings)}
    return Limited(joints, parent=single(random_unit(rng)), bend_normal=single(normal), **limits)


def any_cones(rng):
    """Three to six links limited by cones, below a root that is free."""
    normal, count = random_unit(rng), rng.randint(3, 6)
    lengths = [rng.uniform(0.3, 1.0) for _ in range(count)]
    cones = (None, *(rng.uniform(0.2, 2.5) for _ in lengths[1:]))
    along = unit(across(random_unit(rng), normal))
    return straight(lengths, along, cones=cones, bend_normal=single(normal))


@pytest.mark.parametrize(("make", "certain"), [(any_pair, 0.5), (any_cones, 0.99)])
@pytest.mark.parametrize("seed", range(40))
def test_what_was_not_searched_for_is_the_same_in_any_space(make, certain, seed):
    rng = random.Random(seed)
    apart = []
    for _ in range(20):
        case = make(rng)
        target = rng.choice([random_pose(case, rng)[-1], times(random_unit(rng), case.length * rng.uniform(0.1, 1.5))])
        pole = rng.choice([None, times(random_unit(rng), 2.0 * case.length)])
        wishes = {"swivel": rng.choice([0.0, 1.0]), "flip": rng.random() < 0.3, "softness": rng.choice([0.0, 0.2])}
        case = replace(case, target=single(target), pole=pole and single(pole), **wishes)
        space = random_rotation(rng)
        here, there = case.solved(), elsewhere(case, space).solved()
        if here.searched or there.searched:
            continue
        pairs = zip(here.rotations, there.rotations, strict=True)
        turns = [(product(space, doubled(a)), product(doubled(b), space)) for a, b in pairs]
        apart.append(max(2.0 * angle_between(a, b) % (2.0 * pi) for a, b in turns))
    away = [min(angle, 2.0 * pi - angle) for angle in apart]
    assert len(away) >= certain * 0.3 * 20
    # Next to full extension a bend is the square root of a rounding, as it is without limits.
    assert max(away) < 2e-3
    assert sum(angle > 1e-4 for angle in away) <= 0.12 * len(away) + 1
