"""Public yardsticks, on a fixture that is computed by hand, and on the published code's own steps."""

import bpy
import numpy as np
import pytest

from ik_addon import api
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.yardsticks import HUMAN_LEG, YARDSTICKS, HumanFeet, human_feet

from ..scenes import sliding_walk
from . import clips

FPS = 20.0
LEFT = [
    (0.0, 0.0, 0.01),
    (0.03, 0.0, 0.01),
    (0.07, 0.0, 0.01),
    (0.07, 0.03, 0.04),
    (0.07, 0.13, 0.06),
    (0.07, 0.13, 0.06),
]
"""A toe that goes 3, 4, 3 (and 3 up), 10 (and 2 up) and 0 cm: at 20 frames a second 0.6, 0.8, sqrt(0.72), ... m/s."""
RIGHT = [(0.5, 0.0, 0.02)] * 6
ROOT = [(0.0, 0.0, 0.9), (0.01, 0.0, 0.9), (0.03, 0.0, 0.9), (0.06, 0.0, 0.91), (0.09, 0.0, 0.91), (0.12, 0.0, 0.90)]


def by_hand() -> HumanFeet:
    toes = np.array([LEFT, RIGHT])
    ankles = toes + np.array((-0.1, 0.0, 0.08))
    # The left ankle turns about the toe: half as fast.
    ankles[0, :, :2] *= 0.5
    touching = np.zeros((2, 2, 6), bool)
    touching[0, 1, :3] = touching[1] = True
    lowest = np.array((-0.02, -0.004, 0.0, 0.004, 0.011, 0.006))
    return HumanFeet(FPS, ankles, toes, np.array(ROOT), np.concatenate((ankles, toes)), lowest, touching)


