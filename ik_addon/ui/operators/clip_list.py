"""Which clips an operator goes through: the one that plays, or those that are ticked in a list."""

from collections.abc import Callable

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, StringProperty

from ... import messages
from ...authoring.selection import chain_armature
from ...bake.certificate import frames_words
from ...bake.stepping import Steps, frame_kept
from ...rig.blender.clips import Clip, clip_name, playing_clip
from ...solvers import ChainError
from ..base import registration_of

_IN_A_COLUMN = 16
"""More clips stand in two columns."""


class ANALYTIC_IK_clip(bpy.types.PropertyGroup):
    """A clip in the list; `name` is its action's."""

    name: StringProperty(name="Name", description="The clip's name")
    use: BoolProperty(name="Use", description="Include this clip", default=True)


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

    def clip_names(self, ob: bpy.types.Object) -> list[str] | None:
        """The names of the clips that are ticked, None for all; ChainError if none is."""
        if not self.chosen_clips:
            return None
        ticked = [item.name for item in self.chosen_clips if item.use]
        if not ticked:
            raise ChainError(messages.NO_CLIP_TICKED(armature=ob.name))
        return ticked


class ClipsMade(OverClips):
    """The same of operators that make another action of each clip.

    level: as an operator has it.
    """

    level: str

    strips: BoolProperty(
        name="Update NLA Strips",
        description="Let the NLA strips of these clips play the new actions",
        default=True,
    )

    def current_clip(self, ob: bpy.types.Object, work: Steps[dict]) -> Steps[dict]:
        """In steps: do work on what an armature object plays; comes to its report."""
        from ...bake.clips import strips_play

        clip = playing_clip(ob)
        report = yield from work
        if self.strips and clip is not None:
            strips_play(ob, {clip: playing_clip(ob)})
        return report

    def each_clip(
        self, context: bpy.types.Context, ob: bpy.types.Object, work: Callable[[Clip], Steps[dict]]
    ) -> Steps[tuple[list[dict], str]]:
        """In steps: do work on each clip that is ticked. Comes to its reports, and to what a sentence says besides of
        them: frames that are unreached, and clips that were refused and are left out.

        ChainError if all are.
        """
        from ...bake.clips import chosen_clips, clips_tried, strips_play

        clips = chosen_clips(ob, self.clip_names(ob), self.offered_clips(ob))
        with frame_kept(context.scene):
            # Also if none is done, controls are back where the clip that plays has them.
            done = yield from clips_tried(ob, clips, work)
        if self.strips:
            strips_play(ob, done.made)
        reports, result = done.reports, ""
        unreached_by = {clip: report.get("unreached_frames", ()) for clip, report in reports.items()}
        worst = max(unreached_by, key=lambda clip: len(unreached_by[clip]))
        if unreached := unreached_by[worst]:
            result += messages.CLIP_UNREACHED(clip=clip_name(worst, clips), frames=frames_words(len(unreached)))
        if done.left_out:
            names = messages.quoted(clip_name(clip, clips) for clip in done.left_out)
            result += messages.CLIPS_LEFT_OUT(clips=names, why=next(iter(done.left_out.values())))
        self.level = "WARNING" if result else "INFO"
        return list(reports.values()), result


def strips_asked(operator: ClipsMade, context: bpy.types.Context) -> list[str]:
    """The option for NLA strips, if the armature may have some that play what the operator replaces."""
    data = chain_armature(context).animation_data
    has_strips = data is not None and any(track.strips for track in data.nla_tracks)
    return ["strips"] if operator.clips == "ALL" or has_strips else []


def draw_clips(operator: OverClips, layout: bpy.types.UILayout) -> None:
    """The choice, where there are several, and the list."""
    if len(operator.chosen_clips) > 1:
        layout.row().prop(operator, "clips", expand=True)
    if operator.clips == "ALL":
        columns = 2 if len(operator.chosen_clips) > _IN_A_COLUMN else 1
        box = layout.box()
        # The boxes stand before their names, without the margin of labels: names of clips are long.
        box.use_property_split = False
        grid = box.grid_flow(columns=columns, even_columns=True, align=True)
        # Importers begin all names with that of the armature.
        starts = {item.name.partition("|")[0] for item in operator.chosen_clips}
        shared = f"{starts.pop()}|" if len(starts) == 1 else ""
        for item in operator.chosen_clips:
            grid.prop(item, "use", text=item.name.removeprefix(shared))


register, unregister = registration_of(__name__)
