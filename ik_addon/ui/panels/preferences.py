"""The add-on's preferences, and right click > Online Manual."""

import tomllib
from functools import cache
from pathlib import Path

import bpy

from ...rig.data.settings import PREFIX, SETTINGS
from ..base import DEFAULT_TAB, show_in_tab

_MANIFEST = Path(__file__).parents[3] / "blender_manifest.toml"
_SETTINGS = {
    **{name: setting.heading for name, setting in SETTINGS.items() if setting.heading},
    "*overlay": "overlay",
    "*": "settings-of-a-chain",
}
"""Headings of the reference, or of another page, by the names of properties without their prefix."""
_OPERATORS = {
    "add": "making-chains",
    "rig_legs": "making-chains",
    "remove": "removing-a-chain",
    "limit_knees": "limit-to-hinge",
    "grab*": "grab/#grab-a-body",
    "pin": "grab/#pins",
    "plant_*": "motion_capture/#plant-feet",
    "path_from_clip": "motion_capture/#walk-along-a-path",
    "*_correction": "motion_capture/#correct-a-capture",
    "simplify_keys": "motion_capture/#simplify-keys",
    "all_keys": "motion_capture/#simplify-keys",
    "lock_to_object": "motion_capture/#lock-to-object",
    "release": "motion_capture/#lock-to-object",
    "match_source": "motion_capture/#match-source",
    "root_motion": "motion_capture/#root-motion-and-loops",
    "in_place": "motion_capture/#root-motion-and-loops",
    "travel": "motion_capture/#root-motion-and-loops",
    "*_loop": "motion_capture/#root-motion-and-loops",
    "join_clips": "motion_capture/#root-motion-and-loops",
    "swivel": "swivel",
    "switch_*": "fkik",
    "snap_*": "fkik",
    "adopt": "blenders-ik",
    "restore": "blenders-ik",
    "make_*": "giving_away/#make-native",
    "bake_for_export": "giving_away/#bake-for-unreal-unity-or-godot",
    "back_to_live": "giving_away/#bake-for-unreal-unity-or-godot",
    "unmute": "bake",
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
        *((f"bpy.types.*.{PREFIX}{name}", heading) for name, heading in _SETTINGS.items()),
        *((f"bpy.ops.analytic_ik.{name}", heading) for name, heading in _OPERATORS.items()),
    ]
    below = ((name, heading if "/" in heading else f"reference/#{heading}") for name, heading in places)
    return _website(), tuple(below) if _website() else ()


_ADD_ON = __package__.rpartition(".ik_addon")[0] or __package__.partition(".")[0]
"""The name under which Blender knows the add-on."""


def _tab_named(preferences: bpy.types.AddonPreferences, _context: bpy.types.Context) -> None:
    show_in_tab(preferences.sidebar_tab.strip())


class AnalyticIKPreferences(bpy.types.AddonPreferences):
    """What users set once, for all files."""

    bl_idname = _ADD_ON

    sidebar_tab: bpy.props.StringProperty(
        name="Sidebar Tab",
        description="Tab of the 3D view's sidebar that shows the panels",
        default=DEFAULT_TAB,
        update=_tab_named,
    )

    show_reference_solvers: bpy.props.BoolProperty(
        name="Show Reference Solvers",
        description="Show the solver of each chain in its Advanced panel",
    )

    def draw(self, _context: bpy.types.Context) -> None:
        self.layout.prop(self, "sidebar_tab")
        self.layout.prop(self, "show_reference_solvers")


def shows_reference_solvers(context: bpy.types.Context) -> bool:
    """True if the solver of a chain is shown although it is the automatic one."""
    own = context.preferences.addons.get(_ADD_ON)
    return own is not None and own.preferences is not None and own.preferences.show_reference_solvers


def register() -> None:
    """The preferences, which put the panels, registered by now, where they say; and where the Online Manual is."""
    bpy.utils.register_class(AnalyticIKPreferences)
    own = bpy.context.preferences.addons.get(_ADD_ON)
    if own is not None and own.preferences is not None:
        show_in_tab(own.preferences.sidebar_tab.strip())
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    """Take them away; Blender keeps what was set."""
    bpy.utils.unregister_manual_map(manual_map)
    bpy.utils.unregister_class(AnalyticIKPreferences)
