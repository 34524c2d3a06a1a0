"""Fewer keys for the same motion of the tip."""

from collections.abc import Sequence

import numpy as np

from ..rig.channels import quaternion_of
from ..rig.solving import PosedLimb, pose_limb


def needed_frames(
    frames: Sequence[int], limbs: Sequence[PosedLimb], values: Sequence[np.ndarray], tolerance: float
) -> list[int]:
    """Indices of the frames whose keys a chain needs so that its tip stays within `tolerance`.

    frames: those sampled; limbs: the chain at each; values: the keyed numbers of each of its bones (frames x
    width); tolerance: in armature units. Between two kept keys the channels run linearly. A span whose tip strays
    farther is divided at its worst frame, so every sampled frame has been checked in the end.
    """
    kept, spans = {0, len(frames) - 1}, [(0, len(frames) - 1)]
    while spans:
        first, last = spans.pop()
        strayed = [(_tip_error(limbs[k], _between(frames, values, first, last, k)), k) for k in range(first + 1, last)]
        worst, k = max(strayed, default=(0.0, first))
        if worst > tolerance:
            kept.add(k)
            spans += [(first, k), (k, last)]
    return sorted(kept)


def _between(frames: Sequence[int], values: Sequence[np.ndarray], first: int, last: int, k: int) -> list[np.ndarray]:
    """What linear keys at two frames give at frame k, for each bone."""
    part = (frames[k] - frames[first]) / (frames[last] - frames[first])
    return [bone[first] + (bone[last] - bone[first]) * part for bone in values]


def _tip_error(posed: PosedLimb, rotations: Sequence[np.ndarray]) -> float:
    """Distance of the tip from where it was sampled, in armature units."""
    limb = posed.limb
    local = [
        quaternion_of([float(value) for value in raw], reading.mode)
        for raw, reading in zip(rotations, limb.bones, strict=True)
    ]
    replayed = limb.tail_of(pose_limb(limb, local)[-1])
    return (replayed - limb.tail_of(posed.poses_armature[-1])).length
