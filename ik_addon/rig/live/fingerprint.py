"""What an armature's plan was made of, as plain data to compare: whole, and as a quick look."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ..blender.armatures import indices_of
from ..blender.dependencies import Known, followed_bones, goes_along
from ..data.relation import in_any_collection, is_tied
from ..data.settings import (
    BODY_RANGES,
    JOINT_SETTINGS,
    PREFIX,
    SAMPLED_SETTINGS,
    Settings,
    settings_of,
    target_and_pole,
)
from ..model.body import BodyModel
from ..model.limb_model import AnimatedBones, LimbModel, animated_bones
from ..model.order import live_tips

_JOINT_PROPERTIES: dict[str, type] = {
    "rotation_mode": np.int32,
    **{f"{what}_{axis}": np.bool_ for what in ("lock_ik", "use_ik_limit") for axis in "xyz"},
    **{f"ik_{end}_{axis}": np.float32 for end in ("min", "max") for axis in "xyz"},
    **{PREFIX + name: np.float32 if each.is_number else np.bool_ for name, each in JOINT_SETTINGS.items()},
    PREFIX + "straight_axis": np.int32,
}
_POSE_PROPERTIES = (
    *((name, 1, kind) for name, kind in _JOINT_PROPERTIES.items()),
    (PREFIX + "record_rotation", 4, np.float32),
)
_REST_PROPERTIES = (
    ("matrix_local", 16, np.float32),
    ("length", 1, np.float32),
    ("use_connect", 1, np.bool_),
    ("use_inherit_rotation", 1, np.bool_),
    ("use_local_location", 1, np.bool_),
    ("use_relative_parent", 1, np.bool_),
    ("inherit_scale", 1, np.int32),
)


_KEPT_SETTINGS = [name for name in Settings.__slots__ if name not in SAMPLED_SETTINGS and not name.endswith("target")]
_SPARSE = 8
"""Where so many bones are there for each that is asked for, those are read one by one."""


def signature(ob: bpy.types.Object, chains: Mapping[str, Sequence[str]], bodies: Sequence[str]) -> tuple:
    """All of an original armature object that its chains are read from, but for what moves them.

    chains: names of the bones of each, and of those that it turns too, by its tip. bodies: of those that follow their
    limbs. None of what may change from frame to frame is in it: no FK pose, and no such setting.
    """
    animated, known = animated_bones(ob), Known()
    chains = {name: [name] for name in bodies} | dict(chains)
    names = [name for bones in chains.values() for name in bones]
    parents = [ob.pose.bones[bones[0]].parent for bones in chains.values() if bones[0] in ob.pose.bones]
    tips = (ob.pose.bones.get(tip) for tip in chains)
    ends = [tip.analytic_ik_end_bone for tip in tips if tip and tip.analytic_ik_end_bone in ob.pose.bones]
    at_rest = dict.fromkeys((*names, *(parent.name for parent in parents if parent), *ends))
    return (
        ob.mode == "EDIT" or ob.data.pose_position,
        tuple(at_rest),
        _values(ob.pose.bones, _POSE_PROPERTIES, names),
        _values(ob.data.bones, _REST_PROPERTIES, at_rest),
        [animated.get(name) for name in names],
        [_moved_by(ob, parent.name if parent else "", known) for parent in dict.fromkeys(parents)],
        [_carried(bone, bodies) for bone in _read(ob, parents, chains)] if bodies else (),
        # Also of tips that have no place in the order: mended, they may take bones from others.
        [_settings(ob.pose.bones.get(tip), animated, known) for tip in dict.fromkeys((*chains, *live_tips(ob)))],
    )


def _read(
    ob: bpy.types.Object, parents: Iterable[bpy.types.PoseBone | None], tips: Iterable[str]
) -> Iterator[bpy.types.PoseBone]:
    """The bones of an armature object that its chains are read from."""
    yield from filter(None, parents)
    for tip in filter(None, map(ob.pose.bones.get, tips)):
        for control, name in target_and_pole(tip):
            if control == ob and name in ob.pose.bones:
                yield ob.pose.bones[name]


def _carried(bone: bpy.types.PoseBone, bodies: Sequence[str]) -> tuple[list[str], list[str]]:
    """Which bodies carry a bone, and which bones of those on the way up need not go where they go."""
    line = [bone, *bone.parent_recursive]
    return [each.name for each in line if each.name in bodies], [each.name for each in line if not goes_along(each)]


def _values(bones: bpy.types.bpy_prop_collection, properties: Sequence[tuple], names: Iterable[str]) -> object:
    """Properties of some of an armature's bones, to compare; in bulk where they are not the few."""
    names = [*names]
    if _SPARSE * len(names) < len(bones):
        singles = attrgetter(*(name for name, width, _ in properties if width == 1), "name")
        arrays = [name for name, width, _ in properties if width > 1]
        own = [bone for bone in map(bones.get, names) if bone is not None]
        return [(singles(bone), [_plain(getattr(bone, name)) for name in arrays]) for bone in own]
    found, rows = [], indices_of(bones, names)
    if not rows or min(rows) < 0:
        return b""
    for name, width, kind in properties:
        buffer = np.empty((len(bones), width), kind)
        bones.foreach_get(name, buffer.reshape(-1))
        found.append(buffer[rows].tobytes())
    return b"".join(found)


