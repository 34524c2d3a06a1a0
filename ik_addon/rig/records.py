"""What a bone's channels held before IK, kept on the bone beside what IK wrote over them.

That is data of the file and not memory of the last call. Where a channel no longer holds what was written, the
user or the animation set it: that is the new FK pose.
"""

from array import array
from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import bpy

from .armatures import bones_at
from .channels import ROTATION_MODES, SCALE, Raw, channel_of, quaternion_of, raw_of, raw_values

_SAME_ROTATION = 1e-3
"""Apart as quaternions: what Blender's conversion between rotation modes loses of small angles."""
_WRITTEN_BACK = 2e-6
"""Apart as quaternions: what a rotation loses by way of a matrix of single precision."""
_SAME_SCALE = 1e-5
"""Part of a scale that is rounding, and no other chain's lengthening."""
_WITH_SCALE = 16
"""Added to the number of the rotation mode where the bone's scale is kept too: so one look tells what there is."""
RECORD = "analytic_ik_record"
"""The property with that number, the FK rotation (4 numbers) and what was written over it (4)."""
SOLVED = slice(5, 9)
"""Where in it the latter stand."""
_EARLIER = ("analytic_ik_record_mode", "analytic_ik_record_fk", "analytic_ik_record_solved")
"""What kept the same before there was one property for it."""


class Record(NamedTuple):
    """fk: what a channel held before IK. solved: what was written over it. mode: in which both are numbers."""

    mode: str
    fk: Raw
    solved: Raw


def record_of(pose_bone: bpy.types.PoseBone, mode: str) -> Record | None:
    """The record of a bone's rotation, in the mode that it had then, or of its scale; None: nothing was written."""
    record = pose_bone.analytic_ik_record
    number = _number(record[0])
    if mode == SCALE:
        if number < _WITH_SCALE:
            return None
        fk, solved = tuple(pose_bone.analytic_ik_record_fk_scale), tuple(pose_bone.analytic_ik_record_solved_scale)
    else:
        mode = ROTATION_MODES[number % _WITH_SCALE]
        if not mode:
            return None
        count = channel_of(mode)[1]
        fk, solved = tuple(record[1 : 1 + count]), tuple(record[5 : 5 + count])
    return Record(mode, fk, solved) if isfinite(sum(fk)) else None


def _number(value: float) -> int:
    """What is kept of a bone, as its record says; 0, nothing, where that was changed into what no record says."""
    known = 0.0 <= value < 2 * _WITH_SCALE and int(value) % _WITH_SCALE < len(ROTATION_MODES)
    return int(value) if known else 0


def keep_fk(pose_bone: bpy.types.PoseBone, mode: str, fk: Raw) -> None:
    """Keep what was in the bone's channel of `mode` beside what has just been written there."""
    number = _number(pose_bone.analytic_ik_record[0])
    # Read back from the channel: it holds single precision.
    solved = raw_values(pose_bone, mode)
    if mode == SCALE:
        pose_bone.analytic_ik_record[0] = number % _WITH_SCALE + _WITH_SCALE
        pose_bone.analytic_ik_record_fk_scale, pose_bone.analytic_ik_record_solved_scale = fk, solved
    else:
        number += ROTATION_MODES.index(mode) - number % _WITH_SCALE
        padding = (0.0,) * (4 - len(fk))
        pose_bone.analytic_ik_record = (number, *fk, *padding, *solved, *padding)


def forget_fk(pose_bone: bpy.types.PoseBone, mode: str) -> None:
    """From now on what the bone's channel of `mode` holds is its FK pose."""
    number = _number(pose_bone.analytic_ik_record[0])
    left = number % _WITH_SCALE if mode == SCALE else number - number % _WITH_SCALE
    if not left:
        pose_bone.property_unset(RECORD)
    elif left != number:
        pose_bone.analytic_ik_record[0] = left


def absorb_scale(pose_bone: bpy.types.PoseBone, factor: float) -> None:
    """What one chain made of a bone's scale becomes its FK scale; what another makes of it does not."""
    record = record_of(pose_bone, SCALE)
    if record is None:
        return
    fk = tuple(value * factor for value in record.fk)
    others = any(
        abs(value - solved) > _SAME_SCALE * abs(solved) for value, solved in zip(fk, record.solved, strict=True)
    )
    if others and raw_values(pose_bone, SCALE) == record.solved:
        pose_bone.analytic_ik_record_fk_scale = fk
    else:
        forget_fk(pose_bone, SCALE)


def recorded_fk(pose_bone: bpy.types.PoseBone, mode: str, animated: Sequence[int] = ()) -> Raw:
    """What the channel of `mode` of an original pose bone holds in the FK pose; of rotations, its own mode's.

    animated: those of its numbers that animation sets. Where only they no longer hold what was written, it has
    set them, and the others are still the record's.
    """
    current = raw_values(pose_bone, mode)
    record = record_of(pose_bone, mode)
    if record is None:
        return current
    if channel_of(record.mode) == channel_of(mode):
        # From one Euler order to another Blender keeps the numbers.
        if current == record.solved or _written_back(current, record):
            return record.fk
        changed = (k for k, (now, then) in enumerate(zip(current, record.solved, strict=True)) if now != then)
        if any(k not in animated for k in changed):
            return current
        return tuple(now if k in animated else record.fk[k] for k, now in enumerate(current))
    # The user changed the rotation mode, which converts the numbers: compare what they mean.
    now, then = quaternion_of(current, mode), quaternion_of(record.solved, record.mode)
    if min((now - then).magnitude, (now + then).magnitude) > _SAME_ROTATION:
        return current
    return raw_of(quaternion_of(record.fk, record.mode), mode, current)


def bring_up_to_date(ob: bpy.types.Object) -> None:
    """Make one property of the three that kept a bone's record in files that an earlier version saved."""
    bones = ob.pose.bones
    numbers = array("i", bytes(4 * len(bones)))
    bones.foreach_get(_EARLIER[0], numbers)
    if not any(numbers):
        return
    for bone, number in zip(bones, numbers, strict=True):
        if number:
            bone.analytic_ik_record = (number, *bone.analytic_ik_record_fk, *bone.analytic_ik_record_solved)
            for name in _EARLIER:
                bone.property_unset(name)


def _written_back(current: Raw, record: Record) -> bool:
    """Whether a channel holds what was written, but by way of the bone's matrix: exporters put poses back like that."""
    if record.mode == SCALE:
        pairs = zip(current, record.solved, strict=True)
        return all(abs(now - then) <= _WRITTEN_BACK * abs(then) for now, then in pairs)
    now, then = quaternion_of(current, record.mode), quaternion_of(record.solved, record.mode)
    return min((now - then).magnitude, (now + then).magnitude) <= _WRITTEN_BACK


def recorded_bones(ob: bpy.types.Object) -> tuple[list[str], list[str]]:
    """Names of the bones that hold a written rotation over their FK rotation, and of those that hold a scale so."""
    bones = ob.pose.bones
    records = array("f", bytes(36 * len(bones)))
    bones.foreach_get(RECORD, records)
    numbers = records[::9]
    if not any(numbers):
        return [], []
    rows = [row for row, number in enumerate(numbers) if number]
    recorded = [(bone.name, _number(numbers[row])) for row, bone in zip(rows, bones_at(ob, rows), strict=True)]
    return (
        [name for name, number in recorded if number % _WITH_SCALE],
        [name for name, number in recorded if number >= _WITH_SCALE],
    )
