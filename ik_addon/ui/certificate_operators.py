"""The operators of the certificate: go where it points, mark it in the timeline, copy it."""

import json

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty

from ..authoring.marking import clear_marks, has_marks, mark_troubles
from ..authoring.selection import active_armature, select_bone
from ..bake.certificate import Certificate, certificate_text, read_certificate
from ..solvers import ChainError
from .operators import ChainOperator


class ANALYTIC_IK_OT_go_to_frame(ChainOperator):
    """Go to this frame and select the chain's last bone, to see what happens there"""

    bl_idname = "analytic_ik.go_to_frame"
    bl_label = "Go to Frame"

    frame: IntProperty(name="Frame", description="The frame to go to")
    bone: StringProperty(name="Bone", description="Tip bone of the chain to select; none: the selection stays")

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        context.scene.frame_set(self.frame)
        if not self.bone:
            return f"Frame {self.frame}"
        if self.bone not in ob.pose.bones:
            self.report({"WARNING"}, f"Armature '{ob.name}' has no bone '{self.bone}' any more; check its chains anew")
            return f"Frame {self.frame}"
        select_bone(ob, self.bone)
        return f"Frame {self.frame}: '{self.bone}'"


class CertificateOperator(ChainOperator):
    """What needs an armature with a report that can be read."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        ob = active_armature(context)
        if read_certificate(ob.analytic_ik_report) is None:
            cls.poll_message_set(f"Armature '{ob.name}' has no report; check or bake its chains first")
            return False
        return True

    @staticmethod
    def certificate(ob: bpy.types.Object) -> Certificate:
        """The armature's; poll has seen to it that there is one."""
        certificate = read_certificate(ob.analytic_ik_report)
        if certificate is None:
            raise ChainError(f"Armature '{ob.name}' has no report; check or bake its chains first")
        return certificate


class ANALYTIC_IK_OT_mark_problems(CertificateOperator):
    """Put timeline markers where chains are out of reach, held off by their limits, flip, or come close to it. \
Markers of the last time are replaced"""

    bl_idname = "analytic_ik.mark_problems"
    bl_label = "Mark Problems"

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        count = mark_troubles(context.scene, ob, self.certificate(ob))
        if not count:
            return "There is nothing to mark: no chain misses its target or comes close to a flip"
        return "Put 1 marker" if count == 1 else f"Put {count} markers"


class ANALYTIC_IK_OT_clear_marks(ChainOperator):
    """Take away the timeline markers that Mark Problems has put for this armature. Your own markers stay"""

    bl_idname = "analytic_ik.clear_marks"
    bl_label = "Remove Markers"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        ob = active_armature(context)
        if not has_marks(ob):
            cls.poll_message_set(f"No problem of armature '{ob.name}' is marked; Mark Problems does it")
            return False
        return True

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        count = clear_marks(context.scene, ob)
        return "Removed 1 marker" if count == 1 else f"Removed {count} markers"


class ANALYTIC_IK_OT_copy_certificate(CertificateOperator):
    """Copy what was measured to the clipboard, to paste it into a message or a ticket"""

    bl_idname = "analytic_ik.copy_certificate"
    bl_label = "Copy Certificate"

    form: EnumProperty(
        name="Form",
        description="How it is written",
        items=[
            ("TEXT", "Text", "Words and a table, to be read"),
            ("JSON", "JSON", "All numbers, for scripts"),
        ],
    )

    def act(self, context: bpy.types.Context, ob: bpy.types.Object) -> str:
        self.certificate(ob)
        report = json.loads(ob.analytic_ik_report)
        text = json.dumps(report, indent=1) if self.form == "JSON" else certificate_text(report)
        context.window_manager.clipboard = text
        return f"Copied {len(text.splitlines())} lines"


# The stubs say that it returns nothing.
register, unregister = bpy.utils.register_classes_factory(  # pyright: ignore[reportGeneralTypeIssues]
    (
        ANALYTIC_IK_OT_go_to_frame,
        ANALYTIC_IK_OT_mark_problems,
        ANALYTIC_IK_OT_clear_marks,
        ANALYTIC_IK_OT_copy_certificate,
    )
)
