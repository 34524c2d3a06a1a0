"""Handlers of other add-ons: what they move is followed in the same frame."""

from collections.abc import Callable

import bpy

from ..blender.armatures import posed_armatures
from ..model.order import live_tips

_OWN = __name__.rpartition(".rig.")[0]
"""How the names of the add-on's own modules begin."""


def others_handle(event: str) -> bool:
    """Whether there are handlers of others for such events."""
    handlers = getattr(bpy.app.handlers, event)
    return len(handlers) > 1 and not all(getattr(each, "__module__", "").startswith(_OWN) for each in handlers)


def others_handle_frames() -> bool:
    """Whether there are handlers that may move what no F-Curve moves."""
    return others_handle("frame_change_pre") or others_handle("frame_change_post")


def come_last(event: str, own: Callable) -> None:
    """Have a handler of our own called last at the next such event: what others move there is to be followed."""
    handlers = getattr(bpy.app.handlers, event)
    if len(handlers) > 1 and handlers[-1] is not own and own in handlers:
        handlers.remove(own)
        handlers.append(own)


def moved_meanwhile(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether another handler has moved an armature with chains, a target or a pole since that was evaluated."""
    read: set[bpy.types.Object] = set()
    for ob in posed_armatures(depsgraph):
        tips = [ob.pose.bones[name] for name in live_tips(ob)]
        read.update([ob] if tips else [], *((tip.analytic_ik_target, tip.analytic_ik_pole_target) for tip in tips))
    return any(ob is not None and ob.matrix_basis != ob.evaluated_get(depsgraph).matrix_basis for ob in read)
