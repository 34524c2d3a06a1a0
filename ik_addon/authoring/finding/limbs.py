"""Find the legs and arms of any armature: by the names of its bones, by shape, and by how all legs stand together."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import pi, radians

import bpy
from mathutils import Vector

from ... import messages
from .limb_shape import ON_TOES, LimbCandidate, Reasons, bend, foot_and_toes, heel_of, middle_of
from .named_limbs import limbs_by_name
from .names import Body

_SYMMETRIC = 0.05
"""Of a limb's length: how well two limbs must mirror each other."""
_HANGS = 0.8
"""Of a leg's length: how far down it leads."""
_FOOT_TURNS = radians(30.0)
"""Least angle between a foot and its shin; a hand is in line with its forearm."""
_NO_PAIR = "no pair"

_Line = list[bpy.types.Bone]


def legs_by_shape(body: Body) -> tuple[list[LimbCandidate], Reasons]:
    """The one pair of legs that shape alone shows, and why other pairs that look like it are none."""
    joints = [point for bone in body.bones for point in _points([bone], body)]
    pairs, reasons = [], {}
    for pelvis in body.bones:
        lines = [_line(child, body) for child in body.children(pelvis) if body.name(child).is_meaningless]
        for pair in combinations([line for line in lines if len(line) >= 3], 2):
            reason = _why_no_legs(pelvis, *pair, joints, body)
            if not reason:
                pairs.append(pair)
            elif reason != _NO_PAIR:
                reasons |= {line[0].name: reason for line in pair}
    if len(pairs) > 1:
        return [], reasons | {line[0].name: messages.MANY_PAIRS() for pair in pairs for line in pair}
    return [leg for one, other in pairs for leg in _pair_of_legs(one, other, body)], reasons


def _line(bone: bpy.types.Bone, body: Body) -> _Line:
    """A bone and those below it, as far as each has one child alone."""
    line = [bone]
    while len(children := [child for child in body.children(line[-1]) if body.name(child).is_meaningless]) == 1:
        line += children
    return line


def _points(line: _Line, body: Body) -> list[Vector]:
    """All joints of a line. A bone's tail is one only where no other bone is below it."""
    heads = [bone.head_local for bone in line]
    return heads if body.children(line[-1]) or len(line) > 3 else [*heads, line[-1].tail_local]


def _why_no_legs(pelvis: bpy.types.Bone, first: _Line, second: _Line, joints: Sequence[Vector], body: Body) -> str:
    """Why two lines of bones are no legs; _NO_PAIR where they do not even look like it, "" where they are."""
    spans = [line[2].head_local - line[0].head_local for line in (first, second)]
    down = sum(spans, Vector()).normalized()
    length = max(span.length for span in spans)
    feet = [down.dot(point) for line in (first, second) for point in _points(line, body)]
    depths = [down.dot(joint) for joint in joints]
    if (
        not _mirror_each_other(first, second, _SYMMETRIC * length)
        or max(depths) - max(feet) > _SYMMETRIC * length
        or min(down.dot(span) for span in spans) < _HANGS * length
    ):
        return _NO_PAIR
    if down.dot(pelvis.head_local) - min(depths) < 0.5 * length:
        return messages.NO_BODY_ABOVE()
    if len(first) > 4:
        return messages.MANY_BONES(count=len(first))
    if not all(_has_foot(line) for line in (first, second)):
        return messages.NO_FOOT_STANDS_OUT()
    return ""


def _mirror_each_other(first: _Line, second: _Line, near: float) -> bool:
    if len(first) != len(second):
        return False
    one, other = ([bone.head_local for bone in line] for line in (first, second))
    across = one[-1] - other[-1]
    middle = (one[-1] + other[-1]) / 2.0
    normal = across.normalized()
    mirrored = [point - 2.0 * normal.dot(point - middle) * normal for point in one]
    apart = max((a - b).length for a, b in zip(mirrored, other, strict=True))
    return across.length > near and apart < near


def _foot(line: _Line) -> Vector:
    """Where a foot points: to its toe, whose head is a joint; without one to its tail."""
    return (line[3].head_local if len(line) > 3 else line[2].tail_local) - line[2].head_local


def _has_foot(line: _Line) -> bool:
    """True if a line turns after its shin, as it does at an ankle or a hock."""
    thigh, shin, foot, *_ = line
    down = foot.head_local - shin.head_local
    return (shin.head_local - thigh.head_local).length > 0.0 and down.angle(_foot(line), 0.0) > _FOOT_TURNS


