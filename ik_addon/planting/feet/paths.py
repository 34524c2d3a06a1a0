"""The paths of feet: exact in every lock, smooth between them, rolling on heel and ball, never below the ground."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from .anchors import Anchors, Flat, Lock
from .clip import (
    UP,
    LegMotion,
    across,
    applied,
    directions,
    knees_from,
    same_way,
    turns_between,
    turns_by,
    vectors_of,
)
from .contacts import BALL, HEEL, Ground, HeelAndBall, turns_to_heights, under
from .curves import above, bridged, eased, frames_in, no_steeper, runs, smooth
from .options import (
    BODY_TIME,
    CLEARANCE_TIME,
    LIFT_SPEED,
    PITCH_SPEED,
    POLE_DISTANCE,
    REACH_TIME,
    SLOPE_TIME,
    STRAIGHT_SIDE,
    Options,
)

PEAK = 1.5
"""The largest slope of a cubic from rest to rest, of its mean slope."""
TINY = 1e-300
"""By which a speed of zero may be divided."""


@dataclass(frozen=True)
class FootPath:
    """One foot over T frames, as it pivots.

    pivots: (T, 3), the points about which it turns, from the ankle, in its own space. places: (T, 3), where these are
    in the world. feet: (T, 3, 3), its orientations.
    """

    pivots: np.ndarray
    places: np.ndarray
    feet: np.ndarray

    @property
    def ankles(self) -> np.ndarray:
        """(T, 3), where the ankle then is."""
        return self.places - applied(self.feet, self.pivots)

    def points(self, sole_points: np.ndarray) -> np.ndarray:
        """(2, T, 3), where points (2, 3) of its own space are: its heel and ball."""
        return self.places + applied(self.feet, sole_points[:, None] - self.pivots)


def foot_path(clip: LegMotion, sole: HeelAndBall, leg: int, anchors: Anchors, options: Options) -> FootPath:
    """The path of one leg's foot that keeps its anchors; as captured if it has none.

    The speed that a blend adds to a foot, over what the capture has at its ends, is at most `options.added_speed`
    unless two contacts leave it less time.
    """
    locks = [lock for lock in anchors.locks if lock.leg == leg]
    if not locks:
        return FootPath(np.zeros((clip.frame_count, 3)), clip.ankles[leg], clip.feet[leg])
    flats = [flat for flat in anchors.flats if flat.leg == leg]
    return FootPath(*_placed(clip, sole, leg, locks, options), _turned(clip, leg, flats, options))


def faded_turns(vectors: np.ndarray, known: np.ndarray, clip: LegMotion, options: Options) -> np.ndarray:
    """The turns (T, 3, 3) by vectors (T, 3) that are known in some frames, faded between these."""
    slopes = slopes_inside(vectors, known, clip.fps)
    return turns_by(
        bridged(vectors, known, slopes, lambda end: fade_frames(end, options.added_turn, clip.fps, options))
    )


def _turned(clip: LegMotion, leg: int, flats: list[Flat], options: Options) -> np.ndarray:
    """The orientations (T, 3, 3) of a foot: its flat ones, and the captured ones where it is not near them."""
    vectors, known = np.zeros((clip.frame_count, 3)), np.zeros(clip.frame_count, bool)
    before = np.zeros(3)
    for flat in sorted(flats, key=lambda flat: flat.first):
        span = slice(flat.first, flat.last + 1)
        turns = vectors_of(flat.foot @ clip.feet[leg, span].swapaxes(1, 2))
        # Half a turn has two vectors: those of one foot, and of the next, are on one side.
        vectors[span] = same_way(turns, same_way(turns[0], before))
        before, known[span] = vectors[flat.last], True
    return faded_turns(vectors, known, clip, options) @ clip.feet[leg]


def _placed(
    clip: LegMotion, sole: HeelAndBall, leg: int, locks: list[Lock], options: Options
) -> tuple[np.ndarray, np.ndarray]:
    """The pivots (T, 3) of a foot, and their places (T, 3): those of its locks, and what leads from one to the next."""
    count = clip.frame_count
    places, pivots, known = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count, bool)
    for lock in locks:
        span = slice(lock.first, lock.last + 1)
        places[span], pivots[span], known[span] = lock.place, sole.points[leg, lock.point], True
    pivots = _wandering(pivots, known)
    captured = clip.ankles[leg] + applied(clip.feet[leg], pivots)
    # At the end of a lock the correction goes on as it changed in it: where a capture stands, there is none.
    slopes = slopes_inside(places - captured, known, clip.fps)
    fastest = options.added_speed * clip.size
    slopes *= np.minimum(1.0, fastest / clip.fps / np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), TINY))
    corrections = bridged(places - captured, known, slopes, lambda end: fade_frames(end, fastest, clip.fps, options))
    return pivots, np.where(known[:, None], places, captured + corrections)


def _wandering(pivots: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Pivots (T, 3) that are known in some frames, going over from each to the next between them."""
    frames = np.arange(len(known))
    locked = np.flatnonzero(known)
    before = locked[np.clip(np.searchsorted(locked, frames, side="right") - 1, 0, None)]
    after = locked[np.clip(np.searchsorted(locked, frames), None, len(locked) - 1)]
    share = eased((frames - before) / np.maximum(after - before, 1))[:, None]
    return (1.0 - share) * pivots[before] + share * pivots[after]


