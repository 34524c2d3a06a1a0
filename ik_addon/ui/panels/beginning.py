"""What the tab shows where there is no chain to show: what to do, in a sentence, and the buttons that do it."""

import bpy

from ... import messages
from ...authoring.adoptable import adoptable
from ...authoring.editing import has_editable_bones
from ...authoring.selection import character_of
from ...rig.blender.armatures import is_changeable
from ...rig.data.kept import has_controls
from ..operators.chains import ANALYTIC_IK_OT_add, add_label
from ..operators.rigs import ANALYTIC_IK_OT_adopt, ANALYTIC_IK_OT_rig_legs
from ..operators.selecting import ANALYTIC_IK_OT_select_armature
from .sentences import draw_sentence, fits

_LIMBS = "analytic_ik_limbs"
_OVERRIDE = "object.make_override_library"
"""Blender's own operator; it takes a linked object, or an Empty that shows a linked collection."""


def draw_elsewhere(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """What to do where no armature is active, or one that is being edited."""
    ob = context.active_object
    character = _linked_character(ob)
    if character is not None:
        draw_sentence(layout, context, messages.INSTANCE_HERE(collection=character.name), "LINKED")
        layout.operator(_OVERRIDE, icon="LIBRARY_DATA_OVERRIDE")
        return
    armature = character_of(context, ob) if ob is not None and ob.mode == "OBJECT" else None
    if armature is not None:
        draw_sentence(layout, context, messages.ARMATURE_HERE(armature=armature.name), "INFO")
        layout.operator(ANALYTIC_IK_OT_select_armature.bl_idname, icon="ARMATURE_DATA")
        return
    editing = ob is not None and ob.type == "ARMATURE" and ob.mode == "EDIT"
    draw_sentence(layout, context, messages.LEAVE_EDIT_MODE() if editing else messages.SELECT_ARMATURE(), "INFO")


def _linked_character(ob: bpy.types.Object | None) -> bpy.types.Collection | None:
    """The linked collection with an armature that an Empty shows; None: it shows none."""
    shown = ob.instance_collection if ob is not None and ob.instance_type == "COLLECTION" else None
    if shown is None or shown.library is None:
        return None
    return shown if any(each.type == "ARMATURE" for each in shown.all_objects) else None


def draw_beginnings(
    layout: bpy.types.UILayout, context: bpy.types.Context, ob: bpy.types.Object, bone: bpy.types.PoseBone | None
) -> None:
    """What can be done with an armature if no chain of it is shown. bone: the active one."""
    draw_linked(layout, context, ob)
    if has_controls(ob):
        draw_sentence(layout, context, messages.SELECT_CHAIN(), "INFO")
    if has_editable_bones(ob):
        layout.row().prop(context.scene, "analytic_ik_controls", expand=True)
    elif is_changeable(ob):
        draw_sentence(layout, context, messages.OVERRIDDEN_HERE(), "LIBRARY_DATA_OVERRIDE")
    column = layout.column(align=True)
    row = column.row(align=True)
    arms = getattr(context.window_manager, _LIMBS) == "LEGS_AND_ARMS"
    row.operator(ANALYTIC_IK_OT_rig_legs.bl_idname, icon="ARMATURE_DATA").arms = arms
    button = row.operator(ANALYTIC_IK_OT_rig_legs.bl_idname, text="", icon="PRESET")
    button.arms, button.ask = arms, True
    row = column.row(align=True)
    # Without its label, which says no more than the choices: they need the room.
    row.use_property_split = False
    row.prop(context.window_manager, _LIMBS, expand=True)
    if bone is not None:
        draw_add(layout, context, "CON_KINEMATIC")
    else:
        draw_sentence(layout, context, messages.SELECT_LAST_BONE(), "INFO")
    own = bone is not None and bool(adoptable([bone]))
    if own or adoptable(ob.pose.bones):
        text = "Convert Blender IK" if own else "Convert All Blender IK"
        layout.operator(ANALYTIC_IK_OT_adopt.bl_idname, text=text, icon="CONSTRAINT_BONE").all = not own


def draw_add(layout: bpy.types.UILayout, context: bpy.types.Context, icon: str) -> None:
    """The button that adds a chain, with the bones of the chain; if their names are long, below it."""
    label = add_label(context)
    if fits(context, label):
        layout.operator(ANALYTIC_IK_OT_add.bl_idname, text=label, icon=icon)
        return
    column = layout.column(align=True)
    column.operator(ANALYTIC_IK_OT_add.bl_idname, icon=icon)
    draw_sentence(column, context, label.removeprefix(f"{ANALYTIC_IK_OT_add.bl_label}: "), "BLANK1")


def draw_linked(layout: bpy.types.UILayout, context: bpy.types.Context, ob: bpy.types.Object) -> None:
    """What to know of an armature that cannot be edited here."""
    if is_changeable(ob):
        return
    if ob.override_library is not None:
        draw_sentence(layout, context, messages.NOT_EDITABLE_HERE(), "LINKED")
        return
    draw_sentence(layout, context, messages.LINKED_HERE(), "LINKED")
    layout.operator(_OVERRIDE, icon="LIBRARY_DATA_OVERRIDE")


def register() -> None:
    """Let the window remember which limbs are rigged."""
    limbs = bpy.props.EnumProperty(
        name="Limbs",
        description="Limbs to look for",
        items=[
            ("LEGS", "Legs", "Rig legs only"),
            ("LEGS_AND_ARMS", "Legs and Arms", "Rig legs, and arms if the names of their bones show them"),
        ],
        options={"SKIP_SAVE"},
    )
    setattr(bpy.types.WindowManager, _LIMBS, limbs)


def unregister() -> None:
    """Take that away."""
    delattr(bpy.types.WindowManager, _LIMBS)
