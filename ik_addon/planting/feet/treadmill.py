"""Clips in place: feet as they are seen from a space that moves, such as the belt of a treadmill."""

from dataclasses import dataclass, replace

import numpy as np

from .anchors import settled
from .clip import LegMotion, applied
from .contacts import HeelAndBall, sole_of, split_slides
from .curves import extent, middle_of, quantile, runs, slope
from .exact import shared_exactly
from .finding import contacts_of
from .options import CREEPING, FASTEST_STAND, SKATING, SLIDE_RANGE, SLIDING, SLOPE_TIME, Options
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
        skins = tuple(None if skin is None else self.seen(skin) for skin in clip.skins)
        return replace(clip, feet=self.turns.swapaxes(1, 2) @ clip.feet, skins=skins, **points)

    def put_back(self, plan: FootPlan) -> FootPlan:
        """A plan for a clip that is `seen_from` the space, for the clip as it is."""
        points = {name: self.world(getattr(plan, name)) for name in ("ankles", "knees", "poles")}
        turned = {"feet": self.turns @ plan.feet, "shifts": applied(self.turns, plan.shifts)}
        return replace(plan, **turned, **points)


SLOWEST_BELT = 0.3
"""Speed of feet in contact, leg lengths a second, below which they skate and do not walk in place."""
STAYING = 0.25
"""A body that goes as far as this part of what its feet go backward does not stay in place."""
SPREAD = 0.15
"""Part of its speed by which a belt may be corrected for feet to drift less on it."""
SHARED = 0.5
"""Part of its speed by which the velocities of feet differ from it: who makes stances by hand does not measure them."""
MOST, HALF = 0.6, 0.52
"""Part of the feet that touch which share a belt, and of all that they do while they touch."""


def belt_of(clip: LegMotion, sole: HeelAndBall, contacts: np.ndarray) -> np.ndarray:
    """The velocity (3,) at which the ground passes below a clip in place, world units a second; zero if it travels.

    It is the median velocity of the feet in contact (legs, 2, T), where most feet share it that touch. The speed that
    a game gives the character for its feet not to slide is as large, in the other direction.
    """
    places, still = sole.places(clip.ankles, clip.feet), np.zeros(3)
    rates = slope(places, clip.fps, SLOPE_TIME, axis=2)[..., :2]
    # A foot that never leaves a belt would be carried off.
    stepping = [leg for leg, touching in enumerate(contacts.any(axis=1)) if touching.any() and not touching.all()]
    own = [rates[leg][contacts[leg]] for leg in stepping]
    velocities = np.concatenate(own) if own else np.empty((0, 2))
    if len(velocities) < FEWEST:
        return still
    belt = middle_of(velocities)
    speed = float(np.linalg.norm(belt))
    if speed < SLOWEST_BELT * clip.size or np.linalg.norm(way_a_second(clip)) > STAYING * speed:
        return still
    shared = [np.linalg.norm(middle_of(each) - belt) <= SHARED * speed for each in own]
    touching = np.count_nonzero(contacts.any(axis=(1, 2)))
    near = np.linalg.norm(velocities - belt, axis=1) <= SHARED * speed
    if sum(shared) <= MOST * touching or near.mean() < HALF:
        return still
    steps = np.diff(places, axis=2)[contacts[..., 1:] & contacts[..., :-1]]
    return shared_exactly(clip, steps * clip.fps, np.array((*belt, 0.0)), SHARED * speed)


FEWEST = 3
"""Without so many velocities there is no belt."""


def way_a_second(clip: LegMotion) -> np.ndarray:
    """(2,), how fast the body goes from where it begins to where it ends."""
    hips = clip.hips.mean(axis=0)[:, :2]
    return (hips[-1] - hips[0]) * clip.fps / max(clip.frame_count - 1, 1)


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
        return self._space(clip).seen_from(clip) if self.velocity.any() else clip

    def put_back(self, clip: LegMotion, plan: FootPlan) -> FootPlan:
        """A plan for a clip `seen_from` the ground, for the clip as it is."""
        return self._space(clip).put_back(plan) if self.velocity.any() else plan

    def _space(self, clip: LegMotion) -> Space:
        times = np.arange(clip.frame_count) / clip.fps
        return Space(times[:, None] * self.velocity, np.broadcast_to(np.eye(3), (clip.frame_count, 3, 3)))


@dataclass(frozen=True)
class Stage:
    """A clip, its soles, what these stand on, and when: contacts (legs, 2, T)."""

    clip: LegMotion
    sole: HeelAndBall
    ground: Standing
    contacts: np.ndarray

    @property
    def seen(self) -> LegMotion:
        """The clip moved so that the ground stands still."""
        return self.ground.seen_from(self.clip)


def stands_on(clip: LegMotion, options: Options, heights: Ground | None = None) -> Stage:
    """A clip with what its feet stand on, and the contacts in which they rest on it. heights: of it."""
    first = sole_of(clip)
    touching = contacts_of(clip, first, options).touching
    velocity = belt_of(clip, first, touching)
    ground = Standing(velocity, heights)
    seen = ground.seen_from(clip)
    sole = first if seen is clip else sole_of(seen)
    places = sole.places(seen.ankles, seen.feet) / clip.size
    speeds = np.linalg.norm(slope(places, clip.fps, SLOPE_TIME, axis=2)[..., :2], axis=-1)
    if not velocity.any():
        felt = touching.copy()
        pace = float(np.linalg.norm(way_a_second(clip))) / clip.size
        for leg, point in np.ndindex(touching.shape[:2]):
            own, rates = touching[leg, point], speeds[leg, point]
            if pace < SLOWEST_BELT:
                # A body that stays where it is has no reason to skate: such feet step without being lifted.
                _keep_rests(own, places[leg, point], rates, options.slide or SLIDE_RANGE[0])
                own &= rates <= SLIDING
            for first, last in runs(own):
                if quantile(rates[first : last + 1]) > max(FASTEST_STAND, SKATING * pace):
                    own[first : last + 1] = False
        # A foot slides as a whole, unless it turns about the point that stays.
        touching &= ~((felt & ~touching)[:, ::-1] & (speeds > CREEPING))
    split_slides(touching, places, options, clip.fps)
    return Stage(clip, sole, ground, settled(seen, sole, touching))


def _keep_rests(contact: np.ndarray, way: np.ndarray, speeds: np.ndarray, slide: float) -> None:
    """Of contacts (T,) in which a point goes farther than `slide` along its way (T, 3) keep what is slow for them."""
    todo = runs(contact)
    while todo:
        first, last = todo.pop()
        inside = slice(first, last + 1)
        rests = speeds[inside] <= max(CREEPING, 0.5 * speeds[inside].max())
        if not rests.all() and extent(way[inside]) > slide:
            contact[inside] = rests
            todo += [(first + start, first + end) for start, end in runs(rests)]
