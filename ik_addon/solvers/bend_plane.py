"""The plane in which a chain bends, and what of a chain is the same for all its goals."""

from dataclasses import dataclass

from mathutils import Quaternion, Vector

from .vectors import rotation_to


@dataclass(slots=True)
class BendFrame:
    """Where a chain points and bends: two perpendicular unit vectors.

    along: from the root to the end, or to the target. side: towards which the inner joints bulge.
    """

    along: Vector
    side: Vector

    @property
    def normal(self) -> Vector:
        """The axis about which positive bends turn; (along, normal, side) is right-handed."""
        return self.side.cross(self.along)

    def rotation(self) -> Quaternion:
        """The rotation from the coordinate axes to (along, normal, side)."""
        return rotation_to(self.along, self.normal, self.side)


@dataclass(slots=True)
class Start:
    """What depends on a chain's starting pose alone, and so is the same for all its goals.

    frame: its bend frame. end: from root to end. noise: distance from the root below which float32 has no
    direction. reach: nearest and farthest distance that the links k, k+1, … reach. unturned: the rotation from the
    frame to the coordinate axes.

    Of two links alone: unrolled: for each the rotation to the coordinate axes from its direction and the frame's
    normal. pair: the distance from which on float32 has a direction and the links a triangle, the nearest and the
    farthest reach, and the difference of the squared lengths; empty for other chains, and with joint limits.
    """

    frame: BendFrame
    end: Vector
    noise: float
    reach: list[tuple[float, float]]
    unturned: Quaternion
    unrolled: tuple[Quaternion, ...]
    pair: tuple[float, ...]
