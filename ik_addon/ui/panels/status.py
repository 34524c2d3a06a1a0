"""A chain's status in one row of constant height: what comes and goes with the frames must not move what is below."""

import bpy

from ... import messages
from ...rig.data.settings import is_native
from ...rig.status.bending import bends_backwards
from ...rig.status.states import ChainState
from ..lengths import length_words
from ..operators.cures import BUTTONS, ANALYTIC_IK_OT_cure
from ..operators.running import running
from ..operators.selecting import ANALYTIC_IK_OT_select_chain

_ICONS = {
    "OFF": "PAUSE",
    "MET": "CHECKMARK",
    "TOO_FAR": "CON_DISTLIMIT",
    "TOO_NEAR": "CON_DISTLIMIT",
    "LIMITED": "CON_ROTLIMIT",
    "SOFT": "SPHERECURVE",
    "BLENDED": "MOD_OPACITY",
}
NATIVE_ICON = "CONSTRAINT"
"""Of a chain that Blender's own constraints stand for."""
_AWAY = {
    "TOO_FAR": messages.STATUS_TOO_FAR,
    "TOO_NEAR": messages.STATUS_TOO_NEAR,
    "LIMITED": messages.STATUS_LIMITED,
    "SOFT": messages.STATUS_SOFT,
    "BLENDED": messages.STATUS_BLENDED,
    "ELSEWHERE": messages.STATUS_ELSEWHERE,
}


def icon_of(state: ChainState) -> str:
    """The icon of a state; what is no matter of the chain's own has the one for errors."""
    return _ICONS.get(state.kind, "ERROR")


def status_words(scene: bpy.types.Scene, state: ChainState) -> str:
    """A state in one row of a panel, 40 characters at most."""
    if state.kind in _AWAY and state.distance_world is not None:
        return _AWAY[state.kind](distance=length_words(scene, state.distance_world))
    if state.kind == "MET":
        return messages.STATUS_MET()
    return messages.STATUS_OFF() if state.kind == "OFF" else messages.STATUS_BROKEN()


def draw_name(layout: bpy.types.UILayout, tip: bpy.types.PoseBone) -> None:
    """A chain's switch, unless it is native, and its name, which selects the chain as it does in the list."""
    if not is_native(tip):
        layout.prop(tip, "analytic_ik_enabled", text="")
    name = layout.row(align=True)
    name.alignment = "LEFT"
    button = name.operator(ANALYTIC_IK_OT_select_chain.bl_idname, text=tip.name, icon="CON_KINEMATIC", emboss=False)
    button.tip = tip.name


def draw_status(
    layout: bpy.types.UILayout, context: bpy.types.Context, tip: bpy.types.PoseBone, state: ChainState
) -> None:
    """Whether a chain is on its target; a button if there is a fix. The row's tooltip is the whole sentence."""
    words, icon, fix = status_words(context.scene, state), icon_of(state), ""
    if running() is not None:
        words, icon = messages.STATUS_WORKING(), "TIME"
    elif tip.analytic_ik_influence == 0.0 and (state.kind == "MET" or state.kind in _AWAY):
        words, icon = messages.STATUS_FK(), "PAUSE"
    elif state.kind == "TOO_FAR" and tip.analytic_ik_reach != "STRETCH":
        fix = "STRETCH"
    elif state.kind == "MET" and bends_backwards(tip.id_data, tip.name, context.view_layer.depsgraph):
        words, icon, fix = messages.STATUS_BACKWARDS(), "CON_ROTLIKE", "FLIP_BEND"
    if is_native(tip):
        words, icon, fix = messages.STATUS_NATIVE(), NATIVE_ICON, ""
    row = layout.row(align=True)
    said = row.row(align=True)
    said.alignment = "LEFT"
    button = said.operator(ANALYTIC_IK_OT_select_chain.bl_idname, text=words, icon=icon, emboss=False)
    button.tip = tip.name
    if fix:
        right = row.row(align=True)
        right.alignment = "RIGHT"
        # Without its icon: the row is short.
        button = right.operator(ANALYTIC_IK_OT_cure.bl_idname, text=BUTTONS[fix][0])
        button.kind, button.bone, button.what = fix, tip.name, ""
