"""A chain at one frame: in its FK pose, ready to be solved wherever it shall go; and solved."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import bpy
from mathutils import Matrix, Quaternion, Vector

from ... import messages
from ...solvers import Chain, ChainError, Goal, Outcome, Solution, blend, link_rotations, solve
from ...solvers.bending import start_frame
from ..blender.rotations import Raw, raw_of
from ..data.settings import Settings, goal_values
from .foot import place_foot
from .limb import BoneReading, Wishes, chain_of, end_world, factors, fk_chain, joints

_PASSES = 48
_WITHOUT_GAIN = 8
"""Passes in a row that come no nearer: more of them will not either."""
_STRAYED = 2e-6
"""Distance of the tip from where it was solved to be, in chain lengths, that is more than rounding."""


@dataclass(frozen=True, slots=True)
class Solved:
    """A chain solved for one frame. rotations: local, of the bones that it turns. end: where its end was to go.
    outcome: how that lies to it. stretch: how many times its FK length it is long. searched: see `Solution`."""

    rotations: list[Quaternion]
    end: Vector
    outcome: Outcome
    stretch: float
    searched: bool


def influence_for(settings: Settings, outcome: Outcome) -> float:
    """The influence of a chain: none where it keeps its FK pose because its target is out of reach."""
    return 0.0 if settings.reach == "HOLD" and outcome is not Outcome.REACHED else settings.influence


def goal_of(settings: Settings) -> Goal:
    """What a chain asks for wherever its target is."""
    return Goal(target=Vector(), pole=None, least_motion=settings.least_motion, **goal_values(settings, settings.reach))


@dataclass(frozen=True, slots=True)
class AnyLimb:
    """What every chain is solved by, wherever it shall go. Points and rotations in armature space, or in that of its
    root's parent.

    chain, root: in its FK pose, the chain from its root, where single precision is finest. goal: what it always asks
    for. channels: of each bone that it turns the rotation mode, and the FK numbers of that. scaled: of the bones that
    lengthen it the FK scale and the power of the stretch.
    """

    tip: str
    settings: Settings
    solver: str
    chain: Chain
    root: Vector
    goal: Goal
    channels: tuple[tuple[str, Raw], ...]
    scaled: tuple[tuple[Raw, int], ...]

    def goal_at(self, end: Vector, wishes: Wishes) -> Goal:
        """What it asks for if its end goes there."""
        pole = wishes.pole
        return replace(self.goal, target=end - self.root, pole=None if pole is None else pole - self.root)

    def raw(self, solved: Solved) -> list[Raw]:
        """What was solved as numbers of the bones' rotation modes, each next to its FK rotation, then the scales."""
        if not influence_for(self.settings, solved.outcome):
            # No influence is the FK pose itself, not what its quaternion rounds to.
            return [*(fk for _, fk in self.channels), *(fk for fk, _ in self.scaled)]
        pairs = zip(solved.rotations, self.channels, strict=True)
        rotations = [raw_of(rotation, mode, fk) for rotation, (mode, fk) in pairs]
        return rotations + [tuple(value * solved.stretch**power for value in fk) for fk, power in self.scaled]


@dataclass(frozen=True, slots=True)
class ReadyLimb(AnyLimb):
    """A chain of evenly scaled bones that inherit all, as plain data.

    fk_rotations: of each bone that it turns. before, after: the constant rotations on the two sides of its turn against
    the bone before. end, end_turns: where its end goes, and how the bones on it are turned, for a target at the origin
    that is not turned.
    """

    fk_rotations: tuple[Quaternion, ...]
    before: tuple[Quaternion, ...]
    after: tuple[Quaternion, ...]
    end: Vector
    end_turns: tuple[Quaternion, ...]

    def placed(self, wishes: Wishes) -> tuple[Vector, list[Quaternion]]:
        """Where its end goes, and how the bones on it are turned."""
        turn = wishes.orientation
        if turn is None:
            return wishes.target, []
        return wishes.target + turn @ self.end, [turn @ each for each in self.end_turns]

    def solve(self, wishes: Wishes) -> Solved:
        """Raises ChainError for what is no point."""
        chain, (end, end_turns) = self.chain, self.placed(wishes)
        solution = solve(chain, self.goal_at(end, wishes), self.solver)
        turns = link_rotations(chain, solution)
        links = len(turns)
        turns += [turn @ after.conjugated() for turn, after in zip(end_turns, self.after[links:], strict=True)]
        rotations, unturned = [], None
        for turn, before, after in zip(turns, self.before, self.after, strict=True):
            rotations.append(before @ (turn if unturned is None else unturned @ turn) @ after)
            unturned = turn.conjugated()
        influence = influence_for(self.settings, solution.outcome)
        if influence != 1.0:
            rotations = self._blended(rotations, turns, links, influence)
        stretch = 1.0 + influence * (solution.stretch - 1.0)
        return Solved(rotations, end, solution.outcome, stretch, solution.searched)

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


