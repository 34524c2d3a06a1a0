"""The operators that plant feet, lock hands and feet to objects, and match a clip to its source."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ... import messages
from ...authoring.placing import BLEND
from ...authoring.selection import (
    active_object,
    all_tips,
    chain_armature,
    chosen_controls,
    chosen_tips,
    driven_by,
    selected_bones,
    tip_of_chain,
)
from ...bake.stepping import Steps
from ...planting.feet.options import GROUND_ITEMS, SHOWN
from ...rig.blender.clips import motion_frames, playing_clip
from ...solvers import ChainError
from ..base import ChainOperator, closed_panel, length_words, not_editable, registration_of
from .clip_list import ClipsMade, ClipWork, draw_clips, draw_frames, strips_asked
from .polls import neither_live_nor_unrigged, none_live, shown_controls
from .rigs import sentences
from .stepped import ChainsOperator, RangeOperator, SteppedOperator

if TYPE_CHECKING:
    from ...authoring.placing import Control

_PANEL = "ANALYTIC_IK_PT_planting"
_ON_PATH = tuple(name for name in SHOWN if name.startswith("path_"))
_KINDS = {bool: BoolProperty, float: FloatProperty, str: EnumProperty}


class PlantOptions:
    """The properties of an operator that are the options of planting."""

    __annotations__ = {name: _KINDS[type(default)](default=default, **said) for name, (default, said) in SHOWN.items()}


def _others(context: bpy.types.Context, kind: str) -> list[bpy.types.Object]:
    """The objects of a kind in the view besides the armature that is worked on."""
    own = chain_armature(context)
    return [ob for ob in context.view_layer.objects if ob.type == kind and ob != own]


def _any(kind: str) -> Callable[..., list[str]]:
    """Finds the names of these that have a text."""
    return lambda _, context, text: [ob.name for ob in _others(context, kind) if text.lower() in ob.name.lower()]


def _draw_closed(operator: bpy.types.Operator, title: str, *names: str) -> None:
    """Options that are seldom needed: with all of them OK would be off a small screen."""
    body = closed_panel(operator.layout, f"ANALYTIC_IK_{title}", title)
    for name in names if body is not None else ():
        body.prop(operator, name)


class OverMotion(RangeOperator):
    """Operators that step through the frames over which keys move the armature."""

    needs = (not_editable, none_live)

    def default_range(self, context: bpy.types.Context) -> range:
        return motion_frames(chain_armature(context)) or super().default_range(context)

    def offered_range(self, context: bpy.types.Context) -> range:
        return self.default_range(context)


class ClipsOverMotion(ClipsMade, OverMotion, ChainsOperator):
    """The same of operators that make several clips."""

    def current_frames(self, context: bpy.types.Context) -> range:
        return self.frames(context)


class ANALYTIC_IK_OT_plant_feet(PlantOptions, ClipsOverMotion):
    """Keep feet still while they touch the ground. \
