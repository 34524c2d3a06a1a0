"""The tutorial's walk over a hill, by mouse and keys: rig, plant, move a footprint, update, bake.

    blender sample_scenes/biped_capture.blend --python tests/window/hill.py -- FOLDER

The add-on must be enabled. FOLDER gets a picture of each step. Blender ends with status 1 if a step does not do what
docs/tutorial.md says.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).parent))

import driver as d

STANDS = range(83, 88)
"""Frames in which the left foot stands on its whole sole, on the way down the hill."""
STILL = 1e-4
"""Meters by which a foot may move that stands."""
MOVED = Vector((0.2, 0.0, 0.0))


def rig() -> bpy.types.Object:
    return next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")


def shot(name: str) -> None:
    d.picture(d.out_folder() / f"{name}.png")


def ankles() -> np.ndarray:
    """Where the left ankle is while it stands, (frames, 3)."""
    found = []
    for frame in STANDS:
        bpy.context.scene.frame_set(frame)
        shown = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(shown.matrix_world @ shown.pose.bones["foot.L"].head)
    return np.array(found)


def slide() -> float:
    return float(np.linalg.norm(np.ptp(ankles(), axis=0)))


def until(done: Callable[[], bool]) -> d.Steps:
    """Wait for what goes on in steps."""
    for _ in range(100):
        yield 0.5
        if done():
            yield 0.5
            return
    raise TimeoutError("it did not end")


def is_idle() -> bool:
    with d.over():
        return bpy.ops.analytic_ik.plant_again.poll()


def steps() -> d.Steps:
    bpy.context.scene.render.use_lock_interface = True  # else the panel speaks of renders
    assert slide() > 100.0 * STILL, "the capture does not slide"
    yield from d.open_sidebar("Analytic IK")
    yield from d.click_button("analytic_ik.rig_legs")
    yield 0.5
    assert slide() > 100.0 * STILL, "rigged, the capture is another"
    shot("1_rigged")
    yield from plant_on_hill()
    yield from move_a_footprint()
    yield from bake()


def plant_on_hill() -> d.Steps:
    """The button opens the dialog; it is filled in by a script, and confirmed by a key."""
    yield from d.click_button("analytic_ik.plant_feet")
    yield 0.7
    shot("3_dialog")
    yield from d.press("Escape")
    yield from d.move(d.middle())
    with d.over():
        bpy.ops.analytic_ik.plant_feet("INVOKE_DEFAULT", ground="OBJECT", ground_object="Hill", footprints=True)
    yield 0.7
    yield from d.press("Return")
    yield from until(is_idle)
    assert slide() < STILL, f"planted, the foot slides by {slide()}"
    shot("4_planted")


def move_a_footprint() -> d.Steps:
    """In Object Mode, a click selects the footprint; G X 0.2 moves it."""
    bpy.context.scene.frame_set(60)
    yield from d.press("ctrl+Tab", d.middle())
    assert bpy.context.mode == "OBJECT", bpy.context.mode
    footprint = bpy.data.objects["Footprint 0080 foot.L"]
    yield from d.click(d.pixel_of(footprint.matrix_world.translation))
    assert bpy.context.object == footprint, bpy.context.object.name
    before, start = ankles().mean(axis=0), footprint.location.copy()
    for key in ("g", "x", "0", "period", "2", "Return"):
        yield from d.press(key)
    assert (footprint.location - start - MOVED).length < STILL, footprint.location - start
    shot("5_footprint")
    yield from d.click_button("analytic_ik.plant_again")
    yield from until(is_idle)
    way = Vector(ankles().mean(axis=0) - before)
    assert (way - MOVED).length < 0.005, f"the foot moved by {tuple(way)}"
    assert slide() < STILL
    shot("6_updated")


def bake() -> d.Steps:
    """With the footprint active, the button bakes the armature of its leg."""
    yield from d.click_button("analytic_ik.bake")
    yield 0.7
    yield from d.press("Return")
    yield from until(lambda: not any(bone.analytic_ik_enabled for bone in rig().pose.bones))
    assert slide() < STILL, f"baked, the foot slides by {slide()}"
    bpy.context.scene.frame_set(86)
    yield 0.5
    shot("7_baked")
    print(f"Baked: the foot slides by {slide():.1e} m", flush=True)


if __name__ == "__main__":
    d.run(steps, minutes=10.0)
