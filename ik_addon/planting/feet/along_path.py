"""A clip brought to another path: each stance as a rigid whole, and so is the body at each time.

The map is a function of time, not of the way: where a clip stands nothing is divided by zero. The body goes by the map
of its own time. A foot goes by that of the time at which the body passes it, which is one as long as it stands; in the
air that time goes over to the next stance's, as far as the foot has come.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...solvers.carrier import lowering
from .anchors import standing
from .clip import UP, LegMotion, applied, bends_of, directions, turns_between, turns_by
from .contacts import Ground
from .curves import eased, slope, smooth
from .loops import above_all, period_of
from .measures import POP, unexpected
from .options import SLOPE_TIME, Options
from .path import GroundPath, unit
from .planning import climbs, plan
from .reaching import leg_limits
from .spine import Move, Spine, girdles, moved
from .swinging import ADDED_BEND, rooms_below, swung
from .walk import Walk

LONG, LONG_EXTENSION = 1.15, 0.97
"""A stride from which on legs extend no farther: straight ones that step farther bend and stretch with a jerk."""
LOW_STEPS = 1.5
"""Steps over which hips go down for longer ones, to either side: over fewer they bob as steps differ."""
CROUCH = 0.1
"""Part of a leg by which hips are lower from which on feet in the air are too: as high as captured, they would pass
their hips."""
BEND = 0.2
"""Radians by which a path turns from a clip's own way while each foot makes a step, from which on the body makes way
for fast knees early: they are faster in tight bends, and else it bobs."""
ALMOST = 0.99
"""Part of a pop that a knee may jerk."""
IN_AIR = 4.0
"""Leg lengths that a foot in the air may be from its hip before it makes way."""
GRAVITY = 11.5
"""Leg lengths a second squared: a human leg measures 0.85 m."""
NO_WAY = 0.5
"""Leg lengths; a walk that goes less far is not fitted to a path."""


@dataclass(frozen=True)
class AlongPath:
    """Where on a path a walk goes.

    stride: how long its steps are, times. offset: where on the path it begins, world units. lean: how much of the angle
    at which nothing pulls aside the body leans into a bend. base: the path that was made of the walk itself; None to
    take the walk's own way.
    """

    path: GroundPath
    stride: float = 1.0
    offset: float = 0.0
    lean: float = 0.0
    base: GroundPath | None = None

    def maps(
        self, walk: Walk, times: np.ndarray, ahead: np.ndarray | float = 0.0, lean: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Turns (..., 3, 3) and shifts (..., 3) that bring the world to the path as at times (...), in frames.

        ahead: (...), how far in front of the way's place what is brought there is, world units.
        """
        own, headings, ways, asides = walk.way.at(times)
        here, wanted = own[..., :2], self.offset + self.stride * ways
        there, towards = self.path.at(wanted + ahead)
        if self.base is not None:
            here, headings = self.base.at(ways + ahead)
        else:
            here = here + np.asarray(ahead)[..., None] * unit(headings)
            there = there + asides[..., None] * unit(towards + 0.5 * np.pi)
        turns = turns_by((towards - headings)[..., None] * UP)
        if lean:
            rates = [slope(each, walk.clip.fps, SLOPE_TIME) for each in (wanted, towards)]
            angles = lean * np.arctan(smooth(rates[0] * rates[1], walk.step) / (GRAVITY * walk.clip.size))
            turns = turns_by(-angles[..., None] * _at_height(unit(towards), 0.0)) @ turns
        # The body leans about where its feet are.
        here, there = (_at_height(each, own[..., 2:]) for each in (here, there))
        return turns, there - applied(turns, here)

    def bends(self, walk: Walk, times: np.ndarray, near: float, far: float) -> np.ndarray:
        """(...), by how much farther the path turns what is `far` ahead than what is `near`, radians."""
        *_, ways, _ = walk.way.at(times)
        turned = [
            self.path.at(self.offset + self.stride * ways + ahead)[1]
            - (self.base.at(ways + ahead)[1] if self.base is not None else 0.0)
            for ahead in (near, far)
        ]
        return turned[1] - turned[0]


