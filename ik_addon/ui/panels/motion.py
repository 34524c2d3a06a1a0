"""The panels of motion: match, plant, lock, root motion, bake and check."""

import bpy

from ... import messages
from ...authoring.selection import all_tips, chain_armature
from ...bake.certificate import range_words
from ...planting.scene.sources import kept_settings
from ...rig.blender.file_memory import of_action
from ...rig.data.export_stash import has_aside
from ...rig.data.relation import has_controls
from ...rig.data.settings import native_tips
from ...rig.model.order import has_live_chains
from ..base import ICON_WIDE, ArmaturePanel, draw_sentence, fits, length_words, registration_of, slides_words
from ..operators.stepped import running
from .status import NATIVE_ICON, draw_muted


def draw_progress(layout: bpy.types.UILayout, context: bpy.types.Context, panel: str) -> bool:
    """Draw how far work is, if a button of this panel began it. Returns whether: no button is of use then."""
    work = running()
    layout.enabled = work is None
    if work is None or work.panel != panel:
        return False
    layout.progress(factor=work.factor, type="BAR", text=str(work))
    draw_sentence(layout, context, messages.ESC_CANCELS(), "CANCEL")
    return True


class ANALYTIC_IK_PT_planting(ArmaturePanel, bpy.types.Panel):
    """Feet and hands of a motion capture."""

    bl_label = "Motion Capture"
    bl_order = 1
    has = staticmethod(has_controls)

    def draw(self, context: bpy.types.Context) -> None:
        from ...planting.scene.kept_keys import CORRECTIONS, record

        layout, ob = self.layout, chain_armature(context)
        if draw_progress(layout, context, ANALYTIC_IK_PT_planting.__name__):
            return
        column = layout.column(align=True)
        row = column.row(align=True)
        row.operator("analytic_ik.plant_feet", icon="TRACKING_FORWARDS")
        if kept_settings(ob) is not None:
            row.operator("analytic_ik.plant_again", icon="FILE_REFRESH")
        column.operator("analytic_ik.path_from_clip", icon="CURVE_PATH")
        report = of_action("plant", ob)
        if report is not None:
            if any(own["on"] for own in record(ob, CORRECTIONS).get("entries", ())):
                draw_sentence(layout, context, messages.BEFORE_CORRECTIONS(), "INFO")
            _draw_report(layout, context, report)
        elif kept_settings(ob) is not None:
            draw_sentence(layout, context, messages.SLIDES_NOT_KEPT(), "INFO")
        _draw_keys(layout, context, ob)
        column = layout.column(align=True)
        column.operator("analytic_ik.lock_to_object", icon="LOCKED")
        if _draw_locks(layout, ob):
            column = layout.column(align=True)
        column.operator("analytic_ik.match_source", icon="CON_TRANSLIKE")
        report = of_action("match", ob)
        if report is not None:
            _draw_match(layout, context, report)
        # The button is in the panel below.
        draw_muted(layout, context, ob, with_button=False)


