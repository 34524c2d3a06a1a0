"""Clips, what an armature object can play one at a time (an action, or a slot in one), and the keys in them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import ceil, floor

import bpy

from .animation import bone_of_path, current_fcurve_collections, drivers_of, fcurve_collections, homes_of_strips, plays
from .armatures import armature_objects
from .cleanup import surely
from .dependencies import shares_of
from .rotations import REST

_MADE_FROM = "analytic_ik_made_from"
_BY = "analytic_ik_made_by"
_BESIDE = "analytic_ik_made_beside"
_SLOTTED = hasattr(bpy.types, "ActionSlot")


@dataclass(frozen=True, slots=True)
class Clip:
    """What an object plays: the action of this name, of a linked one in this library, and the number of its slot, 0
    where actions have none.

    By its name: what is brought back after a failure is a copy.
    """

    name: str
    library: str = ""
    slot: int = 0

    @property
    def action(self) -> bpy.types.Action:
        key = self.name, self.library or None
        # The stubs do not know that there is a key for what is not linked.
        return bpy.data.actions[key]  # pyright: ignore[reportCallIssue]

    @property
    def curves(self) -> list:
        return fcurve_collections(self.action, slot_of(self))


def clip_in(action: bpy.types.Action, slot: int = 0) -> Clip:
    """The clip that is an action, or the slot of this number in it."""
    return Clip(action.name, action.library.filepath if action.library else "", slot)


def slot_of(clip: Clip):
    """The slot of a clip's action; None where actions have none, or not this one any more."""
    slots = clip.action.slots if _SLOTTED else ()
    return next((slot for slot in slots if slot.handle == clip.slot), None)


def playing_clip(ob: bpy.types.Object) -> Clip | None:
    """The clip that is assigned to an object."""
    data = ob.animation_data
    return clip_in(data.action, getattr(data, "action_slot_handle", 0)) if data and data.action else None


def shown_clip(ob: bpy.types.Object) -> Clip | None:
    """The clip that is assigned to an object; without one, that of the only NLA strip that is not muted, if it plays
    each frame where the clip has it. Exporters show clips so, one after the other."""
    data = ob.animation_data
    if data is None or data.action is not None or not data.use_nla:
        return playing_clip(ob)
    strips = heard_strips(data)
    clip = next(_strip_clips(strips), None) if len(strips) == 1 else None
    return clip if clip is not None and is_in_place(strips[0]) else None


def heard_strips(data: bpy.types.AnimData) -> list[bpy.types.NlaStrip]:
    """The NLA strips that play at some frame: those that are not muted, in tracks that are not."""
    tracks = list(data.nla_tracks) if data.use_nla else []
    heard = [track for track in tracks if track.is_solo] or [track for track in tracks if not track.mute]
    return [strip for track in heard for strip in track.strips if not strip.mute]


def is_in_place(strip: bpy.types.NlaStrip) -> bool:
    """Whether an NLA strip plays each frame where its action has it."""
    plain = strip.type == "CLIP" and not strip.use_reverse and not strip.use_animated_time
    return plain and strip.scale == 1.0 and strip.repeat == 1.0 and strip.frame_start == strip.action_frame_start


def clips_of(ob: bpy.types.Object, sources: bool = False) -> list[Clip]:
    """The clips of an armature object: the assigned one, others of its action's slots, those of its NLA strips, muted
    or not, and actions that nothing plays if no other armature of the file has their bones.

    An action that was replaced, see `replaced_by`, counts only as long as a strip plays it, or if `sources` are asked
    for: it may be played again. What was baked from one that plays counts only while a strip plays it.
    """
    assigned = playing_clip(ob)
    found = [*_played(ob)]
    if assigned and _SLOTTED:
        others = (clip for clip in _slots(assigned.action) if clip != assigned)
        found[1:1] = [clip for clip in others if all(user == ob for user in slot_of(clip).users())]
    played = {clip for other in bpy.data.objects for clip in _played(other)}
    replaced = set() if sources else {replaced_by(action) for action in bpy.data.actions}
    own, moved, playing = {*ob.pose.bones.keys()}, cache(_bones), {clip.action for clip in found}
    rivals = [{*each.pose.bones.keys()} for each in armature_objects() if each != ob]
    for action in bpy.data.actions:
        is_old = action in replaced or baked_from(action) in playing
        for clip in () if is_old else _slots(action) if _SLOTTED else (clip_in(action),):
            fits = clip not in played and moved(clip) and moved(clip) <= own
            if fits and not any(moved(clip) <= names for names in rivals):
                found.append(clip)
    return [clip for clip in dict.fromkeys(found) if moved(clip) & own]


def clip_name(clip: Clip, clips: Iterable[Clip]) -> str:
    """What a clip is called: as its action, with the slot where several of these clips are in one."""
    alone = sum((each.name, each.library) == (clip.name, clip.library) for each in clips) < 2
    slot = slot_of(clip)
    return clip.action.name if alone or slot is None else _with_slot(clip.action, slot)


