"""A pose into keys of an action, in bulk: the one place that knows how Blender's versions keep them. And the keys of an
F-Curve as arrays: read at once and written at once, all that they are."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import bpy
import numpy as np

from .. import messages
from ..rig.blender.animation import is_driven
from ..rig.blender.clips import Clip, mark_made, play, playing_clip, shown_clip
from ..rig.blender.rotations import channel_of
from ..rig.status.problems import check_changeable
from ..solvers import ChainError

Keys = dict[str, np.ndarray]
"""By attribute what keys have, in order: (n,), or (n, 2) of points."""

_NUMBERS = {"co": 2, "handle_left": 2, "handle_right": 2, "amplitude": 1, "back": 1, "period": 1}
_CHOICES = ("interpolation", "easing", "handle_left_type", "handle_right_type", "type")
_FLAGS = ("select_control_point", "select_left_handle", "select_right_handle")
_KINDS = dict.fromkeys(_NUMBERS, np.float32) | dict.fromkeys(_CHOICES, np.int32) | dict.fromkeys(_FLAGS, np.bool_)

SAME_TIME = 1e-3
"""Frames by which two keys at one time are apart at most."""
_ONE_KEY = 0.01
"""Frames from a key at which Blender inserts no other one."""


@cache
def number_of(attribute: str, identifier: str) -> int:
    """What bulk access takes for the item of an enumeration of keys."""
    return bpy.types.Keyframe.bl_rna.properties[attribute].enum_items[identifier].value


def keys_of(curve: bpy.types.FCurve, names: Iterable[str] = _KINDS) -> Keys:
    """What the keys of an F-Curve have, all or these attributes."""
    points, found = curve.keyframe_points, {}
    for name in names:
        width = _NUMBERS.get(name, 1)
        values = np.empty(len(points) * width, _KINDS[name])
        points.foreach_get(name, values)
        found[name] = values.reshape(-1, width) if width > 1 else values
    return found


def times_of(curve: bpy.types.FCurve) -> np.ndarray:
    """The times of the keys of an F-Curve, (n,)."""
    return keys_of(curve, ("co",))["co"][:, 0].astype(float)


def put_keys(curve: bpy.types.FCurve, keys: Mapping[str, np.ndarray]) -> None:
    """Let the keys of an F-Curve have these attributes. Handles that Blender sets by itself are set with its next
    update."""
    # Numbers last: kinds of handles would move them.
    for name in (*_CHOICES, *_FLAGS, *reversed(_NUMBERS)):
        if name in keys:
            curve.keyframe_points.foreach_set(name, np.ascontiguousarray(keys[name], _KINDS[name]).ravel())


def set_keys(curve: bpy.types.FCurve, keys: Mapping[str, np.ndarray]) -> None:
    """Let an F-Curve have these keys in place of its own."""
    curve.keyframe_points.clear()
    curve.keyframe_points.add(len(keys["co"]))
    put_keys(curve, keys)


def divide(curve: bpy.types.FCurve, times: np.ndarray) -> None:
    """Have keys at times (n,) too, between the first key and the last. Where no handle is set by Blender itself, the
    curve stays as it is."""
    known = times_of(curve)
    for time, row in zip(times.tolist(), np.searchsorted(known, times).tolist(), strict=True):
        if 0 < row < len(known) and min(known[row] - time, time - known[row - 1]) > _ONE_KEY:
            curve.keyframe_points.insert(time, curve.evaluate(time), options={"FAST"})


def bytes_of(curve: bpy.types.FCurve) -> bytes:
    """All that the keys of an F-Curve are."""
    return b"".join(values.tobytes() for values in keys_of(curve).values())


def set_bytes(curve: bpy.types.FCurve, known: bytes) -> None:
    """Let an F-Curve have keys of which `bytes_of` told."""
    set_keys(curve, keys_in(known))
    curve.id_data.update_tag()


def keys_in(known: bytes) -> Keys:
    """The keys of which `bytes_of` told."""
    widths = {name: _NUMBERS.get(name, 1) for name in _KINDS}
    count = len(known) // sum(width * np.dtype(_KINDS[name]).itemsize for name, width in widths.items())
    keys, at = {}, 0
    for name, width in widths.items():
        keys[name] = np.frombuffer(known, _KINDS[name], count * width, at)
        at += keys[name].nbytes
    return keys | {name: keys[name].reshape(-1, 2) for name in ("co", "handle_left", "handle_right")}


def write_curve(
    curve: bpy.types.FCurve,
    frames: np.ndarray | Sequence[float],
    numbers: np.ndarray | Sequence[float],
    slopes: np.ndarray | None,
    span: tuple[float, float],
    interpolation: str = "LINEAR",
) -> None:
    """Put keys in place of those within a span; its modifiers and all else that it has stay.

    frames, numbers: (n,). slopes: (n, 2), by frame before and after each; NaN, or None for all, where it goes on as the
    interpolation says.
    """
    count, places = len(frames), np.array((frames, numbers), np.float32).T
    new = dict.fromkeys(("co", "handle_left", "handle_right"), places)
    new["interpolation"] = np.full(count, number_of("interpolation", interpolation))
    new |= {name: np.full(count, number_of(name, "AUTO_CLAMPED")) for name in ("handle_left_type", "handle_right_type")}
    order = np.arange(count)
    if len(curve.keyframe_points):
        times = keys_of(curve, ("co",))["co"][:, 0]
        left = (times < span[0] - SAME_TIME) | (times > span[1] + SAME_TIME)
        if left.any():
            # As Blender makes new keys.
            new |= {name: np.zeros(count) for name in ("amplitude", "back", "period", "easing", "type")}
            new |= {name: np.ones(count, bool) for name in _FLAGS}
            known = keys_of(curve)
            new = {name: np.concatenate((known[name][left], new[name])) for name in known}
            order = np.argsort(new["co"][:, 0], kind="stable")
            new = {name: values[order] for name, values in new.items()}
    if slopes is not None:
        _bend(new, np.flatnonzero(order >= len(order) - count), slopes)
    set_keys(curve, new)
    curve.update()


def _bend(keys: Keys, rows: np.ndarray, slopes: np.ndarray) -> None:
    """Lead a curve from key to key with slopes (n, 2) before and after its keys in rows (n,), where these are known."""
    known = ~np.isnan(slopes)
    bent, places = known.any(axis=1), keys["co"]
    inner = (rows > 0) & (rows < len(places) - 1)
    # Whoever moves one handle moves the other.
    aligned = inner & (slopes[:, 0] == slopes[:, 1])
    kinds = np.where(aligned, *(number_of("handle_left_type", kind) for kind in ("ALIGNED", "FREE")))
    gaps = np.diff(places[:, 0], prepend=places[:1, 0], append=places[-1:, 0]) / 3.0
    for side, name, lengths in ((0, "handle_left", -gaps[:-1]), (1, "handle_right", gaps[1:])):
        keys[name] = keys[name].copy()
        rises = lengths[rows] * np.where(known[:, side], slopes[:, side], 0.0)
        ways = np.array((lengths[rows], rises)).T
        keys[name][rows[bent]] = (places[rows] + ways)[bent]
        keys[f"{name}_type"][rows[bent]] = kinds[bent]
    keys["interpolation"][rows[known[:, 1]]] = number_of("interpolation", "BEZIER")


_SLOTTED = hasattr(bpy.types, "ActionSlot")


@dataclass(frozen=True, slots=True)
class BoneKeys:
    """Keys for one channel of a bone, or of the object itself where `bone` is "": frames (n), and the numbers
    (n x 3 or 4) of `mode` at them.

    span: first and last frame in which no other key is left. slopes (n x 2 x 3 or 4): how fast the numbers change
    before and after each, by frame; NaN where they go straight. None: all do.
    """

    bone: str
    mode: str
    frames: np.ndarray
    values: np.ndarray
    span: tuple[float, float]
    slopes: np.ndarray | None = None


def key_times(frames: Sequence[int]) -> np.ndarray:
    """Where keys stand that play at frames of the scene, whose time may be remapped."""
    render = bpy.context.scene.render
    return np.array(frames, np.float32) * (render.frame_map_old / render.frame_map_new)


def check_writable(ob: bpy.types.Object, bones: Sequence[str], scaled: Sequence[str], action: str) -> None:
    """Raise ChainError where keys could not be written, or would not play as written.

    bones: those whose rotation is to be keyed; scaled: those whose scale may be.
    """
    check_changeable(ob)
    check_undriven(ob, bones, "rotation")
    check_undriven(ob, scaled, "scale")
    check_keyable(ob, action)


def check_undriven(ob: bpy.types.Object, bones: Sequence[str], what: str) -> None:
    """Raise ChainError where a driver sets the "rotation" or "scale" of one of these bones."""
    for name in bones:
        if is_driven(ob, ob.pose.bones[name], what):
            raise ChainError(messages.KEYS_DRIVEN(channel=what)).of(messages.BONE(bone=name))


def check_keyable(ob: bpy.types.Object, action: str = "CURRENT") -> None:
    """Raise ChainError where keys of an object's action would not be written, or not play as they are."""
    data, kind = ob.animation_data, ob.type.title()
    if data is None:
        return
    if data.use_tweak_mode:
        raise ChainError(messages.NLA_TWEAKED(kind=kind, object=ob.name))
    if any(track.is_solo for track in data.nla_tracks):
        raise ChainError(messages.NLA_SOLO(kind=kind, object=ob.name))
    if data.action_blend_type != "REPLACE" or data.action_influence < 1.0:
        raise ChainError(messages.NLA_BLENDED(kind=kind, object=ob.name))
    if action == "CURRENT" and data.action is not None and not data.action.is_editable:
        raise ChainError(messages.ACTION_LINKED(action=data.action.name))


