"""How a bake saw the frames, and whether two bakes are the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps

import bpy
import pytest

from ik_addon.rig.live import handlers as live


@contextmanager
def frames_gone_to() -> Iterator[list[tuple[str, int]]]:
    """Every frame change meanwhile: scene and frame. The spy takes the place of the add-on's own handler: one more
    would be a foreign one, and change the way."""
    handlers, seen_frames = bpy.app.handlers.frame_change_pre, []
    place = next(k for k, handler in enumerate(handlers) if handler.__module__ == live.__name__)
    own = handlers[place]

    @wraps(own)
    def spy(scene, depsgraph=None):
        seen_frames.append((scene.name, scene.frame_current))
        own(scene, depsgraph)

    handlers[place] = spy
    try:
        yield seen_frames
    finally:
        handlers[handlers.index(spy)] = own


def assert_same_but_for_rounding(a: object, b: object) -> None:
    if isinstance(a, dict) and isinstance(b, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_same_but_for_rounding(a[key], b[key])
    elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
        assert len(a) == len(b)
        for own, other in zip(a, b, strict=True):
            assert_same_but_for_rounding(own, other)
    else:
        assert a == (pytest.approx(b, abs=2e-6) if isinstance(b, float) else b)
