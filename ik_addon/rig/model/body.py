"""Which bones follow the limbs that they carry, which could, and what no frame changes of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ... import messages
from ...solvers import ChainError
from ..blender.animation import FOLLOWING, bones_with_animated, is_driven
from ..blender.armatures import bones_at, bones_below
from ..blender.dependencies import Known, carriers, followed_bones, goes_along, movers_of, taken_by
from ..blender.rotations import LOCATION, rest_in_parent
from ..data.settings import BODY_RANGES, body_settings_of
from .limb import known_bones

_OF_THE_BODY = 2.0 / 3.0
"""Part of an armature's bones that hang on what is the body: on some rigs a pelvis carries the legs alone."""

Movers = set[tuple[bpy.types.Object, str]]
"""Bones, each with its armature object (original)."""


def following_bones(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of an armature object that follow their limbs just now."""
    bones = ob.pose.bones
    influences = np.zeros(len(bones), np.float32)
    bones.foreach_get(FOLLOWING, influences)
    rows = np.flatnonzero(influences > 0.0).tolist()
    return [bone.name for bone in bones_at(ob, rows)] if rows else []


def bodies_of(ob: bpy.types.Object) -> list[str]:
    """Names of the bones of an armature object that follow their limbs, or do so where animation says it."""
    return [*dict.fromkeys((*following_bones(ob), *bones_with_animated(ob.original, FOLLOWING)))]


def movers_of_target(tip: bpy.types.PoseBone, known: Known | None = None) -> Movers:
    """The bones that move the target of a chain; those cannot follow it."""
    control, bone = tip.analytic_ik_target, tip.analytic_ik_subtarget
    if control is None:
        return set()
    found = [*carriers(control, bone), *followed_bones(control, bone, True, known)]
    return {(owner, each.name) for owner, each in found}


def bodies_above(roots: Sequence[bpy.types.PoseBone], held: Collection[str] = ()) -> list[bpy.types.PoseBone]:
    """The bones that carry all of these roots of limbs of one armature object, upward from the one that is the body:
    the first that carries most of what the others do. Empty if there is none.

    held: names of bones that are not meant, as they carry controls of the limbs, which would go along.
    """
    lines = [[bone.name for bone in root.parent_recursive] for root in roots]
    shared = set(lines[0]).intersection(*lines[1:]) - {*held} if lines else ()
    line = [bone for bone in roots[0].parent_recursive if bone.name in shared] if shared else []
    most = len(line[-1].children_recursive) if line else 0
    first = (k for k, bone in enumerate(line) if len(bone.children_recursive) >= _OF_THE_BODY * most)
    return line[next(first, 0) :]


def possible_bodies(ob: bpy.types.Object, tips: Mapping[str, bpy.types.PoseBone]) -> dict[str, list[str]]:
    """By their names, topmost first, the bones of an armature object that carry the roots of several chains and not
    their targets, each with the tips of these. tips: of its chains."""
    known = Known()
    found: dict[str, list[str]] = {}
    for name, tip in tips.items():
        bones = known_bones(tip)
        if len(bones) < 2 or tip.analytic_ik_target is None:
            continue
        movers = movers_of_target(tip, known)
        for bone in bones[0].parent_recursive:
            if (ob, bone.name) not in movers:
                found.setdefault(bone.name, []).append(name)
    several = [name for name, own in found.items() if len(own) > 1]
    return {name: found[name] for name in sorted(several, key=lambda name: len(ob.pose.bones[name].parent_recursive))}


def body_channels(bone: bpy.types.PoseBone) -> tuple[str, ...]:
    """What is written of a bone that follows its limbs: its location, and its rotation if it may turn for them."""
    return (LOCATION, bone.rotation_mode) if bone.analytic_ik_body_turn > 0.0 else (LOCATION,)


def check_movable(bone: bpy.types.PoseBone, evaluated: bpy.types.PoseBone | None = None) -> None:
    """Raise ChainError where an original bone does not go where its channels say. evaluated: the same as evaluated."""
    try:
        if bone.bone.use_connect and bone.parent is not None:
            raise ChainError(messages.BODY_CONNECTED(parent=bone.parent.name))
        mover = next(movers_of([evaluated or bone]), None)
        if mover is not None:
            raise ChainError(messages.BODY_CONSTRAINED(constraint=mover.constraint.name))
        for mode in body_channels(bone):
            what = "location" if mode == LOCATION else "rotation"
            if is_driven(bone.id_data, bone, what):
                raise ChainError(messages.BODY_DRIVEN(channel=what))
    except ChainError as error:
        raise error.of(messages.BONE(bone=bone.name)) from error


@dataclass(frozen=True, slots=True)
class BodyModel:
    """A bone that follows its limbs, of the armature object of all chains that it moves.

    name, parent: of the bone, and of the one above it ("": none). limbs: tips of the chains that it follows; it is
    written with the first of them. carries: names of the bone and of all below it. line: of those between it and what
    chains read. rest: (4, 4), its rest matrix in the bone above. down: whether it goes straight down. keyed: whether
    animation sets its location; keyed_settings: likewise of those of `BODY_RANGES`.
    """

    name: str
    parent: str
    limbs: tuple[str, ...]
    carries: frozenset[str]
    line: frozenset[str]
    rest: np.ndarray
    down: bool
    keyed: bool
    keyed_settings: frozenset[str]

    @property
    def is_still(self) -> bool:
        """True if its FK location and its settings are the same at every frame."""
        return not self.keyed and not self.keyed_settings


def body_model(
    ob: bpy.types.Object,
    name: str,
    limbs: Sequence[str],
    animated: Mapping[str, Mapping[str, bool]],
    read: Iterable[str],
) -> BodyModel | None:
    """The model of a bone of an original armature object that follows its limbs; None where there is none for it: of
    one that turns all is read each time.

    limbs: tips of these. animated: see `animated_bones`. read: names of the bones that chains are read from.
    """
    bones, bone, own = ob.pose.bones, ob.pose.bones[name], animated.get(name, {})
    carries = frozenset((name, *(below.name for below in bones_below(bone))))
    lines = ((each, *(above.name for above in bones[each].parent_recursive)) for each in carries.intersection(read))
    line = carries.intersection((name, *(each for line in lines for each in line)))
    inherits = bone.bone.use_inherit_rotation and bone.bone.inherit_scale == "FULL" and not bone.bone.use_connect
    acting = ((each, bones[below]) for below in carries for each in bones[below].constraints if not each.mute)
    if (
        not bone.bone.use_local_location
        or (bone.parent is not None and not inherits)
        or any(bones[each].bone.use_relative_parent for each in line)
        or not all(goes_along(bones[below]) for below in line)
        or any(line & taken_by(*each) for each in acting)
        or any(own.values())
        or len(body_channels(bone)) > 1
        or "body_direction" in own
    ):
        return None
    return BodyModel(
        name=name,
        parent=bone.parent.name if bone.parent else "",
        limbs=tuple(limbs),
        carries=carries,
        line=line,
        rest=rest_in_parent(bone.bone),
        down=body_settings_of(bone).direction == "DOWN",
        keyed="location" in own,
        keyed_settings=frozenset(setting for setting in BODY_RANGES if setting in own),
    )
