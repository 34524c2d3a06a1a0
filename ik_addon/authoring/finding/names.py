"""What the names of an armature's bones show: which part of which limb, on which side; or that a bone is a helper."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from unicodedata import normalize

import bpy

from ..control_collections import control_bones

_PARTS = {
    ("LEG", "UPPER"): "thigh upleg upperleg upperthigh uprleg legupper legup femur hamstring",
    ("LEG", "LOWER"): "shin calf lowerleg lowleg loleg lwrleg leglower leglow knee tibia fibula shank gaskin",
    ("LEG", "LIMB"): "leg",
    ("LEG", "JOINT"): "hip",
    ("LEG", "END"): "foot feet ankle paw hoof hock metatarsus metatarsals pastern",
    ("LEG", "TOE"): "toe toes toebase ball",
    ("LEG", "HEEL"): "heel",
    ("ARM", "UPPER"): "upperarm uparm uprarm armupper armup humerus",
    ("ARM", "LOWER"): "forearm lowerarm lowarm loarm lwrarm armlower armlow elbow ulna radius",
    ("ARM", "LIMB"): "arm",
    ("ARM", "JOINT"): "shoulder shldr",
    ("ARM", "END"): "hand wrist fist palm",
}
_PART_OF_WORD = {word: part for part, words in _PARTS.items() for word in words.split()}
_VAGUE = {"LIMB", "JOINT"}
"""Parts whose words are vague: "leg" is a shin below a thigh, and "hip" a thigh above a knee."""

_SIDES = {"l": "L", "lt": "L", "lf": "L", "left": "L", "r": "R", "rt": "R", "right": "R"}
_PLACES = {"front": "FRONT", "fore": "FRONT", "hind": "HIND", "rear": "HIND", "back": "HIND"}
_MIDDLE = {"mid", "middle"}
_TWISTS = {"twist", "roll"}
_CONTROLS = {"ik", "ctrl", "ctl", "control", "controller", "target", "goal", "effector", "c"}
"""What the name of a bone that a limb follows has."""
_HELPERS = _CONTROLS | {
    word
    for words in (
        "fk mch con pole tweak vis wgt orient hint swivel",
        "helper gizmo pivot parent master socket share corrective sec end leaf nub grp",
        "skirt tail cloth hair breast rope strap ribbon accessory armor pad",
    )
    for word in words.split()
}
_SECOND_BEST = {"org", "ref"}
_MEANINGLESS = {"bone", "joint", "jnt", "def", "node", "armature", "skeleton", "object"}
_COMMON = 0.8
"""Of an armature's bones: a word that so many share is a prefix without a meaning."""
_FEW = 5
"""A word in fewer bones is no prefix."""

_WORD = re.compile(
    r"(?i:left|right|front|hind|rear|back|fore(?!arm))|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+",
)
_NUMBER = re.compile(r"(?=(?:.*\d){6})[0-9a-fA-F{}_-]{16,}$")
"""A name that is a universally unique identifier, or a long number."""
_JAPANESE = {
    "足首": "ankle",
    "足先": "toe",
    "足": "leg",
    "ひざ": "knee",
    "つま先": "toe",
    "腕": "arm",
    "ひじ": "elbow",
    "手首": "wrist",
    "手捩": "elbow twist",
    "捩": "twist",
    "親": "parent",
    "左": "left",
    "右": "right",
}
"""The names of MikuMikuDance; the longer ones first."""


@dataclass(frozen=True, slots=True)
class BoneName:
    """What a bone's name shows.

    side: L, R or "".
    place: FRONT, HIND, MID_FRONT, MID_HIND, MID or "".
    kind: LEG, ARM or "".
    part: UPPER, LOWER, LIMB, JOINT, END, TOE, HEEL or "".
    word: the word for the part, or "".
    helper: the word that makes it a helper, or "".
    is_control: True if a limb may follow the bone.
    is_twist: True if the bone only twists along with another.
    preference: higher for the bones that deform, lower for references.
    plain: number of words that have nothing to do with a limb; negative, so that the plainest name is the largest.
    is_meaningless: True if no word has a meaning.
    stem: its letters without digits and without words for twist.
    """

    side: str
    place: str
    kind: str
    part: str
    word: str
    helper: str
    is_control: bool
    is_twist: bool
    preference: int
    plain: int
    is_meaningless: bool
    stem: str


