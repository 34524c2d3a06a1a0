"""The chain of the active bone: in the sidebar of the 3D view, and under Properties > Bone."""

import bpy

from ... import messages
from ...authoring.adoptable import adoptable
from ...authoring.adopted import is_adopted
from ...authoring.selection import active_bone, tip_of_chain
from ...rig.data.settings import settings_of
from ...rig.live.state import way_of
from ...rig.model.foot import end_bone
from ...rig.model.order import ChainName
from ...rig.status.problems import notes_of, warnings_of
from ...rig.status.states import ChainState, states_of
from ..operators.chains import ANALYTIC_IK_OT_add, ANALYTIC_IK_OT_remove
from ..operators.rigs import (
    ANALYTIC_IK_OT_adopt,
    ANALYTIC_IK_OT_restore,
    ANALYTIC_IK_OT_rig_legs,
    ANALYTIC_IK_OT_snap_pose,
    ANALYTIC_IK_OT_snap_targets,
)
from ..operators.running import running
from ..view.swivel import ANALYTIC_IK_OT_swivel
from .problems import draw_problem
from .sentences import draw_sentence, length_words
from .tab import DEFAULT


class InSidebar:
    """Where a panel of the 3D view's sidebar stands."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = DEFAULT


class InBoneTab:
    """Where a panel under Properties > Bone stands."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"


class BonePanel:
    """What panels of the active bone share."""

    @staticmethod
    def bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
        """The active pose bone."""
        ob = context.object
        return active_bone(ob) if ob is not None and ob.type == "ARMATURE" and ob.mode != "EDIT" else None

    @classmethod
    def tip(cls, context: bpy.types.Context) -> bpy.types.PoseBone | None:
        """The tip of the chain to which the active bone belongs."""
        bone = cls.bone(context)
        return tip_of_chain(bone) if bone else None


class ChainPanel(BonePanel):
    """A chain's settings in the order in which one works."""

    bl_label = "Analytic IK"
    bl_order = 0

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = context.object
        return ob is not None and ob.type == "ARMATURE" and ob.mode != "EDIT"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = True
        bone, tip = self.bone(context), self.tip(context)
        if bone is None or tip is None:
            draw_beginnings(layout, context, bone)
            return
        draw_state(layout, context, tip)
        draw_setup(layout, tip)
        if bone != tip and not bone.analytic_ik_enabled and bone not in tip.parent_recursive:
            layout.operator(ANALYTIC_IK_OT_add.bl_idname, text=f"Add Chain at {bone.name}", icon="ADD")


def draw_beginnings(layout: bpy.types.UILayout, context: bpy.types.Context, bone: bpy.types.PoseBone | None) -> None:
    """What there is to do where no bone is active, or one that belongs to no chain."""
    for operator, icon, sentence in (
        (ANALYTIC_IK_OT_add, "CON_KINEMATIC", messages.SELECT_LAST_BONE()),
        (ANALYTIC_IK_OT_rig_legs, "ARMATURE_DATA", messages.SELECT_LEGS()),
    ):
        column = layout.column(align=True)
        column.operator(operator.bl_idname, icon=icon)
        draw_sentence(column, context, sentence, "NONE")
    own = bone is not None and bool(adoptable([bone]))
    if own or adoptable(context.object.pose.bones):
        column = layout.column(align=True)
        text = "Adopt Blender IK" if own else "Adopt All Blender IK"
        column.operator(ANALYTIC_IK_OT_adopt.bl_idname, text=text, icon="CONSTRAINT_BONE").all = not own
        sentence = messages.SELECT_CONSTRAINED() if own else messages.ALL_CONSTRAINTS()
        draw_sentence(column, context, sentence, "NONE")


def draw_state(layout: bpy.types.UILayout, context: bpy.types.Context, tip: bpy.types.PoseBone) -> None:
    """Whether a chain is on and arrives, and what keeps it from that."""
    row = layout.row(align=True)
    row.use_property_split = False
    row.prop(tip, "analytic_ik_enabled", text=tip.name, icon="CON_KINEMATIC", toggle=True)
    row.operator(ANALYTIC_IK_OT_remove.bl_idname, text="", icon="X")
    if not tip.analytic_ik_enabled or running() is not None:
        # What comes and goes with the frames would move all that is below.
        return
    ob = tip.id_data
    state = states_of(ob, [tip.name], context.view_layer.depsgraph)[tip.name]
    if state.problem is not None:
        draw_problem(layout, context, state.problem)
        return
    warnings = warnings_of(ob, tip.name)
    if not warnings and state.kind != "MET":
        draw_sentence(layout, context, said_of(context.scene, state, tip.name), icon_of(state))
    for problem in warnings:
        draw_problem(layout, context, problem)
    for problem in notes_of(ob, tip.name):
        draw_problem(layout, context, problem, "INFO")


def draw_setup(layout: bpy.types.UILayout, tip: bpy.types.PoseBone) -> None:
    """What every chain is set up with."""
    column = layout.column()
    for control, subtarget in (
        ("analytic_ik_target", "analytic_ik_subtarget"),
        ("analytic_ik_pole_target", "analytic_ik_pole_subtarget"),
    ):
        column.prop(tip, control)
        ob = getattr(tip, control)
        if ob is not None and ob.type == "ARMATURE":
            column.prop_search(tip, subtarget, ob.data, "bones", text="Bone")
    column = layout.column()
    column.prop(tip, "analytic_ik_chain_count")
    column.prop(tip, "analytic_ik_solver")
    column = layout.column()
    column.prop(tip, "analytic_ik_reach")
    if tip.analytic_ik_reach == "STRETCH":
        column.prop(tip, "analytic_ik_stretch_max")
    if end_bone(tip) is not None:
        column = layout.column()
        column.prop(tip, "analytic_ik_use_rotation", text="Foot Follows")
        if tip.analytic_ik_use_rotation:
            column.prop(tip, "analytic_ik_foot_roll")
            column.prop(tip, "analytic_ik_toe_angle")
    layout.prop(tip, "analytic_ik_influence")


