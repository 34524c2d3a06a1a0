"""Where each contact is locked: heel and ball of a stance at places that one rigid foot can have."""

from dataclasses import dataclass, replace

import numpy as np

from .clip import LegMotion, mean_turn
from .contacts import (
    BALL,
    HEEL,
    Ground,
    HeelAndBall,
    flat_foot,
    footprint,
    on_ground,
    pivoted,
    under,
    way_back,
    way_to_footing,
)
from .curves import frames_in, runs
from .exact import is_planted, stand_exactly
from .loops import cycles_around, in_cycles, own_frames, unrolled
from .options import ARRIVED, FASTEST_STAND, SETTLE_RADIUS, SETTLE_TIME, SHORTEST_GAP


@dataclass(frozen=True)
class Lock:
    """A heel or ball that stands still.

    leg: its number. point: 0 for the heel, 1 for the ball. first, last: frames. place: (3,), in the world.
    """

    leg: int
    point: int
    first: int
    last: int
    place: np.ndarray


@dataclass(frozen=True)
class Flat:
    """A foot of which heel and ball stand still.

    leg: its number. first, last: frames. foot: (3, 3), its orientation.
    """

    leg: int
    first: int
    last: int
    foot: np.ndarray


@dataclass(frozen=True)
class Anchors:
    """All locks of a clip, and the flat feet among them."""

    locks: tuple[Lock, ...]
    flats: tuple[Flat, ...]


def settled(clip: LegMotion, sole: HeelAndBall, contacts: np.ndarray) -> np.ndarray:
    """Contacts (legs, 2, T) without the frames at either end in which the captured point has not come to rest.

    A point that stands exactly, such as one that was planted, is in contact as long as it does. A contact over the seam
    of a loop is one.
    """
    cycles = cycles_around(clip)
    if not cycles:
        return _settled(clip, sole, contacts)
    around = _settled(unrolled(clip, cycles), sole, in_cycles(clip, contacts, cycles))
    return around[..., own_frames(clip, cycles)]


