"""The reference's tables of settings: each property that users may set, with the range and the default that it has."""

import re
from math import degrees
from pathlib import Path

import bpy
import pytest

REFERENCE = Path(__file__).parents[2] / "docs" / "reference.md"
PREFIX = "analytic_ik_"
# In another table, with its own path.
ELSEWHERE = {"analytic_ik_show_overlay"}

NUMBER = r"(-?[\d.]+)(°?)"


def rows(text):
    """Of the tables with a data path: {path: (setting, range, default)}."""
    found = {}
    for line in text.splitlines():
        match = re.fullmatch(rf"\| (.+?) \| (.+?) \| (.+?) \| `({PREFIX}\w+)` \|", line)
        if match:
            setting, values, default, path = match.groups()
            found[path] = re.sub(r"\[(.+?)\]\(.+?\)", r"\1", setting), values, default
    return found


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
        for own in bpy.types.PoseBone.bl_rna.properties
        if own.identifier.startswith(PREFIX) and not own.is_hidden
    }


def test_every_setting_of_a_bone_has_its_row(properties):
    assert rows(REFERENCE.read_text()).keys() == properties.keys() - ELSEWHERE


def test_every_row_has_the_range_and_the_default(properties):
    wrong = {
        path: unlike(properties[path], values, default)
        for path, (_, values, default) in rows(REFERENCE.read_text()).items()
        if properties[path].type != "ENUM"
    }
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
