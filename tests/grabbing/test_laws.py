"""What a body that is grabbed does, whatever the place: the start is itself, no way there matters, sides are alike."""

import itertools
from math import dist, hypot
from random import Random

import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from benchmarks.grabbing import ALONG, METARIGS, PIXELS, direction, drag_of, largest_turn, ready
from ik_addon.grabbing.solving.drag import Drag, GrabOptions, grabbed
from ik_addon.grabbing.solving.geometry import NO_MOVE, add, dot, mul, sub, unit
from ik_addon.grabbing.solving.holding import held_shift

from .bodies import body_of, drags_of, joints, person, random_drag


@pytest.fixture(params=["person", *METARIGS])
def body(request):
    return body_of(person() if request.param == "person" else ready(request.param))


def test_a_joint_that_is_not_moved_moves_nothing(body):
    for drag in [*drags_of(body), *(Drag("JOINT", k) for k in range(len(body.limbs)))]:
        for held in ({}, {k: "BOTH" for k in range(len(body.limbs))}, {0: "LOCATION"}, {0: "ROTATION"}):
            pose = grabbed(body, drag, drag.start(body), held)
            # What is only of rounding is not written but where a triangle is closed anew.
            turns = [dist(pose.channels.turns[k][1:], body.bones.turns[k][1:]) for k in pose.channels.turns]
            assert max(turns, default=0.0) < 1e-7, (drag, held)
            assert pose.missed < 1e-6 * body.size and pose.unheld < 1e-12 * body.size


@pytest.mark.parametrize("seed", range(5))
def test_no_way_and_no_order_matters(body, seed):
    random = Random(seed)
    for _ in range(5):
        drag, goal, held = random_drag(body, random)
        direct = grabbed(body, drag, goal, held)
        for _ in range(3):
            grabbed(body, drag, add(goal, mul(direction(random), body.size)), held)
        again = grabbed(body, drag, goal, dict(reversed(held.items())))
        assert again.channels == direct.channels and again.missed == direct.missed


@pytest.mark.parametrize("seed", range(5))
def test_a_mirrored_drag_gives_the_mirrored_pose(seed):
    body, random = body_of(person()), Random(seed)
    names = body.bones.names

    def flipped(name):
        return name[:-1] + {"L": "R", "R": "L"}[name[-1]] if name[-2:] in (".L", ".R") else name

    def other(k):
        tip = flipped(names[body.limbs[k].links[-1]])
        return next(number for number, limb in enumerate(body.limbs) if names[limb.links[-1]] == tip)

    for _ in range(6):
        drag, goal, held = random_drag(body, random)
        pose = joints(body, grabbed(body, drag, goal, held))
        across = drag._replace(limb=other(drag.limb)) if drag.limb >= 0 else drag
        mirrored = grabbed(body, across, (-goal[0], *goal[1:]), {other(k): how for k, how in held.items()})
        there = joints(body, mirrored)
        for bone, place in pose.items():
            apart = there[names.index(flipped(names[bone]))] - place * (-1, 1, 1)
            assert np.abs(apart).max() < 1e-6 * body.size


@pytest.mark.parametrize("seed", range(4))
def test_a_body_that_is_larger_and_turned_poses_alike(seed):
    random = Random(seed)
    matrix = Matrix.LocRotScale((3, -1, 2), Euler((0.4, 1.2, -0.7)), (7.0, 7.0, 7.0))
    plain, moved = body_of(person()), body_of(person(matrix, matrix.inverted()))
    for _ in range(6):
        drag, goal, held = random_drag(plain, random)
        here = joints(plain, grabbed(plain, drag, goal, held))
        there = joints(moved, grabbed(moved, drag, tuple(matrix @ Vector(goal)), held))
        for bone, place in here.items():
            assert (Vector(there[bone]) - matrix @ Vector(place)).length < 2e-5 * moved.size


@pytest.mark.parametrize("seed", range(12))
def test_nothing_jumps_on_a_straight_way(body, seed):
    random = Random(seed)
    drag, start, held = random_drag(body, random)
    way = mul(direction(random), body.size / PIXELS)
    poses = [grabbed(body, drag, add(start, mul(way, k)), held) for k in range(40)]
    turns = [largest_turn(body, a, b) for a, b in itertools.pairwise(poses)]
    assert max(turns) < 20.0


@pytest.mark.parametrize("seed", range(10))
def test_what_is_held_stays_and_a_miss_is_told(body, seed):
    random = Random(seed)
    for _ in range(5):
        drag, goal, held = random_drag(body, random, 2.0)
        pose = grabbed(body, drag, goal, held)
        assert pose.unheld < 1e-11 * body.size
        at = pose.channels
        for k in held:
            limb = body.limbs[k]
            is_lifted = limb.found.toe in pose.moves
            end = at.end(limb.found.end, limb.ball) if is_lifted else at.end(limb.links[-1], limb.end)
            assert dist(end, limb.ball if is_lifted else limb.end) < 1e-9 * body.size
        if drag.kind == "LIMB":
            limb = body.limbs[drag.limb]
            assert abs(dist(at.end(limb.links[-1], limb.end), goal) - pose.missed) < 1e-8 * body.size


