"""The skin of feet: what of a character's meshes comes nearest to the ground, however the feet turn."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np
from mathutils import Vector

from ...authoring.clip_tracks import ClipTracks
from ...authoring.end_bone import skins_of

_DIRECTIONS = 1000
"""In which the outermost points of a foot are looked for: about 7 degrees apart."""
_FEW, _MOST = 100, 5000
"""The same of a trunk and a head, and of how many points of a mesh: they are looked at as a drag begins."""
_OWN = 0.5
"""Weight of foot and toes from which on skin is theirs."""
_SOLE = 0.3
"""Part of the height of an ankle over its sole up to which skin is that of the sole."""
_LONG, _BALL = 0.2, 0.7
"""Part of its leg that a sole is long, or else it is a paw or a hoof; part of its length at which its ball is."""
_BENT = 2e-3
"""Part of its leg that a knee is from the leg's line, or else it does not tell where its foot points."""
_FOOT = 1.0
"""Part of a leg as far from whose ankle the skin of its foot may be: toy figures have large feet."""


@dataclass(frozen=True, slots=True)
class FootSkin:
    """The outermost points of the skin of a foot, its toes included.

    bones: those that deform it. weights: (points, bones), the parts that they have in each; of a point they add up to
    1. rests: (bones, points, 3), where the points are in each bone's space at rest.
    """

    bones: tuple[str, ...]
    weights: np.ndarray
    rests: np.ndarray

    def over(self, worlds: np.ndarray, poses: Sequence[np.ndarray]) -> np.ndarray:
        """(points, T, 3), where they are in the world, as Blender's Armature modifier deforms them.

        worlds: (T, 4, 4), of a space such as that of the armature object. poses: (T, 4, 4) each, or (1, 4, 4), of the
        bones in that space.
        """
        spaces = np.array(np.broadcast_arrays(*(worlds @ pose for pose in poses)))[:, :, :3]
        rests = np.concatenate((self.rests, np.ones((*self.rests.shape[:2], 1))), axis=2)
        shares = (self.weights.T[..., None] * rests).swapaxes(0, 1).reshape(len(self.weights), -1)
        places = shares @ spaces.transpose(0, 3, 1, 2).reshape(shares.shape[1], -1)
        return places.reshape(len(shares), -1, 3)


@dataclass(frozen=True, slots=True)
class Skins:
    """What was read of the skins of an armature object's feet, once for all its clips; and of the clips themselves.

    feet: by their bones; None of one that has none, or where there is no foot. balls: by the tips of chains and feet,
    see `reading.ball_of`.
    """

    feet: dict[str, FootSkin | None] = field(default_factory=dict)
    balls: dict[tuple[str, str], tuple[np.ndarray | None, float]] = field(default_factory=dict)
    clips: ClipTracks | None = None


def skin_of_foot(ob: bpy.types.Object, foot: str, leg: float) -> FootSkin | None:
    """The skin of a foot of an armature object; None if it has none. leg: the length of its leg, in armature space."""
    bone = ob.data.bones[foot]
    own = {foot, *(each.name for each in bone.children_recursive)}
    seen = list(_weighted(ob, own, bone.head_local, _FOOT * leg))
    if not seen:
        return None
    points = np.array([point for point, _ in seen])
    outermost = np.unique((_directions(_DIRECTIONS) @ points.T).argmax(axis=1)).tolist()
    names = tuple(dict.fromkeys(name for k in outermost for name in seen[k][1]))
    weights = np.array([[seen[k][1].get(name, 0.0) for name in names] for k in outermost])
    to_bones = [np.array(ob.data.bones[name].matrix_local.inverted_safe()) for name in names]
    rests = np.array([points[outermost] @ matrix[:3, :3].T + matrix[:3, 3] for matrix in to_bones])
    return FootSkin(names, weights / weights.sum(axis=1, keepdims=True), rests)


