"""Files that are written whole or not at all: beside their place first, and renamed once they are complete."""

import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import bpy

from .. import messages

_ENDS = (24, 32)
"""How long the block is with which an uncompressed file ends, until Blender 4.5 and since 5.0."""
_SEEK_TABLE = struct.Struct("<IBI")
"""The end of a compressed file: how many frames it has, flags, and a number that says that this is a seek table."""
_SEEK_TABLE_MAGIC = 0x8F92EAB1


def check_place(path: Path) -> None:
    """Raise OSError, with its cure, where no file can be put at `path`: before work is done that could not be kept."""
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(messages.NO_FOLDER(folder=path.parent))
    if path.exists() and not path.is_file():
        raise OSError(messages.NO_PLACE_FOR_A_FILE(path=path))
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(messages.WRITE_PROTECTED(path=path))
    _complete(path, lambda beside: beside.touch(), keep=False)


def save_blend(output: Path, compressed: bool) -> None:
    """Save the open file to `output` as a copy. Raises OSError, with its cure, and leaves what was there before."""

    def write(beside: Path) -> None:
        try:
            bpy.ops.wm.save_as_mainfile(filepath=str(beside), compress=compressed, copy=True)
        except RuntimeError as error:
            # Blender gives whatever the system said last, such as "Success".
            raise OSError(messages.NOT_FINISHED()) from error
        # Of a compressed file Blender does not say that the disk was full.
        if not is_whole(beside):
            raise OSError(messages.INCOMPLETE())

    _complete(output, write)


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
    # In the same folder, where paths in a .blend file that are relative to it stay right; and with the number of this
    # process, for another one may write to the same place.
    beside = place.with_name(f".analytic-ik.{os.getpid()}.part")
    try:
        write(beside)
        if keep:
            with beside.open("rb+") as stream:
                os.fsync(stream.fileno())
            if place.exists():
                shutil.copymode(place, beside)
            os.replace(beside, place)
    except OSError as error:
        reason = error.strerror or error
        raise OSError(messages.NOT_WRITTEN(path=path, reason=reason)) from error
    finally:
        # Blender's own name for what it has not finished is one letter longer.
        for left in (beside, beside.with_name(f"{beside.name}@")):
            left.unlink(missing_ok=True)
