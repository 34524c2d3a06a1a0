"""The application handlers: chains follow their targets while dragging, scrubbing, playing and rendering."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps

import bpy
from bpy.app.handlers import persistent

from .. import messages
from . import animation, armatures, hidden
from .evaluating import evaluate, is_evaluating
from .kept import has_lost_controls, keep_all
from .order import ChainName, live_tips
from .others import come_last, moved_meanwhile, others_handle, others_handle_frames
from .plan import Plan
from .preparing import bring_chains_up_to_date, prepare, shown_tips
from .rendering import is_render_thread, is_rendering
from .solving import solve_scene
from .tracks import EvaluatedPlaces

_STRUCTURE = ("ACTION", "ARMATURE", "COLLECTION", "SCENE")
"""Kinds of data whose change may change how chains are solved; objects that only move do not."""
_CATCH_UP = 0.2
"""Seconds from one look whether a render is done to the next."""

_paused: list[object] = []
_reported: set[str] = set()
_plans: dict[int, Plan] = {}
"""By the scene's session number how its chains are solved: of the scene that was evaluated last."""


@contextmanager
def paused() -> Iterator[None]:
    """Inside, the handlers do nothing: whoever steps the frames solves the chains itself.

    They are told of nothing that changes meanwhile, so what was known is doubtful afterwards.
    """
    token = object()
    _paused.append(token)
    try:
        yield
    finally:
        _paused.remove(token)
        animation.forget()
        for plan in _plans.values():
            plan.doubtful = True


def way_of(scene: bpy.types.Scene, chain: ChainName) -> str:
    """How a chain is solved at frame changes, as a sentence; "": that is not known yet."""
    plan = _plans.get(scene.session_uid)
    return plan.way_of(scene, chain) if plan else ""


def known_plan(scene: bpy.types.Scene) -> Plan | None:
    """How the chains of a scene are solved, where that is certain; nothing is read for it."""
    plan = _plans.get(scene.session_uid)
    return plan if plan is not None and not plan.doubtful and not _paused else None


def plan_of(context: bpy.types.Context) -> Plan:
    """How the chains of the scene are solved as it stands; they are solved where that is not known."""
    animation.forget()
    depsgraph = context.evaluated_depsgraph_get()
    plan = _plans.get(context.scene.session_uid)
    if plan is None or not plan.is_shown(depsgraph) or not plan.holds():
        _solve_anew(context.scene, depsgraph, frame_changed=False)
    if context.scene.session_uid not in _plans:
        # A chain follows another bone than before, and is read once more now that it does.
        _solve_anew(context.scene, context.evaluated_depsgraph_get(), frame_changed=False)
    return _plans[context.scene.session_uid]


