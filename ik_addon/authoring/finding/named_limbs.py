"""Find limbs by the names of bones, as far as their joints agree."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import radians

from mathutils import Vector

from ... import messages
from .names import LEAVES
from .stance import (
    IN_LINE,
    ON_TOES,
    SPLIT,
    BodyBone,
    LimbCandidate,
    Reasons,
    bend,
    best_reading,
    foot_and_toes,
    is_in_line,
    is_plain,
    stance_of,
)

_ABOVE = {
    "END": {"LOWER": "LOWER", "LIMB": "LIMB"},
    "LIMB": {"LIMB": "LIMB", "LOWER": "LOWER", "UPPER": "UPPER", "JOINT": "UPPER"},
    "LOWER": {"LOWER": "LOWER", "UPPER": "UPPER", "JOINT": "UPPER", "LIMB": "UPPER"},
    "UPPER": {"UPPER": "UPPER", "LIMB": "UPPER", "JOINT": "UPPER"},
}
"""What a bone is, by what is below it and by what its name shows. LIMB: it is called "leg" or "arm"."""
_PARTS = {"UPPER", "LOWER", "LIMB", "END"}
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
_REST = 0.55
"""Of a leg: what is behind its ankle is shorter."""
_HERE = 0.1
"""Of the way from a shin to a foot: a joint that begins closer to the foot is where the foot is."""
_ARM = 4
"""Bones of an arm with its hand and fingers; more are a tentacle."""
_FAR = 3.0
"""In lengths of the bone above: a foot that is parented to something else lies closer to the shin's head."""
_FOLDED = radians(150.0)
"""A foot lies less far back from its shin; a control of the thigh begins there."""
_TRUSTED = 0.02
"""Of a bone's length: if the bone below begins closer to its tail, tails are where joints are."""
_AT_TAIL = 0.25
"""Of a shin's length: what is on its end begins closer to its tail."""
_NEAR = 0.2
"""The same for a bone on a shin's end: it lies farther away."""


@dataclass(frozen=True, slots=True)
class _Tip:
    """The last bone of a limb's chain but for joints between it and the foot, and what is on its end."""

    bone: BodyBone
    foot: tuple[BodyBone, ...] = ()
    toes: tuple[BodyBone, ...] = ()
    rides: bool = True
    between: tuple[BodyBone, ...] = ()

    @property
    def joint(self) -> Vector:
        return self.foot[0].head if self.foot else self.bone.tail


def limbs_by_name(
    bones: Sequence[BodyBone], posed: Mapping[str, Vector] | None = None
) -> tuple[list[LimbCandidate], Reasons, Reasons]:
    """All limbs that names show and shape does not deny, why other such bones are none, and why helpers are none.

    The last includes bones that twist along and second copies of limbs. It is of interest if nothing is found.
    """
    expected = {bone.name: reason for bone in bones if (reason := _why_never(bone))}
    reasons = {bone.name: reason for bone in bones if (reason := _why_no_limb(bone))}
    complete: list[LimbCandidate] = []
    for tip in _tips(bones):
        limb, lacks = _climb(tip)
        if reason := _why_incomplete(limb, lacks):
            reasons[(limb.end or tip.bone).name] = reason
        else:
            complete.append(limb)
    limbs: list[LimbCandidate] = []
    stance = stance_of([limb for limb in complete if limb.kind == "LEG"], posed)
    readings = (best_reading(limb, complete, stance) for limb in complete)
    for limb in sorted(readings, key=_quality, reverse=True):
        if same := next((other for other in limbs if _is_same(limb, other)), None):
            expected |= dict.fromkeys(limb.own, messages.SAME_LIMB(bone=same.bones[0].name))
        else:
            limbs.append(limb)
    own = {name for limb in limbs for name in limb.own}
    expected = {name: reason for name, reason in expected.items() if name not in own}
    # Fingers and hips lack nothing.
    near = {bone.name for limb in (*complete, *limbs) for bone in (*limb.bones[0].below, *limb.bones[0].above)}
    return limbs, {name: reasons[name] for name in reasons.keys() - own - near - expected.keys()}, expected


