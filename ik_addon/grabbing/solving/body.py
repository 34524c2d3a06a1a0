"""A body in the pose before: its limbs, the line from hips to chest, its neck, and how all of it stands."""

from collections.abc import Sequence

from .limbs import FoundParts, GrabLimb
from .neck import Neck
from .skeleton import Skeleton
from .trunk import Trunk
from .turns import ORIGIN, Point, across, add, cross, dot, mean, mul, norm, sub, unit

_ON_GROUND = 0.03
"""Of a leg: a foot that is no higher above the lowest one is on the ground."""
_MIDDLE = 0.05
"""Of the body's size: what is no farther from its middle is on neither side."""


class Body:
    """What is found of an armature. Places in armature space, in the pose before.

    hips, chest: bones; the line leads from one to the other. size: the reach of the longest limb. forward: to where its
    feet point. middle: between the roots of the limbs it stands on.
    """

    def __init__(self, bones: Skeleton, found: Sequence[FoundParts], heads: Sequence[int] = ()) -> None:
        self.bones = bones
        self.forward = _forward(bones, found)
        self._find_line(found)
        self.limbs = [GrabLimb(bones, each, self.line, self.forward) for each in found]
        self.lower = [limb for limb in self.limbs if limb.found.is_lower] or self.limbs
        self.upper = [limb for limb in self.limbs if not limb.found.is_lower]
        self.is_beast = any(limb.found.place for limb in self.limbs)
        self.size = max(limb.reach for limb in self.limbs)
        self.middle = mean([limb.root for limb in self.lower])
        self.aside = unit(cross(bones.up, self.forward))
        top = mean([limb.root for limb in self.upper]) if self.upper else bones.heads[self.chest]
        joints = [bones.heads[bone] for bone in self.line[1:]]
        self.trunk = Trunk(self.middle, joints, top, self.aside, self.is_beast)
        self.neck = self._find_neck(heads)
        legs = [limb for limb in self.limbs if limb.found.kind == "LEG"] or self.limbs
        self.ground = min(dot(limb.end, bones.up) for limb in legs)
        self.masses = self._find_masses()

    def _find_line(self, found: Sequence[FoundParts]) -> None:
        bones, hips = self.bones, hips_of(self.bones, found)
        upper = [bones.parents[limb.bones[0]] for limb in found if not limb.is_lower]
        chest = bones.common(upper) if upper else hips
        self.hips, self.chest = hips, chest if hips in bones.above(chest) else hips
        above = [*bones.above(self.chest)]
        self.line = above[: above.index(self.hips) + 1][::-1]

    def _find_neck(self, heads: Sequence[int]) -> Neck | None:
        """From the chest to the head, which is named so, or else ends what goes on from the chest in its middle."""
        bones = self.bones
        limbs = {bone for limb in self.limbs for bone in bones.above(limb.links[0])}
        free = [
            bone
            for bone in range(len(bones.parents))
            if bone not in limbs and bone != self.chest and bones.carries(self.chest, bone)
        ]
        named = [bone for bone in heads if bone in free]
        if named:
            head = min(named, key=lambda bone: len([*bones.above(bone)]))
        else:
            head = max((self._connected_end(bone, free) for bone in free if self._is_first(bone)), default=(0, -1))[1]
        if head < 0:
            return None
        path = [*bones.above(head)]
        return Neck(bones, path[: path.index(self.chest)][::-1], self.forward)

    def _is_first(self, bone: int) -> bool:
        return self.bones.parents[bone] == self.chest and self._is_in_middle(bone)

    def _is_in_middle(self, bone: int) -> bool:
        return abs(dot(sub(self.bones.heads[bone], self.middle), self.aside)) < _MIDDLE * self.size

    def _connected_end(self, bone: int, free: Sequence[int]) -> tuple[int, int]:
        """How many bones go on from one in a row in the middle of the body, and the last of them."""
        bones, count = self.bones, 1
        while True:
            after = [
                each
                for each in free
                if bones.parents[each] == bone and bones.connected[each] and self._is_in_middle(each)
            ]
            if len(after) != 1:
                return count, bone
            bone, count = after[0], count + 1

    def _find_masses(self) -> list[tuple[float, bool, Point]]:
        """Of a person: how much mass, whether it goes along with the chest or the middle of the spine, where."""
        trunk = mean([self.trunk.pivot, self.trunk.top])
        masses = [(0.5, False, trunk)]
        if self.neck:
            masses.append((0.08, True, self.neck.head_point))
        return masses + [(0.1 / len(self.upper), True, limb.points[1]) for limb in self.upper]

    def lift_of(self, limb: GrabLimb, end: Point) -> float:
        """How high the end of a limb is above the lowest foot of the pose before."""
        return dot(end, self.bones.up) - self.ground

    def is_standing(self, limb: GrabLimb) -> bool:
        """True for a leg whose foot is on the ground, by the lowest one."""
        return limb.found.kind == "LEG" and self.lift_of(limb, limb.end) <= _ON_GROUND * limb.reach


def hips_of(bones: Skeleton, found: Sequence[FoundParts]) -> int:
    """The bone that carries all limbs, or above it the first one that can move; -1 if there is none."""
    hips = bones.common([bones.parents[limb.bones[0]] for limb in found])
    while hips >= 0 and bones.connected[hips] and bones.parents[hips] >= 0:
        hips = bones.parents[hips]
    return hips


def _forward(bones: Skeleton, found: Sequence[FoundParts]) -> Point:
    """To where a body faces: across its sides, and to where its feet point if it stands upright."""
    toes = ORIGIN
    roots: dict[str, list[Point]] = {"L": [], "R": [], "": []}
    for limb in found:
        roots[limb.side].append(bones.heads[limb.bones[0]])
        if limb.kind == "LEG" and limb.end >= 0:
            tip = bones.heads[limb.toe] if limb.toe >= 0 else bones.tails[limb.end]
            toes = add(toes, sub(tip, bones.heads[limb.end]))
    toes = across(toes, bones.up)
    if not (roots["L"] and roots["R"]):
        return unit(toes, unit(across((0.0, -1.0, 0.0), bones.up), (1.0, 0.0, 0.0)))
    forward = unit(cross(across(sub(mean(roots["L"]), mean(roots["R"])), bones.up), bones.up))
    is_upright = len(found) <= 4 and not any(limb.place for limb in found)
    return mul(forward, -1.0) if is_upright and norm(toes) > 1e-9 and dot(toes, forward) < 0.0 else forward
