"""Find the legs and arms of any armature: by the names of its bones, and by how they hang together."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from math import pi, radians

import bpy
from mathutils import Vector

from .. import messages

_PARTS = {
    ("LEG", "UPPER"): "thigh upleg upperleg legupper femur",
    ("LEG", "LOWER"): "shin calf lowerleg lowleg leglower knee tibia",
    ("LEG", "LIMB"): "leg",
    ("LEG", "JOINT"): "hip",
    ("LEG", "END"): "foot ankle paw hoof hock metatarsus metatarsals",
    ("LEG", "TOE"): "toe toes toebase ball",
    ("LEG", "HEEL"): "heel",
    ("ARM", "UPPER"): "upperarm uparm armupper humerus",
    ("ARM", "LOWER"): "forearm lowerarm lowarm armlower elbow",
    ("ARM", "LIMB"): "arm",
    ("ARM", "JOINT"): "shoulder",
    ("ARM", "END"): "hand wrist",
}
_PART_OF_WORD = {word: part for part, words in _PARTS.items() for word in words.split()}
_VAGUE = {"LIMB", "JOINT"}
"""Parts whose words say little: "leg" is a shin below a thigh, and "hip" a thigh above a knee."""

_ABOVE = {
    "END": {"LOWER": "LOWER", "LIMB": "LOWER"},
    "LOWER": {"LOWER": "LOWER", "UPPER": "UPPER", "JOINT": "UPPER", "LIMB": "LIMB"},
    "LIMB": {"UPPER": "UPPER", "LIMB": "LIMB"},
    "UPPER": {"UPPER": "UPPER"},
}
"""What a bone is, by what is below it and by what its name says. LIMB: the upper part where nothing better comes."""

_SIDES = {"l": "L", "left": "L", "r": "R", "right": "R"}
_PLACES = {"front": "FRONT", "fore": "FRONT", "hind": "HIND", "rear": "HIND", "back": "HIND"}
_TWISTS = {"twist", "roll"}
_COMMON = {
    ("LEG", "UPPER"): "thigh",
    ("LEG", "LOWER"): "shin",
    ("ARM", "UPPER"): "upper arm",
    ("ARM", "LOWER"): "forearm",
}
_HELPERS = {
    word
    for words in (
        "ik fk mch c con ctrl control controller pole target tweak vis wgt",
        "helper gizmo pivot parent master socket share corrective sec end nub",
        "skirt tail cloth hair breast",
    )
    for word in words.split()
}
_SECOND_BEST = {"org", "ref"}
_SAYS_NOTHING = {"bone", "joint", "jnt", "def", "node", "armature", "skeleton"}
_WORD = re.compile(
    r"(?i:left|right|front|hind|rear|back|fore(?!arm))|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+",
)

_IN_LINE = radians(10.0)
"""Largest angle between two bones that are one part of a limb, split for its twist."""
_NO_LENGTH = 1e-3
"""Of a limb's length: shorter bones are stubs."""
_HOCK = 0.22
"""Of a leg's height: an ankle that is held higher is a hock. A human's is at a tenth, a wolf's at a third."""
_STANDS = 0.15
"""Of a leg's height: a hand that comes nearer to the ground stands on it. That of a human ends halfway up."""
_SAME_PLACE = 0.1
"""Of a limb's length: two limbs that begin and end nearer to each other are one limb twice."""
_SYMMETRIC = 0.05
"""Of a limb's length: how well two limbs must mirror each other where nothing but their shape tells what they are."""
_HANGS = 0.8
"""Of a leg's length: how far down it leads where nothing but its shape tells what it is."""
_FOOT_TURNS = radians(30.0)
"""Least angle between a foot and its shin where nothing but the shape tells; a hand lies in line with its forearm."""


@dataclass(frozen=True, slots=True)
class FoundLimb:
    """A limb of an armature, by the names of its bones."""

    kind: str
    """LEG or ARM; the front legs of an animal are legs."""
    side: str
    """L, R, or "" for one in the middle."""
    place: str
    """FRONT or HIND where there are both, else ""."""
    bones: tuple[str, ...]
    """The chain, root first; two or more."""
    end: str
    """The foot, hand or paw that rides on the chain."""
    toe: str
    """The ball or toe bone behind the foot, or ""."""
    heel: str
    """The bone at a foot's heel, or ""."""
    segments: tuple[str, ...] = ()
    """Those of the chain that only continue the bone before, as where a thigh is split for its twist."""


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


