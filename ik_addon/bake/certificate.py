"""The certificate: a report read back, judged in words, and as plain text."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from math import isfinite
from pathlib import PurePath
from textwrap import wrap
from typing import TypeVar

from .. import messages

Range = tuple[int, int]
"""First and last frame."""

MISSES = {
    "unreached_frames": "out of reach",
    "limited_frames": "kept off by its limits",
    "moved_frames": "moved by a constraint, driver or add-on",
}
"""Why a tip is not on its target, by where the report lists the frames."""
BENDS = {"flipped_frames": "bend flips", "aligned_frames": "pole aligned", "straight_frames": "nearly straight"}
"""What may be seen as a pop, likewise; the worst first."""
TROUBLES = MISSES | BENDS

UNSEEN = 1e-4
"""Part of a limb's length by which its tip may miss and still meets its target: no eye sees it."""

APART = 0.02
"""Part of a chain's length by which it may be short of its target in any capture: feet lie apart from their shins."""
FOOT_FAULTS: dict[str, tuple[float, messages.Message]] = {
    "slide": (0.01, messages.FEET_SLIDE),
    "floating": (0.02, messages.FEET_FLOAT),
    "sunken": (0.01, messages.FEET_SINK),
    "knee_pops": (0.0, messages.KNEES_POP),
}
"""What is seen of feet that do not stand: above which figure, lengths in leg lengths, and how it is said."""
SHORT = {
    "unreached_frames": "out of reach",
    "limited_frames": "limits",
    "moved_frames": "moved",
    "flipped_frames": "flips",
    "aligned_frames": "pole aligned",
    "straight_frames": "nearly straight",
    "slide": "feet slide",
    "floating": "feet float",
    "sunken": "feet sink",
    "knee_pops": "knees pop",
}
"""All of these in a row, where there is little room."""
_OF_GROUND = {"floating", "sunken"}
"""Faults of feet on a ground that is known: as captured, its height is that of the feet."""
_FIGURES = ("slide", "skating", "skating_speed", "floating", "sunken", "tiptoe", "knee_pops")
"""The figures of feet that the certificate shows."""
_LAST_FRAME = 1_048_574
"""Blender's own limit: a frame beyond it was written by hand."""
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class ChainCertificate:
    """What a report says of one chain; see `file_report`.

    ranges: for each of TROUBLES that was found, where. clip: as in `Certificate`.
    """

    armature: str
    bone: str
    solver: str
    chain_count: int
    frames: int
    max_error: float
    mean_error: float
    worst_frame: int | None
    max_lag: float
    max_step_degrees: float
    max_step_frame: int | None
    length: float
    keys: int
    ranges: dict[str, list[Range]]
    clip: str = ""

    @property
    def misses(self) -> bool:
        """Whether the tip was away from its target at some frame, for whatever reason."""
        far = self.max_error > UNSEEN * self.length
        return far or self.max_lag > 0.0 or any(kind in self.ranges for kind in MISSES)

    @property
    def flips(self) -> bool:
        """Whether the bend changes sides from one frame to the next."""
        return "flipped_frames" in self.ranges

    @property
    def rank(self) -> int:
        """How bad it is: 0 where there is nothing to be said, the worst highest."""
        if any(kind in self.ranges for kind in MISSES):
            return 4
        return 3 if self.flips else 2 if self.misses else 1 if self.ranges else 0


