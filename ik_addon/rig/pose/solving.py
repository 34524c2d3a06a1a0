"""Read, solve, rotate, write: one chain, and all chains of a scene, each after those that move it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import bpy
from mathutils import Matrix, Vector

from ... import messages
from ...solvers import ChainError, Outcome
from ..blender.animation import unchanged
from ..blender.armatures import posed_armatures
from ..blender.rotations import LOCATION, SCALE, Raw, quaternion_of
from ..model.body import body_channels
from ..model.limb import Limb, factors
from ..model.order import ChainName, ChainOrder, KnownOrders
from .following import PosedBody, follow_limbs
from .posing import PoseWriter, loans, shown_bones
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
    with unchanged():
        order = (orders or KnownOrders()).of(ob.evaluated_get(depsgraph) for ob in objects.values())
    going = _Going(depsgraph, frame_changed, objects, order)
    going.release_others()
    moved: set[ChainName] = set()
    written: set[ChainName] = set()
    for chain in order.steps:
        is_moved = touched is None or order.movers[chain] & moved or chain in order.circular
        if not is_moved and not any(map(touched, going.tips_of(chain))):
            continue
        if order.far_movers[chain] & written:
            # Between them lies what only Blender works out: constraints and drivers.
            going.evaluate()
            written.clear()
        moved.add(chain)
        written.add(chain)
        going.solve(chain)
    return going.finished()


class _Going:
    """A pass on its way."""

    def __init__(
        self,
        depsgraph: bpy.types.Depsgraph,
        frame_changed: bool,
        objects: dict[str, bpy.types.Object],
        order: ChainOrder,
    ) -> None:
        self._depsgraph, self._frame_changed = depsgraph, frame_changed
        self._objects, self._order = objects, order
        self._done = ScenePass(order, self._read(), unfit=dict(order.unfit), errors=dict(order.errors))

    def _read(self) -> SceneReader:
        """Begin with what is evaluated now."""
        reader = SceneReader(self._depsgraph, self._frame_changed)
        self._armatures = {name: _Armature(reader, ob) for name, ob in self._objects.items()}
        return reader

    def tips_of(self, chain: ChainName) -> Iterator[bpy.types.PoseBone]:
        """The tip of a chain, evaluated; of a bone that follows its limbs theirs."""
        reader = self._armatures[chain.armature].reader
        return (reader.tip(limb.tip) for limb in self._order.limbs.get(chain, [chain]))

    def release_others(self) -> None:
        """Give bones that no chain turns any more their FK pose back."""
        order = self._order
        released = [armature for armature in self._armatures.values() if armature.release_others(order)]
        if any(order.circular or _is_constrained(armature.ob) for armature in released):
            # What a constraint makes of a bone that has its FK pose back only Blender knows.
            self.evaluate()

    def evaluate(self) -> None:
        """Let Blender evaluate what was solved so far."""
        if self._commit():
            loans.evaluate(self._depsgraph)
        self._done.reader = self._read()

    def solve(self, chain: ChainName) -> None:
        """Solve a chain, or have a bone follow its limbs."""
        armature, order, done = self._armatures[chain.armature], self._order, self._done
        if chain in order.limbs:
            try:
                done.bodies[chain] = armature.follow(chain.tip, [limb.tip for limb in order.limbs[chain]])
            except ChainError as error:
                done.unfit[chain] = error
            return
        try:
            posed = done.limbs[chain] = solve_limb(armature.reader.limb(chain.tip))
        except ChainError as error:
            done.errors[chain] = error
            armature.lengthen(order.bones[chain], 1.0)
            armature.release([bone for bone in order.turned[chain] if bone in armature.turned])
            return
        for reading, rotation in zip(posed.limb.turned, posed.rotations, strict=True):
            armature.writer.write(reading.name, reading.mode, rotation)
        tell(armature.reader, posed)
        armature.lengthen(order.bones[chain], posed.stretch)

    def finished(self) -> ScenePass:
        """Write what was solved."""
        self._commit()
        loans.settle(self._depsgraph, self._frame_changed)
        self._done.reader.written()
        return self._done

    def _commit(self) -> bool:
        """Write what was solved. Returns whether that changed anything."""
        tips = {name: [chain.tip for chain in self._order.steps if chain.armature == name] for name in self._armatures}
        own = [each.writer.commit(tips[name], self._frame_changed) for name, each in self._armatures.items()]
        return any(own)


def tell(reader: ArmatureReader, posed: PosedLimb) -> None:
    """Tell where a solved chain's bones are posed, to the chains that hang on it."""
    limb = posed.limb
    for reading, pose in zip(limb.bones, posed.poses_armature, strict=True):
        reader.pose(reading.name, pose)
    for end, rotation in zip(limb.ends, posed.rotations[len(limb.bones) :], strict=True):
        reader.turn(end.reading.name, quaternion_of(rotation, end.reading.mode))


