"""The depsgraphs that show a scene, evaluations without the add-on's handlers, and renders in their own thread.

And F-Curves of chains' bones that are silent there: what is written into evaluated bones before a frame would be lost
to the keys of these bones. Blender plays what the evaluated copy of an action says; the user's own is never changed.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import bpy
import numpy as np

from .animation import bone_of_path, current_fcurve_collections, plays
from .armatures import armature_objects
from .file_memory import file_memory, session

Graphs = Sequence[bpy.types.Depsgraph]
"""The depsgraphs that show a scene."""


@contextmanager
def _evaluating() -> Iterator[list[bool]]:
    called = [False]
    try:
        session.evaluations.append(called)
        yield called
    finally:
        # By identity: two of them may be equal.
        session.evaluations[:] = [each for each in session.evaluations if each is not called]


def evaluate(depsgraph: bpy.types.Depsgraph) -> None:
    """Evaluate all that has changed since the depsgraph was. What was taken from it before is gone afterwards."""
    _keep_objects(depsgraph)
    with _evaluating():
        depsgraph.update()


def evaluate_waiting(depsgraph: bpy.types.Depsgraph) -> bool:
    """Evaluate what other handlers have changed since the depsgraph was evaluated, if anything; whether it was.

    Nothing tells beforehand whether anything waits, but Blender's own question of scripts for what is shown to them;
    elsewhere it is evaluated once more in any case.
    """
    layer = bpy.context.view_layer
    if layer is None or layer.depsgraph != depsgraph:
        evaluate(depsgraph)
        return True
    _keep_objects(depsgraph)
    with _evaluating() as called:
        bpy.context.evaluated_depsgraph_get()
        return called[0]


def _keep_objects(depsgraph: bpy.types.Depsgraph) -> None:
    """Up to 5.0 Blender copies a scene that has changed once more, and forgets which objects it has: it crashes when
    one is tagged. Tagged itself, the scene knows them."""
    if depsgraph.id_type_updated("SCENE"):
        depsgraph.scene.update_tag()


def shown_layers(scene: bpy.types.Scene) -> list[bpy.types.ViewLayer]:
    """The view layers of a scene that windows and scripts show."""
    context = bpy.context
    own, manager = context.view_layer, context.window_manager
    layers = [own] if own is not None and own.id_data == scene else []
    for window in manager.windows if manager else ():
        if window.scene == scene and window.view_layer not in layers:
            layers.append(window.view_layer)
    # The stubs take it for a method.
    return layers  # pyright: ignore[reportReturnType]


def shown_graphs(scene: bpy.types.Scene) -> list[bpy.types.Depsgraph]:
    """The depsgraphs that evaluate a scene for windows and for scripts.

    No handler is told of a layer that plays in a second window.
    """
    return [graph for layer in shown_layers(scene) if (graph := layer.depsgraph) is not None]


def next_graph(graphs: Graphs) -> bpy.types.Depsgraph | None:
    """Of the depsgraphs that show a scene the one that Blender evaluates next, as far as can be told: handlers that are
    called before an evaluation are told the scene alone. In what was evaluated just now next to nothing waits."""
    return max(graphs, key=lambda graph: len(graph.updates)) if len(graphs) > 1 else graphs[0] if graphs else None


def is_shown(depsgraph: bpy.types.Depsgraph, scene: bpy.types.Scene) -> bool:
    """True if a depsgraph evaluates a scene for a window or for scripts."""
    layer = bpy.context.view_layer
    # Mostly it is this one, and windows need not be gone through.
    return (layer is not None and layer.depsgraph == depsgraph) or depsgraph in shown_graphs(scene)


def is_evaluating() -> bool:
    """Whether handlers, which ask, are called on behalf of one of these."""
    if session.evaluations:
        session.evaluations[-1][0] = True
    return bool(session.evaluations)


# A thread sees what was set in itself only, and Blender imports add-ons in its main thread.
_IN_MAIN_THREAD = ContextVar("analytic_ik_in_main_thread", default=False)
_IN_MAIN_THREAD.set(True)


def is_render_thread() -> bool:
    """Whether who asks is called by a render that has a thread of its own."""
    return not _IN_MAIN_THREAD.get()


def is_rendering() -> bool:
    """Whether such a render is on its way. One that a script waits for is none: it runs in the script's own thread."""
    return bool(bpy.app.is_job_running("RENDER"))


