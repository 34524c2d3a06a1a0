"""Where new controls go: in the scene, so that the limb keeps its pose, and in which collection."""

import re
from collections.abc import Iterable, Sequence

import bpy
from mathutils import Vector

from ..solvers import Chain
from ..solvers.bending import is_straight, start_frame

BEYOND = 4e-6
"""How far beyond a straight limb its new target lies, in chain lengths: nearer, rounding would bend it."""


def pole_place(joints_armature: Sequence[Vector], chain: Chain) -> Vector:
    """Where a pole target leaves a limb in the pose that it has: before its knee, in armature space.

    joints_armature: of the limb in that pose, root first; chain: the limb's chain in it.
    """
    root, frame = joints_armature[0], start_frame(chain)
    knee = joints_armature[1] if len(joints_armature) > 2 else root
    # The knees of a longer chain lie beside the plane in which it bends as a whole.
    return knee - frame.normal * (knee - root).dot(frame.normal) + frame.side * chain.length


def target_place(joints_armature: Sequence[Vector], chain: Chain) -> Vector:
    """Where a target leaves a limb in the pose that it has, in armature space.

    joints_armature: of the limb in that pose, root first; chain: the limb's chain in it.
    """
    # A folded limb, or an S, has no bulge either; but it is not stretched out.
    extended = (joints_armature[-1] - joints_armature[0]).length > chain.length * (1.0 - BEYOND)
    if is_straight(chain) and extended and len(joints_armature) > 2:
        return joints_armature[0] + start_frame(chain).along * (chain.length * (1.0 + BEYOND))
    return joints_armature[-1]


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
