"""A clip that is mirrored, turned, moved, scaled or sampled at another rate is planted and judged as it was: on random
clips.
"""

from dataclasses import replace

import bpy
import numpy as np
import pytest

from ik_addon.planting.feet import contacts_of
from ik_addon.planting.feet.clip import UP, LegMotion, applied, turns_by
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.judging import JUDGED, stands_already, with_plan, worse_by
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.planning import plan
from ik_addon.planting.feet.treadmill import stands_on

from . import clips
from .captured import character
from .clips import loop
from .measures import agreement, lock_count

POINTS = ("hips", "knees", "ankles", "balls")
RATES = (24.0, 30.0, 60.0, 120.0)


def walk(seed, fps=None):
    """A walk of any rate, length, direction; on hills, of two legs or four; as it is, or spoiled; in place or not."""
    chance = np.random.default_rng(seed)
    rate, seconds, turn, hill = chance.choice(RATES), *(low + width * chance.random() for low, width in RANGES)
    legs, spoil, in_place = chance.choice((2, 2, 4)), chance.random() < 0.7, chance.random() < 0.3
    factor, hilly = 0.88 + 0.24 * chance.random(), chance.random() < 0.4
    rise = hill if hilly else 0.0
    clip, _ = clips.walk(fps or rate, seconds, terrain=lambda x: rise * np.sin(2.0 * x), turn=turn, legs=legs)
    clip = clips.degraded(clip, factor, seed) if spoil else clip
    if in_place:
        way = np.gradient(clips.walk(fps or rate, seconds, turn=turn, legs=legs)[0].hips.mean(axis=0), axis=0)
        clip = clips.placed(clip, -np.arange(clip.frame_count)[:, None] * way.mean(axis=0) * (1.0, 1.0, 0.0))
    return clip


RANGES = (3.0, 4.0), (0.0, 2.0 * np.pi), (0.0, 0.06)
"""Of seconds, direction and height of hills: the least, and how much more."""


def capture(seed):
    """A captured motion, at 120 frames a second."""
    with np.load(clips.capture("cmu_legs.npz")) as kept:
        names = sorted({name.partition("/")[0] for name in kept.files})
        name = names[seed % len(names)]
        arrays = {each: kept[f"{name}/{each}"].astype(float) for each in ("lengths", *POINTS, "feet")}
        left, _, right = np.linalg.svd(arrays["feet"])
        clip = LegMotion(float(kept[f"{name}/fps"]), **arrays | {"feet": left @ right})
    chance = np.random.default_rng(seed)
    return clips.degraded(clip, 0.9 + 0.2 * chance.random(), seed) if chance.random() < 0.5 else clip


MADE = {"walk": walk, "capture": capture}
CASES = pytest.mark.parametrize(
    ("made", "seed"), [(made, seed) for seed in range(16) for made in MADE], ids=lambda value: str(value)
)


def planted_and_judged(clip, limits=None):
    """The plan of a clip, and the figures for which it is left alone."""
    stage = stands_on(clip, Options())
    ground, contacts = stage.ground, stage.contacts
    seen = ground.seen_from(clip)
    made = plan(seen, Options(), contacts)
    return ground.put_back(seen, made), worse_by(seen, made, sole_of(seen), True, limits)


def planted_and_measured(clip):
    """The plan of a clip, and all figures by which it is judged, whatever they are: before and after."""
    made, judged = planted_and_judged(clip, dict.fromkeys(JUDGED, -1.0))
    assert [each.figure for each in judged] == [*JUDGED]
    return made, np.array([(each.before, each.after) for each in judged])


def changed(clip, linear, move, size):
    """A clip by a rotation or mirror (3, 3), a move (3,) and a size."""
    points = {name: size * applied(linear, getattr(clip, name)) + move for name in POINTS}
    feet = linear @ clip.feet
    if np.linalg.det(linear) < 0.0:
        # What was right of the foot is left of it.
        feet = feet * np.array((-1.0, 1.0, 1.0))
    return replace(clip, lengths=size * clip.lengths, feet=feet, **points)


@CASES
def test_a_clip_that_is_mirrored_turned_moved_or_scaled_is_planted_so(made, seed):
    chance = np.random.default_rng(1000 + seed)
    clip = MADE[made](seed)
    turn, size = turns_by(2.0 * np.pi * chance.random() * UP), 10.0 ** chance.uniform(-2.0, 2.0)
    move = 20.0 * chance.normal(size=3) * size
    one, figures = planted_and_measured(clip)
    for mirror in (np.eye(3), np.diag((-1.0, 1.0, 1.0)), np.diag((1.0, -1.0, 1.0))):
        linear = turn @ mirror
        two, others = planted_and_measured(changed(clip, linear, move, size))
        assert others == pytest.approx(figures, rel=1e-5, abs=1e-7)
        assert (two.contacts == one.contacts).all()
        for name in ("ankles", "knees"):
            away = size * applied(linear, getattr(one, name)) + move - getattr(two, name)
            assert np.linalg.norm(away, axis=-1).max() <= 1e-7 * size * clip.size, name
        assert np.abs(size * applied(linear, one.shifts) - two.shifts).max() <= 1e-7 * size * clip.size


