"""Tables of the documents that scripts write: each is between two comments, the first of which has its command."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import bpy

DOCS = Path(__file__).parents[1] / "docs"


@dataclass(frozen=True)
class Page:
    """A page of docs. is_written: else tables are only printed; is_part: what is not measured now stays there;
    how: with what it is measured."""

    name: str
    is_written: bool
    is_part: bool = False
    how: str = ""

    def keep(self, place: str, titles: Sequence[str], rows: Iterable[Sequence[str]], keys: int = 1) -> None:
        """Print a table row by row, each of which is in its place at once: so a run that is cut off keeps what it has
        measured. keys: how many cells tell rows apart."""
        head = _head(titles)
        print(*head, sep="\n", flush=True)
        made: dict[tuple[str, ...], str] = {}
        for row in rows:
            made[tuple(row[:keys])] = _line(row)
            print(_line(row), flush=True)
            if self.is_written:
                self._put(place, head, self._before(place, head, keys) | made)
        if not self.is_part:
            self._put(place, head, made)

    def _before(self, place: str, head: list[str], keys: int) -> dict[tuple[str, ...], str]:
        """The rows that are in a place, by their first cells; none if they have other columns."""
        lines = [line for line in _between(self._text, place)[1].splitlines() if line.startswith("|")]
        cells = {line: tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in lines[2:]}
        return {each[:keys]: line for line, each in cells.items()} if lines[:2] == head else {}

    def _put(self, place: str, head: list[str], rows: dict[tuple[str, ...], str]) -> None:
        self.put(place, "\n".join((*head, *rows.values())))

    def put(self, place: str, made: str) -> None:
        """Write Markdown to a place, and below it when and with which Blender it was measured."""
        if not self.is_written:
            return
        first = re.search(r"^Blender .*?(\d{4}-\d\d-\d\d)", _between(self._text, place)[1], re.MULTILINE)
        today = date.today().isoformat()
        since = f"{first[1]} to " if self.is_part and first and first[1] != today else ""
        said = f"Blender {bpy.app.version_string}, {since}{today}{self.how and f', {self.how}'}."
        (DOCS / self.name).write_text(written(self._text, place, f"{made.strip()}\n\n{said}"), encoding="utf-8")

    @property
    def _text(self) -> str:
        return (DOCS / self.name).read_text(encoding="utf-8")


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, printed row by row."""
    lines = _head(titles)
    print(*lines, sep="\n", flush=True)
    for row in rows:
        lines.append(_line(row))
        print(lines[-1], flush=True)
    return "\n".join(lines)


def rows_of(page: str, place: str) -> list[dict[str, str]]:
    """The rows of a table that is in a place, by the titles of its columns."""
    lines = _between((DOCS / page).read_text(encoding="utf-8"), place)[1].splitlines()
    titles, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|"))
    return [dict(zip(titles, row, strict=True)) for row in rows]


def _head(titles: Sequence[str]) -> list[str]:
    return [_line(titles), f"|{' --- |' * len(titles)}"]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _between(text: str, place: str) -> tuple[str, str, str]:
    """What is before a place, in it and after it, with the comments outside; SystemExit where these are missing."""
    before, begin, rest = text.partition(f"<!-- {place}: written by ")
    command, close, rest = rest.partition(" -->")
    inside, end, after = rest.partition(f"<!-- end of {place} -->")
    if not (begin and close and end):
        raise SystemExit(f"There is no place for {place!r}: <!-- {place}: written by … --> <!-- end of {place} -->")
    return before + begin + command + close, inside, end + after


def written(text: str, place: str, made: str) -> str:
    """A document with something else in a place."""
    before, _, after = _between(text, place)
    return f"{before}\n\n{made.strip()}\n\n{after}"
