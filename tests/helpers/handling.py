"""Handlers of other add-ons."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import bpy


@contextmanager
def handling(event: str, handler: Callable, first: bool = False) -> Iterator[None]:
    """Inside, another add-on's handler is called too: after the add-on's own, or first of all."""
    handlers = getattr(bpy.app.handlers, event)
    handlers.insert(0, handler) if first else handlers.append(handler)
    try:
        yield
    finally:
        handlers.remove(handler)
