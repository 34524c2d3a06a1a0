"""How close the ends of limbs are to what they may hold."""

import bpy
import numpy as np
from mathutils import Matrix, Vector
from mathutils.bvhtree import BVHTree

from ...authoring.placing import Control
from ...rig.blender.bones import rotation_in
from ..feet.clip import LegMotion
from ..feet.space import Space

_CLOSE = 0.35
"""Distance from wrist or ankle to what it holds, part of the limb's length: a hand's length, and some more."""


def near_to(context: bpy.types.Context, held: Control, clip: LegMotion, space: Space) -> np.ndarray:
    """(limbs, T) bool: whether the end of each limb of a clip is close to what it may hold, as that is shaped now.

    space: where that is over the frames of the clip.
    """
    seen, close = space.seen(clip.ankles), _CLOSE * clip.reaches[:, None]
    if held.bone:
        bone = held.ob.pose.bones[held.bone]
        along = Vector((0.0, bone.length * held.ob.matrix_world.median_scale, 0.0))
        share = np.clip(seen @ np.array(along) / max(along.length_squared, 1e-30), 0.0, 1.0)
        return np.linalg.norm(seen - share[..., None] * np.array(along), axis=-1) <= close
    tree = _tree_of(context, held.ob)
    if tree is None:
        return np.linalg.norm(seen, axis=-1) <= close
    flat = [tree.find_nearest(point)[3] for point in seen.reshape(-1, 3).tolist()]
    return np.array(flat, float).reshape(seen.shape[:2]) <= close


def _tree_of(context: bpy.types.Context, ob: bpy.types.Object) -> BVHTree | None:
    """The surface of an object in its space, which has no size; None if it has no face."""
    evaluated = ob.evaluated_get(context.evaluated_depsgraph_get())
    try:
        mesh = evaluated.to_mesh()
    except RuntimeError:
        # Empties and the like have none.
        return None
    world = evaluated.matrix_world
    pose = Matrix.Translation(world.translation) @ rotation_in(world).to_matrix().to_4x4()
    to_space = pose.inverted_safe() @ world
    points = [to_space @ vertex.co for vertex in mesh.vertices]
    faces = [tuple(face.vertices) for face in mesh.polygons]
    evaluated.to_mesh_clear()
    return BVHTree.FromPolygons(points, faces) if faces else None
