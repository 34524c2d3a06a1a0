"""The neck: a long one is an arc whose curl meets the distance to the head's place, and whose swing aims it there."""

import itertools
from collections.abc import Sequence
from math import cos, radians, sin

from .skeleton import Skeleton
from .turns import (
    Move,
    Point,
    across,
    add,
    angle_between,
    bringing,
    cross,
    dot,
    inverse,
    moved,
    mul,
    norm,
    rotate,
    sub,
    swing,
    times,
    total,
    turn_by,
    unit,
)

_CURL = radians(25.0)
"""By which each joint of the neck bends more at most."""
_SHORT = 0.15
"""Of its length: a neck whose chord varies by less would curl by all it has within a pixel, so it only swings."""
_SAMPLES = 32
_ENOUGH = 1e-13


class Neck:
    """The neck in the pose before. links: its bones, the head last. base: where it begins. head_point: the middle of
    the head. far, near: the longest and shortest distance from the base to which it opens and curls."""

    def __init__(self, bones: Skeleton, links: Sequence[int], forward: Point) -> None:
        self.links = links
        heads = [bones.heads[bone] for bone in links]
        head = links[-1]
        self.base = heads[0]
        self.head_point = add(bones.heads[head], mul(sub(bones.tails[head], bones.heads[head]), 0.5))
        points = [*heads, self.head_point]
        self._heads = heads
        self._vectors = [sub(b, a) for a, b in itertools.pairwise(points)]
        chord = sub(self.head_point, self.base)
        self.along, self.chord = unit(chord), norm(chord)
        bulge = across(total(sub(each, self.base) for each in heads[1:]), self.along)
        back = unit(across(mul(forward, -1.0), self.along), unit(across(bones.up, self.along)))
        self.axis = cross(unit(bulge) if norm(bulge) > 1e-3 * self.chord else back, self.along)
        # Turned about the axis by t, a vector is its part along it, cos t of that across, and sin t of the third.
        a = self.axis
        self._parts = [(mul(a, dot(v, a)), across(v, a), cross(a, v)) for v in self._vectors]
        self._joints = max(len(links) - 1, 1)
        self.curls = self._range() if len(links) > 1 else (0.0, 0.0)
        self.far, self.near = (norm(self._chord_of(curl)) for curl in self.curls)
        self.far, self.near = max(self.far, self.chord), min(self.near, self.chord)
        if self.far - self.near < _SHORT * self.far:
            self.curls, self.far, self.near = (0.0, 0.0), self.chord, self.chord

    def _range(self) -> tuple[float, float]:
        """From the curl of its longest chord on the chord gets shorter: a neck like an S is not the longest where its
        bends are undone."""
        a = self.axis
        bends = [
            angle_between(across(u, a), across(v, a)) for u, v in zip(self._vectors, self._vectors[1:], strict=False)
        ]
        bent = sum(bends)
        curls = [-bent * k / _SAMPLES for k in range(_SAMPLES + 1)]
        longest = max(curls, key=lambda curl: norm(self._chord_of(curl)))
        if longest:
            step = bent / _SAMPLES
            before, here, beyond = (norm(self._chord_of(longest + e)) for e in (-step, 0.0, step))
            slope = before - 2.0 * here + beyond
            if slope < 0.0:
                longest = min(longest + step * (before - beyond) / (2.0 * slope), 0.0)
        return longest, _CURL * (len(self.links) - 1)

    def _chord_of(self, curl: float) -> Point:
        """From the base to the head if the neck's joints share a curl more."""
        x = y = z = 0.0
        for k, (p, q, r) in enumerate(self._parts):
            c, s = cos(curl * k / self._joints), sin(curl * k / self._joints)
            x, y, z = x + p[0] + q[0] * c + r[0] * s, y + p[1] + q[1] * c + r[1] * s, z + p[2] + q[2] * c + r[2] * s
        return (x, y, z)

    def moves(self, carried: Move, goal: Point) -> dict[int, Move]:
        """The moves of its bones that bring the head to `goal`, or as near as they reach. carried: of the chest."""
        at = moved(carried, self.base)
        away = rotate(inverse(carried[0]), sub(goal, at))
        curl = self._curl_to(norm(away))
        chord = unit(self._chord_of(curl))
        aim = swing(chord, unit(away, chord), self.axis)
        moves = {}
        for k, (bone, head, vector) in enumerate(zip(self.links, self._heads, self._vectors, strict=True)):
            bend = turn_by(mul(self.axis, curl * k / self._joints))
            turn = times(carried[0], times(aim, bend))
            moves[bone] = bringing(turn, head, at)
            at = add(at, rotate(turn, vector))
        return moves

    def _curl_to(self, length: float) -> float:
        """The curl with a chord of this length: bracketed, by regula falsi with halved ends."""
        low, high = self.curls
        below, above = self.far - length, norm(self._chord_of(high)) - length
        if low == high or below <= 0.0:
            return low
        if above >= 0.0:
            return high
        below = norm(self._chord_of(low)) - length
        if below <= 0.0:
            return low
        curl, side = (0.0 if low < 0.0 < high else low), 0
        for step in range(60):
            curl = (low * above - high * below) / (above - below) if step else curl
            value = norm(self._chord_of(curl)) - length
            if abs(value) < _ENOUGH * self.far:
                break
            if value > 0.0:
                low, below, above = curl, value, above / 2.0 if side == 1 else above
                side = 1
            else:
                high, above, below = curl, value, below / 2.0 if side == -1 else below
                side = -1
        return curl
