"""What a worker is told, fit for JSON: a file, and the options that are about it."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from secrets import token_hex

from ..bake.saving import remove_unfinished
from ..command_line.files import output_of

_OF_RUN = {
    *("files", "files_from", "lines", "report", "certificate", "resume"),
    *("jobs", "cluster", "tries", "usage_error"),
}
"""Options of the run as a whole, which no worker needs."""
_PATHS = {"output", "output_dir"}


def to_requests(files: Sequence[Path], options: argparse.Namespace) -> list[dict]:
    """A request for each file. On a cluster paths are absolute: its workers have other current folders.

    All of them have one mark, for names of files that are not finished, and each the folder that it is saved to.
    """
    path = str if options.cluster is None else os.path.abspath
    mark = token_hex(8)
    given = {name: value for name, value in vars(options).items() if name not in _OF_RUN}
    paths = {name: path(given[name]) for name in _PATHS & given.keys() if given[name] is not None}
    return [
        {"file": path(file), "options": given | paths, "mark": mark, "folder": _folder(file, options)} for file in files
    ]


def remove_leftovers(requests: Sequence[dict]) -> None:
    """Remove what processes that were killed have left of files that they were saving."""
    folders = {request["folder"] for request in requests} - {None}
    for mark in {request["mark"] for request in requests}:
        remove_unfinished(mark, folders)


def _folder(file: Path, options: argparse.Namespace) -> str | None:
    return None if options.command == "check" else str(output_of(file, options).resolve().parent)


def from_request(request: dict) -> tuple[Path, argparse.Namespace]:
    """The file and the options of a request."""
    given = request["options"]
    paths = {name: Path(given[name]) for name in _PATHS & given.keys() if given[name] is not None}
    return Path(request["file"]), argparse.Namespace(**given | paths)
