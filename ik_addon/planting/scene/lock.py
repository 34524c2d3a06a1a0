"""Lock to Object: hands and feet that keep their grip on what moves."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import bpy
import numpy as np
from mathutils import Matrix

from ... import messages
from ...authoring.fk_frames import checked_controls
from ...authoring.live_locks import live_locks_of
from ...authoring.placing import Control
from ...authoring.snap import pose_snapped
from ...bake.stepping import Steps, at_once, part_of
from ...rig.blender.armatures import tag_pose
from ...rig.blender.clips import has_keys, motion_frames
from ...rig.blender.dependencies import Node, followed_nodes
from ...rig.data.held_feet import BLEND, HoldRecord, holds_of, keep_holds
from ...rig.data.settings import target_and_pole
from ...rig.data.undoing import Undo, all_or_nothing
from ...rig.model.body import bodies_of
from ...rig.model.foot import end_bone
from ...rig.model.limb import known_bones
from ...solvers import ChainError
from ..feet.clip import LegMotion
from ..feet.contacts import find_holds
from ..feet.curves import runs
from ..feet.holds import Hold, mean_grip, plan_holds
from ..feet.options import Options
from ..feet.treadmill import Space
from .limbs import check_limbs, controls_ready, key_contacts, keyed_contacts, keyed_control
from .reading import captured, near_to, pose_of_end, pose_of_held, shown_over
from .report import lock_report_of
from .sources import kept_settings
from .writing import controls_placed, write_copies, write_plan


@dataclass(frozen=True, slots=True)
class Bar:
    """A limb that is held in some frames. leg: its number. first, last: rows. grip: None for the mean of these."""

    leg: int
    first: int
    last: int
    held: Control
    grip: Matrix | None
    blend: float


def is_keyed(tip: bpy.types.PoseBone, frames: range) -> np.ndarray:
    """(frames,) bool, where keys of the Contact of a limb say that it is held."""
    contacts = keyed_contacts(tip, frames)
    return np.zeros(len(frames), bool) if contacts is None else contacts.any(axis=0)


def kept_bars(leg: int, keyed: np.ndarray, frames: range, records: Sequence[HoldRecord]) -> Iterator[Bar]:
    """The bars of one limb that its keys show, each held to what it was held to before."""
    if not records:
        return
    for first, last in runs(keyed):
        begins, ends = frames[first], frames[last]

        def shared(record: HoldRecord, begins: int = begins, ends: int = ends) -> int:
            return min(ends, record.last) - max(begins, record.first) + 1

        own = sorted((each for each in records if shared(each) > 0), key=lambda each: each.first)
        # A bar that somebody has added is held to what is held nearest to it.
        own = own or [max(records, key=shared)]
        # Between holds that follow each other there is no end of a bar.
        starts = [first, *(max(each.first - frames.start, first) for each in own[1:])]
        stops = [start - 1 for start in starts[1:]] + [last]
        for each, start, stop in zip(own, starts, stops, strict=True):
            if start > stop:
                continue
            yield Bar(leg, start, stop, held_of(each), each.grip if shared(each) > 0 else None, each.blend)


def hold_of(bar: Bar, clip: LegMotion, space: Space) -> Hold:
    """A bar with its grip, as exactly as a file keeps it."""
    if bar.grip is None:
        place, turn = mean_grip(clip, bar.leg, bar.first, bar.last, space)
        grip = np.eye(4)
        grip[:3, 3], grip[:3, :3] = place, turn
    else:
        grip = np.array(bar.grip, float)
    grip = grip.astype(np.float32).astype(float)
    return Hold(bar.leg, bar.first, bar.last, space, grip[:3, 3], grip[:3, :3])


def held_of(record: HoldRecord) -> Control:
    """What a record says that a limb is held to."""
    return Control(record.ob, record.bone)


def record_of(bar: Bar, hold: Hold, tips: Sequence[bpy.types.PoseBone], frames: range) -> HoldRecord:
    """The record of a bar with its grip. tips: of all limbs. frames: of the scene, by rows."""
    grip = np.eye(4)
    grip[:3, 3], grip[:3, :3] = hold.place, hold.turn
    span = range(frames[bar.first], frames[bar.last] + 1)
    return new_record(tips[bar.leg], bar.held, span, Matrix(grip), bar.blend)


def new_record(tip: bpy.types.PoseBone, held: Control, frames: range, grip: Matrix, blend: float) -> HoldRecord:
    """The record of a limb that is held to something in these frames of the scene."""
    return HoldRecord(tip.name, held.ob, held.bone, frames.start, frames[-1], grip, blend)


def check_held(context: bpy.types.Context, tip: bpy.types.PoseBone, held: Control) -> None:
    """Raise ChainError where a limb cannot be held to something, for it is gone, or moves with the limb."""
    if not is_there(context, held):
        gone = messages.HELD_GONE()
        if is_there(context, Control(held.ob)):
            gone = messages.HELD_BONE_GONE(object=held.ob.name, bone=held.bone)
        raise ChainError(gone).of(messages.BONE(bone=tip.name))
    if moves(tip, held):
        raise ChainError(messages.HELD_BY_LIMB(held=held.shown)).of(messages.BONE(bone=tip.name))
    ob, nodes = tip.id_data, followed_nodes(held.ob, held.bone)
    above = {bone.name for bone in known_bones(tip)[0].parent_recursive}
    for body in bodies_of(ob):
        if body in above and (ob, body) in nodes:
            raise ChainError(messages.HELD_ON_BODY(body=body, held=held.shown)).of(messages.BONE(bone=tip.name))


def is_there(context: bpy.types.Context, held: Control) -> bool:
    """True if an object, or the bone of it, is in the scene."""
    ob = held.ob
    if ob is None or ob.name not in context.view_layer.objects:
        return False
    return not held.bone or (ob.pose is not None and held.bone in ob.pose.bones)


def limb_bones(tip: bpy.types.PoseBone) -> list[bpy.types.PoseBone]:
    """The bones of a limb, with its hand or foot."""
    end = end_bone(tip)
    return [*known_bones(tip), *((end,) if end else ())]


def moves(tip: bpy.types.PoseBone, held: Control) -> bool:
    """True if a limb moves something, with its bones or by what follows its controls."""
    return bool(followed_nodes(held.ob, held.bone) & _moved_by(tip))


def in_order(tips: Mapping[str, bpy.types.PoseBone], held: Mapping[str, Sequence[Control]]) -> list[bpy.types.PoseBone]:
    """Limbs, each after those that move what it is held to. Both by the names of tips.

    Raises ChainError where limbs hold each other.
    """
    moved = {name: _moved_by(tip) for name, tip in tips.items()}
    before = {
        name: {
            other
            for control in held[name]
            for other in tips
            if other != name and followed_nodes(control.ob, control.bone) & moved[other]
        }
        for name in tips
    }
    try:
        return [tips[name] for name in TopologicalSorter(before).static_order()]
    except CycleError as error:
        raise ChainError(messages.HOLDS_IN_CIRCLE(tips=messages.quoted(error.args[1][1:]))) from error


def _moved_by(tip: bpy.types.PoseBone) -> set[Node]:
    """What a limb moves: its own bones, with hand or foot, and its controls."""
    nodes = {(tip.id_data, bone.name) for bone in limb_bones(tip)}
    target = Control(tip.analytic_ik_target, tip.analytic_ik_subtarget)
    keyed = keyed_control(tip, target) if target.ob is not None else target
    return nodes | {(keyed.ob, keyed.bone), *target_and_pole(tip)}


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


def locked_again(context: bpy.types.Context, ob: bpy.types.Object) -> Steps[dict]:
    """In steps: lock all limbs of an armature again that are locked, with contacts and motion as they are now.

    Contacts are those that keys say; each is held to what was held in most of its frames. Comes to a report.
    """
    by_tip: dict[str, list[HoldRecord]] = {}
    for record in holds_of(ob):
        by_tip.setdefault(record.tip, []).append(record)
    ordered = _check_circles(ob, holds_of(ob))
    if not ordered:
        said = messages.LOCKS_ARE_LIVE if live_locks_of(ob) else messages.NOT_LOCKED
        raise ChainError(said(armature=ob.name))
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
        write_plan(tips, controls, {}, capture, plan, samples, slopes, frames, "locked")
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
