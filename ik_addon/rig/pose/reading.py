"""From pose bones and targets to plain numbers in armature space, and what is wrong where that cannot be done."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from math import isfinite

import bpy
from mathutils import Matrix, Quaternion, Vector

from ... import messages
from ...solvers import ChainError, Kind, solver_for
from ..blender.animation import animated_paths
from ..blender.armatures import tag_pose
from ..blender.dependencies import carriers
from ..blender.rotations import pose_matrix, quaternion_of, rotation_in
from ..blender.sampling import numbers_at
from ..data import settings
from ..data.relation import in_any_collection, place_of
from ..data.settings import NUMBERS, PREFIX, Settings, path_of, settings_of
from ..model.foot import end_bone, end_bones, place_foot
from ..model.limb import BoneReading, Limb, chain_bones, fk_chain, given_factor, is_rigid, limits_of
from .posing import FkPose

_KINDS = {"target": (Kind.TARGET, Kind.TARGET_DELETED), "pole target": (Kind.POLE, Kind.POLE_DELETED)}
"""By the role of a control the kinds of what may be wrong with it, and of its being deleted."""


def check_end(tip: bpy.types.PoseBone) -> None:
    """Raise ChainError if a tip names an end bone that its armature does not have."""
    name = tip.analytic_ik_end_bone
    if name and name not in tip.id_data.pose.bones:
        raise ChainError(messages.WITHOUT_END_BONE(end=name), Kind.END_BONE)


class SceneReader:
    """The armatures of one evaluated scene, for the length of one pass.

    depsgraph: what evaluated the scene. frame_changed: see FkPose. What was posed in the pass, and what hangs on it,
    is read as it will be, not as it was evaluated.
    """

    def __init__(self, depsgraph: bpy.types.Depsgraph, frame_changed: bool = False) -> None:
        self.depsgraph = depsgraph
        self._frame_changed = frame_changed
        self._armatures: dict[str, ArmatureReader] = {}

    def armature(self, ob: bpy.types.Object) -> "ArmatureReader":
        """The reader of an armature object."""
        reader = self._armatures.get(ob.name_full)
        if reader is None:
            reader = self._armatures[ob.name_full] = ArmatureReader(self, ob.original, self._frame_changed)
        return reader

    def world_of(self, ob: bpy.types.Object) -> Matrix:
        """Where an object is in the world."""
        world = place_of(ob, "", self.depsgraph)[0].copy()
        carry = self._carry(ob.original)
        return world if carry is None else carry @ world

    def _carry(self, original: bpy.types.Object) -> Matrix | None:
        """How far this pass moved an object from where it was evaluated; None: not at all."""
        if not self._armatures:
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

    def __init__(self, scene: SceneReader, ob: bpy.types.Object, frame_changed: bool) -> None:
        self.ob = ob
        self.evaluated = ob.evaluated_get(scene.depsgraph)
        self._scene = scene
        self.fk = FkPose(ob, scene.depsgraph.scene, self.evaluated if frame_changed else None)
        self._posed: dict[str, Matrix] = {}
        self._rotations: dict[str, Quaternion] = {}
        self._scales: dict[str, Vector] = {}
        self._locations: dict[str, Vector] = {}
        self._told: set[str] = set()

    @cached_property
    def world(self) -> Matrix:
        """Where the armature object is; first asked for when what carries it has been posed."""
        return self._scene.world_of(self.ob)

    @cached_property
    def _world_inverse(self) -> Matrix:
        return self.world.inverted_safe()

    def tip(self, name: str) -> bpy.types.PoseBone:
        """The tip bone of a chain, as animated and driven."""
        return self.evaluated.pose.bones[name]

    def scale_of(self, pose_bone: bpy.types.PoseBone) -> Vector:
        """The scale of an evaluated bone before its own chain lengthens it: its FK scale, with what the chain gives it
        on whose end it hangs."""
        told = self._scales.get(pose_bone.name)
        if told is not None:
            return told
        return Vector(self.fk.scale(pose_bone.name)) * given_factor(pose_bone, self.fk.scale)

    def pose(self, name: str, matrix_armature: Matrix) -> None:
        """Tell where a bone is posed in this pass."""
        self._posed[name] = matrix_armature
        self._told.add(name)

    @contextmanager
    def supposing(self, name: str, matrix_armature: Matrix) -> Iterator[None]:
        """Inside, a bone is posed so, and what hangs on it goes with it; afterwards nothing is known of that."""
        posed, told = self._posed.copy(), self._told.copy()
        self.pose(name, matrix_armature)
        try:
            yield
        finally:
            self._posed, self._told = posed, told

    def turn(self, name: str, rotation: Quaternion) -> None:
        """Tell which local rotation a bone gets in this pass, wherever its parent will be."""
        self._rotations[name] = rotation
        self._told.add(name)

    def place(self, name: str, location: Vector) -> None:
        """Tell which local location a bone gets in this pass, wherever its parent will be."""
        self._locations[name] = location
        self._told.add(name)

    def rescale(self, name: str, scale: Vector) -> None:
        """Tell which scale a bone gets in this pass."""
        self._scales[name] = scale
        self._told.add(name)

    def pose_of(self, pose_bone: bpy.types.PoseBone) -> Matrix:
        """The pose matrix of an evaluated bone, with all that was posed in this pass."""
        known = self._posed.get(pose_bone.name)
        if known is not None:
            return known
        if not self._told:
            return pose_bone.matrix.copy()
        line = [pose_bone, *pose_bone.parent_recursive]
        known_at = next((k for k, above in enumerate(line) if above.name in self._posed), None)
        if known_at is None:
            # Above the topmost that was told all is as it was evaluated.
            known_at = 1 + max((k for k, above in enumerate(line) if above.name in self._told), default=-1)
        if not known_at:
            return pose_bone.matrix.copy()
        above = line[known_at] if known_at < len(line) else None
        parent_pose = above and self._posed.get(above.name, above.matrix)
        for below in reversed(line[:known_at]):
            parent_pose = self._posed[below.name] = self._posed_under(below, parent_pose)
        return self._posed[pose_bone.name]

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
        """The pose matrix of an evaluated bone's parent; None without one."""
        return self.pose_of(pose_bone.parent) if pose_bone.parent else None

    def limb(self, tip_name: str, settings: Settings | None = None) -> Limb:
        """Read a chain. settings: others than it has.

        Raises ChainError that names the bone, what is wrong with it and what cures it.
        """
        tip = self.tip(tip_name)
        settings = settings or settings_of(tip)
        if gone_pole(settings) is not None:
            # As Blender's own IK: the chain goes on without it, and the panel says so.
            settings = replace(settings, pole_target=None, pole_subtarget="")
        try:
            check_numbers(tip, settings)
            check_end(tip)
            chain = chain_bones(tip, settings.chain_count)
            check_targets(self.ob, chain, settings)
            parent_pose = self.parent_pose(chain[0])
            bones, ends = self.links(chain), end_bones(tip, settings)
            solver = solver_for(len(bones), settings.solver)
            riding = self.riding(ends, bones[-1].last_pose(bones[-1].pose_armature))
            target_armature, placed = self._point(settings.target, settings.subtarget, "target"), ()
            held = _held_rotation(tip, ends[0], settings) if ends else None
            if held is not None:
                target_armature, placed = place_foot(
                    riding,
                    target_armature,
                    self.target_rotation(settings) @ held,
                    settings.foot_roll,
                    settings.toe_angle,
                )
            return Limb(
                tip=tip_name,
                settings=settings,
                solver=solver,
                world=self.world,
                bones=bones,
                chain=fk_chain(bones, parent_pose),
                parent_pose=parent_pose,
                target_armature=target_armature,
                pole_armature=self._point(settings.pole_target, settings.pole_subtarget, "pole target")
                if settings.pole_target
                else None,
                ends=placed,
                held=held,
            )
        except ChainError as error:
            raise error.of(messages.BONE(bone=tip_name)) from error

    def links(self, chain: Sequence[bpy.types.PoseBone]) -> tuple[BoneReading, ...]:
        """Read a chain's evaluated bones in their FK pose, root first, as its links.

        Raises ChainError if the armature has no size.
        """
        if not self.world.determinant():
            raise ChainError(messages.ARMATURE_WITHOUT_SIZE(armature=self.ob.name))
        return read_links(self.fk, chain, self.parent_pose(chain[0]), self.scale_of)

    def riding(self, ends: Iterable[bpy.types.PoseBone], parent_pose: Matrix) -> tuple[BoneReading, ...]:
        """See `read_riding`; of evaluated bones."""
        return read_riding(self.fk, ends, parent_pose)

    def present_rotation(self, tip: bpy.types.PoseBone) -> Quaternion | None:
        """How the bone on a chain's end stands against its target as it rides on the tip; None: there is none of them.

        tip: an evaluated bone.
        """
        settings, end = settings_of(tip), end_bone(tip)
        if end is None or settings.target is None:
            return None
        try:
            check_targets(self.ob, chain_bones(tip, settings.chain_count), settings)
            riding = _reading(self.fk, end, self.pose_of(tip), end.scale)
            return self.target_rotation(settings).inverted() @ riding.orientation(riding.pose_armature)
        except ChainError:
            return None

    def _place(self, ob: bpy.types.Object, bone_name: str) -> Matrix:
        """Where a target or pole is, in armature space."""
        if not bone_name:
            return self._world_inverse @ self._scene.world_of(ob)
        carrier = self._scene.armature(ob)
        pose = carrier.pose_of(carrier.evaluated.pose.bones[bone_name])
        return pose if carrier is self else self._world_inverse @ carrier.world @ pose

    def target_rotation(self, settings: Settings) -> Quaternion:
        """How the target is turned, in armature space."""
        assert settings.target is not None
        return rotation_in(self._place(settings.target, settings.subtarget))

    def _point(self, ob: bpy.types.Object, bone_name: str, role: str) -> Vector:
        """The point that a target or pole is, in armature space."""
        point = self._place(ob, bone_name).to_translation()
        if not all(map(isfinite, point)):
            raise ChainError(messages.CONTROL_NO_NUMBER(role=role, control=ob.name), _KINDS[role][0])
        return point


