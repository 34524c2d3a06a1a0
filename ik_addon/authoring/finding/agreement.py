"""How well the shape and the place of a limb agree with what names say of it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import radians

from ... import messages
from .body import BodyBone
from .limb_shape import LimbCandidate, bend, falling, foot_and_toes, is_part, rising
from .stance import BodyStance

SURE = 0.5
"""The least agreement, of 1, with which a limb is rigged unasked."""
_TOGETHER = 0.3
"""Of the distance between the next bones of both sides: bones from the middle of a body to its hips begin closer."""
_REST = 0.55
"""Of a leg: what is behind its ankle is shorter."""
_ASIDE = {"LEG": 0.8, "ARM": 1.0}
"""Of the next bone: a bone from the middle of the body to a hip or a shoulder is shorter."""

Judgment = tuple[float, str]
"""How well something agrees, from 0 to 1, and what is wrong where that is little."""


def agreement(limb: LimbCandidate, limbs: Sequence[LimbCandidate], stance: BodyStance | None) -> Judgment:
    """How well a limb agrees with what limbs are like, and what agrees least. limbs: all of the body."""
    judged = [*_of_links(limb), *_of_twins(limb, limbs)]
    if limb.kind == "LEG":
        judged += _of_foot(limb, stance)
        # Without a foot the chain ends at a tail, which may be anywhere.
        if limb.end is not None and stance is not None and not stance.is_flat:
            judged += _of_place(limb, stance)
    return min(judged, key=lambda one: one[0])


def _of_links(limb: LimbCandidate) -> Iterable[Judgment]:
    links = limb.links
    short, length = min(links, key=lambda link: link[1])
    longest = max(way for _, way in links) or 1.0
    yield rising(length / longest, 0.04, 0.16), messages.SHORT_LINK(bone=short.name)


def _of_twins(limb: LimbCandidate, limbs: Sequence[LimbCandidate]) -> Iterable[Judgment]:
    alike = [other for other in limbs if (other.kind, other.place) == (limb.kind, limb.place)]
    twins = [other for other in alike if {other.side, limb.side} == {"L", "R"}]
    for twin in twins:
        if len(twin.bones) == len(limb.bones):
            yield 0.0 if _share_hip(limb, twin) else 1.0, messages.SHARED_HIP(bone=limb.bones[0].name)
    if len(twins) != 1 or len(alike) > 2:
        # Which is whose only the pairs of insects leave open.
        return
    (twin,) = twins
    own, its = ([length for _, length in each.links] for each in (limb, twin))
    if limb.end is None or twin.end is None:
        own, its = zip(*zip(own, its, strict=False), strict=True)
    if len(own) != len(its):
        yield 0.0, messages.UNLIKE_TWIN(bone=twin.bones[-1].name)
    else:
        shorter, longer = sorted((sum(own), sum(its)))
        yield rising(shorter / (longer or 1.0), 0.4, 0.8), messages.UNLIKE_TWIN(bone=twin.bones[-1].name)


def _share_hip(limb: LimbCandidate, other: LimbCandidate) -> bool:
    """True if the first bones of two limbs lead from the middle of the body to their hips."""
    (first, length), (second, next_length), *_ = [*limb.links, (limb.bones[-1], limb.bones[-1].length)]
    (its_first, _), (its_second, _), *_ = [*other.links, (other.bones[-1], 0.0)]
    roots, next_ones = (first.head - its_first.head).length, (second.head - its_second.head).length
    return roots < _TOGETHER * next_ones and length < _ASIDE[limb.kind] * next_length


def _of_foot(limb: LimbCandidate, stance: BodyStance | None) -> Iterable[Judgment]:
    """Whether a bone that is called a leg is the foot: it turns off, and is short if a toe goes on from it."""
    last = limb.bones[-1]
    if not last.said.part == limb.bones[-2].said.part == "LIMB":
        return
    reason = messages.TIP_IS_FOOT(bone=last.name)
    if limb.end is None:
        yield falling(bend(limb.bones[-2].head, last.head, last.tail), radians(50.0), radians(90.0)), reason
    elif len(limb.bones) > 2 and not (stance and stance.is_flat):
        above, rest = last.head - limb.bones[0].head, limb.lengths[-1]
        if rest < _REST * above.length:
            yield falling(bend(limb.bones[0].head, last.head, limb.joints[-1]), radians(30.0), radians(50.0)), reason


def _of_place(limb: LimbCandidate, stance: BodyStance) -> Iterable[Judgment]:
    length = sum(limb.lengths) or 1.0
    end = stance.end(limb)
    name = limb.end.name
    yield falling(stance.above_ground(end) / length, 0.6, 1.0), messages.ABOVE_GROUND(bone=name)
    drop = stance.above_ground(stance.head(limb.bones[0])) - stance.above_ground(end)
    yield rising(drop / length, 0.0, 0.3), messages.NOT_BELOW_HIP(bone=name)


# What else names may mean


def best_reading(limb: LimbCandidate, limbs: Sequence[LimbCandidate], stance: BodyStance | None) -> LimbCandidate:
    """A limb as it is named if that agrees, else up to its ankle or from its hip on if that does.

    A bone from the body to a hip may be called a hip or a leg. Without it either a whole limb is left, or its bones are
    named after the joints at their tails: then the shin is the bone that is called an ankle.
    """
    if agreement(limb, limbs, stance)[0] >= SURE:
        return limb
    readings = [reading for reading in (_to_ankle(limb), _from_hip(limb), _shifted(limb)) if reading is not None]
    return next((each for each in readings if agreement(each, [each], stance)[0] >= SURE), limb)


def _to_ankle(limb: LimbCandidate) -> LimbCandidate | None:
    if len(limb.bones) < 3 or limb.end is None or not limb.rides or limb.bones[-1].said.is_twist:
        return None
    *bones, foot = limb.bones
    segments = tuple(bone for bone in limb.segments if bone is not foot)
    if len(bones) - len(segments) < 2:
        # Of bones that are only numbered a straight knee looked like a thigh in two.
        segments = tuple(bone for bone in segments if bone.said.part != "LIMB")
    return replace(limb, bones=tuple(bones), segments=segments, foot=(foot, *limb.foot[1:]), toes=limb.foot[:1])


def _from_hip(limb: LimbCandidate) -> LimbCandidate | None:
    if len(limb.links) < 3:
        return None
    rest = limb.bones[1:]
    return replace(limb, bones=rest, segments=tuple(bone for bone in limb.segments if bone != rest[0]))


def _shifted(limb: LimbCandidate) -> LimbCandidate | None:
    is_vague = limb.bones[0].said.part in {"JOINT", "LIMB"}
    if len(limb.links) != 2 or not is_vague or limb.end is None or limb.end.parent != limb.bones[-1]:
        return None
    toes = limb.toes or tuple(_feet_on(limb.end))
    fields = foot_and_toes(toes[0]) if toes else {"foot": (), "toes": ()}
    return replace(limb, bones=(*limb.bones[1:], limb.end), rides=len(toes) == 1, **fields)


def _feet_on(bone: BodyBone) -> Iterable[BodyBone]:
    parts = ("END", "TOE", "HEEL", "LIMB")
    return (child for child in bone.children if is_part(child, bone.said.kind, *parts))
