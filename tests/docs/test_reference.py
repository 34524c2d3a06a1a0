"""Tables of the reference and the pages beside it: label, range and default of properties, and options of operators."""

import re
from math import degrees
from pathlib import Path

import bpy
import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("reference", "motion_capture", "grab", "giving_away")
PREFIX = "analytic_ik_"
# Described with the operators that read it.
ELSEWHERE = {"analytic_ik_controls"}


def manual():
    """What users look things up in, as one text."""
    return "\n".join((DOCS / f"{page}.md").read_text() for page in PAGES)


NUMBER = r"(-?[\d.]+)(°?)"


def rows(text):
    """Of the tables with a data path: {path: (setting, range, default)}."""
    found = {}
    for line in text.splitlines():
        match = re.fullmatch(rf"\| (.+?) \| (.+?) \| (.+?) \| `(?:bpy\.context\.scene\.)?({PREFIX}\w+)`.* \|", line)
        if match:
            setting, values, default, path = match.groups()
            found[path] = re.sub(r"\[(.+?)\]\(.+?\)", r"\1", setting), values, default
    return found


def labels(text):
    """The labels that the reference states, by property: without what it adds to tell two rows apart."""
    return {path: setting.removesuffix(", the angle") for path, (setting, _, _) in rows(text).items()}


def unlike(own, values, default):
    """In what a property differs from its row; None: in nothing."""
    if own.type == "POINTER":
        return None if (values, default) == ("object", "none") else "an object"
    if own.type == "STRING":
        return None if (values, default) == ("bone name", "empty") else "text"
    if own.type == "BOOLEAN":
        return None if (values, default) == ("on, off", "on" if own.default else "off") else "a switch"
    if own.type == "ENUM":
        names = [item.name for item in own.enum_items]
        shown = own.enum_items[own.default].name
        return None if (values.split(", "), default) == (names, shown) else f"{names}, {shown} at first"
    angle = getattr(own, "subtype", "") == "ANGLE"
    limits = own.hard_min, own.hard_max
    if values in ("any angle", "any number"):
        said = (None, None)
    elif match := re.fullmatch(rf"{NUMBER} to {NUMBER}", values):
        said = float(match[1]), float(match[3])
    elif match := re.fullmatch(rf"{NUMBER} or more", values):
        said = float(match[1]), None
    else:
        return f"from {limits[0]} to {limits[1]}, not {values!r}"
    for number, limit in zip(said, limits, strict=True):
        endless = abs(limit) > 1e9
        if endless != (number is None) or (not endless and abs(as_shown(limit, angle) - number) > 1e-4):
            return f"from {limits[0]} to {limits[1]}"
    if angle != default.endswith("°") or abs(as_shown(own.default, angle) - float(default.rstrip("°"))) > 1e-4:
        return f"{own.default} at first"
    return None


def as_shown(value, angle):
    return degrees(value) if angle else value


@pytest.fixture(scope="module")
def properties(addon):
    return {
        own.identifier: own
        for owner in (bpy.types.PoseBone, bpy.types.Scene)
        for own in owner.bl_rna.properties
        if own.identifier.startswith(PREFIX) and not own.is_hidden
    }


def test_every_setting_has_its_row(properties):
    assert rows(manual()).keys() == properties.keys() - ELSEWHERE


def test_every_row_has_the_label(properties):
    told = labels(manual())
    assert told == {path: properties[path].name for path in told}


def test_every_row_has_the_range_and_the_default(properties):
    wrong = {path: unlike(properties[path], values, default) for path, (_, values, default) in rows(manual()).items()}
    assert {path: why for path, why in wrong.items() if why} == {}


