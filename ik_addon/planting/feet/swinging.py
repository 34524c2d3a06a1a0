import os
"""Legs in the air on another path: knees bend there as captured, go over to what they must where feet stand, and jerk
no more than they did."""

import numpy as np

from .clip import LegMotion, bends_of, directions, ways_of
from .curves import bridged, frames_in, slope, windows_in
from .loops import period_of
from .measures import POP_TIME, UNEXPECTED
from .options import SLOPE_TIME, Options
from .paths import fade_frames, lifts, nearness, slopes_inside
from .reaching import leg_ends, leg_limits

ADDED_BEND = 2.0
"""Radians a second by which a knee may bend faster than captured to go over to a stance, where it has the time."""
MOST_CALMED = np.radians(float(os.environ.get('MC', 16.0)))
"""Radians by which a knee may bend more or less than it would, to jerk no more than captured."""
import os
N1 = int(os.environ.get("N1", 50))
BOTH = int(os.environ.get("BOTH", 1))
FX = float(os.environ.get("FX", 1))
FARTHER = float(os.environ.get("FAR", 1.15))
TINY = 1e-300
SAME_BEND = 1e-9
"""Radians by which rounding changes a bend."""
DOWNWARD = 0.1
"""Cosine of how far off straight down a leg points at most, for what lengthens it to lower its foot."""
RELAXED = 1.8
CALMING_ROUNDS, TRUSTED = 200, 0.01
"""How often jerks are shared out; and how much, of the squares of its weights, bends in the air have of one that is."""


def swung(
    clip: LegMotion, offsets: np.ndarray, heights: np.ndarray, stands: np.ndarray, options: Options
) -> np.ndarray:
    """The moves (legs, T, 3) of ankles in the air, to their hips or from them, with which knees bend as in a clip.

    offsets: (legs, T, 3), from hips to ankles elsewhere. heights: (legs, 2, T), of heels and balls over the ground,
    which they keep. stands: (legs, T) bool, where feet stay.
    """
    ways, captured = (np.linalg.norm(each, axis=2) for each in (offsets, clip.ankles - clip.hips))
    bends = bends_of(clip, captured)
    new = bends_of(clip, ways)
    changes = _between_stances(clip, new - bends, stands, options)
    # The more a knee is folded the less it folds on; where feet stand this changes nothing.
    most = np.maximum(bends, new * stands).max(axis=1, keepdims=True)
    changes = np.minimum(changes, _up_to(changes, 2.0 * (most - bends)))
    wished = captured + ways_of(clip, np.clip(bends + changes, 0.0, np.pi)) - ways_of(clip, bends)
    return _over_ground(clip, directions(offsets), np.where(stands, 0.0, wished - ways), heights, stands, options)


