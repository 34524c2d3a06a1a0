"""Rig the legs of any armature: a chain, a foot control and a knee pole for each that is found."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import bpy

from .. import messages
from ..rig.chains import fk_chain
from ..rig.foot import end_bone
from ..rig.hinge import hinge_armature
from ..rig.limb import chain_bones
from ..rig.movers import check_unmoved, is_rigify
from ..rig.problems import check_changeable
from ..rig.reading import SceneReader
from ..solvers import ChainError
from ..solvers.bending import is_straight, start_frame
from .controls import add_chain
from .knees import nearest_axis
from .legs import FoundLimb, LeftOut, find_limbs

_NONE_FOUND = {
    (False, False): messages.NO_LEG,
    (False, True): messages.NO_LEG_OR_ARM,
    (True, False): messages.NO_LEG_SELECTED,
    (True, True): messages.NO_LEG_OR_ARM_SELECTED,
}
"""By whether bones are selected, and whether arms are wanted too."""
_NAMES = {"LEG": ("Foot", "Knee"), "ARM": ("Hand", "Elbow")}
_FOOT_SIZE = 0.6
"""Half the edge of a foot's control, in lengths of the foot."""
_KNEE_SIZE = 0.05
"""Radius of a knee's pole, in lengths of the leg."""
_APART = 0.25
"""How far from a bone's tail the next bone of its limb may begin, in lengths of the bone."""
_FORWARD = 0.3
"""Sine of the angle to its leg from which a foot tells what is forward."""
_AS_IT_IS = 0.7
"""Cosine of the angle to the wanted axis within which a knee's own does."""


@dataclass(frozen=True, slots=True)
class RiggedLimb:
    """A limb that got a chain."""

    limb: FoundLimb
    target: bpy.types.Object
    pole: bpy.types.Object


@dataclass(frozen=True, slots=True)
class Rigged:
    """What `rig_legs` set up, and which bones it left out, with the reason."""

    limbs: tuple[RiggedLimb, ...]
    left_out: tuple[LeftOut, ...]


def rig_legs(
    context: bpy.types.Context, ob: bpy.types.Object, selected: Sequence[bpy.types.PoseBone] = (), arms: bool = False
) -> Rigged:
    """Find the legs of an armature object and give each a chain, a foot control and a knee pole. No bone moves.

    selected: look only at limbs with one of these bones; none: at all. arms: rig arms too, where names say so. The feet
    follow their controls' rotation. Raises ChainError, with nothing changed, where no limb can be rigged.
    """
    check_changeable(ob)
    found = find_limbs([bone.bone for bone in selected] or ob.data.bones, arms)
    left_out, free = list(found.left_out), []
    for limb in found.limbs:
        reason = _taken(ob, limb)
        if reason:
            left_out.append(LeftOut(limb.bones[-1], reason))
        else:
            free.append(limb)
    if not free:
        if left_out and is_rigify(ob):
            raise ChainError(messages.RIGIFY_MOVES_LIMBS(armature=ob.name))
        why = "".join(messages.IS_NONE(bone=out.bone, why=out.reason) for out in left_out[:4])
        raise ChainError(_NONE_FOUND[bool(selected), arms](armature=ob.name, why=why))
    collection = _collection(context, ob)
    rigged = []
    for limb in free:
        try:
            rigged.append(_rig(context, ob, limb, collection))
        except ChainError as error:
            left_out.append(LeftOut(limb.bones[-1], str(error)))
    if not rigged:
        if not collection.objects:
            bpy.data.collections.remove(collection)
        raise ChainError(left_out[-1].reason).of(messages.ARMATURE(armature=ob.name))
    return Rigged(tuple(rigged), tuple(left_out))


def _taken(ob: bpy.types.Object, limb: FoundLimb) -> str:
    """Why a limb is not free for a chain; "" where it is."""
    bones = [ob.pose.bones[name] for name in (*limb.bones, limb.end) if name]
    for bone in bones:
        if bone.analytic_ik_enabled or bone.analytic_ik_target is not None:
            return messages.HAS_CHAIN(bone=bone.name)
    try:
        check_unmoved(bones)
    except ChainError as error:
        return str(error)
    return ""


