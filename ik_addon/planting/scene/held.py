"""What limbs are held to, and what keeps them from being held to it."""

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

import bpy

from ... import messages
from ...authoring.placing import Control
from ...rig.blender.relations import Node, followed_nodes
from ...rig.model.body import bodies_of
from ...rig.model.foot import end_bone
from ...rig.model.limb import known_bones
from ...solvers import ChainError
from .limbs import keyed_control


def check_held(context: bpy.types.Context, tip: bpy.types.PoseBone, held: Control) -> None:
    """Raise ChainError where a limb cannot be held to something, for it is gone, or moves with the limb."""
    if not is_there(context, held):
        gone = messages.HELD_GONE()
        if is_there(context, Control(held.ob)):
            gone = messages.HELD_BONE_GONE(object=held.ob.name, bone=held.bone)
        raise ChainError(gone).of(messages.BONE(bone=tip.name))
    if moves(tip, held):
        raise ChainError(messages.HELD_BY_LIMB(held=held.shown)).of(messages.BONE(bone=tip.name))
    ob, nodes = tip.id_data, followed_nodes(held.ob, held.bone)
    above = {bone.name for bone in known_bones(tip)[0].parent_recursive}
    for body in bodies_of(ob):
        if body in above and (ob, body) in nodes:
            raise ChainError(messages.HELD_ON_BODY(body=body, held=held.shown)).of(messages.BONE(bone=tip.name))


def is_there(context: bpy.types.Context, held: Control) -> bool:
    """True if an object, or the bone of it, is in the scene."""
    ob = held.ob
    if ob is None or ob.name not in context.view_layer.objects:
        return False
    return not held.bone or (ob.pose is not None and held.bone in ob.pose.bones)


def limb_bones(tip: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """The bones of a limb, with its hand or foot."""
    end = end_bone(tip)
    return [*known_bones(tip), *((end,) if end else ())]


def moves(tip: bpy.types.PoseBone, held: Control) -> bool:
    """True if a limb moves something, with its bones or by what follows its controls."""
    return bool(followed_nodes(held.ob, held.bone) & _moved_by(tip))


def in_order(tips: Mapping[str, bpy.types.PoseBone], held: Mapping[str, Sequence[Control]]) -> list[bpy.types.PoseBone]:
    """Limbs, each after those that move what it is held to. Both by the names of tips.

    Raises ChainError where limbs hold each other.
    """
    moved = {name: _moved_by(tip) for name, tip in tips.items()}
    before = {
        name: {
            other
            for control in held[name]
            for other in tips
            if other != name and followed_nodes(control.ob, control.bone) & moved[other]
        }
        for name in tips
    }
    try:
        return [tips[name] for name in TopologicalSorter(before).static_order()]
    except CycleError as error:
        raise ChainError(messages.HOLDS_IN_CIRCLE(tips=messages.quoted(error.args[1][1:]))) from error


def _moved_by(tip: bpy.types.PoseBone) -> set[Node]:
    """What a limb moves: its own bones, with hand or foot, and its controls."""
    nodes = {(tip.id_data, bone.name) for bone in limb_bones(tip)}
    target = Control(tip.analytic_ik_target, tip.analytic_ik_subtarget)
    keyed = keyed_control(tip, target) if target.ob is not None else target
    pole = (tip.analytic_ik_pole_target, tip.analytic_ik_pole_subtarget)
    return nodes | {(target.ob, target.bone), (keyed.ob, keyed.bone), pole}
