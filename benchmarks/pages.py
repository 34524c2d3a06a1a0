"""Tables of the documents that scripts write: each is between two comments, the first of which has its command."""

from collections.abc import Iterable, Sequence
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, printed row by row."""
    lines = [f"| {' | '.join(titles)} |", f"|{' --- |' * len(titles)}"]
    print(*lines, sep="\n", flush=True)
    for row in rows:
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def written(text: str, name: str, made: str) -> str:
    """A document with another table between the two comments of this name; SystemExit where these are missing."""
    before, begin, rest = text.partition(f"<!-- {name}: written by ")
    command, close, rest = rest.partition(" -->")
    _, end, after = rest.partition(f"<!-- end of {name} -->")
    if not (begin and close and end):
        raise SystemExit(f"There is no place for {name!r}: <!-- {name}: written by … --> <!-- end of {name} -->")
    return f"{before}{begin}{command}{close}\n\n{made.strip()}\n\n{end}{after}"


def write(page: str, tables: dict[str, str]) -> None:
    """Write tables, by their names, to a page of docs."""
    path = DOCS / page
    text = path.read_text(encoding="utf-8")
    for name, made in tables.items():
        text = written(text, name, made)
    path.write_text(text, encoding="utf-8")