@dataclass(frozen=True, slots=True)
class FootCertificate:
    """What a clip check says of one leg; see `feet_checked`. bone: its last bone.

    ground: CAPTURED, LEVEL or OBJECT. slide_frames: its worst contact, None without one. before, after: figures; before
    is None without a source. clip: as in `Certificate`.
    """

    armature: str
    bone: str
    length: float
    ground: str
    contacts: int
    slide_frames: Range | None
    before: dict[str, float] | None
    after: dict[str, float]
    clip: str = ""

    def has(self, fault: str) -> bool:
        """True if the clip shows one of FOOT_FAULTS; knees may pop as often as in the source."""
        if fault in _OF_GROUND and self.ground == "CAPTURED":
            return False
        as_captured = self.before["knee_pops"] if self.before and fault == "knee_pops" else 0.0
        return self.after[fault] > max(FOOT_FAULTS[fault][0], as_captured)

    @property
    def is_sound(self) -> bool:
        return self.contacts > 0 and not any(map(self.has, FOOT_FAULTS))


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a report says of one file, of one armature of it, or of one of its clips.

    clip: the name of that clip; "": of what played. engine: sentences on what a game engine does not take as it is.
    """

    file: str
    first: int
    last: int
    step: int
    seconds: float
    chains: tuple[ChainCertificate, ...]
    feet: tuple[FootCertificate, ...] = ()
    clip: str = ""
    engine: tuple[str, ...] = ()

    @property
    def baked(self) -> bool:
        return any(chain.keys for chain in self.chains)

    @property
    def worst_first(self) -> list[ChainCertificate]:
        return sorted(self.chains, key=lambda chain: -chain.rank)

    @property
    def rank(self) -> int:
        """How bad it is, as the worst of its chains; feet that do not stand count as a bend that flips."""
        feet = [0 if foot.is_sound else 3 for foot in self.feet]
        chains = [chain.rank for chain in self.chains]
        return max((*chains, *feet, 0 if self.is_sound else 2))

    @property
    def is_sound(self) -> bool:
        return all(good for good, _ in self.verdicts)

    @property
    def verdicts(self) -> list[tuple[bool, str]]:
        """Whether all is well, and sentences that say so or why not: of targets, of bends, of feet, of the engine."""
        chains = (verdict_on_targets(self), verdict_on_bends(self)) if self.chains or not self.feet else ()
        return [*filter(None, chains), *verdicts_on_feet(self), *((False, warning) for warning in self.engine)]


@lru_cache(maxsize=8)
def read_certificates(text: str) -> tuple[Certificate, ...]:
    """The certificates in a report as an armature keeps it, one for each clip, the worst first; none where that was
    changed into something else."""
    try:
        report = json.loads(text)
        found = [certificate_of(entry) for entry in report.get("clips", [report])]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return ()
    return tuple(sorted(found, key=lambda certificate: -certificate.rank))


def certificate_of(file: dict) -> Certificate:
    """The certificate of one file's entry in a report. Raises ValueError, TypeError, KeyError or AttributeError where
    that is none."""
    first, last, step = (_frame(value) for value in file["frames"])
    seconds, clip = _number(file["seconds"]), _text(file.get("clip", ""))
    chains = tuple(
        ChainCertificate(**{name: read(chain[name]) for name, read in _READ.items()}, ranges=_ranges(chain), clip=clip)
        for chain in file["chains"]
    )
    feet = tuple(_foot(foot, clip) for foot in file.get("feet", ()))
    engine = tuple(_text(warning) for own in file.get("engine", ()) for warning in own["warnings"])
    return Certificate(_text(file.get("file", "")), first, last, step, seconds, chains, feet, clip, engine)


def _foot(foot: dict, clip: str) -> FootCertificate:
    def figures(given: dict) -> dict[str, float]:
        return {name: _number(given[name]) for name in _FIGURES}

    first, last = foot["slide_frames"] or (None, None)
    return FootCertificate(
        armature=_text(foot["armature"]),
        bone=_text(foot["bone"]),
        length=_number(foot["length"]),
        ground=_text(foot["ground"]),
        contacts=_count(foot["contacts"]),
        slide_frames=None if first is None else (_frame(first), _frame(last)),
        before=None if foot["before"] is None else figures(foot["before"]),
        after=figures(foot["after"]),
        clip=clip,
    )


def _ranges(chain: dict) -> dict[str, list[Range]]:
    found = {kind: [(_frame(first), _frame(last)) for first, last in chain[kind]] for kind in TROUBLES}
    # That a limb is straight where it does not reach its target goes without saying.
    found["straight_frames"] = [
        (first, last)
        for first, last in found["straight_frames"]
        if not any(a <= first and last <= b for a, b in found["unreached_frames"])
    ]
    return {kind: ranges for kind, ranges in found.items() if ranges}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _number(value: float) -> float:
    if not isfinite(value):
        raise ValueError(f"{value} is not finite")
    return float(value)


def _count(value: int) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value


def _frame(value: int) -> int:
    if not isinstance(value, int) or abs(value) > _LAST_FRAME:
        raise ValueError(f"{value!r} is no frame")
    return value


_BY_TYPE = {
    str: _text,
    int: _count,
    float: _number,
    int | None: lambda value: value if value is None else _frame(value),
}
_READ: dict[str, Callable] = {
    each.name: _BY_TYPE[each.type] for each in fields(ChainCertificate) if each.name not in ("ranges", "clip")
}
"""What a report says of a chain under the names of its certificate, but where."""


# In words


def range_words(frames: Range, short: bool = False) -> str:
    """A range of frames, in words; short: for a button."""
    first, last = frames
    if first == last:
        return f"{first}"
    return f"{first}-{last}" if short and first >= 0 else f"{first} to {last}"


def heading(certificate: Certificate) -> str:
    """What was done: "Baked frames 1 to 40"."""
    frames = "frame" if certificate.first == certificate.last else "frames"
    step = certificate.step
    ending = "th" if step % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(step % 10, "th")
    every = f", every {step}{ending}" if step > 1 else ""
    where = range_words((certificate.first, certificate.last))
    return f"{'Baked' if certificate.baked else 'Checked'} {frames} {where}{every}"


def verdict_on_targets(certificate: Certificate) -> tuple[bool, str]:
    """Whether all chains met their targets, and a sentence that says so or why not."""
    chains = [chain for chain in certificate.chains if chain.frames]
    if not chains:
        return False, messages.NONE_SWITCHED_ON()
    missing = [chain for chain in chains if chain.misses]
    if not missing:
        if len(chains) > 2:
            return True, messages.ALL_MEET(count=len(chains))
        return True, messages.BOTH_MEET() if len(chains) == 2 else messages.CHAIN_MEETS()
    reasons = [(what, sum(kind in chain.ranges for chain in missing)) for kind, what in MISSES.items()]
    held = sum(not any(kind in chain.ranges for kind in MISSES) for chain in missing)
    reasons.append(("short by softness or influence", held))
    far = max(chain.max_error / (chain.length or 1.0) for chain in missing)
    is_gap = UNSEEN < far <= APART and all(
        MISSES.keys() & chain.ranges.keys() == {"unreached_frames"} for chain in missing
    )
    as_captured = messages.AS_CAPTURED(part=far) if is_gap else ""
    if len(chains) == 1:
        return False, messages.CHAIN_MISSES(why=" and ".join(what for what, count in reasons if count) + as_captured)
    why = ", ".join(f"{count} {what}" for what, count in reasons if count).replace("its limits", "limits") + as_captured
    met = len(chains) - len(missing)
    if met == 1:
        return False, messages.ONE_MEETS(count=len(chains), why=why)
    return False, messages.SOME_MEET(met=met, count=len(chains), why=why)


def verdict_on_bends(certificate: Certificate) -> tuple[bool, str] | None:
    """Whether no bend flips, and a sentence that says so or how many do; None without a chain."""
    if not certificate.chains:
        return None
    flipping = sum(chain.flips for chain in certificate.chains)
    close = [chain.ranges.keys() & BENDS.keys() for chain in certificate.chains if not chain.flips]
    count, nearly = sum(map(bool, close)), ""
    if count:
        why = " or ".join(what for kind, what in BENDS.items() if any(kind in kinds for kinds in close))
        nearly = messages.CLOSE_TO_POP(chains=messages.CHAINS(count=count), why=why)
    if flipping:
        return False, messages.FLIPS(chains=messages.CHAINS(count=flipping), close=nearly)
    return True, messages.NO_FLIP(close=nearly)


def verdicts_on_feet(certificate: Certificate) -> list[tuple[bool, str]]:
    """Whether feet stand, and a sentence that says so or for each fault whose they are; none without a clip check."""
    feet = certificate.feet
    found = {message: [foot.bone for foot in feet if foot.has(fault)] for fault, (_, message) in FOOT_FAULTS.items()}
    found[messages.FEET_WITHOUT_CONTACT] = [foot.bone for foot in feet if not foot.contacts]
    faults = [(False, message(bones=messages.few(bones))) for message, bones in found.items() if bones]
    return faults or ([(True, messages.FEET_STAND())] if feet else [])


def verdict_on_clips(certificates: Sequence[Certificate]) -> tuple[bool, str]:
    """Whether all clips are sound, and a sentence that says so or how many are not."""
    faulty = sum(not certificate.is_sound for certificate in certificates)
    if not faulty:
        return True, messages.CLIPS_SOUND(count=len(certificates))
    words = messages.ONE_CLIP_FAULTY if faulty == 1 else messages.CLIPS_FAULTY
    return False, words(**({} if faulty == 1 else {"faulty": faulty}), count=len(certificates))


def faults_words(certificate: Certificate) -> str:
    """What is wrong in a clip, in a few words for a row: the worst of chains first, then feet; "": nothing."""
    kinds = [kind for kind in (*MISSES, "flipped_frames") if any(kind in chain.ranges for chain in certificate.chains)]
    faults = [fault for fault in FOOT_FAULTS if any(foot.has(fault) for foot in certificate.feet)]
    words = [SHORT[each] for each in (*kinds, *faults)]
    if any(not foot.contacts for foot in certificate.feet):
        words.append("no contact")
    if certificate.engine:
        words.append("engine")
    if not words and not certificate.is_sound:
        words.append("misses" if any(chain.frames for chain in certificate.chains) else "switched off")
    return ", ".join(words)


def first_miss(certificate: Certificate) -> tuple[ChainCertificate, int] | None:
    """The chain that misses its target first, and at which frame; None if none does."""
    found = [
        (chain.ranges[kind][0][0], chain) for chain in certificate.chains for kind in MISSES if kind in chain.ranges
    ]
    if not found:
        return None
    frame, chain = min(found, key=lambda miss: (miss[0], miss[1].bone))
    return chain, frame


# As plain text

_COLUMNS: list[tuple[str, Callable[[ChainCertificate], str]]] = [
    ("armature", lambda chain: chain.armature),
    ("bone", lambda chain: chain.bone),
    ("bones", lambda chain: f"{chain.chain_count}"),
    ("solver", lambda chain: chain.solver),
    ("frames", lambda chain: f"{chain.frames}"),
    ("max error", lambda chain: f"{chain.max_error:.3g}" if chain.frames else "-"),
    ("at", lambda chain: _or_dash(chain.worst_frame)),
    ("mean error", lambda chain: f"{chain.mean_error:.3g}" if chain.frames else "-"),
    ("max rotation", lambda chain: f"{chain.max_step_degrees:.1f}°" if chain.frames else "-"),
    ("at", lambda chain: _or_dash(chain.max_step_frame)),
    ("keys", lambda chain: f"{chain.keys}"),
]


_FootRow = tuple[FootCertificate, str, dict[str, float]]
"""A leg, and figures of its source ("before") or of the clip itself ("after")."""


def _in_world(name: str) -> Callable[[_FootRow], str]:
    return lambda row: f"{row[0].length * row[2][name]:.3g}"


_FOOT_COLUMNS: list[tuple[str, Callable[[_FootRow], str]]] = [
    ("armature", lambda row: row[0].armature),
    ("bone", lambda row: row[0].bone),
    ("clip", lambda row: row[1]),
    ("contacts", lambda row: f"{row[0].contacts}"),
    ("slide", _in_world("slide")),
    ("speed", _in_world("skating_speed")),
    ("skating", lambda row: f"{row[2]['skating']:.0%}"),
    ("float", _in_world("floating")),
    ("sink", _in_world("sunken")),
    ("tiptoe", lambda row: f"{row[2]['tiptoe']:.0%}"),
    ("knee pops", lambda row: f"{row[2]['knee_pops']:.0f}"),
]
_OF_FEET = (
    "Slide is how far heel or ball moves in one contact, speed how fast: in world units and seconds.",
    "Skating is the share of frames whose toe is low and faster than 0.24 leg lengths a second.",
    "Float is the mean height over the ground in contact, sink the largest depth.",
    "Tiptoe is the share of frames in contact whose heel is high.",
)
FIRST_WORDS = "Analytic IK, "
"""How a certificate as text begins."""
_WORDS = {"armature", "bone", "solver", "clip"}
"""Columns of words stand to the left; numbers to the right, so that they can be compared."""


def certificate_text(report: dict) -> str:
    """A report, or what an armature keeps of it, as plain text to paste into a message. Lengths in world units."""
    blender = f"Blender {report['blender']}" if "blender" in report else ""
    entries = report.get("files") or report.get("clips") or [report]
    return "\n\n".join(_file_text(entry, blender) for entry in entries) + "\n"


def _file_text(file: dict, blender: str) -> str:
    name = PurePath(file["file"]).name if file["file"] else "unsaved file"
    clip = messages.CLIP(clip=file["clip"]) if file.get("clip") else ""
    from_where = ", ".join(filter(None, (name, clip, blender)))
    if file.get("error"):
        return _page([FIRST_WORDS + from_where, file["error"]])
    if file["frames"] is None:
        # Nothing was measured: it was rigged, or left as it is.
        return _page(filter(None, (FIRST_WORDS + from_where, file.get("left_out"))))
    certificate = certificate_of(file)
    lines = [
        FIRST_WORDS + from_where,
        f"{heading(certificate)} in {certificate.seconds:.2f} s",
        *(f"{'[ok]' if good else '[!!]'} {sentence}" for good, sentence in certificate.verdicts),
    ]
    if certificate.chains or not certificate.feet:
        lines += [
            "",
            *_table(certificate.worst_first, _COLUMNS),
            "",
            *(line for chain in certificate.worst_first for line in _notes(chain)),
            "Errors are distances from tip to target in world units.",
            "Max rotation is the largest turn of a bone from one frame to the next.",
        ]
    if certificate.feet:
        clips = [
            (foot, when, figures)
            for foot in certificate.feet
            for when, figures in (("before", foot.before), ("after", foot.after))
            if figures
        ]
        lines += ["", *_table(clips, _FOOT_COLUMNS), "", *_OF_FEET]
    return _page(lines)


def _page(lines: Iterable[str]) -> str:
    return "\n".join(map(messages.one_line, lines))


_Row = TypeVar("_Row")


def _table(entries: Sequence[_Row], columns: Sequence[tuple[str, Callable[[_Row], str]]]) -> Iterable[str]:
    rows = [
        [title for title, _ in columns],
        *([messages.one_line(cell(entry)) for _, cell in columns] for entry in entries),
    ]
    widths = [max(len(row[k]) for row in rows) for k in range(len(columns))]
    for row in rows:
        cells = (
            text.ljust(width) if title in _WORDS else text.rjust(width)
            for text, width, (title, _) in zip(row, widths, columns, strict=True)
        )
        yield "  ".join(cells).rstrip()


def _notes(chain: ChainCertificate) -> Iterable[str]:
    if not chain.frames:
        yield messages.RESULT_OFF(bone=chain.bone)
    for kind, ranges in chain.ranges.items():
        where = ", ".join(range_words(each) for each in ranges)
        yield from wrap(f"{chain.bone}: {TROUBLES[kind]} at {where}", _WIDTH, subsequent_indent="    ")
    if chain.max_lag:
        yield f"{chain.bone}: up to {chain.max_lag:.3g} short by softness"


def _or_dash(number: int | None) -> str:
    return "-" if number is None else f"{number}"
