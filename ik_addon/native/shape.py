"""A limb in its FK pose, as its helpers have it at rest; which parts it needs, and whether it can be native at all."""

from dataclasses import dataclass
from itertools import pairwise
from math import atan2, cos, pi, tau

import bpy
from mathutils import Matrix, Quaternion, Vector

from .. import messages
from ..rig.blender.animation import animated_channels, is_driven
from ..rig.blender.armatures import has_editable_bones
from ..rig.blender.dependencies import movers_of
from ..rig.blender.rotations import is_even
from ..rig.data.relation import is_tie
from ..rig.data.settings import NATIVE_SETTINGS, Settings, may_change, path_of
from ..rig.model.body import bodies_of
from ..rig.model.foot import heel_and_axis, rolls
from ..rig.model.limb import BoneReading, Limb, chain_bones
from ..rig.status.problems import check_changeable
from ..solvers import SOLVERS, ChainError
from ..solvers.bending import start_frame
from ..solvers.vectors import cosine_wave
from .mechanism import homes_of, key_of

_ALONG = 1e-5
"""How far from a link its bone's Y axis may be, of one, where that is rounding: of the places of short bones."""


@dataclass(frozen=True, slots=True)
class FootShape:
    """The bones on a chain's end. Points, axis and matrix in the foot's own space.

    foot, toe: their names ("": it has none). size: the foot's scale. heel, ball, tip: the points over which it rolls;
    axis: about which. toe_pose, toe_rest: the toe in its FK pose, and at rest.
    """

    foot: str
    toe: str
    size: Vector
    heel: Vector
    axis: Vector
    ball: Vector
    tip: Vector
    toe_pose: Matrix
    toe_rest: Matrix


@dataclass(frozen=True, slots=True)
class Shape:
    """All that helper bones are made from.

    limb: as read; Blender forgets its bones where new ones are made. tip, root_parent: names of the tip and of the bone
    above the root ("": none). own: names of all its bones. links: of the first bones of its links; carriers: of the
    bones above these (of the first ""). poses, carrier_poses: their FK pose matrices. scales: the scales of the links.
    joints: of the chain, its end last; lengths: of its links. along, side, normal: of its bend frame.
    foot: None if none follows.
    """

    ob: bpy.types.Object
    limb: Limb
    root_parent: str
    own: tuple[str, ...]
    links: tuple[str, ...]
    carriers: tuple[str, ...]
    poses: tuple[Matrix, ...]
    carrier_poses: tuple[Matrix | None, ...]
    scales: tuple[Vector, ...]
    joints: tuple[Vector, ...]
    lengths: tuple[float, ...]
    along: Vector
    side: Vector
    normal: Vector
    foot: "FootShape | None"

    @property
    def tip(self) -> str:
        return self.limb.tip

    @property
    def length(self) -> float:
        return sum(self.lengths)

    @property
    def nearest(self) -> float:
        """The nearest that its end comes to its root."""
        return max(0.0, 2.0 * max(self.lengths) - self.length)

    @property
    def directions(self) -> list[Vector]:
        return [(b - a).normalized() for a, b in pairwise(self.joints)]

    def is_along(self, k: int) -> bool:
        """Whether the Y axis of a link's bone lies along the link."""
        return (self.poses[k].col[1].xyz.normalized() - self.directions[k]).length < _ALONG

    def hung(self, k: int) -> Matrix:
        """What takes the FK pose of a link to where it is below the bone above it at rest."""
        above = self.carrier_poses[k]
        if above is None:
            return Matrix()
        return self.ob.data.bones[self.carriers[k]].matrix_local @ above.inverted()


def shape_of(limb: Limb, foot: BoneReading | None, toe: BoneReading | None) -> Shape:
    """The shape of a limb as it was read. foot, toe: as read in their FK pose, where they follow the target."""
    ob = limb.bones[0].pose_bone.id_data
    parent = limb.bones[0].bone.parent
    to_rest = parent.matrix_local @ limb.parent_pose.inverted() if parent is not None else Matrix()
    poses, carriers, carrier_poses, above = [], [], [], None
    for link in limb.bones:
        poses.append(to_rest @ link.pose_armature)
        carriers.append(link.bone.parent.name if above is not None else "")
        carrier_poses.append(above)
        above = to_rest @ link.last.pose_armature
    joints = [to_rest @ point for point in limb.joints([link.pose_armature for link in limb.bones])]
    frame, turn = start_frame(limb.chain), to_rest.to_quaternion()
    return Shape(
        ob=ob,
        limb=limb,
        root_parent=parent.name if parent is not None else "",
        own=tuple(limb.names),
        links=tuple(link.name for link in limb.bones),
        carriers=tuple(carriers),
        poses=tuple(poses),
        carrier_poses=tuple(carrier_poses),
        scales=tuple(link.scale.copy() for link in limb.bones),
        joints=tuple(joints),
        lengths=tuple((b - a).length for a, b in pairwise(joints)),
        along=turn @ frame.along,
        side=turn @ frame.side,
        normal=turn @ frame.normal,
        foot=_foot_shape(to_rest, foot, toe) if foot else None,
    )


