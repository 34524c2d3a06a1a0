"""Files of users, read and not opened with Blender: never more of one than is asked for."""

import sys
from pathlib import Path
from typing import BinaryIO

_PART = 1 << 20
"""Bytes that are read at once."""


def beginning(path: Path, count: int) -> bytes:
    """The first so many bytes of a file, or all that it has. Raises OSError if it cannot be read."""
    with path.open("rb") as stream:
        return stream.read(count)


def text_of(path: Path | None, most: int) -> bytes | None:
    """All of a file, or of stdin if there is no path; None if that is no text, which has no byte of zero, or longer.

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
        if b"\0" in part:
            return None
        if not part:
            return bytes(found)
        found += part
    return None
