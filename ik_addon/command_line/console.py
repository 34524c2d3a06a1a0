"""What the command line prints: lines, complaints and progress, apart from what Blender and its importers print."""

import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TextIO

from .. import messages
from ..bake.saving import save_text, stop_if_asked
from ..bake.stepping import Progress
from ..messages import one_line


class _Noise(io.TextIOBase):
    """Where what others print goes: to a stream, or nowhere. Never closed, for loggers of importers keep it."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream, self._is_in_line, self._has_ended = stream, False, False

    def write(self, text: str) -> int:
        if self._stream is None and self._has_ended and _apart:
            return _apart[-1][2].write(text)
        if self._stream is not None and text:
            self._stream.write("\n".join(one_line(line.expandtabs()) for line in text.split("\n")))
            self._is_in_line = not text.endswith("\n")
        return len(text)

    def leave(self) -> None:
        """Its stream ends: what still prints here goes where others print by then."""
        self.end_line()
        self._stream, self._has_ended = None, True

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
            noise.leave()
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


try:
    from tqdm import tqdm
except ImportError:  # Blender does not ship it: there the frames go by without a bar.
    tqdm = None


def say(text: str) -> None:
    """Print one line on stdout; characters that a terminal would obey, or that it does not know, are spelled out."""
    _print(text, voices()[0])


def remark(text: str) -> None:
    """Print one line on stderr, likewise."""
    _print(text, voices()[1])


def _print(text: str, stream: TextIO | None) -> None:
    if stream is not None:
        encoding = stream.encoding or "utf-8"
        print(one_line(text).encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)


def complain(file: Path | str, error: Exception | str) -> str:
    """Say on stderr what stopped a file, in one line; returns the reason."""
    reason = " ".join(str(error).removeprefix("Error: ").split())
    remark(messages.OF(whose=file, said=reason))
    return reason


def say_sum(entries: Sequence[dict], before: Set[str] = frozenset()) -> None:
    """Print how many files are done, and clips left as they are. before: names of files that were done already."""
    failed = {entry["file"] for entry in entries if entry["error"]}
    nothing = {entry["file"] for entry in entries if entry.get("nothing")}
    done = {entry["file"] for entry in entries} - failed - before - nothing
    parts = [messages.FILES_DONE(done=len(done), failed=len(failed))]
    if nothing:
        parts.append(messages.FILES_NOTHING(count=len(nothing)))
    if before:
        parts.append(messages.FILES_BEFORE(before=len(before)))
    clips = sum("left_out" in entry and "clip" in entry for entry in entries)
    if clips:
        parts.append(messages.CLIPS_LEFT(clips=clips))
    say("".join(parts))


def written(path: Path, text: str) -> bool:
    """Write a text file; whether that went well is said on stderr."""
    try:
        save_text(path, text)
    except OSError as error:
        complain(path, error)
        return False
    return True


@contextmanager
def shown(name: str, frames: int) -> Iterator[Progress]:
    """Progress on a terminal, none in a pipe; between two frames it is heard whether somebody asks to stop."""
    if tqdm is None or not sys.stderr.isatty():
        yield lambda *_: stop_if_asked()
        return
    with tqdm(desc=one_line(name), unit="step", total=frames) as bar:

        def progress(done: int, total: int) -> None:
            stop_if_asked()
            bar.total = total
            bar.update(done - bar.n)

        yield progress
        # What was sampled had no steps.
        bar.update(bar.total - bar.n)


@contextmanager
def counted(files: int, is_quiet: bool) -> Iterator[Callable[[bool], AbstractContextManager]]:
    """A bar over files on a terminal, none in a pipe or if `is_quiet`; yields what counts one, told whether it failed.

    What is printed inside the context that it returns does not get in the way of the bar.
    """
    if tqdm is None or is_quiet or not sys.stderr.isatty():
        yield lambda _: nullcontext()
        return
    with tqdm(unit="file", total=files) as bar:
        fails = 0

        @contextmanager
        def count(has_failed: bool) -> Iterator[None]:
            nonlocal fails
            with bar.external_write_mode():
                yield
            fails += has_failed
            bar.set_postfix(failed=fails, refresh=False)
            bar.update()

        yield count
