"""What carries what: the bones that move an object or a bone, through parents of objects and of bones."""

from collections.abc import Iterator

import bpy


def carriers(ob: bpy.types.Object, bone_name: str = "") -> Iterator[tuple[bpy.types.Object, bpy.types.PoseBone]]:
    """The bones that move an object, or a bone of it, nearest first, each with its armature object (original).

    A bone carries itself and what hangs below it; an object parented to a bone hangs on that bone, and an armature
    object's bones move with whatever moves the object. Constraints are not followed.
    """
    original, visited = ob.original, set()
    while original is not None and original not in visited:
        visited.add(original)
        bone = original.pose.bones.get(bone_name) if bone_name and original.pose else None
        while bone is not None:
            yield original, bone
            bone = bone.parent
        bone_name = original.parent_bone if original.parent_type == "BONE" else ""
        original = original.parent
