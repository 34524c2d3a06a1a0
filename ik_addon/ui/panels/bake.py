"""Bake and check, and how far they are."""

import bpy

from ... import messages
from ...authoring.for_export import strips_not_followed
from ...authoring.selection import all_tips, chain_armature
from ...rig.data.aside import has_aside
from ...rig.data.kept import has_controls
from ...rig.data.settings import native_tips
from ..classes import registration_of
from ..operators.exporting import ANALYTIC_IK_OT_back_to_live, ANALYTIC_IK_OT_bake_for_export
from ..operators.native import ANALYTIC_IK_OT_make_live, ANALYTIC_IK_OT_make_native
from ..operators.ranges import ANALYTIC_IK_OT_bake, ANALYTIC_IK_OT_check
from ..operators.running import running
from .muted import draw_muted
from .places import InSidebar
from .sentences import draw_sentence
from .status import NATIVE_ICON


class ANALYTIC_IK_PT_bake(InSidebar, bpy.types.Panel):
    """What is done with all chains of the armature."""

    bl_label = "Bake"
    bl_order = 4

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = chain_armature(context)
        return ob is not None and (running() is not None or has_controls(ob))

    def draw(self, context: bpy.types.Context) -> None:
        layout, work, ob = self.layout, running(), chain_armature(context)
        if work is not None:
            layout.progress(factor=work.factor, type="BAR", text=str(work))
            draw_sentence(layout, context, messages.ESC_CANCELS(), "CANCEL")
            return
        row = layout.row(align=True)
        row.operator(ANALYTIC_IK_OT_bake.bl_idname, text="Bake", icon="KEYFRAME_HLT")
        row.operator(ANALYTIC_IK_OT_check.bl_idname, text="Check", icon="VIEWZOOM")
        if has_aside(ob):
            draw_sentence(layout, context, messages.IN_EXPORT_STATE(), "INFO")
            layout.operator(ANALYTIC_IK_OT_back_to_live.bl_idname, icon="LOOP_BACK")
            return
        if strips := strips_not_followed(ob):
            words = messages.STRIPS_NOT_FOLLOWED(armature=ob.name, strips=messages.few(strips))
            draw_sentence(layout, context, words, "ERROR")
        layout.operator(ANALYTIC_IK_OT_bake_for_export.bl_idname, icon="EXPORT")
        native = native_tips(ob)
        row = layout.row(align=True)
        if any(tip not in native for tip in all_tips(ob)):
            row.operator(ANALYTIC_IK_OT_make_native.bl_idname, icon=NATIVE_ICON)
        if native:
            row.operator(ANALYTIC_IK_OT_make_live.bl_idname, icon="LOOP_BACK")
        else:
            draw_sentence(layout, context, messages.BAKE_OR_NATIVE(), "INFO")
        draw_muted(layout, context, ob)


register, unregister = registration_of(__name__)