def _settled(clip: LegMotion, sole: HeelAndBall, contacts: np.ndarray) -> np.ndarray:
    result = contacts.copy()
    places = sole.places(clip.ankles, clip.feet)
    exact = stand_exactly(clip, places)
    planted = _planted(clip, contacts, exact)
    for leg, point in np.ndindex(contacts.shape[:2]):
        way, own = places[leg, point], result[leg, point]
        for first, last in runs(contacts[leg, point]):
            stands = [run for run in runs(exact[leg, point]) if run[0] <= last and first <= run[1]]
            shared = np.count_nonzero(exact[leg, point, first : last + 1])
            if planted[(first + last) // 2] or 2 * shared > last - first:
                own[first : last + 1] = False
                for start, end in stands:
                    own[start : end + 1] = True
                continue
            before, after = _unsettled(way[first : last + 1], clip)
            own[first : first + before * (first > 0)] = False
            own[last + 1 - after * (last < clip.frame_count - 1) : last + 1] = False
    return result


def _planted(clip: LegMotion, contacts: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """(T,) bool, around which frames of a clip that was planted the feet stand exactly most of the time in which they
    touch: what else touches there was left as it is, and would be planted once more."""
    if not is_planted(clip):
        return np.zeros(clip.frame_count, bool)
    counts = ((contacts & exact) - 0.5 * contacts).sum(axis=(0, 1))
    sums = np.concatenate(((0.0,), np.cumsum(counts)))
    frames, half = np.arange(clip.frame_count), frames_in(PLANTED_TIME, clip.fps)
    return sums[np.minimum(frames + half + 1, clip.frame_count)] > sums[np.maximum(frames - half, 0)]


PLANTED_TIME = 2.0
"""Seconds to either side from which a clip tells that it was planted."""


def _unsettled(way: np.ndarray, clip: LegMotion) -> tuple[int, int]:
    """In how many frames at the beginning and the end of a contact its point (n, 3) is not at its resting place."""
    quarter = len(way) // 4
    if not quarter:
        return 0, 0
    most = min(int(SETTLE_TIME * clip.fps), quarter)
    # Where it rests after that: a foot that skates for long does not drift all the time as in its middle.
    near = slice(most, min(len(way) - quarter, max(3 * most, most + 3)))
    middle = way[quarter : len(way) - quarter].mean(axis=0)

    def moving(way: np.ndarray) -> int:
        rest, times = way[near].mean(axis=0), np.arange(len(way)) - 0.5 * (near.start + near.stop - 1)
        drift = times[near] @ (way[near] - rest) / max(times[near] @ times[near], 1e-9)
        at_rest = np.linalg.norm(way - rest - times[:, None] * drift, axis=1) <= SETTLE_RADIUS * clip.size
        speeds = np.linalg.norm(np.diff(way[: quarter + 1], axis=0), axis=1) * clip.fps
        away = np.linalg.norm(way[:quarter] - middle, axis=1)
        coming = np.flatnonzero((speeds > FASTEST_STAND * clip.size) & (away > ARRIVED * clip.size))
        return max(int(np.argmax(np.append(at_rest[:most], True))), int(coming[-1]) + 1 if len(coming) else 0)

    return moving(way), moving(way[::-1])


def joined(clip: LegMotion, sole: HeelAndBall, contacts: np.ndarray) -> np.ndarray:
    """Contacts of heel and ball of one stance, made to overlap, since a foot cannot go from one to the other at once.

    Both are one for a foot that is a point. Contacts that overlap already are left as they are.
    """
    result = contacts.copy()
    reach = frames_in(SHORTEST_GAP, clip.fps)
    for leg in range(clip.leg_count):
        if sole.is_point(leg):
            result[leg] = result[leg].any(axis=0)
            continue
        for point in (HEEL, BALL):
            other = result[leg, 1 - point]
            for _, last in runs(result[leg, point]):
                soon = np.flatnonzero(other[last + 1 : last + 2 + reach])
                if len(soon) and not other[last]:
                    result[leg, point, last + 1 : last + 2 + soon[0]] = True
    return result


def anchors_of(
    clip: LegMotion, sole: HeelAndBall, contacts: np.ndarray, ground: Ground | None, find_footing: bool = False
) -> Anchors:
    """The places of all contacts (legs, 2, T): on the ground, or if there is none as captured in the mean.

    Flat feet come first, from the longest of a stance outwards: where the next one shares a heel or ball with it, it
    turns about that. So heel strike, stance and heel off are pivots of one rigid foot. find_footing: stances over an
    edge of the ground are moved beside it.
    """
    places = sole.places(clip.ankles, clip.feet)
    locks: list[Lock] = []
    flats: list[Flat] = []
    for leg in range(clip.leg_count):
        below = under(sole, leg, ground)
        spans = [runs(contact) for contact in contacts[leg]]
        flat_runs = runs(contacts[leg].all(axis=0))
        middles = {(first, last): places[leg, :, first : last + 1].mean(axis=(0, 1)) for first, last in flat_runs}
        stances = _stances(flat_runs, spans)
        if find_footing and below is not None:
            _find_footing(clip, sole, leg, stances, spans, middles, below)
        found: dict[tuple[int, int, int], np.ndarray] = {}
        if sole.is_point(leg):
            spans[HEEL] = []
            found = {(BALL, *flat): on_ground(middle, below) for flat, middle in middles.items()}
        else:
            flats += _flats_of(clip, sole, leg, middles, spans, below, found)
        for point in (HEEL, BALL):
            for first, last in spans[point]:
                place = found.get((point, first, last))
                if place is None:
                    place = on_ground(places[leg, point, first : last + 1].mean(axis=0), below)
                locks.append(Lock(leg, point, first, last, place))
    return Anchors(tuple(locks), tuple(flats))


def _find_footing(
    clip: LegMotion,
    sole: HeelAndBall,
    leg: int,
    stances: list[list[tuple[int, int]]],
    spans: list[list[tuple[int, int]]],
    middles: dict[tuple[int, int], np.ndarray],
    ground: Ground,
) -> None:
    """Move the middles of one leg's flat feet beside edges of the ground, all of a stance by the same.

    A foot that comes back against the way of the body makes no step: it stays on the tread that it stood on.
    """
    hips, before = clip.hips.mean(axis=0), None
    for stance in stances:
        way, (first, _) = np.zeros(3), stance[0]
        if before is not None:
            back, ahead = middles[stance[0]] - middles[before], hips[first] - hips[before[1]]
            if back[:2] @ ahead[:2] < 0.0:
                way = way_back(middles[stance[0]], middles[before], ground)
        frames = [end + 1 - start for start, end in stance]
        turns = [mean_turn(clip.feet[leg, start : end + 1]) for start, end in stance]
        prints = [footprint(turn, sole.points[leg], clip.size) for turn in turns]
        # The longest has its place, the others stand where they share its ball or heel.
        main, arms = int(np.argmax(frames)), np.array(turns) @ (sole.points[leg] - sole.points[leg].mean(axis=0)).T
        places = np.array([middles[flat] for flat in stance])
        for k, flat in enumerate(stance):
            shared = [p for p in (BALL, HEEL) if _owner(flat, p, spans) == _owner(stance[main], p, spans)]
            if shared:
                places[k] = middles[stance[main]] + arms[main][:, shared[0]] - arms[k][:, shared[0]]
        way = way_to_footing(prints, frames, places, ground, way)
        for flat in stance:
            middles[flat] = middles[flat] + way
        before = stance[-1]


def _owner(flat: tuple[int, int], point: int, spans: list[list[tuple[int, int]]]) -> tuple[int, int, int]:
    """The contact of a heel or ball, by point, first and last frame, to which frames belong in which both stand."""
    return point, *next(span for span in spans[point] if span[0] <= flat[0] and flat[1] <= span[1])


def _flats_of(
    clip: LegMotion,
    sole: HeelAndBall,
    leg: int,
    middles: dict[tuple[int, int], np.ndarray],
    spans: list[list[tuple[int, int]]],
    ground: Ground | None,
    found: dict[tuple[int, int, int], np.ndarray],
) -> list[Flat]:
    """One leg's flat feet, by their middles; puts the places of their heels and balls into `found`, by point, first and
    last frame."""
    keys = {flat: (_owner(flat, HEEL, spans), _owner(flat, BALL, spans)) for flat in middles}
    points = sole.points[leg]
    todo = sorted(middles, key=lambda flat: flat[0] - flat[1])
    flats = []
    while todo:
        flat = next((flat for flat in todo if any(key in found for key in keys[flat])), todo[0])
        todo.remove(flat)
        first, last = flat
        foot, ankle = flat_foot(clip.feet[leg, first : last + 1], points, sole.normals[leg], middles[flat], ground)
        given = next((point for point in (BALL, HEEL) if keys[flat][point] in found), None)
        if given is not None:
            pivot = found[keys[flat][given]]
            foot = pivoted(foot, points[1 - given] - points[given], pivot, ground)
            ankle = pivot - foot @ points[given]
        for point in (HEEL, BALL):
            found.setdefault(keys[flat][point], ankle + foot @ points[point])
        flats.append(Flat(leg, first, last, foot))
    return flats


def _stances(flat_runs: list[tuple[int, int]], spans: list[list[tuple[int, int]]]) -> list[list[tuple[int, int]]]:
    """Flat runs of one leg, together where one shares a heel or ball with the next."""
    stances: list[list[tuple[int, int]]] = []
    for flat in flat_runs:
        if stances and any(_owner(flat, p, spans) == _owner(stances[-1][-1], p, spans) for p in (HEEL, BALL)):
            stances[-1].append(flat)
        else:
            stances.append([flat])
    return stances


@dataclass(frozen=True)
class Stance:
    """One foot from its first contact to its last one before it leaves the ground.

    leg: its number. first, last: frames. locks, flats: what of the anchors belongs to it.
    """

    leg: int
    first: int
    last: int
    locks: tuple[Lock, ...]
    flats: tuple[Flat, ...]

    @property
    def place(self) -> np.ndarray:
        """(3,), the mean of its locks, each as long as it lasts: where a footprint is put."""
        lasting = [lock.last - lock.first + 1 for lock in self.locks]
        return np.average([lock.place for lock in self.locks], axis=0, weights=lasting)


def stances_of(anchors: Anchors) -> list[Stance]:
    """The stances of all legs: locks of one leg that follow each other without a frame between them."""
    stances: list[Stance] = []
    for lock in sorted(anchors.locks, key=lambda lock: (lock.leg, lock.first)):
        before = stances[-1] if stances else None
        if before and before.leg == lock.leg and lock.first <= before.last + 1:
            stances[-1] = replace(before, last=max(before.last, lock.last), locks=(*before.locks, lock))
        else:
            stances.append(Stance(lock.leg, lock.first, lock.last, (lock,), ()))
    return [
        replace(stance, flats=tuple(flat for flat in anchors.flats if _is_within(flat, stance))) for stance in stances
    ]


def standing(anchors: Anchors, shape: tuple[int, int]) -> np.ndarray:
    """(legs, T) bool, the shape: in which frames each leg stands on an anchor."""
    stands = np.zeros(shape, bool)
    for lock in anchors.locks:
        stands[lock.leg, lock.first : lock.last + 1] = True
    return stands


def moved(stance: Stance, turn: np.ndarray, shift: np.ndarray) -> Stance:
    """A stance turned (3, 3) about its place and then moved by (3,)."""
    place = stance.place
    return replace(
        stance,
        locks=tuple(replace(lock, place=place + turn @ (lock.place - place) + shift) for lock in stance.locks),
        flats=tuple(replace(flat, foot=turn @ flat.foot) for flat in stance.flats),
    )


def anchors_in(stances: list[Stance]) -> Anchors:
    """The anchors of stances: what `stances_of` took apart, put together."""
    return Anchors(
        tuple(lock for stance in stances for lock in stance.locks),
        tuple(flat for stance in stances for flat in stance.flats),
    )


def _is_within(flat: Flat, stance: Stance) -> bool:
    return flat.leg == stance.leg and stance.first <= flat.first and flat.last <= stance.last


def same_places(some: Anchors, others: Anchors) -> bool:
    """True if all locks are where those of other anchors are, and all flat feet turned as those."""

    def by_frames(anchors: Anchors) -> list[np.ndarray]:
        locks = sorted(anchors.locks, key=lambda lock: (lock.leg, lock.first, lock.point))
        flats = sorted(anchors.flats, key=lambda flat: (flat.leg, flat.first))
        return [*(lock.place for lock in locks), *(flat.foot for flat in flats)]

    return all(map(np.array_equal, by_frames(some), by_frames(others)))


def within(anchors: Anchors, own: slice) -> Anchors:
    """What there is of anchors in some of the frames, counted from the first of these."""

    def cut(each):
        first, last = max(each.first, own.start), min(each.last, own.stop - 1)
        return replace(each, first=first - own.start, last=last - own.start)

    def inside(each) -> bool:
        return each.first < own.stop and each.last >= own.start

    return Anchors(tuple(map(cut, filter(inside, anchors.locks))), tuple(map(cut, filter(inside, anchors.flats))))


def repeated(anchors: Anchors, first: int, last: int, way: np.ndarray) -> Anchors:
    """Anchors of a loop whose last frame is its first one again, farther by a way (3,), where what stands there stands
    as at the first: frames before the one and after the other are not quite alike."""

    def key(each) -> tuple:
        return each.leg, getattr(each, "point", None)

    begins = {key(each): each for each in (*anchors.locks, *anchors.flats) if each.first <= first <= each.last}

    def again(each):
        own = begins.get(key(each), each)
        if own is each or not each.first <= last <= each.last:
            return each
        return replace(each, foot=own.foot) if isinstance(each, Flat) else replace(each, place=own.place + way)

    return Anchors(tuple(map(again, anchors.locks)), tuple(map(again, anchors.flats)))
