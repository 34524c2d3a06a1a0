"""What is read of the clips of an armature object, together where clips set the same channels."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate
from typing import Generic, TypeVar

import bpy

from ..bake.clips import clip_samplers
from ..bake.collecting import FEWEST_SAMPLED, SampledChains, sampled_chains
from ..rig.blender.clips import Clip
from ..rig.blender.sampling import ClipSampler, JoinedSampler, Sampler
from ..rig.model.order import ChainName
from ..rig.pose.track_solving import Reading

_MOST = 2000
"""Frames that are read together: Esc is heard between two readings."""

Found = TypeVar("Found")
ReadTogether = Callable[[Mapping[ChainName, Reading], Sampler, Sequence[int]], Sequence[Found] | None]
"""Makes of chains that were read in clips one after the other, of so many frames each, what is found in each clip; None
where that cannot be told."""


class ClipTracks(Generic[Found]):
    """For work that plays these clips one after the other, and changes in each nothing that another is read from.

    within: what is read of a clip is read inside. at_once: the first work is preceded by reading all clips; else each
    by reading those that are read together with its own.
    """

    def __init__(
        self,
        ob: bpy.types.Object,
        clips: Iterable[Clip],
        within: Callable[[bpy.types.Object], AbstractContextManager] = nullcontext,
        at_once: bool = False,
    ) -> None:
        self._samplers = clip_samplers(ob, clips, within)
        self._at_once = at_once
        self._groups: dict[Clip | None, Sequence[Clip]] = {
            clip: group for group in _alike(self._samplers.items()) for clip in group
        }
        self._read: dict[Clip | None, tuple[SampledChains, Found, int]] = {}

    def of(
        self,
        context: bpy.types.Context,
        tips: Sequence[bpy.types.PoseBone],
        frames: range,
        clip: Clip | None,
        read: ReadTogether[Found],
    ) -> Found | None:
        """What is found of these chains in a clip, which plays, over these frames; None where that is to be found for
        it alone."""
        for group in dict.fromkeys(
            map(tuple, self._groups.values() if self._at_once else [self._groups.get(clip, ())])
        ):
            self._read_together(context, tips, group, read)
            self._groups |= dict.fromkeys(group, ())
        found = self._read.pop(clip, None)
        if clip is None or found is None or self._samplers[clip].frames != frames:
            return None
        # Of each clip: the chains as they were read with others, what was found, and the row of its first frame.
        sampled, own, start = found
        return own if sampled.is_confirmed(context, tips, frames, start) else None

    def _read_together(
        self,
        context: bpy.types.Context,
        tips: Sequence[bpy.types.PoseBone],
        group: Sequence[Clip],
        read: ReadTogether[Found],
    ) -> None:
        samplers = [self._samplers[clip] for clip in group]
        counts = [len(each.frames) for each in samplers]
        sampler = JoinedSampler(samplers)
        sampled = sampled_chains(context, tips, sum(counts), sampler) if group else None
        found = sampled and read(sampled.readings, sampler, counts)
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
