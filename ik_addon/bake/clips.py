"""Work over clips of an armature: what plays, all, or some, each of these played alone with its controls."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeVar

import bpy

from .. import messages
from ..rig.blender.animation import bone_of_path
from ..rig.blender.cleanup import surely
from ..rig.blender.clips import (
    Clip,
    channels_kept,
    clip_in,
    clip_name,
    clips_of,
    motion_frames,
    moved_channels,
    play,
    playing_alone,
    playing_clip,
    put_at_rest,
    slot_of,
)
from ..rig.blender.file_memory import file_memory
from ..rig.blender.sampling import ClipSampler
from ..rig.data.control_clips import controls_follow, partner, separate_controls
from ..rig.data.undoing import all_or_nothing
from ..rig.model.order import ChainName
from ..solvers import ChainError
from .baking import baked, by_armature, finish_chains
from .keys import check_keyable
from .report import publish
from .stepping import Steps, at_once, frame_kept, part_of

Result = TypeVar("Result")

Clips = Literal["CURRENT", "ALL"] | Sequence[str]
"""Which clips: what plays, as it plays; all; or those of these names."""
Chosen = Sequence[Clip | None]
"""Clips to work on. None, alone, for what plays, as it plays: `CURRENT`."""


@contextmanager
def clip_playing(ob: bpy.types.Object, clip: Clip, channels: set[tuple[str, str]]) -> Iterator[None]:
    """Inside, an armature object plays one of its clips alone, and its controls what belongs to that.

    channels: `channels_of_clips`. Those that this one does not set are at rest, and not as the clip before
    left them. Afterwards all is as it was.
    """
    # Something may be made for them meanwhile; and what handlers saw playing inside plays no more.
    with (
        surely(file_memory.played.clear),
        surely(lambda: controls_follow(ob)),
        playing_alone(_with_partners(ob, clip)),
        channels_kept(ob, channels),
    ):
        put_at_rest(ob, channels - moved_channels(clip))
        yield


def _with_partners(ob: bpy.types.Object, clip: Clip) -> list[tuple[bpy.types.Object, Clip]]:
    partners = [(control, partner(control, clip)) for control in separate_controls(ob)]
    return [(ob, clip), *((control, own) for control, own in partners if own is not None)]


def clip_samplers(ob: bpy.types.Object, clips: Iterable[Clip], within: Callable) -> dict[Clip | None, ClipSampler]:
    """What samples each of some clips of an armature object, with its controls, over its own frames; by what plays
    within a context for the object."""
    found, objects = {}, [ob, *separate_controls(ob)]
    for clip in clips:
        with playing_alone(_with_partners(ob, clip)):
            frames = frames_of(ob)
            with within(ob):
                found[playing_clip(ob)] = ClipSampler(frames, objects)
    return found


def channels_of_clips(ob: bpy.types.Object) -> set[tuple[str, str]]:
    """The channels of bones that any clip of an armature object sets."""
    return {channel for clip in clips_of(ob) for channel in moved_channels(clip)}


def over_clips(
    ob: bpy.types.Object,
    clips: Chosen,
    work: Callable[[range], Steps[Result]],
    frames: range | None = None,
) -> Steps[list[Result]]:
    """In steps: do some work on each clip of an armature object while it plays; returns what each comes to.

    work: gets the frames of the clip; of what plays as it plays: `frames`.
    """
    if None in clips:
        return [(yield from work(frames))]  # pyright: ignore[reportArgumentType]
    channels, results = channels_of_clips(ob), []
    for number, clip in enumerate(clips):
        with clip_playing(ob, clip, channels):
            try:
                results.append((yield from part_of(work(frames_of(ob)), number, len(clips))))
            except ChainError as error:
                raise error.of(messages.CLIP(clip=clip_name(clip, filter(None, clips)))) from error
        # Work on what was sampled has no steps of its own.
        yield number + 1, len(clips)
    return results


def clips_made(
    ob: bpy.types.Object,
    clips: Chosen,
    work: Callable[[range], Steps[Result]],
    frames: range | None = None,
) -> Steps[tuple[list[Result], dict[Clip, Clip]]]:
    """The same for work that may let the armature object play another action, made of the clip.

    What it played before is replaced by what was made of that. Returns also what was made of each. Whatever fails
    leaves nothing behind.
    """
    made: dict[Clip, Clip] = {}

    def noted(frames: range) -> Steps[Result]:
        clip = playing_clip(ob)
        result = yield from work(frames)
        if clip is not None:
            made[clip] = playing_clip(ob)
        return result

    if None in clips:
        return (yield from over_clips(ob, clips, noted, frames)), made
    with all_or_nothing([ob, *separate_controls(ob)]):
        results = yield from over_clips(ob, clips, noted)
        own = playing_clip(ob)
        if own in made:
            play(ob, made[own])
            controls_follow(ob)
        return results, made


@dataclass(frozen=True, slots=True)
class ClipsDone:
    """What was done to clips. reports: of those to which it could be. left_out: why the others were refused. made: what
    takes the place of each."""

    reports: Mapping[Clip | None, dict]
    left_out: Mapping[Clip | None, ChainError]
    made: Mapping[Clip, Clip]


def clips_tried(
    ob: bpy.types.Object,
    clips: Chosen,
    work: Callable[[range], Steps[dict | ChainError]],
    frames: range | None = None,
) -> Steps[ClipsDone]:
    """The same for work that some clips may refuse: these stay as they are, and the others are done.

    work: returns its report, or raises or returns why the clip is left out. Raises the first ChainError, with nothing
    changed, if all are.
    """

    def tried(frames: range) -> Steps[dict | ChainError]:
        try:
            return (yield from work(frames))
        except ChainError as error:
            return error

    # Also if none is done, controls are back where the clip that plays has them.
    with frame_kept(bpy.context.scene):
        results, made = yield from clips_made(ob, clips, tried, frames)
    found = dict(zip(clips, results, strict=True))
    left_out = {clip: said for clip, said in found.items() if isinstance(said, ChainError)}
    reports = {clip: said for clip, said in found.items() if not isinstance(said, ChainError)}
    if not reports:
        raise left_out[clips[0]]
    return ClipsDone(reports, left_out, made)


def rigged_clips(ob: bpy.types.Object) -> list[Clip]:
    """The clips of an armature object in which the controls of its chains have something to play; the assigned one
    always. Without controls all of its clips."""
    if not len(ob.analytic_ik_record_controls):
        return clips_of(ob)
    own, controls = playing_clip(ob), separate_controls(ob)
    bones = {kept.subtarget for kept in ob.analytic_ik_record_controls if kept.target == ob}

    def is_rigged(clip: Clip) -> bool:
        if any(partner(control, clip) for control in controls):
            return True
        return any(bone_of_path(curve.data_path)[0] in bones for curves in clip.curves for curve in curves)

    return [clip for clip in clips_of(ob) if clip == own or is_rigged(clip)]


def chosen_clips(ob: bpy.types.Object, clips: Clips, among: Sequence[Clip] | None = None) -> Chosen:
    """The clips of an armature object to work on. ChainError names what is none.

    among: the clips to choose from; None: those that are rigged.
    """
    if clips == "CURRENT":
        return [None]
    known = rigged_clips(ob) if among is None else list(among)
    if clips == "ALL":
        if not known:
            raise ChainError(messages.NO_CLIP(armature=ob.name))
        return known
    by_name = {clip_name(clip, known): clip for clip in known}
    for name in clips:
        if name not in by_name:
            raise ChainError(messages.NO_SUCH_CLIP(clip=name, armature=ob.name))
    return [by_name[name] for name in clips]


def frames_of(ob: bpy.types.Object) -> range:
    """The frames of the clip that an armature object plays; of one that holds a pose the frame of its keys."""
    frames, clip = motion_frames(ob), playing_clip(ob)
    if frames is not None or clip is None:
        return frames or range(1)
    frame = round(min((curve.range()[0] for curves in clip.curves for curve in curves), default=0.0))
    return range(frame, frame + 1)


def clips_baked(
    context: bpy.types.Context,
    chains: Sequence[ChainName],
    action: str = "COPY",
    after: str = "MUTE",
    tolerance: float = 0.0,
    clips: Clips = "ALL",
    frames: range | None = None,
    strips: bool = False,
) -> Steps[dict]:
    """In steps: bake chains in what plays over some frames, or in clips of their armatures, each over its own; returns
    the report, with an entry for each clip.

    action, after, tolerance: as in `baked`; a COPY or NEW action is made of each clip, and what was assigned is
    replaced by what was made of it. strips: NLA strips play what was made of clips, too. Raises ChainError, with
    nothing changed, as that does.
    """
    if clips == "CURRENT":
        return (yield from baked(context, chains, frames or range(0), action, after, tolerance))
    of_armature = by_armature(chains)
    chosen = {ob: chosen_clips(ob, clips) for ob in of_armature}
    actions = [clip.action for own in chosen.values() for clip in own if clip] if action == "CURRENT" else []
    entries, made = [], {}
    with all_or_nothing(of_armature, actions=actions):
        for number, (ob, own) in enumerate(chosen.items()):
            check_keyable(ob, action)

            def work(frames: range, ob: bpy.types.Object = ob) -> Steps[dict]:
                return baked(context, of_armature[ob], frames, action, after, tolerance, last=False)

            reports, made[ob] = yield from part_of(clips_made(ob, own, work), number, len(of_armature))
            entries += [report["files"][0] | name for report, name in zip(reports, clip_entries(own), strict=True)]
        if after != "KEEP":
            finish_chains(context, chains, after)
        for ob in made if strips else ():
            strips_play(ob, made[ob])
    return publish(*entries)


bake_clips = at_once(clips_baked)


def clip_entries(clips: Chosen) -> list[dict]:
    """What the entries of clips in a report say of them: their names."""
    return [{"clip": clip_name(clip, filter(None, clips))} if clip else {} for clip in clips]


def strips_play(ob: bpy.types.Object, made: Mapping[Clip, Clip]) -> None:
    """Let the NLA strips of an armature object play what was made of their clips.

    What else has slots in the actions of clips, such as shape keys, plays its own slots in what was made of these.
    """
    _strips_play(ob.animation_data, made)
    others: dict[bpy.types.ID, dict[Clip, Clip]] = {}
    for clip, new in made.items():
        kept = {slot.handle for slot in getattr(new.action, "slots", ())}
        for slot in getattr(clip.action, "slots", ()):
            for other in slot.users() if slot.handle in kept and slot.handle != clip.slot else ():
                others.setdefault(other, {})[clip_in(clip.action, slot.handle)] = clip_in(new.action, slot.handle)
    # Controls play what belongs to the clip that plays.
    for other in others.keys() - {ob, *separate_controls(ob)}:
        if not other.is_editable:
            continue
        _strips_play(other.animation_data, others[other])
        clip = playing_clip(other)
        if clip in others[other]:
            play(other, others[other][clip])


def _strips_play(data: bpy.types.AnimData, made: Mapping[Clip, Clip]) -> None:
    for track in data.nla_tracks:
        for strip in track.strips:
            if strip.action is None:
                continue
            new = made.get(clip_in(strip.action, getattr(strip, "action_slot_handle", 0)))
            if new is not None and new.action != strip.action:
                start, end = strip.action_frame_start, strip.action_frame_end
                strip.action = new.action
                if new.slot:
                    strip.action_slot = slot_of(new)
                strip.action_frame_start, strip.action_frame_end = start, end
