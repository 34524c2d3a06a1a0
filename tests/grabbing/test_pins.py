"""Pins, as Blender evaluates the bones: of metarigs, and of characters as they are downloaded."""

from random import Random

import numpy as np
import pytest
from mathutils import Vector

from benchmarks.grabbing import METARIGS, ready, sources
from ik_addon.grabbing.scene.posing import GrabSession
from ik_addon.grabbing.solving.drag import GrabOptions

from ..rig.rigs import update
from .bodies import FOLDER, bpy, evaluated_point, random_drag

HELD = 1e-6
"""Of a leg."""


def worst_pins(ob, drags: int) -> tuple[float, float]:
    """By how much what is held is off, and by how much a miss that is told is, in legs, after random drags."""
    session, random = GrabSession(bpy.context, ob), Random(3)
    body, pins, told = session.body, 0.0, 0.0
    for _ in range(drags):
        drag, goal, held = random_drag(body, random)
        pose = session.pose(bpy.context, drag, ob.matrix_world @ Vector(goal), held, GrabOptions())
        update()
        for k in held:
            limb = body.limbs[k]
            is_lifted = limb.found.toe in pose.moves
            bone, start = (limb.found.end, limb.ball) if is_lifted else (limb.links[-1], limb.end)
            pins = max(pins, np.linalg.norm(evaluated_point(ob, body, bone, start) - start) / body.size)
        if drag.kind == "LIMB":
            limb = body.limbs[drag.limb]
            apart = np.linalg.norm(evaluated_point(ob, body, limb.links[-1], limb.end) - goal)
            told = max(told, abs(apart - pose.missed) / body.size)
    session.restore()
    return pins, told


@pytest.mark.versions
@pytest.mark.parametrize("source", METARIGS)
def test_what_is_held_stays_in_evaluated_bones(source):
    pins, told = worst_pins(ready(source), 25)
    assert pins < HELD and told < HELD


@pytest.mark.deep
@pytest.mark.skipif(not FOLDER, reason="ANALYTIC_IK_CHARACTERS names no folder of characters")
@pytest.mark.parametrize(("path", "option"), [*sources(FOLDER)])
def test_what_is_held_stays_in_characters_from_anywhere(path, option):
    ob = ready(path, option)
    if ob is None:
        pytest.skip("no armature")
    pins, told = worst_pins(ob, 1000)
    assert pins < HELD and told < HELD


def test_all_modes_hold_the_same_rotation():
    """Each bone in a mode of its own."""
    ob = ready(METARIGS[0])
    for k, bone in enumerate(ob.pose.bones):
        bone.rotation_mode = ("QUATERNION", "XYZ", "AXIS_ANGLE", "ZYX")[k % 4]
    update()
    pins, told = worst_pins(ob, 10)
    assert pins < HELD and told < HELD


def test_a_pose_is_taken_back_number_by_number():
    ob = ready(METARIGS[0])
    held = [[*map(tuple, (bone.matrix_basis.copy()))] for bone in ob.pose.bones]
    worst_pins(ob, 5)
    assert [[*map(tuple, (bone.matrix_basis.copy()))] for bone in ob.pose.bones] == held