def _up_to(values: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Values as they are up to half of the most, and from there on less, up to it, without a corner."""
    parts = values / np.maximum(most, SAME_BEND)
    return most * (np.minimum(parts, 1.5) - 0.5 * np.clip(parts - 0.5, 0.0, 1.0) ** 2)


def calmed(
    clip: LegMotion,
    most: np.ndarray,
    hips: np.ndarray,
    ankles: np.ndarray,
    heights: np.ndarray,
    stands: np.ndarray,
    options: Options,
) -> np.ndarray:
    """Ankles (legs, T, 3) in the air nearer to their hips or farther, so that no knee jerks more than `most` (legs, T),
    nor turns faster than `clip.turns` says.

    Each jerk that is too large is shared out among the bends that make it, by their weights, again and again (Stefan
    Kaczmarz's method). hips: (legs, T, 3). heights, stands: see `swung`.
    """
    offsets = ankles - hips
    ways, free = np.linalg.norm(offsets, axis=2), (~stands).astype(float)
    planned, step, half = bends_of(clip, ways), frames_in(POP_TIME, clip.fps), frames_in(SLOPE_TIME, clip.fps)
    jerks, speeds = np.zeros(4 * step + 1), np.arange(-half, half + 1.0)
    jerks[::step], speeds = UNEXPECTED, speeds * clip.fps / (speeds @ speeds)
    bends, (straightest, folded) = planned, (bends_of(clip, each) for each in leg_limits(clip, options))
    first = np.minimum(planned, folded)
    # Where it would be lifted again, a foot goes no lower.
    rooms = np.array([_room_below(clip, own, stand, options) for own, stand in zip(heights, stands, strict=True)])
    deep, away = offsets[..., 2] - rooms, np.linalg.norm(offsets[..., :2], axis=2)
    farthest = np.maximum(ways, np.hypot(FARTHER * away, np.minimum(deep, 0.0)))
    straightest = np.minimum(first, np.maximum(straightest, bends_of(clip, farthest)))
    low, high = np.maximum(first - MOST_CALMED, straightest), np.minimum(first + MOST_CALMED, folded)
    turns = None if clip.turns is None else clip.turns[:, None]
    for turn in range(CALMING_ROUNDS + N1):
        before = bends
        if turns is not None:
            if turn == N1:
                turns = np.maximum(turns, FX*np.abs(slope(bends, clip.fps, SLOPE_TIME, axis=1)).max(axis=1, keepdims=True))
            bends = _shared(bends, speeds, turns, free)
        if turn >= N1 or BOTH:
            bends = _shared(bends, jerks, most, free)
        bends = np.where(stands, planned, np.clip(bends, low, high))
        if (bends == before).all() and turn >= N1:
            break
    changes = np.where(np.abs(bends - planned) < SAME_BEND, 0.0, ways_of(clip, bends) - ways)
    moves = directions(offsets) * changes[..., None]
    lower = (moves[..., 2] < -rooms) & changes.any(axis=1, keepdims=True)
    aside = np.sqrt(np.maximum((ways + changes) ** 2 - deep**2, 0.0)) / np.maximum(away, TINY)
    aside = np.minimum(aside, FARTHER) - 1.0
    moves[lower, :2] = (offsets[..., :2] * aside[..., None])[lower]
    moves[lower, 2] = -rooms[lower]
    return ankles + moves


def _shared(bends: np.ndarray, weights: np.ndarray, most: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Bends (legs, T) of which each sum with weights (n,) that is too large is shared out among those that make it."""
    count, half = bends.shape[1] - len(weights) + 1, len(weights) // 2
    if count <= 0:
        return bends
    sums = windows_in(bends, len(weights), axis=1) @ weights
    most = np.broadcast_to(most, bends.shape)[:, half : half + count]
    excess = sums - np.clip(sums, -most, most)
    if not excess.any():
        return bends
    trusted = windows_in(free, len(weights), axis=1) @ weights**2
    least = TRUSTED * (weights @ weights)
    shares = np.where(trusted > least, RELAXED * excess / np.abs(weights).sum() ** 2 * (weights @ weights) / np.maximum(trusted, least), 0.0)
    bends = bends.copy()
    for first in np.flatnonzero(weights):
        bends[:, first : first + count] -= weights[first] * shares * free[:, first : first + count]
    return bends


def _room_below(clip: LegMotion, heights: np.ndarray, stands: np.ndarray, options: Options) -> np.ndarray:
    """(T,), how much lower a foot may be whose heel and ball are at heights (2, T) over the ground."""
    had = heights.clip(0.0, options.clearance * clip.size) * nearness(stands, clip.fps)
    return np.where(stands, 0.0, (heights - had).min(axis=0))


def _over_ground(
    clip: LegMotion, along: np.ndarray, ways: np.ndarray, heights: np.ndarray, stands: np.ndarray, options: Options
) -> np.ndarray:
    """Moves (legs, T, 3) of ankles by ways (legs, T) along directions (legs, T, 3), lifted where feet would be lower
    over the ground than their clearance."""
    moves = along * ways[..., None]
    for leg, own in enumerate(stands):
        if ways[leg].any():
            free = heights[leg, :, ~own].T
            had = free.clip(0.0, options.clearance * clip.size)
            moves[leg, :, 2] += lifts(clip, -free - moves[leg, ~own, 2], had, own)
    return moves


def _between_stances(clip: LegMotion, changes: np.ndarray, stands: np.ndarray, options: Options) -> np.ndarray:
    """Changes (legs, T) of bends where feet stand, and what goes over from each stance to the next."""
    # What leads out of a loop leads into it.
    rounds, count = (3, period_of(clip)) if period_of(clip) else (1, clip.frame_count)
    rows, limit = np.arange(rounds * count) % count, ADDED_BEND / clip.fps
    found = []
    for own, known in zip(changes[:, rows, None], stands[:, rows], strict=True):
        slopes = np.clip(slopes_inside(own, known, clip.fps), -limit, limit)
        over = bridged(own, known, slopes, lambda end: fade_frames(end, ADDED_BEND, clip.fps, options))
        found.append(over[(rounds // 2) * count + np.arange(clip.frame_count), 0])
    return np.array(found)