def _why_never(bone: BodyBone) -> str:
    """Why a bone with a limb's name is none, whatever it is parented to."""
    name = bone.said
    if name.part not in _PARTS:
        return ""
    if name.helper:
        return messages.IS_HELPER(word=name.helper)
    if name.is_twist:
        return messages.TWISTS_WITH(bone=bone.parent.name) if bone.parent else messages.TWISTS()
    return ""


def _why_no_limb(bone: BodyBone) -> str:
    """Why a bone with a limb's name is none, unless it is found to be one after all; "" without such a name."""
    name = bone.said
    if name.part not in _PARTS or not is_plain(name):
        return ""
    if name.part == "UPPER":
        return messages.LACKS_BELOW(part=_COMMON[name.kind, "LOWER"])
    return messages.LACKS_ABOVE(part=_COMMON[name.kind, "LOWER" if name.part == "END" else "UPPER"])


def _why_incomplete(limb: LimbCandidate, lacks: str) -> str:
    if lacks:
        return messages.LACKS_ABOVE(part=_COMMON[limb.kind, lacks])
    length = sum(limb.lengths)
    own = zip(limb.bones, limb.lengths, strict=True)
    short = next((bone for bone, way in own if way <= _NO_LENGTH * length and bone not in limb.segments), None)
    return messages.SHORT_ABOVE(bone=short.name) if short else ""


# Where limbs end


def _tips(bones: Sequence[BodyBone]) -> list[_Tip]:
    feet: dict[str, list[BodyBone]] = {}
    loose: list[tuple[int, BodyBone]] = []
    for bone in bones:
        name = bone.said
        if _is_end(bone):
            # By joints that may lie between the two.
            shin = [bone, *_between(bone)][-1].parent
            if shin and shin.said.part in _ABOVE["END"]:
                feet.setdefault(shin.name, []).append(bone)
            else:
                loose.append((0, bone))
        elif name.part in {"END", "LIMB"} and name.is_control:
            loose.append((1 if name.part == "END" else 2, bone))
    shins = [bone for bone in bones if bone.name not in feet and _is_last(bone)]
    found = _loose_feet(shins, loose)
    pairs = {kind for kind in ("LEG", "ARM") if sum(shin.said.kind == kind for shin in shins) == 2}
    return [
        *(_tip_with(ends) for ends in feet.values()),
        *(
            (shin.said.kind in pairs and _tip_in_row(shin)) or _tip_without(shin, *found.get(shin.name, (3, None)))
            for shin in shins
        ),
    ]


def _is_end(bone: BodyBone) -> bool:
    """True if it is named as a foot or a hand, and is the first of its limb that is."""
    name, parent = bone.said, bone.parent.said if bone.parent else None
    # A joint between shin and foot may be called a foot that twists.
    first = not parent or parent.part not in {"END", "TOE"} or parent.side != name.side or parent.is_twist
    return name.part == "END" and is_plain(name) and first


def _between(end: BodyBone) -> Iterator[BodyBone]:
    """The joints between a foot and its shin, from the foot upward: by their names no parts, or without length."""
    bone, length = end.parent, 0.0
    while bone and bone.parent:
        length = max(length, (end.head - bone.parent.head).length)
        is_here = (end.head - bone.head).length < _HERE * length
        is_named = bone.said.part in _ABOVE["END"]
        is_stub = is_here and bone.parent.said.part in _ABOVE["END"]
        if not is_stub and (is_named or bone.said.helper or bone.said.side != end.said.side):
            return
        if not is_here and not is_in_line(bone.parent, bone, end.head, SPLIT):
            return
        yield bone
        bone = bone.parent


def _is_last(bone: BodyBone) -> bool:
    """True if it is named as a shin or a forearm, and no other part of its limb is below it."""
    name = bone.said
    if name.part not in {"LOWER", "LIMB"} or not is_plain(name):
        return False
    below = (child.said for child in bone.below if is_plain(child.said) and child.said.side == name.side)
    return not any(other.part in _PARTS for other in below)


def _tip_with(ends: Sequence[BodyBone]) -> _Tip:
    """A tip with the foot that carries the limb on: the one with toes, else the one with the plainest name."""
    end = max(ends, key=lambda end: (bool(foot_and_toes(end)["toes"]), end.said.plain, len(end.children)))
    # Of several palms none is the hand.
    alike = sum(other.said.stem == end.said.stem for other in ends) > 1
    between = tuple(reversed([*_between(end)]))
    return _Tip((between or (end,))[0].parent, rides=not alike, between=between, **foot_and_toes(end))


