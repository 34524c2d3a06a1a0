"""When an armature plays another clip than before, its controls play what belongs to that."""

from collections.abc import Iterable

import bpy

from ..blender.clips import shown_clip
from ..data.control_clips import controls_follow
from ..data.kept import has_controls

_seen: dict[int, tuple[int, int]] = {}
"""What armature objects play whose controls have been looked at, by their session numbers."""


def followed_by_controls(obs: Iterable[bpy.types.Object]) -> bool:
    """Let the controls of armature objects play what belongs to their clips. Whether any plays something else now."""
    changed = False
    for ob in obs:
        clip = shown_clip(ob) if ob.animation_data is not None else None
        if clip is None:
            continue
        playing = clip.action.session_uid, clip.slot
        # A copy in no scene, as exporters make of an armature, has the same controls.
        if _seen.get(ob.session_uid) != playing and ob.users_scene:
            _seen[ob.session_uid] = playing
            changed |= has_controls(ob) and controls_follow(ob)
    return changed


def forget() -> None:
    """Another state of the file: look at all of them once more."""
    _seen.clear()
