"""Limbs made ready to be planted or locked."""

from collections.abc import Sequence

import bpy

from ... import messages
from ...bake.keys import check_keyable
from ...rig.model.foot import end_bone
from ...rig.model.limb import chain_bones
from ...rig.status.problems import check_changeable
from ...solvers import ChainError

_SETTINGS = {"softness": 0.0, "influence": 1.0}
"""What planting sets: the body does the softening, and nothing is to be left of the FK pose."""
_FEWEST = 3
"""Frames without which there is no motion."""


def check_limbs(tips: Sequence[bpy.types.PoseBone], frames: range) -> None:
    """Raise ChainError where limbs of one armature cannot be keyed over frames, or have no knee or elbow."""
    ob = tips[0].id_data
    check_changeable(ob)
    if len(frames) < _FEWEST:
        raise ChainError(messages.TOO_FEW_FRAMES())
    check_keyable(ob, "COPY")
    for tip in tips:
        if len(chain_bones(tip)) < 2:
            raise ChainError(messages.NO_KNEE()).of(messages.BONE(bone=tip.name))


def ready(tip: bpy.types.PoseBone) -> None:
    """Let a limb's control hold its foot or hand, and nothing else bend it."""
    for name, value in _SETTINGS.items():
        setattr(tip, f"analytic_ik_{name}", value)
    if end_bone(tip) is not None and not tip.analytic_ik_use_rotation:
        tip.analytic_ik_use_rotation = True
