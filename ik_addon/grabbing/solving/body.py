"""A body in the pose before: its limbs, the line from hips to chest, its neck, and how all of it stands."""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from math import dist

import numpy as np

from . import geometry as g
from .row import Arc, FoundParts, GrabLimb
from .skeleton import Skeleton, point
from .trunk import Trunk

_ON_GROUND = 0.03
"""Of a leg: a foot that is no higher above the lowest one is on the ground."""
_LYING = 0.5
"""Of the body's size: feet that are so much apart in height at rest do not stand there."""
_MIDDLE = 0.05
"""Of the body's size: what is no farther from its middle is on neither side."""
_LONGEST_TOE = 1.1
"""Of the way from ankle to ball: a longer toe is none."""
NECK = -1
"""Its number among the rows."""


class Body:
    """What is found of an armature. Places in armature space, in the pose before.

    hips: the bone that carries all limbs, or above it the first one that can move; -1 if there is none. Without limbs
    the first bone that has no parent. chest: the line leads there from the hips. limbs, neck: its `rows` by their
    numbers. size: the reach of the longest limb. depth: from the middle of the hips to a hip joint. forward, facing: to
    where its feet and its head point. lifts: how much higher than the lowest one the foot of each leg is, seen from
    rest, by the legs' numbers. skins: outermost points (n, 3) of the skin of bones of the line and the neck.
    """

    def __init__(self, bones: Skeleton, found: Sequence[FoundParts], heads: Sequence[int]) -> None:
        """heads: bones that are named so."""
        self.bones = bones
        self.skins: dict[int, np.ndarray] = {}
        at_rest = [point(head) for head in bones.at_rest[:, :3, 3]]
        carriers = [(limb, bones.parents[limb.bones[0]]) for limb in found]
        self.hips = bones.common([bone for _, bone in carriers]) if found else bones.parents.index(-1)
        while found and self.hips >= 0 and bones.connected[self.hips] and bones.parents[self.hips] >= 0:
            self.hips = bones.parents[self.hips]
        self.forward = _forward(found, bones.heads, bones)
        upper = [bone for limb, bone in carriers if limb.kind != "LEG" or "FRONT" in limb.place]
        above = [*bones.above(bones.common(upper) if upper else self.hips)]
        self.line = above[: above.index(self.hips) + 1][::-1] if self.hips in above else [self.hips]
        self.chest = self.line[-1]
        self.limbs = [GrabLimb(bones, each, self.line, self.forward) for each in found]
        self.size = max((limb.reach for limb in self.limbs), default=bones.extent)
        roots = [[limb.root for limb in self.limbs if limb.is_lower == is_lower] for is_lower in (True, False)]
        middle, top = (
            g.mean(each or [bones.heads[bone]]) for each, bone in zip(roots, (self.hips, self.chest), strict=True)
        )
        self.depth = max((dist(root, middle) for root in roots[0]), default=0.0)
        self.aside = g.unit(g.cross(bones.up, self.forward))
        base = bones.heads[self.hips] if self.hips in bones.fixed else middle
        stiff = [k for k, bone in enumerate(self.line) if bone in bones.stiff]
        pivots = [base, *(bones.heads[bone] for bone in self.line[1:])]
        self.trunk = Trunk(pivots, top, self.aside, any(limb.place for limb in found), stiff)
        links = self._neck_links(heads, middle) if found else []
        self.neck = None
        if links:
            head = links[-1]
            tip = g.mean([bones.heads[head], bones.tails[head]])
            turned = bones.poses[head, :3, :3] @ np.linalg.pinv(bones.at_rest[head, :3, :3])
            self.facing = g.unit(point(turned @ _forward(found, at_rest, bones)))
            self.neck = Arc(bones, links, tip, g.mul(self.forward, -1.0), at=len(self.line) - 1)
        self.rows = dict(enumerate(self.limbs)) | ({NECK: self.neck} if self.neck else {})
        self._legs = {k: limb for k, limb in enumerate(self.limbs) if limb.found.kind == "LEG"}
        self._levels = {bone: g.dot(at_rest[bone], bones.up) for limb in self._legs.values() for bone in limb.soles}
        self._tips = dict(self._toe_tips())
        ankles = [self._levels[limb.soles[0]] for limb in self._legs.values()]
        if ankles and max(ankles) - min(ankles) >= _LYING * self.size:
            # It lies at rest, where else all feet stand.
            self._levels = dict.fromkeys(self._levels, 0.0)
            self._tips = {}
        self.lifts = self._lifts(bones.heads, bones.tails)

    def _neck_links(self, heads: Sequence[int], middle: g.Point) -> list[int]:
        """From the chest to the head, which is named so; else the longest row of connected bones in its middle that
        begins there, without a fork."""
        bones = self.bones
        of_limbs = {bone for limb in self.limbs for bone in bones.above(limb.links[0])}
        ways = {bone: [*bones.above(bone)] for bone in range(len(bones.parents)) if bone not in of_limbs}
        ways = {bone: way[: way.index(self.chest)][::-1] for bone, way in ways.items() if self.chest in way[1:]}
        near = {bone for bone in ways if abs(g.dot(g.sub(bones.heads[bone], middle), self.aside)) < _MIDDLE * self.size}
        after = {bone: [k for k in near if bones.parents[k] == bone and bones.connected[k]] for bone in near}
        rows = [way for way in ways.values() if near.issuperset(way) and all(after[a] == [b] for a, b in pairwise(way))]
        named = [ways[bone] for bone in heads if bone in ways]
        return min(named, key=len, default=max(rows, key=len, default=[]))

    def _toe_tips(self) -> Iterator[tuple[int, tuple[int, float]]]:
        """By their numbers the legs whose toe ends at its tip: the toe, and how high that is at rest. Importers guess
        tails: a tip is on the level of the toe, and not far from it."""
        bones = self.bones
        for k, limb in self._legs.items():
            toe, foot = limb.found.toe, limb.found.end
            size = dist(bones.heads[toe], bones.tails[toe])
            away = size * g.dot(point(bones.at_rest[toe, :3, 1]), bones.up)
            longest = _LONGEST_TOE * dist(bones.heads[toe], bones.heads[foot])
            if min(toe, foot) >= 0 and abs(away) < 0.5 * size and size <= longest:
                yield k, (toe, self._levels[toe] + away)

    def _lifts(
        self, heads: Sequence[g.Point], tails: Sequence[g.Point], free: Collection[int] = ()
    ) -> dict[int, float]:
        up, levels = self.bones.up, self._levels
        lifts = {k: min(g.dot(heads[bone], up) - levels[bone] for bone in limb.soles) for k, limb in self._legs.items()}
        ground = min((lift for k, lift in lifts.items() if k not in free), default=0.0)
        tips = {k: g.dot(tails[toe], up) - level for k, (toe, level) in self._tips.items()}
        # A foot that stands on its toes has them down, and in the ground in many clips.
        return {k: max(0.0, min(lift, tips.get(k, lift)) - ground) for k, lift in lifts.items()}

    def standing(self, heads: Sequence[g.Point], tails: Sequence[g.Point], free: Collection[int]) -> set[int]:
        """The legs with a foot on the ground where bones begin and end there. free: those that do not show where that
        is, for they may be below."""
        return {k for k, lift in self._lifts(heads, tails, free).items() if lift <= _ON_GROUND * self.limbs[k].reach}


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
    return g.mul(forward, -1.0) if is_upright and g.dot(toes, forward) < 0.0 else forward
