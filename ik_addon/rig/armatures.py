"""The armature objects of a scene, found without visiting every object each time."""

from collections.abc import Sequence

import bpy

_FEW = 6
_known: dict[str, tuple] = {}
"""Under "now": counts of the file's objects and armatures, and the names of its armature objects then."""


def armature_objects() -> list[bpy.types.Object]:
    """All armature objects of the file. They are looked for anew when objects come, go or change names."""
    objects = bpy.data.objects
    counts = (len(objects), len(bpy.data.armatures))
    known_counts, keys = _known.get("now", (None, ()))
    if known_counts == counts:
        found = [objects.get(key) for key in keys]
        if all(ob is not None and ob.type == "ARMATURE" for ob in found):
            return found  # pyright: ignore[reportReturnType]
    found = [ob for ob in objects if ob.type == "ARMATURE"]
    keys = tuple((ob.name, ob.library.filepath if ob.library else None) for ob in found)
    _known["now"] = (counts, keys)
    return found


def armature_named(name_full: str) -> bpy.types.Object:
    """The armature object of this name, which for a linked one names its library too. Raises KeyError."""
    ob = bpy.data.objects.get(name_full)
    if ob is not None and ob.name_full == name_full:
        return ob
    found = {other.name_full: other for other in armature_objects()}
    return found[name_full]


def indices_of(bones: bpy.types.bpy_prop_collection, names: Sequence[str]) -> list[int]:
    """The places of bones among an armature's, by their names; -1 where one is gone.

    Blender's own `find` goes through all of them for each name: for many it is quicker to go through them once.
    """
    if len(names) <= _FEW:
        return [bones.find(name) for name in names]
    places = {bone.name: k for k, bone in enumerate(bones)}
    return [places.get(name, -1) for name in names]


def posed_armatures(depsgraph: bpy.types.Depsgraph) -> list[bpy.types.Object]:
    """The armature objects that `depsgraph` evaluates in a pose: not being edited, not in rest position."""
    return [
        ob
        for ob in armature_objects()
        if ob.mode != "EDIT" and ob.data.pose_position == "POSE" and is_evaluated_in(ob, depsgraph)
    ]


def is_evaluated_in(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether an object is part of the evaluated scene; one that is not is its own evaluated copy."""
    evaluated = ob.evaluated_get(depsgraph)
    return evaluated.is_evaluated and evaluated.pose is not None


def forget() -> None:
    """Look for the armature objects anew at the next question."""
    _known.clear()
