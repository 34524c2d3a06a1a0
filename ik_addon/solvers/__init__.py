"""The mathematics of chains: `solve(Chain, Goal) -> Solution`, with no scene and no bpy.

Points are mathutils Vectors, or anything that they take, all in one space and one unit; angles are radians.
"""

from collections.abc import Callable
from functools import partial

from .. import messages
from .any_chain import ccd, triangulation
from .bending import Aim, aim_at, blend, link_rotations
from .chain import Chain, Goal, Outcome, Solution
from .limited import solve_limited
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
    "Swing",
    "blend",
    "link_rotations",
    "solve",
    "solver_for",
]

Solver = Callable[[Chain, Aim], Solution]

TWO_BONE_SOLVERS: dict[str, Solver] = {
    "VECTOR": partial(two_links, vector),
    "LAW_OF_COSINES": partial(two_links, law_of_cosines),
    "CIRCLE": partial(two_links, circle),
    "SPHERE": partial(two_links, sphere),
}
SOLVERS: dict[str, Solver] = {**TWO_BONE_SOLVERS, "TRIANGULATION": triangulation, "CCD": ccd}


def solver_for(link_count: int, solver: str = "AUTO") -> str:
    """The name of the solver that serves a chain of `link_count` links.

    AUTO is VECTOR for two links and TRIANGULATION for any other number. Raises ChainError for an unknown name
    and for a two-bone form on a chain of another length.
    """
    if solver == "AUTO":
        return "VECTOR" if link_count == 2 else "TRIANGULATION"
    if solver not in SOLVERS:
        raise ChainError(messages.NO_SOLVER(solver=solver, solvers=", ".join(SOLVERS)))
    if solver in TWO_BONE_SOLVERS and link_count != 2:
        raise ChainError(messages.SOLVES_TWO_BONES(solver=solver, count=link_count), Kind.SOLVER)
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
    name = solver_for(len(chain.lengths), solver)
    if chain.limits is not None:
        return solve_limited(chain, goal, name)
    return SOLVERS[name](chain, aim_at(chain, goal, chain.length))
