"""Names that a package offers and imports when they are first asked for, so that Blender's start does not."""

from collections.abc import Callable, Mapping
from importlib import import_module


def offered(package: str, files: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package. files: by the names that it offers, the files below it that define them."""

    def find(name: str) -> object:
        if name not in files:
            raise AttributeError(name)
        return getattr(import_module(f"{package}.{files[name]}"), name)

    return find
