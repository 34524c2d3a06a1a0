"""How far a body travels over frames: its path, the speed at which its feet stand, curves that close for a loop, and
the best cycle in a clip.
"""

from dataclasses import dataclass

import numpy as np

from ..planting.feet.clip import UP, LegMotion, applied, turns_by, vectors_of
from ..planting.feet.contacts import HeelAndBall, sole_of
from ..planting.feet.curves import frames_in, runs
from ..planting.feet.options import Options
from ..planting.feet.treadmill import SPREAD, Standing, stands_on
from ..solvers.arrays import multiply

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


_PASSES = 2
"""Contacts are found again once the ground stands better."""

_EDGE = 0.25
"""Part of a contact at either end in which a foot may not have come to rest yet, or leave already."""

_AGREED, _SEVERAL = 0.1, 3
"""So many contacts, and half of all time in contact, agree on a drift if without it they slide as little as this part
of before."""


def standing_velocity(clip: LegMotion) -> np.ndarray:
    """The velocity (3,), level, world units a second, at which a clip in place travels with feet that stand.

    Against the belt below its feet, corrected by how what touches the ground still drifts on that. Zero if the clip
    travels, or if its feet go backward at no common speed.
    """
    belt = found = stands_on(clip, Options()).ground.velocity
    if not belt.any():
        return belt
    for _ in range(_PASSES):
        seen = Standing(found, None).seen_from(clip)
        found = found + drift_of(seen, sole_of(seen), SPREAD * float(np.linalg.norm(belt)))
    return -found


def drift_of(clip: LegMotion, sole: HeelAndBall, most: float) -> np.ndarray:
    """The level velocity (3,) that most contacts share: the median of the lines through their points that fit best.

    A longer contact counts more, as its line is better known. One that is faster than `most` is on another belt. Zero
    if they agree on none.
    """
    places, contacts = sole.places(clip.ankles, clip.feet), stands_on(clip, Options()).contacts
    slopes, weights, whole = [np.zeros(2)], [0.0], 0.0
    for leg, point in np.ndindex(contacts.shape[:2]):
        for first, last in runs(contacts[leg, point]):
            edge = int(_EDGE * (last - first + 1))
            since = np.arange(last - first + 1.0 - 2 * edge) / clip.fps
            since -= since.mean()
            weight = float(since @ since)
            whole += weight
            if weight:
                slope = since @ places[leg, point, first + edge : last + 1 - edge, :2] / weight
                if np.linalg.norm(slope) <= most:
                    slopes.append(slope)
                    weights.append(weight)
    drift = np.array([_median(column, np.array(weights)) for column in np.transpose(slopes)])
    before, after = (np.linalg.norm(np.array(slopes) - way, axis=1) @ weights for way in (np.zeros(2), drift))
    agree = len(slopes) > _SEVERAL and 2.0 * sum(weights) > whole and after <= _AGREED * before
    return np.array((*drift, 0.0)) if agree else np.zeros(3)


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(below, 0.5 * below[-1])])


@dataclass(frozen=True)
class RootPath:
    """How far something has come since the first frame.

    moves: (T, 3), world units. headings: (T,), radians about world Z, continuous.
    """

    moves: np.ndarray
    headings: np.ndarray

    @property
    def straight(self) -> "RootPath":
        """The way to the same end at constant speed."""
        shares = np.linspace(0.0, 1.0, len(self.headings))
        return RootPath(shares[:, None] * self.moves[-1], shares * self.headings[-1])


def way_of(places: np.ndarray, turns: np.ndarray, height: bool = False, heading: bool = False) -> RootPath:
    """The way of a body over the ground. places: (T, 3). turns: its orientations, quaternions (T, 4).

    height: whether the way goes up and down as well. heading: whether it turns.
    """
    moves = places - places[0]
    if not height:
        moves = moves * (1.0, 1.0, 0.0)
    return RootPath(moves, headings_of(turns) if heading else np.zeros(len(places)))


def headings_of(turns: np.ndarray) -> np.ndarray:
    """(T,), how far orientations (T, 4) have turned about world Z since the first one, in radians.

    The rest of the turn is about a level axis. So leaning does not count, up to half a turn.
    """
    since = multiply(turns, turns[:1] * (1.0, -1.0, -1.0, -1.0))
    return np.unwrap(2.0 * np.arctan2(since[:, 3], since[:, 0]), period=2.0 * np.pi)


