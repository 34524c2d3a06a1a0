"""The mathematics of chains: `solve(Chain, Goal) -> Solution`, with no scene and no bpy.

Points are mathutils Vectors, or anything that they take, all in one space and one unit; angles are radians.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from .. import messages
from .any_chain import ccd, triangulation
from .bending import Aim, aim_at, blend, link_rotations
from .chain import Chain, Goal, Outcome, Solution
from .limited import solve_limited, sweep_limited
from .limits import Hinge, LimitError, Swing
from .two_bone import at_once, circle, law_of_cosines, sphere, two_links, vector
from .vectors import ChainError, Kind

__all__ = [
    "SOLVERS",
    "TWO_BONE_SOLVERS",
    "Chain",
    "ChainError",
    "Goal",
    "Hinge",
    "Kind",
    "LimitError",
    "Outcome",
    "Solution",
    "Solver",
    "Swing",
    "blend",
    "link_rotations",
    "solve",
    "solver_for",
]


@dataclass(frozen=True, slots=True)
class Solver:
    """One way to solve a chain, and what the rest of the add-on may count on.

    solve: for a chain without limits. label, description: for users. links: how many it takes, None: any number.
    limited: for a chain with limits. closed: True if its pose is that of the closed forms, which `solve_rows` gives and
    native chains have; else chains are solved frame by frame, and stay live.
    """

    solve: Callable[[Chain, Aim], Solution]
    label: str
    description: str
    links: int | None = None
    limited: Callable[[Chain, Goal], Solution] = solve_limited
    closed: bool = False


_two_bones = partial(Solver, links=2, closed=True)

SOLVERS: dict[str, Solver] = {
    "VECTOR": _two_bones(partial(two_links, vector), "Vector", description="Two bones: the knee as a sum of vectors"),
    "LAW_OF_COSINES": _two_bones(
        partial(two_links, law_of_cosines), "Law of Cosines", description="Two bones: the angle at the root"
    ),
    "CIRCLE": _two_bones(
        partial(two_links, circle), "Circle", description="Two bones: where two circles cross in the bend plane"
    ),
    "SPHERE": _two_bones(
        partial(two_links, sphere), "Sphere", description="Two bones: the circle where two spheres meet"
    ),
    "TRIANGULATION": Solver(
        triangulation, "Triangulation", description="Any number of bones, exact in one pass", closed=True
    ),
    "CCD": Solver(ccd, "CCD", description="Any number of bones, iterative, as a reference", limited=sweep_limited),
}
"""All solvers by name, in the order of the numbers under which files keep them: new ones go to the end."""
TWO_BONE_SOLVERS = tuple(name for name, solver in SOLVERS.items() if solver.links == 2)


def solver_for(link_count: int, solver: str = "AUTO") -> str:
    """The name of the solver that serves a chain of `link_count` links.

    AUTO is VECTOR for two links and TRIANGULATION for any other number. Raises ChainError for an unknown name
    and for a two-bone form on a chain of another length.
    """
    if solver == "AUTO":
        return "VECTOR" if link_count == 2 else "TRIANGULATION"
    if solver not in SOLVERS:
        raise ChainError(messages.NO_SOLVER(solver=solver, solvers=", ".join(SOLVERS)))
    links = SOLVERS[solver].links
    if links not in (None, link_count):
        raise ChainError(messages.SOLVES_OTHERS(solver=solver, links=links, count=link_count), Kind.SOLVER)
    return solver


def solve(chain: Chain, goal: Goal, solver: str = "AUTO") -> Solution:
    """Bring the end of a chain to a target, or as near to it as the chain reaches.

    chain: the links and their starting pose; goal: target and wishes, in the same space. The root stays, the
    lengths are kept, and the same input gives the same solution. Raises ChainError for input that is no chain
    or no point (NaN, infinities, fewer than two joints) and for a solver that does not fit the chain.
    """
    if solver == "AUTO":
        solution = at_once(chain, goal)
        if solution is not None:
            return solution
    chosen = SOLVERS[solver_for(len(chain.lengths), solver)]
    if chain.limits is not None:
        return chosen.limited(chain, goal)
    return chosen.solve(chain, aim_at(chain, goal, chain.length))