@dataclass(frozen=True, slots=True)
class Limb(AnyLimb):
    """A chain with its bones, which may be scaled unevenly and inherit anything: it is solved by matrices.

    bones: the chain's links, from root to tip. riding: the bones on its end that follow its target, foot and toe.
    parent_pose: pose matrix of the root bone's parent, as posed in this pass. held: how the foot stands against the
    target before it rolls. wishes: where it shall go; world: the armature object's matrix.
    """

    bones: tuple[BoneReading, ...]
    riding: tuple[BoneReading, ...]
    parent_pose: Matrix | None
    held: Quaternion | None
    wishes: Wishes
    world: Matrix

    @property
    def turned(self) -> tuple[BoneReading, ...]:
        """All bones whose rotation the chain sets: the first of each link, then those on its end."""
        return (*self.bones, *self.riding)

    @property
    def names(self) -> list[str]:
        return [bone.name for link in self.bones for bone in (link, *link.segments)]

    @property
    def ready(self) -> ReadyLimb:
        """The same as plain data, where its bones are scaled evenly and inherit all."""
        # The hinge is asked for now, for the bones that say it do not last.
        self.chain.bend_normal = start_frame(self.chain).normal
        end, end_turns = self.placed(Wishes(Vector(), None, Quaternion()))
        rotations = tuple(reading.fk_rotation for reading in self.turned)
        after = tuple(reading.orientation(reading.pose_armature) for reading in self.turned)
        before = tuple(own @ turn.conjugated() for own, turn in zip(rotations, after, strict=True))
        always = self.tip, self.settings, self.solver, self.chain, self.root, self.goal, self.channels, self.scaled
        return ReadyLimb(*always, rotations, before, after, end, tuple(end_turns))

    def with_bones(self, bones: Sequence[BoneReading]) -> "Limb":
        """The same with its links in another FK pose."""
        channels = tuple((reading.mode, reading.fk) for reading in (*bones, *self.riding))
        return replace(self, bones=tuple(bones), chain=fk_chain(bones, self.parent_pose), channels=channels)

    @property
    def target_armature(self) -> Vector:
        """Where the chain's end goes, foot roll included."""
        return self.placed(self.wishes)[0]

    def joints(self, poses_armature: Sequence[Matrix]) -> list[Vector]:
        """Joints for pose matrices of the chain's links, in armature space, root first."""
        return joints(self.bones, poses_armature)

    def end_of(self, poses_armature: Sequence[Matrix]) -> Vector:
        """Where the chain ends for pose matrices of its links, in armature space."""
        return self.bones[-1].end_of(poses_armature[-1])

    def placed(self, wishes: Wishes) -> tuple[Vector, list[Quaternion]]:
        """As of a `ReadyLimb`."""
        if wishes.orientation is None or self.held is None:
            return wishes.target, []
        roll, toe_angle = self.settings.foot_roll, self.settings.toe_angle
        return place_foot(self.riding, wishes.target, wishes.orientation @ self.held, roll, toe_angle)

    def posed(self, rotations: Sequence[Quaternion], stretch: float = 1.0) -> list[Matrix]:
        """Forward kinematics: the pose matrices of its links for local rotations, lengthened by `stretch`."""
        own = factors([reading.bone for reading in self.bones], stretch) if stretch != 1.0 else {}
        poses, parent_pose = [], self.parent_pose
        for reading, rotation in zip(self.bones, rotations, strict=False):
            poses.append(reading.posed(rotation, parent_pose, reading.scale * own.get(reading.name, 1.0)))
            parent_pose = reading.last_pose(poses[-1])
        return poses

    def solve(self, wishes: Wishes) -> Solved:
        """Raises ChainError for what is no point."""
        end, end_turns = self.placed(wishes)
        solution, rotations = self._links_solved(self.goal_at(end, wishes))
        influence = influence_for(self.settings, solution.outcome)
        stretch = 1.0 + influence * (solution.stretch - 1.0)
        if influence < 1.0:
            pairs = zip(self.bones, rotations, strict=True)
            rotations = [blend(own.fk_rotation, rotation, influence) for own, rotation in pairs]
        above = self.bones[-1].last_pose(self.posed(rotations, stretch)[-1]) if end_turns else Matrix()
        for reading, orientation in zip(self.riding, end_turns, strict=True):
            rotation = reading.turned_to(orientation, above)
            above = reading.posed(rotation, above)
            rotations.append(rotation if influence == 1.0 else blend(reading.fk_rotation, rotation, influence))
        return Solved(rotations, end, solution.outcome, stretch, solution.searched)

    def _links_solved(self, goal: Goal) -> tuple[Solution, list[Quaternion]]:
        """The chain at full influence: its solution, and the local rotations of its links.

        A bone under an unevenly scaled parent changes its length as it turns. Then the chain is solved again with
        the lengths that it has in the pose just found, until the tip is where the solution put it; where it never is,
        the pose in which it comes nearest stands.
        """
        poses, chain, nearest = [reading.pose_armature for reading in self.bones], self.chain, inf
        found, best = None, 0
        for number in range(_PASSES):
            solution = solve(chain, goal, self.solver)
            rotations, posed, parent_pose = [], [], self.parent_pose
            for reading, pose, turn in zip(self.bones, poses, link_rotations(chain, solution), strict=True):
                rotation = reading.local_rotation(turn.to_matrix().to_4x4() @ pose, parent_pose)
                # As long as in its FK pose: to lengthen it turns nothing, and moves all joints evenly from the root.
                posed.append(reading.posed(rotation, parent_pose))
                parent_pose = reading.last_pose(posed[-1])
                rotations.append(rotation)
            poses = posed
            strayed = ((self.end_of(poses) - self.root) * solution.stretch - solution.joints[-1]).length
            if found is None or strayed < nearest:
                nearest, best, found = strayed, number, (solution, rotations)
            if strayed <= _STRAYED * chain.length or number - best == _WITHOUT_GAIN:
                break
            # This pose bends as was wished: the same wishes would swivel and flip it once more.
            hinge = -solution.normal if goal.flip else solution.normal
            pole = goal.target.cross(hinge) if len(self.bones) == 2 else None
            goal = replace(goal, pole=pole, swivel=0.0, flip=False)
            points = [point - self.root for point in self.joints(poses)]
            chain = chain_of(self.bones, points, poses, rotations, self.parent_pose, hinge)
        assert found is not None
        return found


