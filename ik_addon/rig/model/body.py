"""Which bones follow the limbs that they carry, and which could."""

import bpy
import numpy as np

from ..blender.animation import animated_paths, bone_of_path
from ..blender.armatures import bones_at
from ..blender.carriers import carriers
from ..blender.relations import Known, followed_bones

_SETTING = "analytic_ik_body_influence"


def following_bones(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of an armature object that follow their limbs just now."""
    bones = ob.pose.bones
    influences = np.zeros(len(bones), np.float32)
    bones.foreach_get(_SETTING, influences)
    rows = np.flatnonzero(influences > 0.0).tolist()
    return [bone.name for bone in bones_at(ob, rows)] if rows else []


def bodies_of(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of an armature object that follow their limbs, or do so where animation says it."""
    animated = (bone_of_path(path) for path in animated_paths(ob.original))
    found = [name for name, what in animated if what == _SETTING and name in ob.pose.bones]
    return [*dict.fromkeys((*following_bones(ob), *found))]


def stays(tip: bpy.types.PoseBone, body: bpy.types.PoseBone, known: Known | None = None) -> bool:
    """Whether the target of a chain stays where it is while a bone moves: then that bone can follow the chain."""
    control, bone, moved = tip.analytic_ik_target, tip.analytic_ik_subtarget, (body.id_data.original, body.name)
    if control is None:
        return False
    near = ((owner, each.name) for owner, each in carriers(control, bone))
    far = ((owner, each.name) for owner, each in followed_bones(control, bone, True, known))
    return moved not in near and moved not in far


def possible_body(
    root: bpy.types.PoseBone, limbs: list[tuple[bpy.types.PoseBone, bpy.types.PoseBone]]
) -> bpy.types.PoseBone | None:
    """The topmost bone that carries several chains' roots, and this one, but not their targets; None: there is none.

    root: of a chain. limbs: root and tip of each chain of its armature.
    """
    found = None
    for bone in root.parent_recursive:
        own = [(first, tip) for first, tip in limbs if bone in first.parent_recursive and stays(tip, bone)]
        if len(own) > 1 and any(first == root for first, _ in own):
            found = bone
    return found
