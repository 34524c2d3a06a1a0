"""Files written whole or not at all, whether two paths are one file, and how a run is stopped between two steps."""

import filecmp
import os
import secrets
import shutil
import signal
import struct
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from io import StringIO
from math import inf
from pathlib import Path
from time import monotonic
from types import FrameType

import bpy

from .. import messages
from ..solvers import ChainError

_ENDS = (24, 32)
"""How long the block is with which an uncompressed file ends, until Blender 4.5 and since 5.0."""
_SEEK_TABLE = struct.Struct("<IBI")
"""The end of a compressed file: how many frames it has, flags, and a number that says that this is a seek table."""
_SEEK_TABLE_MAGIC = 0x8F92EAB1
_LONGEST_ON_WINDOWS = 259
"""Characters of a path, unless long ones are allowed there."""
_UNFINISHED = ".analytic-ik."
"""How the names of files begin that are not finished."""


@dataclass(slots=True)
class _Process:
    """What this process was asked, and has done.

    mark: to put into the names of files that are not finished. stops: numbers of the signals by which somebody asked
    it to stop. limits: of the work that is going on, when it has to end, and how many seconds it was given. exported:
    the suffixes of files that it has exported.
    """

    mark: str = ""
    stops: list[int] = field(default_factory=list)
    limits: list[tuple[float, float]] = field(default_factory=list)
    exported: set[str] = field(default_factory=set)


process = _Process()


def check_place(path: Path) -> None:
    """Raise OSError, with its cure, where no file can be put at `path`: before work is done that could not be kept."""
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(messages.NO_FOLDER(folder=path.parent))
    if path.exists() and not path.is_file():
        raise OSError(messages.NO_PLACE_FOR_A_FILE(path=path))
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(messages.WRITE_PROTECTED(path=path))
    _complete(path, lambda _: None, keep=False)


def save_blend(output: Path, compressed: bool) -> None:
    """Save the open file to `output` as a copy. Raises OSError, with its cure, and leaves what was there before."""

    def write(beside: Path) -> None:
        # Blender would keep what is there as an earlier version.
        beside.unlink()
        try:
            # Blender would print a name that is gone a moment later.
            with redirect_stdout(StringIO()):
                bpy.ops.wm.save_as_mainfile(filepath=str(beside), compress=compressed, copy=True)
        except RuntimeError as error:
            # Blender gives whatever the system said last, such as "Success".
            raise OSError(messages.NOT_FINISHED()) from error
        # Of a compressed file Blender does not say that the disk was full.
        if not is_whole(beside):
            raise OSError(messages.INCOMPLETE())

    _complete(output, write)


def save_files(path: Path, write: Callable[[Path], object], is_own: Callable[[Path], bool]) -> None:
    """Have a file, and others beside it, written in a folder of their own, and put them in their places once all are
    complete, the file itself last. Raises OSError, with its cure, and leaves what was there before.

    write: is told where to write the file. is_own: whether a file that is there already may be replaced by one of the
    others.
    """
    place = path.resolve()
    folder = _beside(place.parent)
    try:
        folder.mkdir()
        try:
            write(folder / place.name)
            written = sorted(folder.iterdir(), key=lambda file: file.name == place.name)
            if not written or written[-1].name != place.name:
                raise OSError(messages.NOT_FINISHED())
            moves = {file: place.with_name(file.name) for file in written}
            for file, there in moves.items():
                if there != place and there.exists() and not filecmp.cmp(file, there, False) and not is_own(there):
                    raise OSError(messages.FILE_BESIDE(name=file.name))
            for file, there in moves.items():
                os.replace(file, there)
        finally:
            shutil.rmtree(folder)
    except OSError as error:
        raise _not_written(path, error) from error


def save_text(path: Path, text: str) -> None:
    """Write a text file. Raises OSError, with its cure, and leaves what was there before."""

    def write(place: Path) -> None:
        # The name of a bone may hold what is no letter.
        place.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")

    if path.exists() and not path.is_file():
        # A terminal or a pipe is written to and never replaced.
        write(path)
    else:
        _complete(path, write)


def is_whole(file: Path) -> bool:
    """Whether a .blend file goes on to its end, as far as that can be seen without reading all of it."""
    with file.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        if size < max(_ENDS):
            return False
        stream.seek(-max(_ENDS), os.SEEK_END)
        end = stream.read()
        if any(end[-length:].startswith(b"ENDB") for length in _ENDS):
            return True
        count, _, magic = _SEEK_TABLE.unpack(end[-_SEEK_TABLE.size :])
        table = 8 * count + _SEEK_TABLE.size
        if magic != _SEEK_TABLE_MAGIC or size < table:
            return False
        stream.seek(-table, os.SEEK_END)
        sizes = struct.unpack(f"<{2 * count}I", stream.read(8 * count))
        # Before the table there are its own header, of 8 bytes, and all frames.
        return sum(sizes[::2]) + 8 + table == size


def _complete(path: Path, write: Callable[[Path], object], keep: bool = True) -> None:
    """Have a file written beside its place and put it there once the disk has all of it. keep: False only tries."""
    place = path.resolve()
    beside = _beside(place.parent)
    try:
        # Never a file that is there already: it is somebody else's.
        beside.touch(exist_ok=False)
        try:
            write(beside)
            if keep:
                with beside.open("rb+") as stream:
                    os.fsync(stream.fileno())
                if place.exists():
                    shutil.copymode(place, beside)
                os.replace(beside, place)
        finally:
            # Blender's own name for what it has not finished is one letter longer.
            for left in (beside, beside.with_name(f"{beside.name}@")):
                left.unlink(missing_ok=True)
    except OSError as error:
        raise _not_written(path, error) from error