def names_of(clip: Clip) -> list[str]:
    """What a report may call a clip: as its action, with or without its slot; then as what it was made from."""
    names, action, slot = [], clip.action, slot_of(clip)
    while action is not None and action.name not in names:
        names += [action.name] if slot is None else [action.name, _with_slot(action, slot)]
        action = made_from(action)
    return names


def clip_called(ob: bpy.types.Object, name: str, made: bool = False) -> Clip | None:
    """The clip of an armature object that a report calls so, the one that it plays if possible; None if it is gone.

    made: rather what was made from it, if there are both.
    """
    found = {clip: names.index(name) for clip in clips_of(ob) if name in (names := names_of(clip))}
    playing = playing_clip(ob)
    if playing in found:
        return playing
    return (max if made else min)(found, key=lambda clip: found[clip], default=None)


def play(ob: bpy.types.Object, clip: Clip | None) -> None:
    """Assign a clip to an object."""
    data = ob.animation_data_create()
    if data.action != (clip.action if clip else None):
        data.action = clip.action if clip else None
    if clip and _SLOTTED and data.action_slot_handle != clip.slot:
        data.action_slot = slot_of(clip)


def is_layered(ob: bpy.types.Object) -> bool:
    """Whether NLA strips have a part in what an object plays."""
    data = ob.animation_data
    return data is not None and bool(heard_strips(data))


@contextmanager
def playing_alone(obs_clips: Iterable[tuple[bpy.types.Object, Clip | None]]) -> Iterator[None]:
    """Inside, each of these objects plays its clip alone, without its NLA tracks."""
    before = []
    for ob, _ in (given := list(obs_clips)):
        data = ob.animation_data_create()
        before.append((ob, playing_clip(ob), data.use_nla))

    def play_again() -> None:
        for ob, clip, use_nla in before:
            play(ob, clip)
            ob.animation_data.use_nla = use_nla

    with surely(play_again):
        for ob, clip in given:
            ob.animation_data.use_nla = False
            play(ob, clip)
        yield


def made_from(action: bpy.types.Action) -> bpy.types.Action | None:
    """The action from which this one was made; None: from none."""
    return linked_action(action, _MADE_FROM)


def replaced_by(action: bpy.types.Action) -> bpy.types.Action | None:
    """The action whose place this one takes, made from it by planting or baking; None: none, it is a clip of its own
    beside what it was made from."""
    return None if _BESIDE in action else made_from(action)


def baked_from(action: bpy.types.Action) -> bpy.types.Action | None:
    """The action from which this one was baked; None: it was not."""
    return replaced_by(action) if action.get(_BY) == "baked" else None


def linked_action(action: bpy.types.Action, name: str) -> bpy.types.Action | None:
    """The action to which a custom property of another points; None: to none.

    Not a registered property: where an action is deleted, Blender 5.0 leaves those of other actions as they are.
    """
    found = action.get(name)
    return found if isinstance(found, bpy.types.Action) else None


def mark_made(action: bpy.types.Action, source: bpy.types.Action, made: str) -> None:
    """Remember from which action this one was made, whose place it takes. made: "baked", "planted" or "matched"."""
    action[_MADE_FROM], action[_BY] = source, made
    # It may be a copy of one that has it.
    action.pop(_BESIDE, None)


def mark_beside(action: bpy.types.Action) -> None:
    """Let an action that was made from another be a clip of its own beside it."""
    action[_BESIDE] = True


def forget_made(action: bpy.types.Action) -> None:
    """Let nothing tell any more that an action was made from another."""
    action.pop(_MADE_FROM, None)


def _with_slot(action: bpy.types.Action, slot) -> str:
    return f"{action.name}: {slot.name_display}"


def _slots(action: bpy.types.Action) -> list[Clip]:
    return [clip_in(action, slot.handle) for slot in action.slots]


def _played(ob: bpy.types.Object) -> Iterator[Clip]:
    data = ob.animation_data
    if data is not None:
        assigned = playing_clip(ob)
        yield from [assigned] if assigned else []
        for track in data.nla_tracks:
            yield from _strip_clips(track.strips)


def _strip_clips(strips: Iterable[bpy.types.NlaStrip]) -> Iterator[Clip]:
    for strip in strips:
        if strip.action is not None:
            yield clip_in(strip.action, getattr(strip, "action_slot_handle", 0))
        yield from _strip_clips(strip.strips)


def _bones(clip: Clip) -> set[str]:
    return {name for name, _ in moved_channels(clip)}


def moved_channels(clip: Clip) -> set[tuple[str, str]]:
    """The channels of bones that a clip sets: names of bones, and paths from there."""
    paths = {curve.data_path for curves in clip.curves for curve in curves}
    return {found for path in paths if (found := bone_of_path(path))[0]}


