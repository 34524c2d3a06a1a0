"""Another add-on does it: in handlers of its own, behind or before ours, and to Blender's lists of handlers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import bpy
from mathutils import Quaternion

from ...rig.rigs import new_empty, update
from ...scenes import curves_of, go_to
from ..faults import works
from ..stage import FRAMES, Stage
from .handlers import handling

GROUP = "Another add-on does it"
PRE = ("frame_change_pre", "depsgraph_update_pre")


def _channels(ob: bpy.types.Object) -> dict[str, tuple[float, ...]]:
    """What the channels of the leg's own bones hold."""
    return {name: tuple(ob.pose.bones[name].rotation_quaternion) for name in ("thigh", "shin")}


def _expect_channels(stage: Stage, before: dict, when: str) -> None:
    if _channels(stage.ob) != before:
        stage.note(when, lost="the FK pose in the channels")


# What it changes after an update has others evaluated again


def after_an_update(title: str) -> Callable:
    """Enter a change that another add-on makes once, in a handler after an update."""

    def enter(change: Callable[[Stage], None]) -> Callable[[Stage], None]:
        def deed(stage: Stage) -> None:
            """The armature moves, a bone above the leg is posed, the target is dragged; the handler comes each time."""
            before = _channels(stage.ob)
            for step, move in enumerate((_move_the_armature, _pose_the_hips, stage.drag)):
                waiting = [True]

                def once(*_: object, waiting: list = waiting) -> None:
                    if waiting:
                        waiting.clear()
                        change(stage)

                with handling("depsgraph_update_post", once):
                    move(stage) if step < 2 else move()
                    stage.look(f"after {move.__name__}")
                    stage.look(f"after {move.__name__}, once more")
                _expect_channels(stage, before, f"after {move.__name__}")

        deed.__module__, deed.__name__ = change.__module__, change.__name__
        return works(GROUP, f"After an update {title}")(deed)

    return enter


def _move_the_armature(stage: Stage) -> None:
    stage.ob.location.x += 0.05


def _pose_the_hips(stage: Stage) -> None:
    stage.ob.pose.bones["hips"].location.z -= 0.02


@after_an_update("it links an object")
def it_links_an_object(stage: Stage) -> None:
    new_empty("another add-on's")


@after_an_update("it removes an object")
def it_removes_an_object(stage: Stage) -> None:
    bpy.data.objects.remove(bpy.data.objects.new("another add-on's", None))


@after_an_update("it hides an object")
def it_hides_an_object(stage: Stage) -> None:
    _stranger().hide_viewport = True


@after_an_update("it adds a driver to another object")
def it_adds_a_driver(stage: Stage) -> None:
    _stranger().driver_add("location", 0)


@after_an_update("it adds a constraint to another object")
def it_adds_a_constraint(stage: Stage) -> None:
    _stranger().constraints.new("COPY_LOCATION").target = stage.target


@after_an_update("it parents another object to the armature")
def it_parents_an_object(stage: Stage) -> None:
    _stranger().parent = stage.ob


@after_an_update("it copies the armature object")
def it_copies_the_armature(stage: Stage) -> None:
    before, copy = _channels(stage.ob), stage.ob.copy()
    if _channels(copy) != before:
        stage.note("in the copy", lost="the FK pose")
    bpy.data.objects.remove(copy)


@after_an_update("it removes nothing, in bulk")
def it_removes_nothing(stage: Stage) -> None:
    bpy.data.batch_remove([])


@after_an_update("it constrains the armature object itself")
def it_constrains_the_armature(stage: Stage) -> None:
    if not stage.ob.constraints:
        stage.ob.constraints.new("COPY_SCALE").target = _stranger()


def _stranger() -> bpy.types.Object:
    return bpy.data.objects.get("stranger") or new_empty("stranger")


# What it sees, and keeps, before an evaluation


def _before_evaluations(stage: Stage, handler: Callable[..., None]) -> None:
    """Its handlers come last before frames and updates, while the leg follows."""
    with handling(PRE[0], handler), handling(PRE[1], handler):
        for frame in FRAMES:
            go_to(frame)
            stage.ob.update_tag()
            stage.look(f"at frame {frame}")


@works(GROUP, "Before an evaluation it looks at the FK pose, or writes it elsewhere")
def it_looks_before_an_evaluation(stage: Stage) -> None:
    before = _channels(stage.ob)
    _before_evaluations(stage, lambda *_: _expect_channels(stage, before, "in its handler"))


@works(GROUP, "Before an evaluation it keys the leg's bones")
def it_keys_before_an_evaluation(stage: Stage) -> None:
    before = _channels(stage.ob)
    thigh = stage.ob.pose.bones["thigh"]

    def key(scene: bpy.types.Scene, *_: object) -> None:
        thigh.keyframe_insert("rotation_quaternion", frame=scene.frame_current)

    _before_evaluations(stage, key)
    for (path, index), curve in curves_of(stage.ob).items():
        if "thigh" in path and any(abs(key.co.y - before["thigh"][index]) > 1e-6 for key in curve.keyframe_points):
            stage.note("in its keys", lost="the FK pose")


@works(GROUP, "Before an evaluation it turns a bone a little, again and again")
def it_turns_a_bone_before_an_evaluation(stage: Stage) -> None:
    thigh, turn = stage.ob.pose.bones["thigh"], Quaternion((1.0, 0.0, 0.0), 1e-4)
    wanted = [thigh.rotation_quaternion.copy()]

    def turn_a_little(*_: object) -> None:
        wanted[0] = wanted[0] @ turn
        thigh.rotation_quaternion = thigh.rotation_quaternion @ turn

    _before_evaluations(stage, turn_a_little)
    if thigh.rotation_quaternion.rotation_difference(wanted[0]).angle > 1e-3:
        stage.note("in the channels", lost="the FK pose")
    stage.learn_fk_pose()


@works(GROUP, "Before an evaluation it copies the armature")
def it_copies_before_an_evaluation(stage: Stage) -> None:
    _before_evaluations(stage, lambda *_: it_copies_the_armature_now(stage))


def it_copies_the_armature_now(stage: Stage) -> None:
    before, copy = _channels(stage.ob), stage.ob.copy()
    if _channels(copy) != before:
        stage.note("in the copy", lost="the FK pose")
    bpy.data.objects.remove(copy)


@works(GROUP, "Before an evaluation it gives a bone another rotation mode")
def it_changes_a_mode_before_an_evaluation(stage: Stage) -> None:
    modes = iter(("XYZ", "QUATERNION") * 100)

    def change(*_: object) -> None:
        stage.ob.pose.bones["thigh"].rotation_mode = next(modes)

    _before_evaluations(stage, change)
    stage.learn_fk_pose()


# What it does to Blender's lists


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
