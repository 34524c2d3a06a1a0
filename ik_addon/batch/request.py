"""What a worker is told, fit for JSON: a file, and the options that are about it."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

_OF_RUN = {
    *("files", "files_from", "lines", "report", "certificate", "resume"),
    *("jobs", "cluster", "tries", "time_limit", "usage_error"),
}
"""Options of the run as a whole, which no worker needs."""
_PATHS = {"output", "output_dir"}


def to_requests(files: Sequence[Path], options: argparse.Namespace) -> list[dict]:
    """A request for each file. On a cluster paths are absolute: its workers have other current folders."""
    path = str if options.cluster is None else os.path.abspath
    given = {name: value for name, value in vars(options).items() if name not in _OF_RUN}
    paths = {name: path(given[name]) for name in _PATHS & given.keys() if given[name] is not None}
    return [{"file": path(file), "options": given | paths} for file in files]


def from_request(request: dict) -> tuple[Path, argparse.Namespace]:
    """The file and the options of a request."""
    given = request["options"]
    paths = {name: Path(given[name]) for name in _PATHS & given.keys() if given[name] is not None}
    return Path(request["file"]), argparse.Namespace(**given | paths)
