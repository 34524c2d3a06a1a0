"""From solved chains to rotations of the links: bend, roll and blend, each in one place."""

from math import atan2

from mathutils import Matrix, Quaternion

from .bending import Aim, rolled
from .chain import Chain, Solution
from .vectors import swing


def link_rotations(chain: Chain, solution: Solution) -> list[Quaternion]:
    """How each link turned from the chain's starting pose to the solution, root first, in the chain's space.

    The rotation is the solution's rigid turn followed by the bends. Two links bend about the normal of
    the bend plane and keep their roll to it, however far they fold. Longer chains bend each joint by the
    shortest swing against the link before, which is how Triangulation turns them (Mueller-Cajar & Mukundan,
    "Triangulation: a new algorithm for inverse kinematics", section 3.1) and adds no twist.
    """
    flat = solution.flat
    if flat is not None:
        frame, first_along, aside, second_along, start = flat
        normal = frame[1]
        axes = Matrix(frame)
        axes.transpose()
        aimed = axes.to_quaternion()
        first, second = Quaternion(normal, -atan2(aside, first_along)), Quaternion(normal, atan2(aside, second_along))
        first @= aimed
        second @= aimed
        unrolled_first, unrolled_second = start.unrolled
        first @= unrolled_first
        second @= unrolled_second
        return [first, second]
    if solution.rotations is not None:
        return list(solution.rotations)
    normal = solution.normal
    assert isinstance(solution, Aim)
    if len(solution.links) == 2:
        return [
            rolled(along, normal) @ unrolled
            for along, unrolled in zip(solution.links, solution.start.unrolled, strict=True)
        ]
    rotations = []
    carried = solution.turn
    for start, solved in zip(chain.directions, solution.links, strict=True):
        bend = swing(carried @ start, solved, normal)
        bend @= carried
        rotations.append(bend)
        carried = bend
    return rotations


def blend(fk: Quaternion, ik: Quaternion, influence: float) -> Quaternion:
    """The rotation at `influence` (0 to 1) on the shortest way from `fk` to `ik`."""
    return fk.slerp(ik, influence)
