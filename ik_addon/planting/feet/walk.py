"""A clip seen as a walk: the way that its body goes over the ground, and when it passes each foot."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .anchors import Anchors, Stance, anchors_of, joined, stances_of
from .clip import LegMotion, applied
from .contacts import BALL, HEEL, HeelAndBall
from .curves import cubic_at, eased, frames_in, mean_inside, runs, slope, smooth, smooth_inside
from .loops import cycles_around, in_cycles, own_frames, unrolled
from .options import SLOPE_TIME
from .path import unit

STANDING = 0.25
"""Speed of the body, leg lengths a second, below which it has no direction."""
SHORTEST_WAY = 1.0
"""A way that is shorter, leg lengths, is a shuffle and has no direction."""
BACKWARD = np.radians(120.0)
"""A direction that changes by more while the body does not turn is a way back on the same path."""
BACK_ON_WAY = 3.0
"""Over so many leg lengths a walk comes back to its way after a shuffle to the side."""
SMOOTHED = 0.5
"""Steps over which the way is smoothed, to either side, once averaged over two: a limp left in it would get worse by
longer steps, and over more it would cut where a walk turns back."""
STEP_TIME = 0.5
"""Seconds of a step, where a clip has too few to tell."""
SHORT_STEP = 0.1, 0.4
"""Lengths of steps below which time tells how far a swing has come, and from which on the foot's own way does."""
SOFT = 0.15
"""Part of a swing over which that way is averaged: so it begins and ends at rest."""
LATE = 0.02
"""Part of a leg by which a foot may be ahead of where it is passed, for each step that this is nearer in time."""


