"""When heels and balls touch the ground, from their speed and height, with limits relative to the foot's own motion."""

from itertools import pairwise

import numpy as np

from .clip import LegMotion
from .in_time import frames_in, highest, lowest, runs, slope
from .options import (
    FASTEST_STAND,
    FASTEST_TIME,
    FLOOR_TIME,
    LIFT,
    LOW,
    LOWISH,
    RADIUS,
    RAISED,
    RAISED_TIME,
    SAME_PLACE,
    SHORTEST_CONTACT,
    SHORTEST_GAP,
    SLIDE_RANGE,
    SLIDES,
    SLOPE_TIME,
    SLOW,
    SLOW_SHARE,
    SLOWEST_TIME,
    SLOWISH,
    SLOWISH_SHARE,
    SPLIT_TIME,
    Options,
)
from .sole import BALL, HEEL, HeelAndBall


def find_contacts(clip: LegMotion, sole: HeelAndBall, options: Options) -> np.ndarray:
    """(legs, 2, T) bool: whether the heel and the ball of each foot touch the ground.

    A contact is a run of slowish and lowish frames with a slow and low one among them, as far as the point then stays
    at its place: where it rests, or where it would be if it drifted steadily, for feet of captures skate. A contact
    in which the foot moves farther than `options.slide` is split where it is fastest.
    """
    places = sole.places(clip.ankles, clip.feet) / clip.size
    speeds = np.linalg.norm([[slope(way, clip.fps, SLOPE_TIME) for way in points] for points in places], axis=-1)
    lows = places[..., 2].min(axis=1)
    found = np.zeros(speeds.shape, bool)
    for leg, points in enumerate(places):
        floor = lowest(lows[leg], frames_in(FLOOR_TIME, clip.fps))
        held = _held(lows, leg, speeds[leg].min(axis=0), clip.fps)
        for point, way in enumerate(points):
            found[leg, point] = _stays(way, way[:, 2] - floor, speeds[leg, point], LIFT[point], held, clip.fps)
        if sole.is_point(leg):
            found[leg, HEEL] = found[leg, BALL]
    slide = options.slide or _slide_of(places, found)
    for leg, points in enumerate(places):
        for point, way in enumerate(points):
            _split_slides(found[leg, point], way, speeds[leg, point], slide, clip.fps)
            _drop_short(found[leg, point], clip.fps)
    return found


def find_holds(clip: LegMotion, near: np.ndarray) -> np.ndarray:
    """(limbs, T) bool: whether the end of each limb moves with what a clip is seen from, and is close to it.

    near: (limbs, T) bool, whether it is close.
    """
    free = np.zeros(clip.frame_count, bool)
    found = np.zeros(near.shape, bool)
    for limb, way in enumerate(clip.ankles / clip.size):
        speed = np.linalg.norm(slope(way, clip.fps, SLOPE_TIME), axis=-1)
        # What is far away is as what is in the air.
        found[limb] = _stays(way, np.where(near[limb], 0.0, np.inf), speed, np.inf, free, clip.fps)
        _split_slides(found[limb], way, speed, SLIDE_RANGE[0], clip.fps)
        _drop_short(found[limb], clip.fps)
    return found


def _stays(
    way: np.ndarray, height: np.ndarray, speed: np.ndarray, lift: float, held: np.ndarray, fps: float
) -> np.ndarray:
    """(T,) bool: whether a point stays at a place on the ground.

    way: (T, 3). height, speed: (T,), over the floor. lift: as in `_stay`. held: (T,) bool, True if it is in the air.
    """
    slow, slowish = _limits(speed, fps)
    strong, weak = (speed < slow) & (height < LOW), (speed < slowish) & (height < LOWISH)
    apart = 1 + frames_in(SPLIT_TIME / 2.0, fps)
    contact = np.zeros(len(way), bool)
    todo = runs(weak)
    while todo:
        first, last = todo.pop()
        cores = first + np.flatnonzero(strong[first : max(first, last + 1)])
        if len(cores):
            start, end = _stay(way, lift, (first, last), (cores[0], cores[-1]), fps)
            contact[start : end + 1] |= not held[start : end + 1].all()
            # The rest of the run may have contacts of its own: a foot that shuffles is slow all the time.
            todo += [(first, start - 1 - apart), (end + 1 + apart, last)]
    _fill_gaps(contact, way, fps)
    return contact


def _limits(speed: np.ndarray, fps: float) -> tuple[np.ndarray, np.ndarray]:
    """(T,) each: below which speeds a point is slow, and slowish; higher where its slowest and fastest nearby are."""
    slowest, fastest = lowest(speed, frames_in(SLOWEST_TIME, fps)), highest(speed, frames_in(FASTEST_TIME, fps))
    slow = np.minimum(slowest + SLOW_SHARE * (fastest - slowest), FASTEST_STAND)
    slowish = np.minimum(slowest + SLOWISH_SHARE * (fastest - slowest), 1.5 * FASTEST_STAND)
    return np.maximum(slow, SLOW), np.maximum(slowish, SLOWISH)


