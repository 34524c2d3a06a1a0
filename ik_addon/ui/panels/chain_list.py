"""All chains of the armature: the state of each, its switch, and a click that goes to it."""

import bpy
from bpy.props import IntProperty

from ... import messages
from ...authoring.blender_ik import is_adopted
from ...authoring.selection import all_tips, are_tips, focus, select_bone
from ...rig.data.relation import has_controls
from ...rig.data.settings import is_native
from ...rig.status.states import ChainState, States
from ..base import ArmaturePanel, draw_sentence, length_words, registration_of
from .chain import ANALYTIC_IK_PT_overlay
from .status import NATIVE_ICON, draw_problem, icon_of

_ROWS = 8
"""Rows that are shown at most; the list scrolls."""
_NAME = 0.65
"""Part of a row that a chain's name has beside a distance."""
_PROBLEMS = 3
"""Broken chains whose sentences are shown below the list; more would push all else out of sight."""
_INDEX = "analytic_ik_chain_index"
_WORDS = {"OFF": "Off", "LIMITED": "Limited", "SOFT": "Softness", "BLENDED": "Influence", "PROBLEM": "Error"}
"""What stands beside the distance, or for it."""

_states: list[States] = []
"""While a list is drawn, what it shows; empty between draws, for it holds Blender's own data."""


class ANALYTIC_IK_UL_chains(bpy.types.UIList):
    """The tips among an armature's bones, each with its state, which is found for visible rows only."""

    def draw_item(self, context, layout, _data, item, _icon, _active_data, _active_property, *_) -> None:
        state = _states[-1].of(item.name) if _states else ChainState("OFF")
        row = layout.row(align=True)
        native = is_native(item)
        row.active = native or state.kind != "OFF"
        words = "" if native else short(context.scene, state)
        # A name has the row for itself where nothing is to be said.
        split = row.split(factor=_NAME if words else 1.0, align=True)
        name = split.row(align=True)
        name.alignment = "LEFT"
        if is_adopted(item):
            name.label(text="", icon="CONSTRAINT_BONE")
        name.operator(
            "analytic_ik.select_chain",
            text=item.name,
            icon=NATIVE_ICON if native else icon_of(state),
            emboss=False,
        ).tip = item.name
        if words:
            right = split.row(align=True)
            right.alignment = "RIGHT"
            right.label(text=words)
        row.separator(factor=0.5)
        if not native:
            row.prop(item, "analytic_ik_enabled", text="")

    def filter_items(self, _context, data, property_name: str) -> tuple[list[int], list[int]]:
        bones = getattr(data, property_name)
        shown = self.bitflag_filter_item
        if self.filter_name:
            named = bpy.types.UI_UL_list.filter_items_by_name(self.filter_name, shown, bones, "name")
        else:
            named = [shown] * len(bones)
        return [flag if is_tip else 0 for is_tip, flag in zip(are_tips(bones), named, strict=True)], []


def short(scene: bpy.types.Scene, state: ChainState) -> str:
    """A state in a row of the list: how far the tip is from its target, or a word."""
    if state.kind in ("TOO_FAR", "TOO_NEAR", "LIMITED", "SOFT", "ELSEWHERE") and state.distance_world is not None:
        return length_words(scene, state.distance_world)
    return _WORDS.get(state.kind, "")


class ANALYTIC_IK_PT_chains(ArmaturePanel, bpy.types.Panel):
    """All chains of the armature."""

    bl_label = "Chains"
    bl_options = {"DEFAULT_CLOSED"}
    bl_order = 5
    has = staticmethod(has_controls)

    def draw_header_preset(self, _context: bpy.types.Context) -> None:
        self.layout.popover(ANALYTIC_IK_PT_overlay.bl_idname, text="", icon="OVERLAY")
        self.layout.separator()

    def draw(self, context: bpy.types.Context) -> None:
        layout, shown = self.layout, focus(context)
        ob = shown.armature
        tips = all_tips(ob)
        states = States(ob, context.view_layer.depsgraph)
        _states.append(states)
        try:
            rows = min(len(tips), _ROWS)
            layout.template_list(
                ANALYTIC_IK_UL_chains.__name__,
                "",
                ob.pose,
                "bones",
                ob,
                _INDEX,
                rows=rows,
                maxrows=rows,
                sort_lock=True,
            )
        finally:
            _states.pop()
        broken = [problem for tip in tips if tip != shown.tip and (problem := states.problem_of(tip.name))]
        for problem in broken[:_PROBLEMS]:
            draw_problem(layout, context, problem)
        more = len(broken) - _PROBLEMS
        if more > 0:
            draw_sentence(layout, context, messages.MORE_PROBLEMS(count=more), "ERROR")


def _shown_index(ob: bpy.types.Object) -> int:
    """The place among the bones of the tip of the chain that is shown; -1: it is none of this armature."""
    shown = focus(bpy.context)
    return ob.pose.bones.find(shown.tip.name) if shown.tip is not None and shown.armature == ob else -1


def _go_to(ob: bpy.types.Object, index: int) -> None:
    if ob.pose and 0 <= index < len(ob.pose.bones):
        select_bone(ob, ob.pose.bones[index].name)


_register, _unregister = registration_of(__name__)


def register() -> None:
    """Make Blender know the list; a click on a row sets the index, which selects the chain's tip."""
    setattr(
        bpy.types.Object,
        _INDEX,
        IntProperty(name="Chain", description="Select this chain", get=_shown_index, set=_go_to, options={"SKIP_SAVE"}),
    )
    _register()


def unregister() -> None:
    """Take that away."""
    _unregister()
    delattr(bpy.types.Object, _INDEX)
