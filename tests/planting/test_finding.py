"""Contacts and the ground below them, found together: agreement with labels, and laws that hold for any clip."""

from dataclasses import replace

import numpy as np
import pytest

from ik_addon.planting.feet import contacts_of, treadmill
from ik_addon.planting.feet.clip import UP, LegMotion, applied, turns_by
from ik_addon.planting.feet.contacts import BALL, HEEL, sole_of
from ik_addon.planting.feet.curves import runs
from ik_addon.planting.feet.finding import Contacts
from ik_addon.planting.feet.judging import worse_by
from ik_addon.planting.feet.loops import period_of, seam_of
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.planning import plan
from ik_addon.planting.feet.standing import able_to_stand, in_the_air, why_nothing_stands
from ik_addon.planting.feet.treadmill import stands_on

from . import clips
from .captured import character
from .clips import loop
from .labels import CHARACTERS, CMU_LABELED, cmu_labels, mask
from .measures import agreement

SPOILED = [(1.1, 0), (0.9, 0), (1.1, 1), (0.9, 1)]
SPEED = clips.STRIDE / clips.CYCLE
"""Leg lengths a second of a walk that is made."""


def in_place(clip, speed=SPEED):
    """A walk whose ground passes below it."""
    times = np.arange(clip.frame_count)[:, None] / clip.fps
    return clips.placed(clip, -times * np.array((speed, 0.0, 0.0)) * clip.size / 1.05)


def false_contacts(found, truth):
    """How many contacts have no frame of the truth in or beside them."""
    spans = ((leg, point, *run) for leg, point in np.ndindex(found.shape[:2]) for run in runs(found[leg, point]))
    return sum(not truth[leg, point, max(0, first - 1) : last + 2].any() for leg, point, first, last in spans)


def test_contacts_agree_with_labels_made_by_eye():
    captured = clips.cmu_walk()
    truth = cmu_labels(captured.frame_count)[..., CMU_LABELED]
    clean, *spoiled = [
        contacts_of(clip).touching[..., CMU_LABELED]
        for clip in (captured, *(clips.degraded(captured, *spoil) for spoil in SPOILED))
    ]
    assert agreement(clean, truth) >= 0.945
    assert np.mean([agreement(found, truth) for found in spoiled]) >= 0.94
    assert sum(false_contacts(found, truth) for found in (clean, *spoiled)) <= 1


@pytest.mark.parametrize("way", [0.2, 0.3, 0.4])
@pytest.mark.parametrize("heels_since", [0, 40])
def test_feet_that_slide_slowly_to_where_they_stand_do_not_dart(way, heels_since, monkeypatch):
    """Of a body that stays, feet that are not lifted: they stand before and after, and go as they were captured, also
    where the networks take all of it for contact.
    """
    clip, fps, count = clips.walk(24.0)[0], 24.0, 72
    times = np.arange(count) / fps
    share = np.clip(times - 1.0, 0.0, 1.0)
    stand = {name: np.repeat(getattr(clip, name)[:, :1], count, axis=1) for name in ("hips", "feet")}
    ankles = np.repeat(np.array(((0.0, -0.1, 0.08), (0.0, 0.1, 0.08)))[:, None], count, axis=1)
    ankles[..., 0] += np.array((-0.8, 1.0))[:, None] * way * share * share * (3.0 - 2.0 * share)
    # Feet that stand exactly are told without this.
    ankles += 1e-3 * np.random.default_rng(0).normal(size=ankles.shape)
    stand |= {"ankles": ankles, "balls": ankles + clips.BALL, "feet": np.broadcast_to(np.eye(3), (2, count, 3, 3))}
    sliding = clips.with_knees(replace(clip, fps=fps, **stand))
    felt = Contacts(np.ones((2, 2, count), bool), np.ones((2, 2, count)), np.zeros((count, 2)))
    felt.touching[:, HEEL, :heels_since] = False
    monkeypatch.setattr(treadmill, "contacts_of", lambda *_: felt)
    stage = stands_on(sliding, Options())
    ways = plan(sliding, Options(), stage.contacts, sole=stage.sole).ankles
    assert stage.contacts[:, BALL, [5, 66]].all() and stage.contacts[:, HEEL, 66].all()
    assert not (stage.contacts[:, HEEL] & ~stage.contacts[:, BALL]).any()
    captured, planned = (np.linalg.norm(np.diff(each, axis=1), axis=-1).max() for each in (ankles, ways))
    assert planned <= 1.6 * captured
    assert np.linalg.norm(ways - ankles, axis=-1).max() < 0.07 * sliding.size


