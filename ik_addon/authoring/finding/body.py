"""The bones of an armature, with what their names show and which bones are below which."""

from collections.abc import Iterator

import bpy

from ..homes import control_bones
from .bone_names import BoneName, read_names


class Body:
    """The bones of an armature as a tree. It does not outlive a call: bones are invalid after an undo.

    bones: all of the armature but control bones that were made for chains, parents before their children.
    """

    __slots__ = ("_children", "_names", "bones")

    def __init__(self, armature: bpy.types.Armature) -> None:
        controls = control_bones(armature)
        self.bones = tuple(bone for bone in armature.bones if bone.name not in controls)
        self._names = read_names(bone.name for bone in self.bones)
        # Blender looks through all bones for the children of each.
        self._children: dict[str, list[bpy.types.Bone]] = {}
        for bone in self.bones:
            if bone.parent:
                self._children.setdefault(bone.parent.name, []).append(bone)

    def name(self, bone: bpy.types.Bone) -> BoneName:
        """What the name of a bone shows."""
        return self._names[bone.name]

    def children(self, bone: bpy.types.Bone) -> list[bpy.types.Bone]:
        """The bones that are parented to a bone."""
        return self._children.get(bone.name, [])

    def below(self, bone: bpy.types.Bone) -> Iterator[bpy.types.Bone]:
        """All bones below a bone."""
        waiting = [*self.children(bone)]
        while waiting:
            child = waiting.pop()
            yield child
            waiting += self.children(child)
