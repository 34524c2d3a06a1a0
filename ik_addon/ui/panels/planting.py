"""Plant Feet: the button, and what it did."""

import bpy

from ... import messages
from ...authoring.selection import chain_armature
from ...bake.report import frames_words
from ...planting.scene.report import last_report, steps_words
from ...planting.scene.sources import kept_settings
from ...rig.data.kept import has_controls
from ..classes import registration_of
from ..operators.planting import ANALYTIC_IK_OT_plant_again, ANALYTIC_IK_OT_plant_feet
from ..operators.running import running
from .muted import draw_muted
from .places import InSidebar
from .sentences import draw_sentence, length_words


class ANALYTIC_IK_PT_planting(InSidebar, bpy.types.Panel):
    """Feet of a motion capture."""

    bl_label = "Motion Capture"
    bl_order = 2
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        ob = chain_armature(context)
        return ob is not None and has_controls(ob)

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, chain_armature(context)
        layout.enabled = running() is None
        row = layout.row(align=True)
        row.operator(ANALYTIC_IK_OT_plant_feet.bl_idname, icon="TRACKING_FORWARDS")
        if kept_settings(ob) is not None:
            row.operator(ANALYTIC_IK_OT_plant_again.bl_idname, icon="FILE_REFRESH")
        draw_muted(layout, context, ob)
        report = last_report()
        action = ob.animation_data and ob.animation_data.action
        if action and (report.get("armature"), report.get("action")) == (ob.name, action.name):
            _draw_report(layout, context, report)


def _draw_report(layout: bpy.types.UILayout, context: bpy.types.Context, report: dict) -> None:
    """What planting did: largest slides in contacts before and after, and how far the body moved."""
    for chain in report["chains"]:
        slides = (length_words(context.scene, chain[f"slide_{when}"]) for when in ("before", "after"))
        steps = steps_words(chain["steps"])
        draw_sentence(layout, context, messages.SLIDES(tip=chain["tip"], steps=steps, slides=" → ".join(slides)), "DOT")
    shift = length_words(context.scene, report["body_shift"])
    draw_sentence(layout, context, messages.BODY_MOVED(bone=report["body"], shift=shift), "DOT")
    if report["ground_speed"]:
        speed = length_words(context.scene, report["ground_speed"])
        draw_sentence(layout, context, messages.IN_PLACE(speed=speed), "INFO")
    if report["unreached_frames"]:
        frames = report["unreached_frames"]
        draw_sentence(
            layout, context, messages.LEGS_UNREACHED(frames=frames_words(len(frames)), frame=frames[0]), "ERROR"
        )


register, unregister = registration_of(__name__)
