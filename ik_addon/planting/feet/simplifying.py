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
from ...solvers.vectors import finite_number
from .clip import knees_from
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
    limb, or all, have keys in the same frames."""

    tolerance: float = 0.005
    rotation: float = 0.026179938779914945
    still: float = 1e-4
    align: str = "CONTROL"

    def __post_init__(self) -> None:
        for name in ("tolerance", "rotation", "still"):
            finite_number(getattr(self, name), "the option", name, least=0.0)


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
        return hips + knees_from(ankles - hips, poles - hips, self.lengths)[0]

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


@dataclass(frozen=True)
class _Bounds:
    """What is allowed: tolerance, still: world units; rotation: radians. half, longest: rows to either side over which
    a slope is read off, and that a span lasts at most."""

    tolerance: float
    rotation: float
    still: float
    half: int
    longest: int


def simplified(
    found: FoundKeys, limbs: Sequence[LimbTracks], body: ControlTrack | None, fps: float, options: KeyOptions
) -> Iterator[None]:
    """Find the fewest keys for these controls; yields after each of them."""
    size, rows = float(np.mean([limb.lengths.sum() for limb in limbs])), np.arange(len(limbs[0].hips))
    half, longest = max(1, round(_SLOPE_TIME * fps)), max(4, round(_LONGEST * fps))
    bounds = _Bounds(options.tolerance * size, options.rotation, options.still * size, half, longest)
    ankles, hips = [limb.ankles for limb in limbs], [limb.hips for limb in limbs]
    for k, limb in enumerate(limbs):
        if limb.foot is not None:
            found[limb.foot] = _foot(limb, bounds)
            ankles[k] = limb.foot.in_world(found[limb.foot].at(rows), rows, limb.foot.own(limb.ankles))
        yield
    preferred = [{*found[limb.foot].rows.tolist()} if limb.foot is not None else set() for limb in limbs]
    if body is not None:
        pairs = [pair for pair in zip(limbs, ankles, strict=True) if pair[0].on_body]
        roots = [(body.owns(limb.hips), _leg_seen(limb, own, True, bounds)) for limb, own in pairs]
        error = _seen_error(body, [(np.zeros(3), None), *roots], bounds)
        found[body] = _free_curve(body, error, bounds, {*chain(*preferred)})
        own = [body.in_world(found[body].at(rows), rows, body.owns(limb.hips)) for limb in limbs]
        hips = [mine if limb.on_body else limb.hips for limb, mine in zip(limbs, own, strict=True)]
        yield
    for k, limb in enumerate(limbs):
        if limb.pole is not None:
            found[limb.pole] = _free_curve(
                limb.pole, _pole_error(limb, hips[k], ankles[k], bounds), bounds, preferred[k]
            )
        yield


def _free_curve(track: ControlTrack, error: Error, bounds: _Bounds, preferred: set[int]) -> KeyedCurve:
    """The curve of a control that never stands."""
    slopes, count = local_slopes(track.numbers, bounds.half), len(track.numbers)
    motion = WantedMotion(track.numbers, slopes, np.ones(count, bool), error, 0, count - 1)
    return fewest_keys(motion, bounds.longest, preferred)[0]


def _lengths(vectors: np.ndarray) -> np.ndarray:
    """Of vectors (n, 3). Errors are asked for so often that numpy's own norm, three times as slow, is felt."""
    return np.sqrt(np.einsum("ni,ni->n", vectors, vectors))


