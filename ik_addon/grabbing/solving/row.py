"""Bones in a row: limbs, necks and tails. One bend opens a row to a distance, and one swing aims its end at a place."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from math import atan2, copysign, cos, dist, hypot, inf, pi, radians, sin, sqrt, tau
from typing import NamedTuple

from . import geometry as g
from .limits import largest_part, nearest_swivel
from .skeleton import Skeleton, point
from .trunk import turn_towards

_STRAIGHT, _FLAT = 2.5e-4, 0.1
"""A row that bulges by less of its length has no plane of its own; nor has a direction that is so much along it."""
_SPARE, _NEAREST = 0.004, 0.05
"""Of its reach: a held limb keeps bent by the first, and its root comes no nearer to its end than by the second, for
there it would turn at once."""
_NO_LEVER = 0.02
"""Of a limb's reach: a girdle that is shorter turns for nothing."""
_HINGE = 0.7
"""Cosine of the angle between the axis of a knee that is a hinge and that about which it bends in its pose."""
_CURL, _GAZE = radians(25.0), radians(100.0)
"""By which each joint of a neck bends more, and a head turns, at most."""
_SHORT = 0.15
"""Of its length: an arc whose chord varies by less would curl by all it has within a pixel, so it only swings."""
_SAMPLES, _ENOUGH = 64, 1e-13


class Row:
    """A row of bones in the pose before. Lengths and places in armature space.

    links: its bones, first to last; of bones that only continue the one before, the first. points: its joints, from
    `root` to `end`. at: which bone of the line carries it. girdle: the bone between both, -1 without. along, chord: the
    unit vector from root to end, and their distance. reach, near: the longest and shortest of that to which it opens
    and bends. axis: about which it bends more, each link by its share of one angle, within `bends`.
    """

    girdle, is_rigged, is_lower = -1, False, False

    def __init__(self, bones: Skeleton, links: Sequence[int], end: g.Point, at: int = 0) -> None:
        self._bones, self.links, self.end, self.at = bones, links, end, at
        self.points = [*(bones.heads[bone] for bone in links), end]
        self.root = self.points[0]
        self._vectors = [g.sub(b, a) for a, b in pairwise(self.points)]
        self.along, self.chord = g.unit(g.sub(end, self.root), g.unit(self._vectors[0])), dist(self.root, end)

    def _bend_about(self, bulge: g.Point, back: g.Point, shares: Sequence[float]) -> None:
        """The plane in which it bends. bulge: of its joints; back: to where it bulges if it is straight."""
        side = g.across(bulge, self.along)
        if hypot(*side) < _STRAIGHT * sum(hypot(*vector) for vector in self._vectors):
            side = g.across(back, self.along)
            if hypot(*side) < _FLAT:
                side = g.across(self._bones.up, self.along)
        self.side = g.unit(side)
        self.axis, self._shares = g.cross(self.side, self.along), shares

    @cached_property
    def _parts(self) -> list[tuple[g.Point, g.Point, g.Point]]:
        """Turned about the axis by t, a vector is its part along it, cos t of that across, and sin t of the third."""
        a = self.axis
        return [(g.mul(a, g.dot(v, a)), g.across(v, a), g.cross(a, v)) for v in self._vectors]

    def _chord(self, bend: float) -> g.Point:
        """From root to end once it bends by so much more."""
        x = y = z = 0.0
        for share, (p, q, r) in zip(self._shares, self._parts, strict=True):
            c, s = cos(bend * share), sin(bend * share)
            x, y, z = x + p[0] + q[0] * c + r[0] * s, y + p[1] + q[1] * c + r[1] * s, z + p[2] + q[2] * c + r[2] * s
        return (x, y, z)

    def _bend_to(self, length: float) -> float:
        """The bend with a chord of this length, or as near to that as can be: bracketed, by regula falsi (Illinois)."""
        (low, below), (high, above) = ((bend, hypot(*self._chord(bend)) - length) for bend in self.bends)
        if below <= 0.0 or above >= 0.0:
            return low if below <= 0.0 else high
        bend = 0.0 if low < 0.0 < high else low
        for step in range(60):
            bend = (low * above - high * below) / (above - below) if step else bend
            value = hypot(*self._chord(bend)) - length
            if abs(value) < _ENOUGH * self.reach:
                break
            if (value > 0.0) == (above > 0.0):
                below /= 2.0
            else:
                low, below = high, above
            high, above = bend, value
        return bend

    def _aimed(self, plane: g.Turn, away: g.Point) -> tuple[g.Turn, float]:
        """How its first link turns, and it bends, with its end so far away from its root. plane: how the plane in which
        it bends would turn; from there the shortest swing brings it."""
        start, side = g.rotate(plane, self.along), g.rotate(plane, self.side)
        along, bend = g.unit(away, start), self._bend_to(hypot(*away))
        plane = g.times(g.swing(start, along, g.cross(side, start)), plane)
        opened = g.rotate(plane, g.unit(self._chord(bend), self.along))
        return g.times(g.swing(opened, along, g.rotate(plane, self.axis)), plane), bend

    def _turns(self, first: g.Turn, bend: float) -> dict[int, g.Turn]:
        """How its links turn."""
        bends = (g.turn_by(g.mul(self.axis, bend * share)) for share in self._shares)
        return {bone: g.times(first, own) for bone, own in zip(self.links, bends, strict=True)}

    def _laid(self, root: g.Point, turns: Mapping[int, g.Turn]) -> tuple[dict[int, g.Move], g.Point]:
        """The moves of its links, one on the end of the other, and where that brings its end."""
        moves = {}
        for bone, start, vector in zip(self.links, self.points, self._vectors, strict=False):
            moves[bone] = g.bringing(turns[bone], start, root)
            root = g.add(root, g.rotate(turns[bone], vector))
        return moves, root

    def moves(self, carried: g.Move, goal: g.Point) -> dict[int, g.Move]:
        """The moves that bring its end to `goal`, or as near as it reaches. carried: of what bears it."""
        root = g.moved(carried, self.root)
        return self._laid(root, self._turns(*self._aimed(carried[0], g.sub(goal, root))))[0]

    def reached(self, moves: Mapping[int, g.Move]) -> g.Point:
        """Where its end is, with these moves."""
        return g.moved(moves[self.links[-1]], self.end)


