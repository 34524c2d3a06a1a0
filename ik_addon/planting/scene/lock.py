"""Lock to Object: hands and feet that keep their grip on what moves."""

from collections.abc import Callable, Sequence

import bpy
import numpy as np
from mathutils import Matrix

from ... import messages
from ...authoring.fk_frames import checked_controls
from ...authoring.placing import Control
from ...authoring.snap import pose_snapped
from ...bake.stepping import Steps, at_once, part_of
from ...rig.blender.armatures import tag_pose
from ...rig.blender.motion import has_keys, motion_frames
from ...rig.data.hold import HoldRecord, holds_of, keep_holds
from ...rig.data.undoing import Undo, all_or_nothing
from ...solvers import ChainError
from ..feet.clip import LegMotion
from ..feet.contacts import find_holds
from ..feet.holds import plan_holds
from ..feet.in_time import runs
from ..feet.options import Options
from ..feet.space import Space
from .bars import Bar, held_of, hold_of, is_keyed, kept_bars, new_record, record_of
from .contact_keys import key_contacts
from .held import check_held, in_order, is_there, limb_bones
from .limbs import check_limbs, controls_ready
from .nearness import near_to
from .poses import pose_of_end, pose_of_held, shown_over
from .reading import captured
from .report import lock_report_of
from .sources import kept_settings
from .writing import controls_placed, write_copies, write_plan

BLEND = 0.25
"""Seconds over which a lock eases in and out."""


_Choice = Callable[[LegMotion, dict[Control, Space]], list[Bar]]
"""Which bars are wanted of limbs that were read, and of what they may be held to."""


def locked(
    context: bpy.types.Context,
    tips: Sequence[bpy.types.PoseBone],
    held: Control,
    frames: range,
    contacts: str = "RANGE",
    grip: str = "CURRENT",
    blend: float = BLEND,
) -> Steps[dict]:
    """In steps: let the hands or feet of limbs, all of one armature, keep their pose on something that moves.

    held: what they are held to, an object or a bone. contacts: RANGE in all of these frames; FOUND where they move
    with it and are close to it; KEYED where keys of their Contact say so. grip: of RANGE: CURRENT as they are shown
    now, MEAN nearest to their motion in these frames. blend: seconds to ease in and out.

    The motion is that of the bones' own keys. What is keyed are controls, in copies of their actions, and contacts, in
    a copy of the armature's. Other holds of the same limbs, outside of the frames, stay. Comes to a report. Raises
    ChainError that names the bone, with nothing changed. Closed before the end, the steps leave everything as it was.
    """
    ob = tips[0].id_data
    for tip in tips:
        check_held(context, tip, held)
    records = [each for each in holds_of(ob) if each.tip in {tip.name for tip in tips}]
    _check_circles(ob, [*holds_of(ob), *(new_record(tip, held, frames, Matrix(), blend) for tip in tips)])
    whole = _all_frames(context, ob, frames)
    depsgraph = context.evaluated_depsgraph_get()
    base = pose_of_held(held)(depsgraph).inverted_safe()
    now = [_as_kept(base @ pose_of_end(tip)(depsgraph), tip, held, records) for tip in tips]
    inside = np.isin(np.array(whole), np.array(frames))

    def choose(clip: LegMotion, spaces: dict[Control, Space]) -> list[Bar]:
        found = _found(clip, spaces[held], near_to(context, held, clip, spaces[held])) if contacts == "FOUND" else None
        bars: list[Bar] = []
        for leg, tip in enumerate(tips):
            keyed = is_keyed(tip, whole)
            own = inside if found is None else inside & found[leg]
            new = runs(inside & keyed if contacts == "KEYED" else own)
            grips = now[leg] if contacts == "RANGE" and grip == "CURRENT" else None
            bars += [Bar(leg, first, last, held, grips, blend) for first, last in new]
            kept = kept_bars(leg, keyed & ~inside, whole, [each for each in records if each.tip == tip.name])
            bars += [bar for bar in kept if is_there(context, bar.held)]
        if not any(bar.held == held for bar in bars):
            raise ChainError(messages.NO_HOLD(armature=ob.name, held=held.shown))
        return bars

    check_limbs(tips, whole)
    with all_or_nothing([ob, *_owners(tips)], keys=True) as undo:
        controls = _controls(context, tips)
        undo.nothing_more_is_made()
        yield from _shown_as_fk(context, tips, whole, undo)
        others = [other for other in map(held_of, records) if is_there(context, other)]
        report, kept = yield from _lock(context, controls, whole, [held, *others], choose, undo)
    _keep(ob, kept)
    return report


