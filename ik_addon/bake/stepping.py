"""Going through frames: in a scene of its own that holds nothing but what chains depend on, or in the user's scene."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import bpy

from ..rig import live

GoTo = Callable[[int], bpy.types.Depsgraph]
"""Goes to a frame and gives what was evaluated there."""

_SIMULATIONS = {"CLOTH", "SOFT_BODY", "FLUID", "PARTICLE_SYSTEM", "PARTICLE_INSTANCE", "DYNAMIC_PAINT", "NODES"}
_OF_THE_SCENE = {"FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER"}
"""Constraints that look at the scene's camera or clip."""


@contextmanager
def frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    """Afterwards the scene is at the frame again at which it was, whatever happens."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        scene.frame_set(frame, subframe=subframe)


@contextmanager
def stepping(context: bpy.types.Context) -> Iterator[GoTo]:
    """The user's scene, step by step; it goes back to its frame. The handlers of the add-on keep still meanwhile."""
    with frame_kept(context.scene), live.paused():

        def go_to(frame: int) -> bpy.types.Depsgraph:
            context.scene.frame_set(frame)
            return context.evaluated_depsgraph_get()

        yield go_to


@contextmanager
def stepping_apart(context: bpy.types.Context, objects: Iterable[bpy.types.Object]) -> Iterator[GoTo | None]:
    """A scene of its own with some objects and all that they depend on, step by step; it is gone afterwards.

    None where something that they depend on plays otherwise there than in the user's scene.
    """
    objects = list(dict.fromkeys(objects))
    scene, pulling = bpy.data.scenes.new("Analytic IK"), []
    try:
        for name in ("fps", "fps_base", "frame_map_old", "frame_map_new"):
            setattr(scene.render, name, getattr(context.scene.render, name))
        for ob in objects:
            scene.collection.objects.link(ob)
            if ob.hide_viewport:
                pulling.append(_pulls(scene, ob))
        layer = scene.view_layers[0]

        def go_to(frame: int) -> bpy.types.Depsgraph:
            scene.frame_set(frame)
            return layer.depsgraph  # pyright: ignore[reportReturnType]

        with live.paused():
            yield go_to if _plays_anywhere(go_to(context.scene.frame_current)) else None
    finally:
        for helper in pulling:
            bpy.data.objects.remove(helper)
        bpy.data.scenes.remove(scene)


def _pulls(scene: bpy.types.Scene, ob: bpy.types.Object) -> bpy.types.Object:
    """Blender evaluates a hidden object only where another one depends on it."""
    helper = bpy.data.objects.new("Analytic IK", None)
    scene.collection.objects.link(helper)
    helper.constraints.new("COPY_LOCATION").target = ob
    if ob.type == "ARMATURE":
        helper.constraints[0].subtarget = ob.pose.bones[0].name
    return helper


def _plays_anywhere(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether nothing that was evaluated asks which scene it is in."""
    return not any(_reads_scene(each.original) for each in depsgraph.ids)


def _reads_scene(data: bpy.types.ID) -> bool:
    animation = getattr(data, "animation_data", None)
    for curve in animation.drivers if animation else ():
        driver = curve.driver
        if driver.type == "SCRIPTED" and not driver.is_simple_expression:
            return True
        for variable in driver.variables:
            if variable.type == "CONTEXT_PROP" or any(target.id_type == "SCENE" for target in variable.targets):
                return True
    if not isinstance(data, bpy.types.Object):
        return False
    constraints = [
        *data.constraints,
        *(each for bone in (data.pose.bones if data.pose else ()) for each in bone.constraints),
    ]
    return (
        data.rigid_body is not None
        or any(modifier.type in _SIMULATIONS for modifier in data.modifiers)
        or any(constraint.type in _OF_THE_SCENE for constraint in constraints)
    )
