"""How well the feet of a clip stand: what slides, floats, sinks in or pops, in figures.

Lengths are in lengths of the leg, so that figures of characters of any size compare.
"""

import numpy as np

from ...solvers.arrays import components_first, cross, dot, length
from .clip import LegMotion
from .contacts import BALL, Ground, HeelAndBall, floors_below, sole_of
from .curves import extent, frames_in, quantile, runs, slope
from .loops import seam_of
from .options import LOW, SLOPE_TIME

SKATING = 0.24
"""Speed of a low ball from which on a foot skates, leg lengths a second: 0.2 m/s for a human of 1.7 m, whose legs
measure 0.83 m."""
POP, POP_TIME = np.radians(8.0), 1.0 / 30.0
"""A knee pops where its bend is so far from what its bends once and twice this time before and after lead to expect."""
UNEXPECTED = np.array((1.0, -4.0, 6.0, -4.0, 1.0)) / 6.0
"""The weights of a bend and those around it in that distance."""
POPS_APART = 0.1
"""Pops closer than this are one."""
FARTHER_JUMP, JUMP = 2.0, 0.2
"""A knee jumps that leaves its way within `POP_TIME` so many times as far as ever before, and by such a part of a
leg."""

FIGURES = (
    "slide",
    "skating",
    "skating_speed",
    "floating",
    "sunken",
    "tiptoe",
    "knee_speed",
    "knee_acceleration",
    "knee_pops",
    "seam",
    "seam_speed",
)
"""What `measured` measures of each leg."""


def measured(
    clip: LegMotion, sole: HeelAndBall, contacts: np.ndarray, heights: Ground | None = None
) -> list[dict[str, float]]:
    """Figures of each leg of a clip.

    contacts: (legs, 2, T), where heel and ball should stand. heights: of the ground; None: the feet's own floor.

    slide: the farthest that a point is from itself in one contact.
    skating: part of all frames whose ball is low and faster than `SKATING`.
    skating_speed: the fastest of a point inside a contact, leg lengths a second.
    floating: the mean height of what touches over the ground, and
    sunken: the deepest below the ground, at any frame; both of the skin of the sole where that is known.
    tiptoe: part of the frames of contact in which the heel is high over the ball.
    knee_speed: the fastest bending, radians a second.
    knee_acceleration: what one in a hundred frames exceeds, radians a second squared.
    knee_pops: how often the knee pops; see `knee_pops`.
    seam, seam_speed: how far the leg jumps where the clip begins again, and by how much its velocity changes there; see
        `seam_of`. Of a clip that is no loop they say how much it is none.
    """
    places = sole.places(clip.ankles, clip.feet)
    floors = floors_below(sole, places, heights) / clip.size
    places = places / clip.size
    speeds = np.linalg.norm(slope(places, clip.fps, SLOPE_TIME, axis=2)[..., :2], axis=-1)
    over, pops, inside = places[..., 2] - floors, knee_pops(clip), frames_in(SLOPE_TIME, clip.fps)
    bending = slope(_bends(clip).T, clip.fps, SLOPE_TIME)
    sudden = quantile(np.abs(slope(bending, clip.fps, SLOPE_TIME)), 0.99)
    found = [
        _of_points(*own, inside)
        | {
            "knee_speed": float(np.abs(bending[:, leg]).max()),
            "knee_acceleration": float(sudden[leg]),
            "knee_pops": len(pops[leg]),
        }
        for leg, own in enumerate(zip(places, speeds, over, contacts, strict=True))
    ]
    for leg, skin in enumerate(clip.skins):
        if skin is not None:
            found[leg] |= _of_skin(clip, leg, skin, sole, contacts[leg].any(axis=0), heights)
    for own, seam, speed in zip(found, *seam_of(clip), strict=True):
        own |= {"seam": float(seam), "seam_speed": float(speed)}
    return found


def compared(
    clip: LegMotion, source: LegMotion | None, sole: HeelAndBall, contacts: np.ndarray, heights: Ground | None = None
) -> list[tuple[dict[str, float] | None, dict[str, float]]]:
    """Of each leg the figures of `measured` in the source of a clip (None: it has none) and in the clip, there with
    those of `distances`."""
    after = measured(clip, sole, contacts, heights)
    if source is None:
        return [(None, own) for own in after]
    before, away = measured(source, sole, contacts, heights), distances(clip, source)
    return [(old, new | far) for old, new, far in zip(before, after, away, strict=True)]


def distances(clip: LegMotion, source: LegMotion) -> list[dict[str, float]]:
    """How far each leg of a clip is at most from where it is in its source: its ankle, and its hip with the body."""
    ways = [np.linalg.norm(getattr(clip, name) - getattr(source, name), axis=-1) for name in ("ankles", "hips")]
    return [
        {"distance": float(ankle.max() / clip.size), "body": float(hip.max() / clip.size)}
        for ankle, hip in zip(*ways, strict=True)
    ]


def same_sole(clip: LegMotion, known: HeelAndBall) -> HeelAndBall:
    """Known heels and balls on the ground on which the feet of a clip stand: that on which it is measured, and its
    source beside it, so that a file says the same of itself whether it knows its source or not."""
    return sole_of(clip, known.points)


