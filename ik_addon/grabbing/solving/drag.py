"""One step of a drag: layers of style choose turns and a wish, one projection and a triangle a limb make them exact."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import acos, atan2, hypot, radians
from typing import Literal

from . import geometry as g
from .body import Body
from .holding import Ball, Shell, held_shift, outside
from .limits import largest_part
from .parts import gaze_moves, knee_moves, row_moves
from .skeleton import Channels, TruePose
from .trunk import begun, capped, together, turn_towards

Kind = Literal["LIMB", "JOINT", "HIPS", "CHEST", "HEAD", "GAZE", "ROW"]

_EASE, _EASE_OF_HEELS = 0.04, 0.005
"""Of the body's size: over it each layer begins."""
_SPINE_FROM, _HIPS_FROM, _HEAD_FROM, _HEELS_FROM = 0.9, 0.97, 0.985, 0.99
"""Of a limb's, or the neck's, reach: from there on spine, hips, and heels give."""
_STIFF, _BESIDE = 0.15, 10.0
"""Of a limb's reach: one that folds no nearer stays on the side of a ball of this radius, almost a plane."""
_GIRDLE, _HEEL = radians(18.0), radians(50.0)
"""By which a girdle, and a foot on its ball, turn at most."""
_LIFT = 0.6
"""Of the way from ankle to ball: so much longer a leg gets by that."""
_BALANCE = 0.6
"""Of the balance option: from here on a step shifts all of the weight."""
_LIFTED = 0.25
"""Of a leg: a foot lifted so far bears nothing."""
_MASS = 0.6
"""By which the mass moves as the top of the trunk does."""
_HANG = 0.6
"""The part of the trunk's lean that arms which hang free do not make."""
_PASSES = 2
_MET = 1e-11
"""Of the body's size: what is held and missed by less is held."""


@dataclass(frozen=True)
class Drag:
    """What is dragged, from where it is in the pose before. limb: its number, for LIMB and JOINT, its knee. row: the
    bones of a tail, of which the last one's tip is dragged. GAZE: to where the head looks."""

    kind: Kind
    limb: int = -1
    row: tuple[int, ...] = ()

    def start(self, body: Body) -> g.Point:
        """Where it is in the pose before."""
        if self.limb >= 0:
            limb = body.limbs[self.limb]
            return limb.end if self.kind == "LIMB" else limb.points[1]
        if self.row:
            return body.bones.tails[self.row[-1]]
        if self.kind == "GAZE" and body.neck:
            return g.add(body.bones.heads[body.neck.links[-1]], g.mul(body.facing, body.size))
        if self.kind == "HEAD" and body.neck:
            return body.neck.end
        return body.bones.heads[body.hips] if self.kind == "HIPS" else body.trunk.top


@dataclass(frozen=True)
class Pin:
    """What of a limb's end stays as it is in the pose before."""

    place: bool = True
    rotation: bool = True


@dataclass(frozen=True)
class GrabOptions:
    """How a body gives. hips: they may move. spine, balance: 0 to 1. keeps: whether the dragged end keeps its
    orientation; None: feet do, hands do not."""

    hips: bool = True
    spine: float = 1.0
    balance: float = 0.6
    heels: bool = True
    keeps: bool | None = None


@dataclass(frozen=True)
class GrabbedPose:
    """A pose. missed: from where the dragged one is to where it should be. unheld: by how much what is held worst is
    off. shift: of the hips. turn: of the spine, a rotation vector."""

    channels: Channels
    moves: dict[int, g.Move]
    missed: float = 0.0
    unheld: float = 0.0
    shift: g.Point = g.ORIGIN
    turn: g.Point = g.ORIGIN


