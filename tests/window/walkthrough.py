"""A character's legs are rigged with control bones, posed in Pose Mode, switched to FK and back, baked and checked, and
all of it is undone; then a motion capture is brought in, followed, corrected and baked: by mouse and keys alone.

    blender sample_scenes/biped_unrigged.blend --python tests/window/walkthrough.py -- FOLDER [CAPTURE.bvh]

Without a capture that part is left out. The add-on must be enabled. Pictures of each step go to the folder; Blender
ends with status 1 where something is not as it should be, or where anything left a traceback.
"""

import re
import sys
from pathlib import Path

import bpy
from mathutils import Euler, Vector

sys.path.insert(0, str(Path(__file__).parent))

import driver as d
from controls import choose, choose_bone, missed, place, tips_of

INFLUENCE = 'pose.bones["{tip}"].analytic_ik_influence'
LEFT = (0.3,)
"""Where to look for buttons at the left, far down: a third of the time."""
MET = 1e-4
"""Metres by which a tip may miss its target: a picture's pixel is fifty times as large."""


def rig() -> bpy.types.Object:
    """Looked up anew each time, for an undo replaces it."""
    return next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")


def tips() -> list[str]:
    return [tip.name for tip in tips_of(rig())]


def tail(bone: str) -> Vector:
    """Where a bone's tail is, as evaluated."""
    posed = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
    return posed.matrix_world @ posed.pose.bones[bone].tail


def knee(side: str) -> Vector:
    return tail(f"thigh.{side}")


def foot() -> Vector:
    """Where the control of the left foot is."""
    return place(rig().pose.bones["shin.L"])


def off(tip: str) -> float:
    return missed(rig().pose.bones[tip])


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
                bone.analytic_ik_influence,
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
    yield from choose_bones_as_controls()
    yield from rig_the_legs()
    yield from move_a_foot()
    yield from swivel_a_knee()
    yield from switch_to_fk_and_back()
    yield from bake()
    yield from read_the_certificate()
    yield from undo_all(before)
    words = d.words_after_dashes()[1:]
    if words:
        yield from follow_a_capture(Path(words[0]))
    else:
        print("No capture was given: none is followed", flush=True)


def in_view(tip: str) -> d.Steps:
    """The panel of a chain is on the screen: the mouse finds its slider."""
    yield from d.find_button(INFLUENCE.format(tip=tip))


def still_in_view(at: d.Pixel, tip: str) -> d.Steps:
    """The slider is where it was: nothing has moved under the pointer."""
    yield from d.move(at)
    found = d.button_under_mouse()
    assert found == INFLUENCE.format(tip=tip), found


def choose_the_armature() -> d.Steps:
    """A click on a bone, then no bone selected: all legs shall be found."""
    bone = rig().pose.bones["spine"]
    yield from d.click(d.pixel_of(rig().matrix_world @ bone.center))
    assert bpy.context.object == rig()
    assert rig().data.bones.active.name == "spine"
    yield from d.press("alt+a", d.middle())
    yield from d.open_sidebar("Analytic IK")
    shot("1_chosen")


def choose_bones_as_controls() -> d.Steps:
    """*Controls*: Empties, and then Bones."""
    for kind, across in (("EMPTIES", 0.45), ("BONES", 0.68)):
        yield from d.click_button("analytic_ik_controls", across=(across,))
        assert bpy.context.scene.analytic_ik_controls == kind, bpy.context.scene.analytic_ik_controls


def rig_the_legs() -> d.Steps:
    knees = {side: knee(side) for side in "LR"}
    yield from d.click_button("analytic_ik.rig_legs")
    shot("2_rigged")
    assert tips() == ["shin.L", "shin.R"], tips()
    assert bpy.context.mode == "POSE"
    assert all(tip.analytic_ik_target == rig() and tip.analytic_ik_subtarget for tip in tips_of(rig()))
    for side in "LR":
        assert (knee(side) - knees[side]).length < MET
        assert off(f"shin.{side}") < MET


def move_a_foot() -> d.Steps:
    """A click on the foot's control, and two keys: lifted, and farther away than the leg is long. The panel stays."""
    was = foot()
    yield from choose(rig().pose.bones["shin.L"])
    slider = yield from d.find_button(INFLUENCE.format(tip="shin.L"))
    yield from drag_by(-96, 120, "3_dragging")
    shot("4_dragged")
    assert (foot() - was).length > 0.1
    assert off("shin.L") < MET
    yield from still_in_view(slider, "shin.L")
    yield from d.press("i", d.middle())
    yield from d.click(d.pixel_of_frame(60))
    assert bpy.context.scene.frame_current == 60, bpy.context.scene.frame_current
    yield from still_in_view(slider, "shin.L")
    yield from drag_by(-420, 60)
    yield from d.press("i", d.middle())
    shot("4_out_of_reach")
    assert off("shin.L") > 0.1
    yield from still_in_view(slider, "shin.L")
    yield from d.click(d.pixel_of_frame(1))
    assert bpy.context.scene.frame_current == 1
    assert off("shin.L") < MET


def drag_by(x: int, y: int, name: str = "") -> d.Steps:
    """Move the left foot's control with G. name: of a picture on the way, for a leg that must keep up."""
    start = d.pixel_of(foot())
    yield from d.press("g", start)
    for k in range(1, 13):
        d.point((start[0] + x * k / 12, start[1] + y * k / 12))
        yield 0.05
        assert not name or off("shin.L") < MET, "the leg lags behind the hand"
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


