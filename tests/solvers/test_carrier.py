"""One body, several limbs: the smallest move that serves all, judged by conditions that no other answer meets."""

from itertools import combinations

import numpy as np
import pytest

from ik_addon.solvers.carrier import eased_shifts, lowering, nearest_shift

EXACT = 1e-12


def eased_shift(offsets, longest, shortest, ease, straight_down):
    """The eased move on one frame."""
    given = (np.asarray(each, float)[None] for each in (offsets, longest, shortest, ease))
    shifts, excesses = eased_shifts(*given, straight_down)
    return shifts[0], excesses[0]


def cone_residual(directions, wanted):
    """How far `wanted` is from what nonnegative multiples of some of the `directions` (columns) add up to."""
    best = np.linalg.norm(wanted)
    for size in range(1, min(len(wanted), directions.shape[1]) + 1):
        for chosen in combinations(range(directions.shape[1]), size):
            multiples = np.linalg.lstsq(directions[:, chosen], wanted, rcond=None)[0]
            if (multiples >= -1e-9).all():
                best = min(best, np.linalg.norm(directions[:, chosen] @ multiples - wanted))
    return best


def distances(offsets, shift):
    return np.linalg.norm(offsets - shift, axis=1)


def optimality(offsets, longest, shift):
    """The KKT residual in the intersection of balls, a convex set: 0 for its point nearest to 0 and for no other."""
    over = distances(offsets, shift) - longest
    active = np.abs(over) <= 1e-10
    inward = (offsets - shift)[active].T
    return max(over.max(), cone_residual(inward, shift) if np.linalg.norm(shift) > EXACT else 0.0)


def meeting_balls(random, count, touching):
    """Balls with a point in common; as many as `touching` of them have it on their spheres."""
    common = random.normal(size=3) * 0.4
    offsets = random.normal(size=(count, 3)) - (0, 0, 1)
    spare = 1.0 + random.exponential(0.05, count) * (np.arange(count) >= touching)
    return offsets, np.linalg.norm(offsets - common, axis=1) * spare


@pytest.mark.parametrize("count", range(1, 9))
def test_no_point_of_the_balls_is_nearer(count):
    """The KKT conditions of a convex problem, which Lagrange multipliers of at most three balls meet."""
    random = np.random.default_rng(count)
    for k in range(125):
        offsets, longest = meeting_balls(random, count, touching=k % 2)
        shift, excess = nearest_shift(offsets, longest)
        assert excess == 0.0
        assert optimality(offsets, longest, shift) <= EXACT


def test_balls_that_touch_leave_one_point():
    random = np.random.default_rng(2)
    for _ in range(100):
        common, way = random.normal(size=(2, 3))
        way /= np.linalg.norm(way)
        radii = random.uniform(0.3, 3.0, 2)
        offsets = common + np.outer(radii, way) * [[1], [-1]]
        shift, excess = nearest_shift(offsets, radii)
        assert excess == 0.0
        assert shift == pytest.approx(common, abs=EXACT * 10)


def test_of_balls_about_one_center_the_smallest_decides():
    random = np.random.default_rng(3)
    for _ in range(50):
        center = random.normal(size=3) * 3.0
        radii = random.uniform(0.1, 0.9, 4) * np.linalg.norm(center)
        shift, excess = nearest_shift(np.tile(center, (4, 1)), radii)
        assert excess == 0.0
        assert shift == pytest.approx(center * (1.0 - radii.min() / np.linalg.norm(center)), abs=EXACT)


def test_a_body_that_need_not_move_does_not():
    random = np.random.default_rng(4)
    offsets = random.normal(size=(5, 3))
    shift, excess = nearest_shift(offsets, np.linalg.norm(offsets, axis=1))
    assert (shift == 0.0).all() and excess == 0.0
    assert nearest_shift(np.empty((0, 3)), np.empty(0))[1] == 0.0


@pytest.mark.parametrize("count", range(1, 6))
def test_no_sampled_point_of_shells_is_nearer(count):
    """Shells are not convex: many points nearer to 0, in all directions and beside the answer, and none is in all."""
    random = np.random.default_rng(count)
    hollow = 0
    for _ in range(40):
        common = random.normal(size=3) * 0.4
        offsets = random.normal(size=(count, 3)) * 0.7
        lengths = np.linalg.norm(offsets - common, axis=1)
        longest, shortest = lengths * random.uniform(1.0, 1.4, count), lengths * random.uniform(0.6, 1.0, count)
        shift, excess = nearest_shift(offsets, longest, shortest)
        at = distances(offsets, shift)
        assert excess == 0.0
        assert (at <= longest + EXACT).all() and (at >= shortest - EXACT).all()
        hollow += bool((np.abs(at - shortest) < 1e-9).any())
        size = np.linalg.norm(shift)
        wide = random.normal(size=(20000, 3))
        wide *= size * random.uniform(size=(20000, 1)) ** (1 / 3) / np.linalg.norm(wide, axis=1)[:, None]
        close = shift * (1.0 - random.exponential(1e-3, (5000, 1))) + random.normal(size=(5000, 3)) * size * 1e-3
        samples = np.concatenate((wide, close))
        samples = samples[np.linalg.norm(samples, axis=1) < size * (1 - 1e-9)]
        away = np.linalg.norm(samples[:, None] - offsets, axis=2)
        assert not ((away <= longest) & (away >= shortest)).all(axis=1).any()
    assert hollow > 5


