"""One step of a drag: layers of style choose turns and a wish, one projection and a triangle a limb make them exact."""

from collections.abc import Iterable, Mapping, Sequence
from math import atan2, dist, hypot, inf, radians
from typing import Literal, NamedTuple

from . import geometry as g
from .body import NECK, Body
from .holding import Shell, held_shift, outside
from .limits import largest_part
from .row import Arc
from .skeleton import Channels
from .trunk import begun, capped, eased, together, turn_towards

_EASE, _EASE_OF_HEELS = 0.04, 0.005
"""Of the body's size: over it each layer begins."""
_SPINE_FROM, _HIPS_FROM, _HEELS_FROM = 0.9, 0.97, 0.99
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
_MASS, _HANG = 0.6, 0.6
"""By which the mass moves as the top of the trunk does; the part of its lean that arms which hang free do not make."""
_RIM = 0.07
"""Of the body's size: so near to where what is dragged is missed the hips come along to it."""
_PASSES = 2
_MET, _ROUNDING = 1e-11, 1e-6
"""Of the body's size: what is held and missed by less is held; by less than the second is off what is not sheared."""
_CORRECTIONS = 10
"""Of a limb that is sheared: each leaves a tenth or less of what its end is off."""


class Drag(NamedTuple):
    """What is dragged. limb: its number, for LIMB and JOINT, its knee. row: the bones of a tail, of which the last
    one's tip is dragged. GAZE: to where the head looks."""

    kind: Literal["LIMB", "JOINT", "HIPS", "CHEST", "HEAD", "GAZE", "ROW"]
    limb: int = NECK
    row: tuple[int, ...] = ()

    def grip(self, body: Body) -> tuple[int, g.Point]:
        """The bone that carries it, and where it is in the pose before."""
        if self.kind in ("LIMB", "JOINT"):
            limb, joint = body.limbs[self.limb], -1 if self.kind == "LIMB" else 1
            return limb.links[joint], limb.points[joint]
        if self.row:
            return self.row[-1], body.bones.tails[self.row[-1]]
        if self.kind == "HIPS":
            return body.hips, body.bones.heads[body.hips]
        if self.kind == "CHEST" or body.neck is None:
            return body.chest, body.trunk.top
        head = body.neck.links[-1]
        ahead = g.add(body.bones.heads[head], g.mul(body.facing, body.size))
        return head, ahead if self.kind == "GAZE" else body.neck.end

    def start(self, body: Body) -> g.Point:
        """Where it is in the pose before."""
        return self.grip(body)[1]


class GrabOptions(NamedTuple):
    """How a body gives, by the names of the operator's properties. hips: they MOVE or STAY. spine, balance: 0 to 1.
    rotation: whether the dragged end is to KEEP its orientation, or to FOLLOW the limb; AUTO: feet keep it, hands
    follow. pin_feet: what is held includes those on the ground. look: a head is dragged to where it looks."""

    hips: str = "MOVE"
    spine: float = 1.0
    balance: float = 0.6
    lift_heels: bool = True
    rotation: str = "AUTO"
    pin_feet: bool = True
    look: bool = False


class GrabbedPose(NamedTuple):
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
    held: Mapping[int, str],
    options: GrabOptions | None = None,
    mirrored: Mapping[int, g.Point] | None = None,
) -> GrabbedPose:
    """The pose in which what is dragged is at `goal`, as near as what is held, limits and locks allow: a function of
    the pose before and of `goal` alone. held: LOCATION, ROTATION or BOTH of the ends of limbs, by their numbers.
    mirrored: goals of limbs that are dragged along, by their numbers.
    """
    is_of_row = drag.kind in ("LIMB", "JOINT", "HEAD") and drag.limb in body.rows
    goals = ({drag.limb: goal} if is_of_row else {}) | dict(mirrored or {})
    # Of a knee its own limb counts alone; tail and gaze move no limb.
    counts = set() if drag.kind in ("ROW", "GAZE") else goals.keys() if drag.kind == "JOINT" else held.keys() - goals
    held = {k: held[k] for k in sorted(held) if k in counts}

    def posed(part: float = 1.0, way: float = 1.0) -> _Step:
        ends = {k: g.between(drag._replace(limb=k).start(body), end, way) for k, end in goals.items()}
        return _Step(body, drag, g.between(drag.start(body), goal, way), ends, held, options or GrabOptions(), part)

    styled = {*body.line, *(limb.girdle for limb in body.limbs), *(body.neck.links if body.neck else ())}
    part, limited, step = 1.0, body.bones.limits, posed()
    # As much of the turns as what is held, and their limits, allow; with none of them it does as it did before.
    if not step.fits(styled):
        part = largest_part(lambda part: posed(part).fits(styled))
        step = posed(part)
    # Then as much of the way as the limits of limbs allow.
    if not step.fits(limited):
        step = posed(part, largest_part(lambda way: posed(part, way).fits(limited)))
    return step.corrected(goal)


