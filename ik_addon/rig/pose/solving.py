"""Read, solve, rotate, write: one chain, and all chains of a scene, each after those that move it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf

import bpy
from mathutils import Matrix, Quaternion, Vector

from ... import messages
from ...solvers import ChainError, Goal, Outcome, blend, link_rotations, solve
from ..blender.armatures import posed_armatures
from ..blender.rotations import LOCATION, SCALE, Raw, quaternion_of, raw_of
from ..data.settings import goal_values
from ..model.limb import Limb, chain_of, factors
from ..model.order import ChainName, ChainOrder, KnownOrders
from .lending import loans
from .posing import PoseWriter, shown_bones
from .reading import ArmatureReader, SceneReader
from .single_frame import PosedBody, follow

_UNEVEN_SCALE_PASSES = 48
_WITHOUT_GAIN = 8
"""Passes in a row that come no nearer: more of them will not either."""
_STRAYED = 2e-6
"""Distance of the tip from where it was solved to be, in chain lengths, that is more than rounding."""


Touched = Callable[[bpy.types.PoseBone], bool]
"""Says of a tip bone whether anything that its chain reads has changed."""


@dataclass(frozen=True, slots=True)
class PosedLimb:
    """A solved chain. rotations: of `limb.turned`, as numbers of each bone's rotation mode.

    poses_armature: the pose matrices of the first bones of the chain's links. stretch: by how much it is lengthened.
    outcome: how the target lies to the chain. error_world: distance from the chain's end to its target as solved, in
    world units; what constraints or drivers make of it afterwards is not in it (`missed_world`).
    """

    limb: Limb
    rotations: tuple[Raw, ...]
    poses_armature: tuple[Matrix, ...]
    stretch: float
    outcome: Outcome
    error_world: float

    @property
    def holds(self) -> bool:
        """True if it keeps its FK pose because its target is out of reach."""
        return self.limb.settings.reach == "HOLD" and self.outcome is not Outcome.REACHED


@dataclass(slots=True)
class ScenePass:
    """What one pass over a scene did: the chains solved, and the ones skipped with their reason.

    order: in which they were solved. bodies: the bones that followed their limbs; unfit: those that could not.
    """

    order: ChainOrder
    bodies: dict[ChainName, PosedBody] = field(default_factory=dict)
    unfit: dict[ChainName, ChainError] = field(default_factory=dict)
    limbs: dict[ChainName, PosedLimb] = field(default_factory=dict)
    errors: dict[ChainName, ChainError] = field(default_factory=dict)


def solve_limb(limb: Limb) -> PosedLimb:
    """Solve one chain from plain numbers; nothing is written."""
    settings = limb.settings
    try:
        outcome, poses, local_rotations, stretch = _solve_rotations(limb)
    except ChainError as error:
        raise error.of(messages.BONE(bone=limb.tip)) from error
    holds = settings.reach == "HOLD" and outcome is not Outcome.REACHED
    influence = 0.0 if holds else settings.influence
    if influence < 1.0:
        local_rotations = [
            blend(reading.fk_rotation, solved, influence)
            for reading, solved in zip(limb.bones, local_rotations, strict=True)
        ]
        stretch = 1.0 + influence * (stretch - 1.0)
    if influence < 1.0 or stretch > 1.0:
        poses = pose_limb(limb, local_rotations, scales_of(limb, stretch))
    local_rotations += _end_rotations(limb, poses[-1], influence)
    raw_rotations = (
        raw_of(rotation, reading.mode, reading.fk)
        for reading, rotation in zip(limb.turned, local_rotations, strict=True)
    )
    missed = limb.end_of(poses) - limb.target_armature
    return PosedLimb(
        limb=limb,
        # No influence is the FK pose itself, not what its quaternion rounds to.
        rotations=tuple(raw_rotations) if influence else tuple(reading.fk for reading in limb.turned),
        poses_armature=tuple(poses),
        stretch=stretch,
        outcome=outcome,
        error_world=(limb.world.to_3x3() @ missed).length,
    )


def _end_rotations(limb: Limb, tip_pose: Matrix, influence: float) -> list[Quaternion]:
    """Local rotations of the bones on a chain's end: of a foot under the last link as it is posed, of a toe as it lies
    to the foot."""
    rotations, parent_pose = [], limb.bones[-1].last_pose(tip_pose)
    for end in limb.ends:
        rotation = end.local_rotation(parent_pose)
        parent_pose = end.reading.posed(rotation, parent_pose)
        rotations.append(rotation if influence == 1.0 else blend(end.reading.fk_rotation, rotation, influence))
    return rotations


def _solve_rotations(limb: Limb) -> tuple[Outcome, list[Matrix], list[Quaternion], float]:
    """The chain at full influence: its outcome, its pose matrices in armature space, its local rotations, its stretch.

    The matrices are those before it is lengthened, which turns nothing and moves all joints evenly away from the root.
    A bone under an unevenly scaled parent changes its length as it turns. Then the chain is solved again with
    the lengths that it has in the pose just found, until the tip is where the solution put it; where it never is,
    the pose in which it comes nearest stands.
    """
    poses = [reading.pose_armature for reading in limb.bones]
    root, chain = limb.root_armature, limb.chain
    goal, nearest = goal_of(limb, root), inf
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
            found = solution.outcome, poses, local_rotations, solution.stretch
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


def goal_of(limb: Limb, root_armature: Vector) -> Goal:
    """The chain's goal relative to its root."""
    settings = limb.settings
    return Goal(
        target=limb.target_armature - root_armature,
        pole=limb.pole_armature - root_armature if limb.pole_armature else None,
        least_motion=settings.least_motion,
        **goal_values(settings, settings.reach),
    )


