"""Which files a run may write: checked before anything is opened, so that no file of a user is lost.

What a run reads is replaced by --in-place alone. Else an output takes the place of a file of its own format, a report
that of a report and a certificate that of a certificate, and none of them is written through a link.
"""

import argparse
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from .. import messages
from ..bake.certificate import FIRST_WORDS
from ..bake.formats import SUFFIXES, check_replaceable
from ..bake.places import KnownPaths, first_doubled
from ..bake.reading import beginning
from .files import is_in_place

_REPORT = re.compile(rb'\s*\{\s*"schema":\s*\d+,\s*"blender":\s*"(?:[^"\\]|\\.)*",\s*"files":\s*\[')
"""How a report begins. It may be too long to be read for this."""
_BEGINNING = 4096
"""Bytes of it."""


def check_outputs(options: argparse.Namespace, outputs: Sequence[Path]) -> None:
    """Exit as argparse does if outputs would replace each other or what is read. outputs: of each file."""
    doubled = first_doubled(outputs)
    if doubled is not None:
        first, second = (options.files[k] for k in doubled)
        options.usage_error(messages.SAME_OUTPUT(first=first, second=second, output=outputs[doubled[1]]))
    if options.output_dir is not None:
        _check_folder(options)
    if is_in_place(options):
        return
    refusal = messages.OUTPUT_NEEDS_IN_PLACE if hasattr(options, "in_place") else messages.OUTPUT_IS_READ
    read = _places_read(options)
    for output in outputs:
        what = read.at(output)
        if what is not None:
            options.usage_error(refusal(output=output, what=what))


def check_replaced(options: argparse.Namespace, outputs: Sequence[Path]) -> None:
    """Exit as argparse does if what is at the place of an output cannot be an earlier one."""
    for output in () if is_in_place(options) else outputs:
        try:
            check_replaceable(output)
        except OSError as error:
            is_said = error.strerror is None
            options.usage_error(error if is_said else messages.NOT_WRITTEN(path=output, reason=error.strerror))


def check_texts(options: argparse.Namespace, outputs: Sequence[Path]) -> None:
    """Exit as argparse does if the report or the certificate would replace anything but an earlier one."""
    taken = _places_read(options)
    for output in outputs:
        taken.add(output, messages.AN_OUTPUT())
    for option, path in _texts(options):
        if _is_stream(path):
            continue
        what = taken.at(path)
        if what is not None:
            options.usage_error(messages.TEXT_IS_TAKEN(option=option, path=path, what=what))
        if path.suffix.lower() in SUFFIXES:
            options.usage_error(messages.TEXT_HAS_SUFFIX(option=option, path=path))
        refusal = why_not_replaced(path, option.removeprefix("--"))
        if refusal is not None:
            options.usage_error(refusal)
        taken.add(path, option)


def why_not_replaced(path: Path, kind: str) -> str | None:
    """Why a text may not be written to a path, and what to do; None if it may. kind: "report" or "certificate"."""
    if _is_stream(path):
        # It is written to, and not replaced.
        return None
    if os.path.islink(path):
        return messages.IS_A_LINK(path=path)
    if not os.path.exists(path):
        return None
    if not os.path.isfile(path):
        return messages.NO_PLACE_FOR_A_FILE(path=path)
    try:
        start = beginning(path, _BEGINNING)
    except OSError as error:
        return messages.OF(whose=path, said=messages.UNREADABLE(reason=error.strerror or error))
    is_own = _REPORT.match(start) if kind == "report" else start.startswith(FIRST_WORDS.encode())
    return None if is_own or not start else messages.OTHER_TEXT_THERE(path=path, kind=kind)


def _texts(options: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    for name in ("report", "certificate"):
        path = getattr(options, name)
        if path is not None:
            yield f"--{name}", path


def _places_read(options: argparse.Namespace) -> KnownPaths:
    """All files that the run reads, each with what it is."""
    places = KnownPaths()
    for file in options.files:
        places.add(file, messages.AN_INPUT())
    listed = getattr(options, "files_from", None)
    if listed not in (None, "-"):
        places.add(Path(listed), messages.THE_LIST())
    return places


def _check_folder(options: argparse.Namespace) -> None:
    """Exit as argparse does if --output-dir is a file, or in one."""
    folder = Path(os.path.abspath(options.output_dir))
    there = next(each for each in (folder, *folder.parents) if os.path.lexists(each) or each == Path(each.anchor))
    if not there.is_dir():
        options.usage_error(messages.NOT_A_FOLDER(folder=there))


def _is_stream(path: Path) -> bool:
    """Whether a path leads to a terminal, a pipe or the like."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
