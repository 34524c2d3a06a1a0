"""Fewer keys for the same motion of the tip."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ..rig.blender.channels import quaternion_of
from ..rig.model.limb import Limb
from ..rig.pose.solving import PosedLimb, pose_limb

_LOOKS = 32
"""At so many frames of a long span it is looked whether it strays."""


def needed_frames(
    frames: Sequence[int],
    limbs: Sequence[PosedLimb],
    rotations: Sequence[np.ndarray],
    scales: Mapping[str, np.ndarray],
    tolerance: float,
) -> list[int]:
    """Indices of the frames whose keys a chain needs so that its tip stays within `tolerance`.

    frames: those sampled; limbs: the chain at each; rotations: the keyed numbers of each bone that it turns
    (frames x width); scales: those of the bones, end bones among them, whose scale is keyed (frames x 3); tolerance:
    in armature units. Between two kept keys the channels run linearly. A span whose tip strays farther is divided at
    its worst frame, or near it where the span is long, so every sampled frame has been checked in the end. The same
    goes for the bones on its end.
    """

    def strayed(k: int, first: int, last: int) -> float:
        part = (frames[k] - frames[first]) / (frames[last] - frames[first])
        turned = [_between(values, first, last, part) for values in rotations]
        scaled = {name: _between(values, first, last, part) for name, values in scales.items()}
        return _error(limbs[k], turned, scaled, {name: values[k] for name, values in scales.items()})

    kept, spans = {0, len(frames) - 1}, [(0, len(frames) - 1)]
    while spans:
        first, last = spans.pop()
        worst, k = _worst(partial(strayed, first=first, last=last), first, last, tolerance)
        if worst > tolerance:
            kept.add(k)
            spans += [(first, k), (k, last)]
    return sorted(kept)


def _worst(strayed: Callable[[int], float], first: int, last: int, tolerance: float) -> tuple[float, int]:
    """How far a span's tip strays, at most, and where: of a long span that strays too far, of what a look here and
    there finds. Else each division would look at all frames, and most divisions cut off little."""

    def worst_of(some: Iterable[int]) -> tuple[float, int]:
        return max(((strayed(k), k) for k in some), default=(0.0, first))

    step = max(1, (last - first) // _LOOKS)
    if step > 1:
        worst, k = worst_of(range(first + step, last, step))
        if worst > tolerance:
            return worst_of(range(max(first, k - step) + 1, min(last, k + step)))
    return worst_of(range(first + 1, last))


def _between(values: np.ndarray, first: int, last: int, part: float) -> np.ndarray:
    """What linear keys at two frames give between them."""
    return values[first] + (values[last] - values[first]) * part


def _error(
    posed: PosedLimb,
    rotations: Sequence[np.ndarray],
    scales: Mapping[str, np.ndarray],
    sampled_scales: Mapping[str, np.ndarray],
) -> float:
    """Distance of the chain's end, or of an end bone's tail, from where it was sampled, in armature units."""
    limb = posed.limb
    local = _local_rotations(limb, rotations)
    own = [Vector(scales[reading.name]) if reading.name in scales else reading.scale for reading in limb.bones]
    poses, sampled = pose_limb(limb, local[: len(own)], own), posed.poses_armature
    error = (limb.end_of(poses) - limb.end_of(sampled)).length
    tip, sampled_tip = (limb.bones[-1].last_pose(each[-1]) for each in (poses, sampled))
    ends, sampled_ends = (
        _end_tails(limb, at, turned[len(own) :])
        for at, turned in ((tip, local), (sampled_tip, _local_rotations(limb, posed.rotations)))
    )
    error = max([error, *((a - b).length for a, b in zip(ends, sampled_ends, strict=True))])
    growth = tip.col[1].length / sampled_tip.col[1].length
    for end in limb.bones[-1].last.bone.children:
        if end.name in scales and any(sampled_scales[end.name]):
            own_growth = np.linalg.norm(scales[end.name]) / np.linalg.norm(sampled_scales[end.name])
            error = max(error, abs(growth * float(own_growth) - 1.0) * end.length)
    return error


def _local_rotations(limb: Limb, rotations: Sequence[Sequence[float]]) -> list[Quaternion]:
    return [
        quaternion_of([float(value) for value in raw], reading.mode)
        for raw, reading in zip(rotations, limb.turned, strict=True)
    ]


def _end_tails(limb: Limb, tip_pose: Matrix, local_rotations: Sequence[Quaternion]) -> list[Vector]:
    """Tails of the bones on a chain's end that follow its target."""
    tails, parent_pose = [], tip_pose
    for end, rotation in zip(limb.ends, local_rotations, strict=True):
        parent_pose = end.reading.posed(rotation, parent_pose)
        tails.append(parent_pose @ Vector((0.0, end.reading.bone.length, 0.0)))
    return tails
