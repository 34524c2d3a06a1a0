"""The limbs of an armature before they are rigged: which are found, which are free, and how one is corrected."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy

from .. import messages
from ..rig.blender.movers import check_unmoved
from ..solvers import ChainError
from .finding.legs import FoundLimb, LeftOut, find_limbs


@dataclass(frozen=True, slots=True)
class Survey:
    """The limbs of an armature object.

    free: those that can be rigged.
    taken: those that cannot, each with the reason.
    none: bones that look like part of a limb, each with the reason why they are none.
    """

    free: tuple[FoundLimb, ...]
    taken: tuple[tuple[FoundLimb, str], ...]
    none: tuple[LeftOut, ...]

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """All that cannot be rigged, by a bone of it."""
        return (*self.none, *(LeftOut(limb.bones[-1], reason) for limb, reason in self.taken))


def survey(ob: bpy.types.Object, selected: Sequence[bpy.types.PoseBone] = (), arms: bool = False) -> Survey:
    """Find the legs of an armature object, and with `arms` its arms. selected: only limbs with one of these bones."""
    posed = {bone.name: bone.head for bone in ob.pose.bones}
    found = find_limbs([bone.bone for bone in selected] or ob.data.bones, arms, posed)
    reasons = [(limb, _why_taken(ob, limb)) for limb in found.limbs]
    return Survey(
        tuple(limb for limb, reason in reasons if not reason),
        tuple((limb, reason) for limb, reason in reasons if reason),
        found.left_out,
    )


def _why_taken(ob: bpy.types.Object, limb: FoundLimb) -> str:
    """Why a limb is not free for a chain; "" if it is."""
    bones = [ob.pose.bones[name] for name in (*limb.bones, limb.end) if name]
    for bone in filter(_has_chain, bones):
        return messages.HAS_CHAIN(bone=bone.name)
    try:
        check_unmoved(bones)
    except ChainError as error:
        return str(error)
    return ""


def _has_chain(bone: bpy.types.PoseBone) -> bool:
    return bone.analytic_ik_enabled or bone.analytic_ik_target is not None


def have_chains(ob: bpy.types.Object, found: Survey) -> bool:
    """Whether all limbs that were found have chains already, live or muted."""
    limbs = [limb for limb, _ in found.taken]
    return bool(limbs) and all(any(_has_chain(ob.pose.bones[name]) for name in limb.bones) for limb in limbs)


def corrected(ob: bpy.types.Object, limb: FoundLimb, first: str, tip: str, end: str, side: str) -> FoundLimb:
    """A limb with another first bone, tip, end bone ("": none) or side.

    Raises ChainError, to be said of the tip, if there is no such bone or no chain between them.
    """
    bones = ob.pose.bones
    for name in (first, tip, *filter(None, (end,))):
        if name not in bones:
            raise ChainError(messages.NO_SUCH_BONE(armature=ob.name, bone=name))
    above = [bone.name for bone in (bones[tip], *bones[tip].parent_recursive)]
    if first not in above:
        raise ChainError(messages.NOT_BELOW(bone=tip, first=first))
    chain = tuple(reversed(above[: above.index(first) + 1]))
    if end in chain:
        raise ChainError(messages.END_IN_CHAIN(bone=tip, end=end))
    same_end = end == limb.end
    return replace(
        limb,
        bones=chain,
        end=end,
        side=side,
        toe=limb.toe if same_end else "",
        heel=limb.heel if same_end else "",
        segments=tuple(name for name in limb.segments if name in chain[1:]),
        rides=limb.rides if same_end and tip == limb.bones[-1] else bool(end) and bones[end].parent == bones[tip],
    )
