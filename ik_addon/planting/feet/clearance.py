"""No heel and no ball below the ground: feet that touch with one of them are pitched, feet in the air go with it."""

from dataclasses import replace

import numpy as np

from .clip import Clip
from .footing import Ground, turns_to_heights, under
from .in_time import above, eased, frames_in, smooth
from .options import BODY_TIME, CLEARANCE_TIME, Options
from .paths import FootPath, faded_turns
from .sole import BALL, HEEL, Sole
from .turns import applied, vectors_of

PITCH_STEPS = 3
"""Pitched, the other point is over another place of the ground; each step leaves about a tenth of the error."""


def carried_over(clip: Clip, sole: Sole, ground: Ground | None) -> Clip:
    """The clip with each foot raised and lowered smoothly with the ground below it.

    A foot far from its contacts is as high over this ground as it was over the captured floor.
    """
    if ground is None:
        return clip
    half, ankles = frames_in(BODY_TIME, clip.fps), clip.ankles.copy()
    for leg, ways in enumerate(sole.places(clip.ankles, clip.feet)):
        below = under(clip, leg, ground)(ways.mean(axis=0))
        ankles[leg, :, 2] += smooth(below - sole.floors[leg], half)
    return replace(clip, ankles=ankles, balls=clip.balls + ankles - clip.ankles)


def cleared(
    clip: Clip, sole: Sole, leg: int, path: FootPath, contacts: np.ndarray, ground: Ground, options: Options
) -> FootPath:
    """The path of one leg's foot, nowhere below the ground.

    contacts: (2, T) bool, where its heel and ball are locked; these stay. In the air a foot keeps the height over the
    ground that it had over the captured one, up to `options.clearance`.
    """
    if not sole.is_point(leg):
        path = _pitched(clip, sole.points[leg], path, contacts, ground, options)
    return _lifted(clip, sole, leg, path, contacts.any(axis=0), ground, options)


def _pitched(
    clip: Clip, points: np.ndarray, path: FootPath, contacts: np.ndarray, ground: Ground, options: Options
) -> FootPath:
    """The path with the foot turned about heel or ball, where it touches with one alone, until the other is not below.

    In the air before and after the turn fades, about the pivot that the foot has there.
    """
    feet = path.feet.copy()
    for standing in (HEEL, BALL):
        frames = np.flatnonzero(contacts[standing] & ~contacts[1 - standing])
        for _ in range(PITCH_STEPS):
            if not len(frames):
                break
            arms = applied(feet[frames], points[1 - standing] - points[standing])
            heights = ground(path.places[frames] + arms) - path.places[frames, 2]
            low = arms[:, 2] < heights
            frames = frames[low]
            feet[frames] = turns_to_heights(arms[low], heights[low]) @ feet[frames]
    pitches = vectors_of(feet @ path.feet.swapaxes(1, 2))
    return replace(path, feet=faded_turns(pitches, contacts.any(axis=0), clip, options) @ path.feet)


def _lifted(
    clip: Clip, sole: Sole, leg: int, path: FootPath, touching: np.ndarray, ground: Ground, options: Options
) -> FootPath:
    """The path with the foot lifted in the air, ahead of time, where it would be too low."""
    free = np.flatnonzero(~touching)
    if not len(free):
        return path
    captured = sole.places(clip.ankles, clip.feet)[leg, :, free, 2].T
    had = np.clip(captured - sole.floors[leg, free], 0.0, options.clearance * clip.size)
    points = path.points(sole.points[leg])[:, free]
    below = ground(points.reshape(-1, 3)).reshape(2, -1) - points[..., 2]
    nearness = eased(_frames_from(touching) / (2.0 * CLEARANCE_TIME * clip.fps))
    wishes = np.zeros(clip.frame_count)
    wishes[free] = (below + had * nearness[free]).max(axis=0).clip(0.0)
    lifts = above(wishes, frames_in(CLEARANCE_TIME, clip.fps)) * nearness
    places = path.places.copy()
    places[free, 2] += np.maximum(lifts[free], below.max(axis=0))
    return replace(path, places=places)


def _frames_from(touching: np.ndarray) -> np.ndarray:
    """(T,), how many frames each frame is from one in which the foot touches; as many as there are if none is."""
    frames, found = np.arange(len(touching)), np.flatnonzero(touching)
    if not len(found):
        return np.full(len(touching), len(touching))
    after = np.clip(np.searchsorted(found, frames), None, len(found) - 1)
    before = np.clip(after - 1, 0, None)
    return np.minimum(np.abs(frames - found[before]), np.abs(frames - found[after]))