lock = at_once(locked)
"""Lock hands or feet to an object or bone, all at once: see `locked`."""


def locked_again(context: bpy.types.Context, ob: bpy.types.Object) -> Steps[dict]:
    """In steps: lock all limbs of an armature again that are locked, with contacts and motion as they are now.

    Contacts are those that keys say; each is held to what was held in most of its frames. Comes to a report.
    """
    by_tip: dict[str, list[HoldRecord]] = {}
    for record in holds_of(ob):
        by_tip.setdefault(record.tip, []).append(record)
    ordered = _check_circles(ob, holds_of(ob))
    if not ordered:
        raise ChainError(messages.NOT_LOCKED(armature=ob.name))
    wholes: dict[bpy.types.PoseBone, range] = {}
    bars: dict[bpy.types.PoseBone, list[Bar]] = {}
    for tip in ordered:
        records = by_tip[tip.name]
        whole = wholes[tip] = _all_frames(context, ob, range(records[0].first, records[-1].last + 1))
        check_limbs([tip], whole)
        bars[tip] = list(kept_bars(0, is_keyed(tip, whole), whole, records))
        for bar in bars[tip]:
            check_held(context, tip, bar.held)
    kept: dict[str, list[HoldRecord]] = {}
    holds: list[dict] = []
    unreached: set[int] = set()
    report: dict = {}
    with all_or_nothing([ob, *_owners(ordered)], keys=True) as undo:
        controls = _controls(context, ordered)
        undo.nothing_more_is_made()
        for number, tip in enumerate(ordered):
            held = [bar.held for bar in bars[tip]]
            steps = _lock(context, {tip: controls[tip]}, wholes[tip], held, _these(bars[tip]), undo)
            report, own = yield from part_of(steps, number, len(ordered))
            kept |= own
            holds += report["holds"]
            unreached |= set(report["unreached_frames"])
    _keep(ob, kept)
    report |= {"holds": holds, "unreached_frames": sorted(unreached)}
    return report


lock_again = at_once(locked_again)
"""Lock all that is locked again, all at once: see `locked_again`."""


def _these(bars: list[Bar]) -> _Choice:
    """The choice of bars that are known before."""
    return lambda _clip, _spaces: bars


def _controls(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]
) -> dict[bpy.types.PoseBone, list[Control]]:
    """Target and pole of each limb, made ready to be keyed. Raises ChainError where they cannot be."""
    ob = tips[0].id_data
    planted = (kept_settings(ob) or {}).get("tips", ())
    for tip in tips:
        if tip.name in planted:
            raise ChainError(messages.LOCK_PLANTED()).of(messages.BONE(bone=tip.name))
    return controls_ready(context, tips)


def _shown_as_fk(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], frames: range, undo: Undo
) -> Steps[None]:
    """In steps: make what is shown of limbs whose bones have no keys, for their controls alone move them, their FK
    motion: that is what a lock begins with, and begins with again."""
    ob = tips[0].id_data
    unkeyed = [tip for tip in tips if not has_keys(ob, [bone.name for bone in limb_bones(tip)])]
    if unkeyed:
        with undo.making():
            write_copies(ob, {}, "locked")
        yield from pose_snapped(context, unkeyed, frames)


