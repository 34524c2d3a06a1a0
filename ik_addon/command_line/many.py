"""Options of commands that take many files: where these are listed, and who works on them."""

import argparse
import os
import re
from pathlib import Path

from .. import messages
from ..bake.reading import text_of

_LINES = re.compile(r"([1-9]\d*)-([1-9]\d*)$")
_LONGEST_LIST = 100_000_000
"""Bytes of a list of files."""
_OF_RUN = {
    *("files", "files_from", "lines", "report", "certificate", "resume"),
    *("jobs", "cluster", "tries", "time_limit", "usage_error"),
}
"""Options of the run as a whole, which no worker needs."""
_PATHS = {"output", "output_dir"}
DEFAULTS = {"files_from": None, "lines": None, "resume": False, "jobs": None, "cluster": None}
"""What these options are for commands that do not have them."""


def many_options() -> argparse.ArgumentParser:
    """The options, as a parent for the parsers of commands."""
    parser = argparse.ArgumentParser(add_help=False)
    many = parser.add_argument_group("many files")
    many.add_argument("--files-from", metavar="LIST", help="text file with a path on each line, -: standard input")
    many.add_argument("--lines", type=_lines, metavar="A-B", help="first and last line of LIST")
    many.add_argument(
        "--resume", action="store_true", help="leave out what --report lists without an error, if its output is there"
    )
    where = many.add_mutually_exclusive_group()
    where.add_argument("--jobs", type=_jobs, metavar="N", help="worker processes on this machine, or auto")
    where.add_argument("--cluster", metavar="ADDRESS", help="Dask scheduler, or the file that it wrote")
    many.add_argument(
        "--tries", type=_tries, metavar="K", help="attempts at a file on which the worker process crashes (default: 2)"
    )
    many.add_argument(
        "--time-limit", type=_seconds, metavar="S", help="seconds after which a worker process is ended (default: none)"
    )
    return parser


def read_list(options: argparse.Namespace) -> None:
    """Put the files of --files-from into `options.files`. Exits as argparse does if they make no sense.

    Paths are relative to the current folder. Empty lines name no file, and count for --lines.
    """
    if options.files_from is None:
        if options.lines:
            options.usage_error(messages.LINES_OF_LIST())
        return
    if options.files:
        options.usage_error(messages.FILES_AND_LIST())
    try:
        content = text_of(None if options.files_from == "-" else Path(options.files_from), _LONGEST_LIST)
    except OSError as error:
        reason = error.strerror or error
        options.usage_error(messages.OF(whose=options.files_from, said=messages.UNREADABLE(reason=reason)))
    if content is None:
        said = messages.NOT_A_LIST(most=_LONGEST_LIST // 1_000_000)
        options.usage_error(messages.OF(whose=options.files_from, said=said))
    # A name need not be UTF-8.
    lines = [os.fsdecode(line.strip()) for line in content.removeprefix(b"\xef\xbb\xbf").splitlines()]
    options.files = [Path(line) for line in lines if line]
    first, last = options.lines or (1, len(lines))
    if first > len(lines) and options.lines:
        options.usage_error(messages.LIST_ENDS(path=options.files_from, count=len(lines), first=first, last=last))
    before = sum(map(bool, lines[: first - 1]))
    options.lines = before, before + sum(map(bool, lines[first - 1 : last]))


def take_lines(options: argparse.Namespace) -> None:
    """Leave of the files, once all are checked, those that --lines names."""
    if options.lines:
        options.files = options.files[slice(*options.lines)]


def check_run(options: argparse.Namespace) -> None:
    """Exit as argparse does if these options do not go together."""
    if options.resume and options.report is None:
        options.usage_error(messages.RESUME_WITHOUT_REPORT())
    if options.jobs is None and options.cluster is None:
        for name in ("tries", "time_limit"):
            if getattr(options, name, None) is not None:
                options.usage_error(messages.FOR_WORKERS(option=f"--{name.replace('_', '-')}"))
    if options.cluster is not None:
        for name in ("in_place", "output"):
            if getattr(options, name, None):
                options.usage_error(messages.NOT_ON_CLUSTER(option=f"--{name.replace('_', '-')}"))


def to_request(file: Path, options: argparse.Namespace) -> dict:
    """What a worker is told, fit for JSON. On a cluster paths are absolute: its workers have other current folders."""
    path = str if options.cluster is None else os.path.abspath
    given = {name: value for name, value in vars(options).items() if name not in _OF_RUN}
    paths = {name: path(given[name]) for name in _PATHS & given.keys() if given[name] is not None}
    return {"file": path(file), "options": given | paths}


def from_request(request: dict) -> tuple[Path, argparse.Namespace]:
    """The file and the options of `to_request`."""
    given = request["options"]
    paths = {name: Path(given[name]) for name in _PATHS & given.keys() if given[name] is not None}
    return Path(request["file"]), argparse.Namespace(**given | paths)


def _lines(text: str) -> tuple[int, int]:
    match = _LINES.match(text)
    if match is None or int(match[1]) > int(match[2]):
        raise argparse.ArgumentTypeError(messages.NO_LINES(text=text))
    return int(match[1]), int(match[2])


def _jobs(text: str) -> int:
    """A number of processes; 0 for as many as suit the machine."""
    if text.lower() == "auto":
        return 0
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(messages.NO_JOBS(text=text))
    return int(text)


def _tries(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(messages.NO_TRIES(text=text))
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 1e6:
        raise argparse.ArgumentTypeError(messages.NO_SECONDS(text=text))
    return value