def scales_of(limb: Limb, stretch: float) -> list[Vector]:
    """The scales of a chain's bones that lengthen it by `stretch`."""
    own = factors([reading.bone for reading in limb.bones], stretch)
    return [reading.scale * own[reading.name] for reading in limb.bones]


def pose_limb(limb: Limb, rotations: Sequence[Quaternion], scales: Sequence[Vector] | None = None) -> list[Matrix]:
    """Forward kinematics: the pose matrices of a chain's links for local rotations, and scales other than their own."""
    poses, parent_pose = [], limb.parent_pose
    for k, (reading, rotation) in enumerate(zip(limb.bones, rotations, strict=True)):
        poses.append(reading.posed(rotation, parent_pose, scales[k] if scales else None))
        parent_pose = reading.last_pose(poses[-1])
    return poses


def solve_scene(
    depsgraph: bpy.types.Depsgraph,
    frame_changed: bool,
    touched: Touched | None = None,
    orders: KnownOrders | None = None,
    among: Iterable[bpy.types.Object] | None = None,
) -> ScenePass:
    """Solve the live chains of a scene, each after the chains that move it, and write what that makes of their bones.

    frame_changed: the scene has just gone to a frame. touched: only chains of which it says so are solved, and
    those that they move; None: all. orders: those that are known. among: the armature objects to look at, which no
    chain of others moves; None: all. A chain that cannot be solved is skipped with its reason, and its bones get their
    FK pose back.
    """
    objects = {ob.name_full: ob for ob in posed_armatures(depsgraph, among)}
    order = (orders or KnownOrders()).of(ob.evaluated_get(depsgraph) for ob in objects.values())
    done = ScenePass(order, unfit=dict(order.unfit), errors=dict(order.errors))
    armatures = _armatures(objects, depsgraph, frame_changed)
    released = [armature for armature in armatures.values() if _release_others(armature, order)]
    if any(order.circular or _is_constrained(armature.ob) for armature in released):
        # What a constraint makes of a bone that has its FK pose back only Blender knows.
        if _commit(armatures, order, frame_changed):
            loans.evaluate(depsgraph)
        armatures = _armatures(objects, depsgraph, frame_changed)
    moved: set[ChainName] = set()
    written: set[ChainName] = set()
    for chain in order.steps:
        if touched is not None and not order.movers[chain] & moved and chain not in order.circular:
            armature = armatures[chain.armature]
            own = order.limbs.get(chain, [chain])
            if not any(touched(armature.reader.tip(limb.tip)) for limb in own):
                continue
        if order.far_movers[chain] & written:
            # Between them lies what only Blender works out: constraints and drivers.
            if _commit(armatures, order, frame_changed):
                loans.evaluate(depsgraph)
            armatures = _armatures(objects, depsgraph, frame_changed)
            written.clear()
        armature = armatures[chain.armature]
        reader, writer = armature.reader, armature.writer
        moved.add(chain)
        written.add(chain)
        if chain in order.limbs:
            _follow(armature, chain, done)
            continue
        try:
            posed = solve_limb(reader.limb(chain.tip))
        except ChainError as error:
            done.errors[chain] = error
            _lengthen(armature, order.bones[chain], 1.0)
            _release(armature, [bone for bone in order.turned[chain] if bone in armature.turned])
            continue
        done.limbs[chain] = posed
        for reading, rotation in zip(posed.limb.turned, posed.rotations, strict=True):
            writer.write(reading.name, reading.mode, rotation)
        tell(reader, posed)
        if posed.limb.settings.reach == "STRETCH" or armature.scaled:
            _lengthen(armature, order.bones[chain], posed.stretch)
    _commit(armatures, order, frame_changed)
    loans.settle(depsgraph, frame_changed)
    return done


def _follow(armature: "_Armature", body: ChainName, done: ScenePass) -> None:
    """Have a bone follow its limbs."""
    limbs = [limb.tip for limb in done.order.limbs[body]]
    try:
        posed = done.bodies[body] = follow(armature.reader, body.tip, limbs)
    except ChainError as error:
        done.unfit[body] = error
        if body.tip in armature.moved:
            _put_back(armature, body.tip)
        return
    armature.writer.write(body.tip, LOCATION, posed.location)


