"""When heels and balls touch, and how the ground moves below them, found together.

A foot that skates, a clip in place, a bad retarget and a root that wanders have one thing in common: all feet that
touch move alike. So a small network first tells from what does not depend on the way of the root (heights, speed
beside the hips, the other foot) how probably each heel and ball touches; the velocity that probable contacts share is
that of the ground; a second network tells again with the speed over that ground, and so once more. What is likeliest
over time is found by A. Viterbi, Error Bounds for Convolutional Codes and an Asymptotically Optimum Decoding
Algorithm, section IV, with the two states of each point. The networks are trained by `benchmarks/train_contacts.py`.
"""

from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pkgutil import get_data

import numpy as np

from .clip import LegMotion
from .contacts import BALL, HeelAndBall, sole_of, split_slides, stay
from .curves import frames_in, held, lowest, quantile, runs, slope, windows_in
from .features import RATE, Samples, rates, windows
from .loops import cycles_around, own_frames, unrolled
from .options import FLOOR_TIME, LIFT, LOW, SHORTEST_GAP, SLOPE_TIME, Options
from .standing import OFF_FLOOR, able_to_stand

Network = dict[str, np.ndarray]
"""weights (k, hidden) and biases (hidden,) of units; sums (hidden,) and bias () of what they say."""

_PASSES = 2
_SMOOTH = 0.25
"""Seconds to either side over which the velocity of the ground is a mean."""
_PROBABLE, _APART = 0.3, 0.35
"""Probability from which on a point tells how the ground moves; leg lengths a second apart at which it tells half."""
_SWITCH, _SWITCH_FAST, _PACE = 2.5, 0.8, 2.0
"""What it costs to touch down or to lift off: the logarithm of how rarely a sample does; of bodies that go over the
ground faster than so many leg lengths a second less, for their feet touch for a shorter time, but at least so much."""
_FASTEST_SWEEP = 4.4
"""Leg lengths a second. Where feet that are low go faster below the body, as those of small animals do, a clip is seen
in slow motion: of a captured run played one and a half times as fast as much is found, of faster ones less."""
_INNER = 0.15, 0.06
"""How much of a contact at either end is not yet rest: a part of it, and at most seconds."""
_GROW = 0.1
"""Seconds by which a contact may be longer than it was likely."""
_TO_AND_FRO = 0.2
"""Median speed over the ground, leg lengths a second, from which on feet that touch do not rest at a place."""


@dataclass(frozen=True)
class Contacts:
    """What `contacts_of` finds over the T frames of a clip.

    touching: (legs, 2, T) bool, heels and balls. probability: (legs, 2, T), 0 to 1. ground: (T, 2), the level velocity
    of the ground below the feet, world units a second.
    """

    touching: np.ndarray
    probability: np.ndarray
    ground: np.ndarray


def contacts_of(clip: LegMotion, sole: HeelAndBall | None = None, options: Options | None = None) -> Contacts:
    """Find when heels and balls touch the ground, and how it moves. Loops are seen with what comes before and after."""
    sole, options = sole or sole_of(clip), options or Options()
    if clip.frame_count < 2:
        # One pose does not tell.
        shape = clip.leg_count, 2, clip.frame_count
        return Contacts(np.zeros(shape, bool), np.zeros(shape), np.zeros((clip.frame_count, 2)))
    slower = _FASTEST_SWEEP / max(_FASTEST_SWEEP, _sweep(clip, sole))
    cycles = cycles_around(replace(clip, fps=slower * clip.fps))
    whole, own = (unrolled(clip, cycles), own_frames(clip, cycles)) if cycles else (clip, slice(None))
    around = replace(sole, floors=sole_of(whole, sole.points).floors) if cycles else sole
    found = _found(replace(whole, fps=slower * clip.fps), around, options)
    touching = found.touching & _low(whole, around) if slower < 1.0 else found.touching
    return Contacts(touching[..., own], found.probability[..., own], found.ground[own] / slower)


def _low(clip: LegMotion, sole: HeelAndBall) -> np.ndarray:
    """(legs, 2, T) bool, where points are low for their step; in slow motion a pause between two steps is long."""
    heights, half = sole.places(clip.ankles, clip.feet)[..., 2] / clip.size, frames_in(FLOOR_TIME, clip.fps)
    lows = np.array([[lowest(own, half) for own in leg] for leg in heights])
    return heights - lows <= OFF_FLOOR


def _sweep(clip: LegMotion, sole: HeelAndBall) -> float:
    """How fast feet go below the body while they are low, leg lengths a second: in most of these frames, and legs."""
    balls = sole.places(clip.ankles, clip.feet)[:, BALL] / clip.size
    ways, heights = (balls - clip.hips.mean(axis=0) / clip.size)[..., :2], balls[..., 2]
    speeds = np.linalg.norm(np.gradient(ways, axis=1), axis=-1) * clip.fps
    low = heights <= heights.min(axis=1, keepdims=True) + LOW
    return float(quantile(np.array([quantile(own[touches]) for own, touches in zip(speeds, low, strict=True)])))


