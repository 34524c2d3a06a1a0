"""The chain of the active bone or control, the body that follows it, its limits, and what is drawn of it."""

from math import degrees

import bpy

from ... import messages
from ...authoring.blender_ik import is_adopted
from ...authoring.knees import is_following, pole_and_carriers
from ...authoring.placing import handle_of
from ...authoring.selection import Focus, active_armature, active_bone, focus
from ...rig.data.settings import PREFIX, is_native, settings_of
from ...rig.live.state import way_of
from ...rig.model.foot import end_bone, possible_end_bones, rolls
from ...rig.model.limb import known_bones
from ...rig.model.order import ChainName
from ...rig.status.problems import Cure, Problem, notes_of, warnings_of
from ...rig.status.states import body_of, state_of_body, states_of
from ..base import (
    BonePanel,
    InBoneTab,
    InSidebar,
    PartOfChainPanel,
    columns_for,
    draw_sentence,
    length_words,
    registration_of,
)
from ..operators.certificates import BUTTONS
from ..operators.stepped import running
from .preferences import shows_reference_solvers
from .status import (
    draw_add,
    draw_beginnings,
    draw_elsewhere,
    draw_fix,
    draw_linked,
    draw_name,
    draw_problem,
    draw_status,
    fix_of_body,
)

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
            column = layout.column()
            column.prop(tip, "analytic_ik_influence")
            if tip.analytic_ik_use_rotation and may_roll(tip):
                column.prop(tip, "analytic_ik_foot_roll")
            draw_switch(layout, tip)
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
        button = grid.operator("analytic_ik.show_chain", text=tip.name, depress=tip == shown.tip)
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
        remove.operator("analytic_ik.make_live", text="", icon="LOOP_BACK").only_selected = True
    else:
        remove.operator("analytic_ik.remove", text="", icon="X")
    ob = tip.id_data
    state = states_of(ob, [tip.name], context.view_layer.depsgraph)[tip.name]
    draw_status(column, context, tip, state)
    if is_native(tip):
        from ...native.making import problem_of

        if sentence := problem_of(tip, context.view_layer.depsgraph):
            draw_problem(layout, context, Problem(sentence))
    if not tip.analytic_ik_enabled or running() is not None:
        return
    if state.problem is not None:
        draw_problem(layout, context, state.problem)
        return
    for problem in warnings_of(ob, tip.name):
        draw_problem(layout, context, problem)
    handle = tip.analytic_ik_target and handle_of(tip.analytic_ik_target, tip.analytic_ik_subtarget)
    if handle is not None and active_bone(handle[0]) != handle[0].pose.bones.get(handle[1]):
        draw_problem(layout, context, Problem(messages.MOVE_FOOT(bone=handle[1])), "INFO")
    for problem in notes_of(ob, tip.name):
        draw_problem(layout, context, problem, "INFO")


def may_roll(tip: bpy.types.PoseBone) -> bool:
    """True if a chain's end is a foot as far as names say, or rolls; a hand does not."""
    from ...authoring.finding.names import is_arm

    end = end_bone(tip)
    return end is not None and (rolls(tip) or not is_arm((*(bone.name for bone in known_bones(tip)), end.name)))


def draw_switch(layout: bpy.types.UILayout, tip: bpy.types.PoseBone) -> None:
    """The way between FK and IK: what is on is pressed. Behind them the snaps, which switch nothing."""
    row = layout.row(align=True)
    for operator, influence in (("switch_to_fk", 0.0), ("switch_to_ik", 1.0)):
        row.operator(f"analytic_ik.{operator}", depress=tip.analytic_ik_influence == influence)
    row.menu(ANALYTIC_IK_MT_snap.__name__, text="", icon="DOWNARROW_HLT")


def draw_native_settings(layout: bpy.types.UILayout, tip: bpy.types.PoseBone) -> None:
    """The settings that a native chain has: custom properties, which Blender shows without the add-on too."""
    from ...native.mechanism import key_of, native_settings

    column = layout.column()
    for name in native_settings(tip):
        column.prop(tip, f'["{key_of(name)}"]', text=tip.bl_rna.properties[PREFIX + name].name)


class ANALYTIC_IK_MT_snap(bpy.types.Menu):
    """What is snapped to what, without a switch"""

    bl_label = "Snap"

    def draw(self, _context: bpy.types.Context) -> None:
        for operator in ("snap_pose", "snap_targets"):
            self.layout.operator(f"analytic_ik.{operator}")


