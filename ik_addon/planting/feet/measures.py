"""How well the feet of a clip stand: what slides, floats, sinks in or pops, in figures.

Lengths are in lengths of the leg, so that figures of characters of any size compare.
"""

import numpy as np

from .clip import Clip
from .footing import Ground, under
from .in_time import frames_in, runs, slope
from .options import LOW, SLOPE_TIME
from .sole import BALL, HEEL, Sole

SKATING = 0.24
"""Speed of a low ball from which on a foot skates, leg lengths a second: 0.2 m/s for a human of 1.7 m, whose legs
measure 0.83 m."""


def measured(clip: Clip, sole: Sole, contacts: np.ndarray, heights: Ground | None = None) -> list[dict[str, float]]:
    """Figures of each leg of a clip.

    contacts: (legs, 2, T), where heel and ball should stand. heights: of the ground; None: the feet's own floor.

    slide: the farthest that a point is from itself in one contact.
    skating: part of all frames whose ball is low and faster than `SKATING`.
    skating_speed: the fastest of a point inside a contact, leg lengths a second.
    floating: the mean height of what touches over the ground.
    sunken: the deepest below the ground, at any frame.
    tiptoe: part of the frames of contact in which the ball alone is near the ground.
    knee_speed: the fastest bending, radians a second.
    knee_acceleration: what one in a hundred frames exceeds, radians a second squared.
    """
    places = sole.places(clip.ankles, clip.feet) / clip.size
    floors = _floors(clip, places, sole, heights)
    return [_of_leg(clip, leg, places[leg], floors[leg], contacts[leg]) for leg in range(clip.leg_count)]


def _floors(clip: Clip, places: np.ndarray, sole: Sole, heights: Ground | None) -> np.ndarray:
    """(legs, 2, T), the height at which heels and balls stand on the ground."""
    if heights is None:
        return np.repeat(sole.floors[:, None] / clip.size, 2, axis=1)
    grounds = [under(clip, leg, heights) for leg in range(clip.leg_count)]
    points = clip.size * places.reshape(clip.leg_count, -1, 3)
    found = [ground(own) for ground, own in zip(grounds, points, strict=True) if ground is not None]
    return np.array(found).reshape(places.shape[:-1]) / clip.size


def _of_leg(clip: Clip, leg: int, ways: np.ndarray, floors: np.ndarray, contacts: np.ndarray) -> dict[str, float]:
    speeds = np.array([np.linalg.norm(slope(way[:, :2], clip.fps, SLOPE_TIME), axis=-1) for way in ways])
    over = ways[..., 2] - floors
    stands = contacts.any(axis=0)
    lowest = np.where(contacts, over, np.inf).min(axis=0)
    bends = _bends(clip, leg)
    bending = slope(bends, clip.fps, SLOPE_TIME)
    return {
        "slide": max((_extent(ways[point, first : last + 1]) for point, first, last in _locks(contacts)), default=0.0),
        "skating": float(((over[BALL] < LOW) & (speeds[BALL] > SKATING)).mean()),
        "skating_speed": float(speeds[_inside(contacts, frames_in(SLOPE_TIME, clip.fps))].max(initial=0.0)),
        "floating": float(np.maximum(lowest[stands], 0.0).mean()) if stands.any() else 0.0,
        "sunken": float(np.maximum(-over, 0.0).max()),
        "tiptoe": float((over[HEEL][stands] - over[BALL][stands] > LOW).mean()) if stands.any() else 0.0,
        "knee_speed": float(np.abs(bending).max()),
        "knee_acceleration": float(np.percentile(np.abs(slope(bending, clip.fps, SLOPE_TIME)), 99.0)),
    }


def _locks(contacts: np.ndarray) -> list[tuple[int, int, int]]:
    return [(point, *run) for point, mask in enumerate(contacts) for run in runs(mask)]


def _inside(contacts: np.ndarray, half: int) -> np.ndarray:
    """The frames of contacts (2, T) that are as far from their ends: speeds there are of nothing else."""
    inside = np.zeros_like(contacts)
    for point, first, last in _locks(contacts):
        inside[point, first + half : last + 1 - half] = True
    return inside


def _extent(way: np.ndarray) -> float:
    """The largest distance between two of some points, along each axis apart: within 1.8 of it, and quick."""
    return float(np.linalg.norm(np.ptp(way, axis=0)))


def _bends(clip: Clip, leg: int) -> np.ndarray:
    """How far a knee is bent at each frame, radians."""
    thigh, shin = clip.knees[leg] - clip.hips[leg], clip.ankles[leg] - clip.knees[leg]
    sine = np.linalg.norm(np.cross(thigh, shin), axis=-1)
    return np.arctan2(sine, np.sum(thigh * shin, axis=-1))
