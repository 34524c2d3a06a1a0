"""Simplify Keys and Back to All Keys: few keys on the controls of limbs and the body, and those of before. They are
taken off with corrections while a clip is planted again, and put on after."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TypeVar

import bpy
import numpy as np

from ... import messages
from ...authoring.placing import Control
from ...bake.few_keys import KeyedCurve
from ...bake.keys import divide, key_times, times_of, write_curve
from ...bake.stepping import Steps, at_once, part_of
from ...rig.blender.armatures import tag_pose
from ...rig.blender.file_memory import forget, remember
from ...rig.model.limb import known_bones, link_bones
from ...solvers import ChainError
from ..feet.clip import LegMotion
from ..feet.contacts import BALL, HEEL, HeelAndBall, sole_of
from ..feet.curves import runs
from ..feet.simplifying import KNEES, ControlTrack, FoundKeys, KeyOptions, LimbTracks, simplified
from .control_tracks import (
    KeyedControls,
    changeable_controls,
    columns_of,
    frames_of_keys,
    keyed_controls,
    track_of,
    worlds_over,
)
from .correcting import without_corrections
from .entries import corrections_of
from .kept_keys import ALL_KEYS, FEW_KEYS, curves_of, keep, keep_record, keys_now, put_back, record
from .limbs import FEWEST, keyed_contacts
from .reading import captured
from .sources import is_planted

_TRIES = (1.0, 0.7, 0.45)
"""Parts of the tolerance that is asked of the fit: Blender may show more than it told."""
_JOINTS = 10.0
"""As `KNEES`, where a limb has more than two links: how they share a turn is not foretold."""
_ROUNDING = 1e-5
"""Part of a leg by which single precision may be off."""


def keys_simplified(
    context: bpy.types.Context, ob: bpy.types.Object, frames: range | None = None, options: KeyOptions | None = None
) -> Steps[dict]:
    """In steps: as few keys on the controls of an armature object's limbs, and on the body, as keep its motion.

    frames: None for those over which it was planted, else over which keys move it. Keys outside them stay. What the
    keys were is kept for `all_keys`, and it begins with that when it is done again. Comes to a report. What Blender
    shows afterward is measured beside what it showed; where that is farther off than the tolerance it is done again,
    and at last not at all. Raises ChainError that names the armature, with nothing changed.
    """
    options, controls = options or KeyOptions(), changeable_controls(ob)
    with without_corrections(context, ob, controls):
        back_to_all_keys(controls)
        over = frames or frames_of_keys(ob, controls)
        report = yield from _simplified(context, ob, controls, over, options)
        keep_record(ob, FEW_KEYS, asdict(options) | {"frames": [over.start, over.stop, over.step]})
    return remember("keys", report)


def _simplified(
    context: bpy.types.Context, ob: bpy.types.Object, controls: KeyedControls, over: range, options: KeyOptions
) -> Steps[dict]:
    """In steps: the same for controls that have all keys, and no corrections. Comes to the report."""
    if len(over) < FEWEST:
        raise ChainError(messages.TOO_FEW_FRAMES())
    chosen = [each for each in controls.all if _is_keyed(each, over)]
    if not chosen:
        raise ChainError(messages.NO_KEYS_ON_CONTROLS(armature=ob.name))
    before = yield from part_of(_seen(context, controls, over), 0, 4)
    worlds = yield from part_of(worlds_over(context, controls, over), 1, 4)
    feet = {limb.foot for limb in controls.limbs}
    tracks = {each: track_of(each, over, worlds[each], each in feet) for each in chosen}
    limbs = _limb_tracks(controls, before, tracks, worlds, over)
    had = {each: _count(each) for each in chosen}
    for owner, keys in keys_now(chosen).items():
        keep(owner, ALL_KEYS, keys)
    knees = np.array([KNEES if len(link_bones(known_bones(each.tip))) == 2 else _JOINTS for each in controls.limbs])
    report: dict = {}
    for share in _TRIES:
        asked = replace(options, tolerance=share * options.tolerance, still=share * options.still)
        found: FoundKeys = {}
        for _ in simplified(found, limbs, tracks.get(controls.body), before.fps, asked):
            yield len(over) // 2, len(over)
        curves = {control: found[track] for control, track in tracks.items() if track in found}
        for control, curve in curves.items():
            _write(control, curve, over)
        groups = {"LIMB": [(limb.foot, limb.pole) for limb in controls.limbs], "POSE": [controls.all]}
        for group in ([each for each in own if each in curves] for own in groups.get(options.align, [])):
            rows = np.unique(np.concatenate([curves[each].rows for each in group])) if group else []
            for curve in (curve for each in group for curve in curves_of(each).values()):
                divide(curve, key_times(over)[rows].astype(float))
                curve.update()
        tag_pose(ob)
        after = yield from part_of(_seen(context, controls, over), 3, 4)
        report = _report(ob, controls, before, after, limbs, over, had)
        allowed = options.tolerance + _ROUNDING
        if report["tips"] <= allowed and (_knees_off(before, after) <= knees * allowed).all():
            return report
    raise ChainError(messages.KEYS_STAY(armature=ob.name, tips=report["tips"], knees=report["knees"]))


simplify_keys = at_once(keys_simplified)


def all_keys(context: bpy.types.Context, ob: bpy.types.Object) -> int:
    """Let the controls of an armature object have the keys again that they had before there were fewer, byte for byte.

    Returns how many frames have a key of a control. Raises ChainError, with nothing changed, if none were kept.
    """
    controls = changeable_controls(ob)
    if not record(ob, FEW_KEYS):
        raise ChainError(messages.NOT_SIMPLIFIED(armature=ob.name))
    with without_corrections(context, ob, controls):
        back_to_all_keys(controls)
    return sum(_count(each) for each in controls.all)


def back_to_all_keys(controls: KeyedControls) -> None:
    """The same, with nothing said of it."""
    for owner in controls.owners:
        put_back(owner, ALL_KEYS)
    keep_record(controls.ob, FEW_KEYS, {})
    forget("plain", controls.ob)


def simplified_as(ob: bpy.types.Object) -> tuple[range, KeyOptions] | None:
    """Over which frames, and with which options, there are few keys; None: there are all."""
    known = record(ob, FEW_KEYS)
    options = {name: known[name] for name in known.keys() & KeyOptions.__dataclass_fields__.keys()}
    return (range(*known["frames"]), KeyOptions(**options)) if known else None


def _is_keyed(control: Control, frames: range) -> bool:
    """Whether a control has keys of its location that some could be left out of."""
    first, *_, last = key_times(frames)
    curves = [curve for (mode, _), curve in curves_of(control).items() if mode == "LOCATION"]
    return any(((first - 0.5 <= times) & (times <= last + 0.5)).sum() >= FEWEST for times in map(times_of, curves))


def _count(control: Control) -> int:
    """How many frames have a key of a control."""
    return len({round(time, 3) for curve in curves_of(control).values() for time in times_of(curve).tolist()})


def _seen(context: bpy.types.Context, controls: KeyedControls, frames: range) -> Steps[LegMotion]:
    """In steps: the limbs as they are solved."""
    tips = [limb.tip for limb in controls.limbs]
    found = yield from captured(context, tips, None, frames, solved=True, at_feet=True)
    return found.clip


def _limb_tracks(
    controls: KeyedControls,
    clip: LegMotion,
    tracks: Mapping[Control, ControlTrack],
    worlds: Mapping[Control, np.ndarray],
    frames: range,
) -> list[LimbTracks]:
    points, found = _points(clip, sole_of(clip)), []
    for k, limb in enumerate(controls.limbs):
        keyed, above = keyed_contacts(limb.tip, frames), known_bones(limb.tip)[0].parent_recursive
        found.append(
            LimbTracks(
                foot=tracks.get(limb.foot),
                pole=tracks.get(limb.pole),
                hips=clip.hips[k],
                ankles=clip.ankles[k],
                poles=worlds[limb.pole][:, :3, 3] if limb.pole else clip.knees[k],
                lengths=clip.lengths[k],
                points=points[k],
                contacts=np.zeros((2, len(frames)), bool) if keyed is None else keyed,
                on_body=controls.body in tracks and controls.body.bone in {bone.name for bone in above},
            )
        )
    return found


def _points(clip: LegMotion, sole: HeelAndBall) -> np.ndarray:
    """(limbs, 3, T, 3), ankles, heels and balls."""
    return np.concatenate((clip.ankles[:, None], sole.places(clip.ankles, clip.feet)), axis=1)


def _write(control: Control, curve: KeyedCurve, frames: range) -> None:
    """Key what was found in place of the keys over these frames."""
    times, columns = key_times(frames).astype(float), columns_of(control)
    for key, fcurve in curves_of(control).items():
        slopes = curve.slopes[..., columns[key]] / (times[1] - times[0])
        write_curve(fcurve, times[curve.rows], curve.numbers[:, columns[key]], slopes, (times[0], times[-1]))


def _report(
    ob: bpy.types.Object,
    controls: KeyedControls,
    before: LegMotion,
    after: LegMotion,
    limbs: Sequence[LimbTracks],
    frames: range,
    had: Mapping[Control, int],
) -> dict:
    """What was done, and how far Blender shows it off, in leg lengths: tips (ankle, heel and ball), knees, and how far
    the control of a foot that stands slides between frames."""
    tips = np.linalg.norm(_points(after, sole_of(before)) - _points(before, sole_of(before)), axis=-1)
    slides = [_slide(own, own.foot, each.foot, frames) for own, each in zip(limbs, controls.limbs, strict=True)]
    return {
        "armature": ob.name,
        "action": ob.animation_data.action.name,
        "frames": [frames.start, frames[-1], frames.step],
        "keys_before": sum(had.values()),
        "keys": sum(_count(each) for each in had),
        "tips": float(tips.max()) / before.size,
        "knees": float(_knees_off(before, after).max()),
        "slide": max(slides, default=0.0) / before.size,
    }


def _knees_off(before: LegMotion, after: LegMotion) -> np.ndarray:
    """How far the knee of each limb is off at most, leg lengths."""
    return np.linalg.norm(after.knees - before.knees, axis=2).max(axis=1) / before.size


def _slide(limb: LimbTracks, track: ControlTrack | None, foot: Control, frames: range) -> float:
    """How far heel or ball is off at thirds of frames from where it stood before in a contact, world units; seen from
    what carries the control."""
    if track is None:
        return 0.0
    now, worst = replace(track, thirds=track_of(foot, frames, track.spaces, True).thirds), 0.0
    for bit in (HEEL, BALL):
        pivot = track.own(limb.points[1 + bit])
        away = np.linalg.norm(now.standing(pivot) - track.standing(pivot), axis=1)
        for first, last in runs(limb.contacts[bit]):
            worst = max(worst, float(away[3 * first : 3 * last + 1].max()) * track.scale)
    return worst


Result = TypeVar("Result")


def with_edits(context: bpy.types.Context, ob: bpy.types.Object, work: Steps[Result]) -> Steps[Result]:
    """In steps: do a work to the planted clip that an armature object plays, as it is without few keys and corrections,
    and put these on again."""
    few = simplified_as(ob) if is_planted(ob) else None
    if few is None and not (is_planted(ob) and corrections_of(ob)):
        return (yield from work)
    controls = keyed_controls(ob)
    with without_corrections(context, ob, controls):
        back_to_all_keys(controls)
        result = yield from part_of(work, 0, 2)
        if few is not None:
            yield from part_of(keys_simplified(context, ob, *few), 1, 2)
    return result
