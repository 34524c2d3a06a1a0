"""Reports in files: written as they grow, read again to go on from there, and merged."""

import argparse
import json
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from time import monotonic

from .. import messages
from ..bake.certificate import certificate_of, certificate_text
from ..bake.report import SCHEMA, whole_report
from ..solvers import ChainError
from .console import complain, say_sum, written
from .files import output_of, text_of
from .options import why_not_replaced

_INTERVAL = 5.0
"""Seconds between two times that a report is written; more where writing it takes more than a twentieth of them."""


_LONGEST_REPORT = 2_000_000_000
"""Bytes of it."""
_LEVELS = 20
"""Lists and objects in one another; a report has half as many."""


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
            self._is_written = write_report(whole_report(self.entries), self._report, None)
            self._next = monotonic() + max(_INTERVAL, 20.0 * (monotonic() - begin))

    @property
    def entries(self) -> list[dict]:
        """All that are there."""
        return [entry for _, entries in sorted(self._entries.items()) for entry in entries]

    def write(self) -> bool:
        """Write the report and the certificate that the options ask for; True if that went well."""
        return write_report(whole_report(self.entries), self._report, self._certificate)


def write_report(report: dict, path: Path | None, certificate: Path | None) -> bool:
    """Write a report, and its certificate as text; True if that went well, else it is said on stderr."""
    well = [path is None or _written(path, "report", lambda: json.dumps(report, indent=1, allow_nan=False))]
    well.append(certificate is None or _written(certificate, "certificate", lambda: certificate_text(report).rstrip()))
    return all(well)


def _written(path: Path, kind: str, text: Callable[[], str]) -> bool:
    # Once more: it may have been hours since it was looked whether that may be replaced.
    refusal = why_not_replaced(path, kind)
    if refusal is not None:
        complain(f"--{kind}", refusal)
    return refusal is None and written(path, text())


def read_report(path: Path) -> dict:
    """A report from a file. Raises ChainError, with the reason, if it cannot be read or is none.

    All numbers in it are finite, so that it can be written again, and what was measured can be read as a certificate.
    """
    try:
        text = text_of(path, _LONGEST_REPORT) or b""
        report = json.loads(text.decode("utf-8"), parse_float=_finite, parse_constant=_finite)
        is_known = report["schema"] == SCHEMA
        if not isinstance(report["blender"], str) or not _is_shallow(report, _LEVELS):
            raise TypeError(path)
        for entry in report["files"] if is_known else ():
            _check_entry(entry)
    except OSError as error:
        raise ChainError(messages.UNREADABLE(reason=error.strerror or error)) from error
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ChainError(messages.NOT_A_REPORT()) from error
    if not is_known:
        raise ChainError(messages.OTHER_SCHEMA(schema=report["schema"], known=SCHEMA))
    return report


def _finite(text: str) -> float:
    """A number. Raises ValueError for NaN, Infinity and 1e999, which JSON has not."""
    value = float(text)
    if not isfinite(value):
        raise ValueError(text)
    return value


def _is_shallow(value: object, levels: int) -> bool:
    """Whether so many lists and objects at most are in one another: what is deeper could be read and not written."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return inner is None or (levels > 0 and all(_is_shallow(each, levels - 1) for each in inner))


def _check_entry(entry: dict) -> None:
    """Raise an error of Python's, which one does not matter, if an entry of a report is none."""
    texts = entry["file"], entry["error"] or "", entry.get("left_out", ""), entry.get("clip", "")
    if not all(isinstance(text, str) for text in texts) or not isinstance(entry["chains"], list):
        raise TypeError(entry)
    if not entry["error"] and entry["frames"] is not None:
        certificate_of(entry)


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
    if not merged:
        # A report of an earlier merge is worth more than one of nothing.
        complain("merge", messages.NOTHING_TO_MERGE())
        return 1
    say_sum(merged)
    well &= write_report(
        {"schema": SCHEMA, "blender": ", ".join(sorted(versions)), "files": merged}, options.report, options.certificate
    )
    return int(not well or any(entry["error"] for entry in merged))


def _by_file(report: dict) -> dict[str, list[dict]]:
    found: dict[str, list[dict]] = {}
    for entry in report["files"]:
        found.setdefault(entry["file"], []).append(entry)
    return found
