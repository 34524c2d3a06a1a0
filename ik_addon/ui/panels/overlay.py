"""What is drawn of chains in the 3D view: a popover in the header of the chains' panel."""

import bpy

from ..classes import registration_of
from .places import BonePanel


class ANALYTIC_IK_PT_overlay(BonePanel, bpy.types.Panel):
    """Which chains show their reach and their bend plane in the 3D view."""

    bl_idname = "ANALYTIC_IK_PT_overlay"
    bl_label = "Overlay"
    bl_space_type = "VIEW_3D"
    # No panel of the sidebar: a popover.
    bl_region_type = "HEADER"

    def draw(self, context: bpy.types.Context) -> None:
        layout, tip = self.layout, self.tip(context)
        layout.label(text="Overlay")
        layout.row(align=True).prop(context.scene, "analytic_ik_overlay", expand=True)
        if tip is not None:
            pinned = tip.analytic_ik_show_overlay
            layout.prop(tip, "analytic_ik_show_overlay", icon="PINNED" if pinned else "UNPINNED")


register, unregister = registration_of(__name__)
