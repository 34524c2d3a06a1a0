"""Every solver over all targets, and what is recorded of it."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from mathutils import Vector

from ik_addon.solvers import Chain, Goal, Solution, link_rotations, solve

from . import ccd as paper_ccd
from . import triangulation
from .setup import ROOT, TOLERANCE, PaperChain, Pose, cost

Method = Callable[[PaperChain, Pose, Vector], tuple[Pose, int]]
"""Takes a chain, the pose it starts from and a target; gives the pose it ends in and the passes over the chain."""


class Run(NamedTuple):
    """What one solver did with one chain; one entry a target.

    distances: of the targets from the root. to_hand: of the targets from the end of the straight chain. left: from the
    chain's end to the target. costs: degrees. passes: over the chain's joints.
    """

    chain: PaperChain
    distances: np.ndarray
    to_hand: np.ndarray
    left: np.ndarray
    costs: np.ndarray
    passes: np.ndarray

    @property
    def reached(self) -> np.ndarray:
        """Which targets count as reached."""
        return self.left <= TOLERANCE

    @property
    def reachable(self) -> np.ndarray:
        """Which targets the chain can touch, by geometry alone and without the tolerance."""
        return (self.distances <= self.chain.length) & (self.distances >= self.chain.nearest)

    @property
    def excess(self) -> np.ndarray:
        """How much farther the end is from the target than in the nearest pose that the chain can take."""
        nearest = np.maximum(self.distances - self.chain.length, self.chain.nearest - self.distances)
        return self.left - np.maximum(nearest, 0.0)

    @property
    def outside(self) -> np.ndarray:
        """Which targets are farther away than the chain is long."""
        return self.distances > self.chain.length


def run(method: Method, chain: PaperChain, targets: Sequence[Vector], carried: bool = False) -> Run:
    """Solve every target from the straight chain; carried: from the pose that the target before left."""
    before = straight = Pose.straight(chain)
    left, costs, passes = [], [], []
    for target in targets:
        after, count = method(chain, before, target)
        left.append((after.end(chain) - target).length)
        costs.append(cost(before, after))
        passes.append(count)
        before = after if carried else straight
    return Run(chain, *_places(chain, targets), np.array(left), np.array(costs), np.array(passes))


def run_printed(chain: PaperChain, targets: Sequence[Vector], **mends: bool) -> Run:
    """Algorithm 1 to the letter, or with one of its faults mended, from the straight chain."""
    left, costs = triangulation.printed(chain.lengths, targets, **mends)
    return Run(chain, *_places(chain, targets), left, costs, np.ones(len(targets), dtype=int))


def ccd(chain: PaperChain, pose: Pose, target: Vector) -> tuple[Pose, int]:
    """CCD as the paper describes it."""
    return paper_ccd.ccd(chain, pose, target)


def rule(chain: PaperChain, pose: Pose, target: Vector) -> tuple[Pose, int]:
    """The paper's Triangulation with its faults mended, joint limits by its own rule."""
    return triangulation.mended(chain, pose, target), 1


def ours(chain: PaperChain, pose: Pose, target: Vector) -> tuple[Pose, int]:
    """This project's Triangulation; without a pole the side to which a straight chain bends is a fixed rule's."""
    return _posed(pose, *solved(chain, pose, target)), 1


def ours_near(chain: PaperChain, pose: Pose, target: Vector) -> tuple[Pose, int]:
    """The same with the pole where the chain's end was: it bends to the side that it comes from, as in the paper."""
    return _posed(pose, *solved(chain, pose, target, pole=pose.end(chain))), 1


def solved(chain: PaperChain, pose: Pose, target: Vector, pole: Vector | None = None) -> tuple[Chain, Solution]:
    """The calls of a user of the solvers."""
    links = [along * length for along, length in zip(pose.directions, chain.lengths, strict=True)]
    joints = list(accumulate(links, initial=ROOT))
    limited = Chain(joints, cones=chain.limits) if any(chain.limits) else Chain(joints)
    return limited, solve(limited, Goal(target, pole), "TRIANGULATION")


def _posed(before: Pose, links: Chain, solution: Solution) -> Pose:
    rotations = link_rotations(links, solution)
    turns = tuple(rotation @ turn for rotation, turn in zip(rotations, before.turns, strict=True))
    return Pose(solution.directions, turns)


def _places(chain: PaperChain, targets: Sequence[Vector]) -> tuple[np.ndarray, np.ndarray]:
    hand = Pose.straight(chain).end(chain)
    return np.array([target.length for target in targets]), np.array([(target - hand).length for target in targets])
