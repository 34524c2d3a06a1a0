"""What an action that was planted or matched remembers: the action that it was made of, and the settings.

It pulls in nothing of planting itself: panels ask for it whenever they are drawn.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ...rig.blender.cleanup import surely
from ...rig.blender.clips import channels_kept, clip_in, linked_action, moved_channels, play, playing_clip, put_at_rest

_PLANTED, _MATCHED = "analytic_ik_planted_from", "analytic_ik_matched_from"
_SOURCES = {"planted": _PLANTED, "matched": _MATCHED}
"""The pointers to sources, by what was made of these. A clip that was matched can be planted."""
_UNKEYED = "analytic_ik_planted_unkeyed"
_PLANTED_WITH = "analytic_ik_planted_with"


def source_of(ob: bpy.types.Object, made: str = "planted") -> bpy.types.Action | None:
    """The action that the current one of an object was planted, or `made`, from; None: it was not, or from none."""
    return linked_action(ob.animation_data.action, _SOURCES[made]) if is_made(ob, made) else None


def is_planted(ob: bpy.types.Object) -> bool:
    """Whether the current action of an object is one that was planted."""
    return is_made(ob, "planted")


def is_made(ob: bpy.types.Object, made: str) -> bool:
    """Whether the current action of an object is one that was "planted" or "matched"."""
    action = ob.animation_data.action if ob.animation_data else None
    return action is not None and _SOURCES[made] in action


def mark_source(action: bpy.types.Action, source: bpy.types.Action | None, made: str) -> None:
    """Remember from which action this one was made."""
    action[_SOURCES[made]] = source


def forget_source(action: bpy.types.Action) -> None:
    """Let nothing tell any more that an action was planted or matched, so that doing it again begins with itself."""
    for kept in (_PLANTED, _MATCHED, _UNKEYED):
        action.pop(kept, None)
    action.property_unset(_PLANTED_WITH)


def keep_unkeyed(ob: bpy.types.Object, values: dict) -> None:
    """Let the planted action of an object remember what channels held that it keys and its source does not."""
    ob.animation_data.action[_UNKEYED] = json.dumps(values)


def kept_unkeyed(ob: bpy.types.Object) -> dict:
    """That, of the current action of an object."""
    return json.loads(ob.animation_data.action.get(_UNKEYED, "{}")) if is_planted(ob) else {}


def keep_settings(ob: bpy.types.Object, settings: dict) -> None:
    """Remember with which settings the current action of an object was planted."""
    setattr(ob.animation_data.action, _PLANTED_WITH, json.dumps(settings))


def kept_settings(ob: bpy.types.Object) -> dict | None:
    """The settings with which the current action of an object was planted; None: it was not, or by a script."""
    action = ob.animation_data.action if ob.animation_data else None
    try:
        found = json.loads(getattr(action, _PLANTED_WITH)) if action is not None else None
    except ValueError:
        # Somebody else wrote it.
        return None
    return found if isinstance(found, dict) else None


@contextmanager
def source_playing(ob: bpy.types.Object, made: str = "planted") -> Iterator[None]:
    """The source of an object's planted action, or of one that was `made` so, plays instead of it.

    What the action moves beside that is at rest.
    """
    source = source_of(ob, made)
    if source is None:
        yield
        return
    played = playing_clip(ob)
    # A copy of an action has the same slots.
    original = clip_in(source, played.slot)
    channels = moved_channels(played) - moved_channels(original)
    with channels_kept(ob, channels), surely(lambda: play(ob, played)):
        play(ob, original)
        put_at_rest(ob, channels)
        yield
