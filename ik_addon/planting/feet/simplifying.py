"""Few keys for the controls of limbs and the body: feet first, then the body with the feet as they are then, then the
knees with both. Errors are measured where they are seen: at ankle, heel and ball, at the roots of the legs, at the
knees.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from ...bake.few_keys import (
    Error,
    KeyedCurve,
    WantedMotion,
    curve_through,
    fewest_keys,
    joined,
    local_slopes,
    smooth_curve,
    stretches,
)
from .clip import directions
from .contacts import BALL, HEEL

_AIR, _FLAT, _MOVING = 0, 3, 7
"""Beside the bits of heel (1) and ball (2): what stands, where flat; and both, carried along by something."""
_STRAIGHT = 1e-5
"""How far numbers may be from a straight line, part of the largest."""
KNEES = 3.0
"""How far knees may be off, in tolerances of tips: nearly straight legs magnify."""
_SHARES = (0.65, 0.85, 1.0)
"""Of that, as far as feet alone, feet with the body, and all with the poles may go."""
_SHORT, _REACHED = 1e-4, 0.9998
"""Part of a leg by which it may miss a foot that it reached, and as far as a leg counts as one that reaches."""
_SLOPE_TIME, _LONGEST = 1.0 / 30.0, 1.2
"""Seconds to either side over which a slope is read off, and that a span lasts at most."""


@dataclass(frozen=True)
class KeyOptions:
    """tolerance: leg lengths by which tips may be off. rotation: radians by which feet and body may. still: leg lengths
    that heel and ball may slide between keys while the other is up. align: CONTROL; LIMB, or POSE: the controls of a
    limb, or all, have keys in the same frames. body: whether its keys are simplified too."""

    tolerance: float = 0.005
    rotation: float = 0.026179938779914945
    still: float = 1e-4
    align: str = "CONTROL"
    body: bool = True


@dataclass(frozen=True, eq=False)
class ControlTrack:
    """What one control does over T frames.

    numbers: (T, C), of its channels, location first. spaces: (T, 4, 4), from what its channels make of it to the world.
    turned: the rotations (n, 3, 3) that the numbers (n, C - 3) after the location make. thirds: (3 T - 2, C), the
    numbers at thirds from frame to frame as well, of what stands.
    """

    numbers: np.ndarray
    spaces: np.ndarray
    turned: Callable[[np.ndarray], np.ndarray]
    thirds: np.ndarray | None = None

    @property
    def scale(self) -> float:
        """How long one unit of the location is in the world."""
        return float(np.cbrt(np.abs(np.linalg.det(self.spaces[0, :3, :3]))))

    def standing(self, point: np.ndarray) -> np.ndarray:
        """Where a point of the control's own space is at thirds from frame to frame, (3 T - 2, 3), in the space of its
        channels."""
        return self.thirds[:, :3] + self.turns(self.thirds) @ point

    def turns(self, numbers: np.ndarray) -> np.ndarray:
        """(n, 3, 3), how the control is turned in its own space."""
        return self.turned(numbers[:, 3:])

    def own(self, worlds: np.ndarray) -> np.ndarray:
        """Where a point that is at these places (T, 3) in the world is in the control's own space, (3,)."""
        return np.median(self.owns(worlds), axis=0)

    def owns(self, worlds: np.ndarray) -> np.ndarray:
        """The same at each row, (T, 3): of what moves there by joints between."""
        local = np.linalg.inv(self.spaces) @ np.concatenate((worlds, np.ones((len(worlds), 1))), axis=1)[..., None]
        away = local[:, :3, 0] - self.numbers[:, :3]
        return np.einsum("tji,tj->ti", self.turns(self.numbers), away)

    def in_world(self, numbers: np.ndarray, rows: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Where a point of the control's own space, (3,) or (n, 3), is in the world, (n, 3), at whole rows."""
        local = numbers[:, :3] + (self.turns(numbers) @ points[..., None])[..., 0]
        return np.einsum("nij,nj->ni", self.spaces[rows, :3, :3], local) + self.spaces[rows, :3, 3]


@dataclass(frozen=True)
class LimbTracks:
    """A limb over T frames in the world, and its controls; None where keys are left as they are.

    hips, ankles, poles: (T, 3). lengths: (2,), of thigh and shin. points: (3, T, 3), ankle, heel and ball. contacts:
    (2, T) bool, whether heel and ball stand. on_body: whether the body carries its root, by other joints or at once.
    """

    foot: ControlTrack | None
    pole: ControlTrack | None
    hips: np.ndarray
    ankles: np.ndarray
    poles: np.ndarray
    lengths: np.ndarray
    points: np.ndarray
    contacts: np.ndarray
    on_body: bool = True

    def knees(self, hips: np.ndarray, ankles: np.ndarray, poles: np.ndarray) -> np.ndarray:
        """Where knees are, (n, 3), with their poles at these places."""
        thigh, shin = self.lengths
        line = ankles - hips
        distance = np.clip(_lengths(line), abs(thigh - shin) + 1e-9, thigh + shin - 1e-9)[:, None]
        along = directions(line)
        ahead = (thigh**2 - shin**2 + distance**2) / (2.0 * distance)
        side = poles - hips
        side = directions(side - (side * along).sum(axis=1)[:, None] * along)
        return hips + ahead * along + np.sqrt(np.maximum(thigh**2 - ahead**2, 0.0)) * side

    @cached_property
    def seen_knees(self) -> np.ndarray:
        """Where they are over the frames, (T, 3)."""
        return self.knees(self.hips, self.ankles, self.poles)

    @cached_property
    def longest(self) -> np.ndarray:
        """How long it may be, (T,): as it was, and as long as one that reaches."""
        return np.maximum(np.linalg.norm(self.ankles - self.hips, axis=1), _REACHED * self.lengths.sum())


FoundKeys = dict[ControlTrack, KeyedCurve]
"""The curves of controls."""


def simplified(
    found: FoundKeys, limbs: Sequence[LimbTracks], body: ControlTrack | None, fps: float, options: KeyOptions
) -> Iterator[None]:
    """Find the fewest keys for these controls; yields after each of them."""
    size = float(np.mean([limb.lengths.sum() for limb in limbs]))
    longest, rows = max(4, round(_LONGEST * fps)), np.arange(len(limbs[0].hips))
    ankles, hips = [limb.ankles for limb in limbs], [limb.hips for limb in limbs]
    for k, limb in enumerate(limbs):
        if limb.foot is not None:
            found[limb.foot] = _foot(limb, size, fps, longest, options)
            ankles[k] = limb.foot.in_world(found[limb.foot].at(rows), rows, limb.foot.own(limb.ankles))
        yield
    preferred = [{*found[limb.foot].rows.tolist()} if limb.foot is not None else set() for limb in limbs]
    if body is not None:
        found[body] = _free_curve(
            body, _body_error(body, limbs, ankles, size, options), fps, longest, {*chain(*preferred)}
        )
        own = [body.in_world(found[body].at(rows), rows, body.owns(limb.hips)) for limb in limbs]
        hips = [mine if limb.on_body else limb.hips for limb, mine in zip(limbs, own, strict=True)]
        yield
    for k, limb in enumerate(limbs):
        if limb.pole is not None:
            error = _pole_error(limb, hips[k], ankles[k], size, options)
            found[limb.pole] = _free_curve(limb.pole, error, fps, longest, preferred[k])
        yield
    groups = {"LIMB": [{limb.foot, limb.pole} for limb in limbs], "POSE": [{*found}]}.get(options.align, [])
    for group in ([track for track in found if track in own] for own in groups):
        # Their curves stay the same.
        every = {row for track in group for row in found[track].rows.tolist()}
        found |= {track: found[track].with_keys(every) for track in group}


def _free_curve(track: ControlTrack, error: Error, fps: float, longest: int, preferred: set[int]) -> KeyedCurve:
    """The curve of a control that never stands."""
    slopes = local_slopes(track.numbers, max(1, round(_SLOPE_TIME * fps)))
    count = len(track.numbers)
    motion = WantedMotion(track.numbers, slopes, np.ones(count, bool), error, 0, count - 1)
    return fewest_keys(motion, longest, preferred)[0]


def _legs_off(
    limb: LimbTracks,
    hips: np.ndarray,
    ankles: np.ndarray,
    rows: np.ndarray,
    size: float,
    share: float,
    options: KeyOptions,
) -> np.ndarray:
    """How far a knee is off, and a leg short of an ankle whose like it reached, (n,), 1 at what is allowed."""
    knees = _lengths(limb.knees(hips, ankles, limb.poles[rows]) - limb.seen_knees[rows])
    short = _lengths(ankles - hips) - limb.longest[rows]
    return np.maximum(knees / (share * KNEES * options.tolerance * size), short / (_SHORT * size))


def _turned_off(off: np.ndarray, options: KeyOptions) -> np.ndarray:
    """How far a control is turned off, (n,), 1 at what is allowed. off: (n, 3, 3), its rotation less what it was."""
    chords = np.sqrt(np.einsum("nij,nij->n", off, off) / 8.0)
    return 2.0 * np.arcsin(np.minimum(chords, 1.0)) / options.rotation


def _lengths(vectors: np.ndarray) -> np.ndarray:
    """Of vectors (n, 3). Errors are asked for so often that numpy's own norm, three times as slow, is felt."""
    return np.sqrt(np.einsum("ni,ni->n", vectors, vectors))


Seen = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""How far a leg is off, (n,), 1 at what is allowed, if one end is away from its place (n, 3) in the world, at rows."""


def _seen_error(
    track: ControlTrack, points: Sequence[tuple[np.ndarray, Seen | None]], size: float, options: KeyOptions
) -> Error:
    """At whole rows, of a control: of its turn and of points of its space, (3,) or (T, 3), each with the leg that ends
    there."""
    known, whole = track.turns(track.numbers), (len(track.numbers), 3)
    points = [(np.broadcast_to(point, whole), leg) for point, leg in points]

    def error(numbers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        at = rows.astype(int)
        moved, turned = numbers[:, :3] - track.numbers[at, :3], track.turns(numbers) - known[at]
        off = _turned_off(turned, options)
        for point, leg in points:
            away = moved + np.einsum("nij,nj->ni", turned, point[at])
            off = np.maximum(off, _lengths(away) * track.scale / (options.tolerance * size))
            if leg is not None:
                off = np.maximum(off, leg(np.einsum("nij,nj->ni", track.spaces[at, :3, :3], away), at))
        return off

    return error


def _body_error(
    body: ControlTrack, limbs: Sequence[LimbTracks], ankles: Sequence[np.ndarray], size: float, options: KeyOptions
) -> Error:
    """Of the body: at the roots of the legs, whose feet are at these ankles."""

    def leg(limb: LimbTracks, ankle: np.ndarray) -> Seen:
        return lambda away, at: _legs_off(limb, limb.hips[at] + away, ankle[at], at, size, _SHARES[1], options)

    own = [(limb, ankle) for limb, ankle in zip(limbs, ankles, strict=True) if limb.on_body]
    roots = [(body.owns(limb.hips), leg(limb, ankle)) for limb, ankle in own]
    return _seen_error(body, [(np.zeros(3), None), *roots], size, options)


def _pole_error(limb: LimbTracks, hips: np.ndarray, ankles: np.ndarray, size: float, options: KeyOptions) -> Error:
    """Of a pole: at the knee, with hip and ankle where their keys have them."""

    def error(numbers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        at = rows.astype(int)
        poles = limb.pole.in_world(numbers, at, np.zeros(3))
        knees = _lengths(limb.knees(hips[at], ankles[at], poles) - limb.seen_knees[at])
        return knees / (_SHARES[2] * KNEES * options.tolerance * size)

    return error


def _foot(limb: LimbTracks, size: float, fps: float, longest: int, options: KeyOptions) -> KeyedCurve:
    """The curve of a foot: with a key wherever a contact of heel or ball begins or ends."""
    track = limb.foot
    points = np.array([track.own(each) for each in limb.points])
    phases, half = _phases(track.thirds, limb.contacts), max(1, round(_SLOPE_TIME * fps))
    slopes = np.zeros_like(track.numbers)
    # The slopes of what stands hold at its ends too, and those of what stands flat before all others.
    for first, last, state in sorted(phases, key=lambda phase: (_AIR, 1, 2, _MOVING, _FLAT).index(phase[2])):
        slopes[first : last + 1] = _phase_slopes(track, points, first, last, state, half)
    free, last_row = np.zeros(len(track.numbers), bool), len(track.numbers) - 1
    for first, last, state in phases:
        if state == _AIR:
            free[first + (first > 0) : last + (last == last_row)] = True
    whole = _foot_error(limb, points, size, options)
    curves = []
    for first, last, state in phases:
        if state == _FLAT:
            rows = np.array((first, last))
            curves.append(smooth_curve(rows, track.numbers[rows], slopes[rows]))
            continue
        error = whole if state == _AIR else _standing_error(track, points, state, size, options, whole)
        motion = WantedMotion(track.numbers, slopes, free, error, first, last, 1 if state == _AIR else 3)
        curve, off = fewest_keys(motion, longest)
        if off > 1.0 and state != _AIR:
            # What carries the control goes round corners at frames: then so does what stands, seen from there.
            curve = curve_through(track.thirds[3 * first : 3 * last + 1], first)
        curves.append(curve)
    return joined(curves)


def _phases(thirds: np.ndarray, contacts: np.ndarray) -> list[tuple[int, int, int]]:
    """First and last row of each stretch in which the same stands from row to row, and what. thirds: see
    `ControlTrack`."""
    stands = contacts[:, :-1] & contacts[:, 1:]
    states = stands[HEEL] * 1 + stands[BALL] * 2
    found = []
    for first, last in stretches(states):
        state, own = int(states[first]), thirds[3 * first : 3 * last + 1]
        line = np.linspace(own[0], own[-1], len(own))
        if state == _FLAT and (np.abs(own - line) > _STRAIGHT * max(1.0, np.abs(own).max())).any():
            state = _MOVING
        found.append((first, last, state))
    return found


def _phase_slopes(track: ControlTrack, points: np.ndarray, first: int, last: int, state: int, half: int) -> np.ndarray:
    """Slopes in a phase: where heel or ball stands, those with which the ankle goes around it as the foot turns."""
    own = track.numbers[first : last + 1]
    if state == _FLAT:
        return np.broadcast_to((own[-1] - own[0]) / (last - first), own.shape)
    slopes = local_slopes(own, half)
    stretch = slice(3 * first, 3 * last + 1)
    if state == _MOVING:
        slopes[:, :3] = 3.0 * local_slopes(track.thirds[stretch, :3], 1)[::3]
    elif state != _AIR:
        # What carries the control may move, then the pivot does in the space of the channels.
        drift = 3.0 * local_slopes(track.standing(points[state])[stretch], 2)[::3]
        slopes[:, :3] = drift - turning(track, own, slopes) @ points[state]
    return slopes


_STEP = 1e-4


def turning(track: ControlTrack, numbers: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """How the rotation matrices (n, 3, 3) of numbers change with these slopes."""
    return (track.turns(numbers + _STEP * slopes) - track.turns(numbers - _STEP * slopes)) / (2.0 * _STEP)


def _foot_error(limb: LimbTracks, points: np.ndarray, size: float, options: KeyOptions) -> Error:
    """Of a foot at whole rows: at ankle, heel and ball, and at the knee."""

    def leg(away: np.ndarray, at: np.ndarray) -> np.ndarray:
        return _legs_off(limb, limb.hips[at], limb.ankles[at] + away, at, size, _SHARES[0], options)

    return _seen_error(limb.foot, [*zip(points, (leg, None, None), strict=True)], size, options)


def _standing_error(
    track: ControlTrack, points: np.ndarray, state: int, size: float, options: KeyOptions, whole: Error
) -> Error:
    """Of a foot of which something stands: also between rows, where that has to be where it was."""
    pivots = [points[bit] for bit in (1, 2) if state & bit]
    places = [track.standing(pivot) for pivot in pivots]

    def error(numbers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        at, turns, off = np.round(3.0 * rows).astype(int), track.turns(numbers), np.zeros(len(rows))
        for pivot, place in zip(pivots, places, strict=True):
            away = _lengths(numbers[:, :3] + turns @ pivot - place[at])
            # Two places that are off to both sides are twice as far apart.
            off = np.maximum(off, 2.0 * away * track.scale / (options.still * size))
        on_row = at % 3 == 0
        off[on_row] = np.maximum(off[on_row], whole(numbers[on_row], at[on_row] // 3))
        return off

    return error
