"""Curves over frames, against their definitions and against loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ik_addon.planting.feet.curves import above, bridged, hermite, highest, lowest, no_steeper, runs, slope, smooth

needs = st.lists(st.floats(-10.0, 10.0), min_size=1, max_size=60).map(np.array)


@given(needs, st.integers(0, 30))
def test_what_is_above_is_nowhere_below(needs, half):
    assert (above(needs, half) >= needs).all()


@given(needs, st.integers(1, 30))
def test_what_is_above_is_no_higher_than_the_need_nearby(needs, half):
    assert (above(needs, half) <= highest(needs, 2 * half) + 1e-12).all()


@given(needs, st.floats(0.01, 5.0))
def test_no_steeper_is_the_lowest_such_curve(needs, step):
    frames = np.arange(len(needs))
    cones = needs - step * np.abs(frames[:, None] - frames)
    assert no_steeper(needs, step) == pytest.approx(cones.max(axis=1))


def test_what_is_above_a_step_is_smooth():
    step = np.where(np.arange(200) >= 100, 1.0, 0.0)
    assert np.abs(np.diff(above(step, 20))).max() <= 1.1 / 20
    assert np.abs(np.diff(step)).max() == 1.0


@given(needs, st.integers(1, 70))
def test_windows_are_those_of_a_loop(values, half):
    around = [values[max(0, k - half) : k + half + 1] for k in range(len(values))]
    assert lowest(values, half).tolist() == [window.min() for window in around]
    assert highest(values, half).tolist() == [window.max() for window in around]


@given(st.lists(st.booleans(), max_size=40))
def test_runs_are_what_is_true(mask):
    found = np.zeros(len(mask), bool)
    ends = runs(np.array(mask, bool))
    for first, last in ends:
        assert not found[max(0, first - 1) : last + 1].any()
        found[first : last + 1] = True
    assert found.tolist() == mask


@pytest.mark.parametrize("fps", [24, 30, 60, 120])
def test_slopes_are_per_second_at_every_frame_rate(fps):
    times = np.arange(2 * fps + 1) / fps
    line = np.stack((3.0 * times, 1.0 - times), axis=1)
    assert slope(line, fps, 1 / 24) == pytest.approx(np.tile((3.0, -1.0), (len(times), 1)))
    wave = np.sin(2 * np.pi * times)
    # The ends are continued by a half turn, which a curve that bends there is not.
    assert np.abs(slope(wave, fps, 1 / 24) - 2 * np.pi * np.cos(2 * np.pi * times))[4:-4].max() <= 0.1


def test_smoothing_keeps_constants_and_the_sum_of_a_pulse():
    assert smooth(np.full((30, 2), 4.0), 7) == pytest.approx(np.full((30, 2), 4.0))
    pulse = np.zeros(50)
    pulse[25] = 1.0
    assert smooth(pulse, 7).sum() == pytest.approx(1.0)


def test_a_cubic_has_its_ends_and_slopes():
    start, end, out, into = (np.array(value) for value in ([1.0, 0, 0], [0, 2.0, 0], [0, 0, 0.3], [0.1, 0, 0]))
    count = 4000
    way = np.concatenate(([start], hermite(count, start, out / count, end, into / count), [end]))
    assert way[1] - way[0] == pytest.approx(out / count, abs=1e-5 / count * 1000)
    assert way[-1] - way[-2] == pytest.approx(into / count, abs=1e-5 / count * 1000)
    assert np.abs(np.diff(way, 2, axis=0)).max() <= 30 / count**2


@given(st.integers(0, 2**20))
def test_bridges_have_no_corners_and_bounded_slopes(seed):
    """At ten times the rate the largest change of slope is ten times smaller, which no corner is."""
    chance = np.random.default_rng(seed)
    ends = np.sort(chance.choice(np.arange(1, 40), 4, replace=False)) / 40.0
    ways = [chance.normal(size=(4, 3)) * (1.0, 0.1, 0.5) for _ in range(2)]
    fade = 0.1 * chance.random() + 0.05
    corners = []
    for count in (2000, 20000):
        times = np.linspace(0.0, 1.0, count + 1)
        known = ((times >= ends[0]) & (times <= ends[1])) | ((times >= ends[2]) & (times <= ends[3]))
        polynomials = [np.polynomial.Polynomial(column) for column in ways[0].T]
        values = np.stack([polynomial(times) for polynomial in polynomials], axis=1)
        slopes = np.stack([polynomial.deriv()(times) for polynomial in polynomials], axis=1) / count
        way = bridged(values, known, slopes, lambda _, count=count: round(fade * count))
        assert way[known].tolist() == values[known].tolist()
        assert (way[(times > ends[3] + fade) | (times < ends[0] - fade)] == 0.0).all()
        corners.append(np.abs(np.diff(way, 2, axis=0)).max() * count)
        shortest = min(fade, ends[2] - ends[1])
        apart = 2.0 * np.abs(values[known]).max()
        assert (
            np.abs(np.diff(way, axis=0)).max() * count <= 1.5 * apart / shortest + np.abs(slopes).max() * count + 1e-6
        )
    assert corners[1] <= 0.2 * corners[0] + 1e-9
