"""Small panels in the Properties editor, where users look for what they know: Bone Constraints and Render."""

import bpy

from ... import messages
from ...authoring.selection import focus
from ...rig.blender.armatures import armature_objects
from ...rig.model.order import live_tips
from ...rig.status.states import states_of
from ..classes import registration_of
from ..operators.cures import ANALYTIC_IK_OT_lock_interface
from ..operators.selecting import ANALYTIC_IK_OT_open_sidebar
from .places import PartOfChainPanel
from .sentences import draw_sentence
from .status import draw_name, draw_status


class ANALYTIC_IK_PT_bone_constraints(PartOfChainPanel, bpy.types.Panel):
    """The status of the active bone's chain, among the bone's constraints."""

    bl_label = "Analytic IK"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone_constraint"

    def draw(self, context: bpy.types.Context) -> None:
        layout, tip = self.layout, focus(context).tip
        ob = tip.id_data
        state = states_of(ob, [tip.name], context.view_layer.depsgraph)[tip.name]
        draw_name(layout.row(align=True), tip)
        draw_status(layout, context, tip, state)
        layout.operator(ANALYTIC_IK_OT_open_sidebar.bl_idname, icon="MENU_PANEL")


class ANALYTIC_IK_PT_render(bpy.types.Panel):
    """What a render of live chains needs; gone where it has it."""

    bl_label = "Analytic IK"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "render"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.scene.render.use_lock_interface:
            return False
        return any(ob.pose and live_tips(ob) for ob in armature_objects() if context.scene in ob.users_scene)

    def draw(self, context: bpy.types.Context) -> None:
        draw_sentence(self.layout, context, messages.INTERFACE_UNLOCKED(), "INFO")
        self.layout.operator(ANALYTIC_IK_OT_lock_interface.bl_idname, icon="LOCKED")


register, unregister = registration_of(__name__)
