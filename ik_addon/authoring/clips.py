"""The clips of a rigged armature, each played alone with its controls."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import bpy

from ..bake.stepping import Steps, part_of
from ..rig.blender.clips import Clip, playing_alone
from ..rig.data.control_clips import partner, separate_controls

Result = TypeVar("Result")


@contextmanager
def playing(ob: bpy.types.Object, clip: Clip) -> Iterator[None]:
    """Inside, an armature object plays one of its clips alone, and its controls what belongs to that.

    Afterwards all play what they played before.
    """
    partners = [(control, partner(control, clip)) for control in separate_controls(ob)]
    with playing_alone([(ob, clip), *((control, own) for control, own in partners if own is not None)]):
        yield


def over_clips(
    ob: bpy.types.Object, clips: Sequence[Clip], work: Callable[[Clip], Steps[Result]]
) -> Steps[list[Result]]:
    """In steps: do some work on each clip of an armature object while it plays; returns what each comes to."""
    results = []
    for number, clip in enumerate(clips):
        with playing(ob, clip):
            results.append((yield from part_of(work(clip), number, len(clips))))
    return results


def is_layered(ob: bpy.types.Object) -> bool:
    """Whether NLA strips have a part in what an object plays."""
    data = ob.animation_data
    if data is None or not data.use_nla:
        return False
    tracks = list(data.nla_tracks)
    playing = [track for track in tracks if track.is_solo] or [track for track in tracks if not track.mute]
    return any(not strip.mute for track in playing for strip in track.strips)
