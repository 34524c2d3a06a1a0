"""Chains and goals to solve, and the measures by which the tests judge a solution.

Everything is measured in double precision from the float32 numbers that a solver is given, and never with the
solvers' own helpers.
"""

from dataclasses import dataclass, replace
from math import atan2, cos, dist, hypot, pi, sin, sqrt

from hypothesis import strategies as st
from mathutils import Quaternion, Vector

from ik_addon.solvers import SOLVERS, TWO_BONE_SOLVERS, Chain, Goal, solve

EPSILON = 2.0**-20
"""Sixteen units in the last place of a float32: what a solver may lose to rounding, relative to the sizes."""

CLOSED_FORMS = [name for name, solver in SOLVERS.items() if solver.closed]
ORIGIN = (0.0, 0.0, 0.0)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
AXES = [X, Y, Z, (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0)]


@dataclass(frozen=True)
class Case:
    """A chain and a goal in float32 numbers, so that a failing example can be read and repeated."""

    joints: tuple
    target: tuple
    pole: tuple | None = None
    swivel: float = 0.0
    flip: bool = False
    softness: float = 0.0
    least_motion: bool = False
    hinge: tuple | None = None
    stretch_max: float = 1.0

    @property
    def chain(self):
        return Chain(self.joints, bend_normal=self.hinge)

    @property
    def goal(self):
        wishes = self.swivel, self.flip, self.softness, self.least_motion, self.stretch_max
        return Goal(self.target, self.pole, *wishes)

    def solved(self, solver, **changes):
        case = replace(self, **changes)
        return solve(case.chain, case.goal, solver)

    @property
    def root(self):
        return self.joints[0]

    @property
    def lengths(self):
        return [dist(a, b) for a, b in zip(self.joints, self.joints[1:], strict=False)]

    @property
    def length(self):
        return sum(self.lengths)

    @property
    def distance(self):
        return dist(self.root, self.target)

    @property
    def reach(self):
        """Nearest and farthest distance of the end: the longest link less all the others, and their sum."""
        return max(0.0, 2.0 * max(self.lengths) - self.length), self.length

    @property
    def shortfall(self):
        """How far the target is from the nearest point that the chain can reach."""
        near, far = self.reach
        return max(0.0, near - self.distance, self.distance - far)

    @property
    def rounding(self):
        """What float32 may cost: by the chain's length, and by the coordinates that store its points."""
        points = [*self.joints, self.target]
        return EPSILON * (self.length + max(abs(value) for point in points for value in point))

    def scaled(self, factor):
        return replace(
            self,
            joints=tuple(times(joint, factor) for joint in self.joints),
            target=times(self.target, factor),
            pole=self.pole and times(self.pole, factor),
        )

    def moved(self, rotation, offset):
        """The same case after a rigid motion: a turn about the coordinate origin, then a shift."""

        def move(point):
            return single(plus(turned(rotation, point), offset))

        return replace(
            self,
            joints=tuple(move(joint) for joint in self.joints),
            target=move(self.target),
            pole=self.pole and move(self.pole),
            hinge=self.hinge and single(turned(rotation, self.hinge)),
        )


# Vectors in double precision


def single(point):
    """The point that float32 stores; without its smallest numbers, which have fewer digits."""
    return tuple(value if abs(value) > 1e-30 else 0.0 for value in Vector(point))


def plus(a, b):
    return tuple(x + y for x, y in zip(a, b, strict=True))


def minus(a, b):
    return tuple(x - y for x, y in zip(a, b, strict=True))


def times(a, factor):
    return tuple(x * factor for x in a)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a):
    return times(a, 1.0 / hypot(*a))


def across(a, axis):
    """The part of `a` that is perpendicular to the unit vector `axis`."""
    return minus(a, times(axis, dot(a, axis)))


def some_perpendicular(axis):
    return unit(cross(axis, min(AXES[:3], key=lambda other: abs(dot(axis, other)))))


def turned(rotation, vector):
    """`vector` turned by the unit quaternion `rotation` (w, x, y, z)."""
    w, *imaginary = rotation
    twice = times(cross(imaginary, vector), 2.0)
    return plus(plus(vector, times(twice, w)), cross(imaginary, twice))


def about(axis, angle):
    """Quaternion (w, x, y, z) of a turn about the unit vector `axis`."""
    return (cos(angle / 2.0), *times(axis, sin(angle / 2.0)))


def angle_of(rotation):
    """Angle of a quaternion, true also where it is small."""
    w, *imaginary = rotation
    return 2.0 * atan2(hypot(*imaginary), abs(w))


def along_and_side(case):
    """Unit vectors from the root to the target and, across it, to the pole."""
    along = unit(minus(case.target, case.root))
    return along, unit(across(minus(case.pole, case.root), along))


def bulge(joints, along):
    """Sum of the inner joints' distances from the line through the root, as a vector."""
    total = ORIGIN
    for joint in joints[1:-1]:
        total = plus(total, across(minus(joint, joints[0]), along))
    return total


def forward(case, rotations):
    """The joints that the links' rotations give."""
    points = [case.root]
    for rotation, a, b in zip(rotations, case.joints, case.joints[1:], strict=False):
        points.append(plus(points[-1], turned(Quaternion(rotation).normalized(), minus(b, a))))
    return points


def farthest_apart(some, others):
    return max(dist(a, b) for a, b in zip(some, others, strict=True))


# Strategies


def reals(low, high):
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


def powers_of_ten(low, high):
    return reals(low, high).map(lambda exponent: 10.0**exponent)


