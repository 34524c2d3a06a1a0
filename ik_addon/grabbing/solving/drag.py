"""One step of a drag: layers of style choose turns and a wish, one projection and a triangle a limb make them exact."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import radians
from typing import Literal

from .body import Body
from .holding import Ball, held_shift, outside
from .limbs import GrabLimb
from .skeleton import Channels, TruePose, channels_of
from .trunk import begun, capped, together, turn_to_reach, turn_towards
from .turns import (
    NO_MOVE,
    NO_TURN,
    ORIGIN,
    Move,
    Point,
    Turn,
    about,
    across,
    add,
    after,
    bringing,
    cross,
    distance,
    moved,
    mul,
    norm,
    rotate,
    sub,
    swing,
    total,
    turn_by,
    unit,
)

Kind = Literal["LIMB", "JOINT", "HIPS", "CHEST", "HEAD"]

_EASE = 0.04
"""Of the body's size: over it each layer begins."""
_SPINE_FROM, _HIPS_FROM, _HEAD_FROM, _HEELS_FROM = 0.9, 0.97, 0.985, 0.985
"""Of a limb's, or the neck's, reach: from there on spine, hips, and heels give."""
_GIRDLE, _HEEL = radians(18.0), radians(50.0)
"""By which a girdle, and a foot on its ball, turn at most."""
_BALANCE = 0.6
"""Of the balance option: from here on a step shifts all of the weight."""
_LIFTED = 0.25
"""Of a leg: a foot lifted so far bears nothing."""
_REST_OF_MASS = 0.15
"""The part of the mass that goes along with the hips."""
_PASSES = 2
_MET = 1e-11
"""Of the body's size: what is held and missed by less is held."""
_HALVINGS = 16


