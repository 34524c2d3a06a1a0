"""The bones of a body in the pose before, and the channels that a move of some of them needs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from .turns import (
    NO_MOVE,
    Move,
    Point,
    Turn,
    add,
    cross,
    distance,
    inverse,
    moved,
    normalized,
    rotate,
    sub,
    times,
    turn_to_frame,
    unit,
)

T = TypeVar("T")

_SAME_TURN = 1e-14
"""Of a quaternion's vector: what turns by less against its parent keeps its channel."""
_SAME_PLACE = 1e-9
"""Of the body's size: likewise, for its location."""


@dataclass(frozen=True)
class Skeleton:
    """Bones in the order of the armature, in its space; parents before their children is not needed.

    parents: their numbers, -1 for none. connected: whether a bone's head cannot leave its parent's tail.
    poses: (4, 4) each, the pose before. rests: (4, 4) each, at rest against the parent, or the armature without one.
    turns, locations, scales: what the channels hold. up: a unit vector. rigged: bones that a live chain poses.
    """

    names: Sequence[str]
    parents: Sequence[int]
    connected: Sequence[bool]
    poses: Sequence[np.ndarray]
    rests: Sequence[np.ndarray]
    tails: Sequence[Point]
    turns: Sequence[Turn]
    locations: Sequence[Point]
    scales: Sequence[Point]
    up: Point
    rigged: frozenset[int] = frozenset()
    heads: list[Point] = field(init=False)
    _known: dict = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "heads", [point_of(pose) for pose in self.poses])

    def above(self, bone: int) -> Iterator[int]:
        """The bone itself, its parent, and so on."""
        while bone >= 0:
            yield bone
            bone = self.parents[bone]

    def carries(self, carrier: int, bone: int) -> bool:
        """True if `bone` is `carrier` or below it."""
        return carrier in self.above(bone)

    def common(self, bones: Sequence[int]) -> int:
        """The lowest bone that carries all of these, -1 if there is none."""
        first, *others = ([*self.above(bone)] for bone in bones)
        return next((bone for bone in first if all(bone in line for line in others)), -1)

    def frame(self, bone: int) -> np.ndarray:
        """What a bone's channels are relative to: (4, 4) in armature space, in the pose before."""
        parent = self.parents[bone]
        return self.rests[bone] if parent < 0 else self.poses[parent] @ self.rests[bone]

    def frame_turn(self, bone: int) -> Turn:
        """The rotation of that."""
        return self._kept("turn", bone, lambda: rotation_of(self.frame(bone)))

    def to_frame(self, bone: int) -> np.ndarray:
        """From armature space to that, (3, 3), for vectors."""
        return self._kept("inverse", bone, lambda: np.linalg.inv(self.frame(bone)[:3, :3]))

    def local(self, bone: int) -> np.ndarray:
        """A bone's pose against its parent's, (4, 4), in the pose before."""
        parent = self.parents[bone]
        return self._kept(
            "local", bone, lambda: self.poses[bone] if parent < 0 else self.from_pose(parent) @ self.poses[bone]
        )

    def from_pose(self, bone: int) -> np.ndarray:
        """From armature space to that of a bone, (4, 4), in the pose before."""
        return self._kept("from", bone, lambda: np.linalg.inv(self.poses[bone]))

    def _kept(self, what: str, bone: int, make: Callable[[], T]) -> T:
        """What each step of a drag asks for again."""
        if (what, bone) not in self._known:
            self._known[what, bone] = make()
        return self._known[what, bone]


@dataclass(frozen=True)
class Channels:
    """What is written: {bone: rotation}, {bone: location}, of those alone that change."""

    turns: Mapping[int, Turn]
    locations: Mapping[int, Point]


def channels_of(bones: Skeleton, moves: Mapping[int, Move], size: float) -> Channels:
    """The channels with which each bone makes its move, and all others go along with what carries them."""
    turns, locations = {}, {}

    def carried_by(bone: int) -> Move:
        return next((moves[each] for each in bones.above(bone) if each in moves), NO_MOVE)

    for bone, move in moves.items():
        if bone in bones.rigged:
            continue
        carrier = carried_by(bones.parents[bone])
        against = times(inverse(carrier[0]), move[0])
        if sum(map(abs, against[1:])) > _SAME_TURN:
            frame = bones.frame_turn(bone)
            local = times(times(inverse(frame), against), frame)
            turns[bone] = normalized(times(local, bones.turns[bone]))
        head = bones.heads[bone]
        at, going_along = moved(move, head), moved(carrier, head)
        if not bones.connected[bone] and distance(at, going_along) > _SAME_PLACE * size:
            # A shift of the head, seen from what carries the bone in the pose before.
            shift = rotate(inverse(carrier[0]), sub(at, going_along))
            locations[bone] = add(bones.locations[bone], point(bones.to_frame(bone) @ shift))
    return Channels(turns, locations)


class TruePose:
    """Where bones come by Blender's own matrices, whose rotations at rest are rotations to 1e-5 only."""

    def __init__(self, bones: Skeleton, channels: Channels) -> None:
        self._bones, self._channels = bones, channels
        self._known: dict[int, np.ndarray] = {-1: np.eye(4)}

    def pose(self, bone: int) -> np.ndarray:
        """The matrix of a bone, (4, 4) in armature space."""
        if bone not in self._known:
            bones, parent = self._bones, self._bones.parents[bone]
            if bone in self._channels.turns or bone in self._channels.locations:
                local = bones.rests[bone] @ self._basis(bone)
            else:
                local = bones.local(bone)
            self._known[bone] = self.pose(parent) @ local
        return self._known[bone]

    def _basis(self, bone: int) -> np.ndarray:
        bones = self._bones
        return basis_of(
            self._channels.turns.get(bone, bones.turns[bone]),
            self._channels.locations.get(bone, bones.locations[bone]),
            bones.scales[bone],
        )

    def end(self, bone: int, start: Point) -> Point:
        """Where a point comes that a bone carries; start: where it was in the pose before."""
        return point((self.pose(bone) @ (self._bones.from_pose(bone) @ (*start, 1.0)))[:3])


def basis_of(turn: Turn, location: Point, scale: Point) -> np.ndarray:
    """The matrix (4, 4) that a bone's channels make."""
    w, x, y, z = turn
    matrix = np.eye(4)
    matrix[:3, :3] = (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )
    matrix[:3, :3] *= scale
    matrix[:3, 3] = location
    return matrix


def rotation_of(matrix: np.ndarray) -> Turn:
    """The turn in a matrix that may scale evenly and mirror."""
    # Mirrored in a point: it turns as without that.
    sign = -1.0 if np.linalg.det(matrix[:3, :3]) < 0.0 else 1.0
    x, y = (unit(point(sign * matrix[:3, axis])) for axis in range(2))
    z = unit(cross(x, y))  # perpendicular to the last digit, or the turn is none
    return normalized(turn_to_frame(x, cross(z, x), z))


def point_of(matrix: np.ndarray) -> Point:
    """Where a matrix puts its origin."""
    return point(matrix[:3, 3])


def point(numbers: Sequence[float] | np.ndarray) -> Point:
    """Three numbers of any kind as floats."""
    x, y, z = numbers
    return (float(x), float(y), float(z))
