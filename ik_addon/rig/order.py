"""In which order the chains of a scene are solved: each after the chains that move it."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

import bpy

from ..solvers import ChainError
from .armatures import bones_at
from .carriers import carriers
from .foot import end_bones
from .limb import chain_bones


class ChainName(NamedTuple):
    """A chain by the names of its armature object and its tip bone."""

    armature: str
    tip: str


@dataclass(slots=True)
class ChainOrder:
    """chains: the live chains in the order of solving. bones: the names of each chain's bones, root first; turned:
    those and of the bones on its end that follow its target.

    of: the chains of each armature object, by its name. movers: for each chain, the chains that move its root or its
    controls. errors: chains that have no place in the order, with the reason.
    """

    chains: list[ChainName] = field(default_factory=list)
    bones: dict[ChainName, list[str]] = field(default_factory=dict)
    turned: dict[ChainName, list[str]] = field(default_factory=dict)
    of: dict[str, list[ChainName]] = field(default_factory=dict)
    movers: dict[ChainName, set[ChainName]] = field(default_factory=dict)
    errors: dict[ChainName, ChainError] = field(default_factory=dict)

    def turned_by(self, armature: str) -> dict[str, list[str]]:
        """The tips of an armature's chains, each with the names of the bones that it turns, root first."""
        return {chain.tip: self.turned[chain] for chain in self.of.get(armature, ())}

    def chains_of(self, armature: str) -> dict[str, list[str]]:
        """The tips of an armature's chains, each with the names of its chain's bones, root first."""
        return {chain.tip: self.bones[chain] for chain in self.of.get(armature, ())}


def live_tips(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of an armature that are tips of live chains."""
    bones = ob.pose.bones
    enabled = array("b", bytes(len(bones)))
    bones.foreach_get("analytic_ik_enabled", enabled)
    rows = [row for row, value in enumerate(enabled) if value] if any(enabled) else []
    return [bone.name for bone in bones_at(ob, rows)]


def chain_order(objects: Iterable[bpy.types.Object]) -> ChainOrder:
    """The live chains of armature objects (evaluated ones: as animated and driven) in the order of solving."""
    order = ChainOrder()
    chain_of_bone: dict[tuple[str, str], ChainName] = {}
    tips: dict[ChainName, bpy.types.PoseBone] = {}
    for ob in objects:
        for tip in live_tips(ob):
            name = ChainName(ob.name_full, tip)
            tips[name] = ob.pose.bones[tip]
            _place(order, name, tips[name], chain_of_bone)
    for name in order.bones:
        order.movers[name] = _movers(tips[name], order.bones[name][0], chain_of_bone) - {name}
    while order.movers:
        try:
            order.chains = list(TopologicalSorter(order.movers).static_order())
            break
        except CycleError as error:
            _drop_circle(order, error.args[1])
    for name in order.bones:
        order.of.setdefault(name.armature, []).append(name)
    return order


def _place(
    order: ChainOrder,
    name: ChainName,
    tip: bpy.types.PoseBone,
    chain_of_bone: dict[tuple[str, str], ChainName],
) -> None:
    """Give a chain its bones, unless it has too few or another chain has one of them."""
    try:
        names = [bone.name for bone in chain_bones(tip, tip.analytic_ik_chain_count)]
        turned = names + [bone.name for bone in end_bones(tip)]
        shared = next((bone for bone in turned if (name.armature, bone) in chain_of_bone), None)
        if shared is not None:
            raise ChainError(
                f"its bone '{shared}' belongs to the chain of '{chain_of_bone[name.armature, shared].tip}' already; "
                "set Bones so that the chains share none",
                "BONES",
            )
    except ChainError as error:
        order.errors[name] = error.of(f"Bone '{name.tip}'")
        return
    order.bones[name], order.turned[name] = names, turned
    chain_of_bone.update({(name.armature, bone): name for bone in turned})


def _movers(tip: bpy.types.PoseBone, root_name: str, chain_of_bone: dict[tuple[str, str], ChainName]) -> set[ChainName]:
    """The chains that move a chain's root, its target or its pole.

    The chain itself may be among them: it is refused when it is read, with the bone that carries its target.
    """
    ob = tip.id_data
    above_root = ob.pose.bones[root_name].parent
    depends_on = [(ob, above_root.name if above_root else "")]
    for control, bone_name in (
        (tip.analytic_ik_target, tip.analytic_ik_subtarget),
        (tip.analytic_ik_pole_target, tip.analytic_ik_pole_subtarget),
    ):
        if control is not None:
            depends_on.append((control, bone_name))
    found = (
        chain_of_bone.get((carrier.name_full, bone.name))
        for control, bone_name in depends_on
        for carrier, bone in carriers(control, bone_name)
    )
    return {mover for mover in found if mover is not None}


def _drop_circle(order: ChainOrder, circle: list[ChainName]) -> None:
    for name in set(circle):
        order.errors[name] = ChainError(
            f"Bone '{name.tip}': the chains {' → '.join(link.tip for link in circle)} move each other's controls; "
            "choose for one of them a target that none of the others moves"
        )
        del order.movers[name], order.bones[name], order.turned[name]
    for movers in order.movers.values():
        movers.difference_update(circle)
