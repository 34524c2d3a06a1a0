"""What documents are checked for: words that plain American English does without, and sentences that are too long."""

import re

LONGEST_SENTENCE = 25
"""Words, in the README and the tutorial."""

INSTEAD = {
    r"anew": "again",
    r"likewise": "also",
    r"besides": "also, other than",
    r"shall": "must, will, should",
    r"at present": "now",
    r"the present (?:action|frame|pose|one)": "the current …",
    r"all the same": "still",
    r"in vain": "without success",
    r"quick(?:er|est|ly)?": "fast, short",
    r"nearer": "closer",
    r"cur(?:e|es|ed|ing)": "fix",
    r"the house": "the architecture, the code",
    r"goes by": "follows",
    r"(?:take|takes|took|taken) (?:it|them|the \w+) off|takes off": "remove",
    r"puts? (?:it|them) on|puts on": "add",
    r"not any more": "no longer",
    r"wish(?:ed|es)?": "target, want",
    r"whither": "where",
    r"whence": "from where",
    r"said of": "about",
    r"towards": "toward",
    r"afterwards": "afterward",
    r"backwards": "backward",
    r"forwards": "forward",
    r"colours?|coloured": "color",
    r"centres?|centred": "center",
    r"behaviours?": "behavior",
    r"metres?|millimetres?|centimetres?": "meter",
    r"licences?": "license",
    r"recognis\w+": "recogniz…",
    r"grey": "gray",
    r"neighbour\w*": "neighbor",
    r"flip radar": "pop detection",
    r"hangs? on|hangs together": "is parented to, depends on",
}
"""A pattern of what is not written, in any case, and what is written instead."""

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_WORD = re.compile(r"[^\W_](?:[\w'.:/-]*\w)?")


def prose(text: str) -> str:
    """A Markdown text without code, formulas, comments and the places of links, on the same lines."""

    def blank(match: re.Match) -> str:
        return "\n" * match[0].count("\n") or "x"

    for pattern in (_FENCE, _COMMENT, _FORMULA, _CODE):
        text = pattern.sub(blank, text)
    return _LINK.sub(r"\1", text)


def unwanted_words(text: str) -> list[str]:
    """Each word that is not written, with its line and what to write."""
    found = []
    for number, line in enumerate(prose(text).splitlines(), 1):
        for pattern, instead in INSTEAD.items():
            for match in re.finditer(rf"(?<![\w-])(?:{pattern})(?![\w-])", line, re.IGNORECASE):
                found.append(f"line {number}: {match[0]!r}; write: {instead}")
    return found


def sentences(text: str) -> list[str]:
    """The sentences of a Markdown text: of paragraphs, points of a list, and cells of a table."""
    blocks: list[str] = []
    for line in [*prose(text).splitlines(), ""]:
        bare = line.strip()
        if bare.startswith("|"):
            blocks += [*bare.strip("|").split("|"), ""]
        elif not bare or bare.startswith("#") or re.match(r"([-*]|\d+\.) ", bare):
            blocks += ["", re.sub(r"^(#+|[-*]|\d+\.) ", "", bare)]
        elif blocks:
            blocks[-1] = f"{blocks[-1]} {bare}"
        else:
            blocks.append(bare)
    return [
        sentence.strip()
        for block in blocks
        for sentence in re.split(r"(?<=[.!?])[*_)\"]*\s+(?=[*_(\"]*[^\W_])", block)
        if sentence.strip()
    ]


def long_sentences(text: str) -> list[str]:
    """The sentences of more than LONGEST_SENTENCE words."""
    return [s for s in sentences(text) if len(_WORD.findall(s)) > LONGEST_SENTENCE]


def long_paragraphs(text: str, most: int = 5) -> list[str]:
    """The first words of paragraphs of more lines than `most`."""
    paragraphs = re.split(r"\n\s*\n", prose(text))
    return [
        paragraph.strip()[:60]
        for paragraph in paragraphs
        if not re.match(r"\s*([-*|#]|\d+\.)", paragraph) and len(paragraph.strip().splitlines()) > most
    ]
