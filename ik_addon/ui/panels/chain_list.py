"""All chains of the armature: how each stands, its switch, and a click that goes to it."""

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty

from ... import messages
from ...authoring.selection import active_armature, active_bone, is_tip, select_bone, tip_of_chain, tips_of
from ...rig.status.states import ChainState, States
from ...solvers import ChainError
from ..operators.chains import ChainOperator
from .chain import InSidebar, icon_of, said_of
from .problems import draw_problem
from .sentences import draw_sentence, length_words

_ROWS = 8
"""Rows that are shown at most; the list scrolls."""
_PROBLEMS = 3
"""Broken chains whose sentences are shown below the list; more would push all else out of sight."""
_INDEX = "analytic_ik_chain_index"
_WORDS = {"OFF": "Off", "LIMITED": "Limited", "SOFT": "Softness", "BLENDED": "Influence", "PROBLEM": "Problem"}
"""What stands beside the distance, or for it."""

_states: list[States] = []
"""While a list is drawn, what it shows; empty between draws, for it holds Blender's own data."""


class ANALYTIC_IK_OT_select_chain(ChainOperator):
    """Select the tip bone of this chain and make it the active bone. With Shift: beside those that are selected"""

    bl_idname = "analytic_ik.select_chain"
    bl_label = "Select Chain"

    tip: StringProperty(name="Tip", description="Tip bone of the chain", options={"SKIP_SAVE"})
    extend: BoolProperty(name="Extend", description="Keep what is selected", options={"SKIP_SAVE"})

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        ob = active_armature(context)
        bone = ob.pose.bones.get(properties.tip) if ob is not None else None
        if bone is None or not is_tip(bone):
            return cls.__doc__ or ""
        state = States(ob, context.view_layer.depsgraph).of(bone.name)
        said = messages.AT_TARGET() if state.kind == "MET" else said_of(context.scene, state, bone.name).rstrip(".")
        return f"{cls.__doc__}.\n{messages.OF(whose=bone.name, said=said)}"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.extend = self.extend or event.shift
        return self.execute(context)

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        bone = ob.pose.bones.get(self.tip)
        if bone is None or not is_tip(bone):
            raise ChainError(messages.NOT_A_TIP(armature=ob.name, bone=self.tip))
        select_bone(ob, bone.name, self.extend)
        return messages.SELECTED(bone=bone.name)


class ANALYTIC_IK_UL_chains(bpy.types.UIList):
    """The tips among an armature's bones, each with its state. Only rows that are seen are asked how they stand."""

    def draw_item(self, context, layout, _data, item, _icon, _active_data, _active_property, *_) -> None:
        state = _states[-1].of(item.name) if _states else ChainState("OFF")
        row = layout.row(align=True)
        row.active = state.kind != "OFF"
        split = row.split(factor=0.6, align=True)
        name = split.row(align=True)
        name.alignment = "LEFT"
        name.operator(
            ANALYTIC_IK_OT_select_chain.bl_idname, text=item.name, icon=icon_of(state), emboss=False
        ).tip = item.name
        right = split.row(align=True)
        right.alignment = "RIGHT"
        right.label(text=short(context.scene, state))
        row.separator(factor=0.5)
        row.prop(item, "analytic_ik_enabled", text="")

    def filter_items(self, _context, data, property_name: str) -> tuple[list[int], list[int]]:
        bones = getattr(data, property_name)
        shown = self.bitflag_filter_item
        if self.filter_name:
            named = bpy.types.UI_UL_list.filter_items_by_name(self.filter_name, shown, bones, "name")
        else:
            named = [shown] * len(bones)
        return [flag if is_tip(bone) else 0 for bone, flag in zip(bones, named, strict=True)], []


def short(scene: bpy.types.Scene, state: ChainState) -> str:
    """A state in a row of the list: how far the tip is from its target, or a word."""
    if state.kind in ("TOO_FAR", "TOO_NEAR", "LIMITED", "SOFT", "ELSEWHERE") and state.distance_world is not None:
        return length_words(scene, state.distance_world)
    return _WORDS.get(state.kind, "")


class ANALYTIC_IK_PT_chains(InSidebar, bpy.types.Panel):
    """All chains of the armature."""

    bl_idname = "ANALYTIC_IK_PT_chains"
    bl_label = "Chains"
    bl_order = 1

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = context.object
        return ob is not None and ob.type == "ARMATURE" and ob.mode != "EDIT" and bool(tips_of(ob))

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, context.object
        tips = tips_of(ob)
        states = States(ob, context.view_layer.depsgraph)
        _states.append(states)
        try:
            rows = min(max(len(tips), 2), _ROWS)
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
        active = active_bone(ob)
        shown = tip_of_chain(active) if active else None
        broken = [problem for tip in tips if tip != shown and (problem := states.problem_of(tip.name))]
        for problem in broken[:_PROBLEMS]:
            draw_problem(layout, context, problem)
        more = len(broken) - _PROBLEMS
        if more > 0:
            words = messages.ONE_MORE_PROBLEM() if more == 1 else messages.MORE_PROBLEMS(count=more)
            draw_sentence(layout, context, words, "ERROR")


def _shown_index(ob: bpy.types.Object) -> int:
    """The place of the tip of the active bone's chain among the bones; -1: there is none."""
    active = active_bone(ob) if ob.pose else None
    tip = tip_of_chain(active) if active else None
    return ob.pose.bones.find(tip.name) if tip else -1


def _go_to(ob: bpy.types.Object, index: int) -> None:
    if ob.pose and 0 <= index < len(ob.pose.bones):
        select_bone(ob, ob.pose.bones[index].name)


# The stubs say that it returns nothing.
_register, _unregister = bpy.utils.register_classes_factory(  # pyright: ignore[reportGeneralTypeIssues]
    (ANALYTIC_IK_OT_select_chain, ANALYTIC_IK_UL_chains, ANALYTIC_IK_PT_chains)
)


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
