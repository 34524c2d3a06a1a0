"""Euler angles of rotations, against rotations put together from angles in double precision."""

from math import cos, dist, hypot, pi, sin, tau

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mathutils import Euler, Quaternion, Vector

from ik_addon.rig.blender.rotations import euler_of

from .rigs import leg, update

MODES = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
ROUNDED = 2e-6
"""Radians: of angles of several turns in single precision, three of them."""

modes = st.sampled_from(MODES)
angles = st.floats(-3.0, 3.0)
near = st.tuples(*[st.floats(-9.0, 9.0)] * 3)
off_lock = st.sampled_from([-1.5, -0.3, -1e-2, -1e-4, -1e-6, 0.0, 1e-7, 1e-5, 1e-3, 0.1, 1.0])
"""How far the middle angle is from a quarter turn."""


def product(a, b):
    w, x, y, z = a
    v, i, j, k = b
    return (
        w * v - x * i - y * j - z * k,
        w * i + x * v + y * k - z * j,
        w * j - x * k + y * v + z * i,
        w * k + x * j - y * i + z * v,
    )


def rotation_of(angles, mode):
    """The rotation that three angles (X, Y, Z) mean: that of the mode's first axis goes first."""
    turned = (1.0, 0.0, 0.0, 0.0)
    for axis in mode:
        k = "XYZ".index(axis)
        half = angles[k] / 2.0
        turned = product((cos(half), *(sin(half) if n == k else 0.0 for n in range(3))), turned)
    return turned


def apart(a, b):
    """The angle between two rotations, where it is small."""
    size_a, size_b = hypot(*a), hypot(*b)
    a, b = [x / size_a for x in a], [x / size_b for x in b]
    return 2.0 * min(dist(a, b), dist(a, [-x for x in b]))


def with_middle(mode, first, middle, last):
    found = dict(zip(mode, (first, middle, last), strict=True))
    return tuple(found[axis] for axis in "XYZ")


@given(mode=modes, outer=st.tuples(angles, angles), off=off_lock, side=st.sampled_from([1.0, -1.0]), near=near)
def test_the_angles_mean_the_rotation_however_near_the_middle_one_is_to_a_quarter_turn(mode, outer, off, side, near):
    wished = Quaternion(rotation_of(with_middle(mode, outer[0], side * (pi / 2.0 - off), outer[1]), mode))
    found = Euler(euler_of(wished, mode, near))
    assert apart(tuple(wished), rotation_of(found, mode)) <= ROUNDED


@pytest.mark.parametrize("mode", MODES)
def test_where_mathutils_is_six_thousandths_off_nothing_is_lost(mode):
    wished = Quaternion(rotation_of(with_middle(mode, 1.2, pi / 2.0 - 1e-4, -0.7), mode))
    theirs = apart(tuple(wished), rotation_of(wished.to_euler(mode), mode))
    ours = apart(tuple(wished), rotation_of(Euler(euler_of(wished, mode, (0.0, 0.0, 0.0))), mode))
    assert ours <= 5e-7 and ours <= theirs


@given(mode=modes, wished=st.tuples(angles, angles, angles), near=near)
def test_of_all_angles_that_mean_it_the_nearest_are_taken(mode, wished, near):
    found = euler_of(Quaternion(rotation_of(wished, mode)), mode, near)
    away = sum(abs(a - b) for a, b in zip(found, near, strict=True))
    middle = "XYZ".index(mode[1])
    flipped = [pi - angle if k == middle else angle + pi for k, angle in enumerate(found)]
    for other in (found, flipped):
        nearest = [angle + tau * round((wish - angle) / tau) for angle, wish in zip(other, near, strict=True)]
        assert away <= sum(abs(a - b) for a, b in zip(nearest, near, strict=True)) + 1e-6


@given(mode=modes, first=angles, last=angles, side=st.sampled_from([1.0, -1.0]))
def test_locked_the_outer_angles_stay_where_they_were(mode, first, last, side):
    near = with_middle(mode, first, side * pi / 2.0, last)
    found = euler_of(Quaternion(rotation_of(near, mode)), mode, near)
    assert max(abs(a - b) for a, b in zip(found, near, strict=True)) <= ROUNDED


@given(mode=modes, first=angles, last=angles, side=st.sampled_from([1.0, -1.0]))
def test_through_the_lock_the_angles_go_without_a_jump(mode, first, last, side):
    before = with_middle(mode, first, side * (pi / 2.0 - 0.05), last)
    for step in range(-50, 51):
        wished = with_middle(mode, first, side * (pi / 2.0 + step * 1e-3), last)
        found = euler_of(Quaternion(rotation_of(wished, mode)), mode, before)
        assert max(abs(a - b) for a, b in zip(found, wished, strict=True)) <= 2e-3
        before = found


@pytest.mark.parametrize("mode", MODES)
def test_a_chain_whose_root_stands_at_the_lock_meets_its_target(mode):
    rig = leg()
    thigh = rig.ob.pose.bones[rig.bones[0]]
    thigh.rotation_mode = mode
    thigh.rotation_euler = with_middle(mode, 0.4, pi / 2.0 - 1e-3, 0.9)
    update()
    tip = rig.to_world(rig.joints()[-1])
    rig.enable()
    for k in range(10):
        rig.target.place(tip + 1e-3 * Vector((sin(k), cos(k), sin(2.0 * k))))
        update()
        assert abs(abs(thigh.rotation_euler["XYZ".index(mode[1])]) - pi / 2.0) < 0.01
        assert rig.missed() < 2e-6
