"""What can be felt: `python -m benchmarks.felt [--rounds N] [--rows PATTERN] [--write]`.

Milliseconds of the main thread's processor time. What is done by hand is done to the same scene with Blender's IK too,
and what that takes is subtracted: the rest is the add-on's. Where Blender has nothing like it all of it counts. What is
done often counts as in the lowest quarter of the times, so that a machine that others use tells little; of that the
median over alternating rounds. --write puts the table into docs/performance.md.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from math import sin
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import thread_time

import bpy

import ik_addon
from ik_addon.authoring.rigging import rig_legs
from ik_addon.rig.live import handlers as live

from . import captures, grabbing, legs, pages, panels, rigify, start

STEPS = 100
"""How often something is moved by hand in a round."""


@dataclass(frozen=True)
class Row:
    """A line of the table: what one measures with Analytic IK, less what it measures with Blender's IK if it can."""

    name: str
    goal: str
    measures: tuple[Callable[[str], float], ...]
    """Seconds with a contender, OURS or BLENDER; a cell has one figure for each."""
    beside: bool = False

    def cell(self, rounds: int) -> str:
        """Its figures, in milliseconds."""
        found = []
        for measure in self.measures:
            # Operators print their reports.
            with redirect_stdout(sys.stderr):
                seconds = [measure("OURS") - (measure("BLENDER") if self.beside else 0.0) for _ in range(rounds)]
            found.append(f"{1e3 * median(seconds):.2g}")
        return ", ".join(str(round(float(each))) if "e" in each else each for each in found)


def timed(act: Callable[[], object]) -> float:
    """Seconds that something takes."""
    begin = thread_time()
    act()
    return thread_time() - begin


def calm(seconds: Sequence[float]) -> float:
    """What the lowest quarter does not exceed."""
    return quantiles(seconds, n=4)[0]


def moved(build: Callable[..., bpy.types.Object], what: str, contender: str, **scene: object) -> float:
    """Seconds of one step in which an Empty, or a bone, is moved by hand."""
    ob = build(contender=contender, **scene)
    own = bpy.data.objects.get(what) or ob.pose.bones[what]
    at = own.location.copy()

    def act(step: int) -> None:
        own.location = (at.x + 0.05 * sin(0.3 * step), at.y, at.z + 0.05 * sin(0.1 * step))
        bpy.context.view_layer.update()

    return calm([timed(partial(act, step)) for step in range(2 * STEPS)][STEPS:])


def undone(count: int, then: str, contender: str) -> float:
    """Seconds of the first move, or of a frame, after an undo, in a scene of so many legs."""
    legs.build(count, contender)
    bpy.context.scene.frame_set(2)
    bpy.ops.ed.undo_push(message="before")

    def act() -> None:
        if then == "move":
            foot.location.z += 0.01
            bpy.context.view_layer.update()
        else:
            bpy.context.scene.frame_set(3)

    taken = []
    for k in range(5):
        bpy.data.objects["foot.0"].delta_location.x = 0.01 * (k + 1)
        bpy.context.view_layer.update()
        bpy.ops.ed.undo_push(message="after")
        bpy.ops.ed.undo()
        bpy.context.view_layer.update()
        foot = bpy.data.objects["foot.0"]
        taken.append(timed(act))
    return calm(taken)


def redrawn(count: int, _: str) -> float:
    """Seconds of a redraw of the tab, as it is at first, once the active control was moved, with so many legs."""
    ob = legs.build(count, "OURS", spare=2)
    tip = next(bone for bone in ob.pose.bones if bone.analytic_ik_enabled)
    bpy.context.view_layer.objects.active = target = tip.analytic_ik_target
    panels.redraw(at_first=True)
    taken = []
    for _ in range(panels.REDRAWS):
        target.location.z += 0.001
        bpy.context.view_layer.update()
        taken.append(timed(partial(panels.redraw, at_first=True)))
    return calm(taken)


