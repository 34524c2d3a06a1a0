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
from ...bake.keys import SAME_TIME, bytes_of, keys_of, set_bytes
from ...bake.stepping import finish
from ...rig.blender.armatures import tag_pose
from ...rig.blender.rotations import numbers_of, quaternions_of, raw_values
from ...rig.data.undoing import all_or_nothing
from ...rig.model.limb import known_bones
from ...rig.status.problems import check_changeable
from ...solvers import ChainError
from ...solvers.arrays import multiply, quaternions
from ..feet.clip import turns_by, vectors_of
from ..feet.corrections import Bump, lowering_for, span_of
from .control_tracks import (
    KeyedControls,
    LimbControls,
    check_owners,
    frame_of,
    frames_of_keys,
    key_time,
    keyed_controls,
    numbers_at,
    track_of,
    turned,
    widths,
    worlds_over,
)
from .curve_edits import Edited, edit_curves
from .footprints import show_corrected, show_planned
from .kept_keys import (
    CORRECTIONS,
    UNCORRECTED,
    curves_by_object,
    curves_of,
    forget_curves,
    keep,
    keep_bytes,
    keep_record,
    kept,
    name_of,
    put_back,
    record,
)
from .keyed_moves import bring_back, keyed_moves, remember_keys
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
    world, fade in seconds, whether the body gives, and whether it is on."""
    return record(ob, CORRECTIONS).get("entries", [])


def apply_correction(
    context: bpy.types.Context, ob: bpy.types.Object, fade: float = 0.4, body: bool = True
) -> list[dict]:
    """Keep what Auto Keying has just keyed, or else what was moved at the present frame without a key, and let it fade;
    returns what is new.

    A foot that stands takes its whole stance along; in the air it fades to the contacts beside it. All else, bones
    with keys too, fades over `fade` seconds. body: it gives so that legs reach. Raises ChainError if nothing was moved,
    with nothing changed.
    """
    controls, frame = _ready(ob), context.scene.frame_current_final
    time, keyed = keyed_moves(ob, controls)
    wanted, moved = {}, [*controls.all, *_fk_bones(ob, controls)]
    if keyed and abs(time - key_time(frame)) > SAME_TIME:
        # Whoever keyed it is at another frame by now.
        frame, moved = frame_of(time), []
    wanted |= {each: _held(each) for each in moved if _is_moved(each, frame)} | keyed
    if not wanted:
        raise ChainError(messages.NOTHING_MOVED(armature=ob.name))
    frames = frames_of_keys(ob, controls)
    if not frames or not frames[0] <= frame <= frames[-1]:
        raise ChainError(messages.CORRECTION_OUTSIDE(frame=frame, first=frames.start, last=frames.stop - 1))
    with without_corrections(context, ob, controls, keyed) as told:
        row = (frame - frames.start) / frames.step
        replaced = [own for own in told if _is_replaced(own, wanted, row, controls, frames)]
        if replaced:
            told[:] = [own for own in told if own not in replaced]
            keep_record(ob, CORRECTIONS, record(ob, CORRECTIONS) | {"entries": told})
        if told:
            # It is measured beside what the others make.
            lay(context, ob, controls)
        made = [_measured(context, each, numbers, frame, controls) for each, numbers in wanted.items()]
        take_off(controls)
        for each in made:
            each |= {"fade": fade, "body": body, "on": True}
        told += made
    remember_keys(ob)
    return made


def change_correction(context: bpy.types.Context, ob: bpy.types.Object, index: int, remove: bool) -> dict:
    """Remove a correction, or switch it off or on; returns it as it was. Raises ChainError where there is none, or its
    control was keyed by hand since."""
    controls, own = _ready(ob), corrections_of(ob)
    if not 0 <= index < len(own):
        raise ChainError(messages.NO_SUCH_CORRECTION(armature=ob.name))
    if own[index] in _keyed_since(ob, controls):
        raise ChainError(messages.CORRECTION_KEYED(control=_name(own[index])))
    with without_corrections(context, ob, controls) as told:
        told.remove(own[index])
        if not remove:
            told.append(own[index] | {"on": not own[index]["on"]})
    return own[index]


@contextmanager
def without_corrections(
    context: bpy.types.Context, ob: bpy.types.Object, controls: KeyedControls, keyed: Iterable[Control] = ()
) -> Iterator[list[dict]]:
    """Inside, controls have the keys that they have without corrections; then those in the list are laid over them. All
    or nothing. keyed: controls whose remembered keys come back first."""
    with all_or_nothing([ob, *controls.owners], keys=True) as undo:
        undo.nothing_more_is_made()
        bring_back(ob, keyed)
        _dissolve(ob, controls)
        told = corrections_of(ob)
        take_off(controls)
        yield told
        known = record(ob, CORRECTIONS)
        told.sort(key=lambda own: own["frame"])
        keep_record(ob, CORRECTIONS, known | {"entries": told} if told else {})
        lay(context, ob, controls)
        tag_pose(ob)
        context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)


def _ready(ob: bpy.types.Object) -> KeyedControls:
    check_changeable(ob)
    controls = keyed_controls(ob)
    if not controls.limbs:
        raise ChainError(messages.NO_LIVE_CHAIN(armature=ob.name))
    check_owners(controls)
    return controls


def _fk_bones(ob: bpy.types.Object, controls: KeyedControls) -> list[Control]:
    """The bones of an armature object that are no controls, and that no chain poses."""
    known = {control.bone for control in controls.all if control.ob == ob}
    known |= {bone.name for limb in controls.limbs for bone in known_bones(limb.tip)}
    return [Control(ob, bone.name, turns=True) for bone in ob.pose.bones if bone.name not in known]


def _name(entry: Mapping) -> str:
    return entry["bone"] or entry["object"]


def _held(control: Control) -> np.ndarray:
    """What the channels of a control hold now, (6 or 7,)."""
    return np.concatenate(
        [raw_values(control.owner, mode) for mode in dict.fromkeys(mode for mode, _ in widths(control))]
    )


def _is_moved(control: Control, frame: float) -> bool:
    """Whether the keyed channels of a control hold something else than their keys say."""
    curves = curves_of(control)
    keyed = [column for column, key in enumerate(widths(control)) if key in curves]
    numbers = numbers_at(control, [key_time(frame)])[0]
    off = np.abs(_held(control) - numbers)[keyed]
    return bool(keyed) and bool((off > _MOVED * np.maximum(1.0, np.abs(numbers[keyed]))).any())


def _limb_of(control: Control, controls: KeyedControls) -> LimbControls | None:
    """The limb whose hand or foot a control moves."""
    return next((limb for limb in controls.limbs if limb.foot == control), None)


def _contacts(control: Control, controls: KeyedControls, frames: range) -> np.ndarray | None:
    limb = _limb_of(control, controls)
    return keyed_contacts(limb.tip, frames) if limb is not None else None


def _is_replaced(
    entry: Mapping, wanted: Mapping[Control, np.ndarray], row: float, controls: KeyedControls, frames: range
) -> bool:
    """Whether what was moved now takes the place of a correction: of the same control at that frame or in that
    stance."""
    control = _control(entry, controls)
    if control not in wanted:
        return False
    own_row, contacts = (entry["frame"] - frames.start) / frames.step, _contacts(control, controls, frames)
    spans = [span_of(each, contacts, 1.0)[1:3] for each in (own_row, row)]
    return spans[0] == spans[1]


def _control(entry: Mapping, controls: KeyedControls) -> Control | None:
    named = entry["object"], entry["bone"]
    return next((each for each in _all_of(controls) if (each.ob.name, each.bone) == named), None)


def _all_of(controls: KeyedControls) -> Iterator[Control]:
    """The controls, and the bones of the armature that has these."""
    ob = controls.limbs[0].tip.id_data
    yield from controls.all
    yield from (Control(ob, bone.name, turns=True) for bone in ob.pose.bones)


def _measured(
    context: bpy.types.Context, control: Control, numbers: np.ndarray, frame: float, controls: KeyedControls
) -> dict:
    """How far a control with these numbers is from where its keys have it at a frame, in the world."""
    known = numbers_at(control, [key_time(frame)])
    near = range(floor(frame), floor(frame) + 2)
    worlds = finish(worlds_over(context, controls, near, [control]))[control]
    space = _at(track_of(control, near, worlds).spaces, np.array([frame - near.start]))[0]
    mode = control.owner.rotation_mode
    before, after = (turned(mode, each[None, 3:])[0] for each in (known[0], numbers))
    axes = space[:3, :3] / np.cbrt(abs(np.linalg.det(space[:3, :3])))
    turn = vectors_of(axes @ after @ before.T @ np.linalg.inv(axes))
    has_turns = any(kind == mode for kind, _ in curves_of(control))
    return {
        "object": control.ob.name,
        "bone": control.bone,
        "frame": float(frame),
        "move": (space[:3, :3] @ (numbers[:3] - known[0, :3])).tolist(),
        "turn": turn.tolist() if has_turns and np.linalg.norm(turn) > _MOVED else [0.0, 0.0, 0.0],
    }


def take_off(controls: KeyedControls) -> None:
    """Let controls have the keys that they have without corrections."""
    for owner in {controls.limbs[0].tip.id_data, *controls.owners}:
        put_back(owner, UNCORRECTED)
    for limb in controls.limbs:
        show_planned(limb.tip)


def _dissolve(ob: bpy.types.Object, controls: KeyedControls) -> None:
    """Let corrections of controls whose keys were changed by hand since be no more than keys: nothing moves."""
    gone = _keyed_since(ob, controls)
    if gone:
        told = record(ob, CORRECTIONS)
        keep_record(ob, CORRECTIONS, told | {"entries": [each for each in told["entries"] if each not in gone]})
        for control in _all_of(controls):
            if _key(control) in told["laid"] and _mark(control) != told["laid"][_key(control)]:
                forget_curves(control.ob, UNCORRECTED, curves_of(control).values())


def _keyed_since(ob: bpy.types.Object, controls: KeyedControls) -> list[dict]:
    """The corrections of controls whose keys are not as they were left."""
    told, found = record(ob, CORRECTIONS), []
    for entry in told.get("entries", []):
        control = _control(entry, controls)
        if control is not None and entry["on"] and _mark(control) != told.get("laid", {}).get(_key(control)):
            found.append(entry)
    return found


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
    """What laying needs to know of a clip. spaces: of controls at the rows from `first` on."""

    controls: KeyedControls
    frames: range
    rows: range
    spaces: dict[Control, np.ndarray]

    def spaces_at(self, control: Control, rows: np.ndarray) -> np.ndarray:
        """What carries a control at rows, (n, 4, 4)."""
        return _at(self.spaces[control], rows - self.rows.start)

    def times(self, rows: np.ndarray) -> np.ndarray:
        """The times of keys at rows."""
        return self._start + rows * self._step

    def rows_of(self, times: np.ndarray) -> np.ndarray:
        """The rows at times of keys."""
        return (times - self._start) / self._step

    @property
    def _start(self) -> float:
        return key_time(self.frames.start)

    @property
    def _step(self) -> float:
        return key_time(self.frames.step)

    def place(self, control: Control, row: float) -> np.ndarray:
        """Where a control is in the world at a row, without corrections."""
        space = self.spaces_at(control, np.array([row]))[0]
        numbers = numbers_at(control, self.times(np.array([row])).tolist())[0]
        return space[:3, :3] @ numbers[:3] + space[:3, 3]


def lay(context: bpy.types.Context, ob: bpy.types.Object, controls: KeyedControls) -> None:
    """Lay the corrections that are on over the keys of controls, which have none, and keep these keys."""
    told = record(ob, CORRECTIONS)
    entries = [(control, own) for own in told.get("entries", []) if own["on"] and (control := _control(own, controls))]
    if not entries:
        return
    laying, bumps = _laid_out(context, controls, frames_of_keys(ob, controls), entries)
    giving = [(control, bumps[control]) for control, own in entries if own["body"] and _limb_of(control, controls)]
    if giving and controls.body and curves_of(controls.body):
        for down in _lowerings(context, laying, dict(giving)):
            bumps.setdefault(controls.body, []).append(down)
    keep(UNCORRECTED, curves_by_object(bumps))
    for control, own in bumps.items():
        limb = _limb_of(control, controls)
        for bump in own if limb is not None else ():
            if bump.last > bump.first:
                first, last = (laying.frames[round(row)] for row in (bump.first, bump.last))
                show_corrected(limb.tip, first, last, Matrix(bump.rigid))
        _lay(laying, control, own)
    keep_record(ob, CORRECTIONS, told | {"laid": {_key(control): _mark(control) for control in bumps}})


def move_step(
    context: bpy.types.Context,
    controls: KeyedControls,
    frames: range,
    control: Control,
    frame: int,
    move: np.ndarray,
    base: Mapping[str, bytes],
) -> dict[str, bytes]:
    """Change the keys of a control as a correction would by which a place in the world goes to `move` (4, 4) of it at a
    frame; no more is known of it. frames: of the clip. base: its keys without corrections, by F-Curve; returns what
    these become."""
    entry = {"frame": frame, "move": move[:3, 3], "turn": vectors_of(move[:3, :3]), "place": np.zeros(3)}
    laying, bumps = _laid_out(context, controls, frames, [(control, entry | {"fade": 0.0, "body": False})])
    _lay(laying, control, bumps[control])
    own = {curve: bytes_of(curve) for curve in curves_of(control).values() if name_of(curve) in base}
    for curve in own:
        set_bytes(curve, base[name_of(curve)])
    if own:
        _lay(laying, control, bumps[control])
    moved = {name_of(curve): bytes_of(curve) for curve in own}
    for curve, known in own.items():
        set_bytes(curve, known)
    return moved


def keys_below(ob: bpy.types.Object, control: Control) -> dict[str, bytes]:
    """The keys of a control of an armature object without its corrections, by F-Curve; {}: it has none, or was keyed by
    hand since."""
    if record(ob, CORRECTIONS).get("laid", {}).get(_key(control)) != _mark(control):
        return {}
    names = {name_of(curve) for curve in curves_of(control).values()}
    return {name: known for name, known in kept(control.ob, UNCORRECTED).items() if name in names}


def keep_below(ob: bpy.types.Object, control: Control, below: Mapping[str, bytes]) -> None:
    """Let those be the keys without corrections of a control, which has others now."""
    told = record(ob, CORRECTIONS)
    keep_bytes(control.ob, UNCORRECTED, below)
    keep_record(ob, CORRECTIONS, told | {"laid": told["laid"] | {_key(control): _mark(control)}})


def _laid_out(
    context: bpy.types.Context, controls: KeyedControls, frames: range, entries: Sequence[tuple[Control, Mapping]]
) -> tuple[_Laying, dict[Control, list[Bump]]]:
    """Corrections of controls over their keys as these are."""
    fps = context.scene.render.fps / context.scene.render.fps_base / frames.step
    spans = [
        span_of((own["frame"] - frames.start) / frames.step, _contacts(control, controls, frames), own["fade"] * fps)
        for control, own in entries
    ]
    last_row = len(frames) - 1
    ends = [0.0 if span[0] is None else span[0] for span in spans] + [span[1] for span in spans]
    ends += [float(last_row) if span[3] is None else span[3] for span in spans]
    rows = range(max(0, floor(min(ends)) - 1), min(last_row, ceil(max(ends)) + 1) + 1)
    window = frames[rows.start : rows.stop]
    involved = dict.fromkeys(control for control, _ in entries)
    if controls.body and any(own["body"] for _, own in entries):
        involved[controls.body] = None
    worlds = finish(worlds_over(context, controls, window, list(involved)))
    spaces = {each: track_of(each, window, worlds[each]).spaces for each in involved}
    laying, bumps = _Laying(controls, frames, rows, spaces), {}
    for (control, own), span in zip(entries, spans, strict=True):
        bumps.setdefault(control, []).append(_bump(laying, control, own, span))
    return laying, bumps


def _bump(laying: _Laying, control: Control, entry: Mapping, span: tuple) -> Bump:
    start, first, last, end = span
    at = (entry["frame"] - laying.frames.start) / laying.frames.step
    edges = np.array([laying.place(control, edge) for edge in (first, last)])
    speeds = np.zeros((2, 3))
    if last > first:
        near = [laying.place(control, edge) for edge in (first + _NEAR, last - _NEAR)]
        speeds = np.array([(near[0] - edges[0]) / _NEAR, (edges[1] - near[1]) / _NEAR])
    place = entry["place"] if "place" in entry else laying.place(control, at)
    return Bump(start, first, last, end, np.array(entry["move"]), np.array(entry["turn"]), place, edges, speeds)


def _lowerings(context: bpy.types.Context, laying: _Laying, bumps: Mapping[Control, Sequence[Bump]]) -> list[Bump]:
    """How the body gives for each correction of a foot, so that all legs reach."""
    limbs = [limb for limb in laying.controls.limbs if keyed_contacts(limb.tip, laying.frames) is not None]
    limbs = limbs or [limb for limb in laying.controls.limbs if limb.foot in bumps]
    window = laying.frames[laying.rows.start : laying.rows.stop]
    steps = captured(context, [limb.tip for limb in limbs], None, window, solved=True, at_feet=True)
    clip = finish(steps).clip
    rows = np.arange(laying.rows.start, laying.rows.stop, dtype=float)
    reaches = clip.reaches[:, None]
    lengths = np.linalg.norm(clip.ankles - clip.hips, axis=2)
    ankles, found = clip.ankles.copy(), []
    legs = [(own.first, k, own) for k, limb in enumerate(limbs) for own in bumps.get(limb.foot, ())]
    # One after the other: what one asks for is not asked again of another, which fades there.
    for _, k, own in sorted(legs, key=lambda leg: leg[:2]):
        ankles[k] += own.moves(rows, clip.ankles[k]) * own.holds(rows)[:, None]
        shares = own.shares(rows)
        # Where it fades, a leg may be straight: else the body would go far down for little.
        bent = (_STRAIGHT + shares * (_EXTENSION - _STRAIGHT)) * reaches
        longest = np.clip(lengths, bent, _STRAIGHT * reaches)
        down = lowering_for(clip.hips, ankles, longest, shares)
        if down > 0.0:
            still = np.zeros(3), np.zeros(3), np.zeros((2, 3)), np.zeros((2, 3))
            found.append(Bump(own.start, own.first, own.last, own.end, np.array((0.0, 0.0, -down)), *still))
            ankles[..., 2] += down * shares
    return found


def _lay(laying: _Laying, control: Control, bumps: Sequence[Bump]) -> None:
    """Change the keys of a control, and add some where a correction begins, is whole, and ends."""
    curves, mode = curves_of(control), control.owner.rotation_mode
    last_row = len(laying.frames) - 1

    def held(times: np.ndarray) -> np.ndarray:
        rows = laying.rows_of(times)
        inside = np.any([bump.holds(rows) for bump in bumps], axis=0)
        return inside & (rows > -1e-6) & (rows < last_row + 1e-6)

    def corrected(times: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        rows = laying.rows_of(times)
        spaces = laying.spaces_at(control, rows)
        places = np.einsum("nij,nj->ni", spaces[:, :3, :3], numbers[:, :3]) + spaces[:, :3, 3]
        holds = [bump.holds(rows)[:, None] for bump in bumps]
        moves = np.sum([bump.moves(rows, places) * own for bump, own in zip(bumps, holds, strict=True)], axis=0)
        turns = np.sum([bump.turns(rows) * own for bump, own in zip(bumps, holds, strict=True)], axis=0)
        found = numbers.copy()
        found[:, :3] += np.linalg.solve(spaces[:, :3, :3], moves[..., None])[..., 0]
        if np.any(turns):
            axes = spaces[:, :3, :3] / np.cbrt(np.abs(np.linalg.det(spaces[:, :3, :3])))[:, None, None]
            own = np.linalg.solve(axes, turns[..., None])[..., 0]
            found[:, 3:] = _turned(own, numbers[:, 3:], mode)
        return found

    points = {edge for bump in bumps for edge in (bump.start, bump.first, bump.last, bump.end) if edge is not None}
    extra = laying.times(np.array(sorted(edge for edge in points if 0 <= edge <= last_row)))
    columns = [curves.get(key) for key in widths(control)]
    edit_curves(columns, Edited(lambda times: numbers_at(control, times.tolist()), held, corrected, extra))


def _turned(turns: np.ndarray, numbers: np.ndarray, mode: str) -> np.ndarray:
    """Numbers of a rotation mode after a turn by rotation vectors (n, 3)."""
    turn = quaternions(turns_by(turns))
    if mode == "QUATERNION":
        # Not made of length one: so keys that go straight go straight after it.
        return multiply(turn, numbers)
    return numbers_of(multiply(turn, quaternions_of(numbers, mode)), mode, numbers)


def _at(spaces: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Matrices (n, 4, 4) at rows, whole or not."""
    rows = np.clip(rows, 0, len(spaces) - 1)
    low = np.floor(rows).astype(int)
    high, share = np.minimum(low + 1, len(spaces) - 1), (rows - low)[:, None, None]
    return (1.0 - share) * spaces[low] + share * spaces[high]
