"""What a planted clip has on top, few keys and corrections: taken off while it is planted again, and put on after."""

from typing import TypeVar

import bpy

from ...bake.stepping import Steps, part_of
from ...rig.blender.armatures import tag_pose
from ...rig.data.undoing import all_or_nothing
from .control_tracks import keyed_controls
from .correcting import dissolve, lay, take_off
from .kept_keys import CORRECTIONS, keep_record, record
from .simplify import back_to_all_keys, keys_simplified, simplified_as
from .sources import is_planted

Result = TypeVar("Result")


def with_edits(context: bpy.types.Context, ob: bpy.types.Object, work: Steps[Result]) -> Steps[Result]:
    """In steps: do a work to the clip that an armature object plays as it is without these, and do these again."""
    few = simplified_as(ob) if is_planted(ob) else None
    told = record(ob, CORRECTIONS) if is_planted(ob) else {}
    if few is None and not told:
        return (yield from work)
    controls = keyed_controls(ob)
    with all_or_nothing([ob, *controls.owners], keys=True):
        dissolve(ob, controls)
        told = record(ob, CORRECTIONS)
        take_off(controls)
        back_to_all_keys(controls)
        result = yield from part_of(work, 0, 2)
        keep_record(ob, CORRECTIONS, told)
        if few is not None:
            yield from part_of(keys_simplified(context, ob, *few), 1, 2)
        else:
            lay(context, ob, controls)
        tag_pose(ob)
        context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)
    return result