def _pair_of_legs(first: _Line, second: _Line, body: Body) -> Iterable[LimbCandidate]:
    """Two lines as legs. If names show no side, left is where a body has it that looks where its feet point."""
    pair = (first, second)
    down = sum((line[2].head_local - line[0].head_local for line in pair), Vector())
    left = sum((_foot(line) for line in pair), Vector()).cross(down)
    for line, other in (pair, pair[::-1]):
        side = "L" if left.dot(line[0].head_local - other[0].head_local) > 0.0 else "R"
        yield LimbCandidate("LEG", body.name(line[0]).side or side, "", tuple(line[:2]), **foot_and_toes(line[2], body))


_NO_STANCE = radians(4.0)
"""The same angle in a rest pose in which all bones point the same way, as some captures have it."""
_TARSUS = 0.25
"""Of the leg above it: the foot of a bird, with several toes, is longer."""
_TOES = 3
"""How many toes a bird's foot has or more."""
_STANDS = 0.35
"""Of a leg's height: the hand of an arm on which an animal stands is closer to the ground."""
_LYING = radians(45.0)
"""From the horizontal: the largest angle of the trunk of an animal that stands on its arms."""

Head = Callable[[bpy.types.Bone], Vector]


def in_their_stance(
    limbs: Sequence[LimbCandidate], body: Body, posed: Mapping[str, Vector] | None = None
) -> list[LimbCandidate]:
    """Limbs as the body stands on them. posed: heads of all bones in the pose, for a rest pose that is no stance."""
    legs = [limb for limb in limbs if limb.kind == "LEG"]
    arms = [limb for limb in limbs if limb.kind == "ARM"]
    head = _stance(legs, posed)
    if head is None:
        return [*_with_places(legs), *arms]
    # Measured, for not every armature has Z for up.
    down = sum((_ball(leg, head) - head(leg.bones[0]) for leg in legs), Vector()).normalized()
    ground = max(_lowest(leg, down, head) for leg in legs)
    height = ground - min(down.dot(head(leg.bones[0])) for leg in legs)

    def stands(limb: LimbCandidate) -> bool:
        return ground - _lowest(limb, down, head) < _STANDS * height

    small = [] if all(leg.place == "FRONT" for leg in legs) else [leg for leg in legs if leg.place == "FRONT"]
    small = [] if any(stands(leg) for leg in small) else small
    legs = [leg for leg in legs if leg not in small]
    front = arms if arms and all(stands(arm) for arm in arms) and _is_lying(arms, legs, down, head) else []
    legs = [*legs, *(replace(arm, kind="LEG", place="FRONT") for arm in front)]
    has_hands = any(arm.end for arm in arms if arm not in front)
    legs = [_on_its_toes(leg, legs, has_hands, head, body) for leg in legs]
    rest = [*(arm for arm in arms if arm not in front), *(replace(leg, kind="ARM", place="") for leg in small)]
    return [*_with_places(legs), *rest]


def _stance(legs: Sequence[LimbCandidate], posed: Mapping[str, Vector] | None) -> Head | None:
    """Where the bones begin as the body stands, at rest or posed; None if neither shows it or there are no legs."""

    def at_rest(bone: bpy.types.Bone) -> Vector:
        return bone.head_local

    def in_pose(bone: bpy.types.Bone) -> Vector:
        return posed[bone.name]

    for head in (at_rest, in_pose) if posed else (at_rest,):
        bends = [_bend_of_foot(leg, head) for leg in legs if leg.toes]
        if legs and (not bends or max(bends) > _NO_STANCE):
            return head
    return None


def _end(limb: LimbCandidate, head: Head) -> Vector:
    return head(limb.end) if limb.end else limb.joints[-1]


def _ball(limb: LimbCandidate, head: Head) -> Vector:
    """Where a body stands on a limb, be it on its soles or on its toes."""
    return middle_of(limb.toes, head) if limb.toes else _end(limb, head)


def _lowest(limb: LimbCandidate, down: Vector, head: Head) -> float:
    """How far down a limb reaches."""
    return max(down.dot(point) for point in (_end(limb, head), *map(head, (*limb.foot, *limb.toes))))


def _is_lying(arms: Sequence[LimbCandidate], legs: Sequence[LimbCandidate], down: Vector, head: Head) -> bool:
    """True if a body's trunk, from its hips to its shoulders, is that of an animal on four legs."""
    hips, shoulders = (middle_of([limb.bones[0] for limb in limbs], head) for limbs in (legs, arms))
    return abs((shoulders - hips).angle(down, 0.0) - pi / 2.0) < _LYING