@pytest.mark.parametrize(("name", "action"), CHARACTERS, ids=[action for _, action in CHARACTERS])
def test_contacts_of_characters_in_place_agree_with_labels(name, action):
    clip = character(f"characters/{name}", action)
    truth = mask(CHARACTERS[name, action], clip.frame_count)
    assert agreement(contacts_of(clip).touching, truth) >= 0.84
    walking = clips.travelling(clip)
    truth = np.tile(truth[..., :-1], walking.frame_count // (clip.frame_count - 1))
    assert agreement(contacts_of(walking).touching, truth) >= 0.84


def test_a_run_is_found_however_fast_it_is_played():
    """What is too fast for the features is seen in slow motion, as animals are that are no higher than a knee."""
    with np.load(clips.capture("cmu_legs.npz")) as kept:
        run = {key.split("/")[1]: kept[key].astype(float) for key in kept.files if key.startswith("cmu_02_03/")}
    fps = float(run.pop("fps"))
    sole = sole_of(LegMotion(fps, **run))
    known, fast, faster = (contacts_of(LegMotion(times * fps, **run), sole) for times in (1.0, 2.0, 4.0))
    for each in (fast, faster):
        assert agreement(each.touching, known.touching) >= 0.92
    assert faster.ground == pytest.approx(2.0 * fast.ground)


def test_the_ground_below_a_walk_in_place_moves_as_fast_as_it_walks():
    clip, truth = clips.walk(60.0)
    stage = stands_on(in_place(clip), Options())
    ground, contacts = stage.ground, stage.contacts
    assert ground.velocity == pytest.approx((-SPEED * clip.size / 1.05, 0.0, 0.0), abs=0.02 * clip.size)
    assert agreement(contacts, truth) >= 0.85


def test_one_foot_that_slides_moves_no_ground():
    clip, _ = clips.walk(30.0)
    standing = replace(
        clip, **{name: getattr(clip, name)[:, :1].repeat(60, axis=1) for name in ("hips", "knees", "feet")}
    )
    slide = np.zeros((2, 60, 3))
    slide[0, :, 0] = np.linspace(0.0, -1.0, 60) * clip.size
    still = {name: getattr(clip, name)[:, :1] + slide for name in ("ankles", "balls")}
    ground = stands_on(replace(standing, **still), Options()).ground
    assert not ground.velocity.any()


@pytest.mark.parametrize("fps", [24.0, 30.0])
def test_a_loop_closes_as_before(fps):
    clip = loop(fps)
    assert period_of(clip) == clip.frame_count - 1
    stage = stands_on(clip, Options())
    ground, contacts = stage.ground, stage.contacts
    seen = ground.seen_from(clip)
    made = ground.put_back(seen, plan(seen, Options(), contacts))
    gaps = [np.linalg.norm(each[:, -1] - each[:, 0], axis=-1).max() for each in (clip.ankles, made.ankles)]
    assert gaps[1] <= gaps[0] + 1e-4 * clip.size
    assert np.linalg.norm(made.shifts[-1] - made.shifts[0]) <= 1e-4 * clip.size


def begun_at(cycle, start):
    """A loop that begins and ends at another of its frames."""
    frames = np.concatenate((np.arange(start, cycle.frame_count - 1), np.arange(start + 1)))
    names = ("hips", "knees", "ankles", "balls", "feet")
    return replace(cycle, **{name: getattr(cycle, name)[:, frames] for name in names}), frames


@pytest.mark.some(5)
@pytest.mark.parametrize("start", [3, 7, 11, 16, 20])
@pytest.mark.parametrize("factor", [1.0, 0.9, 1.1])
def test_a_loop_is_planted_alike_wherever_it_begins(start, factor):
    cycle = clips.retargeted(loop(), factor)
    other, frames = begun_at(cycle, start)
    one, two = (stands_on(each, Options()).contacts for each in (cycle, other))
    assert (one[..., frames] == two).all()


@pytest.mark.parametrize("size", [1.0, 20.0])
def test_a_seam_is_measured_as_far_as_it_is_open(size):
    """A loop whose last frame is its first one, one without that frame, and both opened by a twentieth of a leg."""
    closed = loop(30.0, size)
    names = ("hips", "knees", "ankles", "balls", "feet")
    without = replace(closed, **{name: getattr(closed, name)[:, :-1] for name in names})
    for clip, most in ((closed, 1e-9), (without, 0.02)):
        position, speed = seam_of(clip)
        assert position.max() < most and period_of(clip) == closed.frame_count - 1
        moved = clip.ankles.copy()
        moved[1] += np.linspace(0.0, 0.05 * clip.size, clip.frame_count)[:, None] * (0.0, 1.0, 0.0)
        opened, other = seam_of(replace(clip, ankles=moved))
        assert opened[0] == position[0] and opened[1] == pytest.approx(0.05, abs=2.0 * most + 1e-9)
        # A ramp changes no velocity.
        assert other == pytest.approx(speed, abs=1e-9)


@pytest.mark.parametrize("size", [1.0, 20.0])
def test_a_seam_has_the_speed_by_which_velocities_differ(size):
    closed = loop(30.0, size)
    _, speed = seam_of(closed)
    knees = closed.knees.copy()
    times = np.arange(closed.frame_count) / closed.fps
    # Goes up from the seam and comes down to it, at one leg length a second.
    knees[0, :, 2] += closed.size * np.minimum(times, times[-1] - times)
    position, faster = seam_of(replace(closed, knees=knees))
    assert position.max() < 1e-9
    assert abs(faster[0] - 2.0) < speed[0] + 0.1
    assert faster[1] == speed[1]


def test_contacts_wrap_around_the_seam_of_a_loop():
    clip = loop(30.0)
    touching = contacts_of(clip).touching
    assert (touching[..., 0] == touching[..., -1]).all()
    assert touching[..., 0].any()


def test_feet_that_hang_do_not_stand():
    clip, _ = clips.walk(30.0)
    low = np.minimum(clip.ankles[..., 2], clip.balls[..., 2]).min(axis=1)
    rests = np.stack((clip.hips[..., 2].mean(axis=1), low), axis=1)
    at_rest = replace(clip, rests=rests)
    assert contacts_of(at_rest).touching.any()
    raised = np.array((0.3, 0.45))[:, None, None] * clip.size * UP
    lifted = {name: getattr(clip, name) + raised for name in ("knees", "ankles", "balls")}
    hanging = replace(at_rest, **lifted)
    assert in_the_air(hanging, sole_of(hanging)).all()
    assert not contacts_of(hanging).touching.any()
    assert why_nothing_stands(hanging, sole_of(hanging)) == "AIR"
    # A rest pose that lies elsewhere, or in which the legs are straight, says nothing.
    for moved in (("hips", "knees", "ankles", "balls"), ("knees", "ankles", "balls")):
        elsewhere = replace(at_rest, **{name: getattr(clip, name) + 0.3 * clip.size * UP for name in moved})
        assert contacts_of(elsewhere).touching.any()


def test_feet_of_a_body_that_lies_do_not_stand():
    clip, _ = clips.walk(30.0)
    lying = replace(clip, hips=clip.hips - 0.7 * clip.size * UP)
    assert not contacts_of(lying).touching.any()
    assert why_nothing_stands(lying, sole_of(lying)) == "LIES"


def test_a_heel_that_was_lifted_does_not_come_back_without_a_swing():
    for spoil in SPOILED:
        touching = contacts_of(clips.degraded(clips.walk(60.0)[0], *spoil)).touching
        for heel, ball in touching:
            for first, last in runs(heel | ball):
                assert len(runs(heel[first : last + 1])) <= 1 or not ball[first : last + 1].all()


@pytest.mark.parametrize(("frames", "stands"), [(5, False), (30, True)])
def test_a_heel_of_one_who_stands_on_comes_back_for_a_while(frames, stands):
    clip, _ = clips.walk(30.0)
    touching = np.ones((2, 2, clip.frame_count), bool)
    touching[0, HEEL, 20:40] = touching[0, :, 40 + frames :] = False
    found = able_to_stand(clip, sole_of(clip), touching)[0]
    assert found[HEEL, 40] == stands
    assert found[BALL, 20:40].any()


def test_a_foot_that_points_up_does_not_stand_on_its_heel():
    clip, _ = clips.walk(30.0)
    sole, up = sole_of(clip), slice(18, 28)
    touching = contacts_of(clip, sole).touching
    assert touching[1, HEEL, up].all()
    feet = clip.feet.copy()
    for degrees, stands in ((-50.0, True), (-75.0, False)):
        feet[1, up] = turns_by(np.array((0.0, np.radians(degrees), 0.0)))
        heels = sole.places(clip.ankles, clip.feet)[:, HEEL]
        raised = replace(clip, feet=feet, ankles=heels - applied(feet, sole.points[:, None, HEEL]))
        assert able_to_stand(raised, sole, touching)[1, HEEL, up].any() == stands


@pytest.mark.parametrize(("speed", "stands"), [(0.3, True), (1.2, False), (-1.2, False)])
def test_a_point_that_passes_the_ground_without_rest_does_not_stand(speed, stands):
    clip, _ = clips.walk(60.0)
    sole = sole_of(clip)
    touching = np.zeros((2, 2, clip.frame_count), bool)
    touching[0, :, 100:104] = True
    rises = clip.size * speed / clip.fps * np.clip(np.arange(clip.frame_count) - 90, 0, 20)[:, None] * UP
    moved = {name: np.stack((clip.ankles[0, 100] + rises, getattr(clip, name)[1])) for name in ("ankles",)}
    moved["balls"] = moved["ankles"] + clip.balls[:, 100:101] - clip.ankles[:, 100:101]
    feet = np.repeat(clip.feet[:, 100:101], clip.frame_count, axis=1)
    assert able_to_stand(replace(clip, feet=feet, **moved), sole, touching)[0].all(axis=0)[101] == stands


def test_what_planting_makes_worse_is_told_with_its_figures():
    clip = clips.degraded(clips.walk(30.0)[0], 0.9)
    sole = sole_of(clip)
    assert worse_by(clip, plan(clip, Options()), sole, True) == []
    # All feet nailed to the ground all the time.
    nailed = plan(clip, Options(), np.ones((2, 2, clip.frame_count), bool))
    figures = {each.figure: each for each in worse_by(clip, nailed, sole, True)}
    assert figures["body"].after > 0.5
    assert not [each for each in worse_by(clip, nailed, sole, False) if each.figure == "body"]
    assert "body" not in {each.figure for each in worse_by(clip, nailed, sole, True, {"body": 99.0})}


def test_a_clip_of_one_frame_has_no_contact():
    clip = clips.every(clips.walk(30.0)[0], 1000)
    assert clip.frame_count == 1
    assert not contacts_of(clip).touching.any()
