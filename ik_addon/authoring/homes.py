"""Where new controls go: Empties to a collection that can be edited, also for a character that is linked and
overridden; bones to a bone collection of their own."""

import re
from collections.abc import Iterable

import bpy

CONTROL_BONES = "IK Controls"
"""The bone collection of control bones."""
_NUMBER = re.compile(r"\.\d{3,}$")


def home_of(ob: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Collection:
    """The collection for an object's new controls: the object's first local one in the scene, else the scene's.

    Ask for it before anything is created. The collections of a character that a pipeline overrides are overridden
    themselves, and Blender links nothing new to those.
    """
    in_scene = {scene.collection, *scene.collection.children_recursive}
    local = (each for each in ob.users_collection if each in in_scene and is_local(each))
    return next(local, scene.collection)


def controls_home(ob: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Collection:
    """The collection of an armature object's controls: that of an earlier limb's, or a new one."""
    home = home_of(ob, scene)
    found = next((each for each in home.children if is_controls_home(each, ob)), None)
    if found is None:
        found = bpy.data.collections.new(_controls_name(ob))
        home.children.link(found)
    return found


def is_controls_home(collection: bpy.types.Collection, ob: bpy.types.Object) -> bool:
    """True if a collection was made for the controls of an armature object."""
    # Blender numbers it if the character brings one of that name.
    return is_local(collection) and _NUMBER.sub("", collection.name) == _controls_name(ob)


def _controls_name(ob: bpy.types.Object) -> str:
    return f"{ob.name} controls"


def is_local(data: bpy.types.ID) -> bool:
    """True if a data-block is this file's own: neither linked nor overridden."""
    return data.library is None and data.override_library is None


def control_bones(armature: bpy.types.Armature) -> set[str]:
    """Names of an armature's control bones: those of the bone collection that do not deform."""
    collection = armature.collections_all.get(CONTROL_BONES)
    bones: Iterable[bpy.types.Bone] = collection.bones if collection else ()
    return {bone.name for bone in bones if not bone.use_deform}