def _tip_without(shin: BodyBone, rank: int, loose: BodyBone | None) -> _Tip:
    """A tip with a foot that is parented to something else, or with its only child, or with nothing on its end.

    rank: how surely the loose bone is its foot, best first.
    """
    children = [child for child in shin.children if not child.said.is_twist]
    leaves = [child for child in children if child.said.helper and child.name.startswith(shin.name)]
    # "arm_end" below "arm_1".
    alike = [child for child in children if (child.said.kind, child.said.side) == (shin.said.kind, shin.said.side)]
    ends = [child for child in alike if child.said.helper in LEAVES]
    child = next((each[0] for each in (ends, leaves, children) if len(each) == 1), None)
    if child and not _is_on_end(shin, child):
        child = None
    if loose and (rank == 0 or child is None or child in leaves):
        return _Tip(shin, (loose,), rides=False)
    return _Tip(shin, (child,), rides=child not in leaves) if child else _Tip(shin)


def _is_on_end(shin: BodyBone, child: BodyBone) -> bool:
    """True if a child of a shin begins where the shin ends, as far as its tail can be trusted."""
    above = shin.parent
    if above and (above.tail - shin.head).length < _TRUSTED * above.length:
        return (child.head - shin.tail).length < _AT_TAIL * shin.length
    return _apart(shin, child) > _NEAR


def _tip_in_row(last: BodyBone) -> _Tip | None:
    """The tip of a limb whose bones are only numbered, including its foot and toe or its hand; None if there is none.

    A foot is where a short rest turns from the leg; a hand is below two bones.
    """
    row, bone = [last], last.parent
    while bone and bone.said.part == "LIMB" == last.said.part:
        row[:0] = [] if bone.said.is_twist else [bone]
        bone = bone.parent
    joints = [*(bone.head for bone in row), last.tail]
    for k in range(2, len(row)):
        limb, rest = joints[k] - joints[0], joints[min(k + 1, len(row) - 1)] - joints[k]
        turns = bend(*(joints[j] for j in (0, k, k + 1))) > ON_TOES
        if last.said.kind == "ARM" and len(row) <= _ARM:
            return _Tip(row[k].parent, (row[k],))
        if last.said.kind == "LEG" and turns and rest.length < _REST * limb.length:
            return _Tip(row[k].parent, (row[k],), tuple(row[k + 1 : k + 2]))
    return None


def _loose_feet(shins: Iterable[BodyBone], loose: Iterable[tuple[int, BodyBone]]) -> dict[str, tuple[int, BodyBone]]:
    """For shins without a foot the bones elsewhere that are their feet, each with its rank."""
    fits = [
        (rank, _apart(shin, foot), shin.name, foot) for shin in shins for rank, foot in loose if _is_foot_of(shin, foot)
    ]
    found: dict[str, tuple[int, BodyBone]] = {}
    for rank, _, shin, foot in sorted(fits, key=lambda fit: fit[:3]):
        if shin not in found and all(foot != other for _, other in found.values()):
            found[shin] = rank, foot
    return found


def _is_foot_of(shin: BodyBone, foot: BodyBone) -> bool:
    one, other = shin.said, foot.said
    return (
        (one.kind, one.side) == (other.kind, other.side)
        and (one.place == other.place or not one.place or not other.place)
        and (shin.parent or shin) not in foot.above
        and foot not in shin.above
        and _NEAR < _apart(shin, foot) < _FAR
        and not (shin.parent and bend(shin.parent.head, shin.head, foot.head) > _FOLDED)
    )


def _apart(shin: BodyBone, foot: BodyBone) -> float:
    """How far a foot is from a shin's head, in lengths of the bone above."""
    above = (shin.head - shin.parent.head).length if shin.parent else 0.0
    return (foot.head - shin.head).length / above if above else 0.0


# From there upward