class _Step:
    """A pose. at: where what is dragged shall be, and `ends` of rows, or `knees`. part: of all turns that are taken.
    feet: from ankle to ball of held ones that may lift their heels. carried: what carries each row. girdles: their
    turns. heels: how feet turn about their balls. unheld: by how much the worst of what is held is missed."""

    def __init__(
        self,
        body: Body,
        drag: Drag,
        at: g.Point,
        goals: Mapping[int, g.Point],
        held: Mapping[int, str],
        options: GrabOptions,
        part: float,
    ) -> None:
        self.body, self.drag, self.at, self.held, self.options, self.part = body, drag, at, held, options, part
        self.ends, self.knees = ({}, goals) if drag.kind == "JOINT" else (goals, {})
        self.placed = [k for k, pin in held.items() if pin != "ROTATION"]
        on_ball = [k for k in self.placed if options.lift_heels and held[k] == "BOTH"]
        self.feet = {k: g.sub(ball, body.limbs[k].end) for k in on_ball if (ball := body.limbs[k].ball)}
        self.carried = dict.fromkeys(body.rows, g.NO_MOVE)
        self.shift = self.turn = g.ORIGIN
        self.unheld = 0.0
        self.girdles: dict[int, g.Point] = {}
        self.heels: dict[int, g.Turn] = {}
        if self.knees:
            self.moves = {bone: move for k in self.knees for bone, move in self._knee_moves(k).items()}
        elif drag.kind == "GAZE" and body.neck:
            self.moves = body.neck.gazing(body.facing, at)
        elif drag.row:
            down = g.mul(g.add(body.bones.up, body.forward), -1.0)
            self.moves = Arc(body.bones, drag.row, drag.start(body), down, _TAIL).moves(g.NO_MOVE, at)
        else:
            self.moves = self._pose()

    def fits(self, among: Iterable[int]) -> bool:
        """Whether all that is held is where it was, and the limits of some bones are kept."""
        return self.unheld <= _MET * self.body.size and self.body.bones.allows(self.moves, among)

    def _pose(self) -> dict[int, g.Move]:
        """All layers."""
        body, rows = self.body, self.body.rows
        self.turn, wish = self._turns(self._first_wish())
        line = body.trunk.moves(self.turn)
        self.floor = self._floor(line)
        for k, row in rows.items():
            self.carried[k] = g.turned(line[row.at], self.girdles.get(k, g.ORIGIN), body.bones.heads[row.girdle])
        balls = {k: (self._center(k), max(_HIPS_FROM * rows[k].reach, rows[k].chord), 0.0) for k in self.ends}
        if NECK in balls and body.neck:
            balls[NECK] = (*balls[NECK][:2], body.neck.near)
            back = g.rotate(line[-1][0], g.mul(body.neck.along, -1.0))
            wish = outside(wish, balls[NECK][0], body.neck.near, back)
        self.shift = self._shift(wish, [*balls.values()])
        if self.feet:
            self._lift_heels()
            # Also where none is lifted: so nothing jumps as one begins to.
            self.feet = {}
            self.shift = self._shift(wish, [*balls.values()])
        going = (g.NO_TURN, self.shift)
        self.carried = {k: g.after(going, move) for k, move in self.carried.items()}
        moves = {bone: g.after(going, move) for bone, move in zip(body.line, line, strict=True)}
        moves |= {rows[k].girdle: self.carried[k] for k in self.girdles}
        for k in rows:
            moves |= self._row_moves(k, self._end_of(k))
        # Where the shells have nothing in common, a leg may reach with nothing in hand.
        off = [hypot(*self._center(k)) - body.limbs[k].reach + self._in_hand(k) for k in self.heels]
        off += [dist(body.limbs[k].reached(moves), self._end_of(k)) for k in self.placed]
        self.unheld = max([0.0, *off])
        return moves

    def _center(self, k: int) -> g.Point:
        """The shift with which a row's root is where its end belongs."""
        return g.sub(self._end_of(k), g.moved(self.carried[k], self.body.rows[k].root))

    def _first_wish(self) -> g.Point:
        """Where the hips would go for what is dragged itself."""
        body = self.body
        if self.drag.kind == "HIPS":
            lower = [k for k in self.placed if body.limbs[k].is_lower]
            return held_shift(g.sub(self.at, self.drag.start(body)), self._shells(lower), [], body.bones.up)
        feet = [self._support_shift(k) for k in self.ends if body.rows[k].is_lower]
        return g.mul(g.mean(feet), min(1.0, self.options.balance / _BALANCE)) if feet else g.ORIGIN

    def _support_shift(self, k: int) -> g.Point:
        """How far the middle of the feet that stand goes as this one moves: lifted, it bears nothing."""
        body, limb = self.body, self.body.limbs[k]
        standing = [body.limbs[k].end for k in self.placed if body.limbs[k].found.kind == "LEG"]

        def middle(end: g.Point) -> g.Point:
            height = body.lifts[k] + g.dot(g.sub(end, limb.end), body.bones.up)
            bears = 1.0 - eased(height / (_LIFTED * limb.reach))
            return g.mul(g.add(g.total(standing), g.mul(end, bears)), 1.0 / (len(standing) + bears))

        return g.across(g.sub(middle(self.ends[k]), middle(limb.end)), body.bones.up) if standing else g.ORIGIN

    def _turns(self, first_wish: g.Point) -> tuple[g.Point, g.Point]:
        """The turn of the spine, and where the hips would go with it; notes those of the girdles."""
        trunk, kind, wish, own = self.body.trunk, self.drag.kind, first_wish, g.ORIGIN
        if kind == "CHEST":
            own = turn_towards(trunk.pivot, trunk.top, self.at, self._limit)
        lean = self._lean(first_wish) if kind == "HIPS" else g.ORIGIN
        for _ in range(_PASSES):
            turn = g.add(own, together(self._asked_turns(trunk.moves(own, wish))))
            size = hypot(*turn)
            if size > 1e-12:
                turn = g.mul(turn, self.part * capped(size, 1.2 * self._limit(g.mul(turn, 1.0 / size))) / size)
            turn = g.add(turn, lean)
            top = g.moved(trunk.moves(turn)[-1], trunk.top)
            if kind == "CHEST":
                # Where it is dragged.
                wish = g.sub(self.at, top)
            elif kind != "HIPS":
                # The mass stays above the feet.
                leans = g.across(g.sub(top, trunk.top), self.body.bones.up)
                wish = g.sub(first_wish, g.mul(leans, self.options.balance * _MASS))
        return turn, wish

    def _lean(self, wish: g.Point) -> g.Point:
        """The turn of a body of one piece, as a spider's, to where its legs do not let it go."""
        body, up = self.body, self.body.bones.up
        if len(body.line) > 1 or body.hips in body.bones.stiff:
            return g.ORIGIN
        lack = g.across(g.sub(g.sub(self.at, self.drag.start(body)), wish), up)
        angle = capped(begun(3.0 * hypot(*lack) / body.size, _EASE), _LEAN) * self.part * self.options.spine
        return g.mul(g.cross(up, g.unit(lack)), angle)

    def _limit(self, axis: g.Point) -> float:
        return self.body.trunk.limit(axis) * self.options.spine

    def _asked_turns(self, line: Sequence[g.Move]) -> list[g.Point]:
        """What the dragged hands or head, and the held ones, ask of the spine beyond girdle and reach."""
        body, ease = self.body, _EASE * self.body.size
        pivot, asked = g.moved(line[0], body.trunk.pivot), []
        for k in sorted({*self.ends, *self.placed}):
            row, goal = body.rows[k], self._end_of(k)
            if row.is_lower:
                continue
            root, reach = g.moved(line[row.at], row.root), max(_SPINE_FROM * row.reach, row.chord)
            lack = begun(dist(goal, root) - reach, ease)
            if row.girdle >= 0:
                head = body.bones.heads[row.girdle]
                turn = turn_towards(g.moved(line[row.at], head), root, goal, lambda _: _GIRDLE, lack)
                root = g.moved(g.turned(line[row.at], turn, head), row.root)
                lack = begun(dist(goal, root) - reach, ease)
                self.girdles[k] = g.mul(turn, self.part)
            asked.append(turn_towards(pivot, root, self._ahead(pivot, root, goal), self._limit, lack))
        return asked

    def _ahead(self, pivot: g.Point, root: g.Point, goal: g.Point) -> g.Point:
        """A goal below a shoulder, moved aside so that the body bows to it: the least turn would lean to the shoulder's
        side, and the more so the lower the goal."""
        up, aside = self.body.bones.up, self.body.aside
        arm = g.sub(root, pivot)
        height = max(g.dot(arm, up), hypot(*arm) / 2.0)
        if not height:
            # The limb begins where the trunk turns: no turn brings it closer.
            return goal
        below = min(g.dot(g.sub(goal, pivot), up) / height - 1.0, 0.0)
        return g.add(goal, g.mul(aside, g.dot(arm, aside) * below))

    def _lift_heels(self) -> None:
        """Feet that would be left behind turn about their balls: by what the hips lack where all else reaches."""
        body = self.body
        for k, foot in self.feet.items():
            limb = body.limbs[k]
            to_root = g.sub(self.shift, self._center(k))
            away = hypot(*to_root)
            lack = begun(away - max(_HEELS_FROM * limb.reach, limb.chord), _EASE_OF_HEELS * body.size)
            if lack > 0.0:
                axis = g.unit(g.cross(body.bones.up, foot))
                root = g.across(g.sub(to_root, foot), axis)
                turn = turn_towards(g.ORIGIN, g.mul(foot, -1.0), root, lambda _: _HEEL, lack)
                if g.dot(turn, axis) > 0.0:
                    self.heels[k] = g.turn_by(g.mul(turn, self.part))

    def _shift(self, wish: g.Point, balls: Sequence[Shell]) -> g.Point:
        """Exact: the shift of the hips with which all that is held reaches."""
        body = self.body
        if body.hips in body.bones.fixed:
            return g.ORIGIN
        if self.options.hips == "STAY" and self.drag.kind != "HIPS":
            wish, balls = g.ORIGIN, []
        rim = min(_RIM * body.size, dist(self.at, self.drag.start(body)))
        return held_shift(wish, [*self._shells(self.placed), *self.floor], balls, body.bones.up, rim)

    def _floor(self, line: Sequence[g.Move]) -> list[Shell]:
        """The shifts with which what was above the ground, on which held feet stand, stays there: trunk, neck and head,
        each as deep below its joints as hips are wide, and their skin. The ball is so large that it is almost flat."""
        body, up, heads = self.body, self.body.bones.up, self.body.bones.heads
        feet = [limb.soles for limb in map(body.limbs.__getitem__, self.placed) if limb.found.kind == "LEG"]
        neck = body.neck if NECK not in self.ends else None
        above = [body.trunk.top, *(neck.points if neck else ())]
        parts = [*zip(line, (heads[bone] for bone in body.line), strict=True), *((line[-1], at) for at in above)]
        ground = min((g.dot(heads[bone], up) for soles in feet for bone in soles), default=inf)
        high = ((g.dot(at, up) - ground, g.dot(g.moved(move, at), up) - ground) for move, at in parts)
        rises = [min(body.depth, before / 2.0) - now for before, now in high if before > 0.0]
        of_skins = dict(zip(body.line, line, strict=True)) | dict.fromkeys(neck.links if neck else (), line[-1])
        for bone in of_skins.keys() & body.skins.keys() if rises else ():
            turn, shift = of_skins[bone]
            before, now = ((body.skins[bone] @ way).min() for way in (up, g.rotate(g.inverse(turn), up)))
            rises.append(float(min(before - ground, 0.0) - (now + g.dot(shift, up) - ground)))
        far = _BESIDE * body.size
        return [(g.mul(up, far + max(rises)), far, 0.0)] if rises else []

    def _shells(self, limbs: Sequence[int]) -> list[Shell]:
        """The shifts with which each of these reaches; legs the farther as long as their heels may still lift."""
        shells, neck = [], self.body.neck if NECK in self.ends else None
        for k in limbs:
            limb, center = self.body.limbs[k], self._center(k)
            most, least = limb.shell
            if neck and neck.near < neck.reach and limb.found.place == "FRONT":
                # A head on a long neck bows that; forelegs do not kneel for it.
                least = min(max(least, _KNEEL * limb.reach), limb.chord)
            is_stiff = least > _STIFF * limb.reach
            most += _LIFT * hypot(*self.feet.get(k, g.ORIGIN)) - self._in_hand(k)
            shells.append((center, most, 0.0 if is_stiff else least))
            if is_stiff:
                # A large hollow leaves several ways round it. A ball beside it leaves one: where the root was. It does
                # not rise with a heel: that lifts where the leg is too long to be near its hollow.
                far, center = _BESIDE * limb.reach, g.sub(limb.end, g.moved(self.carried[k], limb.root))
                shells.append((g.add(center, g.mul(limb.along, -far - least)), far, 0.0))
        return shells

    def _in_hand(self, k: int) -> float:
        """By how much a leg on its ball stays bent: so what Blender's matrices are off can be made good."""
        part = hypot(*self.heels[k][1:]) / _SOME if k in self.heels else 0.0
        return _IN_HAND * self.body.limbs[k].reach * min(part, 1.0)

    def _end_of(self, k: int) -> g.Point:
        """Where the end of a row belongs."""
        row = self.body.rows[k]
        if k in self.heels and (ball := self.body.limbs[k].ball):
            return g.add(ball, g.rotate(self.heels[k], g.sub(row.end, ball)))
        return self.ends.get(k, row.end)

    def _row_moves(self, k: int, goal: g.Point) -> dict[int, g.Move]:
        carried, rotation = self.carried[k], self.options.rotation
        if k == NECK:
            return self.body.rows[k].moves(carried, goal) if k in self.ends else {}
        limb, end = self.body.limbs[k], self.body.limbs[k].found.end
        if k in self.ends:
            keeps = rotation == "KEEP" or (rotation == "AUTO" and limb.found.kind == "LEG")
            return limb.allowed_end(limb.closed(carried, goal, g.NO_TURN if keeps else None))
        if k in self.placed:
            end_turn = self.heels.get(k, g.NO_TURN) if self.held[k] == "BOTH" else None
            moves = limb.closed(carried, goal, end_turn, self.knees.get(k))
            return moves | ({limb.found.toe: g.NO_MOVE} if k in self.heels else {})
        if k in self.held:
            # Its orientation alone: the limb rides, and its end turns back.
            return {end: g.bringing(g.NO_TURN, limb.end, g.moved(carried, limb.end))} if end >= 0 else {}
        return self._free_moves(k)

    def _free_moves(self, k: int) -> dict[int, g.Move]:
        """A limb that is free goes along; an arm leans less than what carries it."""
        limb, carried, bones = self.body.limbs[k], self.carried[k], self.body.bones
        if limb.found.kind == "LEG" or limb.links[0] in {*bones.stiff, *bones.limits}:
            return limb.going(carried)
        leaning = g.rotate(carried[0], bones.up)
        axis = g.cross(leaning, bones.up)
        back = g.mul(g.unit(axis), _HANG * atan2(hypot(*axis), g.dot(leaning, bones.up)))
        return limb.going(g.turned(carried, back, limb.root))

    def _knee_moves(self, k: int) -> dict[int, g.Move]:
        """It goes round its circle if the end is held, else the whole limb points there."""
        limb = self.body.limbs[k]
        if k in self.placed:
            return self._row_moves(k, limb.end)
        upper = Arc(self.body.bones, limb.links[:1], limb.points[1], self.body.forward)
        return limb.going(upper.moves(g.NO_MOVE, self.knees[k])[limb.links[0]])

    def corrected(self, goal: g.Point) -> GrabbedPose:
        """The pose, with its channels; ends of limbs that Blender's matrices bring elsewhere are brought back."""
        body, moves, channels = self.body, self.moves, Channels(self.body.bones)
        channels.write(moves, moves)
        ends = [k for k in sorted({*self.placed, *self.ends} - {NECK}) if not body.limbs[k].is_rigged]
        goals = {k: self._end_of(k) for k in ends}
        for _ in range(_CORRECTIONS):
            again: dict[int, g.Move] = {}
            worst = 0.0
            for k in ends:
                limb, end, on_ball = body.limbs[k], self._end_of(k), k in self.heels and body.limbs[k].ball
                if dist(limb.reached(moves), goals[k]) > _MET * body.size:
                    continue
                bone, start, wanted = (limb.found.end, on_ball, on_ball) if on_ball else (limb.links[-1], limb.end, end)
                off = g.sub(channels.end(bone, start), wanted)
                worst, goals[k] = max(worst, hypot(*off)), g.sub(goals[k], off)
                # A foot beside its limb is where it belongs, and so are toes: they would get a location.
                beside = {limb.found.toe} if limb.found.rides else {limb.found.toe, limb.found.end}
                again |= {bone: move for bone, move in self._row_moves(k, goals[k]).items() if bone not in beside}
            moves |= again
            channels.write(moves, again)
            if worst <= _ROUNDING * body.size:
                break
        grip, start = self.drag.grip(body)
        at = g.moved(moves[grip], start) if grip in body.bones.rigged else channels.end(grip, start)
        missed = 0.0 if self.drag.kind == "GAZE" else dist(at, goal)
        return GrabbedPose(channels, moves, missed, self.unheld, self.shift, self.turn)
