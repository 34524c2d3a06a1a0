"""The next of many characters: `python -m benchmarks.many [--json] [--rounds N] [--sizes N ...] [--cpu] [--write]`.

Characters with two legs each stand in one scene, with live chains. One more is rigged, by properties, by *Rig Legs* and
by *Add*; then a target of the first one is dragged. Each is measured with the add-on's handlers, and without them in
the same scene: what Blender itself takes for it, which grows with the scene. Times are medians over the rounds, in
milliseconds; `own` is the difference, and `to the first` how many times that of a scene with one character it is. A
drag is measured beside Blender's IK constraint instead, in a scene of as many characters. With --cpu processor time is
counted, of all threads: it is steadier where others use the machine.
"""

import argparse
import os
import sys
from collections.abc import Callable
from itertools import pairwise
from statistics import median

import bpy

import ik_addon
from ik_addon.rig.live import handlers as live

from . import pages
from .rounds import clock, parsed, show

JOINTS = {"thigh": (0.0, 1.0), "shin": (-0.05, 0.5), "foot": (0.0, 0.06), "toe": (-0.12, 0.01), "": (-0.2, 0.0)}
SIDES = {"L": 0.1, "R": -0.1}
SIZES = (1, 10, 20, 40, 100)
DRAGS = 100

Act = Callable[[bpy.types.Object], None]


def character(number: int) -> bpy.types.Object:
    """A body with two legs."""
    data = bpy.data.armatures.new(f"body {number}")
    ob = bpy.data.objects.new(data.name, data)
    bpy.context.collection.objects.link(ob)
    _choose(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    hips = data.edit_bones.new("hips")
    hips.head, hips.tail = (0.0, 0.0, 1.0), (0.0, 0.0, 1.2)
    for side, x in SIDES.items():
        parent = hips
        for name, after in pairwise(JOINTS):
            bone = data.edit_bones.new(f"{name}.{side}")
            bone.head, bone.tail = (x, *JOINTS[name]), (x, *JOINTS[after])
            bone.parent = parent
            parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.location.x = float(number)
    return ob


def _choose(ob: bpy.types.Object) -> None:
    for other in bpy.context.selected_objects:
        other.select_set(False)
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob


def _empty(ob: bpy.types.Object, location: tuple[float, float, float]) -> bpy.types.Object:
    empty = bpy.data.objects.new(f"{ob.name} control", None)
    empty.location = location
    bpy.context.collection.objects.link(empty)
    return empty


def by_properties(ob: bpy.types.Object) -> None:
    """Targets, pole targets and chains, as a script makes them."""
    for side, x in SIDES.items():
        tip = ob.pose.bones[f"shin.{side}"]
        tip.analytic_ik_target = _empty(ob, (ob.location.x + x, 0.0, 0.06))
        tip.analytic_ik_pole_target = _empty(ob, (ob.location.x + x, -1.0, 0.5))
        tip.analytic_ik_chain_count = 2
        tip.analytic_ik_enabled = True
    bpy.context.view_layer.update()


def by_constraints(ob: bpy.types.Object) -> None:
    """The same with Blender's IK."""
    for side, x in SIDES.items():
        made = ob.pose.bones[f"shin.{side}"].constraints.new("IK")
        made.target, made.chain_count = _empty(ob, (ob.location.x + x, 0.0, 0.06)), 2
        made.pole_target, made.pole_angle = _empty(ob, (ob.location.x + x, -1.0, 0.5)), -1.5708
    bpy.context.view_layer.update()


def by_rig_legs(ob: bpy.types.Object) -> None:
    """*Rig Legs*."""
    _choose(ob)
    bpy.ops.analytic_ik.rig_legs()
    bpy.context.view_layer.update()


def by_add(ob: bpy.types.Object) -> None:
    """*Add*, for each leg."""
    _choose(ob)
    bpy.ops.object.mode_set(mode="POSE")
    for side in SIDES:
        ob.data.bones.active = ob.data.bones[f"shin.{side}"]
        bpy.ops.analytic_ik.add()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()


WAYS: dict[str, Act] = {"properties": by_properties, "Rig Legs": by_rig_legs, "Add": by_add}


def scene_of(count: int, rig: Act) -> tuple[bpy.types.Object, list[bpy.types.Object]]:
    """A scene of so many rigged characters: the first one, and those that wait to be rigged."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    first, *others = [character(number) for number in range(count)]
    bpy.context.view_layer.update()
    for ob in (first, *others):
        rig(ob)
    waiting = [character(-1 - number) for number in range(len(WAYS) + 1)]
    bpy.context.view_layer.update()
    return first, waiting


def _seconds(act: Callable[[], None]) -> float:
    start = clock()
    act()
    return clock() - start


def _drag(target: bpy.types.Object) -> float:
    """Seconds of one step while a target is dragged."""

    def steps() -> None:
        for number in range(DRAGS):
            target.location.z = 0.06 + 0.001 * (number % 9)
            bpy.context.view_layer.update()

    steps()
    return _seconds(steps) / DRAGS


def turn(count: int) -> dict[str, float]:
    """Seconds of each row with and without handlers, and of Blender's IK, in scenes of so many characters."""
    found = {}
    for handled in (True, False):
        live.register()
        first, (spare, *waiting) = scene_of(count, by_properties)
        # The first one of a session pays for what is imported only then.
        by_rig_legs(spare)
        if handled:
            found["drag"] = _drag(first.pose.bones["shin.L"].analytic_ik_target)
        else:
            live.unregister()
        for (name, rig), ob in zip(WAYS.items(), waiting, strict=True):
            found[name if handled else f"{name}, Blender"] = _seconds(lambda rig=rig, ob=ob: rig(ob))
    first, _ = scene_of(count, by_constraints)
    found["drag, Blender"] = _drag(first.pose.bones["shin.L"].constraints[0].target)
    return found


def main() -> None:
    """Measure, show the rows, and end the process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="scenes of each size (default 5)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="how many characters, the fewest first")
    chosen = parsed(parser)
    ik_addon.register()
    turn(1)
    found = {size: [] for size in chosen.sizes}
    for _ in range(chosen.rounds):
        for size, rounds in found.items():
            rounds.append(turn(size))
    rows = []
    for name in (*WAYS, "drag"):
        first = None
        for size, rounds in found.items():
            ours, peer = (median(each[key] for each in rounds) for key in (name, f"{name}, Blender"))
            own = median(each[name] - each[f"{name}, Blender"] for each in rounds)
            first = first or own
            rows.append(
                {
                    "what": name,
                    "characters": size,
                    "Analytic IK, ms": 1e3 * ours,
                    "Blender's, ms": 1e3 * peer,
                    "own, ms": 1e3 * own,
                    "to the first": own / first,
                    "Analytic IK / Blender's": median(each[name] / each[f"{name}, Blender"] for each in rounds),
                }
            )
    print(f"Blender {bpy.app.version_string}, rounds {chosen.rounds}")
    print()
    page = pages.Page("performance.md", chosen.write, chosen.sizes != SIZES, f"time {clock}")
    show(rows, chosen.json, page=page, place="many", keys=2)
    sys.stdout.flush()
    # Older Blenders crash or hang at Python's ordinary exit.
    os._exit(0)


if __name__ == "__main__":
    main()
