"""The flip radar: frames of a bake at which a limb's bend is ill defined, nearly lost, or changes its side.

All of it is measured in the space of the root's parent: a character that turns or walks carries its limbs along, and
bends nothing by that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import cos, nan, radians, sin

import numpy as np
from mathutils import Quaternion, Vector

from ..rig.blender.bones import rotation_in
from ..rig.pose.solving import PosedLimb
from ..rig.pose.tracks import PoseTrack, Reading
from ..solvers import Outcome
from ..solvers.vectors import SMALL

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


@dataclass(slots=True)
class Radar:
    """A limb as it was seen frame by frame, relative to its root, turned as the root's parent.

    joints: of each frame, the root first; targets, poles: likewise, of numbers that are none where there is no pole;
    follows: whether the limb follows them there at all, and does not keep its FK pose.
    """

    frames: list[int] = field(default_factory=list)
    joints: list[list[Vector]] = field(default_factory=list)
    targets: list[Vector] = field(default_factory=list)
    poles: list[Vector] = field(default_factory=list)
    follows: list[bool] = field(default_factory=list)

    def see(self, frame: int, posed: PosedLimb) -> None:
        """Note a limb that was solved at a frame."""
        limb, settings = posed.limb, posed.limb.settings
        turn = rotation_in(limb.parent_pose).conjugated() if limb.parent_pose else Quaternion()
        points = limb.joints(posed.poses_armature)
        root, pole = points[0], limb.pole_armature
        holds = settings.reach == "HOLD" and posed.outcome is not Outcome.REACHED
        self.frames.append(frame)
        self.joints.append([turn @ (point - root) for point in points])
        self.targets.append(turn @ (limb.target_armature - root))
        self.poles.append(Vector((nan, nan, nan)) if pole is None else turn @ (pole - root))
        self.follows.append(settings.influence > 0.0 and not holds)

    def flags(self, step: int) -> Flags:
        """What is to be told of the frames, which lie `step` apart where the chain was not off between them."""
        flagged = np.zeros((3, len(self.frames)), bool)
        counts = np.array([len(each) for each in self.joints])
        # How many bones a chain has may be animated, too.
        for count in set(counts.tolist()):
            own = np.flatnonzero(counts == count)
            frames, joints, targets, poles, follows = (
                np.array([rows[k] for k in own])
                for rows in (self.frames, self.joints, self.targets, self.poles, self.follows)
            )
            goes_on = np.diff(frames) <= step
            flagged[:, own] = _flagged(frames, goes_on, joints.T, targets.T, poles.T, follows)
        return _flags(np.array(self.frames), flagged)


def flags_of_tracks(
    frames: range, readings: Sequence[Reading], poses: Sequence[PoseTrack], joints: Sequence[np.ndarray]
) -> list[Flags]:
    """What is to be told of chains that were solved over frames, all at once. joints: (n, links + 1, 3) of each."""
    found: dict[int, Flags] = {}
    by_length: dict[int, list[int]] = {}
    for k, each in enumerate(joints):
        by_length.setdefault(each.shape[1], []).append(k)
    count = len(frames)
    times = np.array(frames)
    for size, same in by_length.items():
        # One chain's frames after the other's: short rows are what makes arrays slow.
        points = np.array([joints[k] for k in same]).reshape(-1, size, 3).T.copy()
        targets, poles = np.full((2, 3, len(same), count), nan)
        follows = np.empty((len(same), count), bool)
        for place, k in enumerate(same):
            targets[:, place] = poses[k].ends.T
            follows[place] = ~poses[k].at_fk
            own_poles = readings[k].goal.poles
            if own_poles is not None:
                poles[:, place] = own_poles.T
        goes_on = np.arange(1, points.shape[2]) % count != 0
        root = points[:, 0]
        to_targets, to_poles = (each.reshape(3, -1) - root for each in (targets, poles))
        all_times, all_follow = np.tile(times, len(same)), follows.ravel()
        flagged = _flagged(all_times, goes_on, points - root[:, None], to_targets, to_poles, all_follow)
        any_of = flagged.reshape(3, len(same), count).any(axis=2).any(axis=0).tolist()
        for place, k in enumerate(same):
            own = flagged[:, place * count : (place + 1) * count]
            found[k] = _flags(times, own) if any_of[place] else Flags([], [], [])
    return [found[k] for k in range(len(joints))]


def _flags(frames: np.ndarray, flagged: np.ndarray) -> Flags:
    return Flags(*(frames[each].tolist() for each in flagged))


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
    flagged[0] = follows & (_dot(targets, poles) ** 2 >= cos(ALIGNED) ** 2 * _square(targets) * _square(poles))
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
    off_line = inner - _dot(inner, along[:, None]) * along[:, None]
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
    half = (along_before + along) / np.maximum(1.0 + _dot(along_before, along), _TURN_BACK)
    brought = off_before - _dot(off_before, along[:, None]) * half[:, None]
    across = _dot(_cross(brought, off_line), along[:, None]).sum(axis=0)
    return np.abs(np.arctan2(across, _dot(brought, off_line).sum(axis=0)))


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _square(a: np.ndarray) -> np.ndarray:
    return _dot(a, a)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    # numpy's own takes several times as long for rows this short.
    return np.array((a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]))
