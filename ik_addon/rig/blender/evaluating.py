"""The depsgraphs that show a scene, and one evaluated in the middle of a pass without calling the add-on's handlers."""

from collections.abc import Sequence

import bpy

Graphs = Sequence[bpy.types.Depsgraph]
"""The depsgraphs that show a scene."""

_busy: list[object] = []


def evaluate(depsgraph: bpy.types.Depsgraph) -> None:
    """Evaluate all that has changed since the depsgraph was. What was taken from it before is gone afterwards."""
    token = object()
    _busy.append(token)
    if depsgraph.id_type_updated("SCENE"):
        # Up to 5.0 Blender copies the scene once more and forgets which objects it has: it crashes when one is tagged.
        depsgraph.scene.update_tag()
    try:
        depsgraph.update()
    finally:
        _busy.remove(token)


def shown_layers(scene: bpy.types.Scene) -> list[bpy.types.ViewLayer]:
    """The view layers of a scene that windows and scripts show."""
    context = bpy.context
    own, manager = context.view_layer, context.window_manager
    layers = [own] if own is not None and own.id_data == scene else []
    layers += [window.view_layer for window in (manager.windows if manager else ()) if window.scene == scene]
    # The stubs take it for a method.
    return [*dict.fromkeys(layers)] if len(layers) > 1 else layers  # pyright: ignore[reportReturnType]


def shown_graphs(scene: bpy.types.Scene) -> list[bpy.types.Depsgraph]:
    """The depsgraphs that evaluate a scene for windows and for scripts.

    No handler is told of a layer that plays in a second window.
    """
    graphs = (layer.depsgraph for layer in shown_layers(scene))
    return [graph for graph in graphs if graph is not None]


def next_graph(graphs: Graphs) -> bpy.types.Depsgraph | None:
    """Of the depsgraphs that show a scene the one that Blender evaluates next, as far as can be told: handlers that are
    called before an evaluation are told the scene alone. In what was evaluated just now next to nothing waits."""
    return max(graphs, key=lambda graph: len(graph.updates)) if len(graphs) > 1 else next(iter(graphs), None)


def is_shown(depsgraph: bpy.types.Depsgraph, scene: bpy.types.Scene) -> bool:
    """True if a depsgraph evaluates a scene for a window or for scripts."""
    layer = bpy.context.view_layer
    # Mostly it is this one, and windows need not be gone through.
    return (layer is not None and layer.depsgraph == depsgraph) or depsgraph in shown_graphs(scene)


def is_evaluating() -> bool:
    """Whether handlers are called on behalf of `evaluate`."""
    return bool(_busy)
