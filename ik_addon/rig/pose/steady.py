"""Chains of which only target, pole and what carries them move: all else is read once and kept as plain numbers.

A steady chain lives in the space of its root's parent bone, where its FK pose stays the same from frame to frame.
Two things make it quick: nothing but two or three points is read anew, and between the bones' local rotations and
the turns of the links there are only constant rotations (docs/performance.md).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from mathutils import Matrix, Quaternion, Vector

from ... import messages
from ...solvers import Chain, ChainError, Goal, Outcome, Solution, blend, link_rotations, solve
from ..blender.channels import Raw, raw_of
from ..model.limb_model import LimbModel
from .kinematics import FkTrack

SIMILAR = 1e-4
"""Part by which the axes of a pose may differ in length, or lean, and still count as evenly scaled: long chains of
single precision come to 2e-5."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """Where a steady chain shall go: target, pole and the target's orientation, in the space of its root's parent."""

    target: Vector
    pole: Vector | None = None
    orientation: Quaternion | None = None


@dataclass(frozen=True, slots=True)
class SteadyChain:
    """A chain whose FK pose and settings stay the same, for one frame at a time. Points and rotations in the space of
    its root's parent; the chain from its root.

    fk, fk_rotations: of the bones that it turns. before, after: for each the constant rotations on the two sides of its
    turn against the bone before. goal: its wishes, with a pole if it has one.
    """

    model: LimbModel
    fk: tuple[Raw, ...]
    fk_rotations: tuple[Quaternion, ...]
    before: tuple[Quaternion, ...]
    after: tuple[Quaternion, ...]
    chain: Chain
    root: Vector
    goal: Goal
    influence: float

    def solve(self, wishes: Wishes) -> tuple[list[Quaternion], Outcome]:
        """The local rotations of its bones, and how the target lies to it. See `solve_surely` for errors."""
        root, foot = self.root, self.model.foot
        goal = replace(self.goal, target=wishes.target - root, pole=None if wishes.pole is None else wishes.pole - root)
        solution = solve_surely(self.chain, goal, self.model.solver)
        turns = link_rotations(self.chain, solution)
        if foot is not None:
            assert wishes.orientation is not None
            turns.append(wishes.orientation @ foot.held @ self.after[-1].conjugated())
        rotations, unturned = [], None
        for turn, before, after in zip(turns, self.before, self.after, strict=True):
            rotations.append(before @ (turn if unturned is None else unturned @ turn) @ after)
            unturned = turn.conjugated()
        outcome = solution.outcome
        influence = 0.0 if self._holds(outcome) else self.influence
        if influence != 1.0:
            rotations = [blend(fk, solved, influence) for fk, solved in zip(self.fk_rotations, rotations, strict=True)]
        return rotations, outcome

    def raw(self, rotations: Iterable[Quaternion], outcome: Outcome) -> list[Raw]:
        """Local rotations as numbers of the bones' rotation modes, each next to its FK rotation."""
        if not self.influence or self._holds(outcome):
            # No influence is the FK pose itself, not what its quaternion rounds to.
            return list(self.fk)
        modes = self.model.turned_modes
        return [raw_of(rotation, mode, fk) for rotation, mode, fk in zip(rotations, modes, self.fk, strict=True)]

    def _holds(self, outcome: Outcome) -> bool:
        return self.model.reach == "HOLD" and outcome is not Outcome.REACHED


def steady_chain(model: LimbModel, fk: FkTrack, settings: dict[str, float], chain: Chain) -> SteadyChain | None:
    """A chain with this FK pose and these settings; None where more than rotations of one frame at a time is asked for.

    chain: in the FK pose, from its root.
    """
    blends = model.foot is not None and settings["influence"] not in (0.0, 1.0)
    if not model.is_still or model.rolls or blends or model.reach == "STRETCH":
        return None
    places = model.turned
    rotations = [Quaternion(fk.rotations[0, k]) for k in places]
    turns = [Quaternion(fk.turns[0, k]) for k in places]
    return SteadyChain(
        model=model,
        fk=tuple(tuple(fk.numbers[k][0].tolist()) for k in places),
        fk_rotations=tuple(rotations),
        before=tuple(own @ turn.conjugated() for own, turn in zip(rotations, turns, strict=True)),
        after=tuple(turns),
        chain=chain,
        root=Vector(fk.heads[0, 0]),
        goal=Goal(
            target=Vector(),
            pole=Vector() if model.has_pole else None,
            swivel=settings["swivel"],
            flip=bool(settings["flip"]),
            softness=settings["softness"],
            least_motion=model.least_motion,
        ),
        influence=settings["influence"],
    )


def solve_surely(chain: Chain, goal: Goal, solver: str) -> Solution:
    """Solve a chain whose pose does not depend on the space that it is solved in.

    Raises ChainError for what is no point, and where rounding may decide between poses that are as good.
    """
    solution = solve(chain, goal, solver)
    if solution.searched:
        raise ChainError(messages.LIMITS_SEARCHED())
    return solution


def is_even(matrix: Matrix) -> bool:
    """Whether a matrix turns, moves and scales evenly, without shear and without a mirror."""
    x, y, z = matrix.to_3x3().col
    size = x.dot(x)
    slack = SIMILAR * size
    return (
        abs(y.dot(y) - size) <= slack
        and abs(z.dot(z) - size) <= slack
        and max(abs(x.dot(y)), abs(y.dot(z)), abs(z.dot(x))) <= slack
        and x.cross(y).dot(z) > 0.0
    )
