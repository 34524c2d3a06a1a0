"""The operators of the certificate: go where it points, mark it in the timeline, copy it."""

import json

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty

from ... import messages
from ...authoring.marking import clear_marks, mark_troubles
from ...authoring.selection import select_bone
from ...bake.certificate import Certificate, certificate_text, read_certificates
from ...rig.blender.clips import clip_called, names_of, play, playing_clip
from ...rig.data.control_clips import controls_follow
from ...rig.status.problems import check_changeable
from ...solvers import ChainError
from ..classes import registration_of
from .chains import ChainOperator


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

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        certificate = shown_certificate(ob)
        count = mark_troubles(context.scene, ob, certificate) if certificate else 0
        if not count:
            return messages.NOTHING_TO_MARK()
        return messages.MARKED_ONE() if count == 1 else messages.MARKED(count=count)


class ANALYTIC_IK_OT_clear_marks(ChainOperator):
    """Remove the timeline markers of Mark Problems. Your own markers stay"""

    bl_idname = "analytic_ik.clear_marks"
    bl_label = "Remove Markers"

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        count = clear_marks(context.scene, ob)
        return messages.UNMARKED_ONE() if count == 1 else messages.UNMARKED(count=count)


class ANALYTIC_IK_OT_copy_certificate(ChainOperator):
    """Copy the certificate to the clipboard"""

    bl_idname = "analytic_ik.copy_certificate"
    bl_label = "Copy Certificate"

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


register, unregister = registration_of(__name__)