class PartOfChainPanel(BonePanel):
    """A folded part of the panel of a chain; it is there where a chain is."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return cls.tip(context) is not None


class AdvancedPanel(PartOfChainPanel):
    """What few chains need."""

    bl_label = "Advanced"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 0

    def draw(self, context: bpy.types.Context) -> None:
        layout, tip = self.layout, self.tip(context)
        layout.use_property_split = True
        layout.use_property_decorate = True
        column = layout.column()
        row = column.row(align=True)
        row.prop(tip, "analytic_ik_swivel")
        row.operator(ANALYTIC_IK_OT_swivel.bl_idname, text="", icon="CON_ROTLIKE")
        column.prop(tip, "analytic_ik_flip")
        column.prop_search(tip, "analytic_ik_end_bone", tip.id_data.data, "bones")
        column.prop(tip, "analytic_ik_straight_axis")
        column = layout.column()
        column.prop(tip, "analytic_ik_softness")
        if settings_of(tip).chain_count != 2:
            column.prop(tip, "analytic_ik_least_motion")
        way = way_of(context.scene, ChainName(tip.id_data.name_full, tip.name)) if tip.analytic_ik_enabled else ""
        if way:
            draw_sentence(layout, context, way, "TIME")


class SnapPanel(PartOfChainPanel):
    """The way between the FK pose and the solved one."""

    bl_label = "FK and IK"
    bl_order = 1

    def draw(self, context: bpy.types.Context) -> None:
        layout, tip = self.layout, self.tip(context)
        column = layout.column(align=True)
        column.operator(ANALYTIC_IK_OT_snap_targets.bl_idname, text="Targets to Pose", icon="EMPTY_AXIS")
        column.operator(ANALYTIC_IK_OT_snap_pose.bl_idname, text="Pose to Targets", icon="POSE_HLT")
        if is_adopted(tip):
            layout.operator(ANALYTIC_IK_OT_restore.bl_idname, icon="LOOP_BACK")


def said_of(scene: bpy.types.Scene, state: ChainState, tip: str) -> str:
    """What is to be said of a chain that does not arrive, and how far off it is; its tip's name is shown beside it."""
    said = state.sentence.removeprefix(messages.OF(whose=messages.BONE(bone=tip), said=""))
    said = said[:1].upper() + said[1:]
    if state.distance_world is None:
        return said
    return messages.FROM_TARGET(distance=length_words(scene, state.distance_world), state=said)


_ICONS = {
    "OFF": "PAUSE",
    "MET": "CHECKMARK",
    "TOO_FAR": "CON_DISTLIMIT",
    "TOO_NEAR": "CON_DISTLIMIT",
    "LIMITED": "CON_ROTLIMIT",
    "SOFT": "SPHERECURVE",
    "BLENDED": "MOD_OPACITY",
}


def icon_of(state: ChainState) -> str:
    """The icon of a state; what is no business of the chain's own has the one for errors."""
    return _ICONS.get(state.kind, "ERROR")


class ANALYTIC_IK_PT_sidebar(ChainPanel, InSidebar, bpy.types.Panel):
    """The chain of the active bone, in the sidebar of the 3D view."""

    bl_idname = "ANALYTIC_IK_PT_sidebar"


class ANALYTIC_IK_PT_advanced(AdvancedPanel, InSidebar, bpy.types.Panel):
    """What few chains need, in the sidebar."""

    bl_idname = "ANALYTIC_IK_PT_advanced"
    bl_parent_id = "ANALYTIC_IK_PT_sidebar"


class ANALYTIC_IK_PT_snap(SnapPanel, InSidebar, bpy.types.Panel):
    """The way between FK and IK, in the sidebar."""

    bl_idname = "ANALYTIC_IK_PT_snap"
    bl_parent_id = "ANALYTIC_IK_PT_sidebar"


class ANALYTIC_IK_PT_bone(ChainPanel, InBoneTab, bpy.types.Panel):
    """The chain of the active bone, under Properties > Bone."""

    bl_idname = "ANALYTIC_IK_PT_bone"
    bl_options = {"DEFAULT_CLOSED"}


class ANALYTIC_IK_PT_bone_advanced(AdvancedPanel, InBoneTab, bpy.types.Panel):
    """What few chains need, under Properties > Bone."""

    bl_idname = "ANALYTIC_IK_PT_bone_advanced"
    bl_parent_id = "ANALYTIC_IK_PT_bone"


class ANALYTIC_IK_PT_bone_snap(SnapPanel, InBoneTab, bpy.types.Panel):
    """The way between FK and IK, under Properties > Bone."""

    bl_idname = "ANALYTIC_IK_PT_bone_snap"
    bl_parent_id = "ANALYTIC_IK_PT_bone"


# The stubs say that it returns nothing.
register, unregister = bpy.utils.register_classes_factory(  # pyright: ignore[reportGeneralTypeIssues]
    (
        ANALYTIC_IK_PT_sidebar,
        ANALYTIC_IK_PT_advanced,
        ANALYTIC_IK_PT_snap,
        ANALYTIC_IK_PT_bone,
        ANALYTIC_IK_PT_bone_advanced,
        ANALYTIC_IK_PT_bone_snap,
    )
)
