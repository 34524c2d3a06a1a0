"""Read, solve, rotate, write: one chain, and all chains of a scene, each after those that move it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..solvers import Chain, ChainError, Goal, Outcome, blend, link_rotations, solve
from .armatures import posed_armatures
from .channels import Raw, quaternion_of, raw_of
from .limb import Limb
from .order import ChainName, chain_order
from .posing import PoseWriter, recorded_bones
from .reading import ArmatureReader, SceneReader

_UNEVEN_SCALE_PASSES = 12
_STRAYED = 2e-6
"""Distance of the tip from where it was solved to be, in chain lengths, that is more than rounding."""


Touched = Callable[[bpy.types.PoseBone], bool]
"""Says of a tip bone whether anything that its chain reads has changed."""


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
class ScenePass:
    """What one pass over a scene did: the chains solved, and the ones skipped with their reason."""

    limbs: dict[ChainName, PosedLimb] = field(default_factory=dict)
    errors: dict[ChainName, ChainError] = field(default_factory=dict)


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
    missed = limb.tail_of(poses[-1]) - limb.target_armature
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
    root, chain = limb.root_armature, limb.chain
    goal = _goal(limb, root)
    for _ in range(_UNEVEN_SCALE_PASSES):
        solution = solve(chain, goal, limb.solver)
        local_rotations, posed, parent_pose = [], [], limb.parent_pose
        for reading, pose, turn in zip(limb.bones, poses, link_rotations(chain, solution), strict=True):
            rotation = reading.local_rotation(turn.to_matrix().to_4x4() @ pose, parent_pose)
            parent_pose = reading.posed(rotation, parent_pose)
            local_rotations.append(rotation)
            posed.append(parent_pose)
        poses = posed
        strayed = limb.tail_of(poses[-1]) - root - solution.joints[-1]
        if strayed.length <= _STRAYED * chain.length:
            break
        # This pose bends as was wished: the same wishes would swivel and flip it once more.
        hinge = -solution.normal if goal.flip else solution.normal
        pole = goal.target.cross(hinge) if len(limb.bones) == 2 else None
        goal = replace(goal, pole=pole, swivel=0.0, flip=False)
        heads = [pose.to_translation() - root for pose in poses]
        chain = Chain([*heads, limb.tail_of(poses[-1]) - root], bend_normal=hinge)
    return solution.outcome, poses, local_rotations


def _goal(limb: Limb, root_armature: Vector) -> Goal:
    """The chain's goal relative to its root."""
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


def solve_scene(depsgraph: bpy.types.Depsgraph, frame_changed: bool, touched: Touched | None = None) -> ScenePass:
    """Solve the live chains of a scene, each after the chains that move it, and write their rotations.

    frame_changed: the scene has just gone to a frame. touched: only chains of which it says so are solved, and
    those that they move; None: all. A chain that cannot be solved is skipped with its reason, and its bones
    get their FK pose back.
    """
    scene = SceneReader(depsgraph, frame_changed)
    objects = {ob.name_full: ob for ob in posed_armatures(depsgraph)}
    order = chain_order(ob.evaluated_get(depsgraph) for ob in objects.values())
    done = ScenePass(errors=dict(order.errors))
    writers = {name: PoseWriter(ob) for name, ob in objects.items()}
    recorded = {name: recorded_bones(ob) for name, ob in objects.items()}
    for name, ob in objects.items():
        if recorded[name]:
            in_chains = order.chain_bones_of(name)
            _release(scene.armature(ob), writers[name], [bone for bone in recorded[name] if bone not in in_chains])
    moved: set[ChainName] = set()
    for chain in order.chains:
        reader, writer = scene.armature(objects[chain.armature]), writers[chain.armature]
        if touched is not None and not order.movers[chain] & moved and not touched(reader.tip(chain.tip)):
            continue
        moved.add(chain)
        try:
            posed = solve_limb(reader.limb(chain.tip))
        except ChainError as error:
            done.errors[chain] = error
            held = [bone for bone in order.bones[chain] if bone in recorded[chain.armature]]
            _release(reader, writer, held)
            continue
        done.limbs[chain] = posed
        for reading, rotation, pose in zip(posed.limb.bones, posed.rotations, posed.poses_armature, strict=True):
            writer.set_rotation(reading.name, reading.mode, reading.fk, rotation)
            reader.pose(reading.name, pose)
    rendering = depsgraph.mode == "RENDER"
    for name, writer in writers.items():
        writer.commit(objects[name].evaluated_get(depsgraph) if rendering else None)
    return done


def _release(reader: ArmatureReader, writer: PoseWriter, names: list[str]) -> None:
    """Give bones that no chain poses any more their FK pose back, before what hangs below them is read."""
    for name in names:
        mode, fk = reader.fk_rotation(name)
        writer.restore_fk(name, mode, fk)
        reader.pose(name, reader.fk_pose(name, quaternion_of(fk, mode)))
