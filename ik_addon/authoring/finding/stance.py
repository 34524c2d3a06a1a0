"""The bones of a body as plain data, a limb while it is looked for, and how the body stands on its limbs: which way is
down, where the ground is, and which of them it stands on; and how well shape and place of a limb agree with its names.

Limbs are measured between the heads of bones, for imported tails may be anywhere.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import pi, radians
from operator import attrgetter

import bpy
from mathutils import Vector

from ... import messages
from ..placing import control_bones
from .names import MEANINGLESS, BoneName, read_names

_CROSSING = 0.1
"""Of the parts of limbs: so many may be parented to one of the other side."""


@dataclass(slots=True, eq=False)
class BodyBone:
    """A bone at rest.

    head, tail: in armature space. said: what its name shows.
    """

    name: str
    head: Vector
    tail: Vector
    parent: "BodyBone | None"
    said: BoneName
    children: "list[BodyBone]" = field(default_factory=list)

    @property
    def length(self) -> float:
        return (self.tail - self.head).length

    @property
    def above(self) -> "list[BodyBone]":
        """All bones that carry it, its parent first."""
        found = []
        bone = self.parent
        while bone is not None:
            found.append(bone)
            bone = bone.parent
        return found

    @property
    def below(self) -> "Iterator[BodyBone]":
        """All bones that it carries."""
        waiting = [*self.children]
        while waiting:
            child = waiting.pop()
            yield child
            waiting += child.children


Row = tuple[str, Vector, Vector, str]
"""A bone's name, head, tail, and the name of its parent or ""."""


def body_of(rows: Iterable[Row]) -> list[BodyBone]:
    """The bones of a body. rows: parents before their children."""
    rows = list(rows)
    carriers = {parent for name, _, _, parent in rows if not name.startswith(parent)}
    names = read_names((name for name, *_ in rows), carriers)
    found: dict[str, BodyBone] = {}
    for name, head, tail, parent in rows:
        bone = found[name] = BodyBone(name, head, tail, found.get(parent), names[name])
        if bone.parent is not None:
            bone.parent.children.append(bone)
    bones = [*found.values()]
    parts = [bone for bone in bones if bone.parent and bone.said.kind and bone.parent.said.kind]
    sided = [bone for bone in parts if bone.said.side and bone.parent.said.side]
    # Names cannot be those of these bones where what is on the left carries what is on the right.
    if sum(bone.said.side != bone.parent.said.side for bone in sided) > _CROSSING * len(sided):
        for bone in bones:
            bone.said = MEANINGLESS
    return bones


def bones_of_armature(armature: bpy.types.Armature) -> list[BodyBone]:
    """The bones of an armature but control bones that were made for chains."""
    controls = control_bones(armature)
    return body_of(
        (bone.name, bone.head_local.copy(), bone.tail_local.copy(), bone.parent.name if bone.parent else "")
        for bone in armature.bones
        if bone.name not in controls
    )


Reasons = dict[str, str]

IN_LINE = radians(10.0)
"""Largest angle between two bones that are one part of a limb, split for its twist."""
SPLIT = radians(25.0)
"""The same where their names leave no doubt: "upperleg01" and "upperleg02"."""
ON_TOES = radians(40.0)
"""Between hip to ankle and ankle to ball: 7 to 33 degrees in animals on their toes, 45 to 79 in people."""


