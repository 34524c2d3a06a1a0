"""Small panels in the Properties editor, and what is said before an exporter would show live chains wrong."""

import sys
import traceback
from collections.abc import Callable

import bpy

from ... import messages
from ...authoring.selection import focus
from ...rig.blender.armatures import armature_objects
from ...rig.model.order import has_live_chains
from ...rig.status.states import states_of
from ..base import PartOfChainPanel, draw_sentence, registration_of
from ..operators.certificates import ANALYTIC_IK_OT_lock_interface
from ..operators.chains import ANALYTIC_IK_OT_open_sidebar
from ..operators.travel import ANALYTIC_IK_OT_bake_for_export, scene_armatures
from .status import draw_name, draw_status


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
        layout.operator(ANALYTIC_IK_OT_open_sidebar.bl_idname, icon="MENU_PANEL")


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
        return any(ob.pose and has_live_chains(ob) for ob in armature_objects() if context.scene in ob.users_scene)

    def draw(self, context: bpy.types.Context) -> None:
        draw_sentence(self.layout, context, messages.INTERFACE_UNLOCKED(), "INFO")
        self.layout.operator(ANALYTIC_IK_OT_lock_interface.bl_idname, icon="LOCKED")


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


def draw_in_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    """What File > Export shows above its exporters."""
    # Its add-on may have been enabled since.
    show_in_gltf()
    _unharmed(_draw, menu.layout, context)


def draw_in_gltf(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """What glTF's dialog shows in its mode that is concerned."""
    operator = getattr(context.space_data, "active_operator", None)
    if getattr(operator, "export_animation_mode", _BY_TRACK) == _BY_TRACK:
        _unharmed(_draw_wrapped, layout, context)


def warn_in_gltf(export_settings: dict) -> None:
    """Write the same into glTF's log, and have it shown after the export: it may have been started by a script."""
    _unharmed(_warn, export_settings)


def _draw(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    for sentence in wrongly_exported(context.scene):
        layout.label(text=sentence, icon="ERROR")
    _draw_button(layout, context)


def _draw_wrapped(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    for sentence in wrongly_exported(context.scene):
        draw_sentence(layout, context, sentence, "ERROR")
    _draw_button(layout, context)


def _draw_button(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    if wrongly_exported(context.scene):
        column = layout.column()
        # A dialog is open already.
        column.operator_context = "EXEC_DEFAULT"
        column.operator(ANALYTIC_IK_OT_bake_for_export.bl_idname, icon="EXPORT").all = True
        layout.separator()


def _warn(export_settings: dict) -> None:
    if export_settings.get("gltf_animation_mode") == _BY_TRACK:
        for sentence in wrongly_exported(bpy.context.scene):
            export_settings["log"].warning(sentence, popup=True)


def _unharmed(work: Callable[..., None], *given: object) -> None:
    """Do something within somebody else's work: what is raised goes to the console."""
    try:
        work(*given)
    except Exception:
        print(messages.EXPORT_WARNING_FAILED(trace=traceback.format_exc()))


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


def register() -> None:
    """The small panels, and what is said in glTF's dialog."""
    _register_classes()
    show_in_gltf()


def unregister() -> None:
    """Take them away."""
    leave_gltf()
    _unregister_classes()