def check_unshared(objects: Sequence[bpy.types.Object]) -> None:
    """Raise ChainError where two objects play the same keys, so that one's would be written over the other's."""
    seen: dict[tuple, bpy.types.Object] = {}
    for ob in objects:
        data = ob.animation_data
        if data is None or data.action is None:
            continue
        other = seen.setdefault((data.action, getattr(data, "action_slot_handle", 0)), ob)
        if other is not ob:
            raise ChainError(messages.ACTION_SHARED(first=other.name, second=ob.name, action=data.action.name))


def write_keys(
    ob: bpy.types.Object, channels: Sequence[BoneKeys], action: str, made: str = "baked"
) -> bpy.types.Action:
    """Write keys into a NEW (empty), a COPY of the current, or the CURRENT action of `ob`, and make it current.

    A current action that another object plays too is copied first. Keys of other bones, and of the same bones outside
    their span, stay. The action that was current is kept by a fake user. made: what a new action's name says of it.
    Returns the action that holds the keys.
    """
    target = _assign(ob, action, made)
    owner = _curve_owner(ob, target)
    present = {(curve.data_path, curve.array_index): curve for curve in owner.fcurves}
    # By their names once: Blender goes through all of them for each.
    groups = {group.name: group for group in owner.groups}
    patterns: dict[tuple[int, bytes], bpy.types.FCurve] = {}
    for keys in channels:
        channel, width = channel_of(keys.mode)
        path = f"{ob.pose.bones[keys.bone].path_from_id()}.{channel}" if keys.bone else channel
        group, times = keys.bone or "Object Transforms", keys.frames.tobytes()
        for index in range(width):
            curve, pattern = present.get((path, index)), patterns.get((index, times)) if keys.slopes is None else None
            copied = curve is None and pattern is not None
            if copied:
                # Its keys are at the right frames already, and set as they shall be.
                curve = owner.fcurves.new_from_fcurve(pattern, data_path=path)
            elif curve is None:
                curve = owner.fcurves.new(path, index=index)
                if hasattr(owner.fcurves, "new_from_fcurve") and keys.slopes is None:
                    patterns[index, times] = curve
            if curve.group is None:
                if group not in groups:
                    groups[group] = owner.groups.new(group)
                curve.group = groups[group]
            _play(curve)
            numbers = keys.values[:, index]
            if copied:
                put_keys(curve, {"co": np.column_stack((keys.frames, numbers))})
                curve.update()
            else:
                slopes = None if keys.slopes is None else keys.slopes[..., index]
                write_curve(curve, keys.frames, numbers, slopes, keys.span)
    return target


