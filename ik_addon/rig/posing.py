"""The only file that writes a pose: in bulk, in every rotation mode, with the FK pose kept apart.

IK is written over the bones' own rotation channels, and over their scale where a chain stretches. What they held
before, the FK pose, is kept on each bone (records.py).
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np

from .animation import animated_channels, animated_paths
from .armatures import bones_at, indices_of
from .channels import SCALE, Raw, channel_of, raw_values
from .records import RECORD, SOLVED, forget_fk, keep_fk, record_of, recorded_fk

_POSE_CHANNELS = {
    "location": 3,
    "rotation_quaternion": 4,
    "rotation_euler": 3,
    "rotation_axis_angle": 4,
    "scale": 3,
}
_BULK_PATH = re.compile(r'pose\.bones\["(?:[^"\\]|\\.)*"\]\.(?:' + "|".join(_POSE_CHANNELS) + r")$")
_ROUNDING = 5e-7
"""What the numbers of a rotation or scale differ by that was solved before the frame and after it."""
_OBJECT = {"OBJECT"}
_OBJECT_AND_ANIMATION = {"OBJECT", "TIME"}
_CUSTOM_PROPERTY = re.compile(r'^(.*?)(\["(?:[^"\\]|\\.)*"\])$')


class FkPose:
    """Reads the FK pose of one armature: what its bones' channels hold, or held before IK was written over them.

    ob, ob_evaluated: the armature object and its evaluated copy; frame: at which it was evaluated. frame_changed: the
    animation has just been evaluated, so animated channels hold the FK pose whatever was written before.
    """

    def __init__(self, ob: bpy.types.Object, ob_evaluated: bpy.types.Object, frame: float, frame_changed: bool) -> None:
        self._originals = ob.pose.bones
        self._evaluated = ob_evaluated.pose.bones
        self._animated = animated_channels(ob, ob_evaluated.animation_data, frame)
        self._frame_changed = frame_changed
        self._trusted: Sequence[str] = ()

    @contextmanager
    def as_recorded(self, names: Sequence[str]) -> Iterator[None]:
        """Inside, these bones have the FK rotations of their records, whatever stands in their channels."""
        self._trusted = names
        try:
            yield
        finally:
            self._trusted = ()

    def strayed(self, name: str) -> bool:
        """Whether a bone holds another rotation than was written, and no animation has set it."""
        pose_bone = self._originals[name]
        mode = pose_bone.rotation_mode
        record = record_of(pose_bone, mode)
        if record is None or record.mode != mode or (self._frame_changed and name in self._animated):
            return False
        return recorded_fk(pose_bone, mode) != record.fk

    def rotation(self, name: str) -> tuple[str, Raw]:
        """Rotation mode of a bone and its FK rotation in that mode."""
        pose_bone = self._originals[name]
        mode = pose_bone.rotation_mode
        return mode, self._values(pose_bone, mode)

    def scale(self, name: str) -> Raw:
        """FK scale of a bone."""
        pose_bone = self._originals[name]
        if record_of(pose_bone, SCALE) is None:
            return raw_values(self._evaluated[name], SCALE)
        return self._values(pose_bone, SCALE)

    def _values(self, pose_bone: bpy.types.PoseBone, mode: str) -> Raw:
        channel, count = channel_of(mode)
        of_bone = self._animated.get(pose_bone.name, ())
        animated = [k for k in range(count) if (channel, k) in of_bone]
        record = record_of(pose_bone, mode) if pose_bone.name in self._trusted else None
        if record is not None and mode != SCALE:
            return record.fk
        fk = recorded_fk(pose_bone, mode, animated)
        if animated and self._frame_changed:
            evaluated = raw_values(self._evaluated[pose_bone.name], mode)
            fk = tuple(evaluated[k] if k in animated else value for k, value in enumerate(fk))
        return fk


class PoseWriter:
    """Collects the rotations and scales of one armature and writes those that changed, all at once.

    Assigning to a pose bone tags the armature data-block, for which Blender flushes the whole scene; bulk writes
    with a tag on the object do not.
    """

    def __init__(self, ob: bpy.types.Object) -> None:
        self._ob = ob
        self._values: dict[tuple[str, str], tuple[Raw, Raw | None]] = {}

    def write(self, name: str, mode: str, fk: Raw, solved: Raw) -> None:
        """Write `solved` over what the bone's channel of `mode` holds in its FK pose, `fk`."""
        self._values[name, mode] = (fk, tuple(array("f", solved)))

    def restore_fk(self, name: str, mode: str, fk: Raw) -> None:
        """Give a bone's channel of `mode` its FK values back and drop their record."""
        self._values[name, mode] = (fk, None)

    def commit(
        self, frame_changed: bool = False, evaluated: bpy.types.Object | None = None, rendering: bool = False
    ) -> bool:
        """Write. Returns whether any bone changed.

        frame_changed: the scene has just gone to a frame, whose pose then depends on nothing that stood there before.
        evaluated: the armature as it was evaluated. rendering: by a render. That does not bring animation back to the
        original, and what is written there makes it be copied anew: an animated root would freeze in the picture. So
        it is animated anew. Where that would undo what is written, the original first gets all that is animated; not
        always, for the window brings animation to it as well, of its own frame, and may do so at the same moment.
        """
        bones = self._ob.pose.bones
        if not self._values:
            return False
        keyed = rendering and evaluated is not None and self._is_animated()
        if keyed:
            _flush(self._ob, evaluated)
        # Nor does a scene that is shown for the first time: its keys play over what the original holds already.
        places = [bones] if evaluated is None or rendering else [bones, evaluated.pose.bones]
        changed: dict[str, dict[str, Raw]] = {}
        for (name, mode), (fk, solved) in self._values.items():
            raw = fk if solved is None else solved
            slack = 0.0 if solved is None or frame_changed else _ROUNDING
            present = [value for held in places for value in raw_values(held[name], mode)]
            # Equal to rounding it was solved in another way: nothing moves and nothing is evaluated again.
            if any(not abs(a - b) <= slack for a, b in zip(present, raw * len(places), strict=True)):
                changed.setdefault(channel_of(mode)[0], {})[name] = raw
        for channel, values in changed.items():
            width = _POSE_CHANNELS[channel]
            buffer = array("f", bytes(4 * width * len(bones)))
            bones.foreach_get(channel, buffer)
            for k, bone in enumerate(bones):
                raw = values.get(bone.name)
                if raw is not None:
                    buffer[width * k : width * (k + 1)] = array("f", raw)
            _set_all(bones, channel, buffer)
        for (name, mode), (fk, solved) in self._values.items():
            if solved is None:
                forget_fk(bones[name], mode)
            else:
                keep_fk(bones[name], mode, fk)
        if changed:
            self._ob.update_tag(refresh=_OBJECT if keyed or not rendering else _OBJECT_AND_ANIMATION)
        return bool(changed)

    def _is_animated(self) -> bool:
        """Whether animation sets any of what is written."""
        animated = animated_channels(self._ob)
        written = ((channel_of(mode)[0], animated.get(name, ())) for name, mode in self._values)
        return any(channel == each for channel, of_bone in written for each, _ in of_bone)


