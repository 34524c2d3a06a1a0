"""A new clip made of the one that an armature object plays: seen, moved, keyed in a copy."""

from collections.abc import Callable, Mapping, Sequence

import bpy

from ... import messages
from ...authoring.placing import Control
from ...bake.keys import check_keyable
from ...bake.stepping import Steps
from ...rig.blender.motion import motion_of
from ...rig.data.undoing import all_or_nothing
from ...rig.status.problems import check_changeable
from ...solvers import ChainError
from .film import Film, filmed
from .keying import Rows, write_rows


def made_of_clip(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    controls: Sequence[Control],
    moved: Callable[[Film], Mapping[Control, Rows]],
    made: str,
) -> Steps[Film]:
    """In steps: key controls otherwise, in a copy of the action of an armature object, over all frames of its motion.
    Returns what was seen before.

    controls: what is seen. moved: what channels hold then. made: what the copy's name says of it. Raises ChainError,
    with nothing changed.
    """
    check_changeable(ob)
    objects = list(dict.fromkeys([ob, *(control.ob for control in controls)]))
    frames = frames_of_clip(ob, controls)
    for each in objects:
        check_keyable(each, "COPY")
    with all_or_nothing(objects) as undo:
        undo.nothing_more_is_made()
        film = yield from filmed(context, ob, controls, frames)
        found = moved(film)
        with undo.making():
            write_rows(film, found, made)
    # What stands at this frame is as keyed.
    scene = context.scene
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    return film


def frames_of_clip(ob: bpy.types.Object, controls: Sequence[Control]) -> range:
    """The frames over which keys move an armature object or what controls it; ChainError if none do."""
    frames = motion_of(dict.fromkeys([ob, *(control.ob for control in controls)]))
    if frames is None:
        raise ChainError(messages.NO_MOTION()).of(messages.ARMATURE(armature=ob.name))
    return frames
