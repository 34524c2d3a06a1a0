"""What the names of an armature's bones show: which part of which limb, on which side; or that a bone is a helper.

The words are a table with a row for each language: to teach one, or a word, extend it.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from unicodedata import normalize

_COLUMNS = (
    *(("LEG", part) for part in ("UPPER", "LOWER", "LIMB", "JOINT", "END", "TOE", "HEEL")),
    *(("ARM", part) for part in ("UPPER", "LOWER", "LIMB", "JOINT", "END")),
    *(("SIDE", side) for side in "LR"),
    *(("PLACE", place) for place in ("FRONT", "HIND")),
)
"""What the columns of a language's row are, apart by slashes: thigh, shin, leg, hip, foot, toe, heel, upper arm,
forearm, arm, shoulder, hand, left, right, front and hind. LIMB: the whole limb, or any part of it. JOINT: vague as
well. A word of two, such as "upper leg", is written in one."""

ENGLISH = "English"
LANGUAGES = {
    ENGLISH: "thigh upleg upperleg upperthigh uprleg legupper legup femur femu hamstring"
    "/ shin calf lowerleg lowleg loleg lwrleg leglower leglow knee tibia tibi fibula shank gaskin / leg / hip"
    "/ foot feet ankle paw hoof hock metatarsus metatarsals pastern / toe toes toebase ball / heel"
    "/ upperarm uparm uprarm armupper armup humerus hume"
    "/ forearm lowerarm lowarm loarm lwrarm armlower armlow elbow ulna radius radi / arm / shoulder shldr"
    "/ hand wrist fist palm / l lt lf left / r rt right / front fore / hind rear back",
    "German": "oberschenkel oberbein / unterschenkel unterbein wade knie schienbein / bein / hufte huefte"
    "/ fuss knochel knoechel pfote huf / zeh zehe zehen ballen fussballen / ferse"
    "/ oberarm / unterarm ellbogen ellenbogen / arm / schulter / hand handgelenk / links li / rechts re"
    "/ vorn vorne vorder vorderer / hinten hinter hinterer",
    "French": "cuisse / mollet tibia genou / jambe / hanche / pied cheville patte sabot / orteil orteils / talon"
    "/ hautbras humerus / avantbras coude / bras / epaule / main poignet / gauche g / droite droit d"
    "/ avant / arriere",
    "Spanish": "muslo / pantorrilla espinilla canilla rodilla / pierna pata / cadera / pie tobillo pezuna / puntera"
    "/ talon / brazosuperior / antebrazo codo / brazo / hombro / mano muneca / izquierda izquierdo izq izqda i"
    "/ derecha derecho der dcha d / delantera delantero / trasera trasero",
    "Portuguese": "coxa / canela panturrilha joelho / perna / quadril / pe tornozelo / ponta / calcanhar"
    "/ bracosuperior / antebraco cotovelo / braco / ombro / mao pulso / esquerda esquerdo esq e"
    "/ direita direito dir d / dianteira dianteiro / traseira traseiro",
    "Italian": "coscia / stinco polpaccio ginocchio / gamba zampa / anca / piede caviglia zoccolo / punta / tallone"
    "/ bracciosuperiore omero / avambraccio gomito / braccio / spalla / mano polso / sinistra sinistro sx s"
    "/ destra destro dx d / anteriore / posteriore",
    "Polish": "udo / podudzie lydka golen kolano / noga / biodro / stopa kostka lapa kopyto / palce / pieta"
    "/ ramie / przedramie lokiec / reka / bark / dlon nadgarstek / lewa lewy lewe l / prawa prawy prawe p"
    "/ przednia przedni / tylna tylny",
    "Turkish": "uyluk ustbacak / baldir altbacak diz / bacak / kalca / ayak bilek ayakbilegi pati / parmak ayakparmagi"
    "/ topuk / ustkol / onkol altkol dirsek / kol / omuz / el elbilegi / sol / sag / on / arka",
}
"""By language: letters without marks, for names are read so; lower case."""
_FROM_JAPANESE = {
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
_DOTLESS = "\N{LATIN SMALL LETTER DOTLESS I}"
_LETTERS = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", _DOTLESS: "i", "ø": "o", "Ø": "O", "æ": "ae"})
"""Letters that are not put together from a plain one and a mark."""
_SHORT = 3
"""Letters of a word that may be a part of any other: it does not tell a language."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of the languages that an armature's names speak. parts: (kind, part) by word. nearly: the word that a
    misspelled one stands for, which lacks one of its letters. sides: L or R. places: FRONT or HIND."""

    languages: tuple[str, ...]
    parts: dict[str, tuple[str, str]]
    nearly: dict[str, str]
    sides: dict[str, str]
    places: dict[str, str]

    def __hash__(self) -> int:
        return hash(self.languages)


def plain(name: str) -> str:
    """A name in letters without marks, and in English where it is of MikuMikuDance."""
    # Full-width letters, as Japanese names have them, become plain ones.
    whole = normalize("NFKC", name)
    for word, english in _FROM_JAPANESE.items():
        whole = whole.replace(word, f" {english} ")
    # Marks stay on what is no Latin letter: there they make another one.
    return "".join(
        normalize("NFKD", letter)[0] if ord(letter) < 0x250 else letter for letter in whole.translate(_LETTERS)
    )


@cache
def _row(language: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """The words of a language by what they mean."""
    return dict(zip(_COLUMNS, (tuple(cell.split()) for cell in LANGUAGES[language].split("/")), strict=True))


@cache
def _leg_words() -> dict[str, frozenset[str]]:
    """By language but English the words for legs that tell it."""
    return {
        language: frozenset(
            word
            for (kind, part), words in _row(language).items()
            for word in words
            if kind == "LEG" and part in {"UPPER", "LOWER", "LIMB", "END"} and len(word) > _SHORT
        )
        for language in LANGUAGES
        if language != ENGLISH
    }


@cache
def _vocabulary(languages: tuple[str, ...]) -> Vocabulary:
    found = Vocabulary(languages, {}, {}, {}, {})
    # English last: its words are in rigs of all languages.
    for language in reversed(languages):
        for (kind, part), words in _row(language).items():
            if kind == "SIDE":
                found.sides.update(dict.fromkeys(words, part))
            elif kind == "PLACE":
                found.places.update(dict.fromkeys(words, part))
            else:
                found.parts.update(dict.fromkeys(words, (kind, part)))
    for word in found.parts:
        if len(word) > _SHORT:
            found.nearly.update({word[:k] + word[k + 1 :]: word for k in range(1, len(word))})
    return found


_VAGUE = {"LIMB", "JOINT"}
"""Parts whose words are vague: "leg" is a shin below a thigh, and "hip" a thigh above a knee."""

_MIDDLE = {"mid", "middle"}
_TWISTS = {"twist", "roll"}
_CONTROLS = {"ik", "ctrl", "ctl", "control", "controller", "target", "goal", "effector"}
"""What the name of a bone that a limb follows has."""
_HELPERS = _CONTROLS | {
    word
    for words in (
        "fk mch con pole tweak vis wgt orient hint swivel",
        "helper gizmo pivot parent master socket share corrective sec grp",
        "skirt tail cloth hair breast rope strap ribbon accessory armor pad",
    )
    for word in words.split()
}
LEAVES = {"end", "leaf", "nub", "tip"}
"""What the name of a helper has that only marks where the bone before ends, and carries none itself."""
_OFFSETS = {"pelvis", "hipbone", "girdle", "anchor", "offset"}
"""With a vague word, as in "leg_pelvis": the bone only leads to a limb."""
_OTHER_PARTS = {"wing", "fin", "ear", "tentacle", "antenna", "jaw", "mandible", "finger", "thumb", "feather", "flipper"}
"""What is no limb, however it is shaped."""
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


@dataclass(frozen=True, slots=True)
class BoneName:
    """What a bone's name shows; "" where it shows nothing.

    side: L or R. place: FRONT, HIND, MID_FRONT, MID_HIND or MID. kind: LEG or ARM. part: UPPER, LOWER, LIMB, JOINT,
    END, TOE or HEEL. word: the word for the part. helper: the word that makes it a helper. is_control: True if a limb
    may follow the bone. is_twist: True if the bone only twists along with another. preference: higher for the bones
    that deform, lower for references. plain: number of words that have nothing to do with a limb; negative, so that the
    plainest name is the largest. is_meaningless: True if no word has a meaning. stem: its letters without digits and
    without words for twist.
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


