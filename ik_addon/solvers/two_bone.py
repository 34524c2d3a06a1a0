"""Two links in closed form: four readings of one triangle.

The sides are the two links and the line from root to target. All four forms read the same numerically sound
core (`Triangle`): Heron's four factors of the sides divided by the largest, each computed as one difference, so
that nothing cancels near full extension or full fold, no arc cosine is needed and no length is too small.
A side is clamped to what the links can span, so every form ends straight at a target that is too far and folded
at one that is too near; the sources leave these cases open (no check, NaN, or stretched links).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import atan2, hypot, sqrt

from mathutils import Quaternion, Vector

from .bending import Aim
from .chain import Chain
from .vectors import direction


@dataclass(frozen=True, slots=True)
class Triangle:
    """Two links and the base that they span, divided by `scale`; the base is clamped to their reach.

    over, under: how far the base is from full extension and from full fold. total, spread: the other two
    of Heron's factors. All are at least 0.
    """

    scale: float
    first: float
    second: float
    base: float
    over: float
    under: float
    total: float
    spread: float

    @classmethod
    def spanning(cls, first: float, second: float, distance: float) -> "Triangle":
        scale = max(first, second, distance) or 1.0
        a, b, d = first / scale, second / scale, distance / scale
        total, difference = a + b, abs(a - b)
        base = min(max(d, difference), total)
        return cls(scale, a, b, base, total - base, base - difference, total + base, base + difference)

    @property
    def along(self) -> float:
        """2 base times the first link's part along the base; its sign is kept (negative: knee behind the root)."""
        return self.base * self.base + (self.first - self.second) * (self.first + self.second)

    @property
    def aside(self) -> float:
        """2 base times the knee's distance from the base: four times the area, by Heron's formula."""
        return sqrt(self.over * self.total) * sqrt(self.under * self.spread)


def vector(chain: Chain, aim: Aim) -> list[Vector]:
    """The knee as a weighted sum of the direction to the target and the direction to the pole.

    Source: Inigo Quilez, a two-bone solution with vectors (its second listing). Its first listing mirrors the
    knee when the squared distance is below r2^2 - r1^2, so it is not used; here both parts are normalised
    together, which keeps the first link's length by construction, and the perpendicular is the pole's.
    """

    def knee(triangle: Triangle) -> Vector:
        size = hypot(triangle.along, triangle.aside)
        if not size:
            return Vector((0.0, 0.0, 0.0))
        blend = aim.frame.along * (triangle.along / size) + aim.bulge * (triangle.aside / size)
        return blend * (triangle.first * triangle.scale)

    return _directions(chain, aim, knee)


def law_of_cosines(chain: Chain, aim: Aim) -> list[Vector]:
    """The first link turned away from the target by the angle at the root.

    Source: Ryan Juckett, "Analytic Two-Bone IK in 2D", "Solving for theta 1" and "Solving for theta 2". It takes
    the arc cosine of the bend, with the sign of d1^2/d2^2 wrong in its first formula, and treats products of
    lengths below 1e-4 as zero. Here the same angle comes from the law's half-angle form by the arc tangent,
    exact near its ends and at any scale, and turns in the plane of the pole.
    """

    def knee(triangle: Triangle) -> Vector:
        a, b, base = triangle.first, triangle.second, triangle.base
        rise = sqrt(triangle.over * max(0.0, base - (a - b)))
        run = sqrt(triangle.total * max(0.0, base - (b - a)))
        turn = Quaternion(aim.frame.along.cross(aim.bulge), 2.0 * atan2(rise, run))
        return turn @ aim.frame.along * (a * triangle.scale)

    return _directions(chain, aim, knee)


def circle(chain: Chain, aim: Aim) -> list[Vector]:
    """The knee as the crossing of two circles in the bend plane, on the side of the pole.

    Source: "Circle intersection knee" (the critter's `adjust_knee`): x = (d^2 + r1^2 - r2^2) / 2d, y the rest of r1.
    It has no check for a target too near (NaN) and leaves the knee where it was for one too far; here the base
    is clamped. Its y = sqrt(r1^2 - x^2) cancels near full extension; here y comes from Heron's factors.
    """

    def knee(triangle: Triangle) -> Vector:
        x = triangle.along / (2.0 * triangle.base) * triangle.scale
        y = triangle.aside / (2.0 * triangle.base) * triangle.scale
        crossings = (aim.frame.along * x + aim.frame.side * y, aim.frame.along * x - aim.frame.side * y)
        return max(crossings, key=aim.bulge.dot)

    return _directions(chain, aim, knee)


def sphere(chain: Chain, aim: Aim) -> list[Vector]:
    """The knee on the circle in which two spheres meet, at its point nearest to the pole.

    Source: notes on two-bone IK with three.js, "Spheres" and "Selecting a point on the circle". It places the
    circle's centre at sqrt(R^2 - radius^2), which loses the sign and puts the knee on the wrong side of the root
    when the second link is the longer one; here the centre is a signed distance along the line. Its point on the
    circle is a rotated Y axis, without any control of the bend; here the pole chooses it.
    """

    def knee(triangle: Triangle) -> Vector:
        centre = aim.frame.along * (triangle.along / (2.0 * triangle.base) * triangle.scale)
        radius = triangle.aside / (2.0 * triangle.base) * triangle.scale
        return centre + aim.bulge * radius

    return _directions(chain, aim, knee)


def _directions(chain: Chain, aim: Aim, form: Callable[[Triangle], Vector]) -> list[Vector]:
    """Directions of the two links; `form` gives the knee's offset from the root for a triangle with a base."""
    first, second = chain.lengths
    triangle = Triangle.spanning(first, second, aim.distance)
    # Equal links folded onto the root have no base: the limit of a target that comes ever nearer.
    knee = form(triangle) if triangle.base else aim.bulge * first
    in_reach = triangle.base * triangle.scale == aim.distance
    end = aim.offset if in_reach else aim.frame.along * (triangle.base * triangle.scale)
    return [
        direction(link) if length else aim.turn @ start
        for link, length, start in zip((knee, end - knee), chain.lengths, chain.directions, strict=True)
    ]