def _bend_of_foot(leg: LimbCandidate, head: Head) -> float:
    return bend(head(leg.bones[0]), head(leg.end), _ball(leg, head))


def _on_its_toes(
    leg: LimbCandidate, legs: Sequence[LimbCandidate], has_hands: bool, head: Head, body: Body
) -> LimbCandidate:
    """A leg that stands on its toes, with its metatarsus as a link of the chain; else the leg as it is.

    has_hands: True if the body has hands besides its legs, as birds have not.
    """
    if not leg.toes or not leg.rides:
        return leg
    # Both legs of a pair stand alike, whatever the pose of one.
    pair = [other for other in legs if other.place == leg.place and other.toes]
    turns = max(_bend_of_foot(other, head) for other in pair)
    if turns >= ON_TOES and (has_hands or not _is_birds(leg, head)):
        return leg
    toe = leg.toes[len(leg.toes) // 2]
    fields = foot_and_toes(toe, body) if leg.toe else {"foot": (toe,), "toes": ()}
    bones, segments = (*leg.bones, *leg.foot), (*leg.segments, *leg.foot[1:])
    return replace(leg, bones=bones, segments=segments, rides=leg.toe is not None, **fields)


def _is_birds(leg: LimbCandidate, head: Head) -> bool:
    foot, above = _ball(leg, head) - head(leg.end), head(leg.end) - head(leg.bones[0])
    return len(leg.toes) >= _TOES and foot.length > _TARSUS * above.length


def _with_places(legs: Sequence[LimbCandidate]) -> list[LimbCandidate]:
    """Legs with their places where an animal has several pairs."""
    if len({leg.place == "FRONT" for leg in legs}) < 2:
        return [leg if "MID" in leg.place else replace(leg, place="") for leg in legs]
    return [replace(leg, place=leg.place or "HIND") for leg in legs]


@dataclass(frozen=True, slots=True)
class FoundLimb:
    """A limb of an armature, by the names of its bones.

    kind: LEG or ARM; the front legs of an animal are legs.
    side: L, R, or "" for one in the middle.
    place: FRONT or HIND where there are both, MID_FRONT or MID_HIND between them, else "".
    bones: the chain, root first; two or more.
    end: the foot, hand or paw at whose head the chain ends; "" if it ends at the tail of its last bone.
    toe, heel: the ball or toe bone behind the foot, and the bone at its heel, or "".
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
    """The limbs of an armature, left before right and legs before arms, and what was taken for none."""

    limbs: tuple[FoundLimb, ...]
    left_out: tuple[LeftOut, ...]


def find_limbs(bones: Iterable[bpy.types.Bone], arms: bool = False, posed: Mapping[str, Vector] | None = None) -> Found:
    """The legs, and with `arms` the arms, to which at least one of these bones belongs.

    bones: some or all of one armature's; the others are looked at as well, but found only along with these.
    posed: the heads of all bones in the pose, in armature space; they show how a body stands if its rest pose does not.
    """
    asked = list(bones)
    if not asked:
        return Found((), ())
    body = Body(asked[0].id_data)
    limbs, reasons, expected = limbs_by_name(body)
    if not any(limb.kind == "LEG" for limb in limbs):
        legs, doubts = legs_by_shape(body)
        limbs, reasons = limbs + legs, reasons | doubts
    kinds = {"LEG", "ARM"} if arms else {"LEG"}
    chosen = {bone.name for bone in asked}
    found = [
        _found(limb, body)
        for limb in in_their_stance(limbs, body, posed)
        if limb.kind in kinds and not chosen.isdisjoint(limb.own)
    ]
    return Found(
        tuple(sorted(found, key=_order)),
        tuple(
            LeftOut(bone.name, each[bone.name])
            for each in ((reasons,) if found else (reasons, expected))
            for bone in asked
            if bone.name in each and body.name(bone).kind in kinds | {""}
        ),
    )


def _found(limb: LimbCandidate, body: Body) -> FoundLimb:
    heel = heel_of(limb.end, body) if limb.end else None
    return FoundLimb(
        limb.kind,
        limb.side,
        limb.place,
        tuple(bone.name for bone in limb.bones),
        limb.end.name if limb.end else "",
        limb.toe.name if limb.toe else "",
        heel.name if heel else "",
        tuple(bone.name for bone in limb.segments),
        limb.rides and limb.end is not None,
    )


def _order(limb: FoundLimb) -> tuple:
    return limb.kind == "ARM", limb.place == "FRONT", ("L", "R", "").index(limb.side), limb.bones
