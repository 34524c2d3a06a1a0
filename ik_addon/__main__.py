"""The Python package's own command, `analytic-ik` or `python -m ik_addon`: Blender comes as the bpy module."""

import os
import shutil
import sys

import bpy

from . import register, unregister
from .bake.formats import written_suffixes
from .batch.resident import WORK
from .batch.worker import work
from .batch.workers import worked_on
from .command_line import run
from .command_line.console import leave_noise


def main() -> int:
    """Carry out the command line of this process; returns the exit status."""
    register()
    try:
        status = work() if sys.argv[1:] == [WORK] else run(sys.argv[1:], workers=worked_on)
    finally:
        # Older Blenders crash at exit while Python is still registered with them.
        unregister()
    leave_noise()
    if written_suffixes & {".glb", ".gltf"}:
        _leave(status)
    return status


def _leave(status: int) -> None:
    """End the process without Blender's own end, at which 4.2 crashes once its glTF exporter has run."""
    shutil.rmtree(bpy.app.tempdir, ignore_errors=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