def read_names(names: Iterable[str]) -> dict[str, BoneName]:
    """What each bone's name of one armature shows."""
    words = {name: _words(name) for name in names}
    counts = Counter(word for own in words.values() for word in set(own))
    many = max(_FEW, _COMMON * len(words))
    prefixes = {word for word, count in counts.items() if count >= many and word not in _PART_OF_WORD}
    return {name: _read(name, own, prefixes) for name, own in words.items()}


def _read(name: str, words: list[str], prefixes: set[str]) -> BoneName:
    sides = [_SIDES[word] for word in words if word in _SIDES]
    sideless = [word for word in words if word not in _SIDES]
    # "UpLeg" and "upper_leg" are one word, and it is clearer than its last half.
    compounds = [word for before, last in pairwise(["", *sideless]) for word in (last, before + last)]
    known = [word for word in compounds if word in _PART_OF_WORD]
    word = max(reversed(known), key=lambda word: _PART_OF_WORD[word][1] not in _VAGUE, default="")
    kind, part = _PART_OF_WORD.get(word, ("", ""))
    rest = [word for word in sideless if word not in prefixes]
    helper = next((word for word in rest if word in _HELPERS), "")
    return BoneName(
        # The last one: Rigify's left rear toe is r_toe.L.
        side=sides[-1] if sides else "",
        place=_place(sideless),
        kind=kind,
        part=part,
        word=word,
        helper=helper,
        is_control=bool(helper) and _HELPERS.intersection(rest) <= _CONTROLS,
        is_twist=not _TWISTS.isdisjoint(sideless),
        preference=("def" in sideless) - (not _SECOND_BEST.isdisjoint(sideless)),
        plain=-sum(word not in _PLACES and word not in _MEANINGLESS and word not in known for word in rest),
        is_meaningless=_NUMBER.match(name) is not None or _MEANINGLESS.issuperset(sideless),
        stem="".join(word for word in words if word not in _TWISTS),
    )


def _place(words: list[str]) -> str:
    place = next((_PLACES[word] for word in words if word in _PLACES), "")
    middle = "MID" if not _MIDDLE.isdisjoint(words) else ""
    return "_".join(filter(None, (middle, place)))


def _words(name: str) -> list[str]:
    # Full-width letters, as Japanese names have them, become plain ones.
    plain = normalize("NFKC", name)
    for word, english in _JAPANESE.items():
        plain = plain.replace(word, f" {english} ")
    return [part for word in _WORD.findall(plain) for part in _unglued(word.lower())]


_SINGLE = set(_SIDES) | set(_PLACES) | _TWISTS | {word for word in _HELPERS if len(word) > 1} | _MIDDLE


@cache
def _unglued(word: str) -> tuple[str, ...]:
    """The known words that a word is put together from: "thightwist", "lfoot", "LEGCONTROL"; else the word."""
    if word in _PART_OF_WORD or word in _SINGLE or word in _MEANINGLESS:
        return (word,)
    for part in sorted(_PART_OF_WORD, key=len, reverse=True):
        before, found, after = word.partition(part)
        if found and all(not other or other in _SINGLE for other in (before, after)):
            return tuple(filter(None, (before, part, after)))
    return (word,)


class Body:
    """The bones of an armature as a tree. It does not outlive a call: bones are invalid after an undo.

    bones: all of the armature but control bones that were made for chains, parents before their children.
    """

    __slots__ = ("_children", "_names", "bones")

    def __init__(self, armature: bpy.types.Armature) -> None:
        controls = control_bones(armature)
        self.bones = tuple(bone for bone in armature.bones if bone.name not in controls)
        self._names = read_names(bone.name for bone in self.bones)
        # Blender looks through all bones for the children of each.
        self._children: dict[str, list[bpy.types.Bone]] = {}
        for bone in self.bones:
            if bone.parent:
                self._children.setdefault(bone.parent.name, []).append(bone)

    def name(self, bone: bpy.types.Bone) -> BoneName:
        """What the name of a bone shows."""
        return self._names[bone.name]

    def children(self, bone: bpy.types.Bone) -> list[bpy.types.Bone]:
        """The bones that are parented to a bone."""
        return self._children.get(bone.name, [])

    def below(self, bone: bpy.types.Bone) -> Iterator[bpy.types.Bone]:
        """All bones below a bone."""
        waiting = [*self.children(bone)]
        while waiting:
            child = waiting.pop()
            yield child
            waiting += self.children(child)
