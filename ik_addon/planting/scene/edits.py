"""What a planted clip has on top, few keys and corrections: taken off while it is planted again, and put on after."""

from typing import TypeVar

import bpy

from ...bake.stepping import Steps, part_of
from ...rig.data.undoing import all_or_nothing
from .control_tracks import keyed_controls
from .simplify import back_to_all_keys, keys_simplified, simplified_as
from .sources import is_planted

Result = TypeVar("Result")


def with_edits(context: bpy.types.Context, ob: bpy.types.Object, work: Steps[Result]) -> Steps[Result]:
    """In steps: do a work to the clip that an armature object plays as it is without these, and do these again."""
    few = simplified_as(ob) if is_planted(ob) else None
    if few is None:
        return (yield from work)
    controls = keyed_controls(ob)
    with all_or_nothing([ob, *controls.owners], keys=True):
        back_to_all_keys(controls)
        result = yield from part_of(work, 0, 2)
        yield from part_of(keys_simplified(context, ob, *few), 1, 2)
    return result
