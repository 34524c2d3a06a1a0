"""Limbs: what one is in the pose before, and the one triangle that brings its end to a place."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, pi, sqrt

from . import geometry as g
from .skeleton import Skeleton

_SPARE = 2e-4
"""Of its reach: so much a held limb keeps bent, for a straight one has no plane."""
_STRAIGHT = 2.5e-4
"""Of its reach by which a limb bulges at least to have a plane of its own."""
_NO_LEVER = 0.02
"""Of a limb's length: a girdle that is shorter turns for nothing."""


@dataclass(frozen=True)
class FoundParts:
    """A limb by the numbers of its bones; as `FoundLimb` of the finder, whose words these are."""

    kind: str
    side: str
    place: str
    bones: tuple[int, ...]
    segments: frozenset[int]
    end: int
    toe: int
    rides: bool

    @property
    def is_lower(self) -> bool:
        """True for a leg that hangs on the hips; those in front hang on the chest."""
        return self.kind == "LEG" and "FRONT" not in self.place


class GrabLimb:
    """A limb in the pose before. Lengths and places in armature space.

    root, end: where it begins and ends. points: its joints, root to end. links: the first bone of each link.
    reach, least: the longest and shortest distance to which its triangle opens and folds. shell: the same with what a
    held one keeps in hand, and never so that the pose before would be out of it. at: which bone of the line carries it.
    girdle: the bone between line and limb, -1 without. ball: where a foot's toe begins, or None.
    """

    def __init__(self, bones: Skeleton, found: FoundParts, line: Sequence[int], forward: g.Point) -> None:
        self.found = found
        self.links = [bone for bone in found.bones if bone not in found.segments]
        self.tip, self.is_rigged = found.bones[-1], found.bones[-1] in bones.rigged
        self.end = bones.heads[found.end] if found.end >= 0 else bones.tails[self.tip]
        self.points = [*(bones.heads[bone] for bone in self.links), self.end]
        self.root = self.points[0]
        self._open(forward, bones)
        rolls = found.kind == "LEG" and found.toe >= 0 and found.rides
        self.ball = bones.heads[found.toe] if rolls else None
        above = [*bones.above(self.links[0])][1:]
        self.at = max((k for k, bone in enumerate(line) if bone in above), default=0)
        between = above[: above.index(line[self.at])] if line[self.at] in above else []
        lever = {bone: g.distance(bones.heads[bone], self.root) for bone in between if bone not in bones.locked[0]}
        girdle = max(lever, key=lambda bone: lever[bone], default=-1) if not found.is_lower else -1
        self.girdle = girdle if girdle >= 0 and lever[girdle] >= _NO_LEVER * self.reach else -1

    def _open(self, forward: g.Point, bones: Skeleton) -> None:
        """The triangle of the pose before: two links, or more of them in two groups that turn as one each."""
        links = [g.sub(b, a) for a, b in itertools.pairwise(self.points)]
        self.groups = _groups(links)
        first, second = (g.total(links[k] for k in group) for group in self.groups)
        self.lengths = g.norm(first), g.norm(second)
        self.reach, self.least = sum(self.lengths), abs(self.lengths[0] - self.lengths[1])
        self.directions = g.unit(first), g.unit(second)
        self.open_before = g.distance(self.end, self.root)
        self.along = g.unit(g.sub(self.end, self.root), self.directions[0])
        side = g.across(first, self.along)
        if g.norm(side) < _STRAIGHT * self.reach:
            # A straight limb: knees go ahead, elbows back.
            side = g.across(forward if self.found.kind == "LEG" else g.mul(forward, -1.0), self.along)
            if g.norm(side) < 0.1:
                side = g.across(bones.up, self.along)
        self.side = g.unit(side)
        self.normal = g.cross(self.side, self.along)
        knee = bones.hinges.get(self.links[1]) if len(self.links) == 2 else None
        if knee is not None:
            self._limit(*knee)
        spare = _SPARE * self.reach
        self.shell = max(self.reach - spare, self.open_before), min(self.least + spare, self.open_before)

    def _limit(self, axis: g.Point, least: float, most: float) -> None:
        """Its knee bends only so far: then it reaches only so far, and so near."""
        bend = atan2(g.dot(g.cross(*self.directions), self.normal), g.dot(*self.directions))
        if g.dot(axis, self.normal) < 0.0:
            least, most = -most, -least
        a, b = self.lengths
        self.reach, self.least = (
            sqrt(max(a * a + b * b + 2.0 * a * b * cos(min(max(bend + more, 0.0), pi)), 0.0)) for more in (least, most)
        )

    def closed(
        self, carried: g.Move, goal: g.Point, end_turn: g.Turn | None, side: g.Point | None = None
    ) -> dict[int, g.Move]:
        """The moves of its links that bring its end to `goal`, or as near as it reaches, and that of the bone there.

        carried: how its root is moved. end_turn: how the bone at its end turns; None: as the last link. side: to where
        the limb bends, None: as before, brought by the shortest swing from where a leg's foot, or an arm's chest, has
        it.
        """
        root = g.moved(carried, self.root)
        away = g.sub(goal, root)
        before = g.NO_TURN if end_turn is not None and self.found.kind == "LEG" else carried[0]
        start, bend = g.rotate(before, self.along), g.rotate(before, self.side)
        along = g.unit(away, start)
        if side is None:
            side = g.rotate(g.swing(start, along, g.cross(bend, start)), bend)
        side = g.unit(g.across(side, along))
        # Its plane is turned first, then each link within it.
        normal = g.cross(side, along)
        plane = g.swing(self.normal, normal, along)
        turns = [
            g.times(g.swing(g.rotate(plane, was), now, normal), plane)
            for was, now in zip(self.directions, self._links(g.norm(away), along, side), strict=True)
        ]
        moves, at = {}, root
        for k, bone in enumerate(self.links):
            turn = turns[0] if k in self.groups[0] else turns[1]
            moves[bone] = g.bringing(turn, self.points[k], at)
            at = g.add(at, g.rotate(turn, g.sub(self.points[k + 1], self.points[k])))
        if self.found.end >= 0:
            rides = self.found.rides and end_turn is None
            moves[self.found.end] = g.bringing(turns[1] if rides else end_turn or g.NO_TURN, self.end, at)
        return moves

    def _links(self, open_to: float, along: g.Point, side: g.Point) -> tuple[g.Point, g.Point]:
        """The directions of its two links; as far open or folded as can be where the goal is out of reach."""
        a, b = self.lengths
        far, near = a + b, abs(a - b)
        open_to = min(max(open_to, min(self.shell[1], self.least)), max(self.shell[0], self.reach))
        if open_to >= far:
            x, height, rest = a, 0.0, b
        elif open_to <= near:
            x, height, rest = (a, 0.0, -b) if a > b else (-a, 0.0, b)
        else:
            x = open_to / 2.0 + (a - b) * (a + b) / (2.0 * open_to)
            square = (far - open_to) * (open_to - near) * (far + open_to) * (open_to + near)
            height, rest = sqrt(max(square, 0.0)) / (2.0 * open_to), open_to - x
        return (
            g.unit(g.add(g.mul(along, x), g.mul(side, height)), along),
            g.unit(g.sub(g.mul(along, rest), g.mul(side, height)), along),
        )

    def reached(self, moves: dict[int, g.Move]) -> g.Point:
        """Where its end is, with these moves."""
        return g.moved(moves[self.links[-1]], self.end)


def _groups(links: Sequence[g.Point]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Which links turn as one. Of three, in a z-fold the first and the third stay parallel, as in the hind legs of a
    horse, and in a c-fold, as of a spider, the last bend is kept."""
    if len(links) == 3 and g.dot(g.cross(links[0], links[1]), g.cross(links[1], links[2])) < 0.0:
        return (0, 2), (1,)
    return (0,), tuple(range(1, len(links)))