def read_links(
    fk: FkPose,
    chain: Sequence[bpy.types.PoseBone],
    parent_pose: Matrix | None,
    scale_of: Callable[[bpy.types.PoseBone], Vector],
) -> tuple[BoneReading, ...]:
    """A chain's bones in their FK pose, root first, as its links. parent_pose: of the root's parent, in the space in
    which they are read. scale_of: their scales."""
    links: list[list[BoneReading]] = []
    for pose_bone in chain:
        reading = _reading(fk, pose_bone, parent_pose, scale_of(pose_bone))
        parent_pose = reading.pose_armature
        if links and is_rigid(pose_bone):
            links[-1].append(reading)
        else:
            links.append([reading])
    return tuple(replace(first, segments=tuple(segments)) for first, *segments in links)


def read_riding(fk: FkPose, ends: Iterable[bpy.types.PoseBone], parent_pose: Matrix) -> tuple[BoneReading, ...]:
    """Bones on a chain's end, one below the other, in their FK pose below that of its tip."""
    readings = []
    for pose_bone in ends:
        # What the chain itself makes of their scale is none of theirs.
        reading = _reading(fk, pose_bone, parent_pose, Vector(fk.scale(pose_bone.name)))
        readings.append(reading)
        parent_pose = reading.pose_armature
    return tuple(readings)


