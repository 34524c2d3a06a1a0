"""Where a new chain ends: at the head of the bone that goes on from its tip, wherever an import left the tip's tail."""

import bpy

from .finding.legs import find_limbs

_AT_THE_TAIL = 0.01
"""How far from a bone's tail a bone that begins there may lie, in lengths of the bone."""
_ASIDE = 0.2
"""How near to a bone's head a bone begins that is a helper of it, as part of the way to the farthest such bone."""


def end_bone_of(tip: bpy.types.PoseBone) -> str:
    """Name of the bone at whose head a chain with this tip ends; "" if none goes on from it.

    A limb's foot or hand; else the child at the tip's tail; else, as importers put tails anywhere, the child that
    carries the most bones. Children that begin near the tip's head are its helpers.
    """
    bone = tip.bone
    for limb in find_limbs([bone], arms=True).limbs:
        if limb.bones[-1] == bone.name:
            return limb.end
    ways = {child: (child.head_local - bone.head_local).length for child in bone.children}
    farthest = max(ways.values(), default=0.0)
    going_on = [child for child, way in ways.items() if way > _ASIDE * farthest]
    if not going_on:
        return ""
    near = _AT_THE_TAIL * bone.length
    at_tail = [child for child in going_on if (child.head_local - bone.tail_local).length <= near]
    return max(at_tail or going_on, key=lambda child: len(child.children_recursive)).name
