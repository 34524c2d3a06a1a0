"""From pose bones and targets to plain numbers in armature space, and what is wrong where that cannot be done."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from math import isfinite

import bpy
from mathutils import Matrix, Quaternion, Vector

from ... import messages
from ...solvers import ChainError, Kind, solver_for
from ..blender.animation import animated_paths
from ..blender.armatures import tag_pose
from ..blender.dependencies import Node, Shares, carriers, shares_of, way_along
from ..blender.rotations import (
    LOCATION,
    SCALE,
    array_of,
    is_even,
    pose_matrix,
    posed_by_channels,
    quaternion_of,
    rotation_in,
)
from ..data import settings
from ..data.relation import in_any_collection, place_of
from ..data.settings import NUMBERS, PREFIX, Settings, settings_of
from ..model.foot import end_bone, end_bones, held_rotation, place_foot
from ..model.limb import (
    BoneReading,
    Limb,
    Wishes,
    chain_bones,
    fk_chain,
    given_factor,
    is_rigid,
    limits_of,
)
from .posing import FkPose

_KINDS = {"target": (Kind.TARGET, Kind.TARGET_DELETED), "pole target": (Kind.POLE, Kind.POLE_DELETED)}
"""By the role of a control the kinds of what may be wrong with it, and of its being deleted."""


class UnevenError(ChainError):
    """What carries a chain, or the chain, is scaled unevenly: its model does not hold there."""


def _check_settings(tip: bpy.types.PoseBone, settings: Settings) -> None:
    """Raise ChainError where a setting is not a number, as a script or a driver may have left it, or where a tip names
    an end bone that its armature does not have."""
    for name in NUMBERS:
        if not isfinite(getattr(settings, name)):
            label = tip.bl_rna.properties[PREFIX + name].name
            raise ChainError(messages.SETTING_NO_NUMBER(setting=label))
    name = tip.analytic_ik_end_bone
    if name and name not in tip.id_data.pose.bones:
        raise ChainError(messages.WITHOUT_END_BONE(end=name), Kind.END_BONE)


def check_targets(ob: bpy.types.Object, chain: list[bpy.types.PoseBone], settings: Settings) -> None:
    """Raise ChainError where the target is missing or gone, or target or pole is moved by the chain itself."""
    if settings.target is None:
        raise ChainError(messages.NO_TARGET(), Kind.TARGET)
    gone = _gone(settings.target, settings.subtarget, "target")
    if gone is not None:
        raise gone
    names = {bone.name for bone in chain}
    for role, control, bone_name in (
        ("target", settings.target, settings.subtarget),
        ("pole target", settings.pole_target, settings.pole_subtarget),
    ):
        if control is None:
            continue
        own = (bone.name for carrier, bone in carriers(control, bone_name) if carrier == ob and bone.name in names)
        carrier = next(own, None)
        if carrier is not None:
            said = messages.CONTROL_ON_CHAIN(role=role, control=control_words(control, bone_name), bone=carrier)
            raise ChainError(said, _KINDS[role][0])


def gone_pole(settings: Settings) -> ChainError | None:
    """What is wrong with a pole that was deleted, or that is a bone which its armature does not have; None: nothing."""
    return _gone(settings.pole_target, settings.pole_subtarget, "pole target") if settings.pole_target else None


def _gone(control: bpy.types.Object, bone_name: str, role: str) -> ChainError | None:
    if not in_any_collection(control):
        return ChainError(messages.CONTROL_DELETED(role=role, control=control.name), _KINDS[role][1])
    if bone_name and (control.pose is None or bone_name not in control.pose.bones):
        said = messages.ROLE_WITHOUT_BONE(role=role, control=control.name, bone=bone_name)
        return ChainError(said, _KINDS[role][0])
    return None


def control_words(control: bpy.types.Object, bone_name: str) -> str:
    """A target or pole in a sentence."""
    return messages.CONTROL_BONE(bone=bone_name) if bone_name else messages.CONTROL_OBJECT(control=control.name)


def without_gone_pole(settings: Settings) -> Settings:
    """As Blender's own IK: a chain goes on without a pole target that is gone, and the panel says so."""
    if gone_pole(settings) is None:
        return settings
    return replace(settings, pole_target=None, pole_subtarget="")


