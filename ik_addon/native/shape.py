"""A limb in its FK pose, as its helpers have it at rest: in the rest space of the bone above its root."""

from dataclasses import dataclass
from itertools import pairwise

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..rig.model.foot import heel_and_axis
from ..rig.model.limb import BoneReading, Limb
from ..solvers.bending import start_frame

OUT_OF_PLACE = 1e-4
"""How unevenly a bone may be scaled, as a part of its size, where that is rounding."""
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


def is_even(matrix: Matrix) -> bool:
    """Whether a matrix turns and sizes evenly, without mirroring."""
    columns = [matrix.col[k].xyz for k in range(3)]
    sizes = [column.length for column in columns]
    allowed = OUT_OF_PLACE * max(sizes)
    square = all(abs(columns[i].dot(columns[j])) <= allowed * max(sizes) for i, j in ((0, 1), (0, 2), (1, 2)))
    return square and max(sizes) - min(sizes) <= allowed and matrix.determinant() > 0.0


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