def test_a_place_on_the_root_of_a_limb_that_cannot_fold_lowers_the_body():
    shift, excess = nearest_shift([[0.0, 0.0, 0.0]], [1.0], [0.25])
    assert shift == pytest.approx((0.0, 0.0, -0.25)) and excess == 0.0


@pytest.mark.parametrize("count", range(2, 9))
def test_out_of_reach_the_worst_miss_alike_and_nowhere_less(count):
    """Minimax of a convex function: 0 is a convex combination of the active distances' slopes."""
    random = np.random.default_rng(count)
    for _ in range(40):
        offsets, longest = random.normal(size=(count, 3)), random.uniform(0.05, 0.5, count)
        offsets *= 4.0
        shift, excess = nearest_shift(offsets, longest)
        if excess == 0.0:
            continue
        over = distances(offsets, shift) - longest
        assert over.max() == pytest.approx(excess, abs=EXACT)
        active = over >= excess - 1e-10
        away = (shift - offsets)[active].T
        away = away / np.linalg.norm(away, axis=0)
        assert cone_residual(np.vstack((away, np.ones(active.sum()))), np.array((0.0, 0.0, 0.0, 1.0))) <= EXACT


def test_the_move_is_continuous_where_the_last_common_point_is_lost():
    offsets = np.array([[1.0, 0.0, -1.0], [-1.0, 0.5, -1.0], [0.0, -1.0, -1.3]])
    shift, excess = nearest_shift(offsets, np.full(3, 0.2))
    same, missing = nearest_shift(offsets, np.full(3, 0.2) + excess * (1 + 1e-13))
    assert missing == 0.0
    assert same == pytest.approx(shift, abs=1e-5)


