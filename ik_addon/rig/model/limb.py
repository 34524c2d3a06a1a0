"""A limb in plain numbers: its bones in their FK pose, its hinge, its limits, its target; and the chain to solve."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import atan2, isfinite, pi, tau

import bpy
from mathutils import Matrix, Quaternion, Vector

from ... import messages
from ...solvers import Chain, ChainError, Hinge, Kind, LimitError, Swing
from ...solvers.bending import start_frame
from ...solvers.vectors import wrapped
from ..blender.rotations import Raw, pose_matrix, rotation_in
from ..data.settings import Settings, may_change

Range = tuple[float, float]

_FREE: Range = (-pi, pi)
_X, _Y = Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0))
AXES = {"x": _X, "z": Vector((0.0, 0.0, 1.0))}
"""Across a bone, in its own space."""
_UNTURNED = Quaternion().freeze()


@dataclass(frozen=True, slots=True)
class BoneLimits:
    """The limits of one bone, as angles in radians from its rest orientation, in its rest frame.

    x, y, z: ranges about its axes; y is its twist. cone: largest angle to the bone before it; None: free. least_bend:
    the smallest such angle of a hinge; None: none.
    """

    x: Range
    y: Range
    z: Range
    cone: float | None
    least_bend: float | None

    @property
    def hinge(self) -> str | None:
        """The one axis about which the bone turns, if the other one across it is locked."""
        if self.x[0] == self.x[1]:
            return "z"
        return "x" if self.z[0] == self.z[1] else None


def limits_of(pose_bone: bpy.types.PoseBone) -> BoneLimits | None:
    """The limits of a bone, as Blender's own IK reads them; None: it is free. Of an evaluated bone: as animated."""
    ranges = [_range(pose_bone, axis) for axis in "xyz"]
    cone = pose_bone.analytic_ik_cone if pose_bone.analytic_ik_use_cone else None
    least_bend = pose_bone.analytic_ik_min_bend if pose_bone.analytic_ik_use_min_bend else None
    if cone is None and ranges == [_FREE, _FREE, _FREE]:
        return None
    x, y, z = ranges
    return BoneLimits(x, y, z, cone, least_bend)


def _range(pose_bone: bpy.types.PoseBone, axis: str) -> Range:
    if getattr(pose_bone, f"lock_ik_{axis}"):
        return 0.0, 0.0
    if not getattr(pose_bone, f"use_ik_limit_{axis}"):
        return _FREE
    lowest, highest = getattr(pose_bone, f"ik_min_{axis}"), getattr(pose_bone, f"ik_max_{axis}")
    return (lowest, highest) if highest - lowest < tau else _FREE


def joint_of(limits: BoneLimits, orientation: Quaternion, rotation: Quaternion) -> tuple[Hinge | None, Swing | None]:
    """A bone's hinge or swing, in the space of its orientation; rotation: what of the orientation is its own."""
    zero = orientation @ rotation.inverted()
    # What the bone twists about itself is no matter of where it points: it keeps its twist, as far as that is legal.
    twist = wrapped(2.0 * atan2(rotation.y, rotation.w))
    kept = min(max(twist, limits.y[0]), limits.y[1])
    rest = zero @ Quaternion(_Y, kept) @ orientation.inverted()
    axis = limits.hinge
    if axis is not None:
        lowest, highest = getattr(limits, axis)
        return Hinge(zero @ AXES[axis], lowest, highest, rest, limits.least_bend), None
    if limits.x == limits.y == limits.z == _FREE:
        return None, None
    free_twist = limits.y == _FREE
    twists = _FREE if free_twist else (limits.y[0] - kept, limits.y[1] - kept)
    return None, Swing(zero @ _X, limits.x, limits.z, twists, rest, zero @ _Y)


INHERITING = {"FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE"}
"""The ways to inherit scale with which a bone grows as its parent does."""


