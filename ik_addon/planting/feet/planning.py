"""The plan of a planted clip: contacts, places, paths of feet, clearance, body, knees, in this order."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...solvers.carrier import lowering, nearest_shift
from .anchors import Anchors, Lock, anchors_of, joined, repeated, same_places, settled, within
from .clip import UP, LegMotion, bends_of, directions, ways_of
from .contacts import Ground, HeelAndBall, floors_below, sole_of, under
from .curves import above, eased, frames_in, highest, no_steeper, smooth
from .finding import contacts_of
from .loops import above_all, cycles_around, in_cycles, own_frames, period_of, unrolled, way_of
from .options import BODY_TIME, LEVEL, REACH_TIME, STEEP, Options
from .paths import FootPath, captured_sides, carried_over, cleared, foot_path, knees_and_poles, pivots_of
from .reaching import ASIDE, in_reach, leg_ends, leg_limits, unfolded
from .swinging import calmed

ROUNDS = 4
"""A smooth move aside may keep a leg from its place that reached it before: once more, a few times."""
SLACK = 1e-9
"""Part of a leg by which it may miss its limit."""

JUMP_TIME = 0.03
"""Seconds to either side over which the way of a hip is smooth without a jump."""
JUMP = 0.001
"""Part of a leg by which what is no jump may stray from its smooth way."""
DAMPING = 0.3
"""How little a body goes aside for two legs whose hips jump differently: it turned."""

DETOUR, FARTHEST = 1.5, 2.0
"""Straight down is so many times as far as the nearest way if a leg points 48 and 60 degrees off: then the body begins
to go aside, and goes all the way. Legs that walk point up to 40 degrees off."""
DEEP = 0.02
"""A fall of less, in leg lengths, needs no way aside."""

ELSEWHERE, ON_STAIRS = (BODY_TIME, REACH_TIME, REACH_TIME), (1.5 * BODY_TIME, 1.5 * BODY_TIME, BODY_TIME)
"""Seconds to either side over which the body follows the feet in the plane, goes aside for legs and goes down for them:
on stairs feet look for treads, and a body that went along would lurch."""

FASTER, CALMING = 1.1, 0.03
"""Times as fast as captured that a knee may bend or stretch before the body makes way for it, and how far it does at
most, leg lengths: near full extension a knee turns by the root of what its ankle moves."""


def body_shifts(
    clip: LegMotion,
    ankles: np.ndarray,
    options: Options,
    stands: np.ndarray | None = None,
    times: tuple[float, float, float] = ELSEWHERE,
) -> tuple[np.ndarray, np.ndarray]:
    """The moves (T, 3) of the body with which the legs reach new ankles (legs, T, 3), and where none has (T,) bool.

    The body follows the mean of the feet slowly, and makes way where a leg would not reach: down, or the nearest way.
    No leg gets straighter than `options.softness` or the capture at that frame, and no knee turns much faster than any
    captured one if the body can help it. If the legs' places cannot all be reached, the worst of them share what is
    missing. stands: (legs, T) bool, None: no foot does. times: see `ELSEWHERE`.
    """
    (longest, shortest), (near, far) = leg_limits(clip, options), leg_ends(clip)
    # A foot in the air makes way for the body.
    near, shortest = (each * (1.0 if stands is None else stands) for each in (near, shortest))
    half_along, half_aside, half_down = (frames_in(time, clip.fps) for time in times)
    follow = options.body * (ankles - clip.ankles).mean(axis=0)
    shifts = smooth(follow * ASIDE, half_along) + smooth(follow * UP, frames_in(BODY_TIME, clip.fps))
    if stands is not None:
        shifts = shifts + options.body * _jumps(clip, ankles, stands)

    def offsets() -> np.ndarray:
        return ankles - clip.hips - shifts

    def nearest(frames: np.ndarray) -> np.ndarray:
        moves, wanted = np.zeros_like(shifts), offsets()
        for frame in np.flatnonzero(frames):
            moves[frame], _ = nearest_shift(wanted[:, frame], longest[:, frame], shortest[:, frame])
        return moves

    if options.body_direction == "NEAREST":
        shifts = shifts + smooth(nearest(_misses(offsets(), longest, shortest)) * ASIDE, half_aside)
    for _ in range(ROUNDS):
        falls, possible = lowering(offsets(), longest, shortest)
        moves = nearest(~possible | (falls > DEEP * clip.size))
        detours = falls / np.maximum(np.linalg.norm(moves, axis=1), DEEP * clip.size)
        aside = moves * ASIDE * np.where(possible, eased((detours - DETOUR) / (FARTHEST - DETOUR)), 1.0)[:, None]
        if not aside.any():
            break
        shifts = shifts + np.stack([_covering(part, half_aside) for part in aside.T], axis=1)
    shifts = shifts - _covering(lowering(offsets(), longest, shortest)[0], half_down)[:, None] * UP
    gentle = _covering(_gentle_falls(clip, offsets(), longest, shortest), frames_in(clip.calm_time, clip.fps))
    shifts = shifts - gentle[:, None] * UP
    # Where a smooth move is too much or too little, reaching counts more.
    shifts = shifts + nearest(_misses(offsets(), longest, shortest))
    return shifts, _misses(offsets(), np.broadcast_to(far, longest.shape), np.broadcast_to(near, longest.shape))


def _gentle_falls(clip: LegMotion, offsets: np.ndarray, longest: np.ndarray, shortest: np.ndarray) -> np.ndarray:
    """(T,), how far the body goes down for knees that are too fast."""
    calm = np.minimum(longest, calm_reaches(clip, np.linalg.norm(offsets, axis=2), FASTER * fastest_bends(clip)))
    return np.minimum(lowering(offsets, calm, shortest)[0], CALMING * clip.size)


def lowered(clip: LegMotion, plan: "FootPlan", falls: np.ndarray) -> "FootPlan":
    """A plan whose body is lower by at least some falls (T,), smoothly, and alike at the seam of a loop."""
    down = above_all(clip, falls, frames_in(REACH_TIME, clip.fps))
    return replace(plan, shifts=plan.shifts - down[:, None] * UP)


def _jumps(clip: LegMotion, ankles: np.ndarray, stands: np.ndarray) -> np.ndarray:
    """The moves (T, 3) of the body against jumps of its captured root, with which its feet jumped.

    ankles: (legs, T, 3), as planned. stands: (legs, T) bool. Feet that stand jump no more, and their knees would bend:
    by as much as the length of a leg strays from smooth farther than captured, if so does the hip.
    """
    half, lines = frames_in(JUMP_TIME, clip.fps), ankles - clip.hips
    captured, planned = (
        np.array([own - smooth(own, half) for own in np.linalg.norm(ways, axis=2)])
        for ways in (clip.ankles - clip.hips, lines)
    )
    usual = np.array([smooth(highest(np.abs(own), half), half) for own in captured])
    lines = directions(lines)
    hips = (np.array([smooth(own, half) - own for own in clip.hips]) * lines).sum(axis=2)
    excess = np.minimum(np.abs(planned), np.sign(planned) * hips) - usual - JUMP * clip.size
    excess = np.sign(planned) * np.maximum(excess, 0.0)
    excess *= [smooth(own.astype(float), half) for own in stands]
    lines = lines.swapaxes(0, 1)
    both = lines @ lines.swapaxes(1, 2) + DAMPING * np.eye(clip.leg_count)
    return (lines.swapaxes(1, 2) @ np.linalg.solve(both, excess.T[..., None]))[..., 0]


def fastest_bends(clip: LegMotion) -> np.ndarray:
    """(legs,), how far each knee bends or stretches in a frame at most, radians."""
    bends = bends_of(clip, np.linalg.norm(clip.ankles - clip.hips, axis=2))
    return np.abs(np.diff(bends)).max(axis=1, initial=0.0)


def calm_reaches(clip: LegMotion, ways: np.ndarray, most: np.ndarray) -> np.ndarray:
    """(legs, T), the longest distances from hip to ankle with which no knee bends or stretches farther in a frame than
    `most` (legs,); infinite where none does. ways: (legs, T), as planned."""
    planned = bends_of(clip, ways)
    bends = np.array([no_steeper(own, step) for own, step in zip(planned, most, strict=True)])
    return np.where(bends > planned, ways_of(clip, bends), np.inf)


def _covering(moves: np.ndarray, half: int) -> np.ndarray:
    """A smooth curve that goes at least as far as moves (T,), to the side on which they are."""
    return above(moves.clip(0.0), half) - above((-moves).clip(0.0), half)


def _misses(offsets: np.ndarray, longest: np.ndarray, shortest: np.ndarray) -> np.ndarray:
    """(T,) bool: whether a leg is out of its limits at a frame."""
    distances = np.linalg.norm(offsets, axis=2)
    slack = SLACK * longest
    return ((distances > longest + slack) | (distances < shortest - slack)).any(axis=0)


__all__ = ["FootPlan", "Footprints", "Ground", "Lock", "plan"]

Footprints = Callable[[Anchors], Anchors]
"""Moves, turns or raises anchors; see anchors.py. Frames, legs and points stay."""


@dataclass(frozen=True)
class FootPlan:
    """Where everything goes, in the world over the T frames of a clip.

    ankles, feet: (legs, T, 3) and (legs, T, 3, 3).
    knees, poles: (legs, T, 3) each; a pole is on the side to which the knee bends.
    shifts: (T, 3), the moves of the body, hips included, from where it was captured.
    contacts: (legs, 2, T) bool, in which frames heels and balls are locked; planned with these as given contacts, a
    clip comes out the same.
    locks: all of them, by leg, point and frame.
    pivots: (legs, T, 3), what of each foot stands from each frame to the next; see `pivots_of`.
    unreached: (T,) bool, True if some leg does not reach its ankle.
    """

    ankles: np.ndarray
    feet: np.ndarray
    knees: np.ndarray
    poles: np.ndarray
    shifts: np.ndarray
    contacts: np.ndarray
    locks: tuple[Lock, ...]
    pivots: np.ndarray
    unreached: np.ndarray


def plan(
    clip: LegMotion,
    options: Options,
    contacts: np.ndarray | None = None,
    ground: Ground | None = None,
    footprints: Footprints | None = None,
    sole: HeelAndBall | None = None,
) -> FootPlan:
    """Plan feet that stand still in every contact and a body with which all legs reach them.

    contacts: (legs, 2, T) bool, to be used as they are; None to find them, less the frames in which feet still settle.
    ground: heights of the ground below points; None to stand at the heights as captured. footprints: called with the
    anchors before the paths between them are made. sole: None to take it from the clip. A loop is planned with what
    comes before and after it, so that it closes as before.
    """
    sole = sole or sole_of(clip)
    if contacts is None:
        contacts = settled(clip, sole, contacts_of(clip, sole, options).touching)
    cycles = cycles_around(clip)
    if not cycles:
        return _planned(clip, sole, contacts, options, ground, footprints or _as_they_are)
    # What is before a loop is as what is at its end: locks that hold over the seam are one.
    whole, own = unrolled(clip, cycles), own_frames(clip, cycles)
    around = replace(sole, floors=sole_of(whole, sole.points).floors)
    edits: list[bool] = []

    def seen(anchors: Anchors) -> Anchors:
        if period_of(clip) < clip.frame_count and not climbs(clip, clip.ankles, ground):
            anchors = repeated(anchors, own.start, own.stop - 1, way_of(clip))
        kept = within(anchors, own)
        edits.append(footprints is not None and not same_places(footprints(kept), kept))
        return anchors

    planned = _planned(whole, around, in_cycles(clip, contacts, cycles), options, ground, seen)
    if any(edits):
        # What is moved by hand is moved once, and not in each cycle.
        return _planned(clip, sole, contacts, options, ground, footprints or _as_they_are)
    return _cut(planned, own)


def _as_they_are(anchors: Anchors) -> Anchors:
    return anchors


def _cut(planned: FootPlan, own: slice) -> FootPlan:
    """The plan of some of the frames."""
    legs = {name: getattr(planned, name)[:, own] for name in ("ankles", "feet", "knees", "poles", "pivots")}
    return replace(
        planned,
        **legs,
        shifts=planned.shifts[own],
        contacts=planned.contacts[..., own],
        locks=within(Anchors(planned.locks, ()), own).locks,
        unreached=planned.unreached[own],
    )


def climbs(clip: LegMotion, ankles: np.ndarray, ground: Ground | None) -> bool:
    """Whether the ground below the ankles (legs, T, 3) of a clip is higher here than there."""
    return ground is not None and bool(np.ptp(ground(ankles.reshape(-1, 3))) > LEVEL * clip.size)


def has_edges(clip: LegMotion, ground: Ground | None) -> bool:
    """Whether the ground below the ankles of a clip has steps: on slopes a body that makes way early is in the way."""
    if ground is None:
        return False
    rises = np.abs(np.diff(ground(clip.ankles.reshape(-1, 3)).reshape(clip.ankles.shape[:2])))
    return bool(
        (rises > STEEP * np.linalg.norm(np.diff(clip.ankles[..., :2], axis=1), axis=2) + DEEP * clip.size).any()
    )


def _planned(
    clip: LegMotion,
    sole: HeelAndBall,
    contacts: np.ndarray,
    options: Options,
    ground: Ground | None,
    footprints: Footprints,
) -> FootPlan:
    """See `plan`; of a clip that begins and ends."""
    contacts = joined(clip, sole, contacts)
    carried = carried_over(clip, sole, ground)
    stands = contacts.any(axis=1)
    times = ON_STAIRS if has_edges(clip, ground) else ELSEWHERE

    def paths_of(anchors: Anchors) -> list[FootPath]:
        return [foot_path(carried, sole, leg, anchors, options) for leg in range(clip.leg_count)]

    def farthest(anchors: Anchors) -> float:
        ankles = np.array([path.ankles for path in paths_of(anchors)])
        shifts, _ = body_shifts(clip, ankles, options, stands, times)
        return float(np.linalg.norm(shifts, axis=1).max())

    moved = in_reach(clip, sole, contacts, options)
    standing = (clip,) if moved is clip else (clip, moved)
    found = [anchors_of(each, sole, contacts, ground, options.find_footing) for each in standing]
    # Where most feet go to one side the body follows, and nothing is won.
    anchors = footprints(min(found, key=farthest) if len(found) > 1 else found[0])
    paths = paths_of(anchors)
    if ground is not None:
        grounds = [under(sole, leg, ground) for leg in range(clip.leg_count)]
        cleared_paths = zip(paths, contacts, grounds, strict=True)
        paths = [cleared(clip, sole, leg, *own, options) for leg, own in enumerate(cleared_paths)]
    ankles, feet = np.array([path.ankles for path in paths]), np.array([path.feet for path in paths])
    shifts, unreached = body_shifts(clip, ankles, options, stands, times)
    ankles = unfolded(clip, clip.hips + shifts, ankles, stands, options)
    if clip.jerks is not None:

        def heights(ankles: np.ndarray) -> np.ndarray:
            places = sole.places(ankles, feet)
            return places[..., 2] - floors_below(sole, places, ground)

        ankles = calmed(clip, clip.hips + shifts, ankles, heights, stands, ground is not None, options)
    knees, poles = knees_and_poles(clip, captured_sides(clip, sole), clip.hips + shifts, ankles)
    pivots = pivots_of(sole, anchors.locks, clip.frame_count)
    return FootPlan(ankles, feet, knees, poles, shifts, contacts, anchors.locks, pivots, unreached)
