"""The bones of an armature as plain data, with what their names show."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

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
