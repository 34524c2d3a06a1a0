"""Time: ways to come to a frame, and ways in which time runs."""

import bpy

from ...scenes import go_to
from ..faults import fault
from ..stage import Stage

GROUP = "Time"


@fault(GROUP, "Frames below zero and far away")
def frames_below_zero(stage: Stage) -> None:
    for curve_end in (-40, 300):
        stage.target.location = (0.1, -0.2, 0.5)
        stage.target.keyframe_insert("location", frame=curve_end)
    stage.play((-40, -17.25, 0, -1, 150, 299.5, 1_000_000))


@fault(GROUP, "Between two frames, up and down, with sub-frames shown")
def between_frames(stage: Stage) -> None:
    bpy.context.scene.show_subframe = True
    stage.play((1.25, 1.5, 1.75, 2, 1.999, 1.001, 4.5, 4.5, 3.75))


@fault(GROUP, "A script sets the frame as a property", "afterwards")
def the_frame_is_a_property(stage: Stage) -> None:
    scene = bpy.context.scene
    for frame in (4, 9, 2, 9):
        scene.frame_current = frame
        stage.look(f"at frame {frame}")
    for subframe in (0.25, 0.5):
        scene.frame_subframe = subframe
        stage.look(f"at frame {9 + subframe}")
    stage.drag()
    stage.look("dragged")
    scene.frame_float = 5.5
    stage.look("at frame 5.5")


@fault(GROUP, "Another frame rate, another range, other sync", "with it")
def another_frame_rate(stage: Stage) -> None:
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = 60, 1.001
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 3, 6
    scene.frame_start, scene.frame_end = 2, 5
    scene.sync_mode = "FRAME_DROP"


@fault(GROUP, "Steps through time by Blender's own operators")
def steps_by_operators(stage: Stage) -> None:
    go_to(5)
    bpy.ops.screen.frame_offset(delta=3)
    stage.look("three frames on")
    bpy.ops.screen.frame_jump(end=False)
    stage.look("at the first frame")
    bpy.context.view_layer.objects.active = stage.target
    stage.target.select_set(True)
    bpy.ops.screen.keyframe_jump(next=True)
    stage.look("at the next key")
