"""A footprint that is moved takes its foot along at once, and nothing else."""

from collections.abc import Iterator
from math import radians

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ik_addon.bake.stepping import finish
from ik_addon.planting.scene.footprints import footprints_of
from ik_addon.planting.scene.limbs import keyed_contacts
from ik_addon.planting.scene.plant import planted_again

from ..rig.rigs import evaluated_copy, update
from ..scenes import curves_of, go_to, sliding_walk

pytestmark = pytest.mark.versions

FRAMES = range(1, 41)
LEG = 0.9
as_bones = pytest.mark.parametrize("controls", ["EMPTIES", "BONES"])


def planted(controls: str) -> bpy.types.Object:
    ob = sliding_walk(controls=controls)
    assert bpy.ops.analytic_ik.plant_feet(frame_start=1, frame_end=40, footprints=True) == {"FINISHED"}
    return ob


def a_step(ob: bpy.types.Object) -> bpy.types.Object:
    """A footprint with steps of its foot before and after it, if there are."""
    own = sorted(footprints_of(ob.pose.bones["shin.L"]), key=lambda each: each.name)
    return own[len(own) // 2]


def feet(ob: bpy.types.Object, side: str) -> np.ndarray:
    """The foot of a leg at each frame, in the world: (T, 4, 4)."""
    found = []
    for frame in FRAMES:
        go_to(frame)
        found.append(np.array(ob.matrix_world @ evaluated_copy(ob).pose.bones[f"foot.{side}"].matrix))
    return np.array(found)


def move(empty: bpy.types.Object, by: Matrix) -> None:
    """As a drag does, in several steps."""
    start = empty.matrix_world.copy()
    for share in (0.3, 0.7, 1.0):
        place, turn, size = by.decompose()
        part = Matrix.LocRotScale(place * share, turn.slerp(turn.__class__(), 1.0 - share), size)
        middle = Matrix.Translation(start.translation)
        empty.matrix_world = middle @ part @ middle.inverted() @ start
        update()
    update()


def keys(ob: bpy.types.Object) -> Iterator[tuple]:
    for each in (ob, *(other for other in bpy.data.objects if other.type == "EMPTY")):
        if each.animation_data and each.animation_data.action:
            for curve in curves_of(each).values():
                points = np.array([[*key.co, *key.handle_left, *key.handle_right] for key in curve.keyframe_points])
                yield each.name, f"{curve.data_path}[{curve.array_index}]", points.ravel().tolist()


MOVES = [
    Matrix.Translation((0.1, 0.03, 0.02)),
    Matrix.Translation((0.02, 0.02, 0.0)) @ Matrix.Rotation(radians(20.0), 4, "Z"),
]


@as_bones
@pytest.mark.parametrize("by", MOVES, ids=["moved", "turned"])
def test_the_foot_goes_with_its_footprint_and_the_others_stay(controls, by):
    ob = planted(controls)
    empty = a_step(ob)
    kept = empty.analytic_ik_footprint
    left, right, base = feet(ob, "L"), feet(ob, "R"), np.array(empty.matrix_world.copy())
    move(empty, by)
    way = np.array(empty.matrix_world.copy()) @ np.linalg.inv(base)
    after = feet(ob, "L")
    own = slice(kept.first - FRAMES[0], kept.last - FRAMES[0] + 1)
    assert np.abs(after[own] - way @ left[own]).max() < 1e-4 * LEG
    assert np.abs(feet(ob, "R") - right).max() < 1e-5
    for other in footprints_of(ob.pose.bones["shin.L"]):
        if other != empty:
            rest = slice(
                other.analytic_ik_footprint.first - FRAMES[0], other.analytic_ik_footprint.last - FRAMES[0] + 1
            )
            assert np.abs(after[rest] - left[rest]).max() < 1e-5
    # Between them nothing jumps: no step from frame to frame is much longer than it was.
    steps = [np.linalg.norm(np.diff(each[:, :3, 3], axis=0), axis=1) for each in (left, after)]
    assert (steps[1] - steps[0]).max() < 0.06


@as_bones
def test_the_foot_is_seen_there_at_once(controls):
    ob = planted(controls)
    empty = a_step(ob)
    kept = empty.analytic_ik_footprint
    go_to((kept.first + kept.last) // 2)
    before = ob.matrix_world @ evaluated_copy(ob).pose.bones["foot.L"].matrix
    for k in range(1, 4):
        empty.location.z += 0.02
        # One update, as one move of the mouse.
        update()
        seen = ob.matrix_world @ evaluated_copy(ob).pose.bones["foot.L"].matrix
        assert tuple(seen.translation - before.translation) == pytest.approx((0.0, 0.0, 0.02 * k), abs=1e-5)


@as_bones
def test_back_again_it_is_as_it_was(controls):
    ob = planted(controls)
    empty, before = a_step(ob), sorted(keys(ob))
    start = empty.matrix_world.copy()
    move(empty, MOVES[1])
    assert sorted(keys(ob)) != before
    empty.matrix_world = start
    update()
    update()
    after = sorted(keys(ob))
    assert [(name, path) for name, path, *_ in after] == [(name, path) for name, path, *_ in before]
    assert all(now == pytest.approx(then, abs=1e-6) for (*_, now), (*_, then) in zip(after, before, strict=True))


def test_planting_again_gives_the_same_step():
    ob = planted("EMPTIES")
    empty = a_step(ob)
    kept = empty.analytic_ik_footprint
    move(empty, MOVES[1])
    at_once = feet(ob, "L")
    finish(planted_again(bpy.context, ob))
    # On one of heel and ball alone planting turns the foot as it was captured.
    flat = keyed_contacts(ob.pose.bones["shin.L"], FRAMES).all(axis=0)
    own = flat & (np.array(FRAMES) >= kept.first) & (np.array(FRAMES) <= kept.last)
    assert own.sum() > 3
    assert np.abs(feet(ob, "L")[own] - at_once[own]).max() < 1e-3 * LEG
    # It knows where its footprints are: the next move begins there.
    move(empty, MOVES[0])
    assert np.abs(feet(ob, "L")[own] - np.array(MOVES[0]) @ at_once[own]).max() < 1e-3 * LEG


def test_another_clip_stays_as_it_is():
    ob = planted("BONES")
    empty = a_step(ob)
    ob.animation_data.action = ob.animation_data.action.copy()
    ob.animation_data.action.property_unset("analytic_ik_planted_with")
    before = sorted(keys(ob))
    move(empty, MOVES[0])
    assert sorted(keys(ob)) == before


def test_keys_that_were_changed_meanwhile_stay_changed():
    ob = planted("EMPTIES")
    empty, control = a_step(ob), bpy.data.objects["Foot.L"]
    move(empty, MOVES[0])
    curve = curves_of(control)["location", 2]
    for key in curve.keyframe_points:
        key.co.y += 0.25
        key.handle_left.y += 0.25
        key.handle_right.y += 0.25
    curve.update()
    raised = feet(ob, "L")
    move(empty, Matrix.Translation((0.0, 0.05, 0.0)))
    first = empty.analytic_ik_footprint.first - FRAMES[0]
    assert (feet(ob, "L") - raised)[first, :3, 3].tolist() == pytest.approx([0.0, 0.05, 0.0], abs=1e-4)
