"""Going through frames: in a scene of its own that holds nothing but what chains depend on, or in the user's scene;
and taking down what is seen there.

Work over frames is a generator of steps, so that a window can draw, and hear Esc, between two of them. Closed before
its end, it leaves everything as it was.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import wraps
from typing import TypeVar

import bpy

from ..rig.blender.cleanup import Scratch, all_clean, surely
from ..rig.blender.dependencies import plays_anywhere
from ..rig.live import handlers as live
from ..rig.live.handler_lists import others_handle_frames
from ..rig.model.order import has_live_chains
from .saving import check_time

Result = TypeVar("Result")
Row = TypeVar("Row")
Steps = Generator[tuple[int, int], None, Result]
"""Work that yields after each frame how many are done, and of how many."""
Progress = Callable[[int, int], object]
"""Is told of each step."""

GoTo = Callable[[float], bpy.types.Depsgraph]
"""Goes to a frame, or between two, and gives what was evaluated there."""


def part_of(steps: Steps[Result], number: int, count: int) -> Steps[Result]:
    """Steps as one part of so many of a work whose parts are as long as each other. number: from 0."""
    return _through(steps, lambda done, total: ((number * total + done) // count, total))


def in_time(steps: Steps[Result]) -> Steps[Result]:
    """The same steps. Raises TimeLimitError before one for which there is no time."""
    return _through(steps, lambda *step: step, check_time)


def _through(
    steps: Steps[Result], shown: Callable[[int, int], tuple[int, int]], before: Callable[[], object] = lambda: None
) -> Steps[Result]:
    """Steps as they are shown. before: is called before each."""
    with closing(steps):
        while True:
            before()
            try:
                step = next(steps)
            except StopIteration as end:
                return end.value
            yield shown(*step)


def finish(steps: Steps[Result], progress: Progress | None = None) -> Result:
    """Go through all steps at once; returns what they come to. An exception of `progress` closes them."""
    with all_clean(), closing(steps):
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                return end.value
            if progress is not None:
                progress(*step)


def at_once(work: Callable[..., Steps[Result]]) -> Callable[..., Result]:
    """The same work without steps: a function that takes a `progress` too, which is told of each step."""

    @wraps(work)
    def done(*given: object, progress: Progress | None = None, **named: object) -> Result:
        return finish(work(*given, **named), progress)

    return done


@contextmanager
def frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    """Afterwards the scene is at the frame again at which it was, whatever happens."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    with surely(lambda: scene.frame_set(frame, subframe=subframe)):
        yield


@contextmanager
def stepping(context: bpy.types.Context) -> Iterator[GoTo]:
    """The user's scene, step by step; it goes back to its frame. The handlers of the add-on keep still meanwhile."""
    with frame_kept(context.scene), live.paused():
        yield _in_scene(context.scene, context.evaluated_depsgraph_get)


def _in_scene(scene: bpy.types.Scene, evaluated: Callable[[], bpy.types.Depsgraph]) -> GoTo:
    def go_to(frame: float) -> bpy.types.Depsgraph:
        scene.frame_set(int(frame // 1), subframe=frame % 1.0)
        return evaluated()

    return go_to


@contextmanager
def stepping_apart(context: bpy.types.Context, objects: Iterable[bpy.types.Object]) -> Iterator[GoTo | None]:
    """A scene of its own with some objects and all that they depend on, step by step; it is gone afterwards.

    None where something that they depend on plays otherwise there than in the user's scene.
    """
    objects = list(dict.fromkeys(objects))
    if not plays_anywhere(objects):
        yield None
        return
    scratch = Scratch(bpy.data.scenes)
    with surely(scratch.remove):
        scene = scratch.made(lambda: bpy.data.scenes.new("Analytic IK"))
        for name in ("fps", "fps_base", "frame_map_old", "frame_map_new"):
            setattr(scene.render, name, getattr(context.scene.render, name))
        for ob in objects:
            scene.collection.objects.link(ob)
        layer = scene.view_layers[0]
        with live.paused():
            yield _in_scene(scene, lambda: layer.depsgraph)  # pyright: ignore[reportArgumentType, reportReturnType]


@contextmanager
def stepping_lightly(context: bpy.types.Context, objects: Iterable[bpy.types.Object]) -> Iterator[GoTo]:
    """These objects, step by step, without chains: in a scene of its own where that shows the same, else in the
    user's."""
    with ExitStack() as stack:
        go_to = None if others_handle_frames() else stack.enter_context(stepping_apart(context, objects))
        yield go_to or stack.enter_context(stepping(context))


@contextmanager
def stepping_shown(context: bpy.types.Context, objects: Iterable[bpy.types.Object]) -> Iterator[GoTo]:
    """These objects as Blender shows them, step by step, live chains solved."""
    scene = context.scene
    if any(has_live_chains(ob) for ob in scene.objects if ob.pose):
        with frame_kept(scene):
            yield _in_scene(scene, context.evaluated_depsgraph_get)
    else:
        with stepping_lightly(context, objects) as go_to:
            yield go_to


def recorded(
    going: AbstractContextManager[GoTo], frames: Sequence[int], take: Callable[[bpy.types.Depsgraph], Row]
) -> Steps[list[Row]]:
    """In steps: what `take` finds at each frame. going: as these frames are gone through."""
    rows = []
    with going as go_to:
        for frame in frames:
            rows.append(take(go_to(frame)))
            yield len(rows), len(frames)
    return rows
