"""How a native chain stands: what keeps it from being where the live one would be, as a sentence."""

import bpy

from .. import messages
from ..rig.blender.armatures import is_evaluated_in
from ..rig.pose.reading import SceneReader, gone_pole
from ..solvers import ChainError
from . import marks
from .measuring import difference, native_values

_CHANGED = 1e-3
"""Part of its length by which a native chain is off when it was changed. Nearly straight, it rounds more than usual."""


def problem_of(tip: bpy.types.PoseBone, depsgraph: bpy.types.Depsgraph) -> str:
    """What is wrong with the native chain of an original tip as a depsgraph evaluated it; "": nothing."""
    ob, prefix = tip.id_data, messages.BONE(bone=tip.name)
    if ob.mode == "EDIT" or not is_evaluated_in(ob, depsgraph):
        return ""
    if ob.data.pose_position == "REST":
        return messages.REST_POSITION(armature=ob.name)
    try:
        copy = _copy_of(tip)
        reader = SceneReader(depsgraph).armature(ob)
        settings = native_values(reader.tip(tip.name))
        if error := gone_pole(settings):
            raise error
        off = difference(reader, tip.name, settings)
    except ChainError as error:
        return messages.OF(whose=prefix, said=messages.NATIVE_UNSOUND(said=str(error).removeprefix(f"{prefix}: ")))
    if copy:
        return messages.OF(whose=prefix, said=messages.NATIVE_COPIED(other=copy))
    # Written so that a figure that is not a number counts as well.
    return "" if off <= _CHANGED else messages.OF(whose=prefix, said=messages.NATIVE_CHANGED())


def _copy_of(tip: bpy.types.PoseBone) -> str:
    """The name of another tip whose chain follows the same helper bones: one of both is a copy of the other."""
    own = marks.followed_by(tip)
    return next((each.name for each in marks.alike(tip)[1:] if own & marks.followed_by(each)), "")
