"""Analytic IK: exact inverse kinematics for limbs of any armature in Blender."""


def register() -> None:
    """Make Blender know the add-on: settings first, the handlers that read them last."""
    for room in _rooms():
        room.register()


def unregister() -> None:
    """Leave nothing behind in Blender."""
    for room in reversed(_rooms()):
        room.unregister()


def _rooms() -> list:
    # Imported here: `ik_addon.solvers` alone needs no bpy.
    from . import command_line
    from .authoring import marking
    from .bake import report
    from .rig import following, live
    from .ui import (
        bake_panel,
        certificate,
        certificate_operators,
        chain_list,
        cures,
        limits_panel,
        menus,
        operators,
        overlay,
        overlay_panel,
        panel,
        range_operators,
        rig_operators,
        swivel,
        swivel_gizmo,
    )

    work = [operators, range_operators, rig_operators, certificate_operators, cures, swivel]
    shown = [panel, limits_panel, chain_list, overlay_panel, bake_panel, certificate, menus]
    return [following, report, marking, *work, *shown, overlay, swivel_gizmo, command_line, live]
