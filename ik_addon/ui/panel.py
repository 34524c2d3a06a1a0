"""The chain of the active bone: in the sidebar of the 3D view, and under Properties > Bone."""

from textwrap import wrap

import bpy

from ..authoring.adopt import adoptable, is_adopted
from ..authoring.selection import active_bone, is_tip
from ..bake.report import report_of, words
from ..rig.foot import end_bone
from ..rig.live import way_of
from ..rig.order import ChainName
from ..rig.problems import problems_of, warnings_of
from ..rig.settings import settings_of
from .operators import (
    ANALYTIC_IK_OT_add,
    ANALYTIC_IK_OT_limit_knees,
    ANALYTIC_IK_OT_remove,
)
from .range_operators import ANALYTIC_IK_OT_bake, ANALYTIC_IK_OT_check
from .rig_operators import (
    ANALYTIC_IK_OT_adopt,
    ANALYTIC_IK_OT_restore,
    ANALYTIC_IK_OT_rig_legs,
    ANALYTIC_IK_OT_snap_pose,
    ANALYTIC_IK_OT_snap_targets,
)

_POINTS_PER_CHARACTER = 6.5


class ChainPanel:
    """A chain's settings in the order in which one works."""

    bl_label = "Analytic IK"

    @staticmethod
    def bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
        """The pose bone that is shown."""
        ob = context.object
        return active_bone(ob) if ob is not None and ob.type == "ARMATURE" and ob.mode != "EDIT" else None

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return cls.bone(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = True
        bone = self.bone(context)
        if not is_tip(bone):
            layout.operator(ANALYTIC_IK_OT_add.bl_idname, icon="CON_KINEMATIC")
            layout.operator(ANALYTIC_IK_OT_rig_legs.bl_idname, icon="ARMATURE_DATA")
            if adoptable([bone]):
                layout.operator(ANALYTIC_IK_OT_adopt.bl_idname, icon="CONSTRAINT_BONE")
            return
        self._draw_state(context, bone)
        self._draw_settings(bone)
        row = layout.row(align=True)
        row.operator(ANALYTIC_IK_OT_snap_targets.bl_idname, text="Targets to Pose", icon="SNAP_ON")
        row.operator(ANALYTIC_IK_OT_snap_pose.bl_idname, text="Pose to Targets")
        row = layout.row(align=True)
        row.operator(ANALYTIC_IK_OT_remove.bl_idname, icon="X")
        if is_adopted(bone):
            row.operator(ANALYTIC_IK_OT_restore.bl_idname)

    def _draw_state(self, context: bpy.types.Context, bone: bpy.types.PoseBone) -> None:
        self.layout.prop(bone, "analytic_ik_enabled", text="Live")
        if bone.analytic_ik_enabled:
            problems = problems_of(bone.id_data, [bone.name], context.view_layer.depsgraph)
            for sentence in problems.values() or warnings_of(bone.id_data, bone.name):
                draw_sentence(self.layout, context, sentence, "ERROR")
            way = way_of(context.scene, ChainName(bone.id_data.name_full, bone.name))
            if way and not problems:
                draw_sentence(self.layout, context, way, "TIME")

    def _draw_settings(self, bone: bpy.types.PoseBone) -> None:
        layout = self.layout
        for control, subtarget in (
            ("analytic_ik_target", "analytic_ik_subtarget"),
            ("analytic_ik_pole_target", "analytic_ik_pole_subtarget"),
        ):
            layout.prop(bone, control)
            ob = getattr(bone, control)
            if ob is not None and ob.type == "ARMATURE":
                layout.prop_search(bone, subtarget, ob.data, "bones", text="Bone")
        layout.prop(bone, "analytic_ik_chain_count")
        layout.prop(bone, "analytic_ik_solver")
        layout.prop(bone, "analytic_ik_influence")
        layout.prop(bone, "analytic_ik_swivel")
        layout.prop(bone, "analytic_ik_flip")
        layout.prop(bone, "analytic_ik_straight_axis")
        layout.prop(bone, "analytic_ik_softness")
        layout.prop(bone, "analytic_ik_reach")
        if bone.analytic_ik_reach == "STRETCH":
            layout.prop(bone, "analytic_ik_stretch_max")
        if settings_of(bone).chain_count != 2:
            layout.prop(bone, "analytic_ik_least_motion")
        if end_bone(bone) is not None:
            layout.prop(bone, "analytic_ik_use_rotation", text="Foot Follows")
            if bone.analytic_ik_use_rotation:
                layout.prop(bone, "analytic_ik_foot_roll")
                layout.prop(bone, "analytic_ik_toe_angle")


class ANALYTIC_IK_PT_sidebar(ChainPanel, bpy.types.Panel):
    """The chain of the active bone, in the sidebar of the 3D view."""

    bl_idname = "ANALYTIC_IK_PT_sidebar"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Analytic IK"


class ANALYTIC_IK_PT_bone(ChainPanel, bpy.types.Panel):
    """The chain of the active bone, under Properties > Bone."""

    bl_idname = "ANALYTIC_IK_PT_bone"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"
    bl_options = {"DEFAULT_CLOSED"}


class ANALYTIC_IK_PT_limits(bpy.types.Panel):
    """What the joint of the active bone may do."""

    bl_idname = "ANALYTIC_IK_PT_limits"
    bl_label = "Joint Limits"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Analytic IK"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return ChainPanel.bone(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        bone = ChainPanel.bone(context)
        layout.operator(ANALYTIC_IK_OT_limit_knees.bl_idname, icon="CON_ROTLIMIT")
        for axis in "xyz":
            column = layout.column(align=True)
            row = column.row(align=True)
            row.prop(bone, f"lock_ik_{axis}", text=axis.upper())
            limit = row.row(align=True)
            limit.active = not getattr(bone, f"lock_ik_{axis}")
            limit.prop(bone, f"use_ik_limit_{axis}", text="Limit", toggle=True)
            if limit.active and getattr(bone, f"use_ik_limit_{axis}"):
                row = column.row(align=True)
                row.prop(bone, f"ik_min_{axis}", text="")
                row.prop(bone, f"ik_max_{axis}", text="")
        hinged = bone.lock_ik_x or bone.lock_ik_z
        for switch, angle, counts in (
            ("analytic_ik_use_min_bend", "analytic_ik_min_bend", hinged),
            ("analytic_ik_use_cone", "analytic_ik_cone", True),
        ):
            row = layout.row(align=True)
            row.active = counts
            row.prop(bone, switch)
            value = row.row(align=True)
            value.active = getattr(bone, switch)
            value.prop(bone, angle, text="")


class ANALYTIC_IK_PT_chains(bpy.types.Panel):
    """All chains of the armature, and what is done with all of them."""

    bl_idname = "ANALYTIC_IK_PT_chains"
    bl_label = "Chains of the Armature"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Analytic IK"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = context.object
        return ob is not None and ob.type == "ARMATURE" and ob.mode != "EDIT" and bool(tips_of(ob))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        ob = context.object
        active = active_bone(ob)
        tips = tips_of(ob)
        live = [tip.name for tip in tips if tip.analytic_ik_enabled]
        problems = problems_of(ob, live, context.view_layer.depsgraph)
        column = layout.column(align=True)
        for tip in tips:
            problem = problems.get(tip.name)
            row = column.row(align=True)
            row.prop(tip, "analytic_ik_enabled", text=tip.name)
            if tip.analytic_ik_enabled:
                row.label(icon="ERROR" if problem else "CHECKMARK")
            if problem and tip != active:
                draw_sentence(column, context, problem, "BLANK1")
        row = layout.row(align=True)
        row.operator(ANALYTIC_IK_OT_check.bl_idname, text="Check")
        row.operator(ANALYTIC_IK_OT_bake.bl_idname, text="Bake", icon="KEYFRAME_HLT")
        report = report_of(ob)
        if report:
            box = layout.box()
            first, last, _ = report["frames"]
            box.label(text=f"Frames {first} to {last}, {report['seconds']:.1f} s", icon="INFO")
            for chain in report["chains"]:
                draw_sentence(box, context, words(chain), "NONE")


def tips_of(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The tips of an armature's chains, live or switched off."""
    return [bone for bone in ob.pose.bones if is_tip(bone)]


def draw_sentence(layout: bpy.types.UILayout, context: bpy.types.Context, sentence: str, icon: str) -> None:
    """A sentence broken into lines that fit the region; labels do not wrap by themselves."""
    scale = context.preferences.system.ui_scale
    characters = max(24, int(context.region.width / (_POINTS_PER_CHARACTER * scale)) - 6)
    column = layout.column(align=True)
    column.scale_y = 0.8
    for k, line in enumerate(wrap(sentence, characters)):
        column.label(text=line, icon="BLANK1" if k and icon != "NONE" else icon)


# The stubs say that it returns nothing.
register, unregister = bpy.utils.register_classes_factory(  # pyright: ignore[reportGeneralTypeIssues]
    (ANALYTIC_IK_PT_sidebar, ANALYTIC_IK_PT_limits, ANALYTIC_IK_PT_chains, ANALYTIC_IK_PT_bone)
)
