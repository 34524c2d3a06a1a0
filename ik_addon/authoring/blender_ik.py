"""Blender's own IK constraints: which can become chains, and what a chain keeps of the one that it was."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

import bpy

from .. import messages
from ..messages import Message
from ..rig.blender.animation import animated_paths, is_animated, is_driven
from ..rig.blender.rotations import Raw
from ..rig.data.relation import is_tie
from ..rig.data.settings import Settings, path_of
from ..rig.model.foot import end_bone
from ..rig.model.order import live_tips
from ..rig.status.problems import check_changeable
from ..solvers import ChainError
from .keys import curves_at


class Record(NamedTuple):
    """What is kept of a constraint, as JSON on the tip of its chain.

    bone, constraint: their names. helper: of the Empty that adopting made; "": none. influence: the constraint's, if
    its influence was set to 0; None if it was muted. animated: names of the settings of the chain that are animated as
    the constraint was. fk: by bone its rotation mode, and as numbers of that its rotation before and as adopting wrote
    it.
    """

    bone: str
    constraint: str
    helper: str
    influence: float | None
    animated: tuple[str, ...]
    fk: dict[str, tuple[str, Raw, Raw]]


def is_adopted(tip: bpy.types.PoseBone) -> bool:
    """True if the chain of a bone was a constraint."""
    return bool(tip.analytic_ik_record_adopted)


def adopted_tips(bones: Sequence[bpy.types.PoseBone]) -> list[bpy.types.PoseBone]:
    """The tips of those chains that were constraints of one of these bones, or whose tip is one of them."""
    names = {bone.name for bone in bones}
    tips = [tip for ob in {bone.id_data for bone in bones} for tip in ob.pose.bones if is_adopted(tip)]
    return [tip for tip in tips if tip.name in names or record_of(tip).bone in names]


def keep(tip: bpy.types.PoseBone, record: Record) -> None:
    """Write a record on the tip of a chain."""
    tip.analytic_ik_record_adopted = json.dumps(record._asdict())


def record_of(tip: bpy.types.PoseBone) -> Record:
    """What a chain keeps of its constraint. Raises ChainError if that was changed by hand."""
    try:
        kept = json.loads(tip.analytic_ik_record_adopted)
        bone, constraint, helper = kept["bone"], kept["constraint"], kept["helper"]
        animated, influence = tuple(kept["animated"]), kept["influence"]
        if not all(isinstance(name, str) for name in (bone, constraint, helper, *animated)):
            raise TypeError(kept)
        fk = {
            name: (mode, tuple(map(float, before)), tuple(map(float, written)))
            for name, (mode, before, written) in kept["fk"].items()
            if len(before) == len(written)
        }
        return Record(bone, constraint, helper, None if influence is None else float(influence), animated, fk)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise ChainError(messages.IK_RECORD_UNREADABLE(bone=tip.name)) from error


def animated_by_adopting(tip: bpy.types.PoseBone) -> tuple[str, ...]:
    """RNA paths of the settings of a chain that adopting animated as its constraint was."""
    # One whose record cannot be read is removed all the same.
    with suppress(ChainError):
        return tuple(path_of(tip, name) for name in record_of(tip).animated) if is_adopted(tip) else ()
    return ()


_APART = 1e-3
"""How far from a chain's end a bone on it may begin, in lengths of the bone before."""


class Held(NamedTuple):
    """A bone and one of its IK constraints."""

    tip: bpy.types.PoseBone
    constraint: bpy.types.Constraint

    @property
    def chain_tip(self) -> bpy.types.PoseBone:
        """The tip of the chain that it becomes: a bone that follows its target's rotation is on the end of that."""
        parent = self.tip.parent
        return parent if self.constraint.use_rotation and parent is not None else self.tip

    def error(self, message: Message, **fields: object) -> ChainError:
        """What keeps the constraint from being adopted, with its cure. fields: of the message, besides these two."""
        return ChainError(message(bone=self.tip.name, constraint=self.constraint.name, **fields))


def adoptable(bones: Sequence[bpy.types.PoseBone]) -> list[Held]:
    """The IK constraints of these bones that act, or would with more influence."""
    return [held for held in _held(bones) if not held.constraint.mute and not _is_handed_over(held)]


def resting(bones: Sequence[bpy.types.PoseBone]) -> list[Held]:
    """The IK constraints of these bones that animation mutes now, and may not at another time."""
    return [held for held in _held(bones) if held.constraint.mute and mute_path(held)]


def _held(bones: Sequence[bpy.types.PoseBone]) -> list[Held]:
    return [
        Held(bone, constraint)
        for bone in bones
        for constraint in bone.constraints
        if constraint.type == "IK" and not is_tie(constraint)
    ]


