"""Every chain read whole, solved and turned by matrices: an oracle with a reader and an executor of its own.

It is what the add-on did before one model served one frame and many. Shared are the solvers and what only names bones.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ik_addon import messages
from ik_addon.rig.blender.armatures import posed_armatures
from ik_addon.rig.blender.rotations import LOCATION, Raw, pose_matrix, quaternion_of, raw_of, rotation_in
from ik_addon.rig.data.relation import place_of
from ik_addon.rig.data.settings import Settings, body_settings_of, goal_values, settings_of
from ik_addon.rig.model.foot import end_bones, heel_and_axis, rolled
from ik_addon.rig.model.limb import (
    STRAIGHT_AXES,
    BoneLimits,
    chain_bones,
    end_in_tip,
    factors,
    free_axis,
    given_factor,
    is_rigid,
    limited_chain,
    limits_of,
)
from ik_addon.rig.model.order import ChainName, KnownOrders
from ik_addon.rig.pose.following import Hold, body_shift
from ik_addon.rig.pose.posing import FkPose
from ik_addon.solvers import Chain, ChainError, Goal, Outcome, blend, link_rotations, solve, solver_for
from ik_addon.solvers.bending import start_frame
from ik_addon.solvers.limited import legal_reach

_UNEVEN_SCALE_PASSES = 48
_WITHOUT_GAIN = 8
_STRAYED = 2e-6


def solved_now() -> dict[ChainName, "PosedLimb"]:
    """What the live chains of the scene come to as it is evaluated, those that cannot be solved left out.

    Where a constraint lies between two chains, the scene must already show what it makes of the first.
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    order = KnownOrders().of(ob.evaluated_get(depsgraph) for ob in posed_armatures(depsgraph))
    objects = {ob.name_full: ob for ob in posed_armatures(depsgraph)}
    scene, found = SceneReader(depsgraph), {}
    for chain in order.steps:
        reader = scene.armature(objects[chain.armature])
        try:
            if chain in order.limbs:
                follow(reader, chain.tip, [limb.tip for limb in order.limbs[chain]])
            else:
                found[chain] = posed = solve_limb(reader.limb(chain.tip))
                tell(reader, posed)
        except ChainError:
            continue
    return found


@dataclass(frozen=True, slots=True)
class BoneReading:
    """One link of a chain: a bone, and the bones behind it that are rigid with it.

    pose_bone, bone: of the original armature, for what is not animated.
    mode: its rotation mode.
    fk, fk_rotation: its FK rotation, as channel numbers and as a local quaternion.
    location, scale: its local channels, the scale before this chain is lengthened.
    pose_armature: its pose matrix in the FK pose, in armature space.
    limits: of its joint, None if it is free.
    segments: the bones behind it that keep their FK rotation, such as a thigh's twist bones (`is_rigid`).
    """

    pose_bone: bpy.types.PoseBone
    bone: bpy.types.Bone
    mode: str
    fk: Raw
    fk_rotation: Quaternion
    location: Vector
    scale: Vector
    pose_armature: Matrix
    limits: BoneLimits | None = None
    segments: tuple["BoneReading", ...] = ()

    @property
    def name(self) -> str:
        return self.bone.name

    @property
    def last(self) -> "BoneReading":
        """The last bone of the link."""
        return self.segments[-1] if self.segments else self

    def last_pose(self, pose_armature: Matrix) -> Matrix:
        """The pose matrix of the link's last bone for a pose matrix of its first, in armature space."""
        for segment in self.segments:
            pose_armature = segment.posed(segment.fk_rotation, pose_armature)
        return pose_armature

    def end_of(self, pose_armature: Matrix) -> Vector:
        """Where a chain with this last link ends for a pose matrix of the link's first bone, in armature space."""
        return self.last_pose(pose_armature) @ end_in_tip(self.last.pose_bone)

    def posed(self, rotation: Quaternion, parent_pose: Matrix | None, scale: Vector | None = None) -> Matrix:
        """The bone's pose matrix in armature space for a local rotation, its parent's pose matrix and a local scale."""
        basis = Matrix.LocRotScale(self.location, rotation, self.scale if scale is None else scale)
        return pose_matrix(self.bone, basis, parent_pose)

    def local_rotation(self, pose_armature: Matrix, parent_pose: Matrix | None) -> Quaternion:
        """The local rotation that gives the bone an orientation: the inverse of `posed`."""
        return self.orientation(pose_matrix(self.bone, pose_armature, parent_pose, invert=True))

    def orientation(self, matrix: Matrix) -> Quaternion:
        """The rotation in a matrix of the bone, which holds its scale as well: see `rotation_in`."""
        return rotation_in(matrix, self.scale)


