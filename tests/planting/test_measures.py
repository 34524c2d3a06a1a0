"""The figures of a clip check, on feet whose slides, heights and pops are known since they were made so."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ik_addon.planting.feet import measures
from ik_addon.planting.feet.clip import LegMotion, turns_by
from ik_addon.planting.feet.contacts import HeelAndBall, sole_of
from ik_addon.planting.feet.curves import extent, quantile
from ik_addon.planting.feet.measures import distances, knee_jumps, knee_pops, measured, new_pops, worst_contact

from . import clips

HEEL, BALL = np.array((-0.1, 0.0, -0.1)), np.array((0.2, 0.0, -0.1))
SOLE = HeelAndBall(np.array([[HEEL, BALL]]), np.array([[0.0, 0.0, 1.0]]), np.zeros((1, 1)), np.zeros(1))
RATES = [24.0, 30.0, 60.0, 120.0]


def foot(fps: float, way: np.ndarray, pitch: np.ndarray | float = 0.0) -> LegMotion:
    """A foot (T, 3) of a leg of length 1. way: of its ball from a place on the ground. pitch: its heel goes up."""
    feet = turns_by(np.broadcast_to(pitch, len(way))[:, None] * (0.0, 1.0, 0.0))
    balls = way + np.array((0.2, 0.0, 0.0))
    ankles = (balls - feet @ BALL)[None]
    hips = ankles + np.array((0.0, 0.0, 0.9))
    clip = LegMotion(fps, np.array([[0.5, 0.5]]), hips, hips, ankles, balls[None], feet[None])
    return clips.with_knees(clip)


def sole_for(clip: LegMotion) -> HeelAndBall:
    return replace(SOLE, floors=np.zeros((1, clip.frame_count)))


def figures(clip: LegMotion, contacts: np.ndarray | None = None, heights=None) -> dict[str, float]:
    contacts = np.ones((1, 2, clip.frame_count), bool) if contacts is None else contacts
    return measured(clip, sole_for(clip), contacts, heights)[0]


def still(count: int, *place: float) -> np.ndarray:
    return np.tile(place or (0.0, 0.0, 0.0), (count, 1))


def test_a_foot_that_stands_has_no_fault():
    own = figures(foot(30.0, still(60)))
    assert all(value == pytest.approx(0.0, abs=1e-12) for value in own.values()), own


def test_each_figure_has_its_name():
    assert tuple(figures(foot(30.0, still(60)))) == measures.FIGURES


@given(st.lists(st.tuples(*[st.floats(-2.0, 2.0)] * 3), min_size=1, max_size=40))
def test_a_slide_is_the_largest_distance_between_two_frames_of_a_contact(places):
    way = np.array(places)
    apart = max(float(np.linalg.norm(a - b)) for a in way for b in way)
    assert extent(way) == pytest.approx(apart)


def test_slides_are_those_of_each_contact_alone():
    """The foot goes far between two contacts, and little in the second of them."""
    way = still(60)
    way[20:40, 0] = np.linspace(0.0, 1.0, 20)
    way[40:, 0] = 1.0
    way[50:, 1] = 0.03
    contacts = np.ones((1, 2, 60), bool)
    contacts[..., 20:40] = False
    clip = foot(30.0, way)
    assert figures(clip, contacts)["slide"] == pytest.approx(0.03)
    assert worst_contact(clip, sole_for(clip), contacts) == [(40, 59)]
    assert worst_contact(clip, sole_for(clip), np.zeros_like(contacts)) == [None]


@pytest.mark.parametrize("fps", RATES)
@pytest.mark.parametrize(("speed", "height", "skates"), [(0.3, 0.0, True), (0.2, 0.0, False), (0.3, 0.07, False)])
def test_skating_is_the_part_of_the_frames_with_a_low_and_fast_toe(fps, speed, height, skates):
    """Four seconds, in one of which the foot moves: 0.24 leg lengths a second are 0.2 m/s for a human of 1.7 m."""
    times = np.arange(round(4.0 * fps)) / fps
    way = np.stack((speed * np.clip(times - 1.0, 0.0, 1.0), 0.0 * times, height + 0.0 * times), axis=1)
    own = figures(foot(fps, way), np.zeros((1, 2, len(times)), bool))
    assert own["skating"] == pytest.approx(0.25 * skates, abs=0.02)


@pytest.mark.parametrize("fps", RATES)
def test_the_speed_in_contact_is_that_of_a_steady_drift(fps):
    times = np.arange(round(2.0 * fps)) / fps
    drift = foot(fps, np.stack((0.4 * times, -0.3 * times, 0.0 * times), axis=1))
    assert figures(drift)["skating_speed"] == pytest.approx(0.5)
    # What is outside a contact is no skating in it.
    outside = np.zeros((1, 2, len(times)), bool)
    assert figures(drift, outside)["skating_speed"] == 0.0


@pytest.mark.parametrize(("height", "floating", "sunken"), [(0.02, 0.02, 0.0), (-0.03, 0.0, 0.03)])
def test_floating_and_sinking_are_heights_over_the_ground(height, floating, sunken):
    own = figures(foot(30.0, still(40, 0.0, 0.0, height)))
    assert (own["floating"], own["sunken"]) == (pytest.approx(floating), pytest.approx(sunken))


def test_the_ground_may_be_anywhere():
    """A foot on a slope of 1 in 10, which it follows: neither in it nor over it; and level it is both."""
    ground = lambda points: 0.1 * points[:, 0]  # noqa: E731
    way = still(40, 0.0, 0.0, 0.02)
    on_slope = foot(30.0, way, -np.arctan(0.1))
    own = figures(on_slope, heights=ground)
    assert (own["floating"], own["sunken"]) == pytest.approx((0.0, 0.0), abs=1e-9)
    level = figures(foot(30.0, way), heights=ground)
    assert level["floating"] == pytest.approx(0.0, abs=1e-9)
    heel = figures(foot(30.0, still(40, 0.0, 0.0, -0.05)), heights=ground)
    assert heel["sunken"] == pytest.approx(0.07)


def test_tiptoe_is_the_part_of_the_contact_with_a_high_heel():
    pitch = np.zeros(40)
    # 0.3 leg lengths from ball to heel: 0.09 high.
    pitch[10:20] = np.arcsin(0.3)
    contacts = np.ones((1, 2, 40), bool)
    contacts[..., 30:] = False
    assert figures(foot(30.0, still(40), pitch), contacts)["tiptoe"] == pytest.approx(1.0 / 3.0)
    assert figures(foot(30.0, still(40), 0.5 * pitch), contacts)["tiptoe"] == 0.0


def bending(fps: float, bends: np.ndarray) -> LegMotion:
    """A leg that hangs and whose knee is bent by so much."""
    nothing = np.zeros((1, len(bends), 3))
    thigh, shin = (0.0, 0.0, -0.5), 0.5 * np.stack((-np.sin(bends), 0.0 * bends, -np.cos(bends)), axis=1)
    knees = nothing + thigh
    ankles = knees + shin
    return LegMotion(
        fps, np.array([[0.5, 0.5]]), nothing, knees, ankles, ankles + BALL, np.tile(np.eye(3), (1, len(bends), 1, 1))
    )


@pytest.mark.parametrize("fps", RATES)
def test_knees_are_as_fast_as_they_were_made(fps):
    times = np.arange(round(1.0 * fps)) / fps
    steady = figures(bending(fps, 0.2 + 1.5 * times))
    assert steady["knee_speed"] == pytest.approx(1.5)
    assert steady["knee_acceleration"] == pytest.approx(0.0, abs=1e-6)
    # Away from the ends, which are continued by a half turn.
    faster = figures(bending(fps, 0.2 + np.clip(times - 0.3, 0.0, 0.4) ** 2 * 4.0))
    assert faster["knee_speed"] == pytest.approx(3.2, rel=0.25)
    assert steady["knee_pops"] == 0


@pytest.mark.parametrize("fps", RATES)
@pytest.mark.parametrize("size", [0.0, 0.1, 0.3, -0.3])
def test_knees_pop_where_they_were_made_to(fps, size):
    """Two pops in a walk: a knee that goes aside for a thirtieth of a second, and one that goes and stays there."""
    times = np.arange(round(4.0 * fps)) / fps
    bends = 0.8 + 0.4 * np.sin(2.0 * np.pi * times)
    bends[(times >= 1.0) & (times < 1.0 + 1.0 / 30.0)] += size
    bends[times >= 2.5] += size
    clip = bending(fps, bends)
    pops = [(first / fps, last / fps) for first, last in knee_pops(clip)[0]]
    assert figures(clip)["knee_pops"] == len(pops)
    if abs(size) < 0.2:
        assert not pops
        return
    (first, _), (second, _) = pops
    assert first == pytest.approx(1.0, abs=0.07)
    assert second == pytest.approx(2.5, abs=0.07)


@pytest.mark.parametrize("fps", RATES)
@pytest.mark.parametrize(("late", "is_new"), [(0.0, False), (0.08, False), (0.5, True)])
def test_a_pop_that_moves_by_a_frame_or_two_is_not_new(fps, late, is_new):
    times = np.arange(round(4.0 * fps)) / fps
    one, other = (bending(fps, 0.8 + 0.4 * (times >= 2.0 + start)) for start in (0.0, late))
    assert bool(new_pops(one, other)[0]) == is_new


@pytest.mark.parametrize("fps", RATES)
def test_a_knee_that_swings_to_another_side_jumps_though_its_bend_does_not(fps):
    times = np.arange(round(4.0 * fps)) / fps
    clip = bending(fps, 0.8 + 0.4 * np.sin(2.0 * np.pi * times))
    turned = turns_by(np.where(times >= 2.0, np.pi, 0.0)[:, None] * clips.directions(clip.ankles[0]))
    knees = (turned @ clip.knees[0][..., None])[..., 0]
    [[(first, last)]] = knee_jumps(clip, replace(clip, knees=knees[None]))
    assert first / fps <= 2.0 <= last / fps + 1.0 / 30.0 and last / fps < 2.1
    assert knee_jumps(clip, clip) == [[]]


@pytest.mark.parametrize("count", range(1, 12))
def test_a_clip_of_a_few_frames_is_measured_too(count):
    clip = foot(60.0, still(count))
    assert figures(clip)["knee_pops"] == 0
    assert knee_jumps(clip, clip) == [[]]


def test_distances_are_from_the_source():
    source = foot(30.0, still(40))
    clip = replace(source, ankles=source.ankles.copy(), hips=source.hips - (0.0, 0.03, 0.04))
    clip.ankles[0, 7] += (0.0, 0.0, 0.12)
    assert distances(clip, source) == [{"distance": pytest.approx(0.12), "body": pytest.approx(0.05)}]


@pytest.mark.parametrize("size", [0.01, 85.0])
def test_figures_are_the_same_for_a_character_of_any_size(size):
    clip, truth = clips.walk(fps=30.0, seconds=3.0)
    clip = clips.retargeted(clip, 0.9)
    points, normals = np.tile([HEEL, BALL], (2, 1, 1)), np.tile((0.0, 0.0, 1.0), (2, 1))
    sole = HeelAndBall(points, normals, np.zeros((2, clip.frame_count)), np.zeros(2))
    large = replace(sole, points=size * sole.points)
    own, other = measured(clip, sole, truth), measured(clips.scaled(clip, size), large, truth)
    for leg, larger in zip(own, other, strict=True):
        assert larger == pytest.approx(leg)
    assert own[0]["slide"] > 0.01


def test_a_walk_that_stands_is_better_than_one_that_skates():
    """In every figure of the ground, and in no other."""
    clip, truth = clips.walk(fps=60.0)
    skating = clips.wandering(clip, 0.05)
    clean, bad = (measured(each, sole_of(each), truth)[0] for each in (clip, skating))
    assert clean["slide"] < 1e-3 < 0.02 < bad["slide"]
    for name in ("skating", "skating_speed"):
        assert clean[name] < bad[name]
    assert clean["knee_pops"] == bad["knee_pops"] == 0


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=9), st.floats(0.0, 1.0))
def test_quantiles_are_those_of_numpy(values, part):
    found = quantile(np.array(values), part), quantile(np.array(values))
    assert found == pytest.approx((np.quantile(values, part), np.median(values)), abs=1e-9)
