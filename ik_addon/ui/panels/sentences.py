"""Sentences and lengths as a panel shows them."""

from textwrap import wrap

import bpy

_POINTS_PER_CHARACTER = 6.5
_INDENT = 8
"""Characters that icon and margins take."""
_LEAST = 1e-6
"""Metres."""
_FEWEST = 16
"""Characters in a line, however narrow the sidebar."""


def draw_sentence(layout: bpy.types.UILayout, context: bpy.types.Context, sentence: str, icon: str) -> None:
    """A sentence broken into lines that fit the region; labels do not wrap by themselves."""
    scale = context.preferences.system.ui_scale
    characters = max(_FEWEST, int(context.region.width / (_POINTS_PER_CHARACTER * scale)) - _INDENT)
    column = layout.column(align=True)
    column.scale_y = 0.8
    for k, line in enumerate(wrap(sentence, characters)):
        column.label(text=line, icon="BLANK1" if k and icon != "NONE" else icon)


def length_words(scene: bpy.types.Scene, length_world: float) -> str:
    """A length in the units that the scene shows."""
    units = scene.unit_settings
    if units.system == "NONE":
        return f"{length_world:.3g}"
    shown = length_world * units.scale_length
    # Blender would write a shorter one as nothing at all.
    less = "< " if 0.0 < shown < _LEAST else ""
    return (
        less
        + bpy.utils.units.to_string(
            units.system, "LENGTH", max(shown, _LEAST) if less else shown, precision=3, split_unit=units.use_separate
        ).strip()
    )
