"""Corrections that fade: what moves and turns a control at one time does so less before and after, and then not at all.

Each is a bump of its own over what is below it, so their order does not matter. Where a foot stands, the whole stance
moves and turns like a rigid body. Times are frames, whole or not; places, moves and turns are in the world.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from ...solvers.carrier import lowering
from .clip import LegMotion, turns_by
from .curves import eased


@dataclass(frozen=True)
class Bump:
    """A correction over time: none up to `start`, all from `first` to `last`, none from `end` on; infinite: it is kept.

    move, turn: (3,), the way and the rotation vector. place: (3,), about which it turns. edges, speeds: (2, 3), where
    the control is at `first` and `last`, and how fast by frame, seen from between.
    """

    start: float
    first: float
    last: float
    end: float
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
        found = self.move + (places - self.place) @ turned.T
        for edge, (away, length, share) in enumerate(self._fades(times)):
            value = self.move + turned @ (self.edges[edge] - self.place)
            slope = (turned @ self.speeds[edge]) * (-1.0, 1.0)[edge] * (length < inf)
            faded = (1.0 - eased(share))[:, None] * value + (away * (1.0 - share) ** 2)[:, None] * slope
            found = np.where(away[:, None] > 0.0, faded, found)
        return found

    def turns(self, times: np.ndarray) -> np.ndarray:
        """The rotation vectors by which it turns a control, (n, 3)."""
        return self.shares(times)[:, None] * self.turn

    def shares(self, times: np.ndarray) -> np.ndarray:
        """How much of it there is, (n,), 0 to 1."""
        before, after = (1.0 - eased(share) for *_, share in self._fades(times))
        return np.minimum(before, after)

    def _fades(self, times: np.ndarray) -> list[tuple[np.ndarray, float, np.ndarray]]:
        """For both ends how far times are outside what is whole, how long it fades, and the part of that, 0 to 1."""
        ends = (self.first - times, self.first - self.start), (times - self.last, self.end - self.last)
        return [(away, length, np.clip(away / max(length, 1e-9), 0.0, 1.0)) for away, length in ends]


@dataclass(frozen=True, slots=True)
class Sum:
    """What corrections of one control make together, in any order."""

    bumps: Sequence[Bump]

    def moves(self, times: np.ndarray, places: np.ndarray) -> np.ndarray:
        """By how much the control goes that is at these places (n, 3), (n, 3)."""
        return np.sum([bump.moves(times, places) for bump in self.bumps], axis=0)

    def turns(self, times: np.ndarray) -> np.ndarray:
        """The rotation vectors by which it is turned, (n, 3)."""
        return np.sum([bump.turns(times) for bump in self.bumps], axis=0)

    def carries(self, times: np.ndarray, places: np.ndarray, points: np.ndarray) -> np.ndarray:
        """By how much points (..., n, 3) go that are carried by the control at these places."""
        arms = points - places
        return self.moves(times, places) + (turns_by(self.turns(times)) @ arms[..., None])[..., 0] - arms

    def holds(self, times: np.ndarray) -> np.ndarray:
        """Whether there is anything of them, (n,) bool."""
        return np.any([(times > bump.start) & (times < bump.end) for bump in self.bumps], axis=0)

    @property
    def knots(self) -> np.ndarray:
        """The times at which one begins, is whole, begins to fade, or ends."""
        return np.unique([(bump.start, bump.first, bump.last, bump.end) for bump in self.bumps])


Span = tuple[float, float, float, float]
"""Start, first, last and end of a correction, see `Bump`."""


def span_of(frame: float, stances: Sequence[tuple[int, int]], fade: float) -> Span:
    """The span of a correction at a frame.

    stances: first and last frames of a foot's: in one of them it is that of the whole stance, in the air it fades to
    those beside it. Where there is none on that side it fades over so many frames.
    """
    own = next((stance for stance in stances if stance[0] <= frame <= stance[1]), None)
    # What was moved at the end of a clip stays there.
    beyond = (-inf, inf) if own else (round(frame - fade), round(frame + fade))
    before = max((last for _, last in stances if last < frame), default=beyond[0])
    after = min((first for first, _ in stances if first > frame), default=beyond[1])
    return (before, float(own[0]), float(own[1]), after) if own else (before, frame, frame, after)


def given_by_body(
    clip: LegMotion, frames: np.ndarray, offsets: np.ndarray, feet: Sequence[tuple[int, Bump, bool]], legs: list[int]
) -> list[Bump]:
    """How the body gives for corrections of feet, straight down, so that legs reach; the `offsets` (limbs, T, 3) from
    hips to ankles change by all of it.

    clip: limbs over T frames, below corrections. feet: corrections with the number of the limb, and whether the body is
    to give for it. legs: the numbers of those that shall reach.
    """
    longest, found = clip.reaches[legs, None], []
    lengths = np.linalg.norm((clip.ankles - clip.hips)[legs], axis=2)
    # One after the other: what one asks for is not asked again of another, which fades there.
    for k, bump, asks in sorted(feet, key=lambda foot: (not foot[2], foot[1].first, foot[0])):
        offsets[k] += bump.moves(frames, clip.ankles[k])
        if not asks:
            continue
        shares = bump.shares(frames)
        # Where it fades, a leg may be straight: else the body would go far down for little.
        bent = (_STRAIGHT + shares * (_EXTENSION - _STRAIGHT)) * longest
        falls = lowering(offsets[legs], np.clip(lengths, bent, _STRAIGHT * longest))[0]
        needed = (falls > _SEEN * longest.max()) & (shares > _LEAST)
        if needed.any():
            down = np.array((0.0, 0.0, float((falls[needed] / shares[needed]).max())))
            found.append(replace(bump, move=-down, turn=np.zeros(3)))
            offsets += shares[:, None] * down
    return found


def short_limbs(clip: LegMotion, offsets: np.ndarray) -> dict[int, int]:
    """The limbs that do not reach with these offsets, and reached before; with the row at which it is so most."""
    lengths, before = (np.linalg.norm(each, axis=2) for each in (offsets, clip.ankles - clip.hips))
    beyond = lengths / np.maximum(before, _STRAIGHT * clip.reaches[:, None])
    return {k: int(own.argmax()) for k, own in enumerate(beyond) if own.max() > 1.0 + _SHORT}


_EXTENSION, _STRAIGHT = 0.985, 0.9999
"""Parts of a leg up to which the body need not give for it, and that it may not pass."""
_SHORT = 1e-3
"""Part of a limb from which on it is said to be short."""
_SEEN = 1e-9
"""Part of a leg by which less is rounding."""
_LEAST = 0.4
"""Where a correction has faded as far, the body would have to go too far for it."""
