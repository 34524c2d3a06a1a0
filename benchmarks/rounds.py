"""Alternating rounds: contenders take turns in one process, so that a slow spell of the machine meets them all."""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from itertools import chain
from statistics import median
from time import perf_counter, process_time
from typing import Protocol

import bpy

import ik_addon

from . import pages

NEWEST = (5, 2)
"""Of the supported Blenders."""


class Row(Protocol):
    """A line of a table, to be measured."""

    name: str

    def measured(self, rounds: int) -> dict[str, object]:
        """What the line says, after so many rounds."""


class _Clock:
    """Seconds, of the clock on the wall, or of all processors that this process has used."""

    is_of_processors = False

    def __str__(self) -> str:
        return "of processors" if self.is_of_processors else "on the wall"

    def __call__(self) -> float:
        return process_time() if self.is_of_processors else perf_counter()


clock = _Clock()


def turns(contenders: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """What each contender measured in each of `rounds` turns; each measures itself and returns seconds."""
    measured: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, measure in contenders.items():
            measured[name].append(measure())
    return measured


def medians(contenders: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Median of what each contender measured, over `rounds` turns."""
    return {name: median(values) for name, values in turns(contenders, rounds).items()}


def ratio(of: Sequence[float], to: Sequence[float]) -> float:
    """Median over the rounds of the quotient within a round."""
    return median(one / other for one, other in zip(of, to, strict=True))


def options(description: str | None, named_rows: bool = False) -> argparse.Namespace:
    """The command line that all benchmarks share; named_rows: with --rows."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each contender (default 5)")
    if named_rows:
        parser.add_argument(
            "--rows",
            type=re.compile,
            default=re.compile(""),
            metavar="PATTERN",
            help="only rows whose name holds this expression",
        )
    return parsed(parser)


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The command line, with how to measure and what to do with the table."""
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    parser.add_argument(
        "--cpu", action="store_true", help="count the time of all processors: for a machine that others use as well"
    )
    chosen = parser.parse_args()
    clock.is_of_processors = chosen.cpu
    return chosen


def run(description: str | None, rows: Sequence[Row], place: str, keys: int = 1) -> None:
    """Measure the rows that the command line asks for, show them, and end the process.

    place: that of their table in docs/performance.md, in which rows are told apart by so many cells; with an older
    Blender its version is part of the name.
    """
    chosen = options(description, named_rows=True)
    page = pages.Page("performance.md", chosen.write, bool(chosen.rows.pattern), f"time {clock}")
    if bpy.app.version < NEWEST:
        place += ", Blender {}.{}".format(*bpy.app.version)
    ik_addon.register()
    measured = (row.measured(chosen.rounds) for row in rows if chosen.rows.search(row.name))
    show(measured, chosen.json, _heading(chosen.rounds), page, place, keys)
    ik_addon.unregister()
    sys.stdout.flush()
    # Older Blenders crash or hang at Python's ordinary exit.
    os._exit(0)


_ONLY_PRINTED = pages.Page("", is_written=False)


def show(
    rows: Iterable[Mapping[str, object]],
    as_json: bool,
    head: Mapping[str, object] | None = None,
    page: pages.Page = _ONLY_PRINTED,
    place: str = "",
    keys: int = 1,
) -> None:
    """Print rows that have the same keys as a Markdown table, or as JSON, while they are measured; head: what holds for
    all of them; page, place, keys: where the table is kept."""
    rows = _quietly(rows)
    if as_json:
        print(json.dumps({**head, "rows": [*rows]} if head else [*rows], indent=1))
        return
    if head:
        print(", ".join(f"{name} {value}" for name, value in head.items()), end="\n\n")
    first = next(rows, None)
    if first:
        cells = ([_cell(value) for value in row.values()] for row in chain([first], rows))
        page.keep(place, [*first], cells, keys)


def _quietly(rows: Iterable[Mapping[str, object]]) -> Iterator[Mapping[str, object]]:
    """Rows; what operators print of themselves while one is measured is no part of the table."""
    rows = iter(rows)
    while True:
        with redirect_stdout(sys.stderr):
            row = next(rows, None)
        if row is None:
            return
        yield row


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _heading(rounds: int) -> dict[str, object]:
    """What a table was measured on: Blender, cores that this process may use, rounds."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"Blender": bpy.app.version_string, "cores": cores, "rounds": rounds, "time": str(clock)}