def _is_constrained(ob: bpy.types.Object) -> bool:
    """Whether a constraint acts on a bone of an armature object."""
    return any(not each.mute for bone in ob.pose.bones if len(bone.constraints) for each in bone.constraints)


class _Armature:
    """One armature in a pass. turned, scaled, moved: names of its bones that show a rotation, a scale, and a location,
    of IK."""

    def __init__(self, scene: SceneReader, ob: bpy.types.Object) -> None:
        self._scene = scene
        self.ob = ob
        self._evaluated = ob.evaluated_get(scene.depsgraph)
        self.writer = PoseWriter(ob, self._evaluated)
        self.turned, self._scaled, self._moved = shown_bones(ob)

    @property
    def reader(self) -> ArmatureReader:
        """Made when first asked for: by then what carries the armature is posed."""
        return self._scene.armature(self.ob)

    def follow(self, body: str, limbs: Sequence[str]) -> PosedBody:
        """Have a bone follow its limbs. Raises ChainError where it cannot."""
        try:
            posed = follow_limbs(self.reader, body, limbs)
        except ChainError:
            if body in self._moved:
                self._put_back(body)
            raise
        for mode, numbers in posed.channels.items():
            self.writer.write(body, mode, numbers)
        return posed

    def _put_back(self, name: str) -> None:
        """Give a bone that follows no limb any more its FK pose back, before what hangs on it is read."""
        if name in self.turned:
            self.release([name])
        location = self.reader.fk.location(name)
        self.writer.give_back(name, LOCATION, location)
        self.reader.place(name, Vector(location))

    def _factors(self, names: Sequence[str], ratio: float) -> dict[str, float]:
        return factors([self.ob.data.bones[name] for name in names], ratio)

    def lengthen(self, names: Sequence[str], ratio: float) -> None:
        """Scale the bones of a chain, root first, and its end bones, so that it is `ratio` as long as in its FK
        pose."""
        if ratio == 1.0 and not self._scaled:
            return
        reader = self.reader
        for name, factor in self._factors(names, ratio).items():
            fk = reader.fk.scale(name)
            before = reader.scale_of(self._evaluated.pose.bones[name]) if name in names else Vector(fk)
            scale = before * factor
            if tuple(scale) != fk:
                self.writer.write(name, SCALE, tuple(scale))
            elif name in self._scaled:
                self.writer.give_back(name, SCALE, fk)
            reader.rescale(name, scale)

    def release_others(self, order: ChainOrder) -> bool:
        """Give the bones that no chain turns, or scales, any more their FK pose back; whether any are.

        So too those of chains that move what they follow: else they would be read from what was shown last.
        """
        if not self.turned and not self._scaled and not self._moved:
            return False
        name_full = self.ob.name_full
        released = [name for name in self._moved if ChainName(name_full, name) not in order.limbs]
        for name in released:
            self._put_back(name)
        released += self._shrunk(order.chains_of(name_full)) if self._scaled else []
        turned = order.turned_by(name_full)
        own = (names for tip, names in turned.items() if ChainName(name_full, tip) not in order.circular)
        bones = self._evaluated.pose.bones
        bodies = {body.tip for body in order.limbs if body.armature == name_full and body.tip in self.turned}
        in_chains = {name for names in own for name in names}
        in_chains |= {name for name in bodies if len(body_channels(bones[name])) > 1}
        turned_back = [name for name in self.turned if name not in in_chains]
        self.release(turned_back)
        return bool(released or turned_back)

    def _shrunk(self, chains: Mapping[str, Sequence[str]]) -> list[str]:
        """Give the bones that no chain scales any more their FK scale back; names of these. chains: of the armature,
        by their tips."""
        reader, tips = self.reader, self._evaluated.pose.bones
        stretching = [names for tip, names in chains.items() if tips[tip].analytic_ik_reach == "STRETCH"]
        kept = {name for names in stretching for name in self._factors(names, 1.0)}
        shrunk = [name for name in self._scaled if name not in kept]
        for name in shrunk:
            fk = reader.fk.scale(name)
            self.writer.give_back(name, SCALE, fk)
            reader.rescale(name, Vector(fk))
        for root in [names[0] for names in stretching]:
            above = tips[root].parent
            if above is not None and above.name not in chains:
                # It may have hung on the end of a chain until now.
                reader.rescale(root, Vector(reader.fk.scale(root)))
        return shrunk

    def release(self, names: Sequence[str]) -> None:
        """Give bones that no chain turns any more their FK rotation back, before what hangs below them is read."""
        for name in names:
            mode, fk = self.reader.fk.rotation(name)
            self.writer.give_back(name, mode, fk)
            self.reader.turn(name, quaternion_of(fk, mode))
