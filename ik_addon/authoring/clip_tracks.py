"""What is read of the clips of an armature object, together where clips set the same channels."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import accumulate
from typing import Any

import bpy

from ..bake.clips import clip_samplers
from ..bake.collecting import FEWEST_SAMPLED, SampledChains, sampled_chains
from ..rig.blender.clips import Clip, playing_clip
from ..rig.blender.sampling import ClipSampler, JoinedSampler, Sampler
from ..rig.model.order import ChainName
from ..rig.pose.track_solving import Reading

_MOST = 2000
"""Frames that are read together: all that is read of them is in memory at once."""

Read = Callable[[Mapping[ChainName, Reading], Sampler, Sequence[int]], Sequence | None]
"""Finds something in each of the clips in which chains were read one after the other, of so many frames each; None
where that cannot be told of one of them."""


class ClipTracks:
    """For work that plays these clips one after the other. All are read before the first is changed, and work on one
    changes nothing that another is confirmed by. within: the context in which a clip plays as it is read."""

    def __init__(self, ob: bpy.types.Object, clips: Iterable[Clip], within: Callable = nullcontext) -> None:
        self._object = ob
        self._samplers = clip_samplers(ob, clips, within)
        self._groups = [*_alike(self._samplers.items())]
        # By clip: the chains as they were read with others, what was found, and the row of its first frame.
        self._read: dict[Clip | None, tuple[SampledChains, Any, int]] = {}

    def of(self, context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], frames: range, read: Read) -> Any:
        """What is found of these chains in the clip that plays, over these frames; None where that is to be found for
        it alone."""
        while self._groups:
            group = self._groups.pop()
            samplers = [self._samplers[clip] for clip in group]
            counts = [len(each.frames) for each in samplers]
            sampler = JoinedSampler(samplers)
            sampled = sampled_chains(context, tips, sum(counts), sampler)
            found = sampled and read(sampled.readings, sampler, counts)
            if sampled is not None and found is not None:
                starts = [0, *accumulate(counts[:-1])]
                self._read |= {clip: (sampled, *each) for clip, *each in zip(group, found, starts, strict=True)}
        clip = playing_clip(self._object)
        sampled, found, start = self._read.pop(clip, (None, None, 0))
        if clip is None or sampled is None or self._samplers[clip].frames != frames:
            return None
        return found if sampled.is_confirmed(context, tips, frames, start) else None


def _alike(samplers: Iterable[tuple[Clip | None, ClipSampler]]) -> Iterator[list[Clip | None]]:
    """Clips that set the same channels, of not too many frames together."""
    groups: dict[frozenset, list[Clip | None]] = {}
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
