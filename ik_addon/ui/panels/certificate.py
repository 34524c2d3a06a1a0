"""The certificate of the last bake or check, in the sidebar: what to look at first, and the way there."""

from collections.abc import Sequence

import bpy

from ... import messages
from ...authoring.selection import chain_armature
from ...bake.certificate import (
    SHORT,
    Certificate,
    ChainCertificate,
    FootCertificate,
    Range,
    faults_words,
    first_miss,
    heading,
    range_words,
    read_certificates,
    verdict_on_clips,
)
from ..base import (
    ArmaturePanel,
    closed_panel,
    columns_for,
    common_start,
    draw_sentence,
    length_words,
    registration_of,
    slides_words,
)
from ..operators.certificates import shown_certificate

_BOXES = 5
"""Chains with a box of their own: the worst ones. More would have to be scrolled through."""
_ROWS = 6
"""Other chains that have a row below; more have a panel of their own, which is closed at first."""
_BUTTONS, _IN_A_ROW = 6, 2
"""Ranges of one kind that have a button each, and how many of these stand side by side."""

_ROW_NAMES = {
    "unreached_frames": "Out of Reach",
    "limited_frames": "Limits",
    "moved_frames": "Moved",
    "flipped_frames": "Bend Flips",
    "aligned_frames": "Pole Aligned",
    "straight_frames": "Nearly Straight",
}
_CLIPS = 6
"""Clips that have a row at first: the worst ones, and all that need a look."""
_ICONS = {4: "ERROR", 3: "ERROR", 2: "INFO", 1: "INFO", 0: "CHECKMARK"}
"""By the rank of a chain or clip."""


class ANALYTIC_IK_PT_certificate(ArmaturePanel, bpy.types.Panel):
    """What the last bake or check of the armature has measured."""

    bl_label = "Certificate"
    bl_order = 3
    has = staticmethod(lambda ob: ob.analytic_ik_report)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        ob = chain_armature(context)
        certificate, clips = shown_certificate(ob), read_certificates(ob.analytic_ik_report)
        if certificate is None:
            draw_sentence(layout, context, messages.REPORT_UNREADABLE(armature=ob.name), "ERROR")
            return
        if len(clips) > 1:
            _draw_clips(layout, context, clips, certificate)
            layout.separator(type="LINE")
            layout.label(text=certificate.clip, icon="ACTION")
        icon = "KEYFRAME_HLT" if certificate.baked else "VIEWZOOM"
        layout.label(text=f"{heading(certificate)}, {certificate.seconds:.2f} s", icon=icon)
        for good, sentence in certificate.verdicts:
            draw_sentence(layout, context, sentence, "CHECKMARK" if good else "ERROR")
        first = first_miss(certificate)
        if first is not None:
            chain, frame = first
            _go_to(layout, chain, frame, f"First Miss: Frame {frame}")
        boxes, others = _shown(certificate)
        for chain in boxes:
            _draw_box(layout, context, ob, chain)
        if len(others) > _ROWS:
            body = closed_panel(layout, "ANALYTIC_IK_other_chains", f"{len(others)} Other Chains")
            if body is not None:
                _draw_rows(body, context, ob, others)
        elif others:
            layout.separator(factor=0.2)
            _draw_rows(layout, context, ob, others)
        if certificate.feet:
            _draw_feet(layout, context, ob, certificate.feet)
        row = layout.row(align=True)
        row.operator("analytic_ik.mark_problems", icon="MARKER_HLT")
        row.operator("analytic_ik.clear_marks", text="", icon="X")
        row = layout.row(align=True)
        row.operator("analytic_ik.copy_certificate", text="Copy Text", icon="COPYDOWN").form = "TEXT"
        row.operator("analytic_ik.copy_certificate", text="JSON").form = "JSON"


def _shown(certificate: Certificate) -> tuple[list[ChainCertificate], list[ChainCertificate]]:
    """The chains that get a box, and those that get a row."""
    chains = certificate.worst_first
    boxes = [chain for chain in chains if chain.rank][:_BOXES]
    return boxes, chains[len(boxes) :]


def _draw_clips(
    layout: bpy.types.UILayout, context: bpy.types.Context, clips: Sequence[Certificate], shown: Certificate
) -> None:
    """Whether all clips are sound, and a button for each, the worst first."""
    good, sentence = verdict_on_clips(clips)
    draw_sentence(layout, context, sentence, "CHECKMARK" if good else "ERROR")
    first = max(_CLIPS, sum(not clip.is_sound for clip in clips))
    _draw_clip_rows(layout, context, clips[:first], shown)
    if others := clips[first:]:
        body = closed_panel(layout, "ANALYTIC_IK_other_clips", f"{len(others)} Other Clips")
        if body is not None:
            _draw_clip_rows(body, context, others, shown)


def _draw_clip_rows(
    layout: bpy.types.UILayout, context: bpy.types.Context, clips: Sequence[Certificate], shown: Certificate
) -> None:
    """A line for each clip: the way there, and what is wrong."""
    column, start = layout.column(align=True), common_start(clip.clip for clip in clips)
    for clip in clips:
        words, name = faults_words(clip), clip.clip.removeprefix(start)
        # A long name has a line for itself.
        split = column.split(factor=0.5, align=True) if columns_for(context, [name], 2) == 2 else column
        button = split.operator("analytic_ik.go_to_frame", text=name, icon=_ICONS[clip.rank], depress=clip == shown)
        button.frame, button.clip = clip.first, clip.clip
        split.label(text=words or messages.SOUND())


