"""What Blender and its importers print while they work, apart from what the command says."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import TextIO

from ..messages import one_line


class _Noise(io.TextIOBase):
    """Where what others print goes: to a stream, or nowhere. Never closed, for loggers of importers keep it."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream, self._is_in_line = stream, False

    def write(self, text: str) -> int:
        if self._stream is not None and text:
            self._stream.write("\n".join(one_line(line.expandtabs()) for line in text.split("\n")))
            self._is_in_line = not text.endswith("\n")
        return len(text)

    def end_line(self) -> None:
        """Go on in a new line, so that what is said is one of its own."""
        if self._is_in_line:
            self.write("\n")


_apart: list[tuple[TextIO, TextIO, _Noise]] = []
"""Where results, complaints and noise go while these are apart."""
_was_quiet: list[bool] = []
"""Whether noise went nowhere when it was last apart."""


@contextmanager
def noise_apart(is_quiet: bool) -> Iterator[None]:
    """Inside, what others print on stdout goes to stderr, and if `is_quiet` nowhere, as what they print on stderr.

    So does what is printed from C.
    """
    with ExitStack() as stack:
        results, complaints = (stack.enter_context(_kept(stream)) for stream in (sys.stdout, sys.stderr))
        noise = _Noise(None if is_quiet else complaints)
        nowhere = stack.enter_context(open(os.devnull, "wb")).fileno() if is_quiet else 2
        for number in (1, 2) if is_quiet else (1,):
            stack.enter_context(_turned(number, nowhere))
        stack.enter_context(redirect_stdout(noise))
        if is_quiet:
            stack.enter_context(redirect_stderr(noise))
        _was_quiet[:] = [is_quiet]
        _apart.append((results, complaints, noise))
        try:
            yield
        finally:
            noise.end_line()
            _apart.pop()


def voices() -> tuple[TextIO, TextIO]:
    """Where results and complaints go, the latter in a line of their own."""
    if not _apart:
        return sys.stdout, sys.stderr
    results, complaints, noise = _apart[-1]
    noise.end_line()
    return results, complaints


def leave_noise() -> None:
    """At the end of a process: C keeps some of what it prints until then, and it is no result either."""
    if sys.stdout is not None:
        sys.stdout.flush()
    try:
        target = os.open(os.devnull, os.O_WRONLY) if _was_quiet == [True] else 2
        os.dup2(target, 1)
    except OSError:
        # There is no stdout or no stderr.
        return


@contextmanager
def _kept(stream: TextIO) -> Iterator[TextIO]:
    """A stream that leads where this one leads now, whatever its descriptor does."""
    if _number_of(stream) not in (1, 2):
        yield stream
        return
    stream.flush()
    number = os.dup(stream.fileno())
    with open(number, "w", encoding=stream.encoding, errors=stream.errors) as kept:
        yield kept


def _number_of(stream: TextIO | None) -> int | None:
    try:
        return None if stream is None else stream.fileno()
    except (OSError, ValueError):
        # It is not one of the process.
        return None


@contextmanager
def _turned(number: int, target: int) -> Iterator[None]:
    """Inside, a descriptor leads where another one does."""
    try:
        before = os.dup(number)
        os.dup2(target, number)
    except OSError:
        # One of them is closed.
        yield
        return
    try:
        yield
    finally:
        os.dup2(before, number)
        os.close(before)