class Arc(Row):
    """A neck or a tail: all of its joints bend by the same angle."""

    def __init__(
        self, bones: Skeleton, links: Sequence[int], end: g.Point, back: g.Point, curl: float = _CURL, at: int = 0
    ) -> None:
        """back: to where it bulges if it is straight. curl: by which each joint bends more at most."""
        super().__init__(bones, links, end, at)
        joints = max(len(links) - 1, 1)
        bulge = g.total(g.sub(each, self.root) for each in self.points[1:])
        self._bend_about(bulge, back, [k / joints for k in range(len(links))])
        self.bends = (self._longest(joints), curl * joints) if len(links) > 1 else (0.0, 0.0)
        lengths = [self.chord, *(hypot(*self._chord(bend)) for bend in self.bends)]
        self.reach, self.near = max(lengths), min(lengths)
        if self.reach - self.near < _SHORT * self.reach:
            self.bends, self.reach, self.near = (0.0, 0.0), self.chord, self.chord

    def _longest(self, joints: int) -> float:
        """The bend of the longest chord, from which on it gets shorter: a neck like an S is not the longest where its
        bends are undone."""
        flat = [across for _, across, _ in self._parts]
        bent = sum(atan2(hypot(*g.cross(u, v)), g.dot(u, v)) for u, v in pairwise(flat))
        step = bent / _SAMPLES
        return max((-step * k for k in range(_SAMPLES + 1)), key=lambda bend: hypot(*self._chord(bend)))

    def _aimed(self, plane: g.Turn, away: g.Point) -> tuple[g.Turn, float]:
        """One that only swings is not turned to what is straight behind it: there the way round goes round at once."""
        if self.reach > self.near:
            return super()._aimed(plane, away)
        start = g.mul(g.rotate(plane, self.along), self.chord)
        return g.times(g.turn_by(turn_towards(g.ORIGIN, start, away, lambda _: inf)), plane), 0.0

    def gazing(self, facing: g.Point, goal: g.Point) -> dict[int, g.Move]:
        """A neck turns half of the way, and its head, which faces so, to a goal, or as far that way as it can."""
        moves, move = {}, g.NO_MOVE
        for k, (bone, head) in enumerate(zip(self.links, self.points, strict=False), 1):
            way = g.unit(g.sub(goal, g.moved(move, self.points[-2])), facing)
            axis = g.cross(facing, way)
            angle = min(atan2(hypot(*axis), g.dot(facing, way)), _GAZE)
            part = 0.5 * k / max(len(self.links) - 1, 1) if k < len(self.links) else 1.0
            turn = g.turn_by(g.mul(g.unit(axis, self._bones.up), angle * part))
            moves[bone] = move = g.bringing(turn, head, g.moved(move, head))
        return moves


