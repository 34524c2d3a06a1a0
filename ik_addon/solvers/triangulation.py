"""Chains of any length in one pass, one triangle a joint."""

from math import sqrt

from mathutils import Vector

from .bending import Aim
from .chain import Chain, Solution
from .vectors import ROUNDING, SMALL, STRAIGHT, across, direction, perpendicular, swing, unit_across

IN_PLANE = 0.5
"""Sine of the angle to a line from which the part across it is exact to the last places."""


def triangulation(chain: Chain, aim: Aim) -> Solution:
    """Each joint, root first, forms a triangle with the target and with what the links after it can span.

    Source: R. Mueller-Cajar and R. Mukundan, "Triangulation: a new algorithm for inverse kinematics", section 3 and
    Algorithm 1. As printed it fails: by rounding at the last joint (it lacks its own section 3.1.2), by turning
    about the Y axis where the axis is undefined, by pointing away from targets that are too near for a longer
    link, and with the target on a joint. Here each link leaves a distance that the links after it can span,
    which the paper's `b` (their straight length) only bounds from above: they reach an interval
    (`reach_limits`), the circle's extremes about the next joint are another, and any distance in both keeps
    the target in reach. So one pass meets every reachable target and ends nearest to every other one.

    Where the paper prefers the rest to be straight, so does this; with `least_motion` a link turns only as far
    as it must for the target to stay in reach. Links start from the chain's own pose, turned to the goal
    (`Aim.turn`). The paper turns all later links with every joint; here one rotation is carried along and turns a
    link when its turn comes, so the cost grows with the number of links and not with its square.
    """
    slack, least_motion = ROUNDING * chain.length, aim.goal.least_motion
    carried, starts = aim.started(chain.directions)
    if least_motion:
        turn, (end,) = aim.started([aim.start.end])
        if (turn @ end - aim.offset).length <= slack:
            return aim.posed(chain, [carried @ start for start in starts])
    lengths, reach = chain.lengths, aim.start.reach
    to_target, directions = aim.offset.copy(), []
    for k, length in enumerate(lengths):
        along = carried @ starts[k]
        distance = to_target.length
        near, far = reach[k + 1]
        folded, straight = abs(distance - length), distance + length
        lowest = near if near > folded else folded
        highest = far if far < straight else straight
        remaining = highest
        if least_motion or not length or not distance:
            left = to_target - along * length
            kept = left.length
            if not length or not distance or lowest - slack <= kept <= highest + slack:
                directions.append(along)
                to_target = left
                continue
            remaining = min(max(kept, lowest), highest)
        if lowest > highest:
            remaining = folded if far < folded else straight
        toward = to_target / distance if distance > SMALL else direction(to_target)
        away = remaining == straight
        turned = -toward if away else _open_triangle(toward, along, aim, length, distance, remaining)
        directions.append(turned)
        to_target -= turned * length
        if remaining == far > 0.0:
            # "Full triangle has been formed" (section 3.1.2). Opened one by one, the links of the straight
            # rest would bend by the square root of a rounding.
            directions += [direction(to_target)] * (len(lengths) - k - 1)
            break
        bend = swing(along, turned, aim.normal)
        bend @= carried
        bend.normalize()
        carried = bend
    return aim.posed(chain, directions)


def _open_triangle(
    toward: Vector, current: Vector, aim: Aim, length: float, distance: float, remaining: float
) -> Vector:
    """Direction of a link that leaves `remaining` to a target at `distance` in the direction `toward`.

    Cosine and sine come from the law of cosines for half the angle, sound near 0 and near a half turn. The
    link stays in the plane of its present direction; where that is in line with the target, as far as float32
    joints tell, it bends to the goal's side.
    """
    shorter = distance - length
    rise = (remaining - shorter) * (remaining + shorter)
    run = (length + distance - remaining) * (length + distance + remaining)
    if rise <= 0.0 or run <= 0.0:
        return toward if rise <= 0.0 else -toward
    aside = toward * (current @ toward)
    aside.negate()
    aside += current
    size = aside.length
    if size > IN_PLANE:
        aside /= size
    elif size > STRAIGHT:
        aside = direction(across(direction(aside), toward))
    elif across(aim.bulge, toward).length > 2 * ROUNDING:
        aside = unit_across(aim.bulge, toward)
    else:
        aside = perpendicular(toward)
    both = run + rise
    aside *= 2.0 * sqrt(rise * run) / both
    aside += toward * ((run - rise) / both)
    return aside
