"""What is done at once where something of a capture is dragged: footprints take their feet along, and with Auto Keying
on a control that is moved is corrected.
"""

import bpy

from ... import messages
from ...authoring.selection import chain_armature
from ...rig.blender.file_memory import file_memory
from ...rig.live.state import memory
from ...rig.model.order import has_live_chains
from ..base import redraw_panels

_APPLY = "apply_correction"
_GROUPED = {"Move": "correct_moved", "Rotate": "correct_rotated", "Grab": "correct_grabbed"}
"""By the name of what moved a control, the operator that is one step of the undo history with it."""


def _looked(scene: bpy.types.Scene, keys_changed: bool) -> None:
    # Only who corrects needs it.
    from ...planting.scene.control_tracks import keyed_controls
    from ...planting.scene.keyed_moves import are_remembered, keyed_moves, remember_keys

    ob, done = chain_armature(bpy.context), bpy.context.window_manager.operators
    looked, operator = file_memory.looked, done[-1].as_pointer() if done else 0
    # A move and the next frame may come in one update, which says of all keys that they have changed.
    keys_changed |= looked.get("operator", operator) != operator
    looked["operator"] = operator
    file_memory.visited.add(scene.frame_current_final)
    if ob is None or not has_live_chains(ob) or bpy.app.timers.is_registered(correct):
        return
    windows = bpy.context.window_manager.windows
    if not are_remembered(ob) or keys_changed:
        if any(window.modal_operators for window in windows):
            # Who drags keys holds them.
            looked["operator"] = -1
            return
        moved, edited = keyed_moves(ob, keyed_controls(ob))
        if moved and not any(each.screen.is_animation_playing for each in windows):
            # Not in a handler: it goes through frames, and Blender has not yet noted the move in the undo history.
            bpy.app.timers.register(correct, first_interval=0.0)
            return
        if moved or edited:
            _stay_keys(ob, [*moved, *edited], messages.KEYS_EDITED())
        remember_keys(ob)
    file_memory.visited = {scene.frame_current_final}


def _stay_keys(ob: bpy.types.Object, frames: list[float], why: str) -> None:
    """Say in the panel that keys at these frames are no corrections, and why: what Blender calls hears nothing else."""
    from ...planting.scene.keyed_moves import note_plain_keys

    note_plain_keys(ob, frames, why)
    redraw_panels()


def correct() -> float | None:
    """Let what Auto Keying has just keyed be a correction, with the options of the last one. Returns the seconds after
    which to try again, while something else is dragged."""
    from ...planting.scene.control_tracks import keyed_controls
    from ...planting.scene.keyed_moves import keyed_moves, remember_keys

    context = bpy.context
    manager = context.window_manager
    if any(window.modal_operators for window in manager.windows):
        return 0.1
    moved = manager.operators[-1].name if manager.operators else ""
    last = manager.operator_properties_last(f"analytic_ik.{_APPLY}")
    options = {key: getattr(last, key) for key in ("fade", "body")} if last else {}
    with context.temp_override(window=next(iter(manager.windows), None)):
        ob = chain_armature(context)
        frames = [*keyed_moves(ob, keyed_controls(ob))[0]] if ob is not None else []
        # The move may have been undone by now.
        if frames:
            try:
                getattr(bpy.ops.analytic_ik, _GROUPED.get(moved, _APPLY))("EXEC_DEFAULT", True, **options)
            except RuntimeError as error:
                _stay_keys(ob, frames, str(error).removeprefix("Error: ").strip())
                remember_keys(ob)
    return None


def _footprints_moved(scene: bpy.types.Scene, footprints: list[bpy.types.Object]) -> bool:
    # Only who has footprints needs planting.
    from ...planting.scene.moved_footprints import follow_footprints

    return follow_footprints(scene, footprints)


def register() -> None:
    """Have the handlers tell of keys and footprints."""
    memory.keys_may_change, memory.footprints_moved = _looked, _footprints_moved


def unregister() -> None:
    """No longer."""
    memory.keys_may_change = memory.footprints_moved = None
    if bpy.app.timers.is_registered(correct):
        bpy.app.timers.unregister(correct)
