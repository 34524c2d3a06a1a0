"""A spine between two girdles: along a path it bends as the path does, and the head leads."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .clip import UP, applied, turns_by

SHORTEST = 0.3
"""Leg lengths from one girdle to the other; legs that are nearer are on one body, as a spider's."""
FARTHEST = 0.7
"""Radians by which a spine can bend; toward them it bends less than its path."""


Move = tuple[np.ndarray, np.ndarray]
"""How something is turned, (T, 3, 3), and then shifted, (T, 3), in the world."""


def moved(move: Move, points: np.ndarray) -> np.ndarray:
    """Points (..., T, 3) moved."""
    return applied(move[0], points) + move[1]


@dataclass(frozen=True)
class Spine:
    """Bones between the bone that carries a body and a girdle.

    legs: which hang on the girdle. heads: (bones, T, 3), where the bones turn as captured, the one at the body first.
    """

    legs: tuple[int, ...]
    heads: np.ndarray

    def moves(self, body: Move, angles: np.ndarray) -> list[Move]:
        """How each bone moves, with the body and farther about the vertical: all of them share the angles (T,)."""
        (turns, shifts), found = body, []
        part = turns_by((FARTHEST * np.tanh(angles / FARTHEST) / len(self.heads))[:, None] * UP)
        for heads in self.heads:
            shifts = shifts + applied(turns, heads - applied(part, heads))
            turns = turns @ part
            found.append((turns, shifts))
        return found


def girdles(aheads: np.ndarray, spines: Sequence[Spine], size: float) -> tuple[np.ndarray, float]:
    """How far ahead each leg (legs,) and the body are on a path, each with its girdle; without a spine all as one.

    aheads: (legs,), how far each hip is ahead of the way. size: of a leg.
    """
    rest = np.setdiff1d(np.arange(len(aheads)), [leg for spine in spines for leg in spine.legs])
    body = float(aheads[rest].mean()) if len(rest) else 0.0
    places = np.full(len(aheads), body)
    for legs in (list(spine.legs) for spine in spines):
        ahead = float(aheads[legs].mean())
        places[legs] = ahead if abs(ahead - body) > SHORTEST * size else body
    return (places, body) if np.ptp(places) else (np.zeros(len(aheads)), 0.0)