@CASES
def test_planting_what_was_planted_changes_nothing(made, seed):
    clip = MADE[made](seed)
    stage = stands_on(clip, Options())
    ground, contacts = stage.ground, stage.contacts
    seen = ground.seen_from(clip)
    sole = sole_of(seen)
    first = plan(seen, Options(), contacts, sole=sole)
    done = with_plan(seen, first)
    again = plan(done, Options(), first.contacts, sole=sole)
    assert stands_already(done, again, sole)
    # Nothing is told of the clip: soles, contacts and what they stand on are found again.
    second = stands_on(done, Options())
    assert not second.ground.velocity.any()
    found = plan(done, Options(), second.contacts, sole=second.sole)
    for each in (again, found):
        assert np.linalg.norm(each.ankles - done.ankles, axis=-1).max() <= 1e-6 * clip.size
        assert np.linalg.norm(each.shifts, axis=-1).max() <= 1e-6 * clip.size
        assert np.abs(each.feet - done.feet).max() <= 1e-6


def short_loop(seed):
    """A few frames of a walk in place that skates, as fast as a run; its ends are apart, as hands leave them."""
    chance = np.random.default_rng(seed)
    clip = replace(loop(chance.uniform(7.0, 24.0)), fps=24.0)
    clip = clips.retargeted(clip, 0.88 + 0.24 * chance.random())
    gap = np.linspace(0.0, 1.0, clip.frame_count)[:, None] * chance.uniform(-0.02, 0.02, (2, 1, 3))
    return clips.with_knees(replace(clip, ankles=clip.ankles + gap, balls=clip.balls + gap))


def of_files(name, action):
    """A clip of a character."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return character(f"characters/{name}.glb", action)


BELTS = [
    *((short_loop, seed) for seed in range(48)),
    (of_files, "RobotExpressive", "Running"),
    (of_files, "godot_player", "run"),
    (of_files, "quat_cyberpunk_22_clips", "Roll"),
    (of_files, "quat_KnightCharacter", "Run"),
    (of_files, "quat_Wolf", "Gallop_Jump"),
    (of_files, "kaykit_Knight", "Running_A"),
    (of_files, "kaykit_Knight", "Running_Strafe_Left"),
    (of_files, "kaykit_Knight", "Death_A"),
    (of_files, "kaykit_Knight", "Lie_Down"),
    (of_files, "m2m_fox_anims", "Run"),
]


@pytest.mark.some(12)
@pytest.mark.parametrize("made", BELTS, ids=lambda made: "-".join(map(str, made[1:])))
def test_a_short_clip_that_was_planted_stays(made):
    """On its own belt, which few frames tell, with the soles that few frames show, and over its seam."""
    clip = made[0](*made[1:])
    planted, _ = planted_and_judged(clip)
    done = with_plan(clip, planted)
    # As keys keep it.
    names = (*POINTS, "feet")
    done = replace(done, **{name: getattr(done, name).astype(np.float32).astype(float) for name in names})
    stage = stands_on(done, Options())
    again = plan(stage.seen, Options(), stage.contacts, sole=stage.sole)
    assert stands_already(stage.seen, again, stage.sole)
    assert np.linalg.norm(again.ankles - stage.seen.ankles, axis=-1).max() <= 1e-5 * clip.size
    assert np.abs(again.feet - stage.seen.feet).max() <= 1e-4


@pytest.mark.parametrize("seed", (0, 1, 2, 12))
def test_what_was_planted_to_its_middle_is_planted_from_there_on(seed):
    clip = capture(seed)
    stage, middle = stands_on(clip, Options()), clip.frame_count // 2
    done = with_plan(clip, plan(clip, Options(), stage.contacts, sole=stage.sole))
    halves = {
        name: np.concatenate((getattr(done, name)[:, :middle], getattr(clip, name)[:, middle:]), axis=1)
        for name in (*POINTS, "feet")
    }
    found = stands_on(replace(clip, **halves), Options()).contacts
    assert agreement(found[..., middle:], stage.contacts[..., middle:]) >= 0.95


@pytest.mark.parametrize("seed", range(16))
def test_a_walk_is_planted_alike_at_every_frame_rate(seed):
    found, judged = zip(*(planted_and_judged(walk(seed, fps)) for fps in RATES), strict=True)
    assert len({tuple(each.figure for each in own) for own in judged}) == 1, judged
    numbers = [lock_count(each.contacts) for each in found]
    assert max(numbers) - min(numbers) <= 1 + len(found[0].ankles) // 2, numbers
    size = walk(seed, RATES[0]).size
    for fps, each in zip(RATES[1:], found[1:], strict=True):
        step = fps / RATES[0]
        rows = np.round(np.arange(found[0].ankles.shape[1]) * step).astype(int)
        on_frame = np.isclose(rows, np.arange(len(rows)) * step) & (rows < each.ankles.shape[1])
        away = np.linalg.norm(each.ankles[:, rows[on_frame]] - found[0].ankles[:, on_frame], axis=-1)
        assert away.mean() <= 0.02 * size, fps


@pytest.mark.parametrize("seed", range(16))
def test_a_capture_has_as_many_locks_at_every_frame_rate(seed):
    clip = capture(seed)
    numbers = [lock_count(contacts_of(clips.every(clip, step)).touching) for step in (1, 2, 4, 5)]
    assert max(numbers) - min(numbers) <= 3, numbers