@dataclass(frozen=True, slots=True)
class BoneReading:
    """One link of a chain: a bone, and the bones behind it that are rigid with it.

    pose_bone, bone: of the original armature, for what is not animated. mode: its rotation mode. fk, fk_rotation: its
    FK rotation, as channel numbers and as a local quaternion. location, scale: its local channels, the scale before
    this chain is lengthened. pose_armature: its pose matrix in the FK pose, in armature space. limits: of its joint,
    None if it is free. segments: the bones behind it that keep their FK rotation, such as a thigh's twist bones
    (`is_rigid`). standing: the orientation in armature space to which a bone that rides on a chain's end is turned.
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
    standing: Quaternion = _UNTURNED

    @property
    def name(self) -> str:
        return self.bone.name

    @property
    def last(self) -> "BoneReading":
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
class Wishes:
    """Where a chain shall go: target, pole and the target's orientation, in one space."""

    target: Vector
    pole: Vector | None = None
    orientation: Quaternion | None = None


@dataclass(frozen=True, slots=True)
class Limb:
    """All that solving a chain needs. Points and matrices in armature space.

    bones: the chain's links, from root to tip. world: the armature object's matrix. parent_pose: pose matrix of the
    root bone's parent, as posed in this pass.
    chain: the FK pose relative to the root's head, where single precision is finest. target_armature: where the
    chain's end goes, foot roll included. ends: foot and toe, if they follow the target's orientation; held: how the
    foot stands against it before it rolls.
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
    ends: tuple[BoneReading, ...] = ()
    held: Quaternion | None = None

    @property
    def turned(self) -> tuple[BoneReading, ...]:
        """All bones whose rotation the chain sets: the first of each link, then those on its end."""
        return (*self.bones, *self.ends)

    @property
    def names(self) -> list[str]:
        return [bone.name for link in self.bones for bone in (link, *link.segments)]

    @property
    def root_armature(self) -> Vector:
        return self.bones[0].pose_armature.to_translation()

    def joints(self, poses_armature: Sequence[Matrix]) -> list[Vector]:
        """Joints for pose matrices of the chain's links, in armature space, root first."""
        return [*(pose.to_translation() for pose in poses_armature), self.end_of(poses_armature)]

    def end_of(self, poses_armature: Sequence[Matrix]) -> Vector:
        """Where the chain ends for pose matrices of its links, in armature space."""
        return self.bones[-1].end_of(poses_armature[-1])


def end_in_tip(tip: bpy.types.PoseBone) -> Vector:
    """Where a chain ends, in its tip's rest space: at its end bone's head, else at the tip's tail.

    Between bones the joint is a head: where importers put tails, no joint need be.
    """
    name = tip.analytic_ik_end_bone
    end = tip.id_data.data.bones.get(name) if name else None
    if end is None:
        return Vector((0.0, tip.bone.length, 0.0))
    return tip.bone.matrix_local.inverted_safe() @ end.head_local


def end_world(tip: bpy.types.PoseBone) -> Vector:
    """The end of a chain in world space. tip: its tip bone, evaluated."""
    return tip.id_data.matrix_world @ (tip.matrix @ end_in_tip(tip))


def missed_world(tip: bpy.types.PoseBone, limb: Limb) -> float:
    """Distance from the end of a chain to its target, in world units. tip, limb: of the same evaluation."""
    return (end_world(tip) - limb.world @ limb.target_armature).length


def posed_joints(bones: Sequence[bpy.types.PoseBone]) -> list[Vector]:
    """Joints of a chain's bones as evaluated, in armature space, root first: heads of its links, then its end."""
    points = [bone.head.copy() for bone in link_bones(bones)]
    points.append(bones[-1].matrix @ end_in_tip(bones[-1]))
    return points


def link_bones(bones: Sequence[bpy.types.PoseBone]) -> list[bpy.types.PoseBone]:
    """Of a chain's bones, root first, those that begin a link."""
    return [bone for k, bone in enumerate(bones) if k == 0 or not is_rigid(bone)]


def is_rigid(bone: bpy.types.PoseBone) -> bool:
    """True if chains keep a bone's FK rotation, so that it is one link with the bone before it.

    Bones that are split for twist are rigged so. A bone that does not inherit its parent's rotation cannot be.
    """
    return bone.analytic_ik_rigid and bone.bone.use_inherit_rotation and bone.bone.inherit_scale in INHERITING