@dataclass(frozen=True, slots=True)
class LimbCandidate:
    """A limb of an armature.

    kind: LEG or ARM. side, place: as in the bones' names. bones: the chain, root first. segments: those of the chain
    that only continue the bone before. foot: foot or hand, in one bone or in several in line; empty if there is none.
    toes: the bones behind the foot. rides: True if the foot is parented to the chain and turns with it as a whole.
    """

    kind: str
    side: str
    place: str
    bones: tuple[BodyBone, ...]
    segments: tuple[BodyBone, ...] = ()
    foot: tuple[BodyBone, ...] = ()
    toes: tuple[BodyBone, ...] = ()
    rides: bool = True

    @property
    def end(self) -> BodyBone | None:
        return self.foot[0] if self.foot else None

    @property
    def toe(self) -> BodyBone | None:
        # Of several toes none carries the others.
        return self.toes[0] if len(self.toes) == 1 else None

    @property
    def joints(self) -> list[Vector]:
        last = self.end.head if self.end else self.bones[-1].tail
        return [*(bone.head for bone in self.bones), last]

    @property
    def lengths(self) -> list[float]:
        return [(b - a).length for a, b in pairwise(self.joints)]

    @property
    def links(self) -> list[tuple[BodyBone, float]]:
        """Each link's first bone and its length; without the last if that ends at a tail, which may be anywhere."""
        joints = self.joints if self.end else self.joints[:-1]
        starts = [k for k, bone in enumerate(self.bones) if bone not in self.segments]
        ends = [joints[k] for k in starts[1:]] + joints[len(self.bones) :]
        return [(self.bones[k], (end - joints[k]).length) for k, end in zip(starts, ends, strict=False)]

    @property
    def own(self) -> set[str]:
        return {bone.name for bone in (*self.bones, *self.foot)}


def bend(upper: Vector, joint: Vector, lower: Vector) -> float:
    """The angle by which two links in a row turn from each other; half a turn where one has no length."""
    return (joint - upper).angle(lower - joint, pi)


def is_in_line(bone: BodyBone, below: BodyBone, after: Vector, largest: float = IN_LINE) -> bool:
    """True if two bones are one, split. after: where the lower one ends."""
    return bend(bone.head, below.head, after) < largest


def foot_and_toes(end: BodyBone) -> dict[str, tuple[BodyBone, ...]]:
    """A foot, in one bone or in several in line, and the toes behind it, as fields of a Limb."""
    foot, toes = (end,), _toes(end)
    while len(toes) == 1 and toes[0].said.part == "END":
        after = _toes(toes[0])
        if len(after) != 1 or not is_in_line(foot[-1], toes[0], after[0].head):
            break
        foot, toes = (*foot, *toes), after
    return {"foot": foot, "toes": toes}


def _toes(end: BodyBone) -> tuple[BodyBone, ...]:
    if end.said.is_meaningless:
        return tuple(bone for bone in end.children if bone.said.is_meaningless)
    toes = tuple(bone for bone in end.children if is_part(bone, "LEG", "TOE"))
    return toes or tuple(bone for bone in end.children if is_part(bone, "LEG", "END"))


def heel_of(end: BodyBone) -> BodyBone | None:
    """The bone at a foot's heel."""
    return next((bone for bone in end.children if is_part(bone, "LEG", "HEEL")), None)


def is_part(bone: BodyBone, kind: str, *parts: str) -> bool:
    """True if a bone is named as one of these parts and is no helper."""
    name = bone.said
    return name.kind == kind and name.part in parts and is_plain(name)


def is_plain(name: BoneName) -> bool:
    """True for a name of a bone of its own, neither a helper nor one that twists along with another."""
    return not name.helper and not name.is_twist


def falling(value: float, good: float, bad: float) -> float:
    """1 up to what is good, 0 from what is bad, straight between them: how well a figure agrees that is best small."""
    return min(max((bad - value) / (bad - good), 0.0), 1.0)


def rising(value: float, bad: float, good: float) -> float:
    """The same for a figure that is best large."""
    return falling(-value, -good, -bad)


def middle_of(bones: Sequence[BodyBone], head: Callable[[BodyBone], Vector]) -> Vector:
    """Between the heads of some bones."""
    return sum((head(bone) for bone in bones), Vector()) / len(bones)


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

_LEADS_DOWN = 0.5
"""Of the way from a hip to its foot: how far down it leads at least, but where hips are about as low as feet."""

Head = Callable[[BodyBone], Vector]


@dataclass(frozen=True, slots=True)
class BodyStance:
    """How a body stands.

    head: where a bone begins as it stands, in armature space. down: a direction. ground: how far down that is. height:
    of the highest hip above it. is_flat: True if hips are about as low as feet, as those of some insects, and so
    neither down nor ground is sure.
    """

    head: Head
    down: Vector
    ground: float
    height: float
    is_flat: bool

    def above_ground(self, point: Vector) -> float:
        return self.ground - self.down.dot(point)


