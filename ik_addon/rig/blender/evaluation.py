"""The depsgraphs that show a scene, evaluations without the add-on's handlers, and renders in their own thread."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import bpy

Graphs = Sequence[bpy.types.Depsgraph]
"""The depsgraphs that show a scene."""

_busy: list[list[bool]] = []
"""For each evaluation in the middle of a pass whether handlers were called."""


@contextmanager
def _evaluating() -> Iterator[list[bool]]:
    called = [False]
    try:
        _busy.append(called)
        yield called
    finally:
        # By identity: two of them may be equal.
        _busy[:] = [each for each in _busy if each is not called]


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
    if _busy:
        _busy[-1][0] = True
    return bool(_busy)


# A thread sees what was set in itself only, and Blender imports add-ons in its main thread.
_IN_MAIN_THREAD = ContextVar("analytic_ik_in_main_thread", default=False)
_IN_MAIN_THREAD.set(True)


def is_render_thread() -> bool:
    """Whether who asks is called by a render that has a thread of its own."""
    return not _IN_MAIN_THREAD.get()


def is_rendering() -> bool:
    """Whether such a render is on its way. One that a script waits for is none: it runs in the script's own thread."""
    return bool(bpy.app.is_job_running("RENDER"))
