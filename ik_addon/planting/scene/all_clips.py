"""Several clips of an armature planted, each in a copy of its own; those in which no foot stands stay as they are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import bpy

from ...bake.clips import clips_made
from ...bake.stepping import Steps
from ...rig.blender.clips import Clip
from ...solvers import ChainError


@dataclass(frozen=True, slots=True)
class ClipsPlanted:
    """What was done to clips. reports: of those that were planted. left_out: why the others were not. made: what takes
    the place of each."""

    reports: Mapping[Clip, dict]
    left_out: Mapping[Clip, ChainError]
    made: Mapping[Clip, Clip]


def clips_planted(
    ob: bpy.types.Object, clips: Sequence[Clip], work: Callable[[Clip], Steps[dict | ChainError]]
) -> Steps[ClipsPlanted]:
    """In steps: plant clips of an armature object, one after the other while each plays alone.

    work: plants the one that plays; returns its report, or why no foot stands in it. Raises the first ChainError, with
    nothing changed, if none can be planted.
    """
    results, made = yield from clips_made(ob, clips, work)
    found = dict(zip(clips, results, strict=True))
    left_out = {clip: said for clip, said in found.items() if isinstance(said, ChainError)}
    reports = {clip: said for clip, said in found.items() if not isinstance(said, ChainError)}
    if not reports:
        raise left_out[clips[0]]
    return ClipsPlanted(reports, left_out, made)
