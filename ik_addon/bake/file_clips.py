"""Clips of files: what importers leave unsaid, and what exporters would mix."""

import bpy
import numpy as np

from ..rig.blender.animation import fcurve_collections
from ..rig.blender.clips import REST, clips_of, moved_channels, playing_clip
from ..rig.blender.rotations import LOCATION, SCALE, channel_of


def hold_unkeyed() -> None:
    """Key bones in clips that say nothing of them where the imported file has them.

    Exporters put these at rest in all clips but the current one, and a root would be elsewhere.
    """
    for ob in _armatures():
        own = playing_clip(ob)
        shown = moved_channels(own) if own else set()
        size = float(np.mean([bone.length for bone in ob.data.bones]))
        away = {
            (bone.name, channel): tuple(numbers)
            for bone in ob.pose.bones
            for channel in (channel_of(mode)[0] for mode in (LOCATION, bone.rotation_mode, SCALE))
            if np.abs(np.subtract(numbers := getattr(bone, channel), REST[channel])).max()
            > _AWAY * (size if channel == channel_of(LOCATION)[0] else 1.0)
        }
        for clip in clips_of(ob):
            for name, channel in away.keys() - shown - moved_channels(clip):
                for index, number in enumerate(away[name, channel]):
                    curve = clip.curves[0].new(f"{ob.pose.bones[name].path_from_id()}.{channel}", index=index)
                    curve.keyframe_points.insert(_span(clip.curves)[0], number)


_AWAY = 1e-4
"""Part of a bone's length, or of one, by which a channel may be off rest."""


def bystanders_apart() -> None:
    """Give cameras and the like whose keys go on beyond those of an armature in one action an action of their own.

    An exported clip is as long as all that is in its action.
    """
    for ob in _armatures():
        for action in {clip.action for clip in clips_of(ob)}:
            slots: list = list(getattr(action, "slots", ()))
            spans = {slot.identifier: _span(fcurve_collections(action, slot)) for slot in slots}
            led = [spans[slot.identifier] for slot in slots if any(_leads(user) for user in slot.users())]
            if not led:
                continue
            first, last = min(span[0] for span in led), max(span[1] for span in led)
            apart = {
                slot.identifier: slot.users()
                for slot in slots
                if not any(map(_leads, slot.users()))
                and (spans[slot.identifier][0] < first or spans[slot.identifier][1] > last)
            }
            if apart:
                _move_slots(action, apart)


def _armatures() -> list[bpy.types.Object]:
    return [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE" and ob.animation_data]


def _leads(user: bpy.types.ID) -> bool:
    """Whether a clip is as long as what moves this: armatures, and the shapes of what they carry."""
    return isinstance(user, bpy.types.Key) or getattr(user, "type", "") == "ARMATURE"


def _span(homes: list) -> tuple[float, float]:
    """The first and the last frame of keys."""
    ranges = [tuple(curve.range()) for curves in homes for curve in curves if len(curve.keyframe_points)]
    return (min(each[0] for each in ranges), max(each[1] for each in ranges)) if ranges else (np.inf, -np.inf)


def _move_slots(action: bpy.types.Action, apart: dict[str, list[bpy.types.ID]]) -> None:
    """Move slots of an action, by their identifiers with their users, to a copy of it."""
    copy = action.copy()
    copy.name = f"{action.name} others"
    for identifier, users in apart.items():
        for user in users:
            data = user.animation_data
            for player in (data, *(strip for track in data.nla_tracks for strip in track.strips)):
                if player.action == action and player.action_slot and player.action_slot.identifier == identifier:
                    player.action, player.action_slot = copy, copy.slots[identifier]
    for slot in list(copy.slots):
        left = action if slot.identifier in apart else copy
        left.slots.remove(left.slots[slot.identifier])
