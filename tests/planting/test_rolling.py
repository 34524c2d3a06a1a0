"""What of a foot stands from each frame to the next: heel or ball, about which it rolls."""

import numpy as np
import pytest

from ik_addon.planting.feet.contacts import sole_of
from ik_addon.planting.feet.options import Options
from ik_addon.planting.feet.planning import plan

from . import clips


@pytest.mark.parametrize("fps", [12, 24, 60])
def test_the_pivot_of_a_foot_stands_from_frame_to_frame(fps):
    clip, truth = clips.walk(fps, turn=0.7)
    planned = plan(clip, Options(), truth)
    stands = planned.contacts[..., :-1] & planned.contacts[..., 1:]
    assert (np.isnan(planned.pivots[:, :-1, 0]) == ~stands.any(axis=1)).all()
    assert np.isnan(planned.pivots[:, -1]).all()
    here, there = (
        planned.ankles[:, frames] + (planned.feet[:, frames] @ planned.pivots[:, :-1, :, None])[..., 0]
        for frames in (slice(None, -1), slice(1, None))
    )
    assert np.nanmax(np.linalg.norm(there - here, axis=-1)) <= 1e-9 * clip.size


def test_it_is_the_heel_or_the_ball():
    clip, truth = clips.walk(60.0)
    planned, sole = plan(clip, Options(), truth), sole_of(clip)
    for leg, point in np.ndindex(2, 2):
        alone = planned.contacts[leg, point] & ~planned.contacts[leg, 1 - point]
        frames = np.flatnonzero(alone[:-1] & alone[1:])
        assert len(frames)
        assert (planned.pivots[leg, frames] == sole.points[leg, point]).all()
