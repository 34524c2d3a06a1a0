"""Curves whose end is brought to their beginning, so that a clip repeats without a seam. Frames are the first axis.

Half of the difference is taken at either end. It passes at constant speed, so that the seam is as smooth as the source;
for a foot it passes while the foot is in the air, so that no contact slides. What is left of the jump in speed at the
seam fades out beside it.
"""

from dataclasses import dataclass

import numpy as np

from ...planting.feet.in_time import frames_in, runs
from ...planting.feet.turns import applied, turns_by, vectors_of

FADE_TIME = 0.25
"""Seconds beside the seam in which a jump in speed fades."""


@dataclass(frozen=True)
class Passage:
    """When a difference passes.

    shares: (T,), how much of it, from -1/2 to 1/2. before, after: in how many frames before the seam, and after it, a
    jump in speed may fade.
    """

    shares: np.ndarray
    before: int
    after: int


def passage(count: int, fps: float) -> Passage:
    """Of what is free at all times, over `count` frames."""
    fade = min(frames_in(FADE_TIME, fps), (count - 1) // 2)
    return Passage(np.linspace(-0.5, 0.5, count), fade, fade)


def passage_between(locked: np.ndarray, fps: float) -> Passage:
    """Of a foot that may not move in some frames, (T,) bool. If it is never free, as of what always is."""
    free = passage(len(locked), fps)
    weights = _swings(~(locked[1:] & locked[:-1]))
    if not weights.any():
        return free
    shares = np.concatenate(((0.0,), np.cumsum(weights))) / weights.sum() - 0.5
    stands = np.flatnonzero(locked)
    if not len(stands):
        return Passage(shares, free.before, free.after)
    return Passage(shares, min(free.before, len(locked) - 1 - int(stands[-1])), min(free.after, int(stands[0])))


def _swings(moving: np.ndarray) -> np.ndarray:
    """How much of a difference passes in each step between frames, (T - 1,): smoothly within each swing. moving: which
    of them are in one. A swing at the end goes on at the beginning."""
    weights = np.zeros(len(moving))
    found = [list(range(first, last + 1)) for first, last in runs(moving)]
    if len(found) > 1 and moving[0] and moving[-1]:
        found[0] = found.pop() + found[0]
    for steps in found:
        weights[steps] = 1.0 - np.cos(2.0 * np.pi * (np.arange(len(steps)) + 0.5) / len(steps))
    return weights


def closed_values(values: np.ndarray, passed: Passage) -> np.ndarray:
    """Values (T, n), so that the last row is the first one."""
    values = values + passed.shares[:, None] * (values[0] - values[-1])
    return values + _faded(_jump(np.diff(values, axis=0)), passed)


def closed_turns(turns: np.ndarray, passed: Passage) -> np.ndarray:
    """Rotations (T, 3, 3), turned in their own axes."""
    way = vectors_of(turns[-1].T @ turns[0])
    turns = turns @ turns_by(passed.shares[:, None] * way)
    return turns @ turns_by(_faded(_jump(_steps(turns)), passed))


def closed_poses(
    places: np.ndarray, turns: np.ndarray, passed: Passage, pivots: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Places (T, 3) and orientations (T, 3, 3) of something that is moved as a whole.

    pivots: (T, 3), about which it turns; None for its place. See `pivots_of`.
    """
    shares = turns_by(passed.shares[:, None] * vectors_of(turns[0] @ turns[-1].T))
    moved = places if pivots is None else pivots + applied(shares, places - pivots)
    turns = shares @ turns
    return closed_values(moved, passed), turns @ turns_by(_faded(_jump(_steps(turns)), passed))


def pivots_of(places: np.ndarray, locked: np.ndarray) -> np.ndarray:
    """The middle of each contact of a foot, (T, 3), and between them straight on. About them it turns as a whole, so
    that each point of it that stands, stands as before.

    places: (T, 3), seen from the ground. locked: (T,) bool, when it is in contact.
    """
    if not locked.any():
        return places
    pivots, rows = places.copy(), np.arange(len(places))
    for first, last in runs(locked):
        pivots[first : last + 1] = places[first : last + 1].mean(axis=0)
    known = np.flatnonzero(locked)
    return np.stack([np.interp(rows, known, column[known]) for column in pivots.T], axis=1)


def _steps(turns: np.ndarray) -> np.ndarray:
    """By how much rotations (T, 3, 3) turn from frame to frame, (T - 1, 3), in their own axes."""
    return vectors_of(turns[:-1].swapaxes(1, 2) @ turns[1:])


def _jump(steps: np.ndarray) -> np.ndarray:
    """By how much (n,) steps (T - 1, n) change at the seam beyond what the steps beside it lead to expect.

    As far as that is more than anywhere else in the clip: a clip that is a loop has no jump.
    """
    if len(steps) < 4:
        return steps[0] - steps[-1]

    def unexpected(four: np.ndarray) -> np.ndarray:
        before, last, first, after = four
        return (first - last) - 0.5 * ((after - first) + (last - before))

    seam, count = unexpected(steps[[-2, -1, 0, 1]]), len(steps) - 3
    inside = unexpected(np.array([steps[k : k + count] for k in range(4)]))
    usual, size = np.linalg.norm(inside, axis=1).max(), np.linalg.norm(seam)
    return seam * (1.0 - usual / size) if size > usual else np.zeros_like(seam)


def _faded(jump: np.ndarray, passed: Passage) -> np.ndarray:
    """What is to be added, (T, n), so that a jump in speed at the seam, by frame (n,), is met on both sides."""
    added = np.zeros((len(passed.shares), len(jump)))
    room = passed.before + passed.after
    for count, rows in ((passed.after, slice(None)), (passed.before, slice(None, None, -1))):
        if count > 1:
            t = np.arange(count + 1) / count
            bump = count * t * (1.0 - t) ** 2 / (1.0 - 1.0 / count) ** 2
            added[rows][: count + 1] -= count / room * bump[:, None] * jump
    return added
