"""At every redraw the legs are where their controls are, and bones hold the FK pose in their channels: while dragging,
posing, playing, keying, with two windows, two view layers and two scenes, and after files were opened.

    blender sample_scenes/biped_walk.blend -p 0 0 1600 900 --python tests/window/judging.py -- FOLDER

The add-on must be enabled. Blender ends with status 1 where something is not as it should be, or where anything left a
traceback. What was judged is printed.
"""

import json
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

import driver as d
from redraws import drag_by, judge, now, redraws, rig, scene, select_bone, select_object, step, wrong

FOOT, HIPS = "Foot.L", "hips"
CHANNELS = ("rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
JUST_SHOWN = 2
"""So many redraws may show the FK pose where a window has just begun to show a scene or a view layer."""


def fk() -> dict[str, tuple]:
    return {bone.name: tuple(tuple(getattr(bone, name)) for name in CHANNELS) for bone in rig().pose.bones}


def untouched(before: dict[str, tuple], but: tuple[str, ...] = ()) -> None:
    changed = [name for name, channels in fk().items() if name not in but and channels != before[name]]
    assert not changed, f"{now['step']}: the channels of {changed} were written"


def steps() -> d.Steps:
    handler = bpy.types.SpaceView3D.draw_handler_add(judge, (), "WINDOW", "POST_VIEW")
    bpy.context.preferences.view.show_splash = False
    scene().frame_set(4)
    yield 1.0
    names = list(rig().pose.bones.keys())
    hips = HIPS if HIPS in names else names[0]
    tip = next(bone for bone in rig().pose.bones if bone.analytic_ik_enabled)
    thigh = tip.parent.name
    before = fk()

    step("a control is dragged")
    with d.over():
        select_object(FOOT)
    for confirm in (True, False):
        yield from drag_by("g", confirm=confirm)
    yield from d.press("ctrl+z")
    yield from d.press("ctrl+shift+z")
    untouched(before)
    scene().frame_set(4)

    step("the hips are posed")
    with d.over():
        select_bone(hips)
    for key in ("r", "g"):
        yield from drag_by(key)
        untouched(before, (hips,))
    yield from d.press("ctrl+z")

    step("a bone of a chain is posed")
    with d.over():
        select_bone(thigh)
    before = fk()
    yield from drag_by("r", confirm=False)
    untouched(before)
    yield from drag_by("r")
    untouched(before, (thigh,))
    assert fk()[thigh] != before[thigh], "posing the thigh changed nothing"
    turned = fk()[thigh]
    step("a key is inserted")
    with d.over():
        rig().pose.bones[thigh].keyframe_insert("rotation_quaternion", frame=4)
    yield 0.3
    assert fk()[thigh] == turned
    yield from d.press("ctrl+z")
    yield from d.press("ctrl+z")
    yield from d.press("ctrl+z")

    step("playing")
    before = {name: own for name, own in fk().items()}
    with d.over():
        select_object(FOOT)
        bpy.ops.screen.animation_play()
    yield 3.0
    step("dragged while playing")
    yield from drag_by("g", confirm=False)
    with d.over():
        bpy.ops.screen.animation_play()
    yield 0.5
    step("scrubbed")
    for frame in (2, 7, 3, 12, 4):
        scene().frame_set(frame)
        yield 0.15

    step("two windows")
    # A window that another one opens shows the same layer and scene as that.
    bpy.ops.wm.window_new_main()
    yield 1.0
    for frame in (5, 9, 6):
        scene().frame_set(frame)
        yield 0.2
    step("two view layers")
    windows = bpy.context.window_manager.windows
    other = scene().view_layers.new("another")
    windows[-1].view_layer = other
    assert windows[0].view_layer != other
    yield 1.0
    step("two view layers, frames")
    for frame in (5, 9, 6):
        scene().frame_set(frame)
        yield 0.3
    with bpy.context.temp_override(window=windows[0], screen=windows[0].screen):
        bpy.ops.screen.animation_play()
    yield 3.0
    with bpy.context.temp_override(window=windows[0], screen=windows[0].screen):
        bpy.ops.screen.animation_cancel(restore_frame=False)
    yield 0.5
    step("two scenes")
    second = bpy.data.scenes.new("second")
    for ob in scene().objects:
        second.collection.objects.link(ob)
    second.frame_set(11)
    windows[-1].scene = second
    yield 1.0
    step("two scenes, frames")
    scene().frame_set(3)
    second.frame_set(12)
    yield 0.6
    ran = []
    bpy.app.handlers.depsgraph_update_post.append(lambda *_: ran.append(1))
    yield 2.0
    assert not ran, f"two scenes: {len(ran)} updates while nobody does anything"
    bpy.app.handlers.depsgraph_update_post.pop()
    with bpy.context.temp_override(window=windows[-1]):
        bpy.ops.wm.window_close()
    yield 0.5

    step("saved and opened")
    path = str(d.out_folder() / "judged.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    yield 1.5
    # Opening a file took it off.
    bpy.types.SpaceView3D.draw_handler_remove(handler, "WINDOW")
    d.picture(d.out_folder() / "judged.png")
    print("redraws", json.dumps(redraws), flush=True)
    print("wrong", json.dumps(wrong), flush=True)
    few = {"two view layers", "two scenes", "saved and opened"}
    too_many = {name: count for name, count in wrong.items() if count > (JUST_SHOWN if name in few else 0)}
    assert not too_many, too_many
    assert sum(redraws.values()) > 100


d.run(steps)
