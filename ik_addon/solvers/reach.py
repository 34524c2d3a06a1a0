"""Near full extension and beyond it: how the end eases into it, and how far the chain lengthens."""

from math import exp, log


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


def uneased(held: float, length: float, softness: float) -> float:
    """The distance of a target at which a soft chain of `length` holds its end at `held`: the inverse of `eased`.

    Fully extended it would have to be infinitely far; then it is so far that single precision tells no difference.
    """
    span = softness * length
    left = length - held
    if span <= 0.0 or left >= span:
        return held
    return length - span - span * log(max(left, 1e-7 * length) / span)


def stretch(distance: float, held: float, length: float, stretch_max: float) -> float:
    """The ratio by which a chain of `length` lengthens so that its end arrives at a target at `distance`.

    held: where the unstretched chain holds its end (`eased`). Without softness the chain becomes as long as the
    distance; with it the lengthening sets in where the easing does, so the end arrives all the same and the last bend
    still opens slowly. At most `stretch_max`.
    """
    held = min(held, length)
    return min(distance / held, stretch_max) if distance > held > 0.0 else 1.0
