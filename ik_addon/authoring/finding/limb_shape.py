"""The bones of an armature as plain data, and a limb while it is looked for.

Limbs are measured between the heads of bones, for imported tails may be anywhere.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import pi, radians

import bpy
from mathutils import Vector

from ..control_collections import control_bones
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
        """From head to tail."""
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
    if _contradicts(bones):
        for bone in bones:
            bone.said = MEANINGLESS
    return bones


def _contradicts(bones: Sequence[BodyBone]) -> bool:
    """True if names cannot be those of these bones: what is on the left carries what is on the right."""
    parts = [bone for bone in bones if bone.parent and bone.said.kind and bone.parent.said.kind]
    sided = [bone for bone in parts if bone.said.side and bone.parent.said.side]
    crossing = sum(bone.said.side != bone.parent.said.side for bone in sided)
    return crossing > _CROSSING * len(sided)


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

    kind: LEG or ARM.
    side, place: as in the bones' names.
    bones: the chain, root first.
    segments: those of the chain that only continue the bone before.
    foot: foot or hand, in one bone or in several in line; empty if there is none.
    toes: the bones behind the foot.
    rides: True if the foot is parented to the chain and turns with it as a whole.
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
