"""Between two frames: whether legs reach what stands there, as the keys of the body play."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...rig.blender.sampling import Judge, Sampler
from ...rig.model.limb import chain_bones
from ...solvers.carrier import lowering
from ..feet.clip import LegMotion
from ..feet.options import STRAIGHTEST
from ..feet.planning import FootPlan

_SHARES = np.array((0.25, 0.5, 0.75))
"""Parts of the way from each frame to the next at which is looked."""
_SEEN = 1e-6
"""Part of a leg that is too short by more."""


def falls_between(tips: Sequence[bpy.types.PoseBone], clip: LegMotion, plan: FootPlan, frames: range) -> np.ndarray:
    """(T,), how far the body has to be lower at each frame for straight legs to reach also beside it; world units.

    tips: of the legs of a plan that is keyed. clip: that was planned. Keys of bones need not be at frames, and turn a
    hip between them. Zeros where more than F-Curves move the roots of legs.
    """
    ob, roots = tips[0].id_data, [chain_bones(tip)[0].name for tip in tips]
    stands = plan.contacts.any(axis=1)
    stands = stands[:, 1:] & stands[:, :-1]
    judge = Judge()
    if not stands.any() or any(judge.not_simple(ob, name) for name in roots):
        return np.zeros(len(frames))
    times = (np.array(frames)[:-1, None] + frames.step * _SHARES).ravel()
    sampler = Sampler(times.tolist())
    places = [np.broadcast_to(sampler.worlds(ob) @ sampler.poses(ob, name), (len(times), 4, 4)) for name in roots]
    before, after = plan.ankles[:, :-1, None], plan.ankles[:, 1:, None]
    offsets = (before + _SHARES[:, None] * (after - before)).reshape(len(tips), -1, 3) - np.array(places)[..., :3, 3]
    # What is in the air reaches anywhere here.
    offsets *= np.repeat(stands, len(_SHARES), axis=1)[..., None]
    longest = np.broadcast_to(STRAIGHTEST * clip.reaches[:, None], offsets.shape[:2])
    found = lowering(offsets, longest)[0].reshape(-1, len(_SHARES)).max(axis=1)
    found[found < _SEEN * clip.size] = 0.0
    return np.maximum(np.append(found, 0.0), np.append(0.0, found))