def grabbed(
    body: Body,
    drag: Drag,
    goal: g.Point,
    held: Mapping[int, Pin],
    options: GrabOptions | None = None,
    mirrored: Mapping[int, g.Point] | None = None,
) -> GrabbedPose:
    """The pose in which what is dragged is at `goal`, as near as what is held, limits and locks allow: a function of
    the pose before and of `goal` alone. held: by the numbers of limbs. mirrored: goals of limbs that are dragged along,
    by their numbers.
    """
    goals = ({drag.limb: goal} if drag.limb >= 0 else {}) | dict(mirrored or {})
    if drag.kind in ("JOINT", "ROW", "GAZE"):
        return _part_grabbed(body, drag, goal, goals, held)
    held = {k: held[k] for k in sorted(held) if k not in goals}
    step = _Step(body, drag, goal, goals, held, options or GrabOptions())
    result = step.pose()
    styled = {*body.line, *(limb.girdle for limb in body.limbs), *(body.neck.links if body.neck else ())}
    if not step.is_held(result, styled):
        # As much of the turns as what is held, and their limits, allow; with none of them it does as it did before.
        turned = step
        step = replace(
            step, part=largest_part(lambda part: (it := replace(turned, part=part)).is_held(it.pose(), styled))
        )
        result = step.pose()
    limited = body.bones.limits.keys()
    if not step.is_held(result, limited):
        # As much of the way as the limits of limbs allow.
        going = step
        step = replace(step, way=largest_part(lambda way: (it := replace(going, way=way)).is_held(it.pose(), limited)))
        result = step.pose()
    return step.corrected(result)


def _angle_to(root: g.Point, ankle: g.Point, axis: g.Point, far: float) -> float:
    """By how much an ankle turns about a unit axis through the origin to come so near to a root, or as near as it can:
    the cosine rule, where the product of both is a wave of the angle."""
    still = g.dot(root, axis) * g.dot(ankle, axis)
    cosine, sine = g.dot(root, ankle) - still, g.dot(root, g.cross(axis, ankle))
    level = (g.dot(root, root) + g.dot(ankle, ankle) - far * far) / 2.0 - still
    return max(atan2(sine, cosine) - acos(min(level / max(hypot(cosine, sine), 1e-12), 1.0)), 0.0)


def _part_grabbed(
    body: Body, drag: Drag, goal: g.Point, goals: Mapping[int, g.Point], held: Mapping[int, Pin]
) -> GrabbedPose:
    """A pose in which a knee, a tail, or the head alone moves, as far on the way as limits allow."""

    def moves_at(way: float) -> dict[int, g.Move]:
        def at(start: g.Point, end: g.Point) -> g.Point:
            return g.between(start, end, way)

        if drag.kind == "GAZE":
            return gaze_moves(body, at(drag.start(body), goal))
        if drag.kind == "ROW":
            return row_moves(body, drag.row, at(drag.start(body), goal))
        knees = {k: (body.limbs[k], at(body.limbs[k].points[1], goals[k]), held.get(k)) for k in goals}
        return {
            bone: move
            for limb, end, pin in knees.values()
            for bone, move in knee_moves(limb, end, pin is not None and pin.place, bool(pin and pin.rotation)).items()
        }

    def fits(way: float) -> bool:
        return body.bones.allows(moves_at(way), body.bones.limits)

    moves, channels = moves_at(1.0 if fits(1.0) else largest_part(fits)), Channels()
    channels.write(body.bones, moves, moves, body.size)
    if drag.kind == "GAZE":
        return GrabbedPose(channels, moves)
    bone = body.limbs[drag.limb].links[1] if drag.limb >= 0 else drag.row[-1]
    return GrabbedPose(channels, moves, g.distance(g.moved(moves[bone], drag.start(body)), goal))


