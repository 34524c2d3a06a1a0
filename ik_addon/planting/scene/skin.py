"""The skin of feet: what of a character's meshes comes nearest to the ground, however the feet turn."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Vector

from ...authoring.end_bone import skins_of

_DIRECTIONS = 1000
"""In which the outermost points of a foot are looked for: about 7 degrees apart."""
_OWN = 0.5
"""Weight of foot and toes from which on skin is theirs."""


@dataclass(frozen=True, slots=True)
class FootSkin:
    """The outermost points of the skin of a foot, its toes included.

    bones: those that deform it. weights: (points, bones), the parts that they have in each; of a point they add up to
    1. rests: (bones, points, 3), where the points are in each bone's space at rest.
    """

    bones: tuple[str, ...]
    weights: np.ndarray
    rests: np.ndarray

    def over(self, worlds: np.ndarray, poses: Mapping[str, np.ndarray]) -> np.ndarray:
        """(points, T, 3), where they are in the world, as Blender's Armature modifier deforms them.

        worlds: (T, 4, 4), of the armature object. poses: (T, 4, 4), of its bones, in its space.
        """
        spaces = worlds @ np.array([poses[name] for name in self.bones])
        places = np.einsum("btij,bpj->bpti", spaces[..., :3, :3], self.rests) + spaces[:, None, :, :3, 3]
        return np.einsum("pb,bpti->pti", self.weights, places)


def skin_of_foot(ob: bpy.types.Object, foot: str, size: float) -> FootSkin | None:
    """The skin of a foot of an armature object; None if it has none. size: of a foot, in armature space."""
    bone = ob.data.bones[foot]
    own = {foot, *(each.name for each in bone.children_recursive)}
    seen = list(_weighted(ob, own, bone.head_local, size))
    if not seen:
        return None
    points = np.array([point for point, _ in seen])
    outermost = np.unique((points @ _directions().T).argmax(axis=0)).tolist()
    names = tuple(dict.fromkeys(name for k in outermost for name in seen[k][1]))
    weights = np.array([[seen[k][1].get(name, 0.0) for name in names] for k in outermost])
    to_bones = [np.array(ob.data.bones[name].matrix_local.inverted_safe()) for name in names]
    rests = np.array([points[outermost] @ matrix[:3, :3].T + matrix[:3, 3] for matrix in to_bones])
    return FootSkin(names, weights / weights.sum(axis=1, keepdims=True), rests)


def _directions() -> np.ndarray:
    """Unit vectors (n, 3) that are spread evenly: a spiral from pole to pole that goes on by the golden angle."""
    heights = 1.0 - (2.0 * np.arange(_DIRECTIONS) + 1.0) / _DIRECTIONS
    angles, radii = np.pi * (3.0 - 5.0**0.5) * np.arange(_DIRECTIONS), np.sqrt(1.0 - heights**2)
    return np.stack((radii * np.cos(angles), radii * np.sin(angles), heights), axis=1)


def _weighted(
    ob: bpy.types.Object, own: set[str], ankle: Vector, reach: float
) -> Iterator[tuple[np.ndarray, dict[str, float]]]:
    """Points of skin that is mostly moved by some bones and near an ankle, in armature space at rest, with the weights
    of the bones that deform them."""
    deforming = {bone.name for bone in ob.data.bones if bone.use_deform}
    for other, to_armature in skins_of(ob, own):
        points = np.empty(len(other.data.vertices) * 3, np.float32)
        other.data.vertices.foreach_get("co", points)
        matrix = np.array(to_armature)
        points = points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
        names = [group.name if group.name in deforming else "" for group in other.vertex_groups]
        for k in np.flatnonzero(np.linalg.norm(points - np.array(ankle), axis=1) < reach).tolist():
            if other.parent_type == "BONE" and other.parent_bone in own:
                yield points[k], {other.parent_bone: 1.0}
                continue
            groups: Sequence[bpy.types.VertexGroupElement] = other.data.vertices[k].groups
            weights = {names[each.group]: each.weight for each in groups if names[each.group] and each.weight > 0.0}
            if sum(weights.get(name, 0.0) for name in own) > _OWN * sum(weights.values()):
                yield points[k], weights