def _climb(tip: _Tip) -> tuple[LimbCandidate, str]:
    """A limb of all bones above a tip that can be of it, and what it lacks: UPPER, LOWER or ""."""
    name = (tip.foot[0] if tip.foot and tip.foot[0].said.part == "END" else tip.bone).said
    side = tip.bone.said.side
    line: list[BodyBone] = []
    parts, after, segments = ["END"], tip.joint, set[str]()
    for bone in (tip.bone, *tip.bone.above):
        above = bone.said
        part = _ABOVE[parts[0]].get(above.part)
        if not part or above.helper or above.side != side:
            break
        # It has its upper bone: a hip or a shoulder above it is none.
        has_upper = parts[:2] == ["LIMB", "LIMB"] or (parts[0] == "UPPER" and line[0].said.part != "JOINT")
        if above.part == "JOINT" and has_upper:
            break
        if line:
            role = _link_or_segment(bone, line[0], after, parts[0] == part)
            if role == "":
                break
            if role == "SEGMENT":
                segments.add(line[0].name)
            after = line[0].head
        line.insert(0, bone)
        parts.insert(0, part)
    # A twist bone is a part of a limb only behind the bone that it is split from.
    while line and line[0].said.is_twist:
        del line[0], parts[0]
    said = [bone.said for bone in line] if name.kind == "LEG" else []
    # A horse's forefoot is parented to its forearm.
    on_arm = any(each.kind == "ARM" for each in said)
    place = "FRONT" if on_arm else next((each.place for each in said if each.place), "")
    segments |= _numbered_segments(line, segments, tip)
    limb = LimbCandidate(
        name.kind,
        side,
        place,
        (*line, *tip.between),
        (*(bone for bone in line[1:] if bone.name in segments), *tip.between),
        tip.foot,
        tip.toes,
        tip.rides,
    )
    links = len(limb.bones) - len(limb.segments)
    return limb, "LOWER" if not line else "UPPER" if parts[0] == "LOWER" or links < 2 else ""


def _link_or_segment(bone: BodyBone, below: BodyBone, after: Vector, again: bool) -> str:
    """What a bone below another is: a LINK, a SEGMENT of the same part, or "" if they are not of one limb.

    again: True if both are the same part of the limb. after: where the lower one ends.
    """
    above, name = bone.said, below.said
    sure = name.is_twist or (above.stem == name.stem and above.part == name.part != "LIMB")
    if name.is_twist or (again and {above.part, name.part} != {"LIMB"}):
        if is_in_line(bone, below, after, SPLIT if sure else IN_LINE):
            return "SEGMENT"
        if name.is_twist:
            return ""
        if above.part == "LIMB":
            # As the femur of some animals: "Leg", "UpperLeg", "LowerLeg".
            length = (after - below.head).length
            return "LINK" if (below.head - bone.head).length > _LINK * length else ""
        return "LINK" if above.part == "LOWER" and above.word != name.word else ""
    return "LINK"


def _numbered_segments(line: Sequence[BodyBone], segments: set[str], tip: _Tip) -> set[str]:
    """Those of "Leg1", "Leg2", "Leg3" that are in line with the one before, if enough links are left without them."""
    joints = [*(bone.head for bone in line), tip.joint]
    # With only a leaf or a tail on its end the last bone may be the foot.
    is_known = tip.foot and (tip.rides or tip.foot[0].parent != tip.bone)
    split = {
        below.name
        for k, (bone, below) in enumerate(pairwise(line))
        if bone.said.part == below.said.part == "LIMB"
        and below.name not in segments
        and bend(*joints[k : k + 3]) < IN_LINE
    }
    return split if is_known and len(line) - len(segments) - len(split) >= 2 else set()


# All together


def _quality(limb: LimbCandidate) -> tuple:
    end = limb.end or limb.bones[-1]
    own = [*limb.bones, end]
    return (
        end.said.preference,
        limb.rides and end.said.part == "END",
        limb.end is not None,
        sum(bone.said.plain for bone in own) / len(own),
    )


def _is_same(limb: LimbCandidate, other: LimbCandidate) -> bool:
    """True if two limbs are one: rigs keep a limb several times, to deform, to control and as a reference."""
    if not limb.own.isdisjoint(other.own):
        return True
    near = _SAME_PLACE * sum(other.lengths)
    last = -1 if limb.end and other.end else -2
    distances = [limb.joints[k] - other.joints[k] for k in (0, last)]
    return (limb.kind, limb.side) == (other.kind, other.side) and all(apart.length < near for apart in distances)
