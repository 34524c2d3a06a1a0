"""Chains with joint limits, witnesses of what they reach, and the measures by which their solutions are judged.

As in `strategies`: everything in double precision, and never with the solvers' own helpers. A joint's *turn* is how a
link turned against the link before it, both seen in the chain's starting pose; every limit is a rule on one turn.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from math import atan2, cos, dist, hypot, inf, pi, sin, sqrt

import numpy as np
from mathutils import Quaternion

from ik_addon.solvers import Chain, Goal, Hinge, Swing, solve

from .strategies import (
    ORIGIN,
    about,
    across,
    chained,
    cross,
    dot,
    minus,
    plus,
    single,
    some_perpendicular,
    times,
    turned,
    unit,
)

KEPT = 1e-4
"""Radians by which a limit may be passed."""

MET = 1e-5
"""Part of a chain's length within which a target counts as reached."""

FREE = (1.0, 0.0, 0.0, 0.0)


# Quaternions (w, x, y, z) in double precision


def product(a, b):
    """The rotation `b`, then `a`."""
    w = a[0] * b[0] - dot(a[1:], b[1:])
    return (w, *plus(plus(times(b[1:], a[0]), times(a[1:], b[0])), cross(a[1:], b[1:])))


def inverse(rotation):
    w, x, y, z = rotation
    return (w, -x, -y, -z)


def doubled(rotation):
    """A float32 quaternion as a unit quaternion in double precision."""
    size = hypot(*rotation)
    return tuple(value / size for value in rotation)


def angle_between(a, b):
    return 2.0 * atan2(dist(unit(a), unit(b)), hypot(*plus(unit(a), unit(b))))


def shortest_turn(a, b):
    """The shortest rotation between two unit vectors."""
    axis = cross(a, b)
    if hypot(*axis) < 1e-12:
        return FREE if dot(a, b) > 0.0 else about(some_perpendicular(a), pi)
    return about(unit(axis), angle_between(a, b))


def wrapped(angle, middle=0.0):
    """The same angle within half a turn of `middle`."""
    return middle + (angle - middle + pi) % (2.0 * pi) - pi


# Chains


@dataclass(frozen=True)
class Limited:
    """A chain with limits and a goal."""

    joints: tuple
    target: tuple = ORIGIN
    cones: tuple | None = None
    hinges: tuple | None = None
    swings: tuple | None = None
    parent: tuple | None = None
    pole: tuple | None = None
    swivel: float = 0.0
    flip: bool = False
    softness: float = 0.0
    least_motion: bool = False
    stretch_max: float = 1.0
    bend_normal: tuple | None = None

    @property
    def chain(self):
        return Chain(
            self.joints,
            cones=self.cones,
            hinges=self.hinges,
            swings=self.swings,
            parent_direction=self.parent,
            bend_normal=self.bend_normal,
        )

    @property
    def goal(self):
        return Goal(self.target, self.pole, self.swivel, self.flip, self.softness, self.least_motion, self.stretch_max)

    def solved(self, solver="AUTO", **changes):
        case = replace(self, **changes)
        return solve(case.chain, case.goal, solver)

    @property
    def root(self):
        return self.joints[0]

    @property
    def lengths(self):
        return [dist(a, b) for a, b in pairwise(self.joints)]

    @property
    def length(self):
        return sum(self.lengths)

    @property
    def distance(self):
        return dist(self.root, self.target)

    @property
    def directions(self):
        """Of the links in the starting pose; a link without length points where its predecessor points."""
        links = [minus(b, a) for a, b in pairwise(self.joints)]
        last = next((link for link in links if hypot(*link)), (0.0, 0.0, 1.0))
        found = []
        for link in links:
            last = link if hypot(*link) else last
            found.append(unit(last))
        return found

    @property
    def rules(self):
        """One `Rule` for each joint, root first."""
        count = len(self.joints) - 1
        parents = [self.parent and unit(self.parent), *self.directions]
        lists = [entries or (None,) * count for entries in (self.cones, self.hinges, self.swings)]
        return [
            Rule(along, before, cone if before else None, hinge and Hinge(*hinge), swing and Swing(*swing))
            for along, before, cone, hinge, swing in zip(self.directions, parents, *lists, strict=False)
        ]