def _draw_keys(layout: bpy.types.UILayout, context: bpy.types.Context, ob: bpy.types.Object) -> None:
    """Few keys, or all; and corrections."""
    from ...bake.report import ranges
    from ...planting.scene.entries import control_name, short_limbs, steps_of
    from ...planting.scene.kept_keys import FEW_KEYS, record
    from ...planting.scene.keyed_moves import plain_keys

    row = layout.row(align=True)
    row.operator("analytic_ik.simplify_keys", icon="IPO_EASE_IN_OUT")
    if record(ob, FEW_KEYS):
        row.operator("analytic_ik.all_keys", icon="LOOP_BACK")
        report = of_action("keys", ob)
        if report is not None:
            shown = {name: report[name] for name in ("keys", "tips", "knees", "slide")}
            draw_sentence(layout, context, messages.FEW_KEYS(before=report["keys_before"], **shown), "DOT")
    column = layout.column(align=True)
    column.operator("analytic_ik.apply_correction", icon="CHECKMARK")
    for index, step in steps_of(ob).items():
        row, own = column.row(align=True), step[0]
        spans = [each.get("span", (round(each["frame"]), round(each["frame"]))) for each in step]
        first, last = min(first for first, _ in spans), max(last for _, last in spans)
        more = messages.AND_MORE(more=len(step) - 1) if len(step) > 1 else ""
        words = messages.CORRECTION(control=control_name(own), more=more, frame=own["frame"], first=first, last=last)
        if fits(context, f"{words} {ICON_WIDE * 2}"):
            row.label(text=words)
        else:
            draw_sentence(row, context, words, "NONE")
            row = column.row(align=True)
            row.alignment = "RIGHT"
        button = row.operator("analytic_ik.go_to_frame", text="", icon="TIME")
        button.frame = round(own["frame"])
        icon = "HIDE_OFF" if own["on"] else "HIDE_ON"
        row.operator("analytic_ik.switch_correction", text="", icon=icon).index = index
        row.operator("analytic_ik.remove_correction", text="", icon="X").index = index
        abrupt = [control_name(each) for each in step if each["on"] and each.get("abrupt")]
        if abrupt:
            words = messages.ABRUPT(controls=messages.few(abrupt), frame=own["frame"])
            draw_sentence(column, context, words, "ERROR")
    for tip, frame in short_limbs(ob).items():
        _draw_doubt(column, context, messages.SHORT_LIMB(tip=tip, frame=frame), frame)
    for why, frames in plain_keys(ob).items():
        where = ", ".join(range_words(own, short=True) for own in ranges(frames, 1))
        _draw_doubt(column, context, messages.PLAIN_KEYS(frames=where, why=why), frames[0])


def _draw_match(layout: bpy.types.UILayout, context: bpy.types.Context, report: dict) -> None:
    """How far the ends of limbs are from where their source has them, before and after, and where they do not reach."""
    for limb in report["limbs"]:
        ways = (length_words(context.scene, limb[name]) for name in ("distance_before", "error"))
        draw_sentence(layout, context, messages.MATCHED_LIMB(tip=limb["tip"], ways=" → ".join(ways)), "DOT")
        _draw_unreached(layout, context, limb)


def _draw_unreached(layout: bpy.types.UILayout, context: bpy.types.Context, report: dict) -> None:
    """In which frames limbs do not reach, if there are any."""
    unreached = report["unreached_frames"]
    if unreached:
        words = messages.UNREACHED(frames=messages.FRAMES(count=len(unreached)), frame=unreached[0])
        draw_sentence(layout, context, words, "ERROR")


def _draw_locks(layout: bpy.types.UILayout, ob: bpy.types.Object) -> bool:
    """What follows what, each with the button that releases it. Returns whether anything does."""
    from ...authoring.placing import live_locks_of

    # Each contact that was found has a lock of its own.
    locks = dict.fromkeys((lock.tip, lock.held) for lock in live_locks_of(all_tips(ob)))
    for tip, held in locks:
        row = layout.row(align=True)
        words = messages.LOCK_HELD(tip=tip, held=held.shown) if held else messages.LOCK_LOST(tip=tip)
        row.label(text=words, icon="LOCKED" if held else "ERROR")
        row.operator("analytic_ik.release", text="", icon="X").tip = tip
    return bool(locks)


def _draw_report(layout: bpy.types.UILayout, context: bpy.types.Context, report: dict) -> None:
    """What planting did: largest slides in contacts before and after, and how far the body moved; also in legs."""
    for chain in report["chains"]:
        slides, length = {when: chain[f"slide_{when}"] for when in ("before", "after")}, chain["length"]
        said = {when: slides_words(context.scene, [slide], length) for when, slide in slides.items()}
        words = messages.SLIDES(tip=chain["tip"], part=slides["before"] / length, **said)
        if not chain["contacts"]:
            words = messages.NO_CONTACT_FOUND(tip=chain["tip"])
        draw_sentence(layout, context, words, "DOT")
    for chain in report["chains"]:
        if chain["pop_frames"]:
            first = chain["pop_frames"][0][0]
            _draw_doubt(layout, context, messages.KNEE_MAY_POP(tip=chain["tip"], frame=first), first)
    shift, longest = length_words(context.scene, report["body_shift"]), max(each["length"] for each in report["chains"])
    moved = {"bone": report["body"], "shift": shift, "part": report["body_shift"] / longest}
    if moved["part"] > _FAR:
        _draw_doubt(layout, context, messages.BODY_MOVED_FAR(**moved), report["body_frame"])
    else:
        draw_sentence(layout, context, messages.BODY_MOVED(**moved), "DOT")
    if report["ground_speed"]:
        speed = length_words(context.scene, report["ground_speed"])
        draw_sentence(layout, context, messages.IN_PLACE(speed=speed), "INFO")
    if report.get("path"):
        _draw_path(layout, context, report["path"])
    _draw_unreached(layout, context, report)


