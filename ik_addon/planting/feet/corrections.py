"""Corrections that fade: what moves and turns a control at one time does so less before and after, and then not at all.

Each is a bump of its own over what is below it, so their order does not matter. Where a foot stands, the whole stance
moves and turns like a rigid body. Times are rows, whole or not; places, moves and turns are in the world.
"""

from dataclasses import dataclass

import numpy as np

from .clip import turns_by
from .curves import eased, runs


@dataclass(frozen=True)
class Bump:
    """A correction over time: none up to `start`, all from `first` to `last`, none from `end` on; None: it is kept.

    move, turn: (3,), the way and the rotation vector. place: (3,), about which it turns. edges, speeds: (2, 3), where
    the control is at `first` and `last`, and how fast by row, seen from between.
    """

    start: float | None
    first: float
    last: float
    end: float | None
    move: np.ndarray
    turn: np.ndarray
    place: np.ndarray
    edges: np.ndarray
    speeds: np.ndarray

    @property
    def rigid(self) -> np.ndarray:
        """How it moves and turns what stands, (4, 4)."""
        found = np.eye(4)
        found[:3, :3] = turns_by(self.turn)
        found[:3, 3] = self.move + self.place - found[:3, :3] @ self.place
        return found

    def moves(self, times: np.ndarray, places: np.ndarray) -> np.ndarray:
        """By how much a control goes that is at these places (n, 3), (n, 3)."""
        turned = turns_by(self.turn) - np.eye(3)
        inside = self.move + (places - self.place) @ turned.T
        for edge, away, until in ((0, self.first - times, self.start), (1, times - self.last, self.end)):
            value = self.move + turned @ (self.edges[edge] - self.place)
            slope = (turned @ self.speeds[edge]) * (1.0 if edge else -1.0)
            length = np.inf if until is None else abs((self.first, self.last)[edge] - until)
            share = np.clip(away / max(length, 1e-9), 0.0, 1.0)[:, None]
            kept = (1.0 + 2.0 * share) * (1.0 - share) ** 2 * value
            if np.isfinite(length):
                kept = kept + share * (1.0 - share) ** 2 * length * slope
            inside = np.where(away[:, None] > 0.0, kept, inside)
        return inside

    def turns(self, times: np.ndarray) -> np.ndarray:
        """The rotation vectors by which it turns a control, (n, 3)."""
        return self.shares(times)[:, None] * self.turn

    def shares(self, times: np.ndarray) -> np.ndarray:
        """How much of it there is, (n,), 0 to 1."""
        shares = np.ones(len(times))
        for away, until, edge in (
            (self.first - times, self.start, self.first),
            (times - self.last, self.end, self.last),
        ):
            if until is not None:
                shares = np.minimum(shares, eased(1.0 - away / max(abs(edge - until), 1e-9)))
        return shares

    def holds(self, times: np.ndarray) -> np.ndarray:
        """Whether there is anything of it, (n,) bool."""
        after = np.full(len(times), True) if self.start is None else times > self.start
        return after if self.end is None else after & (times < self.end)


def span_of(row: float, contacts: np.ndarray | None, fade: float) -> tuple[float | None, float, float, float | None]:
    """Start, first, last and end (see `Bump`) of a correction at a row.

    contacts: (2, T) bool, of a foot: in a contact it is that of the whole stance, in the air it fades to the contacts
    beside it. None, or where there is no contact on that side: it fades over so many rows.
    """
    stances = runs(contacts.any(axis=0)) if contacts is not None else []
    before = max((last for _, last in stances if last < row), default=None)
    after = min((first for first, _ in stances if first > row), default=None)
    own = next(((first, last) for first, last in stances if first <= row <= last), None)
    if own is not None:
        # What was moved at the end of a clip stays there.
        return before, float(own[0]), float(own[1]), after
    return (
        round(row - fade) if before is None else before,
        row,
        row,
        round(row + fade) if after is None else after,
    )


def lowering_for(hips: np.ndarray, ankles: np.ndarray, longest: np.ndarray, shares: np.ndarray) -> float:
    """The least way down of the body, times its share (n,) at each row, with which no leg is longer than it may be.

    hips, ankles: (legs, n, 3); longest: (legs, n).
    """
    away = ankles - hips
    aside = (away[..., :2] ** 2).sum(axis=-1)
    over = np.linalg.norm(away, axis=-1) > longest * (1.0 + 1e-9)
    falls = np.where(over, -away[..., 2] - np.sqrt(np.maximum(longest**2 - aside, 0.0)), 0.0).max(axis=0)
    needed = (falls > 0.0) & (shares > _LEAST)
    return float((falls[needed] / shares[needed]).max()) if needed.any() else 0.0


_LEAST = 0.4
"""Where a correction has faded as far, the body would have to go too far for it."""
