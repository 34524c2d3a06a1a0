"""Ground made from a height function: a block cut out of a landscape, chequered to show what moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor

import bpy

from .shapes import on_fine_grid

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Block:
    """The extent of a block of ground, the depth it is cut to, and how fine it is."""

    x: tuple[float, float]
    y: tuple[float, float]
    bottom: float
    columns: int
    rows: int
    tile: float


def make_ground(
    block: Block,
    height: Callable[[float, float], float],
    tops: tuple[bpy.types.Material, bpy.types.Material],
    soil: bpy.types.Material,
    collection: bpy.types.Collection,
) -> bpy.types.Object:
    """Make the block: its top follows *height* in two alternating colours, its sides are *soil*."""
    xs = _even_steps(*block.x, block.columns)
    ys = _even_steps(*block.y, block.rows)
    points: list[Point] = [(x, y, height(x, y)) for y in ys for x in xs]
    faces: list[tuple[int, ...]] = []
    slots: list[int] = []
    width = block.columns + 1
    for row in range(block.rows):
        for column in range(block.columns):
            corner = row * width + column
            faces.append((corner, corner + 1, corner + width + 1, corner + width))
            middle = (xs[column] + xs[column + 1]) / 2.0, (ys[row] + ys[row + 1]) / 2.0
            slots.append((floor(middle[0] / block.tile) + floor(middle[1] / block.tile)) % 2)
    top_count = len(faces)

    # The sides have corners of their own, which keeps the cut sharp under smooth shading.
    rim = [*range(width), *range(2 * width - 1, len(points), width)]
    rim += [*range(len(points) - 2, len(points) - width - 1, -1), *range(len(points) - 2 * width, 0, -width)]
    upper = len(points)
    lower = upper + len(rim)
    points += [points[i] for i in rim]
    points += [(points[i][0], points[i][1], block.bottom) for i in rim]
    for i in range(len(rim)):
        j = (i + 1) % len(rim)
        faces.append((upper + i, lower + i, lower + j, upper + j))
        slots.append(2)

    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata(on_fine_grid(points), [], faces)
    for material in (*tops, soil):
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", slots)
    mesh.polygons.foreach_set("use_smooth", [i < top_count for i in range(len(faces))])
    mesh.update()
    ground = bpy.data.objects.new("Ground", mesh)
    collection.objects.link(ground)
    return ground


def _even_steps(start: float, end: float, count: int) -> list[float]:
    return [start + (end - start) * i / count for i in range(count + 1)]
