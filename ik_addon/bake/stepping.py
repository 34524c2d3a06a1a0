"""Going through frames: in a scene of its own that holds nothing but what chains depend on, or in the user's scene.

Work over frames is a generator of steps, so that a window can draw, and hear Esc, between two of them. Closed before
its end, it leaves everything as it was.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import wraps
from typing import TypeVar

import bpy

from ..rig.blender.cleanup import Scratch, all_clean, surely
from ..rig.blender.dependencies import plays_anywhere
from ..rig.live import handlers as live
from .saving import check_time

Result = TypeVar("Result")
Steps = Generator[tuple[int, int], None, Result]
"""Work that yields after each frame how many are done, and of how many."""
Progress = Callable[[int, int], object]
"""Is told of each step."""

GoTo = Callable[[float], bpy.types.Depsgraph]
"""Goes to a frame, or between two, and gives what was evaluated there."""


def part_of(steps: Steps[Result], number: int, count: int) -> Steps[Result]:
    """Steps as one part of so many of a work whose parts are as long as each other. number: from 0."""
    with closing(steps):
        while True:
            try:
                done, total = next(steps)
            except StopIteration as end:
                return end.value
            yield (number * total + done) // count, total


def in_time(steps: Steps[Result]) -> Steps[Result]:
    """The same steps. Raises TimeLimitError before one for which there is no time."""
    with closing(steps):
        while True:
            check_time()
            try:
                step = next(steps)
            except StopIteration as end:
                return end.value
            yield step


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
    scene = context.scene
    with frame_kept(scene), live.paused():

        def go_to(frame: float) -> bpy.types.Depsgraph:
            scene.frame_set(int(frame // 1), subframe=frame % 1.0)
            return context.evaluated_depsgraph_get()

        yield go_to


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

        def go_to(frame: float) -> bpy.types.Depsgraph:
            scene.frame_set(int(frame // 1), subframe=frame % 1.0)
            return layer.depsgraph  # pyright: ignore[reportReturnType]

        with live.paused():
            yield go_to
