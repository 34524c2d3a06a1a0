"""Right click > Online Manual: where the reference describes each setting and operator."""

import tomllib
from functools import cache
from pathlib import Path

import bpy

_MANIFEST = Path(__file__).parents[3] / "blender_manifest.toml"
_PAGE = "reference/"
_SETTINGS = {
    "enabled": "the-chains-switch",
    "influence": "influence",
    "use_rotation": "follow-rotation",
    "foot_roll": "foot-roll",
    "toe_angle": "roll-break-angle",
    "target": "target-and-pole-target",
    "subtarget": "target-and-pole-target",
    "pole_*": "target-and-pole-target",
    "end_bone": "end-bone",
    "chain_count": "chain-length",
    "reach": "out-of-reach",
    "stretch_max": "out-of-reach",
    "swivel": "swivel",
    "flip": "flip-bend",
    "straight_axis": "bend-axis",
    "softness": "softness",
    "least_motion": "preserve-fk-shape",
    "solver": "solver",
    "*min_bend": "min-bend",
    "*cone": "max-bend",
    "rigid": "rigid",
    "*overlay": "overlay",
    "*": "settings-of-a-chain",
}
"""Headings of the reference, by the names of properties without their prefix."""
_OPERATORS = {
    "add": "making-chains",
    "rig_legs": "making-chains",
    "remove": "removing-a-chain",
    "limit_knees": "limit-to-hinge",
    "swivel": "swivel",
    "switch_*": "fkik",
    "snap_*": "fkik",
    "adopt": "blenders-ik",
    "restore": "blenders-ik",
    "make_*": "make-native",
    "bake": "bake",
    "check": "bake",
    "*": "panels",
}
"""The same by operators. The first pattern that fits counts."""


@cache
def _website() -> str:
    """The address of the project as the manifest has it; "": none."""
    try:
        return tomllib.loads(_MANIFEST.read_text(encoding="utf-8")).get("website", "")
    except (OSError, tomllib.TOMLDecodeError):
        # Without it the menu has no entry, and nothing else is missing.
        return ""


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """What Blender asks for: where the manual is, and which part of it describes what."""
    places = [
        *((f"bpy.types.*.analytic_ik_{name}", heading) for name, heading in _SETTINGS.items()),
        *((f"bpy.ops.analytic_ik.{name}", heading) for name, heading in _OPERATORS.items()),
    ]
    return _website(), tuple((name, f"{_PAGE}#{heading}") for name, heading in places) if _website() else ()


def register() -> None:
    """Let Blender ask."""
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    """Let it ask no more."""
    bpy.utils.unregister_manual_map(manual_map)
