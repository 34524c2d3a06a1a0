"""Contacts as keys on tip bones: bars in the Dope Sheet, to be dragged, deleted and added."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...bake.keys import key_times, write_choices
from ...rig.blender.animation import current_fcurve_collections
from ...rig.data.settings import PREFIX

_PROPERTY = f"{PREFIX}contact"
_HEEL, _BALL = 1, 2
"""Bits of the numbers of `CONTACT_ITEMS`."""


def keyed_contacts(tip: bpy.types.PoseBone, frames: range) -> np.ndarray | None:
    """Whether heel and ball of a leg stand at each frame, (2, frames), as its keys say; None: it has no such keys."""
    data, path = tip.id_data.animation_data, f"{tip.path_from_id()}.{_PROPERTY}"
    curves = (home.find(path) for home in current_fcurve_collections(data)) if data else ()
    curve = next((curve for curve in curves if curve is not None and len(curve.keyframe_points)), None)
    if curve is None:
        return None
    numbers = np.array([round(curve.evaluate(time)) for time in key_times(frames)])
    return np.array([numbers & _HEEL, numbers & _BALL]) > 0


def key_contacts(tips: Sequence[bpy.types.PoseBone], contacts: np.ndarray, frames: range) -> None:
    """Key what stands of these legs in their armature's current action. contacts: (legs, 2, frames), heel and ball."""
    for tip, own in zip(tips, contacts, strict=True):
        _key(tip, own, frames)


def _key(tip: bpy.types.PoseBone, contacts: np.ndarray, frames: range) -> None:
    numbers = _HEEL * contacts[0] + _BALL * contacts[1]
    changes = np.diff(numbers, prepend=-1) != 0
    # Between two keys of one value the Dope Sheet draws a bar: a key at the end of each contact too.
    changes = np.flatnonzero(changes | (np.diff(numbers, append=-1) != 0) & (numbers > 0))
    times = key_times(frames)
    write_choices(
        tip.id_data,
        f"{tip.path_from_id()}.{_PROPERTY}",
        tip.name,
        times[changes].tolist(),
        numbers[changes].tolist(),
        (float(times[0]), float(times[-1])),
    )
