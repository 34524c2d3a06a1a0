"""What a plan of feet promises, over grounds of any kind."""

import numpy as np

from ik_addon.planting.feet.contacts import sole_of

from .measures import beyond_reach, places

GROUNDS = ["captured", "level", "bumps", "uphill", "downhill", "across"]


def ground_of(name, clip):
    """Heights of a ground below points, and None for the captured one."""
    level, size = sole_of(clip).level, clip.size
    middle = clip.hips.mean(axis=(0, 1))
    return {
        "captured": None,
        "level": lambda points: np.full(len(points), level),
        "bumps": lambda points: level + 0.06 * size * (np.sin(points / size * 3.0) * (1.0, 1.0, 0.0)).sum(axis=1),
        "uphill": lambda points: level + 0.18 * (points - middle)[:, 0],
        "downhill": lambda points: level - 0.18 * (points - middle)[:, 0],
        "across": lambda points: level + 0.21 * (points - middle)[:, 1],
    }[name]


def assert_lawful(clip, planned, ground, feasible=True, sole=None):
    """What every plan keeps: locks stand, legs reach and have their lengths, nothing is below the ground.

    sole: with which it was planned; None: the clip's own.
    """
    sole, size = sole or sole_of(clip), clip.size
    points = places(clip, sole, planned.ankles, planned.feet)
    assert planned.locks
    locked = np.zeros(planned.contacts.shape, bool)
    for lock in planned.locks:
        way = points[lock.leg, lock.point, lock.first : lock.last + 1]
        assert np.linalg.norm(way - lock.place, axis=1).max() <= 1e-9 * size
        locked[lock.leg, lock.point, lock.first : lock.last + 1] = True
    for leg in range(clip.leg_count):
        held = locked[leg].any(axis=0) if sole.is_point(leg) else locked[leg]
        assert (held == planned.contacts[leg]).all()
    hips = clip.hips + planned.shifts
    assert planned.unreached.any() != feasible
    assert not beyond_reach(clip, hips, planned.ankles)[~planned.unreached].any()
    thighs, shins = np.linalg.norm(planned.knees - hips, axis=2), np.linalg.norm(planned.ankles - planned.knees, axis=2)
    assert np.abs(thighs - clip.lengths[:, :1]).max() <= 1e-9 * size
    if feasible:
        assert np.abs(shins - clip.lengths[:, 1:]).max() <= 1e-8 * size
    assert np.abs(planned.feet @ planned.feet.swapaxes(2, 3) - np.eye(3)).max() <= 1e-12
    # A pole is to the side of the knee: both are in one plane with the leg.
    normals = np.cross(planned.knees - hips, planned.ankles - hips)
    assert np.abs(((planned.poles - hips) * normals).sum(axis=2)).max() <= 1e-9 * size**3
    if ground is not None:
        below = ground(points.reshape(-1, 3)) - points[..., 2].reshape(-1)
        assert below.max() <= 2e-3 * size