def switch_to_fk_and_back() -> d.Steps:
    """Neither switch moves anything; in between the thigh is turned, and the control goes where the foot then is."""
    tip = rig().pose.bones["shin.L"]
    was = knee("L"), tail("shin.L")
    yield from d.click_button("analytic_ik.switch_to_fk")
    shot("6_fk")
    assert rig().pose.bones["shin.L"].analytic_ik_influence == 0.0
    assert max((knee("L") - was[0]).length, (tail("shin.L") - was[1]).length) < MET
    yield from choose_bone(rig().pose.bones["thigh.L"])
    yield from in_view("shin.L")
    start = d.pixel_of(knee("L"))
    yield from d.press("r", start)
    yield from d.click((start[0] + 40, start[1] + 30))
    turned = knee("L"), tail("shin.L")
    shot("6_fk_posed")
    assert (turned[1] - was[1]).length > 0.05, "the thigh was not turned"
    yield from d.click_button("analytic_ik.switch_to_ik")
    shot("6_ik")
    tip = rig().pose.bones["shin.L"]
    assert tip.analytic_ik_influence == 1.0
    assert max((knee("L") - turned[0]).length, (tail("shin.L") - turned[1]).length) < MET
    assert off("shin.L") < MET
    yield from choose(tip)
    yield from in_view("shin.L")
    yield from d.press("i", d.middle())


def at_work() -> bool:
    """Whether the add-on says that something runs; wherever it is installed."""
    (name,) = (name for name in sys.modules if name.endswith("ik_addon.ui.operators.stepped"))
    return sys.modules[name].running() is not None


def bake() -> d.Steps:
    knees = {side: knee(side) for side in "LR"}
    yield from run_the_bake()
    shot("7_baked")
    for side in "LR":
        assert (knee(side) - knees[side]).length < MET


def run_the_bake() -> d.Steps:
    """*Bake*, its dialog confirmed, until it is done."""
    yield from d.click_button("analytic_ik.bake", across=LEFT)
    yield from d.press("Return")
    yield 0.3
    for _ in range(900):
        if not at_work():
            break
        yield 0.2
    yield 1.0
    assert not tips(), "a baked chain is muted"
    assert keys()


def read_the_certificate() -> d.Steps:
    """The first button goes to where the chain is first out of reach."""
    at = yield from d.find_button("analytic_ik.go_to_frame", across=LEFT)
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


def follow_a_capture(file: Path) -> d.Steps:
    """A capture is imported and its legs rigged: the controls follow it. One frame is corrected, and all is baked."""
    with d.over():
        bpy.ops.scene.new(type="NEW")
    yield from bring_in(file)
    yield from d.open_sidebar("Analytic IK")
    shot("10_capture")
    first, last = (round(frame) for frame in rig().animation_data.action.frame_range)
    frames = range(first, last + 1, max(1, (last - first) // 12))
    feet = places(frames)
    bpy.context.scene.frame_set(first)
    yield from d.click_button("analytic_ik.rig_legs")
    yield 0.5
    shot("10_followed")
    legs = tips()
    assert len(legs) == 2, legs
    length = max(rig().dimensions)
    followed = places(frames)
    for frame in frames:
        for was, now in zip(feet[frame], followed[frame], strict=True):
            assert (now - was).length < 1e-3 * length, (frame, (now - was).length)
        bpy.context.scene.frame_set(frame)
        assert max(map(off, legs)) < 1e-3 * length, frame
    frame = frames[len(frames) // 2]
    bpy.context.scene.frame_set(frame)
    yield from choose(rig().pose.bones[legs[0]])
    yield from in_view(legs[0])
    shot("10_control")
    was = place(rig().pose.bones[legs[0]])
    start = d.pixel_of(was)
    up = 0.06 * d.region().height
    yield from d.press("g", start)
    yield from d.click((start[0], start[1] + up))
    yield from d.press("i", d.middle())
    shot("10_corrected")
    corrected = place(rig().pose.bones[legs[0]])
    assert (corrected - was).length > 0.01 * length
    assert off(legs[0]) < 1e-3 * length
    yield from run_the_bake()
    bpy.context.scene.frame_set(frame)
    yield 0.5
    shot("10_baked")
    assert (place(rig().pose.bones[legs[0]]) - corrected).length < 1e-3 * length, "the correction was not keyed"
    assert off(legs[0]) < 1e-3 * length, "the corrected foot is not in the bake"
    yield from d.find_button("analytic_ik.copy_certificate", across=LEFT)
    shot("10_certificate")


def bring_in(file: Path) -> d.Steps:
    """The scene is empty but for the armature of a file, which is seen obliquely and whole."""
    with d.over():
        bpy.ops.import_anim.bvh(filepath=str(file))
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_selected()
    # From the side and above: the outline around a foot is flat.
    d.area().spaces.active.region_3d.view_rotation = Euler((1.17, 0.0, 0.9)).to_quaternion()
    yield 1.0


def places(frames: range) -> dict[int, list[Vector]]:
    """Where the capture's bones are at frames, in the world."""
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        shown = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
        found[frame] = [shown.matrix_world @ bone.head for bone in shown.pose.bones if bone.name in rig_bones()]
    return found


def rig_bones() -> list[str]:
    """The bones that came with the character: not those that were added as controls."""
    return [bone.name for bone in rig().data.bones if bone.use_deform]


d.run(steps)
