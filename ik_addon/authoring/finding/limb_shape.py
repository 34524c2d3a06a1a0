"""A limb while it is looked for, measured between the heads of bones, for imported tails may be anywhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import pi, radians

import bpy
from mathutils import Vector

from .names import Body, BoneName

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
    bones: tuple[bpy.types.Bone, ...]
    segments: tuple[bpy.types.Bone, ...] = ()
    foot: tuple[bpy.types.Bone, ...] = ()
    toes: tuple[bpy.types.Bone, ...] = ()
    rides: bool = True

    @property
    def end(self) -> bpy.types.Bone | None:
        return self.foot[0] if self.foot else None

    @property
    def toe(self) -> bpy.types.Bone | None:
        # Of several toes none carries the others.
        return self.toes[0] if len(self.toes) == 1 else None

    @property
    def joints(self) -> list[Vector]:
        last = self.end.head_local if self.end else self.bones[-1].tail_local
        return [*(bone.head_local for bone in self.bones), last]

    @property
    def lengths(self) -> list[float]:
        return [(b - a).length for a, b in pairwise(self.joints)]

    @property
    def own(self) -> set[str]:
        return {bone.name for bone in (*self.bones, *self.foot)}


def bend(upper: Vector, joint: Vector, lower: Vector) -> float:
    """The angle by which two links in a row turn from each other; half a turn where one has no length."""
    return (joint - upper).angle(lower - joint, pi)


def is_in_line(bone: bpy.types.Bone, below: bpy.types.Bone, after: Vector, largest: float = IN_LINE) -> bool:
    """True if two bones are one, split. after: where the lower one ends."""
    return bend(bone.head_local, below.head_local, after) < largest


def foot_and_toes(end: bpy.types.Bone, body: Body) -> dict[str, tuple[bpy.types.Bone, ...]]:
    """A foot, in one bone or in several in line, and the toes behind it, as fields of a Limb."""
    foot, toes = (end,), _toes(end, body)
    while len(toes) == 1 and body.name(toes[0]).part == "END":
        after = _toes(toes[0], body)
        if len(after) != 1 or not is_in_line(foot[-1], toes[0], after[0].head_local):
            break
        foot, toes = (*foot, *toes), after
    return {"foot": foot, "toes": toes}


def _toes(end: bpy.types.Bone, body: Body) -> tuple[bpy.types.Bone, ...]:
    if body.name(end).is_meaningless:
        return tuple(bone for bone in body.children(end) if body.name(bone).is_meaningless)
    toes = tuple(bone for bone in body.children(end) if is_part(bone, body, "LEG", "TOE"))
    return toes or tuple(bone for bone in body.children(end) if is_part(bone, body, "LEG", "END"))


def heel_of(end: bpy.types.Bone, body: Body) -> bpy.types.Bone | None:
    """The bone at a foot's heel."""
    return next((bone for bone in body.children(end) if is_part(bone, body, "LEG", "HEEL")), None)


def is_part(bone: bpy.types.Bone, body: Body, kind: str, *parts: str) -> bool:
    """True if a bone is named as one of these parts and is no helper."""
    name = body.name(bone)
    return name.kind == kind and name.part in parts and is_plain(name)


def is_plain(name: BoneName) -> bool:
    """True for a name of a bone of its own, neither a helper nor one that twists along with another."""
    return not name.helper and not name.is_twist


def middle_of(bones: Sequence[bpy.types.Bone], head: Callable[[bpy.types.Bone], Vector]) -> Vector:
    """Between the heads of some bones."""
    return sum((head(bone) for bone in bones), Vector()) / len(bones)
