"""One frame of a chain: from what was read of it to the local rotations of its bones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

import bpy
from mathutils import Matrix, Quaternion, Vector

from ... import messages
from ...solvers import ChainError, Goal, Outcome, Solution, blend, link_rotations, solve
from ..blender.rotations import Raw, is_even, raw_of
from ..data.settings import SAMPLED_SETTINGS, goal_values
from ..model.limb import INHERITING, Limb, Wishes, chain_of, factors

_UNEVEN_SCALE_PASSES = 48
_WITHOUT_GAIN = 8
"""Passes in a row that come no nearer: more of them will not either."""
_STRAYED = 2e-6
"""Distance of the tip from where it was solved to be, in chain lengths, that is more than rounding."""


@dataclass(frozen=True, slots=True)
class Solved:
    """A chain solved for one frame. rotations: local, of `limb.turned`. stretch: how many times its FK length it is
    long. searched: see `Solution`."""

    rotations: list[Quaternion]
    outcome: Outcome
    stretch: float
    searched: bool


@dataclass(frozen=True, slots=True)
class ReadyChain:
    """A chain of which all is read but where it shall go. Points and rotations in the space of its limb.

    goal: what it always asks for. before, after: for each bone that it turns the constant rotations on the two sides of
    its turn against the bone before; none where scale or inheritance makes them depend on the pose. fk_rotations: of
    these bones. scaled: of the bones that lengthen it, the FK scale and the power of the stretch.
    """

    limb: Limb
    root: Vector
    goal: Goal
    before: tuple[Quaternion, ...]
    after: tuple[Quaternion, ...]
    fk_rotations: tuple[Quaternion, ...]
    scaled: tuple[tuple[Raw, int], ...] = ()

    def solve(self, wishes: Wishes) -> Solved:
        """Solve a limb that was read without a goal (`still_limb`).

        Raises ChainError for what is no point, and where rounding may decide between poses that are as good.
        """
        if wishes.orientation is None:
            solved = self.solve_to(wishes.target, wishes.pole, ())
        else:
            ends = [wishes.orientation @ end.orientation for end in self.limb.ends]
            solved = self.solve_to(self.end_of(wishes), wishes.pole, ends)
        if solved.searched:
            raise ChainError(messages.LIMITS_SEARCHED())
        return solved

    def end_of(self, wishes: Wishes) -> Vector:
        """Where the chain's end shall go."""
        if wishes.orientation is None:
            return wishes.target
        return wishes.target + wishes.orientation @ self.limb.target_armature

    def solve_to(self, end: Vector, pole: Vector | None, orientations: Sequence[Quaternion]) -> Solved:
        """Solve for where the chain's end shall go, and how the bones on it shall stand."""
        goal = replace(self.goal, target=end - self.root, pole=None if pole is None else pole - self.root)
        if not self.before:
            return self._by_matrices(goal, orientations)
        solution = solve(self.limb.chain, goal, self.limb.solver)
        turns = link_rotations(self.limb.chain, solution)
        links = len(turns)
        turns += [each @ after.conjugated() for each, after in zip(orientations, self.after[links:], strict=True)]
        rotations, unturned = [], None
        for turn, before, after in zip(turns, self.before, self.after, strict=True):
            rotations.append(before @ (turn if unturned is None else unturned @ turn) @ after)
            unturned = turn.conjugated()
        influence = self._influence(solution)
        if influence != 1.0:
            rotations = self._blended(rotations, turns, links, influence)
        return Solved(rotations, solution.outcome, 1.0 + influence * (solution.stretch - 1.0), solution.searched)

    def _influence(self, solution: Solution) -> float:
        settings = self.limb.settings
        return 0.0 if holds(settings.reach, solution.outcome) else settings.influence

    def _blended(
        self, rotations: list[Quaternion], turns: list[Quaternion], links: int, influence: float
    ) -> list[Quaternion]:
        """turns: of its bones from their FK pose, at full influence. A foot is turned to its orientation under the tip
        as it is shown; a toe as it lies to the foot."""
        shown = [blend(fk, solved, influence) for fk, solved in zip(self.fk_rotations, rotations, strict=True)]
        if len(shown) > links:
            tip = Quaternion()
            for rotation, before, after in zip(shown[:links], self.before, self.after, strict=False):
                tip = tip @ before.conjugated() @ rotation @ after.conjugated()
            local = self.before[links] @ tip.conjugated() @ turns[links] @ self.after[links]
            shown[links] = blend(self.fk_rotations[links], local, influence)
        return shown

    def _by_matrices(self, goal: Goal, orientations: Sequence[Quaternion]) -> Solved:
        """Where bones are scaled unevenly, or do not inherit all of their parents' motion."""
        limb = self.limb
        solution, poses, rotations = _solved_by_matrices(limb, self.root, goal)
        influence, stretch = self._influence(solution), solution.stretch
        if influence < 1.0:
            rotations = [blend(fk, own, influence) for fk, own in zip(self.fk_rotations, rotations, strict=False)]
            stretch = 1.0 + influence * (stretch - 1.0)
        if influence < 1.0 or stretch > 1.0:
            poses = pose_limb(limb, rotations, scales_of(limb, stretch))
        parent_pose = limb.bones[-1].last_pose(poses[-1])
        for end, orientation in zip(limb.ends, orientations, strict=True):
            rotation = end.local_rotation(orientation, parent_pose)
            parent_pose = end.reading.posed(rotation, parent_pose)
            rotations.append(rotation if influence == 1.0 else blend(end.reading.fk_rotation, rotation, influence))
        return Solved(rotations, solution.outcome, stretch, solution.searched)

    @property
    def settings(self) -> dict[str, float]:
        """Those that frames may change."""
        return {name: getattr(self.limb.settings, name) for name in SAMPLED_SETTINGS}

    def raw(self, solved: Solved) -> list[Raw]:
        """What was solved as numbers of the bones' rotation modes, each next to its FK rotation, then the scales."""
        turned, settings = self.limb.turned, self.limb.settings
        if not settings.influence or holds(settings.reach, solved.outcome):
            # No influence is the FK pose itself, not what its quaternion rounds to.
            return [*(reading.fk for reading in turned), *(fk for fk, _ in self.scaled)]
        pairs = zip(solved.rotations, turned, strict=True)
        rotations = [raw_of(rotation, reading.mode, reading.fk) for rotation, reading in pairs]
        return rotations + [tuple(value * solved.stretch**power for value in fk) for fk, power in self.scaled]


