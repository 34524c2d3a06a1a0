"""The operators of clips for games: root motion, in place, loops, and baking all clips for an exporter."""

from collections.abc import Callable
from itertools import starmap
from math import degrees

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ... import messages
from ...authoring.selection import chain_armature
from ...bake.stepping import Steps, part_of
from ...rig.blender.armatures import armature_objects
from ...rig.blender.clips import Clip, clip_name, clips_of, motion_frames, playing_clip
from ...rig.blender.evaluation import is_rendering
from ...solvers import ChainError
from ..base import ChainOperator, common_start, length_words, not_editable, registration_of
from .clip_list import ClipsMade, ClipWork, draw_clips, strips_asked
from .polls import baked_already, none_live, nothing_aside
from .stepped import SteppedOperator, faults_of_clips, running

_ROOTS = [
    ("AUTO", "Automatic", "The topmost bone above the hips. The armature object if there is none"),
    ("BONE", "Bone", "A bone that carries the hips"),
    ("OBJECT", "Object", "The armature object"),
]
_DIRECTIONS = [
    ("TO_ROOT", "Hips to Root", "The root travels with the hips"),
    ("TO_HIPS", "Root to Hips", "The root stands still, and the hips travel"),
]
_PATHS = [
    ("HIPS", "As the Hips", "The root moves as the hips do, with all their sway"),
    ("STRAIGHT", "Straight", "The root moves at constant speed to the same end"),
]

_ENGINES = [
    ("NONE", "None", "Bake as it is"),
    ("UNREAL", "Unreal", "Fill bones such as ik_foot_l, check names, root bone, frames and loops"),
    ("UNITY", "Unity", "Fill bones such as LeftFootIK, and check names and loops"),
    ("GODOT", "Godot", "Fill bones such as LeftFootIK, and check names and loops"),
]
_CYCLES = [
    ("AUTO", "Automatic", "All frames if their ends are close, else the best cycle"),
    ("WHOLE", "Whole Clip", "All frames"),
    ("RANGE", "Range", "From Start to End. The new action has only these frames"),
]

_TURNED = 10.0
"""Degrees by which a body may have turned at the end of a loop before it is worth a word."""


class OfClip(ClipsMade, SteppedOperator):
    """What the operators share: each makes a new action of a clip, or of several."""

    needs = (not_editable,)
    panel = "ANALYTIC_IK_PT_travel"

    body: StringProperty(name="Hips", description="Bone that carries the body. If empty, the one that carries the legs")

    def offered_clips(self, ob: bpy.types.Object) -> list[Clip]:
        return clips_of(ob)

    def draw(self, context: bpy.types.Context) -> None:
        draw_clips(self, self.drawn())
        self.drawn(*strips_asked(self, context))
        self.layout.prop_search(self, "body", chain_armature(context).pose, "bones")

    def words_of_clips(self, context: bpy.types.Context, reports: list[dict], clips: str, result: str) -> str:
        return messages.TRAVEL_CLIPS(work=self.bl_label, clips=clips, result=result)


class ANALYTIC_IK_OT_root_motion(OfClip):
    """Move the travel of the hips to a root, or back. Nothing else moves in the world"""

    bl_idname = "analytic_ik.root_motion"
    bl_label = "Root Motion"
    label = "Root motion"

    direction: EnumProperty(name="Direction", description="Where the travel goes", items=_DIRECTIONS)
    root: EnumProperty(name="Root", description="What travels", items=_ROOTS)
    root_bone: StringProperty(name="Root Bone", description="Bone that carries the hips")
    path: EnumProperty(name="Path", description="How the root moves", items=_PATHS)
    height: BoolProperty(name="Height", description="The root also moves up and down with the hips")
    heading: BoolProperty(name="Heading", description="The root also turns with the hips, about the vertical")

    def draw(self, context: bpy.types.Context) -> None:
        draw_clips(self, self.drawn())
        layout = self.drawn(*strips_asked(self, context), "direction", "root")
        if self.root == "BONE":
            layout.prop_search(self, "root_bone", chain_armature(context).pose, "bones")
        if self.direction == "TO_ROOT":
            self.drawn("path", "height", "heading")
        self.layout.prop_search(self, "body", chain_armature(context).pose, "bones")

    def clip_work(self, context: bpy.types.Context, ob: bpy.types.Object) -> ClipWork:
        from ...travel.root_motion import moved_to_hips, moved_to_root

        if self.root == "BONE" and not self.root_bone:
            raise ChainError(messages.NO_ROOT_CHOSEN(armature=ob.name))
        root = {"AUTO": None, "BONE": self.root_bone, "OBJECT": ""}[self.root]
        if self.direction == "TO_HIPS":
            return lambda _: moved_to_hips(context, ob, root, self.body)
        return lambda _: moved_to_root(context, ob, root, self.body, self.height, self.heading, self.path == "STRAIGHT")

    def words(self, context: bpy.types.Context, report: dict) -> str:
        if self.direction == "TO_HIPS":
            return _said(messages.TO_HIPS, report, body=report["body"])
        return _said(messages.TO_ROOT, report, body=report["body"], distance=_length(context, report["distance"]))


