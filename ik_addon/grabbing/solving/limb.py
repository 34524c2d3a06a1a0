"""Limbs: what one is in the pose before, and the one triangle that brings its end to a place."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, hypot, pi, sqrt, tau

from . import geometry as g
from .limits import largest_part, nearest_swivel
from .skeleton import Skeleton, point

_SPARE = 0.004
"""Of its reach: so much a held limb keeps bent, for a straight one has no plane and turns at once."""
_NEAREST = 0.05
"""Of its reach: the root of a held limb comes no nearer to its end, for beside that it would turn at once."""
_STRAIGHT = 2.5e-4
"""Of its reach by which a limb bulges at least to have a plane of its own."""
_NO_LEVER = 0.02
"""Of a limb's length: a girdle that is shorter turns for nothing."""
_HINGE = 0.7
"""Cosine of the angle between the axis of a knee that is a hinge and that about which it bends in its pose."""


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
    joint: the bone that is dragged, and pinned: its end, or the last one of a limb without. reach: the longest distance
    to which its triangle opens. shell: the longest and shortest of a held one, with what it keeps in hand, and never so
    that the pose before would be out of it. at: which bone of the line carries it. girdle: the bone between line and
    limb, -1 without. ball: where a foot's toe begins, or None. soles: the bones of ankle and ball.
    """

    def __init__(self, bones: Skeleton, found: FoundParts, line: Sequence[int], forward: g.Point) -> None:
        self.found, self._bones = found, bones
        self.links = [bone for bone in found.bones if bone not in found.segments]
        self.joint = found.end if found.end >= 0 else found.bones[-1]
        self.is_rigged = found.bones[-1] in bones.rigged
        self.end = bones.heads[found.end] if found.end >= 0 else bones.tails[self.joint]
        self.points = [*(bones.heads[bone] for bone in self.links), self.end]
        self.root = self.points[0]
        self._open(forward)
        self.ball = bones.heads[found.toe] if found.kind == "LEG" and found.toe >= 0 and found.rides else None
        self.soles = [bone for bone in (found.end, found.toe) if bone >= 0] or [self.joint]
        above = [*bones.above(self.links[0])][1:]
        self.at = max((k for k, bone in enumerate(line) if bone in above), default=0)
        between = above[: above.index(line[self.at])] if line[self.at] in above and not found.is_lower else []
        lever = {bone: g.distance(bones.heads[bone], self.root) for bone in between if bone not in bones.stiff}
        girdle = max(lever, key=lambda bone: lever[bone], default=-1)
        self.girdle = girdle if girdle >= 0 and lever[girdle] >= _NO_LEVER * self.reach else -1

    def _open(self, forward: g.Point) -> None:
        """The triangle of the pose before: two links, or more of them in two groups that turn as one each."""
        links = [g.sub(b, a) for a, b in itertools.pairwise(self.points)]
        is_z_fold = len(links) == 3 and g.dot(g.cross(links[0], links[1]), g.cross(links[1], links[2])) < 0.0
        # In a z-fold the first and the third stay parallel, as in the hind legs of a horse; in a c-fold, as of a
        # spider, the last bend is kept.
        self._first = (0, 2) if is_z_fold else (0,)
        first = g.total(links[k] for k in self._first)
        second = g.sub(g.total(links), first)
        self._sides = first, second
        self.open_before = g.distance(self.end, self.root)
        self.along = g.unit(g.sub(self.end, self.root), g.unit(first))
        side = g.across(first, self.along)
        if g.norm(side) < _STRAIGHT * (g.norm(first) + g.norm(second)):
            # A straight limb: knees go ahead, elbows back.
            side = g.across(forward if self.found.kind == "LEG" else g.mul(forward, -1.0), self.along)
            if g.norm(side) < 0.1:
                side = g.across(self._bones.up, self.along)
        self.side = g.unit(side)
        # Turned more about it, it bends more.
        self._axis = g.cross(self.side, self.along)
        self._bend(*self._hinge())

    def _hinge(self) -> tuple[float, float]:
        """By how much its knee may bend more about the axis, least and most; of a hinge it is its own axis."""
        hinge = self._bones.hinges.get(self.links[1]) if len(self.links) == 2 else None
        if hinge is None:
            return -tau, tau
        number, least, most = hinge
        axis = g.unit(point(self._bones.frames[self.links[1]][:3, number]))
        aligned = g.dot(axis, self._axis)
        if abs(aligned) <= _HINGE:
            return least, most
        self._axis = g.mul(axis, 1.0 if aligned > 0.0 else -1.0)
        return (least, most) if aligned > 0.0 else (-most, -least)

    def _bend(self, least: float, most: float) -> None:
        """How far and near it reaches."""
        first, second = self._sides
        fixed = 2.0 * g.dot(first, self._axis) * g.dot(second, self._axis) + g.dot(first, first) + g.dot(second, second)
        cosine = g.dot(g.across(first, self._axis), second)
        sine = g.dot(first, g.cross(self._axis, second))
        self._straight = atan2(sine, cosine)
        swing = 2.0 * hypot(cosine, sine)
        self._far, self._near = sqrt(fixed + swing), sqrt(max(fixed - swing, 0.0))
        self._bends = min(max(self._straight, least), 0.0), max(min(self._straight + pi, most), 0.0)
        self.reach, shortest = (sqrt(max(fixed + swing * cos(b - self._straight), 0.0)) for b in self._bends)
        spare = _SPARE * self.reach
        near = max(shortest + spare, _NEAREST * self.reach)
        self.shell = max(self.reach - spare, self.open_before), min(near, self.open_before)

    def closed(
        self, carried: g.Move, goal: g.Point, end_turn: g.Turn | None, knee: g.Point | None = None
    ) -> dict[int, g.Move]:
        """The moves of its links that bring its end to `goal`, or as near as it reaches, and that of the bone there.

        carried: how its root is moved. end_turn: how the bone at its end turns; None: as the last link. knee: where its
        second joint should be on its circle; None: as before, brought by the shortest swing from where a leg's foot, or
        an arm's chest, has it; from there it swivels as far as limits of its joints ask.
        """
        root = g.moved(carried, self.root)
        away = g.sub(goal, root)
        plane = g.NO_TURN if end_turn is not None and self.found.kind == "LEG" else carried[0]
        start, side = g.rotate(plane, self.along), g.rotate(plane, self.side)
        along = g.unit(away, start)
        plane = g.times(g.swing(start, along, g.cross(side, start)), plane)
        if knee is not None:
            was, now = (g.unit(g.across(g.sub(at, root), along), self.side) for at in (self.points[1], knee))
            plane = g.times(g.swing(was, now, along), plane)
        bent = g.turn_by(g.mul(self._axis, self._bent_to(g.norm(away))))
        first, second = self._sides
        opened = g.rotate(plane, g.unit(g.add(first, g.rotate(bent, second)), self.along))
        upper = g.times(g.swing(opened, along, g.rotate(plane, self._axis)), plane)
        if knee is None:
            upper = self._swivelled(carried[0], upper, bent, end_turn, along)
        turns, moves, at = self._turns(upper, bent, end_turn), {}, root
        for k, bone in enumerate(self.links):
            moves[bone] = g.bringing(turns[bone], self.points[k], at)
            at = g.add(at, g.rotate(turns[bone], g.sub(self.points[k + 1], self.points[k])))
        if self.found.end >= 0:
            moves[self.found.end] = g.bringing(turns[self.found.end], self.end, at)
        return moves

    def aimed(self, knee: g.Point) -> dict[int, g.Move]:
        """The moves of the whole limb that point its first link there."""
        was, now = (g.unit(g.sub(at, self.root), self.along) for at in (self.points[1], knee))
        move = g.bringing(g.swing(was, now, self._axis), self.root, self.root)
        moves = dict.fromkeys(self.links, move)
        if self.found.end >= 0 and not self.found.rides:
            moves[self.found.end] = g.bringing(g.NO_TURN, self.end, g.moved(move, self.end))
        return moves

    def _swivelled(
        self, carried: g.Turn, upper: g.Turn, bent: g.Turn, end_turn: g.Turn | None, along: g.Point
    ) -> g.Turn:
        """How its first link turns, swivelled about `along` as far as limits of its joints ask."""
        ends = [self.found.end] if self.found.rides else []
        limited = [bone for bone in (*self.links, *ends) if bone in self._bones.limits]

        def off(angle: float) -> list[float]:
            turns = self._turns(g.times(g.turn_by(g.mul(along, angle)), upper), bent, end_turn)
            carriers = dict(zip(turns, [carried, *turns.values()], strict=False))
            return [number for bone in limited for number in self._bones.off(bone, carriers[bone], turns[bone])]

        return g.times(g.turn_by(g.mul(along, nearest_swivel(off))), upper) if limited else upper

    def _turns(self, upper: g.Turn, bent: g.Turn, end_turn: g.Turn | None) -> dict[int, g.Turn]:
        """How its links, and the bone at its end, turn."""
        lower = g.times(upper, bent)
        turns = {bone: upper if k in self._first else lower for k, bone in enumerate(self.links)}
        if self.found.end >= 0:
            rides = self.found.rides and end_turn is None
            turns[self.found.end] = turns[self.links[-1]] if rides else end_turn or g.NO_TURN
        return turns

    def allowed_end(self, moves: dict[int, g.Move]) -> dict[int, g.Move]:
        """The same moves, with its end turned back as far as its limits ask to how its last link turns."""
        end = self.found.end
        if self._bones.allows(moves, [end]):
            return moves
        (wanted, _), (last, _) = moves[end], moves[self.links[-1]]
        back = g.times(wanted, g.inverse(last))
        back = back if back[0] >= 0.0 else g.times(back, (-1.0, 0.0, 0.0, 0.0))
        whole = g.mul(g.unit(back[1:]), 2.0 * atan2(g.norm(back[1:]), back[0]))
        at = self.reached(moves)

        def turned(part: float) -> dict[int, g.Move]:
            return moves | {end: g.bringing(g.times(g.turn_by(g.mul(whole, part)), last), self.end, at)}

        return turned(largest_part(lambda part: self._bones.allows(turned(part), [end])))

    def _bent_to(self, open_to: float) -> float:
        """By how much its knee bends more to open to a distance, or as near to that as can be: half an angle of a
        triangle by Heron's factors."""
        far, near = self._far, self._near
        over = sqrt(max(far - open_to, 0.0) * (far + open_to))
        under = sqrt(max(open_to - near, 0.0) * (open_to + near))
        return min(max(self._straight + 2.0 * atan2(over, under), self._bends[0]), self._bends[1])

    def reached(self, moves: dict[int, g.Move]) -> g.Point:
        """Where its end is, with these moves."""
        return g.moved(moves[self.links[-1]], self.end)
