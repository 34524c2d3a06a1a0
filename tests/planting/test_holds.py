"""Hands that are held to moving spaces, in arrays."""

from dataclasses import replace

import numpy as np
import pytest

from ik_addon.planting.feet.clip import LegMotion, applied, turns_by
from ik_addon.planting.feet.contacts import find_holds
from ik_addon.planting.feet.treadmill import Space, Standing

from .clips import walk

ARM = 0.6


def arm(fps: float = 60.0, seconds: float = 6.0) -> LegMotion:
    """An arm whose hand goes its own smooth way."""
    t = np.arange(round(seconds * fps) + 1)[:, None] / fps
    shoulder = np.hstack((0.5 * t, 0.0 * t, 1.4 + 0.02 * np.sin(5.0 * t)))
    wrist = shoulder + np.hstack((0.3 + 0.1 * np.sin(2.0 * t), 0.2 * np.cos(1.3 * t), -0.2 + 0.05 * np.sin(3.0 * t)))
    elbow = (shoulder + wrist) / 2.0 - (0.0, 0.0, 0.15)
    hands = turns_by(np.hstack((0.4 * np.sin(1.1 * t), 0.3 * np.cos(2.0 * t), 0.2 * t)))
    points = (each[None] for each in (shoulder, elbow, wrist, wrist))
    return LegMotion(fps, np.full((1, 2), ARM / 2.0), *points, hands[None])


def wheel(clip: LegMotion, spin: float = 1.5) -> Space:
    """A space that goes along with the arm, swings and spins, radians a second."""
    t = np.arange(clip.frame_count)[:, None] / clip.fps
    places = np.hstack((0.5 * t + 0.3, 0.1 * np.sin(1.7 * t), 1.2 + 0.1 * np.cos(0.9 * t)))
    return Space(places, turns_by(t * spin * np.array((0.36, 0.48, 0.8))))


def test_found_is_where_a_near_hand_moves_with_the_space():
    clip = arm()
    space = wheel(clip)
    # It waves before and after.
    times = np.arange(clip.frame_count)[:, None] / clip.fps
    clip = replace(clip, ankles=clip.ankles + 0.2 * np.sin(8.0 * times + np.array((0.0, 2.0, 4.0))))
    chance, carried = np.random.default_rng(5), clip.ankles.copy()
    carried[0, 90:201] = space.world(0.1 * chance.normal(size=3))[90:201]
    noisy = replace(clip, ankles=carried + 2e-4 * chance.normal(size=carried.shape))
    near = np.ones((1, clip.frame_count), bool)
    found = find_holds(space.seen_from(noisy), near)[0]
    assert found[95:196].all()
    assert not found[:80].any()
    assert not found[211:].any()
    assert not find_holds(space.seen_from(noisy), ~near).any()


def test_a_space_puts_back_what_it_has_seen():
    clip, _ = walk(seconds=2.0)
    space = wheel(clip)
    seen = space.seen_from(clip)
    assert np.abs(space.world(seen.ankles) - clip.ankles).max() < 1e-12
    assert np.abs(space.turns @ seen.feet - clip.feet).max() < 1e-12
    # Lengths and bends are what they were.
    assert np.linalg.norm(seen.knees - seen.hips, axis=-1) == pytest.approx(
        np.linalg.norm(clip.knees - clip.hips, axis=-1), abs=1e-12
    )


def test_a_belt_is_a_space_that_slides():
    clip, _ = walk(seconds=2.0)
    velocity = np.array((0.7, -0.2, 0.0))
    seen = Standing(velocity, None).seen_from(clip)
    times = np.arange(clip.frame_count)[:, None] / clip.fps
    assert np.abs(seen.ankles - (clip.ankles - times * velocity)).max() < 1e-12
    assert np.abs(seen.feet - clip.feet).max() == 0.0
    point = np.array((0.1, 0.2, 0.3))
    assert applied(np.eye(3), point) == pytest.approx(point)
