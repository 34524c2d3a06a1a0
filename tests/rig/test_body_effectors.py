"""Several effectors: what a body comes to that two legs, four, eight, or two hands on a rope hold, against methods of
their own: alternating projections onto the balls that limbs reach, and a search along the vertical."""

from math import cos, sin
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Vector

from ..helpers.creature import ALL_REACH, LEGS, Creature
from .keys import key
from .rigs import BoneSpec, Control, evaluated_copy, make_chain, new_armature, new_empty, update

pytestmark = pytest.mark.versions

FULL = 1.0 - 1e-4
"""Of its length, a limb is held bent: nothing says to which side a straight one bends."""
NEAR = 2e-4
"""From the oracles, in lengths of about one limb."""


def projected(point: np.ndarray, centers: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """The point nearest to one that lies in all balls, by Dykstra's alternating projections."""
    steps = np.zeros_like(centers)
    for _ in range(4000):
        before = point
        for k, (center, radius) in enumerate(zip(centers, radii, strict=True)):
            from_here = point + steps[k]
            way = from_here - center
            point = center + way * min(1.0, radius / np.linalg.norm(way))
            steps[k] = from_here - point
        if np.abs(point - before).max() < 1e-10:
            break
    return point


def highest_below(point: np.ndarray, centers: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """The highest point straight below one, itself included, that lies in all balls, by bisection."""
    low, high = centers[:, 2].max() if len(centers) > 1 else centers[0, 2], point[2]

    def within(z: float) -> bool:
        return bool((np.linalg.norm(centers - (*point[:2], z), axis=1) <= radii).all())

    if within(high):
        return point
    for _ in range(80):
        middle = (low + high) / 2.0
        low, high = (middle, high) if within(middle) else (low, middle)
    return np.array((*point[:2], low))


def balls(creature: Creature) -> tuple[np.ndarray, np.ndarray]:
    """Where the head of the hips may be for each foot, in a world that the armature does not turn."""
    bones, hips = creature.ob.data.bones, creature.ob.data.bones["hips"].head_local
    centers = [creature.targets[leg].location - (bones[f"thigh.{leg}"].head_local - hips) for leg in creature.legs]
    return np.array(centers), np.full(len(centers), creature.leg_length * FULL)


def drag(creature: Creature, place: Vector) -> np.ndarray:
    """Drag the hips there by hand; where they stand then."""
    rest = creature.ob.data.bones["hips"].matrix_local
    creature.hips.location = rest.inverted() @ place
    update()
    return np.array(evaluated_copy(creature.ob).pose.bones["hips"].head)


@pytest.mark.parametrize("legs", LEGS)
@pytest.mark.slow
def test_hips_dragged_anywhere_keep_the_feet_and_stop_where_the_legs_end(legs):
    creature, random, stopped = Creature(legs, direction="NEAREST"), Random(legs), 0
    creature.hips.analytic_ik_body_softness = 0.0
    for leg in creature.legs:
        creature.step(leg, [random.uniform(-0.1, 0.1), random.uniform(-0.2, 0.2), random.uniform(0.0, 0.1)])
    centers, radii = balls(creature)
    for k in range(24):
        # Around in ever wider circles, up and down.
        place = Vector((0.05 * k * cos(k), 0.05 * k * sin(k), 1.8 + 0.5 * sin(0.7 * k)))
        stands = drag(creature, place)
        assert creature.missed() < ALL_REACH
        assert np.linalg.norm(stands - projected(np.array(place), centers, radii)) < NEAR
        stopped += np.linalg.norm(stands - place) > 0.01
    assert 8 < stopped < 24


@pytest.mark.parametrize("legs", LEGS)
def test_hips_dragged_up_stop_straight_below_where_the_legs_end(legs):
    creature, random = Creature(legs), Random(legs)
    creature.hips.analytic_ik_body_softness = 0.0
    for leg in creature.legs:
        creature.step(leg, [random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1), random.uniform(0.0, 0.1)])
    centers, radii = balls(creature)
    heights = []
    for k in range(16):
        place = Vector((0.01 * k, -0.01 * k, 1.7 + 0.05 * k))
        stands = drag(creature, place)
        assert creature.missed() < ALL_REACH
        assert np.linalg.norm(stands - highest_below(np.array(place), centers, radii)) < NEAR
        heights.append(stands[2])
    assert heights[0] == pytest.approx(1.7, abs=1e-6) and max(heights) < 2.2
    drag(creature, Vector((0.0, 0.0, 5.0)))
    assert creature.missed() < ALL_REACH


class Climber:
    """A chest with two arms, whose hands hold on to a rope that swings: their targets are children of it."""

    def __init__(self):
        specs = [BoneSpec("chest", (0, 0, 3), (0, 0, 3.5))]
        for side, sign in (("L", 1.0), ("R", -1.0)):
            specs += [
                BoneSpec(f"upper_arm.{side}", (0.2 * sign, 0, 3.4), (0.5 * sign, 0.2, 3.6), "chest"),
                BoneSpec(f"forearm.{side}", (0.5 * sign, 0.2, 3.6), (0.1 * sign, 0, 3.9), f"upper_arm.{side}", True),
            ]
        self.ob, self.rope, self.hands = new_armature("climber", specs), new_empty("rope", (0, 0, 6)), {}
        for side, height in (("L", -2.1), ("R", -1.9)):
            hand = self.hands[side] = new_empty(f"hand {side}", (0, 0, height))
            hand.parent = self.rope
            make_chain(self.ob.pose.bones[f"forearm.{side}"], Control(hand), chain_count=2)
        chest = self.ob.pose.bones["chest"]
        chest.analytic_ik_body_influence, chest.analytic_ik_body_softness = 1.0, 0.0
        chest.analytic_ik_body_direction = "NEAREST"
        key(self.rope, "rotation_euler", [(0, 0, 0), (0.5, 0.2, 0), (-0.4, -0.3, 0), (0, 0, 0)])
        update()


def test_hands_on_a_rope_that_swings_take_the_chest_along():
    climber, moved = Climber(), []
    bones = climber.ob.data.bones
    for frame in (1, 3, 9, 5, 12, 7, 2, 11):
        bpy.context.scene.frame_set(frame)
        posed, centers, radii = evaluated_copy(climber.ob), [], []
        for side, hand in climber.hands.items():
            upper, lower = bones[f"upper_arm.{side}"], bones[f"forearm.{side}"]
            held = evaluated_copy(hand).matrix_world.translation
            assert (posed.pose.bones[f"forearm.{side}"].tail - held).length < 1e-5
            centers.append(held - (upper.head_local - bones["chest"].head_local))
            radii.append((upper.length + lower.length) * FULL)
        stands, rest = np.array(posed.pose.bones["chest"].head), np.array(bones["chest"].head_local)
        assert np.linalg.norm(stands - projected(rest, np.array(centers), np.array(radii))) < NEAR
        moved.append(np.linalg.norm(stands - rest))
    assert min(moved) < 1e-6 and max(moved) > 0.3
