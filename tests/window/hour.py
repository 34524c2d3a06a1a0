"""An animator's hour, in the order in which one works: a capture is rigged and planted by one button, a step is
corrected, a foot is switched to FK within the shot, a pose is mirrored, the clip is made a loop, a foot goes along with
a prop that is animated last, and all is baked: by mouse and keys, and what is clicked is counted.

    blender sample_scenes/biped_capture.blend -p 0 0 1280 720 --python tests/window/hour.py -- FOLDER

The add-on must be enabled. FOLDER gets a picture of each step. Blender ends with status 1 where a step does not do what
it should or takes more clicks than `MOST`.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).parent))

import driver as d
from controls import choose, control, missed

MOST = {"plant": 3, "correct": 3, "FK and back": 2, "mirror": 2, "loop": 2, "lock": 2, "bake": 2}
"""Clicks and keys for which each of these is done, with the tab open and the character selected by one of them."""
MET = 1e-4
"""Meters by which a foot may be off."""
STANDS = range(83, 88)
"""Frames in which the left foot stands on its whole sole."""

clicks = 0


def rig() -> bpy.types.Object:
    return next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")


def tip(side: str) -> bpy.types.PoseBone:
    return rig().pose.bones[f"shin.{side}"]


def foot(side: str = "L") -> Vector:
    """Where an ankle is, in the world."""
    shown = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
    return shown.matrix_world @ shown.pose.bones[f"foot.{side}"].head


def slide() -> float:
    """How far the left foot goes while it stands."""
    found = []
    for frame in STANDS:
        bpy.context.scene.frame_set(frame)
        found.append(foot())
    return float(np.linalg.norm(np.ptp(np.array(found), axis=0)))


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


def shot(name: str) -> None:
    d.picture(d.out_folder() / f"{name}.png")


def button(what: str, **where) -> d.Steps:
    """A click on a button, without a scroll if it is in view."""
    global clicks
    clicks += 1
    yield from d.click_button(what, **where)


def key(keys: str) -> d.Steps:
    global clicks
    clicks += 1
    yield from d.press(keys)


def confirm() -> d.Steps:
    """Return in a dialog, over its title: over a search field it opens that."""
    d.xdotool("mousemove_relative", "--", 0, -round(42 * bpy.context.preferences.view.ui_scale))
    yield 0.3
    yield from key("Return")


def counted(job: str) -> None:
    """Say how many clicks a job took, and begin to count anew."""
    global clicks
    print(f"{job}: {clicks} clicks", flush=True)
    assert clicks <= MOST.get(job, clicks), (job, clicks)
    clicks = 0


def at_frame(frame: int) -> d.Steps:
    bpy.context.scene.frame_set(frame)
    yield 0.3


def steps() -> d.Steps:
    bpy.context.scene.render.use_lock_interface = True  # else the panel speaks of renders
    yield from d.open_sidebar("Analytic IK")
    jobs = [plant_at_once, correct_a_step, switch_in_the_shot, mirror, loop, lock_to_a_prop, bake]
    for job in jobs:
        yield from job()
    print("The hour is over", flush=True)


def plant_at_once() -> d.Steps:
    """The character is selected, *Plant Feet* rigs it, and its dialog is confirmed."""
    assert slide() > 100.0 * MET, "the capture does not slide"
    yield from d.press("ctrl+Tab", d.middle())
    if bpy.context.mode != "OBJECT":
        with d.over():
            bpy.ops.object.mode_set(mode="OBJECT")
    global clicks
    clicks = 1  # the one that selected it
    shot("1_unrigged")
    yield from button("analytic_ik.plant_feet")
    yield 0.7
    shot("1_plant_dialog")
    yield from confirm()
    yield from until(is_idle)
    counted("plant")
    shot("1_planted")
    assert slide() < MET, f"planted, the foot slides by {slide()}"


def correct_a_step() -> d.Steps:
    """A control is moved in the middle of a stance and *Apply Correction* eases it in and out."""
    yield from at_frame(85)
    global clicks
    clicks = 0
    was = foot()
    yield from choose(tip("L"))
    clicks += 1
    yield from d.press("g", d.pixel_of(was))
    clicks += 1
    for each in ("x", "0", "period", "1", "Return"):
        yield from d.press(each)
    moved = foot()
    shot("2_moved")
    assert (moved - was).length > 0.05
    yield from button("analytic_ik.apply_correction")
    yield 0.7
    shot("2_correction_dialog")
    counted("correct")
    yield from until(is_idle)
    shot("2_corrected")
    assert (foot() - moved).length < 5e-3, (foot() - moved).length


def switch_in_the_shot() -> d.Steps:
    """With Auto Keying on: the frames before the switch stay as they are."""
    global clicks
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    yield from choose(tip("R"))
    yield from at_frame(20)
    before = foot("R")
    yield from at_frame(60)
    here, clicks = foot("R"), 0
    yield from button("analytic_ik.switch_to_fk")
    shot("3_fk")
    assert tip("R").analytic_ik_influence == 0.0 and (foot("R") - here).length < MET
    yield from at_frame(80)
    yield from button("analytic_ik.switch_to_ik")
    counted("FK and back")
    assert tip("R").analytic_ik_influence == 1.0
    yield from at_frame(20)
    assert (foot("R") - before).length < MET, "a frame before the switch has changed"
    assert tip("R").analytic_ik_influence == 1.0
    shot("3_switched")
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False


def mirror() -> d.Steps:
    """Blender's own *Copy Pose* and *Paste Pose Flipped* mirror controls."""
    global clicks
    yield from at_frame(85)
    yield from choose(tip("L"))
    _, own = control(tip("L"))
    left = rig().pose.bones[own.name].matrix.copy()
    clicks = 0
    yield from d.press("ctrl+c", d.middle())
    yield from d.press("ctrl+shift+v", d.middle())
    clicks += 2
    counted("mirror")
    _, other = control(tip("R"))
    place = rig().pose.bones[other.name].matrix.translation
    shot("4_mirrored")
    off = place - Vector((-left.translation.x, left.translation.y, left.translation.z))
    assert off.length < 1e-3, off
    assert missed(tip("R")) < 0.2
    yield from d.press("ctrl+z", d.middle())


