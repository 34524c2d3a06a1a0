"""The words for limbs in the names of bones, a row for each language: to teach one, or a word, extend the table."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
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
    """The words of the languages that an armature's names speak.

    parts: (kind, part) by word. nearly: the word that a misspelled one stands for, which lacks one of its letters.
    sides: L or R. places: FRONT or HIND.
    """

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


def vocabulary_of(names: Iterable[str]) -> Vocabulary:
    """The words of English, and of the other languages of which a word for a leg is in these plain names."""
    spoken = "\n".join(names).lower()
    told = (name for name, words in _leg_words().items() if any(word in spoken for word in words))
    return _vocabulary((ENGLISH, *told))


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
