"""Chains whose bones, or whose target, something else may move after they were solved."""

from collections.abc import Iterator, Mapping, Sequence

import bpy

from ..blender.animation import animated_paths, placing_drivers
from ..blender.armatures import armature_named
from ..blender.carriers import carriers
from ..blender.movers import may_act, taken_by
from ..blender.relations import Known, followed_bones
from ..data.relation import is_tie
from ..model.order import ChainName, read_by


def moved_afterwards(chains: Mapping[ChainName, Sequence[str]], with_idle: bool) -> set[ChainName]:
    """The chains that may end elsewhere than they were solved to.

    Constraints and drivers of their bones act after the solution. So does what follows a chain by constraints or
    drivers, if another chain reads it, or the chain itself.
    chains: all live chains of a scene, each with the names of the bones that it turns, its root first.
    with_idle: True if constraints count that are off, and that no animation switches on.
    """
    turned = {(chain.armature, name) for chain, names in chains.items() for name in names}
    constraints: dict[str, list[tuple[bpy.types.PoseBone, bpy.types.Constraint]]] = {}
    known = Known()
    found = set()
    for chain, names in chains.items():
        ob, own = armature_named(chain.armature), set(names)
        if chain.armature not in constraints:
            constraints[chain.armature] = [*_constraints(ob, with_idle)]
        if (
            any(bone.name in own or own & taken_by(each, bone) for bone, each in constraints[chain.armature])
            or any(True for name in names for _ in placing_drivers(ob, name, turned=True))
            or _follows(ob.pose.bones[chain.tip], names[0], turned, known)
        ):
            found.add(chain)
    return found


def _constraints(ob: bpy.types.Object, with_idle: bool) -> Iterator[tuple[bpy.types.PoseBone, bpy.types.Constraint]]:
    """The constraints of an armature object's bones that act, or may at another frame."""
    found = [
        (bone, each) for bone in ob.pose.bones if len(bone.constraints) for each in bone.constraints if not is_tie(each)
    ]
    animated = set(animated_paths(ob)) if found else set()
    yield from (each for each in found if with_idle or may_act(each[1], animated))


def _follows(tip: bpy.types.PoseBone, root: str, turned: set[tuple[str, str]], known: Known) -> bool:
    """Whether what a chain reads follows the bones of chains by constraints or drivers, and does not hang on them."""
    for ob, bone_name, turns in read_by(tip, root):
        near = {(owner.name_full, bone.name) for owner, bone in carriers(ob, bone_name)}
        far = {(owner.name_full, bone.name) for owner, bone in followed_bones(ob, bone_name, turns, known)}
        if not turned.isdisjoint(far - near):
            return True
    return False
