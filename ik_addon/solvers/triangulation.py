"""Chains of any length in one pass, one triangle a joint."""

from math import atan2, cos, sin, sqrt

from mathutils import Vector

from .bending import Aim
from .chain import ROUNDING, Chain, end_offset
from .vectors import STRAIGHT, across, direction, perpendicular, swing, unit_across


def triangulation(chain: Chain, aim: Aim) -> list[Vector]:
    """Each joint, root first, forms a triangle with the target and with what the links after it can span.

    Source: R. Mueller-Cajar and R. Mukundan, "Triangulation: a new algorithm for inverse kinematics", section 3 and
    Algorithm 1. As printed it fails: by rounding at the last joint (it lacks its own section 3.1.2), by turning
    about the Y axis where the axis is undefined, by pointing away from targets that are too near for a longer
    link, and with the target on a joint. Here each link leaves a distance that the links after it can span,
    which the paper's `b` (their straight length) only bounds from above: they reach an interval
    (`reach_limits`), the circle's extremes about the next joint are another, and any distance in both keeps
    the target in reach. So one pass meets every reachable target and ends nearest to every other one.

    Where the paper prefers the rest to be straight, so does this; with `least_motion` a link turns only as far
    as it must for the target to stay in reach. Links start from the chain's own pose, turned to the goal.
    """
    to_target = aim.offset
    directions = aim.start_directions(chain)
    slack = ROUNDING * chain.length
    if aim.least_motion and (end_offset(chain.lengths, directions) - to_target).length <= slack:
        return directions
    for k, length in enumerate(chain.lengths):
        distance = to_target.length
        near, far = aim.limits[k + 1]
        lowest, highest = max(near, abs(distance - length)), min(far, distance + length)
        kept = (to_target - directions[k] * length).length
        stays = aim.least_motion and lowest - slack <= kept <= highest + slack
        if not length or not distance or stays:
            to_target = to_target - directions[k] * length
            continue
        if lowest <= highest:
            remaining = min(max(kept, lowest), highest) if aim.least_motion else highest
        elif far < abs(distance - length):
            remaining = abs(distance - length)
        else:
            remaining = distance + length
        turned = _open_triangle(direction(to_target), directions[k], aim, length, distance, remaining)
        rotation = swing(directions[k], turned, aim.frame.normal)
        directions[k] = turned
        for later in range(k + 1, len(directions)):
            directions[later] = rotation @ directions[later]
        to_target = to_target - turned * length
        if remaining == far > 0.0:
            # "Full triangle has been formed" (section 3.1.2). Opened one by one, the links of the straight
            # rest would bend by the square root of a rounding.
            directions[k + 1 :] = [direction(to_target) for _ in directions[k + 1 :]]
            break
    return directions


def _open_triangle(
    toward: Vector, current: Vector, aim: Aim, length: float, distance: float, remaining: float
) -> Vector:
    """Direction of a link that leaves `remaining` to a target at `distance` in the direction `toward`.

    The angle comes from the half-angle form of the law of cosines, sound near 0 and near a half turn. The
    link stays in the plane of its present direction; where that is in line with the target, as far as float32
    joints tell, it bends to the goal's side.
    """
    rise = (remaining - (distance - length)) * (remaining + (distance - length))
    run = (length + distance - remaining) * (length + distance + remaining)
    angle = 2.0 * atan2(sqrt(max(0.0, rise)), sqrt(max(0.0, run)))
    if across(current, toward).length > STRAIGHT:
        aside = unit_across(current, toward)
    elif across(aim.bulge, toward).length > 2 * ROUNDING:
        aside = unit_across(aim.bulge, toward)
    else:
        aside = perpendicular(toward)
    return direction(toward * cos(angle) + aside * sin(angle))
