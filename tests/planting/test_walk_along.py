"""A walk on a path, in arrays: feet stand, steps keep their length, and what is no other path changes nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.paths import SAMPLE, passed, source_of, sources, steps_off, walked
from ik_addon.planting.feet import along_path as along_module
from ik_addon.planting.feet.along_path import CROUCH, along_path, brought
from ik_addon.planting.feet.anchors import anchors_of
from ik_addon.planting.feet.clip import UP, across, applied, bends_of, directions, turns_between, turns_by
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.curves import slope
from ik_addon.planting.feet.judging import with_plan
from ik_addon.planting.feet.loops import period_of
from ik_addon.planting.feet.measures import measured, unexpected
from ik_addon.planting.feet.options import PAW, SLOPE_TIME, Options
from ik_addon.planting.feet.path import GroundPath, path_of
from ik_addon.planting.feet.planning import body_shifts, plan
from ik_addon.planting.feet.reaching import unfolded
from ik_addon.planting.feet.spine import Spine, moved
from ik_addon.planting.feet.swinging import calmed
from ik_addon.planting.feet.walk import Walk

from .clips import CYCLE, STRIDE, as_captured, scaled, walk, with_knees
from .laws import assert_lawful

ROUND = np.linspace(0.0, 2.0 * np.pi, 200)
CURVES = {
    "straight": np.array(((1.0, 2.0), (9.0, 7.0))),
    "circle": 3.0 * np.stack((np.sin(ROUND), 1.0 - np.cos(ROUND)), axis=1),
    "S": np.stack((ROUND, 1.2 * np.sin(ROUND)), axis=1),
    "square": np.array(((0.0, 0.0), (3.0, 0.0), (3.0, 3.0), (0.0, 3.0))),
}


def walk_of(clip, contacts):
    return Walk(clip, sole_of(clip), contacts)


OPTIONS = Options()


def on_path(clip, contacts, points, options=OPTIONS, is_closed=False, base=None):
    """The walk, what is brought to a curve of it, and its plan there."""
    own = walk_of(clip, contacts)
    rounding = options.path_rounding * own.stride * options.path_stride
    paths = [None if each is None else path_of(each, is_closed, 0.02 * clip.size, rounding) for each in (points, base)]
    there = brought(own, along_path(own, *paths, options), options)
    return own, there, plan(there.clip, options, contacts, sole=own.sole)


def legs_of(planned):
    return [getattr(planned, name) for name in ("ankles", "knees", "feet", "poles")]


@pytest.mark.some(12)
@pytest.mark.parametrize("stride", [0.7, 1.0, 1.15])
@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("legs", [1, 2, 4])
def test_feet_stand_and_reach_on_a_path(curve, stride, legs):
    clip, truth = walk(legs=legs)
    own, there, planned = on_path(clip, truth, CURVES[curve], Options(path_stride=stride), curve == "square")
    assert_lawful(there.clip, planned, None)
    assert len(planned.locks) == len(own.anchors.locks)


@pytest.mark.some(6)
@pytest.mark.parametrize("stride", [0.7, 1.0, 1.3])
@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("legs", [2, 4])
def test_steps_are_as_long_as_the_stride_says(curve, stride, legs):
    clip, truth = walk(seconds=8.0, legs=legs)
    own, options, is_closed = walk_of(clip, truth), Options(path_stride=stride), curve == "square"
    _, _, planned = on_path(clip, truth, CURVES[curve], options, is_closed)
    along = along_path(own, path_of(CURVES[curve], is_closed, 0.02, own.stride * stride), None, options)
    off = steps_off(own, along, plan(clip, OPTIONS, truth, sole=own.sole), planned)
    assert len(off) > 6 * legs and off.max() < 0.01


def test_a_body_that_turns_on_its_way_passes_its_feet_when_it_does():
    rows = np.linspace(0.0, np.pi, 300)
    places = np.stack((np.sin(rows), 1.0 - np.cos(rows)), axis=1)
    path = GroundPath(2.0 * np.vstack((places, (0.0, 4.0) - places[-2::-1])), np.append(rows, rows[-2::-1]), 0.02)
    ways, feet = np.arange(1.0, 11.0), np.array((0.6, 0.2))
    here, headings = path.at(ways)
    feet = here + applied(turns_by(headings[:, None] * UP)[:, :2, :2], feet)
    assert np.abs(passed(path, feet, 0.6, ways + 0.1) - ways).max() < 1e-6


def test_a_path_where_the_walk_went_changes_nothing():
    clip, truth = walk()
    own = walk_of(clip, truth)
    start = own.way.places[own.way.margin, :2]
    _, _, planned = on_path(clip, truth, start + np.array(((0.0, 0.0), (20.0, 0.0))))
    for there, here in zip(legs_of(planned), legs_of(plan(clip, Options(), truth)), strict=True):
        assert np.abs(there - here).max() < 1e-3


def test_the_path_that_was_made_of_a_walk_changes_nothing_at_all():
    clip, truth = walk(turn=0.7)
    own = walk_of(clip, truth)
    drawn = own.way.at(np.arange(0.0, clip.frame_count, 10.0))[0][:, :2]
    _, _, planned = on_path(clip, truth, drawn, base=drawn)
    for there, here in zip(legs_of(planned), legs_of(plan(clip, Options(), truth)), strict=True):
        assert np.abs(there - here).max() < 1e-9


@pytest.mark.parametrize("legs", ["sample", 2, 4])
def test_a_capture_on_its_own_path_is_as_planted_without_one(legs):
    if legs == "sample":
        (own,) = sources([SAMPLE], ["walk capture"])
    else:
        own = source_of("made", as_captured(walk(fps=24.0, seconds=8.0, legs=legs)[0]))
    own_walk, _, _, planned = walked(own, "own path", 1.0)
    plain = plan(own.clip, OPTIONS, own.contacts, sole=own_walk.sole)
    for there, here in zip(legs_of(planned), legs_of(plain), strict=True):
        assert np.abs(there - here).max() < 1e-6 * own.clip.size


@pytest.mark.parametrize(
    ("radius", "stride", "closes"),
    [(None, 0.7, True), (20.0, 0.7, True), (STRIDE / (2.0 * np.pi), 1.0, True), (3.0, 1.0, False)],
)
def test_a_loop_that_closes_on_a_path_begins_again_when_it_did(radius, stride, closes):
    clip, truth = walk(fps=240.0, seconds=3.0 * CYCLE)
    own = slice(88, 88 + 265)
    names = ("hips", "knees", "ankles", "balls", "feet")
    clip, truth = replace(clip, **{name: getattr(clip, name)[:, own] for name in names}), truth[..., own]
    points = CURVES["straight"] if radius is None else CURVES["circle"][:-1] * radius / 3.0
    _, there, _ = on_path(clip, truth, points, Options(path_stride=stride), radius is not None)
    assert period_of(clip) == 264 and period_of(there.clip) == 264 * closes


@pytest.mark.parametrize("curve", ["circle", "S"])
def test_a_path_that_is_turned_and_moved_turns_and_moves_the_walk(curve):
    clip, truth = walk()
    turn, shift = turns_by(np.array(1.1) * UP), np.array((3.0, -8.0, 0.0))
    points = CURVES[curve]
    elsewhere = points @ turn[:2, :2].T + shift[:2]
    planned, moved = (on_path(clip, truth, each)[2] for each in (points, elsewhere))
    assert np.abs(applied(turn, planned.ankles) + shift - moved.ankles).max() < 1e-8
    assert np.abs(applied(turn, planned.knees) + shift - moved.knees).max() < 1e-8
    assert np.abs(turn @ planned.feet - moved.feet).max() < 1e-8


@pytest.mark.parametrize("size", [0.01, 40.0])
def test_a_walk_of_any_size_goes_a_path_of_its_size(size):
    clip, truth = walk()
    options = Options(path_lean=0.5)
    planned = on_path(clip, truth, CURVES["S"], options)[2]
    large = on_path(scaled(clip, size), truth, size * CURVES["S"], options)[2]
    assert np.abs(large.ankles / size - planned.ankles).max() < 1e-6
    assert np.abs(large.knees / size - planned.knees).max() < 1e-5


def test_where_a_walk_stands_nothing_moves():
    clip, truth = walk(seconds=3.35)
    stands = {name: getattr(clip, name) for name in ("hips", "knees", "ankles", "balls", "feet")}
    stands = {name: np.concatenate((own, np.repeat(own[:, -1:], 120, axis=1)), axis=1) for name, own in stands.items()}
    contacts = np.concatenate((truth, np.repeat(truth[..., -1:], 120, axis=2)), axis=2)
    _, there, _ = on_path(replace(clip, **stands), contacts, CURVES["circle"])
    assert np.abs(np.diff(there.body[0][-60:], axis=0)).max() < 1e-6
    assert np.linalg.norm(np.diff(there.body[1][-60:], axis=0), axis=1).max() < 1e-6


def test_a_walk_that_only_stands_goes_to_the_beginning_of_its_path():
    clip, _ = walk(seconds=1.0)
    points = {
        name: np.repeat(getattr(clip, name)[:, 20:21], 60, axis=1) for name in ("hips", "knees", "ankles", "balls")
    }
    clip = replace(clip, feet=np.repeat(clip.feet[:, 20:21], 60, axis=1), **points)
    contacts = np.ones((2, 2, 60), bool)
    _, there, _ = on_path(clip, contacts, CURVES["straight"])
    assert np.linalg.norm(there.clip.hips.mean(axis=(0, 1))[:2] - CURVES["straight"][0]) < 0.7


def test_it_ends_where_the_path_ends():
    clip, truth = walk()
    options = Options(path_fit=True)
    own = walk_of(clip, truth)
    path = path_of(CURVES["S"], False, 0.02, own.stride)
    along = along_path(own, path, None, options)
    assert along.offset + along.stride * own.way.length == pytest.approx(path.length)
    end = along.maps(own, np.array([clip.frame_count - 1.0]))
    assert (
        np.linalg.norm(
            (applied(end[0], own.way.at(np.array([clip.frame_count - 1.0]))[0]) + end[1])[0, :2] - CURVES["S"][-1]
        )
        < 0.05
    )


def test_a_closed_path_goes_on_and_on():
    clip, truth = walk(seconds=12.0)
    points = CURVES["circle"][:-1] / 2.0
    _, there, planned = on_path(clip, truth, points, is_closed=True)
    assert_lawful(there.clip, planned, None)
    away = np.linalg.norm(there.clip.hips.mean(axis=0)[:, :2] - (0.0, 1.5), axis=1)
    assert np.abs(away - 1.5).max() < 0.25
    assert len(stances_of_points(planned)) > 15


def stances_of_points(planned):
    return {(lock.leg, lock.first) for lock in planned.locks if lock.point == 1}


def test_the_body_leans_into_a_bend_and_feet_do_not():
    clip, truth = walk()
    upright, leaning = (on_path(clip, truth, CURVES["circle"], Options(path_lean=lean))[1] for lean in (0.0, 1.0))
    side = np.cross(UP, leaning.body[0] @ (1.0, 0.0, 0.0))
    assert (np.sum(side * (leaning.body[0] @ UP), axis=1)[60:-60] > 0.01).all()
    assert np.abs(upright.body[0] @ UP - UP).max() < 1e-12
    stands = truth.any(axis=1)
    assert np.abs(upright.clip.ankles - leaning.clip.ankles)[stands].max() == 0.0


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-4, 4), st.floats(-4, 4)), min_size=2, max_size=6),
    st.floats(0.5, 1.3),
    st.booleans(),
    st.sampled_from((1, 2, 3, 4, 8)),
)
# A bend so tight that a foot in the air comes over its hip.
@example([(0.0, 0.0), (0.0, 1.0)], 0.875, True, 3)
def test_on_whatever_is_drawn_feet_stand(points, stride, is_closed, legs):
    points = np.array(points)
    if np.linalg.norm(points - points[0], axis=1).max() < 0.1:
        return
    clip, truth = walk(legs=legs, seconds=4.0, fps=30.0)
    own, there, planned = on_path(clip, truth, points, Options(path_stride=stride), is_closed)
    assert np.isfinite(planned.ankles).all() and np.isfinite(there.body[0]).all()
    assert_lawful(there.clip, planned, None, feasible=not planned.unreached.any(), sole=own.sole)


@pytest.mark.parametrize("legs", [2, 4])
def test_no_knee_jerks_more_in_the_air_than_it_did_or_than_pops(legs):
    clip, planned, hips, stands, heights, there = on_a_circle(legs)
    # As if it could be seen that they do.
    jerks = there.jerks / 4.0
    calm = calmed(replace(there, jerks=jerks), hips, planned.ankles, heights, stands, False, OPTIONS)

    def excess(ankles):
        found = np.abs(unexpected(bends_of(clip, np.linalg.norm(ankles - hips, axis=2)), clip.fps)) - jerks
        return found[~stands].max()

    # What is shared out gets nearer with each round, by a part.
    assert excess(calm) < 2e-5
    assert not (calm - planned.ankles)[stands].any()
    assert (heights(calm) > np.minimum(heights(planned.ankles), 0.0) - 1e-9).all()
    assert excess(planned.ankles) > 0.02


@pytest.mark.parametrize("legs", [2, 4])
def test_feet_that_can_go_no_lower_go_aside_and_at_most_twice_as_far(legs):
    _, planned, hips, stands, heights, there = on_a_circle(legs)
    wild = replace(there, jerks=there.jerks / 16.0, turns=there.turns / 2.0)
    calm = calmed(wild, hips, planned.ankles, heights, stands, False, OPTIONS)
    asides = [np.linalg.norm((ankles - hips)[~stands][:, :2], axis=1) for ankles in (planned.ankles, calm)]
    assert (asides[1] / asides[0]).max() == pytest.approx(2.0)


def on_a_circle(legs):
    """A walk, its plan there, hips, where feet stand, heights of ankles over the ground, and what was planned."""
    clip, truth = walk(legs=legs, fps=24.0, seconds=4.0)
    own, there, planned = on_path(clip, truth, CURVES["circle"] / 2.0, Options(path_stride=1.3))

    def heights(ankles):
        return own.sole.places(ankles, planned.feet)[..., 2] - own.sole.floors[:, None]

    return clip, planned, there.clip.hips + planned.shifts, truth.any(axis=1), heights, there.clip


@pytest.mark.parametrize("legs", [2, 4])
@pytest.mark.parametrize("rise", [0.0, 0.18, -0.18])
def test_a_knee_that_is_calmed_is_slower_than_it_was_or_as_slow_as_it_may_be(rise, legs):
    clip, truth = walk(fps=24.0, seconds=8.0, legs=legs)
    own, there, planned, stairs = on_stairs(clip, truth, rise, 0.85, Options(path_stride=1.3))
    wild = plan(replace(there, jerks=None), OPTIONS, truth, stairs, sole=own.sole)

    def speeds(made):
        bends = bends_of(clip, np.linalg.norm(made.ankles - there.hips - made.shifts, axis=2))
        return np.abs(slope(bends, clip.fps, SLOPE_TIME, axis=1)).max(axis=1)

    assert (speeds(planned) <= np.maximum(0.9 * speeds(wild), 1.01 * there.turns)).all()


def test_the_body_of_a_walk_does_not_bob_in_bends_nor_with_long_steps():
    clip, truth = walk(fps=24.0, seconds=8.0)
    source = acceleration(clip, plan(clip, OPTIONS, truth).shifts)
    for points, stride in ((CURVES["straight"], 1.3), (CURVES["circle"], 1.0)):
        _, there, planned = on_path(clip, truth, points, Options(path_stride=stride))
        assert acceleration(there.clip, planned.shifts) < 1.1 * source


@pytest.mark.parametrize("lift", [0.3, 0.5])
def test_feet_in_the_air_stay_below_hips_that_are_low(lift):
    clip, truth = walk(fps=24.0, seconds=4.0)
    air = ~truth.any(axis=1)
    higher = air * (clip.ankles[..., 2] - 0.12).clip(0.0)
    moves = lift * (higher / higher.max())[..., None] * UP
    clip = with_knees(replace(clip, ankles=clip.ankles + moves, balls=clip.balls + moves))
    _, there, planned = on_path(clip, truth, CURVES["straight"], Options(path_stride=1.9))
    ways = clip.hips - clip.ankles, there.clip.hips + planned.shifts - planned.ankles
    before, after = (way[air][:, 2].min() for way in ways)
    assert (clip.hips - there.clip.hips)[..., 2].max() > 3.0 * CROUCH and after > before - 1.3 * CROUCH


def acceleration(clip, shifts, axes=slice(2, 3)):
    """What one in a hundred frames exceeds, up and down or along other axes."""
    places = (clip.hips.mean(axis=0) + shifts)[:, axes]
    found = slope(slope(places, clip.fps, SLOPE_TIME), clip.fps, SLOPE_TIME)
    return np.percentile(np.linalg.norm(found, axis=1), 99.0)


def on_stairs(clip, truth, rise, run, options=OPTIONS):
    """The walk, what is brought straight on, its plan on stairs that rise there, and their heights."""

    def stairs(points):
        return rise * np.floor(points[:, 0] / run)

    own = walk_of(clip, truth)
    path = path_of(np.array(((0.0, 0.0), (20.0, 0.0))), False, 0.02, own.stride)
    there = brought(own, along_path(own, path, None, options), options, ground=stairs).clip
    return own, there, plan(there, options, truth, stairs, sole=own.sole), stairs


def test_on_stairs_no_leg_may_be_straighter_than_without_a_path():
    clip, truth = walk()
    # A foot that sways while it stands.
    ankles = clip.ankles + 0.03 * np.sin(np.arange(clip.frame_count))[:, None] * (1.0, 0.0, 0.0)
    clip = replace(clip, ankles=ankles, balls=clip.balls + ankles - clip.ankles)
    options = Options(softness=0.8)
    own, there, _, _ = on_stairs(clip, truth, 0.15, 0.7, options)
    plain = plan(clip, options, truth, sole=own.sole)
    ways = np.linalg.norm(plain.ankles - clip.hips - plain.shifts, axis=2)
    assert (there.extensions <= np.maximum(ways, options.softness * clip.reaches[:, None]) + 1e-9).all()


@pytest.mark.parametrize("stride", [1.0, 1.2])
def test_feet_stand_on_treads_of_stairs(stride):
    clip, truth = walk()
    own, _, planned, stairs = on_stairs(clip, truth, 0.15, 0.7, Options(path_stride=stride))
    points = planned.ankles[:, None] + applied(planned.feet[:, None], own.sole.points[:, :, None])
    heights = stairs(points.reshape(-1, 3)).reshape(points.shape[:-1])
    flat = planned.contacts.all(axis=1)
    assert flat.any() and np.abs(heights[:, 0] - heights[:, 1])[flat].max() < 1e-6
    assert not planned.unreached.any()


@pytest.mark.parametrize("legs", [2, 4])
@pytest.mark.parametrize("rise", [0.18, -0.18])
def test_on_stairs_no_knee_is_much_faster_and_the_body_does_not_bob(rise, legs):
    clip, truth = walk(fps=24.0, seconds=8.0, legs=legs)
    own, there, planned, _ = on_stairs(clip, truth, rise, 0.85)
    plain = plan(clip, OPTIONS, truth, sole=own.sole)
    before, after = (
        max(leg["knee_speed"] for leg in measured(with_plan(*each), own.sole, planned.contacts))
        for each in ((clip, plain), (there, planned))
    )
    assert after < 1.6 * before
    assert acceleration(there, planned.shifts) < 3.2 * acceleration(clip, plain.shifts)


# As feet look for treads, and as a body goes aside that would else go far down.
@pytest.mark.parametrize(("legs", "rise", "stride"), [(2, 0.18, 1.3), (4, 0.25, 1.9)])
def test_hips_that_are_carried_evenly_hardly_lurch_on_stairs(legs, rise, stride):
    clip, truth = walk(fps=24.0, seconds=8.0, legs=legs)
    _, there, planned, _ = on_stairs(clip, truth, rise, 0.85, Options(path_stride=stride))
    assert acceleration(there, planned.shifts, slice(2)) < 0.5 * clip.size


def test_paws_do_not_stand_on_the_edges_of_treads():
    clip, truth = walk(legs=4)
    clip = replace(clip, balls=clip.ankles - 0.08 * UP)
    truth = np.repeat(truth.any(axis=1, keepdims=True), 2, axis=1)
    own, _, planned, stairs = on_stairs(clip, truth, 0.15, 0.33)
    assert all(own.sole.is_point(leg) for leg in range(4))
    places = np.array([lock.place for lock in planned.locks])
    paws = (stairs(places + 0.5 * PAW * clip.size * np.array((way, 0.0, 0.0))) for way in (-1.0, 1.0))
    assert len(places) > 15 and np.array_equal(*paws)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_paw_that_comes_back_while_the_body_goes_on_stays_on_its_tread(way):
    clip, truth = walk(fps=24.0, seconds=2.0, legs=1)
    rows = np.arange(clip.frame_count)
    ankles = np.zeros_like(clip.ankles)
    ankles[0, :, 0], ankles[0, :, 2] = np.where(rows < 20, 0.1, -0.2), 0.1
    hips = ankles * 0.0 + np.array((0.0, 0.0, 1.0)) + way * 0.01 * rows[:, None] * (1.0, 0.0, 0.0)
    clip = replace(clip, hips=hips, ankles=ankles, balls=ankles - 0.08 * UP)
    truth = np.zeros_like(truth)
    truth[..., 5:15] = truth[..., 25:35] = True
    found = anchors_of(clip, sole_of(clip), truth, lambda points: 0.15 * np.floor(points[:, 0] / 0.85), True)
    heights = [lock.place[2] for lock in found.locks]
    # A body that goes back takes its feet down.
    assert heights[0] == 0.0 and heights[1] == (0.0 if way > 0.0 else -0.15)


def test_legs_that_step_far_extend_less_where_they_stand():
    clip, truth = walk()
    _, there, planned = on_path(clip, truth, CURVES["straight"], Options(path_stride=1.3))
    lengths = np.linalg.norm(planned.ankles - there.clip.hips - planned.shifts, axis=2)
    assert lengths[truth.any(axis=1)].max() <= along_module.LONG_EXTENSION * clip.reaches.max() * (1.0 + 1e-9)


@pytest.mark.some(3)
@pytest.mark.parametrize("stride", [0.7, 1.0, 1.3])
@pytest.mark.parametrize("curve", ["circle", "S", "square"])
def test_knees_bend_in_the_air_as_they_did_and_feet_stay_over_the_ground(curve, stride):
    clip, truth = walk(fps=24.0)
    own, there, planned = on_path(clip, truth, CURVES[curve], Options(path_stride=stride), curve == "square")
    here, sole = plan(clip, Options(), truth, sole=own.sole), own.sole
    before, after = (measured(with_plan(*each), sole, truth) for each in ((clip, here), (there.clip, planned)))
    for old, new in zip(before, after, strict=True):
        assert new["knee_speed"] < (1.45 if stride > 1.0 else 1.15) * old["knee_speed"]
        assert new["knee_pops"] == old["knee_pops"] == 0
        assert new["sunken"] < old["sunken"] + 0.005


@pytest.mark.parametrize("stride", [0.7, 1.0, 1.3])
def test_knees_stay_on_their_side_of_legs_that_are_lowered(stride):
    clip, truth = walk(fps=24.0)
    # Knees that point outward, and up with a body that is not where they were.
    lines = directions(clip.ankles - clip.hips)
    thighs = applied(turns_by(0.7 * lines), clip.knees - clip.hips)
    _, there, _ = on_path(
        replace(clip, knees=clip.hips + thighs), truth, CURVES["straight"], Options(path_stride=stride)
    )
    before, after = there.body[0] @ lines[..., None], directions(there.clip.ankles - there.clip.hips)
    carried = turns_between(before[..., 0], after) @ there.body[0]
    wanted, found = across(applied(carried, thighs), after), across(there.clip.knees - there.clip.hips, after)
    assert np.abs(directions(wanted) - directions(found)).max() < 1e-9


def test_a_reversed_walk_on_a_reversed_path_is_that_walk_reversed():
    clip, truth = walk()
    points = {name: getattr(clip, name)[:, ::-1] for name in ("hips", "knees", "ankles", "balls", "feet")}
    own, there, _ = on_path(clip, truth, CURVES["S"])
    length = path_of(CURVES["S"], False, 0.02, own.stride).length
    back = Options(path_offset=length - own.way.length)
    _, reverse, _ = on_path(replace(clip, **points), truth[..., ::-1], CURVES["S"][::-1], back)
    for name in ("hips", "ankles"):
        assert np.abs(getattr(there.clip, name) - getattr(reverse.clip, name)[:, ::-1]).max() < 5e-3


def animal(legs=4):
    """A walk of four legs, and a spine between the hind ones, which carry the body, and the fore ones."""
    clip, truth = walk(legs=legs)
    hind, fore = clip.hips[2:].mean(axis=0), clip.hips[:2].mean(axis=0)
    return clip, truth, Spine((0, 1), np.array([hind + share * (fore - hind) for share in (0.1, 0.5, 0.9)]))


def girdles_on(clip, truth, spines, points, base=None):
    """The legs on a path, and how far a fore foot that stands is to the side of its hip at most."""
    own = walk_of(clip, truth)
    paths = [None if each is None else path_of(each, False, 0.02, own.stride) for each in (points, base)]
    there = brought(own, along_path(own, *paths, OPTIONS), OPTIONS, spines)
    across = there.clip.hips[0] - there.clip.hips[1]
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    ways = np.sum((there.clip.ankles - there.clip.hips)[:2] * across, axis=2)
    return there, np.abs(ways[truth[:2].any(axis=1)]).max()


@pytest.mark.parametrize("radius", [1.5, 2.0, 3.0])
def test_an_animal_bends_along_its_path_and_its_feet_stand_below_it(radius):
    clip, truth, spine = animal()
    points = radius * np.stack((np.sin(ROUND), 1.0 - np.cos(ROUND)), axis=1)
    (there, bent), (_, rigid) = (girdles_on(clip, truth, own, points) for own in ([spine], []))
    assert bent < 0.6 * rigid
    planned = plan(there.clip, OPTIONS, truth, sole=walk_of(clip, truth).sole)
    assert_lawful(there.clip, planned, None)
    # Head first: the fore girdle is turned farther into the bend than the hind one.
    facing = [np.unwrap(np.arctan2(*(there.clip.hips[k + 1] - there.clip.hips[k])[:, 1::-1].T)) for k in (0, 2)]
    assert np.median(facing[0] - facing[1]) > 0.5 * np.tanh(1.2 / radius)


def test_an_unedited_path_bends_no_spine():
    clip, truth, spine = animal()
    points = CURVES["S"]
    there, _ = girdles_on(clip, truth, [spine], points, points)
    for move in (there.body, *there.spines[0]):
        assert np.abs(moved(move, clip.hips[0]) - clip.hips[0]).max() < 1e-9


def test_each_girdle_turns_with_its_bones():
    clip, truth, spine = animal()
    there, _ = girdles_on(clip, truth, [spine], CURVES["S"])
    for legs, move in (((2, 3), there.body), ((0, 1), there.spines[0][-1])):
        for leg in legs:
            assert np.abs(moved(move, clip.hips[leg]) - there.clip.hips[leg]).max() < 1e-9
    # Each bone stays on the one before it.
    for before, after, head in zip([there.body, *there.spines[0]], there.spines[0], spine.heads, strict=False):
        assert np.abs(moved(before, head) - moved(after, head)).max() < 1e-9


def test_legs_on_both_sides_of_one_body_do_not_bend_it():
    clip, truth, _ = animal()
    sides = [Spine(legs, clip.hips[[legs[0]]]) for legs in ((0, 2), (1, 3))]
    (there, _), (rigid, _) = (girdles_on(clip, truth, own, CURVES["S"]) for own in (sides, []))
    assert np.abs(there.clip.hips - rigid.clip.hips).max() < 1e-9


def test_a_walk_of_which_one_foot_never_stands_goes_as_evenly_as_its_body():
    clip, truth = walk(fps=24.0, seconds=8.0)
    truth = truth * np.array((True, False))[:, None, None]
    own = walk_of(clip, truth)
    speeds = np.diff(own.way.at(np.arange(own.clip.frame_count, dtype=float))[2])[4 * own.step : -4 * own.step]
    assert np.ptp(speeds) < 0.05 * speeds.mean()


def test_a_folded_leg_in_the_air_does_not_push_the_body():
    clip, truth = walk(fps=24.0, seconds=4.0)
    clip = replace(clip, lengths=clip.reaches[:, None] * (0.8, 0.2))
    stands = truth.any(axis=1)
    stands[1] = False
    ankles = clip.ankles.copy()
    ankles[1] = clip.hips[1] - 0.3 * clip.size * UP
    shifts, unreached = body_shifts(clip, ankles, Options(body=0.0), stands)
    alone, _ = body_shifts(clip, np.stack((ankles[0], clip.hips[1] - 0.8 * clip.size * UP)), Options(body=0.0), stands)
    assert np.allclose(shifts, alone) and not unreached.any()
    offsets = unfolded(clip, clip.hips + shifts, ankles, stands, OPTIONS) - clip.hips - shifts
    assert (np.linalg.norm(offsets[1], axis=1) >= 0.6 * clip.reaches[1]).all()
