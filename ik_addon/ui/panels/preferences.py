"""The add-on's preferences."""

import bpy

from . import tab

_ADD_ON = __package__.rpartition(".ik_addon")[0] or __package__.partition(".")[0]
"""The name under which Blender knows the add-on."""


def _tab_named(preferences: bpy.types.AddonPreferences, _context: bpy.types.Context) -> None:
    tab.show_in_tab(preferences.sidebar_tab.strip())


class AnalyticIKPreferences(bpy.types.AddonPreferences):
    """What users set once, for all files."""

    bl_idname = _ADD_ON

    sidebar_tab: bpy.props.StringProperty(
        name="Sidebar Tab",
        description="Tab of the 3D view's sidebar that shows the panels",
        default=tab.DEFAULT,
        update=_tab_named,
    )

    def draw(self, _context: bpy.types.Context) -> None:
        self.layout.prop(self, "sidebar_tab")


def register() -> None:
    """Give the add-on its preferences, and put its panels, which are registered by now, where they say."""
    bpy.utils.register_class(AnalyticIKPreferences)
    own = bpy.context.preferences.addons.get(_ADD_ON)
    if own is not None and own.preferences is not None:
        tab.show_in_tab(own.preferences.sidebar_tab.strip())


def unregister() -> None:
    """Take them away; Blender keeps what was set."""
    bpy.utils.unregister_class(AnalyticIKPreferences)
