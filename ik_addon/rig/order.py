"""In which order the chains of an armature are solved: each after the chains that move it."""

from array import array
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

import bpy

from ..solvers import ChainError
from .reading import chain_bones


@dataclass(slots=True)
class ChainOrder:
    """tips: the live chains by their tip bones, in the order of solving. bones: of each chain, root first.

    movers: for each chain, the chains that move its root or its controls. errors: chains that have no
    place in the order, with the reason.
    """

    tips: list[str] = field(default_factory=list)
    bones: dict[str, list[str]] = field(default_factory=dict)
    movers: dict[str, set[str]] = field(default_factory=dict)
    errors: dict[str, ChainError] = field(default_factory=dict)


def live_tips(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of an armature that are tips of live chains."""
    bones = ob.pose.bones
    enabled = array("b", bytes(len(bones)))
    bones.foreach_get("analytic_ik_enabled", enabled)
    return [bones[k].name for k, value in enumerate(enabled) if value] if any(enabled) else []


def chain_order(ob: bpy.types.Object) -> ChainOrder:
    """The live chains of an armature object (evaluated: as animated and driven) in the order of solving."""
    order = ChainOrder()
    chain_of_bone: dict[str, str] = {}
    for tip in live_tips(ob):
        try:
            tip_bone = ob.pose.bones[tip]
            names = [bone.name for bone in chain_bones(tip_bone, tip_bone.analytic_ik_chain_count)]
            shared = next((name for name in names if name in chain_of_bone), None)
            if shared is not None:
                raise ChainError(
                    f"its bone '{shared}' belongs to the chain of '{chain_of_bone[shared]}' already; "
                    "set Bones so that the chains share none"
                )
        except ChainError as error:
            order.errors[tip] = ChainError(f"Bone '{tip}': {error}")
            continue
        order.bones[tip] = names
        chain_of_bone.update(dict.fromkeys(names, tip))
    for tip in order.bones:
        order.movers[tip] = _movers(ob, tip, order, chain_of_bone)
    while order.movers:
        try:
            order.tips = list(TopologicalSorter(order.movers).static_order())
            break
        except CycleError as error:
            _drop_circle(order, error.args[1])
    return order


def _movers(ob: bpy.types.Object, tip: str, order: ChainOrder, chain_of_bone: dict[str, str]) -> set[str]:
    """The chains on whose bones a chain's root depends, or its target or pole where that is a bone of `ob`."""
    bones = ob.pose.bones
    pose_bone = bones[tip]
    depends_on = [bones[order.bones[tip][0]].parent]
    for control, bone_name in (
        (pose_bone.analytic_ik_target, pose_bone.analytic_ik_subtarget),
        (pose_bone.analytic_ik_pole_target, pose_bone.analytic_ik_pole_subtarget),
    ):
        if control is not None and bone_name and control.original == ob.original:
            depends_on.append(bones.get(bone_name))
    movers = set()
    for bone in depends_on:
        while bone is not None:
            mover = chain_of_bone.get(bone.name)
            if mover is not None:
                movers.add(mover)
            bone = bone.parent
    # A chain that moves its own target is refused when it is read, with the bone that carries it.
    return movers - {tip}


def _drop_circle(order: ChainOrder, circle: list[str]) -> None:
    for tip in set(circle):
        order.errors[tip] = ChainError(
            f"Bone '{tip}': the chains {' → '.join(circle)} move each other's controls; choose for one of "
            "them a target that none of the others moves"
        )
        del order.movers[tip], order.bones[tip]
    for movers in order.movers.values():
        movers.difference_update(circle)