def _put_back(armature: "_Armature", name: str) -> None:
    """Give a bone that follows no limb any more its FK location back, before what hangs on it is read."""
    location = armature.reader.fk.location(name)
    armature.writer.give_back(name, LOCATION, location)
    armature.reader.place(name, Vector(location))


def _armatures(
    objects: dict[str, bpy.types.Object], depsgraph: bpy.types.Depsgraph, frame_changed: bool
) -> "dict[str, _Armature]":
    """Armature objects as they are evaluated now."""
    scene = SceneReader(depsgraph, frame_changed)
    return {name: _Armature(scene, ob) for name, ob in objects.items()}


def _commit(armatures: "dict[str, _Armature]", order: ChainOrder, frame_changed: bool) -> bool:
    """Write what was solved. Returns whether that changed anything."""
    return any(
        [
            armature.writer.commit([chain.tip for chain in order.steps if chain.armature == name], frame_changed)
            for name, armature in armatures.items()
        ]
    )


def tell(reader: ArmatureReader, posed: PosedLimb) -> None:
    """Tell where a solved chain's bones are posed, to the chains that hang on it."""
    limb = posed.limb
    for reading, pose in zip(limb.bones, posed.poses_armature, strict=True):
        reader.pose(reading.name, pose)
    for end, rotation in zip(limb.ends, posed.rotations[len(limb.bones) :], strict=True):
        reader.turn(end.reading.name, quaternion_of(rotation, end.reading.mode))


class _Armature:
    """One armature in a pass. turned, scaled, moved: names of its bones that show a rotation, a scale, and a location,
    of IK."""

    def __init__(self, scene: SceneReader, ob: bpy.types.Object) -> None:
        self._scene = scene
        self.ob = ob
        self.evaluated = ob.evaluated_get(scene.depsgraph)
        self.writer = PoseWriter(ob, self.evaluated)
        self.turned, self.scaled, self.moved = shown_bones(ob)

    @property
    def reader(self) -> ArmatureReader:
        """Made when first asked for: by then what carries the armature is posed."""
        return self._scene.armature(self.ob)

    def factors(self, names: Sequence[str], ratio: float) -> dict[str, float]:
        return factors([self.ob.data.bones[name] for name in names], ratio)


def _is_constrained(ob: bpy.types.Object) -> bool:
    """Whether a constraint acts on a bone of an armature object."""
    return any(not each.mute for bone in ob.pose.bones if len(bone.constraints) for each in bone.constraints)


def _lengthen(armature: _Armature, names: Sequence[str], ratio: float) -> None:
    """Scale the bones of a chain, root first, and its end bones, so that it is `ratio` as long as in its FK pose."""
    if ratio == 1.0 and not armature.scaled:
        return
    reader = armature.reader
    for name, factor in armature.factors(names, ratio).items():
        fk = reader.fk.scale(name)
        before = reader.scale_of(armature.evaluated.pose.bones[name]) if name in names else Vector(fk)
        scale = before * factor
        if tuple(scale) != fk:
            armature.writer.write(name, SCALE, tuple(scale))
        elif name in armature.scaled:
            armature.writer.give_back(name, SCALE, fk)
        reader.rescale(name, scale)


def _release_others(armature: _Armature, order: ChainOrder) -> bool:
    """Give the bones of an armature that no chain turns, or scales, any more their FK pose back; whether any are.

    So too those of chains that move what they follow: else they would be read from what was shown last.
    """
    if not armature.turned and not armature.scaled and not armature.moved:
        return False
    released = [name for name in armature.moved if ChainName(armature.ob.name_full, name) not in order.limbs]
    for name in released:
        _put_back(armature, name)
    chains, tips = order.chains_of(armature.ob.name_full), armature.evaluated.pose.bones
    if armature.scaled:
        stretching = [names for tip, names in chains.items() if tips[tip].analytic_ik_reach == "STRETCH"]
        kept = {name for names in stretching for name in armature.factors(names, 1.0)}
        shrunk = [name for name in armature.scaled if name not in kept]
        released += shrunk
        for name in shrunk:
            fk = armature.reader.fk.scale(name)
            armature.writer.give_back(name, SCALE, fk)
            armature.reader.rescale(name, Vector(fk))
        for root in [names[0] for names in stretching]:
            above = tips[root].parent
            if above is not None and above.name not in chains:
                # It may have hung on the end of a chain until now.
                armature.reader.rescale(root, Vector(armature.reader.fk.scale(root)))
    turned = order.turned_by(armature.ob.name_full)
    own = (names for tip, names in turned.items() if ChainName(armature.ob.name_full, tip) not in order.circular)
    in_chains = {name for names in own for name in names}
    turned_back = [name for name in armature.turned if name not in in_chains]
    _release(armature, turned_back)
    return bool(released or turned_back)


def _release(armature: _Armature, names: Sequence[str]) -> None:
    """Give bones that no chain turns any more their FK rotation back, before what hangs below them is read."""
    for name in names:
        mode, fk = armature.reader.fk.rotation(name)
        armature.writer.give_back(name, mode, fk)
        armature.reader.turn(name, quaternion_of(fk, mode))