@dataclass(frozen=True, slots=True)
class EndBone:
    """A bone that rides on a chain's end and is turned to an orientation in armature space."""

    reading: BoneReading
    orientation: Quaternion

    def local_rotation(self, parent_pose: Matrix) -> Quaternion:
        """The local rotation that gives it its orientation under its parent's pose."""
        fk_pose = self.reading.pose_armature
        turn = self.orientation @ self.reading.orientation(fk_pose).inverted()
        return self.reading.local_rotation(turn.to_matrix().to_4x4() @ fk_pose, parent_pose)


@dataclass(frozen=True, slots=True)
class Limb:
    """All that solving a chain needs. Points and matrices in armature space.

    bones: the chain's links, from root to tip.

    world: the armature object's matrix. parent_pose: pose matrix of the root bone's parent, as posed in this pass.
    chain: the FK pose relative to the root's head, where single precision is finest. target_armature: where the
    chain's end goes, foot roll included. ends: foot and toe, if they follow the target's orientation.
    """

    tip: str
    settings: Settings
    solver: str
    world: Matrix
    bones: tuple[BoneReading, ...]
    chain: Chain
    parent_pose: Matrix | None
    target_armature: Vector
    pole_armature: Vector | None
    ends: tuple[EndBone, ...] = ()

    @property
    def turned(self) -> tuple[BoneReading, ...]:
        """All bones whose rotation the chain sets: the first of each link, then those on its end."""
        return (*self.bones, *(end.reading for end in self.ends))

    @property
    def root_armature(self) -> Vector:
        """Where the root's head is."""
        return self.bones[0].pose_armature.to_translation()

    def joints(self, poses_armature: Sequence[Matrix]) -> list[Vector]:
        """Joints for pose matrices of the chain's links, in armature space, root first."""
        return joints(self.bones, poses_armature)

    def end_of(self, poses_armature: Sequence[Matrix]) -> Vector:
        """Where the chain ends for pose matrices of its links, in armature space."""
        return self.bones[-1].end_of(poses_armature[-1])


def joints(readings: Sequence[BoneReading], poses_armature: Sequence[Matrix]) -> list[Vector]:
    """Joints of a chain from the pose matrices of its links, in armature space: their heads, then the chain's end."""
    return [*(pose.to_translation() for pose in poses_armature), readings[-1].end_of(poses_armature[-1])]


def fk_joints(readings: Sequence[BoneReading]) -> list[Vector]:
    """Joints of a chain in its FK pose, in armature space: heads of its links, then its end."""
    return joints(readings, [reading.pose_armature for reading in readings])


def hinge_armature(bones: Sequence[BoneReading]) -> Vector:
    """Axis in armature space about which a chain's first inner joint bends positively; bones: root first.

    The axis that the chain's setting states; else that bone's only unlocked IK axis, if it has one, towards the larger
    side of its limits; else the normal of the chain's bend in its rest pose; else the bone's X axis.
    """
    reading, axis = bones[min(1, len(bones) - 1)], _stated_axis(bones)
    if axis is not None:
        return reading.orientation(reading.pose_armature) @ axis
    return reading.pose_armature.to_3x3().normalized() @ _rest_normal(bones)


def _stated_axis(bones: Sequence[BoneReading]) -> Vector | None:
    straight_axis = bones[-1].last.pose_bone.analytic_ik_straight_axis
    return STRAIGHT_AXES.get(straight_axis) or free_axis(bones[min(1, len(bones) - 1)].pose_bone)


