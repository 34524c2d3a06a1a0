"""A row of bones as an arc, a neck or a tail: its curl meets the distance to a place, and its swing aims it there."""

import itertools
from collections.abc import Sequence
from math import atan2, cos, radians, sin

from . import geometry as g
from .skeleton import Skeleton

_CURL = radians(25.0)
"""By which each joint of a neck bends more at most."""
_GAZE = radians(100.0)
"""By which a head turns at most."""
_SHORT = 0.15
"""Of its length: an arc whose chord varies by less would curl by all it has within a pixel, so it only swings."""
_SAMPLES = 32
_ENOUGH = 1e-13


class Arc:
    """A row of bones in the pose before. links: its bones, first to last. base: where it begins. end: what is brought
    to a place. along: the unit vector from base to end. far, near: the longest and shortest distance between them to
    which it opens and curls."""

    def __init__(self, bones: Skeleton, links: Sequence[int], end: g.Point, back: g.Point, curl: float = _CURL) -> None:
        """back: to where it bulges if it is straight. curl: by which each joint bends more at most."""
        self.links, self.end, self._up = links, end, bones.up
        self._heads = [bones.heads[bone] for bone in links]
        self.base = self._heads[0]
        self._vectors = [g.sub(b, a) for a, b in itertools.pairwise([*self._heads, end])]
        chord = g.sub(end, self.base)
        self.along, self.chord = g.unit(chord), g.norm(chord)
        bulge = g.across(g.total(g.sub(each, self.base) for each in self._heads[1:]), self.along)
        back = g.unit(g.across(back, self.along), g.unit(g.across(bones.up, self.along)))
        a = self.axis = g.cross(g.unit(bulge) if g.norm(bulge) > 1e-3 * self.chord else back, self.along)
        # Turned about the axis by t, a vector is its part along it, cos t of that across, and sin t of the third.
        self._parts = [(g.mul(a, g.dot(v, a)), g.across(v, a), g.cross(a, v)) for v in self._vectors]
        self._joints = max(len(links) - 1, 1)
        self.curls = (self._longest(), curl * self._joints) if len(links) > 1 else (0.0, 0.0)
        lengths = [self.chord, *(g.norm(self._chord_of(curl)) for curl in self.curls)]
        self.far, self.near = max(lengths), min(lengths)
        if self.far - self.near < _SHORT * self.far:
            self.curls, self.far, self.near = (0.0, 0.0), self.chord, self.chord

    def _longest(self) -> float:
        """The curl of the longest chord, from which on it gets shorter: a neck like an S is not the longest where its
        bends are undone."""
        flat = [across for _, across, _ in self._parts]
        bent = sum(atan2(g.norm(g.cross(u, v)), g.dot(u, v)) for u, v in itertools.pairwise(flat))
        step = bent / _SAMPLES
        longest = max((-step * k for k in range(_SAMPLES + 1)), key=lambda curl: g.norm(self._chord_of(curl)))
        if not longest:
            return longest
        before, here, beyond = (g.norm(self._chord_of(longest + e)) for e in (-step, 0.0, step))
        slope = before - 2.0 * here + beyond
        return min(longest + step * (before - beyond) / (2.0 * slope), 0.0) if slope < 0.0 else longest

    def _chord_of(self, curl: float) -> g.Point:
        """From the base to the end if its joints share a curl more."""
        x = y = z = 0.0
        for k, (p, q, r) in enumerate(self._parts):
            c, s = cos(curl * k / self._joints), sin(curl * k / self._joints)
            x, y, z = x + p[0] + q[0] * c + r[0] * s, y + p[1] + q[1] * c + r[1] * s, z + p[2] + q[2] * c + r[2] * s
        return (x, y, z)

    def moves(self, carried: g.Move, goal: g.Point) -> dict[int, g.Move]:
        """The moves of its bones that bring its end to `goal`, or as near as they reach. carried: of what bears it."""
        at = g.moved(carried, self.base)
        away = g.rotate(g.inverse(carried[0]), g.sub(goal, at))
        curl = self._curl_to(g.norm(away))
        chord = g.unit(self._chord_of(curl))
        aim = g.times(carried[0], g.swing(chord, g.unit(away, chord), self.axis))
        moves = {}
        for k, (bone, head, vector) in enumerate(zip(self.links, self._heads, self._vectors, strict=True)):
            turn = g.times(aim, g.turn_by(g.mul(self.axis, curl * k / self._joints)))
            moves[bone] = g.bringing(turn, head, at)
            at = g.add(at, g.rotate(turn, vector))
        return moves

    def gazing(self, facing: g.Point, goal: g.Point) -> dict[int, g.Move]:
        """A neck turns half of the way, and its head, which faces so, to a goal, or as far that way as it can."""
        moves, move = {}, g.NO_MOVE
        for k, (bone, head) in enumerate(zip(self.links, self._heads, strict=True), 1):
            way = g.unit(g.sub(goal, g.moved(move, self._heads[-1])), facing)
            axis = g.cross(facing, way)
            angle = min(atan2(g.norm(axis), g.dot(facing, way)), _GAZE)
            part = 0.5 * k / self._joints if k < len(self.links) else 1.0
            turn = g.turn_by(g.mul(g.unit(axis, self._up), angle * part))
            moves[bone] = move = g.bringing(turn, head, g.moved(move, head))
        return moves

    def _curl_to(self, length: float) -> float:
        """The curl with a chord of this length: bracketed, by regula falsi with halved ends."""
        low, high = self.curls
        below, above = (g.norm(self._chord_of(curl)) - length for curl in self.curls)
        if low == high or below <= 0.0:
            return low
        if above >= 0.0:
            return high
        curl, side = (0.0 if low < 0.0 < high else low), 0
        for step in range(60):
            curl = (low * above - high * below) / (above - below) if step else curl
            value = g.norm(self._chord_of(curl)) - length
            if abs(value) < _ENOUGH * self.far:
                break
            if value > 0.0:
                low, below, above = curl, value, above / 2.0 if side == 1 else above
                side = 1
            else:
                high, above, below = curl, value, below / 2.0 if side == -1 else below
                side = -1
        return curl
