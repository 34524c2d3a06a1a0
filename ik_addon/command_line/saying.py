"""What the command line says: lines, complaints, files of text, and progress."""

import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TextIO

from .. import messages
from ..bake.saving import save_text
from ..bake.stepping import Progress
from ..bake.stopping import stop_if_asked
from ..messages import one_line

try:
    from tqdm import tqdm
except ImportError:  # Blender does not ship it: there the frames go by without a bar.
    tqdm = None


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


_heard: list[tuple[TextIO, TextIO, _Noise]] = []
"""Where results, complaints and what others print go while these are apart."""
_taken: list[int] = []
"""The descriptors of this process that results and complaints no longer go by."""


def take_process() -> None:
    """From now on results go where stdout led, and what Blender prints there from C goes to stderr.

    For a process that ends with the command: C keeps some of what it prints until then, so it is not given back.
    """
    try:
        streams = [
            os.fdopen(os.dup(number), "w", encoding=stream.encoding, errors=stream.errors)
            for number, stream in ((1, sys.stdout), (2, sys.stderr))
        ]
        os.dup2(2, 1)
    except (OSError, AttributeError):
        # There is no stdout or no stderr.
        return
    sys.stdout.flush()
    sys.stdout, sys.stderr = streams
    _taken[:] = [1, 2]


@contextmanager
def noise_apart(is_quiet: bool) -> Iterator[None]:
    """Inside, what others print on stdout goes to stderr, and if `is_quiet` nowhere, as what they print on stderr."""
    voices = sys.stdout, sys.stderr
    noise = _Noise(None if is_quiet else sys.stderr)
    if is_quiet:
        _silence()
    _heard.append((*voices, noise))
    try:
        with redirect_stdout(noise), redirect_stderr(noise) if is_quiet else nullcontext():
            yield
    finally:
        noise.end_line()
        _heard.pop()


def _silence() -> None:
    """Have what is printed from C go nowhere, if this process is ours."""
    if _taken:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        while _taken:
            os.dup2(nowhere, _taken.pop())
        os.close(nowhere)


def say(text: str) -> None:
    """Print one line on stdout; characters that a terminal would obey, or that it does not know, are spelled out."""
    _print(text, _heard[-1][0] if _heard else sys.stdout)


def remark(text: str) -> None:
    """Print one line on stderr, likewise."""
    if _heard:
        _heard[-1][2].end_line()
    _print(text, _heard[-1][1] if _heard else sys.stderr)


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
    done = {entry["file"] for entry in entries} - failed - before
    parts = [messages.FILES_DONE(done=len(done), failed=len(failed))]
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
    with tqdm(desc=one_line(name), unit="frame", total=frames) as bar:

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