@dataclass(frozen=True, slots=True)
class _Name:
    """What a bone's name says. helper: the word that makes it a helper, or ""."""

    side: str
    place: str
    kind: str
    part: str
    helper: str
    twists: bool
    preference: int
    says_nothing: bool


@dataclass(frozen=True, slots=True)
class _Limb:
    """A limb while it is looked at. foot: or hand, which may be split like a thigh; lacks: UPPER, LOWER or ""."""

    kind: str
    side: str
    place: str
    bones: tuple[bpy.types.Bone, ...]
    foot: tuple[bpy.types.Bone, ...]
    toe: bpy.types.Bone | None
    lacks: str = ""

    @property
    def end(self) -> bpy.types.Bone:
        return self.foot[0]

    @property
    def span(self) -> Vector:
        """From its root to the middle of its toe or foot, over which a body stands, be it on soles or on toes."""
        last = self.toe or self.foot[-1]
        return (last.head_local + last.tail_local) / 2.0 - self.bones[0].head_local

    @property
    def lengths(self) -> list[float]:
        """From joint to joint: an imported bone's tail may be anywhere."""
        return [(b.head_local - a.head_local).length for a, b in pairwise((*self.bones, self.end))]

    def lowest(self, down: Vector) -> float:
        """How far down its end reaches."""
        return max(
            down.dot(point) for bone in (*self.foot, self.toe) if bone for point in (bone.head_local, bone.tail_local)
        )


_NO_PAIR = "no pair"
_Names = dict[str, _Name]
_Reasons = dict[str, str]


def find_limbs(bones: Iterable[bpy.types.Bone], arms: bool = False) -> Found:
    """The legs, and with `arms` the arms, to which at least one of these bones belongs.

    The bones are some or all of one armature's; the others are looked at as well, but found only along with these.
    """
    asked = list(bones)
    if not asked:
        return Found((), ())
    armature = asked[0].id_data.bones
    names = {bone.name: _read(bone.name) for bone in armature}
    limbs, reasons = _limbs_by_name(armature, names)
    if not any(limb.kind == "LEG" for limb in limbs):
        legs, doubts = _legs_by_shape(armature, names)
        limbs, reasons = limbs + legs, reasons | doubts
    kinds = {"LEG", "ARM"} if arms else {"LEG"}
    chosen = {bone.name for bone in asked}
    found = [_found(limb, names) for limb in _on_the_ground(limbs, names) if limb.kind in kinds]
    return Found(
        tuple(sorted((limb for limb in found if chosen.intersection((*limb.bones, limb.end))), key=_order)),
        tuple(
            LeftOut(name, reasons[name])
            for name in sorted(chosen.intersection(reasons))
            if names[name].kind in kinds | {""}
        ),
    )


def _found(limb: _Limb, names: _Names) -> FoundLimb:
    heel = _heel(limb.end, names)
    return FoundLimb(
        limb.kind,
        limb.side,
        limb.place,
        tuple(bone.name for bone in limb.bones),
        limb.end.name,
        limb.toe.name if limb.toe else "",
        heel.name if heel else "",
        tuple(b.name for a, b in pairwise(limb.bones) if names[a.name].part == names[b.name].part != ""),
    )


def _order(limb: FoundLimb) -> tuple:
    return limb.kind == "ARM", limb.place == "FRONT", ("L", "R", "").index(limb.side), limb.bones


# By name