def elsewhere(case, rotation):
    """The same chain and goal, from its root, in a space that is turned and has its numbers rounded there."""

    def there(vector):
        return vector and single(turned(rotation, vector))

    def seen(entry):
        if entry is None:
            return None
        rest = entry.rest and Quaternion(product(product(rotation, doubled(entry.rest)), inverse(rotation)))
        if isinstance(entry, Hinge):
            return entry._replace(axis=there(entry.axis), rest=rest)
        return entry._replace(across=there(entry.across), along=there(entry.along), rest=rest)

    return replace(
        case,
        joints=tuple(there(minus(joint, case.root)) for joint in case.joints),
        target=there(minus(case.target, case.root)),
        pole=case.pole and there(minus(case.pole, case.root)),
        hinges=case.hinges and tuple(map(seen, case.hinges)),
        swings=case.swings and tuple(map(seen, case.swings)),
        parent=there(case.parent),
        bend_normal=there(case.bend_normal),
    )


@dataclass(frozen=True)
class Rule:
    """What one joint may do. along, before: directions of its link and of the link before in the starting pose."""

    along: tuple
    before: tuple | None
    cone: float | None = None
    hinge: Hinge | None = None
    swing: Swing | None = None

    @property
    def rest(self):
        given = (self.hinge or self.swing).rest
        return FREE if given is None else doubled(given)

    def margins(self, turn):
        """How far a turn is from each of the joint's limits: radians, negative where it is passed.

        For swings twice the sine of the half angle, which is never more.
        """
        found = []
        if self.cone is not None and self.cone < pi:
            found.append(self.cone - angle_between(self.before, turned(turn, self.along)))
        if self.hinge is not None:
            found += self._hinge_margins(product(turn, inverse(self.rest)))
        if self.swing is not None:
            found += self._swing_margins(product(turn, inverse(self.rest)))
        return found

    def _hinge_margins(self, turn):
        axis = unit(self.hinge.axis)
        lowest, highest = self.hinge.lowest, self.hinge.highest
        off_axis = 2.0 * hypot(*across(turn[1:], axis))
        found = [-off_axis] if off_axis > KEPT / 10.0 else []
        if highest - lowest < 2.0 * pi:
            angle = wrapped(2.0 * atan2(dot(turn[1:], axis), turn[0]), (lowest + highest) / 2.0)
            found += [angle - lowest, highest - angle]
        if self.hinge.least_bend is not None and self.before is not None:
            solved = turned(product(turn, self.rest), self.along)
            found.append(angle_between(self.before, solved) - self.hinge.least_bend)
        return found

    def _swing_margins(self, turn):
        stem = unit(self.swing.along or turned(self.rest, self.along))
        first = unit(across(self.swing.across, stem))
        around, w = dot(turn[1:], stem), turn[0]
        twist = 2.0 * atan2(around, w)
        lowest, highest = self.swing.twist
        # Swung by nearly half a turn a link has no twist of its own: its turn can be read in many ways.
        clamped = min(max(wrapped(twist, (lowest + highest) / 2.0), lowest), highest)
        readings = [twist, clamped]
        if hypot(around, w) < KEPT:
            readings += [lowest + (highest - lowest) * k / 200.0 for k in range(201)]
        both = [reading + whole for reading in readings for whole in (0.0, 2.0 * pi)]
        return max((self._margins_of(turn, stem, first, reading) for reading in both), key=min)

    def folds_back(self, turn):
        """Whether a swing is half a turn or nearly so: beyond it lies the other side of the range."""
        if self.swing is None:
            return False
        stem = unit(self.swing.along or turned(self.rest, self.along))
        return angle_between(stem, turned(product(turn, inverse(self.rest)), stem)) > pi - 0.01

    def _margins_of(self, turn, stem, first, twist):
        swing = product(turn, inverse(about(stem, twist)))
        off = 2.0 * abs(dot(swing[1:], stem))
        found = [-off] if off > KEPT / 10.0 else [pi]
        values = [dot(swing[1:], first), dot(swing[1:], cross(first, stem))]
        if swing[0] < -1e-6:
            values = [-value for value in values]
        ranges = [self.swing.swing_across, self.swing.swing_second]
        sines = [[sin(max(-pi, min(pi, angle)) / 2.0) for angle in pair] for pair in ranges]
        limited = [highest - lowest < 2.0 * pi for lowest, highest in ranges]
        for value, (lowest, highest), counts in zip(values, sines, limited, strict=True):
            found += [2.0 * (value - lowest), 2.0 * (highest - value)] if counts else []
        limits = [highest if value > 0.0 else -lowest for value, (lowest, highest) in zip(values, sines, strict=True)]
        if all(limited) and min(limits) > KEPT:
            share = hypot(values[0] / limits[0], values[1] / limits[1])
            found.append(2.0 * hypot(*values) * (1.0 / share - 1.0) if share else 2.0 * min(limits))
        lowest, highest = self.swing.twist
        if highest - lowest < 2.0 * pi:
            twist = wrapped(twist, (lowest + highest) / 2.0)
            found += [twist - lowest, highest - twist]
        return found

    def random_turn(self, rng):
        """A legal turn."""
        while True:
            turn = self._random_turn(rng)
            if min(self.margins(turn), default=inf) >= 0.0:
                return turn

    def _random_turn(self, rng):
        if self.hinge is not None:
            angle = rng.uniform(self.hinge.lowest, self.hinge.highest)
            return product(about(unit(self.hinge.axis), angle), self.rest)
        if self.swing is not None:
            stem = unit(self.swing.along or turned(self.rest, self.along))
            first = unit(across(self.swing.across, stem))
            a, b = (
                sin(max(-pi, min(pi, rng.uniform(*pair))) / 2.0)
                for pair in (self.swing.swing_across, self.swing.swing_second)
            )
            if hypot(a, b) > 1.0:
                a, b = a / hypot(a, b), b / hypot(a, b)
            vector = plus(times(first, a), times(cross(first, stem), b))
            swing = (sqrt(max(0.0, 1.0 - a * a - b * b)), *vector)
            return product(product(swing, about(stem, rng.uniform(*self.swing.twist))), self.rest)
        before = self.before or self.along
        widest = pi if self.cone is None else min(pi, self.cone)
        side = turned(about(before, rng.uniform(-pi, pi)), some_perpendicular(before))
        toward = turned(about(side, widest * sqrt(rng.random())), before)
        return product(about(toward, rng.uniform(-pi, pi)), shortest_turn(self.along, toward))


