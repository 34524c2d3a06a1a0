"""From which action an action was planted, and how: so that planting again begins where it began the first time."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ...rig.blender.clips import clip_in, play, playing_clip

_SOURCE = "analytic_ik_planted_from"
_SETTINGS = "analytic_ik_planted_with"


def source_of(ob: bpy.types.Object) -> bpy.types.Action | None:
    """The action that the current one of an object was planted from; None: it was not, or from none."""
    return getattr(ob.animation_data.action, _SOURCE) if is_planted(ob) else None


def is_planted(ob: bpy.types.Object) -> bool:
    """Whether the current action of an object is one that was planted."""
    action = ob.animation_data.action if ob.animation_data else None
    # Asked for where it is not set, Blender would set it.
    return action is not None and action.is_property_set(_SOURCE)


def mark_planted(action: bpy.types.Action, source: bpy.types.Action | None) -> None:
    """Remember from which action this one was planted."""
    setattr(action, _SOURCE, source)


def forget_source(action: bpy.types.Action) -> None:
    """Let nothing tell any more that an action was planted, or made of another."""
    for pointer in (_SOURCE, _SETTINGS, "analytic_ik_made_from"):
        action.property_unset(pointer)


def keep_settings(ob: bpy.types.Object, settings: dict) -> None:
    """Remember with which settings the current action of an object was planted."""
    setattr(ob.animation_data.action, _SETTINGS, json.dumps(settings))


def kept_settings(ob: bpy.types.Object) -> dict | None:
    """The settings with which the current action of an object was planted; None: it was not, or by a script."""
    action = ob.animation_data.action if ob.animation_data else None
    try:
        found = json.loads(getattr(action, _SETTINGS)) if action is not None else None
    except ValueError:
        # Somebody else wrote it.
        return None
    return found if isinstance(found, dict) else None


@contextmanager
def source_playing(ob: bpy.types.Object) -> Iterator[None]:
    """The source of an object's planted action plays instead of it."""
    source = source_of(ob)
    if source is None:
        yield
        return
    planted = playing_clip(ob)
    try:
        # A copy of an action has the same slots.
        play(ob, clip_in(source, planted.slot))
        yield
    finally:
        play(ob, planted)


def register() -> None:
    """Give actions the pointer to their source."""
    setattr(bpy.types.Action, _SOURCE, bpy.props.PointerProperty(type=bpy.types.Action))
    setattr(bpy.types.Action, _SETTINGS, bpy.props.StringProperty())


def unregister() -> None:
    """Take it away."""
    delattr(bpy.types.Action, _SETTINGS)
    delattr(bpy.types.Action, _SOURCE)
