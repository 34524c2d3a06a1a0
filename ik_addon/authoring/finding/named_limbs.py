"""Find limbs by the names of bones, as far as their joints agree."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import bpy
from mathutils import Vector

from ... import messages
from .limb_shape import (
    IN_LINE,
    ON_TOES,
    SPLIT,
    LimbCandidate,
    Reasons,
    bend,
    foot_and_toes,
    is_in_line,
    is_part,
    is_plain,
)
from .names import Body, BoneName

_ABOVE = {
    "END": {"LOWER": "LOWER", "LIMB": "LIMB"},
    "LIMB": {"LIMB": "LIMB", "LOWER": "LOWER", "UPPER": "UPPER", "JOINT": "UPPER"},
    "LOWER": {"LOWER": "LOWER", "UPPER": "UPPER", "JOINT": "UPPER", "LIMB": "UPPER"},
    "UPPER": {"UPPER": "UPPER", "LIMB": "UPPER", "JOINT": "UPPER"},
}
"""What a bone is, by what is below it and by what its name shows. LIMB: it is called "leg" or "arm"."""
_COMMON = {
    ("LEG", "UPPER"): "thigh",
    ("LEG", "LOWER"): "shin",
    ("ARM", "UPPER"): "upper arm",
    ("ARM", "LOWER"): "forearm",
}
_NO_LENGTH = 1e-3
"""Of a limb's length: shorter bones are stubs."""
_SAME_PLACE = 0.1
"""Of a limb's length: two limbs that begin and end closer to each other are one limb twice."""
_LINK = 0.25
"""Of the next bone: a bone called "leg" above an upper leg is a link of the leg if it is longer."""
_HIP = 0.8
"""Of the next bone: a bone from the middle of the body to a hip or a shoulder is shorter."""
_TOGETHER = 0.2
"""Of the distance between the next bones of both sides: such bones begin closer to each other."""
_REST = 0.4
"""Of a leg: what is behind its ankle is shorter."""
_ARM = 4
"""Bones of an arm with its hand and fingers; more are a tentacle."""
_FAR = 3.0
"""In lengths of the bone above: a foot that is parented to something else lies closer to the shin's head."""
_TRUSTED = 0.02
"""Of a bone's length: if the bone below begins closer to its tail, tails are where joints are."""
_AT_TAIL = 0.25
"""Of a shin's length: what is on its end begins closer to its tail."""
_NEAR = 0.2
"""The same for a bone on a shin's end: it lies farther away."""


@dataclass(frozen=True, slots=True)
class _Tip:
    """The last bone of a limb's chain, and what is on its end."""

    bone: bpy.types.Bone
    foot: tuple[bpy.types.Bone, ...] = ()
    toes: tuple[bpy.types.Bone, ...] = ()
    rides: bool = True

    @property
    def joint(self) -> Vector:
        return self.foot[0].head_local if self.foot else self.bone.tail_local


def limbs_by_name(body: Body) -> tuple[list[LimbCandidate], Reasons, Reasons]:
    """All limbs that names show, why other bones of such names are none, and why helpers are none.

    The last includes bones that twist along and second copies of limbs. It is of interest if nothing is found.
    """
    expected = {bone.name: reason for bone in body.bones if (reason := _why_never(bone, body))}
    reasons = {bone.name: reason for bone in body.bones if (reason := _why_no_limb(bone, body))}
    complete: list[LimbCandidate] = []
    for tip in _tips(body):
        limb, lacks = _climb(tip, body)
        if reason := _why_incomplete(limb, lacks):
            reasons[(limb.end or tip.bone).name] = reason
        else:
            complete.append(limb)
    limbs: list[LimbCandidate] = []
    for limb in sorted(_without_hip_bones(complete, body), key=lambda limb: _quality(limb, body), reverse=True):
        if same := next((other for other in limbs if _is_same(limb, other)), None):
            expected |= dict.fromkeys(limb.own, messages.SAME_LIMB(bone=same.bones[0].name))
        else:
            limbs.append(limb)
    own = {name for limb in limbs for name in limb.own}
    expected = {name: reason for name, reason in expected.items() if name not in own}
    # Fingers and hips lack nothing.
    near = {bone.name for limb in complete for bone in (*body.below(limb.bones[0]), *limb.bones[0].parent_recursive)}
    return limbs, {name: reasons[name] for name in reasons.keys() - own - near - expected.keys()}, expected


def _why_never(bone: bpy.types.Bone, body: Body) -> str:
    """Why a bone with a limb's name is none, whatever it is parented to."""
    name = body.name(bone)
    if name.part not in {"UPPER", "LOWER", "LIMB", "END"}:
        return ""
    if name.helper:
        return messages.IS_HELPER(word=name.helper)
    if name.is_twist:
        return messages.TWISTS_WITH(bone=bone.parent.name) if bone.parent else messages.TWISTS()
    return ""