def stance_of(legs: Sequence[LimbCandidate], posed: Mapping[str, Vector] | None = None) -> BodyStance | None:
    """How a body stands on its legs; None if neither its rest pose nor its pose shows it, or if it has none.

    posed: heads of all bones in the pose, for a rest pose that is no stance. Measured, for not every armature has Z
    for up.
    """
    head = _stance(legs, posed)
    if head is None:
        return None
    ways = [_ball(leg, head) - head(leg.bones[0]) for leg in legs]
    down = sum(ways, Vector()).normalized()
    is_flat = sum(down.dot(way) < _LEADS_DOWN * way.length for way in ways) * 2 >= len(ways)
    # What is behind a foot is lower, wherever the chain ends.
    behind = [bone for leg in legs for bone in (leg.end.below if leg.end else ())]
    feet = [bone for bone in behind if bone.said.kind == "LEG" or bone.said.is_meaningless]
    ground = max(down.dot(head(bone)) for bone in (*(leg.end or leg.bones[-1] for leg in legs), *feet))
    ground = max(ground, *(down.dot(_end(leg, head)) for leg in legs))
    height = ground - min(down.dot(head(leg.bones[0])) for leg in legs)
    return BodyStance(head, down, ground, height, is_flat)


def in_their_stance(limbs: Sequence[LimbCandidate], stance: BodyStance | None) -> list[LimbCandidate]:
    """Limbs as the body stands on them: arms on which it stands are legs, and what hangs in front of it arms."""
    legs = [limb for limb in limbs if limb.kind == "LEG"]
    arms = [limb for limb in limbs if limb.kind == "ARM"]
    if stance is None:
        return [*_with_places(legs), *arms]
    head, down = stance.head, stance.down

    def stands(limb: LimbCandidate) -> bool:
        lowest = max(down.dot(point) for point in (_end(limb, head), *map(head, (*limb.foot, *limb.toes))))
        return stance.is_flat or stance.ground - lowest < _STANDS * stance.height

    small = [] if all(leg.place == "FRONT" for leg in legs) else [leg for leg in legs if leg.place == "FRONT"]
    small = [] if any(stands(leg) for leg in small) else small
    legs = [leg for leg in legs if leg not in small]
    is_beast = arms and not stance.is_flat and all(stands(arm) for arm in arms) and _is_lying(arms, legs, down, head)
    front = arms if is_beast else []
    legs = [*legs, *(replace(arm, kind="LEG", place="FRONT") for arm in front)]
    has_hands = any(arm.end for arm in arms if arm not in front)
    legs = [_on_its_toes(leg, legs, has_hands, head) for leg in legs]
    rest = [*(arm for arm in arms if arm not in front), *(replace(leg, kind="ARM", place="") for leg in small)]
    return [*_with_places(legs), *rest]


def _stance(legs: Sequence[LimbCandidate], posed: Mapping[str, Vector] | None) -> Head | None:
    """Where the bones begin as the body stands, at rest or posed; None if neither shows it or there are no legs."""
    heads: list[Head] = [attrgetter("head"), *([lambda bone: posed[bone.name]] if posed else [])]
    for head in heads:
        bends = [_bend_of_foot(leg, head) for leg in legs if leg.toes]
        if legs and (not bends or max(bends) > _NO_STANCE):
            return head
    return None


def _end(limb: LimbCandidate, head: Head) -> Vector:
    return head(limb.end) if limb.end else limb.joints[-1]


def _ball(limb: LimbCandidate, head: Head) -> Vector:
    """Where a body stands on a limb, be it on its soles or on its toes."""
    return middle_of(limb.toes, head) if limb.toes else _end(limb, head)


def _is_lying(arms: Sequence[LimbCandidate], legs: Sequence[LimbCandidate], down: Vector, head: Head) -> bool:
    """True if a body's trunk, from its hips to its shoulders, is that of an animal on four legs."""
    hips, shoulders = (middle_of([limb.bones[0] for limb in limbs], head) for limbs in (legs, arms))
    return abs((shoulders - hips).angle(down, 0.0) - pi / 2.0) < _LYING


def _bend_of_foot(leg: LimbCandidate, head: Head) -> float:
    return bend(head(leg.bones[0]), head(leg.end), _ball(leg, head))