def ball_on_skin(
    ob: bpy.types.Object, foot: bpy.types.Bone, up: Vector, bend: Vector, leg: float, is_paw: bool = False
) -> Vector | None:
    """The ball of a foot whose bones do not show one, on the skin of its sole, in armature space at rest.

    None of what has no sole, such as a hoof, or none that is ahead of the ankle; with is_paw the middle of its sole.
    up: unit vector. bend: where the knee is from the line of its leg, by which what is ahead is told. leg: its length.
    """
    own = {foot.name, *(each.name for each in foot.children_recursive)}
    points = np.array([point for point, _ in _weighted(ob, own, foot.head_local, _FOOT * leg)])
    bend = bend - up * up.dot(bend)
    if not len(points) or bend.length < _BENT * leg:
        return None
    from_ankle = points - np.array(foot.head_local)
    heights = from_ankle @ np.array(up)
    bottom = min(heights.min(), 0.0)
    sole = from_ankle[heights <= (1.0 - _SOLE) * bottom]
    ahead = sole @ np.array(bend.normalized())
    length = np.ptp(ahead) if len(sole) else 0.0
    if length < _LONG * leg or ahead.min() + ahead.max() <= 0.0:
        return foot.head_local + Vector(sole.mean(axis=0)) if is_paw and len(sole) else None
    return foot.head_local + bend.normalized() * (ahead.min() + _BALL * length) + up * bottom


def skins_of_bones(ob: bpy.types.Object, bones: Mapping[str, str]) -> dict[str, np.ndarray]:
    """The outermost points (n, 3) of the skin of some bones of an armature object, in its space at rest; roughly, for
    of large meshes a part of the points is looked at. bones: to which bone the skin of each counts."""
    seen: dict[str, list[np.ndarray]] = {}
    for point, weights in _weighted(ob, {*bones}, Vector(), np.inf, _MOST):
        most = max(weights, key=weights.__getitem__)
        if most in bones:
            seen.setdefault(bones[most], []).append(point)
    points = {bone: np.array(own) for bone, own in seen.items()}
    return {bone: own[np.unique((_directions(_FEW) @ own.T).argmax(axis=1))] for bone, own in points.items()}


def _directions(count: int) -> np.ndarray:
    """Unit vectors (n, 3) that are spread evenly: a spiral from pole to pole that goes on by the golden angle."""
    heights = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angles, radii = np.pi * (3.0 - 5.0**0.5) * np.arange(count), np.sqrt(1.0 - heights**2)
    return np.stack((radii * np.cos(angles), radii * np.sin(angles), heights), axis=1)


def _weighted(
    ob: bpy.types.Object, own: set[str], ankle: Vector, reach: float, most: int | None = None
) -> Iterator[tuple[np.ndarray, dict[str, float]]]:
    """Points of skin that is mostly moved by some bones and near an ankle, in armature space at rest, with the weights
    of the bones that deform them. most: of each mesh about so many are looked at; None: all."""
    deforming = {bone.name for bone in ob.data.bones if bone.use_deform}
    for other, to_armature in skins_of(ob, own):
        points = np.empty(len(other.data.vertices) * 3, np.float32)
        other.data.vertices.foreach_get("co", points)
        matrix = np.array(to_armature)
        points = points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
        names = [group.name if group.name in deforming else "" for group in other.vertex_groups]
        owns = {k for k, name in enumerate(names) if name in own}
        near = np.flatnonzero(np.linalg.norm(points - np.array(ankle), axis=1) < reach)
        for k in near[:: 1 + len(near) // most if most else 1].tolist():
            if other.parent_type == "BONE" and other.parent_bone in own:
                yield points[k], {other.parent_bone: 1.0}
                continue
            groups = other.data.vertices[k].groups
            if owns.isdisjoint([each.group for each in groups]):
                continue
            weights = {names[each.group]: each.weight for each in groups if names[each.group] and each.weight > 0.0}
            if sum(weights.get(name, 0.0) for name in own) > _OWN * sum(weights.values()):
                yield points[k], weights
