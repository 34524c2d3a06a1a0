"""Files of a command: where they are listed, where each goes, which curve `--path` means, and who works on them."""

import argparse
import json
import os
import re
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from glob import glob
from math import isfinite
from pathlib import Path
from typing import BinaryIO

import bpy

from .. import messages
from ..bake.formats import BLEND, SUFFIXES, VRM, check_readable, check_replaceable, open_file, write_file
from ..bake.report import bare_entry
from ..bake.saving import Stopped, check_place
from ..planting.scene.path import path_named
from ..planting.scene.plant import Ground
from ..solvers import ChainError
from .console import complain, say


def output_of(file: Path, options: argparse.Namespace) -> Path:
    """Where what is made of a file goes."""
    if options.output_dir is None:
        return options.output or file
    return options.output_dir / (f"{file.stem}.{options.format}" if options.format else file.name)


def is_foreign(path: Path) -> bool:
    """Whether a file is in another format than Blender's own, which keeps no chains and controls."""
    return path.suffix.lower() in SUFFIXES and path.suffix.lower() != BLEND


def opened(file: Path, options: argparse.Namespace) -> tuple[Path, bool]:
    """Open a file, once it is known that what is made of it can be saved: where to, and if it is a compressed .blend.

    Makes the folder that --output-dir names. Raises OSError and RuntimeError as `open_file` does.
    """
    check_readable(file)
    output = output_of(file, options)
    if options.output_dir:
        try:
            options.output_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OSError(messages.NOT_WRITTEN(path=output, reason=error.strerror)) from error
    if not is_in_place(options):
        # Once more: it may have been hours since all were checked.
        check_replaceable(output)
    check_place(output)
    return output, open_file(file)


def save_output(file: Path, output: Path, compressed: bool, frames: range, optimized: bool) -> None:
    """Write what was made of a file, as `write_file` does."""
    write_file(output, compressed, frames, optimized)
    if output.suffix.lower() == VRM:
        say(messages.OF(whose=file, said=messages.VRM_IS_GLTF()))


def is_in_place(options: argparse.Namespace) -> bool:
    """Whether files are saved over."""
    return getattr(options, "in_place", False)


