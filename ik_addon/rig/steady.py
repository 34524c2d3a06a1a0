"""Chains of which only target, pole and what carries them move: all else is read once and kept as plain numbers.

A steady chain lives in the space of its root's parent bone, where its FK pose stays the same from frame to frame.
Two things make it quick: nothing but two or three points is read anew, and between the bones' local rotations and
the turns of the links there are only constant rotations (docs/performance.md).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import bpy
from mathutils import Matrix, Quaternion, Vector

from .. import messages
from ..solvers import TWO_BONE_SOLVERS, Chain, Goal, Outcome, blend, link_rotations, solve
from ..solvers.bending import start_frame
from ..solvers.limited import bends_one_way
from .animation import animated_paths, bone_of_path
from .chains import chain_of
from .channels import Raw, quaternion_of, raw_of
from .limb import INHERITING, Limb, rotation_in
from .solving import PosedLimb, goal_of

_SIMILAR = 1e-4
"""Part by which the axes of a pose may differ in length, or lean, and still count as evenly scaled: long chains of
single precision come to 2e-5."""
_SAME_ROTATION = 1e-4
"""Apart as quaternions, for each bone of the chain, which adds up: more is another pose, and not rounding."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """Where a steady chain shall go: target, pole and the target's orientation, in the space of its root's parent."""

    target: Vector
    pole: Vector | None = None
    orientation: Quaternion | None = None


@dataclass(frozen=True, slots=True)
class SteadyChain:
    """What of a chain stays the same. Points and rotations in the space of its root's parent; the chain from its root.

    armature, tip, parent: names of the armature object, of the tip and of the root's parent bone ("": none).
    target_bone, pole_bone: of control bones ("": the control is an object). bones: names of the bones that it turns,
    the first of each link,
    root first, its end bone last if that follows the target; modes, fk, fk_rotations: their rotation modes and FK
    rotations. before, after: for each the constant rotations on the two sides of its turn against the bone before.
    goal: its wishes, with a pole if it has one. solver: as `solve` takes it; solver_name: as it is reported. holds:
    whether it keeps its FK pose where the target is out of reach. held: how the end bone stands against the target.
    """

    armature: str
    tip: str
    parent: str
    target_bone: str
    pole_bone: str
    bones: tuple[str, ...]
    modes: tuple[str, ...]
    fk: tuple[Raw, ...]
    fk_rotations: tuple[Quaternion, ...]
    before: tuple[Quaternion, ...]
    after: tuple[Quaternion, ...]
    chain: Chain
    root: Vector
    goal: Goal
    solver: str
    solver_name: str
    influence: float
    holds: bool
    held: Quaternion | None

    @property
    def is_pair(self) -> bool:
        """Whether it is of two links without limits, which arrays solve (solvers/pairs.py)."""
        return len(self.chain.lengths) == 2 and self.chain.limits is None

    def solve(self, wishes: Wishes) -> tuple[list[Quaternion], Outcome]:
        """The local rotations of its bones, and how the target lies to it. Raises ChainError for what is no point."""
        root = self.root
        goal = replace(self.goal, target=wishes.target - root, pole=None if wishes.pole is None else wishes.pole - root)
        solution = solve(self.chain, goal, self.solver)
        turns = link_rotations(self.chain, solution)
        if self.held is not None:
            assert wishes.orientation is not None
            turns.append(wishes.orientation @ self.held @ self.after[-1].conjugated())
        rotations, unturned = [], None
        for turn, before, after in zip(turns, self.before, self.after, strict=True):
            rotations.append(before @ (turn if unturned is None else unturned @ turn) @ after)
            unturned = turn.conjugated()
        outcome = solution.outcome
        influence = 0.0 if self.holds and outcome is not Outcome.REACHED else self.influence
        if influence != 1.0:
            rotations = [blend(fk, solved, influence) for fk, solved in zip(self.fk_rotations, rotations, strict=True)]
        return rotations, outcome

    def raw(self, rotations: Iterable[Quaternion], outcome: Outcome) -> list[Raw]:
        """Local rotations as numbers of the bones' rotation modes, each next to its FK rotation."""
        if not self.influence or (self.holds and outcome is not Outcome.REACHED):
            # No influence is the FK pose itself, not what its quaternion rounds to.
            return list(self.fk)
        return [raw_of(rotation, mode, fk) for rotation, mode, fk in zip(rotations, self.modes, self.fk, strict=True)]


