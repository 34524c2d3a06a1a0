"""The bones of a body in the pose before, and the channels that moves of some of them need."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot

import numpy as np

from . import geometry as g
from .limits import ALLOWED, JointLimits

_SAME_TURN = 1e-14
"""Of a quaternion's vector: what turns by less against its parent keeps its channel."""
_SAME_PLACE = 1e-9
"""The same for its location, of the skeleton's extent."""
_ARMATURE = np.eye(4)


@dataclass
class Skeleton:
    """Bones in the order of the armature, in its space, in the pose before.

    parents: their numbers, -1 for none. connected: whether a bone's head cannot leave its parent's tail.
    poses, at_rest: (n, 4, 4). rests: at rest against the parent, or the armature without one. frames: what channels are
    relative to, with the rotations `frame_turns`. turns, locations, scales: what channels hold. up: a unit vector.
    rigged: bones that a live chain poses. stiff, fixed: bones that keep their rotation, and their location.
    limits: of bones that do not turn freely. hinges: {bone: the number of an axis, and how far it may turn about that
    from its pose, least and most}.
    """

    names: Sequence[str]
    parents: Sequence[int]
    connected: Sequence[bool]
    poses: np.ndarray
    at_rest: np.ndarray
    rests: np.ndarray
    frames: np.ndarray
    frame_turns: Sequence[g.Turn]
    tails: Sequence[g.Point]
    turns: Sequence[g.Turn]
    locations: Sequence[g.Point]
    scales: Sequence[g.Point]
    up: g.Point
    rigged: frozenset[int]
    stiff: frozenset[int]
    fixed: frozenset[int]
    limits: Mapping[int, JointLimits]
    hinges: Mapping[int, tuple[int, float, float]]

    def __post_init__(self) -> None:
        self.heads = [point(head) for head in self.poses[:, :3, 3]]
        self.extent = float(np.ptp(self.poses[:, :3, 3], axis=0).max()) or 1.0
        self.into = _inverses(self.poses)
        self.locals = np.concatenate((self.into, _ARMATURE[None]))[[*self.parents]] @ self.poses
        self.to_frames = _inverses(self.frames)[:, :3, :3]
        self._to_frames = [*map(g.inverse, self.frame_turns)]
        self._turns_in_space = [*map(g.times, self.frame_turns, self.turns)]

    def above(self, bone: int) -> Iterator[int]:
        """The bone itself, its parent, and so on."""
        while bone >= 0:
            yield bone
            bone = self.parents[bone]

    def common(self, bones: Sequence[int]) -> int:
        """The lowest bone that carries all of these, -1 if there is none."""
        first, *others = ([*self.above(bone)] for bone in bones)
        return next((bone for bone in first if all(bone in line for line in others)), -1)

    def carrier(self, bone: int, moves: Mapping[int, g.Move]) -> g.Move:
        """The move of what carries a bone."""
        return next((moves[each] for each in self.above(self.parents[bone]) if each in moves), g.NO_MOVE)

    def channel(self, bone: int, against: g.Turn) -> g.Turn:
        """What its rotation channel holds once it has turned against what carries it."""
        return g.times(self._to_frames[bone], g.times(against, self._turns_in_space[bone]))

    def off(self, bone: int, carrier: g.Turn, turn: g.Turn) -> list[float]:
        """By how much the angles of a bone that turns so are beyond its limits, carried by one that turns so."""
        return self.limits[bone].off(self.channel(bone, g.times(g.inverse(carrier), turn)))

    def allows(self, moves: Mapping[int, g.Move], among: Iterable[int]) -> bool:
        """Whether limits and locks of some bones allow moves."""
        limited = [bone for bone in among if bone in self.limits and bone in moves]
        off = (self.off(bone, self.carrier(bone, moves)[0], moves[bone][0]) for bone in limited)
        return all(abs(number) <= ALLOWED for numbers in off for number in numbers)


def _inverses(matrices: np.ndarray) -> np.ndarray:
    """Of matrices (n, 4, 4); of those that are flat, as of bones that are scaled to nothing, nothing is asked."""
    flat = np.abs(np.linalg.det(matrices)) < np.finfo(float).tiny
    return np.linalg.inv(np.where(flat[:, None, None], np.eye(4), matrices))


@dataclass
class Channels:
    """What is written: {bone: rotation}, {bone: location}, of those alone that change; and where bones come with that
    by Blender's own matrices, whose rotations at rest are rotations to 1e-5 only."""

    bones: Skeleton = field(compare=False)
    turns: dict[int, g.Turn] = field(default_factory=dict)
    locations: dict[int, g.Point] = field(default_factory=dict)
    _poses: dict[int, np.ndarray] = field(default_factory=lambda: {-1: _ARMATURE}, compare=False)

    @property
    def changed(self) -> list[int]:
        """The bones of which something is written."""
        return [*(self.turns | self.locations)]

    def write(self, moves: Mapping[int, g.Move], among: Iterable[int]) -> None:
        """Some bones make their moves, and all others go along with what carries them."""
        bones = self.bones
        self._poses = {-1: _ARMATURE}
        for bone in among:
            if bone in bones.rigged:
                continue
            move, carrier = moves[bone], bones.carrier(bone, moves)
            back = g.inverse(carrier[0])
            against = g.times(back, move[0])
            self.turns.pop(bone, None)
            if max(map(abs, against[1:])) > _SAME_TURN:
                self.turns[bone] = bones.channel(bone, against)
            if bones.connected[bone]:
                continue
            self.locations.pop(bone, None)
            head = bones.heads[bone]
            shift = g.sub(g.moved(move, head), g.moved(carrier, head))
            if hypot(*shift) > _SAME_PLACE * bones.extent:
                # A shift of the head, seen from what carries the bone in the pose before.
                shift = bones.to_frames[bone] @ g.rotate(back, shift)
                self.locations[bone] = g.add(bones.locations[bone], point(shift))

    def pose(self, bone: int) -> np.ndarray:
        """The matrix of a bone, (4, 4) in armature space; of -1 that of the armature."""
        bones, line = self.bones, []
        while bone not in self._poses:
            line.append(bone)
            bone = bones.parents[bone]
        for below in reversed(line):
            local = bones.locals[below]
            if below in self.turns or below in self.locations:
                turn = self.turns.get(below, bones.turns[below])
                place = self.locations.get(below, bones.locations[below])
                local = bones.rests[below] @ basis_of(turn, place, bones.scales[below])
            self._poses[below] = self._poses[bone] @ local
            bone = below
        return self._poses[bone]

    def end(self, bone: int, start: g.Point) -> g.Point:
        """Where a point comes that a bone carries; start: where it was in the pose before."""
        return point((self.pose(bone) @ (self.bones.into[bone] @ (*start, 1.0)))[:3])


def basis_of(turn: g.Turn, location: g.Point, scale: g.Point) -> np.ndarray:
    """The matrix (4, 4) that a bone's channels make."""
    axes = [(*g.mul(g.rotate(turn, axis), size), 0.0) for axis, size in zip(g.AXES, scale, strict=True)]
    return np.array((*axes, (*location, 1.0))).T


def point(numbers: Iterable[float]) -> g.Point:
    """Three numbers of any kind as floats."""
    x, y, z = numbers
    return (float(x), float(y), float(z))
