"""The operator that lets feet stand."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ... import messages
from ...authoring.selection import chain_armature, selected_bones
from ...bake.certificate import chains_words
from ...bake.clips import clips_words, frames_of
from ...bake.report import frames_words
from ...bake.stepping import Steps
from ...planting.feet.options import Options
from ...planting.scene.ground import Ground
from ...planting.scene.legs import leg_tips
from ...planting.scene.plant import planted
from ...planting.scene.report import steps_words
from ...planting.scene.sources import keep_settings, kept_settings
from ...rig.blender.motion import motion_frames
from ...solvers import ChainError
from ..classes import registration_of
from .clip_list import ClipsMade, draw_clips, strips_asked
from .ranges import ChainsOperator, SteppedOperator

_GROUNDS = [
    ("CAPTURED", "As Captured", "Each foot stands as high as it does in the capture"),
    ("LEVEL", "Level", "All feet stand at one height"),
    ("OBJECT", "Object", "Feet stand on a mesh"),
]
_DIRECTIONS = [
    ("DOWN", "Down", "The body moves straight down, sideways only if that is not enough"),
    ("NEAREST", "Nearest", "The body moves by as little as possible, in any direction"),
]
_IN_LEG_LENGTHS = ("slide", "softness", "clearance")
_OF_GROUND = ("ground", "height", "ground_object")
_SETTINGS = ("slide", "blend", "body", "body_direction", "softness", "clearance", "find_footing")


class ANALYTIC_IK_OT_plant_feet(ClipsMade, ChainsOperator):
    """Keep feet still while they touch the ground. The body follows so that every leg reaches"""

    bl_idname = "analytic_ik.plant_feet"
    bl_label = "Plant Feet"
    label = "Planting"

    ground: EnumProperty(name="Ground", description="What the feet stand on", items=_GROUNDS)
    height: FloatProperty(name="Height", description="Height of level ground", subtype="DISTANCE")
    ground_object: StringProperty(name="Object", description="Mesh object that the feet stand on")
    footprints: BoolProperty(
        name="Footprints",
        description="Add an Empty for each step. Move, turn or raise it, and Update Feet puts the foot there",
    )
    slide: FloatProperty(
        name="Slide",
        description="How far a foot may slide in one contact, in leg lengths. Farther is another step. 0 is automatic",
        min=0.0,
        soft_max=0.5,
    )
    blend: FloatProperty(
        name="Blend",
        description="Shortest time to blend in and out of a contact",
        default=0.12,
        min=0.0,
        subtype="TIME_ABSOLUTE",
    )
    body: FloatProperty(
        name="Body", description="How much the body follows the feet", default=1.0, min=0.0, max=1.0, subtype="FACTOR"
    )
    body_direction: EnumProperty(name="Direction", description="Where the body moves", items=_DIRECTIONS)
    softness: FloatProperty(
        name="Extension",
        description="How far legs may extend, in leg lengths. Legs that the capture extends more may do so",
        default=0.985,
        precision=3,
        min=0.5,
        max=1.0,
    )
    clearance: FloatProperty(
        name="Clearance",
        description="Height over the ground in the air, in leg lengths",
        default=0.03,
        min=0.0,
        soft_max=0.2,
    )

    find_footing: BoolProperty(
        name="Find Footing",
        description="Move feet that would stand over an edge of the ground",
        default=True,
    )

    def default_range(self, context: bpy.types.Context) -> range:
        """The frames over which keys move the armature."""
        return motion_frames(chain_armature(context)) or super().default_range(context)

    offered_range = default_range

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        draw_clips(self, layout)
        ranged = ("frame_start", "frame_end") if self.clips == "CURRENT" else ()
        for name in (*ranged, *strips_asked(self, context), "only_selected", "ground"):
            layout.prop(self, name)
        if self.ground == "LEVEL":
            layout.prop(self, "height")
        elif self.ground == "OBJECT":
            layout.prop_search(self, "ground_object", context.scene, "objects")
            layout.prop(self, "find_footing")
        apart = ("find_footing", *_IN_LEG_LENGTHS)
        for name in ("footprints", *(name for name in _SETTINGS if name not in apart)):
            layout.prop(self, name)
        layout.label(text=messages.IN_LEG_LENGTHS())
        for name in _IN_LEG_LENGTHS:
            layout.prop(self, name)

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        settings = {name: getattr(self, name) for name in (*_OF_GROUND, "footprints", *_SETTINGS)}
        settings |= {"tips": [tip.name for tip in _legs(ob, self.only_selected)]}
        if self.clips == "ALL":
            return (yield from self._all_clips(context, ob, settings))
        report = yield from self.current_clip(ob, _plant(context, ob, settings, self.frames(context)))
        self.level = "WARNING" if report["unreached_frames"] else "INFO"
        return _summary(report)

    def _all_clips(self, context: bpy.types.Context, ob: bpy.types.Object, settings: dict) -> Steps[str]:
        # Not every clip has feet that stand.
        reports, result = yield from self.each_clip(context, ob, lambda _: _plant(context, ob, settings, frames_of(ob)))
        steps = sum(chain["steps"] for report in reports for chain in report["chains"])
        return messages.PLANTED_CLIPS(steps=steps_words(steps), clips=clips_words(len(reports)), result=result)


class ANALYTIC_IK_OT_plant_again(SteppedOperator):
    """Plant the feet again, with contacts and footprints as they are now"""

    bl_idname = "analytic_ik.plant_again"
    bl_label = "Update Feet"
    label = "Planting"

    asks = False

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        settings = kept_settings(ob)
        if settings is None:
            raise ChainError(messages.NOT_PLANTED(armature=ob.name))
        report = yield from _plant(context, ob, settings, range(*settings["frames"]))
        self.level = "WARNING" if report["unreached_frames"] else "INFO"
        return _summary(report)


def _plant(context: bpy.types.Context, ob: bpy.types.Object, settings: dict, frames: range) -> Steps[dict]:
    """Plant with settings as they are kept, and keep them."""
    tips = [ob.pose.bones[name] for name in settings["tips"] if name in ob.pose.bones]
    if not tips:
        raise ChainError(messages.NO_LIVE_CHAIN(armature=ob.name))
    ground = Ground(settings["ground"], settings["height"], context.scene.objects.get(settings["ground_object"]))
    options = Options(**{name: settings[name] for name in _SETTINGS if name in settings})
    report = yield from planted(context, tips, frames, options, ground, settings["footprints"])
    keep_settings(ob, {**settings, "frames": [frames.start, frames.stop, frames.step]})
    return report


def _legs(ob: bpy.types.Object, only_selected: bool) -> list[bpy.types.PoseBone]:
    """The tips of an armature object's legs; ChainError where there is none."""
    selected = {bone.name for bone in selected_bones(ob)}
    tips = [tip for tip in leg_tips(ob) if not only_selected or tip.name in selected]
    if not tips:
        missing = messages.NO_LIVE_CHAIN_SELECTED if only_selected else messages.NO_LIVE_CHAIN
        raise ChainError(missing(armature=ob.name))
    return tips


def _summary(report: dict) -> str:
    first, last, _ = report["frames"]
    steps = sum(chain["steps"] for chain in report["chains"])
    unreached, result = report["unreached_frames"], ""
    if unreached:
        result = messages.UNREACHED(frames=frames_words(len(unreached)), frame=unreached[0])
    return messages.PLANTED(
        steps=steps_words(steps),
        legs=chains_words(len(report["chains"])),
        first=first,
        last=last,
        part=report["body_shift"] / max(chain["length"] for chain in report["chains"]),
        result=result,
    )


register, unregister = registration_of(__name__)