def _why_no_limb(bone: bpy.types.Bone, body: Body) -> str:
    """Why a bone with a limb's name is none, unless it is found to be one after all; "" without such a name."""
    name = body.name(bone)
    if name.part not in {"UPPER", "LOWER", "LIMB", "END"} or not is_plain(name):
        return ""
    if name.part == "UPPER":
        return messages.LACKS_BELOW(part=_COMMON[name.kind, "LOWER"])
    return messages.LACKS_ABOVE(part=_COMMON[name.kind, "LOWER" if name.part == "END" else "UPPER"])


def _why_incomplete(limb: LimbCandidate, lacks: str) -> str:
    if lacks:
        return messages.LACKS_ABOVE(part=_COMMON[limb.kind, lacks])
    length = sum(limb.lengths)
    short = next((bone for bone, own in zip(limb.bones, limb.lengths, strict=True) if own <= _NO_LENGTH * length), None)
    return messages.SHORT_ABOVE(bone=short.name) if short else ""


# Where limbs end


def _tips(body: Body) -> list[_Tip]:
    """The last bones of all limbs, each with its foot."""
    feet: dict[str, list[bpy.types.Bone]] = {}
    loose: list[tuple[int, bpy.types.Bone]] = []
    for bone in body.bones:
        name = body.name(bone)
        if _is_end(bone, body) and bone.parent and body.name(bone.parent).part in _ABOVE["END"]:
            feet.setdefault(bone.parent.name, []).append(bone)
        elif _is_end(bone, body):
            loose.append((0, bone))
        elif name.part in {"END", "LIMB"} and name.is_control:
            loose.append((1 if name.part == "END" else 2, bone))
    shins = [bone for bone in body.bones if bone.name not in feet and _is_last(bone, body)]
    found = _loose_feet(shins, loose, body)
    pairs = {kind for kind in ("LEG", "ARM") if sum(body.name(shin).kind == kind for shin in shins) == 2}
    return [
        *(_tip_with(ends, body) for ends in feet.values()),
        *(
            (body.name(shin).kind in pairs and _tip_in_row(shin, body))
            or _tip_without(shin, *found.get(shin.name, (3, None)), body)
            for shin in shins
        ),
    ]


def _is_end(bone: bpy.types.Bone, body: Body) -> bool:
    """True if it is named as a foot or a hand, and is the first of its limb that is."""
    name, parent = body.name(bone), body.name(bone.parent) if bone.parent else None
    first = not parent or parent.part not in {"END", "TOE"} or parent.side != name.side
    return name.part == "END" and is_plain(name) and first


def _is_last(bone: bpy.types.Bone, body: Body) -> bool:
    """True if it is named as a shin or a forearm, and no other part of its limb is below it."""
    name = body.name(bone)
    below = (body.name(child) for child in body.below(bone))
    return (
        name.part in {"LOWER", "LIMB"}
        and is_plain(name)
        and not any(
            other.side == name.side and other.part in {"UPPER", "LOWER", "LIMB", "END"} and is_plain(other)
            for other in below
        )
    )


def _tip_with(ends: Sequence[bpy.types.Bone], body: Body) -> _Tip:
    """A tip with the foot that carries the limb on: the one with toes, else the one with the plainest name."""

    def quality(end: bpy.types.Bone) -> tuple[bool, int, int]:
        return bool(foot_and_toes(end, body)["toes"]), body.name(end).plain, len(body.children(end))

    end = max(ends, key=quality)
    # Of several palms none is the hand.
    alike = sum(body.name(other).stem == body.name(end).stem for other in ends) > 1
    return _Tip(end.parent, rides=not alike, **foot_and_toes(end, body))


def _tip_without(shin: bpy.types.Bone, rank: int, loose: bpy.types.Bone | None, body: Body) -> _Tip:
    """A tip with a foot that is parented to something else, or with its only child, or with nothing on its end.

    rank: how surely the loose bone is its foot, best first.
    """
    children = [child for child in body.children(shin) if not body.name(child).is_twist]
    leaves = [child for child in children if body.name(child).helper and child.name.startswith(shin.name)]
    child = leaves[0] if len(leaves) == 1 else children[0] if len(children) == 1 else None
    if child and not _is_on_end(shin, child):
        child = None
    if loose and (rank == 0 or child is None or child in leaves):
        return _Tip(shin, (loose,), rides=False)
    return _Tip(shin, (child,), rides=not leaves) if child else _Tip(shin)


