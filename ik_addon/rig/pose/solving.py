"""All chains of a scene, read, solved and written, each after those that move it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import bpy
from mathutils import Vector

from ...solvers import ChainError
from ..blender.animation import unchanged
from ..blender.armatures import posed_armatures
from ..blender.rotations import LOCATION, SCALE, quaternion_of
from ..model.body import body_channels
from ..model.limb import factors
from ..model.limb_now import PosedLimb, solve_limb
from ..model.order import ChainName, ChainOrder, KnownOrders
from .following import PosedBody, follow_limbs
from .posing import PoseWriter, loans, shown_channels
from .reading import ArmatureReader, SceneReader


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


def solve_scene(
    depsgraph: bpy.types.Depsgraph,
    frame_changed: bool,
    chosen: Collection[ChainName] | None = None,
    among: Iterable[bpy.types.Object] | None = None,
    orders: KnownOrders | None = None,
) -> ScenePass:
    """Solve the live chains of a scene, each after the chains that move it, and write what that makes of their bones.

    frame_changed: the scene has just gone to a frame. chosen: only these are solved, and those that they move; None:
    all. among: the armature objects to look at, which no chain of others moves; None: all. orders: those that are
    known. A chain that cannot be solved is skipped with its reason, and its bones get their FK pose back.
    """
    objects = {ob.name_full: ob for ob in posed_armatures(depsgraph, among)}
    with unchanged():
        order = (orders or KnownOrders()).of(ob.evaluated_get(depsgraph) for ob in objects.values())
    going = _Going(depsgraph, frame_changed, objects, order)
    going.release_others()
    moved: set[ChainName] = set()
    written: set[ChainName] = set()
    for chain in order.steps:
        is_moved = order.movers[chain] & moved or chain in order.circular
        if not is_moved and chosen is not None and not any(own in chosen for own in order.limbs.get(chain, [chain])):
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
        reader = SceneReader(self._depsgraph, self._frame_changed)
        self._armatures = {name: _Armature(reader, ob) for name, ob in self._objects.items()}
        return reader

    def release_others(self) -> None:
        """Give bones that no chain turns any more their FK pose back."""
        order = self._order
        released = [armature for armature in self._armatures.values() if armature.release_others(order)]
        constrained = (not each.mute for own in released for bone in own.ob.pose.bones for each in bone.constraints)
        if (released and order.circular) or any(constrained):
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
            armature.release(order.turned[chain])
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
        tips = {name: [chain.tip for chain in self._order.steps if chain.armature == name] for name in self._armatures}
        own = [each.writer.commit(tips[name], self._frame_changed) for name, each in self._armatures.items()]
        return any(own)


def tell(reader: ArmatureReader, posed: PosedLimb) -> None:
    """Tell where a solved chain's bones are posed, to the chains that hang on it."""
    limb = posed.limb
    for reading, pose in zip(limb.bones, posed.poses_armature, strict=True):
        reader.pose(reading.name, pose)
    for reading, rotation in zip(limb.riding, posed.rotations[len(limb.bones) :], strict=True):
        reader.turn(reading.name, quaternion_of(rotation, reading.mode))


class _Armature:
    """One armature in a pass."""

    def __init__(self, scene: SceneReader, ob: bpy.types.Object) -> None:
        self._scene = scene
        self.ob = ob
        self._evaluated = ob.evaluated_get(scene.depsgraph)
        self.writer = PoseWriter(ob, self._evaluated)
        self._shown = shown_channels(ob)
        self._scaled = {name for name, mode in self._shown if mode == SCALE}

    @property
    def reader(self) -> ArmatureReader:
        """Made when first asked for: by then what carries the armature is posed."""
        return self._scene.armature(self.ob)

    def follow(self, body: str, limbs: Sequence[str]) -> PosedBody:
        """Have a bone follow its limbs. Raises ChainError where it cannot."""
        try:
            posed = follow_limbs(self.reader, body, limbs)
        except ChainError:
            self.release([body])
            raise
        for mode, numbers in posed.channels.items():
            self.writer.write(body, mode, numbers)
        return posed

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
        """Give the channels that no chain and no body sets any more their FK pose back; whether any are.

        So too those of chains that move what they follow: else they would be read from what was shown last.
        """
        if not self._shown:
            return False
        name_full, tips = self.ob.name_full, self._evaluated.pose.bones
        chains, bodies = order.chains_of(name_full), {body.tip for body in order.limbs if body.armature == name_full}
        stretching = [names for tip, names in chains.items() if tips[tip].analytic_ik_reach == "STRETCH"]
        of_chains = order.turned_by(name_full).items()
        turned = {name for tip, own in of_chains if ChainName(name_full, tip) not in order.circular for name in own}
        turned |= {name for name in bodies if len(body_channels(tips[name])) > 1}
        own = {SCALE: {name for names in stretching for name in self._factors(names, 1.0)}, LOCATION: bodies}
        released = [(name, mode) for name, mode in self._shown if name not in own.get(mode, turned)]
        for channel in released:
            self._give_back(*channel)
        for root in (names[0] for names in stretching if self._scaled):
            above = tips[root].parent
            if above is not None and above.name not in chains:
                # It may have hung on the end of a chain until now.
                self.reader.rescale(root, Vector(self.reader.fk.scale(root)))
        return bool(released)

    def release(self, names: Sequence[str]) -> None:
        """Give bones that are not turned or moved any more their FK pose back, before what hangs on them is read."""
        for name, mode in self._shown:
            if name in names and mode != SCALE:
                self._give_back(name, mode)

    def _give_back(self, name: str, mode: str) -> None:
        fk, reader = self.reader.fk.numbers(name, mode), self.reader
        self.writer.give_back(name, mode, fk)
        if mode == SCALE:
            reader.rescale(name, Vector(fk))
        elif mode == LOCATION:
            reader.place(name, Vector(fk))
        else:
            reader.turn(name, quaternion_of(fk, mode))