@dataclass
class _Step:
    """A step on its way. goals: of the limbs that are dragged. part: of all turns that are taken; way: of the way from
    the pose before, to where `at`, and `ends` of limbs, are."""

    body: Body
    drag: Drag
    goal: g.Point
    goals: Mapping[int, g.Point]
    held: Mapping[int, Pin]
    options: GrabOptions
    part: float = 1.0
    way: float = 1.0

    def __post_init__(self) -> None:
        body = self.body
        self.at = g.between(self.drag.start(body), self.goal, self.way)
        self.ends = {k: g.between(body.limbs[k].end, goal, self.way) for k, goal in self.goals.items()}
        self.placed = [k for k in self.held if self.held[k].place]
        self.neck = body.neck if self.drag.kind == "HEAD" else None
        self.ease = _EASE * body.size
        self.girdles: dict[int, g.Point] = {}
        self.heels: dict[int, g.Turn] = {}
        self.feet: dict[int, g.Point] = {}
        for k in self.placed:
            limb = body.limbs[k]
            if self.options.heels and limb.ball is not None and self.held[k].rotation and not limb.is_rigged:
                self.feet[k] = g.sub(limb.ball, limb.end)
        self.spare = {k: _LIFT * g.norm(foot) for k, foot in self.feet.items()}

    def pose(self) -> GrabbedPose:
        """All layers, and by how much the worst of what is held is missed."""
        body = self.body
        turn, wish = self._turns(self._first_wish())
        line = body.trunk.moves(turn)
        carried = [self._carried(k, line) for k in range(len(body.limbs))]
        balls = self._balls(line, carried)
        if self.neck and balls:
            wish = outside(wish, balls[0][0], self.neck.near, g.rotate(line[-1][0], g.mul(self.neck.along, -1.0)))
        self.heels = self._lifted_heels(carried, wish, balls)
        shift = self._shift(wish, carried, balls, {})
        going = (g.NO_TURN, shift)
        line = [g.after(going, move) for move in line]
        self.carried = [g.after(going, move) for move in carried]
        moves = dict(zip(body.line, line, strict=True))
        if self.neck:
            moves |= self.neck.moves(line[-1], self.at)
        unheld = 0.0
        for k, limb in enumerate(body.limbs):
            if k in self.girdles and limb.girdle >= 0:
                moves[limb.girdle] = self.carried[k]
            if k in self.ends or k in self.held:
                moves |= self._limb_moves(k, self._end_of(k))
                if k in self.placed:
                    unheld = max(unheld, g.distance(limb.reached(moves), self._end_of(k)))
            else:
                moves |= self._free_moves(k)
        return GrabbedPose(Channels(), moves, 0.0, unheld, shift, turn)

    def is_held(self, result: GrabbedPose, among: Iterable[int]) -> bool:
        """Whether all that is held is where it was, and the limits of some bones are kept."""
        return result.unheld <= _MET * self.body.size and self.body.bones.allows(result.moves, among)

    # Layers

    def _first_wish(self) -> g.Point:
        """Where the hips would go for what is dragged itself."""
        body = self.body
        if self.drag.kind == "HIPS":
            lower = [k for k in self.placed if body.limbs[k].found.is_lower]
            still = [g.NO_MOVE] * len(body.limbs)
            way = g.sub(self.at, self.drag.start(body))
            return held_shift(way, self._shells(lower, still, self.spare), [], body.bones.up)
        feet = [k for k in self.ends if body.limbs[k].found.is_lower]
        shift = g.mul(g.total(self._support_shift(k) for k in feet), 1.0 / max(len(feet), 1))
        return g.mul(shift, min(1.0, self.options.balance / _BALANCE))

    def _support_shift(self, k: int) -> g.Point:
        """How far the middle of the feet that stand goes as this one moves: lifted, it bears nothing."""
        body, limb = self.body, self.body.limbs[k]
        standing = [body.limbs[k].end for k in self.placed if body.limbs[k].found.kind == "LEG"]
        if not standing:
            return g.ORIGIN

        def middle(end: g.Point) -> g.Point:
            lift = min(max(body.lift_of(limb, end) / (_LIFTED * limb.reach), 0.0), 1.0)
            bears = 1.0 - lift * lift * (3.0 - 2.0 * lift)
            return g.mul(g.add(g.total(standing), g.mul(end, bears)), 1.0 / (len(standing) + bears))

        return g.across(g.sub(middle(self.ends[k]), middle(limb.end)), body.bones.up)

    def _turns(self, first_wish: g.Point) -> tuple[g.Point, g.Point]:
        """The turn of the spine, and where the hips would go with it; notes those of the girdles."""
        trunk, drag = self.body.trunk, self.drag
        own = turn_towards(trunk.pivot, trunk.top, self.at, self._limit) if drag.kind == "CHEST" else g.ORIGIN
        turn, wish = own, first_wish
        for _ in range(_PASSES):
            turn = g.add(own, together(self._asked_turns(trunk.moves(own, wish))))
            size = g.norm(turn)
            if size > 1e-12:
                most = 1.2 * self._limit(g.mul(turn, 1.0 / size))
                turn = g.mul(turn, self.part * capped(size, most) / size)
            self.girdles = {k: g.mul(each, self.part) for k, each in self.girdles.items()}
            top = g.moved(trunk.moves(turn, g.ORIGIN if drag.kind == "CHEST" else first_wish)[-1], trunk.top)
            if drag.kind == "CHEST":
                # Where it is dragged.
                wish = g.sub(self.at, top)
            elif drag.kind != "HIPS":
                # The mass stays above the feet.
                leans = g.across(g.sub(g.sub(top, trunk.top), first_wish), self.body.bones.up)
                wish = g.sub(first_wish, g.mul(leans, self.options.balance * _MASS))
        return turn, wish

    def _limit(self, axis: g.Point) -> float:
        return self.body.trunk.limit(axis) * self.options.spine

    def _asked_turns(self, line: Sequence[g.Move]) -> list[g.Point]:
        """What the dragged hands or head, and the held ones, ask of the spine beyond girdle and reach."""
        body = self.body
        pivot = g.moved(line[0], body.trunk.pivot)
        asked, self.girdles = [], {}
        for k in sorted({*self.ends, *self.placed}):
            limb = body.limbs[k]
            if limb.found.is_lower:
                continue
            goal = self._end_of(k)
            root, reach = g.moved(line[limb.at], limb.root), max(_SPINE_FROM * limb.reach, limb.open_before)
            if limb.girdle >= 0:
                at = g.moved(line[limb.at], body.bones.heads[limb.girdle])
                lack = begun(g.distance(goal, root) - reach, self.ease)
                self.girdles[k] = turn_towards(at, root, goal, _GIRDLE, lack)
                root = g.add(at, g.rotate(g.turn_by(self.girdles[k]), g.sub(root, at)))
            lack = begun(g.distance(goal, root) - reach, self.ease)
            asked.append(turn_towards(pivot, root, self._ahead(pivot, root, goal), self._limit, lack))
        if self.neck:
            base = g.moved(line[-1], self.neck.base)
            lack = g.distance(self.at, base) - max(_HIPS_FROM * self.neck.far, self.neck.chord)
            asked.append(turn_towards(pivot, base, self.at, self._limit, begun(lack, self.ease)))
        return asked

    def _ahead(self, pivot: g.Point, root: g.Point, goal: g.Point) -> g.Point:
        """A goal below a shoulder, moved aside so that the body bows to it: the least turn would lean to the shoulder's
        side, and the more so the lower the goal."""
        up, aside = self.body.bones.up, self.body.trunk.aside
        arm, wanted = g.sub(root, pivot), g.sub(goal, pivot)
        height = max(g.dot(arm, up), g.norm(arm) / 2.0)
        return g.add(goal, g.mul(aside, g.dot(arm, aside) * min(g.dot(wanted, up) / height - 1.0, 0.0)))

    def _carried(self, k: int, line: Sequence[g.Move]) -> g.Move:
        """The move of what carries a limb: of the line, and of its girdle."""
        limb = self.body.limbs[k]
        move = line[limb.at]
        if k not in self.girdles:
            return move
        return g.after(g.about(g.moved(move, self.body.bones.heads[limb.girdle]), g.turn_by(self.girdles[k])), move)

    def _balls(self, line: Sequence[g.Move], carried: Sequence[g.Move]) -> list[Ball]:
        """The shifts with which the dragged limbs or the head reach."""
        limbs = [(k, self.body.limbs[k]) for k in sorted(self.ends)]
        balls = [
            (g.sub(self.ends[k], g.moved(carried[k], limb.root)), max(_HIPS_FROM * limb.reach, limb.open_before))
            for k, limb in limbs
        ]
        if self.neck:
            base = g.moved(line[-1], self.neck.base)
            balls.append((g.sub(self.at, base), max(_HEAD_FROM * self.neck.far, self.neck.chord)))
        return balls

    def _lifted_heels(self, carried: Sequence[g.Move], wish: g.Point, balls: Sequence[Ball]) -> dict[int, g.Turn]:
        """Feet that would be left behind turn about their balls: by what the hips lack where all else reaches."""
        body, self.heels = self.body, {}
        shift = self._shift(wish, carried, balls, self.spare)
        heels = {}
        for k, foot in self.feet.items():
            limb = body.limbs[k]
            root = g.add(g.moved(carried[k], limb.root), shift)
            away = g.distance(limb.end, root)
            lack = begun(away - max(_HEELS_FROM * limb.reach, limb.open_before), _EASE_OF_HEELS * body.size)
            if lack > 0.0:
                axis = g.unit(g.cross(body.bones.up, foot))
                angle = _angle_to(g.sub(root, limb.ball or root), g.mul(foot, -1.0), axis, away - lack)
                heels[k] = g.turn_by(g.mul(axis, capped(angle, _HEEL) * self.part))
        return heels

    def _shift(
        self, wish: g.Point, carried: Sequence[g.Move], balls: Sequence[Ball], longer: Mapping[int, float]
    ) -> g.Point:
        """Exact: the shift of the hips with which all that is held reaches. longer: what legs have in hand."""
        body = self.body
        if body.hips in body.bones.still[1]:
            return g.ORIGIN
        if not self.options.hips and self.drag.kind != "HIPS":
            wish, balls = g.ORIGIN, []
        return held_shift(wish, self._shells(self.placed, carried, longer), balls, body.bones.up)

    def _shells(self, limbs: Sequence[int], carried: Sequence[g.Move], longer: Mapping[int, float]) -> list[Shell]:
        """The shifts with which each of these reaches."""
        shells = []
        for k in limbs:
            limb = self.body.limbs[k]
            most, least = limb.shell
            center = g.sub(self._end_of(k), g.moved(carried[k], limb.root))
            is_stiff = least > _STIFF * limb.reach
            shells.append((center, most + longer.get(k, 0.0), 0.0 if is_stiff else least))
            if is_stiff:
                # A large hollow leaves several ways round it. A ball beside it leaves one: where the root was.
                far = _BESIDE * limb.reach
                shells.append((g.add(center, g.mul(limb.along, -far - least)), far, 0.0))
        return shells

    # Limbs

    def _end_of(self, k: int) -> g.Point:
        """Where the end of a limb belongs."""
        limb = self.body.limbs[k]
        if k in self.heels and limb.ball is not None:
            return g.add(limb.ball, g.rotate(self.heels[k], g.sub(limb.end, limb.ball)))
        return self.ends.get(k, limb.end)

    def _limb_moves(self, k: int, goal: g.Point) -> dict[int, g.Move]:
        limb, carried = self.body.limbs[k], self.carried[k]
        if k in self.ends:
            keeps = limb.found.kind == "LEG" if self.options.keeps is None else self.options.keeps
            return limb.allowed_end(limb.closed(carried, goal, g.NO_TURN if keeps else None))
        held = self.held[k]
        if not held.place:
            # Its orientation alone: the limb rides, and its end turns back.
            at = g.moved(carried, limb.end)
            return {limb.found.end: g.bringing(g.NO_TURN, limb.end, at)} if limb.found.end >= 0 else {}
        moves = limb.closed(carried, goal, self.heels.get(k, g.NO_TURN) if held.rotation else None)
        return moves | ({limb.found.toe: g.NO_MOVE} if k in self.heels else {})

    def _free_moves(self, k: int) -> dict[int, g.Move]:
        """A limb that is free goes along; an arm leans less than what carries it, and what is not parented to its limb
        is brought."""
        limb, carried, bones = self.body.limbs[k], self.carried[k], self.body.bones
        move = carried
        if limb.found.kind == "ARM" and limb.links[0] not in {*bones.still[0], *bones.limits}:
            leaning = g.rotate(carried[0], bones.up)
            axis = g.cross(leaning, bones.up)
            angle = _HANG * atan2(g.norm(axis), g.dot(leaning, bones.up))
            back = g.times(g.turn_by(g.mul(g.unit(axis), angle)), carried[0])
            move = g.bringing(back, limb.root, g.moved(carried, limb.root))
        ends = {limb.found.end: move} if limb.found.end >= 0 and not limb.found.rides else {}
        return {limb.links[0]: move} | ends

    def corrected(self, result: GrabbedPose) -> GrabbedPose:
        """The channels; ends of limbs that Blender's matrices bring elsewhere are brought back, once."""
        body, drag, moves, channels = self.body, self.drag, result.moves, Channels()
        channels.write(body.bones, moves, moves, body.size)
        true = TruePose(body.bones, channels)
        at = g.ORIGIN
        for k in sorted({*self.placed, *self.ends}):
            limb, goal, error = body.limbs[k], self._end_of(k), g.ORIGIN
            if not limb.is_rigged:
                on_ball = k in self.heels and limb.ball is not None
                error = (
                    g.sub(true.end(limb.found.end, limb.ball), limb.ball)
                    if on_ball
                    else g.sub(true.end(limb.tip, limb.end), limb.reached(moves))
                )
                if g.distance(limb.reached(moves), goal) <= _MET * body.size:
                    again = self._limb_moves(k, g.sub(goal, error))
                    again = {bone: move for bone, move in again.items() if not on_ball or bone != limb.found.toe}
                    moves |= again
                    channels.write(body.bones, moves, again, body.size)
            if k == drag.limb:
                at = g.add(limb.reached(moves), error)
        if drag.limb < 0:
            bone = self.neck.links[-1] if self.neck else body.hips if drag.kind == "HIPS" else body.chest
            at = true.end(bone, drag.start(body))
        return replace(result, channels=channels, moves=moves, missed=g.distance(at, self.goal))
