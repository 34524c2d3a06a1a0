"""Pole targets that keep between foot and body, so that a knee stays ahead of both wherever they walk and turn.

By Blender's own Armature constraint, half with the foot's control and half with the bone that carries the leg: so where
a pole target is depends on where these two are alone, at any frame and in any order, and without the add-on too.
"""

from collections.abc import Sequence

import bpy

from ..rig.blender.blended_bones import shares_of
from ..rig.data.settings import target_and_pole
from ..rig.model.limb import known_bones

_NAME = "Analytic IK Follow"


def pole_and_carriers(tip: bpy.types.PoseBone) -> tuple[str, ...]:
    """Names of the pole target of a chain and of the bones between which it can keep: the target, and what carries the
    root. Empty if they are not all bones of its own armature."""
    ob, bones, controls = tip.id_data, known_bones(tip), target_and_pole(tip)
    root = bones[0].parent if bones else None
    if root is None or len(controls) < 2 or any(holder != ob for holder, _ in controls):
        return ()
    (_, target), (_, pole) = controls
    return (pole, target, root.name) if pole in ob.pose.bones and target in ob.pose.bones else ()


def is_following(tip: bpy.types.PoseBone) -> bool:
    """Whether the pole target of a chain keeps between the bones that `pole_and_carriers` names."""
    names = pole_and_carriers(tip)
    shares = shares_of(tip.id_data.pose.bones[names[0]]) if names else None
    return bool(shares) and shares.keys() == {*names[1:]}


def let_follow(pole: bpy.types.PoseBone, carriers: Sequence[str]) -> None:
    """Let a pole target, which has no parent, keep between bones of its armature. It moves by what these have moved."""
    constraint = pole.constraints.new("ARMATURE")
    constraint.name, constraint.show_expanded = _NAME, False
    for name in carriers:
        carrier = constraint.targets.new()
        carrier.target, carrier.subtarget, carrier.weight = pole.id_data, name, 1.0 / len(carriers)


def stop_following(pole: bpy.types.PoseBone) -> None:
    """Take that off."""
    for constraint in filter(lets_follow, [*pole.constraints]):
        pole.constraints.remove(constraint)


def lets_follow(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint was made here."""
    return constraint.type == "ARMATURE" and constraint.name.startswith(_NAME)