def test_a_limb_inside_what_another_must_not_enter():
    offsets = np.array([[2.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    shift, excess = nearest_shift(offsets, [0.5, 3.0], [0.0, 1.5])
    assert excess == pytest.approx(0.5)
    assert shift == pytest.approx((1.0, 0.0, 0.0))
    shift, excess = nearest_shift([[2.0, 0.0, 0.0], [2.2, 0.0, 0.0]], [0.5, 3.0], [0.0, 1.5])
    assert excess == pytest.approx(0.4)


def random_turn(random):
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    return turn * np.sign(np.linalg.det(turn))


@pytest.mark.parametrize("count", range(1, 9))
@pytest.mark.parametrize("room", [1.5, 0.4])
def test_turned_scaled_and_in_another_order(count, room):
    """Also out of reach (room 0.4). Order does not matter bit for bit."""
    random = np.random.default_rng(count)
    for _ in range(20):
        offsets, longest = meeting_balls(random, count, 0)
        longest *= min(room, 1.0)
        shortest = longest * random.uniform(0.0, 0.3, count)
        shift, excess = nearest_shift(offsets, longest, shortest)
        order = random.permutation(count)
        again, same = nearest_shift(offsets[order], longest[order], shortest[order])
        assert (again == shift).all() and same == excess
        turn = random_turn(random)
        for scale in (1e-4, 1.0, 1e4):
            turned, missing = nearest_shift(offsets @ turn.T * scale, longest * scale, shortest * scale)
            assert missing == pytest.approx(excess * scale, abs=1e-11 * scale)
            assert turned == pytest.approx(turn @ shift * scale, abs=1e-9 * scale)


def steps_along_z(offsets, longest, shortest):
    """All falls in fine steps, nearest to 0 first, at which a limb each reaches: by brute force."""
    falls = np.linspace(-6.0, 6.0, 60001)
    away = np.sqrt((offsets[:, :2] ** 2).sum(axis=1)[:, None] + (offsets[:, 2:] + falls) ** 2)
    served = ((away <= longest[:, None]) & (away >= shortest[:, None])).all(axis=0)
    return falls[served]


def test_straight_down_is_nearest_of_all_steps():
    random = np.random.default_rng(1)
    offsets = random.normal(size=(3, 300, 3)) * (0.5, 0.5, 0.7) - (0, 0, 1)
    longest, shortest = random.uniform(0.6, 1.6, (3, 300)), random.uniform(0.0, 0.5, (3, 300))
    falls, possible = lowering(offsets, longest, shortest)
    assert 50 < possible.sum() < 250 and (falls[possible] > 0).any() and (falls[possible] < 0).any()
    for t in range(300):
        served = steps_along_z(offsets[:, t], longest[:, t], shortest[:, t])
        if not possible[t]:
            assert len(served) == 0 and falls[t] == 0.0
            continue
        away = np.linalg.norm(offsets[:, t] + (0, 0, falls[t]), axis=1)
        assert (away <= longest[:, t] + EXACT).all() and (away >= shortest[:, t] - EXACT).all()
        if len(served):
            assert abs(falls[t]) <= np.abs(served).min() + EXACT
            assert abs(falls[t]) >= np.abs(served).min() - 2.01e-4


def test_of_two_ways_as_short_the_body_goes_down():
    falls, possible = lowering(np.zeros((1, 2, 3)), np.ones((1, 2)), np.array([[0.5, 0.0]]))
    assert falls.tolist() == [0.5, 0.0] and possible.all()
    falls, possible = lowering(np.zeros((0, 2, 3)), np.zeros((0, 2)))
    assert falls.tolist() == [0.0, 0.0] and possible.all()


def test_what_is_left_after_the_nearest_move_sideways_is_possible():
    """Spheres that decide the nearest move are only just met by the line down through it."""
    random = np.random.default_rng(7)
    for _ in range(200):
        offsets, longest = meeting_balls(random, 3, touching=3 if random.uniform() < 0.3 else 0)
        shift, _ = nearest_shift(offsets, longest)
        aside = offsets - shift * (1.0, 1.0, 0.0)
        falls, possible = lowering(aside[:, None], longest[:, None])
        assert possible[0]
        assert abs(falls[0]) <= abs(shift[2]) + 1e-5


# Eased


def legs(random, count):
    """Limbs below a body, and the length by which their moves are eased."""
    offsets = random.normal(size=(count, 3)) * (0.35, 0.35, 0.25) - (0, 0, 0.9)
    longest = random.uniform(0.9, 1.1, count)
    return offsets, longest, random.uniform(0.0, 0.2) * longest.min()


@pytest.mark.parametrize("straight_down", [True, False])
@pytest.mark.parametrize("count", range(1, 9))
def test_eased_all_limbs_reach_that_can(count, straight_down):
    random = np.random.default_rng(count)
    moved = 0
    for _ in range(100):
        offsets, longest, ease = legs(random, count)
        shift, excess = eased_shift(offsets, longest, np.zeros(count), ease, straight_down)
        least = nearest_shift(offsets, longest)[1]
        assert excess == pytest.approx(least, abs=1e-9)
        over = (distances(offsets, shift) - longest).max()
        assert over <= least + EXACT
        moved += over > -2 * ease and shift.any()
        assert np.linalg.norm(shift) >= np.linalg.norm(nearest_shift(offsets, longest)[0]) - EXACT
        spare = (longest - distances(offsets, 0.0)).min()
        assert spare < 2 * ease or not shift.any()
    assert moved > 10


def test_eased_a_hollow_limb_reaches_too():
    random = np.random.default_rng(1)
    for _ in range(100):
        offsets, longest, ease = legs(random, 3)
        shortest = longest * random.uniform(0.7, 0.9, 3)
        shift, excess = eased_shift(offsets, longest, shortest, ease, True)
        at = distances(offsets, shift)
        assert excess > 0 or ((at <= longest + EXACT) & (at >= shortest - EXACT)).all()


@pytest.mark.parametrize("straight_down", [True, False])
def test_eased_one_limb_moves_the_body_without_a_corner(straight_down):
    """Slopes of neighboring steps differ in proportion to the step, from rest to far beyond the need."""
    ease, turns = 0.05, []
    for count in (500, 1000):
        heights = np.linspace(-0.8, -1.3, count)
        moves = np.array(
            [eased_shift(np.array([[0, 0, z]]), np.ones(1), np.zeros(1), ease, straight_down)[0][2] for z in heights]
        )
        slopes = np.diff(moves) / np.diff(heights)
        turns.append(np.abs(np.diff(slopes)).max())
        assert slopes.min() >= -EXACT and slopes.max() <= 1 + 1e-9 and slopes[-1] == pytest.approx(1.0)
    assert turns[1] == pytest.approx(turns[0] / 2, rel=0.1)
    hard = [eased_shift(np.array([[0, 0, z]]), np.ones(1), np.zeros(1), 0.0, straight_down)[0][2] for z in heights]
    assert hard == pytest.approx(np.minimum(heights + 1.0, 0.0), abs=EXACT)


def test_eased_and_steep_it_goes_straight_down_and_not_far_from_what_is_needed():
    random = np.random.default_rng(6)
    for _ in range(200):
        count = int(random.integers(2, 5))
        offsets = random.normal(size=(count, 3)) * (0.1, 0.1, 0.05) - (0, 0, 0.97)
        ease = 0.05
        shift, _ = eased_shift(offsets, np.ones(count), np.zeros(count), ease, True)
        fall, possible = lowering(offsets[:, None], np.ones((count, 1)))
        if np.linalg.norm(offsets[:, :2], axis=1).max() < 0.4:
            assert possible[0] and (shift[:2] == 0.0).all()
            assert fall[0] - EXACT <= -shift[2] <= fall[0] + 2 * ease


def test_eased_the_order_of_limbs_does_not_matter():
    random = np.random.default_rng(8)
    for _ in range(50):
        offsets, longest, ease = legs(random, 4)
        order = random.permutation(4)
        shift, _ = eased_shift(offsets, longest, np.zeros(4), ease, True)
        again, _ = eased_shift(offsets[order], longest[order], np.zeros(4), ease, True)
        assert (shift == again).all()
