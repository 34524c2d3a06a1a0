"""What is seen of chains in the 3D view."""

import bpy

from ...authoring.selection import tips_of
from .chain import BonePanel, InSidebar


class ANALYTIC_IK_PT_overlay(BonePanel, InSidebar, bpy.types.Panel):
    """Which chains show their reach and their bend plane in the 3D view."""

    bl_idname = "ANALYTIC_IK_PT_overlay"
    bl_label = "Overlay"
    bl_order = 2

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = context.object
        return ob is not None and ob.type == "ARMATURE" and ob.mode != "EDIT" and bool(tips_of(ob))

    def draw(self, context: bpy.types.Context) -> None:
        layout, tip = self.layout, self.tip(context)
        layout.row(align=True).prop(context.scene, "analytic_ik_overlay", expand=True)
        if tip is not None:
            pinned = tip.analytic_ik_show_overlay
            layout.prop(
                tip, "analytic_ik_show_overlay", text=f"Always Show {tip.name}", icon="PINNED" if pinned else "UNPINNED"
            )


# The stubs say that it returns nothing.
register, unregister = bpy.utils.register_classes_factory(  # pyright: ignore[reportGeneralTypeIssues]
    (ANALYTIC_IK_PT_overlay,)
)
