"""The operator that matches a retargeted clip to its source."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ... import messages
from ...authoring.selection import active_object, chain_armature
from ...bake.certificate import chains_words
from ...bake.clips import channels_of_clips, clip_playing, clips_words, frames_of
from ...bake.report import frames_words
from ...bake.stepping import Steps
from ...matching.clips import clip_of_source
from ...matching.match import source_matched
from ...rig.blender.clips import Clip
from ...rig.blender.motion import motion_frames
from ...solvers import ChainError
from ..classes import registration_of
from .clip_list import ClipsMade, draw_clips, strips_asked
from .ranges import ChainsOperator

_SCALES = [
    ("LIMBS", "Limb Lengths", "By the lengths of legs and arms"),
    ("FRAME", "Measured at Frame", "By the same pose of both at one frame"),
]
_ARMS = [
    ("SHOULDER", "Each Shoulder", "Each hand is as far from its shoulder, in arm lengths"),
    ("CHEST", "Between Shoulders", "Hands that meet stay together"),
    ("GROUND", "Ground", "Hands are scaled as feet are, for props and the floor"),
]


def _armatures(operator: "ANALYTIC_IK_OT_match_source", context: bpy.types.Context, text: str) -> list[str]:
    """The armatures that may be a source, whose names have a text."""
    own = chain_armature(context)
    return [ob.name for ob in _others(context, own) if text.lower() in ob.name.lower()]


class ANALYTIC_IK_OT_match_source(ClipsMade, ChainsOperator):
    """Bring hands and feet of a retargeted clip back to its source. \
Select the source first, then the character"""

    bl_idname = "analytic_ik.match_source"
    bl_label = "Match Source"
    label = "Matching"

    source: StringProperty(name="Source", description="Armature that the clip was retargeted from", search=_armatures)
    scale: EnumProperty(name="Scale", description="How much larger the character is", items=_SCALES)
    scale_frame: IntProperty(name="Frame", description="Frame at which source and character have the same pose")
    arms: EnumProperty(name="Hands From", description="From where the places of hands are measured", items=_ARMS)
    body: BoolProperty(name="Body Follows", description="Move the body so that limbs reach", default=True)

    def default_range(self, context: bpy.types.Context) -> range:
        """The frames over which keys move the armature."""
        return motion_frames(chain_armature(context)) or super().default_range(context)

    offered_range = default_range

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        ob = chain_armature(context)
        self._take_selected(context, ob)
        others = _others(context, ob)
        if not self.source and len(others) == 1:
            self.source = others[0].name
        if not self.properties.is_property_set("scale_frame"):
            self.scale_frame = context.scene.frame_current
        return super().invoke(context, event)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        draw_clips(self, layout)
        layout.prop(self, "source", icon="ARMATURE_DATA")
        layout.prop(self, "scale")
        if self.scale == "FRAME":
            layout.prop(self, "scale_frame")
        for name in ("arms", "body"):
            layout.prop(self, name)
        ranged = ("frame_start", "frame_end") if self.clips == "CURRENT" else ()
        for name in (*ranged, *strips_asked(self, context), "only_selected"):
            layout.prop(self, name)

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        self._take_selected(context, ob)
        if not self.source:
            raise ChainError(messages.NO_SOURCE(armature=ob.name))
        source = context.scene.objects.get(self.source)
        if source is None:
            raise ChainError(messages.SOURCE_GONE(source=self.source))
        if self.clips == "ALL":
            return (yield from self._all_clips(context, ob, source))
        report = yield from self.current_clip(ob, self._match(context, ob, source, self.frames(context)))
        self.level = "WARNING" if report["unreached_frames"] or report["left_out"] else "INFO"
        return _summary(report)

    def _match(
        self, context: bpy.types.Context, ob: bpy.types.Object, source: bpy.types.Object, frames: range
    ) -> Steps[dict]:
        scale_frame = self.scale_frame if self.scale == "FRAME" else None
        tips = [ob.pose.bones[chain.tip] for chain in self.chains(ob)]
        return (yield from source_matched(context, ob, source, frames, scale_frame, self.arms, self.body, tips))

    def _all_clips(self, context: bpy.types.Context, ob: bpy.types.Object, source: bpy.types.Object) -> Steps[str]:
        channels = channels_of_clips(source)

        def work(clip: Clip) -> Steps[dict]:
            with clip_playing(source, clip_of_source(source, clip), channels):
                return (yield from self._match(context, ob, source, frames_of(ob)))

        reports, result = yield from self.each_clip(context, ob, work)
        return messages.MATCHED_CLIPS(
            chains=chains_words(len(reports[0]["limbs"])),
            source=source.name,
            clips=clips_words(len(reports)),
            result=result,
        )

    def _take_selected(self, context: bpy.types.Context, ob: bpy.types.Object) -> None:
        """Take the other armature that is selected as the source, if none is given."""
        if self.properties.is_property_set("source"):
            return
        chosen = [other for other in _others(context, ob) if other.select_get() and other != active_object(context)]
        if len(chosen) == 1:
            self.source = chosen[0].name


def _others(context: bpy.types.Context, ob: bpy.types.Object | None) -> list[bpy.types.Object]:
    """The armature objects in the view besides one."""
    return [other for other in context.view_layer.objects if other.type == "ARMATURE" and other != ob]


def _summary(report: dict) -> str:
    first, last, _ = report["frames"]
    unreached, result = report["unreached_frames"], ""
    if unreached:
        result += messages.UNREACHED(frames=frames_words(len(unreached)), frame=unreached[0])
    if report["left_out"]:
        result += messages.MATCH_LEFT_OUT(tips=messages.quoted(report["left_out"]))
    return messages.MATCHED(
        chains=chains_words(len(report["limbs"])),
        source=report["source"],
        first=first,
        last=last,
        part=report["body_shift"] / max(limb["length"] for limb in report["limbs"]),
        result=result,
    )


register, unregister = registration_of(__name__)
