"""The frames at which one clip goes on as another, and how what is apart there fades.

All of the second clip is moved as a whole over the ground: the map of a path, which is one at a joint. What is still
apart fades. A foot that stands in both passes its part once it is in the air, so its stance stays where it is; one that
stands in the second alone lands first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import bpy
import numpy as np

from .. import messages
from ..authoring.placing import Control
from ..planting.feet.anchors import standing
from ..planting.feet.clip import UP, LegMotion, applied, turns_by, vectors_of
from ..planting.feet.curves import eased, frames_in
from ..planting.feet.options import Options
from ..planting.feet.planning import CALMING, FASTER, body_shifts, calm_reaches, fastest_bends
from ..planting.feet.walk import STEP_TIME, Walk
from ..planting.scene.reading import Leg
from ..rig.blender.rotations import LOCATION, SCALE, continuous, matrices_of, quaternions_of, turns_in
from ..solvers import ChainError
from ..solvers.arrays import quaternions
from .keying import Channels, Film, Rows
from .loop import foot_poses, path_to

NEAR = 2.0
"""Seconds from the end of the first clip, and from the beginning of the second, in which they are joined; at most half
of either. And in which all has faded."""
SPEED_TIME = 0.1
"""Seconds over which a difference in speed counts as the difference in place that it makes."""
BRAKE_TIME = 0.25
"""Seconds in which a difference in speed fades, but for feet."""
FASTER_STEP, FASTER_TURN, FASTER_BODY, ROUGHER = 1.3, 1.5, 2.0, 1.3
"""Times as far as in either clip that a foot may go in a frame; that a bone may turn, and a knee go; that the body may
go; and that a foot's step may differ from the one before."""

_STEP, _SWAY, _TURN = 1e-3, 1.0, np.radians(180.0)
"""How far a foot may go in a frame in any case, parts of a leg; how far a knee or the body may in a second, and how far
a bone may turn, radians."""
_TURNS = "turn", "bend"
_STRAIGHT = 0.99
"""Part of its length to which a leg may stretch that is no straighter in either clip."""
_OFF = 1e-4
"""Part of its length by which a leg may miss its foot."""
FAR = 0.01
"""The same that is as bad as what is twice too fast; and by which it may miss one that does not hang on it."""
_MOST, _KEPT, _LOSS = 300, 4.0, 0.1
"""So many joints are looked at. Times as much as what fades counts what a foot keeps to the end; and how far apart,
parts of a leg, counts as much as a whole clip that is not played."""
_SHORTEST_LANDING = 0.1
"""Seconds in which a foot lands at least."""

Part = tuple[str, int]
"""What goes from frame to frame: "body", "knee" or "foot", of a leg by its number; "turn" or "bend" of any bone."""
Refused = tuple[float, str]
"""How many times as much as it may be something is, and the sentence that says so."""


