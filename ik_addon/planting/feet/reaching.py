"""How far legs reach, and stances moved to where they do: a body that need not go down for them moves less."""

from dataclasses import replace

import numpy as np

from ...solvers.carrier import nearest_shift
from .clip import LegMotion, directions
from .contacts import HeelAndBall
from .curves import runs
from .options import STRAIGHTEST, Options

ASIDE = np.array((1.0, 1.0, 0.0))
_SHARES = np.linspace(0.0, 1.0, 9)
"""Parts of a move that are tried."""
_WORTH = 0.5
"""How far down the body must go without it for a stance to be moved by one."""


def leg_limits(clip: LegMotion, options: Options) -> tuple[np.ndarray, np.ndarray]:
    """(legs, T) each, the longest and the shortest distance from hip to ankle that each leg may have."""
    near, far = leg_ends(clip)
    if clip.extensions is not None:
        return clip.extensions, np.broadcast_to(near * (2.0 - STRAIGHTEST), clip.extensions.shape)
    extensions = np.linalg.norm(clip.ankles - clip.hips, axis=2) / far
    longest = np.clip(extensions, options.softness, STRAIGHTEST) * far
    return longest, np.broadcast_to(near * (2.0 - STRAIGHTEST), longest.shape)


def leg_ends(clip: LegMotion) -> tuple[np.ndarray, np.ndarray]:
    """(legs, 1) each, the distances from hip to ankle of legs that are folded, and straight."""
    return np.abs(clip.lengths[:, :1] - clip.lengths[:, 1:]), clip.reaches[:, None]


def unfolded(clip: LegMotion, hips: np.ndarray, ankles: np.ndarray, stands: np.ndarray, options: Options) -> np.ndarray:
    """Ankles (legs, T, 3) as far from hips (legs, T, 3) as legs fold, but for feet that stand (legs, T)."""
    offsets, (_, shortest) = ankles - hips, leg_limits(clip, options)
    missing = (shortest - np.linalg.norm(offsets, axis=2)).clip(0.0)
    return ankles + (missing * ~stands)[..., None] * directions(offsets)


def in_reach(clip: LegMotion, sole: HeelAndBall, contacts: np.ndarray, options: Options) -> LegMotion:
    """A clip with its feet moved on the level, in each stance all the time by the same, for the body to go down less.

    A point that slides in its contact, held at its mean place, is farther from its hip at one end than it was. A stance
    is moved no farther than one of its points slides from there. The clip itself where none is moved.
    """
    longest, _ = leg_limits(clip, options)
    places, moves = sole.places(clip.ankles, clip.feet), np.zeros_like(clip.ankles)
    for leg, touching in enumerate(contacts.any(axis=1)):
        for first, last in runs(touching):
            own = slice(first, last + 1)
            pairs = zip(places[leg, :, own], contacts[leg, :, own], strict=True)
            spans = [(way, slice(start, end + 1)) for way, touches in pairs for start, end in runs(touches)]
            frames = np.concatenate([np.arange(first, last + 1)[span] for _, span in spans])
            slides = np.concatenate([way[span].mean(axis=0) - way[span] for way, span in spans])
            offsets = (clip.ankles - clip.hips)[leg, frames] + slides
            farthest = float(np.linalg.norm(slides, axis=1).max())
            moves[leg, own] = _level_move(offsets, longest[leg, frames], farthest)
    return replace(clip, ankles=clip.ankles + moves, balls=clip.balls + moves) if moves.any() else clip


def _level_move(offsets: np.ndarray, longest: np.ndarray, farthest: float) -> np.ndarray:
    """(3,), by how much ankles that are at offsets (n, 3) from their hips are moved to be within reach (n,)."""
    if (np.linalg.norm(offsets, axis=1) <= longest).all():
        return np.zeros(3)
    level = np.sqrt(np.maximum(longest**2 - offsets[:, 2] ** 2, 0.0))
    move = -nearest_shift(offsets * ASIDE, level)[0]
    length = float(np.linalg.norm(move))
    moves = _SHARES[:, None] * (move * min(1.0, farthest / max(length, farthest, 1e-300)))
    aside = offsets + moves[:, None]
    heights = np.sqrt(np.maximum(longest**2 - (aside[..., :2] ** 2).sum(axis=-1), 0.0))
    falls = (-aside[..., 2] - heights).max(axis=1).clip(0.0)
    return moves[np.argmin(falls + _WORTH * np.linalg.norm(moves, axis=1))]
