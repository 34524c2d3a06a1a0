"""Contacts of walks whose truth is known, clean and spoiled, at every frame rate; and of a capture labeled by eye."""

from dataclasses import replace

import numpy as np
import pytest

from ik_addon.planting.feet import contacts_of
from ik_addon.planting.feet.clip import UP
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.curves import runs
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.treadmill import stands_on

from . import clips
from .measures import agreement, lock_count, naive_contacts

RATES = [24, 30, 60, 120]
SPOILED = [(1.1, 0), (0.9, 0), (1.1, 1), (0.9, 1)]


def found_in(clip, **options):
    return contacts_of(clip, options=Options(**options)).touching


@pytest.mark.parametrize("fps", RATES)
def test_contacts_of_a_clean_walk(fps):
    clip, truth = clips.walk(fps)
    found = found_in(clip)
    assert agreement(found, truth) >= 0.9
    assert abs(lock_count(found) - lock_count(truth)) <= 1


@pytest.mark.parametrize(("factor", "seed"), SPOILED)
@pytest.mark.parametrize("fps", RATES)
def test_contacts_of_feet_that_skate(fps, factor, seed):
    clip, truth = clips.walk(fps)
    found = found_in(clips.degraded(clip, factor, seed))
    assert agreement(found, truth) >= 0.88
    assert abs(lock_count(found) - lock_count(truth)) <= 2


def test_contacts_on_a_floor_that_rises():
    clip, truth = clips.walk(60, terrain=lambda x: 0.1 * x)
    found = found_in(clip)
    assert agreement(found, truth) >= 0.88
    assert abs(lock_count(found) - lock_count(truth)) <= 1
    sole = sole_of(clip)
    assert agreement(naive_contacts(clip, sole), truth) <= 0.7


def test_contacts_of_paws():
    clip, truth = clips.walk(60, legs=4)
    found = found_in(replace(clip, balls=clip.ankles))
    assert (found[:, 0] == found[:, 1]).all()
    # An ankle stands while the whole foot does.
    for leg in range(4):
        flat = runs(truth[leg].all(axis=0))[1:-1]
        assert all(found[leg, 0, (first + last) // 2] for first, last in flat)
        swings = runs(~truth[leg].any(axis=0))
        assert not any(found[leg, 0, (first + last) // 2] for first, last in swings)


def test_a_foot_held_still_in_the_air_does_not_touch():
    clip, _ = clips.walk(60, seconds=5.0)
    times = np.arange(clip.frame_count) / clip.fps
    lift = 0.35 * np.clip(np.minimum(times - 1.0, 4.0 - times) / 0.4, 0.0, 1.0)
    # Both feet stand at first; one is lifted for two seconds and sways there, not as still as one that stands.
    sway = 0.08 * np.sin(2 * np.pi * 0.7 * times) * (lift > 0.3)
    still = {name: np.repeat(getattr(clip, name)[:, 50:51], clip.frame_count, axis=1) for name in ("hips", "feet")}
    ankles = np.repeat(np.array(((0.0, -0.1, 0.08), (0.0, 0.1, 0.08)))[:, None], clip.frame_count, axis=1)
    ankles[1, :, 2] += lift
    ankles[1, :, 0] += sway
    feet = np.broadcast_to(np.eye(3), clip.feet.shape)
    standing = replace(clip, hips=still["hips"], ankles=ankles, balls=ankles + feet @ clips.BALL, feet=feet)
    found = found_in(standing)
    held = (times > 1.6) & (times < 3.4)
    assert found[0].all()
    assert not found[1][:, held].any()
    assert found[1][:, (times < 0.9) | (times > 4.1)].all()


def test_a_contact_farther_than_the_allowed_slide_is_two():
    clip, _ = clips.walk(60)
    skating = clips.retargeted(clip, 0.8)
    few, many = (stands_on(skating, Options(slide=slide)).contacts for slide in (1.0, 0.05))
    assert lock_count(many) >= lock_count(few) + 4


def test_a_point_that_slides_on_at_once_did_not_stand_in_a_fleeting_contact():
    """Its heel slips as the foot turns about its ball, slowly for a moment."""
    clip, _ = clips.walk(120)
    count = clip.frame_count
    way = np.interp(np.arange(count), (0, 300, 304, 315, 319, 339, count), (0.0, 0.0, 0.08, 0.09, 0.14, 0.4, 0.4))
    ankles = np.zeros((1, count, 3))
    ankles[0, :, 0], ankles[0, :, 2] = way, 0.08
    feet = np.broadcast_to(np.eye(3), (1, count, 3, 3))
    parts = {name: getattr(clip, name)[:1] for name in ("lengths", "knees")}
    turning = replace(clip, hips=ankles + UP, ankles=ankles, balls=ankles + clips.BALL, feet=feet, **parts)
    found = runs(found_in(turning)[0, 0])
    assert all(last - first > 0.12 * clip.fps for first, last in found), found
