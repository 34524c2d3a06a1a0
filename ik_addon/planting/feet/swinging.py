"""Legs in the air on another path: knees bend there as captured, go over to what they must where feet stand, and jerk
no more than they did."""

import numpy as np

from .clip import LegMotion, bends_of, directions, ways_of
from .curves import bridged, frames_in, no_steeper
from .loops import period_of
from .measures import POP_TIME, UNEXPECTED, unexpected
from .options import Options
from .paths import fade_frames, lifts, nearness, slopes_inside
from .reaching import leg_ends, leg_limits

ADDED_BEND = 2.0
"""Radians a second by which a knee may bend faster than captured to go over to a stance, where it has the time."""
MOST_CALMED = np.radians(16.0)
"""Radians by which a knee may bend more or less than it would, to jerk no more than captured."""
SAME_BEND = 1e-9
"""Radians by which rounding changes a bend."""
DOWNWARD = 0.1
"""Cosine of how far off straight down a leg points at most, for what lengthens it to lower its foot."""
CALMING_ROUNDS, TRUSTED = 200, 0.02
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
    start, lifted, moves = ankles, ankles, np.zeros_like(ankles)
    # Once more, for what is lifted over the ground jerks.
    for _ in range(2):
        offsets, heights = lifted - hips, heights + (lifted - ankles)[:, None, :, 2]
        along, changes = directions(offsets), _calming(clip, most, offsets, heights, stands, options)
        moves = _over_ground(clip, along, changes, heights, stands, options)
        ankles, lifted = lifted, lifted + moves - along * changes[..., None]
    # A foot higher than its hip is lifted away from it.
    ways, ends = np.linalg.norm(ankles + moves - hips, axis=2), leg_ends(clip)
    return np.where((ways == np.clip(ways, *ends))[..., None], ankles + moves, start)


def _calming(
    clip: LegMotion, most: np.ndarray, offsets: np.ndarray, heights: np.ndarray, stands: np.ndarray, options: Options
) -> np.ndarray:
    """(legs, T), how much farther ankles are from their hips with which knees are calm; see `calmed`."""
    ways, step = np.linalg.norm(offsets, axis=2), frames_in(POP_TIME, clip.fps)
    count = clip.frame_count - 4 * step
    if count <= 0:
        return np.zeros_like(ways)
    planned, free = bends_of(clip, ways), (~stands).astype(float)
    first = planned if clip.turns is None else _no_faster(clip.turns, planned, stands)
    straightest, folded = (bends_of(clip, each) for each in leg_limits(clip, options))
    first = np.minimum(first, folded)
    # Where it would be lifted again, a foot goes no lower.
    rooms = [_room_below(clip, own, stand, options) for own, stand in zip(heights, stands, strict=True)]
    downward = np.maximum(-directions(offsets)[..., 2], DOWNWARD)
    straightest = np.minimum(first, np.maximum(straightest, bends_of(clip, ways + rooms / downward)))
    low, high = np.maximum(first - MOST_CALMED, straightest), np.minimum(first + MOST_CALMED, folded)
    bends, spans = first, [slice(k * step, k * step + count) for k in range(len(UNEXPECTED))]
    trusted = sum(weight**2 * free[:, span] for weight, span in zip(UNEXPECTED, spans, strict=True))
    for _ in range(CALMING_ROUNDS):
        jerks = unexpected(bends, clip.fps)
        excess = (jerks - np.clip(jerks, -most, most))[:, spans[2]]
        excess = np.where(trusted > TRUSTED, 0.5 * excess / np.maximum(trusted, TRUSTED), 0.0)
        if not excess.any():
            break
        bends = bends.copy()
        for weight, span in zip(UNEXPECTED, spans, strict=True):
            bends[:, span] -= weight * excess * free[:, span]
        bends = np.clip(bends, low, high)
    return np.where(np.abs(bends - planned) < SAME_BEND, 0.0, ways_of(clip, bends) - ways)


def _room_below(clip: LegMotion, heights: np.ndarray, stands: np.ndarray, options: Options) -> np.ndarray:
    """(T,), how much lower a foot may be whose heel and ball are at heights (2, T) over the ground."""
    had = heights.clip(0.0, options.clearance * clip.size) * nearness(stands, clip.fps)
    return (heights - had).min(axis=0).clip(0.0)


def _no_faster(turns: np.ndarray, bends: np.ndarray, stands: np.ndarray) -> np.ndarray:
    """Bends (legs, T) in the air, larger where a knee would turn by more than it may (legs,) from frame to frame.

    For a foot in the air may be higher, and not lower. Toward where it stands a knee has the time it has.
    """
    found = []
    for own, stand, step in zip(bends, stands, turns, strict=True):
        ends = np.sort([sign * no_steeper(np.where(stand, sign * own, -np.inf), step) for sign in (1.0, -1.0)], axis=0)
        slow = no_steeper(np.where(stand, own, np.clip(own, *ends)), step)
        found.append(np.where(stand, own, np.clip(slow, *ends)))
    return np.array(found)


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
