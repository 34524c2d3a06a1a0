"""Legs in the air on another path: knees bend there as captured, go over to what they must where feet stand, and jerk
no more than they did."""

from collections.abc import Callable

import numpy as np

from .clip import UP, LegMotion, bends_of, directions, ways_of
from .curves import bridged, frames_in, slope, windows_in
from .loops import period_of
from .measures import POP_TIME, UNEXPECTED
from .options import SLOPE_TIME, Options
from .paths import TINY, fade_frames, lifts, nearness, slopes_inside
from .reaching import ASIDE, leg_limits

ADDED_BEND = 2.0
"""Radians a second by which a knee may bend faster than captured to go over to a stance, where it has the time."""
SAME_BEND = 1e-9
"""Radians by which rounding changes a bend."""
FARTHER = 2.0
"""Times as far aside from its hip that a foot may be, where it can go no lower, for its knee to bend less."""
CALMING_ROUNDS, RELAXED, TRUSTED = (50, 200), 1.8, 0.01
"""How often speeds and jerks are shared out, and jerks more; how much of each at a time: from 2 on it swings; and how
much, of the squares of its weights, bends in the air have of one that is."""


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
    hips: np.ndarray,
    ankles: np.ndarray,
    heights: Callable[[np.ndarray], np.ndarray],
    stands: np.ndarray,
    is_cleared: bool,
    options: Options,
) -> np.ndarray:
    """Ankles (legs, T, 3) in the air nearer to their hips or farther, so that no knee jerks more than `clip.jerks` says
    or turns faster than `clip.turns` does.

    Each jerk and speed that is too large is shared out among the bends that make it, by their weights, again and again
    (Stefan Kaczmarz's method). A foot that can go no lower goes aside. hips: (legs, T, 3). heights: the heights
    (legs, 2, T) over the ground of heels and balls of such ankles. stands: (legs, T) bool. is_cleared: feet were lifted
    over the ground as fast as they may be.
    """
    moves = _calming(clip, ankles - hips, ankles, heights, stands, options)
    if not is_cleared:
        # As low as without a path, but for knees that are calmed: they need the room.
        sunken = zip(-heights(ankles), stands, moves.any(axis=(1, 2)), strict=True)
        lifted = np.array([is_moved * lifts(clip, low[:, ~own], np.zeros(1), own) for low, own, is_moved in sunken])
        if lifted.any():
            ankles = ankles + lifted[..., None] * UP
            moves = _calming(clip, ankles - hips, ankles, heights, stands, options)
    return ankles + moves


def _calming(
    clip: LegMotion,
    offsets: np.ndarray,
    ankles: np.ndarray,
    heights: Callable[[np.ndarray], np.ndarray],
    stands: np.ndarray,
    options: Options,
) -> np.ndarray:
    """Moves (legs, T, 3) of ankles that are at offsets (legs, T, 3) from their hips; see `calmed`."""
    ways, here, aside = np.linalg.norm(offsets, axis=2), heights(ankles), (FARTHER - 1.0) * offsets * ASIDE
    rooms, there = rooms_below(clip, here, stands, options), heights(ankles + aside)
    # Beside a step there is no room.
    is_free = ((there >= 0.0) | (there >= here - SAME_BEND * clip.size)).all(axis=1)
    deep, away = offsets[..., 2] - rooms, np.linalg.norm(offsets[..., :2], axis=2)
    planned, (straightest, folded) = bends_of(clip, ways), (bends_of(clip, each) for each in leg_limits(clip, options))
    farthest = np.maximum(ways, np.hypot(np.where(is_free, FARTHER, 1.0) * away, np.minimum(deep, 0.0)))
    straightest = np.minimum(np.minimum(planned, folded), np.maximum(straightest, bends_of(clip, farthest)))
    step, half = frames_in(POP_TIME, clip.fps), frames_in(SLOPE_TIME, clip.fps)
    jerks, speeds = np.zeros(4 * step + 1), np.arange(-half, half + 1.0)
    jerks[::step], speeds = UNEXPECTED, speeds * clip.fps / (speeds @ speeds)
    bends, most, turns = planned, *(np.inf if own is None else own for own in (clip.jerks, clip.turns))
    turns = np.reshape(turns, (-1, 1))
    for turn in range(sum(CALMING_ROUNDS)):
        if turn == CALMING_ROUNDS[0]:
            # Where a knee must be faster, it may be to jerk less.
            turns = np.maximum(turns, np.abs(slope(bends, clip.fps, SLOPE_TIME, axis=1)).max(axis=1, keepdims=True))
        before, bends = bends, _shared(_shared(bends, speeds, turns, stands), jerks, most, stands)
        bends = np.where(stands, planned, np.clip(bends, straightest, folded))
        if (bends == before).all():
            break
    changes = np.where(np.abs(bends - planned) < SAME_BEND, 0.0, ways_of(clip, bends) - ways)
    moves = directions(offsets) * changes[..., None]
    lower = moves[..., 2] < -rooms
    aside = np.sqrt(np.maximum((ways + changes) ** 2 - deep**2, 0.0)) / np.maximum(away, TINY) - 1.0
    aside = np.concatenate((offsets[..., :2] * aside[..., None], -rooms[..., None]), axis=-1)
    return np.where(lower[..., None], aside, moves)


def _shared(bends: np.ndarray, weights: np.ndarray, most: np.ndarray | float, stands: np.ndarray) -> np.ndarray:
    """Bends (legs, T) of which each sum by weights (n,) that is over `most` (legs, T) is shared out among those in the
    air that make it."""
    inner = slice(len(weights) // 2, bends.shape[1] - len(weights) // 2)
    if inner.stop <= inner.start:
        return bends
    sums, most = windows_in(bends, len(weights), axis=1) @ weights, np.broadcast_to(most, bends.shape)[:, inner]
    excess = sums - np.clip(sums, -most, most)
    if not excess.any():
        return bends
    free, squares = (~stands).astype(float), weights**2 / (weights @ weights)
    trusted = windows_in(free, len(weights), axis=1) @ squares
    shares = np.where(trusted > TRUSTED, excess / np.maximum(trusted, TRUSTED), 0.0)
    shares, found = RELAXED / np.abs(weights).sum() ** 2 * shares, bends.copy()
    for first in np.flatnonzero(weights):
        own = slice(first, first + shares.shape[1])
        found[:, own] -= weights[first] * shares * free[:, own]
    return found


def rooms_below(clip: LegMotion, heights: np.ndarray, stands: np.ndarray, options: Options) -> np.ndarray:
    """(legs, T), how much lower feet may be whose heels and balls are at heights (legs, 2, T) over the ground."""
    near = np.array([nearness(own, clip.fps) for own in stands])[:, None]
    return (heights - heights.clip(0.0, options.clearance * clip.size) * near).min(axis=1).clip(0.0)


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