def _read(name: str) -> _Name:
    words = [word.lower() for word in _WORD.findall(name)]
    sides = [_SIDES[word] for word in words if word in _SIDES]
    telling = [word for word in words if word not in _SIDES]
    # "UpLeg" and "upper_leg" are one word, and it says more than its last half.
    compounds = [word for before, last in pairwise(["", *telling]) for word in (last, before + last)]
    parts = [_PART_OF_WORD[word] for word in compounds if word in _PART_OF_WORD]
    kind, part = max(reversed(parts), key=lambda part: part[1] not in _VAGUE, default=("", ""))
    return _Name(
        # The last one: Rigify's left rear toe is r_toe.L.
        side=sides[-1] if sides else "",
        place=next((_PLACES[word] for word in telling if word in _PLACES), ""),
        kind=kind,
        part=part,
        helper=next((word for word in telling if word in _HELPERS), ""),
        twists=not _TWISTS.isdisjoint(telling),
        preference=("def" in telling) - (not _SECOND_BEST.isdisjoint(telling)),
        says_nothing=_SAYS_NOTHING.issuperset(telling),
    )


def _limbs_by_name(armature: Iterable[bpy.types.Bone], names: _Names) -> tuple[list[_Limb], _Reasons]:
    """All limbs that names tell and shape confirms, and why the other bones that are named so are none."""
    reasons = {bone.name: reason for bone in armature if (reason := _why_no_limb(bone, names))}
    limbs: list[_Limb] = []
    climbed = [_climb(bone, names) for bone in armature if _is_end(bone, names)]
    for limb in sorted(climbed, key=lambda limb: -names[limb.end.name].preference):
        if reason := _why_incomplete(limb):
            reasons[limb.end.name] = reason
        elif same := next((other for other in limbs if _is_same(limb, other)), None):
            for bone in (*limb.bones, limb.end):
                reasons[bone.name] = messages.SAME_LIMB(bone=same.bones[0].name)
        else:
            limbs.append(limb)
    own = {bone.name for limb in limbs for bone in (*limb.bones, *limb.foot)}
    return limbs, {name: reason for name, reason in reasons.items() if name not in own}


def _why_no_limb(bone: bpy.types.Bone, names: _Names) -> str:
    """Why a bone with a limb's name, unless it is found to be one after all, is none; "" without such a name."""
    name = names[bone.name]
    if name.part not in {"UPPER", "LOWER", "LIMB", "END"}:
        return ""
    if name.helper:
        return messages.IS_HELPER(word=name.helper)
    if name.twists:
        return messages.TWISTS_WITH(bone=bone.parent.name) if bone.parent else messages.TWISTS()
    if name.part == "END":
        return ""
    return messages.NO_FOOT_BELOW() if name.kind == "LEG" else messages.NO_HAND_BELOW()


def _is_end(bone: bpy.types.Bone, names: _Names) -> bool:
    """Whether it is named as a foot or a hand, and is the first of its limb that is."""
    name, parent = names[bone.name], names.get(bone.parent.name) if bone.parent else None
    first = not parent or parent.part not in {"END", "TOE"} or parent.side != name.side
    return name.part == "END" and not name.helper and not name.twists and first


def _climb(end: bpy.types.Bone, names: _Names) -> _Limb:
    """A foot or a hand with all bones above it that can be of its limb, and what the limb lacks."""
    name, line, parts = names[end.name], [end], ["END"]
    for bone in end.parent_recursive:
        above = names[bone.name]
        part = _ABOVE[parts[0]].get(above.part)
        if not part or above.helper or above.side != name.side:
            break
        if part == parts[0] and not _is_in_line(bone, *line[:2]):
            break
        line.insert(0, bone)
        parts.insert(0, part)
    # A twist bone is a part of a limb only behind the bone that it is split from.
    while names[line[0].name].twists:
        del line[0], parts[0]
    lacks = {"END": "LOWER", "LOWER": "UPPER"}.get(parts[0], "")
    place = _place([names[bone.name] for bone in line]) if name.kind == "LEG" else ""
    return _Limb(name.kind, name.side, place, tuple(line[:-1]), *_foot_and_toe(end, names), lacks)


def _place(leg: Sequence[_Name]) -> str:
    # A horse's forefoot hangs on its upper arm and forearm.
    if any(name.kind == "ARM" for name in leg):
        return "FRONT"
    return next((name.place for name in leg if name.place), "")


