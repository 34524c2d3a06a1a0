"""Lets Blender evaluate what was written in the middle of a pass, without calling the add-on's own handlers for it."""

import bpy

_busy: list[object] = []


def evaluate(depsgraph: bpy.types.Depsgraph) -> None:
    """Evaluate all that has changed since the depsgraph was. What was taken from it before is gone afterwards."""
    token = object()
    _busy.append(token)
    try:
        depsgraph.update()
    finally:
        _busy.remove(token)


def is_evaluating() -> bool:
    """Whether handlers are called on behalf of `evaluate`."""
    return bool(_busy)
