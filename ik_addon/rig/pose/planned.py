"""Chains that are not read whole each time: what they are made of is kept, and only what moves is read."""

from collections.abc import Iterable, Mapping, Sequence

import bpy
import numpy as np
from mathutils import Matrix, Quaternion

from ... import messages
from ...solvers import ChainError
from ..blender.dependencies import carriers
from ..blender.rotations import quaternion_of
from ..data.settings import SAMPLED_SETTINGS, sampled_settings, target_and_pole
from ..model.body import BodyModel, body_model
from ..model.foot import possible_end_bones
from ..model.limb import INHERITING, chain_bones
from ..model.limb_model import FK_CHANNELS, AnimatedBones, LimbModel, limb_model
from .single_frame import is_even, steady_chain
from .solving import PosedLimb
from .sources import EvaluatedPlaces
from .track_reading import TrackReader, read_fk
from .track_solving import chain_at, placed, solve_each
from .tracks import GoalTrack, PlannedChain, PoseTrack, Reading

_SAME_ROTATION = 1e-4
"""Apart as quaternions, for each bone of the chain, which adds up: more is another pose, and not rounding."""


def planned_chains(
    ob: bpy.types.Object,
    limbs: Mapping[str, PosedLimb],
    bodies: Mapping[str, tuple[Sequence[str], Sequence[str]]],
    animated: AnimatedBones,
    depsgraph: bpy.types.Depsgraph,
) -> dict[str, PlannedChain | str]:
    """By their tips, the chains of an original armature object that were read and solved just now, or what keeps them
    from being planned. bodies: names of the bones that follow some of them, with the tips of these and of all chains
    that each moves."""
    found: dict[str, PlannedChain | str] = {tip: _why_not(posed, animated) for tip, posed in limbs.items()}
    body_of = {}
    for name, (own, moved) in bodies.items():
        body = None if any(found[tip] for tip in moved) else _body(ob, name, own, moved, animated)
        if body is not None:
            body_of |= dict.fromkeys(moved, body)
        else:
            found |= {tip: found[tip] or messages.MOVES_WITH_BODY(bone=name) for tip in moved}
    chains: dict[str, PlannedChain] = {}
    for tip in (tip for tip, why in found.items() if not why):
        try:
            chains[tip] = planned_chain(ob, limb_model(ob, limbs[tip].limb, animated, body_of.get(tip)))
        except ChainError:
            found[tip] = messages.SET_UP_UNUSUALLY()
    readings = TrackReader(EvaluatedPlaces(depsgraph), 1).readings((ob, chain) for chain in chains.values())
    sound = {tip: own for tip, own in zip(chains, readings, strict=True) if isinstance(own, Reading)}
    solved = dict(zip(sound, solve_each([*sound.values()]), strict=True))
    for tip, chain in chains.items():
        pose = solved.get(tip)
        if isinstance(pose, ChainError):
            found[tip] = str(pose)
        elif pose is None or not _is_same(limbs[tip], pose):
            found[tip] = messages.SET_UP_UNUSUALLY()
        else:
            found[tip] = chain
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
    chain, settings = chain_at(model, fk, 0), sampled_settings(ob.pose.bones[model.tip])
    rows = {name: np.array([value]) for name, value in settings.items()}
    at_target = GoalTrack(np.zeros((1, 3)), None, np.array([[1.0, 0.0, 0.0, 0.0]]), np.eye(4)[None], rows)
    steady = steady_chain(model, fk, settings, chain, placed(Reading(model, fk, at_target, 1)))
    return PlannedChain(model, fk, chain.length, steady)


def _is_same(posed: PosedLimb, pose: PoseTrack) -> bool:
    """True if a model gives the pose that was solved."""
    if len(pose.rotations[0]) < len(posed.rotations):
        return False
    slack = _SAME_ROTATION * len(posed.rotations)
    # The toe of a foot that may roll, and does not now, is none of the bones that were solved.
    own = zip(posed.limb.turned, posed.rotations, pose.rotations[0], strict=False)
    pairs = [(quaternion_of(raw, reading.mode), Quaternion(rotation)) for reading, raw, rotation in own]
    return all(min((a - b).magnitude, (a + b).magnitude) <= slack for a, b in pairs)


def _why_not(posed: PosedLimb, animated: AnimatedBones) -> str:
    """What keeps a chain from having a model; "": nothing."""
    limb = posed.limb
    bones = {reading.name: reading.bone for reading in (*limb.turned, *limb.rigid)}
    bones |= {end.name: end.bone for end in possible_end_bones(limb.bones[-1].last.pose_bone)}
    scaled = limb.bones[-1].last.bone.children if limb.settings.reach == "STRETCH" else ()
    for name in (*bones, *(bone.name for bone in scaled)):
        allowed = {*FK_CHANNELS, *(SAMPLED_SETTINGS if name == limb.tip else ())}
        for what, is_driver in animated.get(name, {}).items():
            # While it is off it is not solved.
            if what != "enabled" and (is_driver or what not in allowed):
                return messages.READS_ANIMATED(bone=name, channel=what)
    for name, bone in bones.items():
        inherits = bone.use_inherit_rotation and bone.inherit_scale in INHERITING and not bone.use_relative_parent
        if not (inherits and bone.use_local_location):
            return messages.INHERITS_LESS(bone=name)
    poses = [reading.pose_armature for reading in (*limb.turned, *limb.rigid)]
    if not all(is_even(pose) for pose in (*poses, limb.parent_pose or Matrix())):
        return messages.BONES_UNEVEN()
    return ""
