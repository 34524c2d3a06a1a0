"""Files by where they are: whether two paths lead to one file, also where there is none yet."""

import os
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from .saving import ignores_case


class KnownPaths:
    """Paths, each with what it is. Links are followed, and capitals make no difference where the folder says so."""

    def __init__(self) -> None:
        self._folders: dict[Path, str] = {}
        self._alike: dict[str, list[tuple[str, str]]] = {}
        self._nodes: dict[tuple[int, int], str] = {}

    def add(self, path: Path, what: str) -> None:
        """Add a path, which need not exist. Of two that lead to one file the first counts."""
        place, node = self._look(path)
        self._alike.setdefault(_folded(place), []).append((place, what))
        if node is not None:
            self._nodes.setdefault(node, what)

    def at(self, path: Path, hard_links: bool = True) -> str | None:
        """What is at a path; None if nothing is. hard_links: whether two names of the same data are one file."""
        place, node = self._look(path)
        for other, what in self._alike.get(_folded(place), ()):
            if place == other or ignores_case(Path(place).parent):
                return what
        return self._nodes.get(node) if hard_links and node is not None else None

    def _look(self, path: Path) -> tuple[str, tuple[int, int] | None]:
        """Where a path leads, and what tells its data from that of other files; None if there is none."""
        folder = path.parent
        if folder not in self._folders:
            # Many files are in few folders, and each link on the way to one is a question to the disk.
            self._folders[folder] = os.path.realpath(folder)
        place = os.path.join(self._folders[folder], path.name)
        if path.name in ("", os.pardir) or os.path.islink(place):
            place = os.path.realpath(path)
        try:
            found = os.stat(place)
        except OSError:
            return place, None
        return place, (found.st_dev, found.st_ino)


def first_doubled(paths: Iterable[Path]) -> tuple[int, int] | None:
    """The indices of the first two paths that lead to one file; None if no two do."""
    places = KnownPaths()
    for k, path in enumerate(paths):
        other = places.at(path, hard_links=False)
        if other is not None:
            return int(other), k
        places.add(path, str(k))
    return None


def _folded(place: str) -> str:
    return unicodedata.normalize("NFC", place).casefold()
