"""A clip brought to another path: each stance as a rigid whole, and so is the body at each time.

The map is a function of time, not of the way: where a clip stands nothing is divided by zero. The body goes by the map
of its own time. A foot goes by that of the time at which the body passes it, which is one as long as it stands; in the
air that time goes over to the next stance's, as far as the foot has come.
"""

from dataclasses import dataclass, replace

import numpy as np

from ...solvers.carrier import lowering
from .anchors import standing
from .clip import UP, LegMotion, applied, turns_by
from .curves import above, eased, slope, smooth
from .options import SLOPE_TIME, Options
from .path import GroundPath, unit
from .reaching import leg_limits
from .swinging import swung
from .walk import Walk

LONG, LONG_EXTENSION = 1.15, 0.97
"""A stride from which on legs extend no farther: straight ones that step farther bend and stretch with a jerk."""
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

    def maps(self, walk: Walk, times: np.ndarray, lean: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Turns (..., 3, 3) and shifts (..., 3) that bring the world to the path as at times (...), in frames."""
        own, headings, ways, asides = walk.way.at(times)
        here, wanted = own[..., :2], self.offset + self.stride * ways
        there, towards = self.path.at(wanted)
        if self.base is not None:
            here, headings = self.base.at(ways)
        else:
            there = there + asides[..., None] * unit(towards + 0.5 * np.pi)
        turns = turns_by((towards - headings)[..., None] * UP)
        if lean:
            rates = [slope(each, walk.clip.fps, SLOPE_TIME) for each in (wanted, towards)]
            angles = lean * np.arctan(smooth(rates[0] * rates[1], walk.step) / (GRAVITY * walk.clip.size))
            turns = turns_by(-angles[..., None] * _at_height(unit(towards), 0.0)) @ turns
        # The body leans about where its feet are.
        here, there = (_at_height(each, own[..., 2:]) for each in (here, there))
        return turns, there - applied(turns, here)


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

    clip: its legs there, the hips low enough for longer steps. turns, shifts: (T, 3, 3) and (T, 3), how the body is
    brought there from the capture, that included.
    """

    clip: LegMotion
    turns: np.ndarray
    shifts: np.ndarray


def brought(walk: Walk, along: AlongPath, options: Options) -> Brought:
    """The clip along a path, not planted yet: it stands there as well as it did."""
    clip = walk.clip
    times = np.arange(clip.frame_count, dtype=float)
    body_turns, body_shifts = along.maps(walk, times, along.lean)
    turns, shifts = along.maps(walk, walk.times)
    hips, body_knees = (applied(body_turns, points) + body_shifts for points in (clip.hips, clip.knees))
    ankles, balls, foot_knees = (applied(turns, points) + shifts for points in (clip.ankles, clip.balls, clip.knees))
    stands = standing(walk.anchors, ankles.shape[:2])
    reaches, (longest, shortest) = clip.reaches[:, None], leg_limits(clip, options)
    share = eased(np.array((along.stride - 1.0) / (LONG - 1.0)))
    extensions = np.where(stands, np.minimum(longest, (1.0 - share * (1.0 - LONG_EXTENSION)) * reaches), longest)
    # Longer steps need lower hips: early, for they would bob at each step. Feet in the air make way themselves.
    far = np.where(stands, extensions, IN_AIR * reaches), np.where(stands, longest, IN_AIR * reaches)
    falls, captured = (
        lowering(*each, shortest * stands)[0] for each in ((ankles - hips, far[0]), (clip.ankles - clip.hips, far[1]))
    )
    low = above((falls - captured).clip(0.0), walk.step)[:, None] * UP
    hips = hips - low
    feet = turns @ clip.feet
    heights = walk.sole.places(ankles, feet)[..., 2] - walk.sole.floors[:, None]
    moves = swung(clip, ankles - hips, heights, stands, options)
    ankles = ankles + moves
    there = replace(
        clip,
        hips=hips,
        knees=0.5 * (body_knees + foot_knees),
        ankles=ankles,
        balls=balls + moves,
        feet=feet,
        skins=clip.skins_at(ankles, feet),
        extensions=extensions,
    )
    return Brought(there, body_turns, body_shifts - low)
