# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's door to the extension; the house itself is ``ik_addon``.

The imports sit inside the functions, so that nothing but Blender, which loads this folder as a package,
ever follows them: at top level pytest would import the whole checkout as a package and load the add-on twice.
"""


def register():
    """Called by Blender when the extension is enabled."""
    from . import ik_addon

    ik_addon.register()


def unregister():
    """Called by Blender when the extension is disabled."""
    from . import ik_addon

    ik_addon.unregister()


def glTF2_pre_export_callback(export_settings):  # noqa: N802
    """Called by Blender's glTF exporter before it begins."""
    from .ik_addon.ui.panels.menus import warn_in_gltf

    warn_in_gltf(export_settings)