def baked(clips: int, _: str) -> float:
    """Seconds of a bake of all clips, of 250 frames, of an armature of 300 bones with 4 legs."""
    ob = legs.build(4, "OURS", spare=291, body_keys=True)
    for _ in range(1, clips):
        ob.animation_data.action.copy().use_fake_user = True
    # The same controls move it in all of them.
    ob.analytic_ik_record_controls.clear()
    frames = {"frame_start": 1, "frame_end": 250} if clips == 1 else {"clips": "ALL"}
    return timed(lambda: bpy.ops.analytic_ik.bake(**frames))


def over_a_capture(plant: bool, _: str) -> float:
    """Seconds, for each limb and frame, of *Rig Legs* or *Plant Feet* over a capture of 1000 frames."""
    live.unregister()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    frames = range(1, 1001)
    bpy.context.scene.frame_end = frames[-1]
    ob = captures.walker(bpy.context.scene, frames)
    live.register()
    seconds = timed(lambda: rig_legs(bpy.context, ob))
    if plant:
        seconds = timed(lambda: bpy.ops.analytic_ik.plant_feet(anyway=True))
    return seconds / (2 * len(frames))


def started(_: str) -> float:
    """Seconds that the add-on adds to Blender's start, in processes of their own; the first one compiles."""
    with TemporaryDirectory() as compiled:
        return calm([start.seconds(compiled)[1] for _ in range(9)][1:])


def dragged(metarig: str, _: str) -> float:
    """Seconds of a step of *Grab*, with Blender's update."""
    session, random = grabbing.GrabSession(bpy.context, grabbing.ready(metarig, "metarig")), Random(3)
    return calm([grabbing.step(session, random)[0] for _ in range(300)])


def rows() -> Iterator[Row]:
    """All lines."""
    four = partial(moved, partial(legs.build, 4, spare=16))
    two = partial(moved, partial(legs.build, 2, body=True))
    rig = partial(moved, rigify.build)
    yield Row("Blender's start", "100", (started,))
    yield Row("a control is moved by hand, 4 limbs", "0.5", (partial(four, "foot.0"),), True)
    yield Row("the hips; another bone, 4 limbs", "0.5", (partial(four, "root"), partial(four, "spare.0")), True)
    yield Row(
        "a control; the hips, 2 limbs and a body that follows",
        "0.5",
        (partial(two, "foot.0"), partial(two, "root")),
        True,
    )
    yield Row(
        "a foot; the head of a converted Rigify character", "2", (partial(rig, "foot_ik.L"), partial(rig, "head")), True
    )
    for then, goal in (("move", "4, 40"), ("frame", "")):
        name = f"the first {then} after an undo, 40; 400 chains"
        yield Row(name, goal, tuple(partial(undone, count, then) for count in (40, 400)), True)
    yield Row(
        "a redraw of the tab, 40; 400 chains, while a control is dragged",
        "1 for 40",
        tuple(partial(redrawn, count) for count in (40, 400)),
    )
    yield Row(
        "a step of *Grab* with Blender's update, Rigify's human; horse; 200 bones",
        "2, 4, 4",
        tuple(partial(dragged, each) for each in (*grabbing.METARIGS, grabbing.MANY)),
    )
    yield Row(
        "a bake of 250 frames, 4 legs of 300 bones: one clip; 20 clips",
        "1000 for all",
        (partial(baked, 1), partial(baked, 20)),
    )
    yield Row(
        "*Rig Legs*; *Plant Feet* over 1000 frames, for each limb and frame",
        "0.1",
        (partial(over_a_capture, False), partial(over_a_capture, True)),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--rows", type=re.compile, default=re.compile(""), metavar="PATTERN", help="only rows whose name holds this"
    )
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    chosen = parser.parse_args()
    ik_addon.register()
    print(f"Blender {bpy.app.version_string}\n")
    chosen_rows = (row for row in rows() if chosen.rows.search(row.name))
    page = pages.Page("performance.md", chosen.write, is_part=bool(chosen.rows.pattern))
    page.keep("felt", ("what", "ms", "goal"), ((row.name, row.cell(chosen.rounds), row.goal) for row in chosen_rows))
    sys.stdout.flush()
    # Older Blenders crash or hang at Python's ordinary exit.
    os._exit(0)


if __name__ == "__main__":
    main()
