"""The overlay of the 3D view: how far chains reach, where they bend, and how they stand to their targets.

It is drawn by one handler, which exists exactly while a scene of the file has its overlay on. What is drawn is built
anew only where something moved.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import gpu
import numpy as np
from bpy.app.handlers import persistent
from bpy.types import Object

from ... import messages
from ...rig.blender.armatures import armature_objects
from ...rig.live.state import known_plan, memory
from ...rig.model.order import ChainName

if TYPE_CHECKING:
    from .chains import ShownChains

_LINE_WIDTH = 1.6
"""Of all lines, in pixels at a resolution scale of 1."""
_EDGE_WIDTH = 1.8
"""By how much the dark edge is wider, likewise: it sets the lines off from a light ground."""
_EDGE = np.array((0.15, 0.15, 0.15, 0.45), np.float32)
"""What its colour is of that of the line."""

_CHANGING = ("ACTION", "ARMATURE", "COLLECTION", "SCENE")
"""Kinds of data whose change may change which chains are shown, or what of them stays the same."""


class _Drawn:
    """What is kept from redraw to redraw: plain data, and batches of the graphics card.

    scene, mode: for which the chains were looked for. beyond: the chains that were out of reach then.
    plan: how they were solved then, if that holds all that is kept of them. stale: Blender has reported another change
    since; reposed: a change of an armature, which a chain may have moved.
    """

    def __init__(self, scene: bpy.types.Scene, kept: "ShownChains", beyond: frozenset[ChainName]) -> None:
        from .chains import ShownPlaces

        self.scene, self.mode, self.kept, self.beyond = scene.session_uid, scene.analytic_ik_overlay, kept, beyond
        plan = known_plan(scene)
        shown = {ChainName(ob, chain.tip) for ob, chains in kept.chains.items() for chain in chains}
        self.plan = plan if plan is not None and shown <= plan.planned().keys() else None
        self.stale = self.reposed = False
        self.places: ShownPlaces | None = None
        self.batches: tuple[gpu.types.GPUBatch, ...] = ()


@dataclass(slots=True)
class _Drawing:
    """handle: the draw handler, None if there is none. drawn: what was drawn last; None if it no longer holds."""

    handle: object = None
    drawn: _Drawn | None = None


_drawing = _Drawing()


# The handlers


def is_on() -> bool:
    """Whether the draw handler exists."""
    return _drawing.handle is not None


def follow_switches(*_: object) -> None:
    """Put the draw handler on or take it off, as the scenes' switches say."""
    wanted = _wanted()
    if wanted and not is_on():
        _drawing.handle = _view_type().draw_handler_add(_draw, (), "WINDOW", "POST_VIEW")
    elif not wanted:
        _take_off()
    for window in bpy.context.window_manager.windows if bpy.context.window_manager else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def _wanted() -> bool:
    return any(scene.analytic_ik_overlay != "OFF" for scene in bpy.data.scenes)


def _view_type() -> type:
    return bpy.types.SpaceView3D


def _take_off() -> None:
    if is_on():
        _view_type().draw_handler_remove(_drawing.handle, "WINDOW")
        _drawing.handle = None
    _drawing.drawn = None


@persistent
def another_file(*_: object) -> None:
    """Another file, or another state of it: nothing that was known holds."""
    _drawing.drawn = None
    follow_switches()


@persistent
def something_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """After something changed within a frame: note whether the chains that are shown may be others."""
    # A scene may have come or gone, and its switch with it.
    doubtful = depsgraph.id_type_updated("SCENE") or (scene.analytic_ik_overlay != "OFF" and not is_on())
    if doubtful and _wanted() != is_on():
        follow_switches()
    drawn = _drawing.drawn
    if drawn is None or drawn.stale:
        return
    drawn.stale = any(map(depsgraph.id_type_updated, _CHANGING))
    if depsgraph.id_type_updated("OBJECT"):
        for update in depsgraph.updates:
            if isinstance(update.id, Object):
                drawn.reposed |= update.is_updated_geometry
                drawn.stale |= not (update.is_updated_geometry or update.is_updated_transform)


# Drawing


def _draw() -> None:
    """Draw, whatever happens: what is raised goes to the console, once, and never to the user."""
    try:
        _listen()
        _draw_view(bpy.context)
    except Exception:
        _drawing.drawn = None
        memory.tell(messages.OVERLAY_FAILED)


def _listen() -> None:
    """Put the handlers on that another add-on has cleared; what changed meanwhile is not known."""
    for event, handler in _HANDLERS.items():
        handlers = getattr(bpy.app.handlers, event)
        if handler not in handlers:
            handlers.append(handler)
            _drawing.drawn = None


def _draw_view(context: bpy.types.Context) -> None:
    batches = batches_of(context)
    if not batches:
        return
    lines, edges, fill = batches
    draw_lines(context, ((edges, _LINE_WIDTH + _EDGE_WIDTH), (lines, _LINE_WIDTH)), fill)


