"""Laws of every plan, on walks that are made: clean, spoiled, on hills; with paws, four legs, footprints."""

from dataclasses import replace

import numpy as np
import pytest

from ik_addon.planting.feet.anchors import anchors_in, joined, moved, stances_of
from ik_addon.planting.feet.clip import UP, turns_by
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.curves import runs
from ik_addon.planting.feet.options import ADDED_SPEED, Options
from ik_addon.planting.feet.paths import captured_sides
from ik_addon.planting.feet.planning import body_shifts, has_edges, plan

from . import clips
from .laws import GROUNDS, assert_lawful, ground_of
from .measures import (
    beyond_reach,
    flexion,
    knee_ratios,
    naive_ankles,
    naive_contacts,
    places,
    shown,
    slides,
    top_speed,
    turned_apart,
)

SOURCES = {
    "clean": lambda fps=60.0: clips.walk(fps)[0],
    "hilly": lambda fps=60.0: clips.walk(fps, terrain=lambda x: 0.05 * np.sin(2.0 * x))[0],
    "longer legs": lambda fps=60.0: clips.degraded(clips.walk(fps)[0], 1.1),
    "shorter legs": lambda fps=60.0: clips.degraded(clips.walk(fps)[0], 0.9, seed=1),
    "tiny, turned": lambda fps=60.0: clips.degraded(clips.walk(fps, size=0.01, turn=2.5)[0], 0.9),
    "huge": lambda fps=60.0: clips.degraded(clips.walk(fps, size=100.0)[0], 1.1),
    "four legs": lambda fps=60.0: clips.degraded(clips.walk(fps, legs=4)[0], 0.95),
    "paws": lambda fps=60.0: on_paws(clips.degraded(clips.walk(fps, legs=4)[0], 1.05)),
    "one leg": lambda fps=60.0: only_leg(clips.degraded(clips.walk(fps)[0], 1.1), 1),
}


def on_paws(clip):
    return replace(clip, balls=clip.ankles)


def only_leg(clip, leg):
    names = ("lengths", "hips", "knees", "ankles", "balls", "feet")
    return replace(clip, **{name: getattr(clip, name)[leg : leg + 1] for name in names})


@pytest.mark.some(18)
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("source", SOURCES)
def test_the_laws_of_a_plan(source, ground):
    clip = SOURCES[source]()
    assert_lawful(clip, plan(clip, Options(), ground=ground_of(ground, clip)), ground_of(ground, clip))


@pytest.mark.some(4)
@pytest.mark.parametrize("direction", ["DOWN", "NEAREST"])
@pytest.mark.parametrize("body", [0.0, 0.5])
@pytest.mark.parametrize("source", ["clean", "shorter legs", "four legs"])
def test_the_laws_hold_however_the_body_moves(source, direction, body):
    clip = SOURCES[source]()
    ground = ground_of("level", clip)
    assert_lawful(clip, plan(clip, Options(body=body, body_direction=direction), ground=ground), ground)


@pytest.mark.parametrize("ground", ["uphill", "downhill", "across", "bumps"])
def test_soles_are_on_the_slope(ground):
    clip = SOURCES["shorter legs"]()
    planned = plan(clip, Options(), ground=ground_of(ground, clip))
    points = places(clip, sole_of(clip), planned.ankles, planned.feet)
    gaps = points[..., 2] - ground_of(ground, clip)(points.reshape(-1, 3)).reshape(points.shape[:-1])
    flat = planned.contacts.all(axis=1)
    assert flat.sum() > 50
    off = np.abs(gaps.transpose(0, 2, 1)[flat]).max()
    assert off <= (0.01 if ground == "bumps" else 1e-3) * clip.size


def stairs(clip, rise=0.18, run=0.85, turn=0.0):
    """Heights of stairs in the direction in which a clip walks, or askew."""
    level, size = sole_of(clip).level, clip.size
    way = np.array((np.cos(turn), np.sin(turn), 0.0))
    return lambda points: level + rise * size * np.floor(points @ way / size / run + 0.3)