Seen = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""How far a leg is off, (n,), 1 at what is allowed, if one end is away from its place (n, 3) in the world, at rows."""


def _leg_seen(limb: LimbTracks, ankles: np.ndarray, at_root: bool, bounds: _Bounds) -> Seen:
    """Its knee, and how far it is short of an ankle whose like it reached. ankles: where it ends. at_root: whether the
    hip moves, else the ankle."""
    allowed = _SHARES[1 if at_root else 0] * KNEES * bounds.tolerance, _SHORT * limb.lengths.sum()

    def off(away: np.ndarray, at: np.ndarray) -> np.ndarray:
        hips, ends = limb.hips[at] + away * at_root, ankles[at] + away * (not at_root)
        knees = _lengths(limb.knees(hips, ends, limb.poles[at]) - limb.seen_knees[at])
        return np.maximum(knees / allowed[0], (_lengths(ends - hips) - limb.longest[at]) / allowed[1])

    return off


def _seen_error(track: ControlTrack, points: Sequence[tuple[np.ndarray, Seen | None]], bounds: _Bounds) -> Error:
    """At whole rows, of a control: of its turn and of points of its space, (3,) or (T, 3), each with the leg that ends
    there."""
    known, whole = track.turns(track.numbers), (len(track.numbers), 3)
    points = [(np.broadcast_to(point, whole), leg) for point, leg in points]

    def error(numbers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        at = rows.astype(int)
        moved, turned = numbers[:, :3] - track.numbers[at, :3], track.turns(numbers) - known[at]
        chords = np.sqrt(np.einsum("nij,nij->n", turned, turned) / 8.0)
        off = 2.0 * np.arcsin(np.minimum(chords, 1.0)) / bounds.rotation
        for point, leg in points:
            away = moved + np.einsum("nij,nj->ni", turned, point[at])
            off = np.maximum(off, _lengths(away) * track.scale / bounds.tolerance)
            if leg is not None:
                off = np.maximum(off, leg(np.einsum("nij,nj->ni", track.spaces[at, :3, :3], away), at))
        return off

    return error


def _pole_error(limb: LimbTracks, hips: np.ndarray, ankles: np.ndarray, bounds: _Bounds) -> Error:
    """Of a pole: at the knee, with hip and ankle where their keys have them."""

    def error(numbers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        at = rows.astype(int)
        poles = limb.pole.in_world(numbers, at, np.zeros(3))
        knees = _lengths(limb.knees(hips[at], ankles[at], poles) - limb.seen_knees[at])
        return knees / (_SHARES[2] * KNEES * bounds.tolerance)

    return error


def _standing_error(track: ControlTrack, pivots: Sequence[np.ndarray], bounds: _Bounds, whole: Error) -> Error:
    """Of a foot of which points stand: also between rows, where these have to be where they were."""
    places = [track.standing(pivot) for pivot in pivots]

    def error(numbers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        at, turns, off = np.round(3.0 * rows).astype(int), track.turns(numbers), np.zeros(len(rows))
        for pivot, place in zip(pivots, places, strict=True):
            away = _lengths(numbers[:, :3] + turns @ pivot - place[at])
            off = np.maximum(off, away * track.scale / bounds.still)
        on_row = at % 3 == 0
        off[on_row] = np.maximum(off[on_row], whole(numbers[on_row], at[on_row] // 3))
        return off

    return error


def _foot(limb: LimbTracks, bounds: _Bounds) -> KeyedCurve:
    """The curve of a foot: with a key wherever a contact of heel or ball begins or ends."""
    track, phases = limb.foot, _phases(limb.foot.thirds, limb.contacts)
    points = np.array([track.own(each) for each in limb.points])
    slopes = np.zeros_like(track.numbers)
    # The slopes of what stands hold at its ends too, and those of what stands flat before all others.
    for first, last, state in sorted(phases, key=lambda phase: (_AIR, 1, 2, _MOVING, _FLAT).index(phase[2])):
        slopes[first : last + 1] = _phase_slopes(track, points, first, last, state, bounds.half)
    free, last_row = np.zeros(len(track.numbers), bool), len(track.numbers) - 1
    for first, last, state in phases:
        if state == _AIR:
            free[first + (first > 0) : last + (last == last_row)] = True
    # Seen at ankle, heel and ball, and at the knee.
    seen = _leg_seen(limb, limb.ankles, False, bounds), None, None
    whole = _seen_error(track, [*zip(points, seen, strict=True)], bounds)
    curves = []
    for first, last, state in phases:
        if state == _FLAT:
            rows = np.array((first, last))
            curves.append(smooth_curve(rows, track.numbers[rows], slopes[rows]))
            continue
        pivots = [points[bit] for bit in (1, 2) if state & bit]
        error = _standing_error(track, pivots, bounds, whole) if pivots else whole
        motion = WantedMotion(track.numbers, slopes, free, error, first, last, 3 if pivots else 1)
        curve, off = fewest_keys(motion, bounds.longest)
        if off > 1.0 and pivots:
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
        slopes[:, :3] = drift - _turning(track, own, slopes) @ points[state]
    return slopes


_STEP = 1e-4


def _turning(track: ControlTrack, numbers: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """How the rotation matrices (n, 3, 3) of numbers change with these slopes."""
    return (track.turns(numbers + _STEP * slopes) - track.turns(numbers - _STEP * slopes)) / (2.0 * _STEP)
