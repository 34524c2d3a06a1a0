"""Footprints that are dragged in the 3D view take their feet along."""

import bpy

from ...rig.live.state import memory


def _moved(scene: bpy.types.Scene, footprints: list[bpy.types.Object]) -> bool:
    # Only who has footprints needs planting.
    from ...planting.scene.moved_footprints import follow_footprints

    return follow_footprints(scene, footprints)


def register() -> None:
    """Have the handlers tell of footprints."""
    memory.footprints_moved = _moved


def unregister() -> None:
    """No longer."""
    memory.footprints_moved = None
