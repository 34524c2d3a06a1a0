"""Which clips an operator goes through: the one that plays, or those that are ticked in a list."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from ... import messages
from ...authoring.selection import chain_armature
from ...bake.stepping import Steps
from ...rig.blender.clips import Clip, clip_name
from ...solvers import ChainError
from ..base import common_start, registration_of

if TYPE_CHECKING:
    from ...bake.clips import Chosen, Clips

ClipWork = Callable[[range], Steps[dict]]

_ROWS = 5
"""Clips that are shown at once: with more rows OK would be off a small screen."""


class ANALYTIC_IK_clip(bpy.types.PropertyGroup):
    """A clip in the list; `name` is its action's."""

    name: StringProperty(name="Name", description="The clip's name")
    use: BoolProperty(name="Use", description="Include this clip", default=True)


class ANALYTIC_IK_UL_clips(bpy.types.UIList):
    """The clips with their ticks; it scrolls, and finds by name."""

    def draw_item(self, _context, layout, data, item, _icon, _active_data, _active_property, *_) -> None:
        layout.prop(item, "use", text=item.name.removeprefix(common_start(each.name for each in data.chosen_clips)))


class OverClips:
    """What operators share that can go through several clips of an armature."""

    clips: EnumProperty(
        name="Clips",
        description="Which actions of the armature",
        items=[
            ("CURRENT", "Current", "The action that the armature plays"),
            ("ALL", "All", "Every action that moves the controls, each over its own frames"),
        ],
    )
    chosen_clips: CollectionProperty(
        name="Chosen Clips",
        description="The clips, and whether each is included",
        type=ANALYTIC_IK_clip,
        options={"SKIP_SAVE"},
    )
    clip_index: IntProperty(name="Clip", description="The clip's number in the list", options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Fill the list with what there is; all are ticked."""
        clips = self.offered_clips(chain_armature(context))
        self.chosen_clips.clear()
        for clip in clips:
            self.chosen_clips.add().name = clip_name(clip, clips)
        return super().invoke(context, event)

    def offered_clips(self, ob: bpy.types.Object) -> list[Clip]:
        """The clips of an armature object that can be chosen: those that move the controls of its chains."""
        from ...bake.clips import rigged_clips

        return rigged_clips(ob)

    def asked(self, ob: bpy.types.Object) -> "Clips":
        """The clips to work on; ChainError if none is ticked."""
        if self.clips == "CURRENT" or not self.chosen_clips:
            return self.clips
        ticked = [item.name for item in self.chosen_clips if item.use]
        if not ticked:
            raise ChainError(messages.NO_CLIP_TICKED(armature=ob.name))
        return ticked

    def asked_clips(self, ob: bpy.types.Object) -> "Chosen":
        """The same, found among those that are offered."""
        from ...bake.clips import chosen_clips

        return chosen_clips(ob, self.asked(ob), self.offered_clips(ob))


class WithStrips(OverClips):
    """The same of operators that make another action of each clip."""

    strips: BoolProperty(
        name="Update NLA Strips",
        description="Let the NLA strips of these clips play the new actions",
        default=True,
    )


class ClipsMade(WithStrips):
    """The same, with the work: each clip may refuse it, and the others are done.

    level: as an operator has it.
    """

    level: str

    def clip_work(self, context: bpy.types.Context, ob: bpy.types.Object) -> ClipWork:
        """Does it in steps to the clip that plays, over these frames; comes to a report."""
        raise NotImplementedError

    def words(self, context: bpy.types.Context, report: dict) -> str:
        """What was done to what plays, as a sentence."""
        raise NotImplementedError

    def words_of_clips(self, context: bpy.types.Context, reports: list[dict], clips: str, result: str) -> str:
        """What was done to several clips, as a sentence. clips: how many, in words. result: its end."""
        raise NotImplementedError

    def current_frames(self, context: bpy.types.Context) -> range:
        """The frames of what plays."""
        return range(0)

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        from ...bake.clips import clip_entries, clips_tried, strips_play

        is_current, clips = self.clips == "CURRENT", self.asked_clips(ob)
        frames = self.current_frames(context) if is_current else None
        done = yield from clips_tried(ob, clips, self.clip_work(context, ob), frames)
        if self.strips:
            strips_play(ob, done.made)
        reports = [*done.reports.values()]
        if is_current:
            self.level = "WARNING" if reports[0].get("unreached_frames") or reports[0].get("left_out") else "INFO"
            return self.words(context, reports[0])
        unreached = {clip: report.get("unreached_frames", ()) for clip, report in done.reports.items()}
        worst, result = max(unreached, key=lambda clip: len(unreached[clip])), ""
        called = {clip: entry["clip"] for clip, entry in zip(clips, clip_entries(clips), strict=True)}
        if unreached[worst]:
            result += messages.CLIP_UNREACHED(clip=called[worst], frames=messages.FRAMES(count=len(unreached[worst])))
        reasons: dict[str, list[str]] = {}
        for clip, error in done.left_out.items():
            reasons.setdefault(str(error).removesuffix("."), []).append(called[clip])
        result += "".join(messages.CLIPS_LEFT_OUT(clips=messages.quoted(own), why=why) for why, own in reasons.items())
        self.level = "WARNING" if result else "INFO"
        return self.words_of_clips(context, reports, messages.CLIPS(count=len(reports)), result)


def strips_asked(operator: WithStrips, context: bpy.types.Context) -> list[str]:
    """The option for NLA strips, if the armature may have some that play what the operator replaces."""
    data = chain_armature(context).animation_data
    has_strips = data is not None and any(track.strips for track in data.nla_tracks)
    return ["strips"] if len(operator.chosen_clips) > 1 or has_strips else []


def draw_clips(operator: OverClips, layout: bpy.types.UILayout) -> None:
    """The choice, where there are several, and the list."""
    if len(operator.chosen_clips) > 1:
        layout.row().prop(operator, "clips", expand=True)
        # In the same place for both choices, so that OK is where it was.
        column = layout.column()
        column.enabled = operator.clips == "ALL"
        # The boxes stand before their names, without the margin of labels: names of clips are long.
        column.use_property_split = False
        rows = min(len(operator.chosen_clips), _ROWS)
        kind, clips = ANALYTIC_IK_UL_clips.__name__, "chosen_clips"
        column.template_list(kind, "", operator, clips, operator, "clip_index", rows=rows, maxrows=rows, sort_lock=True)


def draw_frames(operator: OverClips, *names: str) -> None:
    """Options for the frames of what plays, which stay in their places where several clips have their own.

    The operator's ends, then those of the names given.
    """
    column = operator.layout.column()
    column.use_property_split, column.use_property_decorate = True, False
    column.enabled = operator.clips == "CURRENT"
    for name in ("frame_start", "frame_end", *names):
        column.prop(operator, name)


register, unregister = registration_of(__name__)
