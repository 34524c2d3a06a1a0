"""A chain's status, its problems with their buttons, and what the tab shows where there is no chain."""

import bpy

from ... import messages
from ...authoring.blender_ik import adoptable
from ...authoring.selection import all_tips, character_of
from ...rig.blender.armatures import has_editable_bones, is_changeable
from ...rig.data.relation import has_controls
from ...rig.data.settings import is_native, switched_tips
from ...rig.model.order import has_live_chains
from ...rig.status.problems import Cure, Problem, left_behind
from ...rig.status.states import ChainState, bends_backwards, body_of
from ..base import ICON_WIDE, closed_panel, columns_for, draw_sentence, fits, length_words
from ..operators.certificates import BUTTONS, button_of
from ..operators.chains import ANALYTIC_IK_OT_add, add_label, may_be_limb
from ..operators.stepped import running

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
    button = name.operator("analytic_ik.select_chain", text=tip.name, icon="CON_KINEMATIC", emboss=False)
    button.tip = tip.name


def draw_status(
    layout: bpy.types.UILayout, context: bpy.types.Context, tip: bpy.types.PoseBone, state: ChainState
) -> None:
    """Whether a chain is on its target; a button if there is a fix. The row's tooltip is the whole sentence."""
    words, icon, fix, body = status_words(context.scene, state), icon_of(state), "", None
    if running() is not None:
        words, icon = messages.STATUS_WORKING(), "TIME"
    elif tip.analytic_ik_influence == 0.0 and (state.kind == "MET" or state.kind in _AWAY):
        words, icon = messages.STATUS_FK(), "PAUSE"
    elif state.kind == "TOO_FAR" and tip.analytic_ik_reach != "STRETCH":
        fix = "STRETCH"
        body = body_of(None, tip)
    elif state.kind == "MET" and bends_backwards(tip.id_data, tip.name, context.view_layer.depsgraph):
        words, icon, fix = messages.STATUS_BACKWARDS(), "CON_ROTLIKE", "FLIP_BEND"
    if is_native(tip):
        words, icon, fix, body = messages.STATUS_NATIVE(), NATIVE_ICON, "", None
    body_fix = fix_of_body(body) if body is not None else ""
    row = layout.row(align=True)
    said = row.row(align=True)
    said.alignment = "LEFT"
    button = said.operator("analytic_ik.select_chain", text=words, icon=icon, emboss=False)
    button.tip = tip.name
    if fix:
        right = row.row(align=True)
        right.alignment = "RIGHT"
        # Without its icon, or that alone: the row is short.
        text, fix_icon, _ = BUTTONS[fix]
        shown = (text, "NONE") if not body_fix or fits(context, f"{words} {text} {ICON_WIDE}") else ("", fix_icon)
        draw_fix(right, Cure(fix, tip.name), *shown)
        if body is not None and body_fix:
            # In the same row: what is below stays where it is while a control is dragged.
            draw_fix(right, Cure(body_fix, tip.name, body.name), "", BUTTONS[body_fix][1])


def fix_of_body(body: bpy.types.PoseBone) -> str:
    """What lets a bone that carries limbs do more for those that do not reach; "": nothing."""
    if not body.analytic_ik_body_influence > 0.0:
        return "FOLLOW_BODY"
    return "" if body.analytic_ik_body_turn else "TURN_BODY"


def draw_fix(layout: bpy.types.UILayout, wanted: Cure, text: str, icon: str) -> None:
    """The button of a fix."""
    button = layout.operator("analytic_ik.cure", text=text, icon=icon)
    button.kind, button.bone, button.what = wanted


def draw_problem(layout: bpy.types.UILayout, context: bpy.types.Context, problem: Problem, icon: str = "ERROR") -> None:
    """A sentence, and the buttons below it."""
    box = layout.box().column()
    draw_sentence(box, context, problem.sentence, icon)
    if problem.cures:
        buttons = [button_of(context, wanted.kind) for wanted in problem.cures]
        columns = columns_for(context, [text for text, *_ in buttons], len(buttons))
        beside = box.row(align=True) if columns == len(buttons) else box.column(align=True)
        for wanted, (text, button_icon, _) in zip(problem.cures, buttons, strict=True):
            draw_fix(beside, wanted, text, button_icon)


def draw_muted(
    layout: bpy.types.UILayout, context: bpy.types.Context, ob: bpy.types.Object, with_button: bool = True
) -> None:
    """Why such buttons are off, and the button that changes it; nothing while a chain is live."""
    if not (has_live_chains(ob) or switched_tips(ob)) and any(not is_native(tip) for tip in all_tips(ob)):
        draw_sentence(layout, context, messages.ALL_MUTED(), "INFO")
        if with_button:
            layout.operator("analytic_ik.unmute", icon="PLAY")


_LIMBS_SHOWN = 8
"""Limbs with a button; the list of chains below has all."""
_LIMBS = "analytic_ik_limbs"
_OVERRIDE = "object.make_override_library"
"""Blender's own operator; it takes a linked object, or an Empty that shows a linked collection."""


