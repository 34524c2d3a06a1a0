"""The end bone of a new chain, and where a foot touches the ground, with its skin."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix, Vector

from .finding.limbs import FoundLimb, find_limbs

_AT_THE_TAIL = 0.01
"""How far from a bone's tail a bone that begins there may lie, in lengths of the bone."""
_ASIDE = 0.2
"""How near to a bone's head a bone begins that is a helper of it, as part of the way to the farthest such bone."""


def limb_with_tip(tip: bpy.types.PoseBone) -> FoundLimb | None:
    """The leg or arm whose chain has this tip, as its names or its shape show; None if it is no such limb's."""
    found = find_limbs([tip.bone], arms=True).limbs
    return next((limb for limb in found if limb.bones[-1] == tip.name), None)


def end_bone_of(tip: bpy.types.PoseBone, limb: FoundLimb | None) -> str:
    """Name of the bone at whose head a chain with this tip ends; "" if none goes on from it.

    limb: the limb with this tip. Its foot or hand; else the child at the tip's tail; else, as importers put tails
    anywhere, the child that carries the most bones. Children that begin near the tip's head are its helpers.
    """
    bone = tip.bone
    if limb is not None:
        return limb.end
    ways = {child: (child.head_local - bone.head_local).length for child in bone.children}
    farthest = max(ways.values(), default=0.0)
    going_on = [child for child, way in ways.items() if way > _ASIDE * farthest]
    if not going_on:
        return ""
    near = _AT_THE_TAIL * bone.length
    at_tail = [child for child in going_on if (child.head_local - bone.tail_local).length <= near]
    return max(at_tail or going_on, key=lambda child: len(child.children_recursive)).name


_MARGIN = 1.15
"""How much larger than the foot its outline is."""
_FLAT = 0.2
"""Part of a foot's length that has to be level for the foot to show where it points."""
_HALF_WIDTH = 0.3
"""Of a foot without skin, as a part of its length."""
_HEEL = 0.35
"""How far behind its ankle a foot without skin reaches, as a part of its length."""
_NEAR = ((-0.8, 0.8), (-1.0, 2.2), (-np.inf, 0.2))
"""Where skin belongs to a foot: sideways, forward and up from its ankle, in lengths of the foot."""


@dataclass(frozen=True, slots=True)
class Sole:
    """The outline of a foot on the ground, at rest.

    axes: of the foot's control: X sideways, Y forward, Z up, in armature space. length: from ankle to ball, level.
    center: of the outline, from the ankle, in these axes. half: half its width and half its length.
    """

    axes: Matrix
    length: float
    center: Vector
    half: tuple[float, float]


def up_of(ob: bpy.types.Object, legs: Sequence[FoundLimb]) -> Vector:
    """The axis of an armature's own space that points up at rest: along its legs, else the world's."""
    bones, up = ob.data.bones, Vector()
    for limb in legs:
        up += bones[limb.bones[0]].head_local - bones[limb.end or limb.bones[-1]].head_local
    if up.length < 1e-6:
        up = ob.matrix_world.to_3x3().inverted_safe() @ Vector((0.0, 0.0, 1.0))
    return axis_nearest(up)


def axis_nearest(way: Vector) -> Vector:
    """The unit vector along that axis of a space, forward or back, which is nearest to a direction."""
    k = max(range(3), key=lambda k: abs(way[k]))
    return Vector([float(j == k) * (1.0 if way[k] > 0.0 else -1.0) for j in range(3)])


def skin_below(ob: bpy.types.Object, hip: bpy.types.Bone, foot: bpy.types.Bone, ball: Vector) -> float:
    """How far below a point of a foot the skin of an armature object ends at rest; 0 without skin.

    hip: the first bone of its leg. ball: the point. All in the armature's own space and units.
    """
    up = axis_nearest(hip.head_local - foot.head_local)
    size = max((ball - foot.head_local).length, 0.1 * (hip.head_local - ball).length)
    points = _skin_points(ob, {foot.name, *(child.name for child in foot.children)}) - np.array(ball)
    heights = points @ np.array(up)
    aside = np.linalg.norm(points - heights[:, None] * np.array(up), axis=1)
    near = (aside < size) & (heights > -size) & (heights < 0.0)
    return float(-heights[near].min()) if near.any() else 0.0


