"""One step of a drag: layers of style choose turns and a wish, one projection and a triangle a limb make them exact."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import acos, atan2, hypot, radians
from typing import Literal

from . import geometry as g
from .arc import Arc
from .body import Body
from .holding import Shell, held_shift, outside
from .limits import largest_part
from .skeleton import Channels
from .trunk import begun, capped, together, turn_towards

Kind = Literal["LIMB", "JOINT", "HIPS", "CHEST", "HEAD", "GAZE", "ROW"]

_EASE, _EASE_OF_HEELS = 0.04, 0.005
"""Of the body's size: over it each layer begins."""
_SPINE_FROM, _HIPS_FROM, _HEAD_FROM, _HEELS_FROM = 0.9, 0.97, 0.985, 0.99
"""Of a limb's, or the neck's, reach: from there on spine, hips, and heels give."""
_STIFF, _BESIDE = 0.15, 10.0
"""Of a limb's reach: one that folds no nearer stays on the side of a ball of this radius, almost a plane."""
_GIRDLE, _HEEL, _TAIL, _LEAN = radians(18.0), radians(50.0), radians(70.0), radians(40.0)
"""By which a girdle, a foot on its ball, each joint of a tail, and a body of one piece turn at most."""
_LIFT = 0.6
"""Of the way from ankle to ball: so much longer a leg gets by that."""
_IN_HAND, _SOME = 5e-5, 0.02
"""Of a leg: by so much one on its ball is bent at least, once its foot has turned by more than that."""
_BALANCE = 0.6
"""Of the balance option: from here on a step shifts all of the weight."""
_LIFTED = 0.25
"""Of a leg: a foot lifted so far bears nothing."""
_KNEEL = 0.7
"""Of its reach: no shorter does a foreleg fold for the head."""
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
            return body.limbs[self.limb].points[-1 if self.kind == "LIMB" else 1]
        if self.row:
            return body.bones.tails[self.row[-1]]
        if self.kind == "GAZE" and body.neck:
            return g.add(body.bones.heads[self.bone(body)], g.mul(body.facing, body.size))
        if self.kind == "HEAD" and body.neck:
            return body.neck.end
        return body.bones.heads[body.hips] if self.kind == "HIPS" else body.trunk.top

    def bone(self, body: Body) -> int:
        """What carries it."""
        if self.limb >= 0:
            return body.limbs[self.limb].links[-1 if self.kind == "LIMB" else 1]
        if self.kind in ("HEAD", "GAZE") and body.neck:
            return body.neck.links[-1]
        return self.row[-1] if self.row else body.hips if self.kind == "HIPS" else body.chest


@dataclass(frozen=True)
class Pin:
    """What of a limb's end stays as it is in the pose before."""

    place: bool = True
    rotation: bool = True


@dataclass(frozen=True)
class GrabOptions:
    """How a body gives. hips: they MOVE or STAY. spine, balance: 0 to 1. rotation: whether the dragged end is to KEEP
    its orientation, or to FOLLOW the limb; AUTO: feet keep it, hands follow."""

    hips: str = "MOVE"
    spine: float = 1.0
    balance: float = 0.6
    lift_heels: bool = True
    rotation: str = "AUTO"


@dataclass(frozen=True)
class GrabbedPose:
    """A pose. missed: from where the dragged one is to where it should be. unheld: by how much what is held worst is
    off. shift: of the hips. turn: of the spine, a rotation vector."""

    channels: Channels
    moves: dict[int, g.Move]
    missed: float
    unheld: float
    shift: g.Point
    turn: g.Point


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
    # Of a knee its own limb counts alone; tail and gaze move no limb.
    counts = set() if drag.kind in ("ROW", "GAZE") else goals.keys() if drag.kind == "JOINT" else held.keys() - goals
    held = {k: held[k] for k in sorted(held) if k in counts}
    step = _Step(body, drag, goal, goals, held, options or GrabOptions())
    styled = {*body.line, *(limb.girdle for limb in body.limbs), *(body.neck.links if body.neck else ())}
    # As much of the turns as what is held, and their limits, allow; with none of them it does as it did before. Then
    # as much of the way as the limits of limbs allow.
    return step.within("part", styled).within("way", body.bones.limits).corrected()


