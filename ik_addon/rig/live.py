"""The application handlers: chains follow their targets while dragging, scrubbing, playing and rendering."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import bpy
from bpy.app.handlers import persistent

from . import animation
from .order import live_tips
from .solving import ArmaturePass, Touched, solve_armature

_armatures: dict[str, tuple] = {}
"""Under "known": counts of the file's objects and armatures, and the names of its armature objects then."""
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


def armature_objects() -> list[bpy.types.Object]:
    """All armature objects of the file. They are looked for anew when objects come, go or change names."""
    objects = bpy.data.objects
    counts = (len(objects), len(bpy.data.armatures))
    known_counts, keys = _armatures.get("known", (None, ()))
    if known_counts == counts:
        found = [objects.get(key) for key in keys]
        if all(ob is not None and ob.type == "ARMATURE" for ob in found):
            return found  # pyright: ignore[reportReturnType]
    found = [ob for ob in objects if ob.type == "ARMATURE"]
    keys = tuple((ob.name, ob.library.filepath if ob.library else None) for ob in found)
    _armatures["known"] = (counts, keys)
    return found


def solve_scene(
    depsgraph: bpy.types.Depsgraph, frame_changed: bool, touched: Touched | None = None
) -> dict[str, ArmaturePass]:
    """Solve the live chains of every armature that `depsgraph` evaluates; what was done, by object name.

    touched: see `solve_armature`; it is given the armature object too.
    """
    done = {}
    for ob in armature_objects():
        evaluated = ob.evaluated_get(depsgraph)
        # An object that is not part of the evaluated scene is its own evaluated copy.
        in_scene = evaluated.is_evaluated and evaluated.pose is not None
        if in_scene and ob.mode != "EDIT" and ob.data.pose_position == "POSE":
            done[ob.name_full] = solve_armature(ob, depsgraph, frame_changed, touched)
    return done


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
    if not reposed <= set(armature_objects()):
        # One came while another object went: the file has as many as before.
        _armatures.clear()
    if moved or reposed:
        _guarded(depsgraph, False, lambda ob, tip: _reads(ob, tip, moved, reposed))


@persistent
def load_post(*_: object) -> None:
    """Another file. Its first evaluation may bring keyed bones back to their FK pose, and calls no other handler."""
    undo_post()
    if any(ob.pose and live_tips(ob) for ob in armature_objects()):
        _guarded(bpy.context.evaluated_depsgraph_get(), False, None)


@persistent
def undo_post(*_: object) -> None:
    """Another state of the file: nothing that was known holds."""
    _armatures.clear()
    _reported.clear()
    animation.forget()


def _reads(ob: bpy.types.Object, tip: bpy.types.PoseBone, moved: set, reposed: set) -> bool:
    """Whether the chain of `tip` reads an object that moved, or a bone of an armature that was posed anew."""
    if ob in moved or ob in reposed:
        return True
    return any(
        control is not None and (control.original in moved or control.original in reposed)
        for control in (tip.analytic_ik_target, tip.analytic_ik_pole_target)
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