def _rig(
    context: bpy.types.Context, ob: bpy.types.Object, limb: FoundLimb, collection: bpy.types.Collection
) -> RiggedLimb:
    tip = ob.pose.bones[limb.bones[-1]]
    _check_joined(ob, limb)
    axis = _straight_axis(context, tip, limb)
    added = add_chain(context, tip, len(limb.bones), "AUTO", with_pole=True, straight_axis=axis)
    for name in limb.segments:
        # What was split for its twist shall not bend.
        ob.pose.bones[name].lock_ik_x = ob.pose.bones[name].lock_ik_z = True
    target, pole = added.target, added.pole
    place = "." + limb.place.title() if limb.place else ""
    side = "." + limb.side if limb.side else ""
    for control, name in zip((target, pole), _NAMES[limb.kind], strict=True):
        control.name = f"{name}{place}{side}"
        for other in control.users_collection:
            other.objects.unlink(control)
        collection.objects.link(control)
    scale = ob.matrix_world.median_scale
    foot = ob.data.bones.get(limb.end)
    target.empty_display_type, pole.empty_display_type = "CUBE", "SPHERE"
    target.empty_display_size = _FOOT_SIZE * scale * (foot or tip.bone).length
    pole.empty_display_size = _KNEE_SIZE * scale * sum(ob.data.bones[name].length for name in limb.bones)
    riding = end_bone(tip)
    tip.analytic_ik_use_rotation = riding is not None and riding.name == limb.end
    return RiggedLimb(limb, target, pole)


def _check_joined(ob: bpy.types.Object, limb: FoundLimb) -> None:
    """Raise ChainError where a limb's bones do not end where the next one begins, as some imports leave them."""
    bones = [ob.data.bones[name] for name in (*limb.bones, limb.end) if name]
    for bone, below in pairwise(bones):
        if (below.head_local - bone.tail_local).length > _APART * bone.length:
            raise ChainError(messages.NOT_JOINED(bone=bone.name, below=below.name))


def _straight_axis(context: bpy.types.Context, tip: bpy.types.PoseBone, limb: FoundLimb) -> str:
    """About which axis of its knee a limb shall bend where it is straight: as it bends now, else as its foot points.

    AUTO where it does so by itself, or nothing tells. (The X axis of a bone may point anywhere, and legs are often
    straight at rest, or in a capture.)
    """
    ob = tip.id_data
    reader = SceneReader(context.evaluated_depsgraph_get()).armature(ob)
    try:
        readings = reader.bones(chain_bones(reader.tip(tip.name), len(limb.bones)))
        chain = fk_chain(readings, None)
    except ChainError:
        # Adding the chain says why.
        return "AUTO"
    frame = start_frame(chain)
    normal = frame.normal
    if is_straight(chain):
        if limb.kind != "LEG" or not limb.end:
            return "AUTO"
        forward = reader.evaluated.pose.bones[limb.toe or limb.end].vector.normalized()
        normal = forward.cross(frame.along)
        if normal.length < _FORWARD:
            return "AUTO"
    if hinge_armature(readings).dot(normal.normalized()) > _AS_IT_IS:
        return "AUTO"
    axis, cosine = nearest_axis(readings[1], normal.normalized())
    return axis.upper() if cosine > 0.0 else f"NEGATIVE_{axis.upper()}"


def _collection(context: bpy.types.Context, ob: bpy.types.Object) -> bpy.types.Collection:
    """The collection of an armature's controls: the one that an earlier limb's are in, or a new one."""
    name, home = f"{ob.name} controls", [*ob.users_collection, context.scene.collection][0]
    collection = home.children.get(name)
    if collection is None:
        collection = bpy.data.collections.new(name)
        home.children.link(collection)
    return collection