def moved_along(first: np.ndarray, way: RootPath) -> np.ndarray:
    """The poses (T, 4, 4) of something that is at `first` (4, 4), and goes a way. It turns about its own origin."""
    poses = np.tile(first, (len(way.headings), 1, 1))
    poses[:, :3, :3] = turns_by(way.headings[:, None] * UP) @ first[:3, :3]
    return shifted(poses, way.moves)


def shifted(poses: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """Poses (T, 4, 4) moved by (T, 3)."""
    poses = poses.copy()
    poses[:, :3, 3] += moves
    return poses


SHORTEST_TIME = 0.4
"""Seconds that a cycle lasts at least: no character walks or runs faster."""
SPEED_TIME = 0.1
"""Seconds over which a difference in speed counts as the difference in place that it makes."""
CONTACT = 0.1
"""Difference in place as which a foot counts that stands at one of the frames alone, part of the size."""
HAPPENS = 0.25
"""Of how far two frames of the clip are usually apart: as far from its beginning a cycle goes at least."""
COMES_BACK = 0.5
"""Of how far a cycle goes from its beginning: its end is no farther from that."""
AS_GOOD = 1.25, 0.02
"""How near ends are is seen beside how far the cycle goes. The shortest, in steps if it has any, is taken that is up to
this many times as far apart as the best one, plus this."""
ALONG = 0.5
"""A bone travels with the body if it goes this part of the body's way at least."""
MOST_LIFTS = 3
"""A cycle is one step of each leg, or a few: so often one is lifted at most."""
MOST = 1500
"""Frames that are compared with each other at most; of longer clips every so many is."""


def best_cycle(places: np.ndarray, body: np.ndarray, locked: np.ndarray, fps: float) -> tuple[int, int] | None:
    """The first and last row of the best cycle in T frames; None if there is none.

    places: (T, n, 3), of the bones in the world. body: (T, 3), of what travels, whose way over the ground does not
    count. locked: (legs, T) bool, when each foot stands.
    """
    step = -(-len(places) // MOST)
    least = max(2, int(np.ceil(SHORTEST_TIME * fps / step)))
    away = _differences(_features(places, body, locked, fps)[::step])
    if len(away) <= least:
        return None
    ahead = np.triu(away)
    farthest = np.maximum.accumulate(ahead, axis=1)
    lifts = np.cumsum(np.pad(locked[:, :-1] & ~locked[:, 1:], ((0, 0), (1, 0))), axis=1)[:, ::step]
    most = (lifts[:, None] - lifts[:, :, None]).max(axis=0, initial=0)
    happens = (
        (most <= MOST_LIFTS)
        & (farthest >= HAPPENS * np.median(away))
        & (away <= COMES_BACK * farthest)
        & (farthest > 0.0)
    )
    rows, columns = np.nonzero(np.triu(happens, least))
    if not len(rows):
        return None
    found = away[rows, columns] / farthest[rows, columns]
    times, plus = AS_GOOD
    good = found <= times * found.min() + plus
    rows, columns, found = rows[good], columns[good], found[good]
    steps, lengths = most[rows, columns], columns - rows
    best = np.lexsort((found, np.where(steps, 0, lengths), steps))[0]
    return int(rows[best]) * step, int(columns[best]) * step


def _features(places: np.ndarray, body: np.ndarray, locked: np.ndarray, fps: float) -> np.ndarray:
    """What is compared of each frame, (T, m): its Euclidean distance is a part of the character's size."""
    level = body * (1.0, 1.0, 0.0)
    way = level[-1] - level[0]
    # A root that stays behind is seen where it is.
    goes = (places[-1] - places[0]) @ way >= ALONG * way @ way
    seen = places - level[:, None] * goes[None, :, None]
    seen = seen / max(float(np.ptp(seen[0], axis=0).max()), 1e-9)
    speeds = np.gradient(seen, axis=0) * fps * SPEED_TIME
    count, legs = np.sqrt(seen.shape[1]), np.sqrt(max(len(locked), 1))
    flat = [each.reshape(len(seen), -1) / count for each in (seen, speeds)]
    return np.concatenate([*flat, CONTACT * locked.T / legs], axis=1)


def _differences(features: np.ndarray) -> np.ndarray:
    """How far each frame is from each other one, (T, T)."""
    squares = np.square(features).sum(axis=1)
    return np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * features @ features.T, 0.0))