def lock_to_a_prop() -> d.Steps:
    """The foot is locked to a box; the box is animated afterwards, and the foot goes along."""
    global clicks
    yield from at_frame(85)
    with d.over():
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.mesh.primitive_cube_add(size=0.2, location=foot() + Vector((0.3, 0.0, 0.0)))
    box = bpy.context.object
    yield 0.5
    for each in bpy.context.scene.objects:
        each.select_set(each in (box, rig()))
    bpy.context.view_layer.objects.active = rig()
    with d.over():
        bpy.ops.object.mode_set(mode="POSE")
    yield from choose(tip("L"))
    box.select_set(True)
    clicks = 0
    yield from button("analytic_ik.lock_to_object")
    yield 0.7
    shot("6_lock_dialog")
    yield from confirm()
    yield from until(is_idle)
    counted("lock")
    shot("6_locked")
    for frame in (75, 85, 95):
        box.location.z = box.location.z + 0.03
        box.keyframe_insert("location", frame=frame)
    shown = box.evaluated_get(bpy.context.evaluated_depsgraph_get())
    offs = []
    for frame in STANDS:
        yield from at_frame(frame)
        shown = box.evaluated_get(bpy.context.evaluated_depsgraph_get())
        offs.append(shown.matrix_world.inverted() @ foot())
    apart = max((a - offs[0]).length for a in offs)
    print(f"The foot keeps to the box within {apart:.1e} m", flush=True)
    shot("6_prop_animated")
    assert apart < 1e-3, apart


def loop() -> d.Steps:
    """*Make Loop* makes a new action of one cycle, whose ends are one pose; it is undone."""
    global clicks
    own = rig().animation_data.action.name
    clicks = 1  # its button: the panel *Root Motion* is closed, and opened once
    with d.over():
        bpy.ops.analytic_ik.make_loop("INVOKE_DEFAULT")
    yield 0.7
    shot("5_loop_dialog")
    yield from confirm()
    yield from until(is_idle)
    counted("loop")
    action = rig().animation_data.action
    assert action.name != own, "there is no loop"
    ends = []
    for frame in map(round, action.frame_range):
        yield from at_frame(frame)
        ends.append([rig().matrix_world.inverted() @ foot(side) - root() for side in "LR"])
    shot("5_loop")
    apart = max((a - b).length for a, b in zip(*ends, strict=True))
    print(f"The ends of the loop are {apart:.1e} m apart", flush=True)
    assert apart < 1e-3, apart
    yield from d.press("ctrl+z", d.middle())
    assert rig().animation_data.action.name == own


def root() -> Vector:
    """Where the hips are on the ground, in the armature."""
    shown = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
    return shown.pose.bones["hips"].head * Vector((1.0, 1.0, 0.0))


def bake() -> d.Steps:
    global clicks
    clicks = 0
    poses = {}
    for frame in (20, 60, 85):
        yield from at_frame(frame)
        poses[frame] = foot(), foot("R")
    yield from button("analytic_ik.bake")
    yield 0.7
    shot("7_bake_dialog")
    yield from confirm()
    yield from until(lambda: not any(bone.analytic_ik_enabled for bone in rig().pose.bones))
    counted("bake")
    for frame, (left, right) in poses.items():
        yield from at_frame(frame)
        assert max((foot() - left).length, (foot("R") - right).length) < MET, frame
    shot("7_baked")


if __name__ == "__main__":
    d.run(steps, minutes=12.0)
