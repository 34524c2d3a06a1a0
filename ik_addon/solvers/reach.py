"""Near full extension: how the end eases into it."""

from math import exp


def eased(distance: float, length: float, softness: float) -> float:
    """The distance at which a soft chain of `length` holds its end when the target is at `distance`.

    Exact up to (1 - softness) * length. From there an exponential with the same slope at its start rises
    towards `length` and never passes it, so that the last bend opens at a bounded speed instead of
    snapping straight. softness 0 changes nothing.
    """
    span = softness * length
    beyond = distance - (length - span)
    if span <= 0.0 or beyond <= 0.0:
        return distance
    return length - span * exp(-beyond / span)
