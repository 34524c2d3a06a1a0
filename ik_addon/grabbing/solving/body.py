"""A body in the pose before: its limbs, the line from hips to chest, its neck, and how all of it stands."""

from collections.abc import Sequence

import numpy as np

from . import geometry as g
from .arc import Arc
from .limb import FoundParts, GrabLimb
from .skeleton import Skeleton, point
from .trunk import Trunk

ON_GROUND = 0.03
"""Of a leg: a foot that is no higher above the lowest one is on the ground."""
_LYING = 0.5
"""Of the body's size: feet that are so much apart in height at rest do not stand there."""
_MIDDLE = 0.05
"""Of the body's size: what is no farther from its middle is on neither side."""


class Body:
    """What is found of an armature. Places in armature space, in the pose before.

    hips, chest: bones; the line leads from one to the other. size: the reach of the longest limb. forward, facing: to
    where its feet and its head point. middle: between the roots of the limbs it stands on.
    rest_heights: of the bones of soles.
    """

    def __init__(self, bones: Skeleton, found: Sequence[FoundParts], heads: Sequence[int] = ()) -> None:
        self.bones = bones
        self.forward = _forward(found, bones.heads, bones)
        self._find_line(found)
        self.limbs = [GrabLimb(bones, each, self.line, self.forward) for each in found]
        lower = [limb.root for limb in self.limbs if limb.found.is_lower] or [bones.heads[self.hips]]
        upper = [limb.root for limb in self.limbs if not limb.found.is_lower] or [bones.heads[self.chest]]
        far = max(g.distance(head, bones.heads[self.hips]) for head in bones.heads) or 1.0
        self.size = max((limb.reach for limb in self.limbs), default=far)
        self.middle = g.mean(lower)
        self.aside = g.unit(g.cross(bones.up, self.forward))
        base = bones.heads[self.hips] if self.hips in bones.still[1] else self.middle
        pivots = [base, *(bones.heads[bone] for bone in self.line[1:])]
        is_beast = any(limb.found.place for limb in self.limbs)
        stiff = [k for k, bone in enumerate(self.line) if bone in bones.still[0]]
        self.trunk = Trunk(pivots, g.mean(upper), self.aside, is_beast, stiff)
        self.neck = self._find_neck(heads)
        legs = [limb for limb in self.limbs if limb.found.kind == "LEG"] or self.limbs
        at_rest = [self._height(limb.soles[0], bones.at_rest[:, :3, 3]) for limb in legs]
        # At rest all feet stand, unless the body lies.
        stands = at_rest and max(at_rest) - min(at_rest) < _LYING * self.size
        self.rest_heights = {
            bone: self._height(bone, bones.at_rest[:, :3, 3]) if stands else 0.0
            for limb in self.limbs
            for bone in limb.soles
        }
        self.ground = min((self._lift(limb) for limb in legs), default=0.0)

    def _find_line(self, found: Sequence[FoundParts]) -> None:
        bones, self.hips = self.bones, hips_of(self.bones, found)
        upper = [bones.parents[limb.bones[0]] for limb in found if not limb.is_lower]
        chest = bones.common(upper) if upper else self.hips
        above = [*bones.above(chest)]
        self.line = above[: above.index(self.hips) + 1][::-1] if self.hips in above else [self.hips]
        self.chest = self.line[-1]

    def _find_neck(self, heads: Sequence[int]) -> Arc | None:
        """From the chest to the head, which is named so, or else ends what goes on from the chest in its middle."""
        bones = self.bones
        if not self.limbs:
            return None
        limbs = {bone for limb in self.limbs for bone in bones.above(limb.links[0])}
        ways = {bone: [*bones.above(bone)] for bone in range(len(bones.parents)) if bone not in limbs}
        free = {bone: way for bone, way in ways.items() if self.chest in way[1:]}
        named = [bone for bone in heads if bone in free]
        row = self.row_below(self.chest, [bone for bone in free if self._is_in_middle(bone)])
        head = min(named, key=lambda bone: len(free[bone]), default=row[-1] if row else -1)
        if head < 0:
            return None
        tip = g.mul(g.add(bones.heads[head], bones.tails[head]), 0.5)
        turned = bones.poses[head, :3, :3] @ np.linalg.pinv(bones.at_rest[head, :3, :3])
        at_rest = _forward([limb.found for limb in self.limbs], [point(p) for p in bones.at_rest[:, :3, 3]], bones)
        self.facing = g.unit(point(turned @ at_rest))
        way = free[head]
        return Arc(bones, way[: way.index(self.chest)][::-1], tip, g.mul(self.forward, -1.0))

    def row_below(self, bone: int, among: Sequence[int]) -> list[int]:
        """The longest row of connected bones that begins below one, without a fork."""
        bones, rows = self.bones, []
        for first in (each for each in among if bones.parents[each] == bone):
            row = [first]
            while len(after := [k for k in among if bones.parents[k] == row[-1] and bones.connected[k]]) == 1:
                row += after
            rows.append(row)
        return max(rows, key=len, default=[])

    def _is_in_middle(self, bone: int) -> bool:
        return abs(g.dot(g.sub(self.bones.heads[bone], self.middle), self.aside)) < _MIDDLE * self.size

    def _height(self, bone: int, heads: Sequence | np.ndarray) -> float:
        return g.dot(point(heads[bone]), self.bones.up)

    def _lift(self, limb: GrabLimb) -> float:
        return min(self._height(bone, self.bones.heads) - self.rest_heights[bone] for bone in limb.soles)

    def lift_of(self, limb: GrabLimb, end: g.Point) -> float:
        """How much higher than the lowest foot of the pose before a foot is with its ankle there, seen from rest."""
        return self._lift(limb) - self.ground + g.dot(g.sub(end, limb.end), self.bones.up)

    def is_standing(self, limb: GrabLimb) -> bool:
        """True for a leg whose foot is on the ground, by the lowest one."""
        return limb.found.kind == "LEG" and self.lift_of(limb, limb.end) <= ON_GROUND * limb.reach


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
    roots: dict[str, list[g.Point]] = {"L": [], "R": [], "": []}
    for limb in found:
        roots[limb.side].append(heads[limb.bones[0]])
        if limb.kind == "LEG" and limb.end >= 0:
            tip = heads[limb.toe] if limb.toe >= 0 else bones.tails[limb.end]
            toes = g.add(toes, g.sub(tip, heads[limb.end]))
    toes = g.across(toes, bones.up)
    if not (roots["L"] and roots["R"]):
        return g.unit(toes, g.unit(g.across((0.0, -1.0, 0.0), bones.up), (1.0, 0.0, 0.0)))
    forward = g.unit(g.cross(g.across(g.sub(g.mean(roots["L"]), g.mean(roots["R"])), bones.up), bones.up))
    is_upright = len(found) <= 4 and not any(limb.place for limb in found)
    return g.mul(forward, -1.0) if is_upright and g.norm(toes) > 1e-9 and g.dot(toes, forward) < 0.0 else forward
