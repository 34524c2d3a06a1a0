"""Asked to stop, by Ctrl+C, by whoever ends the process, or by a time limit: heard between two steps, where nothing is
half done.

Python would raise it wherever it is. Inside a handler or a driver Blender prints that and goes on as if nothing were.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic
from types import FrameType

from .. import messages
from ..solvers import ChainError

_asked: list[int] = []
_limits: list[tuple[float, float]] = []
"""Of the work that is going on: when it has to end, and how many seconds it was given."""


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
    _limits.append((inf, inf) if seconds is None else (monotonic() + seconds, seconds))
    try:
        yield
    finally:
        _limits.pop()


def check_time() -> None:
    """Raise TimeLimitError where the time is up."""
    if _limits and monotonic() > _limits[-1][0]:
        raise TimeLimitError(messages.TOO_LONG(seconds=_limits[-1][1]))


@contextmanager
def stops_heard() -> Iterator[None]:
    """Inside, `stop_if_asked` raises what is asked once; who asks twice does not want to wait for it."""
    _asked.clear()
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
    if _asked:
        raise Stopped(_asked[0])


def _ask(number: int, _: FrameType | None) -> None:
    _asked.append(number)
    if len(_asked) > 1:
        raise Stopped(number)