MEANINGLESS = BoneName("", "", "", "", "", "", False, False, 0, 0, True, "")
"""What a name shows that shows nothing."""


def read_names(names: Iterable[str], carriers: Container[str] = ()) -> dict[str, BoneName]:
    """What each bone's name of one armature shows. carriers: those that carry other bones."""
    by_name = {name: plain(name) for name in names}
    # Other languages are told by a word for a leg.
    spoken = "\n".join(by_name.values()).lower()
    told = (language for language, legs in _leg_words().items() if any(word in spoken for word in legs))
    known = _vocabulary((ENGLISH, *told))
    words = {
        name: [part for word in _WORD.findall(own) for part in _unglued(word.lower(), known)]
        for name, own in by_name.items()
    }
    counts = Counter(word for own in words.values() for word in set(own))
    many = max(_FEW, _COMMON * len(words))
    prefixes = {word for word, count in counts.items() if count >= many and word not in known.parts}
    read = {
        name: _read(name, own, _HELPERS if name in carriers else _HELPERS | LEAVES, prefixes, known)
        for name, own in words.items()
    }
    if any(name.kind == "LEG" and not name.helper for name in read.values()):
        return read
    # In a language that nobody here knows words mean nothing: not even those that look like words for arms.
    return {
        name: one
        if one.kind or one.helper or not _OTHER_PARTS.isdisjoint(words[name])
        else replace(one, is_meaningless=True)
        for name, one in read.items()
    }