def _rest_normal(bones: Sequence[BoneReading]) -> Vector:
    """Normal of the rest pose's bend in the space of the bone behind the first inner joint; else its X axis."""
    tip = bones[-1].last.pose_bone
    rest_bone = bones[min(1, len(bones) - 1)].bone.matrix_local.to_3x3()
    rest_joints = [*(reading.bone.head_local for reading in bones), tip.bone.matrix_local @ end_in_tip(tip)]
    normal_armature = start_frame(Chain(rest_joints, bend_normal=rest_bone.col[0])).normal
    return rest_bone.inverted() @ normal_armature


def fk_chain(readings: Sequence[BoneReading], parent_pose: Matrix | None) -> Chain:
    """The chain in its FK pose, relative to its root; its hinge is asked for where it is straight."""
    points = fk_joints(readings)
    return chain_of(
        readings,
        [point - points[0] for point in points],
        [reading.pose_armature for reading in readings],
        [reading.fk_rotation for reading in readings],
        parent_pose,
        bend_normal=lambda: hinge_armature(readings),
    )


def chain_of(
    readings: Sequence[BoneReading],
    joints: Sequence[Vector],
    poses: Sequence[Matrix],
    rotations: Sequence[Quaternion],
    parent_pose: Matrix | None,
    bend_normal: Vector | Callable[[], Vector],
) -> Chain:
    """The chain of a limb's bones, with their limits, in a pose that it has.

    joints: of the chain, root first; poses: pose matrices of its bones; rotations: their local rotations;
    parent_pose: of the root bone's parent; all in armature space but for the rotations, which are local, and the
    joints, which may count from the root. Raises ChainError that names the bone whose limits are none.
    """
    if all(reading.limits is None for reading in readings):
        return Chain(joints, bend_normal=bend_normal)
    orientations, own, before = [], [], parent_pose
    for reading, pose, rotation in zip(readings, poses, rotations, strict=True):
        orientations.append(reading.orientation(pose))
        own.append(_joint_rotation(reading, orientations[-1], rotation, before) if reading.limits else rotation)
        before = reading.last_pose(pose)
    return limited_chain(
        [reading.name for reading in readings],
        [reading.limits for reading in readings],
        joints,
        orientations,
        own,
        parent_pose.col[1].to_3d() if parent_pose else None,
        bend_normal,
    )


def _joint_rotation(
    reading: BoneReading, orientation: Quaternion, rotation: Quaternion, parent_pose: Matrix | None
) -> Quaternion:
    """How a bone's joint is turned from its rest pose: as the bone itself, where it inherits its parent's rotation.

    Where it does not, what it is turned against its parent: that is what Blender's own IK limits.
    """
    bone = reading.bone
    if bone.use_inherit_rotation or bone.parent is None or parent_pose is None:
        return rotation
    parent = parent_pose.to_3x3()
    if parent.determinant() < 0.0:
        parent *= -1.0
    rest = bone.parent.matrix_local.to_3x3().inverted() @ bone.matrix_local.to_3x3()
    return (parent.normalized() @ rest).to_quaternion().inverted() @ orientation


def place_foot(
    readings: tuple[BoneReading, ...],
    ankle_armature: Vector,
    orientation: Quaternion,
    roll: float,
    toe_angle: float,
) -> tuple[Vector, tuple[EndBone, ...]]:
    """Where the ankle goes, and how foot and toe stand, for the foot's place before it rolls.

    readings: of the foot, and of its toe if it has one. roll, toe_angle: radians; see the settings. The toe stays on
    the ground while the foot rolls over the ball. All in armature space.
    """
    foot, toe = readings[0], readings[1] if len(readings) > 1 else None
    if not roll:
        return ankle_armature, (EndBone(foot, orientation),)
    turn = orientation @ foot.orientation(foot.pose_armature).inverted()
    foot_pose = turn.to_matrix().to_4x4() @ foot.pose_armature
    foot_pose.translation = ankle_armature
    end, end_pose = foot, foot_pose
    if toe is not None:
        end, end_pose = toe, toe.posed(toe.fk_rotation, foot_pose)
    tip_armature = end_pose @ Vector((0.0, end.bone.length, 0.0))
    ball_armature = end_pose.to_translation() if toe else tip_armature
    heel, axis = heel_and_axis(foot.pose_bone)
    heel = Matrix.Diagonal(foot.pose_armature.to_scale()) @ heel
    to_own = orientation.inverted()
    tip, ball = (to_own @ (point - ankle_armature) for point in (tip_armature, ball_armature))
    before, axis, heel, tip, ball, roll_row, toe_row = (
        np.array([each])
        for each in ((*ankle_armature, *orientation), orientation @ axis, heel, tip, ball, roll, toe_angle)
    )
    (ankles, orientations), standing = rolled(
        (before[:, :3], before[:, 3:]), axis, (heel, tip, ball), roll_row, toe_row
    )
    ends = [EndBone(foot, Quaternion(orientations[0]))]
    if toe is not None:
        ends.append(EndBone(toe, Quaternion(standing[0]) @ to_own @ toe.orientation(end_pose)))
    return Vector(ankles[0]), tuple(ends)