def _angle_to(root: g.Point, ankle: g.Point, axis: g.Point, far: float) -> float:
    """By how much an ankle turns about a unit axis through the origin to come so near to a root, or as near as it can:
    the cosine rule, where the product of both is a wave of the angle."""
    still = g.dot(root, axis) * g.dot(ankle, axis)
    cosine, sine = g.dot(root, ankle) - still, g.dot(root, g.cross(axis, ankle))
    level = (g.dot(root, root) + g.dot(ankle, ankle) - far * far) / 2.0 - still
    return max(atan2(sine, cosine) - acos(min(level / max(hypot(cosine, sine), 1e-12), 1.0)), 0.0)


@dataclass
class _Step:
    """A pose. goals: of the limbs, or their knees, that are dragged. part: of all turns that are taken; way: of the way
    from the pose before, to where `at`, and `ends` or `knees` of limbs, are. carried: what carries each limb. heels:
    how feet turn about their balls."""

    body: Body
    drag: Drag
    goal: g.Point
    goals: Mapping[int, g.Point]
    held: Mapping[int, Pin]
    options: GrabOptions
    part: float = 1.0
    way: float = 1.0
    shift: g.Point = field(default=g.ORIGIN, init=False)
    turn: g.Point = field(default=g.ORIGIN, init=False)
    unheld: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        body, drag = self.body, self.drag
        self.at = g.between(drag.start(body), self.goal, self.way)
        is_knee = drag.kind == "JOINT"
        starts = {k: body.limbs[k].points[1 if is_knee else -1] for k in self.goals}
        ends = {k: g.between(starts[k], goal, self.way) for k, goal in self.goals.items()}
        self.ends, self.knees = ({}, ends) if is_knee else (ends, {})
        self.placed = [k for k in self.held if self.held[k].place]
        self.neck = body.neck if drag.kind == "HEAD" else None
        self.girdles: dict[int, g.Point] = {}
        self.heels: dict[int, g.Turn] = {}
        self.carried = [g.NO_MOVE] * len(body.limbs)
        if is_knee:
            # It goes round its circle if the end is held, else the whole limb points there.
            moves = [
                self._limb_moves(k, body.limbs[k].end) if k in self.placed else body.limbs[k].aimed(knee)
                for k, knee in self.knees.items()
            ]
            self.moves = {bone: move for own in moves for bone, move in own.items()}
        elif drag.kind == "GAZE" and body.neck:
            self.moves = body.neck.gazing(body.facing, self.at)
        elif drag.row:
            down = g.mul(g.add(body.bones.up, body.forward), -1.0)
            tail = Arc(body.bones, drag.row, drag.start(body), down, _TAIL)
            self.moves = tail.moves(g.NO_MOVE, self.at)
        else:
            self.moves = self._pose()

    def within(self, name: str, among: Iterable[int]) -> "_Step":
        """Itself if all that is held is where it was, and the limits of some bones are kept; else with as much of what
        the name says as that allows."""

        def fits(step: "_Step") -> bool:
            return step.unheld <= _MET * step.body.size and step.body.bones.allows(step.moves, among)

        if fits(self):
            return self
        return replace(self, **{name: largest_part(lambda part: fits(replace(self, **{name: part})))})

    def _pose(self) -> dict[int, g.Move]:
        """All layers, and by how much the worst of what is held is missed."""
        body = self.body
        self.feet = self._feet()
        self.spare = {k: _LIFT * g.norm(foot) for k, foot in self.feet.items()}
        self.turn, wish = self._turns(self._first_wish())
        line = body.trunk.moves(self.turn)
        carried = [self._carried(k, line) for k in range(len(body.limbs))]
        balls = self._balls(line, carried)
        if self.neck and balls:
            wish = outside(wish, balls[0][0], self.neck.near, g.rotate(line[-1][0], g.mul(self.neck.along, -1.0)))
        self.heels = self._lifted_heels(carried, wish, balls)
        self.shift = self._shift(wish, carried, balls, {})
        going = (g.NO_TURN, self.shift)
        line = [g.after(going, move) for move in line]
        self.carried = [g.after(going, move) for move in carried]
        moves = dict(zip(body.line, line, strict=True))
        if self.neck:
            moves |= self.neck.moves(line[-1], self.at)
        for k, limb in enumerate(body.limbs):
            if k in self.girdles and limb.girdle >= 0:
                moves[limb.girdle] = self.carried[k]
            if k in self.ends or k in self.held:
                moves |= self._limb_moves(k, self._end_of(k))
            else:
                moves |= self._free_moves(k)
        off = [g.distance(body.limbs[k].reached(moves), self._end_of(k)) for k in self.placed]
        # Where the shells have nothing in common, a leg may reach with nothing in hand.
        for k in self.heels:
            limb = body.limbs[k]
            away = g.distance(self._end_of(k), g.moved(self.carried[k], limb.root))
            off.append(away - limb.reach + self._in_hand(k))
        self.unheld = max(off, default=0.0)
        return moves

    def _feet(self) -> dict[int, g.Point]:
        """Held feet that may lift their heels: from ankle to ball."""
        limbs = {k: self.body.limbs[k] for k in self.placed if self.options.lift_heels and self.held[k].rotation}
        return {k: g.sub(limb.ball, limb.end) for k, limb in limbs.items() if limb.ball and not limb.is_rigged}

    def _first_wish(self) -> g.Point:
        """Where the hips would go for what is dragged itself."""
        body = self.body
        if self.drag.kind == "HIPS":
            lower = [k for k in self.placed if body.limbs[k].found.is_lower]
            way = g.sub(self.at, self.drag.start(body))
            return held_shift(way, self._shells(lower, self.carried, self.spare), [], body.bones.up)
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
            height = body.lifts[k] + g.dot(g.sub(end, limb.end), body.bones.up)
            lift = min(max(height / (_LIFTED * limb.reach), 0.0), 1.0)
            bears = 1.0 - lift * lift * (3.0 - 2.0 * lift)
            return g.mul(g.add(g.total(standing), g.mul(end, bears)), 1.0 / (len(standing) + bears))

        return g.across(g.sub(middle(self.ends[k]), middle(limb.end)), body.bones.up)

    def _turns(self, first_wish: g.Point) -> tuple[g.Point, g.Point]:
        """The turn of the spine, and where the hips would go with it; notes those of the girdles."""
        trunk, drag = self.body.trunk, self.drag
        own = turn_towards(trunk.pivot, trunk.top, self.at, self._limit) if drag.kind == "CHEST" else g.ORIGIN
        turn, wish, lean = own, first_wish, self._lean(first_wish)
        for _ in range(_PASSES):
            turn = g.add(own, together(self._asked_turns(trunk.moves(own, wish))))
            size = g.norm(turn)
            if size > 1e-12:
                most = 1.2 * self._limit(g.mul(turn, 1.0 / size))
                turn = g.mul(turn, self.part * capped(size, most) / size)
            self.girdles = {k: g.mul(each, self.part) for k, each in self.girdles.items()}
            turn = g.add(turn, lean)
            top = g.moved(trunk.moves(turn, g.ORIGIN if drag.kind == "CHEST" else first_wish)[-1], trunk.top)
            if drag.kind == "CHEST":
                # Where it is dragged.
                wish = g.sub(self.at, top)
            elif drag.kind != "HIPS":
                # The mass stays above the feet.
                leans = g.across(g.sub(g.sub(top, trunk.top), first_wish), self.body.bones.up)
                wish = g.sub(first_wish, g.mul(leans, self.options.balance * _MASS))
        return turn, wish

    def _lean(self, wish: g.Point) -> g.Point:
        """The turn of a body of one piece, as a spider's, to where its legs do not let it go."""
        body = self.body
        lack = g.across(g.sub(g.sub(self.at, self.drag.start(body)), wish), body.bones.up)
        if self.drag.kind != "HIPS" or len(body.line) > 1 or body.hips in body.bones.stiff:
            return g.ORIGIN
        angle = capped(begun(3.0 * g.norm(lack) / body.size, _EASE), _LEAN) * self.part * self.options.spine
        return g.mul(g.cross(body.bones.up, g.unit(lack)), angle)

    def _limit(self, axis: g.Point) -> float:
        return self.body.trunk.limit(axis) * self.options.spine

    def _asked_turns(self, line: Sequence[g.Move]) -> list[g.Point]:
        """What the dragged hands or head, and the held ones, ask of the spine beyond girdle and reach."""
        body, ease = self.body, _EASE * self.body.size
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
                lack = begun(g.distance(goal, root) - reach, ease)
                self.girdles[k] = turn_towards(at, root, goal, _GIRDLE, lack)
                root = g.add(at, g.rotate(g.turn_by(self.girdles[k]), g.sub(root, at)))
            lack = begun(g.distance(goal, root) - reach, ease)
            asked.append(turn_towards(pivot, root, self._ahead(pivot, root, goal), self._limit, lack))
        if self.neck:
            base = g.moved(line[-1], self.neck.base)
            lack = g.distance(self.at, base) - max(_HIPS_FROM * self.neck.far, self.neck.chord)
            asked.append(turn_towards(pivot, base, self.at, self._limit, begun(lack, ease)))
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
        at = g.moved(move, self.body.bones.heads[limb.girdle])
        return g.after(g.bringing(g.turn_by(self.girdles[k]), at, at), move)

    def _balls(self, line: Sequence[g.Move], carried: Sequence[g.Move]) -> list[Shell]:
        """The shifts with which the dragged limbs or the head reach."""
        balls = []
        for k, end in sorted(self.ends.items()):
            limb = self.body.limbs[k]
            reach = max(_HIPS_FROM * limb.reach, limb.open_before)
            balls.append((g.sub(end, g.moved(carried[k], limb.root)), reach, 0.0))
        if self.neck:
            reach = max(_HEAD_FROM * self.neck.far, self.neck.chord)
            balls.append((g.sub(self.at, g.moved(line[-1], self.neck.base)), reach, 0.0))
        return balls

    def _lifted_heels(self, carried: Sequence[g.Move], wish: g.Point, balls: Sequence[Shell]) -> dict[int, g.Turn]:
        """Feet that would be left behind turn about their balls: by what the hips lack where all else reaches."""
        body, heels = self.body, {}
        shift = self._shift(wish, carried, balls, self.spare)
        for k, foot in self.feet.items():
            limb = body.limbs[k]
            root = g.add(g.moved(carried[k], limb.root), shift)
            away = g.distance(limb.end, root)
            lack = begun(away - max(_HEELS_FROM * limb.reach, limb.open_before), _EASE_OF_HEELS * body.size)
            if lack > 0.0:
                axis = g.unit(g.cross(body.bones.up, foot))
                from_ball = g.sub(root, g.add(limb.end, foot))
                angle = _angle_to(from_ball, g.mul(foot, -1.0), axis, away - lack)
                heels[k] = g.turn_by(g.mul(axis, capped(angle, _HEEL) * self.part))
        return heels

    def _shift(
        self, wish: g.Point, carried: Sequence[g.Move], balls: Sequence[Shell], longer: Mapping[int, float]
    ) -> g.Point:
        """Exact: the shift of the hips with which all that is held reaches. longer: what legs have in hand."""
        body = self.body
        if body.hips in body.bones.fixed:
            return g.ORIGIN
        if self.options.hips == "STAY" and self.drag.kind != "HIPS":
            wish, balls = g.ORIGIN, []
        return held_shift(wish, self._shells(self.placed, carried, longer), balls, body.bones.up)

    def _shells(self, limbs: Sequence[int], carried: Sequence[g.Move], longer: Mapping[int, float]) -> list[Shell]:
        """The shifts with which each of these reaches."""
        shells = []
        for k in limbs:
            limb = self.body.limbs[k]
            most, least = limb.shell
            most -= self._in_hand(k)
            center = g.sub(self._end_of(k), g.moved(carried[k], limb.root))
            if self.neck and self.neck.near < self.neck.far and limb.found.place == "FRONT":
                # A head on a long neck bows that; forelegs do not kneel for it.
                least = min(max(least, _KNEEL * limb.reach), limb.open_before)
            is_stiff = least > _STIFF * limb.reach
            shells.append((center, most + longer.get(k, 0.0), 0.0 if is_stiff else least))
            if is_stiff:
                # A large hollow leaves several ways round it. A ball beside it leaves one: where the root was.
                far = _BESIDE * limb.reach
                shells.append((g.add(center, g.mul(limb.along, -far - least)), far, 0.0))
        return shells

    def _in_hand(self, k: int) -> float:
        """By how much a leg on its ball stays bent: so what Blender's matrices are off can be made good."""
        part = g.norm(self.heels[k][1:]) / _SOME if k in self.heels else 0.0
        return _IN_HAND * self.body.limbs[k].reach * min(part, 1.0)

    def _end_of(self, k: int) -> g.Point:
        """Where the end of a limb belongs."""
        limb = self.body.limbs[k]
        if k in self.heels and limb.ball is not None:
            return g.add(limb.ball, g.rotate(self.heels[k], g.sub(limb.end, limb.ball)))
        return self.ends.get(k, limb.end)

    def _limb_moves(self, k: int, goal: g.Point) -> dict[int, g.Move]:
        limb, carried, rotation = self.body.limbs[k], self.carried[k], self.options.rotation
        if k in self.ends:
            keeps = rotation == "KEEP" or (rotation == "AUTO" and limb.found.kind == "LEG")
            return limb.allowed_end(limb.closed(carried, goal, g.NO_TURN if keeps else None))
        held = self.held[k]
        if not held.place:
            # Its orientation alone: the limb rides, and its end turns back.
            at = g.moved(carried, limb.end)
            return {limb.found.end: g.bringing(g.NO_TURN, limb.end, at)} if limb.found.end >= 0 else {}
        end_turn = self.heels.get(k, g.NO_TURN) if held.rotation else None
        moves = limb.closed(carried, goal, end_turn, self.knees.get(k))
        return moves | ({limb.found.toe: g.NO_MOVE} if k in self.heels else {})

    def _free_moves(self, k: int) -> dict[int, g.Move]:
        """A limb that is free goes along; an arm leans less than what carries it, and what is not parented to its limb
        is brought."""
        limb, carried, bones = self.body.limbs[k], self.carried[k], self.body.bones
        move = carried
        if limb.found.kind == "ARM" and limb.links[0] not in {*bones.stiff, *bones.limits}:
            leaning = g.rotate(carried[0], bones.up)
            axis = g.cross(leaning, bones.up)
            angle = _HANG * atan2(g.norm(axis), g.dot(leaning, bones.up))
            back = g.times(g.turn_by(g.mul(g.unit(axis), angle)), carried[0])
            move = g.bringing(back, limb.root, g.moved(carried, limb.root))
        ends = {limb.found.end: move} if limb.found.end >= 0 and not limb.found.rides else {}
        return {limb.links[0]: move} | ends

    def corrected(self) -> GrabbedPose:
        """The pose, with its channels; ends of limbs that Blender's matrices bring elsewhere are brought back."""
        body, drag, moves, channels = self.body, self.drag, self.moves, Channels(self.body.bones)
        channels.write(moves, moves)
        limbs = {k: body.limbs[k] for k in sorted({*self.placed, *self.ends}) if not body.limbs[k].is_rigged}
        far = {k: g.distance(limb.reached(moves), self._end_of(k)) for k, limb in limbs.items()}
        aims = {k: self._end_of(k) for k in limbs if far[k] <= _MET * body.size}
        again: dict[int, g.Move] = {}
        for k, goal in aims.items():
            limb = body.limbs[k]
            if k in self.heels and limb.ball:
                error = g.sub(channels.end(limb.found.end, limb.ball), limb.ball)
            else:
                error = g.sub(channels.end(limb.links[-1], limb.end), goal)
            own = self._limb_moves(k, g.sub(goal, error))
            # A foot beside its limb is where it belongs, and so are toes: they would get a location.
            beside = {limb.found.toe} if limb.found.rides else {limb.found.toe, limb.found.end}
            again |= {bone: move for bone, move in own.items() if bone not in beside}
        moves |= again
        channels.write(moves, again)
        bone, start = drag.bone(body), drag.start(body)
        at = g.moved(moves[bone], start) if bone in body.bones.rigged else channels.end(bone, start)
        missed = 0.0 if drag.kind == "GAZE" else g.distance(at, self.goal)
        return GrabbedPose(channels, moves, missed, self.unheld, self.shift, self.turn)
