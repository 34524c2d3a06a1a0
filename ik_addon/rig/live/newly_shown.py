"""Scenes and view layers that a window has just begun to show: Blender evaluated them and called no handler."""

from collections.abc import Callable

import bpy

from ..blender.armatures import armature_objects, tag_pose
from ..blender.file_memory import file_memory
from ..model.order import live_tips

_handlers: list[object] = []


def solved_in(depsgraph: bpy.types.Depsgraph) -> None:
    """A handler was called for a depsgraph."""
    if _handlers:
        file_memory.drawn.add(_key(depsgraph))


def _key(depsgraph: bpy.types.Depsgraph) -> tuple[int, str]:
    return depsgraph.as_pointer(), f"{depsgraph.scene.name}/{depsgraph.view_layer.name}"


def _before_drawing(look: Callable[[], bool]) -> None:
    missed = look()
    depsgraph = bpy.context.view_layer.depsgraph
    if depsgraph is not None and (missed or _key(depsgraph) not in file_memory.drawn):
        solved_in(depsgraph)
        # While it is drawn nothing may change.
        if not bpy.app.timers.is_registered(evaluate_chains):
            bpy.app.timers.register(evaluate_chains, first_interval=0.0)


def evaluate_chains() -> None:
    """Have all armature objects with live chains evaluated, and so their chains solved."""
    for ob in armature_objects():
        if ob.pose and live_tips(ob):
            tag_pose(ob)


def register(look: Callable[[], bool]) -> None:
    """Look at each depsgraph that is drawn in a 3D view; without a window nothing is. look: called before; it says
    whether chains may not have been solved for it."""
    unregister()
    if not bpy.app.background:
        _handlers.append(bpy.types.SpaceView3D.draw_handler_add(_before_drawing, (look,), "WINDOW", "PRE_VIEW"))


def unregister() -> None:
    """Look no more."""
    file_memory.drawn.clear()
    while _handlers:
        bpy.types.SpaceView3D.draw_handler_remove(_handlers.pop(), "WINDOW")
    if bpy.app.timers.is_registered(evaluate_chains):
        bpy.app.timers.unregister(evaluate_chains)
