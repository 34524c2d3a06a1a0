"""Rotations in arrays, against Blender's mathutils."""

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_addon.planting.feet.clip import mean_turn, turns_between, turns_by, vectors_of

chance = np.random.default_rng(1)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 0.5, 2.0, 3.0, np.pi - 1e-6])
def test_rotations_about_vectors_are_blenders(angle):
    axes = chance.normal(size=(20, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    turns = turns_by(angle * axes)
    for axis, turn in zip(axes, turns, strict=True):
        assert turn == pytest.approx(np.array(Quaternion(Vector(axis), angle).to_matrix()), abs=1e-6)
    assert turns @ turns.swapaxes(1, 2) == pytest.approx(np.tile(np.eye(3), (20, 1, 1)), abs=1e-14)
    assert vectors_of(turns) == pytest.approx(angle * axes, abs=1e-12)


def test_the_smallest_rotation_between_directions():
    start, end = chance.normal(size=(2, 50, 3))
    start, end = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (start, end))
    turns = turns_between(start, end)
    assert (turns @ start[..., None])[..., 0] == pytest.approx(end)
    assert np.linalg.norm(vectors_of(turns), axis=1) == pytest.approx(np.arccos((start * end).sum(axis=1)))


def test_the_mean_of_rotations_is_between_them_and_no_reflection():
    axis = np.array((0.0, 0.0, 1.0))
    assert mean_turn(turns_by(np.array((0.2 * axis, 0.6 * axis)))) == pytest.approx(turns_by(0.4 * axis))
    spread = turns_by(3.0 * chance.normal(size=(30, 3)))
    assert Matrix(mean_turn(spread)).determinant() == pytest.approx(1.0)
