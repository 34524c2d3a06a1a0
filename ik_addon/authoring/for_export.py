"""Every clip baked under its own name on an armature without controls, ready for an exporter, and the way back."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import bpy

from .. import messages
from ..bake.baking import chains_of
from ..bake.clips import channels_of_clips, clips_baked, rigged_clips
from ..bake.report import publish
from ..bake.stepping import Steps, at_once
from ..rig.blender.animation import bone_of_path
from ..rig.blender.armatures import armature_objects
from ..rig.blender.clips import Clip, baked_from, clip_in, clip_name, clips_of, is_in_place, playing_clip, replaced_by
from ..rig.data.control_clips import controls_follow, partner, remove_partner, separate_controls
from ..rig.data.export_stash import (
    bring_back,
    has_aside,
    held_by_bones,
    live_copy,
    put_action_aside,
    put_bones_aside,
    put_object_aside,
    take_name,
)
from ..rig.data.records import footprint_of
from ..rig.data.undoing import all_or_nothing
from ..solvers import ChainError
from .control_bones import is_widget
from .controls import controls_of, delete_controls, unused
from .placing import Control


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
    clips, held, moved = rigged_clips(ob), held_by_bones(ob), channels_of_clips(ob)
    actions = list(dict.fromkeys(clip.action for clip in clips))
    for action in actions:
        if not action.is_editable:
            raise ChainError(messages.ACTION_LINKED(action=action.name))
    left_out = list(dict.fromkeys(_left_out(ob)))
    # What plays on nothing but what is left out FBX would show on the armature too.
    own = {partner(control, clip) for control in separate_controls(ob) for clip in clips}
    own |= {playing_clip(control) for control in left_out}
    rest = (each for each in bpy.data.objects if each not in left_out)
    played = {clip.action for clip in (*clips, *map(playing_clip, rest)) if clip is not None}
    alone = dict.fromkeys(clip.action for clip in own if clip is not None and clip.action not in played)
    unseen = [*_sources(ob, clips), *(action for action in alone if action.is_editable)]
    with all_or_nothing([ob]):
        copies = {action: live_copy(action) for action in actions}
        report = yield from clips_baked(context, chains, "CURRENT")
    freed = {bone for bone, _ in channels_of_clips(ob) - moved}
    put_bones_aside(ob, {name: own for name, own in held.items() if own[0] or own[1] or name in freed})
    for action, copy in copies.items():
        put_action_aside(ob, action, copy)
    for action in unseen:
        put_action_aside(ob, action)
    for control in left_out:
        put_object_aside(ob, control)
    names, called = [clip_name(clip, clips) for clip in clips], _take_names(actions, unseen)
    clips = [replace(clip, name=called.get(clip.name, clip.name)) for clip in clips]
    now = dict(zip(names, (clip_name(clip, clips) for clip in clips), strict=True))
    return publish(*({**entry, "clip": now[entry["clip"]]} for entry in report["files"]))


bake_clips_for_export = at_once(clips_baked_for_export)


def back_to_live(ob: bpy.types.Object) -> int:
    """Bring the live clips and the controls of an armature object back, and switch its chains on as they were.

    What was baked goes. Returns the number of clips. Raises ChainError if nothing was baked for export.
    """
    if not has_aside(ob):
        raise ChainError(messages.NOT_BAKED_FOR_EXPORT(armature=ob.name))
    count = bring_back(ob)
    controls_follow(ob)
    return count


def strips_not_followed(ob: bpy.types.Object) -> list[str]:
    """The names of NLA strips that an exporter would show with limbs in wrong places, while chains are live.

    Controls that are objects play what belongs to a clip at the clip's own frames, and one clip at a time.
    """
    if ob.animation_data is None or not chains_of([ob]):
        return []
    controls, found = separate_controls(ob), []
    for track in ob.animation_data.nla_tracks if controls else ():
        heard = [strip for strip in track.strips if strip.action is not None and not strip.mute]
        for strip in heard:
            clip = clip_in(strip.action, getattr(strip, "action_slot_handle", 0))
            follows = len(heard) == 1 and strip.blend_type == "REPLACE" and is_in_place(strip)
            if not follows and any(partner(control, clip) for control in controls):
                found.append(strip.name)
    return found


def _sources(ob: bpy.types.Object, clips: Sequence[Clip]) -> list[bpy.types.Action]:
    """The actions from which clips were made, or that were baked from them before, and that are no clips themselves:
    exporters would show them beside."""
    played, actions = {clip.action for clip in clips_of(ob)}, {clip.action for clip in clips}
    found = [action for action in bpy.data.actions if baked_from(action) in actions]
    for clip in clips:
        action = replaced_by(clip.action)
        while action is not None and action not in found:
            found.append(action)
            action = replaced_by(action)
    return [action for action in found if action not in played and action.is_editable]


def _take_names(actions: Sequence[bpy.types.Action], unseen: Sequence[bpy.types.Action]) -> dict[str, str]:
    """Let what was made of a clip that nobody sees have its name: games ask for "walk", and not for "walk planted".

    Returns the new names by those of before.
    """
    free, called = list(unseen), {}
    for action in actions:
        source = replaced_by(action)
        while source is not None and replaced_by(source) in free:
            source = replaced_by(source)
        if source in free:
            free.remove(source)
            name = action.name
            take_name(action, source)
            called[name] = action.name
    return called


def _left_out(ob: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """The objects that nobody needs in a game: Empties that are controls or footprints, and shapes of control bones.

    Controls of another armature's live chains stay.
    """
    others = [other for other in armature_objects() if other != ob and chains_of([other])]
    needed = {control for other in others for control in separate_controls(other)}
    yield from (each for each in separate_controls(ob) if each.type == "EMPTY" and each not in needed)
    yield from (each for each in bpy.data.objects if (kept := footprint_of(each)) and kept.armature == ob)
    yield from (bone.custom_shape for bone in ob.pose.bones if bone.custom_shape and is_widget(bone.custom_shape))


def controls_of_chains(ob: bpy.types.Object) -> list[Control]:
    """The targets and pole targets of all chains of an armature object."""
    return list(dict.fromkeys(control for bone in ob.pose.bones for control in controls_of(bone)))


def remove_controls(
    ob: bpy.types.Object, controls: Iterable[Control], actions: Iterable[bpy.types.Action] = ()
) -> None:
    """Delete controls of an armature object that no chain follows any more, and their keys in all of its clips.

    What else uses one, such as a constraint, keeps it. actions: what they played besides; it goes if nothing uses it.
    """
    going = [control for control in unused(controls) if control.bone or not _is_used(control.ob)]
    empties = [control.ob for control in going if not control.bone]
    bones = {control.bone for control in going if control.bone and control.ob == ob}
    clips = clips_of(ob)
    for clip in clips:
        for control in empties:
            remove_partner(control, clip)
        for curves in clip.curves:
            for curve in [each for each in curves if bone_of_path(each.data_path)[0] in bones]:
                curves.remove(curve)
    actions = {*actions, *(clip.action for clip in map(playing_clip, empties) if clip)}
    actions -= {clip.action for clip in clips}
    delete_controls(ob, going)
    for action in actions & {*bpy.data.actions}:
        # An exporter of all actions would take it for a clip.
        if action.users <= action.use_fake_user:
            bpy.data.actions.remove(action)


def _is_used(empty: bpy.types.Object) -> bool:
    """Whether anything but the scenes and collections that it is in uses an Empty."""
    [users] = bpy.data.user_map(subset=[empty]).values()  # pyright: ignore[reportCallIssue]
    return any(not isinstance(user, bpy.types.Scene | bpy.types.Collection) for user in users)
