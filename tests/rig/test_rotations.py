"""Rotations of many rows: what the functions for one rotation give, in every mode."""

from math import pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mathutils import Matrix, Quaternion

from ik_addon.rig.blender.rotations import (
    continuous,
    matrices_of,
    numbers_of,
    quaternion_of,
    quaternions_of,
    raw_of,
    rotation_in,
    turns_in,
)

from .rigs import ROTATION_MODES

SAME = 1e-6
SEEDS = st.integers(0, 2**32 - 1)
MODES = st.sampled_from(ROTATION_MODES)


def rotations(seed: int, count: int = 40) -> np.ndarray:
    """Unit quaternions; the middle ones turn about one axis only, where Euler angles may be undetermined."""
    random = np.random.default_rng(seed)
    turns = random.normal(size=(count, 4))
    turns[count // 3 : count // 2, 1:3] = 0.0
    turns[count // 2 : count // 2 + 3] = (1.0, 0.0, 0.0, 0.0), (0.5, 0.5, 0.5, 0.5), (0.0, 0.0, 1.0, 0.0)
    return turns / np.linalg.norm(turns, axis=1, keepdims=True)


def width(mode: str) -> int:
    return 4 if mode in ("QUATERNION", "AXIS_ANGLE") else 3


def apart(a: np.ndarray, b: np.ndarray) -> float:
    return max(min(abs(x - y).max(), abs(x + y).max()) for x, y in zip(a, b, strict=True))


@settings(deadline=None, max_examples=60)
@given(SEEDS, MODES)
def test_numbers_mean_what_blender_makes_of_them(seed, mode):
    numbers = np.random.default_rng(seed).normal(scale=2.0, size=(20, width(mode)))
    numbers[3] = 0.0
    expected = np.array([quaternion_of(row, mode) for row in numbers.tolist()])
    assert apart(quaternions_of(numbers, mode), expected) < SAME


@settings(deadline=None, max_examples=60)
@given(SEEDS, MODES)
def test_rotations_become_the_numbers_nearest_to_others(seed, mode):
    turns = rotations(seed)
    near = np.random.default_rng(seed + 1).normal(scale=4.0, size=(len(turns), width(mode)))
    numbers = numbers_of(turns, mode, near)
    assert apart(quaternions_of(numbers, mode), turns) < SAME
    for found, turn, own in zip(numbers, turns.tolist(), near, strict=True):
        expected = np.array(raw_of(Quaternion(turn), mode, own.tolist()))
        # As near as the one by one, wherever two are as good.
        assert abs(found - own).sum() <= abs(expected - own).sum() + 1e-4


@settings(deadline=None, max_examples=60)
@given(SEEDS, MODES, st.floats(0.01, 0.6))
def test_a_smooth_motion_has_no_jumps(seed, mode, step):
    random = np.random.default_rng(seed)
    turn, spin = Quaternion(random.normal(size=4)).normalized(), Quaternion(random.normal(size=3), step)
    turns = []
    for _ in range(60):
        turns.append([*turn])
        turn = (spin @ turn).normalized()
        if random.random() < 0.3:
            turn.negate()
    rows = np.array(turns)
    first = np.array([*raw_of(Quaternion(turns[0]), mode, random.normal(scale=3.0, size=width(mode)).tolist())])
    numbers = continuous(rows, mode, first)
    assert apart(quaternions_of(numbers, mode), rows) < SAME
    assert abs(numbers[0] - first).max() < 1e-4
    near = first.tolist()
    for found, row in zip(numbers, turns, strict=True):
        expected = raw_of(Quaternion(row), mode, near)
        assert sum(abs(a - b) for a, b in zip(found, near, strict=True)) <= (
            sum(abs(a - b) for a, b in zip(expected, near, strict=True)) + 1e-3
        )
        near = found.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_matrices_that_scale_and_mirror_hold_their_rotations(seed):
    random = np.random.default_rng(seed)
    turns = rotations(seed, 12)
    scales = random.uniform(0.2, 3.0, size=(12, 3)) * random.choice((1.0, -1.0), size=(12, 1))
    matrices = np.zeros((12, 4, 4))
    matrices[:, :3, :3] = matrices_of(turns) * scales[:, None]
    expected = np.array([rotation_in(Matrix(each)) for each in matrices])
    assert apart(turns_in(matrices), expected) < SAME


def test_axes_without_length_have_a_rotation_as_well():
    """As of an object whose scale is zero, along all axes or one."""
    turn = Quaternion((0.5, 0.1, -0.7, 0.2)).normalized()
    matrices = [Matrix.LocRotScale((0, 0, 0), turn, scale) for scale in ((0, 0, 0), (0, 1, 1), (2, 2, 0), (0, 0, 1))]
    with np.errstate(all="raise"):
        found = turns_in(np.array(matrices))
    assert np.isfinite(found).all()
    assert apart(found, np.array([rotation_in(matrix) for matrix in matrices])) < SAME


def test_half_a_turn_is_not_lost():
    assert numbers_of(np.array([[0.0, 1.0, 0.0, 0.0]]), "XYZ", np.zeros((1, 3)))[0] == pytest.approx((pi, 0.0, 0.0))
