"""Limbs made ready to be planted or locked."""

from collections.abc import Sequence

import bpy

from ... import messages
from ...authoring.fk_frames import checked_controls
from ...authoring.placing import Control, check_control
from ...authoring.snap import leave_to_poles
from ...bake.keys import check_keyable, check_unshared
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


def controls_ready(
    context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]
) -> dict[bpy.types.PoseBone, list[Control]]:
    """Target and pole of each of these limbs of one armature, which alone move it. Raises ChainError where they cannot
    be keyed."""
    ob = tips[0].id_data
    for tip in tips:
        _leave_to_control(tip)
    controls = checked_controls(tips, range(1))
    leave_to_poles(context, tips, controls)
    for tip, (target, _) in controls.items():
        check_control(keyed_control(tip, target))
    check_unshared(list(dict.fromkeys([ob, *(control.ob for own in controls.values() for control in own)])))
    return controls


def _leave_to_control(tip: bpy.types.PoseBone) -> None:
    """Let a limb's control hold its foot or hand, and nothing else bend it."""
    for name, value in _SETTINGS.items():
        setattr(tip, f"analytic_ik_{name}", value)
    if end_bone(tip) is not None and not tip.analytic_ik_use_rotation:
        tip.analytic_ik_use_rotation = True


def keyed_control(tip: bpy.types.PoseBone, target: Control) -> Control:
    """What is keyed to move a leg's target: the foot bone that carries it, where a foot does not hang on its leg; else
    the target itself.

    `rig_legs` sets it up so.
    """
    ob = target.ob
    if target.bone or ob.parent is None or ob.parent_type != "BONE" or not ob.hide_select:
        return target
    above = {bone.name for bone in tip.parent_recursive} if ob.parent == tip.id_data else set()
    return target if ob.parent_bone in above else Control(ob.parent, ob.parent_bone)