@dataclass(frozen=True)
class OwnWay:
    """The way of a clip's body over its T frames, and over `margin` frames before and after, as it goes on.

    places: (margin + T + margin, 3), on the ground. headings: which way it goes, radians. ways: how far it has come;
    less again where it walks backward. asides: how far it is to the left of where that led.
    """

    places: np.ndarray
    headings: np.ndarray
    ways: np.ndarray
    asides: np.ndarray
    margin: int

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Places, headings, ways and asides at times (...), in frames."""
        rows = np.clip(times + self.margin, 0.0, len(self.ways) - 1.0)
        places, headings, ways, asides = (
            cubic_at(each, rows) for each in (self.places, self.headings, self.ways, self.asides)
        )
        return places, headings, ways, asides

    @property
    def length(self) -> float:
        """How far it comes from the first frame to the last."""
        return float(self.ways[-1 - self.margin] - self.ways[self.margin])


@dataclass(frozen=True)
class Walk:
    """Legs over T frames, as they walk. contacts: (legs, 2, T) bool, where their heels and balls stand."""

    clip: LegMotion
    sole: HeelAndBall
    contacts: np.ndarray

    @cached_property
    def anchors(self) -> Anchors:
        """Where they stand, as captured."""
        return anchors_of(self.clip, self.sole, joined(self.clip, self.sole, self.contacts), None)

    @cached_property
    def stops(self) -> list[list[tuple[int, int, np.ndarray]]]:
        """By leg the first and last frame and the place of each stance; the clip's ends too, where a foot is in the air
        there."""
        found, last = [], self.clip.frame_count - 1
        for leg in range(self.clip.leg_count):
            own = [(each.first, each.last, self._place(each)) for each in stances_of(self.anchors) if each.leg == leg]
            if not own or own[0][0] > 0:
                own.insert(0, (0, 0, self._middles[leg, 0]))
            if own[-1][1] < last:
                own.append((last, last, self._middles[leg, last]))
            found.append(own)
        return found

    @cached_property
    def step(self) -> int:
        """How many frames a step takes."""
        starts = [
            [each.first for each in stances_of(self.anchors) if each.leg == leg] for leg in range(len(self.stops))
        ]
        # Legs step alike: one whose contact is found in two parts does not step twice.
        cycles = [np.median(np.diff(own)) for own in starts if len(own) > 1]
        return max(1, round(max(cycles) / 2.0)) if cycles else frames_in(STEP_TIME, self.clip.fps)

    @cached_property
    def stride(self) -> float:
        """How far the body goes while each foot makes a step; a leg's length if it stands."""
        speeds = np.abs(np.diff(self.way.ways[self.way.margin : -self.way.margin]))
        fast = speeds[speeds * self.clip.fps > STANDING * self.clip.size]
        return 2.0 * self.step * float(np.median(fast)) if len(fast) else self.clip.size

    @cached_property
    def _middles(self) -> np.ndarray:
        """(legs, T, 3), the middle between heel and ball of each foot."""
        return self.clip.ankles + applied(self.clip.feet, self.sole.points.mean(axis=1)[:, None])

    def _place(self, stance: Stance) -> np.ndarray:
        """(3,), the same of a foot as it stands, also where the clip's ends cut off what heel or ball do."""
        points, feet = self.sole.points[stance.leg], self.clip.feet[stance.leg, stance.first : stance.last + 1]
        found = []
        for point in (HEEL, BALL):
            own = [lock.place for lock in stance.locks if lock.point == point]
            if own:
                ahead = (feet @ (points[1 - point] - points[point])).mean(axis=0) * (1.0, 1.0, 0.0)
                found.append((np.mean(own, axis=0), np.mean(own, axis=0) + ahead))
        return np.mean(found[0] if len(found) == 1 else [place for place, _ in found], axis=0)

    def _between(self, leg: int, values: list) -> np.ndarray:
        """(T, ...): a value for each stop of a leg, going over from each to the next as the foot does in the air."""
        stops, result = self.stops[leg], np.empty((self.clip.frame_count, *np.shape(values[0])))
        for (first, last, _), value in zip(stops, values, strict=True):
            result[first : last + 1] = value
        for k in range(len(stops) - 1):
            start, end = stops[k][1], stops[k + 1][0]
            share = self._progress(leg, start, end).reshape(-1, *[1] * np.ndim(values[k]))
            result[start : end + 1] = (1.0 - share) * values[k] + share * values[k + 1]
        return result

    def _progress(self, leg: int, start: int, end: int) -> np.ndarray:
        """From 0 to 1, how far a foot has come over the frames of a swing."""
        share = eased(np.arange(end - start + 1) / max(end - start, 1))
        way = self._middles[leg, start : end + 1, :2] - self._middles[leg, start, :2]
        length = float(np.linalg.norm(way[-1]))
        if length <= 0.0:
            return share
        short, long = SHORT_STEP
        trust = eased(np.array((length / self.clip.size - short) / (long - short)))
        return share + trust * smooth_inside(way @ way[-1] / length**2 - share, round(SOFT * (end - start)))

    @cached_property
    def feet(self) -> np.ndarray:
        """(legs, T, 3), where each foot stands, or between two such places."""
        return np.array([self._between(leg, [place for *_, place in own]) for leg, own in enumerate(self.stops)])

    @cached_property
    def facing(self) -> np.ndarray:
        """(T,), how far the hips have turned about the vertical since the first frame, radians."""
        around = self.clip.hips[..., :2] - self.clip.hips[..., :2].mean(axis=0)
        flat = around[..., 0] + 1j * around[..., 1]
        return smooth(np.unwrap(np.angle((np.conj(flat[:, :1]) * flat).sum(axis=0))), self.step)

    @cached_property
    def _whole(self) -> tuple["Walk", int]:
        """It with its cycles before and after, if it is a loop: half a stride at its ends would limp; and where it
        begins there."""
        cycles = cycles_around(self.clip)
        if not cycles:
            return self, 0
        whole = Walk(unrolled(self.clip, cycles), self.sole, in_cycles(self.clip, self.contacts, cycles))
        return whole, own_frames(self.clip, cycles).start

    @cached_property
    def way(self) -> OwnWay:
        """The mean of the feet, each where it stands or between, without the speed's change from step to step."""
        whole, first = self._whole
        margin = whole._way.margin + first
        return replace(whole._way, ways=whole._way.ways - whole._way.ways[margin], margin=margin)

    @cached_property
    def _way(self) -> OwnWay:
        places = smooth_inside(mean_inside(self.feet.mean(axis=0), self.step), round(SMOOTHED * self.step))
        headings = self._headings(places)
        ahead, moves = unit(headings), np.diff(places[:, :2], axis=0)
        middle = 0.5 * (ahead[1:] + ahead[:-1])
        advances = np.sum(moves * middle, axis=1)
        ways, asides = np.concatenate(([0.0], np.cumsum(advances))), np.zeros(len(places))
        for t, move in enumerate(middle[:, 0] * moves[:, 1] - middle[:, 1] * moves[:, 0]):
            asides[t + 1] = (asides[t] + move) * np.exp(-abs(advances[t]) / (BACK_ON_WAY * self.clip.size))
        if ways.max() < -ways.min():
            # Ahead is where it goes farthest, not where its first steps lead.
            headings, ahead, ways, asides = headings + np.pi, -ahead, -ways, -asides
        margin = 2 * self.step
        steps = np.arange(1.0, margin + 1.0)
        before, after = slope(ways, 1.0, SLOPE_TIME * self.clip.fps)[[0, -1]]
        flat = np.pad(ahead, ((0, 0), (0, 1)))
        return OwnWay(
            np.vstack(
                (
                    places[0] - np.outer(steps[::-1], before * flat[0]),
                    places,
                    places[-1] + np.outer(steps, after * flat[-1]),
                )
            ),
            np.pad(headings, margin, "edge"),
            np.concatenate((-steps[::-1] * before, ways, ways[-1] + steps * after)),
            np.pad(asides, margin, "edge"),
            margin,
        )

    def _headings(self, places: np.ndarray) -> np.ndarray:
        """(T,): which way places (T, 3) go. Where they do not it changes while feet are in the air, and only then."""
        velocities = slope(places[:, :2], self.clip.fps, SLOPE_TIME)
        speeds = np.linalg.norm(velocities, axis=1)
        stretches = [
            (first, last)
            for first, last in runs(speeds > STANDING * self.clip.size)
            if speeds[first : last + 1].sum() / self.clip.fps > SHORTEST_WAY * self.clip.size
        ]
        if not stretches:
            return np.full(len(places), self._toes)
        headings, known = self._of_stretches(np.arctan2(velocities[:, 1], velocities[:, 0]), stretches)
        lifted = np.ones(len(places))
        for stance in stances_of(self.anchors):
            lifted[stance.first : stance.last + 1] -= 1.0 / self.clip.leg_count
        stepped = np.cumsum(smooth(lifted, self.step // 2) + 1e-6)
        return smooth_inside(np.interp(stepped, stepped[known], headings[known]), self.step // 2)

    def _of_stretches(self, raw: np.ndarray, stretches: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
        """Headings (T,) in stretches of a way with directions (T,), and the frames of these.

        They go on from one to the next the shorter way round; about half a turn, as the hips turn. Where these do not
        the next stretch is walked backward.
        """
        headings, flip, before = np.zeros(len(raw)), 0.0, None
        for first, last in stretches:
            own = np.unwrap(raw[first : last + 1]) + flip
            if before is not None:
                turned = self.facing[first] - self.facing[before]
                change = _wrapped(own[0] - headings[before])
                if abs(_wrapped(change - turned)) > BACKWARD:
                    flip, own = np.pi - flip, own + np.pi
                    change = _wrapped(own[0] - headings[before])
                if abs(change) > BACKWARD and change * turned < 0.0:
                    change += 2.0 * np.pi * np.sign(turned)
                own += headings[before] + change - own[0]
            headings[first : last + 1], before = own, last
        return headings, np.concatenate([np.arange(first, last + 1) for first, last in stretches])

    @property
    def aheads(self) -> np.ndarray:
        """(legs,), how far each hip is ahead of the way's place on average."""
        places, headings, *_ = self.way.at(np.arange(self.clip.frame_count))
        return np.sum((self.clip.hips - places)[..., :2] * unit(headings), axis=-1).mean(axis=1)

    @property
    def _toes(self) -> float:
        """Where the feet point at first, all together."""
        along = self.sole.points[:, BALL] - self.sole.points[:, HEEL]
        ahead = applied(self.clip.feet[:, 0], along).sum(axis=0)
        return float(np.arctan2(ahead[1], ahead[0]))

    @cached_property
    def times(self) -> np.ndarray:
        """(legs, T): when the body passes each foot, in frames: one time as long as it stands."""
        whole, first = self._whole
        return whole._times[:, first : first + self.clip.frame_count] - first

    @cached_property
    def _times(self) -> np.ndarray:
        return np.array(
            [self._between(leg, [self._passing(leg, *stop) for stop in own]) for leg, own in enumerate(self.stops)]
        )

    def _passing(self, leg: int, first: int, last: int, place: np.ndarray) -> float:
        """When the body passes a place as it passes this foot on average; about in the middle of its stance."""
        margin, middle = self._way.margin, 0.5 * (first + last)
        frames = np.arange(
            max(first - self.step, -margin), min(last + self.step, self.clip.frame_count - 1 + margin) + 1.0
        )
        places, headings, *_ = self._way.at(frames)
        facing = self.facing[np.clip(frames, 0, self.clip.frame_count - 1).astype(int)]
        usual = self._offsets[leg] * np.exp(1j * (facing - headings))
        ahead = np.sum((place - places)[:, :2] * unit(headings), axis=1) - usual.real
        crossings = np.flatnonzero(ahead[:-1] * ahead[1:] <= 0.0)
        if not len(crossings):
            late = LATE * self.clip.size * np.abs(frames - middle) / self.step
            return float(frames[np.argmin(np.abs(ahead) + late)])
        k = crossings[np.argmin(np.abs(frames[crossings] - middle))]
        change = ahead[k] - ahead[k + 1]
        return float(frames[k] + (ahead[k] / change if change else np.clip(middle - frames[k], 0.0, 1.0)))

    @cached_property
    def _offsets(self) -> np.ndarray:
        """(legs,), where each foot is from the way's places on average, as complex numbers in the hips' frame."""
        away = self._middles[..., :2] - self._way.at(np.arange(self.clip.frame_count))[0][:, :2]
        return ((away[..., 0] + 1j * away[..., 1]) * np.exp(-1j * self.facing)).mean(axis=1)


def _wrapped(angle: float) -> float:
    """An angle between half a turn either way."""
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)