def _draw_path(layout: bpy.types.UILayout, context: bpy.types.Context, path: dict) -> None:
    """How far a clip walks along its path."""
    end, length = (length_words(context.scene, path[name]) for name in ("end", "length"))
    draw_sentence(layout, context, messages.ON_PATH(object=path["object"], end=end, length=length), "DOT")
    if path["stays"]:
        draw_sentence(layout, context, messages.LEFT_BY_PATH(bone=path["stays"]), "ERROR")
    beyond = path["end"] - path["length"]
    if not path["closed"] and beyond > _BEYOND * path["length"]:
        words = messages.BEYOND_PATH(object=path["object"], beyond=length_words(context.scene, beyond))
        draw_sentence(layout, context, words, "INFO")


_BEYOND = 0.01
"""Part of a path by which a clip may go on beyond it without a word."""
_FAR = 0.03
"""Part of a leg by which a body moves from which on one should look at it."""


def _draw_doubt(layout: bpy.types.UILayout, context: bpy.types.Context, sentence: str, frame: int) -> None:
    """A sentence about a frame that one should look at, and a button that goes there."""
    column = layout.column(align=True)
    draw_sentence(column, context, sentence, "ERROR")
    button = column.operator("analytic_ik.go_to_frame", text=messages.FRAME(frame=frame))
    button.frame = frame


class ANALYTIC_IK_PT_travel(ArmaturePanel, bpy.types.Panel):
    """Where a clip travels. Characters without chains have clips too."""

    bl_label = "Root Motion"
    bl_order = 4
    bl_options = {"DEFAULT_CLOSED"}
    has = staticmethod(lambda ob: ob.animation_data)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        if draw_progress(layout, context, ANALYTIC_IK_PT_travel.__name__):
            return
        layout.operator("analytic_ik.root_motion", icon="CON_FOLLOWPATH")
        row = layout.row(align=True)
        row.operator("analytic_ik.in_place", icon="PINNED")
        row.operator("analytic_ik.travel", icon="FORWARD")
        row = layout.row(align=True)
        row.operator("analytic_ik.make_loop", icon="FILE_REFRESH")
        row.operator("analytic_ik.join_clips", icon="AUTOMERGE_ON")


class ANALYTIC_IK_PT_bake(ArmaturePanel, bpy.types.Panel):
    """What is done with all chains of the armature."""

    bl_label = "Bake"
    bl_order = 2
    has = staticmethod(lambda ob: running() or has_controls(ob))

    def draw(self, context: bpy.types.Context) -> None:
        from ...authoring.for_export import strips_not_followed

        layout, ob = self.layout, chain_armature(context)
        if draw_progress(layout, context, ANALYTIC_IK_PT_bake.__name__):
            return
        row = layout.row(align=True)
        row.operator("analytic_ik.bake", text="Bake", icon="KEYFRAME_HLT")
        row.operator("analytic_ik.check", text="Check", icon="VIEWZOOM")
        if has_aside(ob):
            draw_sentence(layout, context, messages.IN_EXPORT_STATE(), "INFO")
            layout.operator("analytic_ik.back_to_live", icon="LOOP_BACK")
            return
        if strips := strips_not_followed(ob):
            words = messages.STRIPS_NOT_FOLLOWED(armature=ob.name, strips=messages.few(strips))
            draw_sentence(layout, context, words, "ERROR")
        layout.operator("analytic_ik.bake_for_export", icon="EXPORT")
        native = native_tips(ob)
        row = layout.row(align=True)
        if has_live_chains(ob) or any(tip not in native for tip in all_tips(ob)):
            row.operator("analytic_ik.make_native", icon=NATIVE_ICON)
        if native:
            row.operator("analytic_ik.make_live", icon="LOOP_BACK")
        elif has_live_chains(ob):
            draw_sentence(layout, context, messages.BAKE_OR_NATIVE(), "INFO")
        draw_muted(layout, context, ob)


register, unregister = registration_of(__name__)
