"""A space that moves: limbs as they are seen from it, and put back into the world."""

from dataclasses import dataclass, replace

import numpy as np

from .clip import LegMotion
from .planning import FootPlan
from .turns import applied

_POINTS = ("hips", "knees", "ankles", "balls")


@dataclass(frozen=True)
class Space:
    """Where a space is over T frames, in the world.

    places: (T, 3), of its origin. turns: (T, 3, 3), its axes in columns.
    """

    places: np.ndarray
    turns: np.ndarray

    def seen(self, points: np.ndarray) -> np.ndarray:
        """Points (..., T, 3) of the world as they are in the space."""
        return applied(self.turns.swapaxes(1, 2), points - self.places)

    def world(self, points: np.ndarray) -> np.ndarray:
        """Points (..., T, 3) of the space, or one (3,) that stands in it, in the world."""
        return self.places + applied(self.turns, points)

    def seen_from(self, clip: LegMotion) -> LegMotion:
        """A clip as it is in the space, where what moves with the space stands still."""
        points = {name: self.seen(getattr(clip, name)) for name in _POINTS}
        return replace(clip, feet=self.turns.swapaxes(1, 2) @ clip.feet, **points)

    def put_back(self, plan: FootPlan) -> FootPlan:
        """A plan for a clip that is `seen_from` the space, for the clip as it is."""
        points = {name: self.world(getattr(plan, name)) for name in ("ankles", "knees", "poles")}
        ways = np.gradient(self.places, axis=0)[:, None]
        arcs = applied(self.turns[:, None], plan.arcs) + ways
        turned = {"feet": self.turns @ plan.feet, "shifts": applied(self.turns, plan.shifts)}
        return replace(plan, arcs=arcs, **turned, **points)