def sole_of(ob: bpy.types.Object, limb: FoundLimb, legs: Sequence[FoundLimb], up: Vector) -> Sole | None:
    """The sole of a leg's foot; None if it has no foot, or one that does not show where it points."""
    bones = ob.data.bones
    if limb.kind != "LEG" or not limb.end:
        return None
    foot, toe = bones[limb.end], bones.get(limb.toe)
    ankle = foot.head_local
    along = (toe.head_local if toe else foot.tail_local) - ankle
    level = along - up * along.dot(up)
    if level.length < max(_FLAT * along.length, 1e-9):
        return None
    length, forward = level.length, level.normalized()
    axes = Matrix((forward.cross(up), forward, up)).transposed()
    joints = [foot.head_local, *((toe.head_local,) if toe else ())]
    skin = _near(_skin_points(ob, {limb.end, limb.toe}), ob, limb, legs, axes, length)
    if len(skin):
        points = np.vstack((_in_axes(joints, ankle, axes), skin))
    else:
        # Tails are all that is left to go by; an importer may have put them anywhere.
        tail = toe if toe and toe.length < length else foot
        corners = [(-_HALF_WIDTH * length, -_HEEL * length, 0.0), (_HALF_WIDTH * length, 0.0, 0.0)]
        points = np.vstack((_in_axes([*joints, tail.tail_local], ankle, axes), corners))
    low, high = points.min(axis=0), points.max(axis=0)
    center = Vector(((low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0, low[2]))
    half = (high - low)[:2] / 2.0
    grown = half * _MARGIN + 0.04 * length
    return Sole(axes, length, center, (float(grown[0]), float(grown[1])))


def _in_axes(points: Sequence[Vector], origin: Vector, axes: Matrix) -> np.ndarray:
    return np.array([axes.transposed() @ (point - origin) for point in points])


def _near(
    points: np.ndarray, ob: bpy.types.Object, limb: FoundLimb, legs: Sequence[FoundLimb], axes: Matrix, length: float
) -> np.ndarray:
    """Of points in armature space those of a limb's foot, from its ankle in its control's axes."""
    bones = ob.data.bones
    ankle = np.array(bones[limb.end].head_local)
    own = (points - ankle) @ np.array(axes)
    inside = np.ones(len(own), bool)
    for k, (low, high) in enumerate(_NEAR):
        inside &= (own[:, k] >= low * length) & (own[:, k] <= high * length)
    ways = np.linalg.norm(points - ankle, axis=1)
    for other in legs:
        if other.end and other.end != limb.end:
            inside &= ways <= np.linalg.norm(points - np.array(bones[other.end].head_local), axis=1)
    return own[inside]


def _skin_points(ob: bpy.types.Object, foot: set[str]) -> np.ndarray:
    """The points of the meshes that an armature deforms, and of those parented to the bones of a foot, at rest."""
    found = [np.empty((0, 3))]
    for other, to_armature in skins_of(ob, foot):
        mesh = other.data
        points = np.empty(len(mesh.vertices) * 3, np.float32)
        mesh.vertices.foreach_get("co", points)
        matrix = np.array(to_armature)
        found.append(points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
    return np.vstack(found)


def skins_of(ob: bpy.types.Object, foot: set[str]) -> Iterator[tuple[bpy.types.Object, Matrix]]:
    """The mesh objects that an armature object deforms, and those parented to the bones of a foot; with what takes
    their space to the armature's, at rest."""
    to_armature = ob.matrix_world.inverted_safe()
    for other in bpy.data.objects:
        if other.type != "MESH":
            continue
        if any(modifier.type == "ARMATURE" and modifier.object == ob for modifier in other.modifiers):
            yield other, to_armature @ other.matrix_world
        elif other.parent == ob and other.parent_type == "BONE" and other.parent_bone in foot:
            # Not from where it is: what was posed, and not evaluated yet, is elsewhere.
            bone, carrier = ob.data.bones[other.parent_bone], Matrix()
            if not bone.use_relative_parent:
                carrier = bone.matrix_local @ Matrix.Translation((0.0, bone.length, 0.0))
            yield other, carrier @ other.matrix_parent_inverse @ other.matrix_basis
