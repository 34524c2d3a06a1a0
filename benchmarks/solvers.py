"""What the solvers cost: `python -m benchmarks.solvers [--json] [--rounds N] [--write]`.

All of it is measured in one run, in alternating rounds: two links in calls of mathutils' own
`Vector.rotation_difference`, Triangulation in two-bone solves and over the number of links, CCD and two libraries for
robots, where they are installed, beside them. A contender runs over a set of random reachable targets, the same for
all that are compared, and its time is the mean over the set; medians are over the rounds; what the empty loop takes
is taken off. Errors are distances of the end from its target in chain lengths, the median and the largest of the set;
of joints also what a link's length is off; of rotations where they turn the starting pose's end.
"""

import os
import random
import sys
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from math import dist
from statistics import median
from timeit import Timer

import bpy  # noqa: F401  (mathutils comes with it)
from mathutils import Vector

from ik_addon.solvers import Chain, Goal, Solution, link_rotations, solve

from . import pages, peers
from .rounds import clock, medians, options, show

TARGETS, FEW_TARGETS, FEWEST_TARGETS = 200, 20, 3
SIZES = (2, 5, 20, 50, 100, 200, 500)
FORMS = ("VECTOR", "LAW_OF_COSINES", "CIRCLE", "SPHERE")
SECONDS, TURNS = 0.01, 4
"""What a contender's turn lasts at least; short turns, and this many a round, so that noise meets all alike."""


class Contender:
    """A statement to measure for each case of a set, as `a, b`; error: of what it gives, in chain lengths."""

    def __init__(
        self, statement: str, cases: Sequence[tuple], error: Callable[..., float] | None = None, **names: object
    ) -> None:
        known = {"cases": cases, "solve": solve, "link_rotations": link_rotations, "Chain": Chain, "Goal": Goal}
        self.timer = Timer(f"for a, b in cases: {statement}", timer=clock, globals=known | names)
        self.cases = cases
        self.repeats = 1 + int(SECONDS / self.timer.timeit(1))
        self.errors = (
            [error(eval(statement, known | names | {"a": a, "b": b}), a, b) for a, b in cases] if error else []
        )

    def seconds(self) -> float:
        """Seconds that the statement takes, as a mean over the cases."""
        return self.timer.timeit(self.repeats) / (self.repeats * len(self.cases))


def random_unit() -> Vector:
    """A direction, even over the sphere."""
    return Vector([random.gauss(0.0, 1.0) for _ in range(3)]).normalized()


def bent_chain(links: int) -> Chain:
    """A gently winding chain of length 1."""
    along = random_unit()
    steps = [Vector((0.0, 0.0, 0.0))]
    for _ in range(links):
        along = (along + 0.4 * random_unit()).normalized()
        steps.append(along / links)
    return Chain(list(accumulate(steps)))


def goals_for(chain: Chain, count: int, **wishes: object) -> list[tuple[Chain, Goal]]:
    """Random targets in reach, even over the ball, and random poles."""
    return [
        (
            chain,
            Goal(random_unit() * (0.999 * chain.length * random.random() ** (1 / 3)), random_unit() * 2.0, **wishes),
        )
        for _ in range(count)
    ]


def missed(solution: Solution, chain: Chain, goal: Goal) -> float:
    """Distance from the target to the end, or by how much a link has changed its length; whichever is more."""
    links = zip(pairwise(solution.joints), chain.lengths, strict=True)
    changed = max(abs(dist(a, b) - length) for (a, b), length in links)
    return max(dist(solution.joints[-1], goal.target), changed) / chain.length


def missed_by_rotations(rotations: Sequence, chain: Chain, goal: Goal) -> float:
    """Distance from the target to where the rotations bring the chain's end."""
    links = zip(rotations, chain.directions, chain.lengths, strict=True)
    end = sum((rotation @ along * length for rotation, along, length in links), start=chain.joints[0].copy())
    return (end - goal.target).length / chain.length


