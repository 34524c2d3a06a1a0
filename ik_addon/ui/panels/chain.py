"""The chain of the active bone or control: in the sidebar of the 3D view, and under Properties > Bone."""

import bpy

from ... import messages
from ...authoring.adopted import is_adopted
from ...authoring.selection import Focus, focus
from ...native.properties import key_of, native_settings
from ...native.standing import problem_of
from ...rig.data.settings import PREFIX, is_native, settings_of
from ...rig.live.state import way_of
from ...rig.model.foot import end_bone, possible_end_bones
from ...rig.model.order import ChainName
from ...rig.status.problems import Problem, notes_of, warnings_of
from ...rig.status.states import states_of
from ..classes import registration_of
from ..operators.chains import ANALYTIC_IK_OT_remove
from ..operators.native import ANALYTIC_IK_OT_make_live
from ..operators.rigs import ANALYTIC_IK_OT_restore, ANALYTIC_IK_OT_snap_pose, ANALYTIC_IK_OT_snap_targets
from ..operators.running import running
from ..operators.selecting import ANALYTIC_IK_OT_show_chain
from ..operators.switching import ANALYTIC_IK_OT_switch_to_fk, ANALYTIC_IK_OT_switch_to_ik
from ..view.swivel import ANALYTIC_IK_OT_swivel
from .beginning import draw_add, draw_beginnings, draw_elsewhere, draw_linked
from .places import BonePanel, InBoneTab, InSidebar, PartOfChainPanel
from .preferences import shows_reference_solvers
from .problems import draw_problem
from .sentences import columns_for, draw_sentence
from .status import draw_name, draw_status

_SWITCHES = 3
"""Chains of one control that have a button in a row, if their names fit."""


class ChainPanel(BonePanel):
    """A chain's status, and the settings that animators key."""

    bl_label = "Analytic IK"
    bl_order = 0

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = True
        shown, bone = focus(context), self.bone(context)
        if shown.armature is None:
            draw_elsewhere(layout, context)
            return
        if shown.tip is None:
            draw_beginnings(layout, context, shown.armature, bone)
            return
        tip = shown.tip
        draw_linked(layout, context, shown.armature)
        draw_choice(layout, context, shown)
        draw_state(layout, context, tip)
        if is_native(tip):
            draw_native_settings(layout, tip)
        else:
            draw_animation_settings(layout, tip)
        own = (tip, *tip.parent_recursive, *possible_end_bones(tip))
        if bone is not None and not shown.driven and bone not in own:
            draw_add(layout, context, "ADD")


def draw_choice(layout: bpy.types.UILayout, context: bpy.types.Context, shown: Focus) -> None:
    """A switch between the chains of a control that drives several."""
    if len(shown.driven) < 2:
        return
    columns = columns_for(context, [tip.name for tip in shown.driven], _SWITCHES)
    grid = layout.grid_flow(columns=columns, even_columns=True, align=True)
    for tip in shown.driven:
        button = grid.operator(ANALYTIC_IK_OT_show_chain.bl_idname, text=tip.name, depress=tip == shown.tip)
        button.armature, button.tip = tip.id_data.name_full, tip.name


def draw_state(layout: bpy.types.UILayout, context: bpy.types.Context, tip: bpy.types.PoseBone) -> None:
    """Whether a chain is on and on its target, and what keeps it from that."""
    column = layout.column(align=True)
    column.use_property_split = False
    row = column.row(align=True)
    draw_name(row, tip)
    remove = row.row(align=True)
    remove.alignment = "RIGHT"
    if is_native(tip):
        remove.operator(ANALYTIC_IK_OT_make_live.bl_idname, text="", icon="LOOP_BACK").only_selected = True
    else:
        remove.operator(ANALYTIC_IK_OT_remove.bl_idname, text="", icon="X")
    ob = tip.id_data
    state = states_of(ob, [tip.name], context.view_layer.depsgraph)[tip.name]
    draw_status(column, context, tip, state)
    if is_native(tip) and (sentence := problem_of(tip, context.view_layer.depsgraph)):
        draw_problem(layout, context, Problem(sentence))
    if not tip.analytic_ik_enabled or running() is not None:
        return
    if state.problem is not None:
        draw_problem(layout, context, state.problem)
        return
    for problem in warnings_of(ob, tip.name):
        draw_problem(layout, context, problem)
    for problem in notes_of(ob, tip.name):
        draw_problem(layout, context, problem, "INFO")


def draw_animation_settings(layout: bpy.types.UILayout, tip: bpy.types.PoseBone) -> None:
    """What is keyed while one animates."""
    column = layout.column()
    column.prop(tip, "analytic_ik_influence")
    if end_bone(tip) is not None:
        column.prop(tip, "analytic_ik_use_rotation")
        if tip.analytic_ik_use_rotation:
            column.prop(tip, "analytic_ik_foot_roll")
            # The whole label has no room in a sidebar of the default width.
            column.prop(tip, "analytic_ik_toe_angle", text="Roll Break")


def draw_native_settings(layout: bpy.types.UILayout, tip: bpy.types.PoseBone) -> None:
    """The settings that a native chain has: custom properties, which Blender shows without the add-on too."""
    column = layout.column()
    for name in native_settings(tip):
        column.prop(tip, f'["{key_of(name)}"]', text=tip.bl_rna.properties[PREFIX + name].name)


