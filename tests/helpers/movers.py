"""What moves a chain's controls: Empties with keys, constraints, drivers."""

import bpy

from ..rig.rigs import new_empty
from ..scenes import slide


def mover(name: str = "mover", start=(0.0, -0.6, 0.5), end=(0.2, 0.5, 0.3)) -> bpy.types.Object:
    ob = new_empty(name)
    slide(ob, start, end)
    return ob


def turning(name: str = "turning") -> bpy.types.Object:
    """An empty that moves and turns a little, and stays about the origin."""
    ob = mover(name, (0.0, 0.0, 0.0), (0.2, 0.1, -0.1))
    for frame, angle in ((1, -0.1), (12, 0.3)):
        ob.rotation_euler = (angle, -angle, 2.0 * angle)
        ob.keyframe_insert("rotation_euler", frame=frame)
    return ob


def held_by(ob, target: bpy.types.Object, kind: str = "COPY_LOCATION", bone: str = "") -> bpy.types.Constraint:
    constraint = ob.constraints.new(kind)
    constraint.target, constraint.subtarget = target, bone
    return constraint


def drive(owner, path: str, index: int, expression: str, **variable: object) -> None:
    """Drive a number by an expression, in which `v` is a property; variable: what its target is to be."""
    driver = owner.driver_add(path, index).driver
    driver.expression = expression
    if variable:
        read = driver.variables.new()
        read.name, read.type = "v", variable.pop("type", "SINGLE_PROP")
        for name, value in variable.items():
            setattr(read.targets[0], name, value)
