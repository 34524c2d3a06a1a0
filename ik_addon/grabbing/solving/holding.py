"""Where the hips go: the shift nearest to a wish with which all that is held reaches, and what is dragged if it can."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from ...solvers.carrier import nearest_shift
from . import geometry as g

Shell = tuple[g.Point, float, float]
"""The shifts with which a limb reaches: center, largest and least distance from it."""
Ball = tuple[g.Point, float]
"""The shifts with which a dragged one reaches: center and radius."""


def held_shift(wish: g.Point, shells: Sequence[Shell], balls: Sequence[Ball], up: g.Point) -> g.Point:
    """The shift nearest to a wish in all shells, and in the balls if that can be; if the shells have nothing in common,
    the one that leaves the worst equally far.

    What is held wins: where shells and balls have nothing in common, it is the shift in the shells nearest to the
    middle of the balls.
    """
    wish = lifted(wish, shells, up)
    if balls:
        middle = g.mean([center for center, _ in balls])
        nearest = _nearest(middle, shells)
        if any(g.distance(nearest, center) >= radius for center, radius in balls):
            return nearest
    return _nearest(wish, [*shells, *((center, radius, 0.0) for center, radius in balls)])


def _nearest(wish: g.Point, shells: Sequence[Shell]) -> g.Point:
    if all(least <= g.distance(wish, center) <= longest for center, longest, least in shells):
        return wish
    centers, longest, least = (np.array(each) for each in zip(*shells, strict=True))
    return g.add(wish, tuple(nearest_shift(centers - wish, longest, least)[0].tolist()))


def lifted(wish: g.Point, shells: Sequence[Shell], up: g.Point) -> g.Point:
    """A wish, raised out of the hollows into which legs cannot fold: the nearest way out would jump at their middle."""
    for _ in shells:
        raised = max((_way_out(g.sub(wish, center), least, up) for center, _, least in shells), default=0.0)
        if raised <= 0.0:
            break
        wish = g.add(wish, g.mul(up, raised))
    return wish


def outside(wish: g.Point, center: g.Point, radius: float, way: g.Point) -> g.Point:
    """A wish, moved out of a ball along one direction."""
    return g.add(wish, g.mul(way, _way_out(g.sub(wish, center), radius, way)))


def _way_out(away: g.Point, radius: float, way: g.Point) -> float:
    """How far along a direction a point leaves a ball: one quadratic; 0 outside."""
    along, inside = g.dot(away, way), g.dot(away, away) - radius * radius
    return max(sqrt(along * along - inside) - along, 0.0) if inside < -1e-12 * radius * radius else 0.0