class SceneReader:
    """The armatures of one evaluated scene, for the length of one pass.

    depsgraph: what evaluated the scene. What was posed in the pass, and what hangs on it, is read as it will be, not as
    it was evaluated.
    """

    def __init__(self, depsgraph: bpy.types.Depsgraph) -> None:
        self.depsgraph = depsgraph
        self._armatures: dict[str, ArmatureReader] = {}

    def armature(self, ob: bpy.types.Object) -> "ArmatureReader":
        """The reader of an armature object."""
        reader = self._armatures.get(ob.name_full)
        if reader is None:
            reader = self._armatures[ob.name_full] = ArmatureReader(self, ob.original)
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

    def __init__(self, scene: SceneReader, ob: bpy.types.Object) -> None:
        self.ob = ob
        self.evaluated = ob.evaluated_get(scene.depsgraph)
        self._scene = scene
        self.fk = FkPose(ob, scene.depsgraph.scene)
        self._posed: dict[str, Matrix] = {}
        self._rotations: dict[str, Quaternion] = {}
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
            basis = Matrix.LocRotScale(location, self._rotations[name], pose_bone.scale)
            return pose_matrix(pose_bone.bone, basis, parent_pose)
        if any(constraint.enabled for constraint in pose_bone.constraints):
            # What the constraint does is unknown here: let the bone ride as it was evaluated.
            carry = parent_pose @ parent.matrix.inverted_safe() if parent and parent_pose else Matrix()
            return carry @ pose_bone.matrix
        return pose_matrix(pose_bone.bone, pose_bone.matrix_basis, parent_pose)

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
        try:
            chain = chain_bones(tip, settings.chain_count)
            parent_pose = self.parent_pose(chain[0])
            bones, ends = self.links(chain), end_bones(tip, settings)
            solver = solver_for(len(bones), settings.solver)
            riding = self.riding(ends, bones[-1].last_pose(bones[-1].pose_armature))
            target_armature, placed = self._point(settings.target, settings.subtarget), ()
            held = self._held_rotation(tip, ends[0], settings) if ends else None
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
                pole_armature=self._point(settings.pole_target, settings.pole_subtarget)
                if settings.pole_target
                else None,
                ends=placed,
            )
        except ChainError as error:
            raise error.of(messages.BONE(bone=tip_name)) from error

    def links(self, chain: Sequence[bpy.types.PoseBone]) -> tuple[BoneReading, ...]:
        """Read a chain's evaluated bones in their FK pose, root first, as its links.

        Raises ChainError if the armature has no size.
        """
        if not self.world.determinant():
            raise ChainError(messages.ARMATURE_WITHOUT_SIZE(armature=self.ob.name))
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

    def riding(self, ends: Iterable[bpy.types.PoseBone], parent_pose: Matrix) -> tuple[BoneReading, ...]:
        """Read evaluated bones on a chain's end, one below the other, in their FK pose below that of its tip."""
        readings = []
        for pose_bone in ends:
            # What the chain itself makes of their scale is none of theirs.
            reading = self._reading(pose_bone, parent_pose, Vector(self.fk.scale(pose_bone.name)))
            readings.append(reading)
            parent_pose = reading.pose_armature
        return tuple(readings)

    def _reading(self, pose_bone: bpy.types.PoseBone, parent_pose: Matrix | None, scale: Vector) -> BoneReading:
        mode, fk = self.fk.rotation(pose_bone.name)
        fk_rotation = quaternion_of(fk, mode)
        original = self.ob.pose.bones[pose_bone.name]
        bone = original.bone
        location = Vector() if bone.use_connect else pose_bone.location.copy()
        pose = pose_matrix(bone, Matrix.LocRotScale(location, fk_rotation, scale), parent_pose)
        return BoneReading(original, bone, mode, fk, fk_rotation, location, scale, pose, limits_of(pose_bone))

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

    def _held_rotation(self, tip: bpy.types.PoseBone, end: bpy.types.PoseBone, settings: Settings) -> Quaternion:
        """How a chain's end bone stands against its target: as kept; else a target at rest leaves it at rest."""
        held = Quaternion(tip.analytic_ik_record_rotation)
        if held.magnitude:
            return held.normalized()
        rest = rotation_in(end.bone.matrix_local)
        if not settings.subtarget:
            return rest
        return rotation_in(settings.target.data.bones[settings.subtarget].matrix_local).inverted() @ rest

    def _point(self, ob: bpy.types.Object, bone_name: str) -> Vector:
        """The point that a target or pole is, in armature space."""
        return self._place(ob, bone_name).to_translation()


