"""Corrections in the action: what was moved at a frame, laid over the keys so that it fades, and taken off again."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from zlib import crc32

import bpy
import numpy as np

from ... import messages
from ...authoring.placing import Control
from ...bake.keys import SAME_TIME, keys_of
from ...rig.blender.armatures import tag_pose
from ...rig.blender.file_memory import file_memory
from ...rig.data.undoing import all_or_nothing
from ...solvers import ChainError
from ..feet.clip import vectors_of
from ..feet.corrections import Sum, span_of
from .control_tracks import KeyedControls, changeable_controls, frames_of_keys, held_by, key_time, numbers_at
from .entries import control_name, corrections_of, step_of
from .footprints import show_planned
from .kept_keys import CORRECTIONS, UNCORRECTED, KeysOf, curves_of, keep, keep_record, kept, name_of, put_back, record
from .keyed_moves import Moves, are_remembered, bring_back, keyed_moves, remember_keys
from .laying import change_keys, laid_out, lay, measured

_MOVED = 1e-5
"""By how much a number differs at least that was changed by hand."""


def apply_correction(
    context: bpy.types.Context, ob: bpy.types.Object, fade: float = 0.4, body: bool = True
) -> list[dict]:
    """Keep what Auto Keying has just keyed, and what was moved at the present frame without a key, and let it fade;
    returns what is new.

    A foot that stands takes its whole stance along; in the air it fades to the contacts beside it. All else, bones
    with keys too, fades over `fade` seconds. body: it gives so that legs reach. Raises ChainError if nothing was moved,
    with nothing changed.
    """
    controls = changeable_controls(ob)
    keyed, _ = keyed_moves(ob, controls)
    wanted = _with_unkeyed(controls, keyed, context.scene.frame_current_final)
    if not wanted:
        raise ChainError(messages.NOTHING_MOVED(armature=ob.name))
    clip, made = frames_of_keys(ob, controls), []
    for frame in wanted:
        if not clip or not clip[0] <= frame <= clip[-1]:
            raise ChainError(messages.CORRECTION_OUTSIDE(frame=frame, first=clip.start, last=clip.stop - 1))
    with without_corrections(context, ob, controls, [control for own in keyed.values() for control in own]) as told:
        for frame, moved in wanted.items():
            told[:] = [own for own in told if not _is_replaced(own, moved, frame, controls, clip)]
            # It is measured beside what the others make.
            _lay(context, controls, clip, told)
            step = 1 + max((own.get("step", 0) for own in told), default=0)
            known = {"frame": float(frame), "fade": fade, "body": body, "on": True, "step": step}
            new = [
                {"object": each.ob.name, "bone": each.bone} | measured(context, each, numbers, frame, controls) | known
                for each, numbers in moved.items()
            ]
            take_off(controls)
            made += new
            told += new
    return made


def change_correction(context: bpy.types.Context, ob: bpy.types.Object, index: int, remove: bool) -> list[dict]:
    """Remove a correction, or switch it off or on, with all that the same step made; returns them as they were. Raises
    ChainError where there is none, or a control was keyed by hand since."""
    controls, known = changeable_controls(ob), corrections_of(ob)
    if not 0 <= index < len(known):
        raise ChainError(messages.NO_SUCH_CORRECTION(armature=ob.name))
    step, changed = step_of(known[index]), _keyed_since(ob, controls)
    own = [each for each in known if step_of(each) == step]
    for each in own:
        if each["on"] and _control(each, controls) in changed:
            raise ChainError(messages.CORRECTION_KEYED(control=control_name(each)))
    with without_corrections(context, ob, controls) as told:
        if remove:
            told[:] = [each for each in told if step_of(each) != step]
        for each in told:
            each["on"] ^= step_of(each) == step
    return own


@contextmanager
def without_corrections(
    context: bpy.types.Context, ob: bpy.types.Object, controls: KeyedControls, keyed: Sequence[Control] = ()
) -> Iterator[list[dict]]:
    """Inside, controls have the keys that they have without corrections; then those in the list are laid over them. All
    or nothing. keyed: controls whose remembered keys come back first."""
    with all_or_nothing([ob, *controls.owners], keys=True) as undo:
        undo.nothing_more_is_made()
        bring_back(ob, keyed)
        # What is written here nobody has keyed.
        known = are_remembered(ob)
        file_memory.keys.clear()
        told = _told(ob, controls)
        take_off(controls)
        yield told
        told.sort(key=lambda own: own["frame"])
        changed, short = _lay(context, controls, frames_of_keys(ob, controls), told)
        marks = {_key(control): _mark(control) for control in changed}
        keep_record(ob, CORRECTIONS, {"entries": told, "laid": marks, "short": short} if told else {})
        tag_pose(ob)
        context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)
    if known:
        # At once: what is keyed before the next update is the next move.
        remember_keys(ob)


def take_off(controls: KeyedControls) -> None:
    """Let controls have the keys that they have without corrections."""
    for owner in {controls.ob, *controls.owners}:
        put_back(owner, UNCORRECTED)
    for limb in controls.limbs:
        show_planned(limb.tip)


def _lay(
    context: bpy.types.Context, controls: KeyedControls, clip: range, told: Sequence[dict]
) -> tuple[list[Control], dict[str, int]]:
    """`lay` those that are on, and whose controls there are."""
    chosen = [(control, own) for own in told if own["on"] and (control := _control(own, controls))]
    return lay(context, controls, clip, chosen) if chosen else ([], {})


def _with_unkeyed(controls: KeyedControls, keyed: Moves, frame: float) -> Moves:
    """What Auto Keying has keyed, and what was moved at a frame without a key."""
    if any(abs(own - frame) > SAME_TIME for own in keyed):
        # Whoever keyed it is at another frame by now.
        return keyed
    moved = {each: held_by(each) for each in controls.by_hand if _is_moved(each, frame)}
    for own in keyed.values():
        moved |= own
    return {frame: moved} if moved else {}


def _is_moved(control: Control, frame: float) -> bool:
    """Whether the channels of a control hold something else than their keys say."""
    numbers = numbers_at(control, [key_time(frame)])[0]
    return bool((np.abs(held_by(control) - numbers) > _MOVED * np.maximum(1.0, np.abs(numbers))).any())


def _is_replaced(
    entry: Mapping, moved: Mapping[Control, np.ndarray], frame: float, controls: KeyedControls, clip: range
) -> bool:
    """Whether what was moved now takes the place of a correction: of the same control at that frame or in that
    stance."""
    control = _control(entry, controls)
    if control not in moved:
        return False
    spans = [span_of(each, controls.stances_of(control, clip), 1.0)[1:3] for each in (entry["frame"], frame)]
    return spans[0] == spans[1]


def _control(entry: Mapping, controls: KeyedControls) -> Control | None:
    named = entry["object"], entry["bone"]
    return next((each for each in controls.with_bones if (each.ob.name, each.bone) == named), None)


def _told(ob: bpy.types.Object, controls: KeyedControls) -> list[dict]:
    """The corrections, but of controls whose keys were changed by hand since: these are no more than keys. So is what
    the body gave, if its keys were."""
    changed = _keyed_since(ob, controls)
    for control in changed:
        keep(control.ob, UNCORRECTED, dict.fromkeys(map(name_of, curves_of(control).values())))
    told = [own for own in corrections_of(ob) if not own["on"] or _control(own, controls) not in changed]
    return [own | {"body": own["body"] and controls.body not in changed} for own in told]


def _keyed_since(ob: bpy.types.Object, controls: KeyedControls) -> list[Control]:
    """The controls whose keys are not as corrections left them."""
    laid = record(ob, CORRECTIONS).get("laid", {})
    return [each for each in controls.with_bones if _key(each) in laid and _mark(each) != laid[_key(each)]]


def _key(control: Control) -> str:
    return f"{control.ob.name}|{control.bone}"


def _mark(control: Control) -> int:
    """A number that is another one where a key of a control is elsewhere."""
    return crc32(b"".join(keys_of(curve, ("co",))["co"].tobytes() for curve in curves_of(control).values()))


def move_step(
    context: bpy.types.Context, controls: KeyedControls, clip: range, control: Control, frame: int, move: np.ndarray
) -> None:
    """Change the keys of a control as a correction would by which a place in the world goes to `move` (4, 4) of it at a
    frame; no more is known of it. clip: its frames."""
    entry = {"frame": frame, "move": move[:3, 3], "turn": vectors_of(move[:3, :3]), "place": np.zeros(3)}
    carried, laid = laid_out(context, controls, clip, [(control, entry | {"fade": 0.0, "body": False})])
    change_keys(clip, carried, control, Sum([own.bump for own in laid]))


def keys_below(ob: bpy.types.Object, control: Control) -> KeysOf:
    """The keys of a control of an armature object without its corrections; {}: it has none, or was keyed by hand
    since."""
    if record(ob, CORRECTIONS).get("laid", {}).get(_key(control)) != _mark(control):
        return {}
    names = {name_of(curve) for curve in curves_of(control).values()}
    return {name: known for name, known in kept(control.ob, UNCORRECTED).items() if name in names}


def keep_below(ob: bpy.types.Object, control: Control, below: KeysOf) -> None:
    """Let those be the keys without corrections of a control, which has others now."""
    told = record(ob, CORRECTIONS)
    keep(control.ob, UNCORRECTED, below)
    keep_record(ob, CORRECTIONS, told | {"laid": told["laid"] | {_key(control): _mark(control)}})
