"""A quick look whether posing, or a change of a setting, has touched the planned chains of an armature.

Whenever a bone is posed the armature object is tagged, and Blender does not say for what. `signature.py` compares all
that chains are made of; this compares what can change without anything else being said: the FK pose, rest, limits and
flags of the chains' bones, their settings, and what may place the bones and controls that they read.
"""

from collections.abc import Sequence
from operator import attrgetter

import bpy

from ..data.settings import PREFIX, Settings
from ..model.limb_model import SAMPLED_SETTINGS, LimbModel

_OF_BONE = attrgetter(
    "rotation_mode",
    *(f"lock_ik_{axis}" for axis in "xyz"),
    *(f"use_ik_limit_{axis}" for axis in "xyz"),
    *(f"ik_{end}_{axis}" for end in ("min", "max") for axis in "xyz"),
    *(PREFIX + name for name in ("rigid", "use_cone", "cone", "use_min_bend", "min_bend", "straight_axis")),
    *(f"bone.{name}" for name in ("use_connect", "use_inherit_rotation", "use_local_location", "use_relative_parent")),
    "bone.inherit_scale",
    "parent",
)
_OF_TIP = attrgetter(*(PREFIX + name for name in Settings.__slots__ if name not in SAMPLED_SETTINGS))


def glance(ob: bpy.types.Object, models: Sequence[LimbModel], line: Sequence[str]) -> tuple:
    """What an original armature object looks like to its planned chains, to compare.

    line: names of the chains' bones, of those that carry them, and of their end bones.
    """
    bones, data = ob.pose.bones, ob.animation_data
    own = [bones[name] for name in line]
    tips = [bones[model.tip] for model in models]
    controls = [each for tip in tips for each in (tip.analytic_ik_target, tip.analytic_ik_pole_target) if each]
    roots = {bones[model.bones[0]] for model in models}
    keyed = {name for model in models for name in model.keyed_bones}
    still = {own: [name for name in SAMPLED_SETTINGS if name not in own] for own in {m.keyed_settings for m in models}}
    above = {bone.name for root in roots for bone in root.parent_recursive}
    return (
        ob.mode,
        ob.data.pose_position,
        ob.parent,
        len(data.drivers) if data else 0,
        [
            # What is keyed is read at each frame.
            (_OF_BONE(bone), None if bone.name in keyed else bone.matrix_basis.copy())
            for bone in own
            if bone.name not in above
        ],
        [(bone.bone.matrix_local.copy(), [each.mute for each in bone.constraints]) for bone in own],
        [(_OF_TIP(tip), tuple(tip.analytic_ik_record_rotation)) for tip in tips],
        [getattr(bones[model.tip], PREFIX + name) for model in models for name in still[model.keyed_settings]],
        [(each.parent, len(each.constraints)) for each in controls],
    )
