"""Where controls have to be in the clips of an armature object, read together where clips set the same channels."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import bpy

from ..bake.clips import clip_samplers
from ..bake.collecting import FEWEST_SAMPLED, SampledChains, sampled_chains
from ..rig.blender.clips import Clip, playing_clip
from ..rig.blender.sampling import ClipSampler, JoinedSampler
from .fk_frames import Chosen, ControlTracks, are_carried, controls_in

_MOST = 2000
"""Frames that are read together: Esc is heard between two readings."""

_Read = tuple[SampledChains, ControlTracks, int]
"""The chains as they were read with others, what was found for one clip, and the row of its first frame."""


class ClipTracks:
    """For work that plays these clips one after the other, and changes in each nothing that another is read from."""

    def __init__(self, ob: bpy.types.Object, clips: Iterable[Clip]) -> None:
        self._object = ob
        self._samplers = clip_samplers(ob, clips)
        self._groups: dict[Clip | None, Sequence[Clip]] = {
            clip: group for group in _alike(self._samplers.items()) for clip in group
        }
        self._read: dict[Clip | None, _Read] = {}

    def of(self, context: bpy.types.Context, chosen: Chosen, frames: range) -> ControlTracks | None:
        """Where controls have to be in the clip that plays, over these frames; None where that is to be found for it
        alone."""
        clip = playing_clip(self._object)
        group = self._groups.get(clip, ())
        if group:
            self._read_together(context, chosen, group)
            self._groups |= dict.fromkeys(group, ())
        read = self._read.pop(clip, None)
        if clip is None or read is None or self._samplers[clip].frames != frames:
            return None
        sampled, tracks, start = read
        return tracks if sampled.is_confirmed(context, [*chosen], frames, start) else None

    def _read_together(self, context: bpy.types.Context, chosen: Chosen, group: Sequence[Clip]) -> None:
        samplers = [self._samplers[clip] for clip in group]
        counts = [len(each.frames) for each in samplers]
        sampler = JoinedSampler(samplers)
        sampled = None if are_carried(chosen) else sampled_chains(context, [*chosen], sum(counts), sampler)
        found = sampled and controls_in(chosen, sampled.readings, sampler, counts)
        if sampled is not None and found is not None:
            starts = [0, *accumulate(counts[:-1])]
            self._read |= {clip: (sampled, *each) for clip, *each in zip(group, found, starts, strict=True)}


def _alike(samplers: Iterable[tuple[Clip, ClipSampler]]) -> Iterator[list[Clip]]:
    """Clips that set the same channels, of not too many frames together."""
    groups: dict[frozenset, list[Clip]] = {}
    rows: dict[frozenset, int] = {}
    for clip, own in samplers:
        if len(own.frames) < FEWEST_SAMPLED:
            continue
        rows[own.channels] = rows.get(own.channels, 0) + len(own.frames)
        if rows[own.channels] > _MOST and own.channels in groups:
            yield groups.pop(own.channels)
            rows[own.channels] = len(own.frames)
        groups.setdefault(own.channels, []).append(clip)
    yield from groups.values()