class SnapPanel(PartOfChainPanel):
    """The way between FK and IK."""

    bl_label = "FK/IK"
    bl_order = 0

    def draw(self, context: bpy.types.Context) -> None:
        layout, tip = self.layout, self.tip(context)
        column = layout.column(align=True)
        for operators in (
            (ANALYTIC_IK_OT_switch_to_fk, ANALYTIC_IK_OT_switch_to_ik),
            (ANALYTIC_IK_OT_snap_pose, ANALYTIC_IK_OT_snap_targets),
        ):
            row = column.row(align=True)
            for operator in operators:
                row.operator(operator.bl_idname)
        if is_adopted(tip):
            row = layout.row(align=True)
            row.operator(ANALYTIC_IK_OT_restore.bl_idname, icon="LOOP_BACK").all = False
            row.operator(ANALYTIC_IK_OT_restore.bl_idname, text="All").all = True


class SetupPanel(PartOfChainPanel):
    """What a chain is set up with once."""

    bl_label = "Setup"
    # A leg's panel has room in a small window.
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 1

    def draw(self, context: bpy.types.Context) -> None:
        layout, tip = self.layout, self.tip(context)
        layout.use_property_split = True
        layout.use_property_decorate = True
        column = layout.column()
        for control, subtarget in (
            ("analytic_ik_target", "analytic_ik_subtarget"),
            ("analytic_ik_pole_target", "analytic_ik_pole_subtarget"),
        ):
            ob = getattr(tip, control)
            row = column.row()
            row.alert = ob is None and control == "analytic_ik_target"
            row.prop(tip, control)
            if ob is not None and ob.type == "ARMATURE":
                column.prop_search(tip, subtarget, ob.data, "bones", text="Bone")
        column.prop(tip, "analytic_ik_chain_count")
        column.prop(tip, "analytic_ik_reach")
        if tip.analytic_ik_reach == "STRETCH":
            column.prop(tip, "analytic_ik_stretch_max")


class AdvancedPanel(PartOfChainPanel):
    """What few chains need."""

    bl_label = "Advanced"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 3

    def draw(self, context: bpy.types.Context) -> None:
        layout, tip = self.layout, self.tip(context)
        layout.use_property_split = True
        layout.use_property_decorate = True
        column = layout.column()
        row = column.row(align=True)
        row.prop(tip, "analytic_ik_swivel")
        row.operator(ANALYTIC_IK_OT_swivel.bl_idname, text="", icon="CON_ROTLIKE")
        column.prop(tip, "analytic_ik_flip")
        column.prop(tip, "analytic_ik_straight_axis")
        column.prop_search(tip, "analytic_ik_end_bone", tip.id_data.data, "bones")
        column = layout.column()
        column.prop(tip, "analytic_ik_softness")
        if settings_of(tip).chain_count != 2:
            column.prop(tip, "analytic_ik_least_motion")
        if tip.analytic_ik_solver != "AUTO" or shows_reference_solvers(context):
            column.prop(tip, "analytic_ik_solver")
        way = way_of(context.scene, ChainName(tip.id_data.name_full, tip.name)) if tip.analytic_ik_enabled else ""
        if way:
            draw_sentence(layout, context, messages.EVALUATION(way=way), "TIME")


class ANALYTIC_IK_PT_sidebar(ChainPanel, InSidebar, bpy.types.Panel):
    """The chain that is shown, in the sidebar of the 3D view; always there, so that the tab is."""


class ANALYTIC_IK_PT_snap(SnapPanel, InSidebar, bpy.types.Panel):
    """The way between FK and IK, in the sidebar."""

    bl_parent_id = "ANALYTIC_IK_PT_sidebar"


class ANALYTIC_IK_PT_setup(SetupPanel, InSidebar, bpy.types.Panel):
    """What a chain is set up with, in the sidebar."""

    bl_parent_id = "ANALYTIC_IK_PT_sidebar"


class ANALYTIC_IK_PT_advanced(AdvancedPanel, InSidebar, bpy.types.Panel):
    """What few chains need, in the sidebar."""

    bl_parent_id = "ANALYTIC_IK_PT_sidebar"


class ANALYTIC_IK_PT_bone(ChainPanel, InBoneTab, bpy.types.Panel):
    """The chain of the active bone, under Properties > Bone."""

    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return focus(context).armature is not None


class ANALYTIC_IK_PT_bone_snap(SnapPanel, InBoneTab, bpy.types.Panel):
    """The way between FK and IK, under Properties > Bone."""

    bl_parent_id = "ANALYTIC_IK_PT_bone"


class ANALYTIC_IK_PT_bone_setup(SetupPanel, InBoneTab, bpy.types.Panel):
    """What a chain is set up with, under Properties > Bone."""

    bl_parent_id = "ANALYTIC_IK_PT_bone"


class ANALYTIC_IK_PT_bone_advanced(AdvancedPanel, InBoneTab, bpy.types.Panel):
    """What few chains need, under Properties > Bone."""

    bl_parent_id = "ANALYTIC_IK_PT_bone"


register, unregister = registration_of(__name__)
