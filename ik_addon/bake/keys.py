"""A pose into keys of an action, in bulk: the one place that knows how Blender's versions keep them."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from .. import messages
from ..rig.blender.animation import is_driven
from ..rig.blender.clips import Clip, mark_made, play, playing_clip
from ..rig.blender.rotations import channel_of
from ..rig.status.problems import check_changeable
from ..solvers import ChainError

_SLOTTED = hasattr(bpy.types, "ActionSlot")
_SAME_FRAME = 1e-3
_KEY_NUMBERS = [
    # Bulk access takes enumerations as numbers.
    (attribute, identifier, bpy.types.Keyframe.bl_rna.properties[attribute].enum_items[identifier].value)
    for attribute, identifier in (
        ("interpolation", "LINEAR"),
        ("handle_left_type", "AUTO_CLAMPED"),
        ("handle_right_type", "AUTO_CLAMPED"),
    )
]
"""How every key is set."""


@dataclass(frozen=True, slots=True)
class BoneKeys:
    """Keys for one channel of a bone, or of the object itself where `bone` is "": frames (n), and the numbers
    (n x 3 or 4) of `mode` at them.

    span: first and last frame in which no other key is left. slopes (n x 2 x 3 or 4): by how much the numbers would
    change from key to key, as fast as they do before and after each; NaN where they go straight. None: all do.
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
            raise ChainError(messages.KEYS_DRIVEN(bone=name, channel=what))


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

    A current action that another object plays too is copied first.
    made: what a new action's name says of it.

    Keys of other bones, and of the same bones outside their span, stay. The action that was current is
    kept by a fake user. Returns the action that holds the keys.
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
            _replace(curve, keys.frames, keys.values[:, index], keys.span, copied=copied)
            if keys.slopes is not None:
                _bend(curve, keys.frames, keys.slopes[..., index])
    return target


def _assign(ob: bpy.types.Object, action: str, made: str) -> bpy.types.Action:
    data = ob.animation_data_create()
    if action == "CURRENT":
        _make_own(ob)
    old, slot = data.action, getattr(data, "action_slot", None)
    # Exporters name clips after it.
    slot_name = ob.name if slot is None else slot.name_display
    if action == "CURRENT" and old is not None:
        new = old
    elif action == "COPY" and old is not None:
        new = old.copy()
        new.name = f"{old.name} {made}"
        mark_made(new, old)
    else:
        # The current one, where there is none, is named as Blender names it.
        name = f"{ob.name}Action" if action == "CURRENT" else f"{old.name if old else ob.name} {made}"
        new = bpy.data.actions.new(name)
    if old is not None and new is not old:
        if old.is_editable:
            # Without a user it would be lost when the file is saved.
            old.use_fake_user = True
        data.action = new
    elif old is None:
        data.action = new
    if _SLOTTED and data.action_slot is None:
        # A slot of its own: the action's other slots may be other objects'.
        data.action_slot = new.slots.new(id_type=ob.id_type, name=slot_name)
    return new


def _make_own(ob: bpy.types.Object) -> None:
    """Let an object play a copy of its action if another object plays the same keys: they would change for both."""
    clip = playing_clip(ob)
    if clip is not None and any(other != ob and playing_clip(other) == clip for other in bpy.data.objects):
        play(ob, Clip(clip.action.copy().name, slot=clip.slot))


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
    points = curve.keyframe_points
    kept = _clear(points, span)
    points.add(len(frames))
    coordinates = np.empty(2 * (kept + len(frames)), np.float32)
    points.foreach_get("co", coordinates)
    coordinates[2 * kept :] = np.column_stack((frames, values)).ravel()
    points.foreach_set("co", coordinates)
    for point in points:
        point.interpolation = "CONSTANT"
        # Where nothing holds, a smaller dot.
        point.type = "KEYFRAME" if point.co[1] else "BREAKDOWN"
        point.select_control_point = False
    curve.update()


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


def _replace(
    curve: bpy.types.FCurve, frames: np.ndarray, values: np.ndarray, span: tuple[float, float], copied: bool
) -> None:
    """Put linear keys at `frames` in place of all keys within `span`; copied: they are there, with other values."""
    points, kept = curve.keyframe_points, 0
    if not copied:
        kept = _clear(points, span)
        points.add(len(frames))
    coordinates = np.empty((kept + len(frames), 2), np.float32)
    if kept:
        points.foreach_get("co", coordinates.reshape(-1))
    coordinates[kept:, 0], coordinates[kept:, 1] = frames, values
    points.foreach_set("co", coordinates.reshape(-1))
    for attribute, identifier, number in _KEY_NUMBERS:
        if getattr(points[kept], attribute) == identifier:
            # New keys are alike, and mostly have it already.
            continue
        numbers = np.full(kept + len(frames), number, np.int32)
        if kept:
            own = np.empty(kept + len(frames), np.int32)
            points.foreach_get(attribute, own)
            numbers[:kept] = own[:kept]
        points.foreach_set(attribute, numbers)
    curve.update()


def write_curve(
    curve: bpy.types.FCurve, frames: np.ndarray, numbers: np.ndarray, slopes: np.ndarray, span: tuple[float, float]
) -> None:
    """Put keys of a curve of its own in place of those within a span; frames, numbers (n), slopes (n, 2) by frame.

    Its modifiers and all else that it has stay.
    """
    _replace(curve, frames, numbers, span, copied=False)
    spans = np.diff(frames)
    before, after = np.concatenate(([np.nan], spans)), np.concatenate((spans, [np.nan]))
    _bend(curve, frames, slopes * np.stack((before, after), axis=1))
    points = curve.keyframe_points
    first = next(k for k, point in enumerate(points) if point.co[0] >= frames[0] - _SAME_FRAME)
    for k in np.flatnonzero(slopes[1:-1, 0] == slopes[1:-1, 1]):
        # Whoever moves one handle moves the other.
        point = points[first + 1 + int(k)]
        point.handle_left_type = point.handle_right_type = "ALIGNED"


def _bend(curve: bpy.types.FCurve, frames: np.ndarray, slopes: np.ndarray) -> None:
    """Lead a curve from key to key with slopes (n, 2) before and after its keys at `frames`, where these are known."""
    points = curve.keyframe_points
    coordinates = np.empty((len(points), 2), np.float32)
    points.foreach_get("co", coordinates.reshape(-1))
    rows = np.searchsorted(coordinates[:, 0], frames - _SAME_FRAME)
    for row, frame, (before, after) in zip(rows.tolist(), frames, slopes, strict=True):
        if np.isnan(before) and np.isnan(after):
            continue
        point = points[row]
        point.handle_left_type = point.handle_right_type = "FREE"
        left, right = (coordinates[min(max(k, 0), len(points) - 1), 0] - frame for k in (row - 1, row + 1))
        point.handle_left = frame + left / 3.0, point.co[1] - np.nan_to_num(before) / 3.0
        point.handle_right = frame + right / 3.0, point.co[1] + np.nan_to_num(after) / 3.0
        if not np.isnan(after):
            point.interpolation = "BEZIER"
    curve.update()


def _clear(points, span: tuple[float, float]) -> int:
    """Remove the keys within a span of frames; returns how many are left."""
    if not len(points):
        return 0
    present = np.empty(2 * len(points), np.float32)
    points.foreach_get("co", present)
    inside = (present[0::2] >= span[0] - _SAME_FRAME) & (present[0::2] <= span[1] + _SAME_FRAME)
    if inside.all():
        points.clear()
    else:
        for k in np.nonzero(inside)[0][::-1]:
            points.remove(points[int(k)], fast=True)
    return len(points)
