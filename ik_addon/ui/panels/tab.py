"""The tab of the sidebar that the panels are in. Its name is a preference."""

import bpy

DEFAULT = "Animation"


def show_in_tab(name: str) -> None:
    """Move the add-on's panels to a tab of the sidebar; an empty name: to the default one."""
    moving = [panel for panel in _in_sidebar() if panel.bl_category != (name or DEFAULT)]
    # Blender reads the name as it registers a panel, and lets no parent go before its children.
    for panel in reversed(moving):
        bpy.utils.unregister_class(panel)
    for panel in moving:
        panel.bl_category = name or DEFAULT
        bpy.utils.register_class(panel)


def _in_sidebar() -> list[type[bpy.types.Panel]]:
    """The registered panels of the add-on in the sidebar, parents before their children."""
    own = __package__
    found = [
        panel
        for panel in bpy.types.Panel.__subclasses__()
        if panel.is_registered and panel.__module__.startswith(own) and panel.bl_region_type == "UI"
    ]
    # Blender lists them in the order in which they were imported.
    return sorted(found, key=lambda panel: bool(getattr(panel, "bl_parent_id", "")))