def _on_its_toes(leg: LimbCandidate, legs: Sequence[LimbCandidate], has_hands: bool, head: Head) -> LimbCandidate:
    """A leg that stands on its toes, with its metatarsus as a link of the chain; else the leg as it is.

    has_hands: True if the body has hands besides its legs, as birds have not.
    """
    if not leg.toes or not leg.rides:
        return leg
    # Both legs of a pair stand alike, whatever the pose of one.
    pair = [other for other in legs if other.place == leg.place and other.toes]
    turns = max(_bend_of_foot(other, head) for other in pair)
    foot, above = _ball(leg, head) - head(leg.end), head(leg.end) - head(leg.bones[0])
    is_birds = len(leg.toes) >= _TOES and foot.length > _TARSUS * above.length
    if turns >= ON_TOES and (has_hands or not is_birds):
        return leg
    toe = leg.toes[len(leg.toes) // 2]
    fields = foot_and_toes(toe) if leg.toe else {"foot": (toe,), "toes": ()}
    bones, segments = (*leg.bones, *leg.foot), (*leg.segments, *leg.foot[1:])
    return replace(leg, bones=bones, segments=segments, rides=leg.toe is not None, **fields)


def _with_places(legs: Sequence[LimbCandidate]) -> list[LimbCandidate]:
    """Legs with their places where an animal has several pairs."""
    if len({leg.place == "FRONT" for leg in legs}) < 2:
        return [leg if "MID" in leg.place else replace(leg, place="") for leg in legs]
    return [replace(leg, place=leg.place or "HIND") for leg in legs]


SURE = 0.5
"""The least agreement, of 1, with which a limb is rigged unasked."""
_TOGETHER = 0.3
"""Of the distance between the next bones of both sides: bones from the middle of a body to its hips begin closer."""
_REST = 0.55
"""Of a leg: what is behind its ankle is shorter."""
_ASIDE = {"LEG": 0.8, "ARM": 1.0}
"""Of the next bone: a bone from the middle of the body to a hip or a shoulder is shorter."""

Judgment = tuple[float, str]
"""How well something agrees, from 0 to 1, and what is wrong where that is little."""


def agreement(limb: LimbCandidate, limbs: Sequence[LimbCandidate], stance: BodyStance | None) -> Judgment:
    """How well a limb agrees with what limbs are like, and what agrees least. limbs: all of the body."""
    judged = [*_of_links(limb), *_of_twins(limb, limbs)]
    if limb.kind == "LEG":
        judged += _of_foot(limb, stance)
        # Without a foot the chain ends at a tail, which may be anywhere.
        if limb.end is not None and stance is not None and not stance.is_flat:
            judged += _of_place(limb, stance)
    return min(judged, key=lambda one: one[0])


def _of_links(limb: LimbCandidate) -> Iterable[Judgment]:
    links = limb.links
    short, length = min(links, key=lambda link: link[1])
    longest = max(way for _, way in links) or 1.0
    yield rising(length / longest, 0.04, 0.16), messages.SHORT_LINK(bone=short.name)


def _of_twins(limb: LimbCandidate, limbs: Sequence[LimbCandidate]) -> Iterable[Judgment]:
    alike = [other for other in limbs if (other.kind, other.place) == (limb.kind, limb.place)]
    twins = [other for other in alike if {other.side, limb.side} == {"L", "R"}]
    for twin in twins:
        if len(twin.bones) == len(limb.bones):
            yield 0.0 if _share_hip(limb, twin) else 1.0, messages.SHARED_HIP(bone=limb.bones[0].name)
    if len(twins) != 1 or len(alike) > 2:
        # Which is whose only the pairs of insects leave open.
        return
    (twin,) = twins
    own, its = ([length for _, length in each.links] for each in (limb, twin))
    if limb.end is None or twin.end is None:
        own, its = zip(*zip(own, its, strict=False), strict=True)
    if len(own) != len(its):
        yield 0.0, messages.UNLIKE_TWIN(bone=twin.bones[-1].name)
    else:
        shorter, longer = sorted((sum(own), sum(its)))
        yield rising(shorter / (longer or 1.0), 0.4, 0.8), messages.UNLIKE_TWIN(bone=twin.bones[-1].name)


def _share_hip(limb: LimbCandidate, other: LimbCandidate) -> bool:
    """True if the first bones of two limbs lead from the middle of the body to their hips."""
    (first, length), (second, next_length), *_ = [*limb.links, (limb.bones[-1], limb.bones[-1].length)]
    (its_first, _), (its_second, _), *_ = [*other.links, (other.bones[-1], 0.0)]
    roots, next_ones = (first.head - its_first.head).length, (second.head - its_second.head).length
    return roots < _TOGETHER * next_ones and length < _ASIDE[limb.kind] * next_length


def _of_foot(limb: LimbCandidate, stance: BodyStance | None) -> Iterable[Judgment]:
    """Whether a bone that is called a leg is the foot: it turns off, and is short if a toe goes on from it."""
    last = limb.bones[-1]
    if not last.said.part == limb.bones[-2].said.part == "LIMB":
        return
    reason = messages.TIP_IS_FOOT(bone=last.name)
    if limb.end is None:
        yield falling(bend(limb.bones[-2].head, last.head, last.tail), radians(50.0), radians(90.0)), reason
    elif len(limb.bones) > 2 and not (stance and stance.is_flat):
        above, rest = last.head - limb.bones[0].head, limb.lengths[-1]
        if rest < _REST * above.length:
            yield falling(bend(limb.bones[0].head, last.head, limb.joints[-1]), radians(30.0), radians(50.0)), reason


def _of_place(limb: LimbCandidate, stance: BodyStance) -> Iterable[Judgment]:
    length = sum(limb.lengths) or 1.0
    end = _end(limb, stance.head)
    name = limb.end.name
    yield falling(stance.above_ground(end) / length, 0.6, 1.0), messages.ABOVE_GROUND(bone=name)
    drop = stance.above_ground(stance.head(limb.bones[0])) - stance.above_ground(end)
    yield rising(drop / length, 0.0, 0.3), messages.NOT_BELOW_HIP(bone=name)


# What else names may mean


def best_reading(limb: LimbCandidate, limbs: Sequence[LimbCandidate], stance: BodyStance | None) -> LimbCandidate:
    """A limb as it is named if that agrees, else up to its ankle or from its hip on if that does.

    A bone from the body to a hip may be called a hip or a leg. Without it either a whole limb is left, or its bones are
    named after the joints at their tails: then the shin is the bone that is called an ankle.
    """
    if agreement(limb, limbs, stance)[0] >= SURE:
        return limb
    readings = filter(None, (_to_ankle(limb), _from_hip(limb), _shifted(limb)))
    return next((each for each in readings if agreement(each, [each], stance)[0] >= SURE), limb)


def _to_ankle(limb: LimbCandidate) -> LimbCandidate | None:
    if len(limb.bones) < 3 or limb.end is None or not limb.rides or limb.bones[-1].said.is_twist:
        return None
    *bones, foot = limb.bones
    segments = tuple(bone for bone in limb.segments if bone is not foot)
    if len(bones) - len(segments) < 2:
        # Of bones that are only numbered a straight knee looked like a thigh in two.
        segments = tuple(bone for bone in segments if bone.said.part != "LIMB")
    return replace(limb, bones=tuple(bones), segments=segments, foot=(foot, *limb.foot[1:]), toes=limb.foot[:1])


def _from_hip(limb: LimbCandidate) -> LimbCandidate | None:
    if len(limb.links) < 3:
        return None
    rest = limb.bones[1:]
    return replace(limb, bones=rest, segments=tuple(bone for bone in limb.segments if bone != rest[0]))


def _shifted(limb: LimbCandidate) -> LimbCandidate | None:
    is_vague = limb.bones[0].said.part in {"JOINT", "LIMB"}
    if len(limb.links) != 2 or not is_vague or limb.end is None or limb.end.parent != limb.bones[-1]:
        return None
    parts = ("END", "TOE", "HEEL", "LIMB")
    toes = limb.toes or [child for child in limb.end.children if is_part(child, limb.end.said.kind, *parts)]
    fields = foot_and_toes(toes[0]) if toes else {"foot": (), "toes": ()}
    return replace(limb, bones=(*limb.bones[1:], limb.end), rides=len(toes) == 1, **fields)
