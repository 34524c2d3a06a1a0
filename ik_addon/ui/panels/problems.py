"""Problems of chains, each with the buttons that cure it."""

import bpy

from ...rig.status.problems import Problem
from ..operators.cures import ANALYTIC_IK_OT_cure, button_of
from .sentences import draw_sentence


def draw_problem(layout: bpy.types.UILayout, context: bpy.types.Context, problem: Problem, icon: str = "ERROR") -> None:
    """A sentence, and the buttons below it."""
    box = layout.box().column()
    draw_sentence(box, context, problem.sentence, icon)
    if problem.cures:
        row = box.row(align=True)
        for wanted in problem.cures:
            text, button_icon, _ = button_of(context, wanted.kind)
            button = row.operator(ANALYTIC_IK_OT_cure.bl_idname, text=text, icon=button_icon)
            button.kind, button.bone, button.what = wanted
