"""The only file that writes a pose: in bulk, in every rotation mode, with the FK pose kept apart.

IK is written over the bones' own rotation channels. What they held before, the FK pose, is kept on each bone
beside what was written, as data of the file and not as memory of the last call. Where a channel no longer
holds what was written, the user or the animation set it: that is the new FK pose.
"""

import re
from array import array
from collections.abc import Sequence

import bpy

from .animation import animated_paths, animated_rotations
from .channels import ROTATION_MODES, Raw, quaternion_of, raw_of, raw_rotation, rotation_channel

_SAME_ROTATION = 1e-3
"""Apart as quaternions: what Blender's conversion between rotation modes loses of small angles."""
_POSE_CHANNELS = {
    "location": 3,
    "rotation_quaternion": 4,
    "rotation_euler": 3,
    "rotation_axis_angle": 4,
    "scale": 3,
}
_BULK_PATH = re.compile(r'pose\.bones\["(?:[^"\\]|\\.)*"\]\.(?:' + "|".join(_POSE_CHANNELS) + r")$")
_CUSTOM_PROPERTY = re.compile(r'^(.*?)(\["(?:[^"\\]|\\.)*"\])$')


class FkPose:
    """Reads the FK rotations of one armature: what its bones hold, or held before IK was written over them.

    ob, ob_evaluated: the armature object and its evaluated copy. frame_changed: the animation has just been
    evaluated, so animated channels hold the FK pose whatever was written before.
    """

    def __init__(self, ob: bpy.types.Object, ob_evaluated: bpy.types.Object, frame_changed: bool) -> None:
        self._originals = ob.pose.bones
        self._evaluated = ob_evaluated.pose.bones
        self._animated = animated_rotations(ob)
        self._frame_changed = frame_changed

    def rotation(self, name: str) -> tuple[str, Raw]:
        """Rotation mode of a bone and its FK rotation in that mode."""
        pose_bone = self._originals[name]
        mode = pose_bone.rotation_mode
        channel, count = rotation_channel(mode)
        of_bone = self._animated.get(name, ())
        animated = [k for k in range(count) if (channel, k) in of_bone]
        fk = recorded_fk(pose_bone, animated)
        if animated and self._frame_changed:
            evaluated = raw_rotation(self._evaluated[name], mode)
            fk = tuple(evaluated[k] if k in animated else value for k, value in enumerate(fk))
        return mode, fk


def recorded_fk(pose_bone: bpy.types.PoseBone, animated: Sequence[int] = ()) -> Raw:
    """The FK rotation of an original pose bone, in its rotation mode.

    animated: those of its numbers that animation sets. Where only they no longer hold what was written, it has
    set them, and the others are still the record's.
    """
    mode = pose_bone.rotation_mode
    current = raw_rotation(pose_bone, mode)
    record_mode = ROTATION_MODES[pose_bone.analytic_ik_record_mode]
    if not record_mode:
        return current
    count = rotation_channel(record_mode)[1]
    solved = tuple(pose_bone.analytic_ik_record_solved[:count])
    fk = tuple(pose_bone.analytic_ik_record_fk[:count])
    if rotation_channel(record_mode) == rotation_channel(mode):
        # From one Euler order to another Blender keeps the numbers.
        if current == solved:
            return fk
        if any(now != then for k, (now, then) in enumerate(zip(current, solved, strict=True)) if k not in animated):
            return current
        return tuple(now if k in animated else fk[k] for k, now in enumerate(current))
    # The user changed the rotation mode, which converts the numbers: compare what they mean.
    now, then = quaternion_of(current, mode), quaternion_of(solved, record_mode)
    if min((now - then).magnitude, (now + then).magnitude) > _SAME_ROTATION:
        return current
    return raw_of(quaternion_of(fk, record_mode), mode, current)


