"""At which scene's frame the originals stand: Blender brings them what animation sets in the scene evaluated last.

Where several scenes show an object at different frames, each evaluates it at its own.
"""

from collections.abc import Sequence

import bpy
import numpy as np

from .armatures import is_evaluated_in
from .sampling import Sampler

_went: list[int] = []
"""Session numbers of scenes, in the order in which they went to a frame."""


def went_to_frame(scene: bpy.types.Scene) -> None:
    """The originals of what a scene shows stand at its frame, or were changed in it by hand."""
    uid = scene.session_uid
    if _went[-1:] != [uid]:
        if uid in _went:
            _went.remove(uid)
        _went.append(uid)


def forget() -> None:
    """Another state of the file."""
    _went.clear()


def stands_elsewhere(ob: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """True if another scene that shows an original object has gone to another frame since a scene did."""
    uid = scene.session_uid
    since = _went[_went.index(uid) + 1 :] if uid in _went else _went
    if not since:
        return False
    others = (each for each in bpy.data.scenes if each.session_uid in since)
    frame = scene.frame_current_final
    layers = (layer for other in others if other.frame_current_final != frame for layer in other.view_layers)
    return any(layer.depsgraph is not None and is_evaluated_in(ob, layer.depsgraph) for layer in layers)


def numbers_at(scene: bpy.types.Scene, ob: bpy.types.Object, path: str, still: Sequence[float]) -> list[float]:
    """The numbers of a property of an original object as F-Curves set them at a scene's frame. still: what it holds."""
    numbers = Sampler([scene.frame_current_final]).channel(ob, path, still)
    return numbers[0].astype(np.float32).tolist()
