"""Train the networks of Plant Feet: `python -m benchmarks.train_contacts CMU_LEGS.npz [--pieces N] [--seed N]`.

The file has legs of motion captures as arrays, `NAME/hips`, `knees`, `ankles`, `balls`, `feet`, `lengths` and `fps`:
the fields of `LegMotion`. Those of the CMU Graphics Lab Motion Capture Database are free for all uses; it was created
with funding from NSF EIA-0196217. What stands is known of a clean capture: a point that stays within a small radius for
a while, and is low. The networks then see pieces of it as bad retargets, trackers and games leave them: other
proportions, a root that goes too far, too little or nowhere, that wanders, slopes, noise, feet that are points, other
frame rates and speeds. Writes the networks beside the code that uses them. Takes some minutes; numpy alone.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import bpy  # noqa: F401 - the module that makes mathutils importable
import numpy as np

from ik_addon.planting.feet import finding
from ik_addon.planting.feet.clip import LegMotion
from ik_addon.planting.feet.contacts import BALL, HEEL, HeelAndBall, sole_of
from ik_addon.planting.feet.curves import frames_in, lowest, runs, smooth
from ik_addon.planting.feet.features import Samples, windows
from ik_addon.planting.feet.options import FLOOR_TIME, LIFT

_RADIUS, _LOW, _TIME = 0.025, 0.05, 0.06
"""A point stands that stays within this radius and below this height, leg lengths, for this time."""
_UNITS = {"at_rest": 12, "over_ground": 14}
_EPOCHS, _BATCH, _RATE, _DECAY = 12, 4096, 8e-3, 0.2
_DOUBT = 0.02
"""How often labels are taken to be wrong."""
_STAYING, _ASTRAY = 0.5, 0.25
"""How many pieces stay in place, and how many go too far or not far enough."""
_TO_AND_FRO = 0.1
"""How far a foot may go to and fro by itself while it stands, leg lengths: clips made by hand are so."""
_SPEEDS = (1.0, 1.0, 0.75, 1.25, 1.5, 2.0)
"""Times as fast as captured."""


def clips_of(path: str) -> Iterator[tuple[str, LegMotion]]:
    """The clips of a file, at 60 frames a second at most."""
    with np.load(path) as arrays:
        for name in sorted({key.split("/")[0] for key in arrays}):
            own = {key.split("/")[1]: arrays[key] for key in arrays if key.startswith(name + "/")}
            fps = float(own.pop("fps"))
            step = max(1, round(fps / 60.0))
            lengths = own.pop("lengths").astype(float)
            yield (
                name,
                LegMotion(fps / step, lengths, **{key: rows[:, ::step].astype(float) for key, rows in own.items()}),
            )


def labels_of(clip: LegMotion) -> np.ndarray:
    """(legs, 2, T), 1 for what stands in a clean capture: what is at rest, and low over the lowest place of its foot.

    NaN for a ball at rest that is higher than that while its heel stands: on a level floor it does not stand, on a
    slope it does.
    """
    sole = sole_of(clip)
    places = sole.places(clip.ankles, clip.feet) / clip.size
    half = frames_in(_TIME / 2.0, clip.fps)
    floors = np.array([lowest(leg.min(axis=0), frames_in(FLOOR_TIME, clip.fps)) for leg in places[..., 2]])
    low = places[..., 2] - floors[:, None] < _LOW
    found = _at_rest(places, low, half)
    low[:, BALL] |= found[:, HEEL]
    return np.where(found == _at_rest(places, low, half), found, np.nan)


def _at_rest(places: np.ndarray, low: np.ndarray, half: int) -> np.ndarray:
    """(legs, 2, T) bool: which of the points (legs, 2, T, 3) that are low (legs, 2, T) stay where they are."""
    found = np.zeros(low.shape, bool)
    for leg, point in np.ndindex(found.shape[:2]):
        way = places[leg, point]
        padded = np.pad(way, ((half, half), (0, 0)), mode="edge")
        seen = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1, axis=0)
        away = np.linalg.norm(seen - seen.mean(axis=-1, keepdims=True), axis=1).max(axis=-1)
        for k in np.flatnonzero((away < _RADIUS) & low[leg, point]):
            found[leg, point, max(0, k - half) : k + half + 1] = True
        for first, last in runs(found[leg, point]):
            rest = np.percentile(way[first : last + 1, 2], 25)
            found[leg, point, first : last + 1] &= way[first : last + 1, 2] - rest < LIFT[point]
    return found


class Pieces:
    """Random pieces of clips, spoiled."""

    def __init__(self, clips: list[tuple[LegMotion, np.ndarray]], seed: int) -> None:
        self._clips = clips
        self._random = np.random.default_rng(seed)
        weights = np.array([clip.frame_count for clip, _ in clips]) ** 0.5
        self._weights = weights / weights.sum()

    def next(self) -> tuple[Samples, np.ndarray]:
        """A piece as the networks see it, and its labels (legs, 2, n)."""
        random = self._random
        clip, labels = self._clips[random.choice(len(self._clips), p=self._weights)]
        count = int(min(clip.frame_count, random.choice([40, 90, 240, 600]) * clip.fps / 30.0))
        first = random.integers(0, clip.frame_count - count + 1)
        clip, labels = _rows(clip, slice(first, first + count)), labels[..., first : first + count]
        sole = sole_of(clip)
        if random.random() < 0.15:
            clip, sole, labels = self._as_points(clip, sole, labels)
        if random.random() < 0.6:
            clip = self._with_other_legs(clip, random.uniform(0.82, 1.2))
        clip = _moved(clip, self._root(clip))
        if random.random() < 0.3:
            slope = 0.04 * random.normal(size=2)
            names = ("hips", "knees", "ankles", "balls")
            rises = {name: (getattr(clip, name)[..., :2] @ slope)[..., None] * (0.0, 0.0, 1.0) for name in names}
            clip = replace(clip, **{name: getattr(clip, name) + rises[name] for name in names})
        if random.random() < 0.3:
            noise = random.normal(size=clip.ankles.shape) * random.uniform(0.0, 0.003) * clip.size
            clip = replace(clip, ankles=clip.ankles + noise, balls=clip.balls + noise)
        if random.random() < 0.5:
            ways = np.array(
                [self._wander(clip, random.uniform(0.0, _TO_AND_FRO)) * (1.0, 1.0, 0.0) for _ in clip.ankles]
            )
            clip = replace(clip, ankles=clip.ankles + ways, balls=clip.balls + ways)
        clip = replace(clip, fps=clip.fps * random.choice(_SPEEDS))
        step = slice(None, None, max(1, round(clip.fps / random.choice([24, 30, 30, 60]))))
        clip = replace(_rows(clip, step), fps=clip.fps / step.step)
        samples = Samples(clip, sole)
        return samples, labels[..., step][..., np.round(samples.times).astype(int)]

    def _as_points(
        self, clip: LegMotion, sole: HeelAndBall, labels: np.ndarray
    ) -> tuple[LegMotion, HeelAndBall, np.ndarray]:
        """Feet that are points, as paws and hooves: their balls, standing where these do."""
        below = clip.balls - clip.ankles
        straight = np.linalg.norm(below, axis=-1, keepdims=True) * (0.0, 0.0, -1.0)
        clip = replace(clip, ankles=clip.balls - straight)
        points = np.zeros_like(sole.points) + np.median(straight, axis=1)[:, None]
        feet = np.broadcast_to(np.eye(3), clip.feet.shape)
        clip = replace(clip, feet=feet, balls=clip.ankles + points[:, :1])
        return clip, replace(sole, points=points), np.repeat(labels[:, 1:], 2, axis=1)

    def _with_other_legs(self, clip: LegMotion, factor: float) -> LegMotion:
        """A clip on legs of other lengths with the same angles, whose hips are as high above the floor as these."""
        hips = clip.hips.copy()
        floor = np.percentile(clip.balls[..., 2], 5)
        hips[..., 2] = floor + factor * (clip.hips[..., 2] - floor)
        moved = {name: hips + factor * (getattr(clip, name) - clip.hips) for name in ("knees", "ankles")}
        balls = moved["ankles"] + clip.balls - clip.ankles
        return replace(clip, hips=hips, balls=balls, lengths=factor * clip.lengths, **moved)

    def _root(self, clip: LegMotion) -> np.ndarray:
        """(T, 3), where else the root is than it was captured."""
        random, way = self._random, np.zeros((clip.frame_count, 3))
        travel = random.random()
        part = 0.0 if travel < _STAYING else random.uniform(0.6, 1.4) if travel < _STAYING + _ASTRAY else 1.0
        hips = smooth(clip.hips.mean(axis=0)[:, :2], frames_in(0.35, clip.fps))
        way[:, :2] = (part - 1.0) * (hips - hips[:1])
        return way + self._wander(clip, random.uniform(0.0, 0.12)) if random.random() < 0.5 else way

    def _wander(self, clip: LegMotion, amount: float) -> np.ndarray:
        """(T, 3), a slow way to and fro of some part of a leg."""
        times = np.arange(clip.frame_count)[:, None] / clip.fps
        ways = [
            np.sin(2.0 * np.pi * (rate * times + self._random.random(3))) / (1.0 + 2.0 * k)
            for k, rate in enumerate(np.linspace(0.15, 1.1, 5))
        ]
        way = np.sum(ways, axis=0)
        way *= amount * clip.size / np.sqrt((way**2).mean(axis=0) + 1e-9)
        return way * (1.0, 1.0, 0.25)


def _rows(clip: LegMotion, rows: slice) -> LegMotion:
    names = ("hips", "knees", "ankles", "balls", "feet")
    return replace(clip, **{name: getattr(clip, name)[:, rows] for name in names})


def _moved(clip: LegMotion, way: np.ndarray) -> LegMotion:
    return replace(clip, **{name: getattr(clip, name) + way for name in ("hips", "knees", "ankles", "balls")})


def trained(features: np.ndarray, labels: np.ndarray, units: int, seed: int) -> finding.Network:
    """A network that says these labels (n,) of these features (n, k); by Adam with decoupled decay of weights
    (I. Loshchilov and F. Hutter, Decoupled Weight Decay Regularization, algorithm 2)."""
    random, width = np.random.default_rng(seed), features.shape[1]
    network = {
        "weights": random.uniform(-1.0, 1.0, (width, units)) / np.sqrt(width),
        "biases": random.uniform(-1.0, 1.0, units) / np.sqrt(width),
        "sums": random.uniform(-1.0, 1.0, units) / np.sqrt(units),
        "bias": np.zeros(()),
    }
    wanted = labels * (1.0 - 2.0 * _DOUBT) + _DOUBT
    first = {name: np.zeros_like(own) for name, own in network.items()}
    second = {name: np.zeros_like(own) for name, own in network.items()}
    batches = len(features) // _BATCH + 1
    total, step = _EPOCHS * batches, 0
    for _ in range(_EPOCHS):
        order = random.permutation(len(features))
        for some in np.array_split(order, batches):
            step += 1
            seen = features[some].astype(float)
            hidden = np.tanh(seen @ network["weights"] + network["biases"])
            error = (finding.likely(hidden @ network["sums"] + network["bias"]) - wanted[some]) / len(some)
            back = error[:, None] * network["sums"] * (1.0 - hidden**2)
            slopes = {
                "weights": seen.T @ back,
                "biases": back.sum(axis=0),
                "sums": hidden.T @ error,
                "bias": error.sum(),
            }
            # One cycle: up for a third, then down to nothing.
            share = step / total
            rate = _RATE * (share / 0.3 if share < 0.3 else 0.5 + 0.5 * np.cos(np.pi * (share - 0.3) / 0.7))
            for name, slope in slopes.items():
                first[name] = 0.9 * first[name] + 0.1 * slope
                second[name] = 0.999 * second[name] + 0.001 * slope**2
                mean, spread = first[name] / (1.0 - 0.9**step), second[name] / (1.0 - 0.999**step)
                network[name] = network[name] * (1.0 - rate * _DECAY) - rate * mean / (np.sqrt(spread) + 1e-8)
    return {name: own.astype(np.float16) for name, own in network.items()}


def train(clips: list[tuple[LegMotion, np.ndarray]], pieces: int, seed: int) -> dict[str, finding.Network]:
    """Both networks: the second one sees what the first says, and then what it says itself."""
    source = Pieces(clips, seed)
    made = [source.next() for _ in range(pieces)]
    # Taken as on a level floor. Networks that learn nothing from what nobody knows agree better with other subjects,
    # and worse with characters in place: a horse's trot loses a third of its contacts.
    labels = np.nan_to_num(np.concatenate([own.reshape(-1)[::2] for _, own in made]))

    def flat(features: list[np.ndarray]) -> np.ndarray:
        # Every other sample: its neighbors say nearly the same.
        seen = (windows(own) for own in features)
        return np.concatenate([own.reshape(-1, own.shape[-1])[::2].astype(np.float32) for own in seen])

    at_rest = [samples.at_rest() for samples, _ in made]
    first = trained(flat(at_rest), labels, _UNITS["at_rest"], seed)
    second: finding.Network = {}
    probable = [finding.likely(finding.said(first, windows(own))) for own in at_rest]
    random = np.random.default_rng(seed)
    for round_of in range(2):
        seen = []
        for (samples, _), own, probability in zip(made, at_rest, probable, strict=True):
            ground = finding.shared_velocity(samples.velocities, probability)
            seen.append(np.concatenate((own, samples.over_ground(ground, probability)), axis=-1))
        second = trained(flat(seen), labels, _UNITS["over_ground"], seed)
        again = [finding.likely(finding.said(second, windows(own))) for own in seen]
        right = [np.mean((p > 0.5) == own, where=~np.isnan(own)) for p, (_, own) in zip(again, made, strict=True)]
        print(f"round {round_of + 1}: {np.mean(right):.4f} of samples as labeled", flush=True)
        probable = [new if random.random() < 0.5 else old for new, old in zip(again, probable, strict=True)]
    return {"at_rest": first, "over_ground": second}


def main() -> None:
    """Train, and write what is shipped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--pieces", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", default=str(Path(finding.__file__).with_name("networks.npz")))
    arguments = parser.parse_args()
    clips = [(clip, labels_of(clip)) for _, clip in clips_of(arguments.file)]
    found = train(clips, arguments.pieces, arguments.seed)
    np.savez(arguments.output, **{f"{name}.{part}": own for name, each in found.items() for part, own in each.items()})


if __name__ == "__main__":
    main()
