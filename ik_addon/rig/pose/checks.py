"""What may be wrong with a chain: each says it with the bone or object, and the fix."""

from dataclasses import replace
from math import isfinite

import bpy

from ... import messages
from ...solvers import ChainError, Kind
from ..blender.dependencies import carriers
from ..data.relation import in_any_collection
from ..data.settings import NUMBERS, PREFIX, Settings
from ..model.limb import Wishes

_KINDS = {"target": (Kind.TARGET, Kind.TARGET_DELETED), "pole target": (Kind.POLE, Kind.POLE_DELETED)}
"""By the role of a control the kinds of what may be wrong with it, and of its being deleted."""


class UnevenError(ChainError):
    """What carries a chain, or the chain, is scaled unevenly: its model does not hold there."""


def check_end(tip: bpy.types.PoseBone) -> None:
    """Raise ChainError if a tip names an end bone that its armature does not have."""
    name = tip.analytic_ik_end_bone
    if name and name not in tip.id_data.pose.bones:
        raise ChainError(messages.WITHOUT_END_BONE(end=name), Kind.END_BONE)


def check_numbers(tip: bpy.types.PoseBone, settings: Settings) -> None:
    """Raise ChainError where a setting is not a number, as a script or a driver may have left it."""
    for name in NUMBERS:
        if not isfinite(getattr(settings, name)):
            label = tip.bl_rna.properties[PREFIX + name].name
            raise ChainError(messages.SETTING_NO_NUMBER(setting=label))


def check_targets(ob: bpy.types.Object, chain: list[bpy.types.PoseBone], settings: Settings) -> None:
    """Raise ChainError where the target is missing or gone, or target or pole is moved by the chain itself."""
    if settings.target is None:
        raise ChainError(messages.NO_TARGET(), Kind.TARGET)
    gone = _gone(settings.target, settings.subtarget, "target")
    if gone is not None:
        raise gone
    names = {bone.name for bone in chain}
    for role, control, bone_name in (
        ("target", settings.target, settings.subtarget),
        ("pole target", settings.pole_target, settings.pole_subtarget),
    ):
        if control is None:
            continue
        own = (bone.name for carrier, bone in carriers(control, bone_name) if carrier == ob and bone.name in names)
        carrier = next(own, None)
        if carrier is not None:
            said = messages.CONTROL_ON_CHAIN(role=role, control=control_words(control, bone_name), bone=carrier)
            raise ChainError(said, _KINDS[role][0])


def gone_pole(settings: Settings) -> ChainError | None:
    """What is wrong with a pole that was deleted, or that is a bone which its armature does not have; None: nothing."""
    return _gone(settings.pole_target, settings.pole_subtarget, "pole target") if settings.pole_target else None


def _gone(control: bpy.types.Object, bone_name: str, role: str) -> ChainError | None:
    if not in_any_collection(control):
        return ChainError(messages.CONTROL_DELETED(role=role, control=control.name), _KINDS[role][1])
    if bone_name and (control.pose is None or bone_name not in control.pose.bones):
        said = messages.ROLE_WITHOUT_BONE(role=role, control=control.name, bone=bone_name)
        return ChainError(said, _KINDS[role][0])
    return None


def control_words(control: bpy.types.Object, bone_name: str) -> str:
    """A target or pole in a sentence."""
    return messages.CONTROL_BONE(bone=bone_name) if bone_name else messages.CONTROL_OBJECT(control=control.name)


def without_gone_pole(settings: Settings) -> Settings:
    """As Blender's own IK: a chain goes on without a pole target that is gone, and the panel says so."""
    if gone_pole(settings) is None:
        return settings
    return replace(settings, pole_target=None, pole_subtarget="")


def check_points(wishes: Wishes, settings: Settings) -> None:
    """Raise ChainError where target or pole are nowhere."""
    roles = ("target", wishes.target, settings.target), ("pole target", wishes.pole, settings.pole_target)
    for role, point, control in roles:
        if point is not None and control is not None and not all(map(isfinite, point)):
            raise ChainError(messages.CONTROL_NO_NUMBER(role=role, control=control.name), _KINDS[role][0])