class BulkPose:
    """Writes the rotations of the same bones of one armature again and again, whose FK poses stay as recorded.

    ob: the armature object, its bones just written by a PoseWriter; names, modes: of the bones; alone: whether no one
    else writes its other bones' rotations. Values are arrays (bones, 4) in single precision: the numbers of each
    bone's rotation mode, zeros behind.
    """

    def __init__(self, ob: bpy.types.Object, names: Sequence[str], modes: Sequence[str], alone: bool) -> None:
        bones = ob.pose.bones
        indices = np.array(indices_of(bones, names))
        channels = np.array([channel_of(mode)[0] for mode in modes])
        self._in_order: list[int] = np.argsort(indices).tolist()
        self._indices: list[int] = np.sort(indices).tolist()
        self._channels = []
        for channel in dict.fromkeys(channels.tolist()):
            rows, width = np.nonzero(channels == channel)[0], _POSE_CHANNELS[channel]
            buffer = np.empty((len(bones), width), np.float32)
            flat, at = buffer.reshape(-1), (_slice(rows), slice(width))
            self._channels.append((channel, at, _slice(indices[rows]), buffer, flat))
        records = np.empty((len(bones), 9), np.float32)
        bones.foreach_get(RECORD, records.reshape(-1))
        self._count = len(bones)
        self._values = records[indices, SOLVED]
        self._values_as_bytes = self._values.tobytes()
        # In bulk the other bones get an empty record too: not where they are the many.
        in_bulk = alone and 2 * len(names) >= len(bones)
        self._records = records if in_bulk else records[indices]
        self._solved = self._records[:, SOLVED]
        self._solved_rows = _slice(indices) if in_bulk else slice(None)
        self._all_records = self._records.reshape(-1) if in_bulk else None
        self._written: dict[str, bytes] = {}

    def unchanged(self, ob: bpy.types.Object) -> bool:
        """Whether the bones hold what was written; what the others hold is read for the next write."""
        bones = ob.pose.bones
        if len(bones) != self._count:
            return False
        for channel, at, indices, buffer, flat in self._channels:
            bones.foreach_get(channel, flat)
            # Mostly nothing at all has changed, and that is quickly seen.
            same = flat.tobytes() == self._written.get(channel)
            if not same and not np.array_equal(buffer[indices], self._values[at]):
                return False
        return True

    def write(
        self,
        ob: bpy.types.Object,
        values: np.ndarray,
        which: np.ndarray | None = None,
        as_bytes: bytes | None = None,
    ) -> bool:
        """Write values; which: of these of the bones alone; as_bytes: of all of them, where that is known already.

        False, and nothing is written, where a bone no longer holds what was written: someone else has set it.
        """
        if not self.unchanged(ob):
            return False
        if which is not None:
            some, values = values, self._values.copy()
            values[which] = some
        as_bytes = as_bytes or values.tobytes()
        if as_bytes == self._values_as_bytes:
            return True
        self._values, self._values_as_bytes = values, as_bytes
        bones = ob.pose.bones
        for channel, at, indices, buffer, flat in self._channels:
            buffer[indices] = values[at]
            _set_all(bones, channel, flat)
            self._written[channel] = flat.tobytes()
        self._solved[self._solved_rows] = values
        if self._all_records is not None:
            _set_all(bones, RECORD, self._all_records)
        else:
            records = self._records[self._in_order].tolist()
            for bone, record in zip(bones_at(ob, self._indices), records, strict=True):
                bone.analytic_ik_record = record
        ob.update_tag(refresh=_OBJECT)
        return True


