"""What must be done before chains are read: names followed, records brought up to date, hidden controls asked for."""

from collections.abc import Iterator

import bpy

from . import hidden
from .armatures import armature_objects, is_evaluated_in
from .order import live_tips
from .records import bring_up_to_date
from .renamed import follow_bones


def bring_chains_up_to_date() -> bool:
    """Let chains follow bones that have other names now, and records be as they are kept now. Whether a chain follows
    another bone than before: that is evaluated at the next update."""
    posed = [ob for ob in armature_objects() if ob.pose]
    for ob in posed:
        bring_up_to_date(ob)
    return follow_bones(posed)


def prepare(scene: bpy.types.Scene, at_load: bool = False) -> None:
    """Before something is evaluated: bring the chains up to date, and ask for hidden controls."""
    bring_chains_up_to_date()
    layer = bpy.context.view_layer
    depsgraph = layer.depsgraph if layer is not None and layer.id_data == scene else None
    # In a scene that a window switches to, what depends on what must not change before it is evaluated: 4.2 ends there.
    if at_load or (depsgraph is not None and depsgraph.view_layer_eval is not None):
        hidden.ask_for_hidden(shown_tips())


def shown_tips() -> Iterator[bpy.types.PoseBone]:
    """The tips of live chains that the shown view layer has or evaluates: in another scene its own controls are not
    hidden."""
    layer = bpy.context.view_layer
    if layer is None:
        return
    for ob in armature_objects():
        shown = ob.visible_get(view_layer=layer) or (layer.depsgraph and is_evaluated_in(ob, layer.depsgraph))
        if shown and ob.pose:
            yield from (ob.pose.bones[tip] for tip in live_tips(ob))
