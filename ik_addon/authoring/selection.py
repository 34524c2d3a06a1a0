"""Which bones of the active armature an operator acts on, in pose mode and in object mode."""

import bpy

from ..rig.model.foot import end_bone
from ..rig.model.order import live_tips


def active_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object where it is an armature that is not being edited."""
    ob = context.active_object
    return ob if ob is not None and ob.type == "ARMATURE" and ob.mode != "EDIT" else None


def active_bone(ob: bpy.types.Object) -> bpy.types.PoseBone | None:
    """The active pose bone of an armature object."""
    bone = ob.data.bones.active
    return ob.pose.bones.get(bone.name) if bone else None


def selected_bones(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The selected pose bones of an armature object."""
    return [bone for bone in ob.pose.bones if (bone.select if hasattr(bone, "select") else bone.bone.select)]


def select_bone(ob: bpy.types.Object, name: str, extend: bool = False) -> None:
    """Make a bone of an armature object the active one and select it. extend: beside those that are selected."""
    for bone in ob.pose.bones:
        flags = bone if hasattr(bone, "select") else bone.bone
        if bone.name == name or not extend:
            flags.select = bone.name == name
    ob.data.bones.active = ob.data.bones[name]


def chosen_controls(context: bpy.types.Context, ob: bpy.types.Object) -> list[bpy.types.Object]:
    """The selected objects that may be meant as controls of an armature object's chain.

    An importer leaves all that it made selected: what the armature deforms, and what it is parented to, is not meant.
    """
    own, carrier = {ob}, ob.parent
    while carrier is not None:
        own.add(carrier)
        carrier = carrier.parent
    return [other for other in context.selected_objects if other not in own and not _is_skin(other, ob)]


def _is_skin(other: bpy.types.Object, ob: bpy.types.Object) -> bool:
    """True if an armature object deforms another one."""
    deforms = any(modifier.type == "ARMATURE" and modifier.object == ob for modifier in other.modifiers)
    return deforms or (other.parent == ob and other.parent_type == "ARMATURE")


def chosen_tips(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The selected bones that are tips of chains; the active bone, if it is one, where none is selected.

    Where none of them is a tip, the tips of those chains to which they belong.
    """
    selected = selected_bones(ob)
    active = active_bone(ob)
    candidates = selected or ([active] if active else [])
    tips = [bone for bone in candidates if is_tip(bone)]
    if tips or not candidates:
        return tips
    live = _tips_by_bone(ob)
    return list(dict.fromkeys(tip for bone in candidates if (tip := _tip_of(bone, live)) is not None))


def is_tip(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone is the tip of a chain, live or switched off."""
    return bone.analytic_ik_enabled or bone.analytic_ik_target is not None


def tips_of(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The tips of an armature's chains, live or switched off."""
    return [bone for bone in ob.pose.bones if is_tip(bone)]


def tip_of_chain(bone: bpy.types.PoseBone) -> bpy.types.PoseBone | None:
    """The tip of the chain to which a bone belongs: the bone itself, else the tip of the live chain of which it is an
    own bone, or on whose end it rides.
    """
    return bone if is_tip(bone) else _tip_of(bone, _tips_by_bone(bone.id_data))


def _tips_by_bone(ob: bpy.types.Object) -> dict[str, bpy.types.PoseBone]:
    """The tips of the live chains of which bones are own bones, by the names of these."""
    found: dict[str, bpy.types.PoseBone] = {}
    for name in live_tips(ob):
        tip = bone = ob.pose.bones[name]
        left = tip.analytic_ik_chain_count - 1
        while left and (bone := bone.parent) is not None:
            found.setdefault(bone.name, tip)
            left -= 1
    return found


def _tip_of(bone: bpy.types.PoseBone, live: dict[str, bpy.types.PoseBone]) -> bpy.types.PoseBone | None:
    """Likewise, of a bone that is no tip."""
    tip = live.get(bone.name)
    if tip is not None:
        return tip
    parent = bone.parent
    return parent if parent is not None and parent.analytic_ik_enabled and end_bone(parent) == bone else None


def live_tip_of(bone: bpy.types.PoseBone) -> bpy.types.PoseBone | None:
    """Likewise, of a live chain alone."""
    tip = tip_of_chain(bone)
    return tip if tip is not None and tip.analytic_ik_enabled else None
