"""Limbs: what one is in the pose before, and the one triangle that brings its end to a place."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from .skeleton import Skeleton, point
from .turns import (
    NO_TURN,
    Move,
    Point,
    Turn,
    across,
    add,
    bringing,
    cross,
    distance,
    dot,
    inverse,
    mul,
    norm,
    rotate,
    sub,
    swing,
    times,
    total,
    turn_to_frame,
    unit,
)

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

    def __init__(self, bones: Skeleton, found: FoundParts, line: Sequence[int], forward: Point) -> None:
        self.found, self._up = found, bones.up
        self.links = [bone for bone in found.bones if bone not in found.segments]
        self.tip, self.is_rigged = found.bones[-1], found.bones[-1] in bones.rigged
        last = _end_of(bones, found)
        self.points = [*(bones.heads[bone] for bone in self.links), last]
        self.root, self.end = self.points[0], last
        self._place_in_body(bones, line)
        self._open(forward)
        rolls = found.kind == "LEG" and found.toe >= 0 and found.rides
        self.ball = bones.heads[found.toe] if rolls else None

    def _place_in_body(self, bones: Skeleton, line: Sequence[int]) -> None:
        above = [*bones.above(self.links[0])][1:]
        self.at = max((k for k, bone in enumerate(line) if bone in above), default=0)
        between = above[: above.index(line[self.at])] if line[self.at] in above else []
        lever = {bone: distance(bones.heads[bone], self.root) for bone in between}
        girdle = max(between, key=lambda bone: lever[bone], default=-1) if not self.found.is_lower else -1
        length = sum(distance(a, b) for a, b in zip(self.points, self.points[1:], strict=False))
        self.girdle = girdle if girdle >= 0 and lever[girdle] >= _NO_LEVER * length else -1

    def _open(self, forward: Point) -> None:
        """The triangle of the pose before: two links, or more of them in two groups that turn as one each."""
        links = [sub(b, a) for a, b in zip(self.points, self.points[1:], strict=False)]
        self.groups = _groups(links)
        first, second = (total(links[k] for k in group) for group in self.groups)
        self.lengths = norm(first), norm(second)
        self.reach, self.least = sum(self.lengths), abs(self.lengths[0] - self.lengths[1])
        self.directions = unit(first), unit(second)
        self.open_before = distance(self.end, self.root)
        self.shell = (
            max(self.reach * (1.0 - _SPARE), self.open_before),
            min(self.least * (1.0 + _SPARE), self.open_before),
        )
        self.along = unit(sub(self.end, self.root), self.directions[0])
        side = across(first, self.along)
        if norm(side) < _STRAIGHT * self.reach:
            # A straight limb: knees go ahead, elbows back.
            side = across(forward if self.found.kind == "LEG" else mul(forward, -1.0), self.along)
            if norm(side) < 0.1:
                side = across(self._up, self.along)
        self.side = unit(side)
        self.normal = cross(self.side, self.along)

    def closed(self, carried: Move, goal: Point, keeps: bool, side: Point | None = None) -> dict[int, Move]:
        """The moves of its links that bring its end to `goal`, or as near as it reaches, and that of the bone there.

        carried: how its root is moved. keeps: the bone at its end keeps its orientation. side: to where the limb bends,
        None: as before, brought by the shortest swing from where a leg's foot, or an arm's chest, has it.
        """
        root = add(rotate(carried[0], self.root), carried[1])
        away = sub(goal, root)
        before = NO_TURN if keeps and self.found.kind == "LEG" else carried[0]
        start, bend = rotate(before, self.along), rotate(before, self.side)
        along = unit(away, start)
        if side is None:
            side = rotate(swing(start, along, cross(bend, start)), bend)
        side = unit(across(side, along))
        first, second = self._legs_of_triangle(norm(away), along, side)
        normal = cross(side, along)
        turns = [
            _turn_of_link(self.normal, was, normal, now)
            for was, now in zip(self.directions, (first, second), strict=True)
        ]
        moves, at = {}, root
        for k, bone in enumerate(self.links):
            turn = turns[0] if k in self.groups[0] else turns[1]
            moves[bone] = bringing(turn, self.points[k], at)
            at = add(at, rotate(turn, sub(self.points[k + 1], self.points[k])))
        if self.found.end >= 0:
            rides = self.found.rides and not (keeps or self.found.kind == "LEG")
            moves[self.found.end] = bringing(moves[self.links[-1]][0] if rides else NO_TURN, self.end, at)
        return moves

    def _legs_of_triangle(self, open_to: float, along: Point, side: Point) -> tuple[Point, Point]:
        """The directions of its two links; straight or folded where the goal is out of reach."""
        (a, b), far, near = self.lengths, self.reach, self.least
        if open_to >= far:
            x, height, rest = a, 0.0, b
        elif open_to <= near:
            x, height, rest = (a, 0.0, -b) if a > b else (-a, 0.0, b)
        else:
            x = open_to / 2.0 + (a - b) * (a + b) / (2.0 * open_to)
            square = (far - open_to) * (open_to - near) * (far + open_to) * (open_to + near)
            height, rest = sqrt(max(square, 0.0)) / (2.0 * open_to), open_to - x
        return (
            unit(add(mul(along, x), mul(side, height)), along),
            unit(sub(mul(along, rest), mul(side, height)), along),
        )

    def reached(self, moves: dict[int, Move]) -> Point:
        """Where its end is, with these moves."""
        turn, shift = moves[self.links[-1]]
        return add(rotate(turn, self.end), shift)


def _end_of(bones: Skeleton, found: FoundParts) -> Point:
    return bones.heads[found.end] if found.end >= 0 else point(bones.tails[found.bones[-1]])


def _groups(links: Sequence[Point]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Which links turn as one. Of three, in a z-fold the first and the third stay parallel, as in the hind legs of a
    horse, and in a c-fold, as of a spider, the last bend is kept."""
    if len(links) == 3:
        folds_back = dot(cross(links[0], links[1]), cross(links[1], links[2])) < 0.0
        return ((0, 2), (1,)) if folds_back else ((0,), (1, 2))
    return (0,), tuple(range(1, len(links)))


def _turn_of_link(normal: Point, direction: Point, new_normal: Point, new_direction: Point) -> Turn:
    """The turn of a link: by its direction and the normal of the plane in which the limb bends."""
    was, now = unit(across(normal, direction)), unit(across(new_normal, new_direction))
    new = turn_to_frame(new_direction, now, cross(new_direction, now))
    return times(new, inverse(turn_to_frame(direction, was, cross(direction, was))))
