"""Hands that are held to moving spaces, in arrays."""

from dataclasses import replace

import numpy as np
import pytest

from ik_addon.planting.feet.clip import LegMotion, applied, turns_by
from ik_addon.planting.feet.contacts import find_holds
from ik_addon.planting.feet.holds import Hold, mean_grip, plan_holds
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.treadmill import Space, Standing

from .clips import walk
from .measures import turned_apart

OPTIONS = Options(blend=0.3, added_speed=np.inf, added_turn=np.inf)
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


def hold(space: Space, first: int, last: int, number: int = 0) -> Hold:
    chance = np.random.default_rng(number)
    return Hold(0, first, last, space, 0.1 * chance.normal(size=3), turns_by(chance.normal(size=3)))


@pytest.mark.parametrize("spin", [0.0, 1.5, 20.0])
def test_a_hand_that_is_held_stands_still_in_the_space(spin):
    clip = arm()
    space = wheel(clip, spin)
    held = hold(space, 120, 240)
    plan = plan_holds(clip, [held], OPTIONS)
    seen = space.seen(plan.ankles[0])[120:241]
    assert np.abs(seen - held.place).max() < 1e-12
    assert turned_apart(space.turns[120:241].swapaxes(1, 2) @ plan.feet[0, 120:241], held.turn[None]).max() < 1e-6
    assert plan.contacts[0, :, 120:241].all()
    assert not plan.contacts[0, :, :120].any()
    assert not plan.contacts[0, :, 241:].any()
    # A defect: a space that moves on by a thousandth.
    assert np.abs(Space(space.places + 1e-3, space.turns).seen(plan.ankles[0])[120:241] - held.place).max() > 5e-4


def test_beyond_the_blends_all_is_as_captured():
    clip = arm()
    plan = plan_holds(clip, [hold(wheel(clip), 120, 240)], OPTIONS)
    blend = round(0.3 * clip.fps)
    away = np.r_[: 120 - blend, 241 + blend : clip.frame_count]
    assert (plan.ankles[0, away] == clip.ankles[0, away]).all()
    assert np.abs(plan.feet[0, away] - clip.feet[0, away]).max() < 1e-12
    near = np.r_[121 - blend : 120, 241 : 240 + blend]
    assert (np.abs(plan.ankles[0, near] - clip.ankles[0, near]).max(axis=-1) > 0.0).all()
    assert not plan.shifts.any()


def jump(fps: float, spin: float) -> tuple[float, float]:
    """How much the velocity of wrist and hand changes from one frame to the next, at most."""
    clip = arm(fps)
    first, last, again = (round(second * fps) for second in (2.0, 3.0, 3.5))
    space = wheel(clip, spin)
    holds = [hold(space, first, last), hold(wheel(clip, -spin), again, 2 * first, 1)]
    plan = plan_holds(clip, holds, OPTIONS)
    return tuple(np.abs(np.diff(np.diff(way[0], axis=0) * fps, axis=0)).max() for way in (plan.ankles, plan.feet))


@pytest.mark.parametrize("spin", [0.5, 3.0])
def test_into_and_out_of_a_hold_speeds_are_continuous(spin):
    """At eight times the frame rate a change of speed from frame to frame is an eighth; a jump would stay."""
    slow, quick = jump(120.0, spin), jump(960.0, spin)
    assert quick[0] < 0.2 * slow[0]
    assert quick[1] < 0.2 * slow[1]


@pytest.mark.parametrize("last", range(200, 260, 6))
def test_out_of_a_spinning_space_a_hand_goes_back_the_shorter_way(last):
    clip = arm()
    plan = plan_holds(clip, [hold(wheel(clip, 9.0), 60, last)], OPTIONS)
    blend = slice(last, last + round(0.3 * clip.fps) + 1)
    away = plan.feet[0, blend] @ clip.feet[0, blend].swapaxes(1, 2)
    travelled = turned_apart(away[1:], away[:-1]).sum()
    # Half a turn, and what the wheel gives it on its way: it swings on by 4/27 of its speed times the blend, and back.
    assert travelled < np.pi + 2.0 * 4.0 / 27.0 * 9.5 * 0.3


def test_a_mean_grip_is_the_grip_of_a_hand_that_is_held():
    clip, space = arm(), wheel(arm())
    held = hold(space, 0, clip.frame_count - 1)
    exact = plan_holds(clip, [held], OPTIONS)
    carried = replace(clip, ankles=exact.ankles, feet=exact.feet)
    place, turn = mean_grip(carried, 0, 100, 200, space)
    assert np.abs(place - held.place).max() < 1e-12
    assert np.abs(turn - held.turn).max() < 1e-12


def test_found_is_where_a_near_hand_moves_with_the_space():
    clip = arm()
    space = wheel(clip)
    # It waves before and after.
    times = np.arange(clip.frame_count)[:, None] / clip.fps
    clip = replace(clip, ankles=clip.ankles + 0.2 * np.sin(8.0 * times + np.array((0.0, 2.0, 4.0))))
    carried = plan_holds(clip, [hold(space, 90, 200)], OPTIONS)
    chance = np.random.default_rng(5)
    noisy = replace(clip, ankles=carried.ankles + 2e-4 * chance.normal(size=carried.ankles.shape))
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
