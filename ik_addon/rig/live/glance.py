"""A quick look whether posing, or a change of a setting, has touched the planned chains of an armature.

Whenever a bone is posed the armature object is tagged, and Blender does not say for what. `signature.py` compares all
that chains are made of; this compares what can change without anything else being said: the FK pose, rest, limits and
flags of the chains' bones, their settings, and what may place the bones and controls that they read.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

import bpy
from mathutils import Matrix

from ..data.settings import BODY_RANGES, PREFIX, Settings
from ..model.body_model import BodyModel
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


class Glance(NamedTuple):
    """What an armature object looks like to its planned chains, to compare.

    structure: what their models are made of. numbers: for each chain its FK pose and the settings that may change from
    frame to frame, as far as nothing keys them; then those of the bone that is written with it.
    """

    structure: tuple
    numbers: list[tuple]


def glance(ob: bpy.types.Object, models: Sequence[LimbModel], line: Sequence[str]) -> Glance:
    """Look at an original armature object. Raises KeyError if a bone is gone.

    line: names of the chains' bones, of those that carry them, and of their end bones.
    """
    bones, data = ob.pose.bones, ob.animation_data
    own = [bones[name] for name in line]
    tips = [bones[model.tip] for model in models]
    controls = [each for tip in tips for each in (tip.analytic_ik_target, tip.analytic_ik_pole_target) if each]
    above = {bone.name for root in {model.bones[0] for model in models} for bone in bones[root].parent_recursive}
    led = [model.led.name for model in models if model.led]
    return Glance(
        (
            ob.mode,
            ob.data.pose_position,
            ob.parent,
            len(data.drivers) if data else 0,
            [_OF_BONE(bone) for bone in own if bone.name not in above],
            [(bone.bone.matrix_local.copy(), [each.mute for each in bone.constraints]) for bone in own],
            [
                (_OF_TIP(tip), _rolls(tip, model), tuple(tip.analytic_ik_record_rotation))
                for tip, model in zip(tips, models, strict=True)
            ],
            [(each.parent, len(each.constraints)) for each in controls],
            [(_OF_BONE(bones[name]), bones[name].analytic_ik_body_direction) for name in led],
        ),
        [_numbers(bones, *each) for each in zip(models, tips, strict=True)],
    )


def _rolls(tip: bpy.types.PoseBone, model: LimbModel) -> bool:
    return "foot_roll" in model.keyed_settings or tip.analytic_ik_foot_roll != 0.0


def _numbers(
    bones: bpy.types.bpy_prop_collection, model: LimbModel, tip: bpy.types.PoseBone
) -> tuple[list[Matrix], list[float], list[Matrix | float]]:
    """What is keyed is read at each frame. The last: of the bone that is written with the chain."""
    body = model.led
    watched = model.touched - model.keyed_bones
    return (
        [bones[name].matrix_basis.copy() for name in watched if not (body and name == body.name)],
        [getattr(tip, PREFIX + name) for name in SAMPLED_SETTINGS if name not in model.keyed_settings],
        _of_body(bones[body.name], body) if body else [],
    )


def _of_body(bone: bpy.types.PoseBone, body: BodyModel) -> list[Matrix | float]:
    settings = [getattr(bone, PREFIX + name) for name in BODY_RANGES if name not in body.keyed_settings]
    return settings if body.keyed else [bone.matrix_basis.copy(), *settings]