@pytest.mark.parametrize("seed", range(8))
def test_no_shift_is_nearer(seed):
    """Of any that serve all shells: to the wish, and to the ball where they have nothing in common with it."""
    random, up = Random(seed), (0.0, 0.0, 1.0)
    count = random.choice((1, 2, 3))
    shells = [(mul(direction(random), 0.3), random.uniform(0.5, 1.0), 0.0) for _ in range(count)]
    wish, ball = mul(direction(random), 1.5), (mul(direction(random), random.uniform(0.5, 2.0)), 0.4, 0.0)
    shift = held_shift(wish, shells, [ball], up)
    assert all(dist(shift, center) <= most + 1e-12 for center, most, _ in shells)
    samples = np.random.default_rng(seed).normal(scale=0.6, size=(20_000, 3))
    samples = np.concatenate([samples, np.array(shift) + 0.02 * samples])
    serves = np.all([np.linalg.norm(samples - center, axis=1) <= most for center, most, _ in shells], axis=0)
    apart = np.linalg.norm(samples - ball[0], axis=1)
    assert serves.any()
    best = dist(shift, ball[0])
    if best > ball[1] + 1e-9:
        assert apart[serves].min() > best - 1e-9
    else:
        served = samples[serves & (apart <= ball[1])]
        assert np.linalg.norm(served - wish, axis=1).min(initial=9.0) > dist(shift, wish) - 1e-9


@pytest.mark.parametrize("neck", [0.0, 1.0])
def test_hips_come_to_the_rim_of_reach_at_a_finite_pace(neck):
    """What a ball and a shell have in common gets thin as the ball goes away: in it, never faster than ten times."""
    shell, wish, step = ((0.0, 0.0, 0.0), 1.0, 0.0), (0.2, 0.5, 2.0), 1e-4
    for moved in (False, True):
        shifts = []
        for k in range(4000):
            center = (1.7 + step * k, 0.0, 0.0)
            shifts.append(held_shift(wish, [shell], [(center, 1.0, neck)], (0.0, 0.0, 1.0), 0.1 * moved))
            assert hypot(*shifts[-1]) < 1.0 + 1e-9
            if center[0] < 2.0:
                assert neck - 1e-9 < dist(shifts[-1], center) < 1.0 + 1e-9
        fastest = max(dist(a, b) for a, b in itertools.pairwise(shifts)) / step
        assert fastest < 10.0 if moved else fastest > 100.0


@pytest.mark.parametrize(("seed", "number"), [(3, 101), (3, 183), (31, 114)])
def test_ways_on_which_a_horse_was_steepest(seed, number):
    """Hips at the rim of reach, a hollow, and feet that come to their balls by a searched part of all turns."""
    body, random = body_of(ready("metarig horse")), Random(seed)
    for _ in range(number + 1):
        (drag, start, held), way = drag_of(body, random), mul(direction(random), body.size / PIXELS)
    poses = [grabbed(body, drag, add(start, mul(way, k)), held) for k in range(ALONG)]
    assert max(largest_turn(body, a, b) for a, b in itertools.pairwise(poses)) < 20.0


def test_hips_that_stay_stay_and_a_spine_at_zero_does_not_turn():
    body = body_of(person())
    hand = next(k for k, limb in enumerate(body.limbs) if limb.found.kind == "ARM")
    held = {k: "BOTH" for k, limb in enumerate(body.limbs) if limb.found.kind == "LEG"}
    goal = add(Drag("LIMB", hand).start(body), (0.0, -1.0, -0.6))
    assert hypot(*grabbed(body, Drag("LIMB", hand), goal, held).shift) > 0.1
    still = grabbed(
        body, Drag("LIMB", hand), goal, held, GrabOptions(hips="STAY", spine=0.0, balance=0.0, lift_heels=False)
    )
    assert hypot(*still.shift) == 0.0 and hypot(*still.turn) == 0.0 and still.missed > 0.1


def test_a_knee_goes_round_its_circle_or_takes_the_limb_along():
    body = body_of(person())
    leg = next(k for k, limb in enumerate(body.limbs) if limb.found.kind == "LEG")
    limb, drag = body.limbs[leg], Drag("JOINT", leg)
    goal = add(drag.start(body), (0.3, 0.05, 0.0))
    round_it = joints(body, grabbed(body, drag, goal, {leg: "BOTH"}))
    assert np.linalg.norm(round_it[limb.found.end] - limb.end) < 1e-6
    assert abs(dist(round_it[limb.links[1]], limb.root) - dist(limb.points[1], limb.root)) < 1e-6
    assert round_it[limb.links[1]][0] > drag.start(body)[0] + 0.005
    aimed = joints(body, grabbed(body, drag, goal, {}))
    aim, wanted = sub(tuple(aimed[limb.links[1]]), limb.root), sub(goal, limb.root)
    assert np.linalg.norm(np.cross(aim, wanted)) < 1e-6


