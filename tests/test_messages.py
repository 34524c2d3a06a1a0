"""The messages: all in one file, each with the name of its thing and the cure, and each met by some test.

Where messages are used is read off the sources, as in test_house.py. What the whole suite has met is known at its end:
every_message.py.
"""

import ast
import re
from collections import Counter
from string import Formatter

import pytest

from ik_addon import messages
from ik_addon.messages import Clause, Counted, Done, Message, Note, Part, Refusal

from .every_message import MESSAGES
from .helpers.sources import add_on_sources, nodes_of

# What a user hears: what it is given must come from the list.
SPEAKING = {"report", "poll_message_set", "usage_error", "draw_sentence", "Problem", "of", "error", "print"}
# They are for who calls a function wrongly, or for the function itself: no user meets them.
UNSAID = {"TypeError", "ValueError", "KeyError", "NotImplementedError", "AttributeError"}
# Text of so many words is a sentence ...
SENTENCE = 4
# ... and stands nowhere else, but where interface and documents describe things.
DESCRIBING = {"name", "description", "items", "help"}
DESCRIBED_IN = {
    "solvers/limits.py",  # what a number is called
    "rig/data/settings.py",  # items of properties
    "bake/__init__.py",  # items of properties
    "planting/feet/options.py",  # items of properties
    "ui/operators/feet.py",  # items of properties
    "ui/operators/keys.py",  # items of properties
    "ui/operators/polls.py",  # items of properties
    "ui/operators/travel.py",  # items of properties
    "ui/operators/certificates.py",  # what each button does
    "ui/view/swivel.py",  # keys in the status bar
    "authoring/finding/names.py",  # words in bones' names
    "bake/certificate.py",  # the certificate as a page
}

# Refusals without a field or a name before them, and what they are about.
OF_NOBODY = {
    "NO_ARMATURE": "the active object",
    "NO_POSE_MODE": "the mode",
    "NO_CHARACTER": "the active object",
    "NO_FRAMES": "the frames",
    "CLIPS_HAVE_FRAMES": "the frames",
    "NO_VIEW": "the window",
    "NO_GROUND": "the ground",
    "TOO_FEW_FRAMES": "the range",
    "AT_WORK": "the add-on itself",
    "RENDERING": "the render",
    "INTERFACE_LOCKED_ALREADY": "the interface",
    "KEYS_EDITED": "the keys that the sentence before it names",
}


@pytest.fixture(autouse=True)
def _nothing_here_counts(request, said_messages):
    """What is said here for trial is not said by a test of what the add-on does."""
    before = Counter(said_messages)
    yield
    said_messages.clear()
    said_messages.update(before)


# The list is complete


def complaints(sources, known):
    """What in *sources*, {path: text}, is said without the list *known* of messages, or against it."""
    used = set()
    for path, text in sources.items():
        described = set(descriptions(text))
        for node in nodes_of(text):
            at = f"{path}:{getattr(node, 'lineno', '')}"
            if isinstance(node, ast.Call) and speaks(node):
                for literal in filter(is_text, inside(node)):
                    yield f"{at} says {words_of(literal)!r}, which is not in messages.py"
            if path not in DESCRIBED_IN and is_sentence(node) and node not in described:
                yield f"{at} has the sentence {words_of(node)!r}; it belongs in messages.py"
            if is_message(node):
                used.add(node.attr)
                if node.attr not in known:
                    yield f"{at} uses {node.attr}, which messages.py has not"
            if isinstance(node, ast.Call) and is_message(node.func) and node.func.attr in known:
                given = {keyword.arg for keyword in node.keywords}
                if node.args or (None not in given and given != known[node.func.attr].fields):
                    yield f"{at} gives {node.func.attr} {sorted(map(str, given))}"
    for name in sorted(known.keys() - used):
        yield f"{name} is said nowhere"