def _plain(value: Sequence) -> tuple | Matrix:
    """What stays as it is when the property changes."""
    return value.copy() if isinstance(value, Matrix) else tuple(value)


def _settings(tip: bpy.types.PoseBone | None, animated: AnimatedBones, known: Known) -> tuple | None:
    """The settings of a chain as plain data, but for those that frames may change, and whether its controls are
    there."""
    if tip is None:
        return None
    settings = settings_of(tip)
    return (
        is_tied(tip),
        "foot_roll" in animated.get(tip.name, ()) or settings.foot_roll != 0.0,
        *(getattr(settings, name) for name in _KEPT_SETTINGS),
        _control(settings.target, settings.subtarget, known),
        _control(settings.pole_target, settings.pole_subtarget, known),
    )


def _control(ob: bpy.types.Object | None, bone_name: str, known: Known) -> tuple | None:
    """A control, whether it is still there and evaluated, and the bones that move it."""
    if ob is None:
        return None
    return ob.session_uid, bone_name, in_any_collection(ob), *_moved_by(ob, bone_name, known)


def _moved_by(ob: bpy.types.Object, bone_name: str, known: Known) -> list[tuple[int, str]]:
    """The bones that carry an object or a bone, or that it follows in any other way."""
    return [(owner.session_uid, bone.name) for owner, bone in followed_bones(ob, bone_name, known=known)]


_OF_BONE = attrgetter(
    *_JOINT_PROPERTIES,
    *(f"bone.{name}" for name in ("use_connect", "use_inherit_rotation", "use_local_location", "use_relative_parent")),
    "bone.inherit_scale",
)
_OF_TIP = attrgetter(
    *(PREFIX + name for name in Settings.__slots__ if name not in (*SAMPLED_SETTINGS, "target", "pole_target"))
)


class Glance(NamedTuple):
    """What an armature object looks like to its planned chains, to compare.

    structure: what their models are made of. numbers: for each chain its FK pose and the settings that may change from
    frame to frame, as far as nothing keys them; then those of the bone that is written with it. Objects are in it by
    their session numbers, which outlive an undo.
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
    controls = [control for tip in tips for control, _ in target_and_pole(tip)]
    above = {bone.name for root in {model.bones[0] for model in models} for bone in bones[root].parent_recursive}
    led = [model.led.name for model in models if model.led]
    return Glance(
        (
            ob.mode,
            ob.data.pose_position,
            _uid(ob.parent),
            len(data.drivers) if data else 0,
            [(_OF_BONE(bone), bone.parent and bone.parent.name) for bone in own if bone.name not in above],
            [(bone.bone.matrix_local.copy(), [each.mute for each in bone.constraints]) for bone in own],
            [
                (
                    _OF_TIP(tip),
                    _uid(tip.analytic_ik_target),
                    _uid(tip.analytic_ik_pole_target),
                    _rolls(tip, model),
                    tuple(tip.analytic_ik_record_rotation),
                )
                for tip, model in zip(tips, models, strict=True)
            ],
            [(_uid(each.parent), len(each.constraints)) for each in controls],
            [(_OF_BONE(bones[name]), bones[name].analytic_ik_body_direction) for name in led],
        ),
        [_numbers(bones, *each) for each in zip(models, tips, strict=True)],
    )


def _uid(ob: bpy.types.Object | None) -> int | None:
    return ob and ob.session_uid


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
