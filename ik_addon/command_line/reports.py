"""Reports in files: written as they grow, read again to go on from there, and merged."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from time import monotonic

from .. import messages
from ..bake.certificate import certificate_text
from ..bake.report import SCHEMA, whole_report
from ..solvers import ChainError
from .files import output_of
from .saying import complain, say_sum, written

_INTERVAL = 5.0
"""Seconds between two times that a report is written; more where writing it takes more than a twentieth of them."""


class Ledger:
    """The entries of files, in the order of these, whichever comes first; and the report of them.

    entries: of some files, by their places in the list, that are there from the beginning.
    """

    def __init__(self, options: argparse.Namespace, entries: Mapping[int, list[dict]]) -> None:
        self._entries = dict(entries)
        self._report, self._certificate = options.report, options.certificate
        self._next = monotonic() + _INTERVAL
        self._is_written = True

    def add(self, index: int, entries: list[dict]) -> None:
        """The entries of one file; the report is written if that was long ago."""
        self._entries[index] = entries
        begin = monotonic()
        if self._report and self._is_written and begin >= self._next:
            self._is_written = written(self._report, json.dumps(self.report(), indent=1))
            self._next = monotonic() + max(_INTERVAL, 20.0 * (monotonic() - begin))

    @property
    def entries(self) -> list[dict]:
        """All that are there."""
        return [entry for _, entries in sorted(self._entries.items()) for entry in entries]

    def report(self) -> dict:
        """The report of them."""
        return whole_report(self.entries)

    def write(self) -> bool:
        """Write the report and the certificate that the options ask for; True if that went well."""
        return write_report(self.report(), self._report, self._certificate)


def write_report(report: dict, path: Path | None, certificate: Path | None) -> bool:
    """Write a report, and its certificate as text; True if that went well, else it is said on stderr."""
    well = [path is None or written(path, json.dumps(report, indent=1))]
    well.append(certificate is None or written(certificate, certificate_text(report).rstrip()))
    return all(well)


def read_report(path: Path) -> dict:
    """A report from a file. Raises ChainError, with the reason, if it cannot be read or is none."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        is_known = report["schema"] == SCHEMA
        entries = [(entry["file"], entry["error"], entry["chains"], entry["frames"]) for entry in report["files"]]
        if not all(isinstance(name, str) for name in (report["blender"], *(entry[0] for entry in entries))):
            raise TypeError(path)
    except OSError as error:
        raise ChainError(messages.UNREADABLE(reason=error.strerror or error)) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ChainError(messages.NOT_A_REPORT()) from error
    if not is_known:
        raise ChainError(messages.OTHER_SCHEMA(schema=report["schema"], known=SCHEMA))
    return report


def entries_kept(options: argparse.Namespace) -> dict[int, list[dict]]:
    """With --resume the entries of files that are done, by their places in the list; raises ChainError as above.

    Done is a file of which the report has no error, and whose output is there and not older than the file.
    """
    if not options.resume or not options.report.exists():
        return {}
    known = _by_file(read_report(options.report))
    return {
        index: known[str(file)]
        for index, file in enumerate(options.files)
        if str(file) in known
        and not any(entry["error"] for entry in known[str(file)])
        and (options.command == "check" or _is_up_to_date(output_of(file, options), file))
    }


def _is_up_to_date(output: Path, file: Path) -> bool:
    try:
        return output.stat().st_mtime_ns >= file.stat().st_mtime_ns
    except OSError:
        return False


def merge(options: argparse.Namespace) -> int:
    """Make one report of several; returns the exit status. Of a file that several have, the last one counts."""
    reports, well = [], True
    for path in options.files:
        try:
            reports.append(read_report(path))
        except ChainError as error:
            complain(path, error)
            well = False
    entries: dict[str, list[dict]] = {}
    versions = {report["blender"] for report in reports}
    for report in reports:
        of_report = {"blender": report["blender"]} if len(versions) > 1 else {}
        entries |= {file: [of_report | entry for entry in own] for file, own in _by_file(report).items()}
    merged = [entry for own in entries.values() for entry in own]
    say_sum(merged)
    well &= write_report(
        {"schema": SCHEMA, "blender": ", ".join(sorted(versions)), "files": merged}, options.report, options.certificate
    )
    return int(not well or any(entry["error"] for entry in merged))


def _by_file(report: dict) -> dict[str, list[dict]]:
    """The entries of each file."""
    found: dict[str, list[dict]] = {}
    for entry in report["files"]:
        found.setdefault(entry["file"], []).append(entry)
    return found