def _foot_shape(to_rest: Matrix, foot: BoneReading, toe: BoneReading | None) -> FootShape:
    heel, axis = heel_and_axis(foot.pose_bone)
    foot_pose = to_rest @ foot.pose_armature
    toe_pose = foot_pose.inverted() @ to_rest @ toe.pose_armature if toe else Matrix()
    tip = toe_pose @ Vector((0.0, (toe or foot).bone.length, 0.0))
    ball = toe_pose.translation if toe else tip
    toe_rest = foot.bone.matrix_local.inverted() @ toe.bone.matrix_local if toe else Matrix()
    return FootShape(
        foot.name, toe.name if toe else "", foot_pose.to_scale(), heel, axis, ball, tip, toe_pose, toe_rest
    )


def unscaled(matrix: Matrix) -> Matrix:
    """A pose matrix without its size."""
    return placed(matrix.translation, matrix.to_quaternion())


def placed(point: Vector, rotation: Quaternion | None = None) -> Matrix:
    """The matrix of a bone at a point."""
    return Matrix.LocRotScale(point, rotation or Quaternion(), None)


def aimed(point: Vector, y: Vector, z: Vector) -> Matrix:
    """The matrix of a bone at a point, with these axes."""
    turn = Matrix((y.cross(z), y, z)).transposed().to_quaternion()
    return placed(point, turn)


@dataclass(frozen=True, slots=True)
class HingeBend:
    """A knee with an axis of its own, in the FK pose of the bone above it.

    axis: of the hinge. zero: of the second link at angle 0. turn: from the FK orientation of the second bone to its
    orientation at angle 0. lowest, highest: angles. middle: at which the limb is straightest. level, amplitude: the
    cosine of the bend is level + amplitude * cos(angle - middle). sign: the side of the middle on which the knee bends.
    """

    axis: Vector
    zero: Vector
    turn: Quaternion
    lowest: float
    highest: float
    middle: float
    level: float
    amplitude: float
    sign: float

    def reach(self, first: float, second: float) -> tuple[float, float]:
        """The nearest and the farthest that links of these lengths reach within the limits."""
        ways = (self.sign * (angle - self.middle) for angle in (self.lowest, self.highest))
        cosines = [self.level + self.amplitude * cos(min(max(way, 0.0), pi)) for way in ways]
        squares = [max(0.0, first * first + second * second + 2.0 * first * second * cosine) for cosine in cosines]
        return min(squares) ** 0.5, max(squares) ** 0.5


@dataclass(frozen=True, slots=True)
class Uses:
    """What of a chain's settings matters.

    settings: names of those that become custom properties. hinge: of the knee.
    """

    settings: tuple[str, ...]
    pole: bool
    hold: bool
    hinge: HingeBend | None

    @property
    def weight(self) -> tuple[str, tuple[str, ...]]:
        """How much of the pose is the chain's: an expression, and the settings that it reads by their first letters."""
        names = tuple(name for name in ("influence", "enabled") if name in self.settings)
        return "*".join(name[0] for name in names) or "1", names

    @property
    def blends(self) -> bool:
        return self.hold or bool(self.weight[1])

    @property
    def direct(self) -> bool:
        """Whether the chain's own bones are always where the solution has them: helpers can then hang on these."""
        return not self.blends and "stretch_max" not in self.settings


def uses_of(tip: bpy.types.PoseBone, shape: Shape, switch: bool) -> Uses:
    """What of the settings of a chain matters. tip: the original one. switch: whether Influence does in any case."""
    settings = shape.limb.settings
    hinge = hinge_bend(shape) if len(shape.links) == 2 else None
    names = ["enabled"] if may_change(tip, "enabled") else []
    for name, rest in (("influence", 1.0), ("swivel", 0.0), ("flip", False), ("softness", 0.0)):
        if (switch and name == "influence") or getattr(settings, name) != rest or may_change(tip, name):
            names.append(name)
    names += ["stretch_max"] if settings.reach == "STRETCH" else []
    names += ["foot_roll", "toe_angle"] if shape.foot and rolls(tip) else []
    return Uses(tuple(names), shape.limb.pole_armature is not None, settings.reach == "HOLD", hinge)


def hinge_bend(shape: Shape) -> HingeBend | None:
    """The hinge of a limb of two links in the space of its shape; None where its knee is free."""
    limb = shape.limb
    if limb.chain.limits is None:
        return None
    to_rest = shape.poses[0].to_quaternion() @ limb.bones[0].orientation(limb.bones[0].pose_armature).inverted()
    carried, joint = to_rest @ limb.chain.limits[0].start, limb.chain.limits[1]
    axis, zero = carried @ joint.axis, carried @ joint.zero
    level, amplitude, middle = cosine_wave(zero, axis, shape.directions[0])
    center = (joint.lowest + joint.highest) / 2.0
    # Within half a turn of the range.
    middle += tau * round((center - middle) / tau)
    turn = carried @ joint.start.inverted() @ carried.inverted()
    at = center - middle
    if joint.lowest < middle < joint.highest:
        # Both sides are legal: it bends as in the FK pose.
        across = zero - axis * zero.dot(axis)
        shown = shape.directions[1]
        at = atan2(shown.dot(axis.cross(across)), shown.dot(across)) - middle
        at -= tau * round(at / tau)
    return HingeBend(
        axis, zero, turn, joint.lowest, joint.highest, middle, level, amplitude, 1.0 if at >= 0.0 else -1.0
    )