class SceneReader:
    """The armatures of one evaluated scene, for the length of one pass.

    depsgraph: what evaluated the scene. frame_changed: see FkPose. moved: original objects that channels have put where
    they are since then. What was posed in the pass, and what hangs on it, is read as it will be, not as it was
    evaluated.
    """

    def __init__(
        self,
        depsgraph: bpy.types.Depsgraph,
        frame_changed: bool = False,
        moved: Collection[bpy.types.Object] = (),
    ) -> None:
        self.depsgraph = depsgraph
        self.moved = moved
        self.frame_changed = frame_changed
        self._armatures: dict[str, ArmatureReader] = {}

    def written(self) -> None:
        """What was posed stands in the evaluated bones: from now on only the originals have the FK pose."""
        self.frame_changed = False
        for reader in self._armatures.values():
            reader.__dict__.pop("fk", None)

    def shows(self, ob: bpy.types.Object) -> bool:
        """True if an object is evaluated here at all; in another view layer it may be excluded."""
        return ob.evaluated_get(self.depsgraph).is_evaluated

    def armature(self, ob: bpy.types.Object) -> "ArmatureReader":
        reader = self._armatures.get(ob.name_full)
        if reader is None:
            reader = self._armatures[ob.name_full] = ArmatureReader(self, ob.original)
        return reader

    def world_of(self, ob: bpy.types.Object) -> Matrix:
        if ob in self.moved:
            world = ob.matrix_basis
            if ob.parent is not None:
                to_parent = ob.parent.evaluated_get(self.depsgraph).matrix_world
                world = to_parent @ ob.matrix_parent_inverse @ world
            return world
        world = place_of(ob, "", self.depsgraph)[0].copy()
        carry = self._carry(ob.original)
        return world if carry is None else carry @ world

    def _carry(self, original: bpy.types.Object) -> Matrix | None:
        """How far this pass moved an object from where it was evaluated; None: not at all."""
        if original.parent is None or not self._armatures:
            return None
        carry, line = None, []
        while original.parent is not None:
            line.append(original)
            original = original.parent
        for below in reversed(line):
            reader = self._armatures.get(below.parent.name_full)
            if reader is None or below.parent_type != "BONE":
                continue
            moved = reader.moved(below.parent_bone)
            if moved is not None:
                evaluated_world = reader.evaluated.matrix_world
                by_bone = evaluated_world @ moved @ evaluated_world.inverted_safe()
                carry = by_bone if carry is None else carry @ by_bone
        return carry


