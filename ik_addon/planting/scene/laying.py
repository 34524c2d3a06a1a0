"""Corrections laid over the keys of controls: what each adds, how the body gives for them, which limbs are short."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor

import bpy
import numpy as np
from mathutils import Matrix

from ...authoring.placing import Control
from ...bake.stepping import finish
from ...rig.blender.rotations import numbers_of, quaternions_of
from ...solvers.arrays import multiply, quaternions
from ..feet.clip import turns_by, vectors_of
from ..feet.corrections import Bump, Span, Sum, given_by_body, short_limbs, span_of
from .control_tracks import KeyedControls, columns_of, frame_of, key_time, numbers_at, track_of, turned, worlds_over
from .curve_edits import edit_curves
from .footprints import show_corrected
from .kept_keys import UNCORRECTED, curves_of, keep, keys_now
from .reading import captured

_NEAR = 0.05
"""Frames from an edge of a stance over which a speed is read off."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What carries controls: their spaces (T, 4, 4) at the frames of a window."""

    window: range
    spaces: Mapping[Control, np.ndarray]

    @classmethod
    def over(
        cls, context: bpy.types.Context, controls: KeyedControls, window: range, chosen: Sequence[Control]
    ) -> "Carried":
        """For some controls."""
        worlds = finish(worlds_over(context, controls, window, chosen))
        return cls(window, {each: track_of(each, window, worlds[each]).spaces for each in chosen})

    def at(self, control: Control, frames: np.ndarray) -> np.ndarray:
        """What carries a control at frames, whole or not, (n, 4, 4)."""
        spaces = self.spaces[control]
        rows = np.clip((frames - self.window.start) / self.window.step, 0, len(spaces) - 1)
        low = np.floor(rows).astype(int)
        high, share = np.minimum(low + 1, len(spaces) - 1), (rows - low)[:, None, None]
        return (1.0 - share) * spaces[low] + share * spaces[high]

    def places(self, control: Control, frames: np.ndarray, numbers: np.ndarray | None = None) -> np.ndarray:
        """Where a control is in the world at frames, (n, 3), as its keys have it, or numbers (n, C)."""
        spaces = self.at(control, frames)
        numbers = numbers_at(control, key_time(frames).tolist()) if numbers is None else numbers
        return np.einsum("nij,nj->ni", spaces[:, :3, :3], numbers[:, :3]) + spaces[:, :3, 3]


@dataclass(frozen=True, slots=True)
class Laid:
    """A correction over what is below it. asks: whether the body is to give for it."""

    control: Control
    bump: Bump
    asks: bool


def measured(
    context: bpy.types.Context, control: Control, numbers: np.ndarray, frame: float, controls: KeyedControls
) -> dict[str, list[float]]:
    """The move and the turn in the world of a control with these numbers from where its keys have it at a frame."""
    carried = Carried.over(context, controls, range(floor(frame), floor(frame) + 2), [control])
    known, space = numbers_at(control, [key_time(frame)])[0], carried.at(control, np.array([frame]))[0]
    mode, axes = control.owner.rotation_mode, _axes(space[None])[0]
    before, after = (turned(mode, each[None, 3:])[0] for each in (known, numbers))
    turn = vectors_of(axes @ after @ before.T @ np.linalg.inv(axes))
    is_turned = np.linalg.norm(turn) > _NO_TURN and any(kind == mode for kind, _ in curves_of(control))
    return {
        "move": (space[:3, :3] @ (numbers[:3] - known[:3])).tolist(),
        "turn": turn.tolist() if is_turned else [0.0, 0.0, 0.0],
    }


_NO_TURN = 1e-5
"""Radians that are rounding."""


_ABRUPT = 0.1
"""Seconds: what a contact lets fade in less is a jump to the eye."""


def laid_out(
    context: bpy.types.Context, controls: KeyedControls, clip: range, entries: Sequence[tuple[Control, dict]]
) -> tuple[Carried, list[Laid]]:
    """Corrections of controls over their keys as these are; their spans are written into them. clip: its frames."""
    fps = context.scene.render.fps / context.scene.render.fps_base
    spans = [
        _within_loop(span_of(own["frame"], controls.stances_of(control, clip), own["fade"] * fps), control, clip)
        for control, own in entries
    ]
    ends = np.clip([(start, end) for start, *_, end in spans], clip[0], clip[-1])
    rows = (floor((ends.min() - clip.start) / clip.step) - 1, ceil((ends.max() - clip.start) / clip.step) + 1)
    involved = dict.fromkeys(control for control, _ in entries)
    if controls.body and any(own["body"] for _, own in entries):
        involved[controls.body] = None
    carried, found = Carried.over(context, controls, clip[max(0, rows[0]) : rows[1] + 1], [*involved]), []
    for (control, own), span, (first, last) in zip(entries, spans, ends, strict=True):
        found.append(Laid(control, _bump(carried, control, own, span), own["body"]))
        own["span"] = [floor(first), ceil(last)]
        own["abrupt"] = min(span[1] - span[0], span[3] - span[2]) < min(_ABRUPT, own["fade"]) * fps
    return carried, found


