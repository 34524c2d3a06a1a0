"""Match Source: pair limbs and clips, read source and character, plan, place, key, measure, and report."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Vector

from .. import messages
from ..authoring.finding.limbs import FoundLimb, find_limbs
from ..authoring.fk_frames import checked_controls
from ..authoring.snap import pose_snapped
from ..bake.stepping import Steps, at_once, part_of, recorded, stepping_shown
from ..planting.feet.clip import LegMotion
from ..planting.feet.planning import FootPlan
from ..planting.scene.limbs import check_limbs, controls_ready
from ..planting.scene.reading import Capture, captured, carrier_of, clip_rate, in_two_links
from ..planting.scene.sources import is_planted, source_playing
from ..planting.scene.writing import body_keys, controls_placed, write_plan
from ..rig.blender.armatures import tag_pose
from ..rig.blender.clips import Clip, clip_name, clips_of, made_from, motion_frames
from ..rig.blender.file_memory import last, remember
from ..rig.blender.rotations import rotation_in
from ..rig.data.undoing import all_or_nothing
from ..rig.model.limb import chain_bones, end_in_tip, link_bones
from ..rig.model.order import live_tips
from ..solvers import ChainError
from .match_plan import Arms, Match, Place, plan_match, scales_of, swivel_errors, way_between


@dataclass(frozen=True, slots=True)
class LimbPair:
    """A limb of a character and the same one of its source. tip: of its chain; limb: as it was found there."""

    tip: bpy.types.PoseBone
    limb: FoundLimb
    source: FoundLimb


def pairs_of(tips: Sequence[bpy.types.PoseBone], source: bpy.types.Object) -> list[LimbPair]:
    """The limbs of these tips of one armature object for which its source has the same one.

    Raises ChainError where there is none.
    """
    ob = tips[0].id_data
    theirs = _by_kind(_limbs(source))
    if not theirs:
        raise ChainError(messages.SOURCE_NO_LIMB(source=source.name))
    own = _by_kind(limb for limb in _limbs(ob) if limb.bones[-1] in {tip.name for tip in tips})
    by_tip = {limb.bones[-1]: (limb, theirs[kind]) for kind, limb in own.items() if kind in theirs}
    pairs = [LimbPair(tip, *by_tip[tip.name]) for tip in tips if tip.name in by_tip]
    if not pairs:
        raise ChainError(messages.MATCH_NO_PAIR(armature=ob.name, source=source.name))
    return pairs


def _limbs(ob: bpy.types.Object) -> tuple[FoundLimb, ...]:
    """The legs and arms of an armature object."""
    posed = {bone.name: bone.head for bone in ob.pose.bones}
    return find_limbs(ob.data.bones, arms=True, posed=posed).limbs


def _by_kind(limbs: Iterable[FoundLimb]) -> dict[tuple[str, str, str], FoundLimb]:
    """Limbs by what they are; those that are one of several such are none."""
    found: dict[tuple[str, str, str], list[FoundLimb]] = {}
    for limb in limbs:
        found.setdefault((limb.kind, limb.side, limb.place), []).append(limb)
    return {kind: own[0] for kind, own in found.items() if len(own) == 1}


_NUMBER = re.compile(r"\.\d+$")
"""What Blender puts behind a name that is taken."""


def clip_of_source(source: bpy.types.Object, clip: Clip) -> Clip:
    """The clip of a source that has the name of a character's clip, or of the one that this was made from.

    What importers put before names, and the number that Blender puts behind, do not count. ChainError where there is
    none.
    """
    action, seen = clip.action, set()
    while (older := made_from(action)) is not None and older not in seen:
        action = older
        seen.add(older)
    clips = clips_of(source)
    found = [each for each in clips if _bare(clip_name(each, clips)) == _bare(action.name)]
    if not found:
        raise ChainError(messages.SOURCE_NO_CLIP(source=source.name, clip=_bare(action.name)))
    return found[0]


def _bare(name: str) -> str:
    return _NUMBER.sub("", name.rpartition("|")[2])


@dataclass(frozen=True, slots=True)
class Joints:
    """The joints of a limb. links: bones that begin at one, root first. tip: its last bone; end: in its space."""

    links: tuple[str, ...]
    tip: str
    end: Vector

    def shown(self, ob: bpy.types.Object) -> np.ndarray:
        """(n, 3), where they are in the world.

        ob: evaluated.
        """
        bones, world = ob.pose.bones, np.array(ob.matrix_world, float)
        end = np.array(bones[self.tip].matrix, float) @ (*self.end, 1.0)
        points = np.array([*((*bones[name].head, 1.0) for name in self.links), end])
        return (points @ world.T)[:, :3]


def joints_of_limb(ob: bpy.types.Object, limb: FoundLimb) -> Joints:
    """The joints of a limb that was found in an armature object."""
    bones = ob.data.bones
    last = bones[limb.bones[-1]]
    end = bones[limb.end].head_local if limb.end else last.tail_local
    links = tuple(name for name in limb.bones if name not in limb.segments)
    return Joints(links, last.name, last.matrix_local.inverted_safe() @ end)


def limbs_shown(
    context: bpy.types.Context, ob: bpy.types.Object, limbs: Sequence[Joints], frames: range
) -> Steps[LegMotion]:
    """In steps: limbs of an armature object as shown at each frame, live chains solved; without feet."""

    def take(depsgraph: bpy.types.Depsgraph) -> list[tuple[np.ndarray, tuple[float, float]]]:
        evaluated = ob.evaluated_get(depsgraph)
        return [in_two_links(limb.shown(evaluated)) for limb in limbs]

    rows = yield from recorded(stepping_shown(context, [ob]), frames, take)
    joints, lengths = (np.array([[limb[k] for limb in row] for row in rows]).swapaxes(0, 1) for k in (0, 1))
    hips, knees, ankles = np.moveaxis(joints, 2, 0)
    feet = np.tile(np.eye(3), (len(limbs), len(frames), 1, 1))
    return LegMotion(clip_rate(context.scene, frames), lengths.mean(axis=1), hips, knees, ankles, ankles, feet)


def place_of(context: bpy.types.Context, ob: bpy.types.Object, limbs: Iterable[FoundLimb], frame: int) -> Place:
    """Where an armature object is put up at a frame; its limbs at rest show what is left of it."""
    with stepping_shown(context, [ob]) as go_to:
        world = ob.evaluated_get(go_to(frame)).matrix_world.copy()
    left = Vector()
    for limb in limbs:
        root = ob.data.bones[limb.bones[0]].head_local
        left += {"L": root, "R": -root}.get(limb.side, Vector())
    axis = Vector()
    if left.length > 0.0:
        # Bodies are built along an axis; what their limbs are off it does not turn a walk.
        largest = max(range(3), key=lambda k: abs(left[k]))
        axis[largest] = 1.0 if left[largest] > 0.0 else -1.0
    return Place(np.array(world.translation, float), np.array(rotation_in(world) @ axis, float))


_MISSED = 1e-4
"""Part of a limb by which its end may be off a place that it reaches."""


def last_match_report() -> dict:
    """What `match_source` did last; empty before that. World units, radians, frames of the scene."""
    return last("match")


def match_report_of(
    pairs: Sequence[LimbPair],
    left_out: Sequence[bpy.types.PoseBone],
    source: bpy.types.Object,
    carrier: bpy.types.PoseBone | None,
    before: LegMotion,
    after: LegMotion,
    plan: FootPlan,
    match: Match,
    frames: range,
) -> dict:
    """The report of limbs that were matched. before, after: the limbs as retargeted, and as Blender shows them now.

    distance_before: how far ankle or wrist was from where the scaled source has it at most. error, swivel_error: how
    far it is now, in the frames in which it reaches, and to how different a side knee or elbow bends.
    """
    ob = pairs[0].tip.id_data
    off = np.linalg.norm(after.ankles - match.ends(after.hips), axis=-1)
    was_off = np.linalg.norm(before.ankles - match.ends(before.hips), axis=-1)
    # A limb without a number misses too.
    reached, swivels = off <= _MISSED * after.reaches[:, None], swivel_errors(after, match)
    limbs = [
        {
            "tip": pair.tip.name,
            "source_bone": pair.source.bones[-1],
            "kind": pair.limb.kind,
            "side": pair.limb.side,
            "length": float(after.reaches[k]),
            "scale": float(match.scales[k]),
            "distance_before": float(was_off[k].max()),
            "error": float(off[k][reached[k]].max(initial=0.0)),
            "swivel_error": float(swivels[k][reached[k]].max(initial=0.0)),
            "unreached_frames": [frames[t] for t in np.flatnonzero(~reached[k])],
        }
        for k, pair in enumerate(pairs)
    ]
    report = {
        "armature": ob.name,
        "source": source.name,
        "action": ob.animation_data.action.name,
        "body": carrier.name if carrier is not None else "",
        "frames": [frames.start, frames[-1], frames.step],
        "limbs": limbs,
        "left_out": [tip.name for tip in left_out],
        "body_shift": float(np.linalg.norm(plan.shifts, axis=1).max()),
        "unreached_frames": [frames[t] for t in np.flatnonzero(~reached.all(axis=0))],
    }
    return remember("match", report)


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
        keys = {ob: [body_keys(carrier, capture.body, plan, frames)]} if capture.body else {}
        with undo.making():
            write_plan(tips, controls, keys, capture, plan, samples, slopes, frames, _MADE)
        tag_pose(ob)
        # Whoever plants the clip, or mutes its chains, begins with what is shown now.
        yield from part_of(pose_snapped(context, tips, frames), 4, 6)
        joints = [
            Joints(tuple(bone.name for bone in link_bones(chain_bones(tip))), tip.name, Vector(end_in_tip(tip)))
            for tip in tips
        ]
        shown = limbs_shown(context, ob, joints, frames)
        after = yield from part_of(shown, 5, 6)
        left_out = [tip for tip in chosen if tip not in tips]
        return match_report_of(pairs, left_out, source, carrier, capture.clip, after, plan, match, frames)


match_source = at_once(source_matched)


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
