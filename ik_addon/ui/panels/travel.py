"""Root motion: the buttons."""

import bpy

from ...authoring.selection import chain_armature
from ..classes import registration_of
from ..operators.running import running
from ..operators.travel import (
    ANALYTIC_IK_OT_in_place,
    ANALYTIC_IK_OT_make_loop,
    ANALYTIC_IK_OT_root_motion,
    ANALYTIC_IK_OT_travel,
)
from .places import InSidebar


class ANALYTIC_IK_PT_travel(InSidebar, bpy.types.Panel):
    """Where a clip travels. Characters without chains have clips too."""

    bl_label = "Root Motion"
    bl_order = 3
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = chain_armature(context)
        return ob is not None and ob.animation_data is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.enabled = running() is None
        layout.operator(ANALYTIC_IK_OT_root_motion.bl_idname, icon="CON_FOLLOWPATH")
        row = layout.row(align=True)
        row.operator(ANALYTIC_IK_OT_in_place.bl_idname, icon="PINNED")
        row.operator(ANALYTIC_IK_OT_travel.bl_idname, icon="FORWARD")
        layout.operator(ANALYTIC_IK_OT_make_loop.bl_idname, icon="FILE_REFRESH")


register, unregister = registration_of(__name__)