class ArmatureReader:
    """One armature object in a pass. Bones that are posed are told to `pose`."""

    def __init__(self, scene: SceneReader, ob: bpy.types.Object) -> None:
        self.ob = ob
        self.evaluated = ob.evaluated_get(scene.depsgraph)
        self._scene = scene
        self._is_moved = ob in scene.moved
        self._spaces: dict[str, tuple[Matrix, Matrix]] = {}
        self._posed: dict[str, Matrix] = {}
        self._rotations: dict[str, Quaternion] = {}
        self._scales: dict[str, Vector] = {}
        self._locations: dict[str, Vector] = {}
        self._told: set[str] = set()

    @cached_property
    def fk(self) -> FkPose:
        return FkPose(self.ob, self._scene.depsgraph.scene, self.evaluated if self._scene.frame_changed else None)

    @cached_property
    def world(self) -> Matrix:
        """Where the armature object is; first asked for when what carries it has been posed."""
        return self._scene.world_of(self.ob)

    def tip(self, name: str) -> bpy.types.PoseBone:
        """The tip bone of a chain, or another one, as animated and driven."""
        return (self.ob if self._is_moved else self.evaluated).pose.bones[name]

    def scale_of(self, pose_bone: bpy.types.PoseBone) -> Vector:
        """The scale of an evaluated bone before its own chain lengthens it: its FK scale, with what the chain gives it
        on whose end it hangs."""
        told = self._scales.get(pose_bone.name)
        if told is not None:
            return told
        return Vector(self.fk.scale(pose_bone.name)) * given_factor(pose_bone, self.fk.scale)

    def pose(self, name: str, matrix_armature: Matrix) -> None:
        """Tell where a bone is posed in this pass."""
        if name in self._told:
            # What hangs on it was read where it was told to be before.
            self._posed = {told: pose for told, pose in self._posed.items() if told in self._told}
        self._posed[name] = matrix_armature
        self._tell(name)

    def _tell(self, name: str) -> None:
        self._told.add(name)
        self._spaces.clear()

    @contextmanager
    def supposing(self, name: str, matrix_armature: Matrix) -> Iterator[None]:
        """Inside, a bone is posed so, and what hangs on it goes with it; afterwards nothing is known of that."""
        posed, told = self._posed.copy(), self._told.copy()
        self.pose(name, matrix_armature)
        try:
            yield
        finally:
            self._posed, self._told = posed, told
            self._spaces.clear()

    def tell(self, name: str, mode: str, numbers: Sequence[float]) -> None:
        """Tell what a channel of a bone, of a rotation mode, SCALE or LOCATION, gets in this pass, wherever its parent
        will be."""
        if mode == SCALE:
            self._scales[name] = Vector(numbers)
        elif mode == LOCATION:
            self._locations[name] = Vector(numbers)
        else:
            self._rotations[name] = quaternion_of(numbers, mode)
        self._tell(name)

    def pose_of(self, pose_bone: bpy.types.PoseBone) -> Matrix:
        """The pose matrix of an evaluated bone, with all that was posed in this pass."""
        known = self._posed.get(pose_bone.name)
        if known is not None:
            return known
        if not self._told:
            return self._as_evaluated(pose_bone).copy()
        shares = shares_of(pose_bone)
        others = [self.tip(name) for name in shares or ()]
        line = (above.name for other in others for above in (other, *other.parent_recursive))
        if others and (self._is_moved or not self._told.isdisjoint(line)):
            pose = self._posed[pose_bone.name] = self.pose_with(pose_bone, pose_bone.matrix_basis)
            return pose
        line = [pose_bone, *pose_bone.parent_recursive]
        known_at = next((k for k, above in enumerate(line) if above.name in self._posed), None)
        if known_at is None:
            # Above the topmost that was told all is as it was evaluated.
            known_at = 1 + max((k for k, above in enumerate(line) if above.name in self._told), default=-1)
        if not known_at:
            return self._as_evaluated(pose_bone).copy()
        above = line[known_at] if known_at < len(line) else None
        parent_pose = above and self._posed.get(above.name, self._as_evaluated(above))
        for below in reversed(line[:known_at]):
            parent_pose = self._posed[below.name] = self._posed_under(below, parent_pose)
        return self._posed[pose_bone.name]

    def _as_evaluated(self, pose_bone: bpy.types.PoseBone) -> Matrix:
        if not self._is_moved:
            return pose_bone.matrix
        way = self.way(pose_bone)
        return way @ posed_by_channels(pose_bone) if way else posed_by_channels(pose_bone)

    def way(self, pose_bone: bpy.types.PoseBone) -> Matrix | None:
        """How far bones take another one from where its channels put it; None: it goes along with none."""
        shares = shares_of(pose_bone)
        return self.way_with(shares) if shares else None

    def way_with(self, shares: Shares) -> Matrix:
        """How far these bones would take another one."""
        return Matrix(way_along(self.ob.data.bones, shares, lambda name: array_of(self.pose_of(self.tip(name)))))

    def pose_with(self, pose_bone: bpy.types.PoseBone, basis: Matrix) -> Matrix:
        """Where a control bone is if its channels make this."""
        pose, way = pose_matrix(pose_bone.bone, basis, self.parent_pose(pose_bone)), self.way(pose_bone)
        return way @ pose if way else pose

    def _posed_under(self, pose_bone: bpy.types.PoseBone, parent_pose: Matrix | None) -> Matrix:
        """The pose matrix of an evaluated bone under that of its parent, with what it was told itself."""
        name, parent = pose_bone.name, pose_bone.parent
        if name in self._rotations:
            location = Vector() if pose_bone.bone.use_connect else pose_bone.location
            basis = Matrix.LocRotScale(location, self._rotations[name], self._scales.get(name, pose_bone.scale))
            return pose_matrix(pose_bone.bone, basis, parent_pose)
        if any(constraint.enabled for constraint in pose_bone.constraints):
            # What the constraint does is unknown here: let the bone ride as it was evaluated.
            carry = parent_pose @ parent.matrix.inverted_safe() if parent and parent_pose else Matrix()
            return carry @ pose_bone.matrix @ self._regrown(pose_bone)
        basis = pose_bone.matrix_basis @ self._regrown(pose_bone)
        basis.translation = self._locations.get(name, basis.translation)
        return pose_matrix(pose_bone.bone, basis, parent_pose)

    def _regrown(self, pose_bone: bpy.types.PoseBone) -> Matrix:
        """From the scale with which a bone was evaluated to the one that it gets in this pass."""
        told = self._scales.get(pose_bone.name)
        if told is None:
            return Matrix()
        ratios = (new / old if old else 1.0 for new, old in zip(told, pose_bone.scale, strict=True))
        return Matrix.Diagonal((*ratios, 1.0))

    def moved(self, name: str) -> Matrix | None:
        """How far this pass moved a bone from where it was evaluated, in armature space; None: not at all."""
        pose_bone = self.evaluated.pose.bones.get(name) if self._told else None
        if pose_bone is None:
            return None
        posed = self.pose_of(pose_bone)
        return posed @ pose_bone.matrix.inverted_safe() if pose_bone.name in self._posed else None

    def parent_pose(self, pose_bone: bpy.types.PoseBone) -> Matrix | None:
        return self.pose_of(pose_bone.parent) if pose_bone.parent else None

    def limb(self, tip_name: str, settings: Settings | None = None) -> Limb:
        """Read a chain. settings: others than it has.

        Raises ChainError that names the bone, what is wrong with it and what cures it.
        """
        tip = self.tip(tip_name)
        settings = without_gone_pole(settings or settings_of(tip))
        try:
            _check_settings(tip, settings)
            chain = chain_bones(tip, settings.chain_count)
            check_targets(self.ob, chain, settings)
            bones, ends = self.links(chain), end_bones(tip, settings)
            controls = (settings.target, settings.subtarget), (settings.pole_target, settings.pole_subtarget)
            wishes = self.wishes([each for each in controls if each[0] is not None], turned=bool(ends))
            roles = ("target", wishes.target, settings.target), ("pole target", wishes.pole, settings.pole_target)
            for role, point, control in roles:
                if point is not None and control is not None and not all(map(isfinite, point)):
                    raise ChainError(messages.CONTROL_NO_NUMBER(role=role, control=control.name), _KINDS[role][0])
            target, held, placed = wishes.target, None, ()
            if wishes.orientation is not None:
                held = held_rotation(tip, ends[0], settings)
                riding, standing = self.riding(ends, bones), wishes.orientation @ held
                target, placed = place_foot(riding, target, standing, settings.foot_roll, settings.toe_angle)
            parent_pose = self.parent_pose(chain[0])
            return Limb(
                tip=tip_name,
                settings=settings,
                solver=solver_for(len(bones), settings.solver),
                world=self.world,
                bones=bones,
                chain=fk_chain(bones, parent_pose),
                parent_pose=parent_pose,
                target_armature=target,
                pole_armature=wishes.pole,
                ends=placed,
                held=held,
            )
        except ChainError as error:
            raise error.of(messages.BONE(bone=tip_name)) from error

    def _check_size(self) -> None:
        if not self.world.determinant():
            raise ChainError(messages.ARMATURE_WITHOUT_SIZE(armature=self.ob.name))

    def wishes(self, controls: Iterable[Node], turned: bool, parent: str = "") -> Wishes:
        """Where a chain shall go, in the space of a bone, "": in armature space. turned: its foot follows the target.

        controls: target, and pole if it has one. Raises UnevenError where that bone is scaled unevenly.
        """
        target, *poles = [self.control(*each, parent) for each in controls]
        at_pole = poles[0].to_translation() if poles else None
        return Wishes(target.to_translation(), at_pole, rotation_in(target) if turned else None)

    def control(self, control: bpy.types.Object, bone: str, parent: str = "") -> Matrix:
        """Where a control is, in the space of a bone, "": in armature space."""
        if parent not in self._spaces:
            self._spaces[parent] = self._into(parent)
        from_armature, from_world = self._spaces[parent]
        if not bone:
            return from_world @ self._scene.world_of(control)
        carrier = self._scene.armature(control)
        pose = carrier.pose_of(carrier.tip(bone))
        return from_armature @ pose if carrier is self else from_world @ carrier.world @ pose

    def _into(self, parent: str) -> tuple[Matrix, Matrix]:
        """From armature space, and from the world, into the space of a bone."""
        if not parent:
            return Matrix(), self.world.inverted_safe()
        self._check_size()
        pose = self.pose_of(self.tip(parent))
        if not is_even(pose):
            raise UnevenError(messages.PARENT_UNEVEN(bone=parent))
        return pose.inverted_safe(), (self.world @ pose).inverted_safe()

    def links(self, chain: Sequence[bpy.types.PoseBone]) -> tuple[BoneReading, ...]:
        """Read a chain's evaluated bones in their FK pose, root first, as its links.

        Raises ChainError if the armature has no size.
        """
        self._check_size()
        links: list[list[BoneReading]] = []
        parent_pose = self.parent_pose(chain[0])
        for pose_bone in chain:
            reading = self._reading(pose_bone, parent_pose, self.scale_of(pose_bone))
            parent_pose = reading.pose_armature
            if links and is_rigid(pose_bone):
                links[-1].append(reading)
            else:
                links.append([reading])
        return tuple(replace(first, segments=tuple(segments)) for first, *segments in links)

    def riding(self, ends: Iterable[bpy.types.PoseBone], links: Sequence[BoneReading]) -> tuple[BoneReading, ...]:
        """Read bones on a chain's end, one below the other, in their FK pose below that of its tip."""
        readings, parent_pose = [], links[-1].last_pose(links[-1].pose_armature)
        for pose_bone in ends:
            # What the chain itself makes of their scale is none of theirs.
            readings.append(self._reading(pose_bone, parent_pose, Vector(self.fk.scale(pose_bone.name))))
            parent_pose = readings[-1].pose_armature
        return tuple(readings)

    def _reading(self, pose_bone: bpy.types.PoseBone, parent_pose: Matrix | None, scale: Vector) -> BoneReading:
        original = self.ob.pose.bones[pose_bone.name]
        mode, numbers = self.fk.rotation(pose_bone.name)
        fk_rotation, bone = quaternion_of(numbers, mode), original.bone
        location = Vector() if bone.use_connect else pose_bone.location.copy()
        pose = pose_matrix(bone, Matrix.LocRotScale(location, fk_rotation, scale), parent_pose)
        return BoneReading(original, bone, mode, numbers, fk_rotation, location, scale, pose, limits_of(pose_bone))

    def present_rotation(self, tip: bpy.types.PoseBone) -> Quaternion | None:
        """How the bone on a chain's end stands against its target as it rides on the tip; None: there is none of them.

        tip: an evaluated bone.
        """
        settings, end = settings_of(tip), end_bone(tip)
        if end is None or settings.target is None:
            return None
        try:
            check_targets(self.ob, chain_bones(tip, settings.chain_count), settings)
            riding = self._reading(end, self.pose_of(tip), end.scale)
            return self.target_rotation(settings).inverted() @ riding.orientation(riding.pose_armature)
        except ChainError:
            return None

    def target_rotation(self, settings: Settings) -> Quaternion:
        """How the target is turned, in armature space."""
        assert settings.target is not None
        return rotation_in(self.control(settings.target, settings.subtarget))


def keep_rotation(pose_bone: bpy.types.PoseBone, context: bpy.types.Context) -> None:
    """Keep how the bone on a chain's end stands against its target, when a user or a script switches that on.

    Where there is no target yet, or no end bone, nothing is kept.
    """
    kept = pose_bone.analytic_ik_record_rotation
    if not pose_bone.analytic_ik_use_rotation:
        # Keys that switch it on at other frames hold on to what is kept.
        path = f"{pose_bone.path_from_id()}.analytic_ik_use_rotation"
        if path not in animated_paths(pose_bone.id_data):
            pose_bone.analytic_ik_record_rotation = (0.0, 0.0, 0.0, 0.0)
    elif not any(kept):
        depsgraph = context.evaluated_depsgraph_get()
        reader = SceneReader(depsgraph).armature(pose_bone.id_data)
        present = reader.present_rotation(reader.tip(pose_bone.name))
        if present is not None:
            pose_bone.analytic_ik_record_rotation = Quaternion(present)
    tag_pose(pose_bone.id_data)


register, unregister = partial(settings.register, keep_rotation), settings.unregister
"""Give pose bones their settings, and take them away."""
