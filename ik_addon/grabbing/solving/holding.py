"""Where the hips go: the shift nearest to a wish with which all that is held reaches, and what is dragged if it can."""

from collections.abc import Sequence
from math import dist, hypot, sqrt

import numpy as np

from ...solvers.carrier import nearest_shift
from . import geometry as g

Shell = tuple[g.Point, float, float]
"""The shifts with which a limb reaches: center, largest and least distance from it."""


def held_shift(wish: g.Point, shells: Sequence[Shell], balls: Sequence[Shell], up: g.Point) -> g.Point:
    """The shift nearest to a wish in all shells, and in the balls of what is dragged if that can be; if the shells have
    nothing in common, the one that leaves the worst equally far.

    What is held wins: where shells and balls have nothing in common, it is the shift in the shells nearest to the
    middle of the balls. A wish is first raised out of the hollows into which legs cannot fold: the nearest way out
    would jump at their middle.
    """
    hollows = [(center, least) for center, _, least in shells if least > 0.0]
    for _ in hollows:
        raised = max(_way_out(g.sub(wish, center), least, up) for center, least in hollows)
        wish = g.add(wish, g.mul(up, raised))
    if balls:
        nearest = _nearest(g.mean([center for center, _, _ in balls]), shells)
        if any(dist(nearest, center) >= radius for center, radius, _ in balls):
            return nearest
    return _nearest(wish, [*shells, *balls])


def _nearest(wish: g.Point, shells: Sequence[Shell]) -> g.Point:
    if all(least <= dist(wish, center) <= longest for center, longest, least in shells):
        return wish
    centers, longest, least = (np.array(each) for each in zip(*shells, strict=True))
    return g.add(wish, tuple(nearest_shift(centers - wish, longest, least)[0].tolist()))


def outside(wish: g.Point, center: g.Point, radius: float, way: g.Point) -> g.Point:
    """A wish, moved out of a ball, and from behind it, along one direction."""
    return g.add(wish, g.mul(way, _way_out(g.sub(wish, center), radius, way)))


def _way_out(away: g.Point, radius: float, way: g.Point) -> float:
    """How far along a direction a point leaves a ball and the cone of 45 degrees behind it: without a jump, wherever it
    comes in."""
    height, aside = g.dot(away, way), hypot(*g.across(away, way))
    is_ball = aside < radius * sqrt(0.5)
    surface = sqrt(radius * radius - aside * aside) if is_ball else radius * sqrt(2.0) - aside
    return surface - height if surface - height > 1e-12 * radius else 0.0
