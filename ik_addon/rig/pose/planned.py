"""Chains that are not read whole each time: what they are made of is kept, and only what moves is read."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ... import messages
from ...solvers import ChainError
from ...solvers.limited import legal_reach
from ..blender.dependencies import carriers
from ..blender.rotations import LOCATION, REST, Raw, is_even, quaternion_of
from ..data.settings import SAMPLED_SETTINGS, Settings, sampled_settings, settings_of, target_and_pole
from ..model.body import BodyModel, body_model
from ..model.foot import possible_end_bones
from ..model.limb import Wishes, chain_bones
from ..model.limb_model import AnimatedBones, LimbModel, controls_of, limb_model
from .following import Hold, follow
from .posing import FkPose
from .reading import ArmatureReader, SceneReader, UnevenError, without_gone_pole
from .solving import PlannedChain, PosedLimb, Solved, inherits_all, made_ready
from .track_reading import read_fk, same_wishes

_SAME_ROTATION = 1e-4
"""Apart as quaternions, for each bone of the chain, which adds up: more is another pose, and not rounding."""


def planned_chains(
    ob: bpy.types.Object,
    limbs: Mapping[str, PosedLimb],
    bodies: Mapping[str, tuple[Sequence[str], Sequence[str]]],
    animated: AnimatedBones,
    reader: SceneReader,
) -> dict[str, PlannedChain | str]:
    """By their tips, the chains of an original armature object that were read and solved just now, or what keeps them
    from being planned. bodies: names of the bones that follow some of them, with the tips of these and of all chains
    that each moves. reader: of the pass that solved them."""
    found: dict[str, PlannedChain | str] = {
        tip: _why_not(ob.pose.bones[tip], posed, animated) for tip, posed in limbs.items()
    }
    body_of = {}
    for name, (own, moved) in bodies.items():
        body = None if any(found[tip] for tip in moved) else _body(ob, name, own, moved, animated)
        if body is not None:
            body_of |= dict.fromkeys(moved, body)
        else:
            found |= {tip: found[tip] or messages.MOVES_WITH_BODY(bone=name) for tip in moved}
    for tip in (tip for tip, why in found.items() if not why):
        try:
            bone = ob.pose.bones[tip]
            found[tip] = planned_chain(ob, limb_model(bone, _settings_of(bone), animated, body_of.get(tip)))
        except UnevenError:
            found[tip] = messages.BONES_UNEVEN()
        except ChainError as error:
            found[tip] = str(error)
    chains = {tip: own for tip, own in found.items() if isinstance(own, PlannedChain)}
    for tip, asked in zip(chains, asked_now(reader.armature(ob), [*chains.values()]), strict=True):
        try:
            if not _is_same(limbs[tip], asked.ready.solve(asked.wishes)):
                found[tip] = messages.SET_UP_UNUSUALLY()
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
    return made_ready(model, read_fk(ob, model, FkPose(ob).numbers), _settings_of(ob.pose.bones[model.tip]))


def _settings_of(tip: bpy.types.PoseBone) -> Settings:
    return without_gone_pole(settings_of(tip))


@dataclass(frozen=True, slots=True)
class Request:
    """What a planned chain asks for just now. location: of the bone that is written with it, if there is one."""

    ready: PlannedChain
    wishes: Wishes
    location: Raw | None = None

    @property
    def wished(self) -> tuple[Wishes, dict[str, Any]]:
        """Where the chain shall go, and its settings at that frame."""
        return self.wishes, sampled_settings(self.ready.settings)

    @property
    def digits(self) -> bytes:
        """All that is asked of the chain, to the last digit."""
        given = self.wishes.target, self.wishes.pole, self.wishes.orientation, self.location
        return array("d", [number for each in given if each is not None for number in each]).tobytes()

    def values(self) -> np.ndarray:
        """The numbers (channels, 4) of its channels for it, zeros behind. Raises ChainError as `PlannedChain.solve`."""
        rows = self.ready.raw(self.ready.solve(self.wishes))
        rows += [] if self.location is None else [self.location]
        return np.array([(*row, 0.0)[:4] for row in rows], np.float32)


def asked_now(reader: ArmatureReader, chains: Sequence[PlannedChain]) -> list[Request]:
    """What planned chains of one armature object ask for; those that move with a body are all among them.

    Raises ChainError where a model does not hold, or a target is nowhere.
    """
    locations = {}
    ready = [chain if chain.model.is_still else _ready_now(reader, chain.model) for chain in chains]

    def holds(body: BodyModel) -> Iterator[Hold]:
        for chain, own in zip(chains, ready, strict=True):
            if chain.model.tip in body.limbs:
                parent, settings = reader.pose_of(reader.tip(chain.model.parent)), own.settings
                offset = parent.to_3x3() @ (own.end_of(wishes_of(reader, chain.model)) - own.root)
                if not all(map(isfinite, offset)):
                    raise ChainError(messages.MOVES_WITH_BODY(bone=body.name))
                size, (shortest, longest) = parent.col[0].length, legal_reach(own.chain)
                reach = size * shortest, size * longest
                yield parent @ own.root, offset, reach, settings.softness, settings.influence

    for chain in chains:
        body = chain.model.led
        if body is not None:
            locations[chain.model.tip] = follow(reader, body.name, lambda body=body: holds(body)).channels[LOCATION]
    return [
        Request(own, wishes_of(reader, chain.model), locations.get(chain.model.tip))
        for chain, own in zip(chains, ready, strict=True)
    ]


def _ready_now(reader: ArmatureReader, model: LimbModel) -> PlannedChain:
    """A chain ready to be solved whose FK pose or settings are others at each frame."""
    return made_ready(model, read_fk(reader.ob, model, reader.fk.numbers), _settings_of(reader.tip(model.tip)))


def wishes_of(reader: ArmatureReader, model: LimbModel) -> Wishes:
    """Where a planned chain shall go just now. Raises ChainError where its model does not hold."""
    return reader.wishes(controls_of(reader.ob, model), model.foot is not None, model.parent)


def is_confirmed(reader: ArmatureReader, chain: PlannedChain, wishes: Wishes) -> bool:
    """True if a chain that no body moves shall go where it was taken to go, but for rounding."""
    try:
        return same_wishes(wishes, wishes_of(reader, chain.model), chain.chain.length)
    except ChainError:
        return False


def _is_same(posed: PosedLimb, solved: Solved) -> bool:
    """True if a model gives the pose that was solved whole: scale that is hardly uneven shows where a chain is nearly
    straight."""
    slack = _SAME_ROTATION * len(posed.rotations)
    # The toe of a foot that may roll, and does not now, is none of the bones that were solved.
    own = zip(posed.limb.turned, posed.rotations, solved.rotations, strict=False)
    pairs = [(quaternion_of(raw, reading.mode), rotation) for reading, raw, rotation in own]
    return all(min((a - b).magnitude, (a + b).magnitude) <= slack for a, b in pairs)


def _why_not(tip: bpy.types.PoseBone, posed: PosedLimb, animated: AnimatedBones) -> str:
    """What keeps the chain of an original tip from having a model; "": nothing that is known before it is made."""
    chain, settings = chain_bones(tip), posed.limb.settings
    bones = [bone.bone for bone in (*chain, *possible_end_bones(tip))]
    scaled = tip.bone.children if settings.reach == "STRETCH" else ()
    for name in dict.fromkeys(bone.name for bone in (*bones, *scaled)):
        allowed = {*REST, *(SAMPLED_SETTINGS if name == tip.name else ())}
        for what, is_driver in animated.get(name, {}).items():
            # While it is off it is not solved.
            if what != "enabled" and (is_driver or what not in allowed):
                return messages.READS_ANIMATED(bone=name, channel=what)
    partial = next((bone.name for bone in bones if not inherits_all(bone)), None)
    if partial is not None:
        return messages.INHERITS_LESS(bone=partial)
    if not is_even(posed.limb.parent_pose or Matrix()):
        return messages.BONES_UNEVEN()
    return messages.LIMITS_SEARCHED() if posed.searched else ""