def _within_loop(span: Span, control: Control, clip: range) -> Span:
    """A span that leaves the first and the last frame of a clip as they are where a control ends as it begins: else the
    loop would open. What stands there, and what moves over the whole clip, goes on as it is."""
    start, first, last, end = span
    ends = numbers_at(control, key_time(np.array((clip[0], clip[-1]), float)).tolist())
    if not np.allclose(*ends, rtol=0.0, atol=_SAME) or not np.isfinite((start, end)).any():
        return span
    return (
        max(start, clip[0]) if first > clip[0] else start,
        first,
        last,
        min(end, clip[-1]) if last < clip[-1] else end,
    )


_SAME = 1e-4
"""By how much the numbers of a control differ at most that mean the same place."""


def _bump(carried: Carried, control: Control, entry: Mapping, span: Span) -> Bump:
    start, first, last, end = span
    step = _NEAR * (last > first)
    at = np.array((first, first + step, last - step, last, entry["frame"]))
    before, edge, other, after, own = carried.places(control, at)
    speeds = np.array((edge - before, after - other)) / _NEAR
    ways = np.array(entry["move"]), np.array(entry["turn"]), entry.get("place", own)
    return Bump(start, first, last, end, *ways, np.array((before, after)), speeds)


def lay(
    context: bpy.types.Context, controls: KeyedControls, clip: range, entries: Sequence[tuple[Control, dict]]
) -> tuple[list[Control], dict[str, int]]:
    """Lay corrections over the keys of controls, and keep what these were. Returns whose keys are others now, the
    body's among them if it gives; and the limbs that are short of their controls, each with the frame where most."""
    carried, laid = laid_out(context, controls, clip, entries)
    given, short = _reached(context, controls, clip, carried, laid)
    bumps: dict[Control, list[Bump]] = {controls.body: given} if controls.body and given else {}
    for own in laid:
        bumps.setdefault(own.control, []).append(own.bump)
        limb = controls.limb_of(own.control)
        if limb is not None and own.bump.last > own.bump.first:
            show_corrected(limb.tip, round(own.bump.first), round(own.bump.last), Matrix(own.bump.rigid))
    for owner, keys in keys_now(bumps).items():
        keep(owner, UNCORRECTED, keys)
    for control, own in bumps.items():
        change_keys(clip, carried, control, Sum(own))
    return [*bumps], short


def _reached(
    context: bpy.types.Context, controls: KeyedControls, clip: range, carried: Carried, laid: Sequence[Laid]
) -> tuple[list[Bump], dict[str, int]]:
    """How the body gives for each correction of a foot that asks for it, so that all legs reach; and the limbs that are
    short all the same, each with the frame at which it is so most."""
    body, moved = controls.body, {own.control for own in laid}
    legs = [limb for limb in controls.limbs if limb.on_body or controls.stances_of(limb.foot, clip)]
    limbs = [*legs, *(limb for limb in controls.limbs if limb.foot in moved and limb not in legs)]
    if not moved & {body, *(limb.foot for limb in limbs)}:
        return [], {}
    seen = finish(captured(context, [limb.tip for limb in limbs], None, carried.window, solved=True, at_feet=True)).clip
    frames, offsets = np.array(carried.window, float), seen.ankles - seen.hips
    if body in moved:
        added = Sum([own.bump for own in laid if own.control == body])
        shift = added.carries(frames, carried.places(body, frames), seen.hips)
        offsets -= shift * np.array([limb.on_body for limb in limbs])[:, None, None]
    asking = [*range(len(legs or limbs))] if body and curves_of(body) else []
    feet = [(k, own) for k, limb in enumerate(limbs) for own in laid if own.control == limb.foot]
    given = given_by_body(seen, frames, offsets, [(k, own.bump, own.asks and k in asking) for k, own in feet], asking)
    short = {limbs[k].tip: carried.window[row] for k, row in short_limbs(seen, offsets).items()}
    return given, {tip.name: frame for tip, frame in short.items() if tip.analytic_ik_reach != "STRETCH"}


def change_keys(clip: range, carried: Carried, control: Control, added: Sum) -> None:
    """Change the keys of a control, and add some where a correction begins, is whole, and ends. clip: its frames."""
    columns, mode = columns_of(control), control.owner.rotation_mode

    def holds(times: np.ndarray) -> np.ndarray:
        frames = frame_of(times)
        return added.holds(frames) & (frames > clip[0] - 1e-6) & (frames < clip[-1] + 1e-6)

    def more(times: np.ndarray) -> np.ndarray:
        frames, numbers = frame_of(times), numbers_at(control, times.tolist())
        spaces, places = carried.at(control, frames)[:, :3, :3], carried.places(control, frames, numbers)
        moves, turns = added.moves(frames, places), added.turns(frames)
        turned = numbers[:, 3:]
        if np.any(turns):
            turned = _turned(np.linalg.solve(_axes(spaces), turns[..., None])[..., 0], turned, mode)
        return np.hstack((np.linalg.solve(spaces, moves[..., None])[..., 0], turned - numbers[:, 3:]))

    extra = key_time(added.knots[(clip[0] <= added.knots) & (added.knots <= clip[-1])])
    edit_curves({columns[key]: curve for key, curve in curves_of(control).items()}, more, holds, extra)


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