def _at_height(places: np.ndarray, heights: np.ndarray | float) -> np.ndarray:
    """Places (..., 2) of the plane at heights (..., 1)."""
    return np.concatenate((places, np.broadcast_to(heights, places[..., :1].shape)), axis=-1)


def along_path(walk: Walk, path: GroundPath, base: GroundPath | None, options: Options, back: float = 0.0) -> AlongPath:
    """Where on a path a walk goes, as options say. base: as the path was made of this walk; None: it was drawn. back:
    how far behind its first place the walk goes there, world units."""
    stride = options.path_stride
    if options.path_fit and walk.way.length > NO_WAY * walk.clip.size:
        stride = max((path.length - options.path_offset) / (back + walk.way.length), SHORTEST_STRIDE)
    return AlongPath(path, stride, options.path_offset + stride * back, options.path_lean, base)


SHORTEST_STRIDE = 0.01
"""A walk marches on the spot; it does not turn round."""


@dataclass(frozen=True)
class Brought:
    """A clip on a path.

    clip: its legs there, the hips low enough for longer steps. body: how the body is brought there from the capture,
    that included. spines: the same of each bone of each spine.
    """

    clip: LegMotion
    body: Move
    spines: list[list[Move]]


SLIGHT_BEND = 0.1
"""Radians a stride from which on knees are as bent as without a path; so are they where the ground climbs."""
AS_FAST = 1.03
"""Times as fast as planned without a path that a knee may turn: a loop is planned with what is around it, and at the
far ends of that knees may be a little faster."""


def brought(
    walk: Walk, along: AlongPath, options: Options, spines: Sequence[Spine] = (), ground: Ground | None = None
) -> Brought:
    """The clip along a path, not planted yet: it stands there as well as it did. ground: on which it is to be."""
    clip, plain = walk.clip, plan(walk.clip, options, walk.contacts, sole=walk.sole)
    (aheads, ahead) = girdles(walk.aheads, spines, walk.clip.size)
    body, bent = _bent(walk, along, spines, aheads, ahead)
    turns, shifts = along.maps(walk, walk.times, aheads[:, None])
    hips, between = moved(body, clip.hips), 0.5 * (turns + body[0])
    for spine, moves in zip(spines, bent, strict=True):
        legs = list(spine.legs)
        hips[legs], between[legs] = moved(moves[-1], clip.hips[legs]), 0.5 * (turns[legs] + moves[-1][0])
    ankles, planted, balls = (moved((turns, shifts), points) for points in (clip.ankles, plain.ankles, clip.balls))
    feet, stands = turns @ clip.feet, standing(walk.anchors, ankles.shape[:2])
    reaches, (_, shortest) = clip.reaches[:, None], leg_limits(clip, options)
    bend = np.abs(np.diff(np.unwrap(np.arctan2(*body[0][:, 1::-1, 0].T)))).max(initial=0.0) * 2.0 * walk.step
    ways = np.linalg.norm(plain.ankles - clip.hips - plain.shifts, axis=2)
    longest = _longest(clip, options, ways, SLIGHT_BEND if climbs(clip, ankles, ground) else bend)
    share = eased(np.array((along.stride - 1.0) / (LONG - 1.0)))
    extensions = np.where(stands, np.minimum(longest, (1.0 - share * (1.0 - LONG_EXTENSION)) * reaches), longest)
    # Longer steps need lower hips: early, for they would bob at each step. Feet in the air make way themselves.
    falls, captured = (
        lowering(offsets, np.where(stands, far, IN_AIR * reaches), shortest * stands)[0]
        for offsets, far in ((planted - hips, extensions), (plain.ankles - clip.hips, longest))
    )
    low = above_all(clip, (falls - captured).clip(0.0), round(LOW_STEPS * walk.step))[:, None] * UP
    hips -= low
    heights = walk.sole.places(ankles, feet)[..., 2] - walk.sole.floors[:, None]
    lower = np.minimum(rooms_below(clip, heights, stands, options), (low[:, 2] - CROUCH * clip.size).clip(0.0))
    lower = lower[..., None] * UP
    swings = swung(clip, ankles - lower - hips, heights - lower[:, None, :, 2], stands, options) - lower
    ankles = ankles + swings
    # So do tighter bends, for knees.
    calm = max(share, eased(np.array(bend / BEND))) * max(0.0, walk.step / clip.fps - clip.calm_time)
    there = replace(
        clip,
        hips=hips,
        knees=_knees(clip, between, hips, ankles),
        ankles=ankles,
        balls=balls + swings,
        feet=feet,
        skins=clip.skins_at(ankles, feet),
        extensions=extensions,
        calm_time=float(clip.calm_time + calm),
        **_limits(clip, bends_of(clip, ways)),
    )
    # Not every loop closes on a path; one that does begins again when it did.
    there = replace(there, period=period_of(there) and period_of(clip))
    return Brought(there, (body[0], body[1] - low), [[(turn, move - low) for turn, move in own] for own in bent])


