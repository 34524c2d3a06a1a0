"""Where knees go when hips and ankles are moved: to the side that they had, carried along."""

import numpy as np

from .clip import LegMotion
from .in_time import frames_in, smooth
from .options import POLE_DISTANCE, REACH_TIME, STRAIGHT_SIDE
from .sole import BALL, HeelAndBall
from .turns import across, applied, directions, turns_between


def knees_and_poles(
    clip: LegMotion, sides: np.ndarray, hips: np.ndarray, ankles: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The knees and poles, (legs, T, 3) each, of legs with new hips and ankles (legs, T, 3).

    sides: unit vectors (legs, T, 3) from the line of each captured leg to its knee; the smallest turn from there to the
    new line carries them along.
    """
    first, second = clip.lengths[:, :1], clip.lengths[:, 1:]
    lines = ankles - hips
    along = directions(lines)
    sides = applied(turns_between(directions(clip.ankles - clip.hips), along), sides)
    sides = directions(across(sides, along))
    distances = np.clip(np.linalg.norm(lines, axis=2), np.abs(first - second) + 1e-12 * first, first + second)
    forward = (first**2 - second**2 + distances**2) / (2.0 * distances)
    aside = np.sqrt(np.maximum(first**2 - forward**2, 0.0))
    knees = hips + along * forward[..., None] + sides * aside[..., None]
    return knees, knees + sides * (POLE_DISTANCE * clip.reaches)[:, None, None]


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
    return directions(trust * directions(shown) + (1.0 - trust) * directions(across(ahead, along)))