def _reading(fk: FkPose, pose_bone: bpy.types.PoseBone, parent_pose: Matrix | None, scale: Vector) -> BoneReading:
    original = fk.original(pose_bone.name)
    mode, numbers = fk.rotation(pose_bone.name)
    fk_rotation, bone = quaternion_of(numbers, mode), original.bone
    location = Vector() if bone.use_connect else pose_bone.location.copy()
    pose = pose_matrix(bone, Matrix.LocRotScale(location, fk_rotation, scale), parent_pose)
    return BoneReading(original, bone, mode, numbers, fk_rotation, location, scale, pose, limits_of(pose_bone))


def _held_rotation(tip: bpy.types.PoseBone, end: bpy.types.PoseBone, settings: Settings) -> Quaternion:
    """How a chain's end bone stands against its target: as kept; else a target at rest leaves it at rest."""
    held = Quaternion(tip.analytic_ik_record_rotation)
    if held.magnitude:
        return held.normalized()
    rest = rotation_in(end.bone.matrix_local)
    if not settings.subtarget:
        return rest
    return rotation_in(settings.target.data.bones[settings.subtarget].matrix_local).inverted() @ rest


def still_limb(tip: bpy.types.PoseBone, settings: Settings, fk: FkPose, ends: Sequence[bpy.types.PoseBone]) -> Limb:
    """The chain of an original tip as its channels are, with no goal, in the space of its root's parent.

    Target and pole are at the origin of their spaces: its end is where a target there would have it, and the `ends`,
    bones on it, are as one would turn them that is not turned. Raises ChainError that says what is wrong with it.
    """
    chain = chain_bones(tip, settings.chain_count)
    parent_pose = Matrix() if chain[0].parent else None
    bones = read_links(fk, chain, parent_pose, lambda bone: Vector(fk.scale(bone.name)))
    held, end, placed = None, Vector(), ()
    if ends:
        held = _held_rotation(tip, ends[0], settings)
        riding = read_riding(fk, ends, bones[-1].last_pose(bones[-1].pose_armature))
        end, placed = place_foot(riding, end, held, settings.foot_roll, settings.toe_angle)
    return Limb(
        tip=tip.name,
        settings=settings,
        solver=solver_for(len(bones), settings.solver),
        world=Matrix(),
        bones=bones,
        chain=fk_chain(bones, parent_pose),
        parent_pose=parent_pose,
        target_armature=end,
        pole_armature=None,
        ends=placed,
        held=held,
    )


def keyed_now(
    scene: bpy.types.Scene, bone: bpy.types.PoseBone, names: Iterable[str], ranges: Mapping[str, tuple[float, float]]
) -> dict[str, float]:
    """Settings of an original bone as F-Curves set them at a scene's frame. ranges: of those that have one."""
    found = {}
    for name in names:
        value = numbers_at(scene, bone.id_data, path_of(bone, name), [getattr(bone, PREFIX + name)])[0]
        lowest, highest = ranges.get(name, (value, value))
        found[name] = min(max(value, lowest), highest)
    return found


def check_numbers(tip: bpy.types.PoseBone, settings: Settings) -> None:
    """Raise ChainError where a setting is not a number, as a script or a driver may have left it."""
    for name in NUMBERS:
        if not isfinite(getattr(settings, name)):
            label = tip.bl_rna.properties[PREFIX + name].name
            raise ChainError(messages.SETTING_NO_NUMBER(setting=label))


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


def register() -> None:
    """Give pose bones their settings."""
    settings.register(rotation_switched=keep_rotation)


def unregister() -> None:
    """Take them away."""
    settings.unregister()