@pytest.mark.parametrize(("rise", "turn"), [(0.18, 0.0), (-0.18, 0.4), (0.06, 0.4)], ids=["up", "down", "low"])
@pytest.mark.parametrize("source", ["clean", "shorter legs"])
def test_feet_find_their_footing_on_stairs(source, rise, turn):
    clip = SOURCES[source]()
    ground = stairs(clip, rise, turn=turn)
    without, found = (plan(clip, Options(find_footing=on), ground=ground) for on in (False, True))
    assert over_edges(clip, found, ground) == 0 < over_edges(clip, without, ground)
    assert not found.unreached.any()
    sole = sole_of(clip)
    before, after = (places(clip, sole, each.ankles, each.feet) for each in (without, found))
    length = np.linalg.norm(sole.points[0, 1] - sole.points[0, 0])
    touching = found.contacts & without.contacts
    ways = np.linalg.norm((after - before)[..., :2], axis=-1)[touching]
    assert 0.0 < ways.max() <= 0.85 * length
    # No foot stands in a stair or beside it, and none jumps.
    flat = found.contacts.all(axis=1)
    gaps = after[..., 2] - ground(after.reshape(-1, 3)).reshape(after.shape[:-1])
    assert np.abs(gaps.transpose(0, 2, 1)[flat]).max() <= 1e-9 * clip.size
    assert top_speed(found.ankles) <= 1.3 * top_speed(clip.ankles)


def over_edges(clip, planned, ground):
    """In how many frames a flat foot stands over an edge: not all points between heel and ball are on the ground."""
    points = places(clip, sole_of(clip), planned.ankles, planned.feet)
    share = np.linspace(0.0, 1.0, 9)[:, None, None]
    between = (1.0 - share) * points[:, None, 0] + share * points[:, None, 1]
    gaps = between[..., 2] - ground(between.reshape(-1, 3)).reshape(between.shape[:-1])
    return int((np.abs(gaps).max(axis=1) > 0.01 * clip.size)[planned.contacts.all(axis=1)].sum())


@pytest.mark.parametrize("ground", ["bumps", "across"])
def test_where_there_is_no_edge_no_footing_is_looked_for(ground):
    clip = SOURCES["shorter legs"]()
    heights = ground_of(ground, clip)
    without, found = (plan(clip, Options(find_footing=on), ground=heights) for on in (False, True))
    assert (without.ankles == found.ankles).all()


@pytest.mark.slow
def test_where_no_place_is_even_the_foot_stays():
    clip = SOURCES["clean"]()

    def rough(points):
        return 1e3 * np.sin(1e4 * points[:, 0]) + 1e3 * np.sin(1e4 * points[:, 1])

    without, found = (plan(clip, Options(find_footing=on), ground=rough) for on in (False, True))
    assert (without.ankles == found.ankles).all()


@pytest.mark.some(4)
@pytest.mark.parametrize("source", ["clean", "longer legs", "shorter legs"])
@pytest.mark.parametrize("fps", [24, 30, 60, 120])
def test_a_naive_lock_breaks_the_laws_that_a_plan_keeps(source, fps):
    clip = SOURCES[source](fps)
    captured = SOURCES["clean"](fps)
    sole = sole_of(clip)
    planned = plan(clip, Options(), ground=ground_of("level", clip))
    contacts = naive_contacts(clip, sole)
    naive = shown(clip, clip.hips, naive_ankles(clip, sole, contacts))
    assert beyond_reach(clip, clip.hips, naive_ankles(clip, sole, contacts)).any()
    assert slides(places(clip, sole, naive, clip.feet), contacts).max() >= 0.01 * clip.size
    speed, bump = knee_ratios(clip, clip.hips + planned.shifts, planned.ankles, captured)
    naive_speed, naive_bump = knee_ratios(clip, clip.hips, naive, captured)
    assert speed <= 1.6 and naive_speed >= 1.4 * speed
    assert bump <= 2.3 and naive_bump >= 2.0 * bump


@pytest.mark.parametrize("source", SOURCES)
def test_feet_are_hardly_faster_than_captured(source):
    clip = SOURCES[source]()
    planned = plan(clip, Options(), ground=ground_of("level", clip))
    assert top_speed(planned.ankles) <= 1.2 * top_speed(clip.ankles)


