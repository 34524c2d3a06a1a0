"""Find the legs and arms of any armature: names propose, shape and place decide. Where names mean nothing, by shape
alone: pairs that mirror each other, with joints in place.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from math import radians

import bpy
from mathutils import Vector

from ... import messages
from .named_limbs import limbs_by_name
from .stance import (
    SURE,
    BodyBone,
    LimbCandidate,
    Reasons,
    agreement,
    bend,
    bones_of_armature,
    falling,
    foot_and_toes,
    heel_of,
    in_their_stance,
    middle_of,
    rising,
    stance_of,
)

_SYMMETRIC = 0.05
"""Of a limb's length: how well two limbs must mirror each other."""
_SURE = 0.5
"""How well joints must fit to a limb, of 1."""
_CLEAR = 0.15
"""By how much they must fit better than others of the same bones."""
_ASIDE = 0.75
"""Of the way to the bone's farthest child: one that is nearer only twists along with it, or corrects its skin."""
_MOST = 8
"""Bones of a line in which joints are told."""
_NO_PAIR = "no pair"


class _Line(list[BodyBone]):
    """A bone and those below it, as far as one of them goes on from each."""

    @property
    def joints(self) -> list[Vector]:
        """The heads. The tail of the last is one too only where nothing else shows where a foot points."""
        heads = [bone.head for bone in self]
        return heads if self[-1].children or len(self) > 3 else [*heads, self[-1].tail]


@dataclass(frozen=True, slots=True)
class _Split:
    """Which joints of a line are hip, knee and ankle, or shoulder, elbow and wrist, and how well they fit."""

    root: int
    knee: int
    end: int
    fit: float

    def limb(self, kind: str, line: _Line, side: str) -> LimbCandidate:
        bones = tuple(line[self.root : self.end])
        segments = tuple(bone for k, bone in enumerate(bones) if k not in (0, self.knee - self.root))
        return LimbCandidate(kind, line[0].said.side or side, "", bones, segments, **foot_and_toes(line[self.end]))


def limbs_by_shape(bones: Sequence[BodyBone]) -> tuple[list[LimbCandidate], Reasons]:
    """The one pair of legs that shape alone shows, its arms if there is one pair too, and why other pairs are none."""
    pairs, reasons = [], {}
    points = [bone.head for bone in bones]
    for first, second in _line_pairs(bones):
        reason, found = _legs_of(first, second, points)
        if found:
            pairs.append((first, second, found))
        elif reason != _NO_PAIR:
            reasons |= {line[0].name: reason for line in (first, second)}
    if len(pairs) > 1:
        return [], reasons | {line[0].name: messages.MANY_PAIRS() for pair in pairs for line in pair[:2]}
    if not pairs:
        return [], reasons
    first, second, split = pairs[0]
    lines = first, second
    # A body looks where its feet point.
    down = sum((line[split.end].head - line[split.root].head for line in lines), Vector())
    left = sum((line.joints[split.end + 1] - line[split.end].head for line in lines), Vector()).cross(down)
    legs = _sided(first, second, split, "LEG", left)
    return [*legs, *_arms_by_shape(bones, legs)], reasons


def _line_pairs(bones: Sequence[BodyBone]) -> Iterable[tuple[_Line, _Line]]:
    for bone in bones:
        # Shape decides what a bone is whose name says nothing.
        lines = [_line(child) for child in bone.children if child.said.is_meaningless]
        yield from combinations([line for line in lines if len(line) >= 3], 2)


def _line(bone: BodyBone) -> _Line:
    line = _Line([bone])
    while following := _next(line[-1]):
        line.append(following)
    return line


def _next(bone: BodyBone) -> BodyBone | None:
    """The child that goes on from a bone, not those beside it; None if none or several do."""
    children = [child for child in bone.children if child.said.is_meaningless]
    going_on = [child for child in children if child.children] if len(children) > 1 else children
    if len(going_on) == 1:
        return going_on[0]
    ways = {child: (child.head - bone.head).length for child in going_on or children}
    far = [child for child, way in ways.items() if way > _ASIDE * max(ways.values())]
    return far[0] if len(far) == 1 else None


# Legs


def _legs_of(first: _Line, second: _Line, points: Sequence[Vector]) -> tuple[str, _Split | None]:
    """How two lines are legs; else why not: _NO_PAIR if they do not even look like it."""
    ways = [
        max((joint - line[0].head for joint in line.joints), key=lambda way: way.length) for line in (first, second)
    ]
    down = sum(ways, Vector()).normalized()
    length = max(way.length for way in ways)
    feet = [down.dot(joint) for line in (first, second) for joint in line.joints]
    depths = [down.dot(point) for point in points]
    if (
        not _mirror_each_other(first, second, _SYMMETRIC * length)
        or max(depths) - max(feet) > _SYMMETRIC * length
        or min(down.dot(way) for way in ways) < 0.7 * length
    ):
        return _NO_PAIR, None
    if down.dot(first[0].parent.head) - min(depths) < 0.4 * length:
        return messages.NO_BODY_ABOVE(), None
    split = _best(first, lambda split: _fit_of_leg(split, first, down, max(depths)))
    if split is None:
        return messages.NO_FOOT_STANDS_OUT() if len(first) < 5 else messages.MANY_BONES(count=len(first)), None
    return "", split