@contextmanager
def channels_kept(ob: bpy.types.Object, channels: Iterable[tuple[str, str]]) -> Iterator[None]:
    """Afterwards these channels of bones hold what they held before, as far as they place bones."""
    before = [
        (name, channel, tuple(getattr(ob.pose.bones[name], channel)))
        for name, channel in channels
        if name in ob.pose.bones and channel in REST
    ]

    def hold_again() -> None:
        for name, channel, value in before:
            setattr(ob.pose.bones[name], channel, value)

    with surely(hold_again):
        yield


def put_at_rest(ob: bpy.types.Object, channels: Iterable[tuple[str, str]]) -> None:
    """Let these channels of bones hold their rest values, as far as they place bones."""
    for name, channel in channels:
        if name in ob.pose.bones and channel in REST:
            setattr(ob.pose.bones[name], channel, REST[channel])


_PLACING = ("location", "rotation", "scale")
"""How the names of the channels begin that move a bone or an object."""
_WHOLE = 1e-3
"""Part of a frame by which a key may lie beside a whole frame and still counts as on it."""


def has_keys(ob: bpy.types.Object, names: Iterable[str]) -> bool:
    """Whether keys that play move one of these bones of an armature object; the name "" means the object itself."""
    data, moving = ob.animation_data, _moving_paths(names)
    playing = [*_current(data), *homes_of_strips(heard_strips(data))] if data is not None else []
    return any(curve.data_path.startswith(moving) and plays(curve) for curves in playing for curve in curves)


def has_own_motion(ob: bpy.types.Object, bone: str) -> bool:
    """Whether keys, drivers or constraints move a control: an object, or with a name that bone of it."""
    owner = ob.pose.bones.get(bone) if bone and ob.pose else ob
    if owner is None:
        return False
    acts = any(constraint.enabled and constraint.influence > 0.0 for constraint in owner.constraints)
    # What goes along with bones has no motion of its own.
    if acts and not (bone and shares_of(owner)):
        return True
    moving = _moving_paths([bone])
    return any(driver.data_path.startswith(moving) for driver in drivers_of(ob)) or has_keys(ob, [bone])


def motion_frames(ob: bpy.types.Object) -> range | None:
    """The whole frames of the scene over which keys move an object or its bones, parents of the object included.

    Returns None if nothing moves. Keys that are repeated or extended play over the range of the scene too.
    """
    ends, carrier = [], ob
    while carrier is not None:
        ends += _extents(carrier)
        carrier = carrier.parent
    if not ends:
        return None
    first, last = floor(min(ends) + _WHOLE), ceil(max(ends) - _WHOLE)
    return range(first, last + 1) if last > first else None


def motion_of(objects: Iterable[bpy.types.Object]) -> range | None:
    """The frames over which keys move some objects, from the first of all to the last; None if nothing moves."""
    found = [frames for frames in map(motion_frames, objects) if frames is not None]
    return range(min(each.start for each in found), max(each.stop for each in found)) if found else None


def _extents(ob: bpy.types.Object) -> Iterator[float]:
    data, scene = ob.animation_data, bpy.context.scene
    if data is None:
        return
    to_scene = scene.render.frame_map_new / scene.render.frame_map_old
    for strip in heard_strips(data):
        yield from (strip.frame_start * to_scene, strip.frame_end * to_scene)
    for curves in _current(data):
        playing = [*filter(plays, curves)]
        ends = [end for curve in playing for end in curve.range()]
        for end in (min(ends), max(ends)) if ends else ():
            yield data.nla_tweak_strip_time_to_scene(end) * to_scene
        if any(map(_goes_on, playing)):
            yield from (scene.frame_start, scene.frame_end)


def goes_on(ob: bpy.types.Object) -> bool:
    """Whether keys that move an object or its bones are repeated or extended beyond their ends."""
    return any(map(_goes_on, (curve for curves in _current(ob.animation_data) for curve in filter(plays, curves))))


def _goes_on(curve: bpy.types.FCurve) -> bool:
    return curve.extrapolation == "LINEAR" or any(not own.mute for own in curve.modifiers)


def _current(data: bpy.types.AnimData) -> list:
    """The collections of F-Curves of the current action; none if an NLA track plays alone."""
    solo = data is not None and data.use_nla and any(track.is_solo for track in data.nla_tracks)
    return [] if data is None or (solo and not data.use_tweak_mode) else current_fcurve_collections(data)


def _moving_paths(names: Iterable[str]) -> tuple[str, ...]:
    """How the RNA paths begin of what moves some bones of an object; the name "" means the object itself."""
    owners = (f'pose.bones["{bpy.utils.escape_identifier(name)}"].' if name else "" for name in names)
    return tuple(f"{owner}{delta}{channel}" for owner in owners for delta in ("", "delta_") for channel in _PLACING)
