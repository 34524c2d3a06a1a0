"""Cyclic coordinate descent: the iterative reference."""

from mathutils import Quaternion, Vector

from .bending import Aim
from .chain import Chain, Solution, joint_points
from .vectors import ROUNDING, direction, swing

MAX_SWEEPS = 500
CURL = 0.2
"""Total bend in radians given to a chain that points straight at its target and could not start to move."""


def ccd(chain: Chain, aim: Aim) -> Solution:
    """Sweep from the tip to the root, turning each joint so that the end points at the target, until it is there.

    Source: the account of CCD in R. Mueller-Cajar and R. Mukundan, "Triangulation: a new algorithm for
    inverse kinematics", section 2.2, equations 1 and 2. Contrary to the text CCD need not converge: a chain in
    line with a nearer target has no axis to turn about. Such a chain is curled a little to the goal's side first.
    The end stays within float32 rounding of the target, or where it is after 500 sweeps.
    """
    turn, starts = aim.started(chain.directions)
    directions = [turn @ start for start in starts]
    tolerance = ROUNDING * chain.length
    if aim.distance >= aim.start.reach[0][1]:
        return aim.posed(chain, [aim.along] * len(directions))
    if all(abs(along.dot(aim.along)) > 1.0 - ROUNDING for along in directions):
        directions = _curled(directions, aim)
    for _ in range(MAX_SWEEPS):
        points = joint_points(Vector((0.0, 0.0, 0.0)), chain.lengths, directions)
        end = points[-1]
        if (end - aim.offset).length <= tolerance:
            break
        for k in reversed(range(len(directions))):
            to_end, to_target = end - points[k], aim.offset - points[k]
            if not to_end.length or not to_target.length:
                continue
            rotation = swing(direction(to_end), direction(to_target), aim.normal)
            for later in range(k, len(directions)):
                directions[later] = (rotation @ directions[later]).normalized()
            end = points[k] + rotation @ to_end
    return aim.posed(chain, directions)


def _curled(directions: list[Vector], aim: Aim) -> list[Vector]:
    """A straight chain bulged towards the goal's side, its end still on the line."""
    axis = aim.bulge.cross(aim.along)
    count = len(directions)
    return [Quaternion(axis, CURL * ((2 * k + 1) / count - 1.0) / 2.0) @ along for k, along in enumerate(directions)]
