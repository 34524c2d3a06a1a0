"""Handlers of other add-ons: what they move is followed in the same frame."""

from collections.abc import Callable

import bpy

from .armatures import posed_armatures
from .order import live_tips


def others_handle_frames() -> bool:
    """Whether there are handlers that may move what no F-Curve moves."""
    handlers = bpy.app.handlers
    return len(handlers.frame_change_pre) > 1 or len(handlers.frame_change_post) > 1


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