def _on_sphere(height, azimuth):
    radius = sqrt(max(0.0, 1.0 - height * height))
    return (radius * cos(azimuth), radius * sin(azimuth), height)


units = st.builds(_on_sphere, reals(-1.0, 1.0), reals(0.0, 2.0 * pi)) | st.sampled_from(AXES)
rotations = st.builds(about, units, reals(-pi, pi))


def link_counts(solver, most=8):
    return st.just(2) if solver in TWO_BONE_SOLVERS else st.integers(1, most)


@st.composite
def link_lengths(draw, count):
    """Lengths of every sort: equal, alike, over six decades, one above all others, some of them zero."""
    sort = draw(st.sampled_from(["equal", "alike", "decades", "dominant", "zeros"]))
    if sort == "equal":
        return [1.0] * count
    if sort == "decades":
        return [draw(powers_of_ten(-3, 3)) for _ in range(count)]
    lengths = [draw(reals(0.1, 1.0)) for _ in range(count)]
    if sort != "alike":
        k = draw(st.integers(0, count - 1))
        lengths[k] = 0.0 if sort == "zeros" else 2.0 * sum(lengths)
    return lengths


@st.composite
def link_directions(draw, count):
    """Directions of every sort: straight, folded flat, in a plane, anyhow."""
    sort = draw(st.sampled_from(["straight", "folded", "planar", "free"]))
    first = draw(units)
    if sort == "straight":
        return [first] * count
    if sort == "folded":
        return [times(first, draw(st.sampled_from([1.0, -1.0]))) for _ in range(count)]
    if sort == "planar":
        axis = some_perpendicular(first)
        return [turned(about(axis, draw(reals(-pi, pi))), first) for _ in range(count)]
    return [draw(units) for _ in range(count)]


def chained(root, lengths, directions):
    points = [tuple(root)]
    for length, direction in zip(lengths, directions, strict=True):
        points.append(plus(points[-1], times(direction, length)))
    return points


@st.composite
def cases(draw, counts, decades=3):
    """Any chain with any goal, at any scale; many of them where formulas break.

    Targets lie in reach, on its two limits, outside, on the root and on the chain's own joints, and in line
    with the chain; poles anywhere, in line, or nowhere.
    """
    count = draw(counts)
    lengths = draw(link_lengths(count))
    scale = draw(st.just(1.0) | powers_of_ten(-decades, decades)) / (sum(lengths) or 1.0)
    lengths = [length * scale for length in lengths]
    size = sum(lengths) or 1.0
    root = draw(st.just(ORIGIN) | units.map(lambda u: times(u, 2.0 * size)))
    joints = [single(point) for point in chained(root, lengths, draw(link_directions(count)))]
    case = Case(tuple(joints), joints[-1])
    near, far = case.reach
    spot = draw(st.sampled_from(["reach", "limit", "anywhere", "joint"]))
    if spot == "joint":
        target = draw(st.sampled_from(joints))
    else:
        away = dist(joints[0], joints[-1])
        line = unit(minus(joints[-1], joints[0])) if away > 1e-3 * size else Z
        toward = draw(units | st.sampled_from([line, times(line, -1.0)]))
        distance = {
            "reach": near + (far - near) * draw(reals(0.0, 1.0)),
            "limit": draw(st.sampled_from([near, far])),
            "anywhere": size * draw(reals(0.0, 3.0)),
        }[spot]
        target = plus(joints[0], times(toward, distance))
    offset = minus(target, joints[0])
    pole = draw(
        st.none()
        | units.map(lambda u: plus(joints[0], times(u, size)))
        | st.sampled_from([-1.0, 0.0, 0.5, 2.0]).map(lambda part: plus(joints[0], times(offset, part)))
    )
    return replace(
        case,
        target=single(target),
        pole=pole and single(pole),
        swivel=draw(st.just(0.0) | reals(-pi, pi)),
        flip=draw(st.booleans()),
        least_motion=draw(st.booleans()),
        hinge=draw(st.none() | units.map(single)),
    )


@st.composite
def calm_cases(draw, counts, with_pole=True):
    """Cases in which a rounding of the input moves the solution by no more than a few roundings.

    The links are two or more, alike, and bend one way in one plane, clearly; the target is well inside the
    reach and not behind the chain; the pole is well off the line to it.
    """
    count = draw(counts.filter(lambda count: count > 1))
    lengths = [draw(reals(0.5, 1.0)) for _ in range(count)]
    frame = draw(rotations)
    angle, directions = 0.0, []
    for _ in range(count):
        directions.append(turned(frame, (cos(angle), sin(angle), 0.0)))
        angle -= draw(reals(0.6, 2.0)) / (count - 1)
    root = draw(st.just(ORIGIN) | units)
    joints = [single(point) for point in chained(root, lengths, directions)]
    case = Case(tuple(joints), joints[-1])
    near, far = case.reach
    line = unit(minus(joints[-1], joints[0]))
    side = some_perpendicular(line)
    toward = turned(about(turned(about(line, draw(reals(-pi, pi))), side), draw(reals(0.0, 2.5))), line)
    distance = near + (far - near) * draw(reals(0.2, 0.9))
    pole = None
    if with_pole:
        off = turned(about(toward, draw(reals(-pi, pi))), some_perpendicular(toward))
        pole = plus(root, plus(times(off, draw(reals(0.5, 2.0))), times(toward, draw(reals(-1.0, 1.0)))))
        pole = single(pole)
    target = single(plus(joints[0], times(toward, distance)))
    return replace(case, target=target, pole=pole)