def speaks(call):
    name = ast.unparse(call.func).rpartition(".")[2]
    return name in SPEAKING or (name.endswith("Error") and name not in UNSAID)


def inside(call):
    """All that a call is given, but what other calls in it are given."""
    waiting = [*call.args, *(keyword.value for keyword in call.keywords)]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.Call | ast.JoinedStr):
            waiting += ast.iter_child_nodes(node)


def is_text(node):
    """Text that is put together in place, or has words; the names of kinds and icons are single words."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
    )


def is_sentence(node):
    # The words of a label have capitals.
    return is_text(node) and len(re.findall(r"(?<!\S)[a-z]+(?=[,;:.]?(\s|$))", words_of(node))) >= SENTENCE


def words_of(node):
    if isinstance(node, ast.Constant):
        return node.value
    return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)


def is_message(node):
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) == "messages" and node.attr.isupper()


def descriptions(text):
    """Docstrings, what describes properties and arguments, annotations; and the parts of text, for the whole counts."""
    for node in nodes_of(text):
        if isinstance(node, ast.Expr):
            yield node.value
        elif isinstance(node, ast.keyword) and node.arg in DESCRIBING:
            yield from ast.walk(node.value)
        elif isinstance(node, ast.AnnAssign | ast.arg) and node.annotation:
            yield from () if isinstance(node.annotation, ast.Call) else ast.walk(node.annotation)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith("bl_"):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield from node.values


def test_every_message_stands_in_the_list_and_is_used():
    sources = {path: text for path, text in add_on_sources().items() if path != "messages.py"}
    assert list(complaints(sources, MESSAGES)) == []


KNOWN = {"LONG": Refusal("Bone '{bone}' is too long. Shorten it."), "DONE": Done("Done")}
TIDY = {
    "rig/model/limb.py": "'A docstring of quite a few words.'\nraise ChainError(messages.LONG(bone=b), 'KIND')",
    "ui/panel.py": "FloatProperty(description='By how much the knee turns')\nself.report({'INFO'}, messages.DONE())",
}


def test_a_tidy_source_gives_no_complaint():
    assert list(complaints(TIDY, KNOWN)) == []


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("raise ChainError('it broke; mend it')", "says 'it broke; mend it'"),
        ("raise ChainError(f'{bone}broke')", "says '{}broke'"),
        ("raise _BoneLimitError('it ' + 'broke')", "says 'it '"),
        ("raise FileNotFoundError('no file')", "says 'no file'"),
        ("raise LimitError(k, 'its cone is wide')", "says 'its cone is wide'"),
        ("self.report({'ERROR'}, f'{name}')", "says '{}'"),
        ("cls.poll_message_set('no bone' if x else '')", "says 'no bone'"),
        ("Problem(f'Bone {bone}')", "says 'Bone {}'"),
        ("raise error.of(f'Bone {bone}')", "says 'Bone {}'"),
        ("draw_sentence(layout, context, 'Go away', 'ERROR')", "says 'Go away'"),
        ("print(f'{file}: {why}')", "says '{}: {}'"),
        ("def f(): return 'the chain does not arrive'", "has the sentence"),
        ("def f(): return f'{a} and {b} share these bones'", "has the sentence"),
        ("messages.SHORT()", "SHORT, which messages.py has not"),
        ("messages.LONG()", "gives LONG []"),
        ("messages.LONG(bone=b, cure=c)", "gives LONG ['bone', 'cure']"),
        ("messages.DONE('now')", "gives DONE []"),
    ],
)
def test_each_way_round_the_list_is_found(line, complaint):
    found = list(complaints(TIDY | {"bake/keys.py": line}, KNOWN))
    assert any(complaint in each for each in found), found


def test_a_message_that_nobody_says_is_found():
    assert list(complaints(TIDY, KNOWN | {"OTHER": Note("Other")})) == ["OTHER is said nowhere"]


def test_no_two_messages_say_the_same():
    told = Counter(re.sub(r"\{\w+", "{", message.words) for message in MESSAGES.values())
    assert [words for words, count in told.items() if count > 1] == []


# Each names its thing and its cure


def refusals():
    return [pytest.param(name, message, id=name) for name, message in MESSAGES.items() if isinstance(message, Refusal)]


@pytest.mark.parametrize(("name", "message"), refusals())
def test_a_refusal_names_the_thing_and_the_cure(name, message):
    wrong, _, fix = message.words.partition("\n")[0].rpartition(". ")
    assert (wrong and fix) or "refusal" in message.fields, "What is wrong. What to do."
    assert fix.endswith(".") or "refusal" in message.fields, "two sentences with full stops"
    assert ";" not in message.words
    assert fix[0].isupper() or "refusal" in message.fields
    if not isinstance(message, Clause):
        assert (not message.fields) == (name in OF_NOBODY), "whom is it about?"


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_begins_as_it_is_used(name):
    """A clause or a part goes on where another text has begun, so it has a small letter; all else begins a line."""
    message = MESSAGES[name]
    assert type(message) is not Message, "of which kind is it?"
    first = message.words[0]
    if isinstance(message, Clause) or (
        isinstance(message, Part) and name not in ("BONE", "ARMATURE", "OBJECT", "FRAME", "CLIP")
    ):
        assert first in "{'-,;." or not first.isupper() or message.words.startswith(("Blender ", "Blender's "))
    else:
        assert first in "{1" or first.isupper()


# Counts

NEVER_ONE = {
    # Another message says it of one.
    "CLIPS_FAULTY",
    "ALL_MEET",
    # Several armatures that were selected.
    "RIGGED_ARMATURES",
    # Only several clips are judged together.
    "CLIPS_SOUND",
    "ONE_CLIP_FAULTY",
    # Of one there is nothing to say: three controls at least, a chain that lacks a bone, several lines or chains.
    "TOO_MANY_CONTROLS",
    "TOO_FEW_BONES",
    "COPIED",
    "ONE_MEETS",
    "SOME_MEET",
    # Four at least.
    "MANY_BONES",
}


def test_a_plural_never_stands_beside_a_count_of_one():
    plural = re.compile(r"\{(count|wanted|met|frames|given)\} (of|(more |other )?\w+s\b)")
    several = {name for name, message in MESSAGES.items() if plural.search(message.words)}
    assert {name for name in several if not isinstance(MESSAGES[name], Counted)} == NEVER_ONE


# What is filled in stays as it is

HOSTILE = [
    "plain",
    "O'Neill's \"left\" arm",
    "back\\slash\\n",
    "{0} {bone} {{}} {",
    "100 % %s %(bone)s",
    "足.L",
    "нога",
    "ساق",
    "e\u0301\u200d🦵",
    "line\nbreak",
    "",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_pass_through_unharmed(name):
    for message in MESSAGES.values():
        parts = [*Formatter().parse(message.words)]
        names = {field for _, field, form, _ in parts if field and not form}
        numbers = {field: 0.5 for _, field, form, _ in parts if field and form}
        assert names.isdisjoint(numbers)
        expected = "".join(
            text + ("" if field is None else name if field in names else format(0.5, form))
            for text, field, form, _ in parts
        )
        assert message(**dict.fromkeys(names, name), **numbers) == expected
        assert all(conversion is None for *_, conversion in parts), "repr() writes backslashes and quotes otherwise"


@pytest.mark.parametrize("given", [{}, {"bone": "shin", "cure": "rest"}, {"tip": "shin"}])
def test_another_field_than_its_own_is_an_error(given):
    with pytest.raises(TypeError, match="Bone"):
        KNOWN["LONG"](**given)


def test_names_in_a_row_are_quoted():
    assert messages.quoted(["shin", "it's"]) == "'shin', 'it's'"
    assert messages.quoted([]) == ""
