"""Two links in closed form: four readings of one triangle.

The sides are the two links and the base, the line from root to target. All four forms are given the same numerically
sound core (`two_links`): Heron's four factors, each one sum or difference of the sides in double precision, so that
what is lost near full extension and full fold is what the float32 points themselves have lost, no root is taken of a
negative number, no arc cosine is needed, and the shortest link that float32 can hold is not too small.
The base is clamped to what the links can span, so every form ends straight at a target that is too far and folded
at one that is too near; the sources leave these cases open (no check, NaN, or stretched links).
"""

from collections.abc import Callable
from math import atan2, sqrt

from mathutils import Quaternion, Vector

from .bending import OFF_LINE, TOO_FAR, Aim, start_of
from .chain import Chain, Goal, Solution

Form = Callable[[Aim, float, float, float], Vector]
"""Offset of the knee from the root; given the length of the first link and its parts along the base and aside."""


def vector(aim: Aim, first: float, along: float, aside: float) -> Vector:
    """The knee as a weighted sum of the direction to the target and the direction to the pole.

    Source: Inigo Quilez, a two-bone solution with vectors (its second listing). Its first listing mirrors the
    knee when the squared distance is below r2^2 - r1^2, so it is not used; here the root of the second listing, which
    cancels near full extension, comes from Heron's factors, and the perpendicular is the pole's.
    """
    knee = aim.along * along
    knee += aim.side * aside
    return knee


def law_of_cosines(aim: Aim, first: float, along: float, aside: float) -> Vector:
    """The first link turned away from the target by the angle at the root.

    Source: Ryan Juckett, "Analytic Two-Bone IK in 2D", "Solving for theta 1" and "Solving for theta 2". It takes
    the arc cosine of the bend, with the sign of d1^2/d2^2 wrong in its first formula, and treats products of
    lengths below 1e-4 as zero. Here the law's cosine and Heron's sine give the angle by the arc tangent, exact near
    its ends and at any scale, and the link turns in the plane of the pole.
    """
    knee = aim.along * first
    knee.rotate(Quaternion(aim.normal, -atan2(aside, along)))
    return knee


def circle(aim: Aim, first: float, along: float, aside: float) -> Vector:
    """The knee as the crossing of two circles in the bend plane, on the side of the pole.

    Source: "Circle intersection knee" (the critter's `adjust_knee`): x = (d^2 + r1^2 - r2^2) / 2d, y the rest of r1.
    It has no check for a target too near (NaN) and leaves the knee where it was for one too far; here the base
    is clamped. Its y = sqrt(r1^2 - x^2) cancels near full extension; here y comes from Heron's factors.
    """
    x, y = aim.along * along, aim.side * aside
    return max((x + y, x - y), key=aim.bulge.dot)


def sphere(aim: Aim, first: float, along: float, aside: float) -> Vector:
    """The knee on the circle in which two spheres meet, at its point nearest to the pole.

    Source: notes on two-bone IK with three.js, "Spheres" and "Selecting a point on the circle". It places the
    circle's centre at sqrt(R^2 - radius^2), which loses the sign and puts the knee on the wrong side of the root
    when the second link is the longer one; here the centre is a signed distance along the line. Its point on the
    circle is a rotated Y axis, without any control of the bend; here the pole chooses it.
    """
    centre, nearest = aim.along * along, aim.bulge * abs(aside)
    return centre + nearest


def two_links(form: Form, chain: Chain, aim: Aim) -> Solution:
    """Solve the triangle of two links, and complete the solution with the knee where `form` puts it."""
    first, second = chain.lengths
    distance = aim.distance
    _, near, far, difference = aim.start.pair
    if near < distance < far:
        # The parts along keep their signs: the knee may lie behind the root, or beyond the end.
        half, twice = 0.5 * distance, 2.0 * distance
        shift = difference / twice
        along, rest, end = half + shift, half - shift, aim.offset
        aside = sqrt((far - distance) * (distance - near) * (far + distance) * (distance + near)) / twice
    else:
        along, aside, rest = _in_line(first, second, distance)
        end = aim.along * (along + rest)
    if aim.goal.flip:
        aside = -aside
    knee = form(aim, first, along, aside)
    if aim.stretch != 1.0:
        knee, end = knee * aim.stretch, end * aim.stretch
    root = chain.joints[0]
    aim.joints = (root.copy(), root + knee, root + end)
    aim.flat = ((aim.along, aim.normal, aim.side), along, aside, rest, aim.start)
    return aim


def _in_line(first: float, second: float, distance: float) -> tuple[float, float, float]:
    """The triangle at the ends of the reach and beyond them, where both links lie along the base."""
    if distance >= first + second:
        return first, 0.0, second
    if first != second:
        return (first, 0.0, -second) if first > second else (-first, 0.0, second)
    # Equal links folded onto the root have no base: the limit of targets that come ever nearer.
    return 0.0, first, 0.0


def at_once(chain: Chain, goal: Goal) -> Solution | None:
    """The commonest case in one piece: a target in reach, a pole off the line to it, and no other wish; else None.

    What `aim_at`, `two_links` and `vector` come to, number for number, without the calls, which cost
    as much as what they compute.
    """
    start = chain.start or start_of(chain)
    if not start.pair or goal.asks_more:
        return None
    root = chain.joints[0]
    try:
        target, to_pole = Vector(goal.target), Vector(goal.pole)
        offset = target - root
        to_pole -= root
    except (AttributeError, TypeError, ValueError):
        return None
    distance = offset.length
    nearest, near, far, difference = start.pair
    if not nearest < distance < far:
        return None
    offset /= distance
    along = offset
    normal = to_pole.cross(along)
    off_line, in_line = normal @ normal, to_pole @ along
    if not in_line * in_line < OFF_LINE * off_line < TOO_FAR:
        return None
    normal /= sqrt(off_line)
    side = along.cross(normal)
    half, twice = 0.5 * distance, 2.0 * distance
    shift = difference / twice
    part, rest = half + shift, half - shift
    aside = sqrt((far - distance) * (distance - near) * (far + distance) * (distance + near)) / twice
    knee = along * part
    knee += side * aside
    knee += root
    solution = Solution()
    solution.joints = (root.copy(), knee, target)
    solution.flat = ((along, normal, side), part, aside, rest, start)
    return solution
