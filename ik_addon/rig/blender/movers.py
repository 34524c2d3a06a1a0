"""What moves a limb's bones besides a chain: constraints on them, Blender's own IK below them, drivers."""

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

import bpy

from ... import messages
from ...solvers import ChainError
from .animation import is_driven
from .armatures import bones_below

_HOLDING = {
    "CLAMP_TO",
    "COPY_SCALE",
    "FLOOR",
    "LIMIT_DISTANCE",
    "LIMIT_LOCATION",
    "LIMIT_ROTATION",
    "LIMIT_SCALE",
    "MAINTAIN_VOLUME",
}
"""Kinds of constraints that size a bone, or hold it back at a border: within that, a chain places it."""
_OWN_IK = {"IK", "SPLINE_IK"}


_TURNING = {"COPY_ROTATION", "COPY_SCALE", "LIMIT_ROTATION", "LIMIT_SCALE", "MAINTAIN_VOLUME"}
"""Kinds of constraints that turn or size a bone, and do so alike wherever it is."""


class Mover(NamedTuple):
    """A constraint that moves a bone after its chain was solved.

    bone: name of the moved bone.
    owner: the bone that has the constraint: the moved one, or one below it.
    """

    bone: str
    owner: bpy.types.PoseBone
    constraint: bpy.types.Constraint

    @property
    def is_placing(self) -> bool:
        """True if it decides where the bone is or how it is turned; False if it only limits that."""
        return _is_placing(self.constraint)

    @property
    def source(self) -> str:
        """Name of the bone of the same armature that the moved bone follows; "" if it follows anything else."""
        if self.constraint.type in _OWN_IK:
            return ""
        aims = getattr(self.constraint, "targets", None) or [self.constraint]
        found = (aim.subtarget for aim in aims if getattr(aim, "target", None) == self.owner.id_data)
        return next(filter(None, found), "")


def movers_of(bones: Sequence[bpy.types.PoseBone]) -> Iterator[Mover]:
    """The constraints that act on bones of a limb (root first): their own, then IK of bones below the root."""
    for bone in bones:
        yield from (Mover(bone.name, bone, constraint) for constraint in bone.constraints if _acts(constraint))
    names = {bone.name for bone in bones}
    for below in bones_below(bones[0]):
        for constraint in () if below.name in names else below.constraints:
            taken = names & taken_by(constraint, below)
            if taken and _acts(constraint):
                yield Mover(min(taken), below, constraint)


def is_placed(bones: Sequence[bpy.types.PoseBone]) -> bool:
    """True if a constraint on one of these bones decides where it is or how it is turned."""
    return any(_is_placing(each) and _acts(each) for bone in bones for each in bone.constraints)


def goes_along(bone: bpy.types.PoseBone) -> bool:
    """True if a bone goes as far as its parent does that is not turned, whatever its own constraints do."""
    return all(each.mute or each.type in _TURNING for each in bone.constraints)


def is_rigify(ob: bpy.types.Object) -> bool:
    """True if Rigify generated the armature of an object."""
    return ob.data.get("rig_id") is not None


def check_unmoved(bones: Sequence[bpy.types.PoseBone]) -> None:
    """Raise ChainError if constraints or drivers place these bones (root first), so that no chain could."""
    ob = bones[0].id_data
    for mover in movers_of(bones):
        if mover.is_placing:
            raise ChainError(why_placed(mover))
    for bone in bones:
        if is_driven(ob, bone, "rotation"):
            raise ChainError(messages.TURNED_BY_DRIVER(bone=bone.name))


def why_placed(mover: Mover) -> str:
    """Why no chain can place a bone that this constraint places, and what to do instead."""
    bone, constraint = mover.bone, mover.constraint
    if constraint.type == "IK":
        return messages.HAS_IK(bone=mover.owner.name, constraint=constraint.name)
    if mover.source and is_rigify(mover.owner.id_data):
        return messages.MOVED_BY_RIGIFY(bone=bone, mover=mover.source)
    if mover.source:
        return messages.FOLLOWS_BONE(bone=bone, mover=mover.source, constraint=constraint.name)
    return messages.PLACED_BY_CONSTRAINT(bone=bone, constraint=constraint.name)


def _acts(constraint: bpy.types.Constraint) -> bool:
    # One that has nothing to read, for example, is not valid and moves nothing.
    return constraint.enabled and constraint.is_valid and constraint.influence > 0.0


def may_act(constraint: bpy.types.Constraint, animated: Container[str]) -> bool:
    """Whether a constraint acts, or may at another frame. animated: the paths that animation sets."""
    path = constraint.path_from_id()
    is_on = not constraint.mute or f"{path}.mute" in animated or f"{path}.enabled" in animated
    return is_on and (constraint.influence > 0.0 or f"{path}.influence" in animated)


def _is_placing(constraint: bpy.types.Constraint) -> bool:
    return constraint.type not in _HOLDING


def taken_by(constraint: bpy.types.Constraint, bone: bpy.types.PoseBone) -> set[str]:
    """Names of the bones that Blender's own IK on a bone poses, of those above it and of itself."""
    if constraint.type not in _OWN_IK or constraint.target is None:
        return set()
    taken = [bone, *bone.parent_recursive]
    if not getattr(constraint, "use_tail", True):
        taken = taken[1:]
    return {each.name for each in (taken[: constraint.chain_count] if constraint.chain_count else taken)}