@pytest.mark.parametrize(
    ("path", "values", "default"),
    [
        ("analytic_ik_influence", "0 to 2", "1"),
        ("analytic_ik_influence", "0 to 1", "0.5"),
        ("analytic_ik_influence", "0 or more", "1"),
        ("analytic_ik_swivel", "any angle", "0"),
        ("analytic_ik_toe_angle", "0° to 180°", "40°"),
        ("analytic_ik_flip", "on, off", "on"),
        ("analytic_ik_target", "bone name", "empty"),
        ("analytic_ik_end_bone", "object", "none"),
        ("analytic_ik_solver", "Automatic, CCD", "Automatic"),
    ],
)
def test_a_wrong_row_is_found(properties, path, values, default):
    assert unlike(properties[path], values, default)


# Buttons, and the options of operators


def tables(text, heading):
    """The rows of the tables whose first column has this heading, as lists of cells."""
    found, inside = [], False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[0] == heading:
            inside = True
        elif inside and not line.startswith("| ---"):
            found.append(cells)
    return found


def in_italics(cell):
    return re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", cell)


@pytest.fixture(scope="module")
def operators(addon):
    module = bpy.ops.analytic_ik
    return [getattr(module, name).get_rna_type() for name in dir(module)]


def options_of(operators):
    """The options that operators show: {label: properties}."""
    found = {}
    for own in (own for operator in operators for own in operator.properties if not own.is_hidden):
        found.setdefault(own.name, []).append(own)
    limbs = bpy.types.WindowManager.bl_rna.properties["analytic_ik_limbs"]
    return found | {", ".join(item.name for item in limbs.enum_items): [limbs]}


def unlike_option(names, choices, default, options):
    """In what a row differs from the options with these labels; None: in nothing."""
    found = options.get(", ".join(names)) or [own for name in names for own in options.get(name, [])]
    if len(found) < len(names) and ", ".join(names) not in options:
        return f"{names}: there is no such option"
    # Operators may have options of one label, each with its own row.
    unlike = [_unlike(own, choices, default) for own in found]
    return None if None in unlike else unlike[0]


def _unlike(first, choices, default):
    """In what a row differs from one option; None: in nothing."""
    if first.type == "ENUM":
        items = {item.name for item in first.enum_items}
        told = {name for name in in_italics(choices) if name in items}
        if told and told != items:
            return f"{items}"
        scripts, window = first.enum_items[first.default].name, in_italics(default)[:1]
        return None if window == [scripts] or f"{scripts} for scripts" in default else f"{scripts} at first"
    if first.type == "BOOLEAN":
        value = "on" if first.default else "off"
        return None if re.match(rf"{value}\b", default) or f"{value} for scripts" in default else f"{value} at first"
    if first.type == "FLOAT":
        shown = as_shown(first.default, first.subtype == "ANGLE")
        return None if re.match(rf"{shown:g}\b", default) else f"{shown:g} at first"
    return None


def test_every_button_of_the_reference_is_one(operators):
    names = {operator.name for operator in operators}
    told = [name for cells in tables(manual(), "button") for name in in_italics(cells[0])]
    assert told and set(told) <= names


def test_every_option_of_the_reference_is_one_with_its_choices_and_default(operators):
    options = options_of(operators)
    # What is no property: a list, told in words.
    told = [cells for cells in tables(manual(), "option") if in_italics(cells[0])]
    assert len(told) > 8
    wrong = [unlike_option(in_italics(cells[0]), *cells[1:], options) for cells in told]
    assert [why for why in wrong if why] == []


@pytest.mark.parametrize(
    "row",
    [
        ("*Control*", "*Bones*, *Empties*", "*Bones*; Empties for scripts"),
        ("*Controls*", "*Bones*, *Empties*", "*Bones*"),
        ("*Bake To*", "*Copy of Action*, *New Action*", "*Copy of Action*"),
        ("*Bake To*", "anything", "*New Action*"),
        ("*Selected Chains Only*", "on, off", "on"),
        ("*Use This Bone*", "as it is", "off"),
        ("*Tolerance*", "0 or more", "1"),
    ],
)
def test_a_wrong_option_is_found(operators, row):
    names, choices, default = row
    assert unlike_option(in_italics(names), choices, default, options_of(operators))
