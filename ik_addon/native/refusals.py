"""What keeps a chain from being native, each with what to do instead."""

import bpy

from .. import messages
from ..authoring.editing import has_editable_bones
from ..rig.blender.animation import animated_channels, is_animated, is_driven
from ..rig.blender.movers import movers_of
from ..rig.data.relation import is_tie
from ..rig.model.body import bodies_of
from ..rig.model.limb import Limb, chain_bones
from ..rig.status.problems import check_changeable
from ..solvers import ChainError
from .properties import NAMES, homes_of, key_of, live_path
from .shape import Shape, is_even

_FIXED = (
    *("target", "subtarget", "pole_target", "pole_subtarget", "chain_count", "end_bone", "solver"),
    *("straight_axis", "reach", "least_motion", "use_rotation"),
)
"""Settings that a native chain has as they are when it is made."""


def check_armature(ob: bpy.types.Object) -> None:
    """Raise ChainError where an armature object can have no native chains."""
    check_changeable(ob)
    if not has_editable_bones(ob):
        raise ChainError(messages.NATIVE_LINKED(armature=ob.name))
    users = [each for each in bpy.data.objects if each.type == "ARMATURE" and each.data == ob.data]
    if len(users) > 1:
        other = next(each for each in users if each != ob)
        raise ChainError(messages.NATIVE_SHARED(armature=ob.name, other=other.name))


def check_chain(tip: bpy.types.PoseBone) -> None:
    """Raise ChainError where the settings of a chain, or what animates its bones, keep it from being native."""
    ob = tip.id_data
    for name in _FIXED:
        if is_animated(ob, live_path(tip, name)):
            shown = tip.bl_rna.properties[f"analytic_ik_{name}"].name
            raise ChainError(messages.NATIVE_SETTING_ANIMATED(setting=shown))
    for name in NAMES:
        if key_of(name) in tip:
            raise ChainError(messages.NATIVE_NAME_TAKEN(name=key_of(name)))
    for home in homes_of(ob):
        if any(home.find(live_path(tip, name)) for name in NAMES) and not home[0].id_data.is_editable:
            raise ChainError(messages.NATIVE_ACTION_LINKED(action=home[0].id_data.name))
    above = {bone.name for bone in (tip, *tip.parent_recursive)}
    body = next((name for name in bodies_of(ob) if name in above), None)
    if body is not None:
        raise ChainError(messages.NATIVE_BODY(body=body))


def check_limb(limb: Limb) -> None:
    """Raise ChainError where the way in which a limb is solved has no native form."""
    count, settings = len(limb.bones), limb.settings
    if limb.solver == "CCD":
        raise ChainError(messages.NATIVE_CCD())
    if count != 2 and settings.flip:
        raise ChainError(messages.NATIVE_FLIP())
    if count > 2 and settings.least_motion:
        raise ChainError(messages.NATIVE_LEAST_MOTION())
    for k, link in enumerate(limb.bones):
        limits = link.limits
        if limits is None:
            continue
        if limits.cone is not None:
            raise ChainError(messages.NATIVE_CONE(limited=link.name))
        if k == 0 or count != 2 or limits.hinge is None:
            raise ChainError(messages.NATIVE_LIMITS(limited=link.name))
    if settings.flip and limb.chain.limits is not None:
        raise ChainError(messages.NATIVE_FLIP())


def check_bones(limb: Limb, shape: Shape) -> None:
    """Raise ChainError where a limb's bones are sized or moved in a way that helpers would not follow."""
    ob, own = shape.ob, [*shape.own, *((shape.foot.foot, shape.foot.toe) if shape.foot else ())]
    names = [name for name in own if name]
    matrices = [(shape.root_parent, limb.parent_pose), *zip(shape.links, shape.poses, strict=True)]
    for name, matrix in matrices:
        if matrix is not None and not is_even(matrix):
            raise ChainError(messages.NATIVE_UNEVEN(uneven=name))
    for k, link in enumerate(limb.bones):
        if not link.bone.use_inherit_rotation and link.bone.parent is not None and (k or limb.pole_armature is None):
            raise ChainError(messages.NATIVE_ROTATION_NOT_INHERITED(free=link.name))
    if shape.foot and shape.foot.toe and not ob.data.bones[shape.foot.toe].use_inherit_rotation:
        raise ChainError(messages.NATIVE_ROTATION_NOT_INHERITED(free=shape.foot.toe))
    animated = animated_channels(ob)
    for name in names:
        bone = ob.pose.bones[name]
        driven = next((what for what in ("rotation", "location", "scale") if is_driven(ob, bone, what)), None)
        if driven:
            raise ChainError(messages.NATIVE_DRIVEN(driven=name))
        if name in animated:
            raise ChainError(messages.NATIVE_FK_KEYS(keyed=name))
    chain = chain_bones(ob.pose.bones[shape.tip])
    for mover in movers_of([*chain, *(ob.pose.bones[name] for name in names if name not in shape.own)]):
        if not is_tie(mover.constraint):
            raise ChainError(messages.NATIVE_CONSTRAINED(moved=mover.bone, constraint=mover.constraint.name))
