"""The shapes of control bones: a few meshes in a hidden collection, shared by all armatures of a file."""

from itertools import pairwise
from math import cos, pi, sin

import bpy

from .homes import is_local

_HOME = "Analytic IK Widgets"
_STEPS = 32
"""Edges of a circle."""
_HEEL = 0.78
"""Width of a foot's outline at its heel, as a part of the width at its ball."""
_CORNER = 0.5
"""Exponent of the superellipse that rounds a foot's outline: 1 is an ellipse, 0 a rectangle."""

Lines = list[list[tuple[float, float, float]]]


def _circle() -> list[tuple[float, float]]:
    turns = [2.0 * pi * k / _STEPS for k in range(_STEPS + 1)]
    return [(cos(turn), sin(turn)) for turn in turns]


def _foot() -> Lines:
    """A closed outline in the XY plane from -1 to 1, its toes at Y = 1."""

    def rounded(value: float) -> float:
        return abs(value) ** _CORNER * (1.0 if value > 0.0 else -1.0)

    def width(y: float) -> float:
        return _HEEL + (1.0 - _HEEL) * min(1.0, (y + 1.0) / 1.2)

    points = [(rounded(x), rounded(y)) for x, y in _circle()]
    return [[(x * width(y), y, 0.0) for x, y in points]]


def _sphere() -> Lines:
    """Three circles with radius 1."""
    circle = _circle()
    return [
        [(x, y, 0.0) for x, y in circle],
        [(x, 0.0, y) for x, y in circle],
        [(0.0, x, y) for x, y in circle],
    ]


_SHAPES = {"FOOT": ("Analytic IK Foot", _foot), "SPHERE": ("Analytic IK Sphere", _sphere)}


def widget(scene: bpy.types.Scene, shape: str) -> bpy.types.Object:
    """The mesh object of a shape, FOOT or SPHERE; it is made if the file has none yet."""
    home = next((each for each in bpy.data.collections if each.name == _HOME and is_local(each)), None)
    if home is None:
        home = bpy.data.collections.new(_HOME)
        home.hide_viewport = home.hide_render = True
        scene.collection.children.link(home)
    name, lines = _SHAPES[shape]
    found = next((ob for ob in home.objects if ob.data and ob.data.name.startswith(name) and is_local(ob)), None)
    if found is None:
        found = bpy.data.objects.new(name, _mesh(name, lines()))
        home.objects.link(found)
    return found


def is_widget(ob: bpy.types.Object) -> bool:
    """Whether an object is the shape of control bones."""
    return is_local(ob) and any(each.name == _HOME for each in ob.users_collection)


def _mesh(name: str, lines: Lines) -> bpy.types.Mesh:
    points, edges = [], []
    for line in lines:
        first = len(points)
        # The last point of a closed line is its first one.
        points += line[:-1]
        numbers = [first + k % (len(line) - 1) for k in range(len(line))]
        edges += pairwise(numbers)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, edges, [])
    return mesh


def remove_unused_widgets() -> None:
    """Delete the widgets that no bone of the file shows any more, and their collection once it is empty."""
    home = next((each for each in bpy.data.collections if each.name == _HOME and is_local(each)), None)
    if home is None:
        return
    shown = {bone.custom_shape for ob in bpy.data.objects if ob.type == "ARMATURE" for bone in ob.pose.bones}
    for ob in [ob for ob in home.objects if ob not in shown and is_local(ob)]:
        mesh = ob.data
        bpy.data.objects.remove(ob)
        if isinstance(mesh, bpy.types.Mesh) and mesh.users == 0:
            bpy.data.meshes.remove(mesh)
    if not home.objects and not home.children:
        bpy.data.collections.remove(home)