def _found(clip: LegMotion, sole: HeelAndBall, options: Options) -> Contacts:
    samples = Samples(clip, sole)
    scores, ground = judged(samples, networks())
    frames = np.arange(clip.frame_count)

    def at_frames(values: np.ndarray) -> np.ndarray:
        flat = values.reshape(-1, values.shape[-1])
        return np.array([np.interp(frames, samples.times, own) for own in flat]).reshape(*values.shape[:-1], -1)

    pace = np.linalg.norm(rates(samples.hips.mean(axis=0))[:, :2] - ground, axis=-1)
    costs = at_frames(np.maximum(_SWITCH * np.minimum(1.0, _PACE / np.maximum(pace, _PACE)), _SWITCH_FAST)[None])[0]
    scores, ground = at_frames(scores), at_frames(ground.T).T
    probability = likely(scores)
    touching = np.array([[_touches(own, costs, clip.fps) for own in leg] for leg in scores])
    seen = over_ground(clip, ground * clip.size)
    places = sole.places(seen.ankles, seen.feet) / clip.size
    speeds = np.linalg.norm(slope(places, clip.fps, SLOPE_TIME, axis=2)[..., :2], axis=-1)
    if touching.any() and quantile(speeds[touching]) < _TO_AND_FRO:
        for leg, point in np.ndindex(touching.shape[:2]):
            touching[leg, point] = _rests(touching[leg, point], places[leg, point], LIFT[point], clip.fps)
    split_slides(touching, places, options, clip.fps)
    for leg in range(clip.leg_count):
        if sole.is_point(leg):
            touching[leg, 0] = touching[leg, 1]
    return Contacts(able_to_stand(clip, sole, touching), probability, ground * clip.size)


def judged(samples: Samples, of: dict[str, Network]) -> tuple[np.ndarray, np.ndarray]:
    """How much speaks for contact of each point (legs, 2, n), as logits, and the velocity (n, 2) of the ground."""
    at_rest = samples.at_rest()
    scores = said(of["at_rest"], windows(at_rest))
    for _ in range(_PASSES):
        probability = likely(scores)
        ground = shared_velocity(samples.velocities, probability)
        moving = samples.over_ground(ground, probability)
        scores = said(of["over_ground"], windows(np.concatenate((at_rest, moving), axis=-1)))
    return scores, shared_velocity(samples.velocities, likely(scores))


def said(network: Network, features: np.ndarray) -> np.ndarray:
    """What a network with one layer of units says of features (..., k): logits (...)."""
    units = np.tanh(features @ network["weights"] + network["biases"])
    return units @ network["sums"] + network["bias"]


def likely(scores: np.ndarray) -> np.ndarray:
    """Probabilities of logits."""
    return 1.0 / (1.0 + np.exp(-np.clip(scores, -30.0, 30.0)))


def shared_velocity(velocities: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """The velocity (n, 2) that points (legs, 2, n) share which touch probably; those that go elsewhere count less."""
    half = round(_SMOOTH * RATE)
    window = 1.0 + np.cos(np.pi * np.arange(-half, half + 1) / (half + 1))

    def mean(weights: np.ndarray) -> np.ndarray:
        sums = np.concatenate(((weights[..., None] * velocities).sum((0, 1)), weights.sum((0, 1))[:, None]), axis=1)
        smooth = windows_in(held(sums, half, half), 2 * half + 1) @ window
        return smooth[:, :2] / (smooth[:, 2:] + 1e-3)

    weights = np.clip(probability - _PROBABLE, 0.0, 1.0) ** 2
    apart = np.linalg.norm(velocities - mean(weights), axis=-1)
    return mean(weights / (1.0 + (apart / _APART) ** 2))


@cache
def networks() -> dict[str, Network]:
    """The trained networks, as they are shipped."""
    with np.load(BytesIO(get_data(__package__, "networks.npz") or b"")) as kept:
        return packed({name: array.astype(float) for name, array in kept.items()})


def packed(arrays: dict[str, np.ndarray]) -> dict[str, Network]:
    """Networks from arrays whose names say which network they are of."""
    found: dict[str, Network] = {}
    for name, array in arrays.items():
        network, part = name.split(".")
        found.setdefault(network, {})[part] = array
    return found


def _touches(scores: np.ndarray, costs: np.ndarray, fps: float) -> np.ndarray:
    """(T,) bool, the likeliest states of one point; costs: (T,), of changing them."""
    gains, count = scores * (RATE / fps), len(scores)
    off, on, came = 0.0, 0.0, []
    for gain, cost in zip((0.5 * gains).tolist(), costs.tolist(), strict=True):
        came.append((on - cost > off, off - cost > on))
        off, on = max(off, on - cost) - gain, max(on, off - cost) + gain
    states = np.empty(count, bool)
    states[-1] = on > off
    for k in range(count - 1, 0, -1):
        states[k - 1] = states[k] ^ came[k][int(states[k])]
    for first, last in runs(~states):
        if (last - first + 1) / fps < SHORTEST_GAP and first > 0 and last < count - 1:
            states[first : last + 1] = True
    return states


def _rests(touching: np.ndarray, way: np.ndarray, lift: float, fps: float) -> np.ndarray:
    """(T,) bool, contacts of a point that begin and end where it comes to its place and leaves it; way: (T, 3)."""
    found, rests = runs(touching), np.zeros_like(touching)
    for k, (first, last) in enumerate(found):
        cut = min(int(_INNER[0] * (last - first + 1)), int(_INNER[1] * fps))
        grow = frames_in(_GROW, fps)
        start = max(first - grow, found[k - 1][1] + 2 if k else 0)
        end = min(last + grow, found[k + 1][0] - 2 if k + 1 < len(found) else len(way) - 1)
        start, end = stay(way, lift, (start, end), (first + cut, last - cut), fps)
        rests[start : end + 1] = True
    return rests


def over_ground(clip: LegMotion, velocity: np.ndarray) -> LegMotion:
    """A clip as it is seen from a ground that moves at a velocity (T, 2), world units a second."""
    way = np.zeros((clip.frame_count, 3))
    way[1:, :2] = np.cumsum(0.5 * (velocity[1:] + velocity[:-1]), axis=0) / clip.fps
    return replace(clip, **{name: getattr(clip, name) - way for name in ("hips", "knees", "ankles", "balls")})
