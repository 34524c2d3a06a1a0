"""What all of the interface shares: registering the classes of a file, and lengths in the units of a scene."""

import sys
from collections.abc import Callable, Iterable

import bpy


def registration_of(module: str) -> tuple[Callable[[], None], Callable[[], None]]:
    """Register, and unregister, the classes that a module defines, in its order.

    Only those whose names Blender shows begin so; what they share is not registered.
    """

    def own() -> list[type]:
        found = [each for each in vars(sys.modules[module]).values() if isinstance(each, type)]
        return [each for each in found if each.__module__ == module and each.__name__.startswith("ANALYTIC_IK_")]

    def register() -> None:
        for each in own():
            bpy.utils.register_class(each)

    def unregister() -> None:
        for each in reversed(own()):
            bpy.utils.unregister_class(each)

    return register, unregister


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
