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
    from .authoring import marking, selection
    from .bake import report
    from .planting.scene import sources
    from .rig.data import aside, control_clips, footprint, hold
    from .rig.live import handlers as live
    from .rig.pose import following
    from .travel.scene import in_place
    from .ui import operators, panels, view

    return [
        control_clips,
        aside,
        following,
        report,
        sources,
        in_place,
        footprint,
        hold,
        marking,
        selection,
        *operators.FILES,
        *panels.FILES,
        *view.FILES,
        command_line,
        live,
    ]