def why_unsteady(ob: bpy.types.Object, posed: PosedLimb, animated: "AnimatedBones") -> str:
    """What keeps a chain of an original armature object from being steady; "": nothing."""
    limb, settings = posed.limb, posed.limb.settings
    if settings.reach == "STRETCH":
        return messages.MAY_STRETCH()
    if settings.foot_roll and limb.ends:
        return messages.FOOT_ROLLS()
    if limb.ends and settings.influence not in (0.0, 1.0):
        # Blended, the foot stands under a tip that is blended as well.
        return messages.FOOT_BLENDED()
    if limb.chain.limits is not None and not bends_one_way(limb.chain):
        # Between two poses that are as good, rounding would choose: another space, another pose.
        return messages.HAS_LIMITS()
    for reading in (*limb.turned, *limb.rigid):
        what = animated.get(reading.name)
        if what:
            return messages.READS_ANIMATED(bone=reading.name, channel=what)
        bone = reading.bone
        inherits = bone.use_inherit_rotation and bone.inherit_scale in INHERITING and not bone.use_relative_parent
        if not (inherits and bone.use_local_location):
            return messages.INHERITS_LESS(bone=reading.name)
    poses = [reading.pose_armature for reading in (*limb.turned, *limb.rigid)]
    if not all(is_even(pose) for pose in (*poses, limb.parent_pose or Matrix())):
        return messages.BONES_UNEVEN()
    return ""


def is_even(matrix: Matrix) -> bool:
    """Whether a matrix turns, moves and scales evenly, without shear and without a mirror."""
    x, y, z = matrix.to_3x3().col
    size = x.dot(x)
    slack = _SIMILAR * size
    return (
        abs(y.dot(y) - size) <= slack
        and abs(z.dot(z) - size) <= slack
        and max(abs(x.dot(y)), abs(y.dot(z)), abs(z.dot(x))) <= slack
        and x.cross(y).dot(z) > 0.0
    )


def steady_chain(ob: bpy.types.Object, posed: PosedLimb) -> SteadyChain | None:
    """The numbers of a chain that nothing makes unsteady; None where they do not give the pose that was solved.

    ob: the armature object; posed: its chain as read and solved just now.
    """
    limb = posed.limb
    to_parent = limb.parent_pose.inverted_safe() if limb.parent_pose else Matrix()
    turn_to_parent = rotation_in(to_parent)
    poses = [to_parent @ reading.pose_armature for reading in limb.turned]
    chain = _chain_in_parent(limb, poses, turn_to_parent)
    orientations = [reading.orientation(pose).normalized() for reading, pose in zip(limb.turned, poses, strict=True)]
    two_bone = limb.solver in TWO_BONE_SOLVERS
    steady = SteadyChain(
        armature=ob.name_full,
        tip=limb.tip,
        parent=limb.bones[0].bone.parent.name if limb.parent_pose else "",
        target_bone=limb.settings.subtarget,
        pole_bone=limb.settings.pole_subtarget,
        bones=tuple(reading.name for reading in limb.turned),
        modes=tuple(reading.mode for reading in limb.turned),
        fk=tuple(reading.fk for reading in limb.turned),
        fk_rotations=tuple(reading.fk_rotation for reading in limb.turned),
        before=tuple(
            reading.fk_rotation @ orientation.conjugated()
            for reading, orientation in zip(limb.turned, orientations, strict=True)
        ),
        after=tuple(orientations),
        chain=chain,
        root=poses[0].to_translation(),
        goal=replace(goal_of(limb, limb.root_armature), target=Vector(), pole=Vector() if limb.pole_armature else None),
        # The vector form without its steps (two_bone.at_once).
        solver="AUTO" if two_bone and limb.settings.solver in ("AUTO", "VECTOR") else limb.solver,
        solver_name=limb.solver,
        influence=limb.settings.influence,
        holds=limb.settings.reach == "HOLD",
        held=limb.held,
    )
    rotations, _ = steady.solve(
        Wishes(
            to_parent @ limb.target_armature,
            to_parent @ limb.pole_armature if limb.pole_armature else None,
            turn_to_parent @ limb.ends[0].orientation @ limb.held.conjugated() if limb.held else None,
        )
    )
    solved = (quaternion_of(raw, mode) for raw, mode in zip(posed.rotations, steady.modes, strict=True))
    slack = _SAME_ROTATION * len(rotations)
    same = all(min((a - b).magnitude, (a + b).magnitude) <= slack for a, b in zip(rotations, solved, strict=True))
    return steady if same else None


def _chain_in_parent(limb: Limb, poses: list[Matrix], turn_to_parent: Quaternion) -> Chain:
    """The limb's chain, relative to its root, in the space of the root's parent."""
    own = poses[: len(limb.bones)]
    root = own[0].to_translation()
    return chain_of(
        limb.bones,
        [point - root for point in limb.joints(own)],
        own,
        [reading.fk_rotation for reading in limb.bones],
        Matrix() if limb.parent_pose else None,
        bend_normal=turn_to_parent @ start_frame(limb.chain).normal,
    )


AnimatedBones = dict[str, str]
"""Names of the bones of which something that a chain reads is animated or driven, with what that is."""


def animated_bones(ob: bpy.types.Object) -> AnimatedBones:
    """The bones of an armature object of which animation or a driver sets what a chain reads."""
    found: AnimatedBones = {}
    for path in animated_paths(ob):
        name, what = bone_of_path(path)
        if name and not what.startswith("["):
            found.setdefault(name, what.removeprefix("analytic_ik_"))
    return found
