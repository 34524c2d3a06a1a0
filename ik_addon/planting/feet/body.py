"""How the body moves so that every leg reaches: as smoothly as can be, and never less than is needed."""

import numpy as np

from ...solvers.carrier import lowering, nearest_shift
from .clip import LegMotion
from .in_time import above, eased, frames_in, smooth
from .options import BODY_TIME, REACH_TIME, STRAIGHTEST, Options
from .turns import UP

ROUNDS = 4
"""A smooth move aside may keep a leg from its place that reached it before: once more, a few times."""
SLACK = 1e-9
"""Part of a leg by which it may miss its limit."""

DETOUR, FARTHEST = 1.5, 2.0
"""Straight down is so many times as far as the nearest way if a leg points 48 and 60 degrees off: then the body begins
to go aside, and goes all the way. Legs that walk point up to 40 degrees off."""
DEEP = 0.02
"""A fall of less, in leg lengths, needs no way aside."""

ASIDE = np.array((1.0, 1.0, 0.0))


def body_shifts(clip: LegMotion, ankles: np.ndarray, options: Options) -> tuple[np.ndarray, np.ndarray]:
    """The moves (T, 3) of the body with which the legs reach new ankles (legs, T, 3), and where none has (T,) bool.

    The body follows the mean of the feet slowly, and makes way where a leg would not reach: down, or the nearest way.
    No leg gets straighter than `options.softness` or the capture at that frame. If the legs' places cannot all be
    reached, the worst of them share what is missing.
    """
    longest, shortest = _limits(clip, options)
    half = frames_in(REACH_TIME, clip.fps)
    shifts = options.body * smooth((ankles - clip.ankles).mean(axis=0), frames_in(BODY_TIME, clip.fps))

    def offsets() -> np.ndarray:
        return ankles - clip.hips - shifts

    def nearest(frames: np.ndarray) -> np.ndarray:
        moves, wanted = np.zeros_like(shifts), offsets()
        for frame in np.flatnonzero(frames):
            moves[frame], _ = nearest_shift(wanted[:, frame], longest[:, frame], shortest[:, frame])
        return moves

    if options.body_direction == "NEAREST":
        shifts = shifts + smooth(nearest(_misses(offsets(), longest, shortest)) * ASIDE, half)
    for _ in range(ROUNDS):
        falls, possible = lowering(offsets(), longest, shortest)
        moves = nearest(~possible | (falls > DEEP * clip.size))
        detours = falls / np.maximum(np.linalg.norm(moves, axis=1), DEEP * clip.size)
        aside = moves * ASIDE * np.where(possible, eased((detours - DETOUR) / (FARTHEST - DETOUR)), 1.0)[:, None]
        if not aside.any():
            break
        shifts = shifts + np.stack([_covering(part, half) for part in aside.T], axis=1)
    falls, _ = lowering(offsets(), longest, shortest)
    shifts = shifts - _covering(falls, half)[:, None] * UP
    # Where a smooth move is too much or too little, reaching counts more.
    shifts = shifts + nearest(_misses(offsets(), longest, shortest))
    near, far = _ends(clip)
    return shifts, _misses(offsets(), np.broadcast_to(far, longest.shape), np.broadcast_to(near, longest.shape))


def _covering(moves: np.ndarray, half: int) -> np.ndarray:
    """A smooth curve that goes at least as far as moves (T,), to the side on which they are."""
    return above(moves.clip(0.0), half) - above((-moves).clip(0.0), half)


def _limits(clip: LegMotion, options: Options) -> tuple[np.ndarray, np.ndarray]:
    """(legs, T) each, the longest and the shortest distance from hip to ankle that each leg may have."""
    near, far = _ends(clip)
    extensions = np.linalg.norm(clip.ankles - clip.hips, axis=2) / far
    longest = np.clip(extensions, options.softness, STRAIGHTEST) * far
    return longest, np.broadcast_to(near * (2.0 - STRAIGHTEST), longest.shape)


def _ends(clip: LegMotion) -> tuple[np.ndarray, np.ndarray]:
    """(legs, 1) each, the distances from hip to ankle of legs that are folded, and straight."""
    return np.abs(clip.lengths[:, :1] - clip.lengths[:, 1:]), clip.reaches[:, None]


def _misses(offsets: np.ndarray, longest: np.ndarray, shortest: np.ndarray) -> np.ndarray:
    """(T,) bool: whether a leg is out of its limits at a frame."""
    distances = np.linalg.norm(offsets, axis=2)
    slack = SLACK * longest
    return ((distances > longest + slack) | (distances < shortest - slack)).any(axis=0)