@pytest.mark.parametrize("amount", [0.02, 0.1, 0.3])
def test_a_blend_adds_no_more_speed_than_it_may(amount):
    """One stance, in which the captured foot stands, between two long flights: all that is added is the two blends."""
    clip, _ = clips.walk(60.0)
    contacts = np.zeros((2, 2, clip.frame_count), bool)
    contacts[0, 1, 148:158] = True

    def shove(anchors):
        way = np.array((0.0, amount, 0.0))
        return replace(anchors, locks=tuple(replace(lock, place=lock.place + way) for lock in anchors.locks))

    planned = plan(clip, Options(), contacts, footprints=shove)
    added = np.linalg.norm(np.diff(planned.ankles - clip.ankles, axis=1), axis=2).max() * clip.fps
    assert 0.0 < added <= 1.01 * ADDED_SPEED * clip.size


@pytest.mark.parametrize("source", ["clean", "longer legs", "shorter legs"])
def test_paths_have_no_corners(source):
    """The change of speed between two frames halves with their distance, as it does in the capture."""
    jumps = []
    for fps in (120, 240):
        clip = SOURCES[source](fps)
        planned = plan(clip, Options(), ground=ground_of("level", clip))
        jumps.append(np.abs(np.diff(planned.shifts, 2, axis=0)).max() * fps)
    assert jumps[1] <= 0.7 * jumps[0] + 1e-12


def test_exact_contacts_of_feet_that_stand_change_nothing_while_they_stand():
    clip, truth = clips.walk(60.0)
    planned = plan(clip, Options(), truth)
    touching = truth.any(axis=1)
    assert np.linalg.norm(planned.ankles - clip.ankles, axis=2)[touching].max() <= 1e-3 * clip.size
    assert np.linalg.norm(planned.shifts, axis=1).max() <= 3e-3 * clip.size
    assert np.linalg.norm(planned.knees - clip.knees, axis=2)[touching].max() <= 0.02 * clip.size


@pytest.mark.parametrize("way", [(0.0, 0.0, 1.0), (0.3, 0.2, -1.0)], ids=["up", "down"])
@pytest.mark.parametrize("lasts", [1, 1000], ids=["once", "for good"])
def test_a_jump_of_the_captured_root_bends_no_standing_knee(way, lasts):
    """All of the character jumps; planted, its feet do not, and the body takes the jump instead of the knees."""
    clip, truth = clips.walk(120.0)
    stands = truth.all(axis=1)
    frame = next(k for k in range(100, clip.frame_count) if stands[:, k - 5 : k + 6].all(axis=1).any())
    jump = np.zeros((clip.frame_count, 3))
    jump[frame : frame + lasts] = 0.02 * clip.size * np.array(way)
    jumping = clips.placed(clip, jump)
    planned, calm = plan(jumping, Options(), truth), plan(clip, Options(), truth)
    speed, bump = knee_ratios(jumping, jumping.hips + planned.shifts, planned.ankles)
    assert speed <= 1.35, (speed, bump)
    hips = jumping.hips + planned.shifts
    rough = [np.linalg.norm(np.diff(each, 2, axis=1), axis=2).max() for each in (jumping.hips, hips)]
    assert rough[1] <= 0.7 * rough[0]
    assert np.abs(calm.shifts).max() <= 1e-12