def _guarded(handler):
    """A handler that does nothing while paused, and whose errors go to the console, once, and never to the user."""

    @persistent
    @wraps(handler)
    def guarded(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
        if _paused or is_evaluating():
            return
        try:
            handler(scene, depsgraph)
        except Exception:
            _plans.clear()
            text = traceback.format_exc()
            if text not in _reported:
                _reported.add(text)
                print(messages.HANDLER_FAILED(trace=text))

    return guarded


@_guarded
def frame_change_pre(scene: bpy.types.Scene, _: object) -> None:
    """Before a frame is evaluated: write the chains whose controls can be sampled. So it is evaluated only once."""
    come_last("frame_change_post", frame_change_post)
    plan = _plans.get(scene.session_uid)
    if plan is None or hidden.is_due():
        prepare(scene)
    if plan is None:
        return
    if ((plan.doubtful or _changes_pending(scene)) and not _holds(plan)) or not plan.before_frame(scene):
        _plans.clear()
        prepare(scene)


@_guarded
def frame_change_post(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """After a frame was evaluated: solve the other chains. What they write is evaluated in the same frame change."""
    hidden.evaluated()
    plan, others = _plans.get(scene.session_uid), others_handle_frames()
    if others_handle("frame_change_post"):
        evaluate(depsgraph)
    if plan is not None and plan.settled and not others:
        # Settled is what was written before this frame: before the next one it is said anew.
        plan.settled = False
        return
    if depsgraph.mode == "RENDER":
        # There animation must first be brought to the originals, which only the pass over everything does.
        if plan is None or others or not plan.all_before():
            solve_scene(depsgraph, frame_changed=True)
        return
    if plan is not None and plan.all_before() and _is_partial(scene, depsgraph):
        return
    if others and plan is not None and not plan.intact():
        plan = None
    if plan is None or plan.misses(depsgraph) or not plan.after_frame(EvaluatedPlaces(depsgraph), others):
        _solve_anew(scene, depsgraph, frame_changed=True)
    elif plan.unsteady:
        solve_scene(depsgraph, True, lambda tip: _name_of(tip) in plan.unsteady)


@_guarded
def depsgraph_update_pre(scene: bpy.types.Scene, _: object) -> None:
    """Before something that was moved by hand is evaluated: write the chains that follow it, where that is certain."""
    if is_rendering():
        return
    come_last("depsgraph_update_post", depsgraph_update_post)
    plan, layer = _plans.get(scene.session_uid), bpy.context.view_layer
    depsgraph = layer.depsgraph if layer else None
    other_layer = plan is not None and layer is not None and plan.layer != layer.name
    if plan is None or depsgraph is None or other_layer or hidden.is_due() or _restructured(depsgraph):
        # In time for this update.
        prepare(scene)
        if plan is not None:
            plan.doubtful = True
        return
    if plan.doubtful or not plan.armatures or not depsgraph.id_type_updated("OBJECT"):
        return
    originals = [each.id.original for each in depsgraph.updates]
    moved = {each.session_uid: each for each in originals if isinstance(each, bpy.types.Object)}
    if not plan.before_update(depsgraph, moved):
        _plans.clear()


@_guarded
def depsgraph_update_post(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """After something changed within a frame: solve the chains that read it."""
    if is_rendering():
        # What is written now would be in its picture.
        _catch_up_later()
        return
    hidden.evaluated()
    if depsgraph.id_type_updated("ACTION") or depsgraph.id_type_updated("ARMATURE"):
        animation.forget()
    moved, reposed = set(), set()
    if depsgraph.id_type_updated("OBJECT"):
        for update in depsgraph.updates:
            if isinstance(update.id, bpy.types.Object):
                if update.is_updated_transform:
                    moved.add(update.id.original)
                if update.is_updated_geometry and update.id.type == "ARMATURE":
                    reposed.add(update.id.original)
    if reposed and not reposed <= set(armatures.armature_objects()):
        # One came while another object went: the file has as many as before.
        armatures.forget()
    plan = known = _plans.get(scene.session_uid)
    if plan is not None:
        reposed -= plan.early()
    if others_handle("depsgraph_update_post") and moved_meanwhile(depsgraph):
        evaluate(depsgraph)
        _solve_anew(scene, depsgraph, frame_changed=False)
        return
    restructured = reposed or any(map(depsgraph.id_type_updated, _STRUCTURE))
    if plan is not None and (plan.doubtful or restructured) and not plan.holds():
        plan = None
    if plan is None:
        if moved or reposed or known:
            _solve_anew(scene, depsgraph, frame_changed=False)
    elif moved or reposed:
        changed = {ob.session_uid for ob in moved | reposed}
        if plan.misses(depsgraph) or not plan.update(EvaluatedPlaces(depsgraph), changed):
            _solve_anew(scene, depsgraph, frame_changed=False)
        elif plan.unsteady:
            solve_scene(depsgraph, False, lambda tip: _name_of(tip) in plan.unsteady and _reads(tip, moved, reposed))


@persistent
def load_post(*_: object) -> None:
    """Another file. Its first evaluation may bring keyed bones back to their FK pose, and calls no other handler."""
    undo_post()
    for ob in armatures.armature_objects():
        if ob.pose and ob.override_library:
            # What is kept there is what the library's file kept.
            keep_all(ob)
    if any(ob.pose and live_tips(ob) for ob in armatures.armature_objects()):
        prepare(bpy.context.scene, at_load=True)
        with paused():
            depsgraph = bpy.context.evaluated_depsgraph_get()
        _guarded(lambda *_: solve_scene(depsgraph, frame_changed=False))(bpy.context.scene)


@persistent
def undo_post(*_: object) -> None:
    """Another state of the file: nothing that was known holds."""
    armatures.forget()
    hidden.forget_noted()
    _reported.clear()
    animation.forget()
    _plans.clear()


def _catch_up_later() -> None:
    """Nothing follows what is changed while the window renders: see to it when that is done."""
    for plan in _plans.values():
        plan.doubtful = True
    if not bpy.app.timers.is_registered(_catch_up):
        bpy.app.timers.register(_catch_up, first_interval=_CATCH_UP)


def _catch_up() -> float | None:
    """Once no render is on its way any more, have all chains solved. Returns when to look again."""
    if is_rendering():
        return _CATCH_UP
    _look_at_the_file()
    return None


def _solve_anew(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, frame_changed: bool) -> None:
    """Read and solve everything, and keep what stays the same."""
    _plans.clear()
    followed = bring_chains_up_to_date()
    hidden.note_hidden(shown_tips())
    done = solve_scene(depsgraph, frame_changed)
    if not followed:
        # Else what was solved is what was said of the chains before.
        _plans[scene.session_uid] = Plan(done, depsgraph)


def _holds(plan: Plan) -> bool:
    animation.forget()
    return plan.holds()


def _changes_pending(scene: bpy.types.Scene) -> bool:
    """Whether a script has changed something that has not been evaluated yet: no handler was told of it."""
    if is_render_thread():
        # What the window shows may be changing at this moment.
        return True
    layer = bpy.context.view_layer
    if layer is None or layer.id_data != scene:
        # Nothing shows this scene.
        return True
    depsgraph = layer.depsgraph
    return depsgraph is None or bool(depsgraph.updates)


def _restructured(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether before this update bones may have got other names, things come or gone, or a pose was pasted."""
    if any(map(depsgraph.id_type_updated, _STRUCTURE)):
        return True
    if not depsgraph.id_type_updated("OBJECT"):
        return False
    originals = (each.id.original for each in depsgraph.updates)
    return any(isinstance(each, bpy.types.Object) and each.pose and has_lost_controls(each) for each in originals)


def _is_partial(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether a depsgraph evaluates a few objects alone, as for motion paths: controls are not among them."""
    return all(layer.depsgraph != depsgraph for layer in scene.view_layers)


def _name_of(tip: bpy.types.PoseBone) -> ChainName:
    return ChainName(tip.id_data.original.name_full, tip.name)


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


_HANDLERS = {
    "frame_change_pre": frame_change_pre,
    "frame_change_post": frame_change_post,
    "depsgraph_update_pre": depsgraph_update_pre,
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
    # While an add-on is being enabled Blender may not show its data yet.
    if hasattr(bpy.data, "objects"):
        _look_at_the_file()
    else:
        bpy.app.timers.register(_look_at_the_file, first_interval=0.0)


def _look_at_the_file() -> None:
    """The file that is open may have chains: they follow at once, not only when something moves."""
    undo_post()
    for ob in armatures.armature_objects():
        animation.revive_drivers(ob)
        if ob.pose and live_tips(ob):
            ob.update_tag()


def unregister() -> None:
    """Take the handlers off, also those that an earlier load of this module left."""
    if bpy.app.timers.is_registered(_catch_up):
        bpy.app.timers.unregister(_catch_up)
    for name, handler in _HANDLERS.items():
        handlers = getattr(bpy.app.handlers, name)
        for other in list(handlers):
            if (other.__module__, other.__name__) == (handler.__module__, handler.__name__):
                handlers.remove(other)
    if bpy.app.timers.is_registered(_look_at_the_file):
        bpy.app.timers.unregister(_look_at_the_file)