def contenders() -> dict[str, Contender]:
    """All that is measured, by name."""
    random.seed(1)
    pair = goals_for(bent_chain(2), TARGETS)
    loose = [([tuple(joint) for joint in chain.joints], goal) for chain, goal in pair]
    chains = {links: bent_chain(links) for links in SIZES}
    sets = {links: goals_for(chain, TARGETS if links < 100 else FEW_TARGETS) for links, chain in chains.items()}
    least = goals_for(chains[20], TARGETS, least_motion=True)
    few = sets[20][:FEW_TARGETS]
    both, triangulated = "link_rotations(a, solve(a, b))", 'solve(a, b, "TRIANGULATION")'
    building = "c = Chain(a); link_rotations(c, solve(c, Goal(b.target, b.pole)))"
    found = {
        "empty": Contender("pass", pair),
        "rotation_difference": Contender("a.rotation_difference(b)", [(random_unit(), random_unit()) for _ in pair]),
        "solve": Contender("solve(a, b)", pair, missed),
        "rotations": Contender(both, pair, missed_by_rotations),
        "building": Contender(building, loose),
        "20": Contender("solve(a, b)", sets[20], missed),
        "20 rotations": Contender(both, sets[20], missed_by_rotations),
        "20 least": Contender("solve(a, b)", least, missed),
        "20 few": Contender("solve(a, b)", few, missed),
        "20 CCD": Contender('solve(a, b, "CCD")', few, missed),
    }
    for form in FORMS:
        statement = f'link_rotations(a, solve(a, b, "{form}"))'
        found[form] = Contender(statement, pair, missed_by_rotations)
    for links in SIZES:
        found[f"of {links}"] = Contender(triangulated, sets[links], missed)
    for name, make in peers.SOLVERS.items():
        count = FEWEST_TARGETS if name == "ikpy" else FEW_TARGETS
        for links, cases in ((2, pair[:count]), (20, few[:count])):
            peer = make(cases[0][0].lengths)
            if peer is not None:
                found[f"{name} {links}"] = Contender("peer(b.target)", cases, lambda error, *_: error, peer=peer)
    return found


def rows(found: dict[str, Contender], rounds: int) -> list[dict[str, object]]:
    """The lines of the table."""
    measured = medians({name: contender.seconds for name, contender in found.items()}, TURNS * rounds)
    seconds = {name: value - measured["empty"] for name, value in measured.items()}

    def row(what: str, name: str, unit: str, unit_name: str, share: float = 1.0) -> dict[str, object]:
        errors = found[name].errors if name in found else []
        return {
            "what": what,
            "ratio": seconds[name] * share / seconds[unit] if name in found else "not installed",
            "to": unit_name,
            "µs": 1e6 * seconds[name] if name in found else "-",
            "median error": median(errors) if errors else "-",
            "largest error": max(errors) if errors else "-",
        }

    call = ("rotation_difference", "rotation_difference")
    table = [
        row("two links, solve and rotations", "rotations", *call),
        row("the same, only solve", "solve", *call),
        *(row(f"the same, {form}", form, *call) for form in FORMS),
        row("the same, chain and goal built as well", "building", *call),
        row("20 links, solve", "20", "solve", "two links, solve"),
        row("20 links, solve and rotations", "20 rotations", "rotations", "two links, solve and rotations"),
        row("20 links, least motion, solve", "20 least", "solve", "two links, solve"),
        row("20 links, CCD", "20 CCD", "20 few", "20 links, solve, same targets"),
    ]
    for links in SIZES:
        table.append(row(f"Triangulation, {links} links", f"of {links}", "of 20", "20 links, per link", 20 / links))
    for name in peers.SOLVERS:
        table.append(row(f"{name}, 2 links", f"{name} 2", "solve", "two links, solve"))
        table.append(row(f"{name}, 20 links", f"{name} 20", "20", "20 links, solve"))
    return table


def main() -> None:
    """Print the table."""
    chosen = options(__doc__)
    page = pages.Page("performance.md", chosen.write, how=f"time {clock}")
    show(rows(contenders(), chosen.rounds), chosen.json, page=page, place="solvers")
    sys.stdout.flush()
    # Older Blenders crash or hang at Python's ordinary exit.
    os._exit(0)


if __name__ == "__main__":
    main()
