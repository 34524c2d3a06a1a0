"""Read, solve, rotate, write: one chain, and all chains of a scene, each after those that move it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import bpy
from mathutils import Matrix, Vector

from ... import messages
from ...solvers import ChainError, Outcome
from ..blender.armatures import posed_armatures
from ..blender.rotations import LOCATION, SCALE, Raw, quaternion_of
from ..model.limb import Limb, factors
from ..model.order import ChainName, ChainOrder, KnownOrders
from .following import PosedBody, follow_limbs
from .lending import loans
from .posing import PoseWriter, shown_bones
from .reading import ArmatureReader, SceneReader
from .ready import holds, pose_limb, ready_chain, scales_of

Touched = Callable[[bpy.types.PoseBone], bool]
"""Says of a tip bone whether anything that its chain reads has changed."""


@dataclass(frozen=True, slots=True)
class PosedLimb:
    """A solved chain. rotations: of `limb.turned`, as numbers of each bone's rotation mode.

    poses_armature: the pose matrices of the first bones of the chain's links. stretch: by how much it is lengthened.
    outcome: how the target lies to the chain. error_world: distance from the chain's end to its target as solved, in
    world units; what constraints or drivers make of it afterwards is not in it (`missed_world`). searched: see
    `Solution`.
    """

    limb: Limb
    rotations: tuple[Raw, ...]
    poses_armature: tuple[Matrix, ...]
    stretch: float
    outcome: Outcome
    error_world: float
    searched: bool

    @property
    def holds(self) -> bool:
        """True if it keeps its FK pose because its target is out of reach."""
        return holds(self.limb.settings.reach, self.outcome)


@dataclass(slots=True)
class ScenePass:
    """What one pass over a scene did: the chains solved, and the ones skipped with their reason.

    order: in which they were solved. bodies: the bones that followed their limbs; unfit: those that could not. reader:
    knows where everything is once that is evaluated.
    """

    order: ChainOrder
    reader: SceneReader
    bodies: dict[ChainName, PosedBody] = field(default_factory=dict)
    unfit: dict[ChainName, ChainError] = field(default_factory=dict)
    limbs: dict[ChainName, PosedLimb] = field(default_factory=dict)
    errors: dict[ChainName, ChainError] = field(default_factory=dict)


def solve_limb(limb: Limb) -> PosedLimb:
    """Solve one chain as it was read; nothing is written."""
    ready = ready_chain(limb)
    try:
        solved = ready.solve_to(limb.target_armature, limb.pole_armature, [end.orientation for end in limb.ends])
    except ChainError as error:
        raise error.of(messages.BONE(bone=limb.tip)) from error
    poses = pose_limb(limb, solved.rotations, scales_of(limb, solved.stretch) if solved.stretch != 1.0 else None)
    missed = limb.end_of(poses) - limb.target_armature
    return PosedLimb(
        limb=limb,
        rotations=tuple(ready.raw(solved)),
        poses_armature=tuple(poses),
        stretch=solved.stretch,
        outcome=solved.outcome,
        error_world=(limb.world.to_3x3() @ missed).length,
        searched=solved.searched,
    )


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
    reader = SceneReader(depsgraph, frame_changed)
    done = ScenePass(order, reader, unfit=dict(order.unfit), errors=dict(order.errors))
    armatures = _armatures(objects, reader)
    released = [armature for armature in armatures.values() if _release_others(armature, order)]
    if any(order.circular or _is_constrained(armature.ob) for armature in released):
        # What a constraint makes of a bone that has its FK pose back only Blender knows.
        if _commit(armatures, order, frame_changed):
            loans.evaluate(depsgraph)
        done.reader = SceneReader(depsgraph, frame_changed)
        armatures = _armatures(objects, done.reader)
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
            done.reader = SceneReader(depsgraph, frame_changed)
            armatures = _armatures(objects, done.reader)
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
    done.reader.written()
    return done


def _follow(armature: "_Armature", body: ChainName, done: ScenePass) -> None:
    """Have a bone follow its limbs."""
    limbs = [limb.tip for limb in done.order.limbs[body]]
    try:
        posed = done.bodies[body] = follow_limbs(armature.reader, body.tip, limbs)
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


def _armatures(objects: dict[str, bpy.types.Object], scene: SceneReader) -> "dict[str, _Armature]":
    """Armature objects as they are evaluated now."""
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
