"""Which limb of a source is which of a character, by what names and shape show of both."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bpy

from .. import messages
from ..authoring.finding.legs import FoundLimb, find_limbs
from ..solvers import ChainError


@dataclass(frozen=True, slots=True)
class LimbPair:
    """A limb of a character and the same one of its source. tip: of its chain; limb: as it was found there."""

    tip: bpy.types.PoseBone
    limb: FoundLimb
    source: FoundLimb


def pairs_of(tips: Sequence[bpy.types.PoseBone], source: bpy.types.Object) -> list[LimbPair]:
    """The limbs of these tips of one armature object for which its source has the same one.

    Raises ChainError where there is none.
    """
    ob = tips[0].id_data
    theirs = _by_kind(_limbs(source))
    if not theirs:
        raise ChainError(messages.SOURCE_NO_LIMB(source=source.name))
    own = _by_kind(limb for limb in _limbs(ob) if limb.bones[-1] in {tip.name for tip in tips})
    by_tip = {limb.bones[-1]: (limb, theirs[kind]) for kind, limb in own.items() if kind in theirs}
    pairs = [LimbPair(tip, *by_tip[tip.name]) for tip in tips if tip.name in by_tip]
    if not pairs:
        raise ChainError(messages.MATCH_NO_PAIR(armature=ob.name, source=source.name))
    return pairs


def _limbs(ob: bpy.types.Object) -> tuple[FoundLimb, ...]:
    """The legs and arms of an armature object."""
    posed = {bone.name: bone.head for bone in ob.pose.bones}
    return find_limbs(ob.data.bones, arms=True, posed=posed).limbs


def _by_kind(limbs: Iterable[FoundLimb]) -> dict[tuple[str, str, str], FoundLimb]:
    """Limbs by what they are; those that are one of several such are none."""
    found: dict[tuple[str, str, str], list[FoundLimb]] = {}
    for limb in limbs:
        found.setdefault((limb.kind, limb.side, limb.place), []).append(limb)
    return {kind: own[0] for kind, own in found.items() if len(own) == 1}
