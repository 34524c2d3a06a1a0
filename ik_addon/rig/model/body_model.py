"""What no frame changes of a bone that follows its limbs, where what it moves goes along with it for certain."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from ..blender.armatures import bones_below
from ..blender.movers import goes_along, taken_by
from ..blender.rotations import array_of
from ..data.settings import BODY_RANGES, body_settings_of


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
    """The model of a bone of an original armature object that follows its limbs; None where there is none for it.

    limbs: tips of these. animated: see `animated_bones`. read: names of the bones that chains are read from.
    """
    bones, bone, own = ob.pose.bones, ob.pose.bones[name], animated.get(name, {})
    carries = frozenset((name, *(below.name for below in bones_below(bone))))
    lines = ((each, *(above.name for above in bones[each].parent_recursive)) for each in carries.intersection(read))
    line = carries.intersection((name, *(each for line in lines for each in line)))
    inherits = bone.bone.use_inherit_rotation and bone.bone.inherit_scale == "FULL" and not bone.bone.use_connect
    if (
        not bone.bone.use_local_location
        or (bone.parent is not None and not inherits)
        or any(bones[each].bone.use_relative_parent for each in line)
        or not all(goes_along(bones[below]) for below in line)
        or any(_takes(bones[below], line) for below in carries)
        or any(own.values())
        or "body_direction" in own
    ):
        return None
    above = bone.parent.bone.matrix_local.inverted_safe() if bone.parent else Matrix()
    return BodyModel(
        name=name,
        parent=bone.parent.name if bone.parent else "",
        limbs=tuple(limbs),
        carries=carries,
        line=line,
        rest=array_of(above @ bone.bone.matrix_local),
        down=body_settings_of(bone).direction == "DOWN",
        keyed="location" in own,
        keyed_settings=frozenset(setting for setting in BODY_RANGES if setting in own),
    )


def _takes(bone: bpy.types.PoseBone, line: frozenset[str]) -> bool:
    """Whether Blender's own IK on a bone poses some of these."""
    return any(not each.mute and not line.isdisjoint(taken_by(each, bone)) for each in bone.constraints)
