"""Quaternions in arrays are what Blender makes of one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mathutils import Quaternion, Vector

from ik_addon.solvers import blend
from ik_addon.solvers.arrays import conjugate, multiply, quaternions, rotated, slerp

from .strategies import about, reals, rotations, units

pytestmark = pytest.mark.filterwarnings("error")

few = settings(max_examples=15)


@few
@given(st.lists(st.tuples(rotations, rotations), min_size=1, max_size=4))
def test_products_are_those_of_blender(some):
    a, b = np.array(some).transpose(1, 0, 2)
    expected = [Quaternion(one) @ Quaternion(other) for one, other in some]
    assert np.abs(multiply(a, b) - expected).max() <= 1e-6
    assert np.abs(multiply(multiply(a, b), conjugate(b)) - a).max() <= 1e-12
    assert np.abs(multiply(a[:, None], b[0]) - multiply(a, b[:1])[:, None]).max() <= 1e-15


def test_of_the_units_each_product_is_the_third():
    one, i, j, k = np.eye(4)
    for a, b, c in ((i, j, k), (j, k, i), (k, i, j)):
        assert (multiply(a, b) == c).all() and (multiply(b, a) == -c).all() and (multiply(a, a) == -one).all()
    for a, b in product(np.eye(4), repeat=2):
        assert (conjugate(multiply(a, b)) == multiply(conjugate(b), conjugate(a))).all()


@few
@given(st.lists(st.tuples(rotations, units), min_size=1, max_size=4))
def test_turned_vectors_are_those_of_blender(some):
    a, vectors = (np.array(part) for part in zip(*some, strict=True))
    expected = [Quaternion(one) @ Vector(vector) for one, vector in some]
    assert np.abs(rotated(a, vectors) - expected).max() <= 1e-6
    assert np.abs(rotated(a[:, None], vectors[0]) - rotated(a, vectors[:1])[:, None]).max() <= 1e-15


def same(a, b):
    """How far quaternions are apart of which the sign tells nothing."""
    return np.minimum(np.abs(a - b).max(axis=-1), np.abs(a + b).max(axis=-1)).max()


@settings(max_examples=60)
@given(st.lists(rotations, min_size=1, max_size=4), st.booleans())
def test_matrices_become_the_quaternions_they_are_of(some, nested):
    a = np.array(some)
    matrices = np.stack([rotated(a, axis) for axis in np.eye(3)], axis=-1)
    found = quaternions(matrices[None])[0] if nested else quaternions(matrices)
    assert same(found, a) <= 1e-12
    assert np.abs(matrices - [Quaternion(one).to_matrix() for one in some]).max() <= 1e-6


def test_of_no_matrices_there_are_no_quaternions():
    assert quaternions(np.empty((0, 3, 3))).shape == (0, 4) and quaternions(np.eye(3)).tolist() == [1, 0, 0, 0]


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(rotations, units, reals(-3.2, 3.2) | reals(-0.1, 0.1), reals(0.0, 1.0) | st.sampled_from([0.0, 1.0])),
        min_size=1,
        max_size=4,
    )
)
def test_between_two_rotations_it_is_what_blender_blends(some):
    one = [Quaternion(a) for a, *_ in some]
    other = [Quaternion(about(axis, angle)) @ a for a, (_, axis, angle, _) in zip(one, some, strict=True)]
    parts = [t for *_, t in some]
    cosines = np.abs([a.dot(b) for a, b in zip(one, other, strict=True)])
    expected = np.array([blend(a, b, t) for a, b, t in zip(one, other, parts, strict=True)])
    ours = slerp(np.array(one), np.array(other), np.array(parts))
    # On a straight line it comes out shorter.
    size = np.linalg.norm(ours, axis=1, keepdims=True)
    assert (np.abs(size - 1.0) <= 3e-5).all()
    ours /= size
    # Half round both ways are the shortest, and where the straight line begins rounding decides.
    told = (cosines > 1e-6) & (np.abs(cosines - 1.0 + 1e-4) > 1e-6)
    # Single precision has the angle only as precise as its cosine.
    slack = 3e-7 + 2e-7 * (1.0 / np.sqrt(np.maximum(1.0 - cosines, 1e-4)))
    assert (np.abs(ours - expected).max(axis=1) <= slack)[told].all()


def test_one_part_for_all_and_one_for_each_row():
    a, b = np.array(([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0])), np.array([0.6, 0.0, 0.8, 0.0])
    assert (slerp(a, b, 0.3) == slerp(a, b, np.array([0.3, 0.3]))).all()
    assert slerp(a[:, None], b, np.zeros((2, 5))).shape == (2, 5, 4)
    assert np.abs(slerp(a, b, 1.0) - b).max() <= 1e-15
