"""Which bones a chain scales to become longer, and by what.

Bones are lengthened by their scale, evenly, as Blender's own IK stretches them; what inherits it grows along. The
bones that hang on the tip, its end bones, are made smaller by as much: a foot keeps its size.
"""

from collections.abc import Sequence

import bpy

from ..solvers import ChainError
from .animation import is_animated
from .channels import SCALE
from .limb import INHERITING, chain_bones
from .records import record_of


def factors(bones: Sequence[bpy.types.Bone], ratio: float) -> dict[str, float]:
    """By what the scales of a chain's bones, root first, and of its end bones are multiplied to lengthen it by `ratio`.

    A bone that inherits its parent's scale needs none of its own; one that does not, the whole.
    """
    of_chain = {bone.name: 1.0 if k and _inherits(bone) else ratio for k, bone in enumerate(bones)}
    return of_chain | {bone.name: 1.0 / ratio for bone in bones[-1].children if _inherits(bone)}


def given_factor(pose_bone: bpy.types.PoseBone) -> float:
    """By what the scale of an original bone stands multiplied by a chain on whose end it hangs."""
    tip = pose_bone.parent
    if tip is None or not tip.analytic_ik_enabled or not _inherits(pose_bone.bone):
        return 1.0
    return 1.0 / present_ratio(tip)


def present_ratio(tip: bpy.types.PoseBone) -> float:
    """How long the chain of an original tip stands written, as a multiple of its FK length."""
    try:
        root = chain_bones(tip, tip.analytic_ik_chain_count)[0]
    except ChainError:
        return 1.0
    record = record_of(root, SCALE)
    if record is None or not any(record.fk):
        return 1.0
    largest = max(range(3), key=lambda axis: abs(record.fk[axis]))
    return record.solved[largest] / record.fk[largest] / given_factor(root)


def may_stretch(tip: bpy.types.PoseBone) -> bool:
    """Whether the chain of an original tip stretches out of reach, now or at another frame."""
    reach = f"{tip.path_from_id()}.analytic_ik_reach"
    return tip.analytic_ik_reach == "STRETCH" or is_animated(tip.id_data, reach)


def scaled_bones(tip: bpy.types.PoseBone) -> list[str]:
    """Names of the bones whose scale the chain of an original tip sets; none where it never stretches."""
    if not may_stretch(tip):
        return []
    bones = [pose_bone.bone for pose_bone in chain_bones(tip, tip.analytic_ik_chain_count)]
    return [name for name, factor in factors(bones, 2.0).items() if factor != 1.0]


def _inherits(bone: bpy.types.Bone) -> bool:
    return bone.inherit_scale in INHERITING