_FIXED = [name for name in (*Settings.__slots__, "straight_axis") if name not in NATIVE_SETTINGS]
"""Settings that a native chain has as they are when it is made."""


def check_armature(ob: bpy.types.Object) -> None:
    """Raise ChainError where an armature object can have no native chains."""
    check_changeable(ob)
    if not has_editable_bones(ob):
        raise ChainError(messages.NATIVE_LINKED(armature=ob.name))
    users = [each for each in bpy.data.objects if each.type == "ARMATURE" and each.data == ob.data]
    if len(users) > 1:
        other = next(each for each in users if each != ob)
        raise ChainError(messages.NATIVE_SHARED(armature=ob.name, other=other.name))


def check_chain(tip: bpy.types.PoseBone) -> None:
    """Raise ChainError where the settings of a chain, or what animates its bones, keep it from being native."""
    ob = tip.id_data
    for name in _FIXED:
        if may_change(tip, name):
            shown = tip.bl_rna.properties[f"analytic_ik_{name}"].name
            raise ChainError(messages.NATIVE_SETTING_ANIMATED(setting=shown))
    for name in NATIVE_SETTINGS:
        if key_of(name) in tip:
            raise ChainError(messages.NATIVE_NAME_TAKEN(name=key_of(name)))
    for home in homes_of(ob):
        if any(home.find(path_of(tip, name)) for name in NATIVE_SETTINGS) and not home[0].id_data.is_editable:
            raise ChainError(messages.NATIVE_ACTION_LINKED(action=home[0].id_data.name))
    above = {bone.name for bone in (tip, *tip.parent_recursive)}
    body = next((name for name in bodies_of(ob) if name in above), None)
    if body is not None:
        raise ChainError(messages.NATIVE_BODY(body=body))


def check_limb(limb: Limb) -> None:
    """Raise ChainError where the way in which a limb is solved has no native form."""
    count, settings = len(limb.bones), limb.settings
    if not SOLVERS[limb.solver].closed:
        raise ChainError(messages.NATIVE_SOLVER(solver=SOLVERS[limb.solver].label))
    if count != 2 and settings.flip:
        raise ChainError(messages.NATIVE_SETTING(setting="Flip Bend"))
    if count > 2 and settings.least_motion:
        raise ChainError(messages.NATIVE_SETTING(setting="Preserve FK Shape"))
    for k, link in enumerate(limb.bones):
        limits = link.limits
        if limits is None:
            continue
        if limits.cone is not None:
            raise ChainError(messages.NATIVE_CONE(limited=link.name))
        if k == 0 or count != 2 or limits.hinge is None:
            raise ChainError(messages.NATIVE_LIMITS(limited=link.name))
    if settings.flip and limb.chain.limits is not None:
        raise ChainError(messages.NATIVE_SETTING(setting="Flip Bend"))


def check_bones(limb: Limb, shape: Shape) -> None:
    """Raise ChainError where a limb's bones are sized or moved in a way that helpers would not follow."""
    ob, own = shape.ob, [*shape.own, *((shape.foot.foot, shape.foot.toe) if shape.foot else ())]
    names = [name for name in own if name]
    matrices = [(shape.root_parent, limb.parent_pose), *zip(shape.links, shape.poses, strict=True)]
    for name, matrix in matrices:
        if matrix is not None and not is_even(matrix):
            raise ChainError(messages.NATIVE_UNEVEN(uneven=name))
    for k, link in enumerate(limb.bones):
        if not link.bone.use_inherit_rotation and link.bone.parent is not None and (k or limb.pole_armature is None):
            raise ChainError(messages.NATIVE_ROTATION_NOT_INHERITED(free=link.name))
    if shape.foot and shape.foot.toe and not ob.data.bones[shape.foot.toe].use_inherit_rotation:
        raise ChainError(messages.NATIVE_ROTATION_NOT_INHERITED(free=shape.foot.toe))
    animated = animated_channels(ob)
    for name in names:
        bone = ob.pose.bones[name]
        driven = next((what for what in ("rotation", "location", "scale") if is_driven(ob, bone, what)), None)
        if driven:
            raise ChainError(messages.NATIVE_DRIVEN(driven=name))
        if name in animated:
            raise ChainError(messages.NATIVE_FK_KEYS(keyed=name))
    chain = chain_bones(ob.pose.bones[shape.tip])
    for mover in movers_of([*chain, *(ob.pose.bones[name] for name in names if name not in shape.own)]):
        if not is_tie(mover.constraint):
            raise ChainError(messages.NATIVE_CONSTRAINED(moved=mover.bone, constraint=mover.constraint.name))
