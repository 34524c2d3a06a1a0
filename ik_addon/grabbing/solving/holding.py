"""Where the hips go: the shift nearest to a wish with which every held limb reaches, and the dragged one if it can."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from ...solvers.carrier import nearest_shift
from .turns import Point, add, dot, mul, norm, sub

Shell = tuple[Point, float, float]
"""The shifts with which a limb reaches: center, largest and least distance from it."""
Ball = tuple[Point, float]
"""The shifts with which the dragged one reaches: center and radius."""


def held_shift(wish: Point, shells: Sequence[Shell], ball: Ball | None, up: Point) -> tuple[Point, float]:
    """The shift nearest to a wish in all shells, and in the ball if that can be; and by how much the worst shell is
    missed, 0 where they have a shift in common.

    What is held wins: where shells and ball have nothing in common, it is the shift in the shells nearest to the ball.
    """
    if not shells:
        return (_into(ball, wish) if ball else wish), 0.0
    wish = lifted(wish, shells, up)
    centers = np.array([shell[0] for shell in shells])
    longest, least = (np.array([shell[k] for shell in shells]) for k in (1, 2))
    if ball:
        nearest, missed = nearest_shift(centers - np.array(ball[0]), longest, least)
        if missed or sqrt(nearest @ nearest) >= ball[1]:
            return add(ball[0], tuple(nearest.tolist())), missed
        centers = np.vstack((centers, ball[0]))
        longest, least = np.append(longest, ball[1]), np.append(least, 0.0)
    shift, missed = nearest_shift(centers - np.array(wish), longest, least)
    return add(wish, tuple(shift.tolist())), missed


def _into(ball: Ball, wish: Point) -> Point:
    away = sub(wish, ball[0])
    far = norm(away)
    return wish if far <= ball[1] else add(ball[0], mul(away, ball[1] / far))


def lifted(wish: Point, shells: Sequence[Shell], up: Point) -> Point:
    """A wish, raised out of the hollows into which legs cannot fold: the nearest way out would jump at their middle."""
    for _ in shells:
        raised = max((_way_out(sub(wish, center), least, up) for center, _, least in shells), default=0.0)
        if raised <= 0.0:
            break
        wish = add(wish, mul(up, raised))
    return wish


def outside(wish: Point, center: Point, radius: float, way: Point) -> Point:
    """A wish, moved out of a ball along one direction."""
    return add(wish, mul(way, _way_out(sub(wish, center), radius, way)))


def _way_out(away: Point, radius: float, way: Point) -> float:
    """How far along a direction a point leaves a ball: one quadratic; 0 outside."""
    along, inside = dot(away, way), dot(away, away) - radius * radius
    return max(sqrt(along * along - inside) - along, 0.0) if inside < -1e-12 * radius * radius else 0.0
