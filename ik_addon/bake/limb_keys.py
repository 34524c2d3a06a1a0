"""Few keys for a baked chain: smooth ones with which its end, and the bones there, stay within a tolerance.

Points are in armature space, seen from the root's head; rows are frames, and halves between two.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from mathutils import Matrix, Vector

from ..rig.blender.rotations import array_of, matrices_of, pose_matrix, quaternion_of, quaternions_of
from ..rig.model.limb import BoneReading, Limb, end_in_tip
from ..rig.pose.solving import PosedLimb
from .few_keys import Error, KeyedCurve, WantedMotion, fewest_keys, joined, local_slopes

_LONGEST = 40
"""Rows that a span lasts at most."""
_STILL = 1e-6
"""By how much numbers change at most that hold."""
_ROUNDING, _PART = 1e-5, 0.01
"""Of a chain's length, and of the tolerance: how far its end may be from where it was sampled, for rounding."""


_EVEN = 1e-6
"""By how much a scale may differ from 1 where all ways to inherit it are one."""


@dataclass(frozen=True, slots=True)
class _FittedBone:
    """A bone at all halves of rows. rest: (4, 4), in the bone above. along: whether it moves with that one as a whole.
    location: (n, 3). rotation: (n, 4), or its mode and columns among the numbers; scale: (n, 3), or its columns."""

    reading: BoneReading
    rest: np.ndarray
    along: bool
    location: np.ndarray
    rotation: np.ndarray | tuple[str, slice]
    scale: np.ndarray | slice

    def posed(
        self, turn: np.ndarray, place: np.ndarray, halves: np.ndarray, rotation: np.ndarray, scale: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """How the bone is turned and scaled (n, 3, 3), and its head (n, 3), below one that is so."""
        location = self.location[halves]
        if self.along:
            place = place + _applied(turn, self.rest[:3, 3] + location @ self.rest[:3, :3].T)
            return turn @ (self.rest[:3, :3] @ matrices_of(rotation)) * scale[:, None], place
        # Ways to inherit are Blender's own.
        above, local = (np.tile(np.eye(4), (len(halves), 1, 1)) for _ in range(2))
        above[:, :3, :3], above[:, :3, 3] = turn, place
        local[:, :3, :3], local[:, :3, 3] = matrices_of(rotation) * scale[:, None], location
        pairs = zip(local, above, strict=True)
        poses = np.array([array_of(pose_matrix(self.reading.bone, Matrix(own), Matrix(on))) for own, on in pairs])
        return poses[:, :3, :3], poses[:, :3, 3]


@dataclass(frozen=True, slots=True)
class _FittedChain:
    """A chain over frames.

    numbers: (T, C), its keyed channels. bones: root first, then those on its end; own: how many are its own. end: (3,),
    where it ends in its tip. grown: columns of the scales of bones on its end, and their lengths. spaces: (2 T - 1, 3,
    3), from the root at rest to the armature. points: (2 T - 1, P, 3), of its end, and tails of the bones there.
    """

    numbers: np.ndarray
    bones: list[_FittedBone]
    own: int
    end: np.ndarray
    grown: list[tuple[slice, float]]
    spaces: np.ndarray
    points: np.ndarray

    def seen(self, numbers: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The points (n, P, 3) at rows, and how large each of the grown bones is (n, G)."""
        halves, points, sizes = np.round(2.0 * rows).astype(int), [], []
        turn, place = self.spaces[halves], np.zeros((len(rows), 3))
        for k, bone in enumerate(self.bones):
            if isinstance(bone.rotation, tuple):
                mode, columns = bone.rotation
                rotation = quaternions_of(numbers[:, columns], mode)
            else:
                rotation = bone.rotation[halves]
            scale = numbers[:, bone.scale] if isinstance(bone.scale, slice) else bone.scale[halves]
            turn, place = bone.posed(turn, place, halves, rotation, scale)
            if k == self.own - 1:
                points.append(place + turn @ self.end)
                size = np.linalg.norm(turn[:, :, 1], axis=1)
                sizes = [size * np.linalg.norm(numbers[:, columns], axis=1) for columns, _ in self.grown]
            elif k >= self.own:
                points.append(place + turn[:, :, 1] * bone.reading.bone.length)
        return np.stack(points, axis=1), np.reshape(sizes, (len(self.grown), len(rows))).T


def few_keys(
    limbs: Sequence[PosedLimb], rotations: Sequence[np.ndarray], scales: Mapping[str, np.ndarray], tolerance: float
) -> KeyedCurve | None:
    """The fewest keys of a chain with which its end, and the tails of the bones that it turns there, stay within a
    tolerance, in armature units; None where there are not fewer than frames, or something else moves its end.

    limbs: the chain at each frame. rotations: the keyed numbers of each bone that it turns (frames x width); scales:
    those of the bones, end bones among them, whose scale is keyed (frames x 3). The columns of the curve are those of
    all of them, in that order. It is smooth; only where no smooth one is near, as where the motion jumps, it goes
    straight from frame to frame. Between two frames the end is held against what goes on smoothly there.
    """
    if len(limbs) < 3:
        return None
    chain = _read(limbs, rotations, scales)
    count = len(limbs)
    points, sizes = chain.seen(chain.numbers, np.arange(count))
    off = np.linalg.norm(points - chain.points[::2], axis=2).max()
    if off > max(_PART * tolerance, _ROUNDING * limbs[0].limb.chain.length):
        return None
    known_sizes, lengths = _at_halves(sizes), np.array([length for _, length in chain.grown])

    def error(numbers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        at = np.round(2.0 * rows).astype(int)
        points, sizes = chain.seen(numbers, rows)
        far = np.linalg.norm(points - chain.points[at], axis=2).max(axis=1)
        growth = np.abs(sizes / known_sizes[at] - 1.0) * lengths
        return np.maximum(far, growth.max(axis=1, initial=0.0)) / tolerance

    still = np.abs(np.diff(chain.numbers, axis=0)).max(axis=1) <= _STILL
    curves = []
    for first, last in _runs(still):
        if still[first] or last - first == 1:
            curves.append(_straight(chain.numbers[[first, last]], [first, last]))
        else:
            curves += _smooth(chain.numbers, error, first, last, (first > 0, last < len(still)))
    curve = joined(curves)
    return curve if len(curve.rows) < count else None


def _smooth(numbers: np.ndarray, error: Error, first: int, last: int, rests: tuple[bool, bool]) -> Iterator[KeyedCurve]:
    """The fewest keys from one row to another, between which numbers move; where they are off all rows are keys.

    rests: whether numbers hold before and after.
    """
    slopes, tries = np.zeros_like(numbers, float), []
    for begins, ends in dict.fromkeys((rests, (False, False))):
        slopes[first : last + 1] = own = local_slopes(numbers[first : last + 1], 1)
        # What held starts from rest, if that is near enough.
        slopes[first], slopes[last] = own[0] * (not begins), own[-1] * (not ends)
        free = np.ones(len(numbers), bool)
        free[first], free[last] = not begins, not ends
        tries.append(fewest_keys(WantedMotion(numbers, slopes, free, error, first, last, looks=2), _LONGEST))
        if tries[-1][1] <= 1.0:
            break
    curve = min(tries, key=lambda each: each[1])[0]
    seen = np.arange(2 * first, 2 * last + 1) / 2.0
    off = error(curve.at(seen), seen)
    far = [off[(seen >= start) & (seen <= end)].max() > 1.0 for start, end in pairwise(curve.rows)]
    for start, end in _runs(np.array(far)):
        part = KeyedCurve(*(each[start : end + 1] for each in (curve.rows, curve.numbers, curve.slopes)))
        if far[start]:
            rows = range(part.rows[0], part.rows[-1] + 1)
            part = _straight(np.concatenate((part.numbers[:1], numbers[rows[1:-1]], part.numbers[-1:])), rows)
        yield part


def _straight(numbers: np.ndarray, rows: Sequence[int]) -> KeyedCurve:
    """Straight lines from key to key, (K, C), in these rows."""
    ways = np.diff(numbers, axis=0) / np.diff(rows)[:, None]
    slopes = np.stack((np.concatenate((ways[:1], ways)), np.concatenate((ways, ways[-1:]))), axis=1)
    return KeyedCurve(np.array(rows), numbers, slopes)


def _runs(steps: np.ndarray) -> list[tuple[int, int]]:
    """First and last row of each stretch in which the same is said of all steps from row to row."""
    cuts = [0, *(np.flatnonzero(np.diff(steps)) + 1).tolist(), len(steps)]
    return [*pairwise(cuts)]


def _read(
    limbs: Sequence[PosedLimb], rotations: Sequence[np.ndarray], scales: Mapping[str, np.ndarray]
) -> _FittedChain:
    widths = np.cumsum([0, *(each.shape[1] for each in (*rotations, *scales.values()))]).tolist()
    columns = [slice(*each) for each in pairwise(widths)]
    numbers = np.concatenate([*rotations, *scales.values()], axis=1).astype(float)
    scaled, limb = dict(zip(scales, columns[len(rotations) :], strict=True)), limbs[0].limb
    turned = dict(zip((reading.name for reading in limb.turned), columns, strict=False))
    root = limb.bones[0]
    turns = matrices_of(quaternions_of(numbers[:, columns[0]], root.mode))
    size = (
        numbers[:, scaled[root.name]] if root.name in scaled else np.array([each.limb.bones[0].scale for each in limbs])
    )
    roots = np.array([array_of(each.poses_armature[0]) for each in limbs])
    spaces = roots[:, :3, :3] @ np.linalg.pinv(turns * size[:, None])
    bones, unscaled = [], np.allclose(spaces.swapaxes(1, 2) @ spaces, np.eye(3), atol=_EVEN)
    for readings in zip(*(_bones(each.limb) for each in limbs), strict=True):
        reading, parent = readings[0], readings[0].bone.parent if bones else None
        rest, along, location = np.eye(4), True, np.zeros((len(limbs), 3))
        if parent is not None:
            rest = array_of(parent.matrix_local.inverted_safe() @ reading.bone.matrix_local)
            location = np.array([each.location for each in readings])
            away = location.any() and not reading.bone.use_local_location
            along = reading.bone.use_inherit_rotation and not away
            along &= unscaled or reading.bone.inherit_scale == "FULL"
        rotation = (reading.mode, turned[reading.name]) if reading.name in turned else None
        rotation = rotation or _at_halves(np.array([each.fk_rotation for each in readings]))
        scale = scaled.get(reading.name) or _at_halves(np.array([each.scale for each in readings]))
        unscaled &= not isinstance(scale, slice) and np.allclose(scale, 1.0, atol=_EVEN)
        bones.append(_FittedBone(reading, rest, along, _at_halves(location), rotation, scale))
    last = limb.bones[-1].last
    grown = [(scaled[each.name], each.length) for each in last.bone.children if each.name in scaled]
    away = np.array([_ends(each) for each in limbs]) - roots[:, None, :3, 3]
    # Between rows they are where they go seen from the root.
    seen, spaces = np.einsum("tij,tpj->tpi", np.linalg.pinv(spaces), away), _at_halves(spaces)
    points = np.einsum("tij,tpj->tpi", spaces, _between(seen))
    return _FittedChain(numbers, bones, len(limb.names), np.array(end_in_tip(last.pose_bone)), grown, spaces, points)


def _bones(limb: Limb) -> list[BoneReading]:
    own = [reading for link in limb.bones for reading in (link, *link.segments)]
    return [*own, *(end.reading for end in limb.ends)]


def _ends(posed: PosedLimb) -> list[Vector]:
    """Where a chain ends, and the tails of the bones that it turns there, in armature space."""
    limb, pose = posed.limb, posed.limb.bones[-1].last_pose(posed.poses_armature[-1])
    found = [limb.end_of(posed.poses_armature)]
    for end, raw in zip(limb.ends, posed.rotations[len(limb.bones) :], strict=True):
        pose = end.reading.posed(quaternion_of(raw, end.reading.mode), pose)
        found.append(pose @ Vector((0.0, end.reading.bone.length, 0.0)))
    return found


def _applied(turns: np.ndarray, points: np.ndarray) -> np.ndarray:
    return np.einsum("nij,nj->ni", turns, np.broadcast_to(points, (len(turns), 3)))


def _at_halves(values: np.ndarray) -> np.ndarray:
    """Values at rows, and in the middle between two."""
    found = np.empty((2 * len(values) - 1, *values.shape[1:]))
    found[::2], found[1::2] = values, (values[:-1] + values[1:]) / 2.0
    return found


def _between(points: np.ndarray) -> np.ndarray:
    """Points (T, P, 3) at rows and between them, where cubics through four rows have them; but they bend at most twice
    as much as the parabolas through three do, and not at all where these bend to different sides. So nothing overshoots
    where points jump.

    Source: Bram van Leer, "Towards the Ultimate Conservative Difference Scheme. IV. A New Approach to Numerical
    Convection", Journal of Computational Physics 23 (1977), section 4, on limiting differences.
    """
    bends = np.pad(np.diff(points, 2, axis=0), ((1, 1), (0, 0), (0, 0)), mode="edge")
    before, after = bends[:-1], bends[1:]
    least = 2.0 * np.minimum(np.abs(before), np.abs(after))
    limited = np.clip((before + after) / 2.0, -least, least)
    found = _at_halves(points)
    found[1::2] -= np.where(before * after > 0.0, limited, 0.0) / 8.0
    return found
