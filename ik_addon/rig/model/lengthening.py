"""Which bones a chain scales to become longer, and by what.

Bones are lengthened by their scale, evenly, as Blender's own IK stretches them; what inherits it grows along. The
bones that hang on the tip, its end bones, are made smaller by as much: a foot keeps its size.
"""

from collections.abc import Callable, Sequence

import bpy

from ..blender.animation import is_animated
from ..blender.channels import Raw
from .limb import INHERITING, chain_bones, known_bones


def growth(bones: Sequence[bpy.types.Bone]) -> dict[str, int]:
    """To what power of the stretch a chain's bones, root first, and its end bones are scaled: 1, 0, or -1.

    A bone that inherits its parent's scale needs none of its own; one that does not, the whole.
    """
    of_chain = {bone.name: int(not k or not _inherits(bone)) for k, bone in enumerate(bones)}
    return of_chain | {bone.name: -1 for bone in bones[-1].children if _inherits(bone)}


def factors(bones: Sequence[bpy.types.Bone], ratio: float) -> dict[str, float]:
    """By what the scales of a chain's bones and of its end bones are multiplied to lengthen it by `ratio`."""
    return {name: ratio**power for name, power in growth(bones).items()}


FkScale = Callable[[str], Raw]
"""Gives the FK scale of a bone by its name."""


def given_factor(pose_bone: bpy.types.PoseBone, fk_scale: FkScale) -> float:
    """By what the scale of an evaluated bone is multiplied by a chain on whose end it hangs."""
    tip = pose_bone.parent
    if tip is None or not tip.analytic_ik_enabled or not _inherits(pose_bone.bone):
        return 1.0
    return 1.0 / present_ratio(tip, fk_scale)


def present_ratio(tip: bpy.types.PoseBone, fk_scale: FkScale) -> float:
    """How long the chain of an evaluated tip is shown, as a multiple of its FK length."""
    bones = known_bones(tip) if tip.analytic_ik_reach == "STRETCH" else []
    if not bones:
        return 1.0
    root = bones[0]
    fk = fk_scale(root.name)
    largest = max(range(3), key=lambda axis: abs(fk[axis]))
    if not fk[largest]:
        return 1.0
    return root.scale[largest] / fk[largest] / given_factor(root, fk_scale)


def may_stretch(tip: bpy.types.PoseBone) -> bool:
    """Whether the chain of an original tip stretches out of reach, now or at another frame."""
    reach = f"{tip.path_from_id()}.analytic_ik_reach"
    return tip.analytic_ik_reach == "STRETCH" or is_animated(tip.id_data, reach)


def scaled_bones(tip: bpy.types.PoseBone) -> list[str]:
    """Names of the bones whose scale the chain of an original tip sets; none where it never stretches."""
    if not may_stretch(tip):
        return []
    bones = [pose_bone.bone for pose_bone in chain_bones(tip)]
    return [name for name, power in growth(bones).items() if power]


def _inherits(bone: bpy.types.Bone) -> bool:
    return bone.inherit_scale in INHERITING
