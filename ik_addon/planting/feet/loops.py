"""Clips that end as they begin: seen with their cycles before and after, nothing is cut at the seam."""

from dataclasses import replace

import numpy as np

from .clip import LegMotion
from .curves import middle_of
from .options import EXACT

_CLOSED = 0.6
"""A clip is a loop if the step from its last frame to its first one, or none if these are one, differs by no more than
so many of the longest steps beside them from what these lead to expect."""
_STILL = 0.015
"""Leg lengths that ends of a clip may be apart besides: what is made by hand does not close better, and is a loop."""
_AROUND = 2.0
"""Seconds of a loop, at least, that are seen before it and after it."""
_POINTS = ("hips", "knees", "ankles", "balls")


def period_of(clip: LegMotion) -> int:
    """After how many frames a clip begins again; 0 if it does not end as it began, but for the way that it goes."""
    if clip.frame_count < 4:
        return 0
    gaps, beside = _seam(clip)
    most = _CLOSED * np.linalg.norm(beside, axis=-1).max() + _STILL * clip.size
    once_more, next_one = gaps.max(axis=(1, 2))
    if min(once_more, next_one) > most:
        return 0
    return clip.frame_count - 1 if once_more <= next_one else clip.frame_count


def seam_of(clip: LegMotion) -> tuple[np.ndarray, np.ndarray]:
    """How far each leg jumps where a clip begins again, but for the way that it goes, leg lengths; and by how much the
    velocity of its joints changes there, leg lengths a second. (legs,) each."""
    gaps, _ = _seam(clip)
    # Its last frame is the first one again, or comes before it: whichever fits all legs better.
    own = gaps[gaps.max(axis=(1, 2)).argmin()]
    beside = _beside(_ends(clip))
    speeds = np.linalg.norm(beside[:, :, 0] - beside[:, :, 1], axis=-1) * clip.fps
    return own.max(axis=0) / clip.size, speeds.max(axis=0) / clip.size


def _seam(clip: LegMotion) -> tuple[np.ndarray, np.ndarray]:
    """What is left at the seam of a clip, but for the way that it goes, if its last frame is the first one again, and
    if it comes before it: (2, joints, legs), distances. And the steps beside it: (joints, legs, 2, 3)."""
    points = _ends(clip)
    points = points - points[0].mean(axis=0) * (1.0, 1.0, 0.0)
    beside = _beside(points)
    over = points[:, :, 0] - points[:, :, -1]
    return np.linalg.norm((over, over - beside.mean(axis=2)), axis=-1), beside


def _ends(clip: LegMotion) -> np.ndarray:
    """The joints (joints, legs, 4, 3) of a clip, hips first, at its first two frames and its last two."""
    one = min(1, clip.frame_count - 1)
    return np.stack([getattr(clip, name)[:, [0, one, -1 - one, -1]] for name in _POINTS])


def _beside(points: np.ndarray) -> np.ndarray:
    """The first and the last step (..., 2, 3) of points (..., T, 3); a single frame has none."""
    one = min(1, points.shape[-2] - 1)
    return points[..., [one, -1], :] - points[..., [0, -1 - one], :]


def cycles_around(clip: LegMotion) -> int:
    """How many times a loop is to be seen before itself and after; 0 of a clip that is none."""
    period = period_of(clip)
    return int(np.ceil(_AROUND * clip.fps / period)) if period else 0


def own_frames(clip: LegMotion, cycles: int) -> slice:
    """Where a loop is among the frames of itself, unrolled."""
    first = cycles * period_of(clip)
    return slice(first, first + clip.frame_count)


def unrolled(clip: LegMotion, cycles: int) -> LegMotion:
    """A loop with so many of its cycles before it and after it, each farther by the way that one goes; its skins are
    left out."""
    rows, cycle = _rows(clip, cycles)
    way = cycle[:, None] * way_of(clip)
    points = {name: getattr(clip, name)[:, rows] + way for name in _POINTS}
    legs = {name: getattr(clip, name) for name in ("feet", "extensions", "jerks")}
    legs = {name: own if own is None else own[:, rows] for name, own in legs.items()}
    return replace(clip, skins=(), **legs, **points)


def way_of(clip: LegMotion) -> np.ndarray:
    """(3,), how far a loop goes in one cycle: as its hips do, or where feet stand exactly over its seam, as most of
    these, which are as far from themselves."""
    hips, period = clip.hips.mean(axis=0) * (1.0, 1.0, 0.0), period_of(clip)
    way = (hips[-1] - hips[0]) * (period / (clip.frame_count - 1))
    stand = np.linalg.norm(_beside(clip.balls), axis=-1) <= EXACT * clip.size
    # A last frame that is the first one again stands where that does.
    stand = stand.any(axis=-1) if period < clip.frame_count else stand.all(axis=-1)
    ways = (clip.balls[:, -1] - clip.balls[:, 0])[stand] * (1.0, 1.0, 0.0)
    ways = ways[np.linalg.norm(ways - way, axis=-1) <= _STILL * clip.size]
    return middle_of(ways) if len(ways) else way


def in_cycles(clip: LegMotion, contacts: np.ndarray, cycles: int) -> np.ndarray:
    """Contacts (legs, 2, T) of a loop, or other values (..., T), in all of its cycles. Of two frames that are one, what
    touches in either does; the larger value counts."""
    same = contacts.copy()
    if period_of(clip) < clip.frame_count:
        same[..., 0] = same[..., -1] = np.maximum(contacts[..., 0], contacts[..., -1])
    return same[..., _rows(clip, cycles)[0]]


def _rows(clip: LegMotion, cycles: int) -> tuple[np.ndarray, np.ndarray]:
    """Of which frame each is, and of which cycle."""
    period = period_of(clip)
    frames = np.arange(-cycles * period, clip.frame_count + cycles * period)
    own = (frames >= 0) & (frames < clip.frame_count)
    # The last frame of its own is not quite the first one.
    return np.where(own, frames, frames % period), np.where(own, 0, frames // period)