def draw_elsewhere(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """What to do where no armature is active, or one that is being edited."""
    ob = context.active_object
    character = _linked_character(ob)
    if character is not None:
        draw_sentence(layout, context, messages.INSTANCE_HERE(collection=character.name), "LINKED")
        layout.operator(_OVERRIDE, icon="LIBRARY_DATA_OVERRIDE")
        return
    armature = character_of(context, ob) if ob is not None and ob.mode == "OBJECT" else None
    if armature is not None:
        draw_sentence(layout, context, messages.ARMATURE_HERE(armature=armature.name), "INFO")
        layout.operator("analytic_ik.select_armature", icon="ARMATURE_DATA")
        return
    editing = ob is not None and ob.type == "ARMATURE" and ob.mode == "EDIT"
    draw_sentence(layout, context, messages.LEAVE_EDIT_MODE() if editing else messages.SELECT_ARMATURE(), "INFO")


def _linked_character(ob: bpy.types.Object | None) -> bpy.types.Collection | None:
    """The linked collection with an armature that an Empty shows; None: it shows none."""
    shown = ob.instance_collection if ob is not None and ob.instance_type == "COLLECTION" else None
    if shown is None or shown.library is None:
        return None
    return shown if any(each.type == "ARMATURE" for each in shown.all_objects) else None


def draw_beginnings(
    layout: bpy.types.UILayout, context: bpy.types.Context, ob: bpy.types.Object, bone: bpy.types.PoseBone | None
) -> None:
    """What can be done with an armature if no chain of it is shown: if it has any, they lead. bone: the active one."""
    draw_linked(layout, context, ob)
    if not has_controls(ob):
        draw_rigging(layout, context, ob, bone)
        return
    tips = all_tips(ob)
    column = layout.column(align=True)
    column.label(text=messages.SELECT_LIMB(), icon="RESTRICT_SELECT_OFF")
    grid = column.grid_flow(columns=columns_for(context, [tip.name for tip in tips], 2), even_columns=True, align=True)
    for tip in tips[:_LIMBS_SHOWN]:
        grid.operator("analytic_ik.select_chain", text=tip.name).tip = tip.name
    for problem in [each for tip in tips if tip.analytic_ik_enabled for each in left_behind(ob, tip.name)][:1]:
        draw_problem(layout, context, problem, "INFO")
    # Limb after limb may be rigged by hand; hips are none.
    is_limb = bone is not None and may_be_limb(bone)
    if is_limb:
        draw_add(layout, context, "CON_KINEMATIC")
    body = closed_panel(layout, "ANALYTIC_IK_more_limbs", "Rig More Limbs")
    if body is not None:
        draw_rigging(body, context, ob, None if is_limb else bone)


def draw_rigging(
    layout: bpy.types.UILayout, context: bpy.types.Context, ob: bpy.types.Object, bone: bpy.types.PoseBone | None
) -> None:
    """What makes chains of an armature. bone: the active one."""
    if has_editable_bones(ob):
        layout.row().prop(context.scene, "analytic_ik_controls", expand=True)
    elif is_changeable(ob):
        draw_sentence(layout, context, messages.OVERRIDDEN_HERE(), "LIBRARY_DATA_OVERRIDE")
    column = layout.column(align=True)
    row = column.row(align=True)
    arms = getattr(context.window_manager, _LIMBS) == "LEGS_AND_ARMS"
    row.operator("analytic_ik.rig_legs", icon="ARMATURE_DATA").arms = arms
    button = row.operator("analytic_ik.rig_legs", text="", icon="PRESET")
    button.arms, button.ask = arms, True
    row = column.row(align=True)
    # Without its label, which says no more than the choices: they need the room.
    row.use_property_split = False
    row.prop(context.window_manager, _LIMBS, expand=True)
    if not has_controls(ob) and ob.animation_data is not None and ob.animation_data.action is not None:
        column.operator("analytic_ik.plant_feet", icon="TRACKING_FORWARDS")
    if bone is not None:
        draw_add(layout, context, "CON_KINEMATIC")
    else:
        draw_sentence(layout, context, messages.SELECT_LAST_BONE(), "INFO")
    own = bone is not None and bool(adoptable([bone]))
    if own or adoptable(ob.pose.bones):
        text = "Convert Blender IK" if own else "Convert All Blender IK"
        layout.operator("analytic_ik.adopt", text=text, icon="CONSTRAINT_BONE").all = not own


def draw_add(layout: bpy.types.UILayout, context: bpy.types.Context, icon: str) -> None:
    """The button that adds a chain, with the bones of the chain; if their names are long, below it."""
    label = add_label(context)
    if fits(context, label):
        layout.operator("analytic_ik.add", text=label, icon=icon)
        return
    column = layout.column(align=True)
    column.operator("analytic_ik.add", icon=icon)
    draw_sentence(column, context, label.removeprefix(f"{ANALYTIC_IK_OT_add.bl_label}: "), "BLANK1")


def draw_linked(layout: bpy.types.UILayout, context: bpy.types.Context, ob: bpy.types.Object) -> None:
    """What to know of an armature that cannot be edited here."""
    if is_changeable(ob):
        return
    if ob.override_library is not None:
        draw_sentence(layout, context, messages.NOT_EDITABLE_HERE(), "LINKED")
        return
    draw_sentence(layout, context, (messages.LINKED_HERE if has_controls(ob) else messages.LINKED_BARE)(), "LINKED")
    layout.operator(_OVERRIDE, icon="LIBRARY_DATA_OVERRIDE")


def register() -> None:
    """Let the window remember which limbs are rigged."""
    limbs = bpy.props.EnumProperty(
        name="Limbs",
        description="Limbs to look for",
        items=[
            ("LEGS", "Legs", "Rig legs only"),
            ("LEGS_AND_ARMS", "Legs and Arms", "Rig legs, and arms if the names of their bones show them"),
        ],
        options={"SKIP_SAVE"},
    )
    setattr(bpy.types.WindowManager, _LIMBS, limbs)


def unregister() -> None:
    """Take that away."""
    delattr(bpy.types.WindowManager, _LIMBS)