def slopes_inside(values: np.ndarray, known: np.ndarray, fps: float) -> np.ndarray:
    """(T, 3): the slopes of values at the ends of known runs, per frame, as far as the runs show them."""
    slopes = np.zeros_like(values)
    for first, last in runs(known):
        half = min(frames_in(0.5 * SLOPE_TIME, fps), (last - first) // 2)
        if half:
            for end, way in ((first, half), (last, -half)):
                near, far = values[end + way] - values[end], values[end + 2 * way] - values[end]
                # The parabola through three values: a line would lag behind what gets faster.
                slopes[end] = (2.0 * near - 0.5 * far) / way
    return slopes


def fade_frames(value: np.ndarray, speed: float, fps: float, options: Options) -> int:
    """How many frames a correction takes to fade so that it adds no more than `speed`, per second."""
    return max(1, ceil(max(options.blend, PEAK * float(np.linalg.norm(value)) / speed) * fps))


def pivots_of(sole: HeelAndBall, locks: Iterable[Lock], count: int) -> np.ndarray:
    """(legs, T, 3): the point of each foot, from the ankle in its own space, that stands from each frame to the next.

    NaN where none does.
    """
    found = np.full((len(sole.points), count, 3), np.nan)
    for lock in locks:
        found[lock.leg, lock.first : lock.last] = sole.points[lock.leg, lock.point]
    return found


def knees_and_poles(
    clip: LegMotion, sides: np.ndarray, hips: np.ndarray, ankles: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The knees and poles, (legs, T, 3) each, of legs with new hips and ankles (legs, T, 3).

    sides: unit vectors (legs, T, 3) from the line of each captured leg to its knee; the smallest turn from there to the
    new line carries them along.
    """
    lines = ankles - hips
    sides = applied(turns_between(directions(clip.ankles - clip.hips), directions(lines)), sides)
    ways, sides = knees_from(lines, sides, clip.lengths[:, None])
    return hips + ways, hips + ways + sides * (POLE_DISTANCE * clip.reaches)[:, None, None]


def captured_sides(clip: LegMotion, sole: HeelAndBall) -> np.ndarray:
    """Unit vectors (legs, T, 3) from the line of each captured leg to its knee.

    Where a leg is too straight to show it, the side goes over to the direction of its foot, or for a foot that is a
    point to the side that the knee has shortly before and after.
    """
    along = directions(clip.ankles - clip.hips)
    shown = across(clip.knees - clip.hips, along)
    trust = np.clip(np.linalg.norm(shown, axis=2, keepdims=True) / (STRAIGHT_SIDE * clip.size), 0.0, 1.0)
    ahead = applied(clip.feet, (sole.points[:, BALL] - sole.points[:, 0])[:, None])
    for leg in range(clip.leg_count):
        if sole.is_point(leg):
            ahead[leg] = smooth(shown[leg], frames_in(REACH_TIME, clip.fps)) + 1e-9 * shown[leg].mean(axis=0)
    # The elbows of front legs bend to the back.
    ahead *= np.where((shown * ahead).sum(axis=(1, 2)) < 0.0, -1.0, 1.0)[:, None, None]
    return directions(trust * directions(shown) + (1.0 - trust) * directions(across(ahead, along)))


PITCH_STEPS = 3
"""Pitched, the other point is over another place of the ground; each step leaves about a tenth of the error."""


def carried_over(clip: LegMotion, sole: HeelAndBall, ground: Ground | None) -> LegMotion:
    """The clip with each foot raised and lowered smoothly with the ground below it.

    A foot far from its contacts is as high over this ground as it was over the captured floor.
    """
    half, ankles = frames_in(BODY_TIME, clip.fps), clip.ankles.copy()
    for leg, ways in enumerate(sole.places(clip.ankles, clip.feet)):
        below = under(sole, leg, ground)
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
    places = path.places.copy()
    places[:, 2] += lifts(clip, below, had, touching)
    return replace(path, places=places)


def lifts(clip: LegMotion, below: np.ndarray, had: np.ndarray, touching: np.ndarray) -> np.ndarray:
    """(T,), how far a foot is lifted in the air, ahead of time, where it would be too low.

    Of its points in the frames in which it is in the air, (points, frames): below: how far below the ground they are,
    had: how far above it they are to be. touching: (T,) bool, in which it is not.
    """
    times, free, near = _frames_from(touching) / clip.fps, ~touching, nearness(touching, clip.fps)
    wishes, needs = np.zeros(clip.frame_count), np.zeros(clip.frame_count)
    wishes[free] = (below + had * near[free]).max(axis=0).clip(0.0)
    needs[free] = below.max(axis=0).clip(0.0)
    speed = LIFT_SPEED * clip.size
    needs = np.minimum(no_steeper(needs, speed / clip.fps), speed * times)
    return np.maximum(above(wishes, frames_in(CLEARANCE_TIME, clip.fps)) * near, needs)


def nearness(touching: np.ndarray, fps: float) -> np.ndarray:
    """(T,), how much of its height over the ground a foot keeps: 0 where it touches, 1 far from there."""
    return eased(_frames_from(touching) / fps / (2.0 * CLEARANCE_TIME))


def _frames_from(touching: np.ndarray) -> np.ndarray:
    """(T,), how many frames each frame is from one in which the foot touches; as many as there are if none is."""
    frames, found = np.arange(len(touching)), np.flatnonzero(touching)
    if not len(found):
        return np.full(len(touching), len(touching))
    after = np.clip(np.searchsorted(found, frames), None, len(found) - 1)
    before = np.clip(after - 1, 0, None)
    return np.minimum(np.abs(frames - found[before]), np.abs(frames - found[after]))