def _is_handed_over(held: Held) -> bool:
    """True if a chain has taken over from a constraint that animation mutes: that has no influence since."""
    tip = held.chain_tip
    with suppress(ChainError):
        taken = held.constraint.influence <= 0.0 and is_adopted(tip)
        return taken and record_of(tip)[:2] == (held.tip.name, held.constraint.name)
    return False


def check(held: Held) -> None:
    """Raise ChainError for what no chain can do."""
    tip, constraint = held
    ob = tip.id_data
    check_changeable(ob)
    if ob.data.pose_position == "REST":
        raise ChainError(messages.REST_POSITION(armature=ob.name))
    if ob.pose.ik_solver != "LEGACY":
        raise held.error(messages.IK_ITASC)
    for message, refused in _REFUSALS.items():
        if refused(constraint):
            raise held.error(message)
    if constraint.use_rotation:
        parent = tip.parent
        if parent is None or constraint.chain_count == 1:
            raise held.error(messages.IK_TURNS_ONE_BONE)
        apart = (tip.bone.head_local - parent.bone.tail_local).length
        if end_bone(parent) != tip or apart > _APART * parent.bone.length:
            raise held.error(messages.IK_NOT_ON_END, parent=parent.name)
    _check_unshared(held)
    _check_animation(held)


_LOCKS = [f"lock_{what}_{axis}" for what in ("location", "rotation") for axis in "xyz"]
_REFUSALS: dict[Message, Callable[[bpy.types.Constraint], bool]] = {
    messages.IK_WITHOUT_TARGET: lambda ik: ik.target is None,
    messages.IK_DISTANCE: lambda ik: ik.ik_type != "COPY_POSE",
    messages.IK_WITHOUT_TAIL: lambda ik: not ik.use_tail,
    messages.IK_WITHOUT_POSITION: lambda ik: not ik.use_location,
    messages.IK_WEIGHT: lambda ik: (ik.weight, ik.orient_weight) != (1, 1),
    messages.IK_AXES: lambda ik: ik.reference_axis != "BONE" or not all(getattr(ik, lock) for lock in _LOCKS),
    messages.IK_SPACE: lambda ik: ik.target_space != "WORLD",
}
"""What no chain can do."""


def _check_unshared(held: Held) -> None:
    """Raise ChainError where a bone is part of another chain, of either kind."""
    ob, own = held.tip.id_data, bone_names(held)
    if is_adopted(held.chain_tip):
        raise held.error(messages.IK_TIP_ADOPTED)
    for other in adoptable(ob.pose.bones):
        shared = sorted(own & bone_names(other)) if other != held else []
        if shared:
            names = {"shared": shared[0], "other": other.constraint.name, "owner": other.tip.name}
            raise held.error(messages.IK_TREE, **names)
    for other in live_tips(ob):
        tip = ob.pose.bones[other]
        shared = sorted(own & names_up(tip, tip.analytic_ik_chain_count))
        if shared:
            raise held.error(messages.IK_SHARES_BONE, shared=shared[0], tip=other)


def _check_animation(held: Held) -> None:
    """Raise ChainError where animation or drivers would not let the chain be what it becomes."""
    ob, tip = held.tip.id_data, held.chain_tip
    mute, influence = mute_path(held), influence_path(held)
    paths = set(animated_paths(ob))
    if mute and influence in paths:
        raise held.error(messages.IK_MUTE_ANIMATED)
    own = {path_of(tip, name) for name in Settings.__dataclass_fields__}
    if paths & own or curves_at(ob, path_of(tip, "influence")):
        raise held.error(messages.IK_CHAIN_ANIMATED)
    for curve in curves_at(ob, mute or influence):
        if not curve.id_data.is_editable:
            raise held.error(messages.IK_ACTION_LINKED, action=curve.id_data.name)
    for name in sorted(bone_names(held)):
        if is_driven(ob, ob.pose.bones[name], "rotation"):
            raise held.error(messages.IK_DRIVEN, driven=name)


def influence_path(held: Held) -> str:
    """The RNA path of a constraint's influence."""
    return f"{held.constraint.path_from_id()}.influence"


def mute_path(held: Held) -> str:
    """The RNA path by which animation mutes a constraint; "" if none does."""
    paths = (f"{held.constraint.path_from_id()}.{name}" for name in ("mute", "enabled"))
    return next((path for path in paths if is_animated(held.tip.id_data, path)), "")


def bone_names(held: Held) -> set[str]:
    """The bones that a constraint turns."""
    tip, constraint = held
    return names_up(tip if constraint.use_tail else tip.parent, constraint.chain_count)


def chain_names(held: Held) -> set[str]:
    """Those of them that are bones of its chain."""
    names = bone_names(held)
    return names - {held.tip.name} if held.constraint.use_rotation else names


def names_up(tip: bpy.types.PoseBone | None, count: int) -> set[str]:
    """A bone and those above it, `count` in all, or as many as there are; 0: up to the root."""
    return {bone.name for bone in [tip, *tip.parent_recursive][: count or None]} if tip else set()