def _not_written(path: Path, error: OSError) -> OSError:
    folder, reason = path.absolute().parent, error.strerror or error
    # Windows says that there is no such folder.
    if isinstance(error, FileNotFoundError) and folder.is_dir() and len(str(_beside(folder))) > _LONGEST_ON_WINDOWS:
        reason = messages.PATH_TOO_LONG()
    return OSError(messages.NOT_WRITTEN(path=path, reason=reason))


def _beside(folder: Path) -> Path:
    """A name for what is not finished, in the same folder, so that paths in a .blend file relative to it stay right.

    It is drawn at random: of several machines that write to one folder, two may give their processes the same number.
    """
    return folder / f"{_UNFINISHED}{process.mark}{secrets.token_hex(8)}.part"


def mark_unfinished(mark: str) -> None:
    """Have this process put a mark into the names of files that are not finished, for `remove_unfinished`."""
    process.mark = mark


def remove_unfinished(mark: str, folders: Iterable[str]) -> None:
    """Remove from folders what processes with this mark were saving when they were killed."""
    for folder in map(Path, folders):
        for left in folder.glob(f"{_UNFINISHED}{mark}*"):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
                continue
            # Who may not remove it finds it by its name; the run is not about that.
            with suppress(OSError):
                left.unlink()


def ignores_case(folder: Path) -> bool:
    """Whether a file in a folder, or in the nearest one above it that exists, is found by a name in capitals."""
    while not os.path.isdir(folder):
        folder = folder.parent
    trial = _beside(folder)
    try:
        trial.touch(exist_ok=False)
    except OSError:
        # Nothing will be saved there anyway.
        return False
    try:
        return trial.with_name(trial.name.upper()).exists()
    finally:
        trial.unlink(missing_ok=True)


class KnownPaths:
    """Paths, each with what it is. Links are followed, and capitals make no difference where the folder says so."""

    def __init__(self) -> None:
        self._folders: dict[Path, str] = {}
        self._alike: dict[str, list[tuple[str, str]]] = {}
        self._nodes: dict[tuple[int, int], str] = {}

    def add(self, path: Path, what: str) -> None:
        """Add a path, which need not exist. Of two that lead to one file the first counts."""
        place, node = self._look(path)
        self._alike.setdefault(_folded(place), []).append((place, what))
        if node is not None:
            self._nodes.setdefault(node, what)

    def at(self, path: Path, hard_links: bool = True) -> str | None:
        """What is at a path; None if nothing is. hard_links: whether two names of the same data are one file."""
        place, node = self._look(path)
        for other, what in self._alike.get(_folded(place), ()):
            if place == other or ignores_case(Path(place).parent):
                return what
        return self._nodes.get(node) if hard_links and node is not None else None

    def _look(self, path: Path) -> tuple[str, tuple[int, int] | None]:
        """Where a path leads, and what tells its data from that of other files; None if there is none."""
        folder = path.parent
        if folder not in self._folders:
            # Many files are in few folders, and each link on the way to one is a question to the disk.
            self._folders[folder] = os.path.realpath(folder)
        place = os.path.join(self._folders[folder], path.name)
        if path.name in ("", os.pardir) or os.path.islink(place):
            place = os.path.realpath(path)
        try:
            found = os.stat(place)
        except OSError:
            return place, None
        return place, (found.st_dev, found.st_ino)


def first_doubled(paths: Iterable[Path]) -> tuple[int, int] | None:
    """The indices of the first two paths that lead to one file; None if no two do."""
    places = KnownPaths()
    for k, path in enumerate(paths):
        other = places.at(path, hard_links=False)
        if other is not None:
            return int(other), k
        places.add(path, str(k))
    return None


def _folded(place: str) -> str:
    return unicodedata.normalize("NFC", place).casefold()


class Stopped(KeyboardInterrupt):
    """Somebody asked to stop. number: of the signal by which."""

    def __init__(self, number: int) -> None:
        super().__init__("stopped")
        self.number = number


class TimeLimitError(ChainError):
    """The time is up. What was done until then is kept, by whoever can."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Inside, `check_time` raises TimeLimitError after so many seconds; None: never."""
    process.limits.append((inf, inf) if seconds is None else (monotonic() + seconds, seconds))
    try:
        yield
    finally:
        process.limits.pop()


def check_time() -> None:
    """Raise TimeLimitError where the time is up."""
    if process.limits and monotonic() > process.limits[-1][0]:
        raise TimeLimitError(messages.TOO_LONG(seconds=process.limits[-1][1]))


@contextmanager
def stops_heard() -> Iterator[None]:
    """Inside, `stop_if_asked` raises what is asked once; who asks twice does not want to wait for it."""
    process.stops.clear()
    try:
        before = {number: signal.signal(number, _ask) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:
        # Another thread than the main one: signals do not go there.
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def stop_if_asked() -> None:
    """Raise Stopped where somebody has asked to stop."""
    if process.stops:
        raise Stopped(process.stops[0])


def _ask(number: int, _: FrameType | None) -> None:
    process.stops.append(number)
    if len(process.stops) > 1:
        raise Stopped(number)
