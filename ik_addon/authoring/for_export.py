"""Every clip baked under its own name, ready for an exporter, and the way back to live chains."""

from collections.abc import Iterator, Sequence

import bpy

from .. import messages
from ..bake.baking import chains_of
from ..bake.clips import chosen_clips, clips_baked
from ..bake.stepping import Steps, at_once
from ..rig.blender.clips import Clip, clips_of, made_from, moved_channels
from ..rig.data.aside import (
    bring_back,
    has_aside,
    held_by_bones,
    live_copy,
    put_action_aside,
    put_bones_aside,
    put_copy_aside,
    put_object_aside,
)
from ..rig.data.control_clips import controls_follow, partner, separate_controls
from ..rig.data.footprint import footprint_of
from ..rig.data.undoing import all_or_nothing
from ..solvers import ChainError
from .widgets import is_widget


def clips_baked_for_export(context: bpy.types.Context, ob: bpy.types.Object) -> Steps[dict]:
    """In steps: bake all clips of an armature object under their own names, and put aside what exporters need not see.

    Its chains are muted. Aside go the live clips, captures that clips were planted from, and controls that are Empties;
    `back_to_live` brings them back. Returns the report, with an entry for each clip. Raises ChainError, with nothing
    changed.
    """
    if has_aside(ob):
        raise ChainError(messages.BAKED_FOR_EXPORT_ALREADY(armature=ob.name))
    chains = chains_of([ob])
    if not chains:
        raise ChainError(messages.NO_LIVE_CHAIN(armature=ob.name))
    clips, held, moved = chosen_clips(ob, None), held_by_bones(ob), _channels(ob)
    actions = list(dict.fromkeys(clip.action for clip in clips))
    for action in actions:
        if not action.is_editable:
            raise ChainError(messages.ACTION_LINKED(action=action.name))
    sources, partners = _sources(ob, clips), _partners(ob, clips)
    with all_or_nothing([ob, *separate_controls(ob)], actions=actions):
        copies = {action: live_copy(action) for action in actions}
        report = yield from clips_baked(context, chains, "CURRENT")
    freed = {bone for bone, _ in _channels(ob) - moved}
    put_bones_aside(ob, {name: own for name, own in held.items() if own[0] or own[1] or name in freed})
    for action, copy in copies.items():
        put_copy_aside(ob, action, copy)
    for action in (*sources, *partners):
        put_action_aside(ob, action)
    for control in dict.fromkeys(_left_out(ob)):
        put_object_aside(ob, control)
    return report


bake_clips_for_export = at_once(clips_baked_for_export)
"""Bake all clips for an exporter, all at once: see `clips_baked_for_export`."""


def back_to_live(ob: bpy.types.Object) -> int:
    """Bring the live clips and the controls of an armature object back, and switch its chains on as they were.

    What was baked goes. Returns the number of clips. Raises ChainError if nothing was baked for export.
    """
    if not has_aside(ob):
        raise ChainError(messages.NOT_BAKED_FOR_EXPORT(armature=ob.name))
    count = bring_back(ob)
    controls_follow(ob)
    return count


def _channels(ob: bpy.types.Object) -> set[tuple[str, str]]:
    """The channels of bones that any clip sets."""
    return {channel for clip in clips_of(ob) for channel in moved_channels(clip)}


def _sources(ob: bpy.types.Object, clips: Sequence[Clip]) -> list[bpy.types.Action]:
    """The actions from which clips were made, and that are no clips themselves: exporters would show them beside."""
    played, found = {clip.action for clip in clips_of(ob)}, []
    for clip in clips:
        action = made_from(clip.action)
        while action is not None and action not in found:
            found.append(action)
            action = made_from(action)
    return [action for action in found if action not in played and action.is_editable]


def _partners(ob: bpy.types.Object, clips: Sequence[Clip]) -> list[bpy.types.Action]:
    """The actions that controls play beside clips, where these are actions of their own."""
    own = (partner(control, clip) for control in separate_controls(ob) for clip in clips)
    actions = dict.fromkeys(clip.action for clip in own if clip is not None)
    return [action for action in actions if action.is_editable and action not in {clip.action for clip in clips}]


def _left_out(ob: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """The objects that nobody needs in a game: Empties that are controls or footprints, and shapes of control bones."""
    yield from (control for control in separate_controls(ob) if control.type == "EMPTY")
    yield from (each for each in bpy.data.objects if (kept := footprint_of(each)) and kept.armature == ob)
    yield from (bone.custom_shape for bone in ob.pose.bones if bone.custom_shape and is_widget(bone.custom_shape))
