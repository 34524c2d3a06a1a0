"""Rounded shapes, collected into one mesh; every part has a material and hangs on a bone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import cos, pi, sin

import bpy
from mathutils import Matrix, Vector

Weights = dict[str, float]
Ring = Sequence[Vector]

BACK = Vector((0.0, 1.0, 0.0))


class MeshParts:
    """Parts of a model on their way to becoming one mesh object."""

    def __init__(self) -> None:
        self._points: list[Vector] = []
        self._faces: list[tuple[int, ...]] = []
        self._face_materials: list[bpy.types.Material] = []
        self._weights: list[Weights] = []

    def loft(
        self,
        rings: Sequence[Ring],
        material: bpy.types.Material,
        weights: str | Sequence[Weights] = (),
        *,
        joined: bool = False,
    ) -> None:
        """Span a surface over rings of points; a ring of a single point closes an end.

        *weights* is a bone's name for a rigid part, or the bone weights of each ring. With *joined*
        the last ring meets the first, as in a torus.
        """
        starts = []
        for index, ring in enumerate(rings):
            starts.append(len(self._points))
            self._points.extend(ring)
            if weights:
                ring_weights = {weights: 1.0} if isinstance(weights, str) else weights[index]
                self._weights.extend([ring_weights] * len(ring))
            else:
                self._weights.extend([{}] * len(ring))
        pairs = [(i, i + 1) for i in range(len(rings) - 1)]
        if joined:
            pairs.append((len(rings) - 1, 0))
        for low, high in pairs:
            faces = _faces_between(starts[low], len(rings[low]), starts[high], len(rings[high]))
            self._faces.extend(faces)
            self._face_materials.extend([material] * len(faces))

    def rounded_box(
        self,
        centre: Sequence[float],
        half_size: Sequence[float],
        material: bpy.types.Material,
        bone: str = "",
        *,
        roundness: float = 2.0,
        taper: float = 0.0,
        rotation: Matrix | None = None,
        detail: int = 14,
    ) -> None:
        """Add a superellipsoid: an ellipsoid at *roundness* 2, ever more of a box above.

        *taper* widens the top and narrows the bottom by that fraction.
        """
        rotation = rotation or Matrix.Identity(3)
        rings = []
        for latitude in range(detail // 2 + 1):
            polar = pi * latitude / (detail // 2)
            around = range(detail if 0 < latitude < detail // 2 else 1)
            ring = []
            for step in around:
                azimuth = 2.0 * pi * step / detail
                # From the bottom up, so that the faces look outwards.
                direction = Vector((sin(polar) * cos(azimuth), sin(polar) * sin(azimuth), -cos(polar)))
                reach = sum(abs(part) ** roundness for part in direction) ** (-1.0 / roundness)
                x, y, z = direction * reach
                widen = 1.0 + taper * z
                scaled = Vector((x * half_size[0] * widen, y * half_size[1] * widen, z * half_size[2]))
                ring.append(Vector(centre) + rotation @ scaled)
            rings.append(ring)
        self.loft(rings, material, bone)

    def ball(
        self,
        centre: Sequence[float],
        radius: float,
        material: bpy.types.Material,
        bone: str = "",
        detail: int = 12,
    ) -> None:
        """Add a sphere."""
        self.rounded_box(centre, (radius,) * 3, material, bone, detail=detail)

    def limb(
        self,
        start: Sequence[float],
        end: Sequence[float],
        radii: tuple[float, float],
        material: bpy.types.Material,
        bone: str = "",
        *,
        roundness: float = 4.0,
        detail: int = 14,
    ) -> None:
        """Add a tapered bar with round ends, from point to point."""
        start, end = Vector(start), Vector(end)
        across, along_side = _cross_section(end - start)
        steps = detail // 2
        rings: list[Ring] = []
        for step in range(steps + 1):
            # Even steps of the angle put more rings where the ends curve.
            height = -cos(pi * step / steps)
            radius = (1.0 - abs(height) ** roundness) ** (1.0 / roundness) if 0 < step < steps else 0.0
            share = (height + 1.0) / 2.0
            radius *= radii[0] + (radii[1] - radii[0]) * share
            rings.append(_circle(start.lerp(end, share), radius, across, along_side, detail))
        self.loft(rings, material, bone)

    def tube(
        self,
        start: Sequence[float],
        end: Sequence[float],
        radius: float,
        material: bpy.types.Material,
        bone: str = "",
        *,
        detail: int = 10,
    ) -> None:
        """Add an open tube, for bars whose ends are hidden."""
        start, end = Vector(start), Vector(end)
        across = _cross_section(end - start)
        self.loft([_circle(centre, radius, *across, detail) for centre in (start, end)], material, bone)

    def torus(
        self,
        centre: Sequence[float],
        axis: Sequence[float],
        radii: tuple[float, float],
        material: bpy.types.Material,
        bone: str | Weights = "",
        *,
        detail: int = 18,
    ) -> None:
        """Add a torus about *axis*; *radii* are those of the ring and of its tube."""
        across, along_side = _cross_section(Vector(axis))
        up = Vector(axis).normalized()
        rings = []
        for step in range(detail):
            angle = 2.0 * pi * step / detail
            outwards = across * cos(angle) + along_side * sin(angle)
            rings.append(_circle(Vector(centre) + outwards * radii[0], radii[1], up, outwards, max(6, detail // 3)))
        weights = [bone] * len(rings) if isinstance(bone, dict) else bone
        self.loft(rings, material, weights, joined=True)

    def make_object(
        self, name: str, collection: bpy.types.Collection, armature: bpy.types.Object | None = None
    ) -> bpy.types.Object:
        """Make the mesh object, skinned to *armature* if there is one."""
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(on_fine_grid(self._points), [], self._faces)
        materials = list(dict.fromkeys(self._face_materials))
        for material in materials:
            mesh.materials.append(material)
        mesh.polygons.foreach_set("material_index", [materials.index(m) for m in self._face_materials])
        mesh.shade_smooth()
        mesh.validate()
        model = bpy.data.objects.new(name, mesh)
        collection.objects.link(model)
        if armature is not None:
            self._skin(model, armature)
        return model

    def _skin(self, model: bpy.types.Object, armature: bpy.types.Object) -> None:
        for index, weights in enumerate(self._weights):
            for bone, weight in weights.items():
                group = model.vertex_groups.get(bone) or model.vertex_groups.new(name=bone)
                group.add([index], weight, "REPLACE")
        model.parent = armature
        modifier = model.modifiers.new("Armature", "ARMATURE")
        modifier.object = armature


def on_fine_grid(points: Iterable[Sequence[float]]) -> list[tuple[float, ...]]:
    """Move points to the nearest place on a grid of a quarter of a millimetre.

    Such coordinates have short binary fractions, and the saved file is smaller for it.
    """
    return [tuple(round(part * 4096.0) / 4096.0 for part in point) for point in points]


def _faces_between(low: int, low_count: int, high: int, high_count: int) -> list[tuple[int, ...]]:
    """Return the faces between two rings, given by their first index and number of points."""
    faces: list[tuple[int, ...]] = []
    for i in range(max(low_count, high_count)):
        j = (i + 1) % max(low_count, high_count)
        if low_count == 1:
            faces.append((low, high + j, high + i))
        elif high_count == 1:
            faces.append((low + i, low + j, high))
        else:
            faces.append((low + i, low + j, high + j, high + i))
    return faces


def _cross_section(axis: Vector) -> tuple[Vector, Vector]:
    """Return two unit vectors that span the plane across *axis*, right-handed about it."""
    across = BACK.cross(axis)
    if across.length < 1e-6:
        across = Vector((1.0, 0.0, 0.0))
    across.normalize()
    return across, axis.normalized().cross(across)


def _circle(centre: Vector, radius: float, across: Vector, side: Vector, count: int) -> list[Vector]:
    """Return a circle's points, or its centre alone when it has no radius."""
    if radius == 0.0:
        return [centre.copy()]
    angles = [2.0 * pi * step / count for step in range(count)]
    return [centre + radius * (across * cos(angle) + side * sin(angle)) for angle in angles]
