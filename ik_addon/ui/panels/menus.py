"""Pose > Inverse Kinematics: all that can be done with chains, beside Blender's own; F3 finds what is in a menu. Small
panels in the Properties editor, and what is said before an exporter would show live chains wrong.
"""

import sys
import traceback
from collections.abc import Callable
from functools import wraps

import bpy

from ... import messages
from ...authoring.selection import focus
from ...rig.blender.armatures import armature_objects
from ...rig.model.order import live_tips
from ...rig.status.states import states_of
from ..base import PartOfChainPanel, draw_sentence, registration_of
from ..operators.travel import scene_armatures
from .status import draw_name, draw_status

_ENTRIES = (
    (("add", "CON_KINEMATIC"), ("rig_legs", "NONE"), ("remove", "X")),
    (("adopt", "CONSTRAINT_BONE"), ("restore", "NONE")),
    (("snap_targets", "NONE"), ("snap_pose", "NONE")),
    (("grab", "VIEW_PAN"), ("pin", "PINNED")),
    (("swivel", "CON_ROTLIKE"), ("limit_knees", "CON_ROTLIMIT")),
    (("match_source", "NONE"),),
    (("plant_feet", "NONE"), ("plant_again", "NONE"), ("path_from_clip", "NONE")),
    (("apply_correction", "NONE"), ("simplify_keys", "NONE"), ("all_keys", "NONE")),
    (("lock_to_object", "NONE"), ("release", "NONE")),
    (("bake", "KEYFRAME_HLT"), ("check", "NONE")),
    (("bake_for_export", "NONE"), ("back_to_live", "NONE")),
    (("make_native", "NONE"), ("make_live", "NONE")),
)
"""Operators and their icons, in groups."""


def draw_entries(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """What is appended to Blender's menu."""
    for group in _ENTRIES:
        menu.layout.separator()
        for operator, icon in group:
            menu.layout.operator(f"analytic_ik.{operator}", icon=icon)


class ANALYTIC_IK_PT_bone_constraints(PartOfChainPanel, bpy.types.Panel):
    """The status of the active bone's chain, among the bone's constraints."""

    bl_label = "Analytic IK"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone_constraint"

    def draw(self, context: bpy.types.Context) -> None:
        layout, tip = self.layout, focus(context).tip
        ob = tip.id_data
        state = states_of(ob, [tip.name], context.view_layer.depsgraph)[tip.name]
        draw_name(layout.row(align=True), tip)
        draw_status(layout, context, tip, state)
        layout.operator("analytic_ik.open_sidebar", icon="MENU_PANEL")


class ANALYTIC_IK_PT_render(bpy.types.Panel):
    """What a render of live chains needs; gone where it has it."""

    bl_label = "Analytic IK"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "render"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.scene.render.use_lock_interface:
            return False
        return any(ob.pose and live_tips(ob) for ob in armature_objects() if context.scene in ob.users_scene)

    def draw(self, context: bpy.types.Context) -> None:
        draw_sentence(self.layout, context, messages.INTERFACE_UNLOCKED(), "INFO")
        self.layout.operator("analytic_ik.lock_interface", icon="LOCKED")


_NAME = "Analytic IK"
_GLTF = "io_scene_gltf2"
_BY_TRACK = "NLA_TRACKS"
"""glTF's mode that goes from track to track."""


def wrongly_exported(scene: bpy.types.Scene) -> list[str]:
    """A sentence for each armature object of a scene whose NLA strips would be exported with limbs in wrong places."""
    from ...authoring.for_export import strips_not_followed

    found = ((ob, strips_not_followed(ob)) for ob in scene_armatures(scene))
    return [
        messages.STRIPS_NOT_FOLLOWED(armature=ob.name, strips=messages.few(strips)) for ob, strips in found if strips
    ]


def _unharmed(work: Callable[..., None]) -> Callable[..., None]:
    """What is done within somebody else's work: what is raised goes to the console."""

    @wraps(work)
    def done(*given: object) -> None:
        try:
            work(*given)
        except Exception:
            print(messages.EXPORT_WARNING_FAILED(trace=traceback.format_exc()))

    return done


@_unharmed
def draw_in_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    """What File > Export shows above its exporters."""
    # Its add-on may have been enabled since.
    show_in_gltf()
    _draw(menu.layout, context, is_narrow=False)


@_unharmed
def draw_in_gltf(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """What glTF's dialog shows in its mode that is concerned."""
    operator = getattr(context.space_data, "active_operator", None)
    if getattr(operator, "export_animation_mode", _BY_TRACK) == _BY_TRACK:
        _draw(layout, context, is_narrow=True)


@_unharmed
def warn_in_gltf(export_settings: dict) -> None:
    """Write the same into glTF's log, and have it shown after the export: it may have been started by a script."""
    if export_settings.get("gltf_animation_mode") == _BY_TRACK:
        for sentence in wrongly_exported(bpy.context.scene):
            export_settings["log"].warning(sentence, popup=True)


def _draw(layout: bpy.types.UILayout, context: bpy.types.Context, is_narrow: bool) -> None:
    wrong = wrongly_exported(context.scene)
    for sentence in wrong:
        if is_narrow:
            draw_sentence(layout, context, sentence, "ERROR")
        else:
            layout.label(text=sentence, icon="ERROR")
    if wrong:
        column = layout.column()
        # A dialog is open already.
        column.operator_context = "EXEC_DEFAULT"
        column.operator("analytic_ik.bake_for_export", icon="EXPORT").all = True
        layout.separator()


def show_in_gltf() -> None:
    """Show it in glTF's dialog."""
    dialog = _dialog_of_gltf()
    if dialog is not None:
        dialog[_NAME] = draw_in_gltf


def _dialog_of_gltf() -> dict | None:
    """What other add-ons draw in glTF's dialog, by their names; None if there is no such dialog."""
    return getattr(sys.modules.get(_GLTF), "exporter_extension_layout_draw", None)


def leave_gltf() -> None:
    """Show it no longer in glTF's dialog."""
    (_dialog_of_gltf() or {}).pop(_NAME, None)


_register_classes, _unregister_classes = registration_of(__name__)


def add_entries() -> None:
    """Add the entries, once."""
    remove_entries()
    bpy.types.VIEW3D_MT_pose_ik.append(draw_entries)
    bpy.types.TOPBAR_MT_file_export.prepend(draw_in_menu)


def remove_entries() -> None:
    """Take the entries off, also those that an earlier load of this module left."""
    for menu, own in ((bpy.types.VIEW3D_MT_pose_ik, draw_entries), (bpy.types.TOPBAR_MT_file_export, draw_in_menu)):
        for draw in list(getattr(menu.draw, "_draw_funcs", ())):
            if (draw.__module__, draw.__name__) == (own.__module__, own.__name__):
                menu.remove(draw)


def register() -> None:
    """The small panels, the entries, and what is said in glTF's dialog."""
    _register_classes()
    add_entries()
    show_in_gltf()


def unregister() -> None:
    """Take them away."""
    leave_gltf()
    remove_entries()
    _unregister_classes()
