"""The chains, the targets and the cost of a pose: sections 4.1 and 4.2, with a choice where they are silent."""

from math import cos, degrees, hypot, pi, radians, sin
from random import Random
from typing import NamedTuple

from mathutils import Quaternion, Vector

ROOT = Vector((0.0, 0.0, 0.0))
START = Vector((1.0, 0.0, 0.0))
"""Where a straight chain points. The box is a cube, so any axis would do but the one that Algorithm 1 turns about."""

BOX_SIDE = 60.0
TOLERANCE = 0.5
"""Distance from the target within which the experiment counts it as reached."""


class PaperChain(NamedTuple):
    """One of the two chains: lengths of its links, and for each the largest angle to the link before."""

    name: str
    lengths: tuple[float, ...]
    limits: tuple[float | None, ...]

    @property
    def length(self) -> float:
        """How far it reaches."""
        return sum(self.lengths)

    @property
    def nearest(self) -> float:
        """How near its end comes to the root: with limits, all joints bent to them and the same way."""
        if not any(self.limits):
            return max(0.0, 2.0 * max(self.lengths) - self.length)
        x = y = angle = 0.0
        for length, limit in zip(self.lengths, self.limits, strict=True):
            angle += limit or 0.0
            x, y = x + length * cos(angle), y + length * sin(angle)
        return hypot(x, y)


FREE = PaperChain("9 9 9 9 4, free", (9.0, 9.0, 9.0, 9.0, 4.0), (None,) * 5)
LIMITED = PaperChain("18 18 4, limited", (18.0, 18.0, 4.0), (None, radians(126.0), radians(90.0)))


class Pose(NamedTuple):
    """A chain in three dimensions: where its links point, and how each has turned since it was straight.

    turns: only the cost needs them; without any, none are kept up.
    """

    directions: tuple[Vector, ...]
    turns: tuple[Quaternion, ...]

    @classmethod
    def straight(cls, chain: PaperChain) -> "Pose":
        """The chain as figure 5 shows it."""
        return cls((START,) * len(chain.lengths), (Quaternion(),) * len(chain.lengths))

    def end(self, chain: PaperChain) -> Vector:
        """Where the last link ends."""
        return sum((along * length for along, length in zip(self.directions, chain.lengths, strict=True)), ROOT)


def targets(count: int, seed: int) -> list[Vector]:
    """Random points in the box about the root, the same for the same seed."""
    random = Random(seed)
    half = BOX_SIDE / 2.0
    return [Vector([random.uniform(-half, half) for _ in range(3)]) for _ in range(count)]


def cost(before: Pose, after: Pose) -> float:
    """Degrees that the joints differ by between two poses: equation 3, read as end against start.

    Each joint counts with the angle between its link's two directions, both seen from the link before. From a
    straight start these are the angles of the joints themselves.
    """
    return degrees(sum(a.angle(b) for a, b in zip(_local(before), _local(after), strict=True)))


def _local(pose: Pose) -> list[Vector]:
    """Directions of the links, each seen from the link before it."""
    seen_from = (Quaternion(), *pose.turns[:-1])
    return [turn.conjugated() @ along for turn, along in zip(seen_from, pose.directions, strict=True)]


def share_outside(radius: float) -> float:
    """The exact part of the box that is farther from its centre than `radius`, for 30 <= radius <= 42.4."""
    half = BOX_SIDE / 2.0
    caps = 6.0 * pi * (radius - half) ** 2 * (2.0 * radius + half) / 3.0
    inside = 4.0 / 3.0 * pi * radius**3 - caps
    return 1.0 - inside / BOX_SIDE**3