def recorded_bones(ob: bpy.types.Object) -> list[str]:
    """Names of the bones that hold a written rotation over their FK rotation."""
    bones = ob.pose.bones
    modes = array("i", bytes(4 * len(bones)))
    bones.foreach_get("analytic_ik_record_mode", modes)
    return [bones[k].name for k, mode in enumerate(modes) if mode] if any(modes) else []


def forget_fk(pose_bone: bpy.types.PoseBone) -> None:
    """From now on what the bone's rotation channel holds is its FK rotation."""
    if pose_bone.analytic_ik_record_mode:
        pose_bone.analytic_ik_record_mode = 0


class PoseWriter:
    """Collects the rotations of one armature and writes those that changed, all at once.

    Assigning to a pose bone tags the armature data-block, for which Blender flushes the whole scene; bulk writes
    with a tag on the object do not.
    """

    def __init__(self, ob: bpy.types.Object) -> None:
        self._ob = ob
        self._rotations: dict[str, tuple[str, Raw, Raw]] = {}
        self._restored: dict[str, tuple[str, Raw]] = {}

    def set_rotation(self, name: str, mode: str, fk: Raw, solved: Raw) -> None:
        """Write `solved` over the bone's FK rotation `fk`, both in the bone's rotation `mode`."""
        self._rotations[name] = (mode, fk, tuple(array("f", solved)))

    def restore_fk(self, name: str, mode: str, fk: Raw) -> None:
        """Give a bone its FK rotation back and drop its record."""
        self._restored[name] = (mode, fk)

    def commit(self, rendering: bpy.types.Object | None = None) -> bool:
        """Write. Returns whether any bone changed.

        rendering: the armature as a render's depsgraph evaluated it. A render does not bring animation back to the
        original, and what is written there makes it be copied anew: so the original first gets all that
        is animated, or an animated root would freeze in the picture.
        """
        bones = self._ob.pose.bones
        values = {name: (mode, solved) for name, (mode, _, solved) in self._rotations.items()} | self._restored
        if not values:
            return False
        if rendering is not None:
            _flush(self._ob, rendering)
        changed: dict[str, dict[str, Raw]] = {}
        for name, (mode, raw) in values.items():
            if raw_rotation(bones[name], mode) != raw:
                changed.setdefault(rotation_channel(mode)[0], {})[name] = raw
        for channel, rotations in changed.items():
            width = _POSE_CHANNELS[channel]
            buffer = array("f", bytes(4 * width * len(bones)))
            bones.foreach_get(channel, buffer)
            for k, bone in enumerate(bones):
                raw = rotations.get(bone.name)
                if raw is not None:
                    buffer[width * k : width * (k + 1)] = array("f", raw)
            bones.foreach_set(channel, buffer)
        for name, record in self._rotations.items():
            _record(bones[name], *record)
        for name in self._restored:
            forget_fk(bones[name])
        if changed:
            self._ob.update_tag(refresh={"OBJECT"})
        return bool(changed)


def _record(pose_bone: bpy.types.PoseBone, mode: str, fk: Raw, solved: Raw) -> None:
    padding = (0.0,) * (4 - len(fk))
    number = ROTATION_MODES.index(mode)
    if pose_bone.analytic_ik_record_mode != number:
        pose_bone.analytic_ik_record_mode = number
    pose_bone.analytic_ik_record_fk = fk + padding
    # Read back from the channel: it holds single precision.
    pose_bone.analytic_ik_record_solved = raw_rotation(pose_bone, mode) + padding


def _flush(ob: bpy.types.Object, ob_evaluated: bpy.types.Object) -> None:
    """Copy what is animated on an evaluated armature object to the original."""
    bones, evaluated_bones = ob.pose.bones, ob_evaluated.pose.bones
    for channel, width in _POSE_CHANNELS.items():
        buffer = array("f", bytes(4 * width * len(bones)))
        evaluated_bones.foreach_get(channel, buffer)
        bones.foreach_set(channel, buffer)
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