@dataclass(frozen=True)
class Drag:
    """What is dragged, from where it is in the pose before. limb: its number, for LIMB and JOINT, its knee."""

    kind: Kind
    limb: int = -1

    def start(self, body: Body) -> Point:
        """Where it is in the pose before."""
        if self.limb >= 0:
            limb = body.limbs[self.limb]
            return limb.end if self.kind == "LIMB" else limb.points[1]
        head = body.neck.head_point if body.neck else body.trunk.top
        return {"HIPS": body.bones.heads[body.hips], "CHEST": body.trunk.top, "HEAD": head}[self.kind]


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
    off. shift: of the hips. turn: of the spine, a rotation vector. ends: where the ends of limbs with chains belong."""

    channels: Channels
    moves: Mapping[int, Move]
    missed: float
    unheld: float
    shift: Point
    turn: Point
    ends: Mapping[int, Move] = field(default_factory=dict)


def grabbed(
    body: Body, drag: Drag, goal: Point, held: Mapping[int, Pin], options: GrabOptions | None = None
) -> GrabbedPose:
    """The pose in which what is dragged is at `goal`, as near as what is held allows: a function of the pose before and
    of `goal` alone. held: by the numbers of limbs."""
    options = options or GrabOptions()
    held = {k: held[k] for k in sorted(held) if k != drag.limb or drag.kind == "JOINT"}
    if drag.kind == "JOINT":
        return _knee_moved(body, drag.limb, goal, held)
    step = _Step(body, drag, goal, held, options)
    result = step.pose()
    if result.unheld > _MET * body.size:
        # The largest part of the turns with which what is held reaches; with none of them it does as it did before.
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            fits = replace_part(step, middle).pose().unheld <= _MET * body.size
            low, high = (middle, high) if fits else (low, middle)
        step = replace_part(step, low)
        result = step.pose()
    return step.corrected(result)


def replace_part(step: "_Step", part: float) -> "_Step":
    """The same step with a part of its turns."""
    return replace(step, part=part)


@dataclass
class _Step:
    """A step on its way. part: of all turns that are taken."""

    body: Body
    drag: Drag
    goal: Point
    held: Mapping[int, Pin]
    options: GrabOptions
    part: float = 1.0

    def __post_init__(self) -> None:
        body = self.body
        self.dragged: GrabLimb | None = body.limbs[self.drag.limb] if self.drag.limb >= 0 else None
        self.placed = [k for k in self.held if self.held[k].place]
        self.ease = _EASE * body.size
        self.girdles: dict[int, Point] = {}
        self.heels: dict[int, Turn] = {}

    def pose(self) -> GrabbedPose:
        """All layers, and what they miss."""
        body, drag = self.body, self.drag
        turn, wish = self._turns(self._first_wish())
        line = body.trunk.moves(turn)
        self._lift_heels(line, wish)
        carried = [self._carried(k, line) for k in range(len(body.limbs))]
        shift, _ = self._shift(line, carried, wish)
        going = (NO_TURN, shift)
        line = [after(going, move) for move in line]
        self.carried = [after(going, move) for move in carried]
        moves = dict(zip(body.line, line, strict=True))
        if drag.kind == "HEAD" and body.neck:
            moves |= body.neck.moves(line[-1], self.goal)
        unheld = 0.0
        for k, limb in enumerate(body.limbs):
            if k in self.girdles and limb.girdle >= 0:
                moves[limb.girdle] = self.carried[k]
            if limb is self.dragged or k in self.held:
                moves |= self._limb_moves(k, self._end_of(k))
                if k in self.placed:
                    unheld = max(unheld, distance(limb.reached(moves), self._end_of(k)))
        return GrabbedPose(Channels({}, {}), moves, 0.0, unheld, shift, turn)

    # Layers

    def _first_wish(self) -> Point:
        """Where the hips would go for what is dragged itself."""
        body, goal = self.body, self.goal
        if self.drag.kind == "HIPS":
            wish = sub(goal, self.drag.start(body))
            lower = [body.limbs[k] for k in self.placed if body.limbs[k].found.is_lower]
            shells = [(sub(limb.end, limb.root), *limb.shell) for limb in lower]
            return held_shift(wish, shells, None, body.bones.up)[0]
        if self.dragged and self.dragged.found.is_lower and self.options.balance:
            return mul(self._support_shift(), min(1.0, self.options.balance / _BALANCE))
        return ORIGIN

    def _support_shift(self) -> Point:
        """How far the middle of the feet that stand goes as this one moves: lifted, it bears nothing."""
        body, limb = self.body, self.dragged
        standing = [body.limbs[k].end for k in self.placed if body.limbs[k].found.kind == "LEG"]
        if not standing or limb is None:
            return ORIGIN

        def middle(end: Point) -> Point:
            lift = min(max(body.lift_of(limb, end) / (_LIFTED * limb.reach), 0.0), 1.0)
            bears = 1.0 - lift * lift * (3.0 - 2.0 * lift)
            return mul(add(total(standing), mul(end, bears)), 1.0 / (len(standing) + bears))

        return across(sub(middle(self.goal), middle(limb.end)), body.bones.up)

    def _turns(self, first_wish: Point) -> tuple[Point, Point]:
        """The turn of the spine, and where the hips would go with it; notes those of the girdles."""
        body, drag = self.body, self.drag
        own = ORIGIN
        if drag.kind == "CHEST":
            own = turn_towards(body.trunk.pivot, body.trunk.top, self.goal, self._limit)
        turn, wish = own, first_wish
        for _ in range(_PASSES):
            turn = add(own, together(self._asked_turns(body.trunk.moves(own, wish))))
            size = norm(turn)
            if size > 1e-12:
                most = 1.2 * self._limit(mul(turn, 1.0 / size))
                turn = mul(turn, self.part * capped(size, most) / size)
            self.girdles = {k: mul(each, self.part) for k, each in self.girdles.items()}
            wish = self._balanced(turn, first_wish)
        return turn, wish

    def _limit(self, axis: Point) -> float:
        return self.body.trunk.limit(axis) * self.options.spine

    def _asked_turns(self, line: list[Move]) -> list[Point]:
        """What the dragged hand or head, and the held ones, ask of the spine beyond girdle and reach."""
        body = self.body
        pivot = moved(line[0], body.trunk.pivot)
        asked = []
        self.girdles = {}
        feeling = [k for k, limb in enumerate(body.limbs) if limb is self.dragged or k in self.placed]
        for k in feeling:
            limb = body.limbs[k]
            if limb.found.is_lower:
                continue
            goal = self._end_of(k)
            root, reach = moved(line[limb.at], limb.root), max(_SPINE_FROM * limb.reach, limb.open_before)
            if limb.girdle >= 0:
                at = moved(line[limb.at], body.bones.heads[limb.girdle])
                turn = turn_to_reach(at, root, goal, reach, _GIRDLE, self.ease)
                self.girdles[k] = turn
                root = add(at, rotate(turn_by(turn), sub(root, at)))
            asked.append(turn_to_reach(pivot, root, goal, reach, self._limit, self.ease))
        if self.drag.kind == "HEAD" and body.neck:
            reach = max(_HIPS_FROM * body.neck.far, body.neck.chord)
            base = moved(line[-1], body.neck.base)
            asked.append(turn_to_reach(pivot, base, self.goal, reach, self._limit, self.ease))
        return asked

    def _balanced(self, turn: Point, wish: Point) -> Point:
        """The wish, so that the mass stays above the feet; a dragged chest goes where it is dragged."""
        body = self.body
        if self.drag.kind == "CHEST":
            return sub(self.goal, moved(body.trunk.moves(turn)[-1], body.trunk.top))
        if self.drag.kind == "HIPS" or not self.options.balance:
            return wish
        line = body.trunk.moves(turn, wish)
        shifts, mass = ORIGIN, _REST_OF_MASS
        for part, is_up, place in body.masses:
            move = line[-1] if is_up else line[len(line) // 2]
            shifts, mass = add(shifts, mul(sub(moved(move, place), place), part)), mass + part
        return add(wish, mul(across(shifts, body.bones.up), -self.options.balance / mass))

    def _lift_heels(self, line: list[Move], wish: Point) -> None:
        """Feet that would be left behind turn about their balls."""
        body = self.body
        self.heels = {}
        if not self.options.heels:
            return
        ball = self._ball_of_drag(line, _HIPS_FROM)
        free = held_shift(wish, [], ball, body.bones.up)[0] if ball else wish
        for k in self.placed:
            limb = body.limbs[k]
            if limb.ball is None or not self.held[k].rotation or limb.is_rigged:
                continue
            root = add(moved(line[limb.at], limb.root), free)
            lack = distance(limb.end, root) - max(_HEELS_FROM * limb.reach, limb.open_before)
            lack = begun(lack, self.ease)
            if lack > 0.0:
                axis = unit(cross(sub(limb.ball, limb.end), body.bones.up))
                angle = capped(lack / distance(limb.ball, limb.end), _HEEL, 2)
                self.heels[k] = turn_by(mul(axis, -angle * self.part))

    def _ball_of_drag(self, line: list[Move], part_of_reach: float) -> Ball | None:
        """The shifts with which the dragged limb or head reaches."""
        body, limb = self.body, self.dragged
        if limb is not None:
            root = moved(self._carried(self.drag.limb, line), limb.root)
            return sub(self.goal, root), max(part_of_reach * limb.reach, limb.open_before)
        if self.drag.kind == "HEAD" and body.neck:
            base = moved(line[-1], body.neck.base)
            return sub(self.goal, base), max(_HEAD_FROM * body.neck.far, body.neck.chord)
        return None

    def _carried(self, k: int, line: list[Move]) -> Move:
        """The move of what carries a limb: of the line, and of its girdle."""
        limb = self.body.limbs[k]
        move = line[limb.at]
        if k not in self.girdles or limb.girdle < 0:
            return move
        return after(about(moved(move, self.body.bones.heads[limb.girdle]), turn_by(self.girdles[k])), move)

    def _shift(self, line: list[Move], carried: list[Move], wish: Point) -> tuple[Point, float]:
        """Exact: the shift of the hips with which all that is held reaches."""
        body = self.body
        limbs = [(k, body.limbs[k]) for k in self.placed]
        shells = [(sub(self._end_of(k), moved(carried[k], limb.root)), *limb.shell) for k, limb in limbs]
        if not self.options.hips and self.drag.kind != "HIPS":
            return held_shift(ORIGIN, shells, None, body.bones.up)
        ball = self._ball_of_drag(line, _HIPS_FROM)
        if self.drag.kind == "HEAD" and body.neck and ball:
            wish = outside(wish, ball[0], body.neck.near, rotate(line[-1][0], mul(body.neck.along, -1.0)))
        return held_shift(wish, shells, ball, body.bones.up)

    # Limbs

    def _end_of(self, k: int) -> Point:
        """Where the end of a limb belongs."""
        limb = self.body.limbs[k]
        if limb is self.dragged:
            return self.goal
        if k in self.heels and limb.ball is not None:
            return add(limb.ball, rotate(self.heels[k], sub(limb.end, limb.ball)))
        return limb.end

    def _limb_moves(self, k: int, goal: Point) -> dict[int, Move]:
        limb = self.body.limbs[k]
        if limb is self.dragged:
            keeps = self.options.keeps
            is_kept = limb.found.kind == "LEG" if keeps is None else keeps
            return _with_rotation(limb, limb.closed(self.carried[k], goal, is_kept), None if is_kept else "RIDES")
        held = self.held[k]
        if not held.place:
            # Its orientation alone: the limb rides, and its end turns back.
            at = moved(self.carried[k], limb.end)
            return {limb.found.end: bringing(NO_TURN, limb.end, at)} if limb.found.end >= 0 else {}
        moves = limb.closed(self.carried[k], goal, True)
        if k in self.heels:
            moves[limb.found.end] = bringing(self.heels[k], limb.end, limb.reached(moves))
            moves[limb.found.toe] = NO_MOVE
        return _with_rotation(limb, moves, None if held.rotation else "RIDES")

    def corrected(self, result: GrabbedPose) -> GrabbedPose:
        """The channels; ends of limbs that Blender's matrices bring elsewhere are brought back, once."""
        body, size = self.body, self.body.size
        moves = dict(result.moves)
        channels = channels_of(body.bones, moves, size)
        true = TruePose(body.bones, channels)
        for k, limb in enumerate(body.limbs):
            if (k not in self.placed and limb is not self.dragged) or limb.is_rigged:
                continue
            goal = self._end_of(k)
            meant, error = limb.reached(moves), sub(true.end(limb.tip, limb.end), limb.reached(moves))
            if k in self.heels and limb.ball is not None:
                error = sub(true.end(limb.found.end, limb.ball), limb.ball)
            if distance(meant, goal) <= _MET * size:
                moves |= self._limb_moves(k, sub(goal, error))
        channels = channels_of(body.bones, moves, size)
        at = self._dragged_to(moves, TruePose(body.bones, channels))
        return replace(result, channels=channels, moves=moves, missed=distance(at, self.goal))

    def _dragged_to(self, moves: Mapping[int, Move], true: TruePose) -> Point:
        body, start = self.body, self.drag.start(self.body)
        if self.dragged is not None:
            return self.dragged.reached(dict(moves)) if self.dragged.is_rigged else true.end(self.dragged.tip, start)
        head = body.neck.links[-1] if body.neck else body.chest
        return true.end({"HIPS": body.hips, "CHEST": body.chest}.get(self.drag.kind, head), start)


