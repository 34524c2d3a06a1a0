"""The operators of the certificate, and the buttons that fix what is wrong with a chain."""

import json

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty

from ... import messages
from ...authoring.keys import clear_marks, mark_troubles
from ...authoring.selection import chain_armature, select_bone
from ...bake.certificate import Certificate, certificate_text, read_certificates
from ...rig.blender.clips import clip_called, names_of, play, playing_clip
from ...rig.data.control_clips import controls_follow
from ...rig.status.problems import Cure, check_changeable
from ...solvers import ChainError
from ..base import ChainOperator, not_editable, registration_of
from .polls import MakesControls, no_report, not_marked, shown_controls


class ANALYTIC_IK_OT_go_to_frame(ChainOperator):
    """Go to this frame and select the chain's tip bone"""

    bl_idname = "analytic_ik.go_to_frame"
    bl_label = "Go to Frame"

    frame: IntProperty(name="Frame", description="Frame to go to")
    bone: StringProperty(name="Bone", description="Tip bone to select. If empty, the selection stays")
    clip: StringProperty(name="Clip", description="Clip that the armature plays. If empty, it stays")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        if self.clip:
            _show_clip(ob, self.clip)
        context.scene.frame_set(self.frame)
        if not self.bone:
            return messages.FRAME(frame=self.frame)
        if self.bone not in ob.pose.bones:
            self.report({"WARNING"}, messages.BONE_GONE(armature=ob.name, bone=self.bone))
            return messages.FRAME(frame=self.frame)
        select_bone(ob, self.bone)
        return messages.WENT_TO_BONE(frame=self.frame, bone=self.bone)


class ANALYTIC_IK_OT_mark_problems(ChainOperator):
    """Add timeline markers where chains miss their targets or may pop. \
Replaces the markers of the last time"""

    bl_idname = "analytic_ik.mark_problems"
    bl_label = "Mark Problems"
    needs = (no_report,)

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        certificate = shown_certificate(ob)
        count = mark_troubles(context.scene, ob, certificate) if certificate else 0
        return messages.MARKED(count=count) if count else messages.NOTHING_TO_MARK()


class ANALYTIC_IK_OT_clear_marks(ChainOperator):
    """Remove the timeline markers of Mark Problems. Your own markers stay"""

    bl_idname = "analytic_ik.clear_marks"
    bl_label = "Remove Markers"
    needs = (not_marked,)

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        return messages.UNMARKED(count=clear_marks(context.scene, ob))


class ANALYTIC_IK_OT_copy_certificate(ChainOperator):
    """Copy the certificate to the clipboard"""

    bl_idname = "analytic_ik.copy_certificate"
    bl_label = "Copy Certificate"
    needs = (no_report,)

    form: EnumProperty(
        name="Form",
        description="Format of the copied text",
        items=[
            ("TEXT", "Text", "Words and a table"),
            ("JSON", "JSON", "All numbers, for scripts"),
        ],
    )

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        report = json.loads(ob.analytic_ik_report)
        text = json.dumps(report, indent=1) if self.form == "JSON" else certificate_text(report)
        context.window_manager.clipboard = text
        return messages.COPIED(count=len(text.splitlines()))


def shown_certificate(ob: bpy.types.Object) -> Certificate | None:
    """The certificate of the clip that an armature object plays; if it has none, the worst. None without a report."""
    certificates, playing = read_certificates(ob.analytic_ik_report), playing_clip(ob)
    names = names_of(playing) if playing else []
    own = [certificate for certificate in certificates if certificate.clip in names]
    found = sorted(own, key=lambda certificate: names.index(certificate.clip)) or certificates
    return next(iter(found), None)


def _show_clip(ob: bpy.types.Object, name: str) -> None:
    """Let an armature object, and its controls, play the clip that the report calls so."""
    made = any(each.baked for each in read_certificates(ob.analytic_ik_report) if each.clip == name)
    clip = clip_called(ob, name, made)
    if clip is None:
        raise ChainError(messages.CLIP_GONE(armature=ob.name, clip=name))
    if clip == playing_clip(ob):
        return
    check_changeable(ob)
    if ob.animation_data.use_tweak_mode:
        raise ChainError(messages.NLA_TWEAKED(kind=ob.type.title(), object=ob.name))
    play(ob, clip)
    controls_follow(ob)