class FoundParts(NamedTuple):
    """A limb by the numbers of its bones; as `FoundLimb` of the finder, whose words these are. links: its bones, but
    those that only continue the one before."""

    kind: str
    side: str
    place: str
    bones: Sequence[int]
    links: Sequence[int]
    end: int
    toe: int
    rides: bool


class GrabLimb(Row):
    """A limb: two links, or more of them in two groups that turn as one each, so one triangle opens it.

    joint: the bone that is dragged, and pinned: its end, or the last one of a limb without. shell: the longest and
    shortest reach of a held one, with what it keeps in hand, and never so that the pose before would be out of it.
    ball: where a foot's toe begins, or None. soles: the bones of ankle and ball. is_lower: a leg that hangs on the
    hips; those in front hang on the chest.
    """

    def __init__(self, bones: Skeleton, found: FoundParts, line: Sequence[int], forward: g.Point) -> None:
        self.found, self.joint = found, found.end if found.end >= 0 else found.bones[-1]
        above = [*bones.above(found.bones[0])][1:]
        at = max((k for k, bone in enumerate(line) if bone in above), default=0)
        super().__init__(bones, found.links, bones.heads[found.end] if found.end >= 0 else bones.tails[self.joint], at)
        self.is_rigged = found.bones[-1] in bones.rigged
        is_leg = found.kind == "LEG"
        self.is_lower = is_leg and "FRONT" not in found.place
        self.ball = bones.heads[found.toe] if is_leg and found.toe >= 0 and found.rides and not self.is_rigged else None
        self.soles = [bone for bone in (found.end, found.toe) if bone >= 0] or [self.joint]
        self._open(forward if is_leg else g.mul(forward, -1.0))
        between = above[: above.index(line[at])] if line[at] in above and not self.is_lower else []
        lever = {bone: dist(bones.heads[bone], self.root) for bone in between if bone not in bones.stiff}
        self.girdle = max(lever, key=lever.__getitem__, default=-1)
        if self.girdle >= 0 and lever[self.girdle] < _NO_LEVER * self.reach:
            self.girdle = -1

    def _open(self, back: g.Point) -> None:
        """The triangle, and how far and near that reaches."""
        links = self._vectors
        is_z_fold = len(links) == 3 and g.dot(g.cross(links[0], links[1]), g.cross(links[1], links[2])) < 0.0
        # In a z-fold the first and the third stay parallel, as in the hind legs of a horse; in a c-fold, as of a
        # spider, the last bend is kept.
        shares = [float(k > 0 and not (is_z_fold and k == 2)) for k in range(len(links))]
        first = g.total(link for link, share in zip(links, shares, strict=True) if not share)
        second = g.sub(g.total(links), first)
        self._bend_about(first, back, shares)
        least, most = self._hinge()
        fixed = 2.0 * g.dot(first, self.axis) * g.dot(second, self.axis) + g.dot(first, first) + g.dot(second, second)
        cosine = g.dot(g.across(first, self.axis), second)
        self._straight = atan2(g.dot(first, g.cross(self.axis, second)), cosine)
        swing = 2.0 * hypot(cosine, g.dot(first, g.cross(self.axis, second)))
        self._far, self._near = sqrt(fixed + swing), sqrt(max(fixed - swing, 0.0))
        self.bends = min(max(self._straight, least), 0.0), max(min(self._straight + pi, most), 0.0)
        self.reach, self.near = (sqrt(max(fixed + swing * cos(b - self._straight), 0.0)) for b in self.bends)
        spare = _SPARE * self.reach
        nearest = max(self.near + spare, _NEAREST * self.reach)
        self.shell = max(self.reach - spare, self.chord), min(nearest, self.chord)

    def _hinge(self) -> tuple[float, float]:
        """By how much its knee may bend more about the axis, least and most; of a hinge it is its own axis."""
        knee, hinges = self.links[1], self._bones.hinges
        hinge = hinges.get(knee) if len(self.links) == 2 else None
        if hinge is None:
            return -tau, tau
        number, least, most = hinge
        axis = g.unit(point(self._bones.frames[knee][:3, number]))
        aligned = g.dot(axis, self.axis)
        if abs(aligned) > _HINGE:
            self.axis = g.mul(axis, 1.0 if aligned > 0.0 else -1.0)
            least, most = (least, most) if aligned > 0.0 else (-most, -least)
        return least, most

    def _bend_to(self, length: float) -> float:
        """In closed form: half an angle of a triangle by Heron's factors."""
        over = sqrt(max(self._far - length, 0.0) * (self._far + length))
        under = sqrt(max(length - self._near, 0.0) * (length + self._near))
        return min(max(self._straight + 2.0 * atan2(over, under), self.bends[0]), self.bends[1])

    def closed(
        self, carried: g.Move, goal: g.Point, end_turn: g.Turn | None, knee: g.Point | None = None
    ) -> dict[int, g.Move]:
        """The moves of its links that bring its end to `goal`, or as near as it reaches, and that of the bone there.

        carried: how its root is moved. end_turn: how the bone at its end turns; None: as the last link. knee: where its
        second joint should be on its circle; None: where a leg's foot, or an arm's chest, has it, swivelled as far as
        limits of its joints ask.
        """
        root, end = g.moved(carried, self.root), self.found.end
        away = g.sub(goal, root)
        first, bend = self._aimed(g.NO_TURN if end_turn and self.found.kind == "LEG" else carried[0], away)
        along = g.unit(away, g.rotate(first, self.along))
        if knee is None:
            first = self._swivelled(carried[0], first, bend, end_turn, along)
        else:
            was, now = (g.unit(g.across(g.sub(at, root), along), self.side) for at in (self.points[1], knee))
            first = g.times(g.swing(was, now, along), first)
        turns = self._with_end(self._turns(first, bend), end_turn)
        moves, at = self._laid(root, turns)
        return moves | ({end: g.bringing(turns[end], self.end, at)} if end >= 0 else {})

    def going(self, move: g.Move) -> dict[int, g.Move]:
        """The moves with which all of it makes one; what is not parented to it is brought."""
        beside = {self.found.end: move} if self.found.end >= 0 and not self.found.rides else {}
        return {self.links[0]: move} | beside

    def _with_end(self, turns: dict[int, g.Turn], end_turn: g.Turn | None) -> dict[int, g.Turn]:
        if self.found.end >= 0:
            rides = self.found.rides and end_turn is None
            turns[self.found.end] = turns[self.links[-1]] if rides else end_turn or g.NO_TURN
        return turns

    def _swivelled(
        self, carried: g.Turn, first: g.Turn, bend: float, end_turn: g.Turn | None, along: g.Point
    ) -> g.Turn:
        """How its first link turns, swivelled about `along` as far as limits of its joints ask."""
        ends = [self.found.end] if self.found.rides else []
        limited = [bone for bone in (*self.links, *ends) if bone in self._bones.limits]

        def swivelled(angle: float) -> g.Turn:
            return g.times(g.turn_by(g.mul(along, angle)), first)

        def off(angle: float) -> list[float]:
            turns = self._with_end(self._turns(swivelled(angle), bend), end_turn)
            carriers = dict(zip(turns, [carried, *turns.values()], strict=False))
            return [number for bone in limited for number in self._bones.off(bone, carriers[bone], turns[bone])]

        return swivelled(nearest_swivel(off)) if limited else first

    def allowed_end(self, moves: dict[int, g.Move]) -> dict[int, g.Move]:
        """The same moves, with its end turned back as far as its limits ask to how its last link turns."""
        end = self.found.end
        if self._bones.allows(moves, [end]):
            return moves
        (wanted, _), (last, _) = moves[end], moves[self.links[-1]]
        back = g.times(wanted, g.inverse(last))
        whole = g.mul(g.unit(back[1:]), 2.0 * atan2(copysign(hypot(*back[1:]), back[0]), abs(back[0])))
        at = self.reached(moves)

        def turned(part: float) -> dict[int, g.Move]:
            return moves | {end: g.bringing(g.times(g.turn_by(g.mul(whole, part)), last), self.end, at)}

        return turned(largest_part(lambda part: self._bones.allows(turned(part), [end])))
