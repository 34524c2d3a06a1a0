"""Read, solve, rotate, write: one chain, and all chains of an armature, parents first."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..solvers import Chain, ChainError, Goal, Outcome, blend, link_rotations, solve
from ..solvers.bending import is_straight
from .channels import Raw, quaternion_of, raw_of
from .hinge import hinge_armature
from .order import chain_order
from .posing import PoseWriter, recorded_bones
from .reading import ArmatureReader, Limb, joints

_UNEVEN_SCALE_PASSES = 12
_STRAYED = 2e-6
"""Distance of the tip from where it was solved to be, in chain lengths, that is more than rounding."""


Touched = Callable[[bpy.types.Object, bpy.types.PoseBone], bool]
"""Says of an armature object and a tip bone whether anything that the tip's chain reads has changed."""


@dataclass(frozen=True, slots=True)
class PosedLimb:
    """A solved chain. rotations: of its bones from root to tip, as numbers of each bone's rotation mode.

    poses_armature: the bones' pose matrices. outcome: how the target lies to the chain. error_world: distance
    from the tip to its target, in world units.
    """

    limb: Limb
    rotations: tuple[Raw, ...]
    poses_armature: tuple[Matrix, ...]
    outcome: Outcome
    error_world: float


@dataclass(slots=True)
class ArmaturePass:
    """What one pass over an armature did: the chains solved, in order, and the ones skipped with their reason."""

    limbs: list[PosedLimb] = field(default_factory=list)
    errors: dict[str, ChainError] = field(default_factory=dict)


def solve_limb(limb: Limb) -> PosedLimb:
    """Solve one chain from plain numbers; nothing is written."""
    settings = limb.settings
    try:
        outcome, poses, local_rotations = _solve_rotations(limb)
    except ChainError as error:
        raise ChainError(f"Bone '{limb.tip}': {error}") from error
    holds = settings.reach == "HOLD" and outcome is not Outcome.REACHED
    influence = 0.0 if holds else settings.influence
    if influence < 1.0:
        local_rotations = [
            blend(reading.fk_rotation, solved, influence)
            for reading, solved in zip(limb.bones, local_rotations, strict=True)
        ]
        poses = pose_limb(limb, local_rotations)
    raw_rotations = (
        raw_of(rotation, reading.mode, reading.fk)
        for reading, rotation in zip(limb.bones, local_rotations, strict=True)
    )
    missed = joints(poses, limb.tip_length)[-1] - limb.target_armature
    return PosedLimb(
        limb=limb,
        # No influence is the FK pose itself, not what its quaternion rounds to.
        rotations=tuple(raw_rotations) if influence else tuple(reading.fk for reading in limb.bones),
        poses_armature=tuple(poses),
        outcome=outcome,
        error_world=(limb.world.to_3x3() @ missed).length,
    )


def _solve_rotations(limb: Limb) -> tuple[Outcome, list[Matrix], list[Quaternion]]:
    """The chain at full influence: its outcome, its pose matrices in armature space, its local rotations.

    A bone under an unevenly scaled parent changes its length as it turns. Then the chain is solved again with
    the lengths that it has in the pose just found, until the tip is where the solution put it.
    """
    poses = [reading.pose_armature for reading in limb.bones]
    root = poses[0].to_translation()
    goal, hinge = _goal(limb, root), None
    for _ in range(_UNEVEN_SCALE_PASSES):
        chain = Chain([point - root for point in joints(poses, limb.tip_length)])
        if is_straight(chain):
            chain = Chain(chain.joints, hinge=hinge or hinge_armature(limb.bones))
        solution = solve(chain, goal, limb.solver)
        turns = link_rotations(chain, solution)
        local_rotations, posed, parent_pose = [], [], limb.parent_pose
        for reading, pose, turn in zip(limb.bones, poses, turns, strict=True):
            rotation = reading.local_rotation(turn.to_matrix().to_4x4() @ pose, parent_pose)
            parent_pose = reading.posed(rotation, parent_pose)
            local_rotations.append(rotation)
            posed.append(parent_pose)
        poses = posed
        strayed = joints(poses, limb.tip_length)[-1] - root - solution.joints[-1]
        if strayed.length <= _STRAYED * chain.length:
            break
        # This pose bends as was wished: the same wishes would swivel and flip it once more.
        hinge = -solution.normal if goal.flip else solution.normal
        pole = goal.target.cross(hinge) if len(limb.bones) == 2 else None
        goal = replace(goal, pole=pole, swivel=0.0, flip=False)
    return solution.outcome, poses, local_rotations


def _goal(limb: Limb, root_armature: Vector) -> Goal:
    """The chain's goal relative to its root, where single precision is finest."""
    settings = limb.settings
    return Goal(
        target=limb.target_armature - root_armature,
        pole=limb.pole_armature - root_armature if limb.pole_armature else None,
        swivel=settings.swivel,
        flip=settings.flip,
        softness=settings.softness,
        least_motion=settings.least_motion,
    )


def pose_limb(limb: Limb, local_rotations: list[Quaternion]) -> list[Matrix]:
    """Forward kinematics: the pose matrices of a chain's bones for their local rotations."""
    poses, parent_pose = [], limb.parent_pose
    for reading, rotation in zip(limb.bones, local_rotations, strict=True):
        parent_pose = reading.posed(rotation, parent_pose)
        poses.append(parent_pose)
    return poses


def solve_armature(
    ob: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
    frame_changed: bool,
    touched: Touched | None = None,
) -> ArmaturePass:
    """Solve the live chains of an armature, each after the chains that move it, and write their rotations.

    frame_changed: the scene has just gone to a frame. touched: only chains of which it says so are solved, and
    those that they move; None: all. A chain that cannot be solved is skipped with its reason, and its bones
    get their FK pose back.
    """
    reader = ArmatureReader(ob, depsgraph, frame_changed)
    order = chain_order(reader.evaluated)
    done = ArmaturePass(errors=dict(order.errors))
    writer = PoseWriter(ob)
    in_chains = {name for names in order.bones.values() for name in names}
    recorded = recorded_bones(ob)
    _release(reader, writer, [name for name in recorded if name not in in_chains])
    moved: set[str] = set()
    for tip in order.tips:
        tip_bone = reader.evaluated.pose.bones[tip]
        if touched is not None and not (order.movers[tip] & moved) and not touched(ob, tip_bone):
            continue
        moved.add(tip)
        try:
            posed = solve_limb(reader.limb(tip))
        except ChainError as error:
            done.errors[tip] = error
            _release(reader, writer, [name for name in order.bones[tip] if name in recorded])
            continue
        done.limbs.append(posed)
        bones = zip(posed.limb.bones, posed.rotations, posed.poses_armature, strict=True)
        for reading, rotation, pose in bones:
            writer.set_rotation(reading.name, reading.mode, reading.fk, rotation)
            reader.pose(reading.name, pose)
    writer.commit(reader.evaluated if depsgraph.mode == "RENDER" else None)
    return done


def _release(reader: ArmatureReader, writer: PoseWriter, names: list[str]) -> None:
    """Give bones that no chain poses any more their FK pose back, before what hangs below them is read."""
    for name in names:
        mode, fk = reader.fk_rotation(name)
        writer.restore_fk(name, mode, fk)
        reader.pose(name, reader.fk_pose(name, quaternion_of(fk, mode)))
