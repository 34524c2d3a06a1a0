"""Chains of any length: Triangulation in one pass, and cyclic coordinate descent (CCD), the iterative reference."""

from cmath import phase, rect
from itertools import accumulate, pairwise
from math import acos, copysign, pi, sqrt

from mathutils import Quaternion, Vector

from .bending import Aim
from .chain import Chain, Solution, joint_points
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
    (`Aim.turn`); with `least_motion` and a pole their joints have first bent so far that the end is as far
    (`_bent_evenly`). The paper turns all later links with every joint; here one rotation is carried along and turns a
    link when its turn comes, so the cost grows with the number of links and not with its square.
    """
    slack, least_motion = ROUNDING * chain.length, aim.goal.least_motion
    carried, starts = aim.started(chain.directions)
    if least_motion:
        turn, (end,) = aim.started([aim.start.end])
        if (turn @ end - aim.offset).length <= slack:
            return aim.posed(chain, [carried @ start for start in starts])
        if aim.goal.pole is not None and len(starts) > 2:
            carried, starts = aim.started(_bent_evenly(chain, aim))
            directions = [carried @ start for start in starts]
            if (joint_points(Vector(), chain.lengths, directions)[-1] - aim.offset).length <= slack:
                return aim.posed(chain, directions)
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


PASSES, EVEN = 8, 1e-8
"""How often a part is bettered, each time to twice the digits; how near, beside the chain, ends that."""


def _bent_evenly(chain: Chain, aim: Aim) -> list[Vector]:
    """The starting directions of links, all of whose joints bend by one part more or less, so that their end is as far
    as the target, in the starting direction.

    So joints keep their sides. Where the start is straighter than wanted its first joint opens too: with all of them
    near straight the others may then change sides without a jump.
    """
    frame = aim.start.frame
    plane = [complex(along @ frame.along, along @ frame.side) for along in chain.directions]
    spans = [abs(link) * length for link, length in zip(plane, chain.lengths, strict=True)]
    turns = [0.0, *accumulate(phase(b * a.conjugate()) for a, b in pairwise(plane))]
    total, first = sum(spans), chain.lengths[0]
    lack, wanted, rest = max(total - aim.start.end.length, 0.0), total - aim.distance, chain.length - first
    if lack < wanted:
        alone = (aim.distance**2 - first**2 - rest**2) / (2.0 * first * rest or 1.0)
        opened = 0.5 * (1.0 - lack / wanted) ** 2 * acos(min(max(alone, -1.0), 1.0))
        turns[1:] = [turn - opened for turn in turns[1:]]
    most = pi / max(SMALL, *(abs(b - a) for a, b in pairwise(turns)))
    part = min(1.0, most) if wanted > 0.0 else 0.0
    for _ in range(PASSES):
        links = [rect(span, part * turn) for span, turn in zip(spans, turns, strict=True)]
        lack = total - abs(chord := sum(links))
        if not part or lack <= 0.0 or not chord or abs(lack - wanted) <= EVEN * total:
            break
        # Near straight what is lacking goes with the square of the part, elsewhere with another power of it.
        moved = sum(turn * link for turn, link in zip(turns, links, strict=True))
        power = part * (chord.conjugate() * moved).imag / (abs(chord) * lack)
        power = copysign(max(abs(power), 0.5), power)
        part = min(part * min(max((wanted / lack) ** (1.0 / power), 0.25), 4.0), most)
    turned = (phase(chord) + phase(own) - phase(link) for own, link in zip(plane, links, strict=True))
    return [Quaternion(frame.normal, turn) @ along for turn, along in zip(turned, chain.directions, strict=True)]


def _open_triangle(
    toward: Vector, current: Vector, aim: Aim, length: float, distance: float, remaining: float
) -> Vector:
    """Direction of a link that leaves `remaining` to a target at `distance` in the direction `toward`, in the plane of
    its present direction; to the goal's side where that is in line with the target, as far as float32 joints tell."""
    # By the law of cosines for half the angle, sound near 0 and near a half turn.
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
        # It has no axis to turn about: bulged a little towards the goal's side, its end is still on the line.
        axis, count = aim.bulge.cross(aim.along), len(directions)
        bends = [Quaternion(axis, CURL * ((2 * k + 1) / count - 1.0) / 2.0) for k in range(count)]
        directions = [bend @ along for bend, along in zip(bends, directions, strict=True)]
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
