"""In which order the chains of a scene are solved: each after the chains that move it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

import bpy
import numpy as np

from ... import messages
from ...solvers import ChainError, Kind
from ..blender.armatures import bones_at
from ..blender.dependencies import (
    Known,
    Node,
    carriers,
    followed_bones,
    followed_nodes,
    goes_along,
    is_placed,
    is_rigify,
)
from ..data.settings import settings_of, switched_tips, target_and_pole
from .body import bodies_of, following_bones, movers_of_target
from .foot import end_bones
from .limb import chain_bones, link_bones


class ChainName(NamedTuple):
    """A chain by the names of its armature object and its tip bone."""

    armature: str
    tip: str


@dataclass(slots=True)
class ChainOrder:
    """chains: the live chains in the order of solving. bones: the names of each chain's bones, root first; turned:
    those that it turns, and of the bones on its end that follow its target.

    of: the chains of each armature object, by its name. movers: for each chain, the chains that move its root or its
    controls. far_movers: of these the ones that do so by constraints or drivers: what they make of it only Blender
    knows. carried: chains whose own bones carry their controls, which are refused when they are read; circular: chains
    that move their own controls by constraints or drivers. errors: chains that have no place in the order, with the
    reason.

    limbs: of bones that follow their limbs, named as if they were chains of no bone, these chains. They have a place in
    `steps`, which else is `chains`, and may be movers. unfit: those that cannot follow, with the reason.
    """

    chains: list[ChainName] = field(default_factory=list)
    steps: list[ChainName] = field(default_factory=list)
    limbs: dict[ChainName, list[ChainName]] = field(default_factory=dict)
    unfit: dict[ChainName, ChainError] = field(default_factory=dict)
    bones: dict[ChainName, list[str]] = field(default_factory=dict)
    turned: dict[ChainName, list[str]] = field(default_factory=dict)
    of: dict[str, list[ChainName]] = field(default_factory=dict)
    movers: dict[ChainName, set[ChainName]] = field(default_factory=dict)
    far_movers: dict[ChainName, set[ChainName]] = field(default_factory=dict)
    carried: set[ChainName] = field(default_factory=set)
    circular: set[ChainName] = field(default_factory=set)
    errors: dict[ChainName, ChainError] = field(default_factory=dict)

    def turned_by(self, armature: str) -> dict[str, list[str]]:
        """The tips of an armature's chains, each with the names of the bones that it turns, root first."""
        return {chain.tip: self.turned[chain] for chain in self.of.get(armature, ())}

    def chains_of(self, armature: str) -> dict[str, list[str]]:
        """The tips of an armature's chains, each with the names of its chain's bones, root first."""
        return {chain.tip: self.bones[chain] for chain in self.of.get(armature, ())}


