"""The application handlers: chains follow their targets while dragging, scrubbing, playing and rendering."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import bpy
from bpy.app.handlers import persistent

from . import animation, armatures
from .order import live_tips
from .solving import Touched, solve_scene

_paused: list[object] = []
_reported: set[str] = set()


@contextmanager
def paused() -> Iterator[None]:
    """Inside, the handlers do nothing: whoever steps the frames solves the chains itself."""
    token = object()
    _paused.append(token)
    try:
        yield
    finally:
        _paused.remove(token)


@persistent
def frame_change_post(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """After a frame was evaluated: solve all chains. What they write is evaluated in the same frame change."""
    _guarded(depsgraph, True, None)


@persistent
def depsgraph_update_post(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """After something changed within a frame: solve the chains that read it."""
    if depsgraph.id_type_updated("ACTION") or depsgraph.id_type_updated("ARMATURE"):
        animation.forget()
    if not depsgraph.id_type_updated("OBJECT"):
        return
    moved, reposed = set(), set()
    for update in depsgraph.updates:
        if isinstance(update.id, bpy.types.Object):
            if update.is_updated_transform:
                moved.add(update.id.original)
            if update.is_updated_geometry and update.id.type == "ARMATURE":
                reposed.add(update.id.original)
    if not reposed <= set(armatures.armature_objects()):
        # One came while another object went: the file has as many as before.
        armatures.forget()
    if moved or reposed:
        _guarded(depsgraph, False, lambda tip: _reads(tip, moved, reposed))


@persistent
def load_post(*_: object) -> None:
    """Another file. Its first evaluation may bring keyed bones back to their FK pose, and calls no other handler."""
    undo_post()
    if any(ob.pose and live_tips(ob) for ob in armatures.armature_objects()):
        _guarded(bpy.context.evaluated_depsgraph_get(), False, None)


@persistent
def undo_post(*_: object) -> None:
    """Another state of the file: nothing that was known holds."""
    armatures.forget()
    _reported.clear()
    animation.forget()


def _reads(tip: bpy.types.PoseBone, moved: set, reposed: set) -> bool:
    """Whether the chain of `tip` reads an object that moved, or a bone of an armature that was posed anew."""
    ob = tip.id_data.original
    return (
        ob in moved
        or ob in reposed
        or any(
            control is not None and (control.original in moved or control.original in reposed)
            for control in (tip.analytic_ik_target, tip.analytic_ik_pole_target)
        )
    )


def _guarded(depsgraph: bpy.types.Depsgraph, frame_changed: bool, touched: Touched | None) -> None:
    """Solve the scene unless paused; an error in a handler goes to the console, once, and never to the user."""
    if _paused:
        return
    with paused():
        try:
            solve_scene(depsgraph, frame_changed, touched)
        except Exception:
            text = traceback.format_exc()
            if text not in _reported:
                _reported.add(text)
                print(f"Analytic IK: a chain could not be solved; please report this.\n{text}")


_HANDLERS = {
    "frame_change_post": frame_change_post,
    "depsgraph_update_post": depsgraph_update_post,
    "load_post": load_post,
    "undo_post": undo_post,
    "redo_post": undo_post,
}


def register() -> None:
    """Put the handlers on, once."""
    unregister()
    for name, handler in _HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    """Take the handlers off, also those that an earlier load of this module left."""
    for name, handler in _HANDLERS.items():
        handlers = getattr(bpy.app.handlers, name)
        for other in list(handlers):
            if (other.__module__, other.__name__) == (handler.__module__, handler.__name__):
                handlers.remove(other)
