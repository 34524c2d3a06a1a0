"""A character's legs are rigged, posed, baked and checked, and all of it is undone: by mouse and keys alone.

    blender sample_scenes/biped_unrigged.blend --python tests/window/walkthrough.py -- FOLDER

The add-on must be enabled. Pictures of each step go to the folder; Blender ends with status 1 where something is not
as it should be, or where anything left a traceback.
"""

import re
import sys
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).parent))

import driver as d
from controls import choose, place

RIG = "Robot rig"
MET = 1e-4
"""Metres by which a tip may miss its target: a picture's pixel is fifty times as large."""


def rig() -> bpy.types.Object:
    """Looked up anew each time, for an undo replaces it."""
    return bpy.data.objects[RIG]


def tips() -> list[str]:
    return [bone.name for bone in rig().pose.bones if bone.analytic_ik_enabled]


def tail(bone: str) -> Vector:
    """Where a bone's tail is, as evaluated."""
    posed = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
    return posed.matrix_world @ posed.pose.bones[bone].tail


def knee(side: str) -> Vector:
    return tail(f"thigh.{side}")


def foot() -> Vector:
    """Where the control of the left foot is."""
    return place(rig().pose.bones["shin.L"])


def missed(tip: str) -> float:
    return (tail(tip) - place(rig().pose.bones[tip])).length


def state() -> dict:
    """All that the walk through may change and undo must give back."""
    return {
        "objects": sorted(ob.name for ob in bpy.data.objects),
        "actions": sorted(action.name for action in bpy.data.actions),
        "places": {ob.name: [list(row) for row in ob.matrix_world] for ob in bpy.context.scene.objects},
        "bones": {
            bone.name: (
                list(bone.location),
                list(bone.rotation_euler),
                list(bone.rotation_quaternion),
                list(bone.scale),
                [constraint.name for constraint in bone.constraints],
                bone.analytic_ik_enabled,
                bone.analytic_ik_target and bone.analytic_ik_target.name,
                bone.analytic_ik_swivel,
                bone.analytic_ik_use_rotation,
                bone.analytic_ik_reach,
            )
            for bone in rig().pose.bones
        },
        "action": (rig().animation_data and rig().animation_data.action) is not None,
        "keys": keys(),
        "range": (bpy.context.scene.frame_start, bpy.context.scene.frame_end),
        "mode": rig().mode,
        "frame": bpy.context.scene.frame_current,
    }


def changes(before: dict) -> list:
    """What is not as it was."""
    now = state()
    return [(key, before[key], now[key]) for key in before if not same(before[key], now[key])]


def same(a, b) -> bool:
    """Equal, numbers to a rounding error of angles: a chain that is solved anew may differ by that."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return abs(a - b) < 1e-6 if isinstance(a, float) else a == b


def keys() -> int:
    """How many keys the armature has."""
    data = rig().animation_data
    if data is None or data.action is None:
        return 0
    action = data.action
    curves = action.fcurves if hasattr(action, "fcurves") else action.layers[0].strips[0].channelbags[0].fcurves
    return sum(len(curve.keyframe_points) for curve in curves)


def shot(name: str) -> None:
    d.picture(d.out_folder() / f"{name}.png")


def steps() -> d.Steps:
    yield from choose_the_armature()
    before = state()
    yield from rig_the_legs()
    yield from move_a_foot()
    yield from swivel_a_knee()
    yield from dismiss_dialogs()
    make_slow()
    yield 0.5
    yield from cancel_a_bake()
    yield from bake()
    yield from read_the_certificate()
    yield from undo_all(before)


def choose_the_armature() -> d.Steps:
    """A click on a bone, then no bone selected: all legs shall be found."""
    bone = rig().pose.bones["spine"]
    yield from d.click(d.pixel_of(rig().matrix_world @ bone.center))
    assert bpy.context.object == rig()
    assert rig().data.bones.active.name == "spine"
    yield from d.press("alt+a", d.middle())
    yield from d.open_sidebar("Animation")
    shot("1_chosen")


def rig_the_legs() -> d.Steps:
    knees = {side: knee(side) for side in "LR"}
    yield from d.click_button("analytic_ik.rig_legs")
    shot("2_rigged")
    assert tips() == ["shin.L", "shin.R"], tips()
    for side in "LR":
        assert (knee(side) - knees[side]).length < MET
        assert missed(f"shin.{side}") < MET


def move_a_foot() -> d.Steps:
    """A click on the foot's control, and two keys: lifted, and farther away than the leg is long."""
    was = foot()
    yield from choose(rig().pose.bones["shin.L"])
    yield from drag_by(-96, 120, "3_dragging")
    shot("4_dragged")
    assert (foot() - was).length > 0.1
    assert missed("shin.L") < MET
    yield from d.press("i", d.middle())
    yield from d.click(d.pixel_of_frame(60))
    assert bpy.context.scene.frame_current == 60, bpy.context.scene.frame_current
    yield from drag_by(-420, 60)
    yield from d.press("i", d.middle())
    shot("4_out_of_reach")
    assert missed("shin.L") > 0.1
    yield from d.click(d.pixel_of_frame(1))
    assert bpy.context.scene.frame_current == 1
    assert missed("shin.L") < MET