def _is_in_line(bone: bpy.types.Bone, below: bpy.types.Bone, after: bpy.types.Bone) -> bool:
    """Whether two bones are one, split: measured between joints, for an imported bone's tail may be anywhere."""
    along, on = below.head_local - bone.head_local, after.head_local - below.head_local
    return along.angle(on, pi) < _IN_LINE


def _why_incomplete(limb: _Limb) -> str:
    if limb.lacks:
        return messages.LACKS_ABOVE(part=_COMMON[limb.kind, limb.lacks])
    length = sum(limb.lengths)
    short = next((bone for bone, own in zip(limb.bones, limb.lengths, strict=True) if own <= _NO_LENGTH * length), None)
    return messages.SHORT_ABOVE(bone=short.name) if short else ""


def _is_same(limb: _Limb, other: _Limb) -> bool:
    """Whether two limbs are one: rigs keep a limb several times, to deform, to control and as a reference."""
    near = _SAME_PLACE * sum(limb.lengths)
    roots = limb.bones[0].head_local - other.bones[0].head_local
    ends = limb.end.head_local - other.end.head_local
    return (limb.kind, limb.side) == (other.kind, other.side) and max(roots.length, ends.length) < near


def _foot_and_toe(end: bpy.types.Bone, names: _Names) -> tuple[tuple[bpy.types.Bone, ...], bpy.types.Bone | None]:
    """A foot, in one bone or in several that lie in line, and the toe behind it."""
    foot, toe = (end,), _toe(end, names)
    while toe and names[toe.name].part == "END" and (after := _toe(toe, names)) and _is_in_line(foot[-1], toe, after):
        foot, toe = (*foot, toe), after
    return foot, toe


def _toe(end: bpy.types.Bone, names: _Names) -> bpy.types.Bone | None:
    if names[end.name].says_nothing:
        toes = [bone for bone in end.children if names[bone.name].says_nothing]
    else:
        toes = [bone for bone in end.children if _is_part(bone, names, "LEG", "TOE", "END")]
    # Of several toes none carries the others.
    return toes[0] if len(toes) == 1 else None


def _heel(end: bpy.types.Bone, names: _Names) -> bpy.types.Bone | None:
    return next((bone for bone in end.children if _is_part(bone, names, "LEG", "HEEL")), None)


def _is_part(bone: bpy.types.Bone, names: _Names, kind: str, *parts: str) -> bool:
    name = names[bone.name]
    return name.kind == kind and name.part in parts and not name.helper and not name.twists


# On the ground


def _on_the_ground(limbs: list[_Limb], names: _Names) -> list[_Limb]:
    """Limbs with what only the legs together tell: which arms are front legs, and which ankles are hocks."""
    legs = [limb for limb in limbs if limb.kind == "LEG"]
    if not legs:
        return limbs
    # Measured, for not every armature has Z for up.
    down = sum((leg.span for leg in legs), Vector()).normalized()
    ground = max(leg.lowest(down) for leg in legs)
    height = ground - min(down.dot(leg.bones[0].head_local) for leg in legs)
    arms = [limb for limb in limbs if limb.kind == "ARM"]
    front = [arm for arm in arms if ground - arm.lowest(down) < _STANDS * height]
    legs = [_on_its_toes(leg, down, names) for leg in (*legs, *(_as_front_leg(arm) for arm in front))]
    places = {leg.place == "FRONT" for leg in legs}
    legs = [replace(leg, place=leg.place or "HIND" if len(places) == 2 else "") for leg in legs]
    return legs + [arm for arm in arms if arm not in front]


def _as_front_leg(arm: _Limb) -> _Limb:
    return replace(arm, kind="LEG", place="FRONT")


def _on_its_toes(leg: _Limb, down: Vector, names: _Names) -> _Limb:
    """A leg whose hock is held high stands on its toes: its metatarsus is a link of the chain."""
    ankle, ground = down.dot(leg.end.head_local), leg.lowest(down)
    if leg.toe is None or ground - ankle < _HOCK * (ground - down.dot(leg.bones[0].head_local)):
        return leg
    foot, toe = _foot_and_toe(leg.toe, names)
    return replace(leg, bones=(*leg.bones, *leg.foot), foot=foot, toe=toe)


# By shape


