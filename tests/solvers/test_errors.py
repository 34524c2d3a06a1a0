"""What is refused, in words that help, and what is never touched."""

from math import inf, nan

import pytest
from mathutils import Vector

from ik_addon.solvers import (
    SOLVERS,
    TWO_BONE_SOLVERS,
    Chain,
    ChainError,
    Goal,
    link_rotations,
    solve,
    solver_for,
)

LEG = [(0.0, 0.0, 2.0), (0.0, -0.1, 1.0), (0.0, 0.0, 0.0)]
TARGET = (0.2, -0.3, 0.5)


@pytest.mark.parametrize("joints", [[], [(0.0, 0.0, 0.0)]])
def test_fewer_than_two_points_are_no_chain(joints):
    with pytest.raises(ChainError, match=f"two points or more, got {len(joints)}"):
        Chain(joints)


@pytest.mark.parametrize("value", [nan, inf, -inf, 1e39])
@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("axis", [0, 2])
def test_a_joint_that_is_not_finite_is_named(value, k, axis):
    joints = [list(joint) for joint in LEG]
    joints[k][axis] = value
    with pytest.raises(ChainError, match=f"joint {k} has a value that is not a finite number"):
        Chain(joints)


@pytest.mark.parametrize("value", [nan, inf, -inf])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "wish, name",
    [("target", "the target"), ("pole", "the pole"), ("swivel", "the swivel"), ("softness", "the softness")],
)
def test_a_wish_that_is_not_finite_is_named(value, solver, wish, name):
    wishes = {"target": TARGET, wish: value if wish in ("swivel", "softness") else (0.0, value, 0.0)}
    with pytest.raises(ChainError, match=f"{name} .*is not a finite number"):
        solve(Chain(LEG), Goal(**wishes), solver)


@pytest.mark.parametrize("value", [nan, inf])
def test_a_bend_normal_that_is_not_finite_is_named(value):
    with pytest.raises(ChainError, match="the bend normal has a value that is not a finite number"):
        Chain(LEG, bend_normal=(value, 0.0, 0.0))


@pytest.mark.parametrize("point", [None, "abc", (1.0, 2.0), (1.0, 2.0, 3.0, 4.0), 5.0, (None, 0.0, 0.0)])
def test_what_is_no_point_of_three_numbers_is_named(point):
    with pytest.raises(ChainError, match="joint 1 is not a point"):
        Chain([LEG[0], point, LEG[2]])
    with pytest.raises(ChainError, match="the target is not a point"):
        solve(Chain(LEG), Goal(point))


@pytest.mark.parametrize("size", [1e18, 1e30, 3e38])
def test_coordinates_that_float32_cannot_square_are_refused(size):
    with pytest.raises(ChainError, match="too large"):
        Chain([(-size, 0.0, 0.0), (0.0, size, 0.0), (size, 0.0, 0.0)])
    with pytest.raises(ChainError, match=r"the target .* too large"):
        solve(Chain(LEG), Goal((size, 0.0, 0.0)))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", [1e16, 3e19, 1e25, 3e38])
def test_a_pole_that_float32_cannot_square_is_refused(solver, size):
    with pytest.raises(ChainError, match=r"the pole .* too large"):
        solve(Chain(LEG), Goal(TARGET, (0.0, -size, 0.3 * size)), solver)


def test_an_unknown_solver_is_answered_with_those_there_are():
    with pytest.raises(ChainError, match=r"no solver 'FABRIK'. There are AUTO, VECTOR, .* CCD"):
        solve(Chain(LEG), Goal(TARGET), "FABRIK")


@pytest.mark.parametrize("count", [1, 3, 8])
@pytest.mark.parametrize("form", TWO_BONE_SOLVERS)
def test_a_two_bone_form_says_what_solves_a_chain_of_another_length(form, count):
    with pytest.raises(ChainError, match=f"{form} solves 2 bones, and this chain has {count}. Use AUTO"):
        solve(Chain([(0.0, 0.0, float(k)) for k in range(count + 1)]), Goal(TARGET), form)


@pytest.mark.parametrize("count, name", [(1, "TRIANGULATION"), (2, "VECTOR"), (3, "TRIANGULATION")])
def test_auto_takes_the_two_bone_form_for_two_links_alone(count, name):
    assert solver_for(count) == name
    assert solver_for(count, "CCD") == "CCD"


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("least_motion", [False, True])
def test_what_is_given_is_not_modified_nor_shared(solver, least_motion):
    joints, target, pole = [Vector(joint) for joint in LEG], Vector(TARGET), Vector((0.0, -5.0, 1.0))
    chain, goal = Chain(joints, bend_normal=Vector((1.0, 0.0, 0.0))), Goal(target, pole, least_motion=least_motion)
    kept = [tuple(vector) for vector in (*chain.joints, *chain.directions, chain.bend_normal)]
    solution = solve(chain, goal, solver)
    first = [tuple(rotation) for rotation in link_rotations(chain, solution)]
    for vector in (*solution.joints, *solution.directions):
        vector += Vector((1.0, 1.0, 1.0))
    assert [tuple(joint) for joint in joints] == [tuple(Vector(joint)) for joint in LEG]
    assert (tuple(target), tuple(pole)) == (tuple(Vector(TARGET)), (0.0, -5.0, 1.0))
    assert [tuple(vector) for vector in (*chain.joints, *chain.directions, chain.bend_normal)] == kept
    again = [tuple(rotation) for rotation in link_rotations(chain, solve(chain, goal, solver))]
    assert again == first