class ANALYTIC_IK_OT_in_place(OfClip):
    """Make a clip walk in place. Feet that stand slide back at constant speed"""

    bl_idname = "analytic_ik.in_place"
    bl_label = "In Place"
    label = "In place"

    def clip_work(self, context: bpy.types.Context, ob: bpy.types.Object) -> ClipWork:
        from ...travel.root_motion import clip_in_place

        return lambda _: clip_in_place(context, ob, self.body)

    def words(self, context: bpy.types.Context, report: dict) -> str:
        return _said(messages.PUT_IN_PLACE, report, speed=_length(context, report["speed"]))


class ANALYTIC_IK_OT_travel(OfClip):
    """Make a clip in place travel, so that its feet stand"""

    bl_idname = "analytic_ik.travel"
    bl_label = "Travel"
    label = "Travel"

    def clip_work(self, context: bpy.types.Context, ob: bpy.types.Object) -> ClipWork:
        from ...travel.root_motion import clip_travelling

        return lambda _: clip_travelling(context, ob, self.body)

    def words(self, context: bpy.types.Context, report: dict) -> str:
        lengths = {name: _length(context, report[name]) for name in ("distance", "speed")}
        return _said(messages.TRAVELING, report, **lengths)


class ANALYTIC_IK_OT_make_loop(OfClip):
    """Make the last frame of a clip equal to the first. \
What travels goes on, and feet in contact stay where they are"""

    bl_idname = "analytic_ik.make_loop"
    bl_label = "Make Loop"
    label = "Loop"

    cycle: EnumProperty(name="Cycle", description="Which frames become the loop", items=_CYCLES)
    frame_start: IntProperty(name="Start", description="First frame of the loop")
    frame_end: IntProperty(name="End", description="Last frame of the loop, which shows what the first one does")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        motion = motion_frames(chain_armature(context))
        if motion and not self.properties.is_property_set("frame_start"):
            self.frame_start, self.frame_end = motion.start, motion.stop - 1
        return super().invoke(context, event)

    def draw(self, context: bpy.types.Context) -> None:
        draw_clips(self, self.drawn())
        self.drawn(*strips_asked(self, context), "cycle")
        if self.cycle == "RANGE":
            self.drawn("frame_start", "frame_end")
        self.layout.prop_search(self, "body", chain_armature(context).pose, "bones")

    def clip_work(self, context: bpy.types.Context, ob: bpy.types.Object) -> ClipWork:
        from ...travel.loop import clip_looped

        if self.cycle == "RANGE" and self.frame_end <= self.frame_start:
            raise ChainError(messages.LAST_BEFORE_FIRST(last=self.frame_end, first=self.frame_start))
        return lambda _: clip_looped(context, ob, self.body, self.cycle, range(self.frame_start, self.frame_end + 1))

    def words(self, context: bpy.types.Context, report: dict) -> str:
        first, last = report["frames"]
        angle = abs(degrees(report["turned"]))
        self.level = "WARNING" if angle > _TURNED else "INFO"
        turned = messages.LOOP_TURNED(angle=angle) if angle > _TURNED else ""
        distance = _length(context, report["difference"])
        return messages.LOOPED(first=first, last=last, distance=distance, turned=turned)


def _next_clips(ob: bpy.types.Object) -> dict[str, str]:
    """The names of clips that may follow the one that plays, by what is shown of them: Blender's lists take what is
    after a "|" for a hint."""
    clips = clips_of(ob)
    names = {clip: clip_name(clip, clips) for clip in clips}
    start = common_start(names.values())
    return {name.removeprefix(start): name for clip, name in names.items() if clip != playing_clip(ob)}