def worst_contact(clip: LegMotion, sole: HeelAndBall, contacts: np.ndarray) -> list[tuple[int, int] | None]:
    """The first and the last frame of the contact in which each foot slides farthest; None if it has no contact."""
    places = sole.places(clip.ankles, clip.feet)
    found = []
    for leg in range(clip.leg_count):
        slides = [
            (extent(places[leg, point, first : last + 1]), first, last) for point, first, last in _locks(contacts[leg])
        ]
        found.append(max(slides)[1:] if slides else None)
    return found


def knee_pops(clip: LegMotion) -> list[list[tuple[int, int]]]:
    """Of each leg the first and the last frame of each pop of its knee, at which it bends as no smooth motion does."""
    found = []
    for jumps in np.abs(unexpected(_bends(clip), clip.fps)) > POP:
        pops: list[tuple[int, int]] = []
        for first, last in runs(jumps):
            joins = bool(pops) and first - pops[-1][1] <= frames_in(POPS_APART, clip.fps)
            pops.append((pops.pop()[0] if joins else first, last))
        found.append(pops)
    return found


def unexpected(bends: np.ndarray, fps: float) -> np.ndarray:
    """How far bends (..., T) are from what the cubic through those once and twice `POP_TIME` before and after leads to
    expect; 0 where the clip ends before that."""
    step, found = frames_in(POP_TIME, fps), np.zeros_like(bends)
    count = bends.shape[-1] - 4 * step
    if count > 0:
        found[..., 2 * step : -2 * step] = sum(
            weight * bends[..., k * step : k * step + count] for k, weight in enumerate(UNEXPECTED)
        )
    return found


def new_pops(before: LegMotion, after: LegMotion) -> list[list[tuple[int, int]]]:
    """Of each leg the pops of its knee that it did not have before, nor any as close to them as pops that are one."""
    near = frames_in(POPS_APART, before.fps)
    return [
        [pop for pop in new if not any(pop[0] <= last + near and first <= pop[1] + near for first, last in old)]
        for old, new in zip(knee_pops(before), knee_pops(after), strict=True)
    ]


def knee_jumps(before: LegMotion, after: LegMotion) -> list[list[tuple[int, int]]]:
    """Of each leg the frames, first and last, in which its knee, seen from the hip, jumps farther than it did: a knee
    that swings to another side pops, whether it bends or not."""
    step = frames_in(POP_TIME, before.fps)
    found = []
    for own, had in zip(*(_jumps(clip, step) for clip in (after, before)), strict=True):
        far = own > max(FARTHER_JUMP * had.max(initial=0.0), JUMP)
        found.append([(first + step, last + step) for first, last in runs(far)])
    return found


def _jumps(clip: LegMotion, step: int) -> np.ndarray:
    """(legs, T less twice the step), how far knees are from the line of where they are a step before and after."""
    ways = (clip.knees - clip.hips) / clip.size
    return np.linalg.norm(ways[:, 2 * step :] - 2.0 * ways[:, step:-step] + ways[:, : -2 * step], axis=2)


def _of_points(
    ways: np.ndarray, speeds: np.ndarray, over: np.ndarray, contacts: np.ndarray, half: int
) -> dict[str, float]:
    """half: see `_inside`."""
    stands, lowest = contacts.any(axis=0), np.where(contacts, over, np.inf).min(axis=0)
    heels, balls = over
    return {
        "slide": max((extent(ways[point, first : last + 1]) for point, first, last in _locks(contacts)), default=0.0),
        "skating": float(((balls < LOW) & (speeds[BALL] > SKATING)).mean()),
        "skating_speed": float(speeds[_inside(contacts, half)].max(initial=0.0)),
        "floating": float(np.maximum(lowest[stands], 0.0).mean()) if stands.any() else 0.0,
        "sunken": float(np.maximum(-over, 0.0).max()),
        "tiptoe": float((heels[stands] - balls[stands] > LOW).mean()) if stands.any() else 0.0,
    }


def _of_skin(
    clip: LegMotion, leg: int, skin: np.ndarray, sole: HeelAndBall, stands: np.ndarray, heights: Ground | None
) -> dict[str, float]:
    """skin: (points, T, 3). stands: (T,), whether the foot should."""
    if heights is not None:
        floors = heights(skin.reshape(-1, 3)).reshape(skin.shape[:-1])
    else:
        floors = sole.floors[leg] - sole.depths[leg]
    lowest = (skin[..., 2] - floors).min(axis=0) / clip.size
    floating = float(np.maximum(lowest[stands], 0.0).mean()) if stands.any() else 0.0
    return {"floating": floating, "sunken": float(np.maximum(-lowest, 0.0).max())}


def _locks(contacts: np.ndarray) -> list[tuple[int, int, int]]:
    return [(point, *run) for point, mask in enumerate(contacts) for run in runs(mask)]


def _inside(contacts: np.ndarray, half: int) -> np.ndarray:
    """The frames of contacts (2, T) that are as far from their ends: speeds there are of nothing else."""
    inside = np.zeros_like(contacts)
    for point, first, last in _locks(contacts):
        inside[point, first + half : last + 1 - half] = True
    return inside


def _bends(clip: LegMotion) -> np.ndarray:
    """(legs, T), how far knees are bent, radians."""
    thigh, shin = map(components_first, (clip.knees - clip.hips, clip.ankles - clip.knees))
    return np.arctan2(length(cross(thigh, shin)), dot(thigh, shin))
