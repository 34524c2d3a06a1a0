"""Analytic IK: exact inverse kinematics for limbs of any armature in Blender."""

import sys
from contextlib import suppress

_registered: list = []
"""The rooms that Blender knows."""


def register() -> None:
    """Make Blender know the add-on: settings first, the handlers that read them last.

    Raises ImportError if another copy is enabled. Whatever it raises, nothing is left behind.
    """
    _check_alone()
    unregister()
    try:
        for room in _rooms():
            _registered.append(room)
            room.register()
    except BaseException:
        with suppress(Exception):
            # What it has not come to is not there to be taken away.
            _registered.pop().unregister()
        unregister()
        _sweep()
        raise


def unregister() -> None:
    """Leave nothing behind in Blender."""
    while _registered:
        _registered.pop().unregister()


def _check_alone() -> None:
    """Raise ImportError if Blender knows another copy: each would take the other's properties and classes away."""
    import bpy

    from . import messages

    panel = getattr(bpy.types, "ANALYTIC_IK_PT_sidebar", None)
    if panel is not None and not panel.__module__.startswith(f"{__package__}."):
        # As an ImportError that begins so, Blender prints the sentence alone, without the calls that led there.
        raise ImportError(messages.SECOND_COPY(own=_add_on(__package__), other=_add_on(panel.__module__)))


def _add_on(module: str) -> str:
    """The name under which Blender knows a copy, by the name of one of its modules."""
    above, name, _ = module.rpartition("ik_addon")
    return above.rstrip(".") or name


def _sweep() -> None:
    """Take away the properties and classes of a room that failed in the middle."""
    import bpy

    kinds = (bpy.types.Action, bpy.types.Object, bpy.types.PoseBone, bpy.types.Scene, bpy.types.WindowManager)
    for kind in kinds:
        for name in [name for name in dir(kind) if name.startswith("analytic_ik_")]:
            delattr(kind, name)
    modules = [module for name, module in sys.modules.items() if name.startswith(f"{__package__}.")]
    classes = {each: None for module in modules for each in vars(module).values() if isinstance(each, type)}
    for each in reversed(classes):
        # What Blender knows of it; a gizmo has no `is_registered`.
        if each.__module__.startswith(f"{__package__}.") and "bl_rna" in vars(each):
            bpy.utils.unregister_class(each)


def _rooms() -> list:
    # Imported here: `ik_addon.solvers` alone needs no bpy.
    from . import blender_command
    from .authoring import selection
    from .rig.data import control_clips, export_stash, records
    from .rig.live import handlers as live
    from .rig.pose import reading
    from .ui import operators, panels, view

    return [
        control_clips,
        export_stash,
        reading,
        records,
        selection,
        *operators.FILES,
        *panels.FILES,
        *view.FILES,
        blender_command,
        live,
    ]