def _knees(clip: LegMotion, between: np.ndarray, hips: np.ndarray, ankles: np.ndarray) -> np.ndarray:
    """Knees (legs, T, 3) on their side of legs that turn as the body and the foot do in the mean, between."""
    lines, thighs = (applied(between, points - clip.hips) for points in (clip.ankles, clip.knees))
    return hips + applied(turns_between(directions(lines), directions(ankles - hips)), thighs)


def _limits(clip: LegMotion, bends: np.ndarray) -> dict[str, np.ndarray]:
    """The jerks and turns that knees may have along a path. bends: (legs, T), without one."""
    jerks, speeds = np.abs(unexpected(bends, clip.fps)), np.abs(slope(bends, clip.fps, SLOPE_TIME, axis=1))
    return {
        # What pops as captured goes on to; at the ends nobody knows.
        "jerks": np.where((jerks > POP) | (jerks == 0.0), np.inf, np.maximum(jerks, ALMOST * POP)),
        "turns": np.maximum(AS_FAST * speeds.max(axis=1), ADDED_BEND),
    }


def _longest(clip: LegMotion, options: Options, ways: np.ndarray, bend: float) -> np.ndarray:
    """(legs, T), the longest distance from hip to ankle on a path. ways: (legs, T), without a path. bend: radians that
    it bends in a stride.

    As straight as captured, a knee that is bent without a path would pop.
    """
    longest, _ = leg_limits(clip, options)
    spare = (longest - np.maximum(ways, options.softness * clip.reaches[:, None])).clip(0.0)
    return longest - eased(np.array(bend / SLIGHT_BEND)) * spare


def _bent(
    walk: Walk, along: AlongPath, spines: Sequence[Spine], aheads: np.ndarray, ahead: float
) -> tuple[Move, list[list[Move]]]:
    """How the body moves, and each bone of each spine. aheads, ahead: see `girdles`."""
    clip, frames = walk.clip, np.arange(walk.clip.frame_count, dtype=float)
    body = along.maps(walk, frames, ahead, along.lean)
    at_body = clip.hips[aheads == ahead] if (aheads == ahead).any() else clip.hips
    pivot, bent, angles = moved(body, at_body.mean(axis=0)), [], [np.zeros(len(frames))]
    for spine in spines:
        legs, far = list(spine.legs), aheads[spine.legs[0]]
        bent.append(spine.moves(body, along.bends(walk, frames, ahead, far)))
        # A body turns on its place until its other girdle is as near to the path as it gets.
        middle = clip.hips[legs].mean(axis=0)
        wanted, found = (
            (moved(each, middle) - pivot)[:, :2] @ (1.0, 1.0j)
            for each in (along.maps(walk, frames, far, along.lean), bent[-1][-1])
        )
        angles.append(np.angle(wanted * np.conj(found)))
    turn = turns_by(np.sum(angles, axis=0)[:, None] / max(len(spines), 1) * UP)

    def turned(move: Move) -> Move:
        return turn @ move[0], applied(turn, move[1] - pivot) + pivot

    return turned(body), [list(map(turned, own)) for own in bent]
