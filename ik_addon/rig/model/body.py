"""Which bones follow the limbs that they carry, and which could."""

from collections.abc import Mapping

import bpy
import numpy as np

from ... import messages
from ...solvers import ChainError
from ..blender.animation import FOLLOWING, bones_with_animated, is_driven
from ..blender.armatures import bones_at
from ..blender.carriers import carriers
from ..blender.movers import movers_of
from ..blender.relations import Known, followed_bones
from .limb import known_bones

Movers = set[tuple[bpy.types.Object, str]]
"""Bones, each with its armature object (original)."""


def following_bones(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of an armature object that follow their limbs just now."""
    bones = ob.pose.bones
    influences = np.zeros(len(bones), np.float32)
    bones.foreach_get(FOLLOWING, influences)
    rows = np.flatnonzero(influences > 0.0).tolist()
    return [bone.name for bone in bones_at(ob, rows)] if rows else []


def bodies_of(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of an armature object that follow their limbs, or do so where animation says it."""
    return [*dict.fromkeys((*following_bones(ob), *bones_with_animated(ob.original, FOLLOWING)))]


def movers_of_target(tip: bpy.types.PoseBone, known: Known | None = None) -> Movers:
    """The bones that move the target of a chain; those cannot follow it."""
    control, bone = tip.analytic_ik_target, tip.analytic_ik_subtarget
    if control is None:
        return set()
    found = [*carriers(control, bone), *followed_bones(control, bone, True, known)]
    return {(owner, each.name) for owner, each in found}


def possible_bodies(ob: bpy.types.Object, tips: Mapping[str, bpy.types.PoseBone]) -> dict[str, list[str]]:
    """By their names, topmost first, the bones of an armature object that carry the roots of several chains and not
    their targets, each with the tips of these. tips: of its chains."""
    known = Known()
    found: dict[str, list[str]] = {}
    for name, tip in tips.items():
        bones = known_bones(tip)
        if len(bones) < 2 or tip.analytic_ik_target is None:
            continue
        movers = movers_of_target(tip, known)
        for bone in bones[0].parent_recursive:
            if (ob, bone.name) not in movers:
                found.setdefault(bone.name, []).append(name)
    several = [name for name, own in found.items() if len(own) > 1]
    return {name: found[name] for name in sorted(several, key=lambda name: len(ob.pose.bones[name].parent_recursive))}


def check_movable(bone: bpy.types.PoseBone, evaluated: bpy.types.PoseBone | None = None) -> None:
    """Raise ChainError where an original bone does not go where its location says. evaluated: the same as evaluated."""
    try:
        if bone.bone.use_connect and bone.parent is not None:
            raise ChainError(messages.BODY_CONNECTED(parent=bone.parent.name))
        mover = next(movers_of([evaluated or bone]), None)
        if mover is not None:
            raise ChainError(messages.BODY_CONSTRAINED(constraint=mover.constraint.name))
        if is_driven(bone.id_data, bone, "location"):
            raise ChainError(messages.BODY_DRIVEN())
    except ChainError as error:
        raise error.of(messages.BONE(bone=bone.name)) from error
