"""Asked to stop, by Ctrl+C or by whoever ends the process: heard between two steps, where nothing is half done.

Python would raise it wherever it is. Inside a handler or a driver Blender prints that and goes on as if nothing were.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_asked: list[int] = []


class Stopped(KeyboardInterrupt):
    """Somebody asked to stop. number: of the signal by which."""

    def __init__(self, number: int) -> None:
        super().__init__("stopped")
        self.number = number


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
