"""Lengths in the units of a scene."""

import bpy

_LEAST = 1e-6
"""Metres."""


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
