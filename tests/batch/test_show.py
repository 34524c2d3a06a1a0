"""The simulation of a show, against what can be said of it without one."""

from dataclasses import replace

import pytest

from benchmarks.show import Costs, Farm, simulated

NEVER = 1e9
COSTS = Costs(start=2.0, work=0.5, size=3e6)
ALONE = Farm(workers=1, chunk=10, dispatch=0.1, bandwidth=300e6, life=NEVER)
FILES = 400


def test_one_worker_takes_the_sum():
    found = simulated(FILES, COSTS, ALONE)
    chunks = FILES / ALONE.chunk
    seconds = chunks * (ALONE.dispatch + COSTS.start) + FILES * (COSTS.work + COSTS.size / ALONE.bandwidth)
    assert found.hours * 3600.0 == pytest.approx(seconds)
    assert found.scheduler == pytest.approx(chunks * ALONE.dispatch / seconds)
    assert found.storage == pytest.approx(FILES * COSTS.size / ALONE.bandwidth / seconds)
    assert (found.lost, found.deaths, found.bottleneck) == (0.0, 0, "workers")


@pytest.mark.parametrize("workers", [3, 30, 300])
def test_nobody_is_busier_than_always_and_nothing_is_faster_than_its_bottleneck(workers):
    alone, found = simulated(FILES, COSTS, ALONE), simulated(FILES, COSTS, replace(ALONE, workers=workers))
    assert alone.hours / workers <= found.hours <= alone.hours
    assert max(found.busy, found.storage, found.scheduler) <= 1.0 + 1e-9
    # As much is read, written and handed out as by one.
    assert found.storage * found.hours == pytest.approx(alone.storage * alone.hours)
    assert found.scheduler * found.hours == pytest.approx(alone.scheduler * alone.hours)


@pytest.mark.parametrize(
    ("name", "slow", "seconds"),
    [("storage", {"bandwidth": 1e6}, FILES * 3.0), ("scheduler", {"dispatch": 10.0}, FILES / 10 * 10.0)],
)
def test_what_all_share_serves_one_after_the_other(name, slow, seconds):
    found = simulated(FILES, COSTS, replace(ALONE, workers=100, **slow))
    assert found.bottleneck == name
    assert found.hours * 3600.0 >= seconds


def test_who_dies_loses_what_they_were_at():
    mortal = replace(ALONE, workers=10, life=0.01)
    found, without = simulated(FILES, COSTS, mortal), simulated(FILES, COSTS, replace(mortal, life=NEVER))
    assert found.deaths > 0
    assert found.lost > 0.0
    assert found.hours > without.hours
    assert simulated(FILES, COSTS, mortal) == found
