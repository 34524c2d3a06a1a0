"""A scene that holds nothing."""

import os
from functools import cache
from pathlib import Path

import bpy


@cache
def _startup_file() -> str:
    """What Blender starts with, less its objects, as a file: that is read in half the time."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    # The folder of these tests goes with them; scripts without one have Blender's own.
    path = str(Path(os.environ.get("BLENDER_USER_RESOURCES", bpy.app.tempdir)) / "empty.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True, compress=False)
    return path


def empty_scene() -> None:
    bpy.ops.wm.read_homefile(filepath=_startup_file(), load_ui=True)