@lru_cache(256)
def is_arm(names: tuple[str, ...]) -> bool:
    """True if the names of a limb's bones show an arm, and none a leg. Panels ask at each redraw."""
    kinds = {each.kind for each in read_names(names).values()}
    return "ARM" in kinds and "LEG" not in kinds


def _read(name: str, words: list[str], helpers: set[str], prefixes: set[str], known: Vocabulary) -> BoneName:
    sides = [known.sides[word] for word in words if word in known.sides]
    sideless = [word for word in words if word not in known.sides]
    # "UpLeg" and "upper_leg" are one word, and it is clearer than its last half.
    compounds = [word for before, last in pairwise(["", *sideless]) for word in (last, before + last)]
    parts = [word for word in compounds if word in known.parts]
    word = max(reversed(parts), key=lambda word: known.parts[word][1] not in _VAGUE, default="")
    kind, part = known.parts.get(word, ("", ""))
    if part in _VAGUE and not _OFFSETS.isdisjoint(sideless):
        kind, part = "", ""
    rest = [word for word in sideless if word not in prefixes]
    # Auto-Rig Pro's controls are c_foot_ik and c_leg: elsewhere a letter is no word.
    rest = ["control" if word == "c" and not k and len(rest) > 1 else word for k, word in enumerate(rest)]
    helper = next((word for word in rest if word in helpers), "")
    if part == "LIMB" and not helper and not LEAVES.isdisjoint(rest):
        # A leg's end that carries more is its foot.
        part = "END"
    return BoneName(
        # The last one: Rigify's left rear toe is r_toe.L.
        side=sides[-1] if sides else "",
        place=_place(sideless, known),
        kind=kind,
        part=part,
        word=word,
        helper=helper,
        is_control=bool(helper) and helpers.intersection(rest) <= _CONTROLS,
        is_twist=not _TWISTS.isdisjoint(sideless),
        preference=("def" in sideless) - (not _SECOND_BEST.isdisjoint(sideless)),
        plain=-sum(word not in known.places and word not in _MEANINGLESS and word not in parts for word in rest),
        is_meaningless=_NUMBER.match(name) is not None or _MEANINGLESS.issuperset(sideless),
        stem="".join(word for word in words if word not in _TWISTS),
    )


def _place(words: list[str], known: Vocabulary) -> str:
    place = next((known.places[word] for word in words if word in known.places), "")
    middle = "MID" if not _MIDDLE.isdisjoint(words) else ""
    return "_".join(filter(None, (middle, place)))


_SINGLE = _TWISTS | {word for word in _HELPERS | LEAVES if len(word) > 1} | _MIDDLE


@cache
def _unglued(word: str, known: Vocabulary) -> tuple[str, ...]:
    """The known words that a word is put together from: "thightwist", "lfoot", "LEGCONTROL"; else the word."""

    def is_single(word: str) -> bool:
        return not word or word in _SINGLE or word in known.sides or word in known.places

    if word in known.parts or is_single(word) or word in _MEANINGLESS:
        return (word,)
    for part in sorted(known.parts, key=len, reverse=True):
        before, found, after = word.partition(part)
        if found and is_single(before) and is_single(after):
            return tuple(filter(None, (before, part, after)))
    return (known.nearly.get(word, word),)