def holds(reach: str, outcome: Outcome) -> bool:
    """Whether a chain keeps its FK pose because its target is out of reach."""
    return reach == "HOLD" and outcome is not Outcome.REACHED


def ready_chain(limb: Limb, plain: bool = False, scaled: Iterable[tuple[Raw, int]] = ()) -> ReadyChain:
    """A chain as it was read, made ready to be solved. plain: see `is_plain`. scaled: see ReadyChain."""
    settings, turned = limb.settings, limb.turned
    after = [reading.orientation(reading.pose_armature) for reading in turned] if plain else []
    return ReadyChain(
        limb=limb,
        root=limb.root_armature,
        goal=Goal(
            target=Vector(),
            pole=None,
            least_motion=settings.least_motion,
            **goal_values(settings, settings.reach),
        ),
        before=tuple(reading.fk_rotation @ turn.conjugated() for reading, turn in zip(turned, after, strict=False)),
        after=tuple(after),
        fk_rotations=tuple(reading.fk_rotation for reading in turned),
        scaled=tuple(scaled),
    )


def is_plain(limb: Limb) -> bool:
    """Whether all bones of a limb are scaled evenly and inherit all of their parents' motion: whatever turns them, they
    keep their lengths, and what lies between a bone's turn and its local rotation."""
    readings = [*(bone for link in limb.bones for bone in (link, *link.segments)), *(end.reading for end in limb.ends)]
    return (
        (limb.parent_pose is None or is_even(limb.parent_pose))
        and all(inherits_all(reading.bone) for reading in readings)
        and all(is_even(reading.pose_armature) for reading in readings)
    )


def inherits_all(bone: bpy.types.Bone) -> bool:
    """Whether a bone goes along with the one above it in every way."""
    inherits = bone.use_inherit_rotation and bone.inherit_scale in INHERITING and not bone.use_relative_parent
    return inherits and bone.use_local_location


def scales_of(limb: Limb, stretch: float) -> list[Vector]:
    """The scales of a chain's bones that lengthen it by `stretch`."""
    own = factors([reading.bone for reading in limb.bones], stretch)
    return [reading.scale * own[reading.name] for reading in limb.bones]


def pose_limb(limb: Limb, rotations: Sequence[Quaternion], scales: Sequence[Vector] | None = None) -> list[Matrix]:
    """Forward kinematics: the pose matrices of a chain's links for local rotations, and scales other than their own."""
    poses, parent_pose = [], limb.parent_pose
    for k, (reading, rotation) in enumerate(zip(limb.bones, rotations, strict=False)):
        poses.append(reading.posed(rotation, parent_pose, scales[k] if scales else None))
        parent_pose = reading.last_pose(poses[-1])
    return poses


def _solved_by_matrices(limb: Limb, root: Vector, goal: Goal) -> tuple[Solution, list[Matrix], list[Quaternion]]:
    """The chain at full influence: its solution, its pose matrices, its local rotations.

    The matrices are those before it is lengthened, which turns nothing and moves all joints evenly away from the root.
    A bone under an unevenly scaled parent changes its length as it turns. Then the chain is solved again with
    the lengths that it has in the pose just found, until the tip is where the solution put it; where it never is,
    the pose in which it comes nearest stands.
    """
    poses, chain, nearest = [reading.pose_armature for reading in limb.bones], limb.chain, inf
    found = None
    best = 0
    for number in range(_UNEVEN_SCALE_PASSES):
        solution = solve(chain, goal, limb.solver)
        local_rotations, posed, parent_pose = [], [], limb.parent_pose
        for reading, pose, turn in zip(limb.bones, poses, link_rotations(chain, solution), strict=True):
            rotation = reading.local_rotation(turn.to_matrix().to_4x4() @ pose, parent_pose)
            posed.append(reading.posed(rotation, parent_pose))
            parent_pose = reading.last_pose(posed[-1])
            local_rotations.append(rotation)
        poses = posed
        strayed = ((limb.end_of(poses) - root) * solution.stretch - solution.joints[-1]).length
        if found is None or strayed < nearest:
            nearest, best = strayed, number
            found = solution, poses, local_rotations
        if strayed <= _STRAYED * chain.length or number - best == _WITHOUT_GAIN:
            break
        # This pose bends as was wished: the same wishes would swivel and flip it once more.
        hinge = -solution.normal if goal.flip else solution.normal
        pole = goal.target.cross(hinge) if len(limb.bones) == 2 else None
        goal = replace(goal, pole=pole, swivel=0.0, flip=False)
        joints = [point - root for point in limb.joints(poses)]
        chain = chain_of(limb.bones, joints, poses, local_rotations, limb.parent_pose, hinge)
    assert found is not None
    return found
