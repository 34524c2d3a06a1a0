"""Clips in place: feet as they are seen from a space that moves, such as the belt of a treadmill."""

from dataclasses import dataclass, replace

import numpy as np

from .clip import LegMotion, applied
from .contacts import HeelAndBall
from .curves import slope
from .options import LOW, SLOPE_TIME
from .planning import FootPlan, Ground

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


SLOWEST_BELT = 0.3
"""Speed of feet in contact, leg lengths a second, below which they skate and do not walk in place."""
STAYING = 0.25
"""A body that goes as far as this part of what its feet go backward does not stay in place."""
SPREAD = 0.15
"""Part of its speed by which the velocities of feet on one belt differ."""
SAMPLES = 400
"""So many velocities are compared with each other."""


def belt_of(clip: LegMotion, sole: HeelAndBall) -> np.ndarray:
    """The velocity (3,) at which the ground passes below a clip in place, world units a second; zero if it travels.

    It is the densest velocity of low points of the feet. The speed that a game gives the character for its feet not to
    slide is as large, in the other direction.
    """
    places = sole.places(clip.ankles, clip.feet)
    low = places[..., 2] - sole.floors[:, None] < LOW * clip.size
    velocities = np.array([[slope(way, clip.fps, SLOPE_TIME) for way in ways] for ways in places])[low][:, :2]
    still = np.zeros(3)
    if len(velocities) < 3:
        return still
    velocities = velocities[:: max(1, len(velocities) // SAMPLES)]
    speeds = np.linalg.norm(velocities, axis=1)
    apart = np.linalg.norm(velocities[:, None] - velocities, axis=-1)
    near = apart <= SPREAD * np.maximum(speeds, SLOWEST_BELT * clip.size)[:, None]
    belt = velocities[near[near.sum(axis=1).argmax()]].mean(axis=0)
    speed = float(np.linalg.norm(belt))
    hips = clip.hips.mean(axis=0)[:, :2]
    way = (hips[-1] - hips[0]) * clip.fps / max(clip.frame_count - 1, 1)
    if speed < SLOWEST_BELT * clip.size or np.linalg.norm(way) > STAYING * speed:
        return still
    return np.array((*belt, 0.0))


@dataclass(frozen=True)
class Standing:
    """What feet stand on.

    velocity: (3,), at which it passes below a clip in place; zero if the clip travels. heights: of it, None as
    captured.
    """

    velocity: np.ndarray
    heights: Ground | None

    def seen_from(self, clip: LegMotion) -> LegMotion:
        """A clip moved so that the ground stands still."""
        return self._space(clip).seen_from(clip)

    def put_back(self, clip: LegMotion, plan: FootPlan) -> FootPlan:
        """A plan for a clip `seen_from` the ground, for the clip as it is."""
        return self._space(clip).put_back(plan)

    def _space(self, clip: LegMotion) -> Space:
        times = np.arange(clip.frame_count) / clip.fps
        return Space(times[:, None] * self.velocity, np.broadcast_to(np.eye(3), (clip.frame_count, 3, 3)))
