"""Between two frames a foot that rolls goes on the arc that keeps its lock, not on the chord."""

import numpy as np
import pytest

from ik_addon.planting.feet.clip import turns_by, vectors_of
from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.curves import hermite
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.planning import plan

from . import clips


@pytest.mark.parametrize("fps", [12, 24, 60])
def test_a_curve_with_these_slopes_keeps_locks_between_frames(fps):
    clip, truth = clips.walk(fps, turn=0.7)
    planned, sole = plan(clip, Options(), truth), sole_of(clip)
    chords, arcs = [], []
    for lock in planned.locks:
        own, ankles, feet = (part[lock.leg] for part in (sole.points, planned.ankles, planned.feet))
        for k in range(lock.first, lock.last):
            leaving, arriving = planned.arcs[lock.leg, k, 1], planned.arcs[lock.leg, k + 1, 0]
            vector = vectors_of(feet[k + 1] @ feet[k].T)
            assert np.isnan(leaving).all() == np.isnan(arriving).all() == (np.linalg.norm(vector) <= 1e-4)
            if np.isnan(leaving).any():
                continue
            turned = turns_by(np.linspace(0.0, 1.0, 9)[1:-1, None] * vector) @ feet[k]
            way = np.linspace(ankles[k], ankles[k + 1], 9)[1:-1]
            chords.append(np.abs(way + turned @ own[lock.point] - lock.place).max())
            way = hermite(8, ankles[k], leaving / 8.0, ankles[k + 1], arriving / 8.0)
            arcs.append(np.abs(way + turned @ own[lock.point] - lock.place).max())
    assert max(chords) > 1e-4 and len(arcs) > 10
    assert max(arcs) <= 0.02 * max(chords)


def test_a_foot_in_the_air_and_one_that_stands_flat_go_straight():
    clip, truth = clips.walk(60.0)
    planned = plan(clip, Options(), truth)
    contacts = planned.contacts
    for leg in range(2):
        rolls = contacts[leg].any(axis=0) & ~contacts[leg].all(axis=0)
        leaves = ~np.isnan(planned.arcs[leg, :, 1, 0])
        assert not leaves[~contacts[leg].any(axis=0)].any()
        assert not leaves[:-1][contacts[leg].all(axis=0)[:-1] & contacts[leg].all(axis=0)[1:]].any()
        assert leaves[rolls].mean() > 0.8
