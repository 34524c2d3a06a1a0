"""Another add-on does it, to Blender's lists of handlers or in one of its own. What else it may do in handlers,
tests/fuzz/test_other_add_ons.py does in any order."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import bpy

from ...helpers.handling import handling
from ...rig.rigs import new_empty, update
from ...scenes import go_to
from ..faults import works
from ..stage import FRAMES, Stage

GROUP = "Another add-on does it"


def _channels(ob: bpy.types.Object) -> dict[str, tuple[float, ...]]:
    """What the channels of the leg's own bones hold."""
    return {name: tuple(ob.pose.bones[name].rotation_quaternion) for name in ("thigh", "shin")}


def _expect_channels(stage: Stage, before: dict, when: str) -> None:
    if _channels(stage.ob) != before:
        stage.note(when, lost="the FK pose in the channels")


@contextmanager
def _emptied(event: str, others: bool) -> Iterator[None]:
    """Another add-on empties a list of handlers, and may put its own into it."""
    handlers = getattr(bpy.app.handlers, event)
    kept = [each for each in handlers]

    def its_own(*_: object) -> None:
        pass

    handlers.clear()
    if others:
        handlers.append(its_own)
    try:
        yield
    finally:
        if others and its_own in handlers:
            handlers.remove(its_own)
        for each in kept:
            if each not in handlers:
                handlers.append(each)


def _empties(event: str) -> Callable[[Stage], None]:
    @works(GROUP, f"It empties `{event}`")
    def deed(stage: Stage) -> None:
        before = _channels(stage.ob)
        for others in (True, False):
            with _emptied(event, others):
                # Put back at the next event of another kind.
                go_to(FRAMES[1])
                stage.ob.update_tag()
                update()
                stage.ob.update_tag()
                go_to(FRAMES[2])
                stage.follow(f"emptied, others {others}")
                stage.ob.update_tag()
                update()
                _expect_channels(stage, before, f"emptied, others {others}")

    deed.__name__ = f"it_empties_{event}"
    return deed


it_empties_frame_change_pre = _empties("frame_change_pre")
it_empties_frame_change_post = _empties("frame_change_post")
it_empties_depsgraph_update_pre = _empties("depsgraph_update_pre")
it_empties_depsgraph_update_post = _empties("depsgraph_update_post")
it_empties_load_post = _empties("load_post")


@works(GROUP, "It puts its handlers before all others, and then behind all others")
def it_reorders_handlers(stage: Stage) -> None:
    before = _channels(stage.ob)

    def look(*_: object) -> None:
        _expect_channels(stage, before, "in its handler")

    for first in (True, False):
        with (
            handling("frame_change_pre", look, first),
            handling("frame_change_post", look, first),
            handling("depsgraph_update_pre", look, first),
            handling("depsgraph_update_post", look, first),
        ):
            stage.follow(f"first {first}")
            stage.ob.update_tag()
            stage.look("tagged")


@works(GROUP, "A handler after each change keeps the target beside another object")
def a_handler_after_a_change(stage: Stage) -> None:
    leader = new_empty("leader", (0.1, -0.5, 0.4))
    stage.target.animation_data_clear()
    update()

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


@works(GROUP, "A script reads the matrices of all bones and writes them back", "afterwards")
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
