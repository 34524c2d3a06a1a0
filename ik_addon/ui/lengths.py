"""Lengths in the units of a scene."""

from collections.abc import Iterable

import bpy

_LEAST = 1e-6
"""Meters."""
_ROUNDING = 1e-5
"""Part of a leg by which feet that stand still slide where Blender computes with seven digits."""


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


def slides_words(scene: bpy.types.Scene, slides: Iterable[float], length: float) -> str:
    """How far feet slide before and after, in the units that the scene shows; what is rounding is nothing.

    length: of the leg, in world units as the slides are.
    """
    seen = (slide if slide > _ROUNDING * length else 0.0 for slide in slides)
    return " → ".join(length_words(scene, slide) for slide in seen)
