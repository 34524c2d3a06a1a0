"""`blender FILE --command analytic_ik COMMAND …`: the command line within Blender, imported once it is called."""

from collections.abc import Sequence

import bpy

_handles: list[object] = []


def _run(arguments: Sequence[str]) -> int:
    """Carry out what follows `blender --command analytic_ik`, with which that process ends."""
    from .command_line import run
    from .command_line.console import leave_noise

    status = run(arguments, "blender --command analytic_ik")
    leave_noise()
    return status


def register() -> None:
    """Make Blender's own command line know `--command analytic_ik`."""
    _handles.append(bpy.utils.register_cli_command("analytic_ik", _run))


def unregister() -> None:
    """Take the command away from it."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