@pytest.mark.parametrize("fps", [24.0, 60.0, 120.0])
@pytest.mark.parametrize("part", [0.985, 0.995])
def test_the_body_makes_way_for_knees_that_would_turn_faster_than_any_captured_one(fps, part):
    """One who rises and sinks slowly, and a foot that is put farther away from one frame to the next."""
    count = round(4.0 * fps)
    hips = np.zeros((1, count, 3))
    hips[0, :, 2] = 0.96 + 0.01 * np.sin(np.linspace(0.0, 4.0 * np.pi, count))
    clip = clips.of_joints(
        fps, hips, hips, 0.0 * hips + (0.1, 0.0, 0.0), 0.0 * hips + (0.3, 0.0, 0.0), np.eye(3)[None, None]
    )
    clip = replace(clip, lengths=np.array(((0.5, 0.5),)), feet=np.tile(np.eye(3), (1, count, 1, 1)))
    ankles = clip.ankles.copy()
    ankles[0, count // 2 :, 0] = np.sqrt(part**2 - hips[0, count // 2, 2] ** 2)
    shifts, unreached = body_shifts(clip, ankles, Options(softness=1.0, body=0.0))
    speeds = [
        np.abs(np.diff(flexion(clip, *each))).max()
        for each in ((clip.hips, clip.ankles), (clip.hips, ankles), (clip.hips + shifts, ankles))
    ]
    assert not unreached.any()
    assert speeds[1] > 3.0 * speeds[0]
    assert speeds[2] < 0.8 * speeds[1]
    assert np.abs(shifts[:, :2]).max() == 0.0 and shifts[:, 2].max() <= 0.03


@pytest.mark.parametrize("source", SOURCES)
def test_knees_bend_to_the_side_that_they_had(source):
    clip = SOURCES[source]()
    planned = plan(clip, Options(), ground=ground_of("bumps", clip))
    hips = clip.hips + planned.shifts
    before = clip.knees - (clip.hips + clip.ankles) / 2.0
    after = planned.knees - (hips + planned.ankles) / 2.0
    bent = np.linalg.norm(before, axis=2) > 0.1 * clip.size
    assert (before * after).sum(axis=2)[bent].min() > 0.0


@pytest.mark.parametrize("source", SOURCES)
def test_planned_with_its_own_contacts_a_clip_comes_out_the_same(source):
    clip = SOURCES[source]()
    ground = ground_of("bumps", clip)
    first = plan(clip, Options(), ground=ground)
    again = plan(clip, Options(), first.contacts, ground)
    assert (again.contacts == first.contacts).all()
    assert (joined(clip, sole_of(clip), first.contacts) == first.contacts).all()
    for name in ("ankles", "feet", "knees", "poles", "shifts", "unreached"):
        assert (getattr(again, name) == getattr(first, name)).all()


def test_a_longer_contact_changes_its_own_step_alone():
    clip = SOURCES["shorter legs"]()
    first = plan(clip, Options(), ground=ground_of("level", clip))
    start, end = runs(first.contacts[0, 1])[2]
    contacts = first.contacts.copy()
    contacts[0, 1, end + 1 : end + 6] = True
    second = plan(clip, Options(), contacts, ground_of("level", clip))
    changed = np.flatnonzero(np.linalg.norm(second.ankles - first.ankles, axis=2)[0] > 1e-9)
    before, after = runs(first.contacts[0].any(axis=0)), runs(second.contacts[0].any(axis=0))
    stance = next(k for k, run in enumerate(after) if run[0] <= start <= run[1])
    assert len(changed)
    assert changed.min() > before[stance - 1][1] and changed.max() < after[stance + 1][0]
    assert (second.ankles[1] == first.ankles[1]).all()


@pytest.mark.parametrize(
    "shift", [(0.15, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.12)], ids=["longer", "wider", "higher"]
)
def test_a_footprint_is_moved_and_turned_and_the_body_follows(shift):
    clip, _ = clips.walk(60.0)
    turn = turns_by(0.5 * UP)

    def move_third(anchors):
        stances = stances_of(anchors)
        stances[2] = moved(stances[2], turn, np.array(shift))
        return anchors_in(stances)

    first, second = plan(clip, Options()), plan(clip, Options(), footprints=move_third)
    assert_lawful(clip, second, None)
    stance, other = stances_of_plan(first)[2], stances_of_plan(second)[2]
    assert other.place - stance.place == pytest.approx(np.array(shift), abs=1e-12)
    flat = [frame for frame in range(stance.first, stance.last + 1) if first.contacts[stance.leg, :, frame].all()]
    assert turned_apart(first.feet, second.feet)[stance.leg, flat] == pytest.approx(0.5)
    assert (second.ankles[1 - stance.leg] == first.ankles[1 - stance.leg]).all()


@pytest.mark.parametrize("angle", [2.0, 3.1, np.pi, -3.0])
def test_feet_turn_steadily_to_a_footprint_that_points_back(angle):
    clip, truth = clips.walk(60.0)
    wobble = 0.1 * np.sin(np.arange(clip.frame_count) / 2.0)[:, None] * UP
    clip = replace(clip, feet=turns_by(wobble) @ clip.feet)

    def turn_third(anchors):
        stances = stances_of(anchors)
        stances[2] = moved(stances[2], turns_by(angle * UP), np.zeros(3))
        return anchors_in(stances)

    planned = plan(clip, Options(), truth, footprints=turn_third)
    assert_lawful(clip, planned, None)
    # Half a turn takes a third of a second at least.
    assert turned_apart(planned.feet[:, 1:], planned.feet[:, :-1]).max() <= 0.4


def stances_of_plan(planned):
    from ik_addon.planting.feet.anchors import Anchors

    return stances_of(Anchors(planned.locks, ()))


def test_a_foot_that_goes_from_heel_to_ball_at_once_touches_with_both_between():
    clip, _ = clips.walk(60.0)
    contacts = np.zeros((2, 2, clip.frame_count), bool)
    contacts[0, 0, 80:90] = contacts[0, 1, 92:110] = True
    contacts[1, 0, 120:130] = contacts[1, 1, 150:160] = True
    planned = plan(clip, Options(), contacts)
    assert [runs(point) for leg in planned.contacts for point in leg] == [
        [(80, 92)],
        [(92, 109)],
        [(120, 129)],
        [(150, 159)],
    ]
    assert_lawful(clip, planned, None)


@pytest.mark.some(1)
@pytest.mark.parametrize("apart", [(0.0, 3.0, 0.0), (0.0, 0.0, 3.0), (1.0, 2.0, 1.5)], ids=["aside", "up", "askew"])
@pytest.mark.slow
def test_what_no_body_can_reach_is_said_and_shared(apart):
    clip, truth = clips.walk(60.0)

    def tear(anchors):
        return anchors_in(
            [moved(each, np.eye(3), (1 - 2 * each.leg) * np.array(apart)) for each in stances_of(anchors)]
        )

    planned = plan(clip, Options(), truth, footprints=tear)
    assert planned.unreached.all()
    assert_lawful(clip, planned, None, feasible=False)
    hips = clip.hips + planned.shifts
    missing = np.linalg.norm(planned.ankles - hips, axis=2) - clip.reaches[:, None]
    # Of limits of their own, the captured extension among them, both are missed alike.
    assert np.abs(missing[0] - missing[1]).max() <= 0.02 * clip.size


def test_a_body_goes_smoothly_aside_where_down_is_not_enough():
    clip, truth = clips.walk(60.0)

    def far_aside(anchors):
        stances = stances_of(anchors)
        stances[2] = moved(stances[2], np.eye(3), np.array((0.0, -1.2, 0.0)))
        return anchors_in(stances)

    planned = plan(clip, Options(body=0.0), truth, footprints=far_aside)
    assert_lawful(clip, planned, None)
    assert np.abs(planned.shifts[:, 1]).max() >= 0.1
    assert np.linalg.norm(np.diff(planned.shifts, 2, axis=0), axis=1).max() <= 0.02


@pytest.mark.parametrize("extension", [0.97, 0.99, 0.999, 1.0 - 1e-7])
def test_legs_that_were_straight_may_be_straight_again(extension):
    clip, truth = clips.walk(60.0)
    longest = np.linalg.norm(clip.ankles - clip.hips, axis=2).max()
    clip = clips.with_knees(replace(clip, lengths=clip.lengths / clip.reaches[:, None] * longest / extension))
    planned = plan(clip, Options(), truth)
    assert np.linalg.norm(planned.shifts, axis=1).max() <= 2e-3
    assert_lawful(clip, planned, None)
    stretched = plan(
        clip,
        Options(body=0.0),
        truth,
        footprints=lambda anchors: anchors_in(
            [moved(each, np.eye(3), np.array((0.2, 0.0, 0.0))) for each in stances_of(anchors)]
        ),
    )
    before = np.linalg.norm(clip.ankles - clip.hips, axis=2) / clip.reaches[:, None]
    after = np.linalg.norm(stretched.ankles - clip.hips - stretched.shifts, axis=2) / clip.reaches[:, None]
    assert (after <= np.maximum(before, Options().softness) + 1e-9).all()


def test_a_foot_that_is_pitched_by_a_slope_does_not_hop():
    """The heel touches alone, the ball would be below the slope, and then the foot leaves the ground."""
    clip, _ = clips.walk(60.0)
    contacts = np.zeros((2, 2, clip.frame_count), bool)
    contacts[0, 0, 140:160] = True
    planned = plan(clip, Options(), contacts, ground_of("uphill", clip))
    assert_lawful(clip, planned, ground_of("uphill", clip))
    assert turned_apart(planned.feet, clip.feet)[0, 140:160].max() >= 0.15
    turns = turned_apart(planned.feet[:, 1:], planned.feet[:, :-1])[0]
    captured = turned_apart(clip.feet[:, 1:], clip.feet[:, :-1])[0]
    assert (turns - captured)[130:175].max() <= 0.06


@pytest.mark.parametrize("ground", ["uphill", "downhill"])
def test_feet_in_the_air_go_with_a_long_slope(ground):
    """One contact alone is on the slope: the rest of the clip does not stay behind on the captured floor."""
    clip, _ = clips.walk(60.0)
    contacts = np.zeros((2, 2, clip.frame_count), bool)
    contacts[0, 1, 30:40] = True
    heights = ground_of(ground, clip)
    planned = plan(clip, Options(), contacts, heights)
    assert_lawful(clip, planned, heights)
    sole = sole_of(clip)
    captured, points = places(clip, sole), places(clip, sole, planned.ankles, planned.feet)
    over = points[..., 2] - heights(points.reshape(-1, 3)).reshape(points.shape[:-1])
    far = slice(120, -60)
    had = captured[..., 2] - sole.floors[:, None]
    assert np.abs(over - had)[..., far].max() <= 0.08 * clip.size


def test_legs_of_unequal_bones_do_not_fold_into_their_feet():
    clip, truth = clips.walk(60.0)
    short = replace(clip, lengths=np.array(((0.95, 0.25), (0.95, 0.25))))
    low = clips.with_knees(replace(short, hips=short.hips - (0.0, 0.0, 0.2)))
    planned = plan(low, Options(), truth)
    distance = np.linalg.norm(planned.ankles - low.hips - planned.shifts, axis=2)
    assert distance.min() >= 0.7 - 1e-9
    assert_lawful(low, planned, None)


def test_a_leg_without_contacts_stays_as_captured():
    clip, truth = clips.walk(60.0)
    truth[1] = False
    planned = plan(clip, Options(), truth)
    assert planned.ankles[1] == pytest.approx(clip.ankles[1], abs=1e-12)
    nothing = plan(clip, Options(), np.zeros_like(truth))
    assert nothing.locks == ()
    assert np.abs(nothing.shifts).max() <= 1e-12


@pytest.mark.parametrize("ground", GROUNDS)
def test_slopes_and_bumps_have_no_edges_as_stairs_do(ground):
    clip, _ = clips.walk(60.0)
    assert not has_edges(clip, ground_of(ground, clip))
    assert has_edges(clip, stairs(clip))


@pytest.mark.parametrize("frame_count", [1, 2, 3, 7])
def test_clips_of_a_few_frames_are_planned(frame_count):
    clip, _ = clips.walk(60.0)
    names = ("hips", "knees", "ankles", "balls", "feet")
    short = replace(clip, **{name: getattr(clip, name)[:, 40 : 40 + frame_count] for name in names})
    planned = plan(short, Options(), ground=ground_of("level", short))
    assert planned.ankles.shape == (2, frame_count, 3) and np.isfinite(planned.ankles).all()


@pytest.mark.parametrize("source", ["clean", "huge", "four legs"])
def test_legs_that_bend_to_the_back_are_planned_as_mirror_images(source):
    """The elbows of front legs, while these are straight too."""
    clip = SOURCES[source]()
    along = clip.ankles - clip.hips
    straighter = clip.hips + along * (0.999999 * clip.reaches[:, None] / np.linalg.norm(along, axis=2))[..., None]
    # Straight for a quarter of each second.
    clip = replace(clip, ankles=np.where((np.arange(clip.frame_count) % 60 < 15)[:, None], straighter, clip.ankles))
    clip = clips.with_knees(clip)
    along = (clip.ankles - clip.hips) / np.linalg.norm(clip.ankles - clip.hips, axis=2, keepdims=True)
    ways = clip.knees - clip.hips
    aside = ways - along * (ways * along).sum(axis=2, keepdims=True)
    back = replace(clip, knees=clip.knees - 2.0 * aside)
    one, other = (captured_sides(each, sole_of(clip)) for each in (clip, back))
    assert np.abs(one + other).max() <= 1e-9
    assert (one * aside).sum(axis=2).min() > 0.0
