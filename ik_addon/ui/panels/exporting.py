"""What is said before an exporter would show live chains wrong: in its menu, in glTF's dialog and in its log."""

import sys
import traceback
from collections.abc import Callable

import bpy

from ... import messages
from ...authoring.for_export import strips_not_followed
from ..operators.exporting import ANALYTIC_IK_OT_bake_for_export, scene_armatures
from .sentences import draw_sentence

_NAME = "Analytic IK"
_GLTF = "io_scene_gltf2"
_BY_TRACK = "NLA_TRACKS"
"""glTF's mode that goes from track to track."""


def wrongly_exported(scene: bpy.types.Scene) -> list[str]:
    """A sentence for each armature object of a scene whose NLA strips would be exported with limbs in wrong places."""
    found = ((ob, strips_not_followed(ob)) for ob in scene_armatures(scene))
    return [
        messages.STRIPS_NOT_FOLLOWED(armature=ob.name, strips=messages.few(strips)) for ob, strips in found if strips
    ]


def draw_in_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    """What File > Export shows above its exporters."""
    # Its add-on may have been enabled since.
    _show_in_gltf()
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


def _show_in_gltf() -> None:
    dialog = _dialog_of_gltf()
    if dialog is not None:
        dialog[_NAME] = draw_in_gltf


def _dialog_of_gltf() -> dict | None:
    """What other add-ons draw in glTF's dialog, by their names; None if there is no such dialog."""
    return getattr(sys.modules.get(_GLTF), "exporter_extension_layout_draw", None)


def register() -> None:
    """Have it shown in glTF's dialog."""
    _show_in_gltf()


def unregister() -> None:
    """Have it shown no longer."""
    (_dialog_of_gltf() or {}).pop(_NAME, None)
