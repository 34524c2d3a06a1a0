"""The classes of a file that Blender is to know."""

import sys
from collections.abc import Callable

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
