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
    for limb in _limbs(bone.id_data.data):
        if bone.name in (*limb.bones, limb.end) and limb.bones[-1] in bones and not is_tip(bones[limb.bones[-1]]):
            return limb
    return None


def _limbs(armature: bpy.types.Armature) -> tuple[FoundLimb, ...]:
    """The limbs of an armature, found anew where its bones are others, or have other names."""
    bones = armature.bones
    like = (armature.session_uid, bones[0].as_pointer() if bones else 0, tuple(bone.name for bone in bones))
    known_like, found = _known.get("now", (None, ()))
    if known_like != like:
        found = find_limbs(bones, arms=True).limbs
        _known["now"] = (like, found)
    return found
