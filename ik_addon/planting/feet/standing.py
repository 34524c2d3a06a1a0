"""What cannot stand, however it looks: feet in the air, on their way up or down, of bodies that lie; heels that do not
come back."""

from collections.abc import Iterator

import numpy as np

from .clip import LegMotion
from .contacts import BALL, HEEL, LEGS_OF_INSECTS, LYING, HeelAndBall, lies
from .curves import frames_in, lowest, quantile, runs, slope
from .options import SHORTEST_GAP, SLOPE_TIME, SLOW

OFF_FLOOR, ON_FLOOR, ALIKE, WITH_HIPS = 0.12, 0.06, 0.08, 0.75
"""Height over where a foot is at rest, leg lengths, above which it is in the air, if another foot is no higher than the
second, or off by more than the third, and the hips rose by less than that part of it: else the rest pose is no stand,
or somewhere else."""
APART = 0.3
"""Height of the lowest place of a foot over that of all feet, leg lengths, of one that never comes to the floor."""


def able_to_stand(clip: LegMotion, sole: HeelAndBall, touching: np.ndarray) -> np.ndarray:
    """Contacts (legs, 2, T) without those of feet that cannot stand."""
    found = touching & ~lies(clip) & ~in_the_air(clip, sole)[:, None, None]
    held, heights = held_up(clip, sole), sole.places(clip.ankles, clip.feet)[..., 2] / clip.size
    for leg in range(clip.leg_count):
        for point, own in enumerate(found[leg]):
            _drop_lifted(own, heights[leg, point], HIGH[point])
            rises = slope(heights[leg, point], clip.fps, SLOPE_TIME)
            for first, last in runs(own):
                # What is no longer than a slope is taken over has no speed of its own.
                passes = (last - first + 1) / clip.fps > SLOPE_TIME and _passes(rises[first : last + 1])
                own[first : last + 1] &= not (passes or held[leg, first : last + 1].all())
        if not sole.is_point(leg):
            length = np.linalg.norm(sole.points[leg, BALL] - sole.points[leg, HEEL]) / clip.size
            found[leg, HEEL] &= heights[leg, BALL] - heights[leg, HEEL] <= TOES_UP * length
            for first, last in runs(found[leg].any(axis=0)):
                _keep_first_heel(found[leg, :, first : last + 1], clip.fps)
    return found


def in_the_air(clip: LegMotion, sole: HeelAndBall) -> np.ndarray:
    """(legs,) bool, feet that never come to the floor on which others stand, or to that of the rest pose."""
    low = sole.places(clip.ankles, clip.feet)[..., 2].min(axis=(1, 2))
    away = low - low.min() > APART * clip.size
    if clip.rests is None:
        return away
    hips, feet = clip.rests.T
    rises = (low - feet) / clip.size
    up = (np.median(clip.hips[..., 2], axis=1) - hips) / clip.size
    raised = (rises > OFF_FLOOR) & (up < WITH_HIPS * rises)
    one_stands = (np.abs(rises) <= ON_FLOOR).any()
    unlike = raised.any() and np.ptp(rises[raised]) > ALIKE
    return away | (raised & (one_stands or unlike))


def held_up(clip: LegMotion, sole: HeelAndBall) -> np.ndarray:
    """(legs, T) bool, feet held in the air, higher than another one and than themselves before and after.

    None in the air is as still as one that stands, such as on a step.
    """
    places = sole.places(clip.ankles, clip.feet) / clip.size
    lows, reach = places[..., 2].min(axis=1), frames_in(RAISED_TIME, clip.fps)
    held = np.zeros(lows.shape, bool)
    for leg, own in enumerate(lows):
        others = np.delete(lows, leg, axis=0).min(axis=0, initial=np.inf)
        floor = np.maximum(np.minimum(others, own), np.maximum(lowest(own, reach, 0), lowest(own, 0, reach)))
        speed = np.linalg.norm(slope(places[leg, BALL], clip.fps, SLOPE_TIME), axis=1)
        for first, last in runs(own - floor > RAISED):
            held[leg, first : last + 1] = quantile(speed[first : last + 1]) > SLOW / 4.0
    return held


RAISED, RAISED_TIME = 0.15, 4.0
"""Height, in leg lengths, and how far to look for lower places before and after, in seconds."""


def why_nothing_stands(clip: LegMotion, sole: HeelAndBall) -> str:
    """Of a clip without a contact: AIR: no foot comes to the floor; LIES: the body lies or sits; TURNED: its legs do
    not point down at rest; else ""."""
    if in_the_air(clip, sole).all():
        return "AIR"
    if lies(clip).mean() > 0.5:
        return "LIES"
    if clip.rests is None or clip.leg_count >= LEGS_OF_INSECTS:
        return ""
    hips, feet = clip.rests.T
    return "TURNED" if (hips - feet < LYING * clip.reaches).all() else ""


TOES_UP = 0.87
"""Part of its sole by which the ball of a foot is higher than its heel, at 60 degrees, from which on its heel does not
stand: the foot of one who gets up points to the sky."""
PUSH_OFF = 0.2
"""A heel that comes back for so many seconds, while its ball stands, is not about to leave with it: who stands shifts
from one foot to the other, and bends over."""
PASSING = 0.7
"""Leg lengths a second. What is faster, up all through a contact or down, never rests there, as a foot that leaves the
ground when a capture begins. Feet that stand in captures reach 0.53."""
HIGH = 0.05, 0.07
"""Height of heel and ball over their lowest places in a contact, leg lengths, at which they touch no more."""


def _passes(rises: np.ndarray) -> bool:
    """Whether a point with these speeds up (n,) goes up all the time, or down."""
    return rises.min() > PASSING or rises.max() < -PASSING


def _drop_lifted(contact: np.ndarray, heights: np.ndarray, high: float) -> None:
    """Drop the ends of contacts (T,) of a point with these heights (T,) in which it is high."""
    for first, last in runs(contact):
        own = heights[first : last + 1]
        low = first + np.flatnonzero(own <= own.min() + high)
        contact[first : low[0]] = contact[low[-1] + 1 : last + 1] = False


def _keep_first_heel(stance: np.ndarray, fps: float) -> None:
    """Drop the short contacts of a heel in a stance (2, n) after the first: in a step only a swing brings it back."""
    heels = list(_joined(runs(stance[HEEL]), fps))
    for first, last in heels[1:]:
        if stance[BALL, first : last + 1].any() and (last - first + 1) / fps < PUSH_OFF:
            stance[HEEL, first : last + 1] = False


def _joined(found: list[tuple[int, int]], fps: float) -> Iterator[tuple[int, int]]:
    """Runs, as one where the gap between them is too short to lift a heel."""
    while found:
        first, last = found.pop(0)
        while found and (found[0][0] - last - 1) / fps < SHORTEST_GAP:
            last = found.pop(0)[1]
        yield first, last