@dataclass(frozen=True, slots=True)
class PosedLimb:
    """A solved chain. rotations: of `limb.turned`, as numbers of each bone's rotation mode.

    poses_armature: the pose matrices of the first bones of the chain's links. error_world: distance from the chain's
    end to its target as solved, in world units; what constraints or drivers make of it afterwards is not in it
    (`missed_world`). The rest: see `Solved`.
    """

    limb: Limb
    rotations: tuple[Raw, ...]
    poses_armature: tuple[Matrix, ...]
    stretch: float
    outcome: Outcome
    error_world: float
    searched: bool


def solve_limb(limb: Limb) -> PosedLimb:
    """Solve one chain as it was read, whatever its bones are scaled by and inherit; nothing is written."""
    try:
        solved = limb.solve(limb.wishes)
    except ChainError as error:
        raise error.of(messages.BONE(bone=limb.tip)) from error
    poses = limb.posed(solved.rotations, solved.stretch)
    missed = limb.world.to_3x3() @ (limb.end_of(poses) - solved.end)
    rotations = tuple(limb.raw(solved)[: len(limb.turned)])
    return PosedLimb(limb, rotations, tuple(poses), solved.stretch, solved.outcome, missed.length, solved.searched)


def missed_world(tip: bpy.types.PoseBone, limb: Limb) -> float:
    """Distance from the end of a chain to its target, in world units.

    tip: its tip bone, evaluated.
    limb: the chain as read from the same evaluation.
    """
    return (end_world(tip) - limb.world @ limb.target_armature).length