def armatures_of_scene(name: str | None = None) -> list[bpy.types.Object]:
    """The armature objects of the scene, or the one of that name; ChainError where there is none."""
    found = [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE" and name in (None, ob.name)]
    if not found and not name and any(ob.type == "EMPTY" and ob.animation_data for ob in bpy.context.scene.objects):
        raise ChainError(messages.MOTION_WITHOUT_SKIN())
    if not found:
        raise ChainError(messages.NO_ARMATURE_NAMED(armature=name) if name else messages.NO_ARMATURE_IN_SCENE())
    return found


def ground_of(options: argparse.Namespace) -> Ground | None:
    """What the feet stand on, as the options say; None if they say nothing."""
    if options.ground is None:
        return None
    name = options.ground_object
    ob = bpy.context.scene.objects.get(name) if name else None
    if name and ob is None:
        raise ChainError(messages.NO_GROUND_NAMED(object=name))
    return Ground(options.ground, options.height, ob)


def span_of(entries: list[dict]) -> range:
    """The frames from the first of all entries to the last."""
    frames = [entry["frames"] for entry in entries]
    return range(min(each[0] for each in frames), max(each[1] for each in frames) + 1)


_SPAN = re.compile(r"(-?\d+)-(-?\d+)$")
_LONGEST_LIST = 100_000_000
"""Bytes of a list of files."""
_OF_WORKERS = ("jobs", "cluster", "tries")
"""Options for which there must be worker processes."""


def many_options() -> argparse.ArgumentParser:
    """The options, as a parent for the parsers of commands."""
    parser = argparse.ArgumentParser(add_help=False)
    many = parser.add_argument_group("many files")
    many.add_argument("--files-from", metavar="LIST", help="text file with a path on each line, -: standard input")
    many.add_argument(
        "--lines",
        type=_lines,
        metavar="A-B",
        help="first and last line of LIST",
    )
    many.add_argument(
        "--resume", action="store_true", help="leave out what --report lists without an error, if its output is there"
    )
    many.add_argument(
        "--time-limit",
        type=_seconds,
        metavar="S",
        help="seconds after which a file is given up; plant and check keep the clips that are done (default: none)",
    )
    workers = parser.add_argument_group("worker processes", description="Only the Python package has them.")
    workers.add_argument("--jobs", type=_jobs, metavar="N", help="worker processes on this machine, or auto")
    workers.add_argument("--cluster", metavar="ADDRESS", help="Dask scheduler, or the file that it wrote")
    workers.add_argument(
        "--tries",
        type=_tries,
        metavar="K",
        help="attempts at a file on which the worker process crashes (default: 2)",
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
        options.usage_error(messages.BOTH_GIVEN(first="FILE", second="--files-from"))
    try:
        content = text_of(None if options.files_from == "-" else Path(options.files_from), _LONGEST_LIST)
    except OSError as error:
        reason = error.strerror or error
        options.usage_error(messages.OF(whose=options.files_from, said=messages.UNREADABLE(reason=reason)))
    if content is None:
        said = messages.NOT_A_LIST(most=_LONGEST_LIST // 1_000_000)
        options.usage_error(messages.OF(whose=options.files_from, said=said))
    lines = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        try:
            # A name need not be UTF-8, but on Windows.
            lines.append(os.fsdecode(line.strip()))
        except UnicodeDecodeError:
            options.usage_error(messages.OF(whose=options.files_from, said=messages.LIST_NOT_UTF8(line=number)))
    options.files = [Path(line) for line in lines if line]
    first, last = options.lines or (1, len(lines))
    if first > len(lines) and options.lines:
        options.usage_error(messages.LIST_ENDS(path=options.files_from, count=len(lines), first=first, last=last))
    before = sum(map(bool, lines[: first - 1]))
    options.lines = before, before + sum(map(bool, lines[first - 1 : last]))


def matching(file: Path) -> list[Path]:
    """The files that a path with * or ? means, as shells of Windows hand it on; the path itself if that is none."""
    if not {"*", "?"} & set(str(file)) or os.path.lexists(file):
        return [file]
    return sorted(map(Path, glob(str(file).replace("[", "[[]")))) or [file]


def is_for_workers(options: argparse.Namespace) -> bool:
    """Whether other processes are to work on the files."""
    return options.jobs is not None or options.cluster is not None


def check_run(options: argparse.Namespace, has_workers: bool) -> None:
    """Exit as argparse does if these options do not go together, or need worker processes where there are none."""
    if options.resume and options.report is None:
        options.usage_error(messages.RESUME_WITHOUT_REPORT())
    for name in (name for name in _OF_WORKERS if getattr(options, name, None) is not None):
        option = f"--{name.replace('_', '-')}"
        if not has_workers:
            options.usage_error(messages.NO_WORKERS_HERE(option=option))
        if not is_for_workers(options):
            options.usage_error(messages.FOR_WORKERS(option=option))
    if options.cluster is not None:
        if options.jobs is not None:
            options.usage_error(messages.BOTH_GIVEN(first="--jobs", second="--cluster"))
        for name in ("in_place", "output"):
            if getattr(options, name, None):
                options.usage_error(messages.NOT_ON_CLUSTER(option=f"--{name.replace('_', '-')}"))


def span(text: str, refusal: messages.Message, least: float) -> tuple[int, int]:
    """The first and the last whole number of "1-250", from `least` on."""
    match = _SPAN.match(text)
    if match is None or not least <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(refusal(text=text))
    return int(match[1]), int(match[2])


def whole(text: str, refusal: messages.Message) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(refusal(text=text))
    return int(text)


_lines = partial(span, refusal=messages.NO_LINES, least=1)
_tries = partial(whole, refusal=messages.NO_TRIES)


def _jobs(text: str) -> int:
    """A number of processes; 0 for as many as suit the machine."""
    return 0 if text.lower() == "auto" else whole(text, messages.NO_JOBS)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 1e6:
        raise argparse.ArgumentTypeError(messages.NO_SECONDS(text=text))
    return value


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
        yield from workers(files, options)
        return
    for index, file in enumerate(files):
        try:
            entries = process(file, options)
        except Stopped:
            yield index, [failed(file, messages.STOPPED())]
            raise
        yield index, entries


def failed(file: Path, error: Exception | str) -> dict:
    """Say what stopped a file; returns its entry in the report."""
    return bare_entry(file=str(file), error=complain(file, error))


_PART = 1 << 20
"""Bytes that are read at once."""


def text_of(path: Path | None, most: int) -> bytes | None:
    """All of a file, or of stdin if there is no path; None if that is no text, which has no zeros, or is longer.

    UTF-16 with its mark, as PowerShell writes lists, is given in UTF-8.

    most: how many bytes it may have: a device and a pipe may have no end. Raises OSError if it cannot be read.
    """
    if path is None:
        return _text(sys.stdin.buffer, most)
    with path.open("rb") as stream:
        return _text(stream, most)


def _text(stream: BinaryIO, most: int) -> bytes | None:
    found = bytearray()
    while len(found) <= most:
        part = stream.read(_PART)
        found += part
        is_wide = found.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        if b"\0" in part and not is_wide:
            return None
        if not part:
            return _narrow(found) if is_wide else bytes(found)
    return None


def _narrow(text: bytearray) -> bytes | None:
    try:
        found = text.decode("utf-16").encode()
    except UnicodeError:
        return None
    return None if b"\0" in found else found


_LONGEST = 10_000_000
"""Bytes of a file with points."""
_TEXT = ".json"

GivenPath = dict
"""A curve by its `name`, in the .blend file `file` if there is one; or `points`, [x, y] or [x, y, z], and if they are
`closed`. It can be sent to other processes."""


def read_path(text: str) -> GivenPath:
    """What --path says. Raises argparse.ArgumentTypeError if there is no such file, or no points in it."""
    file, colon, name = text.rpartition(":")
    if text.lower().endswith(_TEXT):
        return _points_in(Path(text))
    if not colon or not file.lower().endswith(BLEND):
        return {"name": text}
    try:
        check_readable(Path(file))
    except OSError as error:
        raise argparse.ArgumentTypeError(messages.OF(whose=file, said=error)) from error
    return {"file": os.path.abspath(file), "name": name}


def _points_in(file: Path) -> GivenPath:
    try:
        given = json.loads(text_of(file, _LONGEST) or b"null")
    except OSError as error:
        said = messages.UNREADABLE(reason=error.strerror or error)
        raise argparse.ArgumentTypeError(messages.OF(whose=file, said=said)) from error
    except (ValueError, RecursionError):
        given = None
    given = given if isinstance(given, dict) else {"points": given}
    points, is_closed = given.get("points"), given.get("closed", False)
    if not isinstance(points, list) or len(points) < 2 or not all(map(_is_point, points)):
        raise argparse.ArgumentTypeError(messages.OF(whose=file, said=messages.NOT_POINTS()))
    return {"name": file.stem, "points": points, "closed": bool(is_closed)}


def _is_point(point: object) -> bool:
    return (
        isinstance(point, list)
        and len(point) in (2, 3)
        and all(isinstance(number, int | float) and isfinite(number) for number in point)
    )


def curve_given(given: GivenPath | None) -> bpy.types.Object | None:
    """The curve object in the scene of the open file, brought there if it is elsewhere; None without one."""
    scene = bpy.context.scene
    if given is None:
        return None
    if "points" in given:
        curve = _drawn(given)
    elif "file" in given:
        with bpy.data.libraries.load(given["file"]) as (there, here):  # pyright: ignore[reportGeneralTypeIssues]
            if given["name"] not in there.objects:
                raise ChainError(messages.NO_CURVE_IN_FILE(object=given["name"], file=given["file"]))
            here.objects = [given["name"]]
        [curve] = here.objects
    else:
        return path_named(scene, given["name"])
    scene.collection.objects.link(curve)
    bpy.context.view_layer.update()
    return curve


def _drawn(given: GivenPath) -> bpy.types.Object:
    data = bpy.data.curves.new(given["name"], "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(len(given["points"]) - 1)
    for knot, point in zip(spline.points, given["points"], strict=True):
        knot.co = (*point, 0.0, 1.0) if len(point) == 2 else (*point, 1.0)
    spline.use_cyclic_u = given["closed"]
    return bpy.data.objects.new(given["name"], data)
