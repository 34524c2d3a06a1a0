"""What feet stand on: a level, or a mesh, as the height below points."""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ... import messages
from ...solvers import ChainError
from ..feet import footing


@dataclass(frozen=True, slots=True)
class Ground:
    """kind: CAPTURED (as the feet stand in the capture), LEVEL (at a height in the world) or OBJECT (a mesh object)."""

    kind: str = "CAPTURED"
    height: float = 0.0
    ob: bpy.types.Object | None = None

    def heights(self, depsgraph: bpy.types.Depsgraph) -> footing.Ground | None:
        """The height below any point; None as captured. Raises ChainError where the object is no ground."""
        if self.kind == "LEVEL":
            return lambda points: np.full(len(points), self.height)
        return _of_mesh(self.ob, depsgraph) if self.kind == "OBJECT" else None


def _of_mesh(ob: bpy.types.Object | None, depsgraph: bpy.types.Depsgraph) -> footing.Ground:
    if ob is None:
        raise ChainError(messages.NO_GROUND())
    if ob.type != "MESH":
        raise ChainError(messages.GROUND_NO_MESH(object=ob.name))
    evaluated = ob.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    world = np.array(evaluated.matrix_world, float)
    points = points.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
    faces = [tuple(face.vertices) for face in mesh.polygons]
    evaluated.to_mesh_clear()
    if not faces:
        raise ChainError(messages.GROUND_WITHOUT_FACES(object=ob.name))
    tree = BVHTree.FromPolygons(points.tolist(), faces)
    above, down = float(points[:, 2].max()) + 1.0, Vector((0.0, 0.0, -1.0))

    def height(point: np.ndarray) -> float:
        hit = tree.ray_cast(Vector((point[0], point[1], above)), down)[0]
        if hit is None:
            # Beside the mesh the ground goes on as high as its nearest edge.
            hit = tree.find_nearest(Vector(point))[0]
        return hit.z

    return lambda at: np.array([height(point) for point in at], float)