def posed(case, turns):
    """The joints of a chain for the turns of its joints."""
    carried, points = FREE, [case.root]
    for turn, along, length in zip(turns, case.directions, case.lengths, strict=True):
        carried = product(carried, turn)
        points.append(plus(points[-1], times(turned(carried, along), length)))
    return points


def random_pose(case, rng):
    """The joints of a random legal pose."""
    return posed(case, [rule.random_turn(rng) for rule in case.rules])


def solved_turns(solution):
    carried, turns = FREE, []
    for rotation in map(doubled, solution.rotations):
        turns.append(product(inverse(carried), rotation))
        carried = rotation
    return turns


def margins(case, solution):
    """For each joint how far it is from its nearest limit, negative where that is passed."""
    turns = solved_turns(solution)
    return [min(rule.margins(turn), default=inf) for rule, turn in zip(case.rules, turns, strict=True)]


def broken(case, solution):
    """By how much a solution breaks its limits, in radians, by its rotations and by its directions."""
    worst = max(0.0, *(-margin for margin in margins(case, solution)))
    before = case.parent
    for along, cone in zip(solution.directions, case.cones or (), strict=False):
        if cone is not None and before is not None:
            worst = max(worst, angle_between(before, along) - cone)
        before = along
    return worst


def untrue(case, solution):
    """How far the rotations, the directions, the lengths and the joints of a solution contradict one another.

    Relative to the chain's length.
    """
    found = [0.0, dist(solution.joints[0], case.root)]
    for rotation, start, along in zip(solution.rotations, case.directions, solution.directions, strict=True):
        found.append(dist(turned(doubled(rotation), start), along) * case.length)
    for a, b, along, length in zip(
        solution.joints, solution.joints[1:], solution.directions, case.lengths, strict=False
    ):
        found.append(dist(minus(b, a), times(along, length * solution.stretch)))
    found.append(abs(solution.residual - dist(solution.joints[-1], case.target)))
    return max(found) / (case.length or 1.0)


# Any chain with any limits


def random_unit(rng):
    height, azimuth = rng.uniform(-1.0, 1.0), rng.uniform(-pi, pi)
    radius = sqrt(1.0 - height * height)
    return (radius * cos(azimuth), radius * sin(azimuth), height)


def random_rotation(rng):
    return about(random_unit(rng), rng.uniform(-pi, pi))


def straight(lengths, toward=(0.0, 0.0, 1.0), **limits):
    """A straight chain from the origin."""
    return Limited(tuple(single(point) for point in chained(ORIGIN, lengths, [toward] * len(lengths))), **limits)