EXPECTED = {
    # Low at both ends of a step: three of the left toe, all of them fast, five of the right one.
    "kimodo_skate_ratio": 3 / 8,
    # Low at the beginning of a step: four of the left toe; five of the right one, which stands.
    "kimodo_low_speed": 20 * (0.03 + 0.04 + np.sqrt(0.03**2 + 0.03**2) + np.sqrt(0.1**2 + 0.02**2)) / 9,
    # The left toe in three steps, the right ankle and toe in five each.
    "kimodo_contact_speed": 20 * (0.03 + 0.04 + np.sqrt(0.03**2 + 0.03**2)) / 13,
    # Horizontally 0.6, 0.8, 0.6, 2.0, 0.0 m/s; means over five 0.4, 0.8, 0.8, 0.68, 0.52: the second and third step.
    "gmd_skating_ratio": 2 / 5,
    # The right foot stands: the product is nothing.
    "edge_pfc": 0.0,
    "penetration": 20 / 6,
    "floating": (11 + 6) / 6,
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_yardstick_is_as_computed_by_hand(name):
    assert YARDSTICKS[name](by_hand()) == pytest.approx(EXPECTED[name], abs=1e-6)


def test_pfc_is_as_computed_by_hand():
    """At the 30 frames a second of the code; the right foot goes 1, 2, 3, 4, 5 cm a frame, its toe farther."""
    feet = by_hand()
    ways = np.cumsum((0, 1, 2, 3, 4, 5)) * 0.01
    ankles, toes = feet.ankles.copy(), feet.toes.copy()
    ankles[1, :, 1], toes[1, :, 1] = ways, 2 * ways
    moving = HumanFeet(30.0, ankles, toes, feet.root, feet.joints, feet.lowest, feet.touching)
    # Accelerations of the root, cm a frame squared: (1, 0), (1, 1 up), (0, 1 down: nothing), (0, 1 down: nothing).
    pulls = np.array((1.0, np.sqrt(2.0), 0.0, 0.0)) / np.sqrt(2.0)
    # The left ankle at the second step and later: 2, 1.5, 5, 0 cm.
    expected = 10000 * np.mean(pulls * (0.02, 0.015, 0.05, 0.0) * np.array((0.02, 0.03, 0.04, 0.05)))
    assert YARDSTICKS["edge_pfc"](moving) == pytest.approx(expected, abs=1e-6)


def test_jitter_is_as_computed_by_hand():
    """x = t³ has a third derivative of 6, whatever the rate."""
    for fps in (20.0, 60.0):
        times = np.arange(12) / fps
        joints = np.stack((times**3, np.zeros(12), np.ones(12)), axis=1)[None]
        feet = HumanFeet(fps, joints, joints, joints[0], joints, joints[0, :, 2], np.ones((1, 2, 12), bool))
        assert YARDSTICKS["jitter"](feet) == pytest.approx(6.0, abs=1e-6)


# The published steps, in the order of their code


def published_gmd(toes: np.ndarray, fps: float) -> float:
    """calculate_skating_ratio, with the running mean that scipy gives written as it is defined: windows of five."""
    speeds = np.linalg.norm(toes[:, 1:, :2] - toes[:, :-1, :2], axis=2) * fps
    padded = np.pad(speeds, ((0, 0), (2, 2)))
    means = np.array([[own[k : k + 5].mean() for k in range(speeds.shape[1])] for own in padded])
    contact = np.logical_and(toes[:, :-1, 2] < 0.05, toes[:, 1:, 2] < 0.05)
    skating = contact & (speeds > 0.5) & (means > 0.5)
    return np.sum(np.logical_or(skating[0], skating[1])) / skating.shape[1]


def published_pfc(root: np.ndarray, feet: np.ndarray) -> float:
    """calc_physical_score. feet: (S, 4, 3), ankle and toe of the left foot and of the right one."""
    step = 1.0 / 30.0
    velocity = (root[1:] - root[:-1]) / step
    pull = (velocity[1:] - velocity[:-1]) / step
    pull[:, 2] = np.maximum(pull[:, 2], 0)
    pull = np.linalg.norm(pull, axis=-1)
    pull /= pull.max()
    moved = np.linalg.norm(feet[2:, :, [0, 1]] - feet[1:-1, :, [0, 1]], axis=-1)
    loss = np.minimum(moved[:, 0], moved[:, 1]) * np.minimum(moved[:, 2], moved[:, 3]) * pull
    return loss.mean() * 10000


@pytest.mark.parametrize("seed", range(5))
def test_yardsticks_are_those_of_the_published_steps(seed):
    random = np.random.default_rng(seed)
    toes = np.cumsum(random.normal(0.0, 0.03, (2, 80, 3)), axis=1)
    toes[..., 2] = np.abs(random.normal(0.0, 0.05, (2, 80)))
    ankles, root = toes + random.normal(0.0, 0.01, toes.shape), np.cumsum(random.normal(0.0, 0.01, (80, 3)), axis=0)
    touching = random.random((2, 2, 80)) < 0.5
    for fps, name, published in (
        (20.0, "gmd_skating_ratio", published_gmd(toes, 20.0)),
        (30.0, "edge_pfc", published_pfc(root, np.stack((ankles[0], toes[0], ankles[1], toes[1]), axis=1))),
    ):
        feet = HumanFeet(fps, ankles, toes, root, toes, toes[..., 2].min(axis=0), touching)
        assert YARDSTICKS[name](feet) == pytest.approx(published, abs=1e-6)
        assert published > 0.0


# From a clip to human feet


def test_a_clip_of_any_size_and_height_is_scaled_to_a_human_on_its_ground():
    walk, contacts = clips.walk()
    feet = [
        human_feet(clip, sole_of(clip), contacts)
        for clip in (walk, clips.placed(clips.scaled(walk, 30.0), np.array((0.0, 0.0, 5.0))))
    ]
    for own in feet:
        assert np.linalg.norm(own.joints[2] - own.joints[0], axis=1).max() <= HUMAN_LEG
        assert own.lowest.min() == pytest.approx(0.0, abs=0.005)
    assert all(measure(feet[1]) == pytest.approx(measure(feet[0]), rel=1e-6) for measure in YARDSTICKS.values())


def test_feet_below_their_ground_penetrate_by_as_much():
    walk, contacts = clips.walk()
    sole = sole_of(walk)
    depths = [
        YARDSTICKS["penetration"](human_feet(walk, sole, contacts, lambda points, z=z: np.full(len(points), z)))
        for z in (sole.level + 0.1 * walk.size, sole.level + 0.2 * walk.size)
    ]
    assert depths[1] - depths[0] == pytest.approx(100.0 * HUMAN_LEG)


@pytest.mark.slow
@pytest.mark.versions
def test_planting_betters_what_yardsticks_see_of_a_sliding_walk():
    ob = sliding_walk()
    api.plant(ob, frames=range(1, 61))
    [entry] = api.check(ob, frames=range(1, 61), metrics=True)["files"]
    [metrics] = entry["metrics"]
    before, after = metrics["before"], metrics["after"]
    assert set(after) == set(YARDSTICKS)
    assert after["kimodo_contact_speed"] < 0.5 * before["kimodo_contact_speed"]
    assert after["kimodo_skate_ratio"] < before["kimodo_skate_ratio"]
    [plain] = api.check(ob, frames=range(1, 61))["files"]
    assert "metrics" not in plain
    assert plain["feet"] == entry["feet"]
    assert bpy.context.scene.render.fps == metrics["fps"]
