"""Putting things right afterwards, wherever work is interrupted: also while it puts things right."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import bpy

from .file_memory import session

_Block = TypeVar("_Block", bound=bpy.types.ID)


@contextmanager
def surely(clean: Callable[[], object]) -> Iterator[None]:
    """Afterwards `clean` was called. Whoever is outside calls it again if it was interrupted: see `all_clean`.

    clean: can be called before anything was done, and more than once.
    """
    try:
        session.cleanups.append(clean)
        yield
    finally:
        _call(clean)


@contextmanager
def all_clean() -> Iterator[None]:
    """Around a whole work: what was interrupted while it cleaned up is cleaned up here."""
    begun = len(session.cleanups)
    try:
        yield
    finally:
        clean_since(begun)


def clean_since(begun: int) -> None:
    """Clean up all but the first so many of what is to be done at the end of work that goes on."""
    while len(session.cleanups) > begun:
        _call(session.cleanups[-1])


def _call(clean: Callable[[], object]) -> None:
    clean()
    # By identity: two methods of one object may be equal.
    session.cleanups[:] = [each for each in session.cleanups if each is not clean]


class Scratch:
    """Data-blocks of one kind that are made for a while. blocks: all of the file, such as `bpy.data.actions`."""

    def __init__(self, blocks: bpy.types.bpy_prop_collection) -> None:
        self._blocks = blocks
        self._uids: set[int] = set()
        self._before: set[int] | None = None

    def made(self, make: Callable[[], _Block]) -> _Block:
        # Until its number is known, what was not there before is it.
        self._before = {each.session_uid for each in self._blocks}
        block = make()
        self._uids.add(block.session_uid)
        self._before = None
        return block

    def keep(self, block: bpy.types.ID) -> None:
        self._uids.discard(block.session_uid)

    def remove(self) -> None:
        before = self._before
        gone = [
            each
            for each in (self._blocks if self._uids or before is not None else ())
            if each.session_uid in self._uids or (before is not None and each.session_uid not in before)
        ]
        if gone:
            # All at once: for each call Blender looks through the whole file for who uses them.
            bpy.data.batch_remove(gone)
        self._uids.clear()
        self._before = None
