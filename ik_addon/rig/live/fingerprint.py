"""What the chains of an armature were made of, as plain data to compare: at a glance and whole; and their numbers."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

import bpy
from mathutils import Matrix

from ..blender.dependencies import Known, followed_bones, goes_along
from ..data.relation import in_any_collection, is_tied
from ..data.settings import BODY_RANGES, JOINT_SETTINGS, PREFIX, SAMPLED_SETTINGS, Settings, target_and_pole
from ..model.body import BodyModel
from ..model.limb_model import LimbModel, animated_bones
from ..model.order import live_tips

_OF_BONE = attrgetter(
    "rotation_mode",
    *(f"{what}_{axis}" for what in ("lock_ik", "use_ik_limit", "ik_min", "ik_max") for axis in "xyz"),
    *(PREFIX + name for name in (*JOINT_SETTINGS, "straight_axis", "body_direction", "body_turn")),
    *(f"bone.{name}" for name in ("length", "use_connect", "use_inherit_rotation", "use_local_location")),
    *(f"bone.{name}" for name in ("use_relative_parent", "inherit_scale")),
)
_OF_TIP = attrgetter(
    *(PREFIX + name for name in Settings.__slots__ if name not in (*SAMPLED_SETTINGS, "target", "pole_target"))
)


def glance(
    ob: bpy.types.Object, chains: Mapping[str, Sequence[str]], bodies: Sequence[str], rolling: Collection[str]
) -> tuple:
    """What an original armature object looks like to its chains, but for what may change from frame to frame.

    chains: names of the bones of each, and of those that it turns too, by its tip. bodies: of those that follow their
    limbs. rolling: tips of chains whose foot roll is animated. Objects are in it by their session numbers, which
    outlive an undo.
    """
    bones, data = ob.pose.bones, ob.animation_data
    names = dict.fromkeys(name for each in (bodies, *chains.values()) for name in each)
    own: list[bpy.types.PoseBone] = [bone for bone in map(bones.get, names) if bone is not None]
    tips = [tip for tip in map(bones.get, chains) if tip is not None]
    ends = {tip.analytic_ik_end_bone for tip in tips}
    roots = [bone for bone in own if bone.parent is not None and bone.parent.name not in names]
    above = {bone.name: bone for root in roots for bone in root.parent_recursive if bone.name not in names}
    above |= {name: bones[name] for name in ends if name in bones}
    controls = [control for tip in tips for control, _ in target_and_pole(tip)]
    if bodies:
        # What goes along with a body.
        above |= {each.name: each for bone in _read(ob, (), tips) for each in (bone, *bone.parent_recursive)}
    return (
        ob.mode,
        ob.data.pose_position,
        _uid(ob.parent),
        len(data.drivers) if data else 0,
        [(_OF_BONE(bone), bone.parent and bone.parent.name) for bone in own],
        [
            (bone.name, bone.bone.matrix_local.copy(), [each.mute for each in bone.constraints])
            for bone in (*own, *above.values())
        ],
        [(tip.name in rolling or tip.analytic_ik_foot_roll != 0.0, _settings(tip)) for tip in tips],
        [(_uid(each.parent), len(each.constraints)) for each in controls],
    )


def signature(ob: bpy.types.Object, chains: Mapping[str, Sequence[str]], bodies: Sequence[str]) -> tuple:
    """What else an original armature object's chains are read from: what is animated of their bones, and which bones
    move what they read. chains, bodies: see `glance`."""
    animated, known, bones = animated_bones(ob), Known(), ob.pose.bones
    chains = {name: [name] for name in bodies} | dict(chains)
    parents = [bones[own[0]].parent for own in chains.values() if own[0] in bones]
    # Also of tips that have no place in the order: mended, they may take bones from others.
    tips = [tip for tip in map(bones.get, dict.fromkeys((*chains, *live_tips(ob)))) if tip is not None]
    return (
        [animated.get(name) for own in chains.values() for name in own],
        [_moved_by(ob, parent.name if parent else "", known) for parent in dict.fromkeys(parents)],
        [_carried(bone, bodies) for bone in _read(ob, parents, tips)] if bodies else (),
        [
            (
                is_tied(tip),
                [_control(*each, known) for each in target_and_pole(tip)],
                tip.name in chains or _settings(tip),
            )
            for tip in tips
        ],
    )


def _settings(tip: bpy.types.PoseBone) -> tuple:
    """The settings of a chain that no frame changes."""
    controls = tip.analytic_ik_target, tip.analytic_ik_pole_target
    return _OF_TIP(tip), *map(_uid, controls), *tip.analytic_ik_record_rotation


def _read(
    ob: bpy.types.Object, parents: Iterable[bpy.types.PoseBone | None], tips: Iterable[bpy.types.PoseBone]
) -> Iterator[bpy.types.PoseBone]:
    """The bones of an armature object that its chains are read from."""
    yield from filter(None, parents)
    for control, name in (each for tip in tips for each in target_and_pole(tip)):
        if control == ob and name in ob.pose.bones:
            yield ob.pose.bones[name]


def _carried(bone: bpy.types.PoseBone, bodies: Sequence[str]) -> tuple[list[str], list[str]]:
    """Which bodies carry a bone, and which bones of those on the way up need not go where they go."""
    line = [bone, *bone.parent_recursive]
    return [each.name for each in line if each.name in bodies], [each.name for each in line if not goes_along(each)]


def _control(ob: bpy.types.Object, bone_name: str, known: Known) -> tuple:
    """Whether a control is still there and evaluated, and the bones that move it."""
    return in_any_collection(ob), *_moved_by(ob, bone_name, known)


def _moved_by(ob: bpy.types.Object, bone_name: str, known: Known) -> list[tuple[int, str]]:
    """The bones that carry an object or a bone, or that it follows in any other way."""
    return [(owner.session_uid, bone.name) for owner, bone in followed_bones(ob, bone_name, known=known)]


def _uid(ob: bpy.types.Object | None) -> int | None:
    return ob and ob.session_uid


Numbers = tuple[list[Matrix], list[float], list[Matrix | float]]
"""Of a chain its FK pose and the settings that may change from frame to frame, as far as nothing keys them: what is
keyed is read at each frame. The last: of the bone that is written with it."""


def numbers_of(ob: bpy.types.Object, model: LimbModel) -> Numbers:
    """What the planned chain of an original armature object looks like. Raises KeyError if a bone is gone."""
    bones, body = ob.pose.bones, model.led
    watched = model.touched - model.keyed_bones
    return (
        [bones[name].matrix_basis.copy() for name in watched if not (body and name == body.name)],
        [getattr(bones[model.tip], PREFIX + name) for name in SAMPLED_SETTINGS if name not in model.keyed_settings],
        _of_body(bones[body.name], body) if body else [],
    )


def _of_body(bone: bpy.types.PoseBone, body: BodyModel) -> list[Matrix | float]:
    settings = [getattr(bone, PREFIX + name) for name in BODY_RANGES if name not in body.keyed_settings]
    return settings if body.keyed else [bone.matrix_basis.copy(), *settings]