def draw_lines(
    context: bpy.types.Context,
    lines: Iterable[tuple[gpu.types.GPUBatch, float]],
    fill: gpu.types.GPUBatch | None = None,
) -> None:
    """Draw batches of lines, each with its width in pixels at a resolution scale of 1, over what they fill."""
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    try:
        if fill is not None:
            fill.draw(gpu.shader.from_builtin("SMOOTH_COLOR"))
        shader = gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR")
        shader.bind()
        shader.uniform_float("viewportSize", (context.region.width, context.region.height))
        for batch, width in lines:
            shader.uniform_float("lineWidth", width * context.preferences.system.ui_scale)
            batch.draw(shader)
    finally:
        gpu.state.blend_set("NONE")


def batches_of(context: bpy.types.Context) -> tuple:
    """The lines and the triangles to draw in a 3D view, as batches; () where there is nothing to see."""
    from .chains import chains_out_of_reach, read_places, shapes_of, shown_chains

    space, scene, layer = context.space_data, context.scene, context.view_layer
    mode = scene.analytic_ik_overlay
    if mode == "OFF" or space is None or not space.overlay.show_overlays:
        return ()
    depsgraph = layer.depsgraph
    if depsgraph is None:
        return ()
    drawn = _drawing.drawn
    # All are shown anyway, and what was read of them need not be read again where one leaves its reach.
    beyond = chains_out_of_reach(depsgraph) if mode == "SELECTED" else frozenset()
    wanted = (scene.session_uid, mode, beyond)
    if drawn is None or (drawn.scene, drawn.mode, drawn.beyond) != wanted or _is_stale(drawn, scene):
        drawn = _drawing.drawn = _Drawn(scene, shown_chains(mode, depsgraph, beyond), beyond)
    if not drawn.kept.armatures:
        return ()
    visible = [
        ob
        for ob in armature_objects()
        if ob.name_full in drawn.kept.armatures and ob.mode != "EDIT" and ob.visible_in_viewport_get(space)
    ]
    places = read_places(drawn.kept, visible, depsgraph)
    if places != drawn.places:
        drawn.places = places
        drawn.batches = ()
        if places.shown or places.bodies:
            lines, fill = shapes_of(places)
            edges = batch_of("LINES", lines.points, lines.colours * _EDGE)
            inner = batch_of("LINES", lines.points, lines.colours)
            drawn.batches = inner, edges, batch_of("TRIS", fill.points, fill.colours)
    return drawn.batches


def _is_stale(drawn: _Drawn, scene: bpy.types.Scene) -> bool:
    """Whether what is kept of the chains may be otherwise now; a plan is made anew when that changes."""
    if drawn.reposed and not drawn.stale:
        plan = known_plan(scene)
        drawn.stale, drawn.reposed = plan is None or plan is not drawn.plan, False
    return drawn.stale


def batch_of(kind: str, points: np.ndarray, colours: np.ndarray) -> gpu.types.GPUBatch | None:
    """As the built-in shaders take it; None of nothing."""
    if not len(points):
        return None
    form = gpu.types.GPUVertFormat()
    form.attr_add(id="pos", comp_type="F32", len=3, fetch_mode="FLOAT")
    form.attr_add(id="color", comp_type="F32", len=4, fetch_mode="FLOAT")
    # The stubs say that these two take nothing.
    vertices = gpu.types.GPUVertBuf(form, len(points))  # pyright: ignore[reportCallIssue]
    vertices.attr_fill("pos", np.ascontiguousarray(points, np.float32))
    vertices.attr_fill("color", np.ascontiguousarray(colours, np.float32))
    return gpu.types.GPUBatch(type=kind, buf=vertices)  # pyright: ignore[reportCallIssue]


# The properties


def _switched(_owner: bpy.types.bpy_struct, _context: bpy.types.Context) -> None:
    _drawing.drawn = None
    follow_switches()


_HANDLERS = {
    "load_post": another_file,
    "undo_post": another_file,
    "redo_post": another_file,
    "depsgraph_update_post": something_changed,
}


def register() -> None:
    """The switches, and what follows them."""
    bpy.types.Scene.analytic_ik_overlay = bpy.props.EnumProperty(
        name="Overlay",
        description="Chains to draw in the 3D view",
        items=[
            ("OFF", "Off", "Show no chains", 0),
            (
                "SELECTED",
                "Selected",
                "Show selected and pinned chains, and chains that are out of reach",
                1,
            ),
            ("ALL", "All", "Show all live chains", 2),
        ],
        default="SELECTED",
        override={"LIBRARY_OVERRIDABLE"},
        update=_switched,
    )
    bpy.types.PoseBone.analytic_ik_show_overlay = bpy.props.BoolProperty(
        name="Pin Overlay",
        description="Draw this chain even if it is not selected",
        override={"LIBRARY_OVERRIDABLE"},
        update=_switched,
    )
    for name, handler in _HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)
    # While an add-on is being enabled Blender may not show its data yet.
    if hasattr(bpy.data, "scenes"):
        follow_switches()
    else:
        bpy.app.timers.register(_follow_later, first_interval=0.0)


def _follow_later() -> None:
    if hasattr(bpy.types.Scene, "analytic_ik_overlay"):
        follow_switches()


def unregister() -> None:
    """Take all of it away."""
    _take_off()
    for name, handler in _HANDLERS.items():
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)
    del bpy.types.PoseBone.analytic_ik_show_overlay
    del bpy.types.Scene.analytic_ik_overlay
