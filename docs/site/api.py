"""The add-on's properties and operators as Markdown, read off the classes that it registers.

python docs/site/api.py > api.md     with Blender as a module
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from math import degrees
from pathlib import Path

os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.mkdtemp(prefix="analytic-ik-api-"))

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import ik_addon

PREFIX = "analytic_ik"
OWNERS = {
    "PoseBone": "A chain, on its tip bone, and the limits of any bone",
    "Scene": "A scene",
    "Object": "An armature object",
}
"""Types that have properties of the add-on, and what they stand for; others are shown by their own names."""
LARGEST = 1e30
"""Blender's number for no limit, and above."""

Property = bpy.types.Property


def properties() -> Iterator[tuple[str, list[Property]]]:
    """Each type with properties of the add-on that users and scripts may set."""
    for name in sorted(dir(bpy.types)):
        rna = getattr(getattr(bpy.types, name), "bl_rna", None)
        # What a subclass inherits is shown where it comes from.
        inherited = {own.identifier for own in rna.base.properties} if rna is not None and rna.base else set()
        shown = [
            own
            for own in (rna.properties if rna is not None else ())
            if own.identifier.startswith(PREFIX) and own.identifier not in inherited and not own.is_hidden
        ]
        if shown:
            yield name, shown


def operators() -> Iterator[tuple[str, bpy.types.Struct]]:
    """Each operator of the add-on, by the name under which Python calls it."""
    for name in sorted(dir(getattr(bpy.ops, PREFIX))):
        yield f"bpy.ops.{PREFIX}.{name}", getattr(getattr(bpy.ops, PREFIX), name).get_rna_type()


def kind_of(own: Property) -> str:
    """What type of value a property takes."""
    if own.type == "POINTER":
        return own.fixed_type.identifier
    if own.type == "FLOAT" and own.subtype == "ANGLE":
        return "angle"
    size = getattr(own, "array_length", 0)
    words = {"BOOLEAN": "bool", "INT": "int", "FLOAT": "float", "STRING": "string", "ENUM": "enum"}
    return words.get(own.type, own.type.lower()) + (f"[{size}]" if size else "")


def range_of(own: Property) -> str:
    """The values that a property may have."""
    if own.type == "ENUM":
        return ", ".join(f"`{item.identifier}` ({item.name})" for item in own.enum_items)
    if own.type not in ("INT", "FLOAT"):
        return ""
    low, high = own.hard_min, own.hard_max
    largest = 2**31 - 1 if own.type == "INT" else LARGEST
    if low <= -largest and high >= largest:
        return "any"
    if high >= largest:
        return f"{number(own, low)} or more"
    return f"{number(own, low)} to {number(own, high)}"


def default_of(own: Property) -> str:
    """The value that a property has at first."""
    if own.type == "ENUM":
        return f"`{own.default}`" if own.default else ""
    if own.type in ("INT", "FLOAT") and not getattr(own, "array_length", 0):
        return number(own, own.default)
    if own.type == "BOOLEAN":
        return str(own.default)
    if own.type == "STRING":
        return f"`{own.default!r}`"
    return "None" if own.type == "POINTER" else ""


def number(own: Property, value: float) -> str:
    """A number as users see it; angles in degrees."""
    angle = own.type == "FLOAT" and own.subtype == "ANGLE"
    return f"{degrees(value):.4g}°" if angle else f"{value:.4g}"


def cell(text: str) -> str:
    """Text that fits into a table: bars and line breaks would end the cell."""
    return " ".join(text.split()).replace("|", "\\|")


def row(own: Property, path: str) -> str:
    """One property as a row."""
    cells = (own.name, f"`{path}`", kind_of(own), range_of(own), default_of(own), own.description)
    return "| " + " | ".join(cell(each) for each in cells) + " |"


def table(head: str, rows: list[str]) -> list[str]:
    """Rows under a head."""
    columns = ["name", head, "type", "range", "default", "description"]
    return ["| " + " | ".join(columns) + " |", "| --- " * len(columns) + "|", *rows, ""]


def page() -> str:
    """All of it."""
    lines = ["## Preferences", ""]
    for own in bpy.types.AddonPreferences.__subclasses__():
        if own.__module__.startswith("ik_addon."):
            shown = [each for each in own.bl_rna.properties if each.identifier in own.__annotations__]
            lines += table("name in Python", [row(each, each.identifier) for each in shown])
    lines += ["## Properties", ""]
    for owner, shown in properties():
        lines += [f"### {OWNERS.get(owner, owner)}", "", f"Of `bpy.types.{owner}`.", ""]
        lines += table("data path", [row(own, own.identifier) for own in shown])
    lines += ["## Operators", ""]
    for call, rna in operators():
        lines += [f"### {rna.name}", "", f"`{call}()`", "", cell(rna.description), ""]
        arguments = [own for own in rna.properties if own.identifier != "rna_type" and not own.is_hidden]
        if arguments:
            lines += table("argument", [row(own, own.identifier) for own in arguments])
    return "\n".join(lines)


if __name__ == "__main__":
    ik_addon.register()
    sys.stdout.write(page())
    sys.stdout.flush()
    # With an add-on's callbacks left in it, Blender may crash at a normal end.
    os._exit(0)
