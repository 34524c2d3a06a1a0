"""Stances that legs reach without a body that goes down, and feet that have arrived."""

from dataclasses import replace

import numpy as np
import pytest

from ik_addon.planting.feet import planning
from ik_addon.planting.feet.anchors import settled
from ik_addon.planting.feet.contacts import BALL, sole_of
from ik_addon.planting.feet.curves import runs
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.planning import lowered, plan
from ik_addon.planting.feet.reaching import in_reach

from . import clips


def dragged(amount):
    """A walk whose legs get straight ahead, and whose feet are dragged ahead in each stance; its contacts."""
    clip, truth = clips.walk(30)
    ways, touching = np.zeros_like(clip.ankles), truth.any(axis=1)
    for leg, own in enumerate(touching):
        for first, last in runs(own):
            ways[leg, first : last + 1, 0] = np.linspace(0.0, amount, last - first + 1)
        for first, last in runs(~own):
            ways[leg, first : last + 1, 0] = np.linspace(amount, 0.0, last - first + 1)
    hips, ankles = clip.hips - (0.25, 0.0, 0.0), clip.ankles + ways
    lines = ankles - hips
    distances = np.linalg.norm(lines, axis=2)
    longest = distances[touching].max()
    # In the air they are bent.
    lines *= np.where(touching, 1.0, np.minimum(1.0, 0.97 * longest / distances))[..., None]
    balls = clip.balls + hips + lines - clip.ankles
    lengths = clip.lengths * longest / clip.size / 0.999
    return clips.with_knees(replace(clip, lengths=lengths, hips=hips, ankles=hips + lines, balls=balls)), truth


def test_stances_are_moved_to_where_legs_reach():
    clip, truth = dragged(0.2)
    moved = in_reach(clip, sole_of(clip), truth, Options())

    def missing(of):
        """How far the worst leg is too short for feet that stand at the mean places of their balls."""
        worst = 0.0
        for leg, touching in enumerate(truth[:, BALL]):
            for first, last in runs(touching):
                own = slice(first, last + 1)
                held = of.ankles[leg, own] + of.balls[leg, own].mean(axis=0) - of.balls[leg, own]
                away = np.linalg.norm(held - clip.hips[leg, own], axis=1)
                worst = max(worst, (away - clip.reaches[leg]).max())
        return worst

    assert missing(clip) > 0.01 * clip.size and missing(moved) < 0.8 * missing(clip)


@pytest.mark.parametrize("source", ["dragged", "longer legs", "shorter legs"])
def test_the_body_goes_no_farther_for_it(source, monkeypatch):
    clip = (
        dragged(0.2)[0]
        if source == "dragged"
        else clips.degraded(clips.walk(30)[0], 1.1 if "longer" in source else 0.9)
    )
    mine = plan(clip, Options())
    monkeypatch.setattr(planning, "in_reach", lambda clip, *_: clip)
    held = plan(clip, Options())
    farthest = [np.linalg.norm(made.shifts, axis=1).max() for made in (mine, held)]
    assert farthest[0] <= farthest[1] + 1e-9 and not mine.unreached.any()


def test_a_stance_is_moved_no_farther_than_its_points_slide():
    clip, truth = dragged(0.2)
    sole = sole_of(clip)
    ways = in_reach(clip, sole, truth, Options()).ankles - clip.ankles
    places, moved = sole.places(clip.ankles, clip.feet), False
    for leg, touching in enumerate(truth.any(axis=1)):
        assert not ways[leg, ~touching].any()
        for first, last in runs(touching):
            own = ways[leg, first : last + 1]
            assert np.ptp(own, axis=0).max() < 1e-12 and not own[:, 2].any()
            slides = [
                np.linalg.norm(way[start : end + 1] - way[start : end + 1].mean(axis=0), axis=1).max()
                for way, touches in zip(places[leg, :, first : last + 1], truth[leg, :, first : last + 1], strict=True)
                for start, end in runs(touches)
            ]
            assert np.linalg.norm(own[0]) <= max(slides) + 1e-12
            moved |= own.any()
    assert moved


def test_stances_that_legs_reach_stay():
    clip, truth = clips.walk(30)
    assert (in_reach(clip, sole_of(clip), truth, Options()).ankles == clip.ankles).all()


def test_a_foot_that_still_comes_fast_has_not_arrived():
    clip, truth = clips.walk(24)
    sole, ways = sole_of(clip), np.zeros_like(clip.ankles)
    first, last = next(run for run in runs(truth[0, BALL]) if run[0] > 0 and run[1] < clip.frame_count - 1)
    ways[0, first : first + 3, 0] = np.array((0.3, 0.2, 0.1)) * clip.size
    coming = replace(clip, ankles=clip.ankles - ways, balls=clip.balls - ways)
    locked, before = (settled(each, sole, truth)[0, BALL] for each in (coming, clip))
    assert not locked[first : first + 2].any() and locked[first + 3 : last - 2].all()
    assert before[first + 2 : last - 2].all()


def test_a_foot_that_drifts_for_long_has_arrived_where_it_then_is():
    """Ahead and back again within a second: its drift in the middle is not that at its ends."""
    clip, _ = clips.walk(120)
    sole, touching = sole_of(clip), np.zeros((2, 2, clip.frame_count), bool)
    touching[0, :, 100:400] = True
    still = np.repeat(clip.ankles[:1, 200:201], clip.frame_count, axis=1)
    drift = 0.05 * clip.size * np.sin(2.0 * np.pi * np.arange(clip.frame_count) / 240.0)
    still[..., 0] += drift
    balls = still + (clip.balls - clip.ankles)[:1, 200:201]
    feet = np.repeat(clip.feet[:1, 200:201], clip.frame_count, axis=1)
    stands = replace(
        clip,
        ankles=np.concatenate((still, clip.ankles[1:])),
        balls=np.concatenate((balls, clip.balls[1:])),
        feet=np.concatenate((feet, clip.feet[1:])),
    )
    assert settled(stands, sole, touching)[0, BALL].sum() >= 298


def test_a_body_that_is_lowered_between_frames_still_closes_its_loop():
    clip = clips.walk(30, seconds=4.4)[0]
    made = plan(clip, Options())
    falls = np.zeros(clip.frame_count)
    falls[:2] = 0.01 * clip.size
    down = (made.shifts - lowered(clip, made, falls).shifts)[:, 2]
    assert (down >= falls).all()
    assert down[-1] == pytest.approx(down[0]) and down[clip.frame_count // 2] == 0.0