@dataclass(frozen=True, slots=True)
class PosedLimb:
    """A solved chain. rotations: of `limb.turned`, as numbers of each bone's rotation mode.

    poses_armature: the pose matrices of the first bones of the chain's links.
    """

    limb: Limb
    rotations: tuple[Raw, ...]
    poses_armature: tuple[Matrix, ...]


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
    # No influence is the FK pose itself, not what its quaternion rounds to.
    rotations = tuple(raw_rotations) if influence else tuple(reading.fk for reading in limb.turned)
    return PosedLimb(limb, rotations, tuple(poses))


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


def tell(reader: ArmatureReader, posed: PosedLimb) -> None:
    """Tell where a solved chain's bones are posed, to the chains that hang on it."""
    limb = posed.limb
    for reading, pose in zip(limb.bones, posed.poses_armature, strict=True):
        reader.pose(reading.name, pose)
    for end, rotation in zip(limb.ends, posed.rotations[len(limb.bones) :], strict=True):
        reader.turn(end.reading.name, quaternion_of(rotation, end.reading.mode))


def follow(reader: ArmatureReader, name: str, tips: Sequence[str]) -> None:
    """Find where a bone goes, and tell the reader. tips: of the chains that it follows, its limbs.

    Raises ChainError that names the bone where it cannot move. A chain that cannot be read holds nothing.
    """
    pose_bone = reader.tip(name)
    settings, bone = body_settings_of(pose_bone), pose_bone.bone
    parent_pose, location = reader.parent_pose(pose_bone), reader.fk.numbers(name, LOCATION)
    mode, rotation = reader.fk.rotation(name)
    turn, scale = quaternion_of(rotation, mode), reader.scale_of(pose_bone)

    def posed(at: Sequence[float]) -> Matrix:
        return pose_matrix(bone, Matrix.LocRotScale(Vector(at), turn, scale), parent_pose)

    if not settings.influence:
        reader.pose(name, posed(location))
        return
    fk_pose = posed(location)
    with reader.supposing(name, fk_pose):
        holds = [*_holds(reader, tips)]
    shift, _ = body_shift(reader.world, holds, settings)
    if any(shift):
        moved = fk_pose.copy()
        moved.translation += shift
        location = tuple(pose_matrix(bone, moved, parent_pose, invert=True).translation)
    reader.pose(name, posed(location))


def _holds(reader: ArmatureReader, tips: Sequence[str]) -> Iterator[Hold]:
    """The chains of these tips as they are below the bone as the reader supposes it."""
    for tip in tips:
        settings = settings_of(reader.tip(tip))
        if not settings.influence > 0.0:
            continue
        try:
            # The pole may move with the bone, and does not matter here.
            limb = reader.limb(tip, replace(settings, pole_target=None, pole_subtarget=""))
        except ChainError:
            # The chain itself says why.
            continue
        root = limb.root_armature
        yield root, limb.target_armature - root, legal_reach(limb.chain), settings.softness, settings.influence
