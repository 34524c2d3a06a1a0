"""What the joint of the active bone may do: Blender's own IK locks and limits, the least bend, and the cone."""

import bpy

from ...rig.data.settings import is_native
from ..classes import registration_of
from ..operators.chains import ANALYTIC_IK_OT_limit_knees
from .places import BonePanel, InBoneTab, InSidebar


class LimitsPanel(BonePanel):
    """The limits of one joint."""

    bl_label = "Joint Limits"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 2

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        tip = cls.tip(context)
        # What a native chain does not follow any more is not there to be set.
        return cls.bone(context) is not None and not (tip is not None and is_native(tip))

    def draw(self, context: bpy.types.Context) -> None:
        layout, bone = self.layout, self.bone(context)
        layout.operator(ANALYTIC_IK_OT_limit_knees.bl_idname, icon="CON_ROTLIMIT")
        layout.label(text=bone.name, icon="BONE_DATA")
        for axis in "xyz":
            column = layout.column(align=True)
            row = column.row(align=True)
            row.prop(bone, f"lock_ik_{axis}", text=f"Lock {axis.upper()}")
            limit = row.row(align=True)
            limit.active = not getattr(bone, f"lock_ik_{axis}")
            limit.prop(bone, f"use_ik_limit_{axis}", text="Limit", toggle=True)
            if limit.active and getattr(bone, f"use_ik_limit_{axis}"):
                row = column.row(align=True)
                row.prop(bone, f"ik_min_{axis}", text="")
                row.prop(bone, f"ik_max_{axis}", text="")
        layout.prop(bone, "analytic_ik_rigid")
        hinged = bone.lock_ik_x or bone.lock_ik_z
        column = layout.column(align=True)
        for switch, angle, counts in (
            ("analytic_ik_use_min_bend", "analytic_ik_min_bend", hinged),
            ("analytic_ik_use_cone", "analytic_ik_cone", True),
        ):
            row = column.row(align=True)
            row.active = counts
            row.prop(bone, switch)
            value = row.row(align=True)
            value.active = getattr(bone, switch)
            value.prop(bone, angle, text="")


class ANALYTIC_IK_PT_limits(LimitsPanel, InSidebar, bpy.types.Panel):
    """The limits of a joint, in the sidebar."""

    bl_parent_id = "ANALYTIC_IK_PT_sidebar"


class ANALYTIC_IK_PT_bone_limits(LimitsPanel, InBoneTab, bpy.types.Panel):
    """The limits of a joint, under Properties > Bone."""

    bl_parent_id = "ANALYTIC_IK_PT_bone"


register, unregister = registration_of(__name__)