def _with_rotation(limb: GrabLimb, moves: dict[int, Move], how: str | None) -> dict[int, Move]:
    """The moves of a limb whose end rides on its last link, as it does where it is parented to it."""
    if how == "RIDES" and limb.found.end >= 0 and limb.found.rides:
        turn = moves[limb.links[-1]][0]
        moves[limb.found.end] = bringing(turn, limb.end, limb.reached(moves))
    return moves


def _knee_moved(body: Body, k: int, goal: Point, held: Mapping[int, Pin]) -> GrabbedPose:
    """A knee or an elbow: round its circle if the end is held, else the whole limb aims it there."""
    limb = body.limbs[k]
    if k in held and held[k].place:
        was, now = (unit(across(sub(at, limb.root), limb.along), limb.side) for at in (limb.points[1], goal))
        side = rotate(swing(was, now, limb.along), limb.side)
        moves = _with_rotation(limb, limb.closed(NO_MOVE, limb.end, True, side), None if held[k].rotation else "RIDES")
    else:
        arm = unit(sub(limb.points[1], limb.root))
        turn = swing(arm, unit(sub(goal, limb.root), arm), limb.normal)
        move = about(limb.root, turn)
        moves = dict.fromkeys(limb.links, move)
        if limb.found.end >= 0 and not limb.found.rides:
            moves[limb.found.end] = bringing(NO_TURN, limb.end, moved(move, limb.end))
    channels = channels_of(body.bones, moves, body.size)
    missed = distance(moved(moves[limb.links[1]], limb.points[1]), goal)
    return GrabbedPose(channels, moves, missed, 0.0, ORIGIN, ORIGIN)


__all__ = ["Body", "Drag", "GrabOptions", "GrabbedPose", "Pin", "grabbed"]
