"""Hands on props, feet on pedals: limbs whose ends keep their pose in a space that moves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .anchors import Anchors, Flat, Lock
from .clip import LegMotion, mean_turn
from .contacts import BALL, HeelAndBall, point_soles
from .options import Options
from .paths import captured_sides, foot_path, knees_and_poles, pivots_of
from .planning import FootPlan
from .treadmill import Space


@dataclass(frozen=True)
class Hold:
    """The end of a limb, a hand or foot, that keeps its pose in a space.

    leg: the limb's number. first, last: frames. space: what it is held to. place: (3,), of the wrist or ankle in that
    space. turn: (3, 3), the orientation of hand or foot in it.
    """

    leg: int
    first: int
    last: int
    space: Space
    place: np.ndarray
    turn: np.ndarray

    @property
    def span(self) -> slice:
        """Its frames."""
        return slice(self.first, self.last + 1)

    @property
    def places(self) -> np.ndarray:
        """(n, 3), where the wrist or ankle is in the world in its frames."""
        return self.space.world(self.place)[self.span]

    @property
    def turns(self) -> np.ndarray:
        """(n, 3, 3), the orientation in the world in its frames."""
        return self.space.turns[self.span] @ self.turn


def mean_grip(clip: LegMotion, leg: int, first: int, last: int, space: Space) -> tuple[np.ndarray, np.ndarray]:
    """Place (3,) and orientation (3, 3) in a space that are nearest to what a limb's end does there over frames."""
    span, seen = slice(first, last + 1), space.seen_from(clip)
    return seen.ankles[leg, span].mean(axis=0), mean_turn(seen.feet[leg, span])


def plan_holds(clip: LegMotion, holds: Sequence[Hold], options: Options) -> FootPlan:
    """The plan of limbs that are held to spaces, and as captured else. The body stays where it is.

    No frame is known to be out of reach: what carries the limbs may follow them live.
    """
    sole, count = point_soles(clip), clip.frame_count
    anchors = _anchors_of(holds, sole)
    paths = [foot_path(clip, sole, leg, anchors, options) for leg in range(clip.leg_count)]
    ankles, feet = np.array([path.ankles for path in paths]), np.array([path.feet for path in paths])
    knees, poles = knees_and_poles(clip, captured_sides(clip, sole), clip.hips, ankles)
    contacts = np.zeros((clip.leg_count, 2, count), bool)
    for hold in holds:
        contacts[hold.leg, :, hold.span] = True
    return FootPlan(
        ankles=ankles,
        feet=feet,
        knees=knees,
        poles=poles,
        shifts=np.zeros((count, 3)),
        contacts=contacts,
        locks=anchors.locks,
        pivots=pivots_of(sole, anchors.locks, count),
        unreached=np.zeros(count, bool),
    )


def _anchors_of(holds: Sequence[Hold], sole: HeelAndBall) -> Anchors:
    """What holds ask of the paths of their limbs."""
    locks, flats = [], []
    for hold in holds:
        pivots = hold.places + hold.turns @ sole.points[hold.leg, BALL]
        locks.append(Lock(hold.leg, BALL, hold.first, hold.last, pivots))
        flats.append(Flat(hold.leg, hold.first, hold.last, hold.turns))
    return Anchors(tuple(locks), tuple(flats))