def _is_on_end(shin: bpy.types.Bone, child: bpy.types.Bone) -> bool:
    """True if a child of a shin begins where the shin ends, as far as its tail can be trusted."""
    above = shin.parent
    if above and (above.tail_local - shin.head_local).length < _TRUSTED * above.length:
        return (child.head_local - shin.tail_local).length < _AT_TAIL * shin.length
    return _apart(shin, child) > _NEAR


def _tip_in_row(last: bpy.types.Bone, body: Body) -> _Tip | None:
    """The tip of a limb whose bones are only numbered, including its foot and toe or its hand; None if there is none.

    A foot is where a short rest turns from the leg; a hand is below two bones.
    """
    row = [last]
    while row[0].parent and body.name(row[0].parent).part == "LIMB" == body.name(last).part:
        row.insert(0, row[0].parent)
    joints = [*(bone.head_local for bone in row), last.tail_local]
    for k in range(2, len(row)):
        limb, rest = joints[k] - joints[0], joints[min(k + 1, len(row) - 1)] - joints[k]
        turns = bend(*(joints[j] for j in (0, k, k + 1))) > ON_TOES
        if body.name(last).kind == "ARM" and len(row) <= _ARM:
            return _Tip(row[k - 1], (row[k],))
        if body.name(last).kind == "LEG" and turns and rest.length < _REST * limb.length:
            return _Tip(row[k - 1], (row[k],), tuple(row[k + 1 : k + 2]))
    return None


def _loose_feet(
    shins: Iterable[bpy.types.Bone], loose: Iterable[tuple[int, bpy.types.Bone]], body: Body
) -> dict[str, tuple[int, bpy.types.Bone]]:
    """For shins without a foot the bones elsewhere that are their feet, each with its rank."""
    fits = [
        (rank, _apart(shin, foot), shin.name, foot)
        for shin in shins
        for rank, foot in loose
        if _is_foot_of(shin, foot, body)
    ]
    found: dict[str, tuple[int, bpy.types.Bone]] = {}
    for rank, _, shin, foot in sorted(fits, key=lambda fit: fit[:3]):
        if shin not in found and all(foot != other for _, other in found.values()):
            found[shin] = rank, foot
    return found


def _is_foot_of(shin: bpy.types.Bone, foot: bpy.types.Bone, body: Body) -> bool:
    one, other = body.name(shin), body.name(foot)
    return (
        (one.kind, one.side) == (other.kind, other.side)
        and (one.place == other.place or not one.place or not other.place)
        and (shin.parent or shin) not in foot.parent_recursive
        and foot not in shin.parent_recursive
        and _NEAR < _apart(shin, foot) < _FAR
    )


def _apart(shin: bpy.types.Bone, foot: bpy.types.Bone) -> float:
    """How far a foot is from a shin's head, in lengths of the bone above."""
    above = (shin.head_local - shin.parent.head_local).length if shin.parent else 0.0
    return (foot.head_local - shin.head_local).length / above if above else 0.0


# From there upward


def _climb(tip: _Tip, body: Body) -> tuple[LimbCandidate, str]:
    """A limb of all bones above a tip that can be of it, and what it lacks: UPPER, LOWER or ""."""
    name = body.name(tip.foot[0] if tip.foot and body.name(tip.foot[0]).part == "END" else tip.bone)
    side = body.name(tip.bone).side
    line: list[bpy.types.Bone] = []
    parts, after, segments = ["END"], tip.joint, set[str]()
    for bone in (tip.bone, *tip.bone.parent_recursive):
        above = body.name(bone)
        part = _ABOVE[parts[0]].get(above.part)
        if not part or above.helper or above.side != side:
            break
        if above.part == "JOINT" and _is_whole(line, parts, body):
            break
        if line:
            role = _link_or_segment(bone, line[0], after, parts[0] == part, body)
            if role == "":
                break
            if role == "SEGMENT":
                segments.add(line[0].name)
            after = line[0].head_local
        line.insert(0, bone)
        parts.insert(0, part)
    # A twist bone is a part of a limb only behind the bone that it is split from.
    while line and body.name(line[0]).is_twist:
        del line[0], parts[0]
    place = _place([body.name(bone) for bone in line]) if name.kind == "LEG" else ""
    segments |= _numbered_segments(line, segments, tip, body)
    limb = LimbCandidate(
        name.kind,
        side,
        place,
        tuple(line),
        tuple(bone for bone in line[1:] if bone.name in segments),
        tip.foot,
        tip.toes,
        tip.rides,
    )
    links = len(limb.bones) - len(limb.segments)
    return limb, "LOWER" if not line else "UPPER" if parts[0] == "LOWER" or links < 2 else ""


