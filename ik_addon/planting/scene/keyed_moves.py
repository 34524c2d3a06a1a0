"""What Auto Keying keyed on the controls of a capture. A single key among keys on all frames is a jump.

The keys are remembered while nothing changes them, so what was keyed is known exactly, and can become a correction.
"""

from collections.abc import Iterable, Mapping, Sequence

import bpy
import numpy as np

from ...authoring.placing import Control
from ...bake.keys import SAME_TIME, keys_in
from ...rig.blender.animation import current_fcurve_collections
from ...rig.blender.clips import playing_clip
from ...rig.blender.file_memory import file_memory, of_action, remember
from .control_tracks import KeyedControls, frame_of, keyed_controls, numbers_at
from .kept_keys import CORRECTIONS, FEW_KEYS, KeysOf, curves_of, keys_now, name_of, put_keys, record
from .sources import is_planted

_GAP = 2.0 + SAME_TIME
"""Between the keys beside a key on every frame."""


def are_remembered(ob: bpy.types.Object) -> bool:
    """Whether the keys of an armature object's controls are known."""
    return ob.session_uid in file_memory.keys


def remember_keys(ob: bpy.types.Object) -> None:
    """Remember the keys of an armature object's controls and other bones as they are."""
    now = keys_now(keyed_controls(ob).by_hand)
    file_memory.keys[ob.session_uid] = {_id(owner): keys for owner, keys in now.items()}


Moves = dict[float, dict[Control, np.ndarray]]
"""By frame what the channels of controls hold that were keyed there."""


def keyed_moves(ob: bpy.types.Object, controls: KeyedControls) -> tuple[Moves, list[float]]:
    """Where keys of captured controls and bones are new, or have other values than are remembered: moves; or, where
    keys were edited as well, at frames at which the scene has not been since, or some are gone, no move and all of the
    frames.
    """
    is_captured = is_planted(ob) or bool(record(ob, FEW_KEYS) or record(ob, CORRECTIONS))
    own, found, is_edited = {*controls.all}, Moves(), False
    for owner, now in keys_now(controls.by_hand).items() if are_remembered(ob) else ():
        before = _remembered(ob, owner)
        is_edited |= not before.keys() <= now.keys()
        for control in (each for each in controls.by_hand if each.ob == owner):
            names = [*map(name_of, curves_of(control).values())]
            # Auto Keying may key channels that had no keys, as they were; and Blender may set handles of others anew.
            pairs = [(_places(before, name), _places(now, name)) for name in names if now[name] != before.get(name)]
            times = sorted({time for old, new in pairs for time, _ in new.items() - old.items()})
            is_known = (is_captured and control in own) or all(_is_dense(old, times) for old, _ in pairs)
            if not before.keys() & {*names} or not is_known:
                # As ever, what nobody captured.
                continue
            is_edited |= not all(map(_is_visited, times)) or any(old.keys() - new.keys() for old, new in pairs)
            for time in times:
                found.setdefault(frame_of(float(time)), {})[control] = numbers_at(control, [time])[0]
    return ({}, [*found]) if is_edited else (found, [])


def note_plain_keys(ob: bpy.types.Object, frames: Iterable[float], why: str) -> None:
    """Remember for the panel that keys at these frames are no corrections, and why."""
    clip = playing_clip(ob)
    if clip is not None:
        known = plain_keys(ob)
        known[why] = sorted({*known.get(why, ()), *map(round, frames)})
        remember("plain", {"armature": ob.name, "action": clip.action.name, "frames": known})


def plain_keys(ob: bpy.types.Object) -> dict[str, list[int]]:
    """That of what an armature object plays: the frames, by why."""
    return dict((of_action("plain", ob) or {}).get("frames", {}))


def _is_visited(time: float) -> bool:
    return any(abs(frame_of(time) - own) < SAME_TIME for own in file_memory.visited)


def bring_back(ob: bpy.types.Object, controls: Sequence[Control]) -> None:
    """Let controls of an armature object have the keys that are remembered."""
    for control in controls:
        known = _remembered(ob, control.ob)
        own = {name_of(curve): curve for curve in curves_of(control).values()}
        put_keys(control.ob, {name: known[name] for name in own.keys() & known.keys()})
        for name in own.keys() - known.keys():
            homes = current_fcurve_collections(control.ob.animation_data)
            next(home for home in homes if own[name] in home.values()).remove(own[name])


def _places(keys: KeysOf, name: str) -> dict[float, float]:
    return dict(keys_in(keys[name])["co"].tolist()) if name in keys else {}


def _remembered(ob: bpy.types.Object, owner: bpy.types.Object) -> KeysOf:
    return file_memory.keys[ob.session_uid].get(_id(owner), {})


def _id(owner: bpy.types.Object) -> tuple[int, int]:
    clip = playing_clip(owner)
    return owner.session_uid, clip.action.session_uid if clip else 0


def _is_dense(keys: Mapping[float, float], times: Sequence[float]) -> bool:
    """Whether keys, none or those of a capture, are on every frame beside some times."""
    if not keys:
        return True
    kept = np.array([own for own in keys if all(abs(own - time) > SAME_TIME for time in times)])
    rows = np.searchsorted(kept, times)
    inside = (rows > 0) & (rows < len(kept))
    return bool(inside.all()) and bool((kept[rows] - kept[rows - 1] < _GAP + len(times) - 1).all())