def random_chain(rng, kinds, counts=(1, 2, 3, 4, 5)):
    """A chain with limits of these kinds ("cone", "hinge", "swing", "cone and hinge", None), its pose legal or not."""
    count = rng.choice(counts)
    sort = rng.choice(["straight", "free", "free", "zero"])
    toward = random_unit(rng)
    lengths = [rng.uniform(0.2, 1.0) for _ in range(count)]
    if sort == "zero":
        lengths[rng.randrange(count)] = 0.0
    directions = [toward if sort == "straight" else random_unit(rng) for _ in range(count)]
    root = rng.choice([ORIGIN, times(random_unit(rng), 3.0)])
    case = Limited(
        joints=tuple(single(point) for point in chained(root, lengths, directions)),
        parent=rng.choice([None, single(random_unit(rng))]),
    )
    limits = [_random_limits(rng, rng.choice(kinds), along) for along in case.directions]
    cones, hinges, swings = zip(*limits, strict=True)
    return replace(case, cones=cones, hinges=hinges, swings=swings)


def _random_limits(rng, kind, along):
    rest = rng.choice([None, Quaternion(random_rotation(rng))])
    if kind == "cone":
        return rng.choice([0.0, rng.uniform(0.0, pi), rng.uniform(0.0, pi), pi]), None, None
    if kind == "hinge":
        lowest, highest = sorted(rng.uniform(-pi, pi) for _ in range(2))
        axis = random_unit(rng) if rng.random() < 0.4 else unit(across(random_unit(rng), along))
        return None, Hinge(single(axis), lowest, rng.choice([lowest, highest, highest]), rest), None
    if kind == "swing":
        stem = rng.choice([None, single(random_unit(rng))])
        zero = along if rest is None else turned(doubled(rest), along)
        axis = single(unit(across(random_unit(rng), stem or zero)))
        twist = rng.choice([(-pi, pi), (0.0, 0.0), (-rng.uniform(0.0, pi), rng.uniform(0.0, pi))])
        return None, None, Swing(axis, _random_range(rng), _random_range(rng), twist, rest, stem)
    return None, None, None


def _random_range(rng):
    both = (-rng.uniform(0.0, pi), rng.uniform(0.0, pi))
    return rng.choice([(-pi, pi), (0.0, 0.0), (0.0, rng.uniform(0.0, pi)), both, both, both])


def random_goal(rng, case):
    """The chain with any goal: in reach, far, near, on the root, on its own end; with and without wishes."""
    size = case.length or 1.0
    away = {"reach": rng.random(), "far": rng.uniform(1.0, 3.0), "near": 1e-4, "root": 0.0, "end": None}
    distance = away[rng.choice(list(away))]
    target = case.joints[-1] if distance is None else plus(case.root, times(random_unit(rng), distance * size))
    return replace(
        case,
        target=single(target),
        pole=rng.choice([None, single(plus(case.root, times(random_unit(rng), 2.0 * size)))]),
        swivel=rng.choice([0.0, rng.uniform(-pi, pi)]),
        flip=rng.random() < 0.5,
        softness=rng.choice([0.0, rng.uniform(0.0, 0.5)]),
        least_motion=rng.random() < 0.5,
        stretch_max=rng.choice([1.0, 1.5]),
    )


# What limits allow, by brute force in the plane


def planar_nearest(lengths, cones, rng, starts=400):
    """The smallest distance between the ends of a planar chain, each inner joint bending at most by its cone.

    Descent from many random starts at once: each joint in turn takes its best angle, which has a closed form.
    """
    limits = np.minimum(np.array([pi, *cones]), pi)
    bends = rng.uniform(-1.0, 1.0, (starts, len(lengths))) * limits
    bends[0] = limits
    before = inf
    for _ in range(200):
        for k in range(1, len(lengths)):
            steps = np.array(lengths) * np.exp(1j * np.cumsum(bends, axis=1))
            before_joint, after_joint = steps[:, :k].sum(axis=1), steps[:, k:].sum(axis=1)
            # The part after the joint should point against the part before it.
            bend = bends[:, k] + np.angle(-before_joint * np.conj(after_joint))
            bend = (bend + pi) % (2.0 * pi) - pi
            # The miss is a sinusoid of the angle: outside the range the nearer end, on the circle, is best.
            bends[:, k] = np.clip(bend, -limits[k], limits[k])
        spans = np.abs((np.array(lengths) * np.exp(1j * np.cumsum(bends, axis=1))).sum(axis=1))
        if before - spans.min() < 1e-12:
            break
        before = spans.min()
    return float(spans.min())
