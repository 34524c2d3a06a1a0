"""What a chain keeps of the IK constraint that it was."""

import json
from collections.abc import Sequence
from typing import NamedTuple

import bpy

from .. import messages
from ..rig.blender.channels import Raw
from ..solvers import ChainError


class Record(NamedTuple):
    """What is kept of a constraint, as JSON on the tip of its chain.

    bone, constraint: their names.
    helper: name of the Empty that adopting made; "": none.
    influence: the constraint's, if its influence was set to 0; None if it was muted.
    animated: names of the settings of the chain that are animated as the constraint was.
    fk: by bone its rotation mode, and as numbers of that its rotation before and as adopting wrote it.
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
    if not is_adopted(tip):
        return ()
    try:
        return tuple(setting_path(tip, name) for name in record_of(tip).animated)
    except ChainError:
        # The chain is removed all the same.
        return ()


def setting_path(tip: bpy.types.PoseBone, name: str) -> str:
    """The RNA path of a setting of a chain."""
    return f"{tip.path_from_id()}.analytic_ik_{name}"
