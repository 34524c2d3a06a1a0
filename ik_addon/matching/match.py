"""Match Source: read source and character, plan, place, key, and measure."""

from collections.abc import Sequence

import bpy
import numpy as np

from .. import messages
from ..authoring.fk_frames import checked_controls
from ..authoring.snap import pose_snapped
from ..bake.stepping import Steps, at_once, part_of
from ..planting.feet.clip import LegMotion
from ..planting.scene.carrier_bone import carrier_of
from ..planting.scene.limbs import check_limbs, controls_ready
from ..planting.scene.reading import Capture, captured
from ..planting.scene.sources import is_planted, source_playing
from ..planting.scene.writing import body_keys, controls_placed, write_plan
from ..rig.blender.armatures import tag_pose
from ..rig.blender.motion import motion_frames
from ..rig.data.undoing import all_or_nothing
from ..rig.model.order import live_tips
from ..solvers import ChainError
from .pairs import LimbPair, pairs_of
from .reading import joints_of_chain, joints_of_limb, limbs_shown, place_of
from .report import match_report_of
from .wanted import Arms, Match, plan_match, scales_of, way_between

_MADE = "matched"


def source_matched(
    context: bpy.types.Context,
    ob: bpy.types.Object,
    source: bpy.types.Object,
    frames: range | None = None,
    scale_frame: int | None = None,
    arms: Arms = "SHOULDER",
    body: bool = True,
    tips: Sequence[bpy.types.PoseBone] | None = None,
) -> Steps[dict]:
    """In steps: bring the ankles and wrists of a character back to where the source of its retargeted clip has them.

    Ankles go to where the source's are from its origin, scaled by the length of legs; wrists to where they are from
    their shoulders, scaled by the length of arms. Knees and elbows bend to the side of the source's. Feet and hands
    keep their rotation.

    source: the armature object that the clip was retargeted from. frames: None for those over which keys move the
    character. scale_frame: a frame at which both stand alike, to measure the scales there. arms: SHOULDER; CHEST
    measures both wrists from the middle between the shoulders, GROUND as ankles. body: whether the body moves so that
    limbs reach. tips: of the chains to match; None: all that are live.

    Keys controls, body and the bones of the limbs in copies of their actions; matching again begins with the same
    motion and writes into the same copies. Comes to a report. Raises ChainError that names what is wrong, with nothing
    changed. Closed before the end, the steps leave everything as it was.
    """
    _check_source(context, ob, source)
    chosen = list(tips) if tips is not None else [ob.pose.bones[name] for name in live_tips(ob)]
    if not chosen:
        raise ChainError(messages.NO_LIVE_CHAIN(armature=ob.name))
    frames = frames or motion_frames(ob)
    if frames is None:
        raise ChainError(messages.NO_MOTION()).of(messages.ARMATURE(armature=ob.name))
    pairs = pairs_of(chosen, source)
    tips = [pair.tip for pair in pairs]
    check_limbs(tips, frames)
    owners = [control.ob for own in checked_controls(tips, frames).values() for control in own]
    with all_or_nothing([ob, *owners], keys=True) as undo:
        controls = controls_ready(context, tips)
        undo.nothing_more_is_made()
        is_carried = body and (arms == "GROUND" or any(pair.limb.kind == "LEG" for pair in pairs))
        carrier = carrier_of(tips, controls) if is_carried else None
        if carrier is not None:
            # What it does live is keyed.
            carrier.analytic_ik_body_influence = 0.0
        capture, seen, sizes = yield from part_of(_read(context, source, pairs, carrier, frames, scale_frame), 0, 2)
        match = _match(context, source, pairs, capture.clip, seen, sizes, arms, frames.start)
        plan = plan_match(capture.clip, match, carrier is not None)
        context.view_layer.update()
        placing = controls_placed(context, tips, controls, capture, plan, frames)
        samples, slopes = yield from part_of(placing, 3, 6)
        keys = [body_keys(carrier, capture, plan, frames)] if carrier is not None else []
        with undo.making():
            write_plan(tips, controls, keys, capture, plan, samples, slopes, frames, _MADE)
        tag_pose(ob)
        # Whoever plants the clip, or mutes its chains, begins with what is shown now.
        yield from part_of(pose_snapped(context, tips, frames), 4, 6)
        shown = limbs_shown(context, ob, [joints_of_chain(tip) for tip in tips], frames)
        after = yield from part_of(shown, 5, 6)
        left_out = [tip for tip in chosen if tip not in tips]
        return match_report_of(pairs, left_out, source, carrier, capture.clip, after, plan, match, frames)


match_source = at_once(source_matched)
"""Match a character to its source, all at once: see `source_matched`."""


def _check_source(context: bpy.types.Context, ob: bpy.types.Object, source: bpy.types.Object) -> None:
    """Raise ChainError where an object cannot be the source of a character's clip."""
    if source == ob:
        raise ChainError(messages.SOURCE_ITSELF(source=source.name))
    if source.type != "ARMATURE" or source.name not in context.view_layer.objects:
        raise ChainError(messages.SOURCE_GONE(source=source.name))
    if is_planted(ob):
        raise ChainError(messages.MATCH_PLANTED(armature=ob.name))


_Sizes = tuple[np.ndarray, np.ndarray]
"""(limbs,) each, how long the limbs of the character and of its source are."""


def _read(
    context: bpy.types.Context,
    source: bpy.types.Object,
    pairs: Sequence[LimbPair],
    carrier: bpy.types.PoseBone | None,
    frames: range,
    scale_frame: int | None,
) -> Steps[tuple[Capture, LegMotion, _Sizes]]:
    """In steps: the limbs of a character as they were retargeted, those of its source, and how large they are."""
    tips = [pair.tip for pair in pairs]
    theirs = [joints_of_limb(source, pair.source) for pair in pairs]
    with source_playing(tips[0].id_data, _MADE):
        capture = yield from part_of(captured(context, tips, carrier, frames), 0, 3)
        seen = yield from part_of(limbs_shown(context, source, theirs, frames), 1, 3)
        own, other = capture.clip, seen
        if scale_frame is not None:
            alike = range(scale_frame, scale_frame + 1)
            own = (yield from part_of(captured(context, tips, None, alike), 4, 6)).clip
            other = yield from part_of(limbs_shown(context, source, theirs, alike), 5, 6)
    sizes = own.reaches, other.reaches
    if scale_frame is not None:
        sizes = tuple(np.linalg.norm(clip.ankles - clip.hips, axis=-1)[:, 0] for clip in (own, other))
    if not (np.isfinite(seen.ankles).all() and (sizes[1] > 0.0).all()):
        raise ChainError(messages.SOURCE_NO_SIZE(source=source.name))
    return capture, seen, sizes


def _match(
    context: bpy.types.Context,
    source: bpy.types.Object,
    pairs: Sequence[LimbPair],
    clip: LegMotion,
    seen: LegMotion,
    sizes: _Sizes,
    arms: Arms,
    frame: int,
) -> Match:
    """What limbs are to match. frame: at which both armatures are where they are put up."""
    is_arm = np.array([pair.limb.kind == "ARM" for pair in pairs])
    scales = scales_of(*sizes, is_arm, arms)
    ob = pairs[0].tip.id_data
    there = place_of(context, source, [pair.source for pair in pairs], frame)
    here = place_of(context, ob, [pair.limb for pair in pairs], frame)
    # As feet are, where there are any.
    scale = float(scales[~is_arm].mean() if not is_arm.all() else scales.mean())
    return Match(seen, is_arm, scales, arms, way_between(there, here, seen, clip, scale))
