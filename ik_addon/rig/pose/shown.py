"""Where the end of a chain is as Blender evaluated it, and how far that is from its target: what a user sees."""

import bpy
from mathutils import Vector

from ..model.limb import Limb, end_in_tip
from .reading import SceneReader


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


class Shown:
    """What one evaluation of a scene shows of chains that were solved and written before it."""

    def __init__(self, depsgraph: bpy.types.Depsgraph) -> None:
        self._scene = SceneReader(depsgraph)

    def missed_world(self, ob: bpy.types.Object, tip: str) -> float:
        """Distance from the end of a chain to its target, in world units.

        Raises ChainError if the chain cannot be read.
        ob: its armature object.
        tip: name of its tip bone.
        """
        reader = self._scene.armature(ob)
        return missed_world(reader.tip(tip), reader.limb(tip))