Legs are rigged if none are, and the body follows so that every leg reaches"""

    bl_idname = "analytic_ik.plant_feet"
    bl_label = "Plant Feet"
    label = "Planting"
    panel = _PANEL
    needs = (not_editable, neither_live_nor_unrigged)

    ground: EnumProperty(name="Ground", description="What the feet stand on", items=GROUND_ITEMS)
    height: FloatProperty(name="Height", description="Height of level ground", subtype="DISTANCE")
    ground_object: StringProperty(name="Object", description="Mesh that the feet stand on", search=_any("MESH"))
    path: StringProperty(name="Path", description="Curve to walk along. If empty, as captured", search=_any("CURVE"))
    footprints: BoolProperty(
        name="Footprints",
        description="Add an Empty for each step. Move, turn or raise it, and Update Feet puts the foot there",
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        from ...planting.scene.footprints import footprints_of

        curves = [ob for ob in context.view_layer.objects if ob.type == "CURVE" and ob.select_get()]
        if len(curves) == 1:
            self.path = curves[0].name
            if not self.properties.is_property_set("clips"):
                # Not all that a character can do goes along a curve, such as kicks.
                self.clips = "CURRENT"
        if not self.properties.is_property_set("footprints"):
            # Those that there are would stay behind.
            tips = all_tips(chain_armature(context))
            self.footprints = any(footprint for tip in tips for footprint in footprints_of(tip))
        return super().invoke(context, event)

    def draw(self, context: bpy.types.Context) -> None:
        draw_clips(self, self.drawn())
        draw_frames(self)
        layout = self.drawn(*strips_asked(self, context), "ground")
        if self.ground == "LEVEL":
            layout.prop(self, "height")
        elif self.ground == "OBJECT":
            layout.prop(self, "ground_object", icon="MESH_DATA")
            layout.prop(self, "find_footing")
        layout.prop(self, "path", icon="CURVE_DATA")
        if self.path and len(self.chosen_clips) > 1:
            going = [item for item in self.chosen_clips if item.use] if self.clips == "ALL" else [None]
            layout.label(text=messages.GO_ALONG(clips=messages.CLIPS(count=len(going))))
        if self.path:
            row = layout.row()
            row.enabled = not self.path_fit
            row.prop(self, "path_stride")
            self.drawn("path_fit")
            _draw_closed(self, "Path Options", *(name for name in _ON_PATH if name not in ("path_stride", "path_fit")))
        self.drawn("footprints", "anyway")
        apart = ("find_footing", "anyway", *_ON_PATH, *["clearance"] * (self.ground == "CAPTURED"))
        _draw_closed(self, "Feet and Body", "only_selected", *(name for name in SHOWN if name not in apart))

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        from ...authoring.control_bones import new_bones_taken_back
        from ...authoring.rigging import rig_legs
        from ...rig.data.undoing import all_or_nothing

        if all_tips(ob):
            return (yield from super().steps(context, ob))
        as_bones = self.options.is_invoke and shown_controls(context, ob) == "BONES"
        with new_bones_taken_back(*[ob] * as_bones), all_or_nothing([ob]) as undo:
            for level, words in sentences(ob, rig_legs(context, ob, as_bones=as_bones)):
                self.report({level}, words)
            undo.nothing_more_is_made()
            return (yield from super().steps(context, ob))

    def clip_work(self, context: bpy.types.Context, ob: bpy.types.Object) -> ClipWork:
        from ...planting.feet.options import Options
        from ...planting.scene.path import path_named
        from ...planting.scene.plant import Ground, planted_and_kept, skins_of

        tips, options = _legs(ob, self.only_selected), Options(**{name: getattr(self, name) for name in SHOWN})
        ground = Ground(self.ground, self.height, context.scene.objects.get(self.ground_object))
        path, skins = path_named(context.scene, self.path), skins_of(ob, self.asked_clips(ob))
        given = options, ground, self.footprints, path, skins
        return lambda frames: planted_and_kept(context, tips, frames, *given)

    def words(self, context: bpy.types.Context, report: dict) -> str:
        return _plant_summary(context, report)

    def words_of_clips(self, context: bpy.types.Context, reports: list[dict], clips: str, result: str) -> str:
        steps = sum(chain["steps"] for report in reports for chain in report["chains"])
        return messages.PLANTED_CLIPS(steps=messages.STEPS(count=steps), clips=clips, result=result)


class OfCurrentClip(SteppedOperator):
    """Operators on what an armature plays that ask for nothing."""

    needs = (not_editable, none_live)
    panel = _PANEL
    asks = False


class ANALYTIC_IK_OT_path_from_clip(OfCurrentClip):
    """Draw a curve along which the clip walks. \
Edit it, choose it as Path in Plant Feet, or press Update Feet"""

    bl_idname = "analytic_ik.path_from_clip"
    bl_label = "Path from Clip"
    label = "Path from Clip"

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        from ...planting.scene.plant import path_from_clip
        from ...planting.scene.sources import kept_settings

        planted = (kept_settings(ob) or {}).get("frames")
        frames = range(*planted) if planted else motion_frames(ob)
        if frames is None:
            raise ChainError(messages.NO_MOTION()).of(messages.ARMATURE(armature=ob.name))
        curve, away = yield from path_from_clip(context, _legs(ob, only_selected=False), frames)
        points, planted_on = len(curve.data.splines[0].bezier_points), (kept_settings(ob) or {}).get("path")
        then = messages.PATH_UPDATE() if planted_on == curve.name else messages.PATH_CHOOSE()
        return messages.PATH_MADE(object=curve.name, points=points, away=messages.LEG_LENGTHS(part=away), then=then)


class ANALYTIC_IK_OT_plant_again(OfCurrentClip):
    """Plant the feet again, with contacts and footprints as they are now"""

    bl_idname = "analytic_ik.plant_again"
    bl_label = "Update Feet"
    label = "Planting"

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        from ...planting.scene.plant import planted_again

        report = yield from planted_again(context, ob)
        self.level = "WARNING" if report["unreached_frames"] else "INFO"
        return _plant_summary(context, report)


def _legs(ob: bpy.types.Object, only_selected: bool) -> list[bpy.types.PoseBone]:
    """The tips of an armature object's legs; ChainError where there is none."""
    from ...planting.scene.reading import leg_tips

    selected = {bone.name for bone in selected_bones(ob)}
    tips = [tip for tip in leg_tips(ob) if not only_selected or tip.name in selected]
    if not tips:
        missing = messages.NO_LIVE_CHAIN_SELECTED if only_selected else messages.NO_LIVE_CHAIN
        raise ChainError(missing(armature=ob.name))
    return tips


