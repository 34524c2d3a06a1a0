"""What Grab costs and holds on characters: `uv run python -m benchmarks.grabbing [FOLDER] [--drags N]`.

FOLDER holds characters as benchmarks/characters.py takes them; Rigify's human and horse metarigs are always there, and
the human once more with hair, of 200 bones. Each is dragged to N random places by a random joint, with all other feet
held, and now and then hands. Measured on the bones that Blender evaluates: by how far what is held is off, and by how
much the miss that is told is not the one measured. A step is posing (solving and writing) and Blender's update with
meshes hidden, in thread time. Turns are the largest of any bone from one pixel to the next, 300 of them to a leg, along
200 random straight ways; where one is larger than 4 degrees, also what is left of it in a 256th of that pixel.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from math import acos, degrees
from pathlib import Path
from random import Random
from statistics import median, quantiles
from time import thread_time

import bpy
import numpy as np
from mathutils import Vector

import ik_addon
from benchmarks.character.files import armature_of, importers
from ik_addon.grabbing.scene.posing import GrabSession
from ik_addon.grabbing.solving.body import Body
from ik_addon.grabbing.solving.drag import Drag, GrabbedPose, GrabOptions, grabbed
from ik_addon.grabbing.solving.geometry import Point, add, mul, unit
from ik_addon.solvers import ChainError

METARIGS = ("metarig human", "metarig horse")
MANY = "metarig human with hair"
BONES = 200
"""Of that one."""
PIXELS, WAYS, ALONG = 300, 200, 40
"""To a leg; straight ways, and pixels of each."""
ZOOMED = 4.0
"""Degrees: a turn of a pixel that is larger is looked at closely."""


def sources(folder: str) -> Iterator[tuple[str, str]]:
    """Characters, each with its first import option."""
    yield from ((each, "metarig") for each in (*METARIGS, MANY))
    for path in sorted(Path(folder).rglob("*")) if folder else ():
        yield from ((str(path), option) for option in [*importers(str(path))][:1])


def ready(path: str, option: str = "metarig") -> bpy.types.Object | None:
    """The armature object of a file in its pose, without animation; None if there is none."""
    ob = armature_of(path.removesuffix(" with hair"), option)
    if ob is not None:
        if path == MANY:
            grow_hair(ob)
        basis = {bone.name: bone.matrix_basis.copy() for bone in ob.pose.bones}
        ob.animation_data_clear()
        for bone in ob.pose.bones:
            bone.matrix_basis, bone.scale = basis[bone.name], (1.0, 1.0, 1.0)
        bpy.context.view_layer.update()
    return ob


def grow_hair(ob: bpy.types.Object) -> None:
    """Locks of five bones on its head, until it has the bones that a film's character has."""
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    bones = ob.data.edit_bones
    head = max((bone for bone in bones if bone.name.startswith("spine")), key=lambda bone: bone.tail.z)
    for k in range(BONES - len(bones)):
        bone = bones.new(f"hair.{k:02d}")
        bone.parent = head if k % 5 == 0 else bones[f"hair.{k - 1:02d}"]
        bone.head = bone.parent.tail
        bone.tail = bone.head + Vector((0.01 * (k // 5 - 4), 0.03, 0.02))
    bpy.ops.object.mode_set(mode="OBJECT")


def drag_of(body: Body, random: Random) -> tuple[Drag, Point, dict[int, str]]:
    """What is dragged to where, with what held."""
    heads = [Drag("HEAD")] if body.neck else []
    drag = random.choice([Drag("HIPS"), Drag("CHEST"), *heads, *(Drag("LIMB", k) for k in range(len(body.limbs)))])
    hands = random.random() < 0.3
    held = {k: "BOTH" for k, limb in enumerate(body.limbs) if k != drag.limb and (limb.found.kind == "LEG" or hands)}
    return drag, add(drag.start(body), mul(direction(random), body.size * random.random())), held


def direction(random: Random) -> Point:
    """Any direction."""
    return unit((random.gauss(0, 1), random.gauss(0, 1), random.gauss(0, 1)))


def off(ob: bpy.types.Object, body: Body, bone: int, start: Point, wanted: Point) -> float:
    """How far a point that a bone carries is from a place, as Blender evaluates it, of the longest limb."""
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.pose.bones[body.bones.names[bone]].matrix)
    at = matrix @ np.linalg.solve(body.bones.poses[bone], (*start, 1.0))
    return float(np.linalg.norm(at[:3] - wanted)) / body.size


def largest_turn(body: Body, a: GrabbedPose, b: GrabbedPose) -> float:
    """Of any bone against its parent, in degrees."""
    before = body.bones.turns
    turns = [
        abs(
            sum(
                x * y
                for x, y in zip(a.channels.turns.get(k, before[k]), b.channels.turns.get(k, before[k]), strict=True)
            )
        )
        for k in a.channels.turns.keys() | b.channels.turns.keys()
    ]
    return degrees(2.0 * acos(min([1.0, *turns])))


def turns_over(body: Body, at: Callable[[float], GrabbedPose], pixels: Iterable[float]) -> list[float]:
    """The largest turns from one of some pixels of a way to the next."""
    return [largest_turn(body, a, b) for a, b in pairwise([at(pixel) for pixel in pixels])]


def step(session: GrabSession, random: Random) -> tuple[float, float, Drag, Point, dict[int, str], GrabbedPose]:
    """A step of *Grab* at random: seconds in all, and those of posing; what was dragged where with what held; the
    pose."""
    drag, goal, held = drag_of(session.body, random)
    start = thread_time()
    pose = session.pose(bpy.context, drag, session.world @ Vector(goal), held, GrabOptions())
    posing = thread_time() - start
    bpy.context.view_layer.update()
    return thread_time() - start, posing, drag, goal, held, pose


def row_of(ob: bpy.types.Object, drags: int) -> str:
    """The figures of one character."""
    session, random = GrabSession(bpy.context, ob), Random(3)
    body, seconds, pins, told, unheld = session.body, [], 0.0, 0.0, 0
    for _ in range(drags):
        *taken, drag, goal, held, pose = step(session, random)
        seconds.append(taken)
        unheld += pose.unheld > 1e-9 * body.size
        for k in held:
            limb = body.limbs[k]
            rolls = limb.ball is not None and limb.found.toe in pose.moves
            bone, place = (limb.found.end, limb.ball) if rolls and limb.ball else (limb.links[-1], limb.end)
            pins = max(pins, off(ob, body, bone, place, place))
        if drag.kind == "LIMB":
            limb = body.limbs[drag.limb]
            told = max(told, abs(off(ob, body, limb.links[-1], limb.end, goal) - pose.missed / body.size))
    turns, jumps = [], []
    for _ in range(WAYS):
        drag, goal, held = drag_of(body, random)
        way = mul(direction(random), body.size / PIXELS)

        def at(pixel: float) -> GrabbedPose:
            return grabbed(body, drag, add(goal, mul(way, pixel)), held)  # noqa: B023

        own = turns_over(body, at, range(ALONG))
        turns += own
        first = float(own.index(max(own)))
        if max(own) > ZOOMED:
            # What is left of it in a 256th of the pixel is a jump, or has an infinite slope.
            for width in (1.0, 1.0 / 16.0):
                own = turns_over(body, at, [first + width * k / 16.0 for k in range(17)])
                first += width * own.index(max(own)) / 16.0
            jumps.append(max(own))
    parts = quantiles(turns, n=100)
    whole, posing = zip(*seconds, strict=True)
    cost = (
        f"{median(whole) * 1e3:.2f} ms, posing {median(posing) * 1e3:.2f}, 95 %: {quantiles(whole, n=20)[-1] * 1e3:.2f}"
    )
    most = f"{max(turns):.1f} deg, of it in a 256th: {max(jumps, default=0.0):.2f}"
    return (
        f"{len(body.bones.names):4d} bones {len(body.limbs)} limbs | step {cost} | pins {pins:.1e} told {told:.1e} "
        f"not held {unheld} | turns a pixel: {parts[49]:.2f}, 99 %: {parts[98]:.1f}, most {most}"
    )


def main() -> None:
    """Print a line a character."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default="")
    parser.add_argument("--drags", type=int, default=1000)
    given = parser.parse_args()
    ik_addon.register()
    for path, option in sources(given.folder):
        ob = ready(path, option)
        if ob is None:
            continue
        try:
            print(f"{Path(path).name:30s} {row_of(ob, given.drags)}", flush=True)
        except ChainError as error:
            print(f"{Path(path).name:30s} {error}", flush=True)


if __name__ == "__main__":
    main()
