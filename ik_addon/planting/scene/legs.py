"""Which chains of an armature are legs: all that are no arms."""

from collections.abc import Iterable

import bpy

from ...authoring.finding.bone_names import read_names
from ...rig.model.foot import end_bone
from ...rig.model.limb import chain_bones
from ...rig.model.order import live_tips


def leg_tips(ob: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """The tips of an armature object's live chains whose bones' names do not show an arm."""
    return legs_among(ob, (ob.pose.bones[name] for name in live_tips(ob)))


def legs_among(ob: bpy.types.Object, tips: Iterable[bpy.types.PoseBone]) -> list[bpy.types.PoseBone]:
    """The tips, of these of an armature object's chains, whose bones' names do not show an arm."""
    names = read_names(bone.name for bone in ob.pose.bones)
    found = []
    for tip in tips:
        end = end_bone(tip)
        kinds = {names[bone.name].kind for bone in (*chain_bones(tip), *((end,) if end else ()))}
        if "LEG" in kinds or "ARM" not in kinds:
            found.append(tip)
    return found
