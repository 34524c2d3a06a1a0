"""Bake and check, how far they are, and what helps a render."""

import bpy

from ... import messages
from ...authoring.selection import tips_of
from ...rig.data.switch import switched_tips
from ...rig.model.order import live_tips
from ..operators.cures import ANALYTIC_IK_OT_lock_interface
from ..operators.ranges import ANALYTIC_IK_OT_bake, ANALYTIC_IK_OT_check
from ..operators.running import running
from .chain import InSidebar
from .sentences import draw_sentence


class ANALYTIC_IK_PT_bake(InSidebar, bpy.types.Panel):
    """What is done with all chains of the armature."""

    bl_idname = "ANALYTIC_IK_PT_bake"
    bl_label = "Bake"
    bl_order = 3

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = context.object
        if ob is None or ob.type != "ARMATURE" or ob.mode == "EDIT":
            return False
        return running() is not None or bool(tips_of(ob))

    def draw(self, context: bpy.types.Context) -> None:
        layout, work = self.layout, running()
        if work is not None:
            layout.progress(factor=work.factor, type="BAR", text=str(work))
            draw_sentence(layout, context, messages.ESC_CANCELS(), "CANCEL")
            return
        row = layout.row(align=True)
        row.operator(ANALYTIC_IK_OT_bake.bl_idname, text="Bake", icon="KEYFRAME_HLT")
        row.operator(ANALYTIC_IK_OT_check.bl_idname, text="Check", icon="VIEWZOOM")
        if not (live_tips(context.object) or switched_tips(context.object)):
            draw_sentence(layout, context, messages.ALL_MUTED(armature=context.object.name), "INFO")
        elif live_tips(context.object) and not context.scene.render.use_lock_interface:
            column = layout.column(align=True)
            column.active = False
            draw_sentence(column, context, messages.INTERFACE_UNLOCKED(), "INFO")
            layout.operator(ANALYTIC_IK_OT_lock_interface.bl_idname, icon="LOCKED")


# The stubs say that it returns nothing.
register, unregister = bpy.utils.register_classes_factory(  # pyright: ignore[reportGeneralTypeIssues]
    (ANALYTIC_IK_PT_bake,)
)
