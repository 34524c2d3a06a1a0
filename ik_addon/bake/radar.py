"""The flip radar: frames of a bake at which a limb's bend is ill defined, nearly lost, or changes its side.

All of it is measured in the space of the root's parent: a character that turns or walks carries its limbs along, and
bends nothing by that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np

from ..solvers.arrays import cross, dot
from ..solvers.vectors import SMALL
from .course import Course

ALIGNED = radians(5.0)
"""Angle at the root between target and pole, or between one and the opposite of the other, below which they count as
in line: what moves one of them sideways there turns the bend by more than eleven times that angle (1 / sin 5°)."""

EXTENDED = 0.999
"""Part of its length to which a limb reaches when it counts as straight. Two equal bones then bend by 5°, and as much
of the length as is left, a thousandth, takes all of that: from here on the knee turns faster than any target."""

FLIPPED = radians(30.0)
"""Turn of the bend about the line from root to tip, from one frame to the next, that counts as a flip: two whole turns
in a second at 24 frames. At a wider step as much more, ..."""

OTHER_SIDE = radians(90.0)
"""... but no more than this: it bends to the other side then, however long that took between two frames."""

_SIN_FLIPPED = sin(FLIPPED)
_NO_SIDE = 1e-3
"""Part of its length by which a limb's joints must lie off the line from root to tip, all of them together, for a side
to be told: with less the limb is straight to the eye, and single precision would choose the side."""


_TURN_BACK = 1e-12
"""Keeps the shortest way between two opposite lines, which there is none of, a number."""


@dataclass(frozen=True, slots=True)
class Flags:
    """Frames, ascending. aligned: target and pole are in line with the root; straight: the limb is nearly straight;
    flipped: those at which its bend has changed sides since the frame before."""

    aligned: list[int]
    straight: list[int]
    flipped: list[int]


def flags_of(courses: Sequence[Course], step: int) -> list[Flags]:
    """What is to be told of chains, all at once; of each its frames lie `step` apart where it was not off between."""
    found = [Flags([], [], []) for _ in courses]
    by_size: dict[int, list[int]] = {}
    for k, course in enumerate(courses):
        if course.frames.size:
            by_size.setdefault(course.joints.shape[1], []).append(k)
    for same in by_size.values():
        # One chain's frames after the other's: short rows are what makes arrays slow.
        frames, counts, joints, targets, poles, follows = (
            np.concatenate([getattr(courses[k], name) for k in same])
            for name in ("frames", "counts", "joints", "targets", "poles", "follows")
        )
        starts = np.cumsum([courses[k].frames.size for k in same])[:-1]
        goes_on = (np.diff(frames) <= step) & (np.diff(counts) == 0)
        goes_on[starts - 1] = False
        flagged = _flagged(frames, goes_on, joints.T.copy(), targets.T.copy(), poles.T.copy(), follows)
        flagged[1:] &= counts > 2
        for k, own in zip(same, np.split(flagged, starts, axis=1), strict=True):
            if own.any():
                found[k] = Flags(*(courses[k].frames[each].tolist() for each in own))
    return found


def _flagged(
    frames: np.ndarray,
    goes_on: np.ndarray,
    joints: np.ndarray,
    targets: np.ndarray,
    poles: np.ndarray,
    follows: np.ndarray,
) -> np.ndarray:
    """Where n limbs, one after the other, are aligned, straight and flipped: (3, n).

    goes_on: (n - 1), where the next one is the same limb at its next frame. Components come first: joints
    (3, bones + 1, n) from the root, targets and poles (3, n) from there.
    """
    flagged = np.zeros((3, len(frames)), bool)
    flagged[0] = follows & (dot(targets, poles) ** 2 >= cos(ALIGNED) ** 2 * _square(targets) * _square(poles))
    if joints.shape[1] > 2:
        length = np.sqrt(_square(joints[:, 1:] - joints[:, :-1])).sum(axis=0)
        reach = np.sqrt(_square(joints[:, -1]))
        flagged[1] = follows & (reach >= EXTENDED * length)
        flagged[2] = _has_flipped(frames, goes_on, joints, reach, length)
    return flagged


def _has_flipped(
    frames: np.ndarray, goes_on: np.ndarray, joints: np.ndarray, reach: np.ndarray, length: np.ndarray
) -> np.ndarray:
    """Where a limb bends elsewhere than it did when its side could last be told."""
    along = joints[:, -1] / np.maximum(reach, SMALL)
    inner = joints[:, 1:-1]
    off_line = inner - dot(inner, along[:, None]) * along[:, None]
    size = np.sqrt(_square(off_line).sum(axis=0))
    told = np.minimum(size, reach) > _NO_SIDE * length
    # Nearly always the joints move too little for a turn this wide, and that is told quickly.
    moved = np.sqrt(_square(off_line[:, :, 1:] - off_line[:, :, :-1]).sum(axis=0))
    moved += np.sqrt(_square(along[:, 1:] - along[:, :-1])) * size[:-1]
    quiet = told[:-1] & (moved <= _SIN_FLIPPED * size[1:])
    now = np.flatnonzero(told[1:] & ~quiet) + 1
    flipped = np.zeros(len(frames), bool)
    if now.size:
        places = np.arange(len(frames))
        last_told = np.maximum.accumulate(np.where(told, places, -1))
        began = np.maximum.accumulate(np.where(goes_on, 0, places[1:]))
        now = now[last_told[now - 1] >= began[now - 1]]
        before = last_told[now - 1]
        turns = _turns(off_line[:, :, before], along[:, before], off_line[:, :, now], along[:, now])
        flipped[now] = turns > np.minimum(FLIPPED * (frames[now] - frames[before]), OTHER_SIDE)
    return flipped


def _turns(off_before: np.ndarray, along_before: np.ndarray, off_line: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Angles in radians by which limbs turned about the lines from root to tip.

    A limb is brought from the line before to the line now by the shortest way. What is left is the turn about it that
    brings the inner joints, all together, closest to where they are now. off_before, off_line: these joints'
    distances from the line (3, joints, n); along_before, along: its directions (3, n).
    """
    # The shortest turn, of vectors square to the first line.
    half = (along_before + along) / np.maximum(1.0 + dot(along_before, along), _TURN_BACK)
    brought = off_before - dot(off_before, along[:, None]) * half[:, None]
    across = dot(cross(brought, off_line), along[:, None]).sum(axis=0)
    return np.abs(np.arctan2(across, dot(brought, off_line).sum(axis=0)))


def _square(a: np.ndarray) -> np.ndarray:
    return dot(a, a)
