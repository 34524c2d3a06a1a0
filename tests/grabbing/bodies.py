"""Bodies to grab: made here, metarigs that ship with Blender, and characters of a folder; and drags of them."""

import os
from random import Random

import bpy
import numpy as np
from mathutils import Matrix, Vector

from benchmarks.grabbing import direction
from ik_addon.grabbing.scene.reading import GrabBody
from ik_addon.grabbing.solving.body import Body
from ik_addon.grabbing.solving.drag import Drag, GrabbedPose
from ik_addon.grabbing.solving.geometry import Point, add, mul

from ..rig.rigs import BoneSpec, evaluated_copy, new_armature, update

FOLDER = os.environ.get("ANALYTIC_IK_CHARACTERS", "")
"""Of characters as docs/characters.md has them."""

_SPINE = [
    ("hips", (0, 0, 1.0), (0, 0, 1.12), ""),
    ("spine", (0, 0, 1.12), (0, 0.01, 1.3), "hips"),
    ("chest", (0, 0.01, 1.3), (0, 0, 1.5), "spine"),
    ("neck", (0, 0, 1.5), (0, -0.02, 1.6), "chest"),
    ("head", (0, -0.02, 1.6), (0, -0.02, 1.8), "neck"),
]
_SIDE = [
    ("thigh", (0.1, 0, 0.95), (0.1, -0.03, 0.5), "hips"),
    ("shin", (0.1, -0.03, 0.5), (0.1, 0.02, 0.08), "thigh"),
    ("foot", (0.1, 0.02, 0.08), (0.1, -0.1, 0.02), "shin"),
    ("toe", (0.1, -0.1, 0.02), (0.1, -0.18, 0.02), "foot"),
    ("shoulder", (0.03, 0, 1.45), (0.15, 0, 1.47), "chest"),
    ("upper_arm", (0.16, 0, 1.45), (0.2, 0.02, 1.17), "shoulder"),
    ("forearm", (0.2, 0.02, 1.17), (0.24, -0.03, 0.92), "upper_arm"),
    ("hand", (0.24, -0.03, 0.92), (0.25, -0.05, 0.82), "forearm"),
]


def person(moved: Matrix | None = None, world: Matrix | None = None, shins: float | None = None) -> bpy.types.Object:
    """A person whose sides mirror each other to the last digit. moved: all of its joints at rest. shins: their upper
    ends, of the height of the legs."""
    moved = moved or Matrix()
    specs = [*_SPINE]
    for side, sign in (("L", 1), ("R", -1)):
        for name, head, tail, parent in _SIDE:
            carrier = parent if parent in ("hips", "chest") else f"{parent}.{side}"
            if shins is not None:
                head, tail = (each if each[2] != 0.5 else (*each[:2], 0.95 * shins) for each in (head, tail))
            ends = [(sign * x, y, z) for x, y, z in (head, tail)]
            specs.append((f"{name}.{side}", *ends, carrier))
    ob = new_armature(
        "person",
        [
            BoneSpec(
                name, moved @ Vector(head), moved @ Vector(tail), parent, connect=head == dict_of(specs).get(parent)
            )
            for name, head, tail, parent in specs
        ],
    )
    ob.matrix_world = world or Matrix()
    update()
    return ob


def dict_of(specs: list) -> dict[str, Point]:
    """Where bones end, by their names."""
    return {name: tail for name, _, tail, _ in specs}


def body_of(ob: bpy.types.Object) -> Body:
    return GrabBody(ob, bpy.context.evaluated_depsgraph_get()).body


def drags_of(body: Body) -> list[Drag]:
    heads = [Drag("HEAD")] if body.neck else []
    return [Drag("HIPS"), Drag("CHEST"), *heads, *(Drag("LIMB", k) for k in range(len(body.limbs)))]


def random_drag(body: Body, random: Random, farthest: float = 1.0) -> tuple[Drag, Point, dict[int, str]]:
    """What is dragged to where, with what held: all other feet, now and then hands too."""
    drag = random.choice(drags_of(body))
    hands = random.random() < 0.3
    held = {
        k: "BOTH"
        for k, limb in enumerate(body.limbs)
        if k != drag.limb and (limb.found.kind == "LEG" or (hands and random.random() < 0.6))
    }
    far = body.size * farthest * random.random()
    return drag, add(drag.start(body), mul(direction(random), far)), held


def joints(body: Body, pose: GrabbedPose) -> dict[int, np.ndarray]:
    """Where all bones begin, by Blender's matrices, in armature space."""
    return {bone: pose.channels.pose(bone)[:3, 3] for bone in range(len(body.bones.names))}


def evaluated_point(ob: bpy.types.Object, body: Body, bone: int, start: Point) -> np.ndarray:
    """Where a point is as Blender evaluates the bone that carries it; start: where it was in the pose before."""
    local = np.linalg.solve(body.bones.poses[bone], (*start, 1.0))
    return (np.array(evaluated_copy(ob).pose.bones[body.bones.names[bone]].matrix) @ local)[:3]