def chain_bones(tip: bpy.types.PoseBone, chain_count: int | None = None) -> list[bpy.types.PoseBone]:
    """The bones of a chain from root to tip. Raises ChainError where the armature has too few.

    chain_count: how many there are to be, 0: up to the root, None: as many as the tip's setting says.
    """
    bones, chain_count = [tip], tip.analytic_ik_chain_count if chain_count is None else chain_count
    while bones[-1].parent is not None and len(bones) != chain_count:
        bones.append(bones[-1].parent)
    if chain_count and len(bones) < chain_count:
        raise ChainError(messages.TOO_FEW_BONES(count=len(bones), wanted=chain_count), Kind.BONES)
    return bones[::-1]


def known_bones(tip: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """The bones of a chain from root to tip; [] where the armature has too few."""
    try:
        return chain_bones(tip)
    except ChainError:
        return []


def fk_joints(readings: Sequence[BoneReading]) -> list[Vector]:
    """Joints of a chain in its FK pose, in armature space: heads of its links, then its end."""
    poses = [reading.pose_armature for reading in readings]
    return [*(pose.to_translation() for pose in poses), readings[-1].end_of(poses[-1])]


STRAIGHT_AXES = {"X": AXES["x"], "NEGATIVE_X": -AXES["x"], "Z": AXES["z"], "NEGATIVE_Z": -AXES["z"]}
"""The same by the names of the setting that states them."""


def hinge_armature(bones: Sequence[BoneReading]) -> Vector:
    """Axis in armature space about which a chain's first inner joint bends positively.

    The axis that the chain's setting states; else that bone's only unlocked IK axis, if it has one, towards the larger
    side of its limits; else the normal of the chain's bend in its rest pose; else the bone's X axis.
    """
    reading = bones[min(1, len(bones) - 1)]
    links, tip = [bone.pose_bone for bone in bones], bones[-1].last.pose_bone
    axis = _stated_axis(links, tip)
    if axis is not None:
        return reading.orientation(reading.pose_armature) @ axis
    return reading.pose_armature.to_3x3().normalized() @ _rest_normal(links, tip)


def bend_axis(links: Sequence[bpy.types.PoseBone], tip: bpy.types.PoseBone) -> Vector:
    """The same axis in the space of the bone behind the first inner joint, if that is neither sheared nor mirrored."""
    return _stated_axis(links, tip) or _rest_normal(links, tip)


def _stated_axis(links: Sequence[bpy.types.PoseBone], tip: bpy.types.PoseBone) -> Vector | None:
    return STRAIGHT_AXES.get(tip.analytic_ik_straight_axis) or free_axis(links[min(1, len(links) - 1)])


def _rest_normal(links: Sequence[bpy.types.PoseBone], tip: bpy.types.PoseBone) -> Vector:
    """Normal of the rest pose's bend in the space of the bone behind the first inner joint; else its X axis."""
    rest_bone = links[min(1, len(links) - 1)].bone.matrix_local.to_3x3()
    rest_joints = [*(link.bone.head_local for link in links), tip.bone.matrix_local @ end_in_tip(tip)]
    normal_armature = start_frame(Chain(rest_joints, bend_normal=rest_bone.col[0])).normal
    return rest_bone.inverted() @ normal_armature


def free_axis(pose_bone: bpy.types.PoseBone) -> Vector | None:
    """The one IK axis of a bone that is not locked, in its own space, towards the larger side of its limits."""
    free = [axis for axis in "xyz" if not getattr(pose_bone, f"lock_ik_{axis}")]
    if len(free) != 1:
        return None
    axis = free[0]
    direction = Vector(tuple(float(axis == other) for other in "xyz"))
    lowest, highest = getattr(pose_bone, f"ik_min_{axis}"), getattr(pose_bone, f"ik_max_{axis}")
    return -direction if getattr(pose_bone, f"use_ik_limit_{axis}") and -lowest > highest else direction


NO_LENGTH = 1e-6
"""Part of a chain's length: a link that is no longer has no direction."""


def fk_chain(readings: Sequence[BoneReading], parent_pose: Matrix | None) -> Chain:
    """The chain in its FK pose, relative to its root; its hinge is asked for where it is straight.

    parent_pose: of the root bone's parent. Raises ChainError where one of the bones has no length, a transform that is
    not a number, or limits that leave it nothing.
    """
    points = fk_joints(readings)
    try:
        chain = chain_of(
            readings,
            [point - points[0] for point in points],
            [reading.pose_armature for reading in readings],
            [reading.fk_rotation for reading in readings],
            parent_pose,
            bend_normal=lambda: hinge_armature(readings),
        )
    except ChainError as error:
        if isinstance(error.__cause__, LimitError):
            raise
        poses = ((reading.name, reading.pose_armature) for reading in readings)
        name = next(
            (name for name, pose in poses if not all(map(isfinite, (value for row in pose for value in row)))),
            readings[-1].name,
        )
        raise ChainError(messages.BONE_NO_NUMBER(bone=name)) from error
    for reading, length in zip(readings, chain.lengths, strict=True):
        if length <= NO_LENGTH * chain.length:
            raise ChainError(messages.BONE_WITHOUT_LENGTH(bone=reading.name))
    return chain


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


def limited_chain(
    names: Sequence[str],
    limits: Sequence[BoneLimits | None],
    joints: Sequence[Vector],
    orientations: Sequence[Quaternion],
    rotations: Sequence[Quaternion],
    parent_direction: Vector | None,
    bend_normal: Vector | Callable[[], Vector],
) -> Chain:
    """A chain with limits: of each link's bone its name, limits, orientation, and what of that is its own rotation.

    parent_direction: of the bone above the root. Raises ChainError that names the bone whose limits are none.
    """
    cones, hinges, swings = [], [], []
    for own, orientation, rotation in zip(limits, orientations, rotations, strict=True):
        hinge, swing = joint_of(own, orientation, rotation) if own else (None, None)
        cones.append(own and own.cone)
        hinges.append(hinge)
        swings.append(swing)
    try:
        return Chain(
            joints,
            cones=cones if any(cone is not None for cone in cones) else None,
            hinges=hinges,
            swings=swings,
            parent_direction=parent_direction,
            bend_normal=bend_normal,
        )
    except LimitError as error:
        whose = messages.LIMITS_OF_BONE(bone=names[error.link])
        raise ChainError(messages.OF(whose=whose, said=error.what)) from error


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


def growth(bones: Sequence[bpy.types.Bone]) -> dict[str, int]:
    """To what power of the stretch a chain's bones, root first, and its end bones are scaled: 1, 0, or -1.

    A bone that inherits its parent's scale needs none of its own; one that does not, the whole.
    """
    of_chain = {bone.name: int(not k or not _inherits(bone)) for k, bone in enumerate(bones)}
    return of_chain | {bone.name: -1 for bone in bones[-1].children if _inherits(bone)}


def factors(bones: Sequence[bpy.types.Bone], ratio: float) -> dict[str, float]:
    """By what the scales of a chain's bones and of its end bones are multiplied to lengthen it by `ratio`."""
    return {name: ratio**power for name, power in growth(bones).items()}


FkScale = Callable[[str], Raw]
"""Gives the FK scale of a bone by its name."""


def given_factor(pose_bone: bpy.types.PoseBone, fk_scale: FkScale) -> float:
    """By what the scale of an evaluated bone is multiplied by a chain on whose end it hangs."""
    tip = pose_bone.parent
    if tip is None or not tip.analytic_ik_enabled or not _inherits(pose_bone.bone):
        return 1.0
    return 1.0 / present_ratio(tip, fk_scale)


def present_ratio(tip: bpy.types.PoseBone, fk_scale: FkScale) -> float:
    """How long the chain of an evaluated tip is shown, as a multiple of its FK length."""
    bones = known_bones(tip) if tip.analytic_ik_reach == "STRETCH" else []
    if not bones:
        return 1.0
    root = bones[0]
    fk = fk_scale(root.name)
    largest = max(range(3), key=lambda axis: abs(fk[axis]))
    if not fk[largest]:
        return 1.0
    return root.scale[largest] / fk[largest] / given_factor(root, fk_scale)


def may_stretch(tip: bpy.types.PoseBone) -> bool:
    """Whether the chain of an original tip stretches out of reach, now or at another frame."""
    return tip.analytic_ik_reach == "STRETCH" or may_change(tip, "reach")


def scaled_bones(tip: bpy.types.PoseBone) -> list[str]:
    """Names of the bones whose scale the chain of an original tip sets; none where it never stretches."""
    if not may_stretch(tip):
        return []
    bones = [pose_bone.bone for pose_bone in chain_bones(tip)]
    return [name for name, power in growth(bones).items() if power]


def _inherits(bone: bpy.types.Bone) -> bool:
    return bone.inherit_scale in INHERITING
