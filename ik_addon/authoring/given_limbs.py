"""Limbs that are named by their bones: one map of them serves all characters with the same skeleton."""

from collections.abc import Iterable, Mapping, Sequence

import bpy

from .. import messages
from ..solvers import ChainError
from .finding.limbs import FoundLimb, find_limbs
from .finding.names import MEANINGLESS, read_names
from .rigging import corrected

GivenLimbs = Mapping[str, Sequence[tuple[str, str, str | None]]]
"""Under "legs" and "arms", for each limb: its first bone, its tip bone, and its end bone or None."""
_KINDS = {"legs": "LEG", "arms": "ARM"}


def checked_limbs(given: object) -> GivenLimbs:
    """Limbs as they came from a file or a script. Raises ChainError if they have another shape."""
    if (
        not isinstance(given, Mapping)
        or not given.keys() <= _KINDS.keys()
        or not any(given.values())
        or not all(isinstance(limbs, list | tuple) and all(map(_is_limb, limbs)) for limbs in given.values())
    ):
        raise ChainError(messages.NOT_LIMBS())
    return given


def _is_limb(limb: object) -> bool:
    if not isinstance(limb, list | tuple) or len(limb) != 3:
        return False
    first, tip, end = limb
    return isinstance(first, str) and isinstance(tip, str) and (end is None or isinstance(end, str))


def given_limbs(ob: bpy.types.Object, given: GivenLimbs) -> list[FoundLimb]:
    """The limbs of an armature object that a map names. Raises ChainError if it has no such bones, or no such chain.

    What is known of a limb with the same bones is kept: its toes, and which of its bones are split for twist.
    """
    found = find_limbs(ob.data.bones, arms=True)
    known = {limb.bones[-1]: limb for limb in (*found.limbs, *(limb for limb, _ in found.unsure))}
    names = read_names(ob.data.bones.keys())
    limbs = []
    for key, kind in _KINDS.items():
        for first, tip, end in checked_limbs(given).get(key, ()):
            said = names.get(tip, MEANINGLESS)
            other = FoundLimb(kind, said.side, said.place, (tip,), "", "", "", rides=False)
            limb = known.get(tip, other)
            limb = limb if limb.kind == kind else other
            limbs.append(corrected(ob, limb, first, tip, end or "", limb.side))
    return limbs


def named_limbs(limbs: Iterable[FoundLimb]) -> dict[str, list[list[str | None]]]:
    """The map of some limbs."""
    limbs = list(limbs)
    return {
        key: [[limb.bones[0], limb.bones[-1], limb.end or None] for limb in limbs if limb.kind == kind]
        for key, kind in _KINDS.items()
    }
