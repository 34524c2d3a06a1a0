"""Corrections in the action: what was moved at a frame, laid over the keys so that it fades, and taken off again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil, floor
from zlib import crc32

import bpy
import numpy as np
from mathutils import Matrix

from ... import messages
from ...authoring.placing import Control
from ...bake.keys import SAME_TIME, keys_of
from ...bake.stepping import finish
from ...rig.blender.armatures import tag_pose
from ...rig.blender.rotations import LOCATION, numbers_of, quaternions_of, raw_values
from ...rig.data.undoing import all_or_nothing
from ...rig.model.limb import known_bones
from ...solvers import ChainError
from ...solvers.arrays import multiply, quaternions
from ..feet.clip import turns_by, vectors_of
from ..feet.corrections import Bump, lowering_for, span_of
from .control_tracks import (
    KeyedControls,
    LimbControls,
    changeable_controls,
    frames_of_keys,
    key_time,
    numbers_at,
    track_of,
    turned,
    widths,
    worlds_over,
)
from .curve_edits import edit_curves
from .footprints import show_corrected, show_planned
from .kept_keys import (
    CORRECTIONS,
    UNCORRECTED,
    KeysOf,
    curves_of,
    keep,
    keep_record,
    kept,
    keys_now,
    name_of,
    put_back,
    record,
)
from .keyed_moves import are_remembered, bring_back, keyed_moves, remember_keys
from .limbs import keyed_contacts
from .reading import captured

_MOVED = 1e-5
"""By how much a number differs at least that was changed by hand."""
_EXTENSION, _STRAIGHT = 0.985, 0.9999
"""Parts of a leg up to which the body need not give for it, and that it may not pass."""
_NEAR = 0.05
"""Rows from an edge of a stance over which a speed is read off."""


def corrections_of(ob: bpy.types.Object) -> list[dict]:
    """The corrections in what an armature object plays: the control's object and bone, frame, move and turn in the
    world, fade in seconds, whether the body gives, whether it is on, and over which frames it was when last laid."""
    return record(ob, CORRECTIONS).get("entries", [])


def apply_correction(
    context: bpy.types.Context, ob: bpy.types.Object, fade: float = 0.4, body: bool = True
) -> list[dict]:
    """Keep what Auto Keying has just keyed, and what was moved at the present frame without a key, and let it fade;
    returns what is new.

    A foot that stands takes its whole stance along; in the air it fades to the contacts beside it. All else, bones
    with keys too, fades over `fade` seconds. body: it gives so that legs reach. Raises ChainError if nothing was moved,
    with nothing changed.
    """
    controls, frame = changeable_controls(ob), context.scene.frame_current_final
    keyed = keyed_moves(ob, controls)
    wanted = {own: moved for own, moved in keyed.items() if abs(own - frame) > SAME_TIME}
    # Whoever keyed it may be at another frame by now.
    posed = {bone.name for limb in controls.limbs for bone in known_bones(limb.tip)}
    here = controls.all + [each for each in _all_of(controls)[len(controls.all) :] if each.bone not in posed]
    moved = {each: _held(each) for each in here if not wanted and _is_moved(each, frame)}
    for own in keyed.keys() - wanted.keys():
        moved |= keyed[own]
    wanted |= {frame: moved} if moved else {}
    if not wanted:
        raise ChainError(messages.NOTHING_MOVED(armature=ob.name))
    frames, made = frames_of_keys(ob, controls), []
    for frame in wanted:
        if not frames or not frames[0] <= frame <= frames[-1]:
            raise ChainError(messages.CORRECTION_OUTSIDE(frame=frame, first=frames.start, last=frames.stop - 1))
    with without_corrections(context, ob, controls, [control for own in keyed.values() for control in own]) as told:
        for frame, moved in wanted.items():
            row = (frame - frames.start) / frames.step
            told[:] = [own for own in told if not _is_replaced(own, moved, row, controls, frames)]
            # It is measured beside what the others make.
            lay(context, ob, controls, told)
            new = [_measured(context, each, numbers, frame, controls) for each, numbers in moved.items()]
            take_off(controls)
            made += [own | {"fade": fade, "body": body, "on": True} for own in new]
            told += made[len(made) - len(new) :]
    if are_remembered(ob):
        remember_keys(ob)
    return made


def change_correction(context: bpy.types.Context, ob: bpy.types.Object, index: int, remove: bool) -> dict:
    """Remove a correction, or switch it off or on; returns it as it was. Raises ChainError where there is none, or its
    control was keyed by hand since."""
    controls, own = changeable_controls(ob), corrections_of(ob)
    if not 0 <= index < len(own):
        raise ChainError(messages.NO_SUCH_CORRECTION(armature=ob.name))
    if own[index]["on"] and _control(own[index], controls) in _keyed_since(ob, controls):
        raise ChainError(messages.CORRECTION_KEYED(control=_name(own[index])))
    with without_corrections(context, ob, controls) as told:
        entry = next(each for each in told if _key_at(each) == _key_at(own[index]))
        entry["on"] = not entry["on"]
        if remove:
            told.remove(entry)
    return own[index]


@contextmanager
def without_corrections(
    context: bpy.types.Context, ob: bpy.types.Object, controls: KeyedControls, keyed: Sequence[Control] = ()
) -> Iterator[list[dict]]:
    """Inside, controls have the keys that they have without corrections; then those in the list are laid over them. All
    or nothing. keyed: controls whose remembered keys come back first."""
    with all_or_nothing([ob, *controls.owners], keys=True) as undo:
        undo.nothing_more_is_made()
        bring_back(ob, keyed)
        told = _told(ob, controls)
        take_off(controls)
        yield told
        told.sort(key=lambda own: own["frame"])
        marks = lay(context, ob, controls, told)
        keep_record(ob, CORRECTIONS, {"entries": told, "laid": marks} if told else {})
        tag_pose(ob)
        context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)


def _name(entry: Mapping) -> str:
    return entry["bone"] or entry["object"]


def _key_at(entry: Mapping) -> tuple[str, str, float]:
    """What no other correction has in common with one."""
    return entry["object"], entry["bone"], entry["frame"]


def _held(control: Control) -> np.ndarray:
    """What the channels of a control hold now, (6 or 7,)."""
    return np.concatenate([raw_values(control.owner, mode) for mode in (LOCATION, control.owner.rotation_mode)])


def _is_moved(control: Control, frame: float) -> bool:
    """Whether the keyed channels of a control hold something else than their keys say."""
    curves = curves_of(control)
    keyed = [column for column, key in enumerate(widths(control)) if key in curves]
    if not keyed:
        return False
    numbers, held = numbers_at(control, [key_time(frame)])[0, keyed], _held(control)[keyed]
    return bool((np.abs(held - numbers) > _MOVED * np.maximum(1.0, np.abs(numbers))).any())


def _limb_of(control: Control, controls: KeyedControls) -> LimbControls | None:
    """The limb whose hand or foot a control moves."""
    return next((limb for limb in controls.limbs if limb.foot == control), None)


def _contacts(control: Control, controls: KeyedControls, frames: range) -> np.ndarray | None:
    limb = _limb_of(control, controls)
    return keyed_contacts(limb.tip, frames) if limb is not None else None


def _is_replaced(
    entry: Mapping, moved: Mapping[Control, np.ndarray], row: float, controls: KeyedControls, frames: range
) -> bool:
    """Whether what was moved now takes the place of a correction: of the same control at that frame or in that
    stance."""
    control = _control(entry, controls)
    if control not in moved:
        return False
    own_row, contacts = (entry["frame"] - frames.start) / frames.step, _contacts(control, controls, frames)
    spans = [span_of(each, contacts, 1.0)[1:3] for each in (own_row, row)]
    return spans[0] == spans[1]


def _control(entry: Mapping, controls: KeyedControls) -> Control | None:
    named = entry["object"], entry["bone"]
    return next((each for each in _all_of(controls) if (each.ob.name, each.bone) == named), None)


def _all_of(controls: KeyedControls) -> list[Control]:
    """The controls, and the other bones of the armature that has these."""
    found = controls.all
    known = {each.bone for each in found if each.ob == controls.ob}
    bones = [bone.name for bone in controls.ob.pose.bones if bone.name not in known]
    return found + [Control(controls.ob, name, turns=True) for name in bones]


def _measured(
    context: bpy.types.Context, control: Control, numbers: np.ndarray, frame: float, controls: KeyedControls
) -> dict:
    """How far a control with these numbers is from where its keys have it at a frame, in the world."""
    laying = _Laying.over(context, controls, range(floor(frame), floor(frame) + 2), [control])
    at = np.array([frame - floor(frame)])
    known, space = numbers_at(control, [key_time(frame)])[0], laying.spaces_at(control, at)[0]
    mode, axes = control.owner.rotation_mode, _axes(space[None])[0]
    before, after = (turned(mode, each[None, 3:])[0] for each in (known, numbers))
    turn = vectors_of(axes @ after @ before.T @ np.linalg.inv(axes))
    has_turns = any(kind == mode for kind, _ in curves_of(control))
    return {
        "object": control.ob.name,
        "bone": control.bone,
        "frame": float(frame),
        "move": (space[:3, :3] @ (numbers[:3] - known[:3])).tolist(),
        "turn": turn.tolist() if has_turns and np.linalg.norm(turn) > _MOVED else [0.0, 0.0, 0.0],
    }


def take_off(controls: KeyedControls) -> None:
    """Let controls have the keys that they have without corrections."""
    for owner in {controls.ob, *controls.owners}:
        put_back(owner, UNCORRECTED)
    for limb in controls.limbs:
        show_planned(limb.tip)


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
    return [each for each in _all_of(controls) if _key(each) in laid and _mark(each) != laid[_key(each)]]


def _key(control: Control) -> str:
    return f"{control.ob.name}|{control.bone}"


def _mark(control: Control) -> int:
    """A number that is another one where a key of a control is elsewhere."""
    mark = 0
    for curve in curves_of(control).values():
        mark = crc32(keys_of(curve, ("co",))["co"].tobytes(), mark)
    return mark


@dataclass(frozen=True, slots=True)
class _Laying:
    """What laying needs to know of a clip. spaces: of controls at `rows` of its frames."""

    controls: KeyedControls
    frames: range
    rows: range
    spaces: dict[Control, np.ndarray]

    @classmethod
    def over(
        cls,
        context: bpy.types.Context,
        controls: KeyedControls,
        frames: range,
        chosen: Sequence[Control],
        rows: range | None = None,
    ) -> "_Laying":
        """For some controls. rows: which; None: all."""
        rows = rows if rows is not None else range(len(frames))
        window = frames[rows.start : rows.stop]
        worlds = finish(worlds_over(context, controls, window, chosen))
        return cls(controls, frames, rows, {each: track_of(each, window, worlds[each]).spaces for each in chosen})

    @property
    def window(self) -> range:
        """The frames at these rows."""
        return self.frames[self.rows.start : self.rows.stop]

    def spaces_at(self, control: Control, rows: np.ndarray) -> np.ndarray:
        """What carries a control at rows, whole or not, (n, 4, 4)."""
        spaces = self.spaces[control]
        rows = np.clip(rows - self.rows.start, 0, len(spaces) - 1)
        low = np.floor(rows).astype(int)
        high, share = np.minimum(low + 1, len(spaces) - 1), (rows - low)[:, None, None]
        return (1.0 - share) * spaces[low] + share * spaces[high]

    def times(self, rows: np.ndarray) -> np.ndarray:
        """The times of keys at rows."""
        return key_time(self.frames.start) + rows * key_time(self.frames.step)

    def rows_of(self, times: np.ndarray) -> np.ndarray:
        """The rows at times of keys."""
        return (times - key_time(self.frames.start)) / key_time(self.frames.step)

    def places(self, control: Control, rows: Sequence[float], numbers: np.ndarray | None = None) -> np.ndarray:
        """Where a control is in the world at rows, (n, 3), as its keys have it, or numbers (n, C)."""
        at = np.array(rows)
        spaces = self.spaces_at(control, at)
        numbers = numbers_at(control, self.times(at).tolist()) if numbers is None else numbers
        return np.einsum("nij,nj->ni", spaces[:, :3, :3], numbers[:, :3]) + spaces[:, :3, 3]


def lay(
    context: bpy.types.Context, ob: bpy.types.Object, controls: KeyedControls, entries: Iterable[dict]
) -> dict[str, int]:
    """Lay the corrections that are on over the keys of controls, which have none, and keep these keys. Returns what
    tells by the keys of each control whether they are left as they are."""
    chosen = [(control, own) for own in entries if own["on"] and (control := _control(own, controls))]
    if not chosen:
        return {}
    laying, bumps = _laid_out(context, controls, frames_of_keys(ob, controls), chosen)
    giving = {control: bumps[control] for control, own in chosen if own["body"] and _limb_of(control, controls)}
    if giving and controls.body and curves_of(controls.body):
        for down in _lowerings(context, laying, giving):
            bumps.setdefault(controls.body, []).append(down)
    for owner, keys in keys_now(bumps).items():
        keep(owner, UNCORRECTED, keys)
    for control, own in bumps.items():
        limb = _limb_of(control, controls)
        for bump in own if limb is not None else ():
            if bump.last > bump.first:
                first, last = (laying.frames[round(row)] for row in (bump.first, bump.last))
                show_corrected(limb.tip, first, last, Matrix(bump.rigid))
        _lay(laying, control, own)
    return {_key(control): _mark(control) for control in bumps}


def move_step(
    context: bpy.types.Context, controls: KeyedControls, frames: range, control: Control, frame: int, move: np.ndarray
) -> None:
    """Change the keys of a control as a correction would by which a place in the world goes to `move` (4, 4) of it at a
    frame; no more is known of it. frames: of the clip."""
    entry = {"frame": frame, "move": move[:3, 3], "turn": vectors_of(move[:3, :3]), "place": np.zeros(3)}
    laying, bumps = _laid_out(context, controls, frames, [(control, entry | {"fade": 0.0, "body": False})])
    _lay(laying, control, bumps[control])


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


def _laid_out(
    context: bpy.types.Context, controls: KeyedControls, frames: range, entries: Sequence[tuple[Control, dict]]
) -> tuple[_Laying, dict[Control, list[Bump]]]:
    """Corrections of controls over their keys as these are."""
    fps = context.scene.render.fps / context.scene.render.fps_base / frames.step
    spans = [
        span_of((own["frame"] - frames.start) / frames.step, _contacts(control, controls, frames), own["fade"] * fps)
        for control, own in entries
    ]
    ends = np.clip([(start, end) for start, *_, end in spans], 0, len(frames) - 1)
    rows = range(max(0, floor(ends.min()) - 1), min(len(frames) - 1, ceil(ends.max()) + 1) + 1)
    involved = dict.fromkeys(control for control, _ in entries)
    if controls.body and any(own["body"] for _, own in entries):
        involved[controls.body] = None
    laying, bumps = _Laying.over(context, controls, frames, [*involved], rows), {}
    for (control, own), span, (first, last) in zip(entries, spans, ends, strict=True):
        bumps.setdefault(control, []).append(_bump(laying, control, own, span))
        own["span"] = [frames[floor(first)], frames[ceil(last)]]
    return laying, bumps


def _bump(laying: _Laying, control: Control, entry: Mapping, span: tuple[float, float, float, float]) -> Bump:
    start, first, last, end = span
    at = (entry["frame"] - laying.frames.start) / laying.frames.step
    step = _NEAR * (last > first)
    before, edge, other, after, own = laying.places(control, (first, first + step, last - step, last, at))
    speeds = np.array((edge - before, after - other)) / _NEAR
    ways = np.array(entry["move"]), np.array(entry["turn"]), entry.get("place", own)
    return Bump(start, first, last, end, *ways, np.array((before, after)), speeds)


def _lowerings(context: bpy.types.Context, laying: _Laying, bumps: Mapping[Control, Sequence[Bump]]) -> list[Bump]:
    """How the body gives for each correction of a foot, so that all legs reach."""
    limbs = [limb for limb in laying.controls.limbs if keyed_contacts(limb.tip, laying.frames) is not None]
    limbs = limbs or [limb for limb in laying.controls.limbs if limb.foot in bumps]
    clip = finish(captured(context, [limb.tip for limb in limbs], None, laying.window, solved=True, at_feet=True)).clip
    rows = np.array(laying.rows, float)
    reaches, offsets, found = clip.reaches[:, None], clip.ankles - clip.hips, []
    lengths = np.linalg.norm(offsets, axis=2)
    legs = [(own.first, k, own) for k, limb in enumerate(limbs) for own in bumps.get(limb.foot, ())]
    # One after the other: what one asks for is not asked again of another, which fades there.
    for _, k, own in sorted(legs, key=lambda leg: leg[:2]):
        offsets[k] += own.moves(rows, clip.ankles[k])
        shares = own.shares(rows)
        # Where it fades, a leg may be straight: else the body would go far down for little.
        bent = (_STRAIGHT + shares * (_EXTENSION - _STRAIGHT)) * reaches
        down = lowering_for(offsets, np.clip(lengths, bent, _STRAIGHT * reaches), shares)
        if down > 0.0:
            found.append(Bump(own.start, own.first, own.last, own.end, np.array((0.0, 0.0, -down))))
            offsets[..., 2] += down * shares
    return found


def _lay(laying: _Laying, control: Control, bumps: Sequence[Bump]) -> None:
    """Change the keys of a control, and add some where a correction begins, is whole, and ends."""
    curves, mode, last_row = curves_of(control), control.owner.rotation_mode, len(laying.frames) - 1

    def holds(times: np.ndarray) -> np.ndarray:
        rows = laying.rows_of(times)
        return np.any([bump.holds(rows) for bump in bumps], axis=0) & (rows > -1e-6) & (rows < last_row + 1e-6)

    def corrected(times: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        rows, found = laying.rows_of(times), numbers.copy()
        spaces, places = laying.spaces_at(control, rows)[:, :3, :3], laying.places(control, rows, numbers)
        moves = np.sum([bump.moves(rows, places) for bump in bumps], axis=0)
        turns = np.sum([bump.turns(rows) for bump in bumps], axis=0)
        found[:, :3] += np.linalg.solve(spaces, moves[..., None])[..., 0]
        if np.any(turns):
            found[:, 3:] = _turned(np.linalg.solve(_axes(spaces), turns[..., None])[..., 0], numbers[:, 3:], mode)
        return found

    points = {edge for bump in bumps for edge in (bump.start, bump.first, bump.last, bump.end)}
    extra = laying.times(np.array(sorted(edge for edge in points if 0 <= edge <= last_row)))
    columns = [curves.get(key) for key in widths(control)]
    edit_curves(columns, lambda times: numbers_at(control, times.tolist()), corrected, holds, extra)


def _axes(spaces: np.ndarray) -> np.ndarray:
    """How spaces (n, 3 or 4, 3 or 4) are turned, (n, 3, 3)."""
    spaces = spaces[:, :3, :3]
    return spaces / np.cbrt(np.abs(np.linalg.det(spaces)))[:, None, None]


def _turned(turns: np.ndarray, numbers: np.ndarray, mode: str) -> np.ndarray:
    """Numbers of a rotation mode after a turn by rotation vectors (n, 3)."""
    turn = quaternions(turns_by(turns))
    if mode == "QUATERNION":
        # Not made of length one: so keys that go straight go straight after it.
        return multiply(turn, numbers)
    return numbers_of(multiply(turn, quaternions_of(numbers, mode)), mode, numbers)