def live_tips(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of an armature that are tips of live chains.

    A rig that Rigify generates holds copies of the chains of its metarig; bones that it moves itself have none.
    """
    rows = np.flatnonzero(_enabled(ob)).tolist()
    tips = bones_at(ob, rows)
    if rows and is_rigify(ob):
        # As many bones of each chain as there are.
        own = ((tip, [tip, *tip.parent_recursive][: tip.analytic_ik_chain_count or None]) for tip in tips)
        tips = (tip for tip, bones in own if not is_placed(bones))
    return [tip.name for tip in tips]


def has_live_chains(ob: bpy.types.Object) -> bool:
    """Whether an armature has live chains: sooner told than which."""
    return bool(_enabled(ob).any()) and (not is_rigify(ob) or bool(live_tips(ob)))


def _enabled(ob: bpy.types.Object) -> np.ndarray:
    enabled = np.zeros(len(ob.pose.bones), bool)
    ob.pose.bones.foreach_get("analytic_ik_enabled", enabled)
    return enabled


def tips_of(ob: bpy.types.Object) -> tuple[str, ...]:
    """The tips of the chains that an armature object has, or may have at another frame, each once."""
    return tuple(dict.fromkeys((*live_tips(ob), *switched_tips(ob))))


def chain_order(objects: Iterable[bpy.types.Object]) -> ChainOrder:
    """The live chains of armature objects (evaluated ones: as animated and driven) in the order of solving."""
    order = ChainOrder()
    chain_of_bone: dict[tuple[str, str], ChainName] = {}
    tips: dict[ChainName, bpy.types.PoseBone] = {}
    bodies: dict[ChainName, bpy.types.PoseBone] = {}
    for ob in objects:
        bodies |= {ChainName(ob.name_full, name): ob.pose.bones[name] for name in bodies_of(ob)}
        for tip in live_tips(ob):
            name = ChainName(ob.name_full, tip)
            tips[name] = ob.pose.bones[tip]
            _place(order, name, tips[name], chain_of_bone)
    known = Known()
    if bodies:
        _place_bodies(order, bodies, tips, chain_of_bone, known)
    for name in order.bones:
        read = [*read_by(tips[name], order.bones[name][0])]
        near, far = _found(read, chain_of_bone, known)
        loose = {body for body in near & order.limbs.keys() if not _goes_along(read, body)}
        near, far = near - loose, far | loose
        if name in near:
            order.carried.add(name)
        elif name in far:
            order.circular.add(name)
        order.movers[name] = (near | far) - {name}
        order.far_movers[name] = far - near - {name}
    while order.movers:
        try:
            order.steps = list(TopologicalSorter(order.movers).static_order())
            order.chains = [name for name in order.steps if name not in order.limbs]
            break
        except CycleError as error:
            _drop_circle(order, error.args[1])
    for name in order.bones:
        order.of.setdefault(name.armature, []).append(name)
    return order


class KnownOrders:
    """The orders of a scene's chains, by which of them are live and which bones they turn: for as long as nothing else
    changes what depends on what."""

    def __init__(self) -> None:
        self._known: dict[tuple, ChainOrder] = {}

    def of(self, objects: Iterable[bpy.types.Object]) -> ChainOrder:
        """See `chain_order`."""
        found = [*objects]
        key = tuple(
            (ob.name_full, *map(_turns, map(ob.pose.bones.get, live_tips(ob))), *following_bones(ob)) for ob in found
        )
        if key not in self._known:
            self._known[key] = chain_order(found)
        return self._known[key]


def _turns(tip: bpy.types.PoseBone) -> tuple:
    return tip.name, tip.analytic_ik_chain_count, tip.analytic_ik_use_rotation, tip.analytic_ik_foot_roll != 0.0


def _place(
    order: ChainOrder,
    name: ChainName,
    tip: bpy.types.PoseBone,
    chain_of_bone: dict[tuple[str, str], ChainName],
) -> None:
    """Give a chain its bones, unless it has too few or another chain has one of them."""
    try:
        bones = chain_bones(tip)
        names, ends = [bone.name for bone in bones], [bone.name for bone in end_bones(tip, settings_of(tip))]
        shared = next((bone for bone in names + ends if (name.armature, bone) in chain_of_bone), None)
        if shared is not None:
            tip_name = chain_of_bone[name.armature, shared].tip
            raise ChainError(messages.BONE_SHARED(bone=shared, tip=tip_name), Kind.BONES)
    except ChainError as error:
        order.errors[name] = error.of(messages.BONE(bone=name.tip))
        return
    order.bones[name], order.turned[name] = names, [bone.name for bone in link_bones(bones)] + ends
    chain_of_bone.update({(name.armature, bone): name for bone in names + ends})


def _place_bodies(
    order: ChainOrder,
    bodies: Mapping[ChainName, bpy.types.PoseBone],
    tips: Mapping[ChainName, bpy.types.PoseBone],
    chain_of_bone: dict[tuple[str, str], ChainName],
    known: Known,
) -> None:
    """Give bones that follow their limbs these and a place in the order. The nearest of them alone follows a limb.

    A chain of one bone is none: it only points at its target. Nor is one that constraints keep from going along.
    """
    limbs: dict[ChainName, list[ChainName]] = {name: [] for name in bodies}
    idle = set(bodies)
    for chain, names in order.bones.items():
        for bone in tips[chain].id_data.pose.bones[names[0]].parent_recursive:
            name = ChainName(chain.armature, bone.name)
            if name in chain_of_bone:
                # Where that chain takes the limb is its own affair.
                break
            if not goes_along(bone) and name not in bodies:
                break
            if name in bodies:
                idle.discard(name)
                tip = tips[chain]
                follows = len(names) > 1 and tip.analytic_ik_target
                if follows and (tip.id_data.original, name.tip) not in movers_of_target(tip, known):
                    limbs[name].append(chain)
                break
    for name in bodies:
        if name in chain_of_bone:
            order.unfit[name] = ChainError(messages.BODY_ON_CHAIN(tip=chain_of_bone[name].tip))
        elif limbs[name]:
            order.limbs[name] = limbs[name]
        elif name not in idle:
            order.unfit[name] = ChainError(messages.BODY_WITHOUT_LIMBS())
    order.unfit = {name: error.of(messages.BONE(bone=name.tip)) for name, error in order.unfit.items()}
    for name in order.limbs:
        chain_of_bone[name.armature, name.tip] = name
    for name, own in order.limbs.items():
        # As of a chain: what carries it, and the targets of its limbs.
        bone, own_tips = bodies[name], [tips[chain] for chain in own]
        read = [(tip.analytic_ik_target, tip.analytic_ik_subtarget, tip.analytic_ik_use_rotation) for tip in own_tips]
        read.append((bone.id_data, bone.parent.name if bone.parent else "", True))
        near, far = _found(read, chain_of_bone, known)
        order.movers[name] = (near | far) - {name}
        order.far_movers[name] = far - near - {name}


def _found(
    read: Iterable[tuple[bpy.types.Object, str, bool]], chain_of_bone: dict[tuple[str, str], ChainName], known: Known
) -> tuple[set[ChainName], set[ChainName]]:
    """The chains that carry what is read, and those that move it in any other way.

    The chain itself may be among them: it is refused when it is read, with the bone that carries its target.
    """
    near, far = set(), set()
    for ob, bone_name, turned in read:
        near.update(chain_of_bone.get((owner.name_full, bone.name)) for owner, bone in carriers(ob, bone_name))
        found = followed_bones(ob, bone_name, turned, known)
        far.update(chain_of_bone.get((owner.name_full, bone.name)) for owner, bone in found)
    return near - {None}, far - {None}


def _goes_along(read: Iterable[tuple[bpy.types.Object, str, bool]], body: ChainName) -> bool:
    """Whether what is read goes as far as a bone that carries it, no constraint between."""
    for ob, bone_name, _ in read:
        between = []
        for owner, bone in carriers(ob, bone_name):
            if (owner.name_full, bone.name) == body:
                if not all(map(goes_along, between)):
                    return False
                break
            between.append(bone)
    return True


def read_by(tip: bpy.types.PoseBone, root_name: str) -> Iterator[tuple[bpy.types.Object, str, bool]]:
    """What a chain is read from: what carries its root, its target, its pole; object and bone, and whether it counts
    how they are turned."""
    ob = tip.id_data
    above_root = ob.pose.bones[root_name].parent
    yield ob, above_root.name if above_root else "", True
    if tip.analytic_ik_target is not None:
        yield tip.analytic_ik_target, tip.analytic_ik_subtarget, tip.analytic_ik_use_rotation
    if tip.analytic_ik_pole_target is not None:
        yield tip.analytic_ik_pole_target, tip.analytic_ik_pole_subtarget, False


def objects_read(ob: bpy.types.Object) -> set[bpy.types.Object]:
    """What an armature object's chains are read from, now or at another frame: itself, the controls, and all objects
    that carry or move these."""
    known = Known()
    found: set[Node] = followed_nodes(ob, known=known)
    for name in (*tips_of(ob), *bodies_of(ob)):
        tip = ob.pose.bones[name]
        followed_nodes(ob, name, found, known)
        for control, bone in target_and_pole(tip):
            followed_nodes(control, bone, found, known)
    return {owner for owner, _ in found}


def objects_of(tip: bpy.types.PoseBone) -> list[bpy.types.Object]:
    """The armature object of a tip, and the controls of its chain."""
    return [tip.id_data, *(control for control, _ in target_and_pole(tip))]


def _drop_circle(order: ChainOrder, circle: list[ChainName]) -> None:
    """Open a circle: where one of its chains is moved by constraints or drivers alone, that is seen a step late, as it
    is in Blender; else none of them can be solved."""
    bodies = order.limbs.keys() & set(circle)
    for name in bodies:
        order.unfit[name] = ChainError(messages.BODY_IN_CIRCLE()).of(messages.BONE(bone=name.tip))
        del order.limbs[name], order.movers[name], order.far_movers[name]
    if bodies:
        for movers in (*order.movers.values(), *order.far_movers.values()):
            movers.difference_update(bodies)
        return
    order.circular.update(circle)
    for name in circle:
        if order.far_movers[name] & set(circle):
            order.movers[name] -= order.far_movers[name] & set(circle)
            order.far_movers[name] -= set(circle)
            return
    several = len({link.armature for link in circle}) > 1
    tips = [messages.LINK_OF_CIRCLE(tip=link.tip, armature=link.armature) if several else link.tip for link in circle]
    error = ChainError(messages.CHAINS_IN_CIRCLE(tips=" → ".join(tips)))
    for name in set(circle):
        order.errors[name] = error.of(messages.BONE(bone=name.tip))
        del order.movers[name], order.bones[name], order.turned[name]
    for movers in order.movers.values():
        movers.difference_update(circle)