def _draw_box(
    layout: bpy.types.UILayout, context: bpy.types.Context, ob: bpy.types.Object, chain: ChainCertificate
) -> None:
    """All that is known of one chain."""
    column = layout.box().column(align=True)
    column.label(text=_name(ob, chain), icon=_ICONS[chain.rank])
    for kind, ranges in chain.ranges.items():
        _draw_ranges(column, _ROW_NAMES[kind], chain, ranges)
    column.separator(factor=0.5)
    if chain.worst_frame is not None:
        _go_to(_value(column, "Max Error"), chain, chain.worst_frame, _worst(context, chain))
    _value(column, "Mean Error").label(text=length_words(context.scene, chain.mean_error))
    if chain.max_lag:
        _value(column, "Softness").label(text=f"up to {length_words(context.scene, chain.max_lag)}")
    turn, at = f"{chain.max_step_degrees:.1f}°/frame", chain.max_step_frame
    if at is None:
        _value(column, "Max Rotation").label(text=turn)
    else:
        _go_to(_value(column, "Max Rotation"), chain, at, f"{turn} at {at}")
    if chain.keys:
        _value(column, "Keys").label(text=f"{chain.keys:,}")


def _draw_ranges(column: bpy.types.UILayout, name: str, chain: ChainCertificate, ranges: list[Range]) -> None:
    """A button for each range, as far as they are few."""
    shown = ranges[:_BUTTONS]
    for start in range(0, len(shown), _IN_A_ROW):
        row = _value(column, "" if start else name)
        for each in shown[start : start + _IN_A_ROW]:
            _go_to(row, chain, each[0], range_words(each, short=True))
    if len(ranges) > len(shown):
        _value(column, "").label(text=f"and {len(ranges) - len(shown)} more")


def _draw_rows(
    layout: bpy.types.UILayout, context: bpy.types.Context, ob: bpy.types.Object, chains: list[ChainCertificate]
) -> None:
    """A line for each chain: the worst of it, and the way there."""
    column = layout.column(align=True)
    for chain in chains:
        name = _name(ob, chain)
        # A long name has a line for itself.
        split = column.split(factor=0.5, align=True) if columns_for(context, [name], 2) == 2 else column
        split.label(text=name, icon=_ICONS[chain.rank] if chain.frames else "RADIOBUT_OFF")
        if chain.ranges:
            kind, ranges = next(iter(chain.ranges.items()))
            words = f"{SHORT[kind]} {range_words(ranges[0], short=True)}"
            _go_to(split, chain, ranges[0][0], words)
        elif chain.worst_frame is not None:
            _go_to(split, chain, chain.worst_frame, _worst(context, chain))
        else:
            split.label(text="switched off")


def _draw_feet(
    layout: bpy.types.UILayout, context: bpy.types.Context, ob: bpy.types.Object, feet: Sequence[FootCertificate]
) -> None:
    """Three lines for each leg: its name, how far its foot slides, with the way there, and what else is known."""
    column = layout.box().column(align=True)
    for foot in sorted(feet, key=lambda foot: foot.is_sound)[:_BOXES]:
        column.label(text=_name(ob, foot), icon="CHECKMARK" if foot.is_sound else "ERROR")
        if foot.slide_frames is not None:
            slides = [figures["slide"] * foot.length for figures in (foot.before, foot.after) if figures]
            text = slides_words(context.scene, slides, foot.length)
            _go_to(column.row(align=True), foot, foot.slide_frames[0], f"Slide {text}")
        draw_sentence(column, context, _figures_words(context, foot), "BLANK1")
    if len(feet) > _BOXES:
        column.label(text=f"and {len(feet) - _BOXES} more")


def _figures_words(context: bpy.types.Context, foot: FootCertificate) -> str:
    figures, on_ground, pops = foot.after, "", ""
    if foot.ground != "CAPTURED":
        heights = {name: length_words(context.scene, figures[name] * foot.length) for name in ("floating", "sunken")}
        on_ground = messages.FOOT_ON_GROUND(**heights)
    if figures["knee_pops"]:
        pops = messages.KNEE_POPS(count=round(figures["knee_pops"]))
    return messages.FOOT_FIGURES(
        contacts=messages.CONTACTS(count=foot.contacts),
        skating=figures["skating"],
        tiptoe=figures["tiptoe"],
        ground=on_ground,
        pops=pops,
    )


def _name(ob: bpy.types.Object, chain: ChainCertificate | FootCertificate) -> str:
    return chain.bone if chain.bone in ob.pose.bones else f"{chain.bone} (gone)"


def _value(column: bpy.types.UILayout, name: str) -> bpy.types.UILayout:
    """A line with a name to the left; returns the place for what is to the right."""
    split = column.split(factor=0.4, align=True)
    left = split.row()
    left.alignment = "RIGHT"
    left.label(text=name)
    return split.row(align=True)


def _go_to(layout: bpy.types.UILayout, limb: ChainCertificate | FootCertificate, frame: int, text: str) -> None:
    """A button that goes to a frame of the limb's clip and selects its bone."""
    button = layout.operator("analytic_ik.go_to_frame", text=text)
    button.frame, button.bone, button.clip = frame, limb.bone, limb.clip


def _worst(context: bpy.types.Context, chain: ChainCertificate) -> str:
    return f"{length_words(context.scene, chain.max_error)} at {chain.worst_frame}"


register, unregister = registration_of(__name__)
