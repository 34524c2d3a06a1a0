"""What Auto Keying keyed on the controls of a capture. A single key among keys on all frames is a jump.

The keys are remembered while nothing changes them, so what was keyed is known exactly, and can become a correction.
"""

from collections.abc import Iterable

import bpy
import numpy as np

from ...authoring.placing import Control
from ...bake.keys import SAME_TIME, bytes_of, keys_in, keys_of, set_bytes
from ...rig.blender.animation import current_fcurve_collections
from ...rig.blender.clips import playing_clip
from ...rig.blender.file_memory import file_memory
from .control_tracks import KeyedControls, keyed_controls, numbers_at
from .kept_keys import CORRECTIONS, FEW_KEYS, curves_of, record
from .sources import is_planted

_NONE = np.empty((0, 2), np.float32)
_GAP = 2.0 + SAME_TIME
"""Between the keys beside a key on every frame."""


def are_remembered(ob: bpy.types.Object) -> bool:
    """Whether the keys of an armature object's controls are known."""
    return ob.session_uid in file_memory.keys


def remember_keys(ob: bpy.types.Object) -> None:
    """Remember the keys of an armature object's controls as they are."""
    own = {
        _id(each): {key: bytes_of(curve) for key, curve in curves_of(each).items()} for each in keyed_controls(ob).all
    }
    file_memory.keys[ob.session_uid] = own


def keyed_moves(ob: bpy.types.Object, controls: KeyedControls) -> tuple[float, dict[Control, np.ndarray]]:
    """The time at which keys of captured controls are new, or have other values than are remembered, and what the
    channels of these controls hold there. Empty where that is not all that changed.

    Who moves a control and goes on to another frame at once has keyed the frame before.
    """
    known, found = file_memory.keys.get(ob.session_uid, {}), {}
    is_captured = is_planted(ob) or bool(record(ob, FEW_KEYS) or record(ob, CORRECTIONS))
    for control in controls.all if known else ():
        before, curves = known.get(_id(control), {}), curves_of(control)
        changed = [key for key, curve in curves.items() if bytes_of(curve) != before.get(key)]
        if not before.keys() <= curves.keys() or (changed and not before):
            return 0.0, {}
        # Auto Keying may key channels that had no keys, as they were; and Blender may set handles of others anew.
        pairs = [(keys_in(before[key])["co"] if key in before else _NONE, curves[key]) for key in changed]
        pairs = [(own, keys_of(curve, ("co",))["co"]) for own, curve in pairs]
        found[control] = [(own, now) for own, now in pairs if not np.array_equal(own, now)]
    pairs = [pair for own in found.values() for pair in own]
    times = [time for before, now in pairs for time, _ in {*map(tuple, before)} ^ {*map(tuple, now)}]
    time = max(times, default=0.0)
    if not times or not all(_is_single(before, now, time, is_captured) for before, now in pairs):
        return 0.0, {}
    return float(time), {control: numbers_at(control, [time])[0] for control, own in found.items() if own}


def bring_back(ob: bpy.types.Object, controls: Iterable[Control]) -> None:
    """Let controls of an armature object have the keys that are remembered."""
    for control in controls:
        before = file_memory.keys[ob.session_uid][_id(control)]
        homes = current_fcurve_collections(control.ob.animation_data)
        for key, curve in curves_of(control).items():
            if key in before:
                set_bytes(curve, before[key])
            else:
                next(home for home in homes if curve in home.values()).remove(curve)


def _id(control: Control) -> tuple:
    clip = playing_clip(control.ob)
    return control.ob.session_uid, control.bone, clip.action.session_uid if clip else 0


def _is_single(before: np.ndarray, now: np.ndarray, time: float, is_captured: bool) -> bool:
    """Whether no key but that at a time is new or elsewhere, among those of a capture. before, now: (n, 2)."""
    other, others = (np.abs(each[:, 0] - time) > SAME_TIME for each in (before, now))
    times = before[other, 0]
    k = int(np.searchsorted(times, time))
    is_captured |= before is _NONE or (0 < k < len(times) and times[k] - times[k - 1] < _GAP)
    return is_captured and not others.all() and np.array_equal(before[other], now[others])
