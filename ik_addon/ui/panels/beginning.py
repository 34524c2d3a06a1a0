"""What the tab shows where there is no chain to show: what to do, in a sentence, and the buttons that do it."""

import bpy

from ... import messages
from ...authoring.adoptable import adoptable
from ...authoring.editing import has_editable_bones
from ...rig.blender.armatures import is_changeable
from ...rig.data.kept import has_controls
from ..operators.chains import ANALYTIC_IK_OT_add, add_label
from ..operators.rigs import ANALYTIC_IK_OT_adopt, ANALYTIC_IK_OT_rig_legs
from .sentences import draw_sentence, fits

_LIMBS = "analytic_ik_limbs"


def draw_elsewhere(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """What to do where no armature is active, or one that is being edited."""
    ob = context.active_object
    editing = ob is not None and ob.type == "ARMATURE" and ob.mode == "EDIT"
    draw_sentence(layout, context, messages.LEAVE_EDIT_MODE() if editing else messages.SELECT_ARMATURE(), "INFO")


def draw_beginnings(
    layout: bpy.types.UILayout, context: bpy.types.Context, ob: bpy.types.Object, bone: bpy.types.PoseBone | None
) -> None:
    """What can be done with an armature if no chain of it is shown. bone: the active one."""
    draw_linked(layout, context, ob)
    if has_controls(ob):
        draw_sentence(layout, context, messages.SELECT_CHAIN(), "INFO")
    row = layout.row()
    # Linked and overridden armatures get Empties.
    row.enabled = has_editable_bones(ob)
    row.prop(context.scene, "analytic_ik_controls", expand=True)
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
    if not is_changeable(ob):
        draw_sentence(layout, context, messages.LINKED_HERE(), "LINKED")
        if ob.override_library is None:
            layout.operator("object.make_override_library", icon="LIBRARY_DATA_OVERRIDE")


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