def test_an_end_keeps_its_place_or_its_rotation_or_both():
    body = body_of(person())
    drag, held_leg = Drag("HIPS"), 0
    limb = body.limbs[held_leg]
    goal = add(drag.start(body), (0.0, 0.1, -0.3))
    for how in ("BOTH", "LOCATION", "ROTATION"):
        pose = grabbed(body, drag, goal, {held_leg: how})
        matrix = pose.channels.pose(limb.found.end)
        before = body.bones.poses[limb.found.end]
        assert (np.abs(matrix[:3, 3] - before[:3, 3]).max() < 1e-9) == (how != "ROTATION")
        assert (np.abs(matrix[:3, :3] - before[:3, :3]).max() < 1e-6) == (how != "LOCATION")


def test_zooming_in_finds_no_jump(body):
    """The largest turn of a pixel, of a part of it, of a part of that: what a jump would keep gets small."""
    random = Random(4)
    for _ in range(3):
        drag, goal, held = random_drag(body, random)
        way = mul(direction(random), body.size / PIXELS)
        at, part = 0.0, 40.0
        for _ in range(4):
            places = [at + part * k / 8 for k in range(9)]
            poses = [grabbed(body, drag, add(goal, mul(way, place)), held) for place in places]
            turns = [largest_turn(body, a, b) for a, b in itertools.pairwise(poses)]
            at, part = places[turns.index(max(turns))], part / 8
        assert max(turns) < 0.5


def test_a_head_goes_round_behind_its_neck_without_a_jump():
    body = body_of(ready("metarig horse"))
    held = {k: "BOTH" for k in range(len(body.limbs))}
    base, far = body.neck.root, 0.9 * body.neck.near
    places = [
        add(base, (0.05, far * np.cos(angle), far * np.sin(angle))) for angle in np.linspace(0.0, 2.0 * np.pi, 400)
    ]
    poses = [grabbed(body, Drag("HEAD"), place, held) for place in places]
    assert max(largest_turn(body, a, b) for a, b in itertools.pairwise(poses)) < 20.0


@pytest.mark.parametrize("seed", range(3))
def test_trunk_and_head_stay_above_the_ground_that_feet_stand_on(body, seed):
    """As deep as hips are wide, or half of what they were above it; with feet that are free there is no ground."""
    random, up = Random(seed), body.bones.up
    legs = {k: "BOTH" for k, limb in enumerate(body.limbs) if limb.found.kind == "LEG"}
    ground = min(dot(body.bones.heads[bone], up) for k in legs for bone in body.limbs[k].soles)
    arms = [Drag("LIMB", k) for k in range(len(body.limbs)) if k not in legs]
    parts = [*body.line, *(body.neck.links if body.neck else ())]

    def lowest(drag, goal, held):
        places = joints(body, grabbed(body, drag, goal, held))
        heights = [(dot(tuple(places[bone]), up) - ground, dot(body.bones.heads[bone], up) - ground) for bone in parts]
        return min(now - min(body.depth, before / 2.0) for now, before in heights)

    for drag in [Drag("HIPS"), Drag("CHEST"), *arms]:
        goal = add(drag.start(body), add(mul(direction(random), 0.2 * body.size), mul(up, -1.5 * body.size)))
        assert lowest(drag, goal, legs) > -1e-6 * body.size, drag
        assert drag.kind != "HIPS" or lowest(drag, goal, {}) < -0.1 * body.size


def test_nothing_is_missed_because_a_heel_lifts():
    """Of a leg that does not fold to nothing: what keeps its hips above the hollow does not rise with the ankle."""
    body = body_of(person(shins=0.65))
    legs, random = [k for k, limb in enumerate(body.limbs) if limb.found.kind == "LEG"], Random(2)
    for _ in range(100):
        drag, down = Drag("LIMB", legs[0]), unit(add(direction(random), (0.0, 0.0, -1.0)))
        goal = add(drag.start(body), mul(down, 1.5 * random.random() * body.size))
        lifted, still = (
            grabbed(body, drag, goal, {legs[1]: "BOTH"}, GrabOptions(lift_heels=lift)) for lift in (True, False)
        )
        assert lifted.missed < still.missed + 1e-3 * body.size


def test_a_short_neck_turns_evenly_though_its_place_passes_behind_it():
    """What only swings has no way round at its back."""
    body = body_of(person())
    neck = body.neck
    behind = add(neck.root, mul(neck.along, -3.0 * neck.chord))
    places = [add(behind, mul((0.002, x, 0.0), neck.chord)) for x in np.linspace(-0.5, 0.5, 101)]
    moves = [neck.moves(NO_MOVE, place)[neck.links[0]][0] for place in places]
    turns = [2.0 * np.degrees(np.arccos(min(abs(sum(np.multiply(a, b))), 1.0))) for a, b in itertools.pairwise(moves)]
    assert max(turns) < 8.0
