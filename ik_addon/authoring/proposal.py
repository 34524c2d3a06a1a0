"""Which chain *Add Analytic IK* makes for a bone: a foot or a thigh of a known limb leads to that limb's last bone."""

from dataclasses import dataclass

import bpy

from .finding.legs import FoundLimb, find_limbs
from .homes import control_bones
from .selection import is_tip

_LINKS = 2
"""Bones of a chain whose limb is not known, as in a limb."""
_NAMED = 3
"""Bones of a chain that are named; of more, the first and the last."""

_known: dict[str, tuple] = {}
"""Under "now": what an armature was like when its limbs were last found, and these, as plain data. To find them takes
too long for every redraw."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A chain to be added. bones: root first. chosen: the bone for which it was asked."""

    bones: tuple[str, ...]
    chosen: str

    @property
    def tip(self) -> str:
        """The last bone."""
        return self.bones[-1]

    @property
    def is_led(self) -> bool:
        """True if the chain does not end at the chosen bone."""
        return self.tip != self.chosen

    @property
    def words(self) -> str:
        """Its bones in a sentence: "thigh.L > shin.L"."""
        return chain_words(self.bones)


def chain_words(bones: tuple[str, ...]) -> str:
    """The bones of a chain in a sentence, root first: "thigh.L > shin.L"."""
    shown = bones if len(bones) <= _NAMED else (bones[0], "...", bones[-1])
    return " > ".join(shown)


def proposed_chain(bone: bpy.types.PoseBone, use_this_bone: bool = False) -> Proposal | None:
    """The chain that suits a bone; None if it has no parent to make a chain with, or is a control bone.

    use_this_bone: the chain ends at the bone, whatever limb it belongs to.
    """
    limb = _limb_of(bone)
    if limb is not None and (bone.name == limb.bones[-1] or not use_this_bone):
        return Proposal(limb.bones, bone.name)
    if bone.parent is None or bone.name in control_bones(bone.id_data.data):
        return None
    above = [bone, *bone.parent_recursive[: _LINKS - 1]]
    return Proposal(tuple(each.name for each in reversed(above)), bone.name)


def _limb_of(bone: bpy.types.PoseBone) -> FoundLimb | None:
    """The leg or arm to which a bone belongs, unless that has a chain already or some of its bones are gone."""
    bones = bone.id_data.pose.bones
    for limb in _limbs(bone):
        names = (*limb.bones, *filter(None, (limb.end,)))
        if bone.name in names and all(name in bones for name in names) and not is_tip(bones[limb.bones[-1]]):
            return limb
    return None


def _limbs(bone: bpy.types.PoseBone) -> tuple[FoundLimb, ...]:
    """The limbs of a bone's armature, found anew after Edit Mode, and where the bone has another name."""
    ob = bone.id_data
    # Edit Mode makes all bones anew.
    like = (ob.data.session_uid, len(ob.pose.bones), ob.pose.bones[0].bone.as_pointer())
    near = [bone, *bone.parent_recursive, *bone.children]
    known_like, names, found = _known.get("now", (None, frozenset(), ()))
    if known_like != like or any(each.name not in names for each in near):
        bones = ob.data.bones
        found = find_limbs(bones, arms=True).limbs
        _known["now"] = (like, frozenset(each.name for each in bones), found)
    return found