def _lock(
    context: bpy.types.Context,
    controls: dict[bpy.types.PoseBone, list[Control]],
    frames: range,
    held: Sequence[Control],
    choose: _Choice,
    undo: Undo,
) -> Steps[tuple[dict, dict[str, list[HoldRecord]]]]:
    """In steps: read, choose, plan, place, key and measure. controls: of each limb. held: all that may be chosen.

    Comes to a report, and to the holds of each tip, to be kept.
    """
    tips, held = list(controls), list(dict.fromkeys(held))
    ob = tips[0].id_data
    capture = yield from part_of(captured(context, tips, None, frames), 0, 4)
    context.view_layer.update()
    seen = yield from part_of(shown_over(context, list(map(pose_of_held, held)), frames), 1, 4)
    spaces = dict(zip(held, seen, strict=True))
    for control, space in spaces.items():
        if not np.isfinite(space.places).all():
            raise ChainError(messages.HELD_NO_NUMBER(held=control.shown)).of(messages.BONE(bone=tips[0].name))
    bars = choose(capture.clip, spaces)
    holds = [hold_of(bar, capture.clip, spaces[bar.held]) for bar in bars]
    # A blend lasts as long as it is told to: hands are quick.
    blend = max((bar.blend for bar in bars), default=BLEND)
    plan = plan_holds(capture.clip, holds, Options(blend=blend, added_speed=np.inf, added_turn=np.inf))
    placing = controls_placed(context, tips, controls, capture, plan, frames)
    samples, slopes = yield from part_of(placing, 2, 4)
    with undo.making():
        write_plan(tips, controls, (), capture, plan, samples, slopes, frames, "locked")
        key_contacts(tips, plan.contacts, frames)
    tag_pose(ob)
    ends = yield from part_of(shown_over(context, list(map(pose_of_end, tips)), frames), 3, 4)
    records = [record_of(bar, hold, tips, frames) for bar, hold in zip(bars, holds, strict=True)]
    kept = {tip.name: [each for each in records if each.tip == tip.name] for tip in tips}
    return lock_report_of(tips, records, capture.clip, holds, ends, frames), kept


def _keep(ob: bpy.types.Object, kept: dict[str, list[HoldRecord]]) -> None:
    """Let the action keep the holds of these tips, beside those of others."""
    others = [each for each in holds_of(ob) if each.tip not in kept]
    keep_holds(ob, [*others, *(each for own in kept.values() for each in own)])


def _owners(tips: Sequence[bpy.types.PoseBone]) -> list[bpy.types.Object]:
    """The objects whose keys change with these limbs."""
    return [control.ob for own in checked_controls(tips, None).values() for control in own]


def _check_circles(ob: bpy.types.Object, records: Sequence[HoldRecord]) -> list[bpy.types.PoseBone]:
    """The limbs of these holds, each after those that move what it is held to. Raises ChainError where that fails."""
    tips = {record.tip: ob.pose.bones[record.tip] for record in records if record.tip in ob.pose.bones}
    held = {name: [held_of(each) for each in records if each.tip == name and each.ob] for name in tips}
    return in_order(tips, held)


def _all_frames(context: bpy.types.Context, ob: bpy.types.Object, frames: range) -> range:
    """The frames to key: all motion of the armature, with those that are asked for."""
    scene = context.scene
    motion = motion_frames(ob) or range(scene.frame_start, scene.frame_end + 1)
    return range(min(motion.start, frames.start), max(motion.stop, frames.stop))


def _found(clip: LegMotion, space: Space, near: np.ndarray) -> np.ndarray:
    """(limbs, T) bool, where limbs move with a space and are near."""
    return find_holds(space.seen_from(clip), near)


def _as_kept(grip: Matrix, tip: bpy.types.PoseBone, held: Control, records: Sequence[HoldRecord]) -> Matrix:
    """A grip as it is shown; if the limb is in one that it keeps, that one to the last digit."""
    for record in records:
        if record.tip == tip.name and held_of(record) == held and _is_same(record.grip, grip, tip):
            return record.grip
    return grip


def _is_same(kept: Matrix, shown: Matrix, tip: bpy.types.PoseBone) -> bool:
    size = tip.bone.length * tip.id_data.matrix_world.median_scale
    moved = (kept.translation - shown.translation).length / max(size, 1e-30)
    turned = max(
        abs(a - b) for x, y in zip(kept.to_3x3(), shown.to_3x3(), strict=True) for a, b in zip(x, y, strict=True)
    )
    return max(moved, turned) < _SAME


_SAME = 1e-4
"""Part of a bone's length, and radians, by which a grip that is shown differs from the one that is kept."""
