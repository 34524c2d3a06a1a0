"""What tells a foot that stands from one that moves, in arrays that two small networks take; see finding.py.

All in leg lengths and seconds, at `RATE` samples a second whatever the frame rate of the clip is. Nothing depends on
where the clip is, how it is turned about the vertical, or which side is left.
"""

import numpy as np

from .clip import LegMotion
from .contacts import HeelAndBall
from .curves import cubic_at, held, quantile, windows_in
from .options import POINT_FOOT

RATE = 30.0
TAPS = 4
"""So many samples to either side of one are seen with it."""
_OWN, _COMMON, _STEP, _NEAR = 12, 20, 20, 6
"""Samples to either side: for the floor of a foot and of all feet, for the top speed of a step, for a pause in it."""


class Samples:
    """A clip at `RATE`, in leg lengths.

    times: (n,), of the samples, in frames of the clip. points: (legs, 2, n, 3), heels and balls. hips: (legs, n, 3).
    ahead: (legs, n, 2), level unit vectors: where each foot points. velocities: (legs, 2, n, 2), level, of the points.
    """

    def __init__(self, clip: LegMotion, sole: HeelAndBall) -> None:
        size, points = clip.size, sole.places(clip.ankles, clip.feet)
        self.times = _times(clip)
        self.points = _sampled(points / size, self.times, clip.fps)
        self.hips = _sampled(clip.hips / size, self.times, clip.fps)
        self.velocities = rates(self.points[..., :2])
        self._relative = self.velocities - rates(self.hips.mean(axis=0)[:, :2])
        feet = _sampled((clip.balls - clip.ankles)[..., :2] / size, self.times, clip.fps)
        self.ahead = _unit(np.array([self._ahead(leg, way) for leg, way in enumerate(feet)]))

    def _ahead(self, leg: int, foot: np.ndarray) -> np.ndarray:
        """Where a foot points; that of a point foot against the way in which it is drawn below the hips."""
        if quantile(np.linalg.norm(foot, axis=-1)) >= POINT_FOOT:
            return foot
        heights = self.points[leg, 1, :, 2]
        low = heights <= quantile(heights)
        return np.broadcast_to(-self._relative[leg, 1][low].mean(axis=0), foot.shape)

    def at_rest(self) -> np.ndarray:
        """(legs, 2, n, 11), what does not depend on how the ground moves, nor on how the root does over it."""
        points, legs = self.points, len(self.points)
        low = points[..., 2].min(axis=1)
        own, common = around(low, _OWN, np.min), around(low.min(axis=0), _COMMON, np.min)
        relative, ahead = self._relative, self.ahead[:, None]
        forward = (relative * ahead).sum(axis=-1)
        aside = np.abs(relative[..., 0] * ahead[..., 1] - relative[..., 1] * ahead[..., 0])
        speeds = np.hypot(forward, aside)
        extensions = np.linalg.norm(points.mean(axis=1) - self.hips, axis=-1)
        others = np.array([np.delete(low, leg, axis=0).min(axis=0) if legs > 1 else low[leg] for leg in range(legs)])
        found = (
            10.0 * np.clip(points[..., 2] - own[:, None], 0.0, 0.3),
            5.0 * np.clip(points[..., 2] - common, 0.0, 0.4),
            10.0 * np.clip(points[:, ::-1, :, 2] - points[..., 2], -0.2, 0.2),
            np.clip(rates(points[..., 2:])[..., 0], -3.0, 3.0),
            0.5 * np.clip(forward, -5.0, 5.0),
            0.5 * np.clip(aside, 0.0, 4.0),
            2.0 * np.clip(speeds / (around(speeds, _STEP, np.max) + 0.3), 0.0, 1.2),
            5.0 * np.clip(others - common, 0.0, 0.4)[:, None],
            5.0 * np.clip(others - low, -0.3, 0.3)[:, None],
            np.clip(rates(extensions[..., None])[..., 0], -3.0, 3.0)[:, None],
            0.04 * np.clip((rates(relative) * ahead).sum(axis=-1), -40.0, 40.0),
        )
        return np.stack(np.broadcast_arrays(*found), axis=-1)

    def over_ground(self, ground: np.ndarray, probability: np.ndarray) -> np.ndarray:
        """(legs, 2, n, 8), what depends on the velocity (n, 2) of the ground, and on the probabilities so far."""
        speeds = np.linalg.norm(self.velocities - ground, axis=-1)
        found = (
            np.clip(speeds, 0.0, 4.0),
            4.0 * np.clip(speeds, 0.0, 0.6),
            2.0 * np.clip(speeds / (around(speeds, _STEP, np.max) + 0.3), 0.0, 1.2),
            np.clip(speeds - around(speeds, _NEAR, np.min), 0.0, 2.0),
            np.clip(speeds[:, ::-1], 0.0, 3.0),
            np.clip(speeds.min(axis=(0, 1)), 0.0, 2.0),
            2.0 * probability - 1.0,
            2.0 * probability[:, ::-1] - 1.0,
        )
        return np.stack(np.broadcast_arrays(*found), axis=-1)


def windows(features: np.ndarray) -> np.ndarray:
    """Features (legs, 2, n, k) with those of the samples around each: (legs, 2, n, k * (2 TAPS + 1))."""
    seen = windows_in(held(features, TAPS, TAPS, axis=-2), 2 * TAPS + 1, -2)
    return seen.reshape(*seen.shape[:-2], -1)


def rates(values: np.ndarray) -> np.ndarray:
    """How fast values (..., n, k) change, a second."""
    return np.gradient(values, axis=-2) * RATE


def around(values: np.ndarray, half: int, of) -> np.ndarray:
    """The least, largest … of the values (..., n) within `half` samples to either side."""
    return of(windows_in(held(values, half, half, axis=-1), 2 * half + 1, -1), axis=-1)


def _times(clip: LegMotion) -> np.ndarray:
    last = clip.frame_count - 1
    return np.linspace(0.0, last, max(2, round(last / clip.fps * RATE) + 1))


def _sampled(values: np.ndarray, times: np.ndarray, fps: float) -> np.ndarray:
    """Values (..., T, k) of frames at some times; of many frames a second the means of those around.

    Straight lines between few frames a second would make feet slower than they are.
    """
    half = max(1, round(0.5 * fps / RATE)) if fps > 1.5 * RATE else 0
    if half:
        values = windows_in(held(values, half, half, axis=-2), 2 * half + 1, -2).mean(axis=-1)
    return np.swapaxes(cubic_at(np.swapaxes(values, -2, 0), times), 0, -2)


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-9)
