"""Clips of a source by the names of those that were retargeted from them."""

import re

import bpy

from .. import messages
from ..rig.blender.clips import Clip, clip_name, clips_of, made_from
from ..solvers import ChainError

_NUMBER = re.compile(r"\.\d+$")
"""What Blender puts behind a name that is taken."""


def clip_of_source(source: bpy.types.Object, clip: Clip) -> Clip:
    """The clip of a source that has the name of a character's clip, or of the one that this was made from.

    What importers put before names, and the number that Blender puts behind, do not count. ChainError where there is
    none.
    """
    action, seen = clip.action, set()
    while (older := made_from(action)) is not None and older not in seen:
        action = older
        seen.add(older)
    clips = clips_of(source)
    found = [each for each in clips if _bare(clip_name(each, clips)) == _bare(action.name)]
    if not found:
        raise ChainError(messages.SOURCE_NO_CLIP(source=source.name, clip=_bare(action.name)))
    return found[0]


def _bare(name: str) -> str:
    return _NUMBER.sub("", name.rpartition("|")[2])
