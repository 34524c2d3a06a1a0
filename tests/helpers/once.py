"""Characters that many tests begin with: each is built once a session, saved, and opened from then on."""

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path

import bpy

from .empty import empty_scene


def once(build: Callable) -> Callable:
    """What builds an armature object, or several, in an empty scene: made anew for arguments that are new."""
    saved: dict[str, tuple[Path, list[str]]] = {}

    @wraps(build)
    def opened(*arguments: object, **options: object):
        key = repr((arguments, options))
        if key not in saved:
            empty_scene()
            built = build(*arguments, **options)
            obs = built if isinstance(built, tuple) else (built,)
            # The folder of these tests goes with them; scripts without one have Blender's own.
            folder = Path(os.environ.get("BLENDER_USER_RESOURCES", bpy.app.tempdir))
            path = folder / f"{build.__name__} {len(saved)}.blend"
            bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
            saved[key] = path, [ob.name for ob in obs]
        path, names = saved[key]
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=True)
        found = tuple(bpy.data.objects[name] for name in names)
        return found if len(found) > 1 else found[0]

    return opened
