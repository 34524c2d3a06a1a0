"""What the command line says: lines, complaints, files of text, and progress."""

import sys
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TextIO

from .. import messages
from ..bake.saving import save_text
from ..bake.stepping import Progress
from ..bake.stopping import stop_if_asked
from ..messages import one_line
from .noise import voices

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
