"""Chains that were Blender's own IK constraints become those again."""

from collections.abc import Iterable, Sequence

import bpy

from .. import messages
from ..rig.blender.channels import raw_values
from ..rig.data.settings import is_native
from ..rig.data.switch import check_switchable
from ..rig.data.undoing import all_or_nothing
from ..rig.pose.posing import write_fk
from ..rig.status.problems import check_changeable
from ..solvers import ChainError
from .adopted import animated_by_adopting, is_adopted, record_of
from .controls import take_off
from .influence import remove_animation


def restore(context: bpy.types.Context, tips: Sequence[bpy.types.PoseBone]) -> list[str]:
    """Give back the constraints of adopted chains, and the FK pose of before, but for bones whose own was edited since.

    Returns the names of the constraints. Raises ChainError, with nothing changed, where one of them is gone.
    """
    constraints = [_constraint_of(tip) for tip in tips]
    helpers = [bpy.data.objects.get(record_of(tip).helper) for tip in tips]
    animated = [(tip.id_data, path) for tip in tips for path in animated_by_adopting(tip)]
    with all_or_nothing([tip.id_data for tip in tips], keys=True):
        for tip, constraint in zip(tips, constraints, strict=True):
            _restore(tip, constraint)
        names = [constraint.name for constraint in constraints]
        # Last, for what is deleted cannot be brought back.
        _delete_copies(animated, helpers)
    context.view_layer.update()
    return names


def _delete_copies(
    animated: Iterable[tuple[bpy.types.Object, str]], helpers: Iterable[bpy.types.Object | None]
) -> None:
    """Delete what adopting made for chains: copies of animation, by object and RNA path, and targets."""
    for ob, path in animated:
        remove_animation(ob, path)
    for helper in filter(None, helpers):
        bpy.data.objects.remove(helper)


def _constraint_of(tip: bpy.types.PoseBone) -> bpy.types.Constraint:
    """The constraint that the chain of a tip was. Raises ChainError where it is gone, or must not be given back."""
    if not is_adopted(tip):
        raise ChainError(messages.NOT_ADOPTED(bone=tip.name))
    check_changeable(tip.id_data)
    if is_native(tip):
        raise ChainError(messages.NATIVE_FIRST(bone=tip.name))
    record = record_of(tip)
    owner = tip.id_data.pose.bones.get(record.bone)
    constraint = owner.constraints.get(record.constraint) if owner else None
    if constraint is None or constraint.type != "IK":
        raise ChainError(messages.IK_GONE(bone=tip.name, constraint=record.constraint))
    if "enabled" not in record.animated:
        check_switchable(tip.id_data, tip)
    return constraint


def _restore(tip: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> None:
    ob, record = tip.id_data, record_of(tip)
    take_off(tip, keep_pose=False)
    before = {}
    for name, (mode, fk, written) in record.fk.items():
        bone = ob.pose.bones.get(name)
        if bone is not None and bone.rotation_mode == mode and raw_values(bone, mode) == written:
            before[name, mode] = fk
    write_fk(ob, before)
    if record.influence is None:
        constraint.mute = False
    else:
        constraint.influence = record.influence
    ob.update_tag()
