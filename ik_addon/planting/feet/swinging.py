"""Legs in the air on another path: knees bend there as captured, and go over to what they must where feet stand."""

import numpy as np

from .clip import LegMotion, bends_of, directions, ways_of
from .curves import bridged
from .loops import period_of
from .options import Options
from .paths import fade_frames, lifts, slopes_inside

ADDED_BEND = 2.0
"""Radians a second by which a knee may bend faster than captured to go over to a stance, where it has the time."""


def swung(
    clip: LegMotion, offsets: np.ndarray, heights: np.ndarray, stands: np.ndarray, options: Options
) -> np.ndarray:
    """The moves (legs, T, 3) of ankles in the air, to their hips or from them, with which knees bend as in a clip.

    offsets: (legs, T, 3), from hips to ankles elsewhere. heights: (legs, 2, T), of heels and balls over the ground,
    which they keep. stands: (legs, T) bool, where feet stay.
    """
    ways, captured = (np.linalg.norm(each, axis=2) for each in (offsets, clip.ankles - clip.hips))
    bends = bends_of(clip, captured)
    changes = _between_stances(clip, bends_of(clip, ways) - bends, stands, options)
    wished = captured + ways_of(clip, np.clip(bends + changes, 0.0, np.pi)) - ways_of(clip, bends)
    moves = directions(offsets) * np.where(stands, 0.0, wished - ways)[..., None]
    for leg, own in enumerate(stands):
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
