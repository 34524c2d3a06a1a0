"""Edit Mode of an armature for a moment, without touching what the user has selected, or any other object's mode."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import bpy

from .. import messages
from ..rig.live import handlers as live
from ..solvers import ChainError
from .selection import active_bone, selected_bones


def has_editable_bones(ob: bpy.types.Object) -> bool:
    """True if bones can be added to an armature object: neither it nor its data is linked or overridden."""
    return all(data.library is None and data.override_library is None for data in (ob, ob.data))


def check_editable_bones(ob: bpy.types.Object) -> None:
    """Raise ChainError if no bones can be added to an armature object."""
    if not has_editable_bones(ob):
        linked = ob.library is not None or (ob.data.library is not None and ob.override_library is None)
        message = messages.BONES_LINKED if linked else messages.BONES_OVERRIDDEN
        raise ChainError(message(armature=ob.name))


@contextmanager
def edit_bones(ob: bpy.types.Object) -> Iterator[bpy.types.ArmatureEditBones]:
    """The edit bones of an armature object inside the block; afterwards mode, selection and settings are as before.

    References to `Bone`s are invalid afterwards, those to `PoseBone`s are not. Another object with the same armature
    data gets the same bones.
    """
    mode, mirror, hidden = ob.mode, ob.data.use_mirror_x, ob.hide_viewport
    active, selected = active_bone(ob), {bone.name for bone in selected_bones(ob)}
    active_name = active.name if active else ""
    # In a scene of its own: there nothing else is selected, hidden or in Edit Mode with it.
    shown, scene = bpy.context.scene, bpy.data.scenes.new("Analytic IK")
    try:
        # Blender plays the keys there, and leaves what they say in the bones.
        scene.frame_set(shown.frame_current, subframe=shown.frame_subframe)
        for name in ("frame_map_old", "frame_map_new"):
            setattr(scene.render, name, getattr(shown.render, name))
        scene.collection.objects.link(ob)
        layer = scene.view_layers[0]
        layer.objects.active = ob
        ob.hide_viewport = ob.data.use_mirror_x = False
        here = bpy.context.temp_override(scene=scene, view_layer=layer, active_object=ob, object=ob)
        with live.paused(), here:
            bpy.ops.object.mode_set(mode="EDIT")
            try:
                yield ob.data.edit_bones
            finally:
                bpy.ops.object.mode_set(mode=mode)
    finally:
        bpy.data.scenes.remove(scene)
        ob.hide_viewport, ob.data.use_mirror_x = hidden, mirror
        _select(ob, selected, active_name)


def delete_bones(ob: bpy.types.Object, names: Iterable[str], home: str) -> bool:
    """Delete bones of an armature object, and the bone collection of this name if that is empty then; whether there was
    any bone to delete."""
    going = [name for name in names if name in ob.data.bones]
    if going:
        with edit_bones(ob) as bones:
            for name in going:
                bones.remove(bones[name])
    collection = ob.data.collections_all.get(home)
    if collection is not None and not collection.bones and not collection.children:
        ob.data.collections.remove(collection)
    return bool(going)


def _select(ob: bpy.types.Object, names: set[str], active: str) -> None:
    for bone in ob.pose.bones:
        flags = bone if hasattr(bone, "select") else bone.bone
        if flags.select != (bone.name in names):
            flags.select = bone.name in names
    ob.data.bones.active = ob.data.bones.get(active)
