"""Undo and redo."""

import bpy

from .faults import fault
from .stage import Stage


def _push(what: str) -> None:
    bpy.ops.ed.undo_push(message=what)


@fault("Undo and redo", "A dragged target is undone and redone")
def a_drag_is_undone(stage: Stage) -> None:
    _push("set up")
    stage.drag()
    _push("drag")
    bpy.ops.ed.undo()
    stage.look("undone")
    bpy.ops.ed.redo()
    stage.look("redone")
    stage.follow("afterwards")
