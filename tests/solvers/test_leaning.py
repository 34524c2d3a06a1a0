"""The least turn of a body with which a shift serves all its limbs: judged by `nearest_shift`, which knows no turns."""

import numpy as np
import pytest

from ik_addon.solvers.carrier import least_turn, matrix_of, nearest_shift

MOST = np.pi / 4


def spread_limbs(random, count, hollow=0.3):
    """Limbs that reach after a turn and a shift that are known, and hardly more; the turn's angle."""
    arms, longest = random.normal(size=(count, 3)) * (0.5, 0.8, 0.1), random.uniform(0.9, 1.1, count)
    turn = random.normal(size=3)
    turn *= random.uniform(0.05, 0.6) / np.linalg.norm(turn)
    ways = random.normal(size=(count, 3))
    ways *= (longest * random.uniform(0.93, 0.999, count) / np.linalg.norm(ways, axis=1))[:, None]
    ends = arms @ matrix_of(turn).T + random.normal(size=3) * 0.2 + ways
    shortest = np.where(random.random(count) < hollow, 0.3 * longest, 0.0)
    return arms, ends, longest, shortest, np.linalg.norm(turn)


def left_after(turn, arms, ends, longest, shortest):
    """By how much the worst limb misses after a turn and the best shift."""
    return nearest_shift(ends - arms @ matrix_of(turn).T, longest, shortest)[1]


def directions(random, count, near):
    """Unit vectors all around, half of them about `near`."""
    found = random.normal(size=(count, 3))
    found[::2] = near / np.linalg.norm(near) + found[::2] * random.uniform(0.0, 0.4, (len(found[::2]), 1))
    return found / np.linalg.norm(found, axis=1)[:, None]


@pytest.mark.parametrize("count", range(2, 9))
def test_all_limbs_reach_and_with_no_smaller_turn(count):
    random, turned = np.random.default_rng(count), 0
    for _ in range(12 if count > 3 else 50):
        *limbs, known = spread_limbs(random, count)
        turn = least_turn(*limbs, MOST)
        if not nearest_shift(limbs[1] - limbs[0], *limbs[2:])[1]:
            assert not turn.any()
            continue
        turned, angle = turned + 1, np.linalg.norm(turn)
        assert left_after(turn, *limbs) < 1e-8
        assert angle < known + 1e-8
        for way in directions(random, 16, turn):
            assert left_after(0.99 * angle * way, *limbs) > 0.0
    assert turned > 1


@pytest.mark.parametrize("most", [0.05, 0.3])
def test_where_no_turn_so_small_serves_the_worst_misses_least(most):
    random, short = np.random.default_rng(int(100 * most)), 0
    for _ in range(12):
        *limbs, _ = spread_limbs(random, 5, hollow=0.0)
        limbs[2] = limbs[2] * 0.85
        turn = least_turn(*limbs, most)
        angle, missed = np.linalg.norm(turn), left_after(turn, *limbs)
        assert angle <= most * (1.0 + 1e-9)
        if missed < 1e-8:
            continue
        short += 1
        assert missed <= left_after(np.zeros(3), *limbs) + 1e-12
        for way in directions(random, 10, turn):
            # What turning costs is weighed too: a hundredth of what is missed.
            assert missed < left_after(most * way * random.uniform(0.2, 1.0), *limbs) + 0.02 * most**2
    assert short > 2


def largest_change(arms, ends, longest, count):
    """The largest change of the turn while the limbs' ends go apart in so many steps; and the largest turn."""
    parts = np.linspace(0.9, 1.02, count)
    turns = np.array([least_turn(arms, arms + part * (ends - arms), longest, 0.0 * longest, MOST) for part in parts])
    return np.linalg.norm(np.diff(turns, axis=0), axis=1).max(), np.linalg.norm(turns, axis=1).max()


def test_the_turn_begins_at_nothing_and_goes_on_without_jumps():
    random, largest = np.random.default_rng(3), 0.0
    for _ in range(2):
        arms, ends, longest, _, _ = spread_limbs(random, 6, hollow=0.0)
        (coarse, _), (fine, turn) = (largest_change(arms, ends, longest, count) for count in (13, 49))
        assert fine <= 0.6 * coarse
        largest = max(largest, turn)
    assert largest > 0.1


def test_units_places_and_the_order_of_limbs_do_not_matter():
    random = np.random.default_rng(9)
    for _ in range(10):
        arms, ends, longest, shortest, _ = spread_limbs(random, 5)
        turn = least_turn(arms, ends, longest, shortest, MOST)
        order = random.permutation(5)
        assert least_turn(*(each[order] for each in (arms, ends, longest, shortest)), MOST) == pytest.approx(
            turn, abs=1e-6
        )
        sized = (each * 250.0 for each in (arms, ends, longest, shortest))
        assert least_turn(*sized, MOST) == pytest.approx(turn, abs=1e-6)
        around = matrix_of(np.array((0.4, -1.0, 0.7)))
        found = least_turn(arms @ around.T, ends @ around.T, longest, shortest, MOST)
        assert found == pytest.approx(around @ turn, abs=1e-6)
        # About another point it is the same turn: a shift makes up for it.
        aside = random.normal(size=3)
        assert least_turn(arms + aside, ends + aside, longest, shortest, MOST) == pytest.approx(turn, abs=1e-6)


def test_nothing_turns_that_has_no_limbs_or_may_not():
    *limbs, _ = spread_limbs(np.random.default_rng(2), 6)
    assert not least_turn(*limbs, 0.0).any()
    nothing = np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0)
    assert not least_turn(*nothing, MOST).any()
