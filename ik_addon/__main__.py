"""The Python package's own command, `analytic-ik` or `python -m ik_addon`: Blender comes as the bpy module."""

import os
import signal
import sys
from types import FrameType

_SIGNALS = signal.SIGINT, signal.SIGTERM


def main() -> int:
    """Carry out the command line of this process; returns the exit status."""
    # Until a file is opened nothing can be lost, and an interrupt breaks the import of Blender or Blender itself.
    for number in _SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _leave_at_once)
    status, is_fragile = _carried_out()
    # All is done and said.
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if is_fragile:
        _leave(status)
    return status


def _carried_out() -> tuple[int, bool]:
    """The exit status, and whether Blender may crash at its own end."""
    # First: Blender's own modules are found only then.
    import bpy  # noqa: F401

    from . import register, unregister
    from .bake.saving import process
    from .batch.resident import WORK
    from .batch.workers import work, worked_on
    from .command_line import run
    from .command_line.console import leave_noise

    register()
    try:
        status = work() if sys.argv[1:] == [WORK] else run(sys.argv[1:], workers=worked_on)
    finally:
        # Older Blenders crash at exit while Python is still registered with them.
        unregister()
    leave_noise()
    return status, bool(process.exported & {".glb", ".gltf"})


def _leave_at_once(number: int, _: FrameType | None) -> None:
    os._exit(128 + number)


def _leave(status: int) -> None:
    """End the process without Blender's own end, at which 4.2 crashes once its glTF exporter has run."""
    import shutil

    import bpy

    shutil.rmtree(bpy.app.tempdir, ignore_errors=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
