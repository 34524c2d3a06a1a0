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
        hollows = [(center, least) for center, _, least in shells if least > 0.0]
        raised = max((_way_out(g.sub(wish, center), least, up) for center, least in hollows), default=0.0)
        if raised <= 0.0:
            break
        wish = g.add(wish, g.mul(up, raised))
    return wish


def outside(wish: g.Point, center: g.Point, radius: float, way: g.Point) -> g.Point:
    """A wish, moved out of a ball, and from behind it, along one direction."""
    return g.add(wish, g.mul(way, _way_out(g.sub(wish, center), radius, way)))


def _way_out(away: g.Point, radius: float, way: g.Point) -> float:
    """How far along a direction a point leaves a ball and the cone of 45 degrees behind it: without a jump, wherever it
    comes in."""
    height, aside = g.dot(away, way), g.norm(g.across(away, way))
    is_ball = aside < radius * sqrt(0.5)
    surface = sqrt(radius * radius - aside * aside) if is_ball else radius * sqrt(2.0) - aside
    return surface - height if surface - height > 1e-12 * radius else 0.0