def _is_whole(line: Sequence[bpy.types.Bone], parts: Sequence[str], body: Body) -> bool:
    """True if a limb has its upper bone, so that a hip or a shoulder above it is none."""
    return parts[:2] == ["LIMB", "LIMB"] or (parts[0] == "UPPER" and body.name(line[0]).part != "JOINT")


def _link_or_segment(bone: bpy.types.Bone, below: bpy.types.Bone, after: Vector, again: bool, body: Body) -> str:
    """What a bone below another is: a LINK, a SEGMENT of the same part, or "" if they are not of one limb.

    again: True if both are the same part of the limb. after: where the lower one ends.
    """
    above, name = body.name(bone), body.name(below)
    sure = name.is_twist or (above.stem == name.stem and above.part == name.part != "LIMB")
    if name.is_twist or (again and {above.part, name.part} != {"LIMB"}):
        if is_in_line(bone, below, after, SPLIT if sure else IN_LINE):
            return "SEGMENT"
        if name.is_twist:
            return ""
        if above.part == "LIMB":
            # As the femur of some animals: "Leg", "UpperLeg", "LowerLeg".
            length = (after - below.head_local).length
            return "LINK" if (below.head_local - bone.head_local).length > _LINK * length else ""
        return "LINK" if above.part == "LOWER" and above.word != name.word else ""
    return "LINK"


def _numbered_segments(line: Sequence[bpy.types.Bone], segments: set[str], tip: _Tip, body: Body) -> set[str]:
    """Those of "Leg1", "Leg2", "Leg3" that are in line with the one before, if enough links are left without them."""
    joints = [*(bone.head_local for bone in line), tip.joint]
    # With only a leaf or a tail on its end the last bone may be the foot.
    is_known = tip.foot and (tip.rides or tip.foot[0].parent != tip.bone)
    split = {
        below.name
        for k, (bone, below) in enumerate(pairwise(line))
        if body.name(bone).part == body.name(below).part == "LIMB"
        and below.name not in segments
        and bend(*joints[k : k + 3]) < IN_LINE
    }
    return split if is_known and len(line) - len(segments) - len(split) >= 2 else set()


def _place(leg: Sequence[BoneName]) -> str:
    # A horse's forefoot is parented to its forearm.
    if any(name.kind == "ARM" for name in leg):
        return "FRONT"
    return next((name.place for name in leg if name.place), "")


# All together


def _without_hip_bones(limbs: Sequence[LimbCandidate], body: Body) -> list[LimbCandidate]:
    """Limbs without the bones that lead to a hip, which on both sides begin in the middle of the body.

    Without it either a whole leg is left, or its bones are named after the joints at their tails. Then the shin is the
    bone that is called an ankle.
    """
    return [_from_hip(limb, body) if any(_share_hip(limb, other) for other in limbs) else limb for limb in limbs]


def _share_hip(limb: LimbCandidate, other: LimbCandidate) -> bool:
    if limb.kind != other.kind or limb.side == other.side or len(limb.bones) != len(other.bones):
        return False
    roots, next_ones = ((a - b).length for a, b in zip(limb.joints[:2], other.joints[:2], strict=True))
    return roots < _TOGETHER * next_ones and limb.lengths[0] < _HIP * limb.lengths[1]


def _from_hip(limb: LimbCandidate, body: Body) -> LimbCandidate:
    rest = limb.bones[1:]
    if len(limb.bones) - len(limb.segments) > 2:
        return replace(limb, bones=rest, segments=tuple(bone for bone in limb.segments if bone != rest[0]))
    if limb.end is None or limb.end.parent != limb.bones[-1]:
        return limb
    toes = limb.toes or tuple(child for child in body.children(limb.end) if is_part(child, body, "LEG", "TOE", "HEEL"))
    fields = foot_and_toes(toes[0], body) if toes else {"foot": (), "toes": ()}
    return replace(limb, bones=(*rest, limb.end), rides=len(toes) == 1, **fields)


def _quality(limb: LimbCandidate, body: Body) -> tuple:
    end = limb.end or limb.bones[-1]
    own = [*limb.bones, end]
    return (
        body.name(end).preference,
        limb.rides and body.name(end).part == "END",
        limb.end is not None,
        sum(body.name(bone).plain for bone in own) / len(own),
    )


def _is_same(limb: LimbCandidate, other: LimbCandidate) -> bool:
    """True if two limbs are one: rigs keep a limb several times, to deform, to control and as a reference."""
    if not limb.own.isdisjoint(other.own):
        return True
    near = _SAME_PLACE * sum(other.lengths)
    last = -1 if limb.end and other.end else -2
    distances = [limb.joints[k] - other.joints[k] for k in (0, last)]
    return (limb.kind, limb.side) == (other.kind, other.side) and all(apart.length < near for apart in distances)