class SetupPanel(PartOfChainPanel):
    """What a chain is set up with once, by who makes the rig. Limits and rarer settings are panels in it."""

    bl_label = "Setup"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 3

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        # The limits of a joint are in it, which bones without a chain have too.
        return super().poll(context) or LimitsPanel.poll(context)

    def draw(self, context: bpy.types.Context) -> None:
        layout, tip = self.layout, self.tip(context)
        if tip is None or is_native(tip):
            return
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
        if pole_and_carriers(tip):
            column.operator("analytic_ik.pole_follows", depress=is_following(tip))
        column.prop(tip, "analytic_ik_chain_count")
        column.prop(tip, "analytic_ik_reach")
        if tip.analytic_ik_reach == "STRETCH":
            column.prop(tip, "analytic_ik_stretch_max")
        if end_bone(tip) is not None:
            column.prop(tip, "analytic_ik_use_rotation")
            if tip.analytic_ik_use_rotation and may_roll(tip):
                # The whole label has no room in a sidebar of the default width.
                column.prop(tip, "analytic_ik_toe_angle", text="Roll Break")
        if is_adopted(tip):
            row = layout.row(align=True)
            row.operator("analytic_ik.restore", icon="LOOP_BACK").all = False
            row.operator("analytic_ik.restore", text="All").all = True


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
        row.operator("analytic_ik.swivel", text="", icon="CON_ROTLIKE")
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


class ANALYTIC_IK_PT_bone(ChainPanel, InBoneTab, bpy.types.Panel):
    """The chain of the active bone, under Properties > Bone."""

    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return focus(context).armature is not None


def shown_body(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    """The bone that the panel is about; None: none carries several limbs."""
    ob = active_armature(context)
    return body_of(active_bone(ob) if ob is not None else None, focus(context).tip)


class BodyPanel:
    """How a bone follows the limbs that it carries."""

    bl_label = "Body Follows"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 2

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return shown_body(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout, bone = self.layout, shown_body(context)
        if bone is None:
            return
        layout.use_property_split = True
        layout.use_property_decorate = True
        column = layout.column()
        column.label(text=bone.name, icon="BONE_DATA")
        column.prop(bone, "analytic_ik_body_influence", text="Influence")
        settings = layout.column()
        settings.active = bone.analytic_ik_body_influence > 0.0
        settings.prop(bone, "analytic_ik_body_direction")
        settings.prop(bone, "analytic_ik_body_softness")
        settings.prop(bone, "analytic_ik_body_turn")
        draw_body_state(layout, context, bone)


def draw_body_state(layout: bpy.types.UILayout, context: bpy.types.Context, bone: bpy.types.PoseBone) -> None:
    """Whether its limbs reach, in one row; or what keeps it from following them."""
    if not bone.analytic_ik_body_influence > 0.0:
        return
    state = state_of_body(bone, context.view_layer.depsgraph)
    if state is None:
        return
    if state.problem:
        draw_sentence(layout, context, state.problem, "ERROR")
    elif state.posed is not None:
        words, icon = messages.STATUS_BODY_STILL(), "CHECKMARK"
        if state.posed.excess_world:
            distance = length_words(context.scene, state.posed.excess_world)
            short = messages.STATUS_BODY_TURNED_SHORT if bone.analytic_ik_body_turn else messages.STATUS_BODY_SHORT
            words, icon = short(distance=distance), "CON_DISTLIMIT"
        elif state.posed.shift_world.length or state.posed.angle:
            distance, angle = length_words(context.scene, state.posed.shift_world.length), degrees(state.posed.angle)
            turned = messages.STATUS_BODY_TURNED(distance=distance, angle=angle)
            words = turned if angle else messages.STATUS_BODY_MOVED(distance=distance)
        row = layout.row(align=True)
        row.label(text=words, icon=icon)
        fix = fix_of_body(bone) if state.posed.excess_world else ""
        if fix:
            draw_fix(row, Cure(fix, state.limbs[0], bone.name), *BUTTONS[fix][:2])
        limbs = messages.few(state.limbs)
        draw_sentence(layout, context, messages.BODY_LIMBS(bone=bone.name, limbs=limbs), "INFO")


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
        layout.operator("analytic_ik.limit_knees", icon="CON_ROTLIMIT")
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


def _in_both(panel: type, name: str, above: str) -> tuple[type, type]:
    """A panel in the sidebar, and the same under Properties > Bone. above: of what it is a part; "": of the chain's."""

    def made(place: type, whole: str, parent: str) -> type:
        own = {"__module__": __name__, "__doc__": panel.__doc__, "bl_parent_id": f"ANALYTIC_IK_PT_{parent}"}
        return type(f"ANALYTIC_IK_PT_{whole}", (panel, place, bpy.types.Panel), own)

    in_bone_tab = made(InBoneTab, f"bone_{name}", f"bone_{above}" if above else "bone")
    return made(InSidebar, name, above or "sidebar"), in_bone_tab


ANALYTIC_IK_PT_setup, ANALYTIC_IK_PT_bone_setup = _in_both(SetupPanel, "setup", "")
ANALYTIC_IK_PT_advanced, ANALYTIC_IK_PT_bone_advanced = _in_both(AdvancedPanel, "advanced", "setup")
ANALYTIC_IK_PT_body, ANALYTIC_IK_PT_bone_body = _in_both(BodyPanel, "body", "")
ANALYTIC_IK_PT_limits, ANALYTIC_IK_PT_bone_limits = _in_both(LimitsPanel, "limits", "setup")


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
