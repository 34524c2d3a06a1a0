"""Alternating rounds: contenders take turns in one process, so that a slow spell of the machine meets them all."""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from statistics import median


def medians(contenders: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Median of what each contender measured, over `rounds` turns; each measures itself and returns seconds."""
    measured: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, measure in contenders.items():
            measured[name].append(measure())
    return {name: median(values) for name, values in measured.items()}


def options(description: str | None) -> argparse.Namespace:
    """The command line that all benchmarks share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each contender (default 5)")
    return parser.parse_args()


def show(rows: Iterable[Mapping[str, object]], as_json: bool) -> None:
    """Print rows that have the same keys as a Markdown table, or as JSON."""
    rows = list(rows)
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    names = list(rows[0])
    print("| " + " | ".join(names) + " |")
    print("|" + " --- |" * len(names))
    for row in rows:
        cells = (f"{value:.3g}" if isinstance(value, float) else str(value) for value in row.values())
        print("| " + " | ".join(cells) + " |")
