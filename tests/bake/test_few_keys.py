"""The fit of few keys, as arrays: beside Blender's own F-Curves and beside all ways there are."""

from itertools import combinations, pairwise

import bpy
import numpy as np
import pytest

from ik_addon.bake.few_keys import (
    KeyedCurve,
    WantedMotion,
    _fits,
    _shortest,
    _span_errors,
    curve_through,
    fewest_keys,
    local_slopes,
    smooth_curve,
)
from ik_addon.bake.keys import divide, write_curve


def waves(count, seed=0):
    chance = np.random.default_rng(seed)
    times = np.arange(count)[:, None] / 24.0
    return sum(np.sin(2 * np.pi * f * times + chance.random(3) * 6.0) / f for f in (0.4, 1.1, 2.3))


def motion_of(numbers, tolerance, looks=1):
    def error(found, rows):
        return np.abs(found - numbers[np.round(rows).astype(int)]).max(axis=1) / tolerance

    return WantedMotion(
        numbers, local_slopes(numbers, 1), np.ones(len(numbers), bool), error, 0, len(numbers) - 1, looks
    )


def curve_like(seed, count=7):
    chance = np.random.default_rng(seed)
    rows = np.cumsum(chance.integers(1, 9, count)) - 1
    return KeyedCurve(rows, chance.normal(size=(count, 2)), chance.normal(size=(count, 2, 2)))


@pytest.mark.versions
@pytest.mark.parametrize("seed", range(3))
def test_a_curve_is_what_blender_shows(seed):
    known = curve_like(seed)
    action = bpy.data.actions.new("few")
    ob = bpy.data.objects.new("few", None)
    ob.animation_data_create().action = action
    for index in range(2):
        ob.keyframe_insert("location", index=index, frame=3.0)
    from .. import scenes

    times = np.linspace(known.rows[0], known.rows[-1], 50)
    for index in range(2):
        curve = next(each for each in scenes.bag_of(ob).fcurves if each.array_index == index)
        frames = known.rows.astype(float)
        write_curve(curve, frames, known.numbers[:, index], known.slopes[..., index], (-100.0, 100.0))
        shown = [curve.evaluate(time) for time in times]
        assert shown == pytest.approx(known.at(times)[:, index], abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_more_keys_leave_a_curve_as_it_is(seed):
    known = curve_like(seed)
    ob = bpy.data.objects.new("divided", None)
    ob.keyframe_insert("location", index=0, frame=3.0)
    from .. import scenes

    curve = scenes.bag_of(ob).fcurves[0]
    write_curve(curve, known.rows, known.numbers[:, 0], known.slopes[..., 0], (-100.0, 100.0))
    times, rows = np.linspace(known.rows[0], known.rows[-1], 200), np.arange(known.rows[0], known.rows[-1] + 1, 2.0)
    divide(curve, np.concatenate(([-9.0], rows, [known.rows[-1] + 5.0])))
    curve.update()
    assert [point.co.x for point in curve.keyframe_points] == sorted({*known.rows.tolist(), *rows.tolist()})
    assert [curve.evaluate(time) for time in times] == pytest.approx(known.at(times)[:, 0], abs=2e-5)


@pytest.mark.parametrize("seed", range(3))
def test_a_curve_is_known_by_its_thirds(seed):
    known = curve_like(seed)
    rows = np.arange(3 * known.rows[0], 3 * known.rows[-1] + 1) / 3.0
    times = np.linspace(known.rows[0], known.rows[-1], 200)
    assert curve_through(known.at(rows), int(known.rows[0])).at(times) == pytest.approx(known.at(times), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_no_way_has_fewer_spans_than_the_shortest(seed):
    """Of all choices of keys in 12 frames whose spans are within the tolerance."""
    motion = motion_of(waves(12, seed), 0.02)
    errors = _span_errors(motion, 11)

    def off(first, last):
        if last - first < 2:
            return 0.0
        cubic = _fits(motion, np.array([first]), last - first)[0]
        rows = np.arange(first + 1, last)
        keys = smooth_curve(np.array((first, last)), cubic[[0, 2]], cubic[[1, 3]])
        return motion.error(keys.at(rows), rows).max()

    def fits(rows):
        return all(off(first, last) <= 1.0 for first, last in pairwise(rows))

    fewest = next(count for count in range(11) for inner in combinations(range(1, 11), count) if fits((0, *inner, 11)))
    assert len(_shortest(errors, np.ones(12), ())) == fewest + 2


@pytest.mark.parametrize("tolerance", [0.1, 0.03, 0.01])
def test_a_motion_stays_within_the_tolerance_with_fewer_keys(tolerance):
    numbers = waves(240)
    motion = motion_of(numbers, tolerance)
    curve, off = fewest_keys(motion, 60)
    rows = np.arange(240)
    assert off <= 1.0
    assert np.abs(curve.at(rows) - numbers).max() <= tolerance
    assert (curve.numbers[[0, -1]] == numbers[[0, -1]]).all()
    assert len(curve.rows) < 0.4 * len(rows)


@pytest.mark.parametrize(("seed", "tolerance"), [*((seed, 0.02) for seed in range(4)), (10, 0.05)])
def test_swings_of_a_few_frames_have_fewer_keys_too(seed, tolerance):
    """Slopes of no span alone are told by two or three frames: some of these fit by themselves, not together."""
    chance, turns = np.random.default_rng(seed), 2 * np.pi * np.arange(25)[:, None] / 12.0
    sizes = (1.0, 0.4, 0.15, 0.1) if tolerance > 0.02 else (1.0, 0.4, 0.15)
    numbers = sum(size * np.sin(k * turns + 6.0 * chance.random(3)) for k, size in enumerate(sizes, 1))
    curve, off = fewest_keys(motion_of(numbers, tolerance), 20)
    assert len(curve.rows) <= 12
    assert off == pytest.approx(np.abs(curve.at(np.arange(25)) - numbers).max() / tolerance) and off <= 1.0


def test_spans_are_looked_at_in_whole_rows_too():
    """What is asked for in whole rows alone, such as a knee."""
    numbers = np.zeros((150, 1))

    def error(found, rows):
        return np.where(rows % 1.0 == 0.0, 0.9, 0.0)

    errors = _span_errors(WantedMotion(numbers, numbers, np.zeros(150, bool), error, 0, 149, 3), 149)[0, 2:]
    assert set(errors[np.isfinite(errors)]) == {0.9}


def test_noise_keeps_its_keys():
    numbers = np.random.default_rng(1).normal(size=(40, 3))
    curve, off = fewest_keys(motion_of(numbers, 0.01), 20)
    assert off <= 1.0 and len(curve.rows) > 15