def drag_by(x: int, y: int, name: str = "") -> d.Steps:
    """Move the left foot's control with G. name: of a picture on the way, for a leg that must keep up."""
    start = d.pixel_of(foot())
    yield from d.press("g", start)
    for k in range(1, 13):
        d.point((start[0] + x * k / 12, start[1] + y * k / 12))
        yield 0.05
        assert not name or missed("shin.L") < MET, "the leg lags behind the hand"
    if name:
        shot(name)
    yield from d.click((start[0] + x, start[1] + y))


def swivel_a_knee() -> d.Steps:
    """The handle at the knee of the chain that the active control belongs to, and the mouse."""
    shot("5_gizmo")
    was, foot_was = knee("L"), tail("shin.L")
    start = d.pixel_of(was)
    yield from d.drag(start, (start[0] + 25, start[1] + 4))
    yield 0.5
    shot("5_swivelled")
    assert abs(rig().pose.bones["shin.L"].analytic_ik_swivel) > 0.1
    assert (knee("L") - was).length > 0.03
    assert (tail("shin.L") - foot_was).length < MET


def at_work() -> bool:
    """Whether the add-on says that something runs; wherever it is installed."""
    (name,) = (name for name in sys.modules if name.endswith("ik_addon.ui.operators.running"))
    return sys.modules[name].running() is not None


def make_slow() -> None:
    """A long shot of chains that are read anew on every frame: else a bake is done before it can be seen."""
    bpy.context.scene.frame_end = 600
    for tip in tips():
        rig().pose.bones[tip].analytic_ik_reach = "STRETCH"


def dismiss_dialogs() -> d.Steps:
    """Each dialog is opened and dismissed by Escape: nothing is done, and no traceback is left."""
    for operator in ("bake", "check", "snap_targets", "snap_pose"):
        before = state()
        yield from d.click_button(f"analytic_ik.{operator}")
        shot(f"6_dialog_{operator}")
        yield from d.press("Escape")
        yield 0.5
        assert not at_work()
        assert not changes(before), (operator, changes(before))


def cancel_a_bake() -> d.Steps:
    before = state()
    yield from d.click_button("analytic_ik.bake")
    shot("6_bake_dialog")
    yield from d.press("Return")
    yield 0.6
    assert at_work()
    shot("6_baking")
    yield from d.press("Escape")
    yield 0.5
    shot("6_cancelled")
    assert not at_work()
    assert not changes(before), changes(before)


def bake() -> d.Steps:
    knees = {side: knee(side) for side in "LR"}
    yield from d.click_button("analytic_ik.bake")
    yield from d.press("Return")
    yield 0.3
    for _ in range(400):
        if not at_work():
            break
        yield 0.2
    yield 0.5
    shot("7_baked")
    assert not tips(), "a baked chain is muted"
    assert keys()
    for side in "LR":
        assert (knee(side) - knees[side]).length < MET


def read_the_certificate() -> d.Steps:
    """The first button goes to where the chain is first out of reach."""
    at = yield from d.find_button("analytic_ik.go_to_frame")
    yield from d.move(at)
    shot("8_certificate")
    frame = int(re.search(r"frame=(-?\d+)", d.button_under_mouse() or "")[1])
    assert frame != bpy.context.scene.frame_current
    yield from d.click(at)
    shot("8_worst_frame")
    assert bpy.context.scene.frame_current == frame
    assert rig().data.bones.active.name == "shin.L"


def undo_all(before: dict) -> d.Steps:
    count = 0
    while changes(before) and count < 60:
        yield from d.press("ctrl+z", d.middle())
        count += 1
    shot("9_undone")
    assert not changes(before), changes(before)
    print(f"undone in {count} steps")


d.run(steps)
