"""Where a new chain ends: at the head of the bone that goes on from its tip, wherever an import left the tip's tail."""

import bpy

from .finding.legs import FoundLimb, find_limbs

_AT_THE_TAIL = 0.01
"""How far from a bone's tail a bone that begins there may lie, in lengths of the bone."""
_ASIDE = 0.2
"""How near to a bone's head a bone begins that is a helper of it, as part of the way to the farthest such bone."""


def limb_with_tip(tip: bpy.types.PoseBone) -> FoundLimb | None:
    """The leg or arm whose chain has this tip, as its names or its shape show; None if it is no such limb's."""
    found = find_limbs([tip.bone], arms=True).limbs
    return next((limb for limb in found if limb.bones[-1] == tip.name), None)


def end_bone_of(tip: bpy.types.PoseBone, limb: FoundLimb | None) -> str:
    """Name of the bone at whose head a chain with this tip ends; "" if none goes on from it.

    limb: the limb with this tip. Its foot or hand; else the child at the tip's tail; else, as importers put tails
    anywhere, the child that carries the most bones. Children that begin near the tip's head are its helpers.
    """
    bone = tip.bone
    if limb is not None:
        return limb.end
    ways = {child: (child.head_local - bone.head_local).length for child in bone.children}
    farthest = max(ways.values(), default=0.0)
    going_on = [child for child, way in ways.items() if way > _ASIDE * farthest]
    if not going_on:
        return ""
    near = _AT_THE_TAIL * bone.length
    at_tail = [child for child in going_on if (child.head_local - bone.tail_local).length <= near]
    return max(at_tail or going_on, key=lambda child: len(child.children_recursive)).name
