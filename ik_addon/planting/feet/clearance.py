"""No heel and no ball below the ground: feet that touch with one of them are pitched, feet in the air go with it."""

from dataclasses import replace

import numpy as np

from .clip import LegMotion
from .footing import Ground, turns_to_heights, under
from .in_time import above, eased, frames_in, no_steeper, smooth
from .options import BODY_TIME, CLEARANCE_TIME, LIFT_SPEED, PITCH_SPEED, Options
from .paths import FootPath, faded_turns
from .sole import BALL, HEEL, HeelAndBall
from .turns import UP, applied, directions, turns_by, vectors_of

PITCH_STEPS = 3
"""Pitched, the other point is over another place of the ground; each step leaves about a tenth of the error."""


def carried_over(clip: LegMotion, sole: HeelAndBall, ground: Ground | None) -> LegMotion:
    """The clip with each foot raised and lowered smoothly with the ground below it.

    A foot far from its contacts is as high over this ground as it was over the captured floor.
    """
    half, ankles = frames_in(BODY_TIME, clip.fps), clip.ankles.copy()
    for leg, ways in enumerate(sole.places(clip.ankles, clip.feet)):
        below = under(clip, leg, ground)
        if below is not None:
            ankles[leg, :, 2] += smooth(below(ways.mean(axis=0)) - sole.floors[leg], half)
    return replace(clip, ankles=ankles, balls=clip.balls + ankles - clip.ankles)


def cleared(
    clip: LegMotion, sole: HeelAndBall, leg: int, path: FootPath, contacts: np.ndarray, ground: Ground, options: Options
) -> FootPath:
    """The path of one leg's foot, nowhere below the ground.

    contacts: (2, T) bool, where its heel and ball are locked; these stay. In the air a foot keeps the height over the
    ground that it had over the captured one, up to `options.clearance`.
    """
    if not sole.is_point(leg):
        path = _pitched(clip, sole.points[leg], path, contacts, ground, options)
    return _lifted(clip, sole, leg, path, contacts.any(axis=0), ground, options)


def _pitched(
    clip: LegMotion, points: np.ndarray, path: FootPath, contacts: np.ndarray, ground: Ground, options: Options
) -> FootPath:
    """The path with the foot turned about heel or ball, where it touches with one alone, until the other is not below.

    Over an edge it turns ahead of time, and no faster than it can. In the air before and after the turn fades, about
    the pivot that the foot has there.
    """
    angles, axes = np.zeros(clip.frame_count), np.zeros((clip.frame_count, 3))
    for standing in (HEEL, BALL):
        frames = np.flatnonzero(contacts[standing] & ~contacts[1 - standing])
        arms = applied(path.feet[frames], points[1 - standing] - points[standing])
        axes[frames] = directions(np.cross(arms, UP))
        for _ in range(PITCH_STEPS):
            pitched = applied(turns_by(angles[frames, None] * axes[frames]), arms)
            heights = ground(path.places[frames] + pitched) - path.places[frames, 2]
            low = pitched[:, 2] < heights
            angles[frames[low]] += np.linalg.norm(vectors_of(turns_to_heights(pitched[low], heights[low])), axis=-1)
    single = contacts.any(axis=0) & ~contacts.all(axis=0)
    steepest = PITCH_SPEED * _frames_from(contacts.all(axis=0)) / clip.fps
    angles = np.minimum(no_steeper(angles, PITCH_SPEED / clip.fps), steepest) * single
    pitches = angles[:, None] * axes
    return replace(path, feet=faded_turns(pitches, contacts.any(axis=0), clip, options) @ path.feet)


def _lifted(
    clip: LegMotion, sole: HeelAndBall, leg: int, path: FootPath, touching: np.ndarray, ground: Ground, options: Options
) -> FootPath:
    """The path with the foot lifted in the air, ahead of time, where it would be too low."""
    free = np.flatnonzero(~touching)
    if not len(free):
        return path
    captured = sole.places(clip.ankles, clip.feet)[leg, :, free, 2].T
    had = np.clip(captured - sole.floors[leg, free], 0.0, options.clearance * clip.size)
    points = path.points(sole.points[leg])[:, free]
    below = ground(points.reshape(-1, 3)).reshape(2, -1) - points[..., 2]
    times = _frames_from(touching) / clip.fps
    nearness = eased(times / (2.0 * CLEARANCE_TIME))
    wishes, needs = np.zeros(clip.frame_count), np.zeros(clip.frame_count)
    wishes[free] = (below + had * nearness[free]).max(axis=0).clip(0.0)
    needs[free] = below.max(axis=0).clip(0.0)
    speed = LIFT_SPEED * clip.size
    needs = np.minimum(no_steeper(needs, speed / clip.fps), speed * times)
    places = path.places.copy()
    places[:, 2] += np.maximum(above(wishes, frames_in(CLEARANCE_TIME, clip.fps)) * nearness, needs)
    return replace(path, places=places)


def _frames_from(touching: np.ndarray) -> np.ndarray:
    """(T,), how many frames each frame is from one in which the foot touches; as many as there are if none is."""
    frames, found = np.arange(len(touching)), np.flatnonzero(touching)
    if not len(found):
        return np.full(len(touching), len(touching))
    after = np.clip(np.searchsorted(found, frames), None, len(found) - 1)
    before = np.clip(after - 1, 0, None)
    return np.minimum(np.abs(frames - found[before]), np.abs(frames - found[after]))