BUTTONS = {
    "NEW_TARGET": (
        "New Target Empty",
        "EMPTY_AXIS",
        "Make an Empty as the target of this limb. The limb does not move",
    ),
    "BRING_BACK_TARGET": ("Bring It Back", "LOOP_BACK", "Put the deleted target back into the scene"),
    "BRING_BACK_POLE": ("Bring It Back", "LOOP_BACK", "Put the deleted pole target back into the scene"),
    "CLEAR_POLE": ("Clear Pole", "X", "Bend as in the FK pose, without a pole target"),
    "FEWER_BONES": ("Use Fewer Bones", "REMOVE", "Shorten the chain to the bones that are free"),
    "CLEAR_END_BONE": ("Clear End Bone", "X", "End the chain at the tail of its tip bone"),
    "AUTO_SOLVER": ("Use Automatic", "FILE_REFRESH", "Choose the solver by the number of bones"),
    "POSE_POSITION": ("Pose Position", "POSE_HLT", "Show the armature in Pose Position"),
    "REMOVE_DRIVERS": ("Remove Driver", "X", "Remove the drivers that rotate or scale this bone against its chain"),
    "MUTE_CONSTRAINT": ("Mute Constraint", "HIDE_ON", "Mute the constraint that moves this bone after its chain"),
    "FOLLOW_BODY": ("Body Follows", "CON_FOLLOWTRACK", "Move the body so that all limbs with a chain reach"),
    "TURN_BODY": ("Turn Body", "DRIVER_ROTATIONAL_DIFFERENCE", "Turn the body too, where moving it is not enough"),
    "STRETCH": ("Stretch", "FIXED_SIZE", "Lengthen the bones if the target is out of reach"),
    "FLIP_BEND": ("Flip", "CON_ROTLIKE", "Bend to the other side"),
    "REMOVE_CHAIN": ("Remove", "X", "Remove this chain. The bones keep following the rig"),
    "RESET_SCALE": ("Reset Scale", "LOOP_BACK", "Clear the pose scale of this bone"),
    "SHOW_TARGET": ("Show", "HIDE_OFF", "Show the target and its collections in the viewport"),
    "FOLLOW_MOTION": ("Snap", "EMPTY_AXIS", "Key target and pole target so that they carry the bones' motion"),
    "MUTE_KEYS": ("Mute Keys", "MUTE_IPO_ON", "Mute the rotation keys of the chain's bones. The keys stay"),
    "MUTE_SWITCH": ("Mute Keys", "MUTE_IPO_ON", "Mute the keys that turn this chain on and off. The keys stay"),
}
"""For each kind of fix its text, its icon and its tooltip."""
BONE_BUTTONS = {
    "NEW_TARGET": (
        "New Target Bone",
        "BONE_DATA",
        "Make a control bone as the target of this limb. The limb does not move",
    ),
}
"""The same for fixes that make a control bone."""


def button_of(context: bpy.types.Context, kind: str) -> tuple[str, str, str]:
    """The text, the icon and the tooltip of a kind of fix, as it would be done here."""
    ob = chain_armature(context)
    if ob is not None and kind in BONE_BUTTONS and shown_controls(context, ob) == "BONES":
        return BONE_BUTTONS[kind]
    return BUTTONS[kind]


class ANALYTIC_IK_OT_cure(MakesControls, ChainOperator):
    """Fix what keeps a chain from its target"""

    bl_idname = "analytic_ik.cure"
    bl_label = "Fix Analytic IK"
    needs = (not_editable,)

    kind: StringProperty(name="Fix", description="What to do", options={"HIDDEN", "SKIP_SAVE"})
    bone: StringProperty(name="Bone", description="Bone to fix", options={"HIDDEN", "SKIP_SAVE"})
    what: StringProperty(name="What", description="Part of the bone to fix", options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return button_of(context, properties.kind)[2] if properties.kind in BUTTONS else cls.__doc__ or ""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.choose_controls(context, chain_armature(context))
        return self.execute(context)

    def draw(self, context: bpy.types.Context) -> None:
        if self.kind in BONE_BUTTONS:
            self.drawn("controls")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        from ...authoring.fixes import cure

        if self.kind not in BUTTONS:
            raise ChainError(messages.NO_CURE(fix=self.kind, fixes=", ".join(BUTTONS)))
        done = cure(context, ob, Cure(self.kind, self.bone, self.what), as_bones=self.controls == "BONES")
        if self.kind in BONE_BUTTONS:
            self.keep_choice(context, ob)
        return done


class ANALYTIC_IK_OT_lock_interface(ChainOperator):
    """Lock the interface while rendering, so that live chains render safely"""

    bl_idname = "analytic_ik.lock_interface"
    bl_label = "Lock Interface"

    @classmethod
    def missing(cls, context: bpy.types.Context) -> str:
        return messages.INTERFACE_LOCKED_ALREADY() if context.scene.render.use_lock_interface else ""

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        context.scene.render.use_lock_interface = True
        return messages.INTERFACE_LOCKED()


register, unregister = registration_of(__name__)
