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
from ..rig.live import handlers as live
from .saving import check_time

Result = TypeVar("Result")
Steps = Generator[tuple[int, int], None, Result]
"""Work that yields after each frame how many are done, and of how many."""
Progress = Callable[[int, int], object]
"""Is told of each step."""

GoTo = Callable[[int], bpy.types.Depsgraph]
"""Goes to a frame and gives what was evaluated there."""

_SIMULATIONS = {"CLOTH", "SOFT_BODY", "FLUID", "PARTICLE_SYSTEM", "PARTICLE_INSTANCE", "DYNAMIC_PAINT", "NODES"}
_OF_THE_SCENE = {"FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER", "SHRINKWRAP"}
"""Constraints that look at the scene's camera or clip, or at a surface."""


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

        def go_to(frame: int) -> bpy.types.Depsgraph:
            scene.frame_set(frame)
            return context.evaluated_depsgraph_get()

        yield go_to


@contextmanager
def stepping_apart(context: bpy.types.Context, objects: Iterable[bpy.types.Object]) -> Iterator[GoTo | None]:
    """A scene of its own with some objects and all that they depend on, step by step; it is gone afterwards.

    None where something that they depend on plays otherwise there than in the user's scene.
    """
    objects = list(dict.fromkeys(objects))
    if not _plays_anywhere(objects):
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

        def go_to(frame: int) -> bpy.types.Depsgraph:
            scene.frame_set(frame)
            return layer.depsgraph  # pyright: ignore[reportReturnType]

        with live.paused():
            yield go_to


def _plays_anywhere(objects: Iterable[bpy.types.Object]) -> bool:
    """Whether nothing that places some objects asks which scene it is in: with all that it depends on."""
    visited: set[bpy.types.ID] = set()
    waiting: list[bpy.types.ID] = [*objects]
    while waiting:
        data = waiting.pop()
        if data in visited:
            continue
        visited.add(data)
        if _reads_scene(data):
            return False
        waiting += [each for each in _depends_on(data) if each is not None]
    return True


def _depends_on(data: bpy.types.ID) -> Iterator[bpy.types.ID | None]:
    """What places a data-block, or sets its properties."""
    for driver in _drivers(data):
        for variable in driver.variables:
            yield from (target.id for target in variable.targets)
    if not isinstance(data, bpy.types.Object):
        return
    yield data.parent
    yield data.data
    for constraint in _constraints(data):
        for name in ("target", "pole_target"):
            yield getattr(constraint, name, None)
        yield from (target.target for target in getattr(constraint, "targets", ()))


def _reads_scene(data: bpy.types.ID) -> bool:
    """Whether a data-block is placed, or its properties are set, by more than animation of it and of others."""
    if isinstance(data, bpy.types.Scene):
        return True
    for driver in _drivers(data):
        if driver.type == "SCRIPTED" and not driver.is_simple_expression:
            return True
        if any(variable.type == "CONTEXT_PROP" for variable in driver.variables):
            return True
    if not isinstance(data, bpy.types.Object):
        return False
    # What hangs on a surface depends on its modifiers, on simulations and on the scene's level of detail.
    on_surface = "VERTEX" in data.parent_type or any(
        constraint.type in _OF_THE_SCENE or (_is_surface(constraint) and getattr(constraint, "subtarget", ""))
        for constraint in _constraints(data)
    )
    return on_surface or data.rigid_body is not None or any(each.type in _SIMULATIONS for each in data.modifiers)


def _is_surface(constraint: bpy.types.Constraint) -> bool:
    target = getattr(constraint, "target", None)
    return target is not None and target.type not in ("ARMATURE", "EMPTY")


def _constraints(ob: bpy.types.Object) -> Iterator[bpy.types.Constraint]:
    yield from ob.constraints
    for bone in ob.pose.bones if ob.pose else ():
        yield from bone.constraints


def _drivers(data: bpy.types.ID) -> Iterator[bpy.types.Driver]:
    animation = getattr(data, "animation_data", None)
    yield from (curve.driver for curve in (animation.drivers if animation else ()))