def _best(line: _Line, fit: Callable[[_Split], float]) -> _Split | None:
    """The joints that fit best, if they do so well and clearly."""
    if len(line) > _MOST:
        return None
    joints = [k for k, bone in enumerate(line) if not bone.said.is_twist]
    splits = (_Split(*chosen, 0.0) for chosen in combinations(joints, 3))
    found = sorted((replace(split, fit=fit(split)) for split in splits), key=lambda split: -split.fit)
    clear = len(found) < 2 or found[0].fit - found[1].fit > _CLEAR
    return found[0] if found and found[0].fit > _SURE and clear else None


def _fit_of_leg(split: _Split, line: _Line, down: Vector, ground: float) -> float:
    joints = line.joints
    hip, ankle = joints[split.root], joints[split.end]
    if split.end + 1 >= len(joints):
        return 0.0
    limb = ankle - hip
    length, before = limb.length or 1e-9, hip - joints[0]
    return min(
        _fit_of_links(split, line),
        falling(down.dot(before) / length, 0.1, 0.3),
        falling(before.length / length, 0.3, 0.7),
        rising(down.dot(limb) / length, 0.7, 0.9),
        falling((ground - down.dot(ankle)) / length, 0.35, 0.7),
        rising((ankle - joints[split.knee]).angle(joints[split.end + 1] - ankle, 0.0), radians(20.0), radians(40.0)),
        falling(_way(joints[split.end :]) / length, 0.5, 0.9),
    )


def _fit_of_links(split: _Split, line: _Line) -> float:
    """How well two links of a line are alike, and the joints within them straighter than that between them."""
    joints = line.joints
    upper, lower = joints[split.knee] - joints[split.root], joints[split.end] - joints[split.knee]
    shorter, longer = sorted((upper.length, lower.length))
    within = [k for k in range(split.root + 1, split.end) if k != split.knee and not line[k].said.is_twist]
    straight = max((bend(*joints[k - 1 : k + 2]) for k in within), default=None)
    alike = rising(shorter / (longer or 1e-9), 0.4, 0.7)
    if straight is None:
        return alike
    clear = upper.angle(lower, 0.0) - straight
    return min(alike, falling(straight, radians(4.0), radians(16.0)), rising(clear, radians(1.0), radians(5.0)))


def _way(joints: Sequence[Vector]) -> float:
    return sum((b - a).length for a, b in pairwise(joints))


def _mirror_each_other(first: _Line, second: _Line, near: float) -> bool:
    if len(first) != len(second):
        return False
    one, other = ([bone.head for bone in line] for line in (first, second))
    across = one[-1] - other[-1]
    middle = (one[-1] + other[-1]) / 2.0
    normal = across.normalized()
    mirrored = [point - 2.0 * normal.dot(point - middle) * normal for point in one]
    apart = max((a - b).length for a, b in zip(mirrored, other, strict=True))
    return across.length > near and apart < near


def _sided(first: _Line, second: _Line, split: _Split, kind: str, left: Vector) -> list[LimbCandidate]:
    """Two lines as limbs. left: counts if names show no side."""
    root = split.root
    return [
        split.limb(kind, line, "L" if left.dot(line[root].head - other[root].head) > 0.0 else "R")
        for line, other in ((first, second), (second, first))
    ]


# Arms, of a body whose legs are sure


def _arms_by_shape(bones: Sequence[BodyBone], legs: Sequence[LimbCandidate]) -> list[LimbCandidate]:
    """The one pair of lines above the hips that is jointed like arms; none if there are several, or none is sure."""
    down = sum((leg.joints[-1] - leg.joints[0] for leg in legs), Vector()).normalized()
    length = sum(legs[0].lengths)
    hips = min(down.dot(leg.joints[0]) for leg in legs)
    found = []
    for first, second in _line_pairs(bones):
        own = {bone for line in (first, second) for top in line[:1] for bone in (top, *top.below)}
        shoulders = down.dot(middle_of([first[0], second[0]], lambda bone: bone.head))
        is_topmost = all(down.dot(bone.head) > shoulders for bone in bones if bone not in own)
        if hips - shoulders < 0.1 * length or is_topmost or not _mirror_each_other(first, second, 0.1 * length):
            continue
        split = _best(first, lambda split, line=first: _fit_of_arm(split, line, length))
        if split is not None:
            found.append((first, second, split))
    if len(found) != 1:
        return []
    left = legs[0].joints[0] - legs[1].joints[0]
    first, second, split = found[0]
    return _sided(first, second, split, "ARM", left if legs[0].side == "L" else -left)


