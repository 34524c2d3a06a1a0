"""What users read in the interface: plain American English, in the lengths that Blender's interface has room for."""

import bpy
import pytest

from ik_addon.ui.operators.certificates import BONE_BUTTONS, BUTTONS

from ..docs.words import unwanted_words
from ..every_message import MESSAGES

LONGEST_TOOLTIP = 12
"""Words of its first sentence."""
LONGEST_STATUS = 40
"""Characters."""
FILLED_IN = {"distance": "-1,234.5 cm", "angle": 89.94}
OWNERS = (bpy.types.PoseBone, bpy.types.Object, bpy.types.Scene, bpy.types.WindowManager)


def texts() -> dict[str, str]:
    """All that the interface says, by where it does."""
    found = {f"messages.{name}": message.words for name, message in MESSAGES.items()}
    found |= {f"{where} (name)": name for where, name, _ in named()}
    return found | {f"{where} (tooltip)": tooltip for where, _, tooltip in named()}


def named() -> list[tuple[str, str, str]]:
    """Where it is, name and tooltip of properties, of operators, of their options, and of buttons that fix things."""
    found = [
        (f"{owner.__name__}.{option.identifier}", option.name, option.description)
        for owner in OWNERS
        for option in owner.bl_rna.properties
        if option.identifier.startswith("analytic_ik_") and not option.is_hidden
    ]
    for name in dir(bpy.ops.analytic_ik):
        rna = getattr(bpy.ops.analytic_ik, name).get_rna_type()
        found.append((name, rna.name, rna.description))
        own = (option for option in rna.properties if option.identifier != "rna_type" and not option.is_hidden)
        found += [(f"{name}.{option.identifier}", option.name, option.description) for option in own]
    choices = [
        (f"{where}.{item.identifier}", item.name, item.description)
        for where, *_ in list(found)
        for item in items_of(where)
    ]
    fixes = [(f"fix {kind}", text, tooltip) for kind, (text, _, tooltip) in [*BUTTONS.items(), *BONE_BUTTONS.items()]]
    return [*found, *choices, *fixes]


def items_of(where: str) -> list[bpy.types.EnumPropertyItem]:
    """The choices of a property or an option."""
    owner, _, name = where.partition(".")
    if not name:
        return []
    rna = getattr(bpy.types, owner).bl_rna if hasattr(bpy.types, owner) else None
    rna = rna or getattr(bpy.ops.analytic_ik, owner).get_rna_type()
    return list(getattr(rna.properties[name], "enum_items", ()))


def complaints_about_tooltip(tooltip: str) -> list[str]:
    """What is wrong with a tooltip."""
    first = tooltip.partition(". ")[0]
    found = [] if len(first.split()) <= LONGEST_TOOLTIP else [f"{len(first.split())} words: {first!r}"]
    return [*found, "ends with a period"] if tooltip.endswith(".") else found


def test_all_words_are_plain():
    found = [(where, word) for where, text in texts().items() for word in unwanted_words(text)]
    assert found == []


def test_every_name_has_capitals_and_every_tooltip_is_short():
    found = [(where, why) for where, _, tooltip in named() for why in complaints_about_tooltip(tooltip)]
    assert found == []
    small = {"to", "of", "the", "and", "on", "at", "in", "if", "for", "from"}
    lower = [name for _, name, _ in named() for word in name.split() if word[0].islower() and word not in small]
    assert lower == []


def test_a_status_has_room_in_its_row():
    status = {name: message for name, message in MESSAGES.items() if name.startswith("STATUS_")}
    assert len(status) > 5
    for message in status.values():
        words = message(**{field: FILLED_IN[field] for field in message.fields})
        assert len(words) <= LONGEST_STATUS
        assert not words.endswith(".")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Do it anew", "anew"),
        ("Move it nearer", "nearer"),
        ("The cure", "cure"),
        ("Bends towards the pole", "towards"),
        ("The chain goes by the pole", "goes by"),
    ],
)
def test_an_unwanted_word_is_found(text, word):
    (found,) = unwanted_words(text)
    assert repr(word) in found


@pytest.mark.parametrize(
    ("tooltip", "complaints"),
    [("Bend to the other side", 0), ("Bend to the other side.", 1), ("word " * 13 + "end", 1)],
)
def test_a_bad_tooltip_is_found(tooltip, complaints):
    assert len(complaints_about_tooltip(tooltip)) == complaints
