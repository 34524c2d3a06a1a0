"""Which bones of the active armature an operator acts on, in pose mode and in object mode."""

import bpy


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


def chosen_tips(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The selected bones that are tips of chains; the active bone, if it is one, where none is selected."""
    selected = selected_bones(ob)
    active = active_bone(ob)
    candidates = selected or ([active] if active else [])
    return [bone for bone in candidates if is_tip(bone)]


def is_tip(bone: bpy.types.PoseBone) -> bool:
    """Whether a bone is the tip of a chain, live or switched off."""
    return bone.analytic_ik_enabled or bone.analytic_ik_target is not None


def live_tip_of(bone: bpy.types.PoseBone) -> bpy.types.PoseBone | None:
    """The tip of the live chain that a bone is part of, or on whose end it hangs; None: of none."""
    above, below = [bone, *bone.parent_recursive], [bone, *bone.children_recursive]
    for tip in below:
        if tip.analytic_ik_enabled:
            count = tip.analytic_ik_chain_count
            if not count or bone in [tip, *tip.parent_recursive][:count]:
                return tip
    parent = above[1] if len(above) > 1 else None
    return parent if parent is not None and parent.analytic_ik_enabled else None