def silent_channels(ob: bpy.types.Object, ob_evaluated: bpy.types.Object) -> set[tuple[str, str, int]]:
    """Bone, property and index of what the evaluated copy of an armature object does not take from F-Curves."""
    curves = {k for (uid, _), own in file_memory.silent.items() if uid == ob.session_uid for k in own}
    home = _home(ob_evaluated) if curves else None
    if home is None:
        return set()
    silent = (home[k] for k in curves if k < len(home) and home[k].mute)
    return {(*bone_of_path(curve.data_path), curve.array_index) for curve in silent}


def curves_of(ob: bpy.types.Object, paths: set[str]) -> list[int]:
    """The places of the F-Curves of these paths among those of an original object's action."""
    homes = current_fcurve_collections(ob.animation_data) if paths and ob.animation_data else []
    return [k for home in homes[:1] for k, curve in enumerate(home) if curve.data_path in paths and plays(curve)]


def plays_alone(ob: bpy.types.Object) -> bool:
    """True if nothing but an object plays its action, or its slot of it."""
    data = ob.animation_data
    if data is None or data.action is None:
        return True
    slot = getattr(data, "action_slot", None)
    return len(slot.users()) == 1 if slot is not None else data.action.users - data.action.use_fake_user == 1


def silence(ob: bpy.types.Object, scene: bpy.types.Scene, graphs: Graphs, curves: list[int]) -> bool:
    """Silence F-Curves of an original armature object in the depsgraphs that show a scene; False where that cannot be
    done."""
    if not plays_alone(ob):
        return False
    key = ob.session_uid, scene.session_uid
    others, file_memory.silent[key] = file_memory.silent.get(key, []), curves
    done = True
    for copy in (ob.evaluated_get(graph) for graph in graphs):
        home = _home(copy)
        if home is None or len(home) <= curves[-1]:
            done = False
        # Both ends: keys that came or went have moved the others.
        elif curves != others or not (home[curves[0]].mute and home[curves[-1]].mute):
            done &= _set_flags(ob, copy, curves)
    return done


def _set_flags(ob: bpy.types.Object, ob_evaluated: bpy.types.Object, curves: Sequence[int] = ()) -> bool:
    """Mute what the user's own action mutes, and these F-Curves; False if another action was copied, or it has others.

    Only the original object is asked for that action: what the copy came from may be deleted, and gone.
    """
    home, action = _home(ob_evaluated), ob.animation_data.action if ob.animation_data else None
    if home is None or action is None or ob_evaluated.animation_data.action.name_full != action.name_full:
        return False
    homes = current_fcurve_collections(ob.animation_data)
    if len(homes) != 1 or len(homes[0]) != len(home):
        return False
    flags = np.empty(len(home), bool)
    homes[0].foreach_get("mute", flags)
    flags[list(curves)] = True
    home.foreach_set("mute", flags)
    return True


def restore_keys(scene: bpy.types.Scene, but: Collection[int] = ()) -> list[bpy.types.Object]:
    """Have the F-Curves play again in what shows a scene, as the user's own actions say; but: not those of the armature
    objects with these session numbers. Returns the objects."""
    uids = {uid for uid, shown_in in file_memory.silent if shown_in == scene.session_uid and uid not in but}
    found = [ob for ob in armature_objects() if ob.session_uid in uids] if uids else []
    for uid in uids:
        del file_memory.silent[uid, scene.session_uid]
    # Also in what no window shows any more.
    graphs = [layer.depsgraph for layer in scene.view_layers if layer.depsgraph is not None] if found else []
    for ob in found:
        for graph in graphs:
            if not _set_flags(ob, ob.evaluated_get(graph)) and ob.animation_data:
                # Copies made anew play. What was silent may have become a strip.
                strips = [strip for track in ob.animation_data.nla_tracks for strip in track.strips]
                for action in filter(None, [ob.animation_data.action, *(strip.action for strip in strips)]):
                    action.update_tag()
    return found


def restore_all_keys() -> list[bpy.types.Object]:
    """Have all F-Curves play again."""
    # While an add-on is being enabled Blender may not show its data.
    return [ob for scene in bpy.data.scenes for ob in restore_keys(scene)] if file_memory.silent else []


def _home(ob_evaluated: bpy.types.Object) -> bpy.types.bpy_prop_collection | None:
    """The F-Curves of the action of an armature object as it is evaluated; None where it is not."""
    # Before its first evaluation a depsgraph has nothing but a placeholder, which is no object.
    data = getattr(ob_evaluated, "animation_data", None) if ob_evaluated.is_evaluated else None
    action = data.action if data else None
    if not isinstance(action, bpy.types.Action) or not action.is_evaluated:
        return None
    homes = current_fcurve_collections(data)
    return homes[0] if len(homes) == 1 else None
