"""Handlers of other add-ons, before and after the add-on's own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import bpy

from ...rig.rigs import new_empty, update
from ...scenes import go_to
from ..faults import fault
from ..stage import FRAMES, Stage

GROUP = "Handlers of other add-ons"


@contextmanager
def handling(event: str, handler: Callable, first: bool = False) -> Iterator[None]:
    """Inside, another add-on's handler is called too: after ours, or first of all."""
    handlers = getattr(bpy.app.handlers, event)
    handlers.insert(0, handler) if first else handlers.append(handler)
    try:
        yield
    finally:
        handlers.remove(handler)


def _put(scene: bpy.types.Scene, *_: object) -> None:
    """Put the leg's target somewhere that no F-Curve knows."""
    bpy.data.objects["leg target"].location = (0.1, -0.5 + 0.05 * scene.frame_current, 0.4)


def _free(stage: Stage) -> None:
    stage.target.animation_data_clear()
    update()


def _play(stage: Stage) -> None:
    for frame in (*range(1, 8), 3, 9):
        go_to(frame)
        stage.look(f"at frame {frame}")


@fault(GROUP, "A handler before each frame moves the target")
def a_handler_before_the_frame(stage: Stage) -> None:
    _free(stage)
    with handling("frame_change_pre", _put):
        _play(stage)


@fault(GROUP, "A handler before each frame, called before the add-on's own, moves the target")
def a_handler_before_our_own(stage: Stage) -> None:
    _free(stage)
    with handling("frame_change_pre", _put, first=True):
        _play(stage)


@fault(GROUP, "A handler after each frame, called before the add-on's own, moves the target")
def a_handler_after_the_frame_before_our_own(stage: Stage) -> None:
    _free(stage)
    with handling("frame_change_post", _put, first=True):
        _play(stage)


@fault(GROUP, "A handler after each frame moves the target")
def a_handler_after_the_frame(stage: Stage) -> None:
    _free(stage)
    with handling("frame_change_post", _put):
        _play(stage)


@fault(GROUP, "A handler after each frame turns the hips")
def a_handler_turns_the_hips(stage: Stage) -> None:
    def turn(scene: bpy.types.Scene, *_: object) -> None:
        bpy.data.objects["leg"].pose.bones["hips"].location.z = -0.02 * scene.frame_current

    with handling("frame_change_post", turn):
        _play(stage)


@fault(GROUP, "A handler after each change keeps the target beside another object")
def a_handler_after_a_change(stage: Stage) -> None:
    leader = new_empty("leader", (0.1, -0.5, 0.4))
    _free(stage)

    def put(*_: object) -> None:
        place = bpy.data.objects["leader"].location
        if stage.target.location != place:
            stage.target.location = place

    for first in (False, True):
        with handling("depsgraph_update_post", put, first):
            for height in (0.4, 0.7, 0.2):
                leader.location.z = height
                stage.look(f"with it at {height}")
    leader.location.z = 0.6
    stage.look("without it")


@fault(GROUP, "A handler raises an exception")
def a_handler_raises(stage: Stage) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("another add-on's own")

    before = len(stage.seen)
    with handling("frame_change_pre", fail), handling("depsgraph_update_post", fail, first=True), _muffled():
        for frame in FRAMES:
            go_to(frame)
            stage.look(f"at frame {frame}")
        stage.drag()
        stage.look("dragged")
    assert len(stage.seen) > before


@contextmanager
def _muffled() -> Iterator[None]:
    """Inside, what is printed is not the add-on's."""
    import io
    from contextlib import redirect_stderr

    with redirect_stderr(io.StringIO()):
        yield


@fault(GROUP, "A handler brings the view layer up to date in the middle of a frame")
def a_handler_updates(stage: Stage) -> None:
    def bring_up_to_date(*_: object) -> None:
        bpy.context.view_layer.update()

    for event in ("frame_change_pre", "frame_change_post"):
        for first in (True, False):
            with handling(event, bring_up_to_date, first):
                stage.follow(f"{event}, {first}")


@fault(GROUP, "A handler moves the target and brings the view layer up to date")
def a_handler_moves_and_updates(stage: Stage) -> None:
    def put(scene: bpy.types.Scene, *_: object) -> None:
        _put(scene)
        bpy.context.view_layer.update()

    _free(stage)
    for event in ("frame_change_pre", "frame_change_post"):
        for first in (True, False):
            with handling(event, put, first):
                _play(stage)


@fault(GROUP, "A handler goes to another frame and back in the middle of a frame")
def a_handler_changes_frames(stage: Stage) -> None:
    busy = []

    def look_ahead(scene: bpy.types.Scene, *_: object) -> None:
        if busy:
            return
        busy.append(True)
        frame = scene.frame_current
        scene.frame_set(frame + 3)
        scene.frame_set(frame)
        busy.clear()

    for first in (True, False):
        with handling("frame_change_post", look_ahead, first):
            stage.follow(f"{first}")


@fault(GROUP, "A timer or script moves target and armature without telling")
def a_script_moves_things(stage: Stage) -> None:
    go_to(4)
    stage.target.animation_data_clear()
    stage.target.location = (0.3, -0.4, 0.5)
    stage.ob.location = (0.1, 0.0, 0.1)
    go_to(5)
    stage.look("at the next frame")
    stage.target.matrix_world.translation = (0.1, 0.2, 0.3)
    stage.ob.pose.bones["hips"].location.z = -0.2
    go_to(5)
    stage.look("at the same frame")


@fault(GROUP, "A script reads the matrices of all bones and writes them back", "afterwards")
def a_script_writes_matrices_back(stage: Stage) -> None:
    stage.forget_bystander("foot")
    for mode in ("QUATERNION", "ZXY", "AXIS_ANGLE"):
        for name in stage.limbs[0].bones:
            stage.ob.pose.bones[name].rotation_mode = mode
        for frame in FRAMES:
            go_to(frame)
            kept = {bone.name: bone.matrix_basis.copy() for bone in stage.ob.pose.bones}
            for bone in stage.ob.pose.bones:
                bone.matrix_basis = kept[bone.name]
            stage.look(f"as {mode}, at frame {frame}")