def _slice(indices: np.ndarray) -> np.ndarray | slice:
    """Indices as a slice where they are in a row: numpy is quicker with it."""
    in_a_row = len(indices) and np.array_equal(indices, np.arange(len(indices)) + indices[0])
    return slice(int(indices[0]), int(indices[0]) + len(indices)) if in_a_row else indices


def _set_all(bones: bpy.types.bpy_prop_collection, channel: str, values: array | np.ndarray) -> None:
    """Set a channel of all bones.

    What is linked, or overridden by Blender alone, is no user's to change: Blender then ignores a bulk write without a
    word, and yet evaluates what is assigned bone by bone. It saves neither, and need not: the pose is solved anew.
    """
    if not bones[0].is_property_readonly(channel):
        bones.foreach_set(channel, values)
        return
    width = len(values) // len(bones)
    for k, bone in enumerate(bones):
        own = values[width * k : width * (k + 1)].tolist()
        if list(getattr(bone, channel)) != own:
            setattr(bone, channel, own)


def _flush(ob: bpy.types.Object, ob_evaluated: bpy.types.Object) -> None:
    """Copy what is animated on an evaluated armature object to the original."""
    bones, evaluated_bones = ob.pose.bones, ob_evaluated.pose.bones
    for channel, width in _POSE_CHANNELS.items():
        buffer = array("f", bytes(4 * width * len(bones)))
        evaluated_bones.foreach_get(channel, buffer)
        _set_all(bones, channel, buffer)
    for path in set(animated_paths(ob)):
        if not _BULK_PATH.match(path):
            _flush_path(ob, ob_evaluated, path)


def _flush_path(ob: bpy.types.Object, ob_evaluated: bpy.types.Object, path: str) -> None:
    try:
        value = ob_evaluated.path_resolve(path)
        if value == ob.path_resolve(path):
            return
        custom = _CUSTOM_PROPERTY.match(path)
        owner_path, name = custom.groups() if custom else path.rpartition(".")[::2]
        owner = ob.path_resolve(owner_path) if owner_path else ob
        if custom:
            owner[bpy.utils.unescape_identifier(name[2:-2])] = value
        else:
            setattr(owner, name, value)
    except (ValueError, KeyError, AttributeError, TypeError):
        # An F-Curve whose property is gone or read-only animates nothing: there is nothing to carry over.
        return