def _held(lows: np.ndarray, leg: int, speed: np.ndarray, fps: float) -> np.ndarray:
    """(T,) bool: whether a foot is held in the air, higher than another one and than itself before and after.

    lows: (legs, T), heights of feet. speed: (T,), of this one. No foot in the air is as still as one that stands,
    such as on a step.
    """
    reach = frames_in(RAISED_TIME, fps)
    own = lows[leg]
    before, after = lowest(own, reach, ahead=0), lowest(own, 0, ahead=reach)
    others = np.delete(lows, leg, axis=0)
    lowest_other = others.min(axis=0) if len(others) else own
    raised = own - np.maximum(lowest_other, np.maximum(before, after)) > RAISED
    for first, last in runs(raised):
        raised[first : last + 1] = np.median(speed[first : last + 1]) > SLOW / 4.0
    return raised


def _stay(way: np.ndarray, lift: float, run: tuple[int, int], core: tuple[int, int], fps: float) -> tuple[int, int]:
    """The first and last frame of a run in which a point stays where it is in the core of that run.

    way: (T, 3). lift: height over its own at rest from which on it has left.
    """
    start, end = core
    middle = (start + end) / 2.0
    resting = way[start : end + 1]
    times = np.arange(len(way)) - middle
    drift = np.zeros(3)
    if end - start > 2:
        inner = times[start : end + 1]
        drift = inner @ resting / (inner @ inner)
        drift *= min(1.0, FASTEST_STAND / max(np.linalg.norm(drift) * fps, FASTEST_STAND))
    away = np.linalg.norm(way - resting.mean(axis=0) - times[:, None] * drift, axis=1)
    lifted = way[:, 2] - np.percentile(resting[:, 2], 25) > lift
    gone = lifted | (away > RADIUS + min(RADIUS, away[start : end + 1].max()))
    while start < end and lifted[start]:
        start += 1
    while end > start and lifted[end]:
        end -= 1
    while start > run[0] and not gone[start - 1]:
        start -= 1
    while end < run[1] and not gone[end + 1]:
        end += 1
    return start, end


def _fill_gaps(contact: np.ndarray, way: np.ndarray, fps: float) -> None:
    """Join contacts between which a point did not move; where it moved on, a fleeting one beside them is none."""
    found = runs(contact)
    for before, after in pairwise(found):
        gap = slice(before[1] + 1, after[0])
        if (gap.stop - gap.start) / fps >= SHORTEST_GAP:
            continue
        if np.linalg.norm(way[gap.stop] - way[gap.start - 1]) < SAME_PLACE:
            contact[gap] = True
            continue
        for first, last in (before, after):
            if (last - first + 1) / fps < SPLIT_TIME:
                contact[first : last + 1] = False


def _slide_of(places: np.ndarray, found: np.ndarray) -> float:
    """The automatic limit of slide: what is usual in this clip, several times."""
    slides = [
        np.linalg.norm(np.ptp(way[first : last + 1, :2], axis=0))
        for points, contacts in zip(places, found, strict=True)
        for way, contact in zip(points, contacts, strict=True)
        for first, last in runs(contact)
    ]
    return float(np.clip(SLIDES * np.median(slides), *SLIDE_RANGE)) if slides else SLIDE_RANGE[1]


def _split_slides(contact: np.ndarray, way: np.ndarray, speed: np.ndarray, slide: float, fps: float) -> None:
    """Split contacts in which a point moves farther than `slide`, where it is fastest, until none does."""
    half = frames_in(SPLIT_TIME / 2.0, fps)
    todo = runs(contact)
    while todo:
        first, last = todo.pop()
        inside = way[first : last + 1]
        if last - first < 4 * half or np.linalg.norm(np.ptp(inside, axis=0)) <= slide:
            continue
        margin = max(1, (last - first + 1) // 6)
        fastest = first + margin + int(np.argmax(speed[first + margin : last + 1 - margin]))
        contact[max(first, fastest - half) : min(last, fastest + half) + 1] = False
        todo += [
            (start, end) for start, end in ((first, fastest - half - 1), (fastest + half + 1, last)) if start < end
        ]


def _drop_short(contact: np.ndarray, fps: float) -> None:
    """Drop contacts that are too short, unless the clip's ends cut them off."""
    for first, last in runs(contact):
        if (last - first + 1) / fps < SHORTEST_CONTACT and first > 0 and last < len(contact) - 1:
            contact[first : last + 1] = False
