"""Chains with joint limits, witnesses of what they reach, and the measures by which their solutions are judged.

As in `strategies`: everything in double precision, and never with the solvers' own helpers. A joint's *turn* is how a
link turned against the link before it, both seen in the chain's starting pose; every limit is a rule on one turn.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from math import acos, atan2, cos, dist, hypot, inf, pi, radians, sin, sqrt

import numpy as np
from mathutils import Quaternion, Vector

from ik_addon.solvers import Chain, Goal, Hinge, Swing, solve

from .strategies import (
    ORIGIN,
    about,
    across,
    angle_of,
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
        return Goal(
            self.target, self.pole, self.swivel, self.flip, self.softness, self.least_motion, self.stretch_max
        )

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

    def swing_numbers(self, turn):
        """Sines of the half angles about the two axes, and the twist, of a turn from the zero pose."""
        stem = unit(self.swing.along or turned(self.rest, self.along))
        first = unit(across(self.swing.across, stem))
        twist = wrapped(2.0 * atan2(dot(turn[1:], stem), turn[0]))
        swing = product(turn, inverse(about(stem, twist)))
        if swing[0] < 0.0:
            swing = times(swing, -1.0)
        return dot(swing[1:], first), dot(swing[1:], cross(first, stem)), twist

    def _swing_margins(self, turn):
        a, b, twist = self.swing_numbers(turn)
        found = []
        ranges = [self.swing.swing_across, self.swing.swing_second]
        sines = [[sin(max(-pi, min(pi, angle)) / 2.0) for angle in pair] for pair in ranges]
        for value, (lowest, highest), given in zip((a, b), sines, ranges, strict=True):
            if given[1] - given[0] < 2.0 * pi:
                found += [2.0 * (value - lowest), 2.0 * (highest - value)]
        limits = [highest if value > 0.0 else -lowest for value, (lowest, highest) in zip((a, b), sines, strict=True)]
        if len(found) == 4 and min(limits) > KEPT:
            share = hypot(a / limits[0], b / limits[1])
            found.append(2.0 * hypot(a, b) * (1.0 / share - 1.0) if share else 2.0 * min(limits))
        lowest, highest = self.swing.twist
        if highest - lowest < 2.0 * pi:
            twist = wrapped(twist, (lowest + highest) / 2.0)
            # Where the link is swung by a half turn it has no twist of its own.
            sure = 1.0 - a * a - b * b > 1e-6
            found += [twist - lowest, highest - twist] if sure else []
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