@dataclass(frozen=True)
class Joint:
    """row, following: of the first clip and the second, which are one. walk: the second. move: (4, 4), that of it over
    the ground. apart: the mean distance of joints, world units.

    fade: frames in which all but feet fades. passes: of each leg the rows of the second clip from which to which its
    foot passes its part. stands, lands: (legs,) bool, which feet stand in both, and in the second alone.
    """

    row: int
    following: int
    walk: Walk
    move: np.ndarray
    apart: float
    fade: int
    passes: Sequence[tuple[int, int]]
    stands: np.ndarray
    lands: np.ndarray

    def joined(self, before: Sequence, after: Sequence) -> list:
        """Rows of both clips, as they are."""
        return [*before[: self.row + 1], *after[self.following + 1 :]]

    def film(self, before: Film, after: Film) -> Film:
        """Both clips, as they are."""
        (worlds, poses, channels) = (
            {key: self.joined(rows, getattr(after, name)[key]) for key, rows in getattr(before, name).items()}
            for name in ("worlds", "poses", "channels")
        )
        worlds, poses = ({key: np.array(rows) for key, rows in each.items()} for each in (worlds, poses))
        start = before.frames.start
        return Film(before.ob, range(start, start + len(worlds[before.ob])), worlds, poses, channels)

    def contacts(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Those (legs, 2, T) of both clips; none of a foot until it has landed."""
        contacts = np.array(self.joined(before.T, after.T)).T
        for leg in np.flatnonzero(self.lands):
            contacts[leg, :, self.row + 1 : self.row + self.passes[leg][1] - self.following] = False
        return contacts

    def left(self, leg: int | None, apart: np.ndarray, faster: np.ndarray) -> np.ndarray:
        """What is left, (n, k), of a difference (k,) at the joint, and of one in speed. leg: of a foot; None: of all
        else."""
        rows = np.arange(self.following, self.walk.clip.frame_count)
        start, end = (self.following, self.following + self.fade) if leg is None else self.passes[leg]
        brake = end - self.following
        if leg is None:
            brake = min(brake, frames_in(BRAKE_TIME, self.walk.clip.fps))
        elif self.stands[leg]:
            brake = 0
        elif not self.lands[leg]:
            brake = next((first for first, *_ in self.walk.stops[leg] if first > self.following), rows[-1]) - rows[0]
        t, u = (
            np.clip((rows - first) / max(count, 1), 0.0, 1.0)[:, None]
            for first, count in ((start, end - start), (self.following, brake))
        )
        return (1.0 + 2.0 * t) * (1.0 - t) ** 2 * apart + brake * u * (1.0 - u) ** 2 * faster

    def faded(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Vectors (T, k) of both clips; those of the second go on from the first."""
        own, later = before[: self.row + 1], after[self.following :]
        later = later + self.left(None, own[-1] - later[0], (own[-1] - own[-2]) - (later[1] - later[0]))
        return np.concatenate((own, later[1:]))

    def turned(self, before: np.ndarray, after: np.ndarray, fades: bool = True) -> np.ndarray:
        """The same of rotations (T, 3, 3)."""
        own, later = before[: self.row + 1], after[self.following :]
        faster = vectors_of(own[-2].T @ own[-1]) - vectors_of(later[0].T @ later[1])
        later = later @ turns_by(fades * self.left(None, vectors_of(later[0].T @ own[-1]), faster))
        return np.concatenate((own, later[1:]))

    def passed(self, before: np.ndarray, after: np.ndarray, leg: int | None) -> np.ndarray:
        """Poses (T, 4, 4) in the world, of the second clip where it goes on from the first. leg: of a foot."""
        before, later = before[: self.row + 1], self.move @ after[self.following :]
        places, turns, own = later[:, :3, 3], matrices_of(turns_in(later)), matrices_of(turns_in(before[-2:]))
        pivots = places
        if leg is not None:
            pivots = placed(self.move, self.walk.feet[leg, self.following :])
        faster = vectors_of(own[1] @ own[0].T) - vectors_of(turns[1] @ turns[0].T)
        spins = turns_by(self.left(leg, vectors_of(own[1] @ turns[0].T), faster))
        moved = pivots + applied(spins, places - pivots)
        faster = (before[-1] - before[-2])[:3, 3] - (places[1] - places[0])
        later[:, :3, 3] = moved + self.left(leg, before[-1, :3, 3] - moved[0], faster)
        later[:, :3, :3] = spins @ later[:, :3, :3]
        return np.concatenate((before, later[1:]))

    def channels(self, before: Sequence[Channels], after: Sequence[Channels], fades: bool) -> Rows:
        """What those channels of a control hold that change. fades: so that the second clip goes on from the first."""
        found = {}
        for mode in before[0]:
            both = [np.array([row[mode] for row in rows], float) for rows in (before, after)]
            if mode in (LOCATION, SCALE):
                numbers = self.faded(*both) if fades else np.array(self.joined(*both))
            else:
                own = both[0][: self.row + 1]
                one, other = (matrices_of(quaternions_of(each, mode)) for each in both)
                turns = self.turned(one, other, fades)
                numbers = np.concatenate((own, continuous(quaternions(turns[self.row :]), mode, own[-1])[1:]))
            if (numbers != numbers[0]).any():
                found[mode] = [tuple(each) for each in numbers.tolist()]
        return found


@dataclass(frozen=True)
class Pair:
    """Two clips as they are seen. hips: what carries the legs. names: of the clips."""

    walks: tuple[Walk, Walk]
    films: tuple[Film, Film]
    hips: bpy.types.PoseBone
    legs: Sequence[Leg]
    names: tuple[str, str]

    @property
    def clips(self) -> tuple[LegMotion, LegMotion]:
        """The legs in both."""
        return self.walks[0].clip, self.walks[1].clip

    @property
    def body(self) -> Control:
        """What carries the legs, as it was seen."""
        return Control(self.hips.id_data, self.hips.name, turns=True)

    @cached_property
    def paths(self) -> list[list[str]]:
        """By leg the bones from the body to its foot, or where that does not hang on it to its end; none where others
        turn them."""
        return [path_to(leg, self.hips) or path_to(leg, self.hips, leg.tip) for leg in self.legs]

    @cached_property
    def carried(self) -> list[str]:
        """The body and the bones that it carries."""
        return [self.hips.name, *(bone.name for bone in self.hips.children_recursive)]

    @cached_property
    def parts(self) -> dict[Part, list[str]]:
        """The bones that are not to go too far: the body; by leg its knees, and its foot, or without one its tip, with
        the bones below."""
        bones, found = self.hips.id_data.pose.bones, {("body", 0): [self.hips.name]}
        for k, leg in enumerate(self.legs):
            foot = bones[leg.foot or leg.tip]
            found["knee", k] = [*leg.links[1:]]
            found["foot", k] = [foot.name, *(each.name for each in foot.children_recursive)]
        return found

    @cached_property
    def reaches(self) -> np.ndarray:
        """(legs, 1), how far each leg may end from its hip."""
        most = _STRAIGHT * self.clips[0].reaches
        for film, clip in zip(self.films, self.clips, strict=True):
            ends = np.array([end_of(film, leg) for leg in self.legs])
            most = np.maximum(most, np.linalg.norm(ends - clip.hips, axis=2).max(axis=1))
        return most[:, None]

    def speeds(self, film: Film) -> Iterator[tuple[Part, str, np.ndarray]]:
        """How far bones go from each frame to the next, (T - 1,), each with its part and its name: turns, and those
        against the bone above, radians; of parts, how far the ends of their bones go."""
        bones, poses = self.hips.id_data.pose.bones, film.poses
        for name in dict.fromkeys([*self.carried, *(name for names in self.parts.values() for name in names)]):
            yield ("turn", 0), name, _turns(poses[name])
            if bones[name].parent is not None:
                yield ("bend", 0), name, _turns(np.linalg.inv(poses[bones[name].parent.name]) @ poses[name])
        for part, names in self.parts.items():
            for name in names:
                ends = film.worlds[film.ob] @ poses[name] @ np.array([(0, 0), (0, bones[name].length), (0, 0), (1, 1)])
                yield part, name, np.linalg.norm(np.diff(ends[:, :3], axis=0), axis=1).max(axis=1)

    @cached_property
    def limits(self) -> dict[Part, float]:
        """How far something may go in a frame, by its part."""
        fps, size = self.clips[0].fps, self.clips[0].size
        least = {"turn": _TURN / fps, "bend": _TURN / fps, "foot": _STEP * size}
        found = {}
        for film in self.films:
            for part, _, own in self.speeds(film):
                faster = {"foot": FASTER_STEP, "body": FASTER_BODY}.get(part[0], FASTER_TURN)
                limit = max(least.get(part[0], _SWAY * size / fps), faster * float(own.max(initial=0.0)))
                found[part] = max(found.get(part, 0.0), limit)
        return found

    @cached_property
    def jolts(self) -> np.ndarray:
        """(legs,), how much the steps of a foot may differ from frame to frame."""
        most = [[jolts_of(getattr(clip, name)) for name in ("ankles", "balls")] for clip in self.clips]
        return np.maximum(ROUGHER * np.max(most, axis=(0, 1)), _STEP * self.clips[0].reaches)

    def too_far(self, part: Part, name: str, ways: np.ndarray) -> Refused:
        """Where a bone goes too far from a frame to the next. ways: (T - 1,)."""
        row, most, turns = int(ways.argmax()), self.limits[part], part[0] in _TURNS
        given = {"bone": name, "frame": self.films[0].frames.start + row + 1, "second": self.names[1]}
        unit = np.radians(1.0) if turns else self.clips[0].size
        given |= {"far": ways[row] / unit, "most": most / unit}
        return float(ways[row] / most), (messages.JOIN_TURN if turns else messages.JOIN_STEP)(**given)

    def out_of_reach(self, leg: int, off: np.ndarray, most: float = _OFF) -> Refused:
        """Where a leg misses its foot, by parts of its length (T,). most: by which it may."""
        row = int(off.argmax())
        given = {"bone": self.legs[leg].tip, "frame": self.films[0].frames.start + row, "second": self.names[1]}
        words = messages.JOIN_OUT_OF_REACH(**given, part=float(off[row]))
        return float(off[row] / most if off[row] <= most else 1.0 + off[row] / FAR), words

    def fades(self) -> tuple[np.ndarray, np.ndarray]:
        """For each two rows of both clips, in how many frames fades what is apart, and how many times as fast as bones
        may turn that is at least."""
        on_legs = {name for path in self.paths for name in path}
        least = np.ones([len(film.frames) for film in self.films])
        for name in self.carried:
            if name not in on_legs:
                own = [turns_in(np.linalg.inv(film.poses[self.hips.name]) @ film.poses[name]) for film in self.films]
                least = np.minimum(least, np.abs(own[0] @ own[1].T))
        # A cubic is 1.5 times as fast in its middle as in the mean.
        fastest, fps = 1.5 * 2.0 * np.arccos(np.minimum(least, 1.0)), self.clips[1].fps
        rest = len(self.films[1].frames) - 1 - np.arange(least.shape[1])
        # The clip's own speed leaves this much at least.
        wanted = np.ceil(fastest / ((1.0 - 1.0 / FASTER_TURN) * self.limits["turn", 0]))
        frames = np.clip(wanted, frames_in(STEP_TIME, fps), frames_in(NEAR, fps))
        frames = np.maximum(np.minimum(frames, rest), 1).astype(int)
        return frames, fastest / frames / self.limits["turn", 0]


def end_of(film: Film, leg: Leg) -> np.ndarray:
    """Where a leg ends, (T, 3), in the world."""
    return placed(film.world(Control(film.ob, leg.tip)), np.array(leg.ankle))


def placed(poses: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (..., 3) in the space of poses (..., 4, 4), outside of it."""
    return applied(poses[..., :3, :3], points) + poses[..., :3, 3]


def jolts_of(points: np.ndarray) -> np.ndarray:
    """(legs,), how much the steps of points (legs, T, 3) differ most from frame to frame."""
    return np.linalg.norm(np.diff(points, 2, axis=1), axis=2).max(axis=1, initial=0.0)


def _turns(poses: np.ndarray) -> np.ndarray:
    """How far poses (T, 4, 4) turn from each frame to the next, (T - 1,), radians."""
    turns = matrices_of(turns_in(poses))
    return np.linalg.norm(vectors_of(turns[:-1].swapaxes(1, 2) @ turns[1:]), axis=1)


def joints_of(pair: Pair, end: int | None) -> list[Joint]:
    """Where two clips may be one, most alike first, of all places where a foot stands in both. end: the row at which
    the first ends; None: any. Raises ChainError where there is none."""
    first, second = pair.walks
    (level, heights), (other, other_heights) = _features(first), _features(second)
    # Its angle is the turn about the vertical that brings one pose nearest to another.
    product = level.T @ other.conj()
    own, others = (
        np.square(np.abs(np.vstack(each))).sum(axis=0) for each in ((level, heights), (other, other_heights))
    )
    away = np.maximum(own[:, None] + others - 2.0 * (np.abs(product) + heights.T @ other_heights), 0.0) / len(heights)
    one, two = (standing(each.anchors, each.clip.ankles.shape[:2]) for each in (first, second))
    # In the air only where no foot that stands does so near both ends: runs of one cycle.
    both, none = (one[:, :, None] & two[:, None]).any(axis=0), ~one.any(axis=0)[:, None] & ~two.any(axis=0)
    near, (count, after) = round(NEAR * first.clip.fps), both.shape
    rows = np.arange(count)
    left_out = rows != end if end is not None else rows < max(count // 2, count - near, 1)
    for fits in (both, none):
        fits[left_out] = fits[:, min(after // 2, near) :] = False
    fits = both if both.any() else none
    if not fits.any():
        raise ChainError(messages.NO_JOINT(armature=pair.hips.id_data.name, first=pair.names[0], second=pair.names[1]))
    fades, faster = pair.fades()
    faster, found = np.maximum(faster, 1.0), []
    lost = (count - 1 - rows[:, None]) / count + np.arange(after) / after
    worse = away + np.square(_LOSS * first.clip.size * lost)
    order = np.lexsort((worse.ravel(), faster.ravel(), ~fits.ravel()))[: min(fits.sum(), _MOST)]
    for row, following in zip(*(each.tolist() for each in np.unravel_index(order, fits.shape)), strict=True):
        move, stands, last = np.eye(4), one[:, row] & two[:, following], second.clip.frame_count - 1
        move[:3, :3] = turns_by(np.angle(product[row, following]) * UP)
        # Where no foot stands the body goes on as it went, over the same ground.
        here, there = (
            (walk.feet[stands, at] if stands.any() else walk.clip.hips[:, at] * (1.0 - UP)).mean(axis=0)
            for walk, at in ((first, row), (second, following))
        )
        move[:3, 3] = here - move[:3, :3] @ there
        lands, fade = two[:, following] & ~one[:, row], int(fades[row, following])
        ways = _ways(pair, row, following, move)
        passes = [_passes(pair, leg, following, ways[leg], bool(own)) for leg, own in enumerate(lands)]
        kept = np.mean(
            [np.square(way[0]).sum() for way, (start, _) in zip(ways, passes, strict=True) if start == last] or 0
        )
        apart = np.sqrt(float(away[row, following]))
        made = Joint(row, following, second, move, apart, fade, passes, stands, lands)
        found.append((faster[row, following], worse[row, following] + _KEPT * kept, len(found), made))
    return [made for *_, made in sorted(found)]


def _ways(pair: Pair, row: int, following: int, move: np.ndarray) -> np.ndarray:
    """(legs, 2, 3), from where the second clip has ankle and ball of each foot to where the first one has them, as the
    second sees it."""
    one, two = (
        np.stack((clip.ankles[:, at], clip.balls[:, at]), axis=1)
        for clip, at in zip(pair.clips, (row, following), strict=True)
    )
    return (one - move[:3, 3]) @ move[:3, :3] - two


def _passes(pair: Pair, leg: int, following: int, ways: np.ndarray, lands: bool) -> tuple[int, int]:
    """From which row of the second clip to which a foot passes its part, not too far in a frame: while it lands; else
    in the first swing that is enough. If none is, it keeps its part to the end. ways: (2, 3), of ankle and ball."""
    clip, most = pair.clips[1], pair.limits["foot", leg]
    last = clip.frame_count - 1
    if lands:
        far = np.linalg.norm(ways, axis=1).max()
        # A cubic is 1.5 times as fast in its middle as in the mean, and changes its speed most at its ends.
        least = int(np.ceil(max(1.5 * far / most, np.sqrt(6.0 * far / pair.jolts[leg]))))
        return following, min(following + max(least, frames_in(_SHORTEST_LANDING, clip.fps)), last)
    points = np.stack((clip.ankles[leg], clip.balls[leg]), axis=1)
    for stop, then in pairwise(pair.walks[1].stops[leg]):
        start, end = max(stop[1], following), then[0]
        if end > start:
            left = 1.0 - eased(np.arange(end - start + 1) / (end - start))[:, None, None]
            if np.linalg.norm(np.diff(points[start : end + 1] + left * ways, axis=0), axis=2).max() <= most:
                return start, end
    return last, last + 1


def _features(walk: Walk) -> tuple[np.ndarray, np.ndarray]:
    """What is compared of each frame: joints and their speeds in the plane, complex (2 n, T), and heights over the
    ground, (n, T)."""
    clip = walk.clip
    joints = np.concatenate((clip.hips, clip.knees, clip.ankles, clip.balls))
    level = joints[..., 0] + 1j * joints[..., 1]
    speeds = np.gradient(level, axis=1) * clip.fps * SPEED_TIME
    return np.concatenate((level - level.mean(axis=0), speeds)), joints[..., 2] - walk.feet[..., 2].mean(axis=0)


@dataclass(frozen=True)
class Way:
    """Where all is at a joint, in the world. bodies: (T, 4, 4). feet: (legs, T, 4, 4), how feet go there from where
    they are in both clips. ends: (legs, T, 3), of the legs. refused: what is worst about them. rough: whether a foot
    jolts."""

    bodies: np.ndarray
    feet: np.ndarray
    ends: np.ndarray
    refused: Refused
    rough: bool


def way_at(pair: Pair, joint: Joint) -> Way:
    """The body and the feet at a joint. The body makes way where legs would not reach their feet."""
    own, carried = pair.clips[0], [film.world(pair.body) for film in pair.films]
    bodies = joint.passed(carried[0], carried[1], None)
    feet, goes, balls, ends, hips = [], [], [], [], []
    for k, leg in enumerate(pair.legs):
        poses = [foot_poses(clip, k) for clip in pair.clips]
        feet.append(joint.passed(poses[0], poses[1], k))
        goes.append(feet[k] @ np.linalg.inv(joint.joined(*poses)))
        balls.append(placed(goes[k], np.array(joint.joined(*(clip.balls[k] for clip in pair.clips)))))
        # A foot that does not hang on its leg, and the bone above it, fade as well.
        on_feet = (placed(np.linalg.inv(pose), end_of(film, leg)) for pose, film in zip(poses, pair.films, strict=True))
        ends.append(placed(feet[k], joint.faded(*on_feet)))
        above = Control(pair.body.ob, pair.hips.id_data.pose.bones[leg.links[0]].parent.name)
        shoulders = [film.world(above) for film in pair.films]
        on_body = [np.linalg.inv(body) @ each for body, each in zip(carried, shoulders, strict=True)]
        spins = joint.turned(*(matrices_of(turns_in(each)) for each in on_body))
        on_it = (placed(np.linalg.inv(one), clip.hips[k]) for one, clip in zip(shoulders, pair.clips, strict=True))
        places = joint.faded(*(each[:, :3, 3] for each in on_body))
        hips.append(placed(bodies, applied(spins, joint.faded(*on_it)) + places))
    feet, balls, ends, hips = map(np.array, (feet, balls, ends, hips))
    ankles, longest = feet[..., :3, 3], np.broadcast_to(pair.reaches, ends.shape[:2])
    made = LegMotion(own.fps, own.lengths, hips, hips, ends, balls, feet[..., :3, :3])
    ways = np.linalg.norm(ends - hips, axis=2)
    calm = calm_reaches(made, ways, FASTER * np.max([fastest_bends(clip) for clip in pair.clips], axis=0))
    calm = np.minimum(longest, np.maximum(calm, ways - CALMING * own.size))
    shifts, _ = body_shifts(replace(made, extensions=calm), ends, Options())
    bodies[:, :3, 3] += shifts
    short = (np.linalg.norm(ends - hips - shifts, axis=2) - longest) / own.reaches[:, None]
    found = [pair.out_of_reach(leg, off) for leg, off in enumerate(short)]
    steps = np.linalg.norm(np.diff(bodies[:, :3, 3], axis=0), axis=1)
    found.append(pair.too_far(("body", 0), pair.hips.name, steps))
    for leg, points in enumerate(np.stack((ankles, balls), axis=1)):
        steps = np.linalg.norm(np.diff(points, axis=1), axis=2).max(axis=0)
        found.append(pair.too_far(("foot", leg), pair.legs[leg].tip, steps))
    rough = bool((np.maximum(jolts_of(ankles), jolts_of(balls)) > pair.jolts).any())
    return Way(bodies, np.array(goes), ends, max(found), rough)
