"""The plan of a planted clip: contacts, places, paths of feet, clearance, body, knees, in this order."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .anchors import Anchors, Lock, anchors_of, joined, settled
from .body import body_shifts
from .clearance import carried_over, cleared
from .clip import LegMotion
from .contacts import find_contacts
from .footing import Ground, under
from .knees import captured_sides, knees_and_poles
from .options import Options
from .paths import foot_path
from .rolling import arcs
from .sole import HeelAndBall, sole_of

__all__ = ["FootPlan", "Footprints", "Ground", "Lock", "plan"]

Footprints = Callable[[Anchors], Anchors]
"""Moves, turns or raises anchors; see stances.py. Frames, legs and points stay."""


@dataclass(frozen=True)
class FootPlan:
    """Where everything goes, in the world over the T frames of a clip.

    ankles, feet: (legs, T, 3) and (legs, T, 3, 3).
    knees, poles: (legs, T, 3) each; a pole is on the side to which the knee bends.
    shifts: (T, 3), the moves of the body, hips included, from where it was captured.
    contacts: (legs, 2, T) bool, in which frames heels and balls are locked; planned with these as given contacts, a
    clip comes out the same.
    locks: all of them, by leg, point and frame.
    arcs: (legs, T, 2, 3), how fast ankles arrive at frames and leave them while feet roll; see rolling.py.
    unreached: (T,) bool, True if some leg does not reach its ankle.
    """

    ankles: np.ndarray
    feet: np.ndarray
    knees: np.ndarray
    poles: np.ndarray
    shifts: np.ndarray
    contacts: np.ndarray
    locks: tuple[Lock, ...]
    arcs: np.ndarray
    unreached: np.ndarray


def plan(
    clip: LegMotion,
    options: Options,
    contacts: np.ndarray | None = None,
    ground: Ground | None = None,
    footprints: Footprints | None = None,
    sole: HeelAndBall | None = None,
) -> FootPlan:
    """Plan feet that stand still in every contact and a body with which all legs reach them.

    contacts: (legs, 2, T) bool, to be used as they are; None to find them, less the frames in which feet still settle.
    ground: heights of the ground below points; None to stand at the heights as captured. footprints: called with the
    anchors before the paths between them are made. sole: None to take it from the clip.
    """
    sole = sole or sole_of(clip)
    if contacts is None:
        contacts = settled(clip, sole, find_contacts(clip, sole, options))
    contacts = joined(clip, sole, contacts)
    anchors = anchors_of(clip, sole, contacts, ground, options.find_footing)
    if footprints is not None:
        anchors = footprints(anchors)
    carried = carried_over(clip, sole, ground)
    paths = [foot_path(carried, sole, leg, anchors, options) for leg in range(clip.leg_count)]
    if ground is not None:
        grounds = [under(clip, leg, ground) for leg in range(clip.leg_count)]
        cleared_paths = zip(paths, contacts, grounds, strict=True)
        paths = [cleared(clip, sole, leg, *own, options) for leg, own in enumerate(cleared_paths)]
    ankles, feet = np.array([path.ankles for path in paths]), np.array([path.feet for path in paths])
    shifts, unreached = body_shifts(clip, ankles, options)
    knees, poles = knees_and_poles(clip, captured_sides(clip, sole), clip.hips + shifts, ankles)
    rolling = arcs(sole, anchors.locks, ankles, feet)
    return FootPlan(ankles, feet, knees, poles, shifts, contacts, anchors.locks, rolling, unreached)
