"""What stands below buttons that need a live chain where all of an armature's chains are muted."""

import bpy

from ... import messages
from ...authoring.selection import all_tips
from ...rig.data.settings import is_native
from ...rig.data.switch import switched_tips
from ...rig.model.order import live_tips
from ..operators.switching import ANALYTIC_IK_OT_unmute
from .sentences import draw_sentence


def draw_muted(layout: bpy.types.UILayout, context: bpy.types.Context, ob: bpy.types.Object) -> None:
    """Why such buttons are off, and the button that changes it; nothing while a chain is live."""
    muted = any(not is_native(tip) for tip in all_tips(ob))
    if muted and not (live_tips(ob) or switched_tips(ob)):
        draw_sentence(layout, context, messages.ALL_MUTED(), "INFO")
        layout.operator(ANALYTIC_IK_OT_unmute.bl_idname, icon="PLAY")