def _plant_summary(context: bpy.types.Context, report: dict) -> str:
    first, last, _ = report["frames"]
    steps, result = sum(chain["steps"] for chain in report["chains"]), _unreached(report)
    if report["loop_jump"]:
        result += messages.LOOP_JUMPS(way=length_words(context.scene, report["loop_jump"]))
    return messages.PLANTED(
        steps=messages.STEPS(count=steps),
        legs=messages.CHAINS(count=len(report["chains"])),
        first=first,
        last=last,
        part=report["body_shift"] / max(chain["length"] for chain in report["chains"]),
        result=result,
    )


def _unreached(report: dict) -> str:
    """In which frames limbs do not reach, after another sentence."""
    frames = report["unreached_frames"]
    return f". {messages.UNREACHED(frames=messages.FRAMES(count=len(frames)), frame=frames[0])}" if frames else ""


_CONTACTS = [
    ("RANGE", "Whole Range", "Locked from Start to End, as hand and object are now"),
    ("FOUND", "Found", "Locked where the hand is near the object and moves with it"),
]


class ANALYTIC_IK_OT_lock_to_object(OverMotion):
    """Keep a hand or foot on an object or bone that moves. \
Select the object first, then the hand or its control"""

    bl_idname = "analytic_ik.lock_to_object"
    bl_label = "Lock to Object"
    label = "Locking"
    panel = _PANEL

    object: StringProperty(name="Object", description="Object that the hand or foot is locked to")
    bone: StringProperty(name="Bone", description="Bone of that object. If empty, the object itself")
    contacts: EnumProperty(name="Contacts", description="When the hand or foot is locked", items=_CONTACTS)
    blend: FloatProperty(
        name="Blend",
        description="Time to ease in and out of a lock",
        default=BLEND,
        min=0.0,
        soft_max=2.0,
        subtype="TIME_ABSOLUTE",
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self._take_selected(context, chain_armature(context))
        return super().invoke(context, event)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.drawn()
        layout.prop_search(self, "object", context.scene, "objects")
        ob = context.scene.objects.get(self.object)
        if ob is not None and ob.pose is not None:
            layout.prop_search(self, "bone", ob.pose, "bones")
        self.drawn("frame_start", "frame_end", "contacts", "blend")

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        from ...authoring.placing import Control
        from ...planting.scene.lock import locked, moves

        self._take_selected(context, ob)
        if not self.object:
            raise ChainError(messages.NOTHING_HELD(armature=ob.name))
        held = Control(context.scene.objects.get(self.object), self.bone)
        chosen = [tip for tip in chosen_tips(context, ob) if tip.analytic_ik_enabled]
        # What is held may be a bone of another limb: selected, it is not meant.
        tips = [tip for tip in chosen if held.ob is None or not moves(tip, held)] or chosen
        if not tips:
            raise ChainError(messages.NO_LIVE_CHAIN_SELECTED(armature=ob.name))
        locks = yield from locked(context, tips, held, self.frames(context), self.contacts, self.blend)
        names = messages.quoted(dict.fromkeys(lock.tip for lock, _ in locks))
        first, last = min(span[0] for _, span in locks), max(span[-1] for _, span in locks)
        return messages.LOCKED(tips=names, held=held.shown, first=first, last=last)

    def _take_selected(self, context: bpy.types.Context, ob: bpy.types.Object) -> None:
        """Take what is selected beside the limb as what it is held to, if nothing is given."""
        held = None if self.properties.is_property_set("object") else _selected(context, ob)
        if held is not None:
            self.object, self.bone = held.ob.name, held.bone


class ANALYTIC_IK_OT_release(ChainOperator):
    """Remove the locks of the selected limbs. \
Controls with keys play these again, others stay where they are"""

    bl_idname = "analytic_ik.release"
    bl_label = "Release"
    needs = (not_editable, none_live)

    tip: StringProperty(
        name="Limb", description="Tip bone of the limb. If empty, the selected ones", options={"SKIP_SAVE"}
    )

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...planting.scene.lock import release

        tips = [self.tip] if self.tip else [tip.name for tip in chosen_tips(context, ob)]
        return messages.RELEASED(tips=messages.quoted(release(context, ob, tips)))


def _selected(context: bpy.types.Context, ob: bpy.types.Object) -> "Control | None":
    """What is selected beside a limb: an object, else a bone of another limb or of none."""
    from ...authoring.placing import Control

    active = active_object(context)
    for other in chosen_controls(context, ob):
        if other != active and not driven_by(context, other):
            return Control(other)
    if active != ob or ob.mode != "POSE":
        return None
    bone = ob.data.bones.active
    own = tip_of_chain(ob.pose.bones[bone.name]) if bone is not None else None
    for other in selected_bones(ob):
        if (
            other.name != bone.name
            and (own is None or tip_of_chain(other) != own)
            and not driven_by(context, ob, other.name)
        ):
            return Control(ob, other.name)
    return None


_SCALES = [
    ("LIMBS", "Limb Lengths", "By the lengths of legs and arms"),
    ("FRAME", "Measured at Frame", "By the same pose of both at one frame"),
]
_ARMS = [
    ("SHOULDER", "Each Shoulder", "Each hand is as far from its shoulder, in arm lengths"),
    ("CHEST", "Between Shoulders", "Hands that meet stay together"),
    ("GROUND", "Ground", "Hands are scaled as feet are, for props and the floor"),
]


class ANALYTIC_IK_OT_match_source(ClipsOverMotion):
    """Bring hands and feet of a retargeted clip back to its source. \
Select the source first, then the character"""

    bl_idname = "analytic_ik.match_source"
    bl_label = "Match Source"
    label = "Matching"
    panel = _PANEL

    source: StringProperty(
        name="Source",
        description="Armature that the clip was retargeted from",
        search=_any("ARMATURE"),
    )
    scale: EnumProperty(name="Scale", description="How much larger the character is", items=_SCALES)
    scale_frame: IntProperty(name="Frame", description="Frame at which source and character have the same pose")
    arms: EnumProperty(name="Hands From", description="From where the places of hands are measured", items=_ARMS)
    body: BoolProperty(name="Body Follows", description="Move the body so that limbs reach", default=True)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self._take_selected(context)
        others = _others(context, "ARMATURE")
        if not self.source and len(others) == 1:
            self.source = others[0].name
        if not self.properties.is_property_set("scale_frame"):
            self.scale_frame = context.scene.frame_current
        return super().invoke(context, event)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.drawn()
        draw_clips(self, layout)
        layout.prop(self, "source", icon="ARMATURE_DATA")
        layout.prop(self, "scale")
        if self.scale == "FRAME":
            layout.prop(self, "scale_frame")
        self.drawn("arms", "body")
        draw_frames(self)
        self.drawn(*strips_asked(self, context), "only_selected")

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        self._take_selected(context)
        if not self.source:
            raise ChainError(messages.NO_SOURCE(armature=ob.name))
        if self.source not in context.scene.objects:
            raise ChainError(messages.SOURCE_GONE(source=self.source))
        return (yield from super().steps(context, ob))

    def clip_work(self, context: bpy.types.Context, ob: bpy.types.Object) -> ClipWork:
        from ...bake.clips import channels_of_clips, clip_playing
        from ...matching.match import clip_of_source, source_matched

        source, tips = context.scene.objects[self.source], [ob.pose.bones[chain.tip] for chain in self.chains(ob)]
        given = self.scale_frame if self.scale == "FRAME" else None, self.arms, self.body, tips
        # Whoever matches says that something else is no source.
        has_clips = self.clips == "ALL" and source.pose is not None
        channels = channels_of_clips(source) if has_clips else set()

        def work(frames: range) -> Steps[dict]:
            playing, clip = nullcontext(), playing_clip(ob)
            if has_clips and clip is not None:
                playing = clip_playing(source, clip_of_source(source, clip), channels)
            with playing:
                return (yield from source_matched(context, ob, source, frames, *given))

        return work

    def words(self, context: bpy.types.Context, report: dict) -> str:
        first, last, _ = report["frames"]
        result = _unreached(report)
        if report["left_out"]:
            result += messages.MATCH_LEFT_OUT(tips=messages.quoted(report["left_out"]))
        return messages.MATCHED(
            chains=messages.CHAINS(count=len(report["limbs"])),
            source=report["source"],
            first=first,
            last=last,
            part=report["body_shift"] / max(limb["length"] for limb in report["limbs"]),
            result=result,
        )

    def words_of_clips(self, context: bpy.types.Context, reports: list[dict], clips: str, result: str) -> str:
        chains = messages.CHAINS(count=len(reports[0]["limbs"]))
        return messages.MATCHED_CLIPS(chains=chains, source=self.source, clips=clips, result=result)

    def _take_selected(self, context: bpy.types.Context) -> None:
        """Take the other armature that is selected as the source, if none is given."""
        if self.properties.is_property_set("source"):
            return
        others, active = _others(context, "ARMATURE"), active_object(context)
        chosen = [other for other in others if other.select_get() and other != active]
        if len(chosen) == 1:
            self.source = chosen[0].name


register, unregister = registration_of(__name__)
