"""The armature objects of a scene, found without visiting every object each time."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import compress

import bpy

# Looked up in `bpy.types` at each frame it takes longer than all that is asked of it.
from bpy.types import Object

from .file_memory import file_memory

_SPARSE = 32
"""Where of so many bones no more than one is asked for, each is found by its number."""


def armature_objects() -> list[bpy.types.Object]:
    """All armature objects of the file. They are looked for anew when objects come or go."""
    objects = bpy.data.objects
    counts = (len(objects), len(bpy.data.armatures))
    known_counts, found, _ = file_memory.armatures.get("now", (None, [], ()))
    if known_counts == counts and _are_armatures(found):
        return list(found)
    found = [ob for ob in objects if ob.type == "ARMATURE"]
    file_memory.armatures["now"] = (counts, found, {ob.session_uid for ob in found})
    return list(found)


def are_known(obs: Collection[bpy.types.Object]) -> bool:
    """Whether armature objects are among those that were found, or are now."""
    _, _, uids = file_memory.armatures.get("now", (None, [], ()))
    return all(ob.session_uid in uids for ob in obs) or set(obs) <= set(armature_objects())


def armature_named(name_full: str) -> bpy.types.Object:
    """The armature object of this name, which for a linked one names its library too. Raises KeyError."""
    found = file_memory.named.get(name_full)
    if found is None or not _are_armatures([found]) or found.name_full != name_full:
        file_memory.named.clear()
        file_memory.named.update({ob.name_full: ob for ob in bpy.data.objects if ob.type == "ARMATURE"})
        found = file_memory.named[name_full]
    return found


def _are_armatures(objects: Sequence[bpy.types.Object]) -> bool:
    try:
        return all(ob.type == "ARMATURE" for ob in objects)
    except ReferenceError:
        return False


def bones_at(ob: bpy.types.Object, rows: Sequence[int]) -> Iterator[bpy.types.PoseBone]:
    """The pose bones of these numbers, which ascend. To find one by its number Blender counts from the first."""
    bones = ob.pose.bones
    if _SPARSE * len(rows) < len(bones):
        return (bones[row] for row in rows)
    chosen = bytearray(len(bones))
    for row in rows:
        chosen[row] = 1
    return compress(bones, chosen)


def bones_below(pose_bone: bpy.types.PoseBone) -> Iterator[bpy.types.PoseBone]:
    """The bones below one, each after those above it. Blender's own list goes up from each bone of the armature to its
    root: minutes for a chain of 10 000."""
    bones, waiting = pose_bone.id_data.pose.bones, list(pose_bone.bone.children)
    while waiting:
        below = waiting.pop()
        waiting += below.children
        if below.name in bones:
            # In edit mode bones have names that the pose does not know yet.
            yield bones[below.name]


def tag_pose(ob: bpy.types.Object) -> None:
    """Have an armature object evaluated, and its chains solved. Without a kind a tag goes through all of its bones,
    for each setting of each chain."""
    ob.update_tag(refresh={"OBJECT"})


def posed_armatures(
    depsgraph: bpy.types.Depsgraph, among: Iterable[bpy.types.Object] | None = None
) -> list[bpy.types.Object]:
    """The armature objects that `depsgraph` evaluates in a pose: not being edited, not in rest position. among: look
    only at these; None: at all."""
    return [
        ob
        for ob in (armature_objects() if among is None else among)
        if ob.mode != "EDIT" and ob.data.pose_position == "POSE" and is_evaluated_in(ob, depsgraph)
    ]


def is_evaluated_in(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether an object is part of the evaluated scene; one that is not is its own evaluated copy."""
    evaluated = ob.evaluated_get(depsgraph)
    # Before its first evaluation a depsgraph has nothing but a placeholder, which is no object.
    if not (evaluated.is_evaluated and isinstance(evaluated, Object) and evaluated.pose is not None):
        return False
    # Until Edit Mode is left, the copy has bones as they were called before, and Blender does not animate them.
    return not ob.data.is_editmode or ob.pose.bones.keys() == evaluated.pose.bones.keys()


def is_changeable(ob: bpy.types.Object) -> bool:
    """Whether what a user changes of an object stays: it is neither linked, nor overridden by Blender alone, as Blender
    overrides what it finds below an object that a user overrides."""
    override = ob.override_library
    return ob.is_editable and not (override and override.is_system_override)


def has_editable_bones(ob: bpy.types.Object) -> bool:
    """True if bones can be added to an armature object: neither it nor its data is linked or overridden."""
    return all(data.library is None and data.override_library is None for data in (ob, ob.data))
