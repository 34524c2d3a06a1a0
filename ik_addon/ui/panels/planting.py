"""Match Source, Plant Feet and Lock to Object: the buttons, and what they did."""

import bpy

from ... import messages
from ...authoring.selection import chain_armature
from ...bake.certificate import contacts_words
from ...bake.report import frames_words
from ...matching.report import matched_report
from ...planting.scene.report import last_lock_report, planted_report, steps_words
from ...planting.scene.sources import kept_settings
from ...rig.data.hold import HoldRecord, holds_of
from ...rig.data.kept import has_controls
from ...rig.pose.reading import control_words
from ..classes import registration_of
from ..lengths import length_words, slides_words
from ..operators.locking import ANALYTIC_IK_OT_lock_again, ANALYTIC_IK_OT_lock_to_object
from ..operators.matching import ANALYTIC_IK_OT_match_source
from ..operators.planting import ANALYTIC_IK_OT_plant_again, ANALYTIC_IK_OT_plant_feet
from ..operators.running import running
from .muted import draw_muted
from .places import InSidebar
from .sentences import draw_sentence


class ANALYTIC_IK_PT_planting(InSidebar, bpy.types.Panel):
    """Feet and hands of a motion capture."""

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
        layout.operator(ANALYTIC_IK_OT_match_source.bl_idname, icon="CON_TRANSLIKE")
        report = matched_report(ob)
        if report is not None:
            _draw_match(layout, context, report)
        row = layout.row(align=True)
        row.operator(ANALYTIC_IK_OT_plant_feet.bl_idname, icon="TRACKING_FORWARDS")
        if kept_settings(ob) is not None:
            row.operator(ANALYTIC_IK_OT_plant_again.bl_idname, icon="FILE_REFRESH")
        report = planted_report(ob)
        if report is not None:
            _draw_report(layout, context, report)
        row = layout.row(align=True)
        row.operator(ANALYTIC_IK_OT_lock_to_object.bl_idname, icon="LOCKED")
        holds = holds_of(ob)
        if holds:
            row.operator(ANALYTIC_IK_OT_lock_again.bl_idname, icon="FILE_REFRESH")
            _draw_holds(layout, context, ob, holds)
        draw_muted(layout, context, ob)


def _is_of(report: dict, ob: bpy.types.Object) -> bool:
    """True if a report is of the action that an armature object plays now."""
    action = ob.animation_data.action if ob.animation_data else None
    return action is not None and (report.get("armature"), report.get("action")) == (ob.name, action.name)


def _draw_match(layout: bpy.types.UILayout, context: bpy.types.Context, report: dict) -> None:
    """How far the ends of limbs are from where their source has them, before and after, and where they do not reach."""
    for limb in report["limbs"]:
        ways = (length_words(context.scene, limb[name]) for name in ("distance_before", "error"))
        draw_sentence(layout, context, messages.MATCHED_LIMB(tip=limb["tip"], ways=" → ".join(ways)), "DOT")
        unreached = limb["unreached_frames"]
        if unreached:
            words = messages.LEGS_UNREACHED(frames=frames_words(len(unreached)), frame=unreached[0])
            draw_sentence(layout, context, words, "ERROR")


def _draw_holds(
    layout: bpy.types.UILayout, context: bpy.types.Context, ob: bpy.types.Object, holds: list[HoldRecord]
) -> None:
    """What is locked to what, and in which frames it is out of reach."""
    groups: dict[tuple[str, str], list[HoldRecord]] = {}
    for hold in holds:
        held = control_words(hold.ob, hold.bone) if hold.ob is not None else ""
        groups.setdefault((hold.tip, held), []).append(hold)
    for (tip, held), own in groups.items():
        given = {"tip": tip, "contacts": contacts_words(len(own)), "first": own[0].first, "last": own[-1].last}
        words = messages.HELD(held=held, **given) if held else messages.HELD_LOST(**given)
        draw_sentence(layout, context, words, "DOT" if held else "ERROR")
    report = last_lock_report()
    unreached = report["unreached_frames"] if _is_of(report, ob) else ()
    if unreached:
        words = messages.LEGS_UNREACHED(frames=frames_words(len(unreached)), frame=unreached[0])
        draw_sentence(layout, context, words, "ERROR")


def _draw_report(layout: bpy.types.UILayout, context: bpy.types.Context, report: dict) -> None:
    """What planting did: largest slides in contacts before and after, and how far the body moved."""
    for chain in report["chains"]:
        slides = slides_words(context.scene, (chain["slide_before"], chain["slide_after"]), chain["length"])
        steps = steps_words(chain["steps"])
        draw_sentence(layout, context, messages.SLIDES(tip=chain["tip"], steps=steps, slides=slides), "DOT")
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
