"""A body in the pose before: its limbs, the line from hips to chest, its neck, and how all of it stands."""

from collections.abc import Sequence

import numpy as np

from . import geometry as g
from .arc import Arc
from .limb import FoundParts, GrabLimb
from .skeleton import Skeleton, point
from .trunk import Trunk

_ON_GROUND = 0.03
"""Of a leg: a foot that is no higher above the lowest one is on the ground."""
_LYING = 0.5
"""Of the body's size: feet that are so much apart in height at rest do not stand there."""
_MIDDLE = 0.05
"""Of the body's size: what is no farther from its middle is on neither side."""


class Body:
    """What is found of an armature. Places in armature space, in the pose before.

    hips, chest: bones; the line leads from one to the other. size: the reach of the longest limb. forward, facing: to
    where its feet and its head point. middle: between the roots of the limbs it stands on. lifts: how much higher than
    the lowest one the foot of each leg is, seen from rest, by the legs' numbers.
    """

    def __init__(self, bones: Skeleton, found: Sequence[FoundParts], heads: Sequence[int]) -> None:
        """heads: bones that are named so."""
        self.bones, self.hips = bones, hips_of(bones, found)
        at_rest = [point(head) for head in bones.at_rest[:, :3, 3]]
        self.forward = _forward(found, bones.heads, bones)
        upper = [bones.parents[limb.bones[0]] for limb in found if not limb.is_lower]
        above = [*bones.above(bones.common(upper) if upper else self.hips)]
        self.line = above[: above.index(self.hips) + 1][::-1] if self.hips in above else [self.hips]
        self.chest = self.line[-1]
        self.limbs = [GrabLimb(bones, each, self.line, self.forward) for each in found]
        self.size = max((limb.reach for limb in self.limbs), default=bones.extent)
        lower = [limb.root for limb in self.limbs if limb.found.is_lower] or [bones.heads[self.hips]]
        upper = [limb.root for limb in self.limbs if not limb.found.is_lower] or [bones.heads[self.chest]]
        self.middle = g.mean(lower)
        self.aside = g.unit(g.cross(bones.up, self.forward))
        base = bones.heads[self.hips] if self.hips in bones.fixed else self.middle
        stiff = [k for k, bone in enumerate(self.line) if bone in bones.stiff]
        is_beast = any(limb.found.place for limb in self.limbs)
        pivots = [base, *(bones.heads[bone] for bone in self.line[1:])]
        self.trunk = Trunk(pivots, g.mean(upper), self.aside, is_beast, stiff)
        self.neck = self._find_neck(heads, _forward(found, at_rest, bones)) if found else None
        soles = {bone for limb in self.limbs if limb.found.kind == "LEG" for bone in limb.soles}
        self._levels = {bone: g.dot(at_rest[bone], bones.up) for bone in soles}
        ankles = [self._levels[limb.soles[0]] for limb in self.limbs if limb.found.kind == "LEG"]
        if ankles and max(ankles) - min(ankles) >= _LYING * self.size:
            # It lies at rest, where else all feet stand.
            self._levels = dict.fromkeys(soles, 0.0)
        self.lifts = self._lifts(bones.heads)

    def _find_neck(self, heads: Sequence[int], faced: g.Point) -> Arc | None:
        """From the chest to the head, which is named so, or else ends what goes on from the chest in its middle.
        faced: to where it faces at rest."""
        bones = self.bones
        limbs = {bone for limb in self.limbs for bone in bones.above(limb.links[0])}
        ways = {bone: [*bones.above(bone)] for bone in range(len(bones.parents)) if bone not in limbs}
        free = {bone: way for bone, way in ways.items() if self.chest in way[1:]}
        named = [bone for bone in heads if bone in free]
        away = {bone: g.dot(g.sub(bones.heads[bone], self.middle), self.aside) for bone in free}
        row = self._row_below(self.chest, [bone for bone in free if abs(away[bone]) < _MIDDLE * self.size])
        head = min(named, key=lambda bone: len(free[bone]), default=row[-1] if row else -1)
        if head < 0:
            return None
        tip = g.mul(g.add(bones.heads[head], bones.tails[head]), 0.5)
        turned = bones.poses[head, :3, :3] @ np.linalg.pinv(bones.at_rest[head, :3, :3])
        self.facing = g.unit(point(turned @ faced))
        way = free[head]
        return Arc(bones, way[: way.index(self.chest)][::-1], tip, g.mul(self.forward, -1.0))

    def _row_below(self, bone: int, among: Sequence[int]) -> list[int]:
        """The longest row of connected bones that begins below one, without a fork."""
        bones, rows = self.bones, []
        for first in (each for each in among if bones.parents[each] == bone):
            row = [first]
            while len(after := [k for k in among if bones.parents[k] == row[-1] and bones.connected[k]]) == 1:
                row += after
            rows.append(row)
        return max(rows, key=len, default=[])

    def _lifts(self, heads: Sequence[g.Point]) -> dict[int, float]:
        lifts = {
            k: min(g.dot(heads[bone], self.bones.up) - self._levels[bone] for bone in limb.soles)
            for k, limb in enumerate(self.limbs)
            if limb.found.kind == "LEG"
        }
        ground = min(lifts.values(), default=0.0)
        return {k: lift - ground for k, lift in lifts.items()}

    def standing(self, heads: Sequence[g.Point]) -> set[int]:
        """The legs with a foot on the ground where bones begin there."""
        return {k for k, lift in self._lifts(heads).items() if lift <= _ON_GROUND * self.limbs[k].reach}


def hips_of(bones: Skeleton, found: Sequence[FoundParts]) -> int:
    """The bone that carries all limbs, or above it the first one that can move; -1 if there is none. Without limbs the
    first bone that has no parent."""
    if not found:
        return bones.parents.index(-1)
    hips = bones.common([bones.parents[limb.bones[0]] for limb in found])
    while hips >= 0 and bones.connected[hips] and bones.parents[hips] >= 0:
        hips = bones.parents[hips]
    return hips


def _forward(found: Sequence[FoundParts], heads: Sequence[g.Point], bones: Skeleton) -> g.Point:
    """To where a body faces, with its joints at `heads`: across its sides, and to where its feet point if it stands
    upright."""
    toes = g.ORIGIN
    for limb in found:
        if limb.kind == "LEG" and limb.end >= 0:
            tip = heads[limb.toe] if limb.toe >= 0 else bones.tails[limb.end]
            toes = g.add(toes, g.sub(tip, heads[limb.end]))
    toes = g.across(toes, bones.up)
    left, right = ([heads[limb.bones[0]] for limb in found if limb.side == side] for side in "LR")
    if not (left and right):
        return g.unit(toes, g.unit(g.across((0.0, -1.0, 0.0), bones.up), (1.0, 0.0, 0.0)))
    forward = g.unit(g.cross(g.across(g.sub(g.mean(left), g.mean(right)), bones.up), bones.up))
    is_upright = len(found) <= 4 and not any(limb.place for limb in found)
    return g.mul(forward, -1.0) if is_upright and g.norm(toes) > 1e-9 and g.dot(toes, forward) < 0.0 else forward
