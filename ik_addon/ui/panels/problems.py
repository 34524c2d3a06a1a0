"""Problems of chains, each with the buttons that cure it."""

import bpy

from ...rig.status.problems import Problem
from ..operators.cures import ANALYTIC_IK_OT_cure, button_of
from .sentences import columns_for, draw_sentence


def draw_problem(layout: bpy.types.UILayout, context: bpy.types.Context, problem: Problem, icon: str = "ERROR") -> None:
    """A sentence, and the buttons below it."""
    box = layout.box().column()
    draw_sentence(box, context, problem.sentence, icon)
    if problem.cures:
        buttons = [button_of(context, wanted.kind) for wanted in problem.cures]
        columns = columns_for(context, [text for text, *_ in buttons], len(buttons))
        beside = box.row(align=True) if columns == len(buttons) else box.column(align=True)
        for wanted, (text, button_icon, _) in zip(problem.cures, buttons, strict=True):
            button = beside.operator(ANALYTIC_IK_OT_cure.bl_idname, text=text, icon=button_icon)
            button.kind, button.bone, button.what = wanted
