"""Where the hips go: the shift nearest to a wish with which all that is held reaches, and what is dragged if it can."""

from collections.abc import Sequence
from math import dist, hypot, sqrt

import numpy as np

from ...solvers.carrier import nearest_shift
from . import geometry as g

Shell = tuple[g.Point, float, float]
"""The shifts with which a limb reaches: center, largest and least distance from it."""


def held_shift(
    wish: g.Point, shells: Sequence[Shell], balls: Sequence[Shell], up: g.Point, rim: float = 0.0
) -> g.Point:
    """The shift nearest to a wish in all shells, and in the balls of what is dragged if that can be; if the shells have
    nothing in common, the one that leaves the worst equally far.

    What is held wins: where shells and balls have nothing in common, it is the shift in the shells nearest to the
    middle of the balls, and the more so the less deep in them that is, from `rim` on. A wish is first raised out of the
    hollows into which legs cannot fold: the nearest way out would jump at their middle.
    """
    hollows = [(center, least) for center, _, least in shells if least > 0.0]
    for _ in hollows:
        raised = max(_way_out(g.sub(wish, center), least, up) for center, least in hollows)
        wish = g.add(wish, g.mul(up, raised))
    reached = [*shells, *((center, radius, 0.0) for center, radius, _ in balls)]
    if balls:
        nearest = _nearest(g.mean([center for center, _, _ in balls]), shells)
        deep = min(radius - dist(nearest, center) for center, radius, _ in balls)
        if deep <= 0.0:
            return nearest
        rim = min(rim, *(radius / 2.0 for _, radius, _ in balls))
        if deep < rim:
            # What they have in common is a lens: as deep as that, and as wide as its root, which has an infinite slope.
            part, inner = 1.0 - (1.0 - deep / rim) ** 2, _nearest(wish, reached)
            wish = g.between(nearest, inner, part)
            for center, _, least in balls:
                away = g.sub(wish, center)
                # Out of the hollow, unless what is held brings it there.
                wish = g.add(center, g.mul(g.unit(away), max(hypot(*away), min(least, dist(inner, center)))))
    return _nearest(wish, reached)


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
