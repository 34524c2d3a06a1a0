"""No heel and no ball below the ground: feet that touch with one of them are pitched, feet in the air are lifted."""

import numpy as np

from .clip import Clip
from .footing import Ground, turns_to_heights
from .in_time import above, eased, frames_in
from .options import CLEARANCE_TIME, Options
from .sole import BALL, HEEL, Sole
from .turns import applied

PITCH_STEPS = 3
"""Pitched, the other point is over another place of the ground; each step leaves about a tenth of the error."""


def cleared(
    clip: Clip, sole: Sole, ankles: np.ndarray, feet: np.ndarray, contacts: np.ndarray, ground: Ground, options: Options
) -> tuple[np.ndarray, np.ndarray]:
    """Ankles (legs, T, 3) and orientations (legs, T, 3, 3) of feet that are nowhere below the ground.

    contacts: (legs, 2, T) bool, where heels and balls are locked; these stay. In the air a foot keeps the height over
    the ground that it had over the captured one, up to `options.clearance`.
    """
    ankles, feet = ankles.copy(), feet.copy()
    for leg in range(clip.leg_count):
        if not sole.is_point(leg):
            for point in (HEEL, BALL):
                alone = np.flatnonzero(contacts[leg, point] & ~contacts[leg, 1 - point])
                _pitch(sole.points[leg], point, alone, ankles[leg], feet[leg], ground)
    captured = sole.places(clip.ankles, clip.feet)[..., 2]
    places = sole.places(ankles, feet)
    for leg, touching in enumerate(contacts.any(axis=1)):
        free = np.flatnonzero(~touching)
        if not len(free):
            continue
        had = np.clip(captured[leg] - sole.floors[leg], 0.0, options.clearance * clip.size)
        below = ground(places[leg][:, free].reshape(-1, 3)).reshape(2, -1) - places[leg][:, free, 2]
        nearness = eased(_frames_from(touching) / (2.0 * CLEARANCE_TIME * clip.fps))
        wishes = np.zeros(clip.frame_count)
        wishes[free] = np.maximum(below + had[:, free] * nearness[free], 0.0).max(axis=0)
        lifts = above(wishes, frames_in(CLEARANCE_TIME, clip.fps)) * nearness
        ankles[leg, free, 2] += np.maximum(lifts[free], below.max(axis=0).clip(0.0))
    return ankles, feet


def _pitch(
    points: np.ndarray, standing: int, frames: np.ndarray, ankles: np.ndarray, feet: np.ndarray, ground: Ground
) -> None:
    """Turn one foot about the point that stands, in these frames, until its other point is not below the ground."""
    arm = points[1 - standing] - points[standing]
    for _ in range(PITCH_STEPS):
        if not len(frames):
            return
        pivots = ankles[frames] + applied(feet[frames], points[standing])
        arms = applied(feet[frames], arm)
        heights = ground(pivots + arms) - pivots[:, 2]
        low = arms[:, 2] < heights
        frames, pivots = frames[low], pivots[low]
        feet[frames] = turns_to_heights(arms[low], heights[low]) @ feet[frames]
        ankles[frames] = pivots - applied(feet[frames], points[standing])


def _frames_from(touching: np.ndarray) -> np.ndarray:
    """(T,), how many frames each frame is from one in which the foot touches; as many as there are if none is."""
    frames, found = np.arange(len(touching)), np.flatnonzero(touching)
    if not len(found):
        return np.full(len(touching), len(touching))
    after = np.clip(np.searchsorted(found, frames), None, len(found) - 1)
    before = np.clip(after - 1, 0, None)
    return np.minimum(np.abs(frames - found[before]), np.abs(frames - found[after]))