def _assign(ob: bpy.types.Object, action: str, made: str) -> bpy.types.Action:
    data = ob.animation_data_create()
    clip = playing_clip(ob) if action == "CURRENT" else None
    if clip is not None and any(other != ob and playing_clip(other) == clip for other in bpy.data.objects):
        # Another object plays the same keys: they would change for both.
        play(ob, Clip(clip.action.copy().name, slot=clip.slot))
    old, slot, shown = data.action, getattr(data, "action_slot", None), shown_clip(ob)
    # Exporters name clips after it.
    slot_name = ob.name if slot is None else slot.name_display
    if action == "CURRENT" and old is not None:
        new = old
    elif action == "COPY" and old is not None:
        new = old.copy()
        new.name = f"{old.name} {made}"
        mark_made(new, old, made)
    else:
        # The current one, where there is none, is named as Blender names it.
        name = f"{ob.name}Action" if action == "CURRENT" else f"{(shown.action if shown else ob).name} {made}"
        new = bpy.data.actions.new(name)
    if new is not old and shown is not None:
        # Whichever is not played any more would else be lost when the file is saved.
        new.use_fake_user = True
        if old is not None and old.is_editable:
            old.use_fake_user = True
    if new is not old:
        data.action = new
    if _SLOTTED and data.action_slot is None:
        # A slot of its own: the action's other slots may be other objects'.
        data.action_slot = new.slots.new(id_type=ob.id_type, name=slot_name)
    return new


