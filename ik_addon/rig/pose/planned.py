"""Chains that are not read whole each time: what they are made of is kept, and only what moves is read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import bpy
from mathutils import Matrix

from ... import messages
from ...solvers import ChainError
from ..blender.dependencies import carriers
from ..data.settings import RANGES, SAMPLED_SETTINGS, settings_of, target_and_pole
from ..model.body import BodyModel, body_model
from ..model.foot import possible_end_bones
from ..model.limb import Limb, chain_bones
from ..model.limb_model import FK_CHANNELS, AnimatedBones, LimbModel, limb_model
from .posing import FkPose
from .reading import gone_pole, keyed_now, still_limb
from .ready import ReadyChain, inherits_all, is_even, is_plain, ready_chain
from .solving import PosedLimb
from .track_reading import UnevenError, read_fk
from .tracks import PlannedChain


def planned_chains(
    ob: bpy.types.Object,
    limbs: Mapping[str, PosedLimb],
    bodies: Mapping[str, tuple[Sequence[str], Sequence[str]]],
    animated: AnimatedBones,
) -> dict[str, PlannedChain | str]:
    """By their tips, the chains of an original armature object that were read and solved just now, or what keeps them
    from being planned. bodies: names of the bones that follow some of them, with the tips of these and of all chains
    that each moves."""
    found: dict[str, PlannedChain | str] = {}
    still: dict[str, Limb] = {}
    for tip, posed in limbs.items():
        still[tip] = _limb(ob, tip, FkPose(ob))
        found[tip] = _why_not(posed, still[tip], animated)
    body_of = {}
    for name, (own, moved) in bodies.items():
        body = None if any(found[tip] for tip in moved) else _body(ob, name, own, moved, animated)
        if body is not None:
            body_of |= dict.fromkeys(moved, body)
        else:
            found |= {tip: found[tip] or messages.MOVES_WITH_BODY(bone=name) for tip in moved}
    for tip in (tip for tip, why in found.items() if not why):
        try:
            found[tip] = planned_chain(ob, limb_model(ob, still[tip], animated, body_of.get(tip)))
        except ChainError as error:
            found[tip] = str(error)
    for name, (_, moved) in bodies.items():
        if any(isinstance(found[tip], str) for tip in moved):
            # Where it goes depends on all of its limbs.
            with_body = messages.MOVES_WITH_BODY(bone=name)
            found |= {tip: with_body for tip in moved if not isinstance(found[tip], str)}
    return found


def _body(
    ob: bpy.types.Object, name: str, limbs: Sequence[str], moved: Iterable[str], animated: AnimatedBones
) -> BodyModel | None:
    """The model of a bone that follows its limbs; None where what it moves may go along with it otherwise."""
    read = set()
    for tip in (ob.pose.bones[each] for each in moved):
        read |= {bone.parent.name for bone in chain_bones(tip)[:1] if bone.parent}
        for control, bone in target_and_pole(tip):
            if control == ob:
                read.add(bone)
            elif any(owner == ob and each.name == name for owner, each in carriers(control, bone)):
                return None
    return body_model(ob, name, limbs, animated, read)


def planned_chain(ob: bpy.types.Object, model: LimbModel) -> PlannedChain:
    """A chain of an original armature object with its FK pose and settings as they are now.

    Raises ChainError if its model does not hold for them.
    """
    fk = read_fk(ob, model)
    ready = ready_now(ob, model)
    return PlannedChain(model, fk, ready.limb.chain.length, ready if model.is_still else None)


def ready_now(ob: bpy.types.Object, model: LimbModel, scene: bpy.types.Scene | None = None) -> ReadyChain:
    """A chain of an original armature object ready to be solved with its FK pose and settings as they are now; scene:
    in that. Raises ChainError if its model does not hold for them."""
    fk = FkPose(ob, scene)
    limb = _limb(ob, model.tip, fk, model.keyed_settings)
    if not is_plain(limb):
        raise UnevenError(messages.BONES_UNEVEN())
    return ready_chain(limb, ((fk.scale(name), power) for name, power in model.scaled))


def _limb(ob: bpy.types.Object, tip_name: str, fk: FkPose, keyed_settings: Iterable[str] = ()) -> Limb:
    tip = ob.pose.bones[tip_name]
    settings = settings_of(tip)
    if fk.elsewhere is not None and keyed_settings:
        now = keyed_now(fk.elsewhere, tip, keyed_settings, RANGES)
        settings = replace(settings, **{name: type(getattr(settings, name))(value) for name, value in now.items()})
    if gone_pole(settings) is not None:
        settings = replace(settings, pole_target=None, pole_subtarget="")
    return still_limb(tip, settings, fk, possible_end_bones(tip))


def _why_not(posed: PosedLimb, limb: Limb, animated: AnimatedBones) -> str:
    """What keeps a chain from having a model; "": nothing. limb: the same, still."""
    ends = [end.reading.bone for end in limb.ends]
    bones = [*(bone.bone for link in limb.bones for bone in (link, *link.segments)), *ends]
    scaled = limb.bones[-1].last.bone.children if limb.settings.reach == "STRETCH" else ()
    for name in dict.fromkeys(bone.name for bone in (*bones, *scaled)):
        allowed = {*FK_CHANNELS, *(SAMPLED_SETTINGS if name == limb.tip else ())}
        for what, is_driver in animated.get(name, {}).items():
            # While it is off it is not solved.
            if what != "enabled" and (is_driver or what not in allowed):
                return messages.READS_ANIMATED(bone=name, channel=what)
    partial = next((bone.name for bone in bones if not inherits_all(bone)), None)
    if partial is not None:
        return messages.INHERITS_LESS(bone=partial)
    if not is_plain(limb) or not is_even(posed.limb.parent_pose or Matrix()):
        return messages.BONES_UNEVEN()
    return messages.LIMITS_SEARCHED() if posed.searched else ""
