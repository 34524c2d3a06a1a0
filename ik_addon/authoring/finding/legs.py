"""Find the legs and arms of any armature: by the names of its bones, and by how they hang together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import bpy
from mathutils import Vector

from .body import Body
from .limb_shape import LimbCandidate, heel_of
from .named_limbs import limbs_by_name
from .nameless_legs import legs_by_shape
from .stance import in_their_stance


@dataclass(frozen=True, slots=True)
class FoundLimb:
    """A limb of an armature, by the names of its bones.

    kind: LEG or ARM; the front legs of an animal are legs.
    side: L, R, or "" for one in the middle.
    place: FRONT or HIND where there are both, MID_FRONT or MID_HIND between them, else "".
    bones: the chain, root first; two or more.
    end: the foot, hand or paw at whose head the chain ends; "" if it ends at the tail of its last bone.
    toe, heel: the ball or toe bone behind the foot, and the bone at its heel, or "".
    segments: those of the chain that only continue the bone before, as where a thigh is split for its twist.
    rides: True if the end is parented to the chain and turns with it; False if it is parented to something else, is one
    of several hands or only marks the end, and if there is none.
    """

    kind: str
    side: str
    place: str
    bones: tuple[str, ...]
    end: str
    toe: str
    heel: str
    segments: tuple[str, ...] = ()
    rides: bool = True


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A bone that looks like a part of a limb and is none. reason: why, as a part of a sentence."""

    bone: str
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """The limbs of an armature, left before right and legs before arms, and what was taken for none."""

    limbs: tuple[FoundLimb, ...]
    left_out: tuple[LeftOut, ...]


def find_limbs(bones: Iterable[bpy.types.Bone], arms: bool = False, posed: Mapping[str, Vector] | None = None) -> Found:
    """The legs, and with `arms` the arms, to which at least one of these bones belongs.

    bones: some or all of one armature's; the others are looked at as well, but found only along with these.
    posed: the heads of all bones in the pose, in armature space; they show how a body stands if its rest pose does not.
    """
    asked = list(bones)
    if not asked:
        return Found((), ())
    body = Body(asked[0].id_data)
    limbs, reasons, expected = limbs_by_name(body)
    if not any(limb.kind == "LEG" for limb in limbs):
        legs, doubts = legs_by_shape(body)
        limbs, reasons = limbs + legs, reasons | doubts
    kinds = {"LEG", "ARM"} if arms else {"LEG"}
    chosen = {bone.name for bone in asked}
    found = [
        _found(limb, body)
        for limb in in_their_stance(limbs, body, posed)
        if limb.kind in kinds and not chosen.isdisjoint(limb.own)
    ]
    return Found(
        tuple(sorted(found, key=_order)),
        tuple(
            LeftOut(bone.name, each[bone.name])
            for each in ((reasons,) if found else (reasons, expected))
            for bone in asked
            if bone.name in each and body.name(bone).kind in kinds | {""}
        ),
    )


def _found(limb: LimbCandidate, body: Body) -> FoundLimb:
    heel = heel_of(limb.end, body) if limb.end else None
    return FoundLimb(
        limb.kind,
        limb.side,
        limb.place,
        tuple(bone.name for bone in limb.bones),
        limb.end.name if limb.end else "",
        limb.toe.name if limb.toe else "",
        heel.name if heel else "",
        tuple(bone.name for bone in limb.segments),
        limb.rides and limb.end is not None,
    )


def _order(limb: FoundLimb) -> tuple:
    return limb.kind == "ARM", limb.place == "FRONT", ("L", "R", "").index(limb.side), limb.bones
