"""Where the end of a chain is as Blender evaluated it, and how far that is from its target: what a user sees."""

import bpy
from mathutils import Vector

from ..model.limb import Limb, end_in_tip


def end_world(tip: bpy.types.PoseBone) -> Vector:
    """The end of a chain in world space.

    tip: its tip bone, evaluated.
    """
    return tip.id_data.matrix_world @ (tip.matrix @ end_in_tip(tip))


def missed_world(tip: bpy.types.PoseBone, limb: Limb) -> float:
    """Distance from the end of a chain to its target, in world units.

    tip: its tip bone, evaluated.
    limb: the chain as read from the same evaluation.
    """
    return (end_world(tip) - limb.world @ limb.target_armature).length
