"""Find the legs and arms of any armature: names propose, shape and place decide."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

import bpy
from mathutils import Vector

from .agreement import SURE, agreement
from .body import BodyBone, bones_of_armature
from .limb_shape import LimbCandidate, heel_of
from .named_limbs import limbs_by_name
from .shaped_limbs import limbs_by_shape
from .stance import in_their_stance, stance_of


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
    """The limbs of an armature, left before right and legs before arms, and what was taken for none.

    unsure: limbs whose shape or place does not agree with their names, each with the reason.
    """

    limbs: tuple[FoundLimb, ...]
    left_out: tuple[LeftOut, ...]
    unsure: tuple[tuple[FoundLimb, str], ...] = ()


def find_limbs(bones: Iterable[bpy.types.Bone], arms: bool = False, posed: Mapping[str, Vector] | None = None) -> Found:
    """The legs, and with `arms` the arms, to which at least one of these bones belongs.

    bones: some or all of one armature's; the others are looked at as well, but found only along with these.
    posed: the heads of all bones in the pose, in armature space; they show how a body stands if its rest pose does not.
    """
    asked = list(bones)
    if not asked:
        return Found((), ())
    return limbs_of_body(bones_of_armature(asked[0].id_data), arms, posed, {bone.name for bone in asked})


def limbs_of_body(
    bones: Sequence[BodyBone],
    arms: bool = False,
    posed: Mapping[str, Vector] | None = None,
    chosen: Container[str] | None = None,
) -> Found:
    """The same for a body. chosen: names of bones; None for all."""
    kinds = {"LEG", "ARM"} if arms else {"LEG"}
    limbs, reasons, expected = limbs_by_name(bones, posed)
    if not any(limb.kind == "LEG" for limb in limbs):
        by_shape, doubts = limbs_by_shape(bones)
        limbs, reasons = limbs + by_shape, reasons | doubts
    stance = stance_of([limb for limb in limbs if limb.kind == "LEG"], posed)
    standing = in_their_stance(limbs, stance)
    sure, unsure = [], []
    for limb in standing:
        agrees, reason = agreement(limb, standing, stance)
        if limb.kind in kinds and (chosen is None or any(name in chosen for name in limb.own)):
            (sure if agrees >= SURE else unsure).append((_found(limb), reason))
    known = {name for limb, _ in unsure for name in (*limb.bones, limb.end)}
    return Found(
        tuple(sorted((limb for limb, _ in sure), key=_order)),
        tuple(
            LeftOut(bone.name, each[bone.name])
            for each in ((reasons,) if sure else (reasons, expected))
            for bone in bones
            if bone.name in each
            and bone.name not in known
            and (chosen is None or bone.name in chosen)
            and bone.said.kind in kinds | {""}
        ),
        tuple(sorted(unsure, key=lambda one: _order(one[0]))),
    )


def _found(limb: LimbCandidate) -> FoundLimb:
    heel = heel_of(limb.end) if limb.end else None
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
