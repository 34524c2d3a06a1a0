"""The velocity at which a clip in place has to travel, so that its feet stand."""

import numpy as np

from ...planting.feet.anchors import settled
from ...planting.feet.belt import SPREAD, Standing, belt_of
from ...planting.feet.clip import LegMotion
from ...planting.feet.contacts import find_contacts
from ...planting.feet.in_time import runs
from ...planting.feet.options import Options
from ...planting.feet.sole import HeelAndBall, sole_of

_PASSES = 2
"""Contacts are found again once the ground stands better."""

_EDGE = 0.25
"""Part of a contact at either end in which a foot may not have come to rest yet, or leave already."""

_AGREED, _SEVERAL = 0.1, 3
"""So many contacts agree on a drift if without it they slide as little as this part of before."""


def standing_velocity(clip: LegMotion) -> np.ndarray:
    """The velocity (3,), level, world units a second, at which a clip in place travels with feet that stand.

    Against the belt below its feet, corrected by how what touches the ground still drifts on that. Zero if the clip
    travels, or if its feet go backward at no common speed.
    """
    belt = found = belt_of(clip, sole_of(clip))
    if not belt.any():
        return belt
    for _ in range(_PASSES):
        seen = Standing(found, None).seen_from(clip)
        found = found + drift_of(seen, sole_of(seen), SPREAD * float(np.linalg.norm(belt)))
    return -found


def contacts_of(clip: LegMotion, sole: HeelAndBall) -> np.ndarray:
    """(legs, 2, T) bool, when heels and balls rest on the ground."""
    return settled(clip, sole, find_contacts(clip, sole, Options()))


def drift_of(clip: LegMotion, sole: HeelAndBall, most: float) -> np.ndarray:
    """The level velocity (3,) that most contacts share: the median of the lines through their points that fit best.

    A longer contact counts more, as its line is better known. One that is faster than `most` is on another belt. Zero
    if they agree on none.
    """
    places, contacts = sole.places(clip.ankles, clip.feet), contacts_of(clip, sole)
    slopes, weights = [np.zeros(2)], [0.0]
    for leg, point in np.ndindex(contacts.shape[:2]):
        for first, last in runs(contacts[leg, point]):
            edge = int(_EDGE * (last - first + 1))
            since = np.arange(last - first + 1.0 - 2 * edge) / clip.fps
            since -= since.mean()
            weight = float(since @ since)
            if weight:
                slope = since @ places[leg, point, first + edge : last + 1 - edge, :2] / weight
                if np.linalg.norm(slope) <= most:
                    slopes.append(slope)
                    weights.append(weight)
    drift = np.array([_median(column, np.array(weights)) for column in np.transpose(slopes)])
    before, after = (np.linalg.norm(np.array(slopes) - way, axis=1) @ weights for way in (np.zeros(2), drift))
    agree = len(slopes) > _SEVERAL and after <= _AGREED * before
    return np.array((*drift, 0.0)) if agree else np.zeros(3)


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(below, 0.5 * below[-1])])