def _curve_owner(ob: bpy.types.Object, action: bpy.types.Action):
    """What has `fcurves` and `groups` for an object: the action, or its slot's channelbag."""
    if not _SLOTTED:
        return action
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(ob.animation_data.action_slot, ensure=True)


def write_choices(
    ob: bpy.types.Object,
    path: str,
    group: str,
    frames: Sequence[float],
    values: Sequence[int],
    span: tuple[float, float],
) -> None:
    """Write constant keys of a choice, where 0 is none, into the current action of `ob`.

    span: first and last frame between which they take the place of others.
    """
    owner = _curve_owner(ob, ob.animation_data.action)
    curve = owner.fcurves.find(path) or owner.fcurves.new(path)
    if curve.group is None:
        curve.group = owner.groups.get(group) or owner.groups.new(group)
    write_curve(curve, frames, values, None, span, "CONSTANT")
    chosen = keys_of(curve, ("co",))["co"][:, 1]
    # Where nothing holds, a smaller dot.
    kinds = np.where(chosen, *(number_of("type", kind) for kind in ("KEYFRAME", "BREAKDOWN")))
    put_keys(curve, {"type": kinds, "select_control_point": np.zeros(len(chosen))})


def _play(curve: bpy.types.FCurve) -> None:
    """Bring an F-Curve, which is in a group, into a state that plays its keys as they are."""
    if curve.group.mute and not _SLOTTED:
        # What else is in the group stays silent, each curve by itself. (With slots, Blender plays muted groups.)
        for other in curve.group.channels:
            other.mute = True
        curve.group.mute = False
    curve.mute = False
    while curve.modifiers:
        curve.modifiers.remove(curve.modifiers[0])
