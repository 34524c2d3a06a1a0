"""Between FK and IK without a jump: snap, set the influence, and key both if Auto Keying is on."""

from collections.abc import Iterable, Iterator, Sequence

import bpy

from .. import messages
from ..rig.blender.channels import channel_of
from ..rig.data.settings import settings_of
from ..rig.data.undoing import all_or_nothing
from ..rig.model.foot import possible_end_bones
from ..rig.model.limb import chain_bones
from ..rig.status.problems import check_changeable
from ..solvers import ChainError
from .auto_keying import key_if_asked
from .control_bones import new_bones_taken_back
from .placing import Control
from .snap import snap_pose, snap_targets

_INFLUENCE = "analytic_ik_influence"


def switch_to_fk(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> None:
    """Make the current pose of chains their FK pose, and their influence 0. Raises ChainError, with nothing changed."""
    with _switching(tips):
        snap_pose(context, tips, at_full_influence=False)
        _set_influence(context, tips, 0.0)
        for tip in tips:
            for bone in (*chain_bones(tip, tip.analytic_ik_chain_count), *possible_end_bones(tip)):
                key_if_asked(context, bone, channel_of(bone.rotation_mode)[0])


def switch_to_ik(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], as_bones: bool = False) -> None:
    """Move the controls of chains to where the current pose puts them, and make their influence 1.

    A chain without a pole gets one, an Empty or `as_bones` a control bone. Raises ChainError, with nothing changed.
    """
    growing = {tip.id_data for tip in tips} if as_bones else ()
    with _switching(tips), new_bones_taken_back(*growing):
        # What is all IK stays where it is; of a blend the shown pose is what must not jump.
        moving = [tip for tip in tips if tip.analytic_ik_influence < 1.0]
        blended = [tip for tip in moving if tip.analytic_ik_influence > 0.0]
        if blended:
            snap_pose(context, blended, at_full_influence=False)
        if moving:
            snap_targets(context, moving, as_bones=as_bones)
        _set_influence(context, tips, 1.0)
        for control in _controls(tips):
            for mode in control.modes:
                key_if_asked(context, control.owner, channel_of(mode)[0])


def unmute_chains(tips: Iterable[bpy.types.PoseBone]) -> int:
    """Switch chains on that are off and have a target; returns how many."""
    muted = [tip for tip in tips if not tip.analytic_ik_enabled and tip.analytic_ik_target is not None]
    for tip in muted:
        tip.analytic_ik_enabled = True
    return len(muted)


def _switching(tips: Sequence[bpy.types.PoseBone]):
    """Everything as before if a switch fails. Raises ChainError if the influence cannot be set."""
    for tip in tips:
        check_changeable(tip.id_data)
        data = tip.id_data.animation_data
        if data is not None and data.drivers.find(f"{tip.path_from_id()}.{_INFLUENCE}") is not None:
            raise ChainError(messages.INFLUENCE_DRIVEN(bone=tip.name))
    changed = [tip.id_data for tip in tips] + [control.ob for control in _controls(tips)]
    return all_or_nothing(list(dict.fromkeys(changed)), keys=True)


def _set_influence(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone], influence: float) -> None:
    for tip in tips:
        setattr(tip, _INFLUENCE, influence)
        # Between two switches a chain is either FK or IK.
        key_if_asked(context, tip, _INFLUENCE, "CONSTANT")


def _controls(tips: Sequence[bpy.types.PoseBone]) -> Iterator[Control]:
    for tip in tips:
        chain = settings_of(tip)
        if chain.target is not None:
            yield Control(chain.target, chain.subtarget, chain.use_rotation)
        if chain.pole_target is not None:
            yield Control(chain.pole_target, chain.pole_subtarget, False)