def _fit_of_arm(split: _Split, line: _Line, leg: float) -> float:
    heads = [bone.head for bone in line]
    length = _way(heads[split.root : split.end + 1]) or 1e-9
    upper = (heads[split.knee] - heads[split.root]).length
    before = _way(heads[: split.root + 1])
    return min(
        _fit_of_links(split, line),
        falling(before / (upper or 1e-9), 0.6, 1.0),
        falling(_way(heads[split.end :]) / length, 0.3, 0.6),
        falling(length / leg, 1.2, 2.0),
        rising(length / leg, 0.25, 0.4),
    )


@dataclass(frozen=True, slots=True)
class FoundLimb:
    """A limb of an armature, by the names of its bones.

    kind: LEG or ARM; the front legs of an animal are legs. side: L, R, or "" for one in the middle. place: FRONT or
    HIND where there are both, MID_FRONT or MID_HIND between them, else "".
    bones: the chain, root first; two or more. end: the foot, hand or paw at whose head the chain ends; "" if it ends at
    the tail of its last bone. toe, heel: the ball or toe bone behind the foot, and the bone at its heel, or "".
    segments: those of the chain that only continue the bone before, as where a thigh is split for its twist.
    rides: True if the end is parented to the chain and turns with it; False if it is parented to something else, is one
    of several hands or only marks the end, and if there is none.
    """

    kind: str
    side: str
    place: str
    bones: tuple[str, ...]
    end: str
    toe: str
    heel: str
    segments: tuple[str, ...] = ()
    rides: bool = True


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A bone that looks like a part of a limb and is none. reason: why, as a part of a sentence."""

    bone: str
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """The limbs of an armature, left before right and legs before arms, and what was taken for none.

    unsure: limbs whose shape or place does not agree with their names, each with the reason.
    """

    limbs: tuple[FoundLimb, ...]
    left_out: tuple[LeftOut, ...]
    unsure: tuple[tuple[FoundLimb, str], ...] = ()


def find_limbs(bones: Iterable[bpy.types.Bone], arms: bool = False, posed: Mapping[str, Vector] | None = None) -> Found:
    """The legs, and with `arms` the arms, to which at least one of these bones belongs.

    bones: some or all of one armature's; the others are looked at as well, but found only along with these.
    posed: see `stance_of`.
    """
    asked = list(bones)
    if not asked:
        return Found((), ())
    return limbs_of_body(bones_of_armature(asked[0].id_data), arms, posed, {bone.name for bone in asked})


def limbs_of_body(
    bones: Sequence[BodyBone],
    arms: bool = False,
    posed: Mapping[str, Vector] | None = None,
    chosen: Container[str] | None = None,
) -> Found:
    """The same for a body. chosen: names of bones; None for all."""
    kinds = {"LEG", "ARM"} if arms else {"LEG"}
    limbs, reasons, expected = limbs_by_name(bones, posed)
    if not any(limb.kind == "LEG" for limb in limbs):
        by_shape, doubts = limbs_by_shape(bones)
        limbs, reasons = limbs + by_shape, reasons | doubts
    stance = stance_of([limb for limb in limbs if limb.kind == "LEG"], posed)
    standing = in_their_stance(limbs, stance)
    sure, unsure = [], []
    for limb in standing:
        agrees, reason = agreement(limb, standing, stance)
        if limb.kind in kinds and (chosen is None or any(name in chosen for name in limb.own)):
            (sure if agrees >= SURE else unsure).append((_found(limb), reason))
    known = {name for limb, _ in unsure for name in (*limb.bones, limb.end)}
    return Found(
        tuple(sorted((limb for limb, _ in sure), key=_order)),
        tuple(
            LeftOut(bone.name, each[bone.name])
            for each in ((reasons,) if sure else (reasons, expected))
            for bone in bones
            if bone.name in each
            and bone.name not in known
            and (chosen is None or bone.name in chosen)
            and bone.said.kind in kinds | {""}
        ),
        tuple(sorted(unsure, key=lambda one: _order(one[0]))),
    )


def _found(limb: LimbCandidate) -> FoundLimb:
    heel = heel_of(limb.end) if limb.end else None
    bones, segments = (tuple(bone.name for bone in own) for own in (limb.bones, limb.segments))
    end, toe, heel = (bone.name if bone else "" for bone in (limb.end, limb.toe, heel))
    return FoundLimb(limb.kind, limb.side, limb.place, bones, end, toe, heel, segments, limb.rides and bool(end))


def _order(limb: FoundLimb) -> tuple:
    return limb.kind == "ARM", limb.place == "FRONT", ("L", "R", "").index(limb.side), limb.bones
