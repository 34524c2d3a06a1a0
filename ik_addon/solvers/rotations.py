"""From joint positions to rotations of the links: swing, roll and blend, each in one place."""

from math import atan2
from typing import TYPE_CHECKING

from mathutils import Quaternion, Vector

from .vectors import swing

if TYPE_CHECKING:
    from .chain import Chain, Solution


def link_rotations(chain: "Chain", solution: "Solution") -> list[Quaternion]:
    """How each link turned from the chain's starting pose to the solution, root first, in the chain's space.

    The rotation is the solution's rigid turn followed by the bends. Two links bend about the normal of
    the bend plane and keep their roll to it, however far they fold. Longer chains bend each joint by the
    shortest swing against the link before, which is how Triangulation turns them (Mueller-Cajar & Mukundan,
    "Triangulation: a new algorithm for inverse kinematics", section 3.1) and adds no twist.
    """
    if solution.rotations is not None:
        return list(solution.rotations)
    in_plane = len(chain.lengths) == 2
    rotations = []
    carried = solution.turn
    for start, solved in zip(chain.directions, solution.directions, strict=True):
        if in_plane:
            carried = _bend(solution.turn @ start, solved, solution.normal) @ solution.turn
        else:
            carried = swing(carried @ start, solved, solution.normal) @ carried
        rotations.append(carried)
    return rotations


def _bend(start: Vector, end: Vector, normal: Vector) -> Quaternion:
    """Rotation between unit vectors about `normal`, and by a short swing for what lies out of its plane."""
    bend = Quaternion(normal, atan2(start.cross(end).dot(normal), start.dot(end)))
    return swing(bend @ start, end, normal) @ bend


def blend(fk: Quaternion, ik: Quaternion, influence: float) -> Quaternion:
    """The rotation at `influence` (0 to 1) on the shortest way from `fk` to `ik`."""
    return fk.slerp(ik, influence)
