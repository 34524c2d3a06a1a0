"""Feet that follow and roll are baked as they were live."""

from collections.abc import Iterable
from functools import partial

import bpy
import pytest
from mathutils import Vector

from ik_addon.bake import bake, chains_of

from ..helpers.feet import animated_foot, follow, footed_leg
from ..rig.keys import key
from ..rig.rigs import Rig
from ..scenes import (
    EXACT,
    farthest_apart,
    go_to,
    keyed_frames,
    played,
    played_without_the_add_on,
    rotation_curves,
    slide,
)

FRAMES = range(1, 14)
ACTIONS = ("NEW", "COPY", "CURRENT")
LENGTH = 2.0


def baked(ob: bpy.types.Object, action: str = "COPY", after: str = "MUTE", tolerance: float = 0.0) -> dict:
    return bake(bpy.context, chains_of([ob]), FRAMES, action, after, tolerance)


def tails(poses: dict, ob: bpy.types.Object, name: str) -> list[Vector]:
    return [pose[name] @ Vector((0.0, ob.data.bones[name].length, 0.0)) for pose in poses.values()]


def strays(a: Iterable[Vector], b: Iterable[Vector]) -> float:
    return max((u - v).length for u, v in zip(a, b, strict=True))


def follows_at_other_frames_only(seed: int) -> Rig:
    rig = animated_foot(604, keyed_switch=True)
    go_to((2, 6)[seed % 2])
    return rig


def stretches(seed: int) -> Rig:
    rig = footed_leg()
    slide(rig.target.ob, (0.0, -0.3, 0.4), (0.3, 0.5, -0.7))
    follow(rig, reach="STRETCH", stretch_max=3.0)
    if seed % 2:
        key(rig.tip, "analytic_ik_foot_roll", [0.0, 0.5, -0.4, 1.2])
    return rig


def with_keys_on(name: str, values: list, seed: int) -> Rig:
    rig = animated_foot(seed)
    key(rig.tip, f"analytic_ik_{name}", values)
    return rig


@pytest.mark.some(10)
@pytest.mark.parametrize("seed", range(610, 614))
@pytest.mark.parametrize(
    "build",
    [
        follows_at_other_frames_only,
        stretches,
        partial(with_keys_on, "influence", [0.0, 1.0, 0.4, 0.0]),
        partial(with_keys_on, "influence", [0.5] * 4),
        partial(with_keys_on, "enabled", [True, False, True, False]),
    ],
)
def test_whatever_a_foot_does_it_is_baked_as_it_was_live(build, seed):
    rig = build(seed)
    frame, expected = bpy.context.scene.frame_current, played(rig.ob, FRAMES)
    go_to(frame)
    baked(rig.ob)
    assert farthest_apart(played_without_the_add_on(rig.ob, FRAMES), expected, LENGTH) < EXACT


@pytest.mark.parametrize("tolerance", [0.002, 0.03])
@pytest.mark.parametrize("seed", range(630, 642))
def test_tip_foot_and_toe_stay_within_the_tolerance(seed, tolerance):
    rig = animated_foot(seed, keyed_switch=seed % 3 == 1)
    expected = played(rig.ob, FRAMES)
    baked(rig.ob, "COPY", "MUTE", tolerance)
    now = played_without_the_add_on(rig.ob, FRAMES)
    for name in ("shin", "foot", "toe"):
        assert strays(tails(now, rig.ob, name), tails(expected, rig.ob, name)) < tolerance + EXACT


def test_fewer_keys_are_enough_and_a_foot_that_stands_still_needs_two():
    counts = []
    for turns in (True, False):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        rig = footed_leg()
        slide(rig.target.ob, (0.0, -0.1, 0.3), (0.0, -0.1, 0.3))
        follow(rig)
        if turns:
            key(rig.target.ob, "rotation_euler", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.7, 0.0), (0.0, 0.0, 0.4)])
        baked(rig.ob, tolerance=1e-3)
        counts.append(len(keyed_frames(rotation_curves(rig.ob, "foot")[0])))
    assert 2 < counts[0] < 14
    assert counts[1] == 2


@pytest.mark.parametrize("action", ACTIONS)
def test_a_toe_that_never_rolls_gets_no_key_and_a_foot_that_never_follows_neither(action):
    for follows in (True, False):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        rig = footed_leg()
        slide(rig.target.ob, (0.0, -0.1, 0.3), (0.2, -0.5, 0.6))
        rig.enable(use_rotation=follows)
        baked(rig.ob, action)
        assert bool(rotation_curves(rig.ob, "foot")) is follows
        assert not rotation_curves(rig.ob, "toe")
        assert not rotation_curves(rig.ob, "hips")