def _legs_by_shape(armature: Sequence[bpy.types.Bone], names: _Names) -> tuple[list[_Limb], _Reasons]:
    """The one pair of legs that shape alone tells, where names say nothing; and why other pairs like it are none."""
    joints = [point for bone in armature for point in (bone.head_local, bone.tail_local)]
    pairs, reasons = [], {}
    for pelvis in armature:
        lines = [_line(child, names) for child in pelvis.children if names[child.name].says_nothing]
        for pair in combinations([line for line in lines if len(line) >= 3], 2):
            reason = _why_no_legs(pelvis, *pair, joints)
            if not reason:
                pairs.append(pair)
            elif reason != _NO_PAIR:
                reasons |= {line[0].name: reason for line in pair}
    if len(pairs) > 1:
        return [], reasons | {line[0].name: messages.MANY_PAIRS() for pair in pairs for line in pair}
    return [leg for one, other in pairs for leg in _pair_of_legs(one, other, names)], reasons


def _line(bone: bpy.types.Bone, names: _Names) -> list[bpy.types.Bone]:
    """A bone and those below it, as far as each has one child alone."""
    line = [bone]
    while len(children := [child for child in line[-1].children if names[child.name].says_nothing]) == 1:
        line += children
    return line


def _why_no_legs(
    pelvis: bpy.types.Bone, first: Sequence[bpy.types.Bone], second: Sequence[bpy.types.Bone], joints: Sequence[Vector]
) -> str:
    """Why two lines of bones are no legs; _NO_PAIR where they do not even look like it, "" where they are."""
    spans = [line[2].head_local - line[0].head_local for line in (first, second)]
    down = sum(spans, Vector()).normalized()
    length = max(span.length for span in spans)
    feet = [down.dot(point) for line in (first, second) for point in _points(line)]
    depths = [down.dot(joint) for joint in joints]
    if (
        not _mirror_each_other(_points(first), _points(second), _SYMMETRIC * length)
        or max(depths) - max(feet) > _SYMMETRIC * length
        or min(down.dot(span) for span in spans) < _HANGS * length
    ):
        return _NO_PAIR
    if down.dot(pelvis.head_local) - min(depths) < 0.5 * length:
        return messages.NO_BODY_ABOVE()
    if len(first) > 4:
        return messages.MANY_BONES(count=len(first))
    if not all(_has_foot(line) for line in (first, second)):
        return messages.NO_FOOT_STANDS_OUT()
    return ""


def _points(line: Sequence[bpy.types.Bone]) -> list[Vector]:
    return [*(bone.head_local for bone in line), line[-1].tail_local]


def _mirror_each_other(first: list[Vector], second: list[Vector], near: float) -> bool:
    if len(first) != len(second):
        return False
    across = first[-1] - second[-1]
    middle = (first[-1] + second[-1]) / 2.0
    normal = across.normalized()
    mirrored = [point - 2.0 * normal.dot(point - middle) * normal for point in first]
    apart = max((a - b).length for a, b in zip(mirrored, second, strict=True))
    return across.length > near and apart < near


def _has_foot(line: Sequence[bpy.types.Bone]) -> bool:
    """Whether a line turns after its shin, as it does at an ankle or a hock."""
    thigh, shin, foot, *_ = line
    below = (foot.head_local - shin.head_local, foot.tail_local - foot.head_local)
    return thigh.length > 0.0 and below[0].angle(below[1], 0.0) > _FOOT_TURNS


def _pair_of_legs(first: Sequence[bpy.types.Bone], second: Sequence[bpy.types.Bone], names: _Names) -> Iterable[_Limb]:
    """Two lines as legs; where names do not tell, left is where a body has it that looks where its feet point."""
    pair = (first, second)
    down = sum((line[2].head_local - line[0].head_local for line in pair), Vector())
    forward = sum((line[2].tail_local - line[2].head_local for line in pair), Vector())
    left = forward.cross(down)
    for line, other in (pair, pair[::-1]):
        side = "L" if left.dot(line[0].head_local - other[0].head_local) > 0.0 else "R"
        yield _Limb("LEG", names[line[0].name].side or side, "", tuple(line[:2]), *_foot_and_toe(line[2], names))