def _that_may_follow(_operator: object, context: bpy.types.Context, _text: str) -> list[str]:
    ob = chain_armature(context)
    return [*_next_clips(ob)] if ob else []


class ANALYTIC_IK_OT_join_clips(SteppedOperator):
    """Let another clip go on from this one. \
They are joined where the same feet stand, and these stay"""

    bl_idname = "analytic_ik.join_clips"
    bl_label = "Join Clips"
    label = "Joining"
    needs = (not_editable,)
    panel = "ANALYTIC_IK_PT_travel"

    clip: StringProperty(
        name="Next Clip", description="Action that goes on from this one", search=_that_may_follow, search_options=set()
    )
    end: IntProperty(
        name="End at", description="Last frame of this clip before the next one goes on. 0: where they are most alike"
    )
    body: StringProperty(name="Hips", description="Bone that carries the body. If empty, the one that carries the legs")

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.drawn("clip", "end")
        layout.prop_search(self, "body", chain_armature(context).pose, "bones")

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        from ...travel.joining import clips_joined

        name = _next_clips(ob).get(self.clip, self.clip)
        report = yield from clips_joined(context, ob, name, self.body, self.end)
        (first, last), distance = report["frames"], _length(context, report["difference"])
        return messages.JOINED(clip=self.clip, frame=report["joint"][0], first=first, last=last, distance=distance)


def _said(message: Callable[..., str], report: dict, **given: object) -> str:
    bone, armature = report["root"], report["armature"]
    root = messages.BONE(bone=bone) if bone else messages.OBJECT(object=armature)
    first, last = report["frames"]
    return message(root=root, first=first, last=last, **given)


def _length(context: bpy.types.Context, length_world: float) -> str:
    return length_words(context.scene, length_world)


class ANALYTIC_IK_OT_bake_for_export(SteppedOperator):
    """Bake every clip under its own name, and put controls aside. \
Back to Live takes it back"""

    bl_idname = "analytic_ik.bake_for_export"
    bl_label = "Bake All Clips for Export"
    needs = (not_editable, baked_already, none_live)
    label = "Baking"

    all: BoolProperty(name="All", description="Include all armatures of the scene")
    engine: EnumProperty(name="Engine", description="Game engine that the clips are for", items=_ENGINES)

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        from ...bake.baking import chains_of

        missing = super().missing(context)
        is_free = chain_armature(context) is None and running() is None and not is_rendering()
        # While none is active, all can be baked.
        return "" if is_free and any(chains_of([ob]) for ob in scene_armatures(context.scene)) else missing

    def draw(self, context: bpy.types.Context) -> None:
        self.drawn("engine")

    def steps(self, context: bpy.types.Context, ob: bpy.types.Object) -> Steps[str]:
        from ...bake.baking import chains_of
        from ...travel.engines import clips_baked_for_engine, grown_clips

        obs = [each for each in scene_armatures(context.scene) if chains_of([each])] if self.all else [ob]
        if None in obs or not obs:
            raise ChainError(messages.NO_ARMATURE())
        files, grown = [], {clip: why for each in obs for clip, why in grown_clips(each).items()}
        for number, each in enumerate(obs):
            report = yield from part_of(clips_baked_for_engine(context, each, self.engine), number, len(obs))
            files += report["files"]
        found = [
            (entry["clip"], said) for file in files for entry in file.get("engine", ()) for said in entry["warnings"]
        ]
        warnings = list(starmap(_warning, [*found, *grown.items()]))
        result = faults_of_clips(files) or "".join(warnings[:1])
        self.level = "WARNING" if result else "INFO"
        return messages.BAKED_FOR_EXPORT(clips=messages.CLIPS(count=len(files)), result=result)


def _warning(clip: str, said: str) -> str:
    return f". {messages.OF(whose=clip, said=messages.as_part(said))}"


class ANALYTIC_IK_OT_back_to_live(ChainOperator):
    """Bring back the live clips and the controls. \
The clips that were baked for export go"""

    bl_idname = "analytic_ik.back_to_live"
    bl_label = "Back to Live"
    needs = (not_editable, nothing_aside)

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...authoring.for_export import back_to_live

        return messages.BACK_TO_LIVE(clips=messages.CLIPS(count=back_to_live(ob)))


def scene_armatures(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The armature objects of a scene."""
    return [ob for ob in armature_objects() if ob.name in scene.objects]


register, unregister = registration_of(__name__)
