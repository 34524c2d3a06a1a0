"""Files that are worked on: in this process, or in others if whoever runs the command has them."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from .. import messages
from ..bake.stopping import Stopped
from .many import is_for_workers
from .saying import complain

Process = Callable[[Path, argparse.Namespace], list[dict]]
"""Works on one file, says what there is to say, and returns its entries in the report."""

Entries = Iterator[tuple[int, list[dict]]]
"""The entries of each file, as (index, entries), when they are there."""

Workers = Callable[[Sequence[Path], argparse.Namespace], Entries]
"""Has files worked on in other processes, and says what there is to say; raises as `worked_on`."""


class NoClusterError(Exception):
    """There is no cluster to work on; nothing was begun."""


def worked_on(files: Sequence[Path], options: argparse.Namespace, process: Process, workers: Workers | None) -> Entries:
    """The entries of each file. workers: None where there are none.

    Raises Stopped if somebody asks to stop, after the entries of what was stopped; NoClusterError if there is none.
    """
    if workers is not None and is_for_workers(options):
        return workers(files, options)
    return _here(files, options, process)


def failed(file: Path, error: Exception | str) -> dict:
    """Say what stopped a file; returns its entry in the report."""
    return {"file": str(file), "frames": None, "seconds": 0.0, "chains": [], "error": complain(file, error)}


def _here(files: Sequence[Path], options: argparse.Namespace, process: Process) -> Entries:
    for index, file in enumerate(files):
        try:
            entries = process(file, options)
        except Stopped:
            yield index, [failed(file, messages.STOPPED())]
            raise
        yield index, entries
